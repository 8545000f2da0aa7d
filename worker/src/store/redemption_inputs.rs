//! Text and size of the input of a redemption, which a replay decides again. `documents/redemptions.rs` has the rows.

use crate::store::sql::Fault;
use base64ct::{Base64, Encoding};
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde_json::Value as Json;

/// Maximum bytes of the row of an input.
pub const ROW_BYTES_MAX: usize = 4_096;
/// Bytes of a row without its text and the id of the redemption: headers, and numbers of up to eight bytes.
const ROW_OVERHEAD: usize = 48;

/// Longest text that is compressed: a longer one would delay the redemption, and has no chance to fit.
const TEXT_BYTES_MAX: usize = 131_072;
/// Effort of the compression, of 10. More takes twice as long for a hundredth of the size.
const EFFORT: u8 = 7;

/// Compresses a text to the text of a row; `None` if it is too long to try.
pub fn compress(text: &[u8]) -> Option<String> {
    (text.len() <= TEXT_BYTES_MAX).then(|| Base64::encode_string(&compress_to_vec(text, EFFORT)))
}

/// Restores a compressed text.
pub fn decompress(body: &str) -> Result<Vec<u8>, Fault> {
    let bytes = Base64::decode_vec(body).map_err(|error| unreadable(&error))?;
    decompress_to_vec_with_limit(&bytes, TEXT_BYTES_MAX).map_err(|error| unreadable(&error))
}

/// Returns the fault of an input that cannot be read.
pub fn unreadable(error: &dyn std::fmt::Display) -> Fault {
    Fault(format!("the kept input of a redemption cannot be read: {error}"))
}

/// Tests if a compressed text contains a JSON text for which a test is true. One that cannot be read counts as one that does.
pub fn has_text(body: &str, is_searched: &dyn Fn(&str) -> bool) -> bool {
    if body.is_empty() {
        return false;
    }
    let read = decompress(body).and_then(|text| serde_json::from_slice(&text).map_err(|error| unreadable(&error)));
    read.map_or(true, |input: Json| any_text(&input, is_searched))
}

fn any_text(value: &Json, is_searched: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Json::String(text) => is_searched(text) || has_inner_text(text, is_searched),
        Json::Array(items) => items.iter().any(|item| any_text(item, is_searched)),
        Json::Object(members) => members.values().any(|member| any_text(member, is_searched)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Tests a text that is JSON itself, as the body of a request is: its own escapes may differ from those of the service.
fn has_inner_text(text: &str, is_searched: &dyn Fn(&str) -> bool) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[']);
    is_json
        && serde_json::from_str(text)
            .is_ok_and(|inner: Json| is_searched(&inner.to_string()) || any_text(&inner, is_searched))
}

/// Returns the time for which inputs are kept.
pub fn retained_ms(days: i64) -> i64 {
    const DAY_MS: i64 = 86_400_000;
    // A setting has at most 366 days.
    days.saturating_mul(DAY_MS)
}

/// Returns the size of a row.
pub fn row_bytes(redemption: &str, body: &str) -> usize {
    // Both fit memory.
    body.len().saturating_add(redemption.len()).saturating_add(ROW_OVERHEAD)
}
