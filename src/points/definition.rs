//! What a card definition says of the points of its cards. It must not know where it is written, nor who has a card.
//!
//! loyalty-v2.md section 3.

use super::expiry::Expiration;
use super::limits::{EarningLimits, SpendingLimits};
use super::lots::Revocation;
use super::pending::Delay;
use crate::formula::Formula;
use crate::text::Text;

/// What the cards of a definition are like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CardDefinition {
    /// Its id.
    pub id: Text,
    /// How points lapse, where an earning says nothing else.
    pub expiration: Expiration,
    /// What earned points wait for.
    pub delay: Delay,
    /// How many may be earned.
    pub earning: EarningLimits,
    /// How many may be spent.
    pub spending: SpendingLimits,
    /// How points that an order was paid with come back when it is returned; nothing where they do not.
    pub spent_back: Option<SpentBack>,
    /// From where points are taken that were earned with what is returned; nothing where they are not.
    pub earned_back: Option<Revocation>,
    /// Whether a card may owe points.
    pub below_zero: bool,
    /// What points are worth when an order is paid with them; nothing where none can be.
    pub payment: Option<Formula>,
}

/// How spent points come back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SpentBack {
    /// All of them.
    #[default]
    All,
    /// As many as the goods that came back were paid with.
    Item,
    /// In proportion to the amount that came back.
    Amount,
}
