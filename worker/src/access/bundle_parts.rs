//! Addresses of the parts of a bundle: the project, and the SHA-256 of the bytes. They need no credentials, because a part contains
//! only what every client of the project may read.

use crate::http::reply::{ErrorBody, not_found};
use scrip::wire::problem::shortened;

/// Path parameter with the project.
const PROJECT: &str = "projectId";
/// Path parameter with the hash.
pub const HASH: &str = "hash";
/// Cache control of bytes that are named by their hash.
pub const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// Length of a hash in hexadecimal digits.
const HASH_LENGTH: usize = 64;

/// Returns the project and the hash that an address names, if both are possible.
pub fn address_of<'p>(params: &'p [(&'static str, String)]) -> Result<(&'p str, &'p str), ErrorBody> {
    let named = |wanted: &str| params.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value.as_str());
    let (project, hash) = (named(PROJECT), named(HASH));
    if !project.is_empty() && is_hash(hash) { Ok((project, hash)) } else { Err(unknown(hash)) }
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_LENGTH && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the error for an address without a part: the same for an unknown project, an unknown hash and an impossible one.
pub fn unknown(hash: &str) -> ErrorBody {
    not_found("bundle", &shortened(hash))
}

/// Returns the name of the copy of a part in KV.
pub fn copied_as(project: &str, hash: &str) -> String {
    format!("bundle-part:{project}:{hash}")
}

/// Returns the key under which the entry caches the directory's record of a project, by its name.
pub fn kept_as(name: &str) -> String {
    format!("bundles:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hash_in_small_hexadecimal_digits_is_an_address() {
        let hash = "0123456789abcdef".repeat(4);
        let address = |project: &str, hash: &str| {
            address_of(&[(PROJECT, project.to_owned()), (HASH, hash.to_owned())]).map(|_| ()).map_err(|body| body.code)
        };
        assert_eq!(address("proj_1", &hash), Ok(()));
        let wrong = [
            ("", hash.clone()),
            ("proj_1", String::new()),
            ("proj_1", hash.to_uppercase()),
            ("proj_1", format!("{hash}0")),
            ("proj_1", "g".repeat(64)),
            ("proj_1", "é".repeat(32)),
        ];
        for (project, hash) in wrong {
            assert_eq!(address(project, &hash), Err(404), "{project} {hash}");
        }
    }
}
