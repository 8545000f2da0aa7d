//! Links that open a resource for any holder until they expire: `?token={key}.{end}.{seal}`. They name the server key that requested
//! them, and lead to its project. They end with that key, and with the secret that authenticated it. They are sealed with the
//! project's own key.

use crate::constant_time::equal_in_constant_time;
use crate::http::reply::{CallError, unauthorized};
use crate::store::Store;
use crate::store::tracking::Tracker;

/// Purpose of the seal, so that no digest of another value opens a link.
const PURPOSE: &str = "links";
/// Length of the name of a key's record.
const KEY_LENGTH: usize = 64;

/// Returns the token of a query as received: its characters are never encoded.
pub fn token_of(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Returns the name of the record of the key that a token names.
pub fn key_of(token: &str) -> Option<&str> {
    let key = token.split('.').next()?;
    let is_name = key.len() == KEY_LENGTH && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_name.then_some(key)
}

/// Returns the token that opens a resource until `end_ms`, for a key and the fingerprint of its secret.
pub fn token(store: &Store<'_>, key: &str, secret: &str, id: &str, end_ms: i64) -> Result<String, CallError> {
    let seal = seal(store, &[key, &end_ms.to_string(), id, secret])?;
    Ok(format!("{key}.{end_ms}.{seal}"))
}

/// Refuses a token that does not open the resource, or that no current secret of its key issued. A download that has started
/// (`is_going_on`) may continue after the end.
pub fn check(
    store: &Store<'_>,
    token: &str,
    secrets: &[String],
    id: &str,
    now_ms: i64,
    is_going_on: bool,
) -> Result<(), CallError> {
    let mut parts = token.splitn(3, '.');
    let (Some(key), Some(end), Some(sealed)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(unauthorized().into());
    };
    let mut is_whole = false;
    for secret in secrets {
        is_whole |= equal_in_constant_time(&seal(store, &[key, end, id, secret])?, sealed);
    }
    let ends: i64 = end.parse().map_err(|_| unauthorized())?;
    if is_whole && (is_going_on || now_ms < ends) { Ok(()) } else { Err(unauthorized().into()) }
}

fn seal(store: &Store<'_>, parts: &[&str]) -> Result<String, CallError> {
    Ok(Tracker::load(store)?.pseudonym(PURPOSE, &parts.join("."))?)
}
