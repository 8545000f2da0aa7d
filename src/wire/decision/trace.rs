//! Writes the explanation of each redeemable's outcome, with fewer details for clients.
//!
//! Ours, on `options.expand: ["trace"]`. Server keys read everything. A client reads what the shopper may know: amounts
//! and units that are missing. A property that `decide/case/server_only` withholds reads as an unknown code does.

use crate::decide::validate::Evaluation;
use crate::model::stacking::StackingRules;
use crate::pricing::Gain;
use crate::refusal::{Reason, Refusal, Remedy, RemedyAction, RuleExplanation, SkipReason};
use crate::shape::shape;
use crate::shape::{AMOUNT, COUNT, FieldType, KEY, TEXTS, may, must};
use crate::stacking::ApplyOutcome;
use crate::wire::request::OBJECT;
use crate::wire::writer::Writer;

/// The change that would meet a test.
pub const CHANGE: FieldType = shape!(
    "Change",
    "Smallest change with which a test of a validation rule would be met.",
    &[
        must("act", FieldType::Text)
            .description("Kind of change: `more`, `less`, `add`, `remove`, `set`, `after` or `before`."),
        may("by", COUNT)
            .description("Size of the change, in minor units or units. Absent if the change is not a number."),
        may("of", FieldType::Text).description(
            "Product, value or moment that the change concerns. Absent if the change concerns the tested value itself."
        ),
        must("text", FieldType::Text).description("Description of the change, for people."),
    ]
);

/// The explanation of one redeemable's outcome.
pub const TRACE: FieldType = shape!(
    "Trace",
    "Explanation of the verdict on one redeemable. A client gets fewer details than a server.",
    &[
        may("id", KEY).description("Code or ID of the redeemable, as requested."),
        may("object", OBJECT).description("Type of the redeemable."),
        must("verdict", FieldType::OneOf(&["APPLIED", "SKIPPED", "REFUSED"]))
            .description("Result for the redeemable: `APPLIED`, `SKIPPED` without fault, or `REFUSED`."),
        may("amount", AMOUNT)
            .description("Discount of the redeemable in total, in minor units. Present for `APPLIED`."),
        may("order_amount", AMOUNT).description("Part of the discount on the whole order, in minor units."),
        may(
            "lines",
            FieldType::List(
                &FieldType::Object(&[
                    must("index", COUNT).description("Index of the item in the order, from 0."),
                    must("amount", AMOUNT).description("Discount on the item, in minor units.")
                ]),
                0,
                usize::MAX
            )
        )
        .description("Parts of the discount on single items. Present for `APPLIED`."),
        may("key", FieldType::Text).description("Machine-readable reason. Absent for `APPLIED`."),
        may("message", FieldType::Text).description("Short text of the reason, for people. Absent for `APPLIED`."),
        may("details", FieldType::Text).description("Longer text of the reason, for people. Absent for a client."),
        may("custom_message", FieldType::Text).description(
            "Text that the author of the validation rule wrote for customers. Absent if the rule has none."
        ),
        may("limit", COUNT)
            .description("Limit of the stacking rules that was reached. Present if a limit was the reason."),
        may("change", CHANGE)
            .description("Change with which the redeemable would apply, without the product. Present for a client."),
        may("rule", RULE).description("Validation rule and test that refused. Absent for a client."),
    ]
);

/// The failing test.
const RULE: FieldType = FieldType::Object(&[
    must("id", KEY).description("ID of the validation rule."),
    must("test", FieldType::Text)
        .description("Key of the test in the validation rule, with the keys of enclosing tests."),
    must("name", FieldType::Text).description("Name of the tested fact."),
    may("property", FieldType::Text)
        .description("Metadata property that was tested. Absent if the test is not about metadata."),
    may("operator", FieldType::Text).description("Operator that was not met. Absent if the test has none."),
    must("wanted", TEXTS).description("Values that the test compares with."),
    may("found", FieldType::Text).description("Value that the test found. Absent if there was none."),
    may("change", CHANGE).description("Change with which the test would be met. Absent if none is known."),
]);

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceLevel {
    /// All details, for servers.
    Full,
    /// The details that a customer may know.
    Public,
}

impl TraceLevel {
    /// Returns the level of detail for the caller.
    pub fn of(evaluated: &Evaluation<'_>) -> TraceLevel {
        if evaluated.request.channel.is_client() { TraceLevel::Public } else { TraceLevel::Full }
    }
}

