//! Locks that validations have set: listed, given back before their time, and bounded where pages set them. It must not know what
//! they were set for.

use crate::document::fields::{KEY, LIMIT};
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::document::shapes;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get};
use crate::http::shape::{Field, may};
use crate::moment;
use crate::shop::vouchers;
use crate::store::sql::{self, Fault, Row, Value};
use crate::store::tracking::Tracker;
use scrip::facts::{part_of, redemptions_account};
use scrip::ledger::{Entry, Hold};
use scrip::model::page::Page;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Locks that one proven customer, or everybody at one address, may have set from pages at a time. Each holds one cart; what is
/// redeemed, given back or over does not count.
const FROM_ONE_PLACE: i64 = 20;
/// The same of all pages with one key, where nobody knows their address.
const FROM_NOWHERE: i64 = 1_000;

const QUERY: &[Field] = &[LIMIT, may("starting_after", KEY)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/sessions", "List the locks of the project", list).scope("vouchers").query(QUERY).lists(
        "sessions",
        shapes::codes::LOCK,
        shapes::MORE,
    ),
    delete("/v1/sessions/{sessionKey}", "Release a lock on all that it holds", release_all)
        .scope("vouchers")
        .answers(204, shapes::EMPTY),
    get("/v1/vouchers/{code}/sessions", "List the locks on a voucher", list_of_voucher)
        .scope("vouchers")
        .query(QUERY)
        .lists("sessions", shapes::codes::LOCK, shapes::MORE),
    delete("/v1/vouchers/{code}/sessions/{sessionKey}", "Release a lock on a voucher", release)
        .scope("vouchers")
        .answers(204, shapes::EMPTY),
];

/// Gives back what a key holds of one voucher, the customer's share of it included; what it holds of others stays.
fn release(call: &mut Call<'_, '_>) -> Outcome {
    let voucher = vouchers::find(call)?;
    let key = call.param("sessionKey").to_owned();
    let account = redemptions_account(&voucher.id).to_string();
    let held = call.store.row(
        "SELECT 1 FROM hold WHERE key = +?1 AND account = +?2 AND expires_at > ?3",
        &[key.as_str().into(), account.as_str().into(), call.now_ms().into()],
    )?;
    if held.is_none() {
        return Err(not_found("session", &key).into());
    }
    call.store.release_voucher(&voucher.id, Some(&key));
    Ok(Answer::empty(204))
}

/// Gives back everything that a key holds, whoever has set it.
fn release_all(call: &mut Call<'_, '_>) -> Outcome {
    let key = call.param("sessionKey").to_owned();
    let params = [key.as_str().into(), call.now_ms().into()];
    if call.store.row("SELECT 1 FROM hold WHERE key = +?1 AND expires_at > ?2", &params)?.is_none() {
        return Err(not_found("session", &key).into());
    }
    call.store.write("DELETE FROM hold WHERE key = +?1", vec![key.into()]);
    Ok(Answer::empty(204))
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let statement = "SELECT DISTINCT key FROM hold WHERE key > ?1 AND expires_at > ?2 ORDER BY key LIMIT +?3";
    answer(call, statement, None)
}

fn list_of_voucher(call: &mut Call<'_, '_>) -> Outcome {
    let account = redemptions_account(&vouchers::find(call)?.id);
    let statement =
        "SELECT DISTINCT key FROM hold WHERE key > ?1 AND expires_at > ?2 AND account = +?4 ORDER BY key LIMIT +?3";
    answer(call, statement, Some(account.as_str().into()))
}

/// A page of locks in the order of their keys. It goes on after a key, so that no page is dearer than another.
fn answer(call: &mut Call<'_, '_>, statement: &str, account: Option<Value>) -> Outcome {
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let after = call.query.get("starting_after").unwrap_or_default();
    let mut params: Vec<Value> = vec![after.into(), call.now_ms().into(), limit.saturating_add(1).into()];
    params.extend(account);
    let found = call.store.rows(statement, &params)?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > shown;
    let keys: Vec<&str> = found.iter().take(shown).map(|row| sql::text(row, 0)).collect::<Result<_, Fault>>()?;
    let sessions = sessions(call, &keys)?;
    Ok(Answer::json(json!({ "object": "list", "data_ref": "sessions", "sessions": sessions, "has_more": has_more })))
}

