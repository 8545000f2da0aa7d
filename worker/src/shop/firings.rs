//! What fired for whom, as it is remembered: a row for each occasion, which earns once, and one for each rule that fired by it. It must
//! not know why a rule fires.
//!
//! The key of a firing has its member, its rule and its moment, so that the last of a rule and those of a period are a range of an
//! index, however many there are.

use crate::document::span::{self, Period};
use crate::moment;
use crate::shop::cards::PENDING;
use crate::shop::returns::read_bought;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use scrip::decide::earn::GrantedPoints;
use scrip::decide::returned::Bought;
use scrip::facts::earning::{Occasion, PastEarning, Standing};
use scrip::points::limits::Fired;
use scrip::points::{Cause, Earned, Outcome};
use scrip::text::{Text, hex, sha256};
use scrip::time::Instant;
use serde_json::{Value as Json, json};

/// The kind of the rows of occasions, whose id is the occasion.
const OCCASION: &str = "earning_occasion";
/// The kind of the rows of firings, whose parent is their occasion.
const FIRING: &str = "earning_firing";

/// A rule that fired.
pub struct Fires<'a> {
    /// By what.
    pub occasion: &'a Occasion,
    /// The customer.
    pub customer_id: &'a str,
    /// The member, and the program.
    pub member: [&'a str; 2],
    /// The rule, and the earning that matched.
    pub rule: [&'a str; 2],
    /// The points that it brought, as [`brought`] tells them.
    pub points: Vec<Json>,
}

/// What became of an occasion.
pub fn standing(store: &Store<'_>, occasion: &Occasion) -> Result<Option<Standing>, Fault> {
    let Some(row) = store.document(OCCASION, occasion.as_str())? else { return Ok(None) };
    match row.body.get("standing").and_then(Json::as_str) {
        Some("EARNED") => Ok(Some(Standing::Earned)),
        Some("GIVEN_BACK") => Ok(Some(Standing::GivenBack)),
        other => Err(Fault(format!("the occasion `{}` stands as {other:?}", occasion.as_str()))),
    }
}

/// Writes down at the commit that something was earned by an occasion. A second time fails, whatever was decided.
pub fn begin(store: &mut Store<'_>, occasion: &Occasion, (customer_id, bought): (&str, Option<&Bought>), now_ms: i64) {
    let bought = bought.map(|bought| json!({ "amount": bought.amount }));
    let body = json!({ "standing": "EARNED", "bought": bought, "created_at": moment::text(now_ms) });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut row = Document::new(occasion.as_str().to_owned(), None, now_ms, body);
    row.holder = Some(customer_id.to_owned());
    store.insert(OCCASION, &row);
}

/// What was bought with the order that is an occasion, when it earned; nothing of what is no order, or earned before that was kept.
pub fn bought(store: &Store<'_>, occasion: &Occasion) -> Result<Option<Bought>, Fault> {
    let row = store.document(OCCASION, occasion.as_str())?;
    Ok(row.and_then(|row| read_bought(row.body.get("bought")?)))
}

/// Writes down at the commit how many of the points have been given back, in all, that an occasion brought at a place.
pub fn note_back(store: &mut Store<'_>, occasion: &Occasion, place: usize, points: u64) -> Result<(), Fault> {
    let mut first: usize = 0;
    for mut row in rows(store, occasion)? {
        let Some(entries) = row.body.get_mut("points").and_then(Json::as_array_mut) else { continue };
        let count = entries.len();
        let entry = place.checked_sub(first).and_then(|place| entries.get_mut(place)?.as_object_mut());
        if let Some(entry) = entry {
            entry.insert("back".into(), points.into());
            store.update(FIRING, &row);
            return Ok(());
        }
        first = first.saturating_add(count);
    }
    Ok(())
}

/// Writes down at the commit that what an occasion brought was given back.
pub fn end(store: &mut Store<'_>, occasion: &Occasion, now_ms: i64) -> Result<(), Fault> {
    let Some(mut row) = store.document(OCCASION, occasion.as_str())? else { return Ok(()) };
    row.updated_at = Some(now_ms);
    row.body.insert("standing".into(), "GIVEN_BACK".into());
    store.update(OCCASION, &row);
    Ok(())
}

/// Writes down at the commit that a rule fired.
pub fn put(store: &mut Store<'_>, fires: Fires<'_>, now_ms: i64) {
    let Fires { occasion, customer_id, member: [member_id, program_id], rule: [rule_id, earning_id], points } = fires;
    let parts = [occasion.as_str().as_bytes(), b"/", member_id.as_bytes(), b"/", rule_id.as_bytes()];
    let id = format!("lfir_{}", hex(sha256(&parts).get(..9).unwrap_or_default()));
    let body = json!({
        "member_id": member_id, "program_id": program_id, "earning_rule_id": rule_id, "earning_id": earning_id,
        "points": points, "created_at": moment::text(now_ms),
    });
    let key = format!("{}/{id}", key_at(member_id, rule_id, now_ms));
    let mut row = Document::new(id, Some(key), now_ms, body.as_object().cloned().unwrap_or_default());
    (row.parent, row.holder) = (Some(occasion.as_str().to_owned()), Some(customer_id.to_owned()));
    store.insert(FIRING, &row);
}

/// Where the firings of a rule for a member begin that are not older than a moment.
fn key_at(member_id: &str, rule_id: &str, at_ms: i64) -> String {
    format!("{member_id}/{rule_id}/{:020}", at_ms.max(0))
}

/// How often a rule fired for a member: when last, and how many times since a moment.
pub fn fired(store: &Store<'_>, (member_id, rule_id): (&str, &str), since: Option<Instant>) -> Result<Fired, Fault> {
    let (begin, end) = (key_at(member_id, rule_id, 0), key_at(member_id, rule_id, i64::MAX));
    let since = key_at(member_id, rule_id, since.map_or(i64::MAX, Instant::millis));
    let row = store.row(
        "SELECT (SELECT created_at FROM document WHERE kind = +?1 AND key >= ?2 AND key < ?4 ORDER BY key DESC LIMIT 1),
           (SELECT COUNT(*) FROM document WHERE kind = +?1 AND key >= ?3 AND key < ?4)",
        &[FIRING.into(), begin.into(), since.into(), end.into()],
    )?;
    let Some(row) = row else { return Ok(Fired::default()) };
    let last = sql::int_or_null(&row, 0)?.and_then(Instant::from_millis);
    Ok(Fired { last, in_period: u64::try_from(sql::int(&row, 1)?).unwrap_or(0) })
}

/// How often a rule fired for a member in each of some periods.
pub fn fired_in(store: &Store<'_>, (member_id, rule_id): (&str, &str), periods: &[Period]) -> Result<Vec<i64>, Fault> {
    let spans = span::as_parameter(periods, |at| key_at(member_id, rule_id, at.millis()));
    let rows = store.rows(
        "SELECT (SELECT COUNT(*) FROM document WHERE kind = +?1 AND key >= span.value ->> 0 AND key < span.value ->> 1)
         FROM json_each(?2) AS span ORDER BY span.key",
        &[FIRING.into(), spans.into()],
    )?;
    rows.iter().map(|row| sql::int(row, 0)).collect()
}

/// How the points that an earning brought are remembered.
pub fn brought(granted: &GrantedPoints, outcome: &Outcome) -> Json {
    let pending = outcome.steps.iter().find_map(|step| match &step.cause {
        Cause::Waits(id) => Some(id.as_str()),
        Cause::Arrived(_)
        | Cause::Activated(_)
        | Cause::Canceled(_)
        | Cause::Lapsed(_)
        | Cause::Expired(_)
        | Cause::Taken(_)
        | Cause::Refunded
        | Cause::Returned => None,
    });
    let lot = outcome.steps.iter().flat_map(|step| step.brought()).next().map(|part| part.lot);
    json!({
        "card_id": granted.card_id.as_str(), "card_definition_id": granted.card_definition_id.as_str(),
        "pending": pending, "lot": lot.as_deref(), "points": granted.points,
    })
}

/// The cards that an occasion brought points to, each once.
pub fn cards(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<String>, Fault> {
    let mut cards: Vec<String> = Vec::new();
    for entry in entries(store, occasion)? {
        let card = text(&entry, "card_id").to_owned();
        if !cards.contains(&card) {
            cards.push(card);
        }
    }
    Ok(cards)
}

/// The points that an occasion brought, as far as they were not lost while they waited. What is due on their cards must be settled.
pub fn past(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<PastEarning>, Fault> {
    let mut past = Vec::new();
    for (place, entry) in entries(store, occasion)?.into_iter().enumerate() {
        let lot = entry.get("lot").and_then(Json::as_str).map(Text::from);
        let points = entry.get("points").and_then(Json::as_u64).unwrap_or(0);
        let earned = match entry.get("pending").and_then(Json::as_str) {
            None => Some(Earned { pending: None, lot, points }),
            Some(pending) => waited(store, pending, points)?,
        };
        past.extend(earned.map(|earned| PastEarning {
            card_id: text(&entry, "card_id").into(),
            card_definition_id: text(&entry, "card_definition_id").into(),
            earned,
            back: entry.get("back").and_then(Json::as_u64).unwrap_or(0),
            place,
        }));
    }
    Ok(past)
}

/// What became of points that had to wait.
fn waited(store: &Store<'_>, pending: &str, points: u64) -> Result<Option<Earned>, Fault> {
    let Some(row) = store.document(PENDING, pending)? else { return Ok(None) };
    Ok(match row.body.get("status").and_then(Json::as_str) {
        Some("PENDING") => Some(Earned { pending: Some(pending.into()), lot: None, points }),
        Some("ACTIVATED") => {
            let lot = row.body.get("kept").and_then(|kept| kept.get("arrived")).and_then(Json::as_str);
            Some(Earned { pending: None, lot: lot.map(Into::into), points })
        }
        _ => None,
    })
}

fn rows(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<Document>, Fault> {
    store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND parent = +?2 ORDER BY seq",
        &[FIRING.into(), occasion.as_str().into()],
    )
}

fn entries(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<Json>, Fault> {
    let points = rows(store, occasion)?.into_iter().filter_map(|mut row| match row.body.remove("points") {
        Some(Json::Array(points)) => Some(points),
        _ => None,
    });
    Ok(points.flatten().collect())
}

fn text<'e>(entry: &'e Json, name: &str) -> &'e str {
    entry.get(name).and_then(Json::as_str).unwrap_or_default()
}
