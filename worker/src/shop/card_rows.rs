//! What is told of cards of points: a card with its figures, its lots, what waits, and what happened to it. It must not know how any
//! of it is found or written.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::moment;
use crate::shop::cards::Held;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::points::{Card, Cause, Figure, Lot, Part, Pending, Place, Step, Wait};
use scrip::text::Text;
use scrip::time::{Day, TimeZone};
use scrip::wire::loyalty::expiration::expiration_type;
use scrip::wire::loyalty::lots::{pending_type, write_lot, write_pending};
use serde_json::{Map, Value as Json, json};

/// What the transactions of an operation say beside points.
#[derive(Debug, Clone, Default)]
pub struct Told<'a> {
    /// Why somebody did it, in their words.
    pub reason: Option<&'a str>,
    /// What points that are spent are spent on; nothing where none are.
    pub spent_on: Option<SpentOn>,
    /// What else it is about: `order`, `reward`, ...
    pub about: Map<String, Json>,
}

/// What points are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpentOn {
    /// A reward.
    Reward,
    /// An order.
    Order,
}

/// Whose card something is of: its names, as every row of it says them.
fn owner(card: &Document) -> Map<String, Json> {
    let own = |name: &str| card.body.get(name).cloned().unwrap_or(Json::Null);
    let mut names = Map::new();
    names.insert("card_id".into(), card.id.as_str().into());
    names.insert("card_definition_id".into(), own("card_definition_id"));
    names.insert("card_type".into(), own("card_type"));
    names.insert("program_id".into(), own("program_id"));
    names.insert("member_id".into(), card.parent.as_deref().into());
    names
}

fn day(day: Option<Day>) -> Json {
    day.map_or(Json::Null, |day| day.text().into())
}

/// A new row of a bucket, or the known one as it changed at a moment; `changed` is what it says anew.
fn bucket(
    card: &Document,
    known: Option<&Document>,
    (id, created_at): (&Text, i64),
    object: &str,
    changed: Json,
    now_ms: i64,
) -> Document {
    let mut row = known.cloned().unwrap_or_else(|| {
        let mut body = owner(card);
        body.insert("id".into(), id.as_str().into());
        body.insert("created_at".into(), moment::text(created_at).into());
        body.insert("updated_at".into(), Json::Null);
        body.insert("object".into(), object.into());
        let mut row = Document::new(id.to_string(), None, created_at, body);
        (row.parent, row.holder) = (Some(card.id.clone()), card.holder.clone());
        row
    });
    if now_ms > created_at {
        row.updated_at = Some(now_ms);
        row.body.insert("updated_at".into(), moment::text(now_ms).into());
    }
    if let Json::Object(changed) = changed {
        row.body.extend(changed);
    }
    row
}

/// The row of a lot.
pub fn lot(card: &Document, known: Option<&Document>, lot: &Lot, (now_ms, zone): (i64, &TimeZone)) -> Document {
    let changed = json!({
        "customer_id": card.holder, "points": { "total": lot.points },
        "expiration_date": day(lot.expiry.last_day(zone)), "expiration_type": expiration_type(&lot.expiry),
        "status": if lot.is_closed { "EXPIRED" } else { "ACTIVE" }, "kept": write_lot(lot),
    });
    bucket(card, known, (&lot.id, lot.arrived_at.millis()), "card_points_bucket", changed, now_ms)
}

/// The row of what waits.
pub fn pending(
    card: &Document,
    known: Option<&Document>,
    pending: &Pending,
    (now_ms, zone): (i64, &TimeZone),
) -> Document {
    let changed = json!({
        "points": { "total": pending.points }, "date": day(wait_day(&pending.wait, zone)),
        "type": pending_type(&pending.wait), "status": "PENDING", "kept": write_pending(pending),
    });
    bucket(card, known, (&pending.id, pending.earned_at.millis()), "card_pending_points_bucket", changed, now_ms)
}

