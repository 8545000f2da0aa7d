//! JSON of points cards (v2) and of their lots, pending points and transactions.

use crate::domain::loyalty_members::card::LoadedCard;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::amount;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::points::{
    CardStep, LifetimeTotal, Lot, LotPart, MovementCause, PendingPoints, PendingUntil, PointsAccount, PointsCard,
};
use scrip::text::Text;
use scrip::time::{Day, TimeZone};
use scrip::wire::loyalty::expiration::expiration_type;
use scrip::wire::loyalty::lots::{pending_type, write_lot, write_pending};
use serde_json::{Map, Value as Json, json};

/// Details of a transaction other than its points.
#[derive(Debug, Clone, Default)]
pub struct TransactionDetails<'a> {
    /// Reason that the caller gave.
    pub reason: Option<&'a str>,
    /// Target of spent points; `None` when no points are spent.
    pub spent_on: Option<SpendingTarget>,
    /// Objects that the points moved for.
    pub related: RelatedObjects<'a>,
}

/// Ids of the objects that points of a card move for; each becomes a member of the transaction's details.
#[derive(Debug, Clone, Copy, Default)]
pub struct RelatedObjects<'a> {
    /// Earning rule that granted the points.
    pub earning_rule: Option<&'a str>,
    /// Order that earned the points, or was paid with them.
    pub order: Option<&'a str>,
    /// Payment of the order.
    pub order_transaction: Option<&'a str>,
    /// Refunded purchase.
    pub purchase_transaction: Option<&'a str>,
    /// Reward that was bought.
    pub reward: Option<&'a str>,
    /// Purchase of the reward, or its refund.
    pub reward_transaction: Option<&'a str>,
}

impl<'a> RelatedObjects<'a> {
    /// Returns the ids that are present, by the name of their member.
    fn members(self) -> impl Iterator<Item = (&'static str, &'a str)> {
        let all = [
            ("earning_rule", self.earning_rule),
            ("order", self.order),
            ("order_transaction", self.order_transaction),
            ("purchase_transaction", self.purchase_transaction),
            ("reward", self.reward),
            ("reward_transaction", self.reward_transaction),
        ];
        all.into_iter().filter_map(|(name, id)| Some((name, id?)))
    }
}

/// Target of spent points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendingTarget {
    /// A reward.
    Reward,
    /// An order.
    Order,
}

/// Returns a new row of a card, with the names of card, member and program that every row of the card contains.
fn new_row(card: &Document, id: &Text, created_at: i64, object: &str) -> Document {
    let own = |name: &str| card.body.get(name).cloned().unwrap_or(Json::Null);
    let mut body = Map::new();
    body.insert("card_id".into(), card.id.as_str().into());
    body.insert("card_definition_id".into(), own("card_definition_id"));
    body.insert("card_type".into(), own("card_type"));
    body.insert("program_id".into(), own("program_id"));
    body.insert("member_id".into(), card.parent.as_deref().into());
    body.insert("id".into(), id.as_str().into());
    body.insert("created_at".into(), timestamp::text(created_at).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), object.into());
    let mut row = Document::new(id.to_string(), None, created_at, body);
    (row.parent, row.holder) = (Some(card.id.clone()), card.holder.clone());
    row
}

fn day_json(day: Option<Day>) -> Json {
    day.map_or(Json::Null, |day| day.text().into())
}

/// Members that a bucket keeps from its creation.
struct BucketOrigin<'a> {
    id: &'a Text,
    created_at: i64,
    object: &'static str,
}

/// Returns a new row of a bucket, or the known row with the members `changed`.
fn bucket_row(
    card: &Document,
    known: Option<&Document>,
    origin: &BucketOrigin<'_>,
    changed: Json,
    now_ms: i64,
) -> Document {
    let BucketOrigin { id, created_at, object } = *origin;
    let mut row = known.cloned().unwrap_or_else(|| new_row(card, id, created_at, object));
    if now_ms > created_at {
        row.updated_at = Some(now_ms);
        row.body.insert("updated_at".into(), timestamp::text(now_ms).into());
    }
    if let Json::Object(changed) = changed {
        row.body.extend(changed);
    }
    row
}

/// Returns the row of a lot.
pub fn lot_row(card: &Document, known: Option<&Document>, lot: &Lot, now_ms: i64, zone: &TimeZone) -> Document {
    let changed = json!({
        "customer_id": card.holder, "points": { "total": lot.points },
        "expiration_date": day_json(lot.expiry.last_day(zone)), "expiration_type": expiration_type(&lot.expiry),
        "status": if lot.is_closed { "EXPIRED" } else { "ACTIVE" }, "kept": write_lot(lot),
    });
    let (id, created_at) = (&lot.id, lot.credited_at.millis());
    bucket_row(card, known, &BucketOrigin { id, created_at, object: "card_points_bucket" }, changed, now_ms)
}

