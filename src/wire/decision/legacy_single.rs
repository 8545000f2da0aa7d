//! Writes the answers of the legacy operations, which try one redeemable: flat, with the voucher or the tier.
//!
//! docs/spec/objects.md#14; docs/spec/errors-and-auth.md#3.8.

use serde_json::{Map, Value};

use crate::decide::validate::{Evaluation, ValidationDecision};
use crate::id::Context;
use crate::model::discount::Discount;
use crate::model::redeemable::Grant;
use crate::pricing::Gain;
use crate::stacking::{ApplyOutcome, WalkStep};
use crate::wire::decision::{Steps, write_session};
use crate::wire::offer::write_discount;
use crate::wire::order::view::{AppliedScope, OrderView};
use crate::wire::reward::write_reward;
use crate::wire::writer::Writer;

/// A tier that was tried separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedTier {
    /// `true` if it applies.
    pub valid: bool,
    /// The hash that identifies the customer.
    pub tracking_id: Option<String>,
    /// The tier with its effect, as JSON.
    pub text: String,
}

/// The validation of one voucher, before the voucher's own fields are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleVoucherAnswer {
    /// `true` if it applies.
    pub valid: bool,
    /// The credits of a gift card that would be spent, in minor units.
    credits: Option<u64>,
    /// The other members, as JSON.
    members: Vec<(&'static str, String)>,
}

/// Returns the flat form of a validation of one voucher.
pub fn flat(validated: &ValidationDecision<'_>, context: &Context) -> SingleVoucherAnswer {
    let evaluated = &validated.evaluated;
    let step = evaluated.walk.steps.first();
    let mut flat = SingleVoucherAnswer { valid: evaluated.valid, credits: None, members: Vec::new() };
    if let Some(tracking_id) = &evaluated.tracking_id {
        flat.add("tracking_id", |out| out.text(tracking_id));
    }
    if let Some(session) = &validated.session {
        flat.add("session", |out| write_session(out, session));
    }
    if !evaluated.valid {
        let (reason, custom) = reason(step);
        flat.add("reason", |out| match reason {
            Some(reason) => out.text(reason),
            None => out.null(),
        });
        if let Some(message) = custom {
            flat.add("error", |out| out.object(|out| out.write_text("message", message)));
        }
        return flat;
    }
    let cart = &evaluated.walk.cart;
    if let Some(order) = evaluated.visible_order() {
        let view = OrderView::new(&order, &evaluated.priced, cart, AppliedScope::Everything);
        let view = OrderView { parties: evaluated.parties(), public: evaluated.public_goods(), ..view };
        flat.add("order", |out| view.write(out));
    }
    if let Some((step, gain)) = step.and_then(applied) {
        let steps = Steps::new(evaluated, context);
        flat.add("applicable_to", |out| steps.write_goods(out, step, gain, cart, false));
        flat.add("inapplicable_to", |out| steps.write_goods(out, step, gain, cart, true));
        flat.add_grant(evaluated, step, gain);
    }
    flat
}

impl SingleVoucherAnswer {
    /// Adds the id by which a visitor may be known from now on.
    pub fn track(&mut self, tracking_id: &str) {
        self.add("tracking_id", |out| out.text(tracking_id));
    }

    fn add(&mut self, name: &'static str, write: impl FnOnce(&mut Writer)) {
        self.members.push((name, Writer::record_of(write)));
    }

    fn add_grant(&mut self, evaluated: &Evaluation<'_>, step: &WalkStep, gain: &Gain) {
        if let Some((discount, scoped, is_dynamic)) = discount(evaluated, step) {
            return self.add("discount", |out| write_discount(out, discount, scoped, is_dynamic));
        }
        let Some(offer) = evaluated.offer(step.position) else { return };
        let found = evaluated.found.get(step.position);
        match &offer.incentive.grant {
            Grant::Discount(_) => {}
            Grant::Loyalty(_) => {
                // Without a price the reward costs nothing.
                let paid = found.and_then(|found| found.paid).unwrap_or(0);
                let left = found.and_then(|found| found.points).filter(|_| offer.exchange.is_none());
                self.add("loyalty", |out| out.object(|out| out.write_number("points_cost", left.unwrap_or(paid))));
                if let Some(exchange) = &offer.exchange {
                    self.add("reward", |out| write_reward(out, &exchange.reward, &exchange.assignment, paid));
                }
            }
            // An applied gain is within bounds.
            Grant::Gift(_) => self.credits = Some(gain.total().unwrap_or_default().minor()),
        }
    }

