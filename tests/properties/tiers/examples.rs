//! Tiers by example: what is told of the way, and the words of the specification. It must not be clever.

use scrip::points::{Period, Unit};
use scrip::text::Text;
use scrip::tiers::{
    Change, Downgrade, Earlier, Expiration, Facts, Grace, Measure, Moved, Passage, Standing, Structure, Tier, Tracking,
    TrackingUnit,
};
use scrip::time::{Instant, TimeZone};
use scrip::zones::named;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn warsaw() -> TimeZone {
    named("Europe/Warsaw").unwrap()
}

fn tier(id: &str, min: u64, max: Option<u64>) -> Tier {
    Tier { id: id.into(), name: id.into(), min, max, segment: None, is_kept: false }
}

/// Bronze from 0, silver from 100, gold from 300.
fn three() -> Structure {
    Structure {
        tiers: vec![tier("bronze", 0, Some(99)), tier("silver", 100, Some(299)), tier("gold", 300, None)],
        downgrade: Downgrade::ToFit,
        ..Structure::default()
    }
}

fn has(when: &str, points: i64) -> Change {
    let facts = Facts { balance: points, earned: points, segments: Vec::new() };
    Change { at: at(when), facts, is_active: false }
}

fn begun(structure: &Structure, when: &str) -> Standing {
    structure.begin(at(when), &Facts::default(), Earlier::default(), &warsaw())
}

/// Plays changes from the first on; says what was told.
fn play(structure: &Structure, changes: &[Change], now: &str) -> Moved {
    structure.advance(&begun(structure, &changes[0].at.text()), changes, at(now), &warsaw())
}

fn words(moved: &Moved) -> Vec<(String, Passage, Option<Text>)> {
    moved.transitions.iter().map(|told| (told.at.text(), told.passage, told.to.clone())).collect()
}

fn told(when: &str, passage: Passage, to: &str) -> (String, Passage, Option<Text>) {
    (at(when).text(), passage, Some(to).filter(|to| !to.is_empty()).map(Text::from))
}

#[test]
fn a_balance_leads_up_and_down_at_once() {
    let moved = play(
        &three(),
        &[has("2026-03-01T10:00:00Z", 0), has("2026-03-02T10:00:00Z", 350), has("2026-03-03T10:00:00Z", 50)],
        "2026-04-01",
    );
    let expected = [
        told("2026-03-01T10:00:00Z", Passage::Joined, "bronze"),
        told("2026-03-02T10:00:00Z", Passage::Upgraded, "gold"),
        told("2026-03-03T10:00:00Z", Passage::Downgraded, "bronze"),
    ];
    assert_eq!(words(&moved), expected);
}

#[test]
fn one_level_at_a_time() {
    let structure = Structure { downgrade: Downgrade::OneLevel, ..three() };
    let changes = [has("2026-03-02T10:00:00Z", 350), has("2026-03-03T10:00:00Z", 5), has("2026-03-04T10:00:00Z", 4)];
    let moved = play(&structure, &changes, "2026-04-01");
    let expected = [
        told("2026-03-02T10:00:00Z", Passage::Joined, "gold"),
        told("2026-03-03T10:00:00Z", Passage::Downgraded, "silver"),
    ];
    assert_eq!(words(&moved), expected, "as long as the points fit the same tier, it is not looked at again");
}

#[test]
fn grace_is_rounded_up_to_the_end_of_its_month() {
    let grace = Some(Grace { period: Period { value: 1, unit: Unit::Month }, round_up: true });
    let structure = Structure { grace, ..three() };
    let changes = [has("2026-01-10T10:00:00Z", 350), has("2026-01-31T10:00:00Z", 5)];
    let moved = play(&structure, &changes, "2026-06-01");
    let expected = [
        told("2026-01-10T10:00:00Z", Passage::Joined, "gold"),
        told("2026-02-28T23:00:00Z", Passage::Downgraded, "bronze"),
    ];
    assert_eq!(words(&moved), expected, "the end of February in Warsaw");
    let saved = [&changes[..], &[has("2026-02-27T10:00:00Z", 300)]].concat();
    assert_eq!(words(&play(&structure, &saved, "2026-06-01")).len(), 1, "who has enough again in time stays");
}

