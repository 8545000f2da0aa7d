//! Cursor-based lists: a limit, one or more orders, filters, and the end of the previous page.
//!
//! A cursor contains the position of the last document of a page in the order of the list, and the end of its validity. A keyed
//! digest of the list, its filters and its order makes it valid only in the list that returned it.

use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::http::list_options::List;
use crate::http::reply::{CallError, ErrorBody, error, invalid_query};
use crate::http::route::{Call, DocumentsToJson, HandlerResult, Response};
use crate::http::time_zone;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::cursor::{CursorPage, ListPosition, SortColumn};
use crate::store::document_list::sort_order::{NEWEST, SortOrder};
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use crate::timestamp;
use scrip::text::{decode_hex, hex};
use serde_json::{Map, Value as Json, json};

/// Validity of a cursor.
const CURSOR_MS: i64 = 24 * 60 * 60 * 1_000;
/// Length of the digest at the end of a cursor.
const DIGEST: usize = 64;

/// Sort key: its API name, its column, and true for descending.
type CursorSort = (&'static str, &'static str, bool);

/// Returns the requested page of the documents of a clause. Cursors of the list start with `prefix`.
pub fn page(
    call: &mut Call<'_, '_>,
    list: &List,
    prefix: &str,
    clause: Clause,
    to_json: DocumentsToJson,
) -> HandlerResult {
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let orders = orders(call, list)?;
    let by_other = orders.iter().find(|(name, ..)| *name != "created_at");
    let order = by_other.map_or(NEWEST, |(_, column, falls)| SortOrder { column, falls: *falls });
    let clause = clause.at(call.now_ms()).in_zone(time_zone::of_setup(&call.caller.settings.time_zone)?);
    let mut selection = list.selection(call.store, &call.query, clause, Some(order))?;
    let scope = scope(call, prefix, &orders);
    let columns = sorted_by(&orders);
    if let Some(cursor) = call.query.parameter("cursor").map(str::to_owned) {
        let place = open(call, prefix, &scope, &cursor, columns.len())?;
        selection.continue_after(&columns, &place);
    }
    let CursorPage { documents, next } = selection.list_sorted(call.store, &columns, limit)?;
    let next = next.map(|last| seal(call, prefix, &scope, &last)).transpose()?;
    let items = to_json(call, documents)?;
    let mut answer = Map::new();
    answer.insert("object".into(), "list".into());
    answer.insert("data".into(), Json::Array(items));
    answer.insert("cursor".into(), next.unwrap_or(Json::Null));
    Ok(Response::json(Json::Object(answer)))
}

/// Returns the orders of a query, one or more; the newest first by default.
fn orders(call: &Call<'_, '_>, list: &List) -> Result<Vec<CursorSort>, ErrorBody> {
    let mut orders: Vec<CursorSort> = Vec::new();
    for text in call.query.values("order") {
        let (name, falls) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        let Some((name, column)) = list.orders.iter().find(|(known, _)| *known == name) else {
            let known: Vec<String> = list.orders.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
            let message = format!("Property .order must be one of {} (actual value is `{text}`)", known.join(", "));
            return Err(invalid_query(message));
        };
        match orders.iter().find(|(known, ..)| known == name) {
            Some((.., other)) if *other != falls => {
                let message = format!("Property .order must NOT ask for both directions of `{name}`");
                return Err(invalid_query(message));
            }
            Some(_) => {}
            None => orders.push((name, column, falls)),
        }
    }
    if orders.is_empty() {
        let own = list.orders.iter().find(|(name, _)| *name == "created_at");
        orders.push(("created_at", own.map_or("created_at", |(_, column)| column), true));
    }
    Ok(orders)
}

/// Returns the columns and directions by which a list is sorted: those of its orders, and `seq`, which is unique. A list with
/// an index by `seq` names it as the column of its age, and is then read without sorting.
fn sorted_by(orders: &[CursorSort]) -> Vec<SortColumn> {
    let mut columns: Vec<SortColumn> = orders.iter().map(|(_, column, falls)| (*column, *falls)).collect();
    let falls = columns.last().is_some_and(|(_, falls)| *falls);
    if columns.iter().all(|(column, _)| *column != "seq") {
        columns.push(("seq", falls));
    }
    columns
}

/// Returns the text that a cursor is bound to: the list, its filters and its order.
fn scope(call: &Call<'_, '_>, prefix: &str, orders: &[CursorSort]) -> String {
    let mut filters: Vec<(&[String], &str)> = call.query.below("filters").collect();
    filters.sort_unstable();
    let orders: Vec<(&str, bool)> = orders.iter().map(|(name, _, falls)| (*name, *falls)).collect();
    json!([prefix, call.request.path.trim_end_matches('/'), filters, orders]).to_string()
}

/// Returns the cursor after a position, and the end of its validity.
fn seal(call: &Call<'_, '_>, prefix: &str, scope: &str, position: &ListPosition) -> Result<Json, Fault> {
    // Saturates at the end of time.
    let expires_at = call.now_ms().saturating_add(CURSOR_MS);
    let mut place: Vec<Json> = vec![expires_at.into()];
    place.extend(position.to_json());
    let place = hex(Json::from(place).to_string().as_bytes());
    let digest = digest(call, scope, &place)?;
    Ok(json!({ "next": format!("{prefix}{place}{digest}"), "expires_at": timestamp::text(expires_at) }))
}

fn digest(call: &Call<'_, '_>, scope: &str, place: &str) -> Result<String, Fault> {
    Tracker::load(call.store)?.pseudonym("cursors", &format!("{scope}\0{place}"))
}

/// Reads the position of a cursor: the values of a number of columns.
fn open(
    call: &Call<'_, '_>,
    prefix: &str,
    scope: &str,
    cursor: &str,
    columns: usize,
) -> Result<ListPosition, CallError> {
    let message = |what: &str| {
        error(400, "invalid_or_expired_cursor", "Invalid or expired cursor", format!("Property .cursor {what}"))
    };
    let wrong = || message("must be the `next` of a page of this list, with the same filters and order");
    let sealed = cursor.strip_prefix(prefix).ok_or_else(wrong)?;
    // A shorter text has no digest, and is refused.
    let (place, found) = sealed.split_at_checked(sealed.len().saturating_sub(DIGEST)).ok_or_else(wrong)?;
    if !crate::constant_time::equal_in_constant_time(&digest(call, scope, place)?, found) {
        return Err(wrong().into());
    }
    let text = decode_hex(place).ok_or_else(wrong)?;
    let place: Vec<Json> = serde_json::from_slice(&text).map_err(|_| wrong())?;
    let (expires_at, place) = place.split_first().ok_or_else(wrong)?;
    if expires_at.as_i64().is_none_or(|end| end <= call.now_ms()) {
        return Err(message("has expired: begin again with the first page").into());
    }
    Ok(ListPosition::of_json(place, columns).ok_or_else(wrong)?)
}