    /// Writes the answer; `voucher_json` is the voucher, if the caller may see it.
    pub fn print(&self, code: &str, voucher_json: Option<&Map<String, Value>>) -> Vec<u8> {
        let of_voucher = |name: &str| voucher_json.and_then(|voucher_json| voucher_json.get(name));
        let text = Writer::record_of(|out| {
            out.object(|out| {
                out.write_flag("valid", self.valid);
                match of_voucher("code") {
                    Some(code) => out.member("code").json_value(code),
                    None => out.write_text("code", code),
                }
                match of_voucher("metadata") {
                    Some(metadata) => out.member("metadata").json_value(metadata),
                    None => out.member("metadata").object(|_| ()),
                }
                self.members.iter().for_each(|(name, json)| out.write_raw(name, json));
                let details = ["campaign", "campaign_id", "start_date", "expiration_date"].into_iter();
                for name in details.filter(|_| self.valid) {
                    of_voucher(name).iter().for_each(|value| out.member(name).json_value(value));
                }
                if let Some(credits) = self.credits {
                    out.member("gift").object(|out| {
                        for name in ["amount", "balance", "effect"] {
                            let value = of_voucher("gift").and_then(|gift| gift.get(name));
                            value.iter().for_each(|value| out.member(name).json_value(value));
                        }
                        out.write_number("credits", credits);
                    });
                }
            });
        });
        text.into_bytes()
    }
}

/// Writes a tier that was tried: its fields, whether it applies, and its effect.
pub fn write_tried(
    validated: &ValidationDecision<'_>,
    context: &Context,
    voucher_json: &Map<String, Value>,
) -> TriedTier {
    const OWN_MEMBERS: [&str; 10] = [
        "valid",
        "tracking_id",
        "order",
        "applicable_to",
        "inapplicable_to",
        "discount",
        "discount_amount",
        "applied_discount_amount",
        "reason",
        "error",
    ];
    let evaluated = &validated.evaluated;
    let step = evaluated.walk.steps.first();
    let text = Writer::record_of(|out| {
        out.object(|out| {
            for (name, value) in voucher_json.iter().filter(|(name, _)| !OWN_MEMBERS.contains(&name.as_str())) {
                out.pair(name, |out| out.json_value(value));
            }
            out.write_flag("valid", evaluated.valid);
            out.text_if("tracking_id", evaluated.tracking_id.as_ref());
            if evaluated.valid {
                write_effect(out, evaluated, context, step);
            } else {
                let (reason, custom) = reason(step);
                out.text_or_null("reason", reason);
                if let Some(message) = custom {
                    out.member("error").object(|out| out.write_text("message", message));
                }
            }
        });
    });
    TriedTier { valid: evaluated.valid, tracking_id: evaluated.tracking_id.as_ref().map(ToString::to_string), text }
}

/// Writes the tiers that apply.
pub fn write_promotions(tiers: &[String], tracking_id: Option<&str>) -> Vec<u8> {
    let text = Writer::record_of(|out| {
        out.object(|out| {
            out.write_flag("valid", !tiers.is_empty());
            out.text_or_null("tracking_id", tracking_id);
            out.member("promotions").list(|out| tiers.iter().for_each(|tier| out.item().raw(tier)));
        });
    });
    text.into_bytes()
}

/// Writes the effect of a tier, which may be empty.
fn write_effect(out: &mut Writer, evaluated: &Evaluation<'_>, context: &Context, step: Option<&WalkStep>) {
    let applied = step.and_then(applied);
    let cart = &evaluated.walk.cart;
    let mut totals = [None, None];
    if let (Some((_, gain)), Some(order)) = (applied, evaluated.visible_order()) {
        let view = OrderView::new(&order, &evaluated.priced, cart, AppliedScope::Gain(gain));
        totals = view.discounts();
        OrderView { parties: evaluated.parties(), public: evaluated.public_goods(), ..view }.write(out.member("order"));
    }
    // A tier that was not applied has no discount.
    let [all, own] = totals.map(|total| total.unwrap_or_default().minor());
    out.write_number("discount_amount", all);
    out.write_number("applied_discount_amount", own);
    if let Some((step, gain)) = applied {
        Steps::new(evaluated, context).write_scope(out, step, gain, cart);
        if let Some((discount, scoped, is_dynamic)) = discount(evaluated, step) {
            write_discount(out.member("discount"), discount, scoped, is_dynamic);
        }
    }
}

/// Returns the discount of an applied redeemable on this order, whether it has a scope, and whether it has a formula.
fn discount<'e>(evaluated: &'e Evaluation<'_>, step: &WalkStep) -> Option<(&'e Discount, bool, bool)> {
    let offer = evaluated.offer(step.position)?;
    let Grant::Discount(discount) = &offer.incentive.grant else { return None };
    let resolved = evaluated.found.get(step.position).and_then(|found| found.resolved.as_deref());
    Some((resolved.unwrap_or(discount), offer.scope().is_some(), discount.is_dynamic()))
}

fn applied(step: &WalkStep) -> Option<(&WalkStep, &Gain)> {
    match &step.outcome {
        ApplyOutcome::Applied(gain) => Some((step, gain)),
        ApplyOutcome::Skipped(_) | ApplyOutcome::Refused(_) => None,
    }
}

/// Returns why a redeemable does not apply: the reason, and the custom message of the rule if there is one.
fn reason(step: Option<&WalkStep>) -> (Option<&'static str>, Option<&str>) {
    match step.map(|step| &step.outcome) {
        Some(ApplyOutcome::Refused(refusal)) => (Some(refusal.reason.message()), refusal.custom_message()),
        Some(ApplyOutcome::Skipped(skip)) => (Some(skip.message()), None),
        Some(ApplyOutcome::Applied(_)) | None => (None, None),
    }
}
