//! Rewards that are given back: the points return, and what was bought as far as nobody used it. It must not know routes.

use crate::http::reply::{CallError, error, not_found};
use crate::http::route::Call;
use crate::moment;
use crate::shop::card_changes::write;
use crate::shop::card_checks::refusal;
use crate::shop::card_rows::Told;
use crate::shop::cards::{Present, TRANSACTION, load};
use crate::shop::lives::{CARD, REWARD, named};
use crate::shop::purchases::{about, details, read_reward};
use crate::shop::wallets::REWARD_TRANSACTION;
use crate::shop::{handing, shelves};
use crate::store::document::Document;
use scrip::points::{Part, Refused, Spent, Take};
use scrip::text::Text;
use serde_json::{Map, Value as Json, json};

/// What somebody wants of a refund.
#[derive(Debug, Clone, Copy)]
pub struct Policies {
    /// The points come back whatever the reward says.
    pub is_allowed: bool,
    /// What was bought does not come back to its shelf.
    pub is_written_off: bool,
}

/// Gives a purchase back at the commit; gives the transaction of that.
pub fn refund(
    call: &mut Call<'_, '_>,
    present: &Present,
    mut purchase: Document,
    policies: Policies,
) -> Result<Document, CallError> {
    let text = |body: &Map<String, Json>, name: &str| {
        body.get(name).and_then(Json::as_str).map(str::to_owned).unwrap_or_default()
    };
    let conflict = |key: &str, message: &str, details: &str| CallError::from(error(409, key, message, details));
    if (text(&purchase.body, "type").as_str(), text(&purchase.body, "status").as_str()) != ("PURCHASE", "APPROVED") {
        return Err(conflict(
            "invalid_reward_transaction_status",
            "Invalid reward transaction status",
            "Reward transaction must be a PURCHASE in APPROVED status in order to be refunded",
        ));
    }
    let reward = named(call.store, &REWARD, &text(&purchase.body, "reward_id"))?;
    let is_refundable =
        reward.as_ref().map_or(Ok(false), |reward| read_reward(reward).map(|read| read.is_refundable))?;
    if !is_refundable && !policies.is_allowed {
        return Err(conflict("non_refundable_reward", "Reward is not refundable", "The reward does not allow refunds"));
    }
    let id = call.ids.hex18("lrtx_").to_string();
    let (points, back) = give_back(call, present, &purchase, &id)?;
    let mut told = purchase.body.get("details").and_then(|details| details.get("result")).cloned().unwrap_or_default();
    if let Some(told) = told.as_object_mut() {
        let digital = told.get("digital").cloned().unwrap_or_default();
        told.insert("digital".into(), handing::take_back(call, &digital)?);
    }
    let kept = purchase.body.get("kept").cloned().unwrap_or_default();
    if let Some(account) = kept.get("stock").and_then(Json::as_str).filter(|_| !policies.is_written_off) {
        shelves::move_one(call, &id, account, &text(&purchase.body, "program_id"), true);
    }
    let mut body = purchase.body.clone();
    body.remove("kept");
    body.insert("id".into(), id.as_str().into());
    body.insert("type".into(), "REFUND".into());
    body.insert("card_transaction_id".into(), back.into());
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    let mut said = details("Reward refund", points, (Json::Null, told));
    if let Some(said) = said.as_object_mut() {
        let of = json!({ "card_transaction": { "id": purchase.body.get("card_transaction_id") }, "reward_transaction": { "id": purchase.id } });
        said.insert("purchase".into(), of);
    }
    body.insert("details".into(), said);
    let mut document = Document::new(id, None, call.now_ms(), body);
    (document.parent, document.holder) = (purchase.parent.clone(), purchase.holder.clone());
    call.store.insert(REWARD_TRANSACTION, &document);
    purchase.body.insert("status".into(), "REFUNDED".into());
    if let Some(kept) = purchase.body.get_mut("kept").and_then(Json::as_object_mut) {
        kept.insert("back".into(), points.into());
    }
    call.touch(&mut purchase);
    call.store.update(REWARD_TRANSACTION, &purchase);
    Ok(document)
}

/// Gives the points of a purchase back, after those that it bought are taken; gives how many, and the transaction of the card.
fn give_back(
    call: &mut Call<'_, '_>,
    present: &Present,
    purchase: &Document,
    transaction: &str,
) -> Result<(u64, String), CallError> {
    let name = |name: &str| purchase.body.get(name).and_then(Json::as_str).unwrap_or_default();
    let mut about = about(transaction, name("reward_id"));
    about.insert("purchase_transaction".into(), json!({ "id": purchase.id }));
    let told = Told { reason: None, spent_on: None, about };
    let bought = purchase.body.get("details").and_then(|details| {
        details.get("result")?.get("digital")?.get("loyalty_card_points").filter(|points| points.is_object())
    });
    let spending = call.store.document(TRANSACTION, name("card_transaction_id"))?;
    let spent = spending.map(|row| spent_by(&row)).unwrap_or_default();
    let lots: Vec<&str> = spent.parts.iter().map(|part| part.lot.as_str()).collect();
    let card = |call: &Call<'_, '_>, id: &str| -> Result<_, CallError> {
        let row = named(call.store, &CARD, id)?.ok_or_else(|| not_found(&CARD.resource_type(), id))?;
        Ok(load(call.store, row, &lots)?)
    };
    let mut changed = None;
    if let Some(bought) = bought {
        let mut held = card(call, bought.get("card_id").and_then(Json::as_str).unwrap_or_default())?;
        let points = bought.get("points").and_then(Json::as_u64).unwrap_or(0);
        let outcome = held.card.take(Take::ReversePurchase, points, &present.now());
        let outcome = outcome.map_err(|refused| conflicting(&held.row.id, refused))?;
        write(call.store, present, &mut held, outcome, Some((&told, &mut call.ids)))?;
        changed = Some(held);
    }
    // What was changed is not stored yet.
    let mut held = match changed.filter(|held| held.row.id == name("card_id")) {
        Some(held) => held,
        None => card(call, name("card_id"))?,
    };
    let points = spent.parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.points));
    let outcome = held.card.refund(&spent, points, &present.now());
    let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
    let made = write(call.store, present, &mut held, outcome, Some((&told, &mut call.ids)))?;
    Ok((points, made.into_iter().next().map(|row| row.id).unwrap_or_default()))
}

/// What a transaction of a card spent, lot by lot.
pub fn spent_by(row: &Document) -> Spent {
    let buckets = row.body.get("details").and_then(|details| details.get("buckets")).and_then(Json::as_array);
    let part = |bucket: &Json| {
        let points = bucket.get("points")?.get("total")?.as_u64()?;
        Some(Part { lot: Text::from(bucket.get("id")?.as_str()?), points })
    };
    Spent { parts: buckets.into_iter().flatten().filter_map(part).collect(), refunded: 0 }
}

/// Points that were bought and are gone cannot be given back.
fn conflicting(card: &str, refused: Refused) -> CallError {
    match refused {
        Refused::Short { .. } => {
            let told = "The points that were bought have been spent";
            error(409, "insufficient_card_balance", "Insufficient card balance", told).into()
        }
        Refused::Beyond
        | Refused::NoSuchLot(_)
        | Refused::SameId(_)
        | Refused::NoSuchPending(_)
        | Refused::Closed
        | Refused::NeverLapses
        | Refused::MoreThanSpent { .. } => refusal(card, refused),
    }
}
