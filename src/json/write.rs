//! Decides how JSON is put down. It must not know what it says.
//!
//! An answer is some hundred pieces of a few bytes each. In wasm a copy of a few bytes costs more to ask for than to make,
//! and so does asking each time whether there is room: a pen asks once for a piece and writes word by word. Every value is
//! written with a comma after it, which the bracket that closes takes back: nothing has to know whether it is the first.

use crate::json::Node;

/// How much there is always room for besides the piece that is written.
const SLACK: usize = 32;

/// Pieces up to this length are written word by word.
const FEW: usize = 64;

/// Text that is being written.
#[derive(Debug, Default)]
pub struct Pen {
    /// What is written, and room after it.
    bytes: Vec<u8>,
    used: usize,
}

impl Pen {
    /// A pen with room for so many bytes; there may be more.
    pub fn with_room(count: usize) -> Pen {
        Pen { bytes: vec![0; count], used: 0 }
    }

    /// What was written, without the comma after the last value.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.drop_comma();
        self.bytes.truncate(self.used);
        self.bytes
    }

    /// How much was written.
    pub fn place(&self) -> usize {
        self.used
    }

    /// What was written there, once more: a piece that ended with a comma, which a bracket may have taken back since.
    #[inline(never)]
    pub fn again(&mut self, start: usize, end: usize) {
        let count = end.saturating_sub(start).saturating_sub(1);
        self.ensure(count);
        let last = start.saturating_add(count);
        if last < self.used {
            self.bytes.copy_within(start..last, self.used);
            self.used = self.used.wrapping_add(count);
            self.few([b',']);
        }
    }

    /// Makes room for a piece of so many bytes, and a little more.
    #[inline(always)]
    fn ensure(&mut self, count: usize) {
        if count.wrapping_add(self.used).wrapping_add(SLACK) > self.bytes.len() {
            self.grow(count);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) {
        let length = self.used.saturating_add(count).saturating_add(SLACK);
        self.bytes.resize(length.saturating_mul(2), 0);
    }

    /// Takes back a comma with nothing after it. Texts end with a quote, so that it is one between values.
    #[inline(always)]
    fn drop_comma(&mut self) {
        let last = self.used.wrapping_sub(1);
        if self.bytes.get(last) == Some(&b',') {
            self.used = last;
        }
    }

    /// A few bytes, for which there is room.
    #[inline(always)]
    fn few<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(room) = self.bytes.get_mut(self.used..).and_then(|room| room.first_chunk_mut()) {
            *room = bytes;
        }
        self.used = self.used.wrapping_add(N);
    }

    /// Bytes, as they are; there is room.
    #[inline(always)]
    fn plain(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.used..) {
            copy(room, bytes);
        }
        self.used = self.used.wrapping_add(bytes.len());
    }

    /// Bytes that need no escape, in quotes, and what comes after them; there is room.
    #[inline(always)]
    fn quoted(&mut self, bytes: &[u8], after: u8) {
        self.few([b'"']);
        self.plain(bytes);
        self.few([b'"', after]);
    }

    /// A bracket that opens.
    #[inline(never)]
    pub fn open(&mut self, bracket: u8) {
        self.ensure(0);
        self.few([bracket]);
    }

    /// The bracket that closes what is open.
    #[inline(never)]
    pub fn close(&mut self, bracket: u8) {
        self.drop_comma();
        self.ensure(0);
        self.few([bracket, b',']);
    }

    /// JSON that is written already.
    #[inline(never)]
    pub fn raw(&mut self, json: &[u8]) {
        self.ensure(json.len());
        self.plain(json);
        self.few([b',']);
    }

    /// The name of a member that needs no escape.
    #[inline(never)]
    pub fn name(&mut self, name: &str) {
        self.ensure(name.len());
        self.quoted(name.as_bytes(), b':');
    }

    /// A text.
    #[inline(never)]
    pub fn text(&mut self, text: &str) {
        self.text_before(text, b',');
    }

    /// A text in quotes, and what comes after it. Nearly none needs an escape.
    #[inline(never)]
    pub fn text_before(&mut self, text: &str, after: u8) {
        let bytes = text.as_bytes();
        self.ensure(bytes.len());
        if is_plain(bytes) {
            self.quoted(bytes, after);
        } else {
            self.escaped(bytes, after);
        }
    }

    #[cold]
    #[inline(never)]
    fn escaped(&mut self, bytes: &[u8], after: u8) {
        self.few([b'"']);
        for byte in bytes {
            self.ensure(0);
            if needs_escape(*byte) {
                self.escape(*byte);
            } else {
                self.few([*byte]);
            }
        }
        self.few([b'"', after]);
    }

    #[cold]
    #[inline(never)]
    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' => byte,
            8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            12 => b'f',
            b'\r' => b'r',
            _ => {
                self.few(*b"\\u00");
                let digit = b"0123456789abcdef".get(usize::from(byte & 15)).copied().unwrap_or(b'0');
                return self.few([b'0' | (byte >> 4), digit]);
            }
        };
        self.few([b'\\', short]);
    }

    /// A whole number.
    #[inline(never)]
    pub fn number(&mut self, number: u64) {
        self.ensure(0);
        self.digits(number);
        self.few([b',']);
    }

    /// The digits of a number; there is room for those of every number.
    fn digits(&mut self, number: u64) {
        // Amounts fit 32 bits, which divide faster.
        let Ok(small) = u32::try_from(number) else {
            self.digits(number / 1_000_000_000);
            let rest = u32::try_from(number % 1_000_000_000).unwrap_or(0);
            return self.low_digits(rest, 9);
        };
        let count = small.checked_ilog10().map_or(1, |tens| usize::try_from(tens).unwrap_or(0).wrapping_add(1));
        self.low_digits(small, count);
    }

    /// So many of the last digits of a number.
    #[inline(always)]
    fn low_digits(&mut self, number: u32, count: usize) {
        let end = self.used.wrapping_add(count);
        let mut left = number;
        for slot in self.bytes.get_mut(self.used..end).unwrap_or_default().iter_mut().rev() {
            *slot = b'0' | u8::try_from(left % 10).unwrap_or(0);
            left /= 10;
        }
        self.used = end;
    }

    /// Any value.
    #[inline(never)]
    pub fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Null => self.raw(b"null"),
            Node::Flag(flag) => self.raw(if *flag { b"true" } else { b"false" }),
            Node::Whole(number) => {
                if *number < 0 {
                    self.ensure(0);
                    self.few([b'-']);
                }
                self.number(number.unsigned_abs());
            }
            Node::Fraction(digits) => self.raw(digits.as_bytes()),
            Node::Text(text) => self.text(text),
            Node::List(items) => {
                self.open(b'[');
                for item in items {
                    self.node(item);
                }
                self.close(b']');
            }
            Node::Object(members) => {
                self.open(b'{');
                for (name, value) in members {
                    self.text_before(name, b':');
                    self.node(value);
                }
                self.close(b'}');
            }
        }
    }
}

