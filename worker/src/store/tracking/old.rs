//! Tracking ids as they were made before AES-SIV, for reading alone: documents and shops may have kept them. It must not make any
//! that anybody is told.
//!
//! The tag is a keyed digest of the text and seeds the key stream.

use super::{SEALED_MAX, TAG};
use sha2::{Digest, Sha256};

fn digest(key: &[u8; 32], purpose: u8, parts: &[&[u8]]) -> [u8; 32] {
    // The key goes in on both sides, so that no digest can be continued by somebody else.
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

/// The bytes of the tracking id that a source_id had.
pub(super) fn tracking_id(key: &[u8; 32], source_id: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = digest(key, 1, &[source_id.as_bytes()]).into_iter().take(TAG).collect();
    if source_id.len() <= SEALED_MAX {
        bytes.extend(stream(key, &bytes, source_id.as_bytes()));
    }
    bytes
}

/// The source_id that such bytes stand for.
pub(super) fn source_id(key: &[u8; 32], bytes: &[u8]) -> Option<String> {
    let (tag, sealed) = bytes.split_at_checked(TAG)?;
    let opened = String::from_utf8(stream(key, tag, sealed)).ok()?;
    (tracking_id(key, &opened) == bytes).then_some(opened)
}
