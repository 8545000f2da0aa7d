//! Transfer of requests and replies between Rust and JavaScript, as header lines and bytes.

use crate::http::request::{Reply, Request};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;

/// Reads the request that a method, a target (path and query) and header lines describe.
pub(super) fn read_request(method: &str, target: &str, lines: &str, body: Vec<u8>) -> Request {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut parts = lines.split('\n');
    let mut headers = Vec::new();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        headers.push((name.to_owned(), value.to_owned()));
    }
    Request { method: method.to_owned(), path: path.to_owned(), query: query.to_owned(), headers, body }
}

/// Writes header lines: `name`, newline, `value`, newline. A newline inside a value would forge a header, so it becomes a space.
pub(super) fn write_lines<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines = String::new();
    for (name, value) in headers {
        lines.push_str(name);
        lines.push('\n');
        lines.extend(value.chars().map(|delivery| if delivery.is_control() { ' ' } else { delivery }));
        lines.push('\n');
    }
    lines
}

/// Removes a header from header lines, and returns its value.
pub(super) fn take_line(lines: &mut String, name: &str) -> Option<String> {
    let marked = format!("{name}\n");
    // Names are at the beginning and after every second line; a value with that text is skipped.
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        // Memory bounds the places of a text, of which these are some.
        let length = |rest: &str| rest.find('\n').map(|end| end.saturating_add(1));
        let name_length = length(rest)?;
        let value_length = length(rest.get(name_length..)?)?;
        // Both parts are within the text.
        let end = at.saturating_add(name_length).saturating_add(value_length);
        if rest.starts_with(&marked) {
            let taken: String = lines.drain(at..end).collect();
            return Some(taken.get(name_length..)?.trim_end_matches('\n').to_owned());
        }
        at = end;
    }
    None
}

/// Writes the header lines of a reply.
pub(super) fn write_reply_lines(reply: &Reply) -> String {
    write_lines(reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// Returns `[status, header lines, bytes]`, the form in which the shell and the entry forward replies.
pub(super) fn write_reply(reply: &Reply) -> Array {
    Array::of3(
        &JsValue::from(reply.status),
        &JsValue::from_str(&write_reply_lines(reply)),
        &Uint8Array::from(reply.body.as_slice()).into(),
    )
}