/// Returns the row of pending points.
pub fn pending_row(
    card: &Document,
    known: Option<&Document>,
    pending: &PendingPoints,
    now_ms: i64,
    zone: &TimeZone,
) -> Document {
    let changed = json!({
        "points": { "total": pending.points }, "date": day_json(pending_day(&pending.condition, zone)),
        "type": pending_type(&pending.condition), "status": "PENDING", "kept": write_pending(pending),
    });
    let (id, created_at) = (&pending.id, pending.earned_at.millis());
    bucket_row(card, known, &BucketOrigin { id, created_at, object: "card_pending_points_bucket" }, changed, now_ms)
}

/// Returns the first day on which pending points can be spent, or the last on which their event may arrive.
fn pending_day(wait: &PendingUntil, zone: &TimeZone) -> Option<Day> {
    match wait {
        PendingUntil::Period(at) | PendingUntil::FixedDate(at) => zone.day(*at),
        PendingUntil::Event { until, .. } => zone.day(until.later(-1)),
    }
}

/// Returns the row of points that are no longer pending; `lot` is the lot to which they were credited.
pub fn closed_pending_row(known: &Document, status: &str, lot: Option<&Text>, now_ms: i64) -> Document {
    let mut row = known.clone();
    if let (Some(stored), Some(lot)) = (row.body.get_mut("kept").and_then(Json::as_object_mut), lot) {
        stored.insert("arrived".into(), lot.as_str().into());
    }
    row.updated_at = Some(now_ms);
    row.body.insert("updated_at".into(), timestamp::text(now_ms).into());
    row.body.insert("status".into(), status.into());
    row
}

/// Returns rows as the API returns them, without the members for the engine.
pub fn to_json(_: &mut Call<'_, '_>, rows: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let json = rows.into_iter().map(|mut row| {
        row.body.remove("kept");
        Json::Object(row.body)
    });
    Ok(json.collect())
}

/// Returns the transaction of a step.
pub fn transaction_row(
    loaded: &LoadedCard,
    step: &CardStep,
    id: &Text,
    zone: &TimeZone,
    members: &TransactionDetails<'_>,
) -> Result<Document, Fault> {
    let mut row = new_row(&loaded.row, id, step.at.millis(), "card_transaction");
    row.body.insert("type".into(), transaction_type(&step.cause, members)?.into());
    row.body.insert("details".into(), details_json(loaded, step, zone, members)?);
    row.body.insert("status".into(), "APPROVED".into());
    Ok(row)
}

