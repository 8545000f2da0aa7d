//! `Idempotency-Key`: the first answer is kept in the same commit as its effect, and given again.
//! It must not know what any operation does.
//!
//! A request is one synchronous event of its object, so a second one with the same key can never find the first still
//! running; the 409 for that case cannot occur here.

use crate::auth::Caller;
use crate::digest::sha256_hex;
use crate::intake::header;
use crate::reply::{Stop, error};
use crate::route::Route;
use crate::service::{Reply, Request};
use crate::shape::too_long;
use crate::store::Store;
use crate::store::sql::{self, Value};
use scrip::Context;

/// How long an answer is kept.
const KEPT_MS: i64 = 86_400_000;
/// How long a key may be.
const KEY_LENGTH_MAX: usize = 255;
/// Above this an answer is not kept, because a row could not hold it.
const BODY_KEPT_MAX: usize = 1_500_000;

/// What is known under the key of a request.
pub enum Memory {
    /// The request has no key, or its answer is never kept.
    None,
    /// The request came before: this was the answer.
    Answered(Reply),
    /// The request is new; its answer is to be kept under these names.
    New {
        /// Who asks.
        caller: String,
        /// Method and path.
        request: String,
        /// The key.
        key: String,
        /// The digest of query and body.
        body_hash: String,
    },
}

/// Looks up what was answered under the key of a request; the same key with another body is refused.
pub fn recall(
    request: &Request,
    route: &Route,
    (caller, customer): (&Caller, Option<&str>),
    store: &Store<'_>,
) -> Result<Memory, Stop> {
    let Some(key) = header(request, "idempotency-key").filter(|_| request.method == "POST" && route.remembered) else {
        return Ok(Memory::None);
    };
    let wrong = match key.is_empty() {
        true => Some("must NOT have fewer than 1 characters".to_owned()),
        false => too_long(key, KEY_LENGTH_MAX),
    };
    if let Some(told) = wrong {
        let told = format!("Header Idempotency-Key {told}");
        return Err(error(400, "invalid_idempotency_key", "Invalid Idempotency-Key", told).into());
    }
    let mut name = serde_json::json!([caller.class, caller.key_id, caller.project]);
    if let (Some(names), Some(customer)) = (name.as_array_mut(), customer) {
        // Everybody has a page's key: what one customer is told, nobody else is told again.
        names.push(customer.into());
    }
    let name = name.to_string();
    let what = format!("{} {}", request.method, request.path);
    let body_hash = sha256_hex(&[request.query.as_bytes(), b"\n", request.body.as_slice()].concat());
    let params = [name.as_str().into(), what.as_str().into(), key.into()];
    let row = store.row(
        "SELECT body_hash, status, headers, body FROM idempotency WHERE caller = ?1 AND request = ?2 AND key = ?3",
        &params,
    )?;
    let Some(row) = row else {
        return Ok(Memory::New { caller: name, request: what, key: key.to_owned(), body_hash });
    };
    if sql::text(&row, 0)? != body_hash {
        let told = format!("the Idempotency-Key `{key}` came before with another body");
        return Err(error(422, "idempotency_key_reused", "Idempotency-Key reused", told).into());
    }
    let mut headers: Vec<(String, String)> = serde_json::from_str(sql::text(&row, 2)?).unwrap_or_default();
    headers.push(("idempotency-replayed".into(), "true".into()));
    let status = u16::try_from(sql::int(&row, 1)?).unwrap_or(200);
    Ok(Memory::Answered(Reply { status, headers, body: sql::text(&row, 3)?.as_bytes().to_vec() }))
}

/// Keeps an answer at the commit: every success, and every refusal that has written something. A refusal without an effect may
/// be asked again under the same key, corrected or not.
pub fn remember(memory: Memory, reply: &Reply, store: &mut Store<'_>, context: &Context) {
    let Memory::New { caller, request, key, body_hash } = memory else { return };
    let has_effect = reply.status < 300 || store.is_dirty();
    let Some(body) =
        String::from_utf8(reply.body.clone()).ok().filter(|body| has_effect && body.len() <= BODY_KEPT_MAX)
    else {
        return;
    };
    let now_ms = context.now.millis();
    let headers = serde_json::to_string(&reply.headers).unwrap_or_default();
    let params: Vec<Value> = vec![
        caller.into(),
        request.into(),
        key.into(),
        body_hash.into(),
        i64::from(reply.status).into(),
        headers.into(),
        body.into(),
        now_ms.into(),
    ];
    store.write(
        "INSERT INTO idempotency (caller, request, key, body_hash, status, headers, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params,
    );
    // Old answers leave a few at a time with new ones coming, so that no sweep is ever large.
    store.write(
        "DELETE FROM idempotency WHERE (caller, request, key) IN
         (SELECT caller, request, key FROM idempotency WHERE created_at < ?1 ORDER BY created_at LIMIT 4)",
        vec![now_ms.saturating_sub(KEPT_MS).into()],
    );
}
