//! Projects, keys and users of the directory, those that a setup declares, OAuth tokens by the digest that they are stored under, and the
//! secrets of a project. Does not depend on what a key or a token grants.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_rows::select;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;

/// Lists the keys of a project, the newest first.
pub fn list_keys_of_project(store: &Store<'_>, project: &str) -> Result<Vec<Document>, Fault> {
    let statement = select("kind = 'key' AND parent = +?1 ORDER BY seq DESC");
    store.documents(&statement, &[project.into()])
}

/// Lists the keys with a login in an organisation: those of the project itself, and of the projects that it made.
pub fn list_keys_with_login(store: &Store<'_>, organisation: &str, login: &str) -> Result<Vec<Document>, Fault> {
    let statement = select(
        "kind = 'key' AND body ->> 'user' = +?2
           AND (parent = +?1 OR parent IN (SELECT id FROM document WHERE kind = 'project' AND parent = +?1)) ORDER BY seq DESC",
    );
    store.documents(&statement, &[organisation.into(), login.into()])
}

/// Deletes the keys of a project when the call commits.
pub fn delete_keys_of_project(store: &mut Store<'_>, project: &str) {
    store.write("DELETE FROM document WHERE kind = 'key' AND parent = +?1", vec![project.into()]);
}

/// Lists the projects that were created with keys of a project, the newest first.
pub fn list_projects_created_by(store: &Store<'_>, project: &str) -> Result<Vec<Document>, Fault> {
    let statement = select("kind = 'project' AND parent = +?1 ORDER BY seq DESC");
    store.documents(&statement, &[project.into()])
}

/// Lists the users of an organisation, the newest first.
pub fn list_users(store: &Store<'_>, organisation: &str) -> Result<Vec<Document>, Fault> {
    let statement = select("kind = 'user' AND parent = +?1 ORDER BY seq DESC");
    store.documents(&statement, &[organisation.into()])
}

/// The place of the keys of customer tokens among a project's secrets; the one in force has it as its key.
pub const CUSTOMER_TOKEN: &str = "customer_token";

/// Generates a key of customer tokens now. The database generates it, as a client may learn the seed of an event.
pub fn insert_customer_key(store: &Store<'_>, now_ms: i64) -> Result<(), Fault> {
    store.write_now(
        "INSERT INTO document (seq, kind, id, key, parent, created_at, body) VALUES
         ((SELECT seq FROM next_document), 'secret', 'ctk_' || lower(hex(randomblob(8))), ?1, ?1, ?2, json_object('secret', lower(hex(randomblob(32)))))",
        &[CUSTOMER_TOKEN.into(), now_ms.into()],
    )
}

/// Ends the key of customer tokens in force at a time, now. Deletes those that have ended, or all previous ones.
pub fn update_customer_key_end(store: &Store<'_>, until_ms: i64, now_ms: i64, delete_all: bool) -> Result<(), Fault> {
    store.write_now(
        "UPDATE document SET key = NULL, body = json_set(body, '$.until', CAST(?2 AS INTEGER)) WHERE kind = 'secret' AND key = +?1",
        &[CUSTOMER_TOKEN.into(), until_ms.into()],
    )?;
    store.write_now(
        "DELETE FROM document WHERE kind = 'secret' AND parent = +?1 AND (?3 OR json_extract(body, '$.until') <= ?2)",
        &[CUSTOMER_TOKEN.into(), now_ms.into(), i64::from(delete_all).into()],
    )
}

