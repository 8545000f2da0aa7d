//! Tests the rules of points by examples: every rounding, every rule of dates, refusals, and refunds.

use scrip::points::{
    CardOutcome, CardRefusal, Credit, CustomActivity, DateOfYear, DebitReason, Delay, EarnedPoints, Expiration,
    LifetimeTotal, LotPart, MovementCause, Now, POINTS_MAX, PendingUntil, Period, PointsCard, Revocation, Rounding,
    SlidingExpiry, SpentPoints, Unit,
};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::zones::named;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn warsaw() -> TimeZone {
    named("Europe/Warsaw").unwrap()
}

fn of(value: u32, unit: Unit) -> Period {
    Period { value, unit }
}

fn dates(list: &[(u32, u32)]) -> Vec<DateOfYear> {
    list.iter().map(|(day, month)| DateOfYear::new(*day, *month).unwrap()).collect()
}

/// Returns the displayed expiry date and its instant.
fn expires(expiration: &Expiration, arrived: &str) -> (String, String) {
    let expiry = expiration.expiry_at(at(arrived), &warsaw());
    (expiry.last_day(&warsaw()).unwrap().text(), expiry.expires_at().unwrap().text())
}

fn rolling(value: u32, unit: Unit, rounding: Option<Rounding>) -> Expiration {
    Expiration::Rolling { period: of(value, unit), rounding }
}

#[test]
fn rolling_points_expire_at_the_end_of_a_local_day() {
    let cases = [
        // 23:30 in Warsaw, and 00:30 of the next day.
        (1, Unit::Day, "2026-05-10T21:30:00Z", "2026-05-11", "2026-05-11T22:00:00.000Z"),
        (1, Unit::Day, "2026-05-10T22:30:00Z", "2026-05-12", "2026-05-12T22:00:00.000Z"),
        // Into the day that has 23 hours, and the one that has 25.
        (1, Unit::Day, "2026-03-28T12:00:00Z", "2026-03-29", "2026-03-29T22:00:00.000Z"),
        (1, Unit::Day, "2026-10-24T12:00:00Z", "2026-10-25", "2026-10-25T23:00:00.000Z"),
        (1, Unit::Month, "2026-01-31T12:00:00Z", "2026-02-28", "2026-02-28T23:00:00.000Z"),
        (1, Unit::Month, "2024-01-31T12:00:00Z", "2024-02-29", "2024-02-29T23:00:00.000Z"),
        (1, Unit::Year, "2024-02-29T12:00:00Z", "2025-02-28", "2025-02-28T23:00:00.000Z"),
        (4, Unit::Year, "2024-02-29T12:00:00Z", "2028-02-29", "2028-02-29T23:00:00.000Z"),
        (1, Unit::Month, "2026-12-31T23:30:00Z", "2027-02-01", "2027-02-01T23:00:00.000Z"),
    ];
    for (value, unit, arrived, day, instant) in cases {
        assert_eq!(expires(&rolling(value, unit, None), arrived), (day.to_owned(), instant.to_owned()), "{arrived}");
    }
}

#[test]
fn every_rounding_extends_to_the_end_of_a_period() {
    let rounded = |rounding, arrived| expires(&rolling(1, Unit::Month, Some(rounding)), arrived).0;
    let cases = [
        (Rounding::Month, "2026-01-15T12:00:00Z", "2026-02-28"),
        (Rounding::Month, "2024-01-31T12:00:00Z", "2024-02-29"),
        (Rounding::Quarter, "2026-02-15T12:00:00Z", "2026-03-31"),
        (Rounding::Quarter, "2026-03-15T12:00:00Z", "2026-06-30"),
        (Rounding::HalfYear, "2026-02-15T12:00:00Z", "2026-06-30"),
        (Rounding::HalfYear, "2026-06-15T12:00:00Z", "2026-12-31"),
        (Rounding::Year, "2026-11-30T12:00:00Z", "2026-12-31"),
        (Rounding::Year, "2026-12-01T12:00:00Z", "2027-12-31"),
        (Rounding::ParticularMonth(2), "2026-01-15T12:00:00Z", "2026-02-28"),
        (Rounding::ParticularMonth(2), "2026-02-15T12:00:00Z", "2027-02-28"),
        (Rounding::ParticularMonth(2), "2027-03-15T12:00:00Z", "2028-02-29"),
        (Rounding::ParticularMonth(12), "2026-11-30T12:00:00Z", "2026-12-31"),
        (Rounding::ParticularMonth(1), "2026-12-01T12:00:00Z", "2027-01-31"),
    ];
    for (rounding, arrived, day) in cases {
        assert_eq!(rounded(rounding, arrived), day, "{rounding:?} {arrived}");
    }
    // The last instant of a quarter belongs to it.
    let day = rolling(1, Unit::Day, Some(Rounding::Quarter));
    assert_eq!(expires(&day, "2026-03-30T21:59:59.999Z").0, "2026-03-31");
    assert_eq!(expires(&day, "2026-03-30T22:00:00Z").0, "2026-06-30");
}

