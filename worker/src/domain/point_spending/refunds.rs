//! Refunds of reward purchases: the reward is taken back first, then points are refunded for the part that could be taken.

use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::{LoadedCard, TRANSACTION, load};
use crate::domain::loyalty_members::card_changes::write_outcome;
use crate::domain::loyalty_members::card_checks::card_refusal;
use crate::domain::loyalty_members::card_view::{RelatedObjects, TransactionDetails};
use crate::domain::loyalty_programs::kinds::{CARD, REWARD, find_by_id};
use crate::domain::point_spending::purchases::{details_json, read_reward, related};
use crate::domain::point_spending::reward_stock;
use crate::domain::point_spending::spendable_cards::REWARD_TRANSACTION;
use crate::domain::rewards::returns;
use crate::domain::rewards::returns::{ReturnedReward, already_used};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::Call;
use crate::store::Store;
use crate::store::amount;
use crate::store::document::Document;
use crate::store::loyalty::bought_rewards::RewardRow;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::decide::order_return::reward_return::RewardReturn;
use scrip::model::reward::BoughtReward;
use scrip::points::{DebitReason, LotPart, SpentPoints};
use scrip::text::Text;
use serde_json::{Value as Json, json};

/// Options of a refund.
#[derive(Debug, Clone, Copy)]
pub struct RefundPolicies {
    /// All points are refunded, regardless of the reward's rules and its use.
    pub is_allowed: bool,
    /// The reward does not return to its stock.
    pub is_written_off: bool,
}

/// Queues the refund of a purchase; returns its transaction.
pub fn refund(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    mut purchase: Document,
    policies: RefundPolicies,
) -> Result<Document, CallError> {
    let conflict = |key: &str, message: &str, details: &str| CallError::from(error(409, key, message, details));
    if !purchase.as_purchase().is_approved() {
        return Err(conflict(
            "invalid_reward_transaction_status",
            "Invalid reward transaction status",
            "Reward transaction must be a PURCHASE in APPROVED status in order to be refunded",
        ));
    }
    let reward = find_by_id(call.store, &REWARD, purchase.as_purchase().reward_id())?;
    let is_refundable =
        reward.as_ref().map_or(Ok(false), |reward| read_reward(reward).map(|read| read.is_refundable))?;
    if !is_refundable && !policies.is_allowed {
        return Err(conflict("non_refundable_reward", "Reward is not refundable", "The reward does not allow refunds"));
    }
    let bought = find_bought(call, present, &purchase)?;
    if bought.as_ref().is_some_and(|bought| bought.reward().is_used()) && !policies.is_allowed {
        return Err(already_used().into());
    }
    let id = call.ids.hex18("lrtx_").to_string();
    let mut members = purchase.as_purchase().result();
    if let Some(BoughtContent::Code(reward)) = &bought {
        revoke_code(call, reward, &mut members)?;
    }
    let refunded = RefundedPoints { purchase: &purchase, transaction: &id, bought, policies };
    let (points, card_transaction) = refund_points(call, present, refunded)?;
    if let Some(account) = purchase.as_purchase().stock_account().filter(|_| !policies.is_written_off) {
        reward_stock::post_unit(call, &id, account, purchase.as_purchase().program_id().unwrap_or_default(), true);
    }
    let mut body = purchase.body.clone();
    body.remove("kept");
    body.insert("id".into(), id.as_str().into());
    body.insert("type".into(), "REFUND".into());
    body.insert("card_transaction_id".into(), card_transaction);
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    let mut details = details_json("Reward refund", points, Json::Null, members);
    if let Some(details) = details.as_object_mut() {
        let of = json!({ "card_transaction": { "id": purchase.as_purchase().card_transaction_id() }, "reward_transaction": { "id": purchase.id } });
        details.insert("purchase".into(), of);
    }
    body.insert("details".into(), details);
    let mut document = Document::new(id, None, call.now_ms(), body);
    (document.parent, document.holder) = (purchase.parent.clone(), purchase.holder.clone());
    call.store.insert(REWARD_TRANSACTION, &document);
    purchase.body.insert("status".into(), "REFUNDED".into());
    if let Some(stored) = purchase.body.get_mut("kept").and_then(Json::as_object_mut) {
        stored.insert("back".into(), points.into());
    }
    call.touch(&mut purchase);
    call.store.update(REWARD_TRANSACTION, &purchase);
    Ok(document)
}

/// Bought reward that can be taken back; goods cannot.
enum BoughtContent {
    /// A code or a card of a campaign.
    Code(RewardReturn),
    /// Points on a card of the member.
    Points {
        /// Id of the card.
        card_id: String,
        /// Points.
        reward: RewardReturn,
    },
}

impl BoughtContent {
    fn reward(&self) -> &RewardReturn {
        match self {
            BoughtContent::Code(reward) | BoughtContent::Points { reward, .. } => reward,
        }
    }
}

