//! The tree of hashes over the goods buckets of a bundle: its root, which the head signs, proves each bucket.

use crate::text::{decode_hex_array, hex, sha256};

/// A hash of the tree.
pub type GoodsHash = [u8; 32];

/// Returns the hash of two neighbours.
pub fn parent_hash(left: &GoodsHash, right: &GoodsHash) -> GoodsHash {
    sha256(&[left, right])
}

/// Returns the hash that 64 hexadecimal digits write.
pub fn read_hash(text: &str) -> Option<GoodsHash> {
    decode_hex_array(text).filter(|_| text.len() == 64)
}

/// Returns the root to which the path of a bucket leads, in hexadecimal digits. The path has the neighbours from the bucket upwards, one
/// after the other. `None` if it has no hashes, or not as many as the place of the bucket needs at least.
pub fn root_of_path(bucket: &[u8], position: u32, path: &str) -> Option<String> {
    let (mut hash, mut position, mut rest) = (sha256(&[bucket]), position, path);
    while !rest.is_empty() {
        let (neighbour, next) = rest.split_at_checked(64)?;
        let neighbour = read_hash(neighbour)?;
        hash = if position & 1 == 0 { parent_hash(&hash, &neighbour) } else { parent_hash(&neighbour, &hash) };
        (position, rest) = (position >> 1, next);
    }
    (position == 0).then(|| hex(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_the_root() {
        let buckets: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];
        let leaves = buckets.map(|bucket| sha256(&[bucket]));
        let [left, right] = [[0, 1], [2, 3]].map(|[one, two]| parent_hash(&leaves[one], &leaves[two]));
        let root = hex(&parent_hash(&left, &right));
        let paths =
            [(1, right), (0, right), (3, left), (2, left)].map(|(leaf, upper)| hex(&leaves[leaf]) + &hex(&upper));
        for (position, path) in (0..).zip(&paths) {
            let bucket = buckets[position as usize];
            assert_eq!(root_of_path(bucket, position, path), Some(root.clone()));
            for wrong in [position ^ 1, position ^ 2] {
                assert_ne!(root_of_path(bucket, wrong, path), Some(root.clone()), "{wrong}");
            }
            assert_eq!(root_of_path(bucket, position + 4, path), None, "beyond the last bucket");
            for damaged in [path.chars().take(127).collect(), format!("{path}0"), "g".repeat(128), "é".repeat(64)] {
                assert_eq!(root_of_path(bucket, position, &damaged), None, "{damaged}");
            }
        }
        assert_eq!(root_of_path(b"a", 0, ""), Some(hex(&leaves[0])));
        assert_eq!(root_of_path(b"a", 1, ""), None);
    }
}
