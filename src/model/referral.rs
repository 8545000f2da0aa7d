//! Defines the settings of a referral program: the conversion event and the reward of the referee.

use crate::text::Text;

/// A referral program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReferralProgram {
    /// The event that counts as a referral.
    pub conversion: Conversion,
    /// The reward of the referee; `None` for only the discount.
    pub reward: Option<RefereeReward>,
}

/// The event that counts as a referral.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Conversion {
    /// A redemption of the code.
    #[default]
    Redemption,
    /// A custom event of this type that names the code.
    Event(EventName),
}

/// A type of custom event, by the id of its schema or by its name; the id wins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventName {
    /// The schema's id.
    pub id: Option<Text>,
    /// The event's name.
    pub name: Option<Text>,
}

impl EventName {
    /// Returns whether an event has this type. A type without id and name matches no event.
    pub fn is_of(&self, schema_id: &str, name: &str) -> bool {
        match (&self.id, &self.name) {
            (Some(id), _) => id == schema_id,
            (None, Some(known)) => known == name,
            (None, None) => false,
        }
    }
}

/// The type of card of a reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RewardCard {
    /// Credits of a gift card, in minor units.
    #[default]
    Gift,
    /// Points of a loyalty card.
    Loyalty,
}

/// Points, or credits in minor units, on a card of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefereeReward {
    /// The type of card; `None` for the type of the campaign.
    pub card: Option<RewardCard>,
    /// The campaign of the card, by id or by name.
    pub campaign: Text,
    /// The amount.
    pub amount: u64,
}
