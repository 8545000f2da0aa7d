//! Decides again what redemptions grant on the remaining items of their order.

use std::sync::Arc;

use crate::decide::case::{Case, ResolvedName};
use crate::decide::judge::caps::cap_postings;
use crate::decide::order_return::booking::BudgetCount;
use crate::decide::postings::{Posting, counted_postings};
use crate::decide::return_order::facts_without::FactsWithout;
use crate::decide::validate::Evaluation;
use crate::facts::{Fact, Facts, discounted_account};
use crate::id::Context;
use crate::json::Node;
use crate::model::customer::Customer;
use crate::model::order::{Metadata, Order};
use crate::model::order_return::{RemainingDiscount, RemainingLineDiscount};
use crate::model::redeemable::Grant;
use crate::model::redemption::{SpentUnits, StoredRedemption};
use crate::model::request::{Channel, RedeemableObject, Redeemables, RequestedRedeemable, RequestedReward};
use crate::model::stacking::{ApplicationMode, StackingRules};
use crate::money::Money;
use crate::pricing::Gain;
use crate::refusal::{Reason, Refusal};
use crate::stacking::ApplyOutcome;
use crate::text::Text;

/// The decision on one redemption.
#[derive(Debug, Clone, PartialEq)]
pub enum RecheckOutcome {
    /// The remaining grant, with its counts in budgets and caps.
    Granted(RemainingDiscount, Vec<BudgetCount>),
    /// The redemption grants nothing any more.
    Lost(Refusal),
    /// Its redeemable was deleted.
    Deleted,
}

/// A redemption that is decided again.
pub struct RecheckedRedemption<'a> {
    /// The redemption.
    pub redemption: &'a StoredRedemption,
    /// The remaining spending of its card.
    pub spent: Option<SpentUnits>,
}

/// Returns whether the redeemable of a redemption still exists.
pub fn redeemable_exists(facts: &dyn Facts, redemption: &StoredRedemption) -> bool {
    let Some(redeemable) = redeemable(redemption, None) else { return false };
    match redeemable.object {
        RedeemableObject::PromotionTier => facts.tier(&redeemable.id).found().is_some(),
        RedeemableObject::Voucher | RedeemableObject::PromotionStack => facts.voucher(&redeemable.id).found().is_some(),
    }
}

/// Decides redemptions of one request on an order without their discounts, and puts the new discounts onto it.
pub fn decide_again(
    facts: &FactsWithout<'_>,
    parts: &[RecheckedRedemption<'_>],
    order: &mut Order,
    seed: [u8; 32],
) -> Result<Vec<RecheckOutcome>, Refusal> {
    let Some(first) = parts.first() else { return Ok(Vec::new()) };
    let request = request(parts, first.redemption, order);
    let context = Context { now: first.redemption.date, seed, first_number: None };
    let mut case = Case::new(facts, &request, &context);
    let partial = StackingRules {
        redeemables_application_mode: ApplicationMode::Partial,
        ..StackingRules::clone(&case.stacking)
    };
    case.stacking = Fact::Shared(Arc::new(partial));
    case.open()?;
    refuse_free_units(&mut case);
    let idle = refuse_idle_cards(&mut case, parts);
    let mut evaluated = Evaluation::of(case);
    evaluated.evaluate();
    evaluated.case.within_bounds()?;
    let line_ids: Vec<Option<Text>> = order.items.iter().map(|item| item.id.clone()).collect();
    let decided = |position: usize, part: &RecheckedRedemption<'_>| {
        if matches!(evaluated.resolved.get(position), Some(ResolvedName::Refused(refusal)) if refusal.reason == Reason::NotFound)
        {
            return RecheckOutcome::Deleted;
        }
        if idle.contains(&position) {
            return RecheckOutcome::Granted(
                RemainingDiscount { id: part.redemption.id.clone(), ..RemainingDiscount::default() },
                Vec::new(),
            );
        }
        let step = evaluated.walk.steps.iter().find(|step| step.position == position);
        match step.map(|step| &step.outcome) {
            Some(ApplyOutcome::Applied(gain)) => {
                let line = |position: usize, discount: Money| {
                    let line_id = line_ids.get(position).cloned().flatten()?;
                    Some(RemainingLineDiscount { line_id, discount, ..RemainingLineDiscount::default() })
                };
                let off = gain.line_discounts().filter(|(_, off)| !off.is_zero());
                let lines = off.filter_map(|(position, off)| line(position, off)).collect();
                // A redeemable without a discount of the order grants none of it.
                let discount = gain.order.unwrap_or_default();
                let remaining = RemainingDiscount { id: part.redemption.id.clone(), discount, lines };
                RecheckOutcome::Granted(remaining, budget_counts(&evaluated.case, position, gain, part.redemption))
            }
            Some(ApplyOutcome::Refused(refusal)) => RecheckOutcome::Lost(refusal.clone()),
            Some(ApplyOutcome::Skipped(skip)) => {
                RecheckOutcome::Lost(Refusal::new(Reason::NoApplicableRedeemables, skip.message()))
            }
            None => RecheckOutcome::Lost(Refusal::new(Reason::NoApplicableRedeemables, "")),
        }
    };
    let decided = parts.iter().enumerate().map(|(position, part)| decided(position, part)).collect();
    let cart = &evaluated.walk.cart;
    let discounts: Vec<Option<Money>> = cart.lines.iter().map(|line| line.discount).collect();
    order.discount_amount = cart.discount;
    for (item, discount) in order.items.iter_mut().zip(discounts) {
        item.discount_amount = discount;
    }
    Ok(decided)
}

