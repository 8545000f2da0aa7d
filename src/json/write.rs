//! Decides how JSON is put down. It must not know what it says.
//!
//! An answer is some hundred pieces of a few bytes each. In wasm a copy of a few bytes costs more to ask for than to make,
//! and so does asking each time whether there is room: a pen asks once for a piece and writes word by word.

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
    /// A pen with room for a small answer.
    pub fn new() -> Pen {
        Pen { bytes: vec![0; 4096], used: 0 }
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        bytes.truncate(self.used);
        bytes
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

    /// One byte, as it is.
    #[inline(always)]
    pub fn byte(&mut self, byte: u8) {
        match self.bytes.get_mut(self.used) {
            Some(slot) => {
                *slot = byte;
                self.used = self.used.wrapping_add(1);
            }
            None => self.put(&[byte]),
        }
    }

    /// Bytes, as they are.
    #[inline(never)]
    pub fn put(&mut self, bytes: &[u8]) {
        self.ensure(bytes.len());
        if let Some(room) = self.bytes.get_mut(self.used..) {
            copy(room, bytes);
        }
        self.used = self.used.wrapping_add(bytes.len());
    }

    /// The name of a member that needs no escape, after a comma when it is not the first.
    #[inline(never)]
    pub fn name(&mut self, name: &str, follows: bool) {
        self.ensure(name.len());
        if follows {
            self.byte(b',');
        }
        self.quoted(name.as_bytes());
        self.byte(b':');
    }

    /// Bytes that need no escape, in quotes; there is room.
    #[inline(always)]
    fn quoted(&mut self, bytes: &[u8]) {
        let end = bytes.len().wrapping_add(1);
        if let Some([quote, room @ ..]) = self.bytes.get_mut(self.used..) {
            *quote = b'"';
            copy(room, bytes);
            if let Some(quote) = room.get_mut(bytes.len()) {
                *quote = b'"';
            }
        }
        self.used = self.used.wrapping_add(end).wrapping_add(1);
    }

    /// A text in quotes. Nearly none needs an escape.
    #[inline(never)]
    pub fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if bytes.iter().any(|byte| needs_escape(*byte)) {
            return self.escaped(bytes);
        }
        self.ensure(bytes.len());
        self.quoted(bytes);
    }

    #[cold]
    #[inline(never)]
    fn escaped(&mut self, bytes: &[u8]) {
        self.byte(b'"');
        for byte in bytes {
            if needs_escape(*byte) {
                self.escape(*byte);
            } else {
                self.byte(*byte);
            }
        }
        self.byte(b'"');
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
                self.put(if byte < 16 { b"\\u000" } else { b"\\u001" });
                self.byte(b"0123456789abcdef".get(usize::from(byte & 15)).copied().unwrap_or(b'0'));
                return;
            }
        };
        self.byte(b'\\');
        self.byte(short);
    }

    /// A whole number.
    #[inline(never)]
    pub fn number(&mut self, number: u64) {
        self.ensure(0);
        let count = number.checked_ilog10().map_or(1, |tens| usize::try_from(tens).unwrap_or(0).wrapping_add(1));
        let end = self.used.wrapping_add(count);
        let mut left = number;
        for slot in self.bytes.get_mut(self.used..end).unwrap_or_default().iter_mut().rev() {
            // Amounts fit 32 bits, which divide faster.
            let digit = match u32::try_from(left) {
                Ok(small) => {
                    left = u64::from(small / 10);
                    small % 10
                }
                Err(_) => {
                    let digit = left % 10;
                    left /= 10;
                    u32::try_from(digit).unwrap_or(0)
                }
            };
            *slot = b'0' | u8::try_from(digit).unwrap_or(0);
        }
        self.used = end;
    }

    /// Any value.
    #[inline(never)]
    pub fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Null => self.put(b"null"),
            Node::Flag(flag) => self.put(if *flag { b"true" } else { b"false" }),
            Node::Whole(number) => {
                if *number < 0 {
                    self.byte(b'-');
                }
                self.number(number.unsigned_abs());
            }
            Node::Fraction(digits) => self.put(digits.as_bytes()),
            Node::Text(text) => self.text(text),
            Node::List(items) => {
                self.byte(b'[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        self.byte(b',');
                    }
                    self.node(item);
                }
                self.byte(b']');
            }
            Node::Object(members) => {
                self.byte(b'{');
                for (place, (name, value)) in members.iter().enumerate() {
                    if place > 0 {
                        self.byte(b',');
                    }
                    self.text(name);
                    self.byte(b':');
                    self.node(value);
                }
                self.byte(b'}');
            }
        }
    }
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
