//! Decrypts tracking ids from before AES-SIV, which documents and merchants may still have. No new ones are created.
//!
//! The tag is a keyed digest of the text and seeds the key stream.

use sha2::{Digest, Sha256};

/// Longer texts are digested only and cannot be decrypted, in both constructions.
pub(super) const SEALED_MAX: usize = 200;
/// Length of the tag in bytes, in both constructions.
pub(super) const TAG: usize = 16;

fn digest(key: &[u8; 32], purpose: u8, parts: &[&[u8]]) -> [u8; 32] {
    // The key is hashed at both ends, so that a digest cannot be extended.
    let mut hash = Sha256::new_with_prefix(key).chain_update([purpose]);
    for part in parts {
        hash = hash.chain_update(part);
    }
    hash.chain_update(key).finalize().into()
}

fn stream(key: &[u8; 32], tag: &[u8], text: &[u8]) -> Vec<u8> {
    let noise = (0_u32..).flat_map(|count| digest(key, 2, &[tag, &count.to_be_bytes()]));
    text.iter().zip(noise).map(|(byte, noise)| byte ^ noise).collect()
}

/// Returns the bytes of the old tracking id of a source_id.
pub(super) fn tracking_id(key: &[u8; 32], source_id: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = digest(key, 1, &[source_id.as_bytes()]).into_iter().take(TAG).collect();
    if source_id.len() <= SEALED_MAX {
        bytes.extend(stream(key, &bytes, source_id.as_bytes()));
    }
    bytes
}

/// Returns the source_id of an old tracking id.
pub(super) fn source_id(key: &[u8; 32], bytes: &[u8]) -> Option<String> {
    let (tag, sealed) = bytes.split_at_checked(TAG)?;
    let opened = String::from_utf8(stream(key, tag, sealed)).ok()?;
    (tracking_id(key, &opened) == bytes).then_some(opened)
}
