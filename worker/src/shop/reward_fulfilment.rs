//! Rewards that a redemption of points has won: codes of a campaign, or more on the card that the customer has of it. It
//! must not know what points cost.

use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::shop::{balances, publications};
use crate::store::document::Document;
use scrip::decide::RewardGrant;
use scrip::model::reward::HandedOver;
use serde_json::Value as Json;

/// Hands rewards over at the commit; gives, for each, the voucher that it went to.
pub fn hand_over(call: &mut Call<'_, '_>, grants: &[RewardGrant]) -> Result<Vec<HandedOver>, CallError> {
    let mut vouchers: Vec<HandedOver> = Vec::new();
    // What this request has handed over of the same campaign to the same customer is topped up as well.
    let mut handed: Vec<(&RewardGrant, Document)> = Vec::new();
    for grant in grants {
        let earlier = handed.iter_mut().find(|(other, _)| {
            grant.balance.is_some() && other.campaign_id == grant.campaign_id && other.customer_id == grant.customer_id
        });
        if let Some((_, voucher)) = earlier {
            balances::load(call, voucher, grant.balance.unwrap_or(0))?;
            call.store.update("voucher", voucher);
            vouchers.push(told(voucher));
            continue;
        }
        let voucher = hand_one(call, grant, handed.iter().map(|(_, voucher)| voucher.id.as_str()).collect())?;
        vouchers.push(told(&voucher));
        handed.push((grant, voucher));
    }
    Ok(vouchers)
}

fn hand_one(call: &mut Call<'_, '_>, grant: &RewardGrant, taken: Vec<&str>) -> Result<Document, CallError> {
    let campaign = call.store.document("campaign", &grant.campaign_id)?;
    let campaign = campaign.ok_or_else(|| not_found("campaign", &grant.campaign_id))?;
    let customer_id = grant.customer_id.as_deref().unwrap_or_default();
    let customer = call.store.document("customer", customer_id)?;
    let customer = customer.ok_or_else(|| not_found("customer", customer_id))?;
    if let Some(balance) = grant.balance
        && let Some(mut voucher) = call.store.card_of(&campaign.id, customer_id)?
    {
        balances::load(call, &mut voucher, balance)?;
        call.touch(&mut voucher);
        call.store.update("voucher", &voucher);
        return Ok(voucher);
    }
    publications::hand_reward(call, &campaign, &customer, &taken, grant.balance.unwrap_or(0))
}

/// Where a reward went, as redemptions tell it.
fn told(voucher: &Document) -> HandedOver {
    HandedOver {
        voucher_id: voucher.id.as_str().into(),
        code: voucher.body.get("code").and_then(Json::as_str).map(Into::into),
        campaign_id: voucher.parent.as_deref().map(Into::into),
    }
}
