//! Public ids and secrets of keys, in the form of published examples.

use crate::constant_time::hex;
use scrip::id::Ids;

/// Returns 128 random bits as five groups of hexadecimal digits.
pub(super) fn generate_id(ids: &mut Ids) -> String {
    let digits = hex(&ids.secret());
    let mut groups = Vec::new();
    let mut from = 0_usize;
    for length in [8_usize, 4, 4, 4, 12] {
        // The length of a digest bounds both.
        let to = from.saturating_add(length);
        groups.push(digits.get(from..to).unwrap_or_default());
        from = to;
    }
    groups.join("-")
}
