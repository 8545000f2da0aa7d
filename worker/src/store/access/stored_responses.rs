//! Responses that are stored under Idempotency-Keys: found, inserted and revised.
//!
//! Rows are in the order of their creation, and are found by a digest of their names. Index pages and ordered trees keep
//! removed values in their gaps, where erasure could not remove them.

use crate::store::Store;
use crate::store::jobs::remnants::{RESPONSES, blank};
use crate::store::sql::{self, Fault};

/// Maximum bytes of a response in one row; a longer one continues in slices.
pub const SLICE_BYTES: usize = 1_500_000;

/// A response as it was found.
#[derive(Debug)]
pub struct FoundResponse {
    /// The digest of query and body of its request.
    pub body_hash: String,
    /// Its status.
    pub status: i64,
    /// Its headers, as JSON.
    pub headers: String,
    first_slice: String,
    seq: i64,
}

impl FoundResponse {
    /// Loads the complete body.
    pub fn load_body(&self, store: &Store<'_>) -> Result<String, Fault> {
        join_slices(&self.first_slice, self.seq, store)
    }
}

/// Finds the response of a name.
pub fn find(store: &Store<'_>, name: &str) -> Result<Option<FoundResponse>, Fault> {
    let row = store.row("SELECT body_hash, status, headers, body, seq FROM answer WHERE name = +?1", &[name.into()])?;
    let read = |row: sql::SqlRow| {
        Ok(FoundResponse {
            body_hash: sql::text(&row, 0)?.to_owned(),
            status: sql::int(&row, 1)?,
            headers: sql::text(&row, 2)?.to_owned(),
            first_slice: sql::text(&row, 3)?.to_owned(),
            seq: sql::int(&row, 4)?,
        })
    };
    row.map(read).transpose()
}

/// Joins a response from its first slice and those that follow, one by one, so that at most one slice is in memory twice.
fn join_slices(first: &str, seq: i64, store: &Store<'_>) -> Result<String, Fault> {
    let mut body = first.to_owned();
    // A slice is longer than a character.
    if first.len() < SLICE_BYTES.saturating_sub(char::MAX.len_utf8()) {
        return Ok(body);
    }
    for place in 1_i64.. {
        let params = [seq.into(), place.into()];
        let slice = store.row("SELECT body FROM answer_slice WHERE answer = +?1 AND place = +?2", &params)?;
        let Some(slice) = slice else { break };
        body.push_str(sql::text(&slice, 0)?);
    }
    Ok(body)
}

/// Splits a text into slices that fit a row.
fn slices(text: &str) -> Vec<&str> {
    let mut slices = Vec::new();
    let mut rest = text;
    while let Some((slice, behind)) =
        rest.split_at_checked(rest.floor_char_boundary(SLICE_BYTES)).filter(|(slice, _)| !slice.is_empty())
    {
        slices.push(slice);
        rest = behind;
    }
    slices
}

/// A response that is to be stored.
pub struct NewResponse<'r> {
    /// The name that it is found by.
    pub name: String,
    /// Caller.
    pub caller: String,
    /// Method and path.
    pub request: String,
    /// The key.
    pub key: String,
    /// The digest of query and body of the request.
    pub body_hash: String,
    /// The status.
    pub status: i64,
    /// The headers, as JSON.
    pub headers: String,
    /// The body.
    pub body: &'r str,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Size of the response with its row.
    pub bytes: i64,
}

/// Inserts a response when the call commits.
pub fn insert(store: &mut Store<'_>, response: NewResponse<'_>) {
    let NewResponse { name, caller, request, key, body_hash, status, headers, body, created_at, bytes } = response;
    let mut slices = slices(body).into_iter();
    store.write(
        "INSERT INTO answer (name, caller, request, key, body_hash, status, headers, body, created_at, bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        vec![
            name.as_str().into(),
            caller.into(),
            request.into(),
            key.into(),
            body_hash.into(),
            status.into(),
            headers.into(),
            slices.next().unwrap_or_default().into(),
            created_at.into(),
            bytes.into(),
        ],
    );
    for (slice, place) in slices.zip(1_i64..) {
        store.write(
            "INSERT INTO answer_slice (answer, place, body) SELECT seq, ?2, ?3 FROM answer WHERE name = +?1",
            vec![name.as_str().into(), place.into(), slice.into()],
        );
    }
}

