//! Decides whether one redeemable may be used, in the order of docs/spec/validation-rules.md#8; the first reason
//! counts.

use crate::decide::case::stored::IDENTIFIED;
use crate::decide::case::{Case, Offer};
use crate::decide::finding::Finding;
use crate::decide::items::Items;
use crate::decide::loyalty::check_card;
use crate::decide::rule_input::{RunningOrder, check_rules};
use crate::facts::{Known, credits_account, incentive_account};
use crate::model::discount::{GiftEffect, SHIPPING, UnitEffect, UnitOff};
use crate::model::offer_phase::OfferPhase;
use crate::model::redeemable::{Grant, IncentiveObject};
use crate::model::request::RequestedRedeemable;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::pricing::goods::{find_named, kind_of};
use crate::pricing::{Cart, bundles, count_bundles};
use crate::refusal::{Reason, Refusal};
use crate::rules::RequiredFacts;
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// Checks a redeemable against the running order. Findings are recorded even if it is refused.
#[inline]
pub fn check(
    case: &Case<'_>,
    redeemable: &RequestedRedeemable,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    check_readable(offer, running_order.items)?;
    check_terms(case, redeemable, offer, running_order, found)?;
    if offer.capped {
        check_caps(case, offer, found)?;
    }
    check_rules(case, offer, running_order, found)?;
    if offer.needs.meets(RequiredFacts::BUNDLE) {
        check_bundles(case, offer, running_order.cart, running_order.items, found)?;
    }
    check_free_goods(case, offer, running_order.items, found)
}

/// Refuses free units of goods that neither the catalogue nor a line of the order has.
pub fn check_free_goods(
    case: &Case<'_>,
    offer: &Offer<'_>,
    items: &Items<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let units = match &offer.incentive.grant {
        Grant::Discount(discount) => discount.units(),
        Grant::Gift(_) | Grant::Loyalty(_) => return Ok(()),
    };
    // More units of an order line need no catalogue, and shipping is not in the catalogue.
    let named = |unit: &&UnitOff| unit.effect != UnitEffect::AddSameItems && unit.unit_type != SHIPPING;
    for unit in units.iter().filter(named) {
        let mut missing = Vec::new();
        let goods = find_named(&unit.unit_type, kind_of(unit), case.facts, &mut |fact| missing.push(fact));
        let is_known = goods.sku.is_some() || goods.product.is_some() || !missing.is_empty();
        found.missing.append(&mut missing);
        let in_order =
            |object| items.order_lines().first(&GoodsRef::new(object, unit.unit_type.clone(), None)).is_some();
        if !is_known && ![GoodsObject::Sku, GoodsObject::Product].into_iter().any(in_order) {
            let details = format!("Cannot find product or SKU with id {}", unit.unit_type);
            return Err(Refusal::new(Reason::FreeGoodsNotFound, details));
        }
    }
    Ok(())
}

/// Refuses an offer that names a collection, or depends on goods, that cannot be read.
#[inline]
pub fn check_readable(offer: &Offer<'_>, items: &Items<'_>) -> Result<(), Refusal> {
    match items.unreadable.is_empty() {
        true => Ok(()),
        false => items.refusal_of(offer).map_or(Ok(()), Err),
    }
}

/// Checks everything but the rules.
pub fn check_terms(
    case: &Case<'_>,
    redeemable: &RequestedRedeemable,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let has_no_options = redeemable.credits.is_none() && redeemable.reward.is_none();
    if has_no_options && offer.terms.plain && offer.terms.cover(case.in_force_at()) {
        return Ok(());
    }
    let validity = check_validity(offer, case.in_force_at(), case.context.now, &case.zone);
    if offer.is_recurring()
        && validity.as_ref().err().is_none_or(|refusal| refusal.reason == Reason::VoucherNotActiveNow)
    {
        case.zone_use.set(true);
    }
    validity?;
    check_referrer(case, offer, found)?;
    check_quantity(case, offer, running_order, found)?;
    check_gift(case, redeemable, offer, running_order, found)?;
    check_card(case, redeemable, offer, running_order, found)
}

/// Checks that the customer can be identified, if units are counted per customer.
fn check_caps(case: &Case<'_>, offer: &Offer<'_>, found: &mut Finding) -> Result<(), Refusal> {
    let entries = || offer.scope().into_iter().flat_map(|scope| &scope.included);
    if !entries().flat_map(|entry| &entry.terms.caps).any(|cap| cap.kind.customer) {
        return Ok(());
    }
    found.missing.extend(case.request_customer.counted().unknown.clone().or_else(|| case.missing_claimed_customer()));
    if case.request_customer.is_identified() {
        return Ok(());
    }
    let details = format!("{IDENTIFIED} required to count discounted products of each customer");
    Err(Refusal::new(Reason::MissingCustomer, details))
}

