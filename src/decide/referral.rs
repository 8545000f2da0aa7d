//! Decides whether a customer was referred by a code that they redeemed or that a custom event names. It also finds the
//! referrer, whether the referral program counts this conversion, and the reward.
//!
//! docs/spec/objects.md sections 4, 5 and 9.

use crate::decide::case::{Case, Offer};
use crate::decide::check::check_validity;
use crate::facts::{Facts, Known};
use crate::id::Context;
use crate::model::redeemable::Campaign;
use crate::model::referral::{Conversion, RefereeReward};
use crate::refusal::{Reason, Refusal};
use crate::text::Text;

/// The use of a referral code by another customer than its referrer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referral {
    /// The referrer.
    pub referrer_id: Text,
    /// The code's id.
    pub voucher_id: Text,
    /// Its campaign.
    pub campaign_id: Option<Text>,
    /// Its campaign's name.
    pub campaign_name: Option<Text>,
    /// `true` if its referral program counts this conversion.
    pub counts: bool,
    /// The reward of its referral program for the referee.
    pub reward: Option<RefereeReward>,
    /// The redemption that caused it; `None` for an event.
    pub redemption_id: Option<Text>,
}

/// A custom event that names a code.
pub struct CustomEvent<'e> {
    /// The id of its schema.
    pub schema_id: &'e str,
    /// Its name.
    pub name: &'e str,
    /// The customer of the event.
    pub customer_id: &'e str,
}

/// Returns the referrals among the redeemables at these positions of the request, each with the id of its redemption.
/// There are none if a client only names the customer: a referral changes stored data of both, and may give a reward.
pub(in crate::decide) fn by_redemption<'r>(
    case: &Case<'_>,
    redeemed: impl Iterator<Item = (usize, &'r Text)>,
) -> Vec<Referral> {
    if case.request.channel.client.as_ref().is_some_and(|client| !client.trusts_customer()) {
        return Vec::new();
    }
    let counts = |conversion: &Conversion| matches!(conversion, Conversion::Redemption);
    let referral = |position: usize, id: &Text| {
        let found = referral(case.offer(position)?, counts)?;
        Some(Referral { redemption_id: Some(id.clone()), ..found })
    };
    redeemed.filter_map(|(position, id)| referral(position, id)).collect()
}

/// Returns the referral that a custom event causes for a code; `None` without a referrer. Refuses a code that cannot be
/// used now.
pub fn by_event(
    facts: &dyn Facts,
    code: &str,
    event: &CustomEvent<'_>,
    context: &Context,
) -> Result<Option<Referral>, Refusal> {
    let incentive = match facts.voucher(code) {
        Known::Is(incentive) => incentive,
        Known::Unreadable => return Err(Refusal::unreadable("voucher", code)),
        Known::Absent | Known::Unknown => return Err(Refusal::not_found("voucher", code)),
    };
    let campaign = match incentive.campaign_id.as_deref().map(|id| facts.campaign(id)) {
        Some(Known::Is(campaign)) => Some(campaign),
        Some(Known::Unreadable) => return Err(Refusal::unreadable("voucher", code)),
        Some(Known::Absent | Known::Unknown) | None => None,
    };
    let offer = Offer::new(incentive, campaign, None, Vec::new(), None);
    check_validity(&offer, context.now, context.now, &facts.time_zone())?;
    if offer.referrer().is_some_and(|referrer| referrer == event.customer_id) {
        return Err(Refusal::new(Reason::ReferrerNotPermittedToRedeem, offer.incentive.code.as_str()));
    }
    Ok(referral(&offer, |conversion| match conversion {
        Conversion::Redemption => false,
        Conversion::Event(name) => name.is_of(event.schema_id, event.name),
    }))
}

fn referral(offer: &Offer<'_>, counts: impl FnOnce(&Conversion) -> bool) -> Option<Referral> {
    let campaign: Option<&Campaign> = offer.campaign.as_deref();
    let program = campaign.and_then(|campaign| campaign.referral.as_deref());
    let usual = Conversion::default();
    Some(Referral {
        referrer_id: offer.referrer()?.clone(),
        voucher_id: offer.incentive.id.clone(),
        campaign_id: offer.incentive.campaign_id.clone(),
        campaign_name: campaign.map(|campaign| campaign.name.clone()),
        counts: counts(program.map_or(&usual, |program| &program.conversion)),
        reward: program.and_then(|program| program.reward.clone()),
        redemption_id: None,
    })
}
