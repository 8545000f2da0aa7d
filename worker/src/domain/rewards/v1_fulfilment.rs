//! Fulfils rewards that a redemption of points bought (v1): vouchers of a campaign, or units on the customer's card of it.

use crate::domain::balances::adjustments;
use crate::domain::caller;
use crate::domain::catalogue::products::PRODUCT;
use crate::domain::catalogue::skus;
use crate::domain::catalogue::skus::SKU;
use crate::domain::publications;
use crate::domain::rewards::returns;
use crate::domain::rewards::reward::REWARD;
use crate::domain::vouchers::voucher;
use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::RewardGrant;
use scrip::facts::part_of;
use scrip::ledger::Entry;
use scrip::model::reward::{Reward, RewardKind};
use serde_json::Value as Json;

/// Number of SKUs of a product that a redemption stores; the total is stored too.
const STORED_SKUS_MAX: usize = 10;

/// Queues the fulfilment of rewards.
pub fn fulfil_all(call: &mut Call<'_, '_>, grants: &[RewardGrant]) -> Result<(), CallError> {
    let mut fulfilments = RequestFulfilments::new(None, &[]);
    grants.iter().try_for_each(|grant| fulfilments.fulfil(call, grant).map(drop))
}

/// Serializes the stored reward and its goods, as a redemption stores them.
pub fn stored_members(call: &Call<'_, '_>, reward: &Reward) -> Result<Vec<(&'static str, String)>, CallError> {
    let found =
        if caller::is_engine_comparison(call) { None } else { call.store.document(REWARD.object, &reward.id)? };
    let Some(found) = found else { return Ok(Vec::new()) };
    let of_reward = ["created_at", "updated_at", "parameters", "metadata"];
    let mut members: Vec<(&'static str, Json)> =
        of_reward.into_iter().filter_map(|name| Some((name, found.body.get(name)?.clone()))).collect();
    if let RewardKind::Material { product_id, sku_id } = &reward.kind {
        if let Some(mut product) = call.store.document_by_name(PRODUCT.object, product_id, product_id)? {
            product.body.insert("skus".into(), skus::list_of_product(call, &product.id, STORED_SKUS_MAX)?);
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

/// Voucher of a fulfilled reward.
pub struct RewardedVoucher {
    voucher: Document,
    /// True when it was published for the reward; that transfer is still queued.
    is_published: bool,
    /// Units added to an existing voucher.
    added: Option<u64>,
}

impl RewardedVoucher {
    /// Records that a redemption of points bought the voucher.
    pub fn record_bought(&self, call: &mut Call<'_, '_>, redemption_id: &str) -> Result<(), Fault> {
        returns::record_bought(call, redemption_id, &self.voucher, self.added)
    }
}

/// Fulfilments of one request. A voucher that the request assigned to the same customer for the same campaign is reused for
/// further units.
pub struct RequestFulfilments<'g> {
    /// Customer of the request, who may not be stored yet.
    customer: Option<&'g Document>,
    /// Entries of the request that are not posted yet.
    entries: &'g [Entry],
    vouchers: Vec<(&'g RewardGrant, Document, bool)>,
}

impl<'g> RequestFulfilments<'g> {
    /// Creates the fulfilments of a request.
    pub fn new(customer: Option<&'g Document>, entries: &'g [Entry]) -> RequestFulfilments<'g> {
        RequestFulfilments { customer, entries, vouchers: Vec::new() }
    }

    /// Queues the fulfilment of one reward; returns its voucher.
    pub fn fulfil(&mut self, call: &mut Call<'_, '_>, grant: &'g RewardGrant) -> Result<RewardedVoucher, CallError> {
        let earlier = self
            .vouchers
            .iter_mut()
            .find(|(other, ..)| other.campaign_id == grant.campaign_id && other.customer_id == grant.customer_id);
        if let (Some(balance), Some((_, voucher, is_published))) = (grant.balance, earlier) {
            adjustments::credit_card(call, voucher, balance, self.entries)?;
            call.store.update("voucher", voucher);
            return Ok(RewardedVoucher { voucher: voucher.clone(), is_published: *is_published, added: grant.balance });
        }
        let fulfilled = self.publish_or_credit(call, grant)?;
        self.vouchers.push((grant, fulfilled.voucher.clone(), fulfilled.is_published));
        Ok(fulfilled)
    }

    /// Serializes the voucher of a reward in its state after the request.
    pub fn voucher_json(&self, call: &mut Call<'_, '_>, fulfilled: RewardedVoucher) -> Result<String, CallError> {
        let RewardedVoucher { voucher, is_published, .. } = fulfilled;
        Ok(voucher::to_json_after_transfers(call, voucher, self.entries, is_published)?.to_string())
    }

    fn publish_or_credit(&self, call: &mut Call<'_, '_>, grant: &RewardGrant) -> Result<RewardedVoucher, CallError> {
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
            adjustments::credit_card(call, &mut voucher, balance, self.entries)?;
            call.touch(&mut voucher);
            call.store.update("voucher", &voucher);
            return Ok(RewardedVoucher { voucher, is_published: false, added: Some(balance) });
        }
        let assigned = self.vouchers.iter().map(|(_, voucher, _)| voucher.id.as_str());
        let taken = assigned.chain(self.entries.iter().filter_map(redeemed_voucher)).collect::<Vec<_>>();
        // A discount coupon has no balance.
        let voucher = publications::publish_reward(call, &campaign, &customer, &taken, grant.balance.unwrap_or(0))?;
        Ok(RewardedVoucher { voucher, is_published: true, added: None })
    }
}

/// Returns the voucher that an entry of the request redeems: its code is no reward.
fn redeemed_voucher(entry: &Entry) -> Option<&str> {
    let Entry::Post(transfer) = entry else { return None };
    match part_of(transfer.debit.as_str())? {
        ("voucher", id, "redemptions") => Some(id),
        _ => None,
    }
}
