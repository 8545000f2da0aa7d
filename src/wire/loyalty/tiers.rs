//! Reads tier structures and tiers. Also reads and writes tier states of members.
//!
//! Structures are read in the stored format, which is the older one of the API. docs/spec/loyalty.md#6.

use serde_json::{Value, json};

use crate::tiers::{
    Downgrade, GracePeriod, LoyaltyTier, TierChangeKind, TierExpiration, TierFacts, TierMeasure, TierPosition,
    TierState, TierStructure, TrackingPeriod, TrackingUnit,
};
use crate::time::Instant;
use crate::wire::cursor::{JsonCursor, NameTable, name_of, read};
use crate::wire::loyalty::expiration::{
    EXPIRATION_TYPES, ExpirationType, read_count, read_dates, read_period, read_sliding,
};

const MEASURES: NameTable<bool> = &[("POINT_BALANCE", false), ("POINT_EARNED", true)];
const CHANGES: NameTable<bool> = &[("IMMEDIATELY", true), ("NEXT_TRACKING_PERIOD", false)];
const UNITS: NameTable<TrackingUnit> = &[
    ("HOUR", TrackingUnit::Hour),
    ("DAY", TrackingUnit::Day),
    ("WEEK", TrackingUnit::Week),
    ("MONTH", TrackingUnit::Month),
    ("YEAR", TrackingUnit::Year),
];
const DOWNGRADES: NameTable<Downgrade> =
    &[("NO_DOWNGRADE", Downgrade::Never), ("SINGLE_LEVEL", Downgrade::OneLevel), ("MULTI_LEVEL", Downgrade::ToFit)];
const TIER_DOWNGRADES: NameTable<bool> = &[("INHERIT", false), ("NO_DOWNGRADE", true)];
const CHANGE_KINDS: NameTable<TierChangeKind> = &[
    ("JOINED", TierChangeKind::Joined),
    ("UPGRADED", TierChangeKind::Upgraded),
    ("DOWNGRADED", TierChangeKind::Downgraded),
    ("LEFT", TierChangeKind::Left),
    ("PROLONGED", TierChangeKind::Prolonged),
];

/// Returns the name of a kind of tier change.
pub fn change_kind_name(change_kind: TierChangeKind) -> &'static str {
    name_of(CHANGE_KINDS, change_kind).unwrap_or_default()
}

/// Reads a tier structure, without its tiers.
pub fn read_tier_structure(at: &JsonCursor<'_>) -> TierStructure {
    at.object();
    let mut structure = TierStructure {
        id: at.need("id", read::name),
        card_definition: at.need("card_definition_id", read::name),
        ..TierStructure::default()
    };
    if at.need("type", |kind| kind.one_of(MEASURES)) {
        structure.measure = at.need("point_earned", read_earned);
    }
    at.fill("expiration", &mut structure.expiration, read_expiration);
    if let Some((downgrade, grace)) = at.option("downgrade", read_downgrade) {
        (structure.downgrade, structure.grace) = (downgrade, grace);
    }
    structure
}

fn read_earned(at: &JsonCursor<'_>) -> TierMeasure {
    at.object();
    let tracking = at.need("period", |period| {
        period.object();
        let value = period.need("value", read_count);
        if value == 0 {
            period.option("value", |value| value.wrong("must be >= 1"));
        }
        TrackingPeriod { value, unit: period.need("unit", |unit| unit.one_of(UNITS)) }
    });
    TierMeasure::Earned { tracking, at_once: at.need("type", |kind| kind.one_of(CHANGES)) }
}

fn read_expiration(at: &JsonCursor<'_>) -> TierExpiration {
    at.object();
    match at.need("type", |kind| kind.one_of(EXPIRATION_TYPES)) {
        ExpirationType::Never => TierExpiration::Never,
        ExpirationType::Rolling => {
            TierExpiration::Rolling(at.need("rolling_expiration", |rolling| rolling.need("period", read_period)))
        }
        ExpirationType::Calendar => at.need("calendar_expiration", |calendar| {
            TierExpiration::Calendar(calendar.need("calendar_dates", read_dates))
        }),
        ExpirationType::Sliding => TierExpiration::Sliding(at.need("sliding_expiration", read_sliding)),
    }
}

