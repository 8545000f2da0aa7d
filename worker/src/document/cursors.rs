//! Lists that are gone through by cursors: a limit, one or more orders, filters, and where the page before ended. It must not know
//! what is listed.
//!
//! A cursor is the place of the last document of a page in the order of the list, with a keyed digest of the list, its filters and
//! its order, so that it leads on in the list alone that it came from, and with the moment until which it does.

use crate::document::clause::{Clause, Statement};
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::document::selection::{NEWEST, Order, Selection};
use crate::http::listing::List;
use crate::http::reply::{CallError, ErrorBody, error, invalid_query};
use crate::http::route::{Answer, Call, Outcome, Show};
use crate::http::time_zone;
use crate::moment;
use crate::store::document;
use crate::store::sql::{Fault, Row, Value};
use crate::store::tracking::Tracker;
use scrip::text::{hex, unhexed};
use serde_json::{Map, Value as Json, json};

/// How long a cursor leads on.
const CURSOR_MS: i64 = 24 * 60 * 60 * 1_000;
/// Letters of the digest at the end of a cursor.
const DIGEST: usize = 64;
/// The columns of a document, in the order in which they are read.
const COLUMNS: usize = 7;

/// By what is sorted: the name on the wire, the column, and whether it falls.
type Sort = (&'static str, &'static str, bool);

/// Answers the page that a query asks for of the documents of a clause. The cursors of the list begin with `prefix`.
pub fn page(call: &mut Call<'_, '_>, list: &List, prefix: &str, clause: Clause, show: Show) -> Outcome {
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let orders = orders(call, list)?;
    let by_other = orders.iter().find(|(name, ..)| *name != "created_at");
    let order = by_other.map_or(NEWEST, |(_, column, falls)| Order { column, falls: *falls });
    let clause = clause.at(call.now_ms()).in_zone(time_zone::of_setup(&call.caller.settings.time_zone)?);
    let mut selection = list.selection(call.store, &call.query, clause, Some(order))?;
    let scope = scope(call, prefix, &orders);
    let columns = sorted_by(&orders);
    if let Some(cursor) = call.query.get("cursor").map(str::to_owned) {
        let place = open(call, prefix, &scope, &cursor, columns.len())?;
        selection.and_group("AND", bound(&columns, &place));
        selection.and_group("OR", beyond(&columns, &place));
    }
    let (statement, params) = statement(&columns, &selection, limit);
    let rows = call.store.rows(&statement, params)?;
    let size = usize::try_from(limit).unwrap_or(0);
    let next = match rows.get(size) {
        Some(_) => rows.get(size.saturating_sub(1)).map(|last| seal(call, prefix, &scope, last)).transpose()?,
        None => None,
    };
    let documents: Result<Vec<_>, Fault> = rows.iter().take(size).map(|row| document::read(row)).collect();
    let shown = show(call, documents?)?;
    let mut answer = Map::new();
    answer.insert("object".into(), "list".into());
    answer.insert("data".into(), Json::Array(shown));
    answer.insert("cursor".into(), next.unwrap_or(Json::Null));
    Ok(Answer::json(Json::Object(answer)))
}

