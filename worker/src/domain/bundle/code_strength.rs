//! Estimates how many codes someone must try who guesses a sealed one.

/// Number of codes, 2^40, below which one that is sealed counts as weak.
const ENOUGH: u64 = 1 << 40;
/// Characters of each kind: digits, A to Z in one case, other signs of ASCII, and what people type of the rest.
const DIGITS: u64 = 10;
const ALPHABETIC: u64 = 26;
const SIGNS: u64 = 33;
const OTHERS: u64 = 1_000;

/// Test for a kind of characters, and their number.
type CharacterKind = (fn(char) -> bool, u64);

/// Returns true if fewer than 40 bits name a code, even if it was generated at random: by its length and the kinds of its characters. A code
/// that is a word is weaker than it seems.
pub fn is_weak(code: &str) -> bool {
    let kinds: [CharacterKind; 5] = [
        (|sign| sign.is_ascii_digit(), DIGITS),
        (|sign| sign.is_ascii_lowercase(), ALPHABETIC),
        (|sign| sign.is_ascii_uppercase(), ALPHABETIC),
        (|sign| sign.is_ascii() && !sign.is_ascii_alphanumeric(), SIGNS),
        (|sign| !sign.is_ascii(), OTHERS),
    ];
    let has = |is: fn(char) -> bool| code.chars().any(is);
    let alphabet: u64 = kinds.into_iter().filter(|(is, _)| has(*is)).map(|(_, count)| count).sum();
    let length = u32::try_from(code.chars().count()).unwrap_or(u32::MAX);
    alphabet.checked_pow(length).is_some_and(|codes| codes < ENOUGH)
}

#[cfg(test)]
mod tests {
    use super::is_weak;

    #[test]
    fn a_code_is_weak_by_its_length_and_its_signs() {
        for weak in ["", "SUMMER", "123456789012", "aB3dE6"] {
            assert!(is_weak(weak), "{weak}");
        }
        for strong in ["SUMMER10", "SUMMERSALE", "1234567890123", "aB3dE6g", "k7-Q9_x2", "x".repeat(5_000).as_str()] {
            assert!(!is_weak(strong), "{strong}");
        }
    }
}