/// Checks that every bundle of the rules is in the order at least once (docs/spec/calculation.md#8). A missing bundle
/// has no public key: it counts as a violated rule about the order. `[inferred]`
pub fn check_bundles(
    case: &Case<'_>,
    offer: &Offer<'_>,
    cart: &Cart,
    items: &Items<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    for rule in offer.rules.iter() {
        let Some(rules) = &rule.bundle else { continue };
        if !case.budget.spend(bundles::steps(rules, items.order_lines())) {
            return case.within_bounds();
        }
        let bundles = count_bundles(rules, items.order_lines(), cart);
        let fewest = found.bundles.as_ref().is_none_or(|known| bundles.quantity < known.quantity);
        let is_missing = bundles.quantity == 0;
        if fewest {
            found.bundles = Some(Box::new(bundles));
        }
        if is_missing {
            let refusal = Refusal::new(Reason::OrderRulesViolated, "The order does not hold the bundle of products");
            return Err(refusal.with_message(rule.message.as_deref()));
        }
    }
    Ok(())
}

fn refuse(reason: Reason, offer: &Offer<'_>) -> Refusal {
    Refusal::new(reason, offer.incentive.code.as_str())
}

/// Refuses a redeemable at the wrong time. A tier has one key for all reasons and its own texts
/// (docs/spec/validation-rules.md#10).
fn refuse_time(reason: Reason, offer: &Offer<'_>) -> Result<(), Refusal> {
    if offer.incentive.object == IncentiveObject::Voucher {
        return Err(refuse(reason, offer));
    }
    let (reason, state) = match reason {
        Reason::VoucherDisabled => (Reason::PromotionInactive, "disabled"),
        _ => (Reason::PromotionNotActiveNow, "not active now"),
    };
    let id = &offer.incentive.id;
    Err(Refusal::new(reason, format!("Promotion Tier with id: {id} is {state}.")))
}

/// Checks active flags first, then starts, then ends, then the recurring windows of the decision's instant; those of the
/// redeemable before the campaign's.
pub fn check_validity(offer: &Offer<'_>, in_force_at: Instant, now: Instant, zone: &TimeZone) -> Result<(), Refusal> {
    let campaign = offer.campaign.as_deref();
    match offer.incentive.phase(campaign, in_force_at) {
        OfferPhase::Disabled => refuse_time(Reason::VoucherDisabled, offer),
        OfferPhase::NotStarted(_) => refuse_time(Reason::VoucherNotActive, offer),
        OfferPhase::Ended => refuse_time(Reason::VoucherExpired, offer),
        OfferPhase::InForce if offer.incentive.validity_windows(campaign).any(|window| !window.recurs(now, zone)) => {
            refuse_time(Reason::VoucherNotActiveNow, offer)
        }
        OfferPhase::InForce => Ok(()),
    }
}

/// Refuses a referral code to the customer who passes it on (docs/spec/objects.md#9).
fn check_referrer(case: &Case<'_>, offer: &Offer<'_>, found: &mut Finding) -> Result<(), Refusal> {
    let Some(referrer) = offer.referrer() else { return Ok(()) };
    let customer = case.request_customer.customer.as_ref().and_then(|customer| customer.id.as_ref());
    if customer == Some(referrer) {
        return Err(refuse(Reason::ReferrerNotPermittedToRedeem, offer));
    }
    // Only the server may know the customer.
    found.missing.extend(case.request_customer.unknown.clone());
    Ok(())
}

fn check_quantity(
    case: &Case<'_>,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    if offer.incentive.quantity.is_none() {
        return Ok(());
    }
    let account = incentive_account(&offer.incentive);
    match running_order.usage.account_state(case, &account, offer.incentive.quantity) {
        Known::Is(account_state) if account_state.available() == Some(0) => {
            Err(refuse(Reason::QuantityExceeded, offer))
        }
        Known::Unknown => {
            found.missing.push(Text::from(account.as_str()));
            Ok(())
        }
        Known::Unreadable => Err(Refusal::unreadable("account", &offer.incentive.code)),
        Known::Is(_) | Known::Absent => Ok(()),
    }
}

fn check_gift(
    case: &Case<'_>,
    redeemable: &RequestedRedeemable,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let Grant::Gift(gift) = &offer.incentive.grant else {
        return match redeemable.credits {
            Some(_) => Err(refuse(Reason::InvalidGift, offer)),
            None => Ok(()),
        };
    };
    let account = credits_account(&offer.incentive.id);
    let quota = gift.credited_total().minor();
    let left = match running_order.usage.account_state(case, &account, Some(quota)) {
        // The account has a quota, so its available credits are known.
        Known::Is(account_state) => account_state.available().unwrap_or(0),
        // The balance is not readable, so nothing can be spent.
        Known::Absent | Known::Unreadable => 0,
        Known::Unknown => {
            found.missing.push(Text::from(account.as_str()));
            quota
        }
    };
    found.credits = Some(left);
    // Without a number at least one credit is requested.
    let requested = redeemable.credits.map_or(1, |credits| credits.minor());
    if left == 0 || requested > left {
        return Err(refuse(Reason::GiftAmountExceeded, offer));
    }
    if case.order.is_none() {
        let details = "An order is required when redeeming a GIFT_VOUCHER";
        return Err(Refusal::new(Reason::MissingOrder, details));
    }
    if running_order.cart.amount.is_none() && gift.effect == GiftEffect::ApplyToOrder {
        let details = "An order amount is required when redeeming a GIFT_VOUCHER";
        return Err(Refusal::new(Reason::MissingAmount, details));
    }
    Ok(())
}
