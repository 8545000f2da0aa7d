//! Decides how JSON is put down. It must not know what it says.
//!
//! An answer is some hundred pieces of a few bytes each. In wasm a copy of a few bytes costs more to ask for than to make,
//! and so does asking each time whether there is room: a pen asks once for a piece and writes word by word. Every value is
//! written with a comma after it, which the bracket that closes takes back: nothing has to know whether it is the first.

use crate::json::Node;

/// The first number that has more than eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;

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

    /// What was written since a place, to be put in another order.
    pub fn since(&mut self, start: usize) -> &mut [u8] {
        self.bytes.get_mut(start..self.used).unwrap_or_default()
    }

    /// What was written there, once more: a piece that ended with a comma, which a bracket may have taken back since.
    #[inline(never)]
    pub fn again(&mut self, start: usize, end: usize) {
        let count = end.saturating_sub(start).saturating_sub(1);
        let to = self.used;
        let last = start.saturating_add(count);
        if last < to {
            self.room(count);
            self.bytes.copy_within(start..last, to);
            self.few([b',']);
        }
    }

    /// The next so many bytes, which count as written.
    #[inline(always)]
    fn room(&mut self, count: usize) -> &mut [u8] {
        let start = self.used;
        let end = start.wrapping_add(count);
        if end > self.bytes.len() {
            self.grow(end);
        }
        self.used = end;
        self.bytes.get_mut(start..end).unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, needed: usize) {
        self.bytes.resize(needed.saturating_mul(2).saturating_add(32), 0);
    }

    /// Takes back a comma with nothing after it. Texts end with a quote, so that it is one between values.
    #[inline(always)]
    fn drop_comma(&mut self) {
        let last = self.used.wrapping_sub(1);
        if self.bytes.get(last) == Some(&b',') {
            self.used = last;
        }
    }

    /// A few bytes.
    #[inline(always)]
    fn few<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(room) = self.room(N).first_chunk_mut() {
            *room = bytes;
        }
    }

    /// Bytes that need no escape, in quotes, and what comes after them.
    #[inline(always)]
    fn quoted(&mut self, bytes: &[u8], after: u8) {
        if let [open, middle @ .., close, next] = self.room(bytes.len().wrapping_add(3)) {
            *open = b'"';
            copy(middle, bytes);
            *close = b'"';
            *next = after;
        }
    }

    /// A bracket that opens.
    #[inline(never)]
    pub fn open(&mut self, bracket: u8) {
        self.few([bracket]);
    }

    /// The bracket that closes what is open.
    #[inline(never)]
    pub fn close(&mut self, bracket: u8) {
        self.drop_comma();
        self.few([bracket, b',']);
    }

    /// JSON that is written already.
    #[inline(never)]
    pub fn raw(&mut self, json: &[u8]) {
        copy(self.room(json.len()), json);
        self.few([b',']);
    }

    /// The name of a member that needs no escape.
    #[inline(never)]
    pub fn name(&mut self, name: &str) {
        self.quoted(name.as_bytes(), b':');
    }

    /// A member with a number, as most are: one call less than its name and its value.
    #[inline(never)]
    pub fn named_number(&mut self, name: &str, number: u64) {
        self.quoted(name.as_bytes(), b':');
        self.number(number);
    }

    /// A text that needs no escape.
    #[inline(never)]
    pub fn word(&mut self, word: &'static str) {
        self.quoted(word.as_bytes(), b',');
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.text_before(text, b',');
    }

    /// A text in quotes, and what comes after it. Nearly none needs an escape.
    #[inline(never)]
    pub fn text_before(&mut self, text: &str, after: u8) {
        let bytes = text.as_bytes();
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
        if number >= EIGHT_DIGITS {
            return self.long_number(number);
        }
        let digits = eight_digits(number);
        // Zeros in front are nothing; the last digit always stays.
        let zeros = (digits.trailing_zeros() / 8).min(7);
        self.eight(digits.wrapping_shr(zeros.wrapping_mul(8)));
        self.used = self.used.wrapping_sub(usize::try_from(zeros).unwrap_or(0));
        self.few([b',']);
    }

    #[cold]
    #[inline(never)]
    fn long_number(&mut self, number: u64) {
        self.number(number / EIGHT_DIGITS);
        self.drop_comma();
        self.eight(eight_digits(number % EIGHT_DIGITS));
        self.few([b',']);
    }

    #[inline(always)]
    fn eight(&mut self, digits: u64) {
        self.few((digits | 0x3030_3030_3030_3030).to_le_bytes());
    }

    /// Any value.
    #[inline(never)]
    pub fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Null => self.raw(b"null"),
            Node::Flag(flag) => self.raw(if *flag { b"true" } else { b"false" }),
            Node::Whole(number) => {
                if *number < 0 {
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

impl Node<'_> {
    /// Its JSON, every object in the order of its names.
    #[inline(never)]
    pub fn text(&self) -> String {
        let mut pen = Pen::default();
        pen.node(&self.kept());
        String::from_utf8(pen.into_bytes()).unwrap_or_default()
    }
}

/// The eight digits of a number below 10^8, a byte each, the first one lowest: split into halves, into quarters, into
/// single digits, and at each step all parts at once.
fn eight_digits(number: u64) -> u64 {
    let halves = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = (halves.wrapping_mul(10_486) >> 20) & 0x7f_0000_007f;
    let pairs = hundreds | halves.wrapping_sub(hundreds.wrapping_mul(100)) << 16;
    let tens = (pairs.wrapping_mul(103) >> 10) & 0x000f_000f_000f_000f;
    tens | pairs.wrapping_sub(tens.wrapping_mul(10)) << 8
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

/// Copies to where there is as much room: the first half, and the last half over the end of it, as one to four words each.
/// A loop over words would be made the call that it is to spare.
#[inline(always)]
fn copy(room: &mut [u8], bytes: &[u8]) {
    match bytes.len() {
        65.. => {
            if room.len() == bytes.len() {
                room.copy_from_slice(bytes);
            }
        }
        32.. => ends::<32>(room, bytes),
        16.. => ends::<16>(room, bytes),
        8.. => ends::<8>(room, bytes),
        4.. => ends::<4>(room, bytes),
        2.. => ends::<2>(room, bytes),
        _ => ends::<1>(room, bytes),
    }
}

#[inline(always)]
fn ends<const N: usize>(room: &mut [u8], bytes: &[u8]) {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) {
        if let Some(room) = room.first_chunk_mut() {
            *room = *first;
        }
        if let Some(room) = room.last_chunk_mut() {
            *room = *last;
        }
    }
}
