//! OAuth tokens, by the digest that they are stored under. It must not know what a token grants.

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;

fn digests(rows: &[SqlRow]) -> Result<Vec<String>, Fault> {
    rows.iter().map(|row| Ok(sql::text(row, 0)?.to_owned())).collect()
}

/// Finds the record of a token that has not expired.
pub fn find_record(store: &Store<'_>, sha256: &str, now_ms: i64) -> Result<Option<String>, Fault> {
    let row = store
        .row("SELECT record FROM token WHERE sha256 = +?1 AND expires_at > ?2", &[sha256.into(), now_ms.into()])?;
    row.map(|row| Ok(sql::text(&row, 0)?.to_owned())).transpose()
}

/// Lists the tokens of a key after a number of newest ones.
pub fn list_of_key(store: &Store<'_>, project: &str, key_id: &str, offset: i64) -> Result<Vec<String>, Fault> {
    digests(&store.rows(
        "SELECT sha256 FROM token WHERE project = +?1 AND record ->> 'id' = +?2 ORDER BY expires_at DESC, sha256 LIMIT -1 OFFSET +?3",
        &[project.into(), key_id.into(), offset.into()],
    )?)
}

/// Lists the newest tokens of a project.
pub fn list_of_project(store: &Store<'_>, project: &str, limit: i64) -> Result<Vec<String>, Fault> {
    digests(&store.rows(
        "SELECT sha256 FROM token WHERE project = +?1 ORDER BY expires_at DESC LIMIT +?2",
        &[project.into(), limit.into()],
    )?)
}

/// Inserts a token at the commit.
pub fn insert(store: &mut Store<'_>, sha256: String, project: String, record: String, expires_at: i64) {
    store.write(
        "INSERT INTO token (sha256, project, record, expires_at) VALUES (?1, ?2, ?3, ?4)",
        vec![sha256.into(), project.into(), record.into(), expires_at.into()],
    );
}

/// Deletes the expired tokens of a project at the commit.
pub fn delete_expired(store: &mut Store<'_>, project: &str, now_ms: i64) {
    store.write("DELETE FROM token WHERE project = +?1 AND expires_at <= ?2", vec![project.into(), now_ms.into()]);
}

/// Deletes tokens at the commit.
pub fn delete_all(store: &mut Store<'_>, digests: &[String]) {
    store.write(
        "DELETE FROM token WHERE sha256 IN (SELECT value FROM json_each(?1))",
        vec![Json::from(digests).to_string().into()],
    );
}

/// Deletes a token at the commit.
pub fn delete(store: &mut Store<'_>, sha256: &str) {
    store.write("DELETE FROM token WHERE sha256 = +?1", vec![sha256.into()]);
}

/// Deletes the tokens of a key at the commit.
pub fn delete_of_key(store: &mut Store<'_>, project: &str, key_id: &str) {
    store.write("DELETE FROM token WHERE project = +?1 AND record ->> 'id' = +?2", vec![project.into(), key_id.into()]);
}

/// Deletes the tokens of a project at the commit.
pub fn delete_of_project(store: &mut Store<'_>, project: &str) {
    store.write("DELETE FROM token WHERE project = +?1", vec![project.into()]);
}
