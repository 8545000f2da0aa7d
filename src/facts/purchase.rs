//! Defines the facts of purchases with points: rewards, and members with their cards.
//!
//! docs/spec/loyalty.md#7.

use crate::facts::earning::GrantedItem;
use crate::model::customer::Customer;
use crate::model::order::Metadata;
use crate::model::redeemable::Validity;
use crate::points::limits::{FireCount, SpendingLimits, SpentTotals, TriggerLimits};
use crate::rules::Rule;
use crate::text::Text;

/// A reward.
#[derive(Debug, Clone, PartialEq)]
pub struct LoyaltyReward {
    /// Assigned by the service.
    pub id: Text,
    /// `true` if its state allows it to be bought.
    pub is_active: bool,
    /// The validity.
    pub validity: Validity,
    /// The limits of purchases for one member.
    pub limits: TriggerLimits,
    /// The prices; the first that applies counts.
    pub costs: Vec<Cost>,
    /// The content.
    pub gives: RewardContent,
    /// `true` if its points can be refunded.
    pub is_refundable: bool,
}

/// A price with its condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Assigned by the service.
    pub id: Text,
    /// The condition on the member.
    pub rule: Rule,
    /// The price in points.
    pub points: u64,
    /// The card definition that pays.
    pub card_definition_id: Text,
}

/// The content of a reward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewardContent {
    /// An item.
    Item(GrantedItem),
    /// Points on a card of the member.
    Points {
        /// The card definition.
        card_definition_id: Text,
        /// The number of points.
        points: u64,
    },
}

/// A card with its spending limits, after due events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayingCard {
    /// The card definition.
    pub card_definition_id: Text,
    /// The spending limits.
    pub limits: SpendingLimits,
    /// The balance, and the points spent so far.
    pub so_far: SpentTotals,
}

/// The buying member.
#[derive(Debug, Clone, Copy)]
pub struct PurchasingMember<'a> {
    /// The customer.
    pub customer: &'a Customer,
    /// The member's metadata.
    pub member: &'a Metadata,
    /// The member's cards.
    pub cards: &'a [PayingCard],
    /// The earlier purchases of the reward by the member.
    pub bought: FireCount,
}