/// What is set under these keys, each owner's for itself.
fn sessions(call: &Call<'_, '_>, keys: &[&str]) -> Result<Vec<Json>, Fault> {
    let rows = call.store.rows(
        "SELECT key, owner, account, amount, expires_at, created_at FROM hold
         WHERE key IN (SELECT value FROM json_each(?1)) AND expires_at > ?2 ORDER BY key, owner, account",
        &[Json::from(keys.to_vec()).to_string().into(), call.now_ms().into()],
    )?;
    let codes = codes(call, &rows)?;
    let mut sessions = Vec::new();
    let same = |one: &Row, other: &Row| one.get(..2) == other.get(..2);
    for rows in rows.chunk_by(same) {
        sessions.extend(rows.first().map(|first| show(first, rows, &codes)).transpose()?);
    }
    Ok(sessions)
}

fn show(first: &Row, rows: &[Row], codes: &BTreeMap<String, String>) -> Result<Json, Fault> {
    // In the order of their codes, which people know; what has none, of its id.
    let mut holds: BTreeMap<(&str, &str, &str), Map<String, Json>> = BTreeMap::new();
    for row in rows {
        let Some((object, id, what)) = part_of(sql::text(row, 2)?) else { continue };
        let code = codes.get(id).filter(|_| object == "voucher");
        let hold = holds.entry((object, code.map_or(id, String::as_str), id)).or_default();
        hold.insert("object".into(), object.into());
        hold.insert("id".into(), id.into());
        if let Some(code) = code {
            hold.insert("code".into(), code.as_str().into());
        }
        hold.insert(what.into(), sql::int(row, 3)?.into());
    }
    let (class, customer) = match sql::text(first, 1)? {
        "" => ("server", None),
        owner => match Page::customer_of(owner) {
            Some(customer) => ("customer", Some(customer)),
            None => ("client", None),
        },
    };
    Ok(json!({
        "object": "session", "type": "LOCK", "key": sql::text(first, 0)?, "owner": class, "customer": customer,
        "created_at": sql::int_or_null(first, 5)?.map(moment::text), "expires_at": moment::text(sql::int(first, 4)?),
        "holds": holds.into_values().collect::<Vec<_>>(),
    }))
}

/// The codes of the vouchers that are held, by their ids.
fn codes(call: &Call<'_, '_>, rows: &[Row]) -> Result<BTreeMap<String, String>, Fault> {
    let accounts = rows.iter().map(|row| sql::text(row, 2)).collect::<Result<Vec<_>, Fault>>()?;
    let ids: Vec<&str> = accounts
        .into_iter()
        .filter_map(|account| part_of(account).filter(|(object, _, _)| *object == "voucher").map(|(_, id, _)| id))
        .collect();
    let found = call.store.rows(
        "SELECT id, json_extract(body, '$.code') FROM document
         WHERE kind = 'voucher' AND id IN (SELECT value FROM json_each(?1))",
        &[Json::from(ids).to_string().into()],
    )?;
    found.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned()))).collect()
}

/// Refuses one lock more than may come from where a page asks; gives what stands for that place beside what it holds. Nothing
/// of it is kept of a server's lock.
pub fn admit(call: &Call<'_, '_>, entries: &[Entry]) -> Result<Option<String>, CallError> {
    let hold = |entry: &'_ Entry| -> Option<Hold> {
        match entry {
            Entry::Hold(hold) => Some(hold.clone()),
            Entry::Post(_) | Entry::Release(_) => None,
        }
    };
    let Some((page, hold)) = call.page.as_ref().zip(entries.iter().find_map(hold)) else { return Ok(None) };
    let (origin, most, place) = match (&page.proven, call.caller.address.as_deref()) {
        (Some(_), _) => (digest(call, &hold.owner)?, FROM_ONE_PLACE, "one customer"),
        (None, Some(address)) => (digest(call, address)?, FROM_ONE_PLACE, "one address"),
        (None, None) => (format!("key/{}", call.caller.key_id), FROM_NOWHERE, "one key"),
    };
    let row = call.store.row(
        "SELECT COUNT(DISTINCT key), MIN(expires_at) FROM hold
         WHERE origin = +?1 AND expires_at > ?2 AND NOT (key = +?3 AND owner = +?4)",
        &[origin.as_str().into(), call.now_ms().into(), hold.key.as_str().into(), hold.owner.as_str().into()],
    )?;
    let row = row.unwrap_or_default();
    if sql::int(&row, 0)? < most {
        return Ok(Some(origin));
    }
    let seconds = moment::seconds_until(call.now_ms(), sql::int_or_null(&row, 1)?.unwrap_or_default()).max(1);
    let told =
        format!("pages may lock {most} sessions at a time from {place}, and the first of them ends in {seconds} s");
    let mut body = error(429, "too_many_sessions", "Too many sessions", told);
    body.retry_after = Some(seconds);
    Err(body.into())
}

fn digest(call: &Call<'_, '_>, place: &str) -> Result<String, Fault> {
    Tracker::stored(call.store)?.counted_as("lock", place)
}
