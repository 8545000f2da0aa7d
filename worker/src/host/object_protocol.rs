//! Transfer of requests and replies between Rust and JavaScript, as header lines and bytes.

use crate::http::request::{Reply, Request};
use js_sys::{Array, Uint8Array};
use std::ops::Range;
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
    let (place, value) = locate_line(lines, name)?;
    let value = value.to_owned();
    lines.replace_range(place, "");
    Some(value)
}

/// Returns the value of a header in header lines.
pub(super) fn find_line<'l>(lines: &'l str, name: &str) -> Option<&'l str> {
    locate_line(lines, name).map(|(_, value)| value)
}

/// Returns the place of a header in header lines, and its value.
fn locate_line<'l>(lines: &'l str, name: &str) -> Option<(Range<usize>, &'l str)> {
    let mut begin: usize = 0;
    let mut parts = lines.split('\n');
    while let (Some(found), Some(value)) = (parts.next(), parts.next()) {
        // Memory bounds the places of a text, of which these are some.
        let end = begin.saturating_add(found.len()).saturating_add(value.len()).saturating_add(2).min(lines.len());
        if found == name {
            return Some((begin..end, value));
        }
        begin = end;
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
