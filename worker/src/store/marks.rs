//! Digests by which customers are found: what says who they are stands in no index, because an index keeps in the gaps of its pages what was
//! taken out of it, and nothing of whoever is forgotten may be left. It must not know who looks for them.

use super::sql::{self, Fault, Sql};
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// The kind whose documents have marks.
const KIND: &str = "customer";

/// What is marked: the name of the mark, and where it stands in the document.
const MARKED: &[(&str, &str)] = &[("email", "/email"), ("city", "/address/city")];

/// The name by which shops find a customer, which stands in the document, and as a digest in the column of keys.
const KEY: &str = "source_id";

/// Documents that are marked with one statement.
const SLICE: usize = 500;

/// Letters of a mark.
const LETTERS: usize = 32;

/// The mark of a value: 128 bits of its digest, in hexadecimal.
pub fn mark(name: &str, value: &str) -> String {
    let digest = Sha256::new_with_prefix(name).chain_update([0]).chain_update(value).finalize();
    digest.iter().take(LETTERS / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// The key of a document of a kind as its column has it.
pub fn key<'k>(kind: &str, key: &'k str) -> Cow<'k, str> {
    if kind == KIND { mark(KEY, key).into() } else { key.into() }
}

/// What the column of keys has for a customer whose document is printed.
pub fn key_in(text: &str) -> Option<String> {
    let document: Json = serde_json::from_str(text).unwrap_or_default();
    document.get(KEY).and_then(Json::as_str).map(|name| mark(KEY, name))
}

/// The key of a document as it is called, from what its column has.
pub fn called(body: &Map<String, Json>, column: Option<String>) -> Option<String> {
    let name = body.get(KEY).and_then(Json::as_str);
    column.map(|column| match name {
        Some(name) if column.len() == LETTERS && mark(KEY, name) == column => name.to_owned(),
        _ => column,
    })
}

/// A name, or a part of one, as it is looked for: in small letters. A letter without a code would be the end of it to the index of parts.
pub fn label(name: &str) -> String {
    name.to_lowercase().replace('\0', " ")
}

/// The marks of a document that is printed, as JSON, and the name that it goes by, in small letters; none where it has none.
pub fn of(kind: &str, text: &str) -> (Option<String>, Option<String>) {
    let document: Json = match kind {
        KIND => serde_json::from_str(text).unwrap_or_default(),
        _ => Json::Null,
    };
    let found = MARKED.iter().filter_map(|(name, path)| {
        let value = document.pointer(path)?.as_str()?;
        Some(((*name).to_owned(), mark(name, value).into()))
    });
    let marks: Map<String, Json> = found.collect();
    let label = document.get("name").and_then(Json::as_str).map(label);
    ((!marks.is_empty()).then(|| Json::Object(marks).to_string()), label)
}

/// The step by which the keys of customers are digests. The index is made anew, as pages of the one before say what they were.
pub(super) const STEP: &[&str] = &["DROP INDEX document_key"];

/// Marks the documents that there were before there were marks.
pub(super) fn mark_all(sql: &dyn Sql) -> Result<(), Fault> {
    let marked = |body: Option<&str>| {
        let (marks, label) = of(KIND, body.unwrap_or_default());
        serde_json::json!([marks, label])
    };
    replace(sql, "body", "marks = json_extract(value, '$[1][0]'), label = json_extract(value, '$[1][1]')", marked)
}

/// Replaces the keys of the customers that there were before these were digests, in the second part of [`STEP`].
pub(super) fn mark_keys(sql: &dyn Sql) -> Result<(), Fault> {
    let marked = |name: Option<&str>| name.map(|name| key(KIND, name)).into();
    replace(sql, "key", "key = json_extract(value, '$[1]')", marked)?;
    sql.run("CREATE UNIQUE INDEX document_key ON document (kind, key) WHERE key IS NOT NULL", &[]).map(drop)
}

/// Sets columns of each customer to what becomes of what another one says, some rows at a time.
fn replace(sql: &dyn Sql, column: &str, set: &str, of: fn(Option<&str>) -> Json) -> Result<(), Fault> {
    let select = format!("SELECT seq, {column} FROM document WHERE kind = +?1 AND seq > +?2 ORDER BY seq LIMIT +?3");
    let update = format!("UPDATE document SET {set} FROM json_each(?1) WHERE seq = json_extract(value, '$[0]')");
    let mut after = 0_i64;
    loop {
        let rows = sql.run(&select, &[KIND.into(), after.into(), i64::try_from(SLICE).unwrap_or(1).into()])?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = sql::int(last, 0)?;
        let pairs =
            rows.iter().map(|row| Ok(Json::from(vec![sql::int(row, 0)?.into(), of(sql::text_or_null(row, 1)?)])));
        let pairs = pairs.collect::<Result<Vec<Json>, Fault>>()?;
        sql.run(&update, &[Json::from(pairs).to_string().into()])?;
    }
}
