//! Decides how requests and replies cross between Rust and JavaScript: header lines and bytes.
//! It must not know what the headers mean.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;

use crate::service::{Reply, Request};

/// The request that a method, a target (path and query) and header lines describe.
pub(super) fn read_request(method: &str, target: &str, lines: &str, body: Vec<u8>) -> Request {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut parts = lines.split('\n');
    let mut headers = Vec::new();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        headers.push((name.to_owned(), value.to_owned()));
    }
    Request { method: method.to_owned(), path: path.to_owned(), query: query.to_owned(), headers, body }
}

/// Header lines: `name`, newline, `value`, newline. A newline inside a value would forge a header, so it becomes a space.
pub(super) fn write_lines(headers: &[(String, String)]) -> String {
    let mut lines = String::new();
    for (name, value) in headers {
        lines.push_str(name);
        lines.push('\n');
        lines.extend(value.chars().map(|letter| if letter.is_control() { ' ' } else { letter }));
        lines.push('\n');
    }
    lines
}

/// `[status, header lines, bytes]`, as the shell and the entry pass replies on.
pub(super) fn write_reply(reply: &Reply) -> Array {
    Array::of3(
        &JsValue::from(reply.status),
        &JsValue::from_str(&write_lines(&reply.headers)),
        &Uint8Array::from(reply.body.as_slice()).into(),
    )
}
