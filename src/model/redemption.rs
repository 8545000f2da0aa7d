//! Defines a stored redemption as a rollback reads it.
//!
//! docs/spec/objects.md#11.

use crate::model::order::{Item, Metadata};
use crate::money::Money;
use crate::text::Text;
use crate::time::Instant;

/// A stored redemption, as a rollback reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRedemption {
    /// Its id.
    pub id: Text,
    /// Its state: success, failure or rollback.
    pub state: RedemptionState,
    /// The instant of the redemption.
    pub date: Instant,
    /// The stack that it belongs to.
    pub parent: Option<Text>,
    /// The redemptions of its tiers or vouchers, if it is a stack, in order.
    pub children: Vec<Text>,
    /// The redeeming customer.
    pub customer_id: Option<Text>,
    /// The order that it changed.
    pub order: Option<OrderEffect>,
    /// The id of the voucher, tier or promotion stack that it redeemed.
    pub redeemed: Option<Text>,
    /// The spending of a card.
    pub spent: Option<SpentUnits>,
    /// The voucher after the redemption.
    pub voucher: Option<RedeemedVoucher>,
    /// The document, for answers.
    pub document: Metadata,
}

/// The effect of a redemption on an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OrderEffect {
    /// The id of the order.
    pub id: Option<Text>,
    /// The discount of the whole order.
    pub discount: Money,
    /// The effects on its lines, in their order.
    pub lines: Vec<LineEffect>,
    /// The ids of the lines, in their order; empty for a line without one.
    pub line_ids: Vec<Text>,
    /// The names of the goods of the lines, in their order.
    pub goods: Vec<Item>,
    /// The lines after the redemption, in their order.
    pub after: Vec<LineTotals>,
}

/// The units and amounts of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineTotals {
    /// The units, including free ones.
    pub quantity: u64,
    /// The units that are free.
    pub free_units: u64,
    /// The gross amount; `None` if it is unknown.
    pub amount: Option<Money>,
    /// The discount.
    pub discount: Money,
}

/// The effect of a redemption on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineEffect {
    /// The discount.
    pub discount: Money,
    /// The added units; negative for removed ones.
    pub units: i64,
    /// The units made free.
    pub free_units: i64,
    /// The amount of the added or removed units, in minor units.
    pub worth: i64,
    /// The part of the price of its free units that earlier discounts had taken.
    pub earlier: Money,
}

/// The spending of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpentUnits {
    /// Credits of a gift card, in minor units.
    Credits(u64),
    /// Points of a loyalty card.
    Points(u64),
}

impl SpentUnits {
    /// Returns the amount.
    pub fn amount(self) -> u64 {
        match self {
            SpentUnits::Credits(amount) | SpentUnits::Points(amount) => amount,
        }
    }
}

/// The change of a card by a redemption or its rollback, and the card after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardMovement {
    /// Credits in minor units or points; negative when refunded.
    pub taken: i64,
    /// The total ever credited to the card.
    pub credited_total: i64,
    /// The balance.
    pub left: i64,
}

/// The counts of a voucher after its redemption; `None` for counts that it does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RedeemedVoucher {
    /// Its id.
    pub id: Text,
    /// The number of redemptions.
    pub redeemed_quantity: Option<u64>,
    /// The spent credits.
    pub redeemed_amount: Option<u64>,
    /// The spent points.
    pub redeemed_points: Option<u64>,
    /// The remaining credits.
    pub credits: Option<u64>,
    /// The remaining points.
    pub points: Option<u64>,
}

/// The state of a redemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedemptionState {
    /// It succeeded and is valid.
    Succeeded,
    /// It failed.
    Failed,
    /// It was rolled back.
    RolledBack,
}
