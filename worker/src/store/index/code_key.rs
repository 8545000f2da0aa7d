//! Key under which a code is stored.

use scrip::text::fold;

/// Returns the key under which a code is stored and found.
pub fn code_key(code: &str, case_sensitive: bool) -> String {
    if case_sensitive { code.to_owned() } else { fold(code).into_owned() }
}