/// The first day on which what waits can be spent, or the last on which its event may come.
fn wait_day(wait: &Wait, zone: &TimeZone) -> Option<Day> {
    match wait {
        Wait::Period(at) | Wait::FixedDate(at) => zone.day(*at),
        Wait::Event { until, .. } => zone.day(until.later(-1)),
    }
}

/// The row of what waits no longer; `arrived` is the lot that it came to.
pub fn over(known: &Document, status: &str, arrived: Option<&Text>, now_ms: i64) -> Document {
    let mut row = known.clone();
    if let (Some(kept), Some(arrived)) = (row.body.get_mut("kept").and_then(Json::as_object_mut), arrived) {
        kept.insert("arrived".into(), arrived.as_str().into());
    }
    row.updated_at = Some(now_ms);
    row.body.insert("updated_at".into(), moment::text(now_ms).into());
    row.body.insert("status".into(), status.into());
    row
}

/// Rows as they are told of: without what they keep for the engine.
pub fn show(_: &mut Call<'_, '_>, rows: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let shown = rows.into_iter().map(|mut row| {
        row.body.remove("kept");
        Json::Object(row.body)
    });
    Ok(shown.collect())
}

/// The transaction of a step.
pub fn transaction(held: &Held, step: &Step, id: &Text, zone: &TimeZone, told: &Told<'_>) -> Result<Document, Fault> {
    let at = step.at.millis();
    let mut body = owner(&held.row);
    body.insert("id".into(), id.as_str().into());
    body.insert("type".into(), type_of(&step.cause, told)?.into());
    body.insert("details".into(), details(held, step, zone, told));
    body.insert("status".into(), "APPROVED".into());
    body.insert("created_at".into(), moment::text(at).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), "card_transaction".into());
    let mut row = Document::new(id.to_string(), None, at, body);
    (row.parent, row.holder) = (Some(held.row.id.clone()), held.row.holder.clone());
    Ok(row)
}

