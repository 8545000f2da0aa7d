//! The stored head of a project's bundle, and the bytes that heads name by their hashes.

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;

/// Head of a bundle, with what it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHead {
    /// The head itself, a compact JWS.
    pub jws: String,
    /// Key that signed it.
    pub kid: String,
    /// Its epoch.
    pub epoch: i64,
    /// Its revision, which clients compare.
    pub rev: i64,
    /// SHA-256 of its core.
    pub core: String,
    /// Moment of its signature.
    pub issued_ms: i64,
    /// Begin of its horizon.
    pub from_ms: i64,
    /// End of its horizon.
    pub to_ms: i64,
    /// Revision of the documents of its core.
    pub revision: String,
    /// Hash of the settings of its core.
    pub settings: String,
}

/// State of a bundle: what the store says of it now, and the head of before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleState {
    /// Revision of the documents that a bundle shows (`store/migrations/0025_bundle_revision.sql`).
    pub revision: String,
    /// Epoch of the project.
    pub epoch: i64,
    /// The head that was made last.
    pub head: Option<StoredHead>,
}

/// Bytes with their SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePart {
    /// SHA-256 in hexadecimal digits.
    pub hash: String,
    /// The bytes, which are text.
    pub body: String,
}

/// Returns the state of the bundle, with one statement.
pub fn find_state(store: &Store<'_>) -> Result<BundleState, Fault> {
    let row = store.row(
        "SELECT drawn, (SELECT epoch FROM bundle_epoch), jws, kid, bundle_head.epoch, rev, core, issued_ms, from_ms, to_ms, revision, settings
         FROM edition LEFT JOIN bundle_head ON bundle_head.id = 1 WHERE subject = 'bundle'",
        &[],
    )?;
    let row = row.ok_or_else(|| Fault::new("the bundle has no revision"))?;
    let head = if sql::text_or_null(&row, 2)?.is_some() { Some(read_head(&row)?) } else { None };
    Ok(BundleState { revision: sql::text(&row, 0)?.to_owned(), epoch: sql::int(&row, 1)?, head })
}

fn read_head(row: &SqlRow) -> Result<StoredHead, Fault> {
    let own = |column: usize| sql::text(row, column).map(str::to_owned);
    Ok(StoredHead {
        jws: own(2)?,
        kid: own(3)?,
        epoch: sql::int(row, 4)?,
        rev: sql::int(row, 5)?,
        core: own(6)?,
        issued_ms: sql::int(row, 7)?,
        from_ms: sql::int(row, 8)?,
        to_ms: sql::int(row, 9)?,
        revision: own(10)?,
        settings: own(11)?,
    })
}

/// Replaces the head. Its core is stored before.
pub fn update(store: &mut Store<'_>, head: &StoredHead) {
    store.write(
        "INSERT OR REPLACE INTO bundle_head (id, jws, kid, epoch, rev, core, issued_ms, from_ms, to_ms, revision, settings)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        vec![
            head.jws.as_str().into(),
            head.kid.as_str().into(),
            head.epoch.into(),
            head.rev.into(),
            head.core.as_str().into(),
            head.issued_ms.into(),
            head.from_ms.into(),
            head.to_ms.into(),
            head.revision.as_str().into(),
            head.settings.as_str().into(),
        ],
    );
}

/// Stores the parts that the next head names. Those that it does not name any more are unnamed from now on.
pub fn insert_parts(store: &mut Store<'_>, parts: &[BundlePart], now_ms: i64) {
    for part in parts {
        store.write(
            "INSERT INTO bundle_part (hash, body) VALUES (?1, ?2)
             ON CONFLICT (hash) DO UPDATE SET unnamed_since = NULL WHERE unnamed_since IS NOT NULL",
            vec![part.hash.as_str().into(), part.body.as_str().into()],
        );
    }
    let named: Vec<&str> = parts.iter().map(|part| part.hash.as_str()).collect();
    store.write(
        "UPDATE bundle_part SET unnamed_since = ?2 WHERE unnamed_since IS NULL AND hash NOT IN (SELECT value FROM json_each(?1))",
        vec![Json::from(named).to_string().into(), now_ms.into()],
    );
}

/// Deletes parts that have been unnamed since a moment or earlier, and the oldest ones beyond a number that have been unnamed since
/// another moment.
pub fn delete_unnamed(store: &mut Store<'_>, until_ms: i64, most: i64, surplus_until_ms: i64) {
    store.write("DELETE FROM bundle_part WHERE unnamed_since <= +?1", vec![until_ms.into()]);
    store.write(
        "DELETE FROM bundle_part WHERE unnamed_since <= +?2 AND seq NOT IN
           (SELECT seq FROM bundle_part WHERE unnamed_since IS NOT NULL ORDER BY unnamed_since DESC, seq DESC LIMIT +?1)",
        vec![most.into(), surplus_until_ms.into()],
    );
}

/// Returns the bytes of a hash.
pub fn find_part(store: &Store<'_>, hash: &str) -> Result<Option<String>, Fault> {
    let row = store.row("SELECT body FROM bundle_part WHERE hash = +?1", &[hash.into()])?;
    row.map(|row| sql::text(&row, 0).map(str::to_owned)).transpose()
}