/// Lists the projects that have a key, by id, up to a number.
pub fn list_projects_with_keys(store: &Store<'_>, most: i64) -> Result<Vec<String>, Fault> {
    let rows = store.rows(
        "SELECT DISTINCT parent FROM document WHERE kind = 'key' AND parent IS NOT NULL ORDER BY 1 LIMIT +?1",
        &[most.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Deletes the digest of the applied setup, and the keys and projects that it declared. Runs at once.
pub fn delete_applied(store: &Store<'_>) -> Result<(), Fault> {
    store.write_now("DELETE FROM document WHERE kind = 'setup'", &[])?;
    store.write_now("DELETE FROM document WHERE kind = 'key' AND holder IS NULL", &[])?;
    store.write_now("DELETE FROM document WHERE kind = 'project' AND parent IS NULL", &[])
}

/// Deletes a project. Runs at once.
pub fn delete_project(store: &Store<'_>, id: &str) -> Result<(), Fault> {
    store.write_now("DELETE FROM document WHERE kind = 'project' AND id = +?1", &[id.into()])
}

/// Deletes a key. Runs at once.
pub fn delete_key(store: &Store<'_>, id: &str) -> Result<(), Fault> {
    store.write_now("DELETE FROM document WHERE kind = 'key' AND id = +?1", &[id.into()])
}

/// Deletes the tokens of keys that a setup declared or has deleted: a token expires with the secret of its key. Runs at once.
pub fn delete_tokens_of_setup(store: &Store<'_>) -> Result<(), Fault> {
    store.write_now(
        "DELETE FROM token WHERE record ->> 'id' NOT IN
           (SELECT body ->> 'id' FROM document WHERE kind = 'key' AND holder IS NOT NULL AND body ->> 'class' = 'server')",
        &[],
    )
}

/// Finds the key of a project's tracking ids, which never changes.
pub fn find_tracking_key(store: &Store<'_>) -> Result<Option<String>, Fault> {
    let statement = "SELECT json_extract(body, '$.key') FROM document WHERE kind = 'secret' AND id = 'tracking'";
    let rows = store.unchanging_rows(statement, &[])?;
    rows.first().map(|row| sql::text(row, 0).map(str::to_owned)).transpose()
}

/// Queues the key of a new project's tracking ids. The database generates it, as a client may learn the seed of an event.
pub fn insert_tracking_key(store: &mut Store<'_>, now_ms: i64) {
    store.write(
        "INSERT INTO document (seq, kind, id, created_at, body)
         VALUES ((SELECT seq FROM next_document), 'secret', 'tracking', ?1, json_object('key', lower(hex(randomblob(32)))))",
        vec![now_ms.into()],
    );
}

fn digests(rows: &[SqlRow]) -> Result<Vec<String>, Fault> {
    rows.iter().map(|row| Ok(sql::text(row, 0)?.to_owned())).collect()
}

/// Finds the record of a token that has not expired.
pub fn find_token(store: &Store<'_>, sha256: &str, now_ms: i64) -> Result<Option<String>, Fault> {
    let row = store
        .row("SELECT record FROM token WHERE sha256 = +?1 AND expires_at > ?2", &[sha256.into(), now_ms.into()])?;
    row.map(|row| Ok(sql::text(&row, 0)?.to_owned())).transpose()
}

/// Lists the tokens of a key after a number of newest ones.
pub fn list_tokens_of_key(store: &Store<'_>, project: &str, key_id: &str, offset: i64) -> Result<Vec<String>, Fault> {
    digests(&store.rows(
        "SELECT sha256 FROM token WHERE project = +?1 AND record ->> 'id' = +?2 ORDER BY expires_at DESC, sha256 LIMIT -1 OFFSET +?3",
        &[project.into(), key_id.into(), offset.into()],
    )?)
}

/// Lists the newest tokens of a project.
pub fn list_tokens_of_project(store: &Store<'_>, project: &str, limit: i64) -> Result<Vec<String>, Fault> {
    digests(&store.rows(
        "SELECT sha256 FROM token WHERE project = +?1 ORDER BY expires_at DESC LIMIT +?2",
        &[project.into(), limit.into()],
    )?)
}

/// Inserts a token when the call commits.
pub fn insert_token(store: &mut Store<'_>, sha256: String, project: String, record: String, expires_at: i64) {
    store.write(
        "INSERT INTO token (sha256, project, record, expires_at) VALUES (?1, ?2, ?3, ?4)",
        vec![sha256.into(), project.into(), record.into(), expires_at.into()],
    );
}

/// Deletes the expired tokens of a project when the call commits.
pub fn delete_expired_tokens(store: &mut Store<'_>, project: &str, now_ms: i64) {
    store.write("DELETE FROM token WHERE project = +?1 AND expires_at <= ?2", vec![project.into(), now_ms.into()]);
}

/// Deletes tokens when the call commits.
pub fn delete_tokens(store: &mut Store<'_>, digests: &[String]) {
    store.write(
        "DELETE FROM token WHERE sha256 IN (SELECT value FROM json_each(?1))",
        vec![Json::from(digests).to_string().into()],
    );
}

/// Deletes a token when the call commits.
pub fn delete_token(store: &mut Store<'_>, sha256: &str) {
    store.write("DELETE FROM token WHERE sha256 = +?1", vec![sha256.into()]);
}

/// Deletes the tokens of a key when the call commits.
pub fn delete_tokens_of_key(store: &mut Store<'_>, project: &str, key_id: &str) {
    store.write("DELETE FROM token WHERE project = +?1 AND record ->> 'id' = +?2", vec![project.into(), key_id.into()]);
}

/// Deletes the tokens of a project when the call commits.
pub fn delete_tokens_of_project(store: &mut Store<'_>, project: &str) {
    store.write("DELETE FROM token WHERE project = +?1", vec![project.into()]);
}
