//! What the service takes from the engine's ground floor.

use sha2::{Digest, Sha256};

/// The moment and the seed of one event.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// Milliseconds since 1970.
    pub now: Instant,
    /// 32 random bytes, fresh for each event.
    pub seed: [u8; 32],
}

/// A moment in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub i64);

/// Mints ids.
pub struct Ids {
    seed: [u8; 32],
    now: i64,
    count: u64,
}

impl Ids {
    /// A mint for one event.
    pub fn new(context: &Context) -> Ids {
        Ids { seed: context.seed, now: context.now.0, count: 0 }
    }

    fn block(&mut self) -> [u8; 32] {
        self.count = self.count.wrapping_add(1);
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(self.count.to_be_bytes());
        hash.finalize().into()
    }

    /// A prefix and 18 hexadecimal digits that grow with time.
    pub fn hex18(&mut self, prefix: &str) -> String {
        let block = self.block();
        let random = u32::from_be_bytes([block[0], block[1], block[2], block[3]]) >> 4;
        format!("{prefix}{:011x}{random:07x}", self.now)
    }

    /// A prefix and letters and digits.
    pub fn alnum(&mut self, prefix: &str, length: usize) -> String {
        const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut text = String::from(prefix);
        while text.len() < prefix.len().saturating_add(length) {
            for byte in self.block() {
                if text.len() < prefix.len().saturating_add(length)
                    && let Some(letter) = LETTERS.get(usize::from(byte & 63))
                {
                    text.push(char::from(*letter));
                }
            }
        }
        text
    }
}