/// The orders that a query asks for, one or more; the newest first where it asks for none.
fn orders(call: &Call<'_, '_>, list: &List) -> Result<Vec<Sort>, ErrorBody> {
    let mut orders: Vec<Sort> = Vec::new();
    for text in call.query.listed("order") {
        let (name, falls) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        let Some((name, column)) = list.orders.iter().find(|(known, _)| *known == name) else {
            let known: Vec<String> = list.orders.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
            let told = format!("Property .order must be one of {} (actual value is `{text}`)", known.join(", "));
            return Err(invalid_query(told));
        };
        match orders.iter().find(|(known, ..)| known == name) {
            Some((.., other)) if *other != falls => {
                let told = format!("Property .order must NOT ask for both directions of `{name}`");
                return Err(invalid_query(told));
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

/// The columns by which a list is sorted, and which way: those of its orders, and `seq`, which no two documents share. A list that
/// an index has by `seq` says so as the column of its age, and is then read without sorting.
fn sorted_by(orders: &[Sort]) -> Vec<(&'static str, bool)> {
    let mut columns: Vec<(&str, bool)> = orders.iter().map(|(_, column, falls)| (*column, *falls)).collect();
    let falls = columns.last().is_some_and(|(_, falls)| *falls);
    if columns.iter().all(|(column, _)| *column != "seq") {
        columns.push(("seq", falls));
    }
    columns
}

/// The statement of a page and one document more, which says whether there is another page.
fn statement<'s>(columns: &[(&str, bool)], selection: &'s Selection, limit: i64) -> (String, &'s [Value]) {
    let direction = |falls: bool| if falls { "DESC" } else { "ASC" };
    let named: Vec<&str> = columns.iter().map(|(column, _)| *column).collect();
    let sorted: Vec<String> = columns.iter().map(|(column, falls)| format!("{column} {}", direction(*falls))).collect();
    let shown = format!("{}, {}", document::COLUMNS, named.join(", "));
    selection.statement(&shown, &format!("ORDER BY {} LIMIT {}", sorted.join(", "), limit.saturating_add(1)))
}

/// What a cursor is bound to: the list, its filters and its order.
fn scope(call: &Call<'_, '_>, prefix: &str, orders: &[Sort]) -> String {
    let mut filters: Vec<(&[String], &str)> = call.query.below("filters").collect();
    filters.sort_unstable();
    let orders: Vec<(&str, bool)> = orders.iter().map(|(name, _, falls)| (*name, *falls)).collect();
    json!([prefix, call.request.path.trim_end_matches('/'), filters, orders]).to_string()
}

/// The cursor behind a row, and until when it leads on.
fn seal(call: &Call<'_, '_>, prefix: &str, scope: &str, row: &Row) -> Result<Json, Fault> {
    let expires_at = call.now_ms().saturating_add(CURSOR_MS);
    let mut place: Vec<Json> = vec![expires_at.into()];
    place.extend(row.iter().skip(COLUMNS).map(|value| match value {
        Value::Null => Json::Null,
        Value::Int(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
    }));
    let place = hex(Json::from(place).to_string().as_bytes());
    let digest = digest(call, scope, &place)?;
    Ok(json!({ "next": format!("{prefix}{place}{digest}"), "expires_at": moment::text(expires_at) }))
}

fn digest(call: &Call<'_, '_>, scope: &str, place: &str) -> Result<String, Fault> {
    Tracker::stored(call.store)?.counted_as("cursors", &format!("{scope}\0{place}"))
}

/// The place that a cursor leads on from: the values of so many columns.
fn open(call: &Call<'_, '_>, prefix: &str, scope: &str, cursor: &str, columns: usize) -> Result<Vec<Value>, CallError> {
    let told = |what: &str| {
        error(400, "invalid_or_expired_cursor", "Invalid or expired cursor", format!("Property .cursor {what}"))
    };
    let wrong = || told("must be the `next` of a page of this list, with the same filters and order");
    let sealed = cursor.strip_prefix(prefix).ok_or_else(wrong)?;
    let (place, found) = sealed.split_at_checked(sealed.len().saturating_sub(DIGEST)).ok_or_else(wrong)?;
    if !crate::digest::equal_in_constant_time(&digest(call, scope, place)?, found) {
        return Err(wrong().into());
    }
    let text = unhexed(place).ok_or_else(wrong)?;
    let place: Vec<Json> = serde_json::from_slice(&text).map_err(|_| wrong())?;
    let (expires_at, place) = place.split_first().ok_or_else(wrong)?;
    if expires_at.as_i64().is_none_or(|end| end <= call.now_ms()) {
        return Err(told("has expired: begin again with the first page").into());
    }
    let values: Option<Vec<Value>> = place
        .iter()
        .map(|value| match value {
            Json::Number(number) => number.as_i64().map(Value::Int),
            Json::String(text) => Some(Value::Text(text.clone())),
            _ => Some(Value::Null),
        })
        .collect();
    Ok(values.filter(|values| values.len() == columns).ok_or_else(wrong)?)
}

/// What lies behind a place is not before it in the first column, which an index finds at once.
fn bound(columns: &[(&str, bool)], place: &[Value]) -> Vec<Statement> {
    let first = columns.iter().zip(place).next();
    let bound = first.filter(|(_, value)| **value != Value::Null).map(|((column, falls), value)| {
        (format!("{column} {} {{}}", if *falls { "<=" } else { ">=" }), vec![value.clone()])
    });
    bound.into_iter().collect()
}

/// What lies behind a place: equal in the first columns, and beyond it in the next.
fn beyond(columns: &[(&str, bool)], place: &[Value]) -> Vec<Statement> {
    let mut equal: Vec<(String, Value)> = Vec::new();
    let mut ways = Vec::new();
    for ((column, falls), value) in columns.iter().zip(place) {
        let sign = if *falls { "<" } else { ">" };
        let last = format!("{column} {sign} {{}}");
        let tests: Vec<&str> = equal.iter().map(|(text, _)| text.as_str()).chain([last.as_str()]).collect();
        let values = equal.iter().map(|(_, value)| value.clone()).chain([value.clone()]).collect();
        ways.push((format!("({})", tests.join(" AND ")), values));
        equal.push((format!("{column} = {{}}"), value.clone()));
    }
    ways
}
