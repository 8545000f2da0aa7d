//! Checks the rules of a redeemable with the facts of a case, and maps a failed rule to its refusal. Rules:
//! docs/spec/validation-rules.md sections 4, 8 and 12.

mod answers;
mod counts;
mod groups;
mod offer_facts;
mod order;

use crate::decide::case::stored::IDENTIFIED;
use crate::decide::case::{CHANNEL, Case, Offer};
use crate::decide::finding::Finding;
pub use crate::decide::items::Items;
pub use crate::decide::rule_input::offer_facts::{CheckedEffect, OfferFacts};
pub use crate::decide::rule_input::order::{PaidOrder, RunningOrder};
use crate::refusal::{Reason, Refusal};
use crate::rules::{Clock, FactKind, RequestFacts, RequiredFacts, RuleFailure, RuleInput};

/// Returns the facts of a case that do not depend on a redeemable.
pub fn request_facts<'c>(case: &'c Case<'c>) -> RequestFacts<'c> {
    let channel = &case.request.channel;
    RequestFacts {
        clock: Clock {
            now: case.context.now,
            zone: &case.zone,
            zone_use: Some(&case.zone_use),
            budget: Some(&case.budget),
        },
        customer: case.request_customer.customer.as_deref().map(|customer| &customer.metadata),
        identified: case.request_customer.is_identified(),
        order: case.order.as_deref().map(|order| &order.metadata),
        initial_amount: case.priced.cart.initial_amount,
        redemption: &case.request.metadata,
        channel: [Some(channel.id.as_str()).filter(|id| !id.is_empty()), channel.user.as_deref()],
    }
}

/// Checks every rule of an offer on the running order; the refusal names the one that fails.
#[inline]
pub fn check_rules(
    case: &Case<'_>,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    match offer.rules.is_empty() {
        true => Ok(()),
        false => check_with(OfferFacts::new(case, Some(offer), running_order), found),
    }
}

/// Checks the rules that depend on the order after the redeemable itself.
pub fn check_rules_after(
    case: &Case<'_>,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    effect: CheckedEffect<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let view = OfferFacts {
        effect: Some(effect),
        // A redeemable that takes no points has paid none.
        paid: found.paid.unwrap_or(0),
        ..OfferFacts::new(case, Some(offer), running_order)
    };
    check_with(view, found)
}

#[inline]
fn check_with(view: OfferFacts<'_>, found: &mut Finding) -> Result<(), Refusal> {
    let mut verdict = Ok(());
    let input = view.input(view.case.passes);
    for rule in view.offer.map_or(&[][..], |offer| &offer.rules) {
        if rule.needs.meets(RequiredFacts::CUSTOMER) {
            found
                .missing
                .extend(view.case.request_customer.unknown.clone().or_else(|| view.case.missing_claimed_customer()));
        }
        if rule.needs.meets(RequiredFacts::CHANNEL) && !view.case.facts.knows_channel() {
            found.missing.push(CHANNEL.into());
        }
        let checked = match view.effect {
            Some(_) => rule.check_after(&input),
            None => rule.check(&input),
        };
        if let Err(failure) = checked {
            verdict = Err(violated(&view, failure, &input));
            break;
        }
    }
    if let Some(unreadable) = view.unreadable.take() {
        verdict = Err(unreadable);
    }
    // A customer who is not new meets fewer conditions: then the rules are violated, or another test is the first that fails.
    found.missing.extend(view.missing_customer());
    found.withheld |= verdict.is_err() && view.is_withheld();
    let items = view.running_order.visible_items();
    if !items.missing().is_empty() {
        found.missing.extend_from_slice(items.missing());
    }
    let mut missing = view.into_missing();
    if !missing.is_empty() {
        found.missing.append(&mut missing);
    }
    verdict
}

/// Returns the refusal for a failed rule (docs/spec/validation-rules.md#8). Missing input of the rule comes before the
/// result of its tests.
#[cold]
fn violated(view: &OfferFacts<'_>, failure: RuleFailure<'_>, input: &RuleInput<'_>) -> Refusal {
    let RuleFailure { rule, outermost } = failure;
    let trace = view.case.request.expand.trace;
    let failing_test = (trace || failure.is_refined()).then(|| failure.failing_test(input));
    let leaf = failing_test.as_ref().map_or(outermost, |failing_test| failing_test.leaf);
    let needs = rule.needs;
    let test = leaf.map(|leaf| &leaf.test);
    let facts = |required: RequiredFacts| test.is_some_and(|test| test.name.needs.meets(required));
    let counts_customer =
        test.is_some_and(|test| matches!(test.name.kind, FactKind::Count(..)) && facts(RequiredFacts::CUSTOMER));
    let missing = if input.customer.is_none() && needs.meets(RequiredFacts::CUSTOMER) {
        Some((Reason::MissingCustomer, "Customer is"))
    } else if !input.identified && counts_customer {
        Some((Reason::MissingCustomer, IDENTIFIED))
    } else if input.order.is_none() && needs.meets(RequiredFacts::ORDER) {
        Some((Reason::MissingOrder, "An order is"))
    } else if input.items.is_empty() && facts(RequiredFacts::LINES) {
        Some((Reason::MissingOrderItems, "Order items are"))
    } else if view.running_order.visible_cart().amount.is_none() && facts(RequiredFacts::AMOUNT) {
        Some((Reason::MissingAmount, "An order amount is"))
    } else {
        None
    };
    if let Some((reason, required)) = missing {
        return Refusal::new(reason, format!("{required} required to validate rules"));
    }
    let reason = test.map_or(Reason::OrderRulesViolated, |test| test.name.refusal);
    let kind = view.offer.map_or("Redeemable", |offer| offer.incentive.kind_name(offer.campaign.as_deref()));
    let own = match &failing_test {
        Some(failing_test) => failing_test.message(),
        None => leaf.and_then(|leaf| leaf.message.as_deref()),
    };
    let unanswered = test.filter(|test| matches!(test.name.kind, FactKind::Earning(_))).map(|test| test.name.text);
    let refusal = Refusal::violated(reason, kind, &rule.id, unanswered).with_message(own.or(rule.message.as_deref()));
    match failing_test.filter(|_| trace).and_then(|failing_test| failing_test.explain(input)) {
        Some(why) => refusal.with_explanation(why),
        None => refusal,
    }
}
