//! Decides which accounts an applied redeemable changes, and by how much. A redemption posts these amounts, a lock
//! holds them, and a rollback reverses them.
//!
//! docs/spec/calculation.md sections 12 and 14; docs/spec/validation-rules.md sections 4.5 and 4.6 define what is
//! counted.

use crate::decide::case::{Case, Offer};
use crate::decide::finding::Finding;
use crate::facts::{
    channel_account, channel_total_account, codes_account, credits_account, customer_account, customer_total_account,
    discounted_account, incentive_account, orders_account, points_account, points_spent_account, redeemed_account,
    rewarded_account, spent_account, stock_account, user_account, user_total_account,
};
use crate::ledger::AccountId;
use crate::model::redeemable::{Grant, IncentiveObject};
use crate::model::reward::RewardKind;
use crate::money::Money;

/// One movement of units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    /// The debited account, on which a lock holds the amount.
    pub debit: AccountId,
    /// The credited account; `None` for an amount that is only held, because it is counted elsewhere.
    pub credit: Option<AccountId>,
    /// The total that the debited account may ever give; `None` without a limit.
    pub quota: Option<u64>,
    /// The amount; 0 moves nothing.
    pub amount: u64,
}

impl Posting {
    fn free(debit: AccountId, credit: AccountId, amount: u64) -> Posting {
        Posting { debit, credit: Some(credit), quota: None, amount }
    }
}

/// Returns the gift credits in minor units, or the points, that an applied redeemable takes; `given` is its discount in
/// minor units.
pub fn spent_units(offer: &Offer<'_>, found: Option<&Finding>, given: u64) -> u64 {
    match offer.incentive.grant {
        Grant::Discount(_) => 0,
        Grant::Gift(_) => given,
        // A card that paid no points takes none.
        Grant::Loyalty(_) => found.and_then(|found| found.paid).unwrap_or(0),
    }
}

/// Returns the postings that a lock holds and a redemption spends. They are a redemption of the redeemable, gift
/// credits or points, stock or codes of a reward, and a redemption of the customer.
pub fn reserved_postings(
    offer: &Offer<'_>,
    found: Option<&Finding>,
    given: u64,
    customer_id: Option<&str>,
) -> Vec<Posting> {
    let incentive = &offer.incentive;
    let spent = spent_units(offer, found, given);
    let campaign = incentive.campaign_id.as_deref();
    let used = Posting {
        quota: incentive.quantity,
        ..Posting::free(incentive_account(incentive), redeemed_account(campaign), 1)
    };
    let mut postings = vec![used];
    match &incentive.grant {
        Grant::Discount(_) => {}
        Grant::Gift(gift) => postings.push(Posting {
            quota: Some(gift.credited_total().minor()),
            ..Posting::free(credits_account(&incentive.id), spent_account(campaign), spent)
        }),
        Grant::Loyalty(card) => postings.push(Posting {
            quota: Some(card.credited_total()),
            ..Posting::free(points_account(&incentive.id), points_spent_account(campaign), spent)
        }),
    }
    match offer.exchange.as_ref().map(|exchange| (&exchange.reward, &exchange.reward.kind)) {
        Some((reward, RewardKind::Material { .. })) => postings.push(Posting {
            quota: reward.stock,
            ..Posting::free(stock_account(&reward.id), rewarded_account(&reward.id), 1)
        }),
        Some((_, RewardKind::Campaign { campaign_id, .. })) => {
            let codes = found.and_then(|found| found.codes);
            let code =
                |codes| Posting { debit: codes_account(campaign_id), credit: None, quota: Some(codes), amount: 1 };
            postings.extend(codes.map(code));
        }
        Some((_, RewardKind::Coin(_))) | None => {}
    }
    if let Some(customer) = customer_id {
        let all = campaign.map_or_else(|| customer_total_account(customer), |id| customer_account(customer, id));
        postings.push(Posting::free(customer_account(customer, &incentive.id), all, 1));
    }
    postings
}

/// Returns the postings that a redemption counts in addition: the channel, and the campaign's budget, for an order of
/// this value. `counts_order` is `true` for the first redeemable of its campaign in the request: an order counts once
/// however many codes it has.
pub fn counted_postings(
    case: &Case<'_>,
    offer: &Offer<'_>,
    discount: u64,
    value: Money,
    counts_order: bool,
) -> Vec<Posting> {
    let value = value.minor();
    let mut postings = Vec::new();
    let channel = &case.request.channel.id;
    if !channel.is_empty() {
        let of = channel_account(channel, &offer.incentive.id);
        postings.push(Posting::free(of, channel_total_account(channel), 1));
    }
    if let Some(user) = &case.request.channel.user {
        postings.push(Posting::free(user_account(user, &offer.incentive.id), user_total_account(user), 1));
    }
    // A tier has its own totals (docs/spec/objects.md#7); the order counts for every tier of a request.
    if offer.incentive.object == IncentiveObject::PromotionTier {
        let tier = Some(offer.incentive.id.as_str());
        postings.push(Posting::free(orders_account(None), orders_account(tier), value));
        postings.push(Posting::free(discounted_account(None), discounted_account(tier), discount));
    }
    if let Some(campaign) = offer.incentive.campaign_id.as_deref() {
        let value = if counts_order { value } else { 0 };
        postings.push(Posting::free(orders_account(None), orders_account(Some(campaign)), value));
        postings.push(Posting::free(discounted_account(None), discounted_account(Some(campaign)), discount));
    }
    postings
}