#[test]
fn yearly_dates_empty_the_card_and_stay_in_their_month() {
    let calendar = |list: &[(u32, u32)], arrived| expires(&Expiration::Calendar(dates(list)), arrived).0;
    let cases = [
        (vec![(31, 12)], "2026-01-01T12:00:00Z", "2026-12-31"),
        // On the date itself they expire that night.
        (vec![(31, 12)], "2026-12-31T12:00:00Z", "2026-12-31"),
        (vec![(31, 12)], "2026-12-31T23:00:00Z", "2027-12-31"),
        (vec![(31, 2)], "2026-01-01T12:00:00Z", "2026-02-28"),
        (vec![(29, 2)], "2027-03-01T12:00:00Z", "2028-02-29"),
        (vec![(29, 2)], "2026-03-01T12:00:00Z", "2027-02-28"),
        (vec![(31, 4)], "2026-01-01T12:00:00Z", "2026-04-30"),
        (vec![(30, 6), (31, 12), (1, 1)], "2026-03-01T12:00:00Z", "2026-06-30"),
    ];
    for (list, arrived, day) in cases {
        assert_eq!(calendar(&list, arrived), day, "{list:?} {arrived}");
    }
    // The date is never reached: it is beyond the end of the calendar.
    assert_eq!(Expiration::Calendar(vec![]).expiry_at(at("2026-01-01"), &warsaw()).expires_at(), Some(Instant::LATEST));
    let long = rolling(u32::MAX, Unit::Year, None);
    assert_eq!(long.expiry_at(at("2026-01-01"), &warsaw()).expires_at(), Some(Instant::LATEST));
}

#[test]
fn pending_points_start_with_a_day_and_are_cancelled_at_the_end_of_a_day() {
    let zone = warsaw();
    let pending_until = |delay: &Delay, earned: &str| delay.earned(at(earned), &zone).unwrap();
    let period = pending_until(&Delay::Period(of(14, Unit::Day)), "2026-10-20T12:00:00Z");
    assert_eq!(period.activates_at(), Some(at("2026-11-02T23:00:00Z")));
    let fixed = Delay::FixedDates(dates(&[(1, 1), (31, 6)]));
    assert_eq!(pending_until(&fixed, "2026-05-01T12:00:00Z").activates_at(), Some(at("2026-06-29T22:00:00Z")));
    // On the date itself it is too late.
    assert_eq!(pending_until(&fixed, "2026-06-30T12:00:00Z").activates_at(), Some(at("2026-12-31T23:00:00Z")));
    let event =
        pending_until(&Delay::Event { types: vec!["ms_a".into()], cancel: of(1, Unit::Month) }, "2026-01-31T12:00:00Z");
    assert_eq!((event.activates_at(), event.cancels_at()), (None, Some(at("2026-02-28T23:00:00Z"))));
    assert!(event.is_for("ms_a") && !event.is_for("ms_b"));
    assert_eq!(Delay::Immediate.earned(at("2026-01-01"), &zone), None);
}

/// A card in Warsaw, and its days.
struct Days {
    zone: TimeZone,
    card: PointsCard,
}

impl Days {
    fn new() -> Days {
        Days { zone: warsaw(), card: PointsCard::default() }
    }

