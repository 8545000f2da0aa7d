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

impl CoreParts {
    /// Cuts the text of a core.
    pub fn cut(text: String) -> CoreParts {
        if text.len() <= PART_BYTES_MAX {
            let core = part_of(text);
            return CoreParts { core: core.hash.clone(), parts: vec![core] };
        }
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        // A part is stored as text, so it ends between two characters.
        while let Some((part, next)) =
            rest.split_at_checked(rest.floor_char_boundary(PART_BYTES_MAX)).filter(|(part, _)| !part.is_empty())
        {
            parts.push(part_of(part.to_owned()));
            rest = next;
        }
        let hashes: Vec<&str> = parts.iter().map(|part| part.hash.as_str()).collect();
        let index = part_of(json!({ "parts": hashes }).to_string());
        let core = index.hash.clone();
        parts.push(index);
        CoreParts { core, parts }
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
                let CoreParts { core, parts } = CoreParts::cut(text.clone());
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
