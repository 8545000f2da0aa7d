//! Comparison of secrets in a time that does not tell how far they agree. It must not know what is a secret.

pub use scrip::text::{hex, sha256_hex};

/// Whether two texts are equal, looking at every byte whatever the first difference.
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
