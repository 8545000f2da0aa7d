//! Tests thousands of histories of a member, over changes of clocks and ends of years. The engine's tier equals that of the second model,
//! if it is read often, once or never, and for every order of changes at one instant.

use std::cell::Cell;

use proptest::prelude::*;
use scrip::text::Text;
use scrip::tiers::{
    Downgrade, GracePeriod, LoyaltyTier, PriorPoints, TierChange, TierChangeKind, TierExpiration, TierFacts,
    TierInputChange, TierMeasure, TierOutcome, TierPosition, TierState, TierStructure, TrackingPeriod, TrackingUnit,
};
use scrip::time::Instant;

use super::model::{Event, ExpectedChange, Level, Model, Place, Rules};
use crate::properties::holds;
use crate::properties::points::calendar_model::{CalendarModel, ZONE_COUNT, almanacs};
use crate::properties::points::dates::near;
use crate::properties::points::operations::{Plan, Span, period, plan, span};

const HISTORIES: u32 = 10_000;

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis).unwrap()
}

/// The next change: the delay, the reference instant, and the change.
type HistoryStep = (i64, u8, i64, (i64, i64, Option<usize>, bool));

fn tracked() -> impl Strategy<Value = Option<(Span, bool)>> {
    let some = (1..4_u32, prop::sample::select(vec!['H', 'D', 'W', 'M', 'M', 'Y']), any::<bool>());
    prop_oneof![
        2 => Just(None),
        3 => some.prop_map(|(value, unit, at_once)| Some(((if unit == 'H' { value * 11 } else { value }, unit), at_once))),
    ]
}

