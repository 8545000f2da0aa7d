//! Finds the goods bucket of a name. A bundle has the products and SKUs of a catalogue in buckets, apart from its core: each is found
//! under its id and its `source_id`, by the first bits of a hash.

use std::collections::BTreeSet;

use crate::text::{Text, sha256};

/// The largest number of goods buckets.
pub const BUCKETS_MAX: u32 = 1 << 20;

/// Returns the first 32 bits of the hash of a name.
pub fn hash_prefix(name: &str) -> u32 {
    let [first, second, third, fourth, ..] = sha256(&[name.as_bytes()]);
    u32::from_be_bytes([first, second, third, fourth])
}

/// Returns the number of the bucket of a prefix, of this number of buckets: a power of two.
pub fn bucket_of(prefix: u32, buckets: u32) -> u32 {
    // One bucket has no bits.
    prefix.checked_shr(buckets.leading_zeros().wrapping_add(1)).unwrap_or(0)
}

/// Returns whether this number of buckets is possible.
pub fn is_number_of_buckets(buckets: u32) -> bool {
    buckets.is_power_of_two() && buckets <= BUCKETS_MAX
}

/// The names of goods that a set of rules knows, where the goods are apart from it: of these names all goods are listed.
#[derive(Debug, Clone, Default)]
pub struct KnownGoodsNames {
    /// The names that the offers of the core contain.
    named: BTreeSet<Text>,
    /// The number of buckets, and those that were read.
    buckets: u32,
    read: BTreeSet<u32>,
}

impl KnownGoodsNames {
    /// Begins with the names that the offers of a core contain.
    pub fn of_core(named: Vec<Text>) -> KnownGoodsNames {
        KnownGoodsNames { named: named.into_iter().collect(), ..KnownGoodsNames::default() }
    }

    /// Adds a bucket; those of another number of buckets are forgotten.
    pub fn add_bucket(&mut self, bucket: u32, buckets: u32) {
        if self.buckets != buckets {
            self.buckets = buckets;
            self.read.clear();
        }
        self.read.insert(bucket);
    }

    /// Adds the names and buckets of another set.
    pub fn join(&mut self, other: KnownGoodsNames) {
        self.named.extend(other.named);
        for bucket in other.read {
            self.add_bucket(bucket, other.buckets);
        }
    }

    /// Returns whether all goods of a name are listed.
    pub fn has(&self, name: &str) -> bool {
        if self.read.is_empty() {
            return self.named.contains(name);
        }
        // With all buckets, as those of few goods are one, no hash is needed.
        let is_complete = u32::try_from(self.read.len()) == Ok(self.buckets);
        is_complete || self.named.contains(name) || self.read.contains(&bucket_of(hash_prefix(name), self.buckets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bucket_is_the_first_bits_of_the_hash() {
        // SHA-256 of "abc" begins with ba7816bf.
        assert_eq!(hash_prefix("abc"), 0xba78_16bf);
        let expected = [(1, 0), (2, 1), (16, 0xb), (4_096, 0xba7), (BUCKETS_MAX, 0xba781)];
        for (buckets, bucket) in expected {
            assert!(is_number_of_buckets(buckets));
            assert_eq!(bucket_of(0xba78_16bf, buckets), bucket, "{buckets}");
        }
        assert!(![0, 3, 100, BUCKETS_MAX * 2].into_iter().any(is_number_of_buckets));
    }

    #[test]
    fn names_of_the_core_and_of_read_buckets_are_known() {
        let mut names = KnownGoodsNames::of_core(vec!["mug".into()]);
        assert_eq!(["mug", "abc"].map(|name| names.has(name)), [true, false]);
        names.add_bucket(0xb, 16);
        assert_eq!(["mug", "abc", "abd"].map(|name| names.has(name)), [true, true, hash_prefix("abd") >> 28 == 0xb]);
        names.add_bucket(0, 2);
        assert!(!names.has("abc"));
        names.add_bucket(1, 2);
        assert_eq!(["mug", "abc", "abd"].map(|name| names.has(name)), [true; 3]);
    }
}
