//! Decides how short texts (codes, ids, names) are held and how a code is hashed.
//! It must not know what any of them stand for.

use sha2::{Digest, Sha256};

mod number;
pub use number::{Decimal, are_digits, decimal};

/// A short text: one pointer to letters that are shared by counting, so that a clone copies none of them.
pub type Text = arcstr::ArcStr;

/// Letters of a text, at most, wherever one is read: a description, a formula, a value of custom data.
pub const LONGEST_TEXT: usize = 20_000;

/// Letters of a name, at most: a code, an id, a key. An index holds it, and every caller's names are shorter.
pub const LONGEST_NAME: usize = 1_000;

/// Whether a text has more letters than these. Those of a short one are not counted.
///
/// ```
/// use scrip::text::is_longer;
/// assert!(is_longer("abc", 2) && !is_longer("ab", 2) && !is_longer("éé", 2));
/// ```
#[inline]
pub fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().count() > most
}

/// The SHA-256 of a text in lower-case hexadecimal: how a bundle names a code without telling it.
///
/// ```
/// assert!(scrip::text::sha256_hex(b"A").starts_with("559aead08264d5795d39"));
/// ```
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(&[bytes]))
}

/// The SHA-256 of parts written one after the other.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    digest.finalize().into()
}

/// Bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// The parts as one short text.
///
/// ```
/// assert_eq!(scrip::text::joined(&["voucher/", "v_1", "/credits"]), "voucher/v_1/credits");
/// ```
pub fn joined(parts: &[&str]) -> Text {
    parts.concat().into()
}

/// The bytes that a hexadecimal text stands for; nothing for what is odd or no hexadecimal.
///
/// ```
/// use scrip::text::unhexed;
/// assert_eq!(unhexed("01fF"), Some(vec![1, 255]));
/// assert_eq!(unhexed("1"), None);
/// ```
pub fn unhexed(text: &str) -> Option<Vec<u8>> {
    base16ct::mixed::decode_vec(text).ok()
}

/// The bytes that a hexadecimal text stands for, at most `N`, padded with zeros on the right; nothing for what is empty,
/// odd, too long or no hexadecimal.
///
/// ```
/// use scrip::text::unhex;
/// assert_eq!(unhex::<3>("01fF"), Some([1, 255, 0]));
/// for wrong in ["", "1", "0g", "+1", "é", "00000000"] {
///     assert_eq!(unhex::<3>(wrong), None);
/// }
/// ```
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0_u8; N];
    let read = base16ct::mixed::decode(text, &mut bytes).ok()?;
    (!read.is_empty()).then_some(bytes)
}
