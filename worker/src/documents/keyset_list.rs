//! Lists that continue after a document, oldest or newest first: `limit`, `order` by id (which is by age), `starting_after_id`.

use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::http::list_options::List;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::sql::Fault;
use serde_json::{Map, Value as Json};

/// Part of a list.
pub struct KeysetPage {
    /// Documents of this part.
    pub documents: Vec<Document>,
    /// True if more documents follow.
    pub has_more: bool,
}

/// Function that finds the position of the document with an id.
type FindPosition<'p> = &'p dyn Fn(&str) -> Result<Option<i64>, Fault>;

/// Selects the part that a query requests, within a clause. The caller passes the listed subject and the lookup of one document.
pub fn select(
    list: &List,
    store: &Store<'_>,
    query: &Query,
    mut clause: Clause,
    noun: &str,
    find_position: FindPosition<'_>,
) -> Result<KeysetPage, CallError> {
    let limit = read_int(query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let falls = is_newest_first(query)?;
    if let Some(id) = query.parameter("starting_after_id") {
        let unknown = || invalid_query(format!("Property .starting_after_id must be {noun} (actual value is `{id}`)"));
        clause.continue_after(find_position(id)?.ok_or_else(unknown)?, falls);
    }
    let selection = list.select_filtered(store, query, clause)?;
    // One row more than the page: it exists if another page follows.
    let mut documents = selection.list_stored(store, limit.saturating_add(1), falls)?;
    let limit = usize::try_from(limit).unwrap_or(0);
    let has_more = documents.len() > limit;
    documents.truncate(limit);
    Ok(KeysetPage { documents, has_more })
}

fn is_newest_first(query: &Query) -> Result<bool, ErrorBody> {
    match query.parameter("order") {
        None | Some("-id") => Ok(true),
        Some("id") => Ok(false),
        Some(text) => Err(invalid_query(format!("Property .order must be one of id, -id (actual value is `{text}`)"))),
    }
}

/// Returns the envelope around the documents of a page; if more follow, it names the document to continue after.
pub fn envelope(items: Vec<Json>, has_more: bool) -> Map<String, Json> {
    let last = items.last().and_then(|last| last.get("id")).cloned();
    let mut envelope = Map::new();
    envelope.insert("object".into(), "list".into());
    envelope.insert("data_ref".into(), "data".into());
    envelope.insert("data".into(), Json::Array(items));
    envelope.insert("has_more".into(), has_more.into());
    if let Some(last) = last.filter(|_| has_more) {
        envelope.insert("more_starting_after".into(), last);
    }
    envelope
}
