//! Tests tiers by examples: the tier events, and the terms of the specification.

use scrip::points::{Period, Unit};
use scrip::text::Text;
use scrip::tiers::{
    Downgrade, GracePeriod, LoyaltyTier, PriorPoints, TierChangeKind, TierExpiration, TierFacts, TierInputChange,
    TierMeasure, TierOutcome, TierState, TierStructure, TrackingPeriod, TrackingUnit,
};
use scrip::time::{Instant, TimeZone};
use scrip::zones::named;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn warsaw() -> TimeZone {
    named("Europe/Warsaw").unwrap()
}

fn tier(id: &str, min: u64, max: Option<u64>) -> LoyaltyTier {
    LoyaltyTier { id: id.into(), name: id.into(), min, max, segment: None, is_permanent: false }
}

/// Bronze from 0, silver from 100, gold from 300.
fn three() -> TierStructure {
    TierStructure {
        tiers: vec![tier("bronze", 0, Some(99)), tier("silver", 100, Some(299)), tier("gold", 300, None)],
        downgrade: Downgrade::ToFit,
        ..TierStructure::default()
    }
}

fn has(when: &str, points: i64) -> TierInputChange {
    let facts = TierFacts { balance: points, earned: points, segments: Vec::new() };
    TierInputChange { at: at(when), facts, is_active: false }
}

fn state_at(structure: &TierStructure, when: &str) -> TierState {
    structure.start(at(when), &TierFacts::default(), PriorPoints::default(), &warsaw())
}

/// Applies changes from the first on; returns the events.
fn play(structure: &TierStructure, changes: &[TierInputChange], now: &str) -> TierOutcome {
    structure.advance(&state_at(structure, &changes[0].at.text()), changes, at(now), &warsaw())
}

fn changes_of(moved: &TierOutcome) -> Vec<(String, TierChangeKind, Option<Text>)> {
    moved.transitions.iter().map(|change| (change.at.text(), change.change_kind, change.to.clone())).collect()
}

fn change(when: &str, change_kind: TierChangeKind, to: &str) -> (String, TierChangeKind, Option<Text>) {
    (at(when).text(), change_kind, Some(to).filter(|to| !to.is_empty()).map(Text::from))
}

#[test]
fn a_balance_changes_the_tier_at_once() {
    let moved = play(
        &three(),
        &[has("2026-03-01T10:00:00Z", 0), has("2026-03-02T10:00:00Z", 350), has("2026-03-03T10:00:00Z", 50)],
        "2026-04-01",
    );
    let expected = [
        change("2026-03-01T10:00:00Z", TierChangeKind::Joined, "bronze"),
        change("2026-03-02T10:00:00Z", TierChangeKind::Upgraded, "gold"),
        change("2026-03-03T10:00:00Z", TierChangeKind::Downgraded, "bronze"),
    ];
    assert_eq!(changes_of(&moved), expected);
}

#[test]
fn a_downgrade_is_one_level_at_a_time() {
    let structure = TierStructure { downgrade: Downgrade::OneLevel, ..three() };
    let changes = [has("2026-03-02T10:00:00Z", 350), has("2026-03-03T10:00:00Z", 5), has("2026-03-04T10:00:00Z", 4)];
    let moved = play(&structure, &changes, "2026-04-01");
    let expected = [
        change("2026-03-02T10:00:00Z", TierChangeKind::Joined, "gold"),
        change("2026-03-03T10:00:00Z", TierChangeKind::Downgraded, "silver"),
    ];
    assert_eq!(changes_of(&moved), expected, "as long as the points fit the same tier, it is not looked at again");
}

#[test]
fn grace_is_rounded_up_to_the_end_of_its_month() {
    let grace = Some(GracePeriod { period: Period { value: 1, unit: Unit::Month }, round_up: true });
    let structure = TierStructure { grace, ..three() };
    let changes = [has("2026-01-10T10:00:00Z", 350), has("2026-01-31T10:00:00Z", 5)];
    let moved = play(&structure, &changes, "2026-06-01");
    let expected = [
        change("2026-01-10T10:00:00Z", TierChangeKind::Joined, "gold"),
        change("2026-02-28T23:00:00Z", TierChangeKind::Downgraded, "bronze"),
    ];
    assert_eq!(changes_of(&moved), expected, "the end of February in Warsaw");
    let saved = [&changes[..], &[has("2026-02-27T10:00:00Z", 300)]].concat();
    assert_eq!(changes_of(&play(&structure, &saved, "2026-06-01")).len(), 1, "who has enough again in time stays");
}

