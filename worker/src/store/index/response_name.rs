//! Name under which the response of an idempotent request is stored.

use crate::constant_time::sha256_hex;

/// Returns the name of a response: a digest of caller, method and path, and key.
pub fn response_name(caller: &str, request: &str, key: &str) -> String {
    sha256_hex([caller, request, key].join("\0").as_bytes())
}
