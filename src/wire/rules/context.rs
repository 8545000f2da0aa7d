//! Decides which types and contexts a validation rule may have when it is saved. It must not know what they change: an
//! answer never depends on them.
//!
//! validation-rules.md sections 1 and 7.

use crate::wire::at::At;

/// Contexts that stand for themselves.
const CONTEXTS: &[&str] = &[
    "global",
    "earning_rule.order.paid",
    "earning_rule.custom_event",
    "earning_rule.customer.segment.entered",
    "earning_rule.customer.tier.joined",
    "earning_rule.customer.tier.left",
    "earning_rule.customer.tier.upgraded",
    "earning_rule.customer.tier.downgraded",
    "earning_rule.customer.tier.prolonged",
    "campaign.gift_vouchers",
    "campaign.gift_vouchers.gift.apply_to_order",
    "campaign.gift_vouchers.gift.apply_to_items",
    "voucher.gift_voucher",
    "voucher.gift_voucher.gift.apply_to_order",
    "voucher.gift_voucher.gift.apply_to_items",
    "campaign.loyalty_program",
    "voucher.loyalty_card",
    "distribution.custom_event",
    "distribution.order.paid",
    "distribution.order.created",
    "distribution.order.canceled",
    "distribution.order.updated",
    "reward_assignment.pay_with_points",
];

/// What gives discounts; each is a context, and so is each with one of the effects.
const DISCOUNTS: &[&str] =
    &["campaign.discount_coupons", "campaign.referral_program", "campaign.promotion", "voucher.discount_voucher"];

const EFFECTS: &[&str] = &[
    "apply_to_order",
    "apply_to_items",
    "apply_to_items_proportionally",
    "apply_to_items_proportionally_by_quantity",
    "apply_to_items_by_quantity",
    "fixed.apply_to_items",
    "percent.apply_to_items",
];

const TYPES: &[(&str, ())] = &[("expression", ()), ("basic", ()), ("advanced", ()), ("complex", ())];

/// Refuses a `type` or a `context_type` that there is not.
pub fn check_kinds(at: &At<'_>) {
    at.option("type", |kind| kind.one_of(TYPES));
    at.option("context_type", |context| {
        let name = context.str();
        let discount = DISCOUNTS.iter().find_map(|prefix| name.strip_prefix(prefix));
        let effect = |rest: &str| rest.strip_prefix(".discount.").is_some_and(|effect| EFFECTS.contains(&effect));
        let known = CONTEXTS.contains(&name) || discount.is_some_and(|rest| rest.is_empty() || effect(rest));
        if !known {
            context.wrong("must be the name of a context");
        }
    });
}
