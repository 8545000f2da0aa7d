//! The holds of sessions, for lists of them and limits on their number.

use crate::store::Store;
use crate::store::sql::{self, Fault};
use serde_json::Value as Json;

/// A hold on an account.
#[derive(Debug, PartialEq, Eq)]
pub struct StoredHold {
    /// Key of the session.
    pub key: String,
    /// Owner of the session; empty for a server.
    pub owner: String,
    /// The account.
    pub account: String,
    /// The reserved amount.
    pub amount: i64,
    /// End of the hold, in milliseconds since 1970.
    pub expires_at: i64,
    /// Begin of the hold, where it is known.
    pub created_at: Option<i64>,
}

/// Lists the keys of open sessions after a key, up to a number: all, or those that reserve an account.
pub fn list_keys(
    store: &Store<'_>,
    after: &str,
    now_ms: i64,
    limit: i64,
    account: Option<&str>,
) -> Result<Vec<String>, Fault> {
    let mut params = vec![after.into(), now_ms.into(), limit.into()];
    let statement = match account {
        None => "SELECT DISTINCT key FROM hold WHERE key > ?1 AND expires_at > ?2 ORDER BY key LIMIT +?3",
        Some(account) => {
            params.push(account.into());
            "SELECT DISTINCT key FROM hold WHERE key > ?1 AND expires_at > ?2 AND account = +?4 ORDER BY key LIMIT +?3"
        }
    };
    store.rows(statement, &params)?.iter().map(|row| Ok(sql::text(row, 0)?.to_owned())).collect()
}

/// Lists the open holds under some keys, by key, owner and account.
pub fn list_of_keys(store: &Store<'_>, keys: &[&str], now_ms: i64) -> Result<Vec<StoredHold>, Fault> {
    let rows = store.rows(
        "SELECT key, owner, account, amount, expires_at, created_at FROM hold
         WHERE key IN (SELECT value FROM json_each(?1)) AND expires_at > ?2 ORDER BY key, owner, account",
        &[Json::from(keys).to_string().into(), now_ms.into()],
    )?;
    let hold = |row: &sql::SqlRow| {
        Ok(StoredHold {
            key: sql::text(row, 0)?.to_owned(),
            owner: sql::text(row, 1)?.to_owned(),
            account: sql::text(row, 2)?.to_owned(),
            amount: sql::int(row, 3)?,
            expires_at: sql::int(row, 4)?,
            created_at: sql::int_or_null(row, 5)?,
        })
    };
    rows.iter().map(hold).collect()
}

/// Returns true if an open session reserves an account.
pub fn is_account_held(store: &Store<'_>, key: &str, account: &str, now_ms: i64) -> Result<bool, Fault> {
    let row = store.row(
        "SELECT 1 FROM hold WHERE key = +?1 AND account = +?2 AND expires_at > ?3",
        &[key.into(), account.into(), now_ms.into()],
    )?;
    Ok(row.is_some())
}

/// Returns true if a session is open.
pub fn is_open(store: &Store<'_>, key: &str, now_ms: i64) -> Result<bool, Fault> {
    let row = store.row("SELECT 1 FROM hold WHERE key = +?1 AND expires_at > ?2", &[key.into(), now_ms.into()])?;
    Ok(row.is_some())
}

/// Deletes all holds of a session at the commit, set by any caller.
pub fn delete_of_key(store: &mut Store<'_>, key: &str) {
    store.write("DELETE FROM hold WHERE key = +?1", vec![key.into()]);
}

/// Open sessions of one origin.
#[derive(Debug)]
pub struct OriginSessions {
    /// Number of the sessions.
    pub count: i64,
    /// Earliest end of a hold of them, in milliseconds since 1970.
    pub first_end: Option<i64>,
}

/// Counts the open sessions of an origin other than one, which is named by its key and its owner.
pub fn count_of_origin(
    store: &Store<'_>,
    origin: &str,
    now_ms: i64,
    own_key: &str,
    own_owner: &str,
) -> Result<OriginSessions, Fault> {
    let row = store.row(
        "SELECT COUNT(DISTINCT key), MIN(expires_at) FROM hold
         WHERE origin = +?1 AND expires_at > ?2 AND NOT (key = +?3 AND owner = +?4)",
        &[origin.into(), now_ms.into(), own_key.into(), own_owner.into()],
    )?;
    let row = row.unwrap_or_default();
    Ok(OriginSessions { count: sql::int(&row, 0)?, first_end: sql::int_or_null(&row, 1)? })
}
