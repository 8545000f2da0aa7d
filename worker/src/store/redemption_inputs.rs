//! Inputs of redemptions, which a replay decides again: one row for each decision, under the number of its record.

use crate::store::Store;
use crate::store::jobs::remnants::blank;
use crate::store::sql::{self, Fault, SqlRow};
use base64ct::{Base64, Encoding};
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde_json::Value as Json;

/// Maximum bytes of the row of an input.
pub const ROW_BYTES_MAX: usize = 4_096;
/// Bytes of a row without its text and the id of the redemption: five headers, and numbers of up to eight bytes.
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
        Json::String(text) => is_searched(text),
        Json::Array(items) => items.iter().any(|item| any_text(item, is_searched)),
        Json::Object(members) => members.values().any(|member| any_text(member, is_searched)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
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

/// Input to be kept.
pub struct NewInput<'i> {
    /// Id of the redemption: of several redeemables, that of their parent.
    pub redemption: &'i str,
    /// Time in milliseconds.
    pub created_at: i64,
    /// Number of days for which the project keeps inputs.
    pub days: i64,
    /// Bytes of the row; of an input that is too large, the bytes that it would need.
    pub bytes: i64,
    /// Compressed text; empty if it is too large.
    pub body: String,
}

/// Input that was found.
pub struct FoundInput {
    /// Time in milliseconds.
    pub created_at: i64,
    /// Bytes of the row, or those that it would need.
    pub bytes: i64,
    /// Compressed text; empty if it was too large.
    pub body: String,
}

/// Row to be searched for names.
pub struct InputText {
    /// Number of the row.
    pub seq: i64,
    /// Compressed text.
    pub body: String,
}

/// Queues the insertion of an input, after that of its record.
pub fn insert(store: &mut Store<'_>, input: NewInput<'_>) {
    store.write(
        "INSERT OR REPLACE INTO redemption_input (seq, redemption, created_at, days, bytes, body)
         SELECT seq, id, ?2, ?3, ?4, ?5 FROM document WHERE kind = 'redemption' AND id = +?1",
        vec![
            input.redemption.into(),
            input.created_at.into(),
            input.days.into(),
            input.bytes.into(),
            input.body.into(),
        ],
    );
}

/// Finds the input of a redemption by the id of its record, or of its parent's.
pub fn find(store: &Store<'_>, redemption: &str) -> Result<Option<FoundInput>, Fault> {
    let row = store.row(
        "SELECT input.created_at, input.bytes, input.body FROM document CROSS JOIN redemption_input AS input ON input.seq = document.seq
         WHERE document.kind = 'redemption' AND document.id = +?1 AND input.redemption = document.id",
        &[redemption.into()],
    )?;
    let read = |row: SqlRow| {
        Ok(FoundInput {
            created_at: sql::int(&row, 0)?,
            bytes: sql::int(&row, 1)?,
            body: sql::text(&row, 2)?.to_owned(),
        })
    };
    row.map(read).transpose()
}

/// Queues the number of days from now on, where inputs are kept: the newest row has the number that counts.
pub fn update_days(store: &mut Store<'_>, days: i64) {
    store.write(
        "UPDATE redemption_input SET days = ?1 WHERE seq = (SELECT MAX(seq) FROM redemption_input) AND days <> ?1",
        vec![days.into()],
    );
}

/// Finds the number of days that counts; `None` if no input is kept.
pub fn find_days(store: &Store<'_>) -> Result<Option<i64>, Fault> {
    let row = store.row("SELECT days FROM redemption_input ORDER BY seq DESC LIMIT 1", &[])?;
    row.map(|row| sql::int(&row, 0)).transpose()
}

/// Lists the inputs after a number, up to `most`.
pub fn list_after(store: &Store<'_>, after: i64, most: i64) -> Result<Vec<InputText>, Fault> {
    let rows = store.rows(
        "SELECT seq, body FROM redemption_input WHERE seq > +?1 ORDER BY seq LIMIT +?2",
        &[after.into(), most.into()],
    )?;
    rows.iter().map(|row| Ok(InputText { seq: sql::int(row, 0)?, body: sql::text(row, 1)?.to_owned() })).collect()
}

/// Queues the deletion of an input, whose text is overwritten first.
pub fn erase(store: &mut Store<'_>, seq: i64) {
    let body = blank("body");
    store.write(format!("UPDATE redemption_input SET body = {body} WHERE seq = +?1"), vec![seq.into()]);
    store.write("DELETE FROM redemption_input WHERE seq = +?1", vec![seq.into()]);
}
