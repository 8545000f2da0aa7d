//! What a referral program says beside its codes: what counts as a referral, and what whoever was referred gets for it. This must
//! not know who referred whom.

use crate::text::Text;

/// A referral program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReferralProgram {
    /// What counts as a referral.
    pub conversion: Conversion,
    /// What whoever was referred gets; nothing but the discount where there is none.
    pub reward: Option<RefereeReward>,
}

/// What counts as a referral.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Conversion {
    /// That the code is redeemed.
    #[default]
    Redemption,
    /// That a custom event of this kind names the code.
    Event(EventName),
}

/// A kind of custom event, by the id of its schema or by its name; the id wins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventName {
    /// The schema's id.
    pub id: Option<Text>,
    /// The event's name.
    pub name: Option<Text>,
}

impl EventName {
    /// Whether an event is of this kind. One that says nothing is no event's.
    pub fn is_of(&self, schema_id: &str, name: &str) -> bool {
        match (&self.id, &self.name) {
            (Some(id), _) => id == schema_id,
            (None, Some(known)) => known == name,
            (None, None) => false,
        }
    }
}

/// What kind of card a reward is on.
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
    /// What kind of card it is; where it does not say, whatever kind the campaign has.
    pub card: Option<RewardCard>,
    /// The campaign whose card it is, by id or by name.
    pub campaign: Text,
    /// How much.
    pub amount: u64,
}