fn transaction_type(cause: &MovementCause, members: &TransactionDetails<'_>) -> Result<&'static str, Fault> {
    let name = match (cause, members.spent_on) {
        (MovementCause::Credited(LifetimeTotal::Earned), _) => "POINTS_EARNED",
        (MovementCause::Credited(LifetimeTotal::Added), _) => "ADMIN_CREDIT",
        (MovementCause::Credited(LifetimeTotal::Purchased), _) => "POINTS_PURCHASED",
        (MovementCause::Pending(_), _) => "PENDING_POINTS_ADDED",
        (MovementCause::Activated(_), _) => "PENDING_POINTS_ACTIVATED",
        (MovementCause::Canceled(_), _) => "PENDING_POINTS_CANCELED",
        (MovementCause::ExpiredByTime(_), _) => "POINTS_EXPIRED",
        (MovementCause::Expired(_), _) => "ADMIN_POINTS_EXPIRATION",
        (MovementCause::Debited(LifetimeTotal::Subtracted), _) => "ADMIN_DEBIT",
        (MovementCause::Debited(LifetimeTotal::Spent), Some(SpendingTarget::Reward)) => "POINTS_SPENT_ON_REWARD",
        (MovementCause::Debited(LifetimeTotal::Spent), Some(SpendingTarget::Order)) => "POINTS_SPENT_ON_ORDER",
        (MovementCause::Debited(LifetimeTotal::PurchaseReversed), _) => "POINTS_PURCHASE_REVERSED",
        (MovementCause::Refunded, _) => "POINTS_REFUNDED",
        (MovementCause::Returned, _) => "POINTS_RETURNED",
        (MovementCause::Credited(_) | MovementCause::Debited(_), _) => {
            return Err(Fault(format!("{cause:?} is no transaction")));
        }
    };
    Ok(name)
}

fn details_json(
    loaded: &LoadedCard,
    step: &CardStep,
    zone: &TimeZone,
    members: &TransactionDetails<'_>,
) -> Result<Json, Fault> {
    let lots = &loaded.card;
    let mut points = Map::new();
    points.insert("total".into(), points_of_step(step)?.into());
    let (taken, credited) = (parts_to_json(lots, &step.debited(), zone), parts_to_json(lots, &step.credited(), zone));
    let mut details = Map::new();
    details.extend(members.related.members().map(|(name, id)| (name.to_owned(), json!({ "id": id }))));
    details.insert("reason".into(), members.reason.into());
    match &step.cause {
        MovementCause::Pending(id) => {
            if let Some(pending) = lots.pending.iter().find(|pending| pending.id == *id) {
                points.insert("date".into(), day_json(pending_day(&pending.condition, zone)));
                points.insert("type".into(), pending_type(&pending.condition).into());
            }
        }
        MovementCause::Credited(_) | MovementCause::Activated(_) => {
            if let [bucket] = credited.as_slice() {
                for name in ["expiration_date", "expiration_type"] {
                    points.insert(name.into(), bucket.get(name).cloned().unwrap_or_default());
                }
            }
            details.insert("buckets".into(), credited.into());
        }
        MovementCause::ExpiredByTime(_) | MovementCause::Expired(_) => {
            if let Some(bucket) = taken.into_iter().next() {
                details.insert("bucket".into(), bucket);
            }
        }
        MovementCause::Debited(_) | MovementCause::Returned => drop(details.insert("buckets".into(), taken.into())),
        MovementCause::Refunded => drop(details.insert("buckets".into(), credited.into())),
        MovementCause::Canceled(_) => {}
    }
    details.insert("points".into(), Json::Object(points));
    Ok(Json::Object(details))
}

/// Returns the points of a step; an activation moves them twice and counts them once.
fn points_of_step(step: &CardStep) -> Result<u64, Fault> {
    let is_activation = matches!(step.cause, MovementCause::Activated(_));
    let counts = |from: &PointsAccount| !is_activation || matches!(from, PointsAccount::Pending(_));
    let counted = step.movements.iter().filter(|movement| counts(&movement.from));
    amount::total(counted.map(|movement| movement.points))
}

fn parts_to_json(card: &PointsCard, parts: &[LotPart], zone: &TimeZone) -> Vec<Json> {
    let members = |part: &LotPart| {
        let lot = card.lots.iter().find(|lot| lot.id == part.lot)?;
        Some(json!({
            "id": lot.id.as_str(), "points": { "total": part.points },
            "expiration_date": day_json(lot.expiry.last_day(zone)), "expiration_type": expiration_type(&lot.expiry),
        }))
    };
    parts.iter().filter_map(members).collect()
}

/// Returns a card as part of its member.
pub fn member_card_json(loaded: &LoadedCard, zone: &TimeZone) -> Result<Json, Fault> {
    let created_at = loaded.row.as_card().created_at();
    let card = card_json(loaded, zone)?;
    Ok(json!({ "member_role": "OWNER", "created_at": created_at, "card": card, "object": "member_card" }))
}

/// Returns a card with its balance and lifetime totals. Fails when these add up beyond 64 bits.
pub fn card_json(loaded: &LoadedCard, zone: &TimeZone) -> Result<Json, Fault> {
    let LoadedCard { row, card, .. } = loaded;
    let of = |total| card.lifetime_totals.of(total);
    let own = |name: &str| row.body.get(name);
    let next_expiration =
        card.next_expiration(zone).map(|next| json!({ "points": next.points, "date": day_json(next.date) }));
    let next_activation = card.next_activation(zone).map(|(wait, next)| {
        let mut members = json!({ "points": next.points, "type": pending_type(wait) });
        for (name, date) in [("date", next.date), ("cancel_date", next.cancel_date)] {
            if let (Some(members), Some(date)) = (members.as_object_mut(), date) {
                members.insert(name.into(), date.text().into());
            }
        }
        members
    });
    let credited_total = card.lifetime_totals.total();
    let credited_total =
        credited_total.ok_or_else(|| Fault(format!("the totals of the card `{}` are out of bounds", row.id)))?;
    Ok(json!({
        "id": row.id, "card_definition_id": own("card_definition_id"), "card_type": own("card_type"), "code": own("code"),
        "balance": { "points": card.balance(), "pending_points": card.pending_points() },
        "lifetime_bucket": {
            "points": {
                "total": credited_total, "earned": of(LifetimeTotal::Earned), "added": of(LifetimeTotal::Added),
                "purchased": of(LifetimeTotal::Purchased), "purchased_reversed": of(LifetimeTotal::PurchaseReversed),
                "subtracted": of(LifetimeTotal::Subtracted), "expired": of(LifetimeTotal::Expired), "spent": of(LifetimeTotal::Spent),
                "refunded": of(LifetimeTotal::Refunded), "returned": of(LifetimeTotal::Returned), "locked": 0, "unlocked": 0,
            },
            "pending_points": {
                "total": of(LifetimeTotal::PendingTotal), "activated": of(LifetimeTotal::PendingActivated),
                "canceled": of(LifetimeTotal::PendingCanceled),
            },
        },
        "next_expiration": next_expiration, "next_activation": next_activation, "object": "card",
    }))
}
