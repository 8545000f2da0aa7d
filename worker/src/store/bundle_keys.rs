//! The keys that sign a project's bundle, and the epoch that invalidates earlier signatures.
//!
//! All writes run at once: a call that needs a key makes one, and answers with what it wrote.

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow};
use std::fmt;

/// Maximum number of keys that a project keeps; older ones that can sign no more are removed.
const KEYS_MAX: i64 = 100;

/// Row of a key. It has no full `Debug`, so that no log gets its private half.
#[derive(Clone)]
pub struct StoredKey {
    /// RFC 7638 thumbprint of the public half.
    pub kid: String,
    /// Public half, in base64url.
    pub public_x: String,
    /// Private half in hexadecimal digits; `None` once it can sign no more.
    pub private_seed: Option<String>,
    /// Time of its creation.
    pub created_at: i64,
    /// Time from which it signs.
    pub signs_from: i64,
    /// Time at which the next key takes over.
    pub signs_until: Option<i64>,
    /// Time at which it was retired.
    pub retired_at: Option<i64>,
    /// The key that vouches for it.
    pub vouching_kid: Option<String>,
    /// Statement of that key, as a compact JWS.
    pub vouched_by: Option<String>,
}

impl fmt::Debug for StoredKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoredKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}

fn read(row: &SqlRow) -> Result<StoredKey, Fault> {
    let own = |column: usize| sql::text_or_null(row, column).map(|text| text.map(str::to_owned));
    Ok(StoredKey {
        kid: sql::text(row, 0)?.to_owned(),
        public_x: sql::text(row, 1)?.to_owned(),
        private_seed: own(2)?,
        created_at: sql::int(row, 3)?,
        signs_from: sql::int(row, 4)?,
        signs_until: sql::int_or_null(row, 5)?,
        retired_at: sql::int_or_null(row, 6)?,
        vouching_kid: own(7)?,
        vouched_by: own(8)?,
    })
}

/// Lists the keys of the project, the newest first.
pub fn list(store: &Store<'_>) -> Result<Vec<StoredKey>, Fault> {
    let rows = store.rows(
        "SELECT kid, public_x, private_seed, created_at, signs_from, signs_until, retired_at, vouching_kid, vouched_by
         FROM bundle_key ORDER BY seq DESC",
        &[],
    )?;
    rows.iter().map(read).collect()
}

/// Generates a private half, in hexadecimal digits. The database generates it, as a client may learn the seed of an event.
pub fn generate_private_seed(store: &Store<'_>) -> Result<String, Fault> {
    let row = store.row("SELECT lower(hex(randomblob(32)))", &[])?;
    let row = row.ok_or_else(|| Fault::new("the database draws no key"))?;
    Ok(sql::text(&row, 0)?.to_owned())
}

/// Inserts a key now, and removes the oldest ones beyond the limit.
pub fn insert(store: &Store<'_>, key: &StoredKey) -> Result<(), Fault> {
    store.write_now(
        "INSERT INTO bundle_key (kid, public_x, private_seed, created_at, signs_from, vouching_kid, vouched_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            key.kid.as_str().into(),
            key.public_x.as_str().into(),
            key.private_seed.as_deref().into(),
            key.created_at.into(),
            key.signs_from.into(),
            key.vouching_kid.as_deref().into(),
            key.vouched_by.as_deref().into(),
        ],
    )?;
    store.write_now(
        "DELETE FROM bundle_key WHERE private_seed IS NULL AND seq NOT IN (SELECT seq FROM bundle_key ORDER BY seq DESC LIMIT +?1)",
        &[KEYS_MAX.into()],
    )
}

/// Sets the time from which a key signs, now.
pub fn update_start(store: &Store<'_>, kid: &str, from_ms: i64) -> Result<(), Fault> {
    store.write_now("UPDATE bundle_key SET signs_from = ?2 WHERE kid = +?1", &[kid.into(), from_ms.into()])
}

/// Sets the time until which a key signs, now; `None` when no other key takes over.
pub fn update_end(store: &Store<'_>, kid: &str, until_ms: Option<i64>) -> Result<(), Fault> {
    store.write_now("UPDATE bundle_key SET signs_until = ?2 WHERE kid = +?1", &[kid.into(), until_ms.into()])
}

/// Deletes the private halves of the keys that another key has replaced, now.
pub fn delete_former_private_halves(store: &Store<'_>, until_ms: i64) -> Result<(), Fault> {
    store.write_now(
        "UPDATE bundle_key SET private_seed = NULL WHERE signs_until <= +?1 AND private_seed IS NOT NULL",
        &[until_ms.into()],
    )
}

/// Retires a key now: its private half is deleted, and it vouches for no other key.
pub fn retire(store: &Store<'_>, kid: &str, now_ms: i64) -> Result<(), Fault> {
    store.write_now(
        "UPDATE bundle_key SET retired_at = ?2, private_seed = NULL WHERE kid = +?1",
        &[kid.into(), now_ms.into()],
    )?;
    store.write_now(
        "UPDATE bundle_key SET vouching_kid = NULL, vouched_by = NULL WHERE vouching_kid = +?1",
        &[kid.into()],
    )
}

/// Returns the epoch; 0 before it was raised for the first time.
pub fn epoch(store: &Store<'_>) -> Result<i64, Fault> {
    let row = store.row("SELECT epoch FROM bundle_epoch", &[])?;
    row.map_or_else(|| Err(Fault::new("the bundle has no epoch")), |row| sql::int(&row, 0))
}

/// Raises the epoch now: to this time, and always above the one before.
pub fn raise_epoch(store: &Store<'_>, now_ms: i64) -> Result<(), Fault> {
    store.write_now("UPDATE bundle_epoch SET epoch = MAX(epoch + 1, ?1)", &[now_ms.into()])
}
