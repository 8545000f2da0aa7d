//! Cuts the bytes of a core into parts that a cache and a client can take, each named by its hash.

use crate::store::bundle_heads::BundlePart;
use scrip::text::sha256_hex;
use serde_json::json;

/// Maximum size of a part in bytes. A larger core is in parts, behind an index.
pub const PART_BYTES_MAX: usize = 512 * 1024;

/// Core document with all that is stored for it.
#[derive(Debug)]
pub struct CoreParts {
    /// Hash of the core document.
    pub core: String,
    /// The core document, and its parts if it is an index.
    pub parts: Vec<BundlePart>,
}

/// Cuts the text of a core while it is being written.
#[derive(Debug, Default)]
pub struct PartWriter {
    parts: Vec<BundlePart>,
    /// Text after them.
    rest: String,
}

impl PartWriter {
    /// Adds text; returns the parts that it completed.
    pub fn write(&mut self, mut text: &str) -> &[BundlePart] {
        let before = self.parts.len();
        loop {
            // The rest is never longer than a part.
            let room = PART_BYTES_MAX.saturating_sub(self.rest.len());
            if text.len() <= room {
                self.rest.push_str(text);
                return self.parts.get(before..).unwrap_or_default();
            }
            // A part is stored as text, so it ends between two characters.
            let (fitting, next) = text.split_at_checked(text.floor_char_boundary(room)).unwrap_or(("", text));
            self.rest.push_str(fitting);
            self.parts.push(part_of(std::mem::take(&mut self.rest)));
            text = next;
        }
    }

    /// Returns the core of the text.
    pub fn finish(mut self) -> CoreParts {
        let last = part_of(self.rest);
        if self.parts.is_empty() {
            return CoreParts { core: last.hash.clone(), parts: vec![last] };
        }
        self.parts.push(last);
        let hashes: Vec<&str> = self.parts.iter().map(|part| part.hash.as_str()).collect();
        let index = part_of(json!({ "parts": hashes }).to_string());
        let core = index.hash.clone();
        self.parts.push(index);
        CoreParts { core, parts: self.parts }
    }
}

fn part_of(body: String) -> BundlePart {
    BundlePart { hash: sha256_hex(body.as_bytes()), body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    #[test]
    fn the_parts_of_an_index_are_the_whole_core() {
        for size in [0, PART_BYTES_MAX - 1, PART_BYTES_MAX, PART_BYTES_MAX + 1, 3 * PART_BYTES_MAX + 7] {
            for sign in ["a", "é", "𝄞"] {
                let text = format!("x{}", sign.repeat(size / sign.len()));
                let mut writer = PartWriter::default();
                // In pieces of any length.
                let (one, other) = text.split_at_checked(text.floor_char_boundary(size / 3)).unwrap();
                let completed = writer.write(one).len() + writer.write(other).len();
                let CoreParts { core, parts } = writer.finish();
                assert_eq!(completed, if parts.len() == 1 { 0 } else { parts.len() - 2 });
                assert!(
                    parts
                        .iter()
                        .all(|part| part.body.len() <= PART_BYTES_MAX && part.hash == sha256_hex(part.body.as_bytes()))
                );
                let found = |hash: &str| parts.iter().find(|part| part.hash == hash).unwrap().body.as_str();
                if text.len() <= PART_BYTES_MAX {
                    assert_eq!((found(&core), parts.len()), (text.as_str(), 1));
                    continue;
                }
                let index: Json = serde_json::from_str(found(&core)).unwrap();
                assert_eq!(index.as_object().unwrap().len(), 1);
                let whole: String =
                    index["parts"].as_array().unwrap().iter().map(|hash| found(hash.as_str().unwrap())).collect();
                assert!(whole == text);
            }
        }
    }
}
