//! Rewards that a redemption of points has won: codes of a campaign, or more on the card that the customer has of it. It
//! must not know what points cost.

use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::shop::{balances, publications};
use crate::store::document::Document;
use scrip::decide::RewardGrant;
use scrip::ledger::Entry;
use scrip::model::reward::HandedOver;
use serde_json::Value as Json;

/// Hands rewards over at the commit; gives, for each, the voucher that it went to.
pub fn hand_over(call: &mut Call<'_, '_>, grants: &[RewardGrant]) -> Result<Vec<HandedOver>, CallError> {
    let mut handed = Handed::to(None, &[]);
    grants.iter().map(|grant| handed.hand(call, grant)).collect()
}

/// What one request hands over. What it has handed over of the same campaign to the same customer is topped up as well.
pub struct Handed<'g> {
    /// The customer of the request, whom the store may not have yet.
    customer: Option<&'g Document>,
    /// What the request moves, which the ledger does not have yet.
    moved: &'g [Entry],
    vouchers: Vec<(&'g RewardGrant, Document)>,
}

impl<'g> Handed<'g> {
    /// Nothing yet; the customer of the request may be one whom the store does not have.
    pub fn to(customer: Option<&'g Document>, moved: &'g [Entry]) -> Handed<'g> {
        Handed { customer, moved, vouchers: Vec::new() }
    }

    /// Hands one reward over at the commit, and gives the voucher that it went to.
    pub fn hand(&mut self, call: &mut Call<'_, '_>, grant: &'g RewardGrant) -> Result<HandedOver, CallError> {
        let earlier = self.vouchers.iter_mut().find(|(other, _)| {
            grant.balance.is_some() && other.campaign_id == grant.campaign_id && other.customer_id == grant.customer_id
        });
        if let Some((_, voucher)) = earlier {
            balances::load(call, voucher, grant.balance.unwrap_or(0), self.moved)?;
            call.store.update("voucher", voucher);
            return Ok(told(voucher));
        }
        let voucher = self.hand_new(call, grant)?;
        let told = told(&voucher);
        self.vouchers.push((grant, voucher));
        Ok(told)
    }

    fn hand_new(&self, call: &mut Call<'_, '_>, grant: &RewardGrant) -> Result<Document, CallError> {
        let campaign = call.store.document("campaign", &grant.campaign_id)?;
        let campaign = campaign.ok_or_else(|| not_found("campaign", &grant.campaign_id))?;
        let customer_id = grant.customer_id.as_deref().unwrap_or_default();
        let customer = match self.customer.filter(|customer| customer.id == customer_id) {
            Some(customer) => Some(customer.clone()),
            None => call.store.document("customer", customer_id)?,
        };
        let customer = customer.ok_or_else(|| not_found("customer", customer_id))?;
        if let Some(balance) = grant.balance
            && let Some(mut voucher) = call.store.card_of(&campaign.id, customer_id)?
        {
            balances::load(call, &mut voucher, balance, self.moved)?;
            call.touch(&mut voucher);
            call.store.update("voucher", &voucher);
            return Ok(voucher);
        }
        let taken = self.vouchers.iter().map(|(_, voucher)| voucher.id.as_str()).collect::<Vec<_>>();
        publications::hand_reward(call, &campaign, &customer, &taken, grant.balance.unwrap_or(0))
    }
}

/// Where a reward went, as redemptions tell it.
fn told(voucher: &Document) -> HandedOver {
    HandedOver {
        voucher_id: voucher.id.as_str().into(),
        code: voucher.body.get("code").and_then(Json::as_str).map(Into::into),
        campaign_id: voucher.parent.as_deref().map(Into::into),
    }
}
