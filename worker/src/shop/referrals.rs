//! What comes of it that somebody was referred, each once: they are a holder of the code, both are counted, and they get what the
//! program gives. It must not know what made it a referral.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::holders::{self, Role};
use crate::shop::referral_counts;
use crate::shop::reward_fulfilment::Handed;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::Referral;
use scrip::decide::RewardGrant;
use scrip::model::referral::{RefereeReward, RewardCard};
use scrip::text::Text;
use serde_json::{Value as Json, json};

/// Settles the referrals of a customer at the commit, and gives what they get. The customer is as they will be after it, and is
/// brought up to date: a code counts once for each customer, whatever becomes of its redemptions, and a program gives once.
pub fn settle(
    call: &mut Call<'_, '_>,
    customer: &mut Document,
    referrals: &[Referral],
) -> Result<Vec<RewardGrant>, CallError> {
    // Whoever has no name of their own would be somebody else each time.
    let is_somebody = |call: &Call<'_, '_>, customer: &Document| -> Result<bool, Fault> {
        Ok(customer.key.is_some() || call.store.document("customer", &customer.id)?.is_some())
    };
    if referrals.is_empty() || !is_somebody(call, customer)? {
        return Ok(Vec::new());
    }
    let mut counted: Vec<&Referral> = Vec::new();
    let mut grants = Vec::new();
    for referral in referrals {
        hold(call, customer, referral)?;
        if !referral.counts || has(customer, "related_object_id", &referral.voucher_id) {
            continue;
        }
        let is_first = !referral.campaign_id.as_ref().is_some_and(|campaign| has(customer, "campaign_id", campaign));
        if let Some(reward) = referral.reward.as_ref().filter(|_| is_first) {
            let redemption_id = referral.redemption_id.clone().unwrap_or_default();
            grants.extend(grant(call, customer, reward, redemption_id)?);
        }
        referral_counts::remember(&mut customer.body, referral, call.now_ms())?;
        counted.push(referral);
    }
    if !counted.is_empty() {
        // Whoever is new has not changed since.
        if customer.created_at < call.now_ms() {
            call.touch(customer);
        }
        call.store.update("customer", customer);
        count(call, &counted)?;
    }
    Ok(grants)
}

/// Hands over at the commit what a program gives. What cannot be handed over, because there is no code left or no such campaign,
/// stops nobody from being referred: whoever keeps the service finds it in the log.
pub fn hand_over<'g>(
    call: &mut Call<'_, '_>,
    grants: &'g [RewardGrant],
    handed: &mut Handed<'g>,
) -> Result<(), CallError> {
    for grant in grants {
        let (mark, drawn, ids) = (call.store.mark(), call.store.drawn.clone(), call.ids.clone());
        match handed.hand(call, grant) {
            Ok(_) => {
                let told = json!({
                    "campaign_id": grant.campaign_id.as_str(), "customer_id": grant.customer_id.as_deref(), "balance": grant.balance,
                    "redemption_id": grant.redemption_id.as_str(),
                });
                call.store.tell("granted", &grant.campaign_id, told.to_string())?;
            }
            Err(CallError::Refused(why)) => {
                call.store.forget_since(mark);
                (call.store.drawn, call.ids) = (drawn, ids);
                let why = why.details.as_deref().unwrap_or_default();
                note(call, grant.customer_id.as_deref().unwrap_or_default(), &grant.campaign_id, why);
            }
            Err(CallError::Fault(fault)) => return Err(fault.into()),
        }
    }
    Ok(())
}

/// Makes the customer a holder of the code, if they are none yet.
fn hold(call: &mut Call<'_, '_>, customer: &Document, referral: &Referral) -> Result<(), CallError> {
    let Some(code) = call.store.document("voucher", &referral.voucher_id)? else { return Ok(()) };
    if code.parent.is_some() && holders::among(call, &code, &[&customer.id])?.is_empty() {
        holders::add(call, &code, &customer.id, Role::Referee, &json!({}));
    }
    Ok(())
}

/// What a reward is: more on a card. Points are no credits, so that a campaign of other cards gives nothing.
fn grant(
    call: &Call<'_, '_>,
    customer: &Document,
    reward: &RefereeReward,
    redemption_id: Text,
) -> Result<Option<RewardGrant>, Fault> {
    let campaign = call.store.document_by_name("campaign", &reward.campaign, &reward.campaign)?;
    let has_cards = |campaign: &Document| {
        let kind = campaign.body.get("campaign_type").and_then(Json::as_str);
        match reward.card {
            Some(RewardCard::Gift) => kind == Some("GIFT_VOUCHERS"),
            Some(RewardCard::Loyalty) => kind == Some("LOYALTY_PROGRAM"),
            None => matches!(kind, Some("GIFT_VOUCHERS" | "LOYALTY_PROGRAM")),
        }
    };
    let Some(campaign) = campaign.filter(has_cards) else {
        note(call, &customer.id, &reward.campaign, "there is no such campaign of cards");
        return Ok(None);
    };
    Ok(Some(RewardGrant {
        redemption_id,
        reward_id: Default::default(),
        campaign_id: campaign.id.into(),
        balance: Some(reward.amount),
        customer_id: Some(customer.id.as_str().into()),
    }))
}

fn note(call: &Call<'_, '_>, customer_id: &str, campaign: &str, why: &str) {
    call.store.note(format!("`{customer_id}` was referred and does not get what `{campaign}` gives: {why}"));
}

/// Whether a customer remembers a referral with a member of this value.
fn has(customer: &Document, name: &str, value: &str) -> bool {
    let known =
        customer.body.get("referrals").and_then(|referrals| referrals.get("campaigns")).and_then(Json::as_array);
    known.into_iter().flatten().any(|known| known.get(name).and_then(Json::as_str) == Some(value))
}

/// Counts, for those who passed codes on, the customers who got them.
fn count(call: &mut Call<'_, '_>, referrals: &[&Referral]) -> Result<(), CallError> {
    let mut referrers: Vec<&str> = referrals.iter().map(|referral| referral.referrer_id.as_str()).collect();
    referrers.sort_unstable();
    referrers.dedup();
    for referrer in referrers {
        let Some(mut document) = call.store.document("customer", referrer)? else { continue };
        let own = referrals.iter().copied().filter(|referral| referral.referrer_id == referrer);
        referral_counts::count(&mut document.body, own)?;
        call.touch(&mut document);
        call.store.update("customer", &document);
    }
    Ok(())
}
