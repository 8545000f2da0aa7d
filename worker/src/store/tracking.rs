//! Tracking ids: a customer's source_id, sealed with the project's key. The same source_id gives the same text, which tells nothing
//! to whoever lacks the key and can be opened by whoever has it. It must not know customers.
//!
//! A synthetic-IV construction: the tag is a keyed digest of the text and seeds the key stream, so equal texts seal equally and
//! nothing that was changed opens.

use crate::store::Store;
use crate::store::sql::Fault;
use scrip::text::{hex, unhex};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Longer texts are not sealed but only digested, and cannot be opened.
const SEALED_MAX: usize = 200;
const PREFIX: &str = "track_";
const TAG: usize = 16;

/// The project's key.
#[derive(Debug, Clone)]
pub struct Tracker {
    key: [u8; 32],
}

impl Tracker {
    /// A tracker with a key.
    pub fn new(key: [u8; 32]) -> Tracker {
        Tracker { key }
    }

    /// The tracker of a project, whose key was written when the project began.
    pub fn stored(store: &Store<'_>) -> Result<Tracker, Fault> {
        let found = store.document("secret", "tracking")?;
        let key = found.as_ref().and_then(|found| found.body.get("key")).and_then(Json::as_str).and_then(unhex::<32>);
        key.map(Tracker::new).ok_or_else(|| Fault::new("the project has no tracking key"))
    }

    /// Writes the key of a project that begins, at the commit. The database draws it: the seed of an event may be told to a page.
    pub fn begin(store: &mut Store<'_>, now_ms: i64) {
        store.write(
            "INSERT INTO document (kind, id, created_at, body) VALUES ('secret', 'tracking', ?1, json_object('key', lower(hex(randomblob(32)))))",
            vec![now_ms.into()],
        );
    }

    /// Whether a text has the look of a tracking id.
    pub fn may_open(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    fn digest(&self, purpose: u8, parts: &[&[u8]]) -> [u8; 32] {
        // The key goes in on both sides, so that no digest can be continued by somebody else.
        let mut hash = Sha256::new_with_prefix(self.key).chain_update([purpose]);
        for part in parts {
            hash = hash.chain_update(part);
        }
        hash.chain_update(self.key).finalize().into()
    }

    fn stream(&self, tag: &[u8], text: &[u8]) -> Vec<u8> {
        let blocks = text.chunks(32).zip(0_u32..);
        blocks
            .flat_map(|(block, count)| {
                let noise = self.digest(2, &[tag, &count.to_be_bytes()]);
                block.iter().zip(noise).map(|(byte, noise)| byte ^ noise).collect::<Vec<u8>>()
            })
            .collect()
    }

    /// What stands for somebody who is only counted: it can be neither opened nor, under another purpose, be recognized.
    pub fn counted_as(&self, purpose: &str, who: &str) -> String {
        hex(&self.digest(3, &[purpose.as_bytes(), &[0], who.as_bytes()]))
    }

    /// The tracking id of a source_id.
    pub fn tracking_id(&self, source_id: &str) -> String {
        let digest = self.digest(1, &[source_id.as_bytes()]);
        let tag: Vec<u8> = digest.iter().copied().take(TAG).collect();
        let sealed = if source_id.len() <= SEALED_MAX { self.stream(&tag, source_id.as_bytes()) } else { Vec::new() };
        format!("{PREFIX}{}{}", hex(&tag), hex(&sealed))
    }

    /// The source_id of a tracking id; none for any other text.
    pub fn source_id(&self, text: &str) -> Option<String> {
        let digits = text.strip_prefix(PREFIX)?;
        let (tag, sealed) = digits.split_at_checked(TAG.saturating_mul(2))?;
        if sealed.is_empty() || sealed.len() > SEALED_MAX.saturating_mul(2) {
            return None;
        }
        let length = sealed.len() / 2;
        let tag = unhex::<TAG>(tag)?;
        let bytes = unhex::<SEALED_MAX>(sealed)?;
        let opened = String::from_utf8(self.stream(&tag, bytes.get(..length)?)).ok()?;
        let digest = self.digest(1, &[opened.as_bytes()]);
        digest.starts_with(&tag).then_some(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_the_same_key_only() {
        let tracker = Tracker::new([3; 32]);
        for source_id in ["a", "anna@example.com", &"x".repeat(SEALED_MAX)] {
            let sealed = tracker.tracking_id(source_id);
            assert_eq!(sealed, tracker.tracking_id(source_id));
            assert_eq!(tracker.source_id(&sealed).as_deref(), Some(source_id));
            assert_eq!(Tracker::new([4; 32]).source_id(&sealed), None);
            let mut changed = sealed.clone();
            changed.pop();
            changed.push(if sealed.ends_with('0') { '1' } else { '0' });
            assert_eq!(tracker.source_id(&changed), None);
        }
        assert_eq!(tracker.source_id(&tracker.tracking_id(&"x".repeat(SEALED_MAX + 1))), None);
        assert_eq!(tracker.source_id("anna"), None);
        assert_eq!(tracker.source_id("track_zz"), None);
    }
}