/// Writes the trace of a decision as the next value: one entry for every redeemable, in the order of trying.
pub fn write_trace(out: &mut Writer, evaluated: &Evaluation<'_>, level: TraceLevel) {
    out.list(|out| {
        for step in &evaluated.walk.steps {
            out.item().object(|out| {
                if let Some(redeemable) = evaluated.redeemable(step) {
                    out.write_text("id", &redeemable.id);
                    out.write_constant("object", redeemable.object.name());
                }
                match &step.outcome {
                    ApplyOutcome::Applied(gain) => write_applied(out, gain),
                    ApplyOutcome::Skipped(skip) => write_skipped(out, *skip, &evaluated.stacking),
                    ApplyOutcome::Refused(refusal) => write_refused(out, refusal, level),
                }
            });
        }
    });
}

fn write_applied(out: &mut Writer, gain: &Gain) {
    out.write_constant("verdict", "APPLIED");
    out.money_if("amount", gain.total());
    out.money_if("order_amount", gain.order);
    out.member("lines").list(|out| {
        for (position, off) in gain.line_discounts() {
            out.item().object(|out| {
                out.write_number("index", u64::try_from(position).unwrap_or(0));
                out.write_number("amount", off.minor());
            });
        }
    });
}

fn write_skipped(out: &mut Writer, skip: SkipReason, rules: &StackingRules) {
    out.write_constant("verdict", "SKIPPED");
    write_reason(out, skip.key(), skip.message());
    out.number_if("limit", limit_of(skip, rules));
}

/// Returns the limit that was reached.
#[inline(never)]
fn limit_of(skip: SkipReason, rules: &StackingRules) -> Option<u64> {
    match skip {
        SkipReason::Limit => Some(rules.applicable_redeemables_limit),
        SkipReason::CategoryLimit => rules.applicable_redeemables_per_category_limit,
        SkipReason::ExclusiveLimit => Some(rules.applicable_exclusive_redeemables_limit),
        SkipReason::ExclusiveCategoryLimit => rules.applicable_exclusive_redeemables_per_category_limit,
        _ => None,
    }
}

fn write_refused(out: &mut Writer, refusal: &Refusal, level: TraceLevel) {
    out.write_constant("verdict", "REFUSED");
    let why = refusal.explanation();
    if level == TraceLevel::Full {
        write_reason(out, refusal.reason.key(), refusal.reason.message());
        out.write_text("details", &refusal.details());
        out.text_if("custom_message", refusal.custom_message());
        if let Some(why) = why {
            write_why(out.member("rule"), why);
        }
        return;
    }
    if refusal.reason == Reason::NotFound {
        return write_reason(out, "not_usable", "This code cannot be used");
    }
    write_reason(out, refusal.reason.key(), refusal.reason.message());
    out.text_if("custom_message", refusal.custom_message());
    let counted = why.filter(|why| why.name.starts_with("order."));
    let change = counted
        .and_then(|why| why.change.as_ref())
        .filter(|change| matches!(change.act, RemedyAction::More | RemedyAction::Less));
    if let Some(change) = change {
        // The missing amount may be disclosed, but not the goods: those of the rule are not public.
        write_change(out.member("change"), &Remedy { of: None, ..change.clone() });
    }
}

fn write_reason(out: &mut Writer, key: &str, message: &str) {
    out.write_text("key", key);
    out.write_text("message", message);
}

fn write_why(out: &mut Writer, why: &RuleExplanation) {
    out.object(|out| {
        out.write_text("id", &why.rule);
        out.write_text("test", &why.test);
        out.write_text("name", why.name);
        out.text_if("property", why.property.as_ref());
        out.text_if("operator", Some(why.operator).filter(|operator| !operator.is_empty()));
        out.member("wanted").list(|out| {
            for expected in &why.expected {
                out.item().text(expected);
            }
        });
        out.text_if("found", why.found.as_ref());
        if let Some(change) = &why.change {
            write_change(out.member("change"), change);
        }
    });
}

fn write_change(out: &mut Writer, change: &Remedy) {
    out.object(|out| {
        out.write_constant("act", change.act.name());
        out.number_if("by", change.by);
        out.text_if("of", change.of.as_ref());
        out.write_text("text", &change.text());
    });
}