/// Refuses the redeemables that give free units. The remaining order has none of their free units, so a unit that they
/// would make free now is a paid one. Other redeemables then see all units.
fn refuse_free_units(case: &mut Case<'_>) {
    for resolved in &mut case.resolved {
        let ResolvedName::Offer(offer) = &*resolved else { continue };
        let gives_units = matches!(&offer.incentive.grant, Grant::Discount(discount) if !discount.units().is_empty());
        if gives_units {
            *resolved = ResolvedName::Refused(Refusal::new(Reason::FreeUnitsNotRechecked, ""));
        }
    }
}

/// Refuses the cards that spend nothing, and returns their positions. Without an amount they would pay the whole order
/// now, with no debit on the card.
fn refuse_idle_cards(case: &mut Case<'_>, parts: &[RecheckedRedemption<'_>]) -> Vec<usize> {
    let mut idle = Vec::new();
    for (position, (resolved, part)) in case.resolved.iter_mut().zip(parts).enumerate() {
        let ResolvedName::Offer(offer) = &*resolved else { continue };
        let is_card = matches!(offer.incentive.grant, Grant::Gift(_) | Grant::Loyalty(_));
        if is_card && part.spent.is_none_or(|spent| spent.amount() == 0) {
            *resolved = ResolvedName::Refused(Refusal::new(Reason::NoApplicableRedeemables, ""));
            idle.push(position);
        }
    }
    idle
}

/// Returns the counts of a redemption in budgets and in caps of units.
fn budget_counts(case: &Case<'_>, position: usize, gain: &Gain, redemption: &StoredRedemption) -> Vec<BudgetCount> {
    let Some(offer) = case.offer(position) else { return Vec::new() };
    let discount = case.budget.checked(gain.total()).minor();
    let mut postings = counted_postings(case, offer, discount, Money::ZERO, false);
    postings.retain(|posting| posting.debit == discounted_account(None));
    postings.extend(cap_postings(case, position, gain, redemption.customer_id.as_deref()));
    let count = |one: Posting| Some(BudgetCount { debit: one.debit, credit: one.credit?, amount: one.amount });
    postings.into_iter().filter_map(count).collect()
}

fn request(parts: &[RecheckedRedemption<'_>], first: &StoredRedemption, order: &Order) -> Redeemables {
    let member = |name: &str| match first.document.get(name) {
        Some(Node::Object(members)) => Metadata::of(members),
        _ => Metadata::default(),
    };
    let channel = member("channel").get("channel_id").and_then(Node::as_str).map(Text::from);
    let customer = first.customer_id.clone().map(|id| Customer { id: Some(id), ..Customer::default() });
    // The stored order is not loaded: only the remaining order counts.
    let order =
        Order { id: None, source_id: None, returns: Vec::new(), redemptions: Metadata::default(), ..order.clone() };
    Redeemables {
        redeemables: parts.iter().filter_map(|part| redeemable(part.redemption, part.spent)).collect(),
        customer,
        order: Some(order),
        metadata: member("metadata"),
        channel: Channel { id: channel.unwrap_or_default(), ..Channel::default() },
        ..Redeemables::default()
    }
}

/// Returns the redeemable of a redemption, as a request names it.
fn redeemable(redemption: &StoredRedemption, spent: Option<SpentUnits>) -> Option<RequestedRedeemable> {
    let id = redemption.voucher.as_ref().map(|voucher| voucher.id.clone()).or_else(|| redemption.redeemed.clone())?;
    let object = match redemption.voucher {
        Some(_) => RedeemableObject::Voucher,
        None => RedeemableObject::PromotionTier,
    };
    let credits = match spent {
        Some(SpentUnits::Credits(credits)) => Money::of(credits),
        Some(SpentUnits::Points(_)) | None => None,
    };
    let points = match spent {
        Some(SpentUnits::Points(points)) => Some(points),
        Some(SpentUnits::Credits(_)) | None => None,
    };
    let reward = redemption.document.get("reward").and_then(|reward| reward.get("id")).and_then(Node::as_str);
    let reward = reward.map(|id| RequestedReward { id: id.into(), points });
    Some(RequestedRedeemable { object, id, credits, reward })
}