    fn now(&self, day: &str) -> Now<'_> {
        Now { at: at(&format!("{day}T12:00:00Z")), zone: &self.zone }
    }

    fn does(
        &mut self,
        day: &str,
        act: impl FnOnce(&PointsCard, &Now<'_>) -> Result<CardOutcome, CardRefusal>,
    ) -> CardOutcome {
        let outcome = act(&self.card, &self.now(day)).unwrap();
        self.card = outcome.card.clone();
        outcome
    }

    fn earn(&mut self, day: &str, points: u64, lot: &str, expiration: &Expiration) -> CardOutcome {
        let (lot, none) = (Text::from(lot), Text::from(""));
        self.does(day, |card, now| card.earn(points, Credit { lot: &lot, expiration }, &Delay::Immediate, &none, now))
    }

    fn earn_pending(&mut self, day: &str, points: u64, pending: &str, delay: &Delay) -> CardOutcome {
        let (lot, pending) = (Text::from(format!("{pending}_lot")), Text::from(pending));
        let arrival = Credit { lot: &lot, expiration: &Expiration::Never };
        self.does(day, |card, now| card.earn(points, arrival, delay, &pending, now))
    }

    fn spend(&mut self, day: &str, points: u64) -> SpentPoints {
        let done = self.does(day, |card, now| card.take(DebitReason::Spend, points, now));
        SpentPoints { parts: done.steps[0].debited(), refunded: 0 }
    }

    fn on(&self, day: &str) -> PointsCard {
        self.card.settle(&self.now(day)).unwrap().card
    }
}

fn part(lot: &str, points: u64) -> LotPart {
    LotPart { lot: lot.into(), points }
}

#[test]
fn the_first_expiring_points_are_spent_first_and_refunded_last() {
    let mut days = Days::new();
    days.earn("2026-01-01", 10, "never", &Expiration::Never);
    days.earn("2026-01-02", 10, "late", &rolling(20, Unit::Day, None));
    days.earn("2026-01-03", 10, "soon", &rolling(5, Unit::Day, None));
    let mut spent = days.spend("2026-01-04", 25);
    assert_eq!(spent.parts, [part("soon", 10), part("late", 10), part("never", 5)]);
    let back = days.does("2026-01-05", |card, now| card.refund(&spent, 7, now));
    assert_eq!(back.steps[0].credited(), [part("never", 5), part("late", 2)]);
    spent.refunded = 7;
    let now = days.now("2026-01-05");
    assert_eq!(days.card.refund(&spent, 19, &now), Err(CardRefusal::MoreThanSpent { left: 18 }));
    assert_eq!(days.card.take(DebitReason::Spend, 13, &now), Err(CardRefusal::Short { available: 12 }));
    let next = days.card.next_expiration(&days.zone).unwrap();
    assert_eq!((next.points, next.date.map(|day| day.text())), (2, Some("2026-01-22".into())));
    assert_eq!(days.card.next_due(), Some(at("2026-01-22T23:00:00Z")));
    // The 10 points of `soon` are refunded after the lot expired, and expire at once.
    let back = days.does("2026-01-10", |card, now| card.refund(&spent, 18, now));
    let causes: Vec<&MovementCause> = back.steps.iter().map(|step| &step.cause).collect();
    assert_eq!(causes, [&MovementCause::Refunded, &MovementCause::ExpiredByTime("soon".into())]);
    let lifetime_totals = &back.card.lifetime_totals;
    assert_eq!(
        [LifetimeTotal::Spent, LifetimeTotal::Refunded, LifetimeTotal::Expired].map(|one| lifetime_totals.of(one)),
        [25, 25, 10]
    );
    assert_eq!((back.card.balance(), lifetime_totals.total()), (20, Some(30)));
}

#[test]
fn points_that_expire_together_are_one_lot() {
    let mut days = Days::new();
    let month = rolling(1, Unit::Month, Some(Rounding::Month));
    for (day, lot) in [("2026-01-01", "a"), ("2026-01-20", "b"), ("2026-02-01", "c")] {
        days.earn(day, 5, lot, &month);
    }
    let lots: Vec<(&str, u64)> = days.card.lots.iter().map(|lot| (lot.id.as_str(), lot.points)).collect();
    assert_eq!(lots, [("a", 10), ("c", 5)]);
}

