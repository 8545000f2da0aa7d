//! Defines a request to return part of an order and its answer.

use crate::decide::order_return::reward_return::RewardReturn;
use crate::decide::order_return::share::LineShare;
use crate::decide::order_return::units::RequestedUnits;
use crate::decide::summary_delta::{OrderCount, SummaryDelta};
use crate::ledger::Entry;
use crate::model::order::{Metadata, Order};
use crate::model::order_return::{RemainingDiscount, ReturnPolicy};
use crate::model::redemption::{SpentUnits, StoredRedemption};
use crate::money::Money;
use crate::refusal::Refusal;
use crate::text::Text;
use crate::time::Instant;

/// A request to return part of an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReturnRequest {
    /// The order, by id or `source_id`.
    pub order_key: Text,
    /// The returned units.
    pub items: Vec<RequestedUnits>,
    /// The policy for discounts.
    pub policy: ReturnPolicy,
    /// Metadata of the return.
    pub metadata: Metadata,
}

/// A decided return.
#[derive(Debug, Clone, PartialEq)]
pub struct ReturnAnswer {
    /// Its id.
    pub id: Text,
    /// The instant of the return.
    pub date: Instant,
    /// The policy by which discounts were settled.
    pub policy: ReturnPolicy,
    /// The returned part of each line: the id of the line, and its shares.
    pub lines: Vec<ReturnedLine>,
    /// The gross amount of the returned units.
    pub amount: Money,
    /// The discounts that were given up.
    pub discount: Money,
    /// The money to refund.
    pub refund: Money,
    /// The part of the cost of the remaining order that is not paid.
    pub uncovered: Money,
    /// The effect on each redemption of the order.
    pub parts: Vec<ReturnedRedemption>,
    /// The remaining order.
    pub order: Order,
    /// Metadata of the return.
    pub metadata: Metadata,
}

/// The returned part of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct ReturnedLine {
    /// The id of the line.
    pub line_id: Option<Text>,
    /// Its shares.
    pub share: LineShare,
}

/// The effect of a return on a redemption.
#[derive(Debug, Clone, PartialEq)]
pub struct ReturnedRedemption {
    /// The redemption.
    pub redemption: StoredRedemption,
    /// The policy by which its discount was settled: a redeemable that was deleted is not decided again.
    pub policy: ReturnPolicy,
    /// The discount that is given up.
    pub discount: Money,
    /// The credits or points that are refunded to its card.
    pub spent: Option<SpentUnits>,
    /// `true` if the redemption does not count any more, because all items were returned.
    pub is_fully_returned: bool,
    /// The remaining discounts.
    pub remaining: RemainingDiscount,
    /// The reason why it grants nothing any more.
    pub lost: Option<Refusal>,
}

/// A decided return with the writes of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct ReturnOutcome {
    /// The answer.
    pub returned: ReturnAnswer,
    /// Entries of the ledger, in order.
    pub entries: Vec<Entry>,
    /// Increments for the redemption counts in the summary of the redeeming customer.
    pub summary_delta: SummaryDelta,
    /// Increments for the order counts in the summaries of their customers.
    pub orders: Vec<OrderCount>,
    /// The bought rewards that are taken back.
    pub rewards: Vec<RewardReturn>,
}
