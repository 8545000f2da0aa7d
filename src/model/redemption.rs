//! Decides what a redemption that was written down is to whoever undoes it. It must not know how it is stored.
//!
//! objects.md section 11.

use crate::model::order::Metadata;
use crate::money::Money;
use crate::text::Text;
use crate::time::Instant;

/// A redemption that was written down, as a rollback reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRedemption {
    /// Its id.
    pub id: Text,
    /// Whether it redeemed anything, and was not undone.
    pub state: PastState,
    /// When.
    pub date: Instant,
    /// The stack that it belongs to.
    pub parent: Option<Text>,
    /// What it redeemed as a stack, in order.
    pub children: Vec<Text>,
    /// Who redeemed.
    pub customer_id: Option<Text>,
    /// The order that it changed.
    pub order: Option<PastOrder>,
    /// The id of the voucher, tier or promotion stack that it redeemed.
    pub redeemed: Option<Text>,
    /// What was spent of a card.
    pub spent: Option<Spent>,
    /// The voucher as it stood after it.
    pub voucher: Option<PastVoucher>,
    /// The document, for answers.
    pub document: Metadata,
}

/// What a redemption took off an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PastOrder {
    /// The id of the order.
    pub id: Option<Text>,
    /// Off the order as a whole.
    pub discount: Money,
    /// Off its lines, in their order.
    pub lines: Vec<PastLine>,
}

/// What a redemption did to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PastLine {
    /// What it took off.
    pub discount: Money,
    /// The units that came, or below zero that went.
    pub units: i64,
    /// Those that became free.
    pub free_units: i64,
    /// What the units that came or went are worth.
    pub worth: i64,
}

/// What was spent of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// Credits of a gift card, in minor units.
    Credits(u64),
    /// Points of a loyalty card.
    Points(u64),
}

impl Spent {
    /// How much it was.
    pub fn amount(self) -> u64 {
        match self {
            Spent::Credits(amount) | Spent::Points(amount) => amount,
        }
    }
}

/// What a redemption took from a card, or a rollback gave back to it, and how the card stood after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Movement {
    /// Credits in minor units or points; below zero what was given back.
    pub taken: i64,
    /// All that had ever been loaded on the card.
    pub loaded: i64,
    /// What was left on it.
    pub left: i64,
}

/// What was counted of a voucher when it was redeemed; what was not counted of it is not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PastVoucher {
    /// Its id.
    pub id: Text,
    /// How often it was redeemed.
    pub redeemed_quantity: Option<u64>,
    /// The credits that were spent.
    pub redeemed_amount: Option<u64>,
    /// The points that were spent.
    pub redeemed_points: Option<u64>,
    /// The credits that were left.
    pub credits: Option<u64>,
    /// The points that were left.
    pub points: Option<u64>,
}

/// What became of a redemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastState {
    /// It stands.
    Succeeded,
    /// It never redeemed anything.
    Failed,
    /// It was undone.
    RolledBack,
}
