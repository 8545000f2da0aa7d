//! Generates identifiers: a prefix and a random part (docs/spec/objects.md#1). Instant and seed come from the context.
//! Counters saturate: no request takes as many steps.

use crate::count::Countable;
use crate::text::{Text, hex, joined, sha256, sha256_hex};
use crate::time::Instant;

/// The input of the host for every decision. The engine has no other source of time or randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The instant of the request.
    pub now: Instant,
    /// Fresh randomness for this one request; an equal seed gives equal identifiers.
    pub seed: [u8; 32],
    /// The number under which the first record of this request is stored ([`record_number`]). Without one, identifiers of records have the
    /// form of all others.
    pub first_number: Option<i64>,
}

impl Context {
    /// Returns the identifier of the request in errors, derived only from the seed.
    pub fn request_id(&self) -> Text {
        let digest = sha256_hex(&self.seed);
        joined(&["v-", digest.get(..18).unwrap_or_default()])
    }
}

/// The beginning of every tracking id.
pub const TRACKING_PREFIX: &str = "track_";

/// The bytes after the prefix of a tracking id: at least a tag, at most a tag and 200 encrypted bytes.
const TRACKING_BYTES: std::ops::RangeInclusive<usize> = 16..=216;

/// Returns whether a text has the form of a tracking id. Whether it is one only the holder of the project's key can say.
///
/// ```
/// use scrip::id::is_tracking_id;
/// assert!(is_tracking_id("track_97de008df94909a0293cddf66089f52067"));
/// for other in ["97de008df94909a0293cddf66089f52067", "track_", "track_97de", "track_anna-anna-anna-anna-anna-anna-anna"] {
///     assert!(!is_tracking_id(other));
/// }
/// ```
pub fn is_tracking_id(text: &str) -> bool {
    let Some(digits) = text.strip_prefix(TRACKING_PREFIX) else { return false };
    let is_even = digits.len().is_multiple_of(2) && TRACKING_BYTES.contains(&(digits.len() / 2));
    is_even && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// The characters of alphanumeric identifiers.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The bits of a hexadecimal identifier below its instant.
const CHANCE_BITS: u32 = 28;

/// Random bits among them: they are below the number of a record.
const RANDOM_BITS: u32 = 17;

/// The bits of a record's number below its instant.
const COUNT_BITS: u32 = CHANCE_BITS - RANDOM_BITS;

/// Distance of the numbers of the executor from those of the decision, which stores fewer records.
const EXECUTOR_GAP: i64 = 64;

/// Returns the first number of the records of an instant, in milliseconds since 1970: 2,048 numbers are of one millisecond.
pub fn first_number_at(millis: i64) -> i64 {
    // Instants end in the year 9999, and 59 bits suffice for them.
    millis.saturating_mul(1 << COUNT_BITS)
}

/// Returns the instant of a number of a record, in milliseconds since 1970.
///
/// ```
/// use scrip::id::{first_number_at, instant_of_number};
/// assert_eq!(instant_of_number(first_number_at(1_790_000_000_123) + 5), 1_790_000_000_123);
/// ```
pub fn instant_of_number(number: i64) -> i64 {
    number >> COUNT_BITS
}

/// Returns the number of a record by its identifier of [`Ids::record`]; `None` for an identifier of another form. It is below 2^53 until
/// the year 2109.
///
/// ```
/// use scrip::id::record_number;
/// assert_eq!(record_number("r_019ac2f5c0000800ab"), Some((0x19_ac2f_5c00 << 11) | 4));
/// for other in ["r_1", "mine", "ord_019ac2f5c0000800aG", "019ac2f5c0000800ab"] {
///     assert_eq!(record_number(other), None);
/// }
/// ```
pub fn record_number(id: &str) -> Option<i64> {
    let (_, digits) = id.rsplit_once('_')?;
    let is_own = digits.len() == 18 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let value = u128::from_str_radix(digits, 16).ok().filter(|_| is_own)?;
    // Integers are doubles on the platform.
    i64::try_from(value >> RANDOM_BITS).ok().filter(|number| *number < 1 << 53)
}

/// A generator of the identifiers of one request. Its randomness is the SHA-256 of seed and counter, block after block:
/// without the seed the next one cannot be predicted.
#[derive(Debug, Clone)]
pub struct Ids {
    seed: [u8; 32],
    blocks: u64,
    block: [u8; 32],
    used: usize,
    next: u128,
    /// The number of the next record, where the context has one.
    next_record: Option<i64>,
    /// A number that another record has got before it was the next.
    reserved: Option<i64>,
}

impl Ids {
    /// Returns the generator for the request of this context.
    pub fn new(context: &Context) -> Ids {
        let mut ids = Ids {
            seed: context.seed,
            blocks: 0,
            block: [0; 32],
            used: 32,
            next: 0,
            next_record: context.first_number,
            reserved: None,
        };
        let instant = u128::from(context.now.millis().unsigned_abs());
        // The upper half of the random part is left free, so that ids of one request can only grow.
        let start = ids.number() & ((1 << (CHANCE_BITS - 1)) - 1);
        ids.next = (instant << CHANCE_BITS) | u128::from(start);
        ids
    }

    /// Returns a generator for the caller that executes a decision. Its identifiers never equal those of the decision
    /// for the same request, regardless of the prefix. A redemption and its transaction share their digits, and those
    /// of another transaction must differ.
    pub fn independent(context: &Context) -> Ids {
        let mut ids = Ids::new(&Context { seed: sha256(&[&context.seed, b"beside"]), ..*context });
        // The identifiers of the decision start in the lower half of the random part. A quarter is enough for all that
        // one request writes.
        ids.next = (ids.next & !(1 << (CHANCE_BITS - 2))) | (1 << (CHANCE_BITS - 1));
        // Numbers have 53 bits.
        ids.next_record = context.first_number.map(|number| number.saturating_add(EXECUTOR_GAP));
        ids
    }

    /// Returns a time-ordered identifier: 18 hexadecimal digits, each greater than the one before it.
    pub fn hex18(&mut self, prefix: &str) -> Text {
        // At most 4,096.
        let step = u128::from(self.number() & 0xfff).saturating_add(1);
        // The upper half of its bits is free, so that it never comes to the end.
        self.next = self.next.saturating_add(step);
        joined(&[prefix, &hex(self.next.to_be_bytes().get(7..).unwrap_or_default())])
    }

    /// Returns the identifier of a record: as [`Ids::hex18`], but it begins with the number under which the record is stored, where the
    /// context has one.
    pub fn record(&mut self, prefix: &str) -> Text {
        let Some(next) = self.next_record else { return self.hex18(prefix) };
        // Numbers have 53 bits.
        let number = if self.reserved == Some(next) { next.saturating_add(1) } else { next };
        // Numbers have 53 bits.
        self.next_record = Some(number.saturating_add(1));
        self.numbered(prefix, number)
    }

    /// Returns the identifier of a record that is stored after some others, whose identifiers are drawn next.
    pub fn record_after(&mut self, others: usize, prefix: &str) -> Text {
        let Some(next) = self.next_record else { return self.hex18(prefix) };
        // Records of a decision are few, and numbers have 53 bits.
        let number = next.saturating_add(i64::try_from(others).unwrap_or(EXECUTOR_GAP));
        self.reserved = Some(number);
        self.numbered(prefix, number)
    }

    fn numbered(&mut self, prefix: &str, number: i64) -> Text {
        let random = u128::from(self.number() & ((1 << RANDOM_BITS) - 1));
        let value = (u128::from(number.unsigned_abs()) << RANDOM_BITS) | random;
        joined(&[prefix, &hex(value.to_be_bytes().get(7..).unwrap_or_default())])
    }

    /// Returns an unpredictable alphanumeric identifier of `length` characters.
    pub fn alphanumeric(&mut self, prefix: &str, length: usize) -> Text {
        let mut id = String::from(prefix);
        let mut left = length;
        while left > 0 {
            // 62 * 4 = 248: bytes beyond are drawn again, so that every character is equally likely.
            let byte = usize::from(self.byte());
            if byte >= 248 {
                continue;
            }
            if let Some(character) = byte.checked_rem(62).and_then(|at| ALPHABET.get(at)) {
                id.push(char::from(*character));
                left = left.remaining_after(1);
            }
        }
        Text::from(id)
    }

    /// Returns 32 bytes for a key or a further seed.
    pub fn secret(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.fill_with(|| self.byte());
        bytes
    }

    fn byte(&mut self) -> u8 {
        if self.used >= self.block.len() {
            self.block = sha256(&[&self.seed, &self.blocks.to_le_bytes()]);
            // No decision reads 2^64 blocks.
            self.blocks = self.blocks.saturating_add(1);
            self.used = 0;
        }
        let byte = self.block.get(self.used).copied().unwrap_or(0);
        self.used = self.used.plus_one();
        byte
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    #[allow(clippy::arithmetic_side_effects, reason = "a test may fail loudly")]
    fn records_have_the_numbers_of_their_ids_and_a_parent_comes_after_its_parts() {
        let now = Instant::parse("2026-03-01T00:00:00Z").unwrap_or_default();
        let first = first_number_at(now.millis()) + 7;
        let context = Context { now, seed: [7; 32], first_number: Some(first) };
        let (mut ids, mut executor) = (Ids::new(&context), Ids::independent(&context));
        let parent = ids.record_after(2, "r_");
        let drawn = [parent, ids.record("r_"), ids.record("r_"), ids.record("ord_"), executor.record("vtx_")];
        let numbers = drawn.map(|id| record_number(&id).map(|number| number - first));
        assert_eq!(numbers, [Some(2), Some(0), Some(1), Some(3), Some(EXECUTOR_GAP)]);
        let without = Context { first_number: None, ..context };
        assert_eq!(Ids::new(&without).record("r_"), Ids::new(&without).hex18("r_"));
    }

    #[test]
    fn ids_of_the_executor_differ_from_those_of_the_decision() {
        for seed in 0..=255 {
            let context = Context {
                now: Instant::parse("2026-03-01T00:00:00Z").unwrap_or_default(),
                seed: [seed; 32],
                first_number: None,
            };
            let minted = |mut ids: Ids| (0..100).map(|_| ids.hex18("vtx_")).collect::<BTreeSet<Text>>();
            let (decided, independent) = (minted(Ids::new(&context)), minted(Ids::independent(&context)));
            assert_eq!(decided.len().min(independent.len()), 100);
            assert!(decided.is_disjoint(&independent), "{seed}");
        }
    }
}
