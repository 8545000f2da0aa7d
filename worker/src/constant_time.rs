//! Compares secrets in constant time, so that the time does not disclose their common prefix.

pub use scrip::text::{hex, sha256_hex};

/// Tests if two texts are equal; the time does not depend on the position of the first difference.
pub fn equal_in_constant_time(one: &str, other: &str) -> bool {
    let difference = one.bytes().zip(other.bytes()).fold(0_u8, |sum, (left, right)| sum | (left ^ right));
    one.len() == other.len() && std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_equal_or_not() {
        assert!(equal_in_constant_time("same", "same"));
        assert!(!equal_in_constant_time("same", "sane") && !equal_in_constant_time("same", "same and more"));
    }
}
