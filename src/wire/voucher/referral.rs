//! Reads the referral program of a campaign.

use crate::model::referral::{Conversion, EventName, RefereeReward, ReferralProgram, RewardCard};
use crate::wire::cursor::{JsonCursor, NameTable, read};

/// The names of conversion events, with `true` for a custom event.
const CONVERSIONS: NameTable<bool> = &[("redemption", false), ("custom_event", true)];

const CARDS: NameTable<RewardCard> = &[("GIFT_VOUCHER", RewardCard::Gift), ("LOYALTY_CARD", RewardCard::Loyalty)];

/// Reads a referral program; without a conversion event it counts redemptions.
pub fn read_referral_program(at: &JsonCursor<'_>) -> ReferralProgram {
    at.object();
    let by_event = at.option("conversion_event_type", |value| value.one_of(CONVERSIONS)).unwrap_or_default();
    let event = at.option("custom_event", read_event).unwrap_or_default();
    ReferralProgram {
        conversion: if by_event { Conversion::Event(event) } else { Conversion::Redemption },
        reward: at.option("referee_reward", read_reward).flatten(),
    }
}

fn read_event(at: &JsonCursor<'_>) -> EventName {
    at.object();
    EventName { id: at.option("id", read::name), name: at.option("name", read::name) }
}

/// Reads a reward. Without a campaign there is none.
fn read_reward(at: &JsonCursor<'_>) -> Option<RefereeReward> {
    at.object();
    let campaign = at.option("related_object_parent", |parent| {
        parent.object();
        parent.option("id", read::name).or_else(|| parent.option("name", read::name))
    });
    Some(RefereeReward {
        card: at.option("type", |value| value.one_of(CARDS)),
        campaign: campaign.flatten()?,
        // A reward without an amount gives none.
        amount: at.option("amount", read::whole_number).unwrap_or(0),
    })
}
