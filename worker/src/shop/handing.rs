//! Handing over what members of loyalty programs win or buy: goods, codes of campaigns, gift cards; and taking it back. It must not know
//! what it was given for, nor what it cost.

use crate::http::reply::{CallError, ErrorBody, not_found};
use crate::http::route::Call;
use crate::shop::balances::{self, move_balance};
use crate::shop::publications;
use crate::shop::purses::GIFT;
use crate::shop::voucher_removal;
use crate::shop::vouchers;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::facts::earning::Thing;
use scrip::facts::redemptions_account;
use scrip::points::Expiration;
use serde_json::{Map, Value as Json, json};

/// What is given, as transactions tell of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given {
    /// Goods.
    pub material: Json,
    /// Codes.
    pub digital: Json,
}

impl Given {
    fn goods(material: Json) -> Given {
        Given { material, digital: Json::Null }
    }

    /// Codes of a kind.
    fn codes(kind: &str, codes: Vec<Json>) -> Given {
        let mut digital = Map::new();
        digital.insert("type".into(), kind.into());
        digital.insert(kind.to_ascii_lowercase(), Json::Array(codes));
        Given { material: Json::Null, digital: Json::Object(digital) }
    }
}

/// What would be given, without anything that is known of it only once it is.
pub fn promised(thing: &Thing) -> Given {
    match thing {
        Thing::Product(id) => Given::goods(json!({ "type": "PRODUCT", "product": { "id": id.as_str() } })),
        Thing::Sku { product_id, id } => {
            Given::goods(json!({ "type": "SKU", "sku": { "product_id": product_id.as_str(), "id": id.as_str() } }))
        }
        Thing::Coupon(_) => Given::codes("DISCOUNT_COUPONS", Vec::new()),
        Thing::GiftCard { .. } => Given::codes("GIFT_VOUCHERS", Vec::new()),
    }
}

/// Hands a thing over to a customer at the commit. `taken` are the codes that the call has handed over already, and one more when it
/// hands one over. Where there is none to be had, nothing is written, and it is told why.
pub fn hand(
    call: &mut Call<'_, '_>,
    thing: &Thing,
    customer: &Document,
    taken: &mut Vec<String>,
) -> Result<Result<Given, ErrorBody>, CallError> {
    let (campaign, balance) = match thing {
        Thing::Product(_) | Thing::Sku { .. } => return Ok(Ok(promised(thing))),
        Thing::Coupon(campaign) => (campaign, None),
        Thing::GiftCard { campaign_id, balance } => (campaign_id, Some(*balance)),
    };
    let voucher = match publish(call, campaign, customer, taken, balance.unwrap_or(0))? {
        Ok(voucher) => voucher,
        Err(why) => return Ok(Err(why)),
    };
    let code = voucher.body.get("code");
    Ok(Ok(match balance {
        None => Given::codes("DISCOUNT_COUPONS", vec![json!({ "id": voucher.id, "code": code })]),
        Some(amount) => {
            let total = voucher.body.get(GIFT.block).and_then(|gift| gift.get(GIFT.total));
            let card = json!({ "id": voucher.id, "code": code, "amount": amount, "balance": total });
            Given::codes("GIFT_VOUCHERS", vec![card])
        }
    }))
}

/// Publishes a code of a campaign to a customer at the commit, with so much on it. `taken` are the codes that the call has handed over
/// already, and one more afterwards. Where none can be had, nothing of the attempt is left, and it is told why.
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
    let (mark, drawn, ids) = (call.store.mark(), call.store.drawn.clone(), call.ids.clone());
    let codes: Vec<&str> = taken.iter().map(String::as_str).collect();
    match publications::hand_reward(call, &campaign, customer, &codes, balance) {
        Ok(voucher) => {
            taken.push(voucher.id.clone());
            Ok(Ok(voucher))
        }
        Err(CallError::Refused(why)) => {
            call.store.forget_since(mark);
            (call.store.drawn, call.ids) = (drawn, ids);
            Ok(Err(why))
        }
        Err(CallError::Fault(fault)) => Err(fault),
    }
}

/// Takes codes back at the commit, as far as nobody used them, and gives what became of each: a coupon is gone, and a gift card has less.
pub fn take_back(call: &mut Call<'_, '_>, digital: &Json) -> Result<Json, CallError> {
    let mut digital = digital.clone();
    for (name, is_gift) in [("discount_coupons", false), ("gift_vouchers", true)] {
        let codes = digital.get_mut(name).and_then(Json::as_array_mut);
        for code in codes.into_iter().flatten().filter_map(Json::as_object_mut) {
            let result = if is_gift { unload(call, code)? } else { withdraw(call, code)? };
            code.insert("result".into(), result.into());
        }
    }
    Ok(digital)
}

fn voucher(call: &Call<'_, '_>, code: &Map<String, Json>) -> Result<Option<Document>, CallError> {
    let id = code.get("id").and_then(Json::as_str).unwrap_or_default();
    Ok(call.store.document(vouchers::VOUCHER.object, id)?)
}

fn withdraw(call: &mut Call<'_, '_>, code: &Map<String, Json>) -> Result<&'static str, CallError> {
    let Some(voucher) = voucher(call, code)? else { return Ok("SKIPPED") };
    let account = redemptions_account(&voucher.id).to_string();
    let standings = call.store.standings(std::slice::from_ref(&account), call.now_ms(), "")?;
    let is_used = standings.get(&account).is_some_and(|standing| standing.balance != 0 || standing.held != 0);
    if is_used {
        return Ok("SKIPPED");
    }
    voucher_removal::remove(call, &voucher);
    Ok("DELETED")
}

fn unload(call: &mut Call<'_, '_>, code: &mut Map<String, Json>) -> Result<&'static str, CallError> {
    let Some(mut voucher) = voucher(call, code)? else { return Ok("SKIPPED") };
    let amount = code.get("amount").and_then(Json::as_i64).unwrap_or(0);
    let (total, balance) =
        match move_balance(call, &mut voucher, &GIFT, amount.saturating_neg(), ("amount", &Expiration::Never)) {
            Ok(moved) => moved,
            Err(CallError::Refused(_)) => return Ok("SKIPPED"),
            Err(CallError::Fault(fault)) => return Err(fault.into()),
        };
    call.touch(&mut voucher);
    call.store.update(vouchers::VOUCHER.object, &voucher);
    let told = json!({
        "total": total, "balance": balance, "amount": amount.saturating_neg(), "type": GIFT.kind, "operation_type": "AUTOMATIC",
        "object": "balance", "related_object": { "type": "voucher", "id": voucher.id },
    });
    balances::note(call, &voucher, format!("{}_REMOVAL", GIFT.unit), [Json::Null, Json::Null], &told);
    code.insert("balance".into(), balance.into());
    Ok("CREDITS_SUBTRACTED")
}
