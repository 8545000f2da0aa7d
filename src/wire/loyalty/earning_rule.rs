//! Decides how an earning rule is read. It must not know what is earned.
//!
//! loyalty-v2.md section 4.

use crate::facts::earning::{Earning, EarningRule, Effect, Tiers, Trigger};
use crate::points::CurrentPeriod;
use crate::points::limits::{Cooldown, TriggerLimits};
use crate::text::Text;
use crate::wire::cursor::{Cursor, Words, read};
use crate::wire::loyalty::card_definition::read_current_period;
use crate::wire::loyalty::points::{read_count, read_points, read_proportional};
use crate::wire::loyalty::program::STATES;
use crate::wire::loyalty::window::read_window;
use crate::wire::rules::read_rule;

#[derive(Clone, Copy, Default)]
enum Word {
    #[default]
    OrderPaid,
    CustomEvent,
    SegmentEntered,
}

const EVENTS: Words<Word> = &[
    ("customer.order.paid", Word::OrderPaid),
    ("customer.custom_event", Word::CustomEvent),
    ("customer.segment.entered", Word::SegmentEntered),
];

/// Which tests look at what there is when something happens (validation-rules.md section 5): the beginnings of their names.
fn looked_at(word: Word) -> &'static [&'static str] {
    match word {
        Word::OrderPaid => &["customer.", "customer_segment", "member.", "order.", "product.", "sku."],
        Word::CustomEvent => &["customer.", "customer_segment", "member.", "custom_event."],
        Word::SegmentEntered => &["customer.", "customer_segment", "member."],
    }
}

/// The same by the word for what happens; no test looks at what never does.
pub fn tests_of(event: &str) -> &'static [&'static str] {
    EVENTS.iter().find(|(known, _)| *known == event).map_or(&[], |(_, word)| looked_at(*word))
}

fn contexts(trigger: &Trigger) -> &'static [&'static str] {
    looked_at(match trigger {
        Trigger::OrderPaid => Word::OrderPaid,
        Trigger::CustomEvent(_) => Word::CustomEvent,
        Trigger::SegmentEntered(_) => Word::SegmentEntered,
    })
}

/// Reads an earning rule.
pub fn read_earning_rule(at: &Cursor<'_>) -> EarningRule {
    at.object();
    let trigger = at.need("trigger", read_trigger);
    let mut earnings = Vec::new();
    match at.get("earnings") {
        None => at.missing("earnings"),
        Some(all) => earnings.extend(all.items().map(|at| read_earning(&at, &trigger))),
    }
    EarningRule {
        id: at.need("id", read::name),
        is_active: at.need("status", |at| at.one_of(STATES)),
        trigger,
        earnings,
        validity: read_window(at),
        limits: at.option("trigger_limits", read_limits).unwrap_or_default(),
    }
}

fn read_trigger(at: &Cursor<'_>) -> Trigger {
    at.object();
    match at.need("event", |at| at.one_of(EVENTS)) {
        Word::OrderPaid => Trigger::OrderPaid,
        Word::CustomEvent => Trigger::CustomEvent(at.need("custom_event", |at| {
            at.object();
            at.need("schema_id", read::name)
        })),
        Word::SegmentEntered => Trigger::SegmentEntered(at.need("segment", read_id)),
    }
}

fn read_id(at: &Cursor<'_>) -> Text {
    at.object();
    at.need("id", read::name)
}

fn read_earning(at: &Cursor<'_>, trigger: &Trigger) -> Earning {
    // Its tests stand where those of a validation rule do.
    let rule = read_rule(at);
    rule.tests.each_leaf(&mut |leaf| {
        let name = leaf.test.name.text;
        if !contexts(trigger).iter().any(|begin| name.starts_with(begin)) {
            at.need("rules", |at| at.problem("must look at what there is when it is asked"));
        }
    });
    let effects = match at.get("effects") {
        Some(all) => all.items().filter_map(|at| read_effect(&at)).collect(),
        None => {
            at.missing("effects");
            Vec::new()
        }
    };
    Earning { id: at.need("id", read::name), rule, tiers: at.option("tier_rules", read_tiers).flatten(), effects }
}