/// Whether no byte needs an escape, eight at a time.
#[inline(always)]
fn is_plain(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk() {
        let words = bytes.as_chunks::<8>().0;
        !words.iter().any(|word| has_escape(u64::from_le_bytes(*word))) && !has_escape(u64::from_le_bytes(*last))
    } else {
        !bytes.iter().any(|byte| needs_escape(*byte))
    }
}

/// Whether one of the eight bytes needs an escape: it is below a space, a quote or a backslash. What is subtracted borrows
/// from the upper bit of a byte that is less, and of no other unless there is one.
#[inline(always)]
fn has_escape(word: u64) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, bound: u64| word.wrapping_sub(EACH.wrapping_mul(bound)) & !word;
    let is = |byte: u8| below(word ^ EACH.wrapping_mul(u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & EACH.wrapping_mul(0x80) != 0
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Copies to where there is room. The last word goes over the end of the one before it.
#[inline(always)]
fn copy(room: &mut [u8], bytes: &[u8]) {
    let count = bytes.len();
    if count > FEW {
        if let Some(room) = room.get_mut(..count) {
            room.copy_from_slice(bytes);
        }
    } else if let Some(last) = bytes.last_chunk::<8>() {
        for (room, word) in room.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *room = *word;
        }
        if let Some(room) = room.get_mut(count.wrapping_sub(8)..).and_then(|room| room.first_chunk_mut()) {
            *room = *last;
        }
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        if let Some(room) = room.first_chunk_mut() {
            *room = *first;
        }
        if let Some(room) = room.get_mut(count.wrapping_sub(4)..).and_then(|room| room.first_chunk_mut()) {
            *room = *last;
        }
    } else {
        for (slot, byte) in room.iter_mut().zip(bytes) {
            *slot = *byte;
        }
    }
}
