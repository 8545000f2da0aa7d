//! Takes bought rewards back, for rollbacks, returns of orders and refunds of purchases.

use crate::domain::balances::adjustments;
use crate::domain::balances::adjustments::move_balance;
use crate::domain::balances::kinds;
use crate::domain::vouchers::deletion;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::store::amount;
use crate::store::document::Document;
use crate::store::loyalty::bought_rewards::BoughtVoucher;
use crate::store::sql::Fault;
use scrip::decide::order_return::reward_return::RewardReturn;
use scrip::points::Expiration;
use serde_json::{Value as Json, json};

/// Outcome for the voucher of a reward that is taken back.
pub enum ReturnedReward {
    /// The voucher is deleted.
    Deleted,
    /// The voucher is the generic code of a campaign, which stays for all customers.
    Retained,
    /// The balance of the card is reduced.
    Reduced {
        /// The changed card.
        card: Box<Document>,
        /// Balance of the card.
        balance: i64,
    },
}

impl ReturnedReward {
    /// Returns the card with the reduced balance.
    pub fn card(&self) -> Option<&Document> {
        match self {
            ReturnedReward::Deleted | ReturnedReward::Retained => None,
            ReturnedReward::Reduced { card, .. } => Some(card),
        }
    }
}

/// Records the voucher that a redemption or a purchase bought; `added` are the units credited to an existing card.
pub fn record_bought(call: &mut Call<'_, '_>, id: &str, voucher: &Document, added: Option<u64>) -> Result<(), Fault> {
    let value = if added.is_some() { added } else { find_balance(call, voucher)? };
    let is_public = voucher.holder.is_none();
    let now_ms = call.now_ms();
    call.store.insert_bought_reward(id, BoughtVoucher { voucher, value, is_public }, now_ms);
    Ok(())
}

/// Returns the balance of a card; `None` for other vouchers.
fn find_balance(call: &Call<'_, '_>, voucher: &Document) -> Result<Option<u64>, Fault> {
    let Some(balance_kind) = kinds::of_card(voucher) else { return Ok(None) };
    let account = (balance_kind.account)(&voucher.id).to_string();
    let account_balance = call.store.account_balance(&account, call.now_ms())?;
    let left = balance_kind
        .credited_total(voucher, call.context.now)?
        .map_or(Ok(0), |credited| credited.balance(account_balance))?;
    Ok(Some(left.max(0).unsigned_abs()))
}

/// Takes rewards back; refuses all of them when one is used.
pub fn return_all(call: &mut Call<'_, '_>, rewards: &[RewardReturn]) -> Result<Vec<ReturnedReward>, CallError> {
    if rewards.iter().any(RewardReturn::is_used) {
        return Err(already_used().into());
    }
    rewards.iter().map(|reward| return_reward(call, reward)).collect()
}

/// Takes a reward back as far as possible: a card loses the amount; a code is removed with its locks, regardless of its redemptions.
pub fn return_reward(call: &mut Call<'_, '_>, reward: &RewardReturn) -> Result<ReturnedReward, CallError> {
    let Some(mut voucher) = call.store.document(VOUCHER.object, &reward.voucher_id)? else {
        return Ok(ReturnedReward::Deleted);
    };
    let Some(balance_kind) = kinds::of_card(&voucher) else {
        if voucher.holder.is_none() {
            return Ok(ReturnedReward::Retained);
        }
        deletion::delete(call, &voucher);
        return Ok(ReturnedReward::Deleted);
    };
    if reward.is_used() {
        let balance = find_balance(call, &voucher)?.map_or(Ok(0), amount::signed)?;
        return Ok(ReturnedReward::Reduced { card: Box::new(voucher), balance });
    }
    let field = if balance_kind.block == "gift" { "amount" } else { "points" };
    let taken = amount::negated(amount::signed(reward.taken)?)?;
    let (total, balance) = move_balance(call, &mut voucher, balance_kind, taken, field, &Expiration::Never)?;
    call.touch(&mut voucher);
    call.store.update(VOUCHER.object, &voucher);
    let mut members = json!({
        "total": total, "balance": balance, "type": balance_kind.kind, "operation_type": "AUTOMATIC", "object": "balance",
        "related_object": { "type": "voucher", "id": voucher.id },
    });
    if let Some(members) = members.as_object_mut() {
        members.insert(field.into(), taken.into());
    }
    adjustments::record_balance_change(
        call,
        &voucher,
        format!("{}_REMOVAL", balance_kind.unit),
        [Json::Null, Json::Null],
        &members,
    );
    Ok(ReturnedReward::Reduced { card: Box::new(voucher), balance })
}

/// Returns the error when nothing of a reward can be taken back.
pub fn already_used() -> ErrorBody {
    let details =
        "Nothing of the reward can be taken back: its code was redeemed or is locked, or its amount was spent";
    error(409, "reward_already_used", "Reward has already been used", details)
}
