//! Defines the settings of a card definition for the points of its cards.
//!
//! docs/spec/loyalty.md#3.

use super::expiry::Expiration;
use super::limits::{EarningLimits, SpendingLimits};
use super::lots::Revocation;
use super::pending::Delay;
use crate::formula::Formula;
use crate::text::Text;

/// The settings of the cards of a definition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CardDefinition {
    /// Its id.
    pub id: Text,
    /// The expiration of points, unless an earning has its own.
    pub expiration: Expiration,
    /// The delay before earned points can be spent.
    pub delay: Delay,
    /// The limits of earning.
    pub earning: EarningLimits,
    /// The limits of spending.
    pub spending: SpendingLimits,
    /// The refund mode of points that paid an order, when it is returned; `None` for no refund.
    pub refund_expiry: Option<RefundExpiry>,
    /// The source from which earned points are revoked when their order is returned; `None` if they stay on the card.
    pub revocation: Option<Revocation>,
    /// `true` if a card may owe points.
    pub below_zero: bool,
    /// The price of a minor unit in points, for paying orders; `None` if the card cannot pay.
    pub payment: Option<Formula>,
}

/// The refund mode of spent points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RefundExpiry {
    /// All points, or none.
    #[default]
    All,
    /// In proportion to the returned goods.
    Item,
    /// In proportion to the returned amount.
    Amount,
}
