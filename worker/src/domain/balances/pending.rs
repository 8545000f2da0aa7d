//! Rows of pending points of loyalty cards (v1), as the API lists them: one row for each earning. The number of pending
//! points is in the card itself.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::documents::loyalty_campaigns::PendingPointsChange;
use crate::store::records::{PENDING_DETAILS, TransactionRecord};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::text::Text;
use scrip::time::Instant;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

/// The kind of the rows, whose parent is the card.
pub const PENDING_POINTS: &str = "pending_points";

/// State of the pending points of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingState {
    /// Not yet spendable.
    Pending,
    /// Spendable.
    Activated,
    /// Canceled before they became spendable.
    Canceled,
}

impl PendingState {
    /// Returns the name of the state in the API.
    pub fn name(self) -> &'static str {
        match self {
            PendingState::Pending => "PENDING",
            PendingState::Activated => "ACTIVATED",
            PendingState::Canceled => "CANCELED",
        }
    }

    /// Returns the state of a row at `now_ms`.
    pub fn of(row: &Document, now_ms: i64) -> PendingState {
        let row = row.as_pending_points();
        match row.status() {
            Some("CANCELED") => PendingState::Canceled,
            Some("PENDING") if row.at().is_some_and(|at| at > now_ms) => PendingState::Pending,
            _ => PendingState::Activated,
        }
    }
}

/// New pending points.
pub struct NewPendingRow {
    /// The row as the API returns it.
    pub details: Json,
    /// Instant from which they can be spent.
    pub at: Instant,
    /// Expiration rules that apply from then on; `None` when the points never expire.
    pub rules: Option<Json>,
}

/// Queues the write of a new row.
pub fn insert(store: &mut Store<'_>, card: &Document, id: &Text, new_row: NewPendingRow, now_ms: i64) {
    let mut body = Map::new();
    body.insert(PENDING_DETAILS.into(), new_row.details);
    body.insert("status".into(), PendingState::Pending.name().into());
    body.insert("at".into(), new_row.at.millis().into());
    if let Some(rules) = new_row.rules {
        body.insert("expiration_rules".into(), rules);
    }
    let mut row = Document::new(id.to_string(), None, now_ms, body);
    (row.parent, row.holder) = (Some(card.id.clone()), card.parent.clone());
    store.insert(PENDING_POINTS, &row);
}

/// Queues the change of a row: adds `more` points (negative: removes) and sets the state.
pub fn update(store: &mut Store<'_>, id: &str, more: i64, state: PendingState, at_ms: i64) {
    let updated_at = timestamp::text(at_ms);
    let change = PendingPointsChange { points: more, status: state.name(), at_ms, updated_at: &updated_at };
    store.update_pending_points(id, &change);
}

/// Transaction of pending points.
pub struct PendingPointsTransaction {
    /// Its id.
    pub id: String,
    /// Kind of the change.
    pub change_name: &'static str,
    /// The pending points as the API returns them.
    pub points: Json,
    /// Change of the balance.
    pub balance: Json,
}

/// Queues a transaction of pending points.
pub fn insert_transaction(store: &mut Store<'_>, card: &Document, transaction: PendingPointsTransaction, now_ms: i64) {
    let PendingPointsTransaction { id, change_name, points, balance } = transaction;
    let body = json!({ "change": change_name, PENDING_DETAILS: points, "balance": balance });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut row = Document::new(id, None, now_ms, body);
    (row.parent, row.holder) = (Some(card.id.clone()), card.parent.clone());
    store.insert("pending_points_change", &row);
}

/// Points that became spendable, and what earned them: details of their transaction.
#[derive(Serialize)]
pub struct ActivatedPoints {
    order: Option<Json>,
    earning_rule: Option<Json>,
    pending_points: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder_loyalty_tier: Option<Json>,
}

/// Queues the activation of a row at `at`; returns its points, if the card has the row.
pub fn activate(
    store: &mut Store<'_>,
    card: &Document,
    id: &str,
    at: Instant,
) -> Result<Option<ActivatedPoints>, Fault> {
    update(store, id, 0, PendingState::Activated, at.millis());
    let row = store.document(PENDING_POINTS, id)?.filter(|row| row.parent.as_ref() == Some(&card.id));
    let Some(pending_points) = row.and_then(|mut row| row.body.remove(PENDING_DETAILS)) else { return Ok(None) };
    let about = TransactionRecord::of_value(&pending_points).details();
    Ok(Some(ActivatedPoints {
        order: about.order().cloned(),
        earning_rule: about.earning_rule().cloned(),
        holder_loyalty_tier: about.holder_tier().cloned(),
        pending_points,
    }))
}

/// Returns a row as the API returns it.
pub fn to_json(mut row: Document) -> Json {
    row.body.remove(PENDING_DETAILS).unwrap_or_default()
}
