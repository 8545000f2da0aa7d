//! The keys of a project that sign customer tokens: one that is in force, and for a while those that it came after. It must not know
//! what a token looks like.

use crate::access::customer_token::{Key, SECONDS_MAX};
use crate::store::Store;
use crate::store::sql::Fault;
use serde_json::Value as Json;

/// The place of these keys among the project's secrets; the one in force has it as its second name.
const PLACE: &str = "customer_token";

/// The key in force. A project that has none gets one now; the database draws it, as the seed of an event may be told to a page.
pub fn current(store: &Store<'_>, now_ms: i64) -> Result<Key, Fault> {
    if let Some(key) = stored(store)? {
        return Ok(key);
    }
    draw(store, now_ms)?;
    stored(store)?.ok_or_else(|| Fault::new("the project has no key for customer tokens"))
}

/// A key by its id, as long as what it signs counts.
pub fn named(store: &Store<'_>, id: &str, now_ms: i64) -> Result<Option<Key>, Fault> {
    let found = store.document("secret", id)?.filter(|found| found.parent.as_deref() == Some(PLACE));
    let counts = |until: &Json| until.as_i64().is_some_and(|until| now_ms < until);
    let found = found.filter(|found| found.body.get("until").is_none_or(counts));
    Ok(found.and_then(|found| read(found.id, found.body.get("secret"))))
}

/// Puts a new key in force. What the one before has signed counts as long as a token lasts at most, or not any more. Gives the
/// new key, and when the one before ends.
pub fn rotate(store: &Store<'_>, now_ms: i64, at_once: bool) -> Result<(Key, i64), Fault> {
    let until = if at_once { now_ms } else { now_ms.saturating_add(SECONDS_MAX.saturating_mul(1_000)) };
    store.write_now(
        "UPDATE document SET key = NULL, body = json_set(body, '$.until', CAST(?2 AS INTEGER)) WHERE kind = 'secret' AND key = +?1",
        &[PLACE.into(), until.into()],
    )?;
    // Those before it as well, where nothing that is out may count any more.
    store.write_now(
        "DELETE FROM document WHERE kind = 'secret' AND parent = +?1 AND (?3 OR json_extract(body, '$.until') <= ?2)",
        &[PLACE.into(), now_ms.into(), i64::from(at_once).into()],
    )?;
    Ok((current(store, now_ms)?, until))
}

fn stored(store: &Store<'_>) -> Result<Option<Key>, Fault> {
    let found = store.document_by_name("secret", PLACE, "")?;
    Ok(found.and_then(|found| read(found.id, found.body.get("secret"))))
}

fn read(id: String, secret: Option<&Json>) -> Option<Key> {
    Some(Key { id, secret: secret?.as_str()?.to_owned() })
}

fn draw(store: &Store<'_>, now_ms: i64) -> Result<(), Fault> {
    store.write_now(
        "INSERT INTO document (kind, id, key, parent, created_at, body) VALUES
         ('secret', 'ctk_' || lower(hex(randomblob(8))), ?1, ?1, ?2, json_object('secret', lower(hex(randomblob(32)))))",
        &[PLACE.into(), now_ms.into()],
    )
}
