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
pub enum TakenReward {
    /// The voucher is deleted.
    Deleted,
    /// The voucher is the generic code of a campaign, which stays for all customers.
    Kept,
    /// The balance of the card is reduced.
    Lowered {
        /// The changed card.
        card: Box<Document>,
        /// Balance of the card.
        balance: i64,
    },
}

impl TakenReward {
    /// Returns the card with the reduced balance.
    pub fn card(&self) -> Option<&Document> {
        match self {
            TakenReward::Deleted | TakenReward::Kept => None,
            TakenReward::Lowered { card, .. } => Some(card),
        }
    }
}

/// Records the voucher that a redemption or a purchase bought; `added` are the units credited to an existing card.
pub fn keep(call: &mut Call<'_, '_>, id: &str, voucher: &Document, added: Option<u64>) -> Result<(), Fault> {
    let value = if added.is_some() { added } else { balance_of(call, voucher)? };
    let is_public = voucher.holder.is_none();
    let now_ms = call.now_ms();
    call.store.keep_bought_reward(id, BoughtVoucher { voucher, value, is_public }, now_ms);
    Ok(())
}

/// Returns the balance of a card; `None` for other vouchers.
fn balance_of(call: &Call<'_, '_>, voucher: &Document) -> Result<Option<u64>, Fault> {
    let Some(balance_kind) = kinds::of_card(voucher) else { return Ok(None) };
    let account = (balance_kind.account)(&voucher.id).to_string();
    let standing = call.store.account_balance(&account, call.now_ms())?;
    let left = balance_kind.loaded(voucher, call.context.now)?.map_or(Ok(0), |loaded| loaded.left(standing))?;
    Ok(Some(left.max(0).unsigned_abs()))
}

/// Takes rewards back; refuses all of them when one is used.
pub fn take_all(call: &mut Call<'_, '_>, rewards: &[RewardReturn]) -> Result<Vec<TakenReward>, CallError> {
    if rewards.iter().any(RewardReturn::is_used) {
        return Err(used().into());
    }
    rewards.iter().map(|reward| take(call, reward)).collect()
}

/// Takes a reward back as far as possible: a card loses the amount; a code is removed with its locks, regardless of its redemptions.
pub fn take(call: &mut Call<'_, '_>, reward: &RewardReturn) -> Result<TakenReward, CallError> {
    let Some(mut voucher) = call.store.document(VOUCHER.object, &reward.voucher_id)? else {
        return Ok(TakenReward::Deleted);
    };
    let Some(balance_kind) = kinds::of_card(&voucher) else {
        if voucher.holder.is_none() {
            return Ok(TakenReward::Kept);
        }
        deletion::remove(call, &voucher);
        return Ok(TakenReward::Deleted);
    };
    if reward.is_used() {
        let balance = balance_of(call, &voucher)?.map_or(Ok(0), amount::signed)?;
        return Ok(TakenReward::Lowered { card: Box::new(voucher), balance });
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
    adjustments::note(call, &voucher, format!("{}_REMOVAL", balance_kind.unit), [Json::Null, Json::Null], &members);
    Ok(TakenReward::Lowered { card: Box::new(voucher), balance })
}

/// Returns the error when nothing of a reward can be taken back.
pub fn used() -> ErrorBody {
    let details =
        "Nothing of the reward can be taken back: its code was redeemed or is locked, or its amount was spent";
    error(409, "reward_already_used", "Reward has already been used", details)
}
