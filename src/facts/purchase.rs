//! Decides what can be bought with points and what is asked to know whether it can: rewards as they say it, who buys with which cards.
//! It must not know what anybody buys, nor how any of it is written or stored.
//!
//! loyalty-v2.md section 7.

use crate::facts::earning::Thing;
use crate::model::customer::Customer;
use crate::model::incentive::Validity;
use crate::model::order::Metadata;
use crate::points::limits::{Fired, SpendingLimits, SpentSoFar, TriggerLimits};
use crate::rules::Rule;
use crate::text::Text;

/// A reward.
#[derive(Debug, Clone, PartialEq)]
pub struct LoyaltyReward {
    /// Assigned by the service.
    pub id: Text,
    /// Whether its state lets it be bought.
    pub is_active: bool,
    /// When it can be.
    pub validity: Validity,
    /// How often by one member.
    pub limits: TriggerLimits,
    /// What it costs: the first that fits.
    pub costs: Vec<Cost>,
    /// What it is.
    pub gives: Rewarded,
    /// Whether its points come back.
    pub is_refundable: bool,
}

/// A price, and for whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Assigned by the service.
    pub id: Text,
    /// For whom.
    pub rule: Rule,
    /// How many points.
    pub points: u64,
    /// Of which cards.
    pub card_definition_id: Text,
}

/// What a reward gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewarded {
    /// Something that is handed over.
    Thing(Thing),
    /// Points on a card of the member.
    Points {
        /// Of which kind.
        card_definition_id: Text,
        /// How many.
        points: u64,
    },
}

/// A card with what its points may be spent on, what is due settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayingCard {
    /// Of which kind it is.
    pub card_definition_id: Text,
    /// What may be spent.
    pub limits: SpendingLimits,
    /// What there is, and what was spent.
    pub so_far: SpentSoFar,
}

/// Who buys.
#[derive(Debug, Clone, Copy)]
pub struct Buying<'a> {
    /// The customer.
    pub customer: &'a Customer,
    /// The member's custom data.
    pub member: &'a Metadata,
    /// The member's cards.
    pub cards: &'a [PayingCard],
    /// How often the member bought the reward before.
    pub bought: Fired,
}