fn read_tiers(at: &Cursor<'_>) -> Option<Vec<Tiers>> {
    at.object();
    let any_of = at.need("type", |at| at.one_of(&[("NO_REQUIREMENTS", false), ("ANY_OF", true)]));
    let tiers = |at: &Cursor<'_>| {
        at.object();
        let structure_id = at.need("tier_structure_id", read::name);
        Tiers { structure_id, tier_ids: at.need("tier_ids", read::texts) }
    };
    any_of.then(|| match at.get("any_of") {
        Some(all) => all.items().map(|at| tiers(&at)).collect(),
        None => {
            at.missing("any_of");
            Vec::new()
        }
    })
}

#[derive(Clone, Copy, Default)]
enum Kind {
    #[default]
    Points,
    Proportional,
    Incentive,
}

const KINDS: Words<Kind> =
    &[("POINTS", Kind::Points), ("POINTS_PROPORTIONAL", Kind::Proportional), ("INCENTIVE", Kind::Incentive)];

fn read_effect(at: &Cursor<'_>) -> Option<Effect> {
    at.object();
    let (name, read): (&str, fn(&Cursor<'_>) -> Effect) = match at.need("type", |at| at.one_of(KINDS)) {
        Kind::Points => ("points", |at| Effect::Points(read_points(at))),
        Kind::Proportional => ("points_proportional", |at| Effect::Points(read_proportional(at))),
        Kind::Incentive => ("incentive", |at| Effect::Incentive(read_id(at))),
    };
    let Some(block) = at.get(name) else {
        at.missing(name);
        return None;
    };
    Some(read(&block))
}

#[derive(Clone, Copy, Default)]
enum Span {
    #[default]
    Hours,
    Days,
    Weeks,
    Months,
    Years,
}

const SPANS: Words<Span> = &[
    ("HOUR", Span::Hours),
    ("DAY", Span::Days),
    ("WEEK", Span::Weeks),
    ("MONTH", Span::Months),
    ("YEAR", Span::Years),
];

/// Reads how often something acts for one member; purchases of rewards are limited in the same words.
pub fn read_limits(at: &Cursor<'_>) -> TriggerLimits {
    at.object();
    TriggerLimits {
        cooldown: at.option("cooldown", read_cooldown).flatten(),
        frequency: at.option("frequency", read_frequency).flatten(),
    }
}

fn read_cooldown(at: &Cursor<'_>) -> Option<Cooldown> {
    at.object();
    if !at.need("type", |at| at.one_of(&[("NO_COOLDOWN", false), ("FIXED_COOLDOWN", true)])) {
        return None;
    }
    let period = |at: &Cursor<'_>| {
        at.object();
        let (value, unit) = (at.need("value", read_count), at.need("unit", |at| at.one_of(SPANS)));
        Some(match unit {
            Span::Hours => Cooldown::Hours(value),
            Span::Days => Cooldown::Days(value),
            Span::Weeks => Cooldown::Weeks(value),
            Span::Months => Cooldown::Months(value),
            Span::Years => Cooldown::Years(value),
        })
    };
    let Some(fixed) = at.get("fixed_cooldown") else {
        at.missing("fixed_cooldown");
        return None;
    };
    fixed.object();
    let Some(of) = fixed.get("period") else {
        fixed.missing("period");
        return None;
    };
    period(&of)
}

fn read_frequency(at: &Cursor<'_>) -> Option<(CurrentPeriod, u64)> {
    at.object();
    if !at.need("type", |at| at.one_of(&[("NO_LIMIT", false), ("LIMITED", true)])) {
        return None;
    }
    let limits = at.get("limits");
    if limits.is_none() {
        at.missing("limits");
    }
    let limits = limits?;
    let mut all = limits.items();
    let first = all.next().and_then(|at| read_frequency_limit(&at));
    if all.next().is_some() {
        limits.wrong("must NOT have more than 1 items");
    }
    first
}

fn read_frequency_limit(at: &Cursor<'_>) -> Option<(CurrentPeriod, u64)> {
    at.object();
    at.need("type", |at| at.one_of(&[("TIME_BASED", ())]));
    let most = at.need("triggers", |at| {
        at.object();
        at.need("max", read::whole_number)
    });
    let Some(period) = at.get("period") else {
        at.missing("period");
        return None;
    };
    Some((read_current_period(&period), most))
}
