//! The keys of a project that sign customer tokens: the current one, and for a limited time
//! the previous ones.

use crate::access::customer_token::{CustomerTokenKey, SECONDS_MAX};
use crate::store::Store;
use crate::store::access::credentials::{self, CUSTOMER_TOKEN};
use crate::store::sql::Fault;
use serde_json::Value as Json;

/// Returns the current key, and creates one for a project without any.
pub fn find_or_create(store: &Store<'_>, now_ms: i64) -> Result<CustomerTokenKey, Fault> {
    if let Some(key) = find_current(store)? {
        return Ok(key);
    }
    credentials::insert_customer_key(store, now_ms)?;
    find_current(store)?.ok_or_else(|| Fault::new("the project has no key for customer tokens"))
}

/// Returns a key by its id, while its signatures are valid.
pub fn find_by_id(store: &Store<'_>, id: &str, now_ms: i64) -> Result<Option<CustomerTokenKey>, Fault> {
    let found = store.document("secret", id)?.filter(|found| found.parent.as_deref() == Some(CUSTOMER_TOKEN));
    let counts = |until: &Json| until.as_i64().is_some_and(|until| now_ms < until);
    let found = found.filter(|found| found.body.get("until").is_none_or(counts));
    Ok(found.and_then(|found| read(found.id, found.body.get("secret"))))
}

/// Creates a new current key. Tokens of the previous one stay valid for the maximum lifetime of a token, or end at once. Returns
/// the new key, and the end of the previous one.
pub fn rotate(store: &Store<'_>, now_ms: i64, at_once: bool) -> Result<(CustomerTokenKey, i64), Fault> {
    // Saturates at the end of time.
    let until = if at_once { now_ms } else { now_ms.saturating_add(SECONDS_MAX.saturating_mul(1_000)) };
    // Deletes the expired keys, or all previous ones if no issued token may stay valid.
    credentials::update_customer_key_end(store, until, now_ms, at_once)?;
    Ok((find_or_create(store, now_ms)?, until))
}

fn find_current(store: &Store<'_>) -> Result<Option<CustomerTokenKey>, Fault> {
    let found = store.document_by_name("secret", CUSTOMER_TOKEN, "")?;
    Ok(found.and_then(|found| read(found.id, found.body.get("secret"))))
}

fn read(id: String, secret: Option<&Json>) -> Option<CustomerTokenKey> {
    Some(CustomerTokenKey { id, secret: secret?.as_str()?.to_owned() })
}