#[test]
fn an_activity_extends_only_its_own_lots() {
    let sliding = |earning, spending, custom| {
        Expiration::Sliding(SlidingExpiry { earning, spending, custom, period: of(10, Unit::Day) })
    };
    let mut days = Days::new();
    days.earn("2026-01-01", 10, "a", &sliding(true, false, CustomActivity::No));
    days.earn("2026-01-02", 10, "b", &sliding(false, true, CustomActivity::Of(vec!["ms_a".into()])));
    let ends = |card: &PointsCard| -> Vec<String> {
        card.lots.iter().map(|lot| lot.expiry.last_day(&warsaw()).unwrap().text()).collect()
    };
    assert_eq!(ends(&days.card), ["2026-01-12", "2026-01-12"], "earning on the 2nd moved `a`");
    days.does("2026-01-03", |card, now| card.event("ms_b", now));
    assert_eq!(ends(&days.card), ["2026-01-12", "2026-01-12"]);
    days.does("2026-01-03", |card, now| card.event("ms_a", now));
    assert_eq!(ends(&days.card), ["2026-01-12", "2026-01-13"]);
    let spent = days.spend("2026-01-04", 12);
    assert_eq!(spent.parts, [part("a", 10), part("b", 2)]);
    assert_eq!(ends(&days.card)[1], "2026-01-14");
    // Without activity it expires, and no later activity restores it.
    let done = days.does("2026-01-20", |card, now| card.event("ms_a", now));
    assert_eq!(done.due.iter().map(|step| step.at.text()).collect::<Vec<String>>(), ["2026-01-14T23:00:00.000Z"]);
    assert_eq!(done.card.balance(), 0);
}

#[test]
fn pending_points_expire_counted_from_their_activation() {
    let mut days = Days::new();
    let (lot, pending) = (Text::from("lot"), Text::from("pend"));
    let day = rolling(1, Unit::Day, None);
    let arrival = Credit { lot: &lot, expiration: &day };
    let delay = Delay::Period(of(3, Unit::Day));
    days.does("2026-01-01", |card, now| card.earn(7, arrival, &delay, &pending, now));
    assert_eq!((days.card.balance(), days.card.pending_points()), (0, 7));
    let (pending_until, next) = days.card.next_activation(&days.zone).unwrap();
    assert!(matches!(pending_until, PendingUntil::Period(_)));
    assert_eq!((next.points, next.date.map(|day| day.text())), (7, Some("2026-01-04".into())));
    assert_eq!(days.on("2026-01-03").balance(), 0);
    assert_eq!(days.on("2026-01-05").balance(), 7);
    // The card was not settled meanwhile: both happened, each at its own instant.
    let read = days.card.settle(&days.now("2026-02-01")).unwrap();
    let steps: Vec<(String, MovementCause)> =
        read.due.iter().map(|step| (step.at.text(), step.cause.clone())).collect();
    let expected = [
        ("2026-01-03T23:00:00.000Z".to_owned(), MovementCause::Activated(pending.clone())),
        ("2026-01-05T23:00:00.000Z".to_owned(), MovementCause::ExpiredByTime(lot.clone())),
    ];
    assert_eq!(steps, expected);
    let now = days.now("2026-01-05");
    assert_eq!(days.card.activate(&pending, &now), Err(CardRefusal::NoSuchPending(pending.clone())));
    let early = days.card.activate(&pending, &days.now("2026-01-02")).unwrap();
    assert_eq!(early.card.balance(), 7);
}

#[test]
fn points_pending_for_an_event_are_activated_by_it_or_cancelled() {
    let delay = Delay::Event { types: vec!["ms_a".into()], cancel: of(5, Unit::Day) };
    let mut days = Days::new();
    days.earn_pending("2026-01-01", 7, "one", &delay);
    days.earn_pending("2026-01-02", 8, "two", &Delay::Event { types: vec!["ms_b".into()], cancel: of(9, Unit::Day) });
    let (_, next) = days.card.next_activation(&days.zone).unwrap();
    assert_eq!((next.points, next.date), (7, None));
    assert_eq!(next.cancel_date.map(|day| day.text()), Some("2026-01-06".into()));
    assert_eq!(days.does("2026-01-06", |card, now| card.event("ms_a", now)).card.balance(), 7);
    let late = days.does("2026-01-20", |card, now| card.event("ms_b", now));
    assert_eq!(late.due[0].cause, MovementCause::Canceled("two".into()));
    assert_eq!((late.card.balance(), late.card.pending_points(), late.steps.len()), (7, 0, 0));
}

