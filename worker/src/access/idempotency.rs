//! `Idempotency-Key`: the first response is stored in the same commit as its effect, and returned again. A request with a key
//! never acts twice, for responses of any length.
//!
//! A request is one synchronous event of its object, so a second one with the same key can never find the first still
//! running; the 409 for that case cannot occur here.

use crate::access::client;
use crate::access::quota::Quota;
use crate::constant_time::sha256_hex;
use crate::http::caller::Caller;
use crate::http::reply::{CallError, error};
use crate::http::request::{Reply, Request};
use crate::http::request_checks::header;
use crate::http::route::Route;
use crate::http::shape::too_long;
use crate::store::Store;
use crate::store::access::stored_responses::{self, NewResponse, SLICE_BYTES};
use crate::store::index::response_name::response_name;
use crate::store::sql::Fault;

pub use crate::store::access::stored_responses::{StoredResponse, revise};

/// Header of an answer that is returned again.
pub const REPLAYED: &str = "idempotency-replayed";
/// Retention time of a response.
pub const RESPONSES_RETAINED_MS: i64 = 86_400_000;
/// Maximum length of a key.
const KEY_LENGTH_MAX: usize = 255;
/// Size of a row in addition to the response, names and indexes included.
const ROW_BYTES: usize = 1_500;
/// Maximum bytes of stored responses of one client key in an hour: those of a day stay within a few gigabytes for any caller.
const OF_CLIENTS: Quota = Quota { name: "answers of an hour", window_ms: 3_600_000, most: 134_217_728 };

/// Caller, route and time of a call.
pub struct IdempotentCall<'a> {
    /// Caller.
    pub caller: &'a Caller,
    /// Route of the call.
    pub route: &'a Route,
    /// Customer that a token proves.
    pub proven: Option<&'a str>,
    /// Time in milliseconds since 1970.
    pub now_ms: i64,
}

/// Names under which a response is stored.
pub struct IdempotencyNames {
    /// Caller.
    caller: String,
    /// Method and path.
    request: String,
    /// The key.
    key: String,
}

/// Record found under the key of a request.
pub enum ResponseLookup {
    /// The request has no key, or its response is never stored.
    None,
    /// The request is a repetition, with this response.
    Answered(Reply),
    /// The request is new; its response is to be stored under these names.
    New {
        /// Names of the response.
        names: IdempotencyNames,
        /// Digest of query and body.
        body_hash: String,
    },
}

impl IdempotencyNames {
    /// Returns the name under which the response is stored.
    fn name(&self) -> String {
        response_name(&self.caller, &self.request, &self.key)
    }
}

/// Looks up the response under the key of a request; the key of another body is refused.
pub fn find_response(
    request: &Request,
    call: &IdempotentCall<'_>,
    store: &Store<'_>,
) -> Result<ResponseLookup, CallError> {
    let is_stored = request.method == "POST" && call.route.stores_response;
    let Some(key) = header(request, "idempotency-key").filter(|_| is_stored) else {
        return Ok(ResponseLookup::None);
    };
    let wrong = match key.is_empty() {
        true => Some("must NOT have fewer than 1 characters".to_owned()),
        false => too_long(key, KEY_LENGTH_MAX),
    };
    if let Some(message) = wrong {
        let message = format!("Header Idempotency-Key {message}");
        return Err(error(400, "invalid_idempotency_key", "Invalid Idempotency-Key", message).into());
    }
    let Caller { class, key_id, project, .. } = call.caller;
    // A client key is public: a response to one customer is never repeated to another.
    let caller = match call.proven {
        Some(customer) => serde_json::json!([class, key_id, project, customer]),
        None => serde_json::json!([class, key_id, project]),
    };
    let names = IdempotencyNames {
        caller: caller.to_string(),
        request: format!("{} {}", request.method, request.path),
        key: key.to_owned(),
    };
    let body_hash = sha256_hex(&[request.query.as_bytes(), b"\n", request.body.as_slice()].concat());
    let Some(found) = stored_responses::find(store, &names.name())? else {
        return Ok(ResponseLookup::New { names, body_hash });
    };
    if found.body_hash != body_hash {
        let message = format!("the Idempotency-Key `{key}` came before with another body");
        return Err(error(422, "idempotency_key_reused", "Idempotency-Key reused", message).into());
    }
    let mut headers: Vec<(String, String)> = serde_json::from_str(&found.headers).unwrap_or_default();
    headers.push((REPLAYED.into(), "true".into()));
    let status = u16::try_from(found.status).unwrap_or(200);
    Ok(ResponseLookup::Answered(Reply { status, headers, body: found.load_body(store)?.into_bytes() }))
}

/// Stores a response when the call commits: every success, and every refusal that has written something. A refusal without an
/// effect may be repeated under that key, corrected or not. For a client, whose key is public, only responses of calls that wrote
/// are stored. Calls beyond its quota are refused: without a stored response they must not act.
pub fn store_response(
    lookup: ResponseLookup,
    reply: &Reply,
    call: &IdempotentCall<'_>,
    store: &mut Store<'_>,
) -> Result<(), CallError> {
    let ResponseLookup::New { names, body_hash } = lookup else { return Ok(()) };
    let is_client = client::is_client_call(call.route, call.caller);
    // A response without an effect is stored only if it fits one row: a repetition of its call changes nothing.
    if !store.is_dirty() && (is_client || reply.status >= 300 || reply.body.len() > SLICE_BYTES) {
        return Ok(());
    }
    // Saturates: more bytes than any quota.
    let bytes = i64::try_from(reply.body.len().saturating_add(ROW_BYTES)).unwrap_or(i64::MAX);
    if is_client {
        if !OF_CLIENTS.allows(store, call.caller, call.now_ms, bytes)? {
            let rest = OF_CLIENTS.rest_seconds(call.now_ms);
            let message = format!(
                "answers under an Idempotency-Key to the key `{}` have at most {} bytes in one hour; the next begins in {rest} seconds",
                call.caller.key_id, OF_CLIENTS.most
            );
            let mut body = error(429, "too_many_requests", "Too many requests hit the API too quickly.", message);
            body.retry_after = Some(rest);
            return Err(body.into());
        }
        OF_CLIENTS.take(store, call.caller, call.now_ms, bytes);
    }
    let text = std::str::from_utf8(&reply.body).map_err(|error| Fault(format!("an answer is no text: {error}")))?;
    let headers = serde_json::to_string(&reply.headers).unwrap_or_default();
    let name = names.name();
    stored_responses::insert(
        store,
        NewResponse {
            name,
            caller: names.caller,
            request: names.request,
            key: names.key,
            body_hash,
            status: i64::from(reply.status),
            headers,
            body: text,
            created_at: call.now_ms,
            bytes,
        },
    );
    store.mark_for_retention();
    Ok(())
}
