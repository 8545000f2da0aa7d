//! Decides how it is told why each redeemable was applied, left out or refused, and to whom how much of it. It must not
//! know how a verdict comes about.
//!
//! Ours, on `options.expand: ["trace"]`. Server keys read everything. A page reads what the shopper may know: amounts
//! and units that are missing. What `decide/hidden` keeps from it reads as an unknown code does.

use crate::decide::validate::Evaluated;
use crate::model::stacking::StackingRules;
use crate::pricing::Gain;
use crate::refusal::{Act, Change, Reason, Refusal, Skip, Why};
use crate::shape::shape;
use crate::shape::{AMOUNT, COUNT, KEY, Kind, TEXTS, may, must};
use crate::stacking::Outcome;
use crate::wire::request::OBJECT;
use crate::wire::writer::Writer;

/// What would have to change.
pub const CHANGE: Kind = shape!(
    "Change",
    "What would have to change: `by` so many units or minor units, `of` what",
    &[
        must("act", Kind::Text).says("What to do: more, less, add, …"),
        may("by", COUNT).says("By so many units or minor units"),
        may("of", Kind::Text).says("Of what"),
        must("text", Kind::Text).says("The same as a sentence"),
    ]
);

/// Why one redeemable was applied, left out or refused.
pub const TRACE: Kind = shape!(
    "Trace",
    "Why one redeemable was applied, left out or refused; a page reads less than a server",
    &[
        may("id", KEY).says("As it was asked for"),
        may("object", OBJECT),
        must("verdict", Kind::OneOf(&["APPLIED", "SKIPPED", "REFUSED"])).says("What became of it"),
        may("amount", AMOUNT).says("Of what applied: what it took off"),
        may("order_amount", AMOUNT).says("Of it, off the order as a whole"),
        may(
            "lines",
            Kind::List(
                &Kind::Object(&[
                    must("index", COUNT).says("The place of the line"),
                    must("amount", AMOUNT).says("What was taken off it")
                ]),
                0,
                usize::MAX
            )
        )
        .says("Of it, off each line"),
        may("key", Kind::Text).says("Of what did not: why"),
        may("message", Kind::Text),
        may("details", Kind::Text),
        may("custom_message", Kind::Text).says("The words of the rule's author"),
        may("limit", COUNT).says("The limit that was reached"),
        may("change", CHANGE).says("What would change it, as far as a shopper may know"),
        may("rule", RULE).says("The test that refused"),
    ]
);

/// The test that refused.
const RULE: Kind = Kind::Object(&[
    must("id", KEY),
    must("test", Kind::Text).says("Its key within the rule"),
    must("name", Kind::Text).says("The name of the rule"),
    may("property", Kind::Text).says("What of it was looked at"),
    may("operator", Kind::Text).says("How it was compared"),
    must("wanted", TEXTS).says("With what"),
    may("found", Kind::Text).says("What there was"),
    may("change", CHANGE).says("What would change it"),
]);

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Everything, to whoever has a server's key.
    Full,
    /// What a shopper may know.
    Public,
}

impl Level {
    /// How much whoever asked is told.
    pub fn of(evaluated: &Evaluated<'_>) -> Level {
        if evaluated.request.channel.is_page() { Level::Public } else { Level::Full }
    }
}

/// Writes the trace of a decision as the next value: one entry for every redeemable, in the order of trying.
pub fn put_trace(out: &mut Writer, evaluated: &Evaluated<'_>, level: Level) {
    out.list(|out| {
        for step in &evaluated.walk.steps {
            out.item().object(|out| {
                if let Some(redeemable) = evaluated.redeemable(step) {
                    out.put_text("id", &redeemable.id);
                    out.put_word("object", redeemable.object.name());
                }
                match &step.outcome {
                    Outcome::Applied(gain) => put_applied(out, gain),
                    Outcome::Skipped(skip) => put_skipped(out, *skip, &evaluated.stacking),
                    Outcome::Refused(refusal) => put_refused(out, refusal, level),
                }
            });
        }
    });
}

fn put_applied(out: &mut Writer, gain: &Gain) {
    out.put_word("verdict", "APPLIED");
    out.money_if("amount", gain.total());
    out.money_if("order_amount", gain.order);
    out.member("lines").list(|out| {
        for (place, off) in gain.each_off() {
            out.item().object(|out| {
                out.put_number("index", u64::try_from(place).unwrap_or(0));
                out.put_number("amount", off.minor());
            });
        }
    });
}

fn put_skipped(out: &mut Writer, skip: Skip, rules: &StackingRules) {
    out.put_word("verdict", "SKIPPED");
    put_reason(out, skip.key(), skip.message());
    out.number_if("limit", limit_of(skip, rules));
}

/// The limit that was reached.
#[inline(never)]
fn limit_of(skip: Skip, rules: &StackingRules) -> Option<u64> {
    match skip {
        Skip::Limit => Some(rules.applicable_redeemables_limit),
        Skip::CategoryLimit => rules.applicable_redeemables_per_category_limit,
        Skip::ExclusiveLimit => Some(rules.applicable_exclusive_redeemables_limit),
        Skip::ExclusiveCategoryLimit => rules.applicable_exclusive_redeemables_per_category_limit,
        _ => None,
    }
}

fn put_refused(out: &mut Writer, refusal: &Refusal, level: Level) {
    out.put_word("verdict", "REFUSED");
    let why = refusal.why();
    if level == Level::Full {
        put_reason(out, refusal.reason.key(), refusal.reason.message());
        out.put_text("details", &refusal.details());
        out.text_if("custom_message", refusal.custom());
        if let Some(why) = why {
            put_why(out.member("rule"), why);
        }
        return;
    }
    if refusal.reason == Reason::NotFound {
        return put_reason(out, "not_usable", "This code cannot be used");
    }
    put_reason(out, refusal.reason.key(), refusal.reason.message());
    out.text_if("custom_message", refusal.custom());
    let counted = why.filter(|why| why.name.starts_with("order."));
    let change =
        counted.and_then(|why| why.change.as_ref()).filter(|change| matches!(change.act, Act::More | Act::Less));
    if let Some(change) = change {
        // How much is missing may be said, not of what: the rule's goods are its own.
        put_change(out.member("change"), &Change { of: None, ..change.clone() });
    }
}

fn put_reason(out: &mut Writer, key: &str, message: &str) {
    out.put_text("key", key);
    out.put_text("message", message);
}

fn put_why(out: &mut Writer, why: &Why) {
    out.object(|out| {
        out.put_text("id", &why.rule);
        out.put_text("test", &why.test);
        out.put_text("name", why.name);
        out.text_if("property", why.property.as_ref());
        out.text_if("operator", Some(why.operator).filter(|operator| !operator.is_empty()));
        out.member("wanted").list(|out| {
            for wanted in &why.wanted {
                out.item().text(wanted);
            }
        });
        out.text_if("found", why.found.as_ref());
        if let Some(change) = &why.change {
            put_change(out.member("change"), change);
        }
    });
}

fn put_change(out: &mut Writer, change: &Change) {
    out.object(|out| {
        out.put_word("act", change.act.name());
        out.number_if("by", change.by);
        out.text_if("of", change.of.as_ref());
        out.put_text("text", &change.text());
    });
}