#[test]
fn earned_points_are_revoked_by_the_method() {
    let delay = Delay::Period(of(30, Unit::Day));
    let start = || {
        let mut days = Days::new();
        days.earn("2026-01-01", 5, "lot", &Expiration::Never);
        days.earn_pending("2026-01-01", 10, "pend", &delay);
        days
    };
    let earned = EarnedPoints { pending: Some("pend".into()), lot: None, points: 10 };
    // While it waits, no method touches the balance.
    for method in [Revocation::FromPending, Revocation::ToZero, Revocation::BelowZero] {
        let mut days = start();
        let done = days.does("2026-01-02", |card, now| card.revoke(&earned, method, now));
        assert_eq!((done.card.balance(), done.card.pending_points()), (5, 0), "{method:?}");
    }
    // Active and mostly spent: 3 are left.
    let earned = EarnedPoints { lot: Some("lot".into()), ..earned };
    let left = [(Revocation::FromPending, 3, 0), (Revocation::ToZero, 0, 3), (Revocation::BelowZero, -7, 10)];
    for (method, balance, returned) in left {
        let mut days = start();
        days.spend("2026-02-05", 12);
        let done = days.does("2026-02-06", |card, now| card.revoke(&earned, method, now));
        assert_eq!(
            (done.card.balance(), done.card.lifetime_totals.of(LifetimeTotal::Returned)),
            (balance, returned),
            "{method:?}"
        );
    }
}

#[test]
fn expired_points_are_not_revoked_again() {
    let mut days = Days::new();
    days.earn("2026-01-01", 10, "gone", &rolling(1, Unit::Day, None));
    days.earn("2026-01-01", 20, "kept", &Expiration::Never);
    days.spend("2026-01-02", 4);
    let earned = EarnedPoints { pending: None, lot: Some("gone".into()), points: 10 };
    let done = days.does("2026-01-09", |card, now| card.revoke(&earned, Revocation::ToZero, now));
    // 6 expired, and 4 were spent whose earning was revoked later.
    assert_eq!((done.card.balance(), done.card.lifetime_totals.of(LifetimeTotal::Returned)), (16, 4));
}

#[test]
fn arriving_points_pay_the_debt_of_the_card() {
    let mut days = Days::new();
    days.earn("2026-01-01", 10, "a", &Expiration::Never);
    days.does("2026-01-02", |card, now| card.take(DebitReason::Subtract { below_zero: true }, 25, now));
    assert_eq!((days.card.balance(), days.card.available()), (-15, 0));
    let now = days.now("2026-01-02");
    assert_eq!(days.card.take(DebitReason::Spend, 1, &now), Err(CardRefusal::Short { available: 0 }));
    assert_eq!(
        days.card.take(DebitReason::Subtract { below_zero: false }, 1, &now),
        Err(CardRefusal::Short { available: 0 })
    );
    days.earn("2026-01-03", 10, "b", &Expiration::Never);
    assert_eq!(days.card.balance(), -5);
    days.earn("2026-01-04", 10, "c", &Expiration::Never);
    assert_eq!((days.card.balance(), days.card.debt), (5, 0));
}

#[test]
fn a_lot_is_expired_once_and_only_if_it_has_an_expiry() {
    let mut days = Days::new();
    days.earn("2026-01-01", 10, "a", &rolling(9, Unit::Day, None));
    days.earn("2026-01-01", 10, "b", &Expiration::Never);
    let (a, b, none) = (Text::from("a"), Text::from("b"), Text::from("c"));
    let done = days.does("2026-01-02", |card, now| card.expire(&a, now));
    assert_eq!(done.steps[0].cause, MovementCause::Expired(a.clone()));
    let now = days.now("2026-01-02");
    assert_eq!(days.card.expire(&a, &now), Err(CardRefusal::Closed));
    assert_eq!(days.card.expire(&b, &now), Err(CardRefusal::NeverExpires));
    assert_eq!(days.card.expire(&none, &now), Err(CardRefusal::NoSuchLot(none.clone())));
    // The lot was spent completely: nothing is left to expire.
    days.earn("2026-01-03", 1, "c", &rolling(9, Unit::Day, None));
    days.spend("2026-01-03", 1);
    assert!(days.does("2026-01-03", |card, now| card.expire(&none, now)).steps.is_empty());
}

