//! Fulfils rewards and incentives of loyalty programs: goods, vouchers and gift cards.

use crate::domain::publications;
use crate::domain::rewards::returns;
use crate::http::reply::{CallError, ErrorBody, not_found};
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::facts::earning::GrantedItem;
use serde_json::{Map, Value as Json, json};

/// Fulfilled item, as transactions contain it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FulfilledItem {
    /// Goods.
    pub material: Json,
    /// Codes.
    pub digital: Json,
}

impl FulfilledItem {
    fn goods(material: Json) -> FulfilledItem {
        FulfilledItem { material, digital: Json::Null }
    }

    /// Returns an item of vouchers of one kind.
    fn codes(kind: &str, codes: Vec<Json>) -> FulfilledItem {
        let mut digital = Map::new();
        digital.insert("type".into(), kind.into());
        digital.insert(kind.to_ascii_lowercase(), Json::Array(codes));
        FulfilledItem { material: Json::Null, digital: Json::Object(digital) }
    }
}

/// Returns the item before fulfilment, without the members that exist only afterwards.
pub fn preview(item: &GrantedItem) -> FulfilledItem {
    match item {
        GrantedItem::Product(id) => {
            FulfilledItem::goods(json!({ "type": "PRODUCT", "product": { "id": id.as_str() } }))
        }
        GrantedItem::Sku { product_id, id } => FulfilledItem::goods(
            json!({ "type": "SKU", "sku": { "product_id": product_id.as_str(), "id": id.as_str() } }),
        ),
        GrantedItem::Coupon(_) => FulfilledItem::codes("DISCOUNT_COUPONS", Vec::new()),
        GrantedItem::GiftCard { .. } => FulfilledItem::codes("GIFT_VOUCHERS", Vec::new()),
    }
}

/// Queues the fulfilment of a purchase. When the item is not available, no write stays queued and the error is returned.
pub fn fulfil(
    call: &mut Call<'_, '_>,
    item: &GrantedItem,
    customer: &Document,
    purchase_id: &str,
) -> Result<Result<FulfilledItem, ErrorBody>, CallError> {
    let (campaign, balance) = match item {
        GrantedItem::Product(_) | GrantedItem::Sku { .. } => return Ok(Ok(preview(item))),
        GrantedItem::Coupon(campaign) => (campaign, None),
        GrantedItem::GiftCard { campaign_id, balance } => (campaign_id, Some(*balance)),
    };
    // A discount coupon has no balance.
    let voucher = match publish(call, campaign, customer, &mut Vec::new(), balance.unwrap_or(0))? {
        Ok(voucher) => voucher,
        Err(refusal) => return Ok(Err(refusal)),
    };
    returns::record_bought(call, purchase_id, &voucher, None)?;
    let code = voucher.as_voucher().code();
    Ok(Ok(match balance {
        None => FulfilledItem::codes("DISCOUNT_COUPONS", vec![json!({ "id": voucher.id, "code": code })]),
        Some(amount) => {
            let total = voucher.as_voucher().gift_amount();
            let card = json!({ "id": voucher.id, "code": code, "amount": amount, "balance": total });
            FulfilledItem::codes("GIFT_VOUCHERS", vec![card])
        }
    }))
}

/// Publishes a voucher of a campaign with `balance` units to a customer. `taken` are the codes that the call has assigned;
/// the new one is added. When no voucher is available, no write stays queued and the error is returned.
pub fn publish(
    call: &mut Call<'_, '_>,
    campaign_id: &str,
    customer: &Document,
    taken: &mut Vec<String>,
    balance: u64,
) -> Result<Result<Document, ErrorBody>, Fault> {
    let Some(campaign) = call.store.document("campaign", campaign_id)? else {
        return Ok(Err(not_found("campaign", campaign_id)));
    };
    let (savepoint, generators, ids) = (call.store.savepoint(), call.store.generators.clone(), call.ids.clone());
    let codes: Vec<&str> = taken.iter().map(String::as_str).collect();
    match publications::publish_reward(call, &campaign, customer, &codes, balance) {
        Ok(voucher) => {
            taken.push(voucher.id.clone());
            Ok(Ok(voucher))
        }
        Err(CallError::Refused(refusal)) => {
            call.store.discard_since(savepoint);
            (call.store.generators, call.ids) = (generators, ids);
            Ok(Err(refusal))
        }
        Err(CallError::Fault(fault)) => Err(fault),
    }
}
