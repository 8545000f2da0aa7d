//! Locks that validations have set: listing, release before their expiration, and limits for locks that
//! clients set.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::documents::shapes;
use crate::domain::vouchers::voucher;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get};
use crate::http::shape::{Field, may};
use crate::store::documents::vouchers;
use crate::store::ledger::{self, StoredHold};
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use crate::timestamp;
use scrip::facts::{part_of, redemptions_account};
use scrip::ledger::{Entry, Hold};
use scrip::model::client::ClientContext;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Maximum number of locks that one proven customer, or all clients at one address with one key, may have at a time. Each
/// reserves one cart; redeemed, released and expired locks do not count.
const MAX_OF_ONE: i64 = 20;
/// Locks that all clients with one key and without known addresses may have set at a time.
const MAX_OF_KEY: i64 = 1_000;

const QUERY: &[Field] =
    &[LIMIT, may("starting_after", KEY).description("Key of a session. The page continues after this session.")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/sessions", "List sessions", list)
        .describe(
            "listSessions",
            "Returns the open sessions of the project in the order of their keys. Redeemed, released and expired sessions are not listed. A malformed limit is refused with `invalid_query_params`.",
        )
        .returns("The sessions of this page, each with the quantities, credits and points that are reserved.")
        .scope("vouchers")
        .query(QUERY)
        .lists("sessions", shapes::vouchers::LOCK, shapes::MORE),
    delete("/v1/sessions/{sessionKey}", "Release a session", release_all)
        .describe(
            "releaseSession",
            "Releases everything that is reserved under a session key, also by clients. An unknown or expired key is refused with `not_found`.",
        )
        .returns("No content. The session is released.")
        .scope("vouchers")
        .answers(204, shapes::EMPTY),
    get("/v1/vouchers/{code}/sessions", "List the sessions of a voucher", list_of_voucher)
        .describe(
            "listVoucherSessions",
            "Returns the open sessions that reserve a voucher, in the order of their keys. An unknown code is refused with `not_found`, a malformed limit with `invalid_query_params`.",
        )
        .returns("The sessions of this page, each with everything that is reserved.")
        .scope("vouchers")
        .query(QUERY)
        .lists("sessions", shapes::vouchers::LOCK, shapes::MORE),
    delete("/v1/vouchers/{code}/sessions/{sessionKey}", "Release a voucher from a session", release)
        .describe(
            "releaseVoucherSession",
            "Releases the reservation of one voucher under a session key. Other reservations of the session stay. An unknown code, or a key that does not reserve the voucher, is refused with `not_found`.",
        )
        .returns("No content. The voucher is released.")
        .scope("vouchers")
        .answers(204, shapes::EMPTY),
];

/// Releases the holds of a key on one voucher, the customer's share included; its holds on others stay.
fn release(call: &mut Call<'_, '_>) -> HandlerResult {
    let voucher = voucher::find(call)?;
    let key = call.param("sessionKey").to_owned();
    let account = redemptions_account(&voucher.id).to_string();
    if !ledger::is_account_held(call.store, &key, &account, call.now_ms())? {
        return Err(not_found("session", &key).into());
    }
    call.store.release_voucher(&voucher.id, Some(&key));
    Ok(Response::empty(204))
}

/// Releases all holds of a session key, set by any caller.
fn release_all(call: &mut Call<'_, '_>) -> HandlerResult {
    let key = call.param("sessionKey").to_owned();
    if !ledger::is_session_open(call.store, &key, call.now_ms())? {
        return Err(not_found("session", &key).into());
    }
    ledger::delete_session(call.store, &key);
    Ok(Response::empty(204))
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    answer(call, None)
}

fn list_of_voucher(call: &mut Call<'_, '_>) -> HandlerResult {
    let account = redemptions_account(&voucher::find(call)?.id);
    answer(call, Some(account.as_str()))
}

/// Returns a page of locks in the order of their keys, of all or of those that reserve an account. It continues after a key, so
/// that all pages cost equally.
fn answer(call: &mut Call<'_, '_>, account: Option<&str>) -> HandlerResult {
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let after = call.query.parameter("starting_after").unwrap_or_default();
    // One row more than the page: it exists if another page follows.
    let found = ledger::list_session_keys(call.store, after, call.now_ms(), limit.saturating_add(1), account)?;
    let page_size = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > page_size;
    let keys: Vec<&str> = found.iter().take(page_size).map(String::as_str).collect();
    let sessions = sessions(call, &keys)?;
    Ok(Response::json(json!({ "object": "list", "data_ref": "sessions", "sessions": sessions, "has_more": has_more })))
}