fn type_of(cause: &Cause, told: &Told<'_>) -> Result<&'static str, Fault> {
    let word = match (cause, told.spent_on) {
        (Cause::Arrived(Figure::Earned), _) => "POINTS_EARNED",
        (Cause::Arrived(Figure::Added), _) => "ADMIN_CREDIT",
        (Cause::Arrived(Figure::Purchased), _) => "POINTS_PURCHASED",
        (Cause::Waits(_), _) => "PENDING_POINTS_ADDED",
        (Cause::Activated(_), _) => "PENDING_POINTS_ACTIVATED",
        (Cause::Canceled(_), _) => "PENDING_POINTS_CANCELED",
        (Cause::Lapsed(_), _) => "POINTS_EXPIRED",
        (Cause::Expired(_), _) => "ADMIN_POINTS_EXPIRATION",
        (Cause::Taken(Figure::Subtracted), _) => "ADMIN_DEBIT",
        (Cause::Taken(Figure::Spent), Some(SpentOn::Reward)) => "POINTS_SPENT_ON_REWARD",
        (Cause::Taken(Figure::Spent), Some(SpentOn::Order)) => "POINTS_SPENT_ON_ORDER",
        (Cause::Taken(Figure::PurchaseReversed), _) => "POINTS_PURCHASE_REVERSED",
        (Cause::Refunded, _) => "POINTS_REFUNDED",
        (Cause::Returned, _) => "POINTS_RETURNED",
        (Cause::Arrived(_) | Cause::Taken(_), _) => return Err(Fault(format!("{cause:?} is no transaction"))),
    };
    Ok(word)
}

fn details(held: &Held, step: &Step, zone: &TimeZone, told: &Told<'_>) -> Json {
    let lots = &held.card;
    let mut points = Map::new();
    points.insert("total".into(), total(step).into());
    let (taken, brought) = (told_parts(lots, &step.taken(), zone), told_parts(lots, &step.brought(), zone));
    let mut details = told.about.clone();
    details.insert("reason".into(), told.reason.into());
    match &step.cause {
        Cause::Waits(id) => {
            if let Some(pending) = lots.pending.iter().find(|pending| pending.id == *id) {
                points.insert("date".into(), day(wait_day(&pending.wait, zone)));
                points.insert("type".into(), pending_type(&pending.wait).into());
            }
        }
        Cause::Arrived(_) | Cause::Activated(_) => {
            if let [bucket] = brought.as_slice() {
                for name in ["expiration_date", "expiration_type"] {
                    points.insert(name.into(), bucket.get(name).cloned().unwrap_or_default());
                }
            }
            details.insert("buckets".into(), brought.into());
        }
        Cause::Lapsed(_) | Cause::Expired(_) => {
            if let Some(bucket) = taken.into_iter().next() {
                details.insert("bucket".into(), bucket);
            }
        }
        Cause::Taken(_) | Cause::Returned => drop(details.insert("buckets".into(), taken.into())),
        Cause::Refunded => drop(details.insert("buckets".into(), brought.into())),
        Cause::Canceled(_) => {}
    }
    details.insert("points".into(), Json::Object(points));
    Json::Object(details)
}

/// How many points a step is about: what is activated moves twice.
fn total(step: &Step) -> u64 {
    let is_activation = matches!(step.cause, Cause::Activated(_));
    let counts = |from: &Place| !is_activation || matches!(from, Place::Pending(_));
    let counted = step.movements.iter().filter(|movement| counts(&movement.from));
    counted.fold(0, |sum: u64, movement| sum.saturating_add(movement.points))
}

fn told_parts(card: &Card, parts: &[Part], zone: &TimeZone) -> Vec<Json> {
    let told = |part: &Part| {
        let lot = card.lots.iter().find(|lot| lot.id == part.lot)?;
        Some(json!({
            "id": lot.id.as_str(), "points": { "total": part.points },
            "expiration_date": day(lot.expiry.last_day(zone)), "expiration_type": expiration_type(&lot.expiry),
        }))
    };
    parts.iter().filter_map(told).collect()
}

/// A card as its member has it.
pub fn member_card(held: &Held, zone: &TimeZone) -> Json {
    let created_at = held.row.body.get("created_at");
    json!({ "member_role": "OWNER", "created_at": created_at, "card": card(held, zone), "object": "member_card" })
}

/// A card, with what is on it and what was.
pub fn card(held: &Held, zone: &TimeZone) -> Json {
    let Held { row, card, .. } = held;
    let of = |figure| card.figures.of(figure);
    let own = |name: &str| row.body.get(name);
    let next_expiration =
        card.next_expiration(zone).map(|next| json!({ "points": next.points, "date": day(next.date) }));
    let next_activation = card.next_activation(zone).map(|(wait, next)| {
        let mut told = json!({ "points": next.points, "type": pending_type(wait) });
        for (name, date) in [("date", next.date), ("cancel_date", next.cancel_date)] {
            if let (Some(told), Some(date)) = (told.as_object_mut(), date) {
                told.insert(name.into(), date.text().into());
            }
        }
        told
    });
    json!({
        "id": row.id, "card_definition_id": own("card_definition_id"), "card_type": own("card_type"), "code": own("code"),
        "balance": { "points": card.balance(), "pending_points": card.waiting() },
        "lifetime_bucket": {
            "points": {
                "total": card.figures.total(), "earned": of(Figure::Earned), "added": of(Figure::Added),
                "purchased": of(Figure::Purchased), "purchased_reversed": of(Figure::PurchaseReversed),
                "subtracted": of(Figure::Subtracted), "expired": of(Figure::Expired), "spent": of(Figure::Spent),
                "refunded": of(Figure::Refunded), "returned": of(Figure::Returned), "locked": 0, "unlocked": 0,
            },
            "pending_points": {
                "total": of(Figure::PendingTotal), "activated": of(Figure::PendingActivated),
                "canceled": of(Figure::PendingCanceled),
            },
        },
        "next_expiration": next_expiration, "next_activation": next_activation, "object": "card",
    })
}