#[test]
fn points_of_a_period_count_in_the_next_one() {
    let tracking = Tracking { value: 1, unit: TrackingUnit::Month };
    let structure = Structure { measure: Measure::Earned { tracking, at_once: false }, ..three() };
    let changes = [has("2026-03-02T10:00:00Z", 0), has("2026-03-10T10:00:00Z", 350), has("2026-04-10T10:00:00Z", 470)];
    let standing = play(&structure, &changes, "2026-03-20").standing;
    let ahead = structure.progress(&standing, &[], at("2026-03-20"), &warsaw());
    let deferred = ahead.deferred.unwrap();
    assert_eq!((deferred.tier.id.as_str(), deferred.since), ("gold", at("2026-03-31T22:00:00Z")));
    assert!(ahead.opportunities.is_empty() && ahead.risk.is_none());
    let expected = [
        told("2026-03-02T10:00:00Z", Passage::Joined, "bronze"),
        told("2026-03-31T22:00:00Z", Passage::Upgraded, "gold"),
        told("2026-04-30T22:00:00Z", Passage::Downgraded, "silver"),
        told("2026-05-31T22:00:00Z", Passage::Downgraded, "bronze"),
    ];
    assert_eq!(words(&play(&structure, &changes, "2027-01-01")), expected);
}

#[test]
fn a_tier_is_held_for_its_term_and_looked_at_then() {
    let expiration = Expiration::Rolling(Period { value: 1, unit: Unit::Month });
    let structure = Structure { expiration, ..three() };
    let changes =
        [has("2026-01-31T10:00:00Z", 350), has("2026-02-05T10:00:00Z", 150), has("2026-03-15T10:00:00Z", 120)];
    let standing = play(&structure, &changes, "2026-02-10").standing;
    let ahead = structure.progress(&standing, &[], at("2026-02-10"), &warsaw());
    let risk = ahead.risk.unwrap();
    assert_eq!((risk.at, risk.to.map(|tier| tier.id.as_str())), (at("2026-02-28T23:00:00Z"), Some("silver")));
    assert_eq!(ahead.opportunities, [], "nothing is above gold");
    let expected = [
        told("2026-01-31T10:00:00Z", Passage::Joined, "gold"),
        told("2026-02-28T23:00:00Z", Passage::Downgraded, "silver"),
        told("2026-04-01T22:00:00Z", Passage::Prolonged, "silver"),
        told("2026-05-01T22:00:00Z", Passage::Prolonged, "silver"),
    ];
    assert_eq!(words(&play(&structure, &changes, "2026-05-15")), expected);
}

#[test]
fn some_tiers_are_never_left_and_some_are_for_a_segment() {
    let mut structure = three();
    structure.tiers[1].is_kept = true;
    structure.tiers.push(Tier { segment: Some("seg_vip".into()), ..tier("vip", 100, None) });
    let vip = |when: &str, points: i64| {
        let mut change = has(when, points);
        change.facts.segments.push("seg_vip".into());
        change
    };
    let changes = [has("2026-03-01", 120), vip("2026-03-02", 120), has("2026-03-03", 120), has("2026-03-04", 0)];
    let moved = play(&structure, &changes, "2026-04-01");
    let expected = [
        told("2026-03-01", Passage::Joined, "silver"),
        told("2026-03-02", Passage::Upgraded, "vip"),
        told("2026-03-03", Passage::Downgraded, "silver"),
    ];
    assert_eq!(words(&moved), expected);
    let ahead = structure.progress(&moved.standing, &[], at("2026-04-01"), &warsaw());
    let lacks: Vec<_> = ahead.opportunities.iter().map(|one| (one.tier.id.as_str(), one.points, one.until)).collect();
    assert_eq!(lacks, [("gold", 300, None)], "nobody outside of its segment is told of a tier");
}

#[test]
fn of_one_moment_only_the_end_counts() {
    let structure = Structure { downgrade: Downgrade::Never, ..three() };
    let standing = begun(&structure, "2026-03-01");
    let up = structure.advance(&standing, &[has("2026-03-02", 350)], at("2026-03-02"), &warsaw());
    assert_eq!(words(&up), [told("2026-03-02", Passage::Joined, "gold")]);
    let down = structure.advance(&up.standing, &[has("2026-03-02", 20)], at("2026-03-02"), &warsaw());
    assert_eq!(
        (words(&down), down.again),
        (vec![told("2026-03-02", Passage::Joined, "bronze")], Some(at("2026-03-02")))
    );
}
