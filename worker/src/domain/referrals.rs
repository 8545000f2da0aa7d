//! Records referrals once each: the customer becomes a holder of the code, both customers' counts change, and the campaign's
//! rewards are granted.

use crate::domain::customers::referral_summary;
use crate::domain::rewards::v1_fulfilment::RequestFulfilments;
use crate::domain::vouchers::referral_holders;
use crate::domain::vouchers::referral_holders::HolderRole;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::Referral;
use scrip::decide::RewardGrant;
use scrip::model::referral::{RefereeReward, RewardCard};
use scrip::text::Text;
use serde_json::{Value as Json, json};

/// Queues the referrals of a customer; returns the rewards. The customer document is updated in place. A code counts once for
/// each customer regardless of later rollbacks, and a campaign rewards once.
pub fn record_referrals(
    call: &mut Call<'_, '_>,
    customer: &mut Document,
    referrals: &[Referral],
) -> Result<Vec<RewardGrant>, CallError> {
    // A new customer without `source_id` and e-mail address would be another customer with each request.
    let is_identified = |call: &Call<'_, '_>, customer: &Document| -> Result<bool, Fault> {
        let has_email = customer.as_customer().email().is_some();
        Ok(customer.key.is_some() || has_email || call.store.document("customer", &customer.id)?.is_some())
    };
    if referrals.is_empty() || !is_identified(call, customer)? {
        return Ok(Vec::new());
    }
    let mut recorded: Vec<&Referral> = Vec::new();
    let mut grants = Vec::new();
    for referral in referrals {
        add_holder(call, customer, referral)?;
        if !referral.counts || has_referral(customer, "related_object_id", &referral.voucher_id) {
            continue;
        }
        let is_first =
            !referral.campaign_id.as_ref().is_some_and(|campaign| has_referral(customer, "campaign_id", campaign));
        if let Some(reward) = referral.reward.as_ref().filter(|_| is_first) {
            let redemption_id = referral.redemption_id.clone().unwrap_or_default();
            grants.extend(reward_grant(call, customer, reward, redemption_id)?);
        }
        referral_summary::add_referral(customer, referral, call.now_ms())?;
        recorded.push(referral);
    }
    if !recorded.is_empty() {
        // A new customer has not changed since its creation.
        if customer.created_at < call.now_ms() {
            call.touch(customer);
        }
        call.store.update("customer", customer);
        count_referrals(call, &recorded)?;
    }
    Ok(grants)
}

/// Queues the rewards of a referral campaign. One that cannot be fulfilled, without a code or a campaign, does not prevent the
/// referral; it is reported in the log.
pub fn fulfil_rewards<'g>(
    call: &mut Call<'_, '_>,
    grants: &'g [RewardGrant],
    fulfilments: &mut RequestFulfilments<'g>,
) -> Result<(), CallError> {
    for grant in grants {
        let (savepoint, generators, ids) = (call.store.savepoint(), call.store.generators.clone(), call.ids.clone());
        match fulfilments.fulfil(call, grant) {
            Ok(_) => {
                let details = json!({
                    "campaign_id": grant.campaign_id.as_str(), "customer_id": grant.customer_id.as_deref(), "balance": grant.balance,
                    "redemption_id": grant.redemption_id.as_str(),
                });
                call.store.announce("granted", &grant.campaign_id, details.to_string())?;
            }
            Err(CallError::Refused(refusal)) => {
                call.store.discard_since(savepoint);
                (call.store.generators, call.ids) = (generators, ids);
                let refusal = refusal.details.as_deref().unwrap_or_default();
                warn(call, grant.customer_id.as_deref().unwrap_or_default(), &grant.campaign_id, refusal);
            }
            Err(CallError::Fault(fault)) => return Err(fault.into()),
        }
    }
    Ok(())
}

/// Makes the customer a holder of the code, unless it is one.
fn add_holder(call: &mut Call<'_, '_>, customer: &Document, referral: &Referral) -> Result<(), CallError> {
    let Some(code) = call.store.document("voucher", &referral.voucher_id)? else { return Ok(()) };
    if code.parent.is_some() && referral_holders::list_of_customers(call, &code, &[&customer.id])?.is_empty() {
        referral_holders::add(call, &code, &customer.id, HolderRole::Referee, &json!({}));
    }
    Ok(())
}

/// Returns the reward of a referee: units on a card. Points are no credits, so a campaign with other cards grants nothing.
fn reward_grant(
    call: &Call<'_, '_>,
    customer: &Document,
    reward: &RefereeReward,
    redemption_id: Text,
) -> Result<Option<RewardGrant>, Fault> {
    let campaign = call.store.document_by_name("campaign", &reward.campaign, &reward.campaign)?;
    let has_cards = |campaign: &Document| {
        let campaign = campaign.as_campaign();
        match reward.card {
            Some(RewardCard::Gift) => campaign.has_gift_vouchers(),
            Some(RewardCard::Loyalty) => campaign.is_loyalty_campaign(),
            None => campaign.has_gift_vouchers() || campaign.is_loyalty_campaign(),
        }
    };
    let Some(campaign) = campaign.filter(has_cards) else {
        warn(call, &customer.id, &reward.campaign, "there is no such campaign of cards");
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

fn warn(call: &Call<'_, '_>, customer_id: &str, campaign: &str, refusal: &str) {
    call.store.warn(format!("`{customer_id}` was referred and does not get what `{campaign}` gives: {refusal}"));
}

/// Tests if a customer document has a referral with a member of this value.
fn has_referral(customer: &Document, name: &str, value: &str) -> bool {
    customer
        .as_customer()
        .referral_campaigns()
        .iter()
        .any(|known| known.get(name).and_then(Json::as_str) == Some(value))
}

/// Increments the counts of the referrers.
fn count_referrals(call: &mut Call<'_, '_>, referrals: &[&Referral]) -> Result<(), CallError> {
    let mut referrers: Vec<&str> = referrals.iter().map(|referral| referral.referrer_id.as_str()).collect();
    referrers.sort_unstable();
    referrers.dedup();
    for referrer in referrers {
        let Some(mut document) = call.store.document("customer", referrer)? else { continue };
        let own = referrals.iter().copied().filter(|referral| referral.referrer_id == referrer);
        referral_summary::count_referred(&mut document, own)?;
        call.touch(&mut document);
        call.store.update("customer", &document);
    }
    Ok(())
}
