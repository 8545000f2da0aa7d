//! Queries that are equal for documents of every kind.

use crate::store::Store;
use crate::store::document::{self, Document};
use crate::store::document_list::clause::DocumentAge;
use crate::store::document_rows::{select, select_of};
use crate::store::record_tables::{source, source_of_all, with_id, with_ids};
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;

/// Reads the one number of a row, if there is one.
pub(super) fn number(row: Option<SqlRow>) -> Result<Option<i64>, Fault> {
    row.map(|row| sql::int(&row, 0)).transpose()
}

/// Reads the count that a statement returns.
pub(super) fn count(row: Option<SqlRow>) -> Result<i64, Fault> {
    number(row)?.ok_or_else(|| Fault::new("a statement that counts has no row"))
}

/// Reads the texts of a statement with one column.
pub(super) fn texts(rows: &[SqlRow]) -> Result<Vec<String>, Fault> {
    rows.iter().map(|row| Ok(sql::text(row, 0)?.to_owned())).collect()
}

/// Some ids, and the number of all that there are.
#[derive(Debug, Default)]
pub struct CountedIds {
    /// The first ids.
    pub ids: Vec<String>,
    /// Number of all.
    pub total: i64,
}

/// Reads rows of an id and the number of all.
pub(super) fn counted_ids(rows: &[SqlRow]) -> Result<CountedIds, Fault> {
    let total = rows.first().map_or(Ok(0), |first| sql::int(first, 1))?;
    Ok(CountedIds { ids: texts(rows)?, total })
}

/// Finds the age of a document of one of some kinds.
pub fn find_age(store: &Store<'_>, kinds: &[&str], id: &str) -> Result<Option<DocumentAge>, Fault> {
    let (source, mut params) = (source_of_all(kinds), vec![Json::from(kinds.to_vec()).to_string().into()]);
    let by_id = with_id(source, id, &mut params);
    let statement =
        format!("SELECT created_at, seq FROM {source} WHERE kind IN (SELECT value FROM json_each(?1)) AND {by_id}");
    let row = store.row(&statement, &params)?;
    row.map(|row| Ok(DocumentAge { created_at: sql::int(&row, 0)?, seq: sql::int(&row, 1)? })).transpose()
}

/// Finds the position of a document among all.
pub fn find_position(store: &Store<'_>, kind: &str, id: &str) -> Result<Option<i64>, Fault> {
    let mut params = vec![kind.into()];
    let by_id = with_id(source(kind), id, &mut params);
    number(store.row(&format!("SELECT seq FROM {} WHERE kind = +?1 AND {by_id}", source(kind)), &params)?)
}

/// Finds the position of a document that belongs to another.
pub fn find_position_within(store: &Store<'_>, kind: &str, parent_id: &str, id: &str) -> Result<Option<i64>, Fault> {
    let mut params = vec![kind.into(), parent_id.into()];
    let by_id = with_id(source(kind), id, &mut params);
    let statement = format!("SELECT seq FROM {} WHERE kind = +?1 AND {by_id} AND parent = +?2", source(kind));
    number(store.row(&statement, &params)?)
}

/// Counts the documents of a kind.
pub fn count_all(store: &Store<'_>, kind: &str) -> Result<i64, Fault> {
    count(store.row(&format!("SELECT COUNT(*) FROM {} WHERE kind = +?1", source(kind)), &[kind.into()])?)
}

/// Lists the ids of the documents of a kind that were stored last, the last one first.
pub fn list_last_ids(store: &Store<'_>, kind: &str, limit: i64) -> Result<Vec<String>, Fault> {
    let statement = format!("SELECT id FROM {} WHERE kind = +?1 ORDER BY seq DESC LIMIT +?2", source(kind));
    texts(&store.rows(&statement, &[kind.into(), limit.into()])?)
}

/// Lists those of some ids that documents of a kind have, in the order in which these were stored.
pub fn list_stored_ids(store: &Store<'_>, kind: &str, ids: &[&str]) -> Result<Vec<String>, Fault> {
    let mut params = vec![kind.into()];
    let by_ids = with_ids(source(kind), ids, &mut params);
    let statement = format!("SELECT id FROM {} WHERE kind = +?1 AND {by_ids} ORDER BY seq", source(kind));
    texts(&store.rows(&statement, &params)?)
}

/// Lists the ids of the documents of a kind that belong to one of some others, in the order in which they were stored.
pub fn list_ids_within_any(store: &Store<'_>, kind: &str, parent_ids: &[&str]) -> Result<Vec<String>, Fault> {
    let statement = format!(
        "SELECT id FROM {} WHERE kind = +?1 AND parent IN (SELECT value FROM json_each(?2)) ORDER BY seq",
        source(kind)
    );
    texts(&store.rows(&statement, &[kind.into(), Json::from(parent_ids).to_string().into()])?)
}

/// Lists the documents of a kind with one of some ids, in the order in which they were stored.
pub fn list_with_ids(store: &Store<'_>, kind: &str, ids: &[&str]) -> Result<Vec<Document>, Fault> {
    let mut params = vec![kind.into()];
    let by_ids = with_ids(source(kind), ids, &mut params);
    store.documents(&select_of(kind, &format!("kind = +?1 AND {by_ids} ORDER BY seq")), &params)
}

/// Lists the documents of a kind with one of some keys.
pub fn list_with_keys(store: &Store<'_>, kind: &str, keys: &[&str]) -> Result<Vec<Document>, Fault> {
    let statement = select_of(kind, "kind = +?1 AND key IN (SELECT value FROM json_each(?2))");
    store.documents(&statement, &[kind.into(), Json::from(keys).to_string().into()])
}

/// Lists the metadata schemas with these names.
pub fn list_metadata_schemas(store: &Store<'_>, names: &[&str]) -> Result<Vec<Document>, Fault> {
    let statement = select("kind = 'metadata_schema' AND key IN (SELECT value FROM json_each(?1))");
    let rows = store.rows_or_known_absence(&statement, &[Json::from(names.to_vec()).to_string().into()])?;
    rows.iter().map(|row| document::read(row)).collect()
}

/// Lists the documents of a kind that a document holds, in the order in which they were stored.
pub fn list_held(store: &Store<'_>, kind: &str, holder_id: &str) -> Result<Vec<Document>, Fault> {
    let statement = select_of(kind, "kind = +?1 AND holder = +?2 ORDER BY seq");
    store.documents(&statement, &[kind.into(), holder_id.into()])
}

impl Store<'_> {
    /// Finds the first document of a kind.
    pub fn find_first(&self, kind: &str) -> Result<Option<Document>, Fault> {
        let statement = select_of(kind, "kind = +?1 ORDER BY seq LIMIT 1");
        Ok(self.documents(&statement, &[kind.into()])?.into_iter().next())
    }

    /// Lists the documents of a kind that belong to another, in the order in which they were written.
    pub fn list_children(&self, kind: &str, parent: &str) -> Result<Vec<Document>, Fault> {
        self.documents(&select_of(kind, "kind = +?1 AND parent = +?2 ORDER BY seq"), &[kind.into(), parent.into()])
    }

    /// Deletes the documents of a kind that belong to another, when the call commits.
    pub fn delete_children(&mut self, kind: &str, parent: &str) {
        self.write("DELETE FROM document WHERE kind = +?1 AND parent = +?2", vec![kind.into(), parent.into()]);
    }
}
