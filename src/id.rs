//! Decides what identifiers look like: a prefix and a random part (objects.md section 1).
//! It must not know what is identified, and it draws nothing: moment and seed come with the context.

use crate::text::{Text, hex, joined, sha256, sha256_hex};
use crate::time::Instant;

/// What the host gives to every decision. The engine has no other source of time or chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The moment of the request.
    pub now: Instant,
    /// Fresh randomness for this one request; the same seed gives the same identifiers.
    pub seed: [u8; 32],
}

impl Context {
    /// The identifier of the request, as errors show it: it follows from the seed alone.
    pub fn request_id(&self) -> Text {
        let digest = sha256_hex(&self.seed);
        joined(&["v-", digest.get(..18).unwrap_or_default()])
    }
}

/// The letters and digits of alphanumeric identifiers.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Bits of a hexadecimal identifier below its moment.
const CHANCE_BITS: u32 = 28;

/// Mints the identifiers of one request. Its chance is the SHA-256 of seed and counter, block after block: whoever
/// does not know the seed cannot tell the next one.
#[derive(Debug, Clone)]
pub struct Ids {
    seed: [u8; 32],
    blocks: u64,
    block: [u8; 32],
    used: usize,
    next: u128,
}

impl Ids {
    /// Identifiers for the request that this context belongs to.
    pub fn new(context: &Context) -> Ids {
        let mut ids = Ids { seed: context.seed, blocks: 0, block: [0; 32], used: 32, next: 0 };
        let moment = u128::from(context.now.millis().unsigned_abs());
        // The upper half of the random part is left free, so that ids of one request can only grow.
        let start = ids.number() & ((1 << (CHANCE_BITS - 1)) - 1);
        ids.next = (moment << CHANCE_BITS) | u128::from(start);
        ids
    }

    /// Identifiers for whoever carries out a decision: none is one that the decision itself mints for the same request, whatever
    /// stands before it. A redemption and its transaction have the same digits, and those of another transaction must differ.
    pub fn beside(context: &Context) -> Ids {
        let mut ids = Ids::new(&Context { seed: sha256(&[&context.seed, b"beside"]), ..*context });
        // The decision's begin in the lower half of what is left to chance. A quarter is enough for all that one request writes.
        ids.next = (ids.next & !(1 << (CHANCE_BITS - 2))) | (1 << (CHANCE_BITS - 1));
        ids
    }

    /// A time-ordered identifier: 18 hexadecimal digits, each later than the one before it.
    pub fn hex18(&mut self, prefix: &str) -> Text {
        let step = u128::from(self.number() & 0xfff).saturating_add(1);
        self.next = self.next.saturating_add(step);
        joined(&[prefix, &hex(self.next.to_be_bytes().get(7..).unwrap_or_default())])
    }

    /// An unpredictable identifier of `length` letters and digits.
    pub fn alphanumeric(&mut self, prefix: &str, length: usize) -> Text {
        let mut id = String::from(prefix);
        let mut left = length;
        while left > 0 {
            // 62 * 4 = 248: bytes beyond are drawn again, so that every letter is equally likely.
            let byte = usize::from(self.byte());
            if byte >= 248 {
                continue;
            }
            if let Some(letter) = byte.checked_rem(62).and_then(|at| ALPHABET.get(at)) {
                id.push(char::from(*letter));
                left = left.saturating_sub(1);
            }
        }
        Text::from(id)
    }

    /// 32 bytes for a key or a further seed.
    pub fn secret(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.fill_with(|| self.byte());
        bytes
    }

    fn byte(&mut self) -> u8 {
        if self.used >= self.block.len() {
            self.block = sha256(&[&self.seed, &self.blocks.to_le_bytes()]);
            self.blocks = self.blocks.saturating_add(1);
            self.used = 0;
        }
        let byte = self.block.get(self.used).copied().unwrap_or(0);
        self.used = self.used.saturating_add(1);
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
    fn who_carries_a_decision_out_mints_ids_of_their_own() {
        for seed in 0..=255 {
            let context = Context { now: Instant::parse("2026-03-01T00:00:00Z").unwrap_or_default(), seed: [seed; 32] };
            let minted = |mut ids: Ids| (0..100).map(|_| ids.hex18("vtx_")).collect::<BTreeSet<Text>>();
            let (decided, beside) = (minted(Ids::new(&context)), minted(Ids::beside(&context)));
            assert_eq!(decided.len().min(beside.len()), 100);
            assert!(decided.is_disjoint(&beside), "{seed}");
        }
    }
}
