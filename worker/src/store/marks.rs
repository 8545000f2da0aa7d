//! Digests by which customers are found: what says who they are stands in no index, because an index keeps in the gaps of its pages what was
//! taken out of it, and nothing of whoever is forgotten may be left. It must not know who looks for them.

use super::sql::{self, Fault, Sql};
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

/// The kind whose documents have marks.
const KIND: &str = "customer";

/// What is marked: the name of the mark, and where it stands in the document.
const MARKED: &[(&str, &str)] = &[("email", "/email"), ("city", "/address/city")];

/// Documents that are marked with one statement.
const SLICE: usize = 500;

/// The mark of a value: 128 bits of its digest, in hexadecimal.
pub fn mark(name: &str, value: &str) -> String {
    let digest = Sha256::new_with_prefix(name).chain_update([0]).chain_update(value).finalize();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
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
    let label = document.get("name").and_then(Json::as_str).map(str::to_lowercase);
    ((!marks.is_empty()).then(|| Json::Object(marks).to_string()), label)
}

/// Marks the documents that there were before there were marks.
pub(super) fn mark_all(sql: &dyn Sql) -> Result<(), Fault> {
    let mut after = 0_i64;
    loop {
        let rows = sql.run(
            "SELECT seq, body FROM document WHERE kind = +?1 AND seq > +?2 ORDER BY seq LIMIT +?3",
            &[KIND.into(), after.into(), i64::try_from(SLICE).unwrap_or(1).into()],
        )?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = sql::int(last, 0)?;
        let mut marked: Vec<Json> = Vec::new();
        for row in &rows {
            let (marks, label) = of(KIND, sql::text(row, 1)?);
            marked.push(serde_json::json!([sql::int(row, 0)?, marks, label]));
        }
        sql.run(
            "UPDATE document SET marks = json_extract(value, '$[1]'), label = json_extract(value, '$[2]') FROM json_each(?1)
             WHERE seq = json_extract(value, '$[0]')",
            &[Json::from(marked).to_string().into()],
        )?;
    }
}
