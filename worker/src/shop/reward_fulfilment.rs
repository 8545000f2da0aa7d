//! Rewards that a redemption of points has won: codes of a campaign, or more on the card that the customer has of it; and what is
//! told of them. It must not know what points cost.

use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::shop::products::PRODUCT;
use crate::shop::rewards::REWARD;
use crate::shop::skus::{self, SKU};
use crate::shop::{balances, decision, publications, vouchers};
use crate::store::document::Document;
use scrip::decide::RewardGrant;
use scrip::ledger::Entry;
use scrip::model::reward::{Reward, RewardKind};
use serde_json::Value as Json;

/// SKUs of a product that a redemption keeps with it; how many there are is told beside them.
const KEPT_SKUS: usize = 10;

/// Hands rewards over at the commit.
pub fn hand_over(call: &mut Call<'_, '_>, grants: &[RewardGrant]) -> Result<(), CallError> {
    let mut handed = Handed::to(None, &[]);
    grants.iter().try_for_each(|grant| handed.hand(call, grant).map(drop))
}

/// What is stored of a reward and of the goods that it is, printed, as a redemption keeps it.
pub fn stored(call: &Call<'_, '_>, reward: &Reward) -> Result<Vec<(&'static str, String)>, CallError> {
    let found = if decision::is_bare(call) { None } else { call.store.document(REWARD.object, &reward.id)? };
    let Some(found) = found else { return Ok(Vec::new()) };
    let of_reward = ["created_at", "updated_at", "parameters", "metadata"];
    let mut members: Vec<(&'static str, Json)> =
        of_reward.into_iter().filter_map(|name| Some((name, found.body.get(name)?.clone()))).collect();
    if let RewardKind::Material { product_id, sku_id } = &reward.kind {
        if let Some(mut product) = call.store.document_by_name(PRODUCT.object, product_id, product_id)? {
            product.body.insert("skus".into(), skus::of_product(call, &product.id, KEPT_SKUS)?);
            members.push((PRODUCT.object, Json::Object(product.body)));
        }
        if let Some(sku_id) = sku_id
            && let Some(sku) = call.store.document_by_name(SKU.object, sku_id, sku_id)?
        {
            members.push((SKU.object, Json::Object(sku.body)));
        }
    }
    Ok(members.into_iter().map(|(name, json)| (name, json.to_string())).collect())
}

/// The voucher that a reward went to.
pub struct HandedOver {
    voucher: Document,
    /// Whether it was published for it, which the ledger does not have yet.
    is_published: bool,
}

/// What one request hands over. What it has handed over of the same campaign to the same customer is topped up as well.
pub struct Handed<'g> {
    /// The customer of the request, whom the store may not have yet.
    customer: Option<&'g Document>,
    /// What the request moves, which the ledger does not have yet.
    moved: &'g [Entry],
    vouchers: Vec<(&'g RewardGrant, Document, bool)>,
}

impl<'g> Handed<'g> {
    /// Nothing yet; the customer of the request may be one whom the store does not have.
    pub fn to(customer: Option<&'g Document>, moved: &'g [Entry]) -> Handed<'g> {
        Handed { customer, moved, vouchers: Vec::new() }
    }

    /// Hands one reward over at the commit, and gives the voucher that it went to.
    pub fn hand(&mut self, call: &mut Call<'_, '_>, grant: &'g RewardGrant) -> Result<HandedOver, CallError> {
        let earlier = self.vouchers.iter_mut().find(|(other, ..)| {
            grant.balance.is_some() && other.campaign_id == grant.campaign_id && other.customer_id == grant.customer_id
        });
        if let Some((_, voucher, is_published)) = earlier {
            balances::load(call, voucher, grant.balance.unwrap_or(0), self.moved)?;
            call.store.update("voucher", voucher);
            return Ok(HandedOver { voucher: voucher.clone(), is_published: *is_published });
        }
        let handed = self.hand_new(call, grant)?;
        self.vouchers.push((grant, handed.voucher.clone(), handed.is_published));
        Ok(handed)
    }

    /// The voucher that a reward went to, printed, as it stands after the request.
    pub fn show(&self, call: &mut Call<'_, '_>, handed: HandedOver) -> Result<String, CallError> {
        let HandedOver { voucher, is_published } = handed;
        Ok(vouchers::show_moved(call, voucher, self.moved, is_published)?.to_string())
    }

    fn hand_new(&self, call: &mut Call<'_, '_>, grant: &RewardGrant) -> Result<HandedOver, CallError> {
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
            return Ok(HandedOver { voucher, is_published: false });
        }
        let taken = self.vouchers.iter().map(|(_, voucher, _)| voucher.id.as_str()).collect::<Vec<_>>();
        let voucher = publications::hand_reward(call, &campaign, &customer, &taken, grant.balance.unwrap_or(0))?;
        Ok(HandedOver { voucher, is_published: true })
    }
}
