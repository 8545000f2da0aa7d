//! What a code is stored and found under. It must not know vouchers.

/// What a code is stored and found under.
pub fn code_key(code: &str, case_sensitive: bool) -> String {
    if case_sensitive { code.to_owned() } else { code.to_lowercase() }
}
