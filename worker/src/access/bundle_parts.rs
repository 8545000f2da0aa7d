//! Addresses of the parts of a bundle: the project, and the SHA-256 of the bytes, or the root of the goods and a bucket. They need no credentials, because a part contains
//! only what every client of the project may read.

use crate::http::reply::{ErrorBody, not_found};
use scrip::wire::problem::shortened;

/// Path parameter with the project.
const PROJECT: &str = "projectId";
/// Path parameter with the hash.
pub const HASH: &str = "hash";
/// Path parameter with the root of the goods.
const ROOT: &str = "root";
/// Path parameter with the number of a goods bucket.
const BUCKET: &str = "bucket";
/// Query parameter with the hash of a goods bucket that the caller has.
pub const HAVE: &str = "have";
/// Cache control of bytes that are named by their hash.
pub const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// Length of a hash in hexadecimal digits.
const HASH_LENGTH: usize = 64;

/// Returns the project and the hash that an address names, if both are possible.
pub fn address_of<'p>(params: &'p [(&'static str, String)]) -> Result<(&'p str, &'p str), ErrorBody> {
    let hash = if named(params, ROOT).is_empty() { named(params, HASH) } else { named(params, ROOT) };
    let project = named(params, PROJECT);
    if !project.is_empty() && is_hash(hash) { Ok((project, hash)) } else { Err(unknown(hash)) }
}

fn named<'p>(params: &'p [(&'static str, String)], parameter: &str) -> &'p str {
    params.iter().find(|(name, _)| *name == parameter).map_or("", |(_, value)| value.as_str())
}

/// Returns the number of the goods bucket that an address names; `None` if there can be no such bucket.
pub fn bucket_of(params: &[(&'static str, String)]) -> Option<u32> {
    let text = named(params, BUCKET);
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// Returns true for 64 small hexadecimal digits.
pub fn is_hash(text: &str) -> bool {
    text.len() == HASH_LENGTH && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the error for an address without a part: the same for an unknown project, an unknown hash and an impossible one.
pub fn unknown(hash: &str) -> ErrorBody {
    not_found("bundle", &shortened(hash))
}

/// Returns the name of the copy of a part in KV.
pub fn copy_name(project: &str, hash: &str) -> String {
    format!("bundle-part:{project}:{hash}")
}

/// Returns the key under which the entry caches the directory's record of a project, by its name.
pub fn cache_key(name: &str) -> String {
    format!("bundles:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_bucket_has_a_root_and_a_number_in_one_form() {
        let root = "0123456789abcdef".repeat(4);
        let params =
            |bucket: &str| vec![(PROJECT, "proj_1".to_owned()), (ROOT, root.clone()), (BUCKET, bucket.to_owned())];
        assert_eq!(address_of(&params("7")).ok(), Some(("proj_1", root.as_str())));
        assert_eq!([bucket_of(&params("0")), bucket_of(&params("4095"))], [Some(0), Some(4_095)]);
        for wrong in ["", "-1", "+1", "01", "1.0", "x", "4294967296"] {
            assert_eq!(bucket_of(&params(wrong)), None, "{wrong}");
        }
    }

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
