//! Decides how JSON is put down. It must not know what it says.

use crate::json::Node;

/// Puts down any value.
#[inline(never)]
pub fn put_node(out: &mut Vec<u8>, node: &Node<'_>) {
    match node {
        Node::Null => append(out, b"null"),
        Node::Flag(flag) => append(out, if *flag { b"true" } else { b"false" }),
        Node::Whole(number) => {
            if *number < 0 {
                out.push(b'-');
            }
            put_number(out, number.unsigned_abs());
        }
        Node::Fraction(digits) => append(out, digits.as_bytes()),
        Node::Text(text) => put_text(out, text),
        Node::List(items) => {
            out.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                put_node(out, item);
            }
            out.push(b']');
        }
        Node::Object(members) => {
            out.push(b'{');
            for (place, (name, value)) in members.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                put_text(out, name);
                out.push(b':');
                put_node(out, value);
            }
            out.push(b'}');
        }
    }
}

/// Puts down bytes as they are. Most are few, and in wasm a copy of a few bytes costs more to ask for than to make: up to
/// a length they go word by word, the last word over the end of the one before it.
#[inline(never)]
pub fn append(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len());
    let Some(last) = bytes.last_chunk::<8>().filter(|_| bytes.len() <= 64) else {
        return append_short(out, bytes);
    };
    let end = out.len().wrapping_add(bytes.len()).wrapping_sub(8);
    for word in bytes.as_chunks::<8>().0 {
        out.extend_from_slice(word);
    }
    out.truncate(end);
    out.extend_from_slice(last);
}

fn append_short(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() >= 8 {
        out.extend_from_slice(bytes);
        return;
    }
    for byte in bytes {
        out.push(*byte);
    }
}

/// Puts down a text in quotes. Runs that need no escape, which is nearly everything, are copied whole.
#[inline(never)]
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(stop) = rest.iter().position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\') {
        let Some((run, [byte, after @ ..])) = rest.split_at_checked(stop) else { break };
        append(out, run);
        put_escape(out, *byte);
        rest = after;
    }
    append(out, rest);
    out.push(b'"');
}

#[cold]
fn put_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        8 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        12 => b'f',
        b'\r' => b'r',
        _ => {
            append(out, if byte < 16 { b"\\u000" } else { b"\\u001" });
            out.push(b"0123456789abcdef".get(usize::from(byte & 15)).copied().unwrap_or(b'0'));
            return;
        }
    };
    append(out, &[b'\\', short]);
}

/// Puts down a whole number.
#[inline(never)]
pub fn put_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0_u8; 20];
    let mut used = 0_usize;
    // From the last digit to the first; amounts fit 32 bits, which divide faster.
    let mut left = number;
    for slot in digits.iter_mut().rev() {
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
        used = used.wrapping_add(1);
        if left == 0 {
            break;
        }
    }
    append(out, digits.get(digits.len().wrapping_sub(used)..).unwrap_or_default());
}
