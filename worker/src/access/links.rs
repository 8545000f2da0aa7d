//! Links that open something for whoever has them, until they end: `?token={key}.{end}.{seal}`. They name the key of the server that asked
//! for them, so that they lead to its project and end with the key, and they are sealed with the project's own. It must not know what they open.

use crate::digest::equal_in_constant_time;
use crate::http::reply::{CallError, unauthorized};
use crate::store::Store;
use crate::store::tracking::Tracker;

/// What links are sealed for, so that no digest of anything else opens one.
const PURPOSE: &str = "links";
/// Letters of the name of a key's record.
const KEY_LENGTH: usize = 64;

/// The token that a query says, as it came: none of its letters is ever encoded.
pub fn sent(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// The name of the record of the key that a token names.
pub fn key_of(token: &str) -> Option<&str> {
    let key = token.split('.').next()?;
    let is_name = key.len() == KEY_LENGTH && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_name.then_some(key)
}

/// The token that opens what has an id until a moment.
pub fn token(store: &Store<'_>, key: &str, id: &str, end_ms: i64) -> Result<String, CallError> {
    let seal = seal(store, key, id, &end_ms.to_string())?;
    Ok(format!("{key}.{end_ms}.{seal}"))
}

/// Refuses a token that does not open what has an id. Where the answer has begun (`is_going_on`), its end is no reason to break it off.
pub fn check(store: &Store<'_>, token: &str, id: &str, (now_ms, is_going_on): (i64, bool)) -> Result<(), CallError> {
    let mut parts = token.splitn(3, '.');
    let (Some(key), Some(end), Some(sealed)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(unauthorized().into());
    };
    let is_whole = equal_in_constant_time(&seal(store, key, id, end)?, sealed);
    let ends: i64 = end.parse().map_err(|_| unauthorized())?;
    if is_whole && (is_going_on || now_ms < ends) { Ok(()) } else { Err(unauthorized().into()) }
}

fn seal(store: &Store<'_>, key: &str, id: &str, end: &str) -> Result<String, CallError> {
    Ok(Tracker::stored(store)?.counted_as(PURPOSE, &format!("{key}.{end}.{id}"))?)
}
