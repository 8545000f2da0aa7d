//! Decides the exchange of points of a loyalty card: the reward, its price, and whether the balance is sufficient.
//!
//! docs/spec/calculation.md#10.

use crate::decide::case::{Case, Offer};
use crate::decide::finding::Finding;
use crate::decide::rule_input::RunningOrder;
use crate::facts::{Known, codes_account, points_account, stock_account};
use crate::model::card::LoyaltyCard;
use crate::model::redeemable::{Grant, RedeemableTerms};
use crate::model::request::RequestedRedeemable;
use crate::model::reward::{Reward, RewardKind};
use crate::pricing::points::{PointsPaid, pay_with_points};
use crate::pricing::{Cart, Gain};
use crate::refusal::{Reason, Refusal};
use crate::text::Text;

/// Checks the reward, the holder of the card, and its points (docs/spec/validation-rules.md#8, step 8).
pub fn check_card(
    case: &Case<'_>,
    redeemable: &RequestedRedeemable,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let Grant::Loyalty(card) = &offer.incentive.grant else {
        let details = "A reward can only be exchanged for points of a LOYALTY_CARD";
        return match redeemable.reward {
            Some(_) => Err(Refusal::new(Reason::InvalidRedeemables, details)),
            None => Ok(()),
        };
    };
    let Some(requested) = &redeemable.reward else {
        return Err(Refusal::new(Reason::MissingReward, "A reward is required when redeeming a LOYALTY_CARD"));
    };
    check_holder(case, offer, found)?;
    let Some(exchange) = &offer.exchange else {
        return Err(Refusal::not_found("reward", &requested.id));
    };
    let left = find_available_points(case, &offer.incentive, card, running_order, found);
    found.points = Some(left);
    let price = match &exchange.reward.kind {
        // Without requested points a coin costs whole blocks, and the balance must have at least one.
        RewardKind::Coin(coin) => requested.points.unwrap_or(coin.points),
        // An assignment without points costs none.
        _ => exchange.assignment.points.unwrap_or(0),
    };
    if left == 0 || price > left {
        return Err(Refusal::new(Reason::LoyaltyCardPointsExceeded, offer.incentive.code.as_str()));
    }
    check_stock(case, &exchange.reward, running_order, found)?;
    if let RewardKind::Campaign { campaign_id, balance } = &exchange.reward.kind {
        // The reward needs a receiver.
        let Some(holder) = &offer.incentive.holder_id else {
            return Err(Refusal::new(Reason::MissingCustomer, "Customer is required to be rewarded"));
        };
        check_codes(case, campaign_id, holder, balance.is_some(), running_order, found)?;
    }
    if !matches!(exchange.reward.kind, RewardKind::Coin(_)) {
        found.paid = Some(price);
        return Ok(());
    }
    if case.order.is_none() {
        return Err(Refusal::new(Reason::MissingOrder, "An order is required when redeeming a LOYALTY_CARD"));
    }
    if running_order.cart.amount.is_none() {
        let details = "An order amount is required when redeeming a LOYALTY_CARD";
        return Err(Refusal::new(Reason::MissingAmount, details));
    }
    Ok(())
}

/// Checks that a request that names a customer names the holder. A request without a customer comes from a place where
/// the card is known, such as a till [inferred].
fn check_holder(case: &Case<'_>, offer: &Offer<'_>, found: &mut Finding) -> Result<(), Refusal> {
    let Some(customer) = &case.request_customer.customer else { return Ok(()) };
    if customer.id.is_some() && customer.id == offer.incentive.holder_id {
        return Ok(());
    }
    if let Some(unknown) = &case.request_customer.unknown {
        found.missing.push(unknown.clone());
        return Ok(());
    }
    Err(Refusal::new(Reason::NotTheHolder, offer.incentive.code.as_str()))
}

pub(super) fn find_available_points(
    case: &Case<'_>,
    voucher: &RedeemableTerms,
    card: &LoyaltyCard,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> u64 {
    let account = points_account(&voucher.id);
    match running_order.usage.account_state(case, &account, Some(card.credited_total())) {
        // The account has a quota, so its available points are known.
        Known::Is(account_state) => account_state.available().unwrap_or(0),
        // The balance is not readable, so nothing can be spent.
        Known::Absent | Known::Unreadable => 0,
        Known::Unknown => {
            found.missing.push(Text::from(account.as_str()));
            card.credited_total()
        }
    }
}

fn check_stock(
    case: &Case<'_>,
    reward: &Reward,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let account = stock_account(&reward.id);
    match running_order.usage.account_state(case, &account, reward.stock) {
        Known::Is(account_state) if account_state.available() == Some(0) => {
            Err(Refusal::new(Reason::RewardOutOfStock, "Reward stock is not available"))
        }
        Known::Unknown => {
            found.missing.push(Text::from(account.as_str()));
            Ok(())
        }
        Known::Absent | Known::Unreadable => Err(Refusal::unreadable("reward", &reward.id)),
        Known::Is(_) => Ok(()),
    }
}

/// Checks that the campaign of a code reward has codes left, unless the reward adds to the card of its holder.
fn check_codes(
    case: &Case<'_>,
    campaign_id: &Text,
    holder: &Text,
    adds: bool,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let account = codes_account(campaign_id);
    match case.facts.campaign(campaign_id) {
        Known::Is(_) => {}
        Known::Absent => return Err(Refusal::not_found("campaign", campaign_id)),
        Known::Unreadable => return Err(Refusal::unreadable("campaign", campaign_id)),
        Known::Unknown => {
            found.missing.push(Text::from(account.as_str()));
            return Ok(());
        }
    }
    if adds
        && (running_order.usage.has_card(campaign_id, holder)
            || case.facts.has_card(campaign_id, holder).found() == Some(true))
    {
        return Ok(());
    }
    let codes = match case.facts.free_codes(campaign_id, case.context.now) {
        Known::Is(None) => return Ok(()),
        Known::Is(codes) => codes,
        Known::Absent | Known::Unreadable => Some(0),
        Known::Unknown => {
            found.missing.push(Text::from(account.as_str()));
            return Ok(());
        }
    };
    found.codes = codes;
    match running_order.usage.account_state(case, &account, codes) {
        Known::Is(account_state) if account_state.available() == Some(0) => {
            Err(Refusal::new(Reason::NoCodeLeft, "Couldn't create new vouchers for publication"))
        }
        Known::Absent | Known::Unreadable => Err(Refusal::unreadable("campaign", campaign_id)),
        Known::Is(_) | Known::Unknown => Ok(()),
    }
}

/// Returns the gain of a card: money off the order for a coin, none for any other reward.
pub fn exchange(redeemable: Option<&RequestedRedeemable>, offer: &Offer<'_>, cart: &Cart, found: &mut Finding) -> Gain {
    let coin = match offer.exchange.as_ref().map(|exchange| &exchange.reward.kind) {
        Some(RewardKind::Coin(coin)) => coin,
        _ => return Gain::default(),
    };
    let requested = redeemable.and_then(|redeemable| redeemable.reward.as_ref()).and_then(|reward| reward.points);
    // A card whose balance was not found has no points.
    let PointsPaid { points, gain } = pay_with_points(coin, requested, found.points.unwrap_or(0), cart);
    found.paid = Some(points);
    gain
}