/// A stored response, as it is revised.
pub struct StoredResponse<'k> {
    /// Caller.
    pub caller: &'k str,
    /// Method and path.
    pub request: &'k str,
    /// The key.
    pub key: &'k str,
    /// The answer's body.
    pub body: &'k str,
}

/// Change of a stored response: none, another body, or deletion.
type ReviseResponse<'r> = &'r mut dyn FnMut(&StoredResponse<'_>) -> Option<Option<String>>;

/// Changes a number of the oldest responses after a time, if they contain one of these texts. Returns the time of the last one,
/// unless there are no more.
pub fn revise(
    store: &mut Store<'_>,
    after: i64,
    rows: i64,
    texts: &[String],
    change: ReviseResponse<'_>,
) -> Result<Option<i64>, Fault> {
    let last = store.row(
        "SELECT MAX(created_at), COUNT(*) FROM (SELECT created_at FROM answer WHERE status > 0 AND created_at > +?1 ORDER BY created_at LIMIT +?2)",
        &[after.into(), rows.into()],
    )?;
    let last = last.unwrap_or_default();
    let (Some(last), scanned) = (sql::int_or_null(&last, 0)?, sql::int(&last, 1)?) else { return Ok(None) };
    // In a path names are written otherwise, and a longer answer may have one where its slices meet: these are all read.
    let found = store.rows(
        "SELECT caller, request, key, body, seq FROM answer WHERE status > 0 AND created_at > +?1 AND created_at <= +?2
           AND (bytes >= ?3 OR instr(request, '%') > 0
             OR EXISTS (SELECT 1 FROM json_each(?4) AS mark WHERE instr(body, mark.value) > 0 OR instr(caller, mark.value) > 0 OR instr(key, trim(mark.value, '\"')) > 0
                  OR instr(request, trim(mark.value, '\"')) > 0))",
        &[
            after.into(),
            last.into(),
            i64::try_from(SLICE_BYTES).unwrap_or(i64::MAX).into(),
            serde_json::Value::from(texts.to_vec()).to_string().into(),
        ],
    )?;
    for row in &found {
        let seq = sql::int(row, 4)?;
        let body = join_slices(sql::text(row, 3)?, seq, store)?;
        let [caller, request, key] = [sql::text(row, 0)?, sql::text(row, 1)?, sql::text(row, 2)?];
        if let Some(revised) = change(&StoredResponse { caller, request, key, body: &body }) {
            overwrite(store, seq, &body, revised);
        }
    }
    Ok((scanned >= rows).then_some(last))
}

/// Overwrites the slices of a response in their own length before they are deleted; a deleted response, with its names.
fn overwrite(store: &mut Store<'_>, seq: i64, before: &str, revised: Option<String>) {
    let is_deleted = revised.is_none();
    let text = revised.unwrap_or_else(|| " ".repeat(before.len()));
    for (slice, place) in slices(&text).into_iter().zip(0_i64..) {
        if place == 0 {
            store.write("UPDATE answer SET body = ?2 WHERE seq = +?1", vec![seq.into(), slice.into()]);
        } else {
            store.write(
                "INSERT INTO answer_slice (answer, place, body) VALUES (?1, ?2, ?3)
                 ON CONFLICT (answer, place) DO UPDATE SET body = excluded.body",
                vec![seq.into(), place.into(), slice.into()],
            );
        }
    }
    if is_deleted {
        let names = ["caller", "request", "key"].map(|name| format!("{name} = {}", blank(name))).join(", ");
        store.write(format!("UPDATE answer SET {names} WHERE seq = +?1"), vec![seq.into()]);
    }
    RESPONSES.overwrite(store, seq..=seq);
    if is_deleted {
        store.write("DELETE FROM answer_slice WHERE answer = +?1", vec![seq.into()]);
        store.write("DELETE FROM answer WHERE seq = +?1", vec![seq.into()]);
    }
}