#[test]
fn every_number_of_a_card_fits_in_json() {
    let mut days = Days::new();
    days.earn("2026-01-01", POINTS_MAX - 10, "a", &Expiration::Never);
    days.earn_pending("2026-01-01", 10, "p", &Delay::Period(of(5, Unit::Day)));
    let lot = Text::from("b");
    let arrival = Credit { lot: &lot, expiration: &Expiration::Never };
    let now = days.now("2026-01-02");
    // Pending points already count against the limit.
    for points in [1, POINTS_MAX, u64::MAX] {
        assert_eq!(days.card.add(points, arrival, &now), Err(CardRefusal::Beyond));
        assert_eq!(days.card.purchase(points, arrival, &now), Err(CardRefusal::Beyond));
        let pending = Text::from("q");
        let delay = Delay::Period(of(5, Unit::Day));
        assert_eq!(days.card.earn(points, arrival, &delay, &pending, &now), Err(CardRefusal::Beyond));
    }
    let read = days.on("2026-01-10");
    assert_eq!((read.available(), read.lifetime_totals.total()), (POINTS_MAX, Some(POINTS_MAX)));
    // The debt of a card has the same limit as its balance.
    let mut days = Days::new();
    let below = DebitReason::Subtract { below_zero: true };
    days.does("2026-01-01", |card, now| card.take(below, POINTS_MAX, now));
    let now = days.now("2026-01-01");
    assert_eq!(days.card.balance(), -i64::try_from(POINTS_MAX).unwrap());
    assert_eq!(days.card.take(below, 1, &now), Err(CardRefusal::Beyond));
    assert_eq!(Days::new().card.take(below, u64::MAX, &now), Err(CardRefusal::Beyond));
}

#[test]
fn ids_are_unique_and_empty_operations_change_nothing() {
    let mut days = Days::new();
    days.earn("2026-01-01", 1, "a", &Expiration::Never);
    days.earn_pending("2026-01-01", 1, "p", &Delay::Period(of(5, Unit::Day)));
    let (lot, pending) = (Text::from("a"), Text::from("p"));
    let other = Credit { lot: &lot, expiration: &rolling(1, Unit::Day, None) };
    let now = days.now("2026-01-02");
    assert_eq!(days.card.add(1, other, &now), Err(CardRefusal::SameId(lot.clone())));
    let delay = Delay::Period(of(5, Unit::Day));
    assert_eq!(days.card.earn(1, other, &delay, &pending, &now), Err(CardRefusal::SameId(pending.clone())));
    let unknown = SpentPoints { parts: vec![part("x", 1)], refunded: 0 };
    assert_eq!(days.card.refund(&unknown, 1, &now), Err(CardRefusal::NoSuchLot("x".into())));
    let before = days.card.clone();
    for outcome in [
        days.card.add(0, other, &now),
        days.card.earn(0, other, &delay, &pending, &now),
        days.card.take(DebitReason::Spend, 0, &now),
        days.card.event("ms_a", &now),
        days.card.settle(&now),
    ] {
        let outcome = outcome.unwrap();
        assert!(outcome.steps.is_empty() && outcome.due.is_empty() && outcome.card == before);
        assert_eq!(outcome.card.changed_since(&before), (vec![], vec![]));
    }
}

#[test]
fn a_card_of_more_points_than_the_bound_is_refused() {
    let mut days = Days::new();
    days.earn("2026-01-01", POINTS_MAX, "a", &Expiration::Never);
    let now = days.now("2026-01-02");
    let mut lots = days.card.clone();
    lots.lots.push(scrip::points::Lot { id: "b".into(), points: 1, ..lots.lots[0].clone() });
    let owed = PointsCard { debt: u64::MAX, ..days.card.clone() };
    for card in [lots, owed] {
        assert_eq!(card.settle(&now).map(drop), Err(CardRefusal::Beyond));
        assert_eq!(card.take(DebitReason::Spend, 1, &now).map(drop), Err(CardRefusal::Beyond));
    }
}