/// Generates tiers for all members, some with gaps between them, and tiers for two segments with the same or other points.
fn levels() -> impl Strategy<Value = Vec<Level>> {
    let one = (1..5_u64, prop::bool::weighted(0.2), prop::bool::weighted(0.15));
    let path = |segment: Option<usize>| {
        (prop::collection::vec(one.clone(), 0..4), any::<bool>(), 0..3_u64).prop_map(move |(found, is_open, first)| {
            let (mut min, mut levels) = (first, Vec::new());
            for (width, has_gap, is_kept) in found {
                levels.push((min, Some(min + width), segment, is_kept));
                min += width + 1 + u64::from(has_gap);
            }
            if let Some(last) = levels.last_mut().filter(|_| is_open) {
                last.1 = None;
            }
            levels
        })
    };
    (path(None), path(None), path(Some(0)), path(Some(1))).prop_map(|(one, other, first, second)| {
        let all = if one.len() >= other.len() { one } else { other };
        let mut levels = [all, first, second].concat();
        levels.sort_by_key(|(min, _, segment, _)| (*min, segment.is_some(), *segment));
        levels
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    let plan = prop_oneof![2 => Just(Plan::Never), 3 => plan()].prop_map(|plan| match plan {
        Plan::Rolling(span, _) => Plan::Rolling(span, None),
        other => other,
    });
    let grace = prop::option::of((span(), any::<bool>()));
    (tracked(), plan, 0..3_u8, grace, levels()).prop_map(|(tracked, plan, fall, grace, levels)| {
        let grace = grace.filter(|_| fall > 0);
        Rules { tracked, plan, fall, grace, levels }
    })
}

fn generated_event() -> impl Strategy<Value = HistoryStep> {
    let by = prop_oneof![
        2 => Just(0_i64),
        2 => 1..100_000_000_i64,
        2 => 1..3_000_000_000_i64,
        1 => 1..20_000_000_000_i64,
    ];
    let change = (-6..8_i64, -2..6_i64, prop::option::weighted(0.2, 0..2_usize), any::<bool>());
    (by, 0..6_u8, -7_200_000..7_200_000_i64, change)
}

fn name(level: usize) -> Text {
    format!("lt_{level:03}").as_str().into()
}

fn number(tier: &Text) -> usize {
    tier.trim_start_matches("lt_").parse().unwrap()
}

fn structure(rules: &Rules) -> TierStructure {
    let tier = |(place, (min, max, segment, is_kept)): (usize, &Level)| LoyaltyTier {
        id: name(place),
        name: "".into(),
        min: *min,
        max: *max,
        segment: segment.map(|segment| segment.to_string().as_str().into()),
        is_permanent: *is_kept,
    };
    let unit = |unit: char| match unit {
        'H' => TrackingUnit::Hour,
        'D' => TrackingUnit::Day,
        'W' => TrackingUnit::Week,
        'M' => TrackingUnit::Month,
        _ => TrackingUnit::Year,
    };
    TierStructure {
        id: "lts_1".into(),
        card_definition: "lcdef_1".into(),
        measure: rules.tracked.map_or(TierMeasure::Balance, |((value, of), at_once)| TierMeasure::Earned {
            tracking: TrackingPeriod { value, unit: unit(of) },
            at_once,
        }),
        expiration: match rules.plan.expiration() {
            scrip::points::Expiration::Never => TierExpiration::Never,
            scrip::points::Expiration::Rolling { period, .. } => TierExpiration::Rolling(period),
            scrip::points::Expiration::Calendar(dates) => TierExpiration::Calendar(dates),
            scrip::points::Expiration::Sliding(sliding) => TierExpiration::Sliding(sliding),
        },
        downgrade: match rules.fall {
            0 => Downgrade::Never,
            1 => Downgrade::OneLevel,
            _ => Downgrade::ToFit,
        },
        grace: rules.grace.map(|(span, round_up)| GracePeriod { period: period(span), round_up }),
        tiers: rules.levels.iter().enumerate().map(tier).collect(),
    }
}

fn place(position: &TierPosition) -> Place {
    Place {
        level: position.tier.as_ref().map(number),
        since: position.since.millis(),
        until: position.until.map(Instant::millis),
        grace: position.grace.map(Instant::millis),
    }
}

fn changes_of(transitions: &[TierChange]) -> Vec<ExpectedChange> {
    let name = |change_kind| match change_kind {
        TierChangeKind::Joined => "JOINED",
        TierChangeKind::Upgraded => "UPGRADED",
        TierChangeKind::Downgraded => "DOWNGRADED",
        TierChangeKind::Left => "LEFT",
        TierChangeKind::Prolonged => "PROLONGED",
    };
    let one = |change: &TierChange| {
        let level = |tier: &Option<Text>| tier.as_ref().map(number);
        (change.at.millis(), name(change.change_kind), level(&change.from), level(&change.to), change.points)
    };
    transitions.iter().map(one).collect()
}

/// Returns the facts after each event in order.
fn changes(events: &[Event]) -> Vec<TierInputChange> {
    let mut facts = TierFacts::default();
    let after = |event: &Event| {
        facts.balance += event.balance;
        facts.earned += event.earned;
        if let Some(segment) = event.toggles {
            let id: Text = segment.to_string().as_str().into();
            match facts.segments.iter().position(|known| *known == id) {
                Some(place) => drop(facts.segments.remove(place)),
                None => facts.segments.push(id),
            }
        }
        TierInputChange { at: at(event.at), facts: facts.clone(), is_active: event.is_active }
    };
    events.iter().map(after).collect()
}

/// The tier events, as the service finally stores them.
#[derive(Default)]
struct StoredTierEvents {
    state: TierState,
    changes: Vec<TierChange>,
}

impl StoredTierEvents {
    fn take(&mut self, moved: TierOutcome) {
        self.changes.retain(|change| Some(change.at) != moved.again);
        self.changes.extend(moved.transitions);
        self.state = moved.state;
    }
}

fn events(calendar: &CalendarModel, begin: i64, generated: &[HistoryStep]) -> Vec<Event> {
    let mut millis = begin;
    let event = |(by, sort, off, (balance, earned, toggles, is_active)): &HistoryStep| {
        if *by > 0 {
            millis = near(calendar, millis + by, *sort, *off).max(millis + by).min(millis + 40_000_000_000);
        }
        Event { at: millis, balance: *balance, earned: *earned, toggles: *toggles, is_active: *is_active }
    };
    generated.iter().map(event).collect()
}

#[test]
fn a_member_is_in_the_tier_of_the_second_model() {
    let almanacs = almanacs();
    let change_counts = Cell::new([0_u32; 5]);
    let begin = 1_262_304_000_000..1_900_000_000_000_i64;
    let histories = (0..ZONE_COUNT, begin, rules(), prop::collection::vec(generated_event(), 1..14), any::<u64>());
    holds(HISTORIES, histories, |(zone, begin, rules, generated, chance)| {
        let calendar = &almanacs[zone];
        let zone = &calendar.zone;
        let (structure, events) = (structure(&rules), events(calendar, begin, &generated));
        let now = events.last().unwrap().at + i64::try_from(chance % 9_000_000_000).unwrap();
        let (expected, expected_changes) = Model { rules: &rules, calendar }.play(begin, &events, now);

        // A member begins without points.
        let first = structure.start(at(begin), &TierFacts::default(), PriorPoints::default(), zone);
        let joins = TierInputChange { at: at(begin), facts: TierFacts::default(), is_active: false };
        let mut once = StoredTierEvents { state: first.clone(), changes: Vec::new() };
        let all = [vec![joins.clone()], changes(&events)].concat();
        once.take(structure.advance(&first, &all, at(now), zone));
        prop_assert_eq!(place(&once.state.now), expected.clone());
        prop_assert_eq!(changes_of(&once.changes), expected_changes);

        // Applies the events one by one, those of one instant in reverse order, and reads in between.
        let mut turned = events.clone();
        for same in turned.chunk_by_mut(|one, other| one.at == other.at) {
            same.reverse();
        }
        let mut often = StoredTierEvents { state: first.clone(), changes: Vec::new() };
        often.take(structure.advance(&first, &[joins], at(begin), zone));
        let mut rest = chance;
        for change in changes(&turned) {
            let last = often.state.at.millis().max(begin);
            rest = rest.rotate_left(7);
            let between = last + i64::try_from(rest % 1_000).unwrap() * (change.at.millis() - last) / 1_000;
            often.take(structure.advance(&often.state, &[], at(between), zone));
            if let Some(due) = structure.next_due(&often.state.now, zone).filter(|due| *due < change.at) {
                often.take(structure.advance(&often.state, &[], due, zone));
            }
            often.take(structure.advance(&often.state, std::slice::from_ref(&change), change.at, zone));
        }
        often.take(structure.advance(&often.state, &[], at(now), zone));
        prop_assert_eq!(place(&often.state.now), expected.clone());
        prop_assert_eq!(&often.changes, &once.changes);
        prop_assert_eq!(&often.state.now.fit, &once.state.now.fit);

        // A member who leaves the segment an instant later leaves the tier. At the same instant the previous tier stays, as only the state
        // at the end of an instant counts.
        let left = |when: i64| {
            structure.change_on_deletion(&once.state, at(when)).map(|left| (left.change_kind, left.from, left.to))
        };
        let leaves = |level: Option<usize>| level.map(|level| (TierChangeKind::Left, Some(name(level)), None));
        prop_assert_eq!(left(now + 1), leaves(expected.level));
        let last = once.state.at.millis();
        let (earlier, _) = Model { rules: &rules, calendar }.play(begin, &events, last - 1);
        prop_assert_eq!(left(last), leaves(earlier.level));

        let ahead = structure.progress(&once.state, &[], at(now), zone);
        prop_assert_eq!(ahead.current.as_ref().map(|current| number(&current.tier.id)), expected.level);
        if let Some(risk) = &ahead.risk {
            let before = structure.advance(&once.state, &[], risk.at.later(-1), zone).state;
            prop_assert_eq!(&before.now.tier, &once.state.now.tier);
            let after = structure.advance(&once.state, &[], risk.at, zone).state;
            prop_assert_eq!(after.now.tier.as_ref(), risk.to.map(|tier| &tier.id));
        }
        let mut counts = change_counts.get();
        for (_, name, ..) in changes_of(&once.changes) {
            let names = ["JOINED", "UPGRADED", "DOWNGRADED", "LEFT", "PROLONGED"];
            counts[names.iter().position(|known| *known == name).unwrap()] += 1;
        }
        change_counts.set(counts);
        Ok(())
    });
    let counts = change_counts.get();
    println!("joined, upgraded, downgraded, left, prolonged: {counts:?}");
    assert!(counts.iter().all(|count| *count > HISTORIES / 20), "every kind of change is frequent: {counts:?}");
}