/// Returns the bought reward with the part that can be taken back.
fn find_bought(
    call: &Call<'_, '_>,
    present: &LocalTime,
    purchase: &Document,
) -> Result<Option<BoughtContent>, CallError> {
    let digital = purchase.as_purchase().digital();
    let gift_card = digital.gift_card()?.map(|(id, balance)| (id, Some(balance)));
    let codes = [digital.coupon().map(|id| (id, None)), gift_card];
    if let Some((voucher_id, value)) = codes.into_iter().flatten().next() {
        let row = RewardRow { voucher_id: voucher_id.to_owned(), value, is_public: false };
        let reward = call.store.find_bought_voucher(&purchase.id, row, call.context.now)?;
        return Ok(Some(BoughtContent::Code(RewardReturn::of(&reward))));
    }
    let Some((card_id, points)) = digital.points()? else { return Ok(None) };
    let loaded = load_card(call, card_id, &[])?;
    let settled = loaded.card.settle(&present.now()).map_err(|refused| card_refusal(card_id, refused))?;
    let reward = RewardReturn::of(&BoughtReward {
        voucher_id: card_id.into(),
        bought: points,
        available: settled.card.available(),
    });
    Ok(Some(BoughtContent::Points { card_id: card_id.to_owned(), reward }))
}

/// Queues the return of a code, and records its outcome in the result.
fn revoke_code(call: &mut Call<'_, '_>, reward: &RewardReturn, result: &mut Json) -> Result<(), CallError> {
    let returned = returns::return_reward(call, reward)?;
    for list in ["discount_coupons", "gift_vouchers"] {
        let codes = result.get_mut("digital").and_then(|digital| digital.get_mut(list)?.get_mut(0)?.as_object_mut());
        let Some(code) = codes else { continue };
        let code_result = match &returned {
            ReturnedReward::Retained => "SKIPPED",
            ReturnedReward::Deleted => "DELETED",
            ReturnedReward::Reduced { balance, .. } => {
                code.insert("amount".into(), reward.taken.into());
                code.insert("balance".into(), (*balance).into());
                "CREDITS_SUBTRACTED"
            }
        };
        code.insert("result".into(), code_result.into());
    }
    Ok(())
}

fn load_card(call: &Call<'_, '_>, id: &str, lots: &[&str]) -> Result<LoadedCard, CallError> {
    let row = find_by_id(call.store, &CARD, id)?.ok_or_else(|| not_found(&CARD.resource_type(), id))?;
    Ok(load(call.store, row, lots)?)
}

/// Points of a purchase to be refunded.
struct RefundedPoints<'p> {
    purchase: &'p Document,
    /// Id of the refund's transaction.
    transaction: &'p str,
    bought: Option<BoughtContent>,
    policies: RefundPolicies,
}

/// Refunds the points of a purchase after the bought points are taken back; returns their number and the card's transaction.
fn refund_points(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    refunded: RefundedPoints<'_>,
) -> Result<(u64, Json), CallError> {
    let RefundedPoints { purchase, transaction, bought, policies } = refunded;
    let purchase_record = purchase.as_purchase();
    let related = RelatedObjects {
        purchase_transaction: Some(&purchase.id),
        ..related(transaction, purchase_record.reward_id())
    };
    let members = TransactionDetails { reason: None, spent_on: None, related };
    let spending = purchase_record.card_transaction_id().and_then(Json::as_str).unwrap_or_default();
    let spent = find_spent_points(call.store, spending, &purchase.id)?;
    let lots: Vec<&str> = spent.parts.iter().map(|part| part.lot.as_str()).collect();
    let paid = amount::total(spent.parts.iter().map(|part| part.points))?;
    let points = match &bought {
        Some(bought) if !policies.is_allowed => bought.reward().refunded_points(paid),
        Some(_) | None => paid,
    };
    let mut changed = None;
    if let Some(BoughtContent::Points { card_id, reward }) = bought.filter(|bought| !bought.reward().is_used()) {
        let mut loaded = load_card(call, &card_id, &lots)?;
        let outcome = loaded.card.take(DebitReason::ReversePurchase, reward.taken, &present.now());
        let outcome = outcome.map_err(|refused| card_refusal(&loaded.row.id, refused))?;
        write_outcome(call.store, present, &mut loaded, outcome, Some((&members, &mut call.ids)))?;
        changed = Some(loaded);
    }
    if points == 0 {
        return Ok((0, Json::Null));
    }
    // The changed card is not stored yet.
    let mut loaded = match changed.filter(|loaded| loaded.row.id == purchase_record.card_id()) {
        Some(loaded) => loaded,
        None => load_card(call, purchase_record.card_id(), &lots)?,
    };
    let outcome = loaded.card.refund(&spent, points, &present.now());
    let outcome = outcome.map_err(|refused| card_refusal(&loaded.row.id, refused))?;
    let transactions = write_outcome(call.store, present, &mut loaded, outcome, Some((&members, &mut call.ids)))?;
    Ok((points, transactions.into_iter().next().map(|row| row.id).into()))
}

/// Returns the points that the transaction of a card spent for a purchase or payment, by lot. Fails without the transaction: the points are
/// unknown then, and not zero.
pub fn find_spent_points(store: &Store<'_>, transaction: &str, owner: &str) -> Result<SpentPoints, Fault> {
    let row = store
        .document(TRANSACTION, transaction)?
        .ok_or_else(|| Fault(format!("the card transaction `{transaction}` of `{owner}` is missing")))?;
    let buckets = row.as_transaction().details().buckets();
    let part = |(lot, points)| LotPart { lot: Text::from(lot), points };
    let parts = buckets.map(|bucket| bucket.map(part)).collect::<Result<_, Fault>>()?;
    Ok(SpentPoints { parts, refunded: 0 })
}