fn read_downgrade(at: &JsonCursor<'_>) -> (Downgrade, Option<GracePeriod>) {
    at.object();
    let grace = at.option("grace_period", |grace| {
        let round_up = grace.option("round_up", read::flag).unwrap_or(false);
        GracePeriod { period: read_period(grace), round_up }
    });
    (at.need("type", |kind| kind.one_of(DOWNGRADES)), grace)
}

const BOUND: &str = "must be a number from 0 on";

/// Reads a tier. Points are whole, so a bound between two of them is rounded inwards.
pub fn read_tier(at: &JsonCursor<'_>) -> LoyaltyTier {
    at.object();
    let (min, max, segment) = at.need("qualification_rules", |rules| {
        rules.object();
        let min = rules.need("min_value", |min| min.or_wrong(min.rounded(true), BOUND));
        let max = rules.option("max_value", |max| max.or_wrong(max.rounded(false), BOUND));
        (min, max, rules.option("segment", |segment| segment.need("id", read::name)))
    });
    let is_permanent = at.option("downgrade", |down| down.need("type", |kind| kind.one_of(TIER_DOWNGRADES)));
    LoyaltyTier {
        id: at.need("id", read::name),
        name: at.option("name", read::text).unwrap_or_default(),
        min,
        max,
        segment,
        is_permanent: is_permanent.unwrap_or(false),
    }
}

/// Writes a tier state, in the format that is read.
pub fn write_tier_state(state: &TierState) -> Value {
    json!({
        "at": state.at.to_string(), "is_active": state.is_active,
        "before": write_position(&state.before), "now": write_position(&state.now),
    })
}

fn write_position(position: &TierPosition) -> Value {
    let time_text = |at: Option<Instant>| at.map(|at| at.to_string());
    let segments: Vec<&str> = position.facts.segments.iter().map(|segment| segment.as_str()).collect();
    json!({
        "tier": position.tier.as_ref().map(|tier| tier.as_str()), "since": position.since.to_string(),
        "until": time_text(position.until), "grace": time_text(position.grace),
        "fit": position.fit.as_ref().map(|fit| fit.as_str()),
        "balance": position.facts.balance, "earned": position.facts.earned, "segments": segments,
        "period": position.period.to_string(), "mark": position.mark, "closed": position.closed,
    })
}

/// Reads a tier state.
pub fn read_tier_state(at: &JsonCursor<'_>) -> TierState {
    at.object();
    TierState {
        at: at.need("at", read::instant),
        is_active: at.need("is_active", read::flag),
        before: at.need("before", read_position),
        now: at.need("now", read_position),
    }
}

fn read_position(at: &JsonCursor<'_>) -> TierPosition {
    at.object();
    let signed = |name| at.need(name, |points| points.or_wrong(points.integer(), "must be an integer"));
    TierPosition {
        tier: at.option("tier", read::name),
        since: at.need("since", read::instant),
        until: at.option("until", read::instant),
        grace: at.option("grace", read::instant),
        fit: at.option("fit", read::name),
        facts: TierFacts {
            balance: signed("balance"),
            earned: signed("earned"),
            segments: at.need("segments", read::texts),
        },
        period: at.need("period", read::instant),
        mark: signed("mark"),
        closed: signed("closed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::document::read_document;

    #[test]
    fn written_values_are_read_back() {
        let at = Instant::parse("2026-05-17T10:00:00.123Z").unwrap_or_default();
        let facts = TierFacts { balance: -3, earned: 12, segments: vec!["seg_1".into()] };
        let now = TierPosition {
            tier: Some("lt_1".into()),
            since: at,
            until: Some(Instant::LATEST),
            grace: Some(at),
            fit: Some("lt_2".into()),
            facts,
            period: at,
            mark: -7,
            closed: 5,
        };
        let state = TierState { at, is_active: true, before: TierPosition::default(), now };
        assert_eq!(read_document(&write_tier_state(&state).to_string(), read_tier_state).ok(), Some(state));
    }

    #[test]
    fn bounds_between_two_points_are_the_next_inside() {
        let text = r#"{ "id": "lt_1", "name": "Gold",
            "qualification_rules": { "type": "POINTS", "min_value": 99.5, "max_value": 200.75, "segment": null } }"#;
        let tier = read_document(text, read_tier).unwrap_or_default();
        assert_eq!((tier.min, tier.max, tier.is_permanent), (100, Some(200), false));
    }
}
