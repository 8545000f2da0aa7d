//! Reads earning rules.
//!
//! docs/spec/loyalty.md#4.

use crate::facts::earning::{Earning, EarningEffect, EarningRule, RequiredTiers, Trigger};
use crate::points::CurrentPeriod;
use crate::points::limits::{Cooldown, TriggerLimits};
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::loyalty::card_definition::read_current_period;
use crate::wire::loyalty::points::{read_count, read_points, read_proportional};
use crate::wire::loyalty::program::STATES;
use crate::wire::loyalty::window::read_window;
use crate::wire::rules::read_rule;

#[derive(Clone, Copy, Default)]
enum EffectName {
    #[default]
    OrderPaid,
    CustomEvent,
    SegmentEntered,
}

const EVENTS: NameTable<EffectName> = &[
    ("customer.order.paid", EffectName::OrderPaid),
    ("customer.custom_event", EffectName::CustomEvent),
    ("customer.segment.entered", EffectName::SegmentEntered),
];

/// Returns the prefixes of the tests that an event supports (docs/spec/validation-rules.md#4.7).
fn contexts_of(effect: EffectName) -> &'static [&'static str] {
    match effect {
        EffectName::OrderPaid => &["customer.", "customer_segment", "member.", "order.", "product.", "sku."],
        EffectName::CustomEvent => &["customer.", "customer_segment", "member.", "custom_event."],
        EffectName::SegmentEntered => &["customer.", "customer_segment", "member."],
    }
}

/// Returns the prefixes of the tests that an event supports, by its name; none for an unknown event.
pub fn tests_of(event: &str) -> &'static [&'static str] {
    EVENTS.iter().find(|(known, _)| *known == event).map_or(&[], |(_, effect)| contexts_of(*effect))
}

fn contexts(trigger: &Trigger) -> &'static [&'static str] {
    contexts_of(match trigger {
        Trigger::OrderPaid => EffectName::OrderPaid,
        Trigger::CustomEvent(_) => EffectName::CustomEvent,
        Trigger::SegmentEntered(_) => EffectName::SegmentEntered,
    })
}

/// Reads an earning rule.
pub fn read_earning_rule(at: &JsonCursor<'_>) -> EarningRule {
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

fn read_trigger(at: &JsonCursor<'_>) -> Trigger {
    at.object();
    match at.need("event", |at| at.one_of(EVENTS)) {
        EffectName::OrderPaid => Trigger::OrderPaid,
        EffectName::CustomEvent => Trigger::CustomEvent(at.need("custom_event", |at| {
            at.object();
            at.need("schema_id", read::name)
        })),
        EffectName::SegmentEntered => Trigger::SegmentEntered(at.need("segment", read_id)),
    }
}

fn read_id(at: &JsonCursor<'_>) -> Text {
    at.object();
    at.need("id", read::name)
}

fn read_earning(at: &JsonCursor<'_>, trigger: &Trigger) -> Earning {
    // Its tests have the format of a validation rule.
    let rule = read_rule(at);
    rule.tests.each_leaf(&mut |leaf| {
        let name = leaf.test.name.text;
        if !contexts(trigger).iter().any(|prefix| name.starts_with(prefix)) {
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

fn read_tiers(at: &JsonCursor<'_>) -> Option<Vec<RequiredTiers>> {
    at.object();
    let any_of = at.need("type", |at| at.one_of(&[("NO_REQUIREMENTS", false), ("ANY_OF", true)]));
    let tiers = |at: &JsonCursor<'_>| {
        at.object();
        let structure_id = at.need("tier_structure_id", read::name);
        RequiredTiers { structure_id, tier_ids: at.need("tier_ids", read::texts) }
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
enum CalculationKind {
    #[default]
    Points,
    Proportional,
    Incentive,
}

const KINDS: NameTable<CalculationKind> = &[
    ("POINTS", CalculationKind::Points),
    ("POINTS_PROPORTIONAL", CalculationKind::Proportional),
    ("INCENTIVE", CalculationKind::Incentive),
];

fn read_effect(at: &JsonCursor<'_>) -> Option<EarningEffect> {
    at.object();
    let kind = at.need("type", |at| at.one_of(KINDS));
    let name = match kind {
        CalculationKind::Points => "points",
        CalculationKind::Proportional => "points_proportional",
        CalculationKind::Incentive => "incentive",
    };
    let Some(block) = at.get(name) else {
        at.missing(name);
        return None;
    };
    Some(match kind {
        CalculationKind::Points => EarningEffect::Points(read_points(&block)),
        CalculationKind::Proportional => EarningEffect::Points(read_proportional(&block)),
        CalculationKind::Incentive => EarningEffect::Incentive(read_id(&block)),
    })
}

#[derive(Clone, Copy, Default)]
enum EarningWindow {
    #[default]
    Hours,
    Days,
    Weeks,
    Months,
    Years,
}

const SPANS: NameTable<EarningWindow> = &[
    ("HOUR", EarningWindow::Hours),
    ("DAY", EarningWindow::Days),
    ("WEEK", EarningWindow::Weeks),
    ("MONTH", EarningWindow::Months),
    ("YEAR", EarningWindow::Years),
];

/// Reads the limits on how often it fires for one member; limits of reward purchases have an equal format.
pub fn read_limits(at: &JsonCursor<'_>) -> TriggerLimits {
    at.object();
    TriggerLimits {
        cooldown: at.option("cooldown", read_cooldown).flatten(),
        frequency: at.option("frequency", read_frequency).flatten(),
    }
}

fn read_cooldown(at: &JsonCursor<'_>) -> Option<Cooldown> {
    at.object();
    if !at.need("type", |at| at.one_of(&[("NO_COOLDOWN", false), ("FIXED_COOLDOWN", true)])) {
        return None;
    }
    let period = |at: &JsonCursor<'_>| {
        at.object();
        let (value, unit) = (at.need("value", read_count), at.need("unit", |at| at.one_of(SPANS)));
        Some(match unit {
            EarningWindow::Hours => Cooldown::Hours(value),
            EarningWindow::Days => Cooldown::Days(value),
            EarningWindow::Weeks => Cooldown::Weeks(value),
            EarningWindow::Months => Cooldown::Months(value),
            EarningWindow::Years => Cooldown::Years(value),
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

fn read_frequency(at: &JsonCursor<'_>) -> Option<(CurrentPeriod, u64)> {
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

fn read_frequency_limit(at: &JsonCursor<'_>) -> Option<(CurrentPeriod, u64)> {
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