#[test]
fn points_of_a_period_count_in_the_next_one() {
    let tracking = TrackingPeriod { value: 1, unit: TrackingUnit::Month };
    let structure = TierStructure { measure: TierMeasure::Earned { tracking, at_once: false }, ..three() };
    let changes = [has("2026-03-02T10:00:00Z", 0), has("2026-03-10T10:00:00Z", 350), has("2026-04-10T10:00:00Z", 470)];
    let state = play(&structure, &changes, "2026-03-20").state;
    let ahead = structure.progress(&state, &[], at("2026-03-20"), &warsaw());
    let deferred = ahead.deferred.unwrap();
    assert_eq!((deferred.tier.id.as_str(), deferred.since), ("gold", at("2026-03-31T22:00:00Z")));
    assert!(ahead.opportunities.is_empty() && ahead.risk.is_none());
    let expected = [
        change("2026-03-02T10:00:00Z", TierChangeKind::Joined, "bronze"),
        change("2026-03-31T22:00:00Z", TierChangeKind::Upgraded, "gold"),
        change("2026-04-30T22:00:00Z", TierChangeKind::Downgraded, "silver"),
        change("2026-05-31T22:00:00Z", TierChangeKind::Downgraded, "bronze"),
    ];
    assert_eq!(changes_of(&play(&structure, &changes, "2027-01-01")), expected);
}

#[test]
fn a_tier_is_kept_for_its_term_and_then_evaluated() {
    let expiration = TierExpiration::Rolling(Period { value: 1, unit: Unit::Month });
    let structure = TierStructure { expiration, ..three() };
    let changes =
        [has("2026-01-31T10:00:00Z", 350), has("2026-02-05T10:00:00Z", 150), has("2026-03-15T10:00:00Z", 120)];
    let state = play(&structure, &changes, "2026-02-10").state;
    let ahead = structure.progress(&state, &[], at("2026-02-10"), &warsaw());
    let risk = ahead.risk.unwrap();
    assert_eq!((risk.at, risk.to.map(|tier| tier.id.as_str())), (at("2026-02-28T23:00:00Z"), Some("silver")));
    assert_eq!(ahead.opportunities, [], "nothing is above gold");
    let expected = [
        change("2026-01-31T10:00:00Z", TierChangeKind::Joined, "gold"),
        change("2026-02-28T23:00:00Z", TierChangeKind::Downgraded, "silver"),
        change("2026-04-01T22:00:00Z", TierChangeKind::Prolonged, "silver"),
        change("2026-05-01T22:00:00Z", TierChangeKind::Prolonged, "silver"),
    ];
    assert_eq!(changes_of(&play(&structure, &changes, "2026-05-15")), expected);
}

#[test]
fn permanent_and_segment_tiers_follow_their_rules() {
    let mut structure = three();
    structure.tiers[1].is_permanent = true;
    structure.tiers.push(LoyaltyTier { segment: Some("seg_vip".into()), ..tier("vip", 100, None) });
    let vip = |when: &str, points: i64| {
        let mut change = has(when, points);
        change.facts.segments.push("seg_vip".into());
        change
    };
    let changes = [has("2026-03-01", 120), vip("2026-03-02", 120), has("2026-03-03", 120), has("2026-03-04", 0)];
    let moved = play(&structure, &changes, "2026-04-01");
    let expected = [
        change("2026-03-01", TierChangeKind::Joined, "silver"),
        change("2026-03-02", TierChangeKind::Upgraded, "vip"),
        change("2026-03-03", TierChangeKind::Downgraded, "silver"),
    ];
    assert_eq!(changes_of(&moved), expected);
    let ahead = structure.progress(&moved.state, &[], at("2026-04-01"), &warsaw());
    let lacks: Vec<_> = ahead.opportunities.iter().map(|one| (one.tier.id.as_str(), one.points, one.until)).collect();
    assert_eq!(lacks, [("gold", 300, None)], "only members of its segment get events of a tier");
}

#[test]
fn only_the_last_state_of_an_instant_counts() {
    let structure = TierStructure { downgrade: Downgrade::Never, ..three() };
    let state = state_at(&structure, "2026-03-01");
    let up = structure.advance(&state, &[has("2026-03-02", 350)], at("2026-03-02"), &warsaw());
    assert_eq!(changes_of(&up), [change("2026-03-02", TierChangeKind::Joined, "gold")]);
    let down = structure.advance(&up.state, &[has("2026-03-02", 20)], at("2026-03-02"), &warsaw());
    assert_eq!(
        (changes_of(&down), down.again),
        (vec![change("2026-03-02", TierChangeKind::Joined, "bronze")], Some(at("2026-03-02")))
    );
}
