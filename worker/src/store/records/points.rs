//! Points that are pending, and transactions of cards.

use super::Members;
use super::members::record;
use crate::store::sql::Fault;
use serde_json::{Map, Value as Json};

record!("Points that are or were pending.", PendingPointsRecord, as_pending_points);
record!(
    "A transaction of a card, a change of its pending points, or a request for either.",
    TransactionRecord,
    as_transaction
);

/// Stored name of the member of pending points that has the details that the API returns.
pub const PENDING_DETAILS: &str = "told";

impl<'a> PendingPointsRecord<'a> {
    /// Returns the status.
    pub fn status(self) -> Option<&'a str> {
        self.0.text("status")
    }

    /// Returns the time in milliseconds at which the points become spendable.
    pub fn at(self) -> Option<i64> {
        self.0.number("at")
    }

    /// Returns the ID of the lot that the points were credited to.
    pub fn credited_lot(self) -> Option<&'a str> {
        self.0.object("kept").text("arrived")
    }
}

impl<'a> TransactionRecord<'a> {
    /// Returns the type of transaction; empty if absent.
    pub fn transaction_type(self) -> &'a str {
        self.0.text("type").unwrap_or_default()
    }

    /// Returns the type of change of pending points.
    pub fn change(self) -> Option<&'a str> {
        self.0.text("change")
    }

    /// Returns the reason.
    pub fn reason(self) -> Option<&'a str> {
        self.0.text("reason")
    }

    /// Returns the caller's ID of the transaction.
    pub fn source_id(self) -> Option<&'a str> {
        self.0.text("source_id")
    }

    /// Returns true if the transaction was requested.
    pub fn has_source(self) -> bool {
        self.0.text("source").is_some()
    }

    /// Returns true if the body has details.
    pub fn has_details(self) -> bool {
        self.0.value("details").is_some()
    }

    /// Returns the details.
    pub fn details(self) -> TransactionDetailsRecord<'a> {
        TransactionDetailsRecord(self.0.object("details"))
    }

    /// Returns the number of points.
    pub fn points(self) -> Option<i64> {
        self.0.number("points")
    }

    /// Returns the number of points of a request. Fails if it is absent, because the shape of the request requires it.
    pub fn sent_points(self) -> Result<i64, Fault> {
        self.points().ok_or_else(|| Fault::new("a request has no `points`"))
    }

    /// Returns the reward, which may be `null`.
    pub fn reward(self) -> Option<&'a Json> {
        self.0.value("reward")
    }

    /// Returns the lots that were debited, each with its points.
    pub fn debited_lots(self) -> Option<&'a [Json]> {
        self.0.value("parts")?.as_array().map(Vec::as_slice)
    }
}

/// The details of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct TransactionDetailsRecord<'a>(Members<'a>);

impl<'a> TransactionDetailsRecord<'a> {
    /// Returns the details themselves.
    pub fn map(self) -> Option<&'a Map<String, Json>> {
        self.0.map()
    }

    /// Returns a copy of a detail; `null` if absent.
    pub fn copy_detail(self, name: &str) -> Json {
        self.0.copy(name)
    }

    /// Returns the balance after the transaction.
    pub fn balance(self) -> Option<&'a Json> {
        self.0.value("balance")
    }

    /// Returns the order.
    pub fn order(self) -> Option<&'a Json> {
        self.0.value("order")
    }

    /// Returns the earning rule.
    pub fn earning_rule(self) -> Option<&'a Json> {
        self.0.value("earning_rule")
    }

    /// Returns the tier of the holder.
    pub fn holder_tier(self) -> Option<&'a Json> {
        self.0.value("holder_loyalty_tier")
    }

    /// Returns the points by lot: the ID of each lot, and its points.
    pub fn buckets(self) -> impl Iterator<Item = Result<(&'a str, u64), Fault>> {
        self.0.list("buckets").iter().map(|bucket| {
            let bucket = Members::of_value(Some(bucket));
            let id = bucket.text("id").ok_or_else(|| Fault::new("a lot of a transaction has no ID"))?;
            Ok((id, bucket.object("points").required_amount("total")?))
        })
    }
}
