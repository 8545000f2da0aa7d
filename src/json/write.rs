//! Decides how JSON is put down. It must not know what it says.

use crate::json::Node;

/// Puts down any value.
#[inline(never)]
pub fn put_node(out: &mut String, node: &Node<'_>) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Node::Whole(number) => {
            if *number < 0 {
                out.push('-');
            }
            put_number(out, number.unsigned_abs());
        }
        Node::Fraction(digits) => out.push_str(digits),
        Node::Text(text) => put_text(out, text),
        Node::List(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                put_node(out, item);
            }
            out.push(']');
        }
        Node::Object(members) => {
            out.push('{');
            for (place, (name, value)) in members.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                put_text(out, name);
                out.push(':');
                put_node(out, value);
            }
            out.push('}');
        }
    }
}

/// Puts down a text in quotes. Runs that need no escape, which is nearly everything, are copied whole.
#[inline(never)]
pub fn put_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(stop) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        let Some((run, after)) = rest.split_at_checked(stop) else { break };
        out.push_str(run);
        let mut letters = after.chars();
        if let Some(letter) = letters.next() {
            put_escape(out, letter);
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

#[cold]
fn put_escape(out: &mut String, letter: char) {
    out.push('\\');
    let short = match letter {
        '"' | '\\' => letter,
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{c}' => 'f',
        '\r' => 'r',
        _ => {
            out.push_str(if letter < '\u{10}' { "u000" } else { "u001" });
            out.push(char::from_digit(u32::from(letter) & 15, 16).unwrap_or('0'));
            return;
        }
    };
    out.push(short);
}

/// Puts down a whole number.
#[inline(never)]
pub fn put_number(out: &mut String, number: u64) {
    let mut digits = [0_u8; 20];
    let mut left = number;
    let mut used = 0_usize;
    // From the last digit to the first.
    for slot in digits.iter_mut().rev() {
        *slot = b'0' | u8::try_from(left % 10).unwrap_or(0);
        left /= 10;
        used = used.wrapping_add(1);
        if left == 0 {
            break;
        }
    }
    let written = digits.get(digits.len().wrapping_sub(used)..).unwrap_or_default();
    out.push_str(str::from_utf8(written).unwrap_or_default());
}