/// Returns the locks under these keys, separately for each owner.
fn sessions(call: &Call<'_, '_>, keys: &[&str]) -> Result<Vec<Json>, Fault> {
    let holds = ledger::list_holds(call.store, keys, call.now_ms())?;
    let codes = codes(call, &holds)?;
    let is_same_session = |one: &StoredHold, other: &StoredHold| one.key == other.key && one.owner == other.owner;
    Ok(holds.chunk_by(is_same_session).filter_map(|holds| Some(to_json(holds.first()?, holds, &codes))).collect())
}

fn to_json(first: &StoredHold, stored: &[StoredHold], codes: &BTreeMap<String, String>) -> Json {
    // In the order of the vouchers' codes, or of their ids without one.
    let mut holds: BTreeMap<(&str, &str, &str), Map<String, Json>> = BTreeMap::new();
    for one in stored {
        let Some((object, id, unit)) = part_of(&one.account) else { continue };
        let code = codes.get(id).filter(|_| object == "voucher");
        let hold = holds.entry((object, code.map_or(id, String::as_str), id)).or_default();
        hold.insert("object".into(), object.into());
        hold.insert("id".into(), id.into());
        if let Some(code) = code {
            hold.insert("code".into(), code.as_str().into());
        }
        hold.insert(unit.into(), one.amount.into());
    }
    let (class, customer) = match first.owner.as_str() {
        "" => ("server", None),
        owner => match ClientContext::customer_of(owner) {
            Some(customer) => ("customer", Some(customer)),
            None => ("client", None),
        },
    };
    json!({
        "object": "session", "type": "LOCK", "key": first.key, "owner": class, "customer": customer,
        "created_at": first.created_at.map(timestamp::text), "expires_at": timestamp::text(first.expires_at),
        "holds": holds.into_values().collect::<Vec<_>>(),
    })
}

/// Returns the codes of the vouchers with holds, by their ids.
fn codes(call: &Call<'_, '_>, holds: &[StoredHold]) -> Result<BTreeMap<String, String>, Fault> {
    let ids: Vec<&str> = holds
        .iter()
        .filter_map(|hold| part_of(&hold.account).filter(|(object, _, _)| *object == "voucher").map(|(_, id, _)| id))
        .collect();
    vouchers::load_codes(call.store, &ids)
}

/// Refuses a lock above the limit of a client's origin; returns the mark of that origin for its holds. A server's lock has no
/// mark.
pub fn check_limit(call: &Call<'_, '_>, entries: &[Entry]) -> Result<Option<String>, CallError> {
    let hold = |entry: &'_ Entry| -> Option<Hold> {
        match entry {
            Entry::Hold(hold) => Some(hold.clone()),
            Entry::Post(_) | Entry::Release(_) => None,
        }
    };
    let Some((client, hold)) = call.client.as_ref().zip(entries.iter().find_map(hold)) else { return Ok(None) };
    let key = json!([call.caller.class, call.caller.key_id]);
    let (origin, limit, source) = match (&client.proven, call.caller.address.as_deref()) {
        (Some(_), _) => (digest(call, &hold.owner)?, MAX_OF_ONE, "one customer"),
        (None, Some(address)) => (digest(call, &json!([key, address]).to_string())?, MAX_OF_ONE, "one address"),
        (None, None) => (format!("key/{key}"), MAX_OF_KEY, "one key"),
    };
    let open = ledger::count_sessions(call.store, &origin, call.now_ms(), &hold.key, &hold.owner)?;
    if open.count < limit {
        return Ok(Some(origin));
    }
    let seconds = timestamp::seconds_until(call.now_ms(), open.first_end.unwrap_or_default()).max(1);
    let details =
        format!("pages may lock {limit} sessions at a time from {source}, and the first of them ends in {seconds} s");
    let mut body = error(429, "too_many_sessions", "Too many sessions", details);
    body.retry_after = Some(seconds);
    Err(body.into())
}

fn digest(call: &Call<'_, '_>, source: &str) -> Result<String, Fault> {
    Tracker::load(call.store)?.pseudonym("lock", source)
}
