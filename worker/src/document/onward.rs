//! Lists that go on from a document, oldest or newest first: `limit`, `order` by id, which is by age, `starting_after_id`. It must
//! not know what is listed.

use crate::document::clause::Clause;
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::http::listing::List;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault, Row};
use serde_json::{Map, Value as Json};

/// A part of a list.
pub struct Onward {
    /// The documents of this part.
    pub documents: Vec<Document>,
    /// Whether there are more behind it.
    pub has_more: bool,
}

/// Finds the row whose only column says where the document with an id stands.
type Place<'p> = &'p dyn Fn(&str) -> Result<Option<Row>, Fault>;

/// Selects the part that a query asks for, within a clause. What is listed is told with the way to find one.
pub fn select(
    list: &List,
    store: &Store<'_>,
    query: &Query,
    mut clause: Clause,
    (noun, place): (&str, Place<'_>),
) -> Result<Onward, CallError> {
    let limit = read_int(query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let (sign, direction) = if is_newest_first(query)? { ("<", "DESC") } else { (">", "ASC") };
    if let Some(id) = query.get("starting_after_id") {
        let unknown = || invalid_query(format!("Property .starting_after_id must be {noun} (actual value is `{id}`)"));
        let seq = sql::int(&place(id)?.ok_or_else(unknown)?, 0)?;
        clause.and(&format!("seq {sign} {{}}"), seq);
    }
    let tail = format!("ORDER BY seq {direction} LIMIT {}", limit.saturating_add(1));
    let mut documents = list.narrowed(store, query, clause, &tail)?;
    let limit = usize::try_from(limit).unwrap_or(0);
    let has_more = documents.len() > limit;
    documents.truncate(limit);
    Ok(Onward { documents, has_more })
}

fn is_newest_first(query: &Query) -> Result<bool, ErrorBody> {
    match query.get("order") {
        None | Some("-id") => Ok(true),
        Some("id") => Ok(false),
        Some(text) => Err(invalid_query(format!("Property .order must be one of id, -id (actual value is `{text}`)"))),
    }
}

/// The envelope around what is shown: what has more behind it says after what that comes.
pub fn envelope(shown: Vec<Json>, has_more: bool) -> Map<String, Json> {
    let last = shown.last().and_then(|last| last.get("id")).cloned();
    let mut envelope = Map::new();
    envelope.insert("object".into(), "list".into());
    envelope.insert("data_ref".into(), "data".into());
    envelope.insert("data".into(), Json::Array(shown));
    envelope.insert("has_more".into(), has_more.into());
    if let Some(last) = last.filter(|_| has_more) {
        envelope.insert("more_starting_after".into(), last);
    }
    envelope
}
