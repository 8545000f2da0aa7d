//! Tests ten thousand histories of a card, over changes of clocks and ends of years. The engine's lots equal the single points of the
//! second model, and every point is accounted for after every step. Points that expire first are spent first. A card is the same if it is
//! settled often, once or never, and in memory or from rows.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use scrip::facts::cards::{card_account, card_lifetime_totals, card_transfers};
use scrip::ledger::{Book, Journal};
use scrip::points::{
    CardOutcome, CardRefusal, CardStep, Credit, DebitReason, EarnedPoints, LifetimeTotal, LotPart, MovementCause, Now,
    PointsAccount, PointsCard, Revocation, SpentPoints,
};
use scrip::text::Text;
use scrip::time::Instant;

use super::calendar_model::{CalendarModel, ZONE_COUNT, almanacs};
use super::dates::near;
use super::operations::{Hold, Plan, hold, plan};
use super::stored_rows::{Rows, essence};
use super::strategies::{Act, Pass, act, pass};
use super::unit_points_model::{Event, How, UnitPointsModel};
use crate::properties::holds;

const HISTORIES: u32 = 10_000;
const CARD: &str = "lcrd_1";

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis).unwrap()
}

fn id(kind: &str, position: usize) -> Text {
    format!("{kind}_{position:04}").into()
}

fn small(points: usize) -> u64 {
    u64::try_from(points).unwrap()
}

struct CardHistory<'a> {
    calendar: &'a CalendarModel,
    plans: &'a [Plan],
    holds: &'a [Hold],
    now: i64,
    /// The events, as the second model reads them.
    events: Vec<(i64, Event)>,
    /// The card in memory, never settled by the alarm.
    card: PointsCard,
    steps: Vec<CardStep>,
    /// The card as rows, settled whenever time passes.
    rows: Rows,
    swept: Vec<CardStep>,
    journal: Journal,
    counts: &'a RefCell<BTreeMap<String, usize>>,
    /// The spendings, and the earnings with the amounts that were not revoked, by event.
    spent: BTreeMap<usize, SpentPoints>,
    earned: BTreeMap<usize, EarnedPoints>,
}

impl CardHistory<'_> {
    fn now(&self, millis: i64) -> Now<'_> {
        Now { at: at(millis), zone: &self.calendar.zone }
    }

    fn pass(&mut self, pass: &Pass) -> TestCaseResult {
        let next = match pass {
            Pass::By(by) => self.now + by,
            Pass::To(2, by) => self.card.next_due().map_or(self.now, |due| due.millis() + by),
            Pass::To(sort, by) => near(self.calendar, self.now, *sort, *by),
        };
        // The clock of a card never goes back, and stays within the supported years.
        let next = next.clamp(self.now, 3_000_000_000_000);
        self.probe(next)?;
        for instant in [self.now + (next - self.now) / 3, next] {
            let before = self.rows.read(&[]);
            let outcome = before.settle(&self.now(instant)).unwrap();
            self.rows.write(&before, &outcome);
            self.swept.extend(outcome.due);
        }
        self.now = next;
        Ok(())
    }

    /// Reading a card settles it: in one step, in two steps, or in the second model. Nothing is written.
    fn probe(&self, until: i64) -> TestCaseResult {
        let read = self.card.settle(&self.now(until)).unwrap();
        let half = self.card.settle(&self.now(self.now + (until - self.now) / 2)).unwrap();
        let rest = half.card.settle(&self.now(until)).unwrap();
        prop_assert_eq!(essence(&rest.card), essence(&read.card));
        prop_assert_eq!([half.due, rest.due].concat(), read.due.clone());
        prop_assert!(read.due.is_sorted_by_key(|step| step.at), "not in order of time");
        prop_assert!(read.due.iter().all(|step| step.at <= at(until)), "something of the future");
        let again = read.card.settle(&self.now(until)).unwrap();
        prop_assert!(again.due.is_empty() && again.card == read.card, "settled twice is another card");
        self.compare(&read.card, until)
    }

    fn compare(&self, card: &PointsCard, until: i64) -> TestCaseResult {
        let model = UnitPointsModel::play(self.calendar, &self.events, until).unwrap();
        prop_assert_eq!(card.balance(), model.balance());
        prop_assert_eq!(card.debt, small(model.owed));
        for (total, count) in LifetimeTotal::ALL.into_iter().zip(model.counts) {
            prop_assert_eq!(card.lifetime_totals.of(total), small(count), "{:?}", total);
        }
        for position in 0..self.events.len() {
            let lot = card.lots.iter().find(|lot| lot.id == id("lot", position) && lot.is_open());
            let known = model.lots[position].as_ref().filter(|_| model.inside(position) > 0);
            prop_assert_eq!(lot.is_some(), known.is_some(), "lot {}", position);
            if let Some((lot, known)) = lot.zip(known) {
                prop_assert_eq!(lot.points, small(model.inside(position)), "lot {}", position);
                prop_assert_eq!(lot.expiry.expires_at().map(Instant::millis), known.end, "lot {}", position);
                prop_assert_eq!(lot.credited_at, at(known.arrived));
            }
            let pending = card.pending.iter().find(|pending| pending.id == id("pend", position));
            prop_assert_eq!(pending.map_or(0, |pending| pending.points), small(model.pending_points(position)));
        }
        let soonest = model.lots.iter().enumerate().filter(|(position, _)| model.inside(*position) > 0);
        let soonest: Vec<(i64, usize)> =
            soonest.filter_map(|(position, lot)| Some((lot.as_ref()?.end?, model.inside(position)))).collect();
        let end = soonest.iter().map(|(end, _)| *end).min();
        let points = soonest.iter().filter(|(at, _)| Some(*at) == end).map(|(_, points)| points).sum::<usize>();
        let next = card.next_expiration(&self.calendar.zone);
        prop_assert_eq!(next.map_or(0, |next| next.points), small(points));
        Ok(())
    }

    /// Returns the event for the indices of an operation; none where there is nothing to refer to.
    fn choose(&self, act: &Act) -> Option<Event> {
        let pick = |known: Vec<usize>, which: usize| known.get(which % known.len().max(1)).copied();
        let plan = |which: usize| self.plans[which].clone();
        Some(match act {
            Act::Earn(points, one, other) => {
                Event::Earn { points: *points, plan: plan(*one), hold: self.holds[*other].clone() }
            }
            Act::Add(points, one) => Event::Add { points: *points, plan: plan(*one) },
            Act::Purchase(points, one) => Event::Purchase { points: *points, plan: plan(*one) },
            Act::Spend(points) => {
                // Sometimes one more than exists.
                let there = self.card.settle(&self.now(self.now)).unwrap().card.available();
                Event::Spend { points: points % (usize::try_from(there).unwrap() + 2) }
            }
            Act::Subtract(points, below) => Event::Subtract { points: *points, below: *below },
            Act::Reverse(points) => Event::Reverse { points: *points },
            Act::Refund(which, points) => {
                let spend = pick(self.spent.keys().copied().collect(), *which)?;
                let spent = &self.spent[&spend];
                let left = spent.parts.iter().map(|part| part.points).sum::<u64>() - spent.refunded;
                // Sometimes more than exists.
                let points = if *points == 99 { usize::try_from(left).unwrap() } else { *points };
                Event::Refund { spend, points }
            }
            Act::Revoke(which, points, how) => {
                let earn = pick(self.earned.keys().copied().collect(), *which)?;
                let left = usize::try_from(self.earned[&earn].points).unwrap();
                Event::Revoke { earn, points: left.min(*points), how: *how }
            }
            Act::Expire(which) => {
                let known = self.card.lots.iter().filter_map(|lot| lot.id.strip_prefix("lot_")?.parse().ok());
                Event::Expire { lot: pick(known.collect(), *which)? }
            }
            Act::Activate(which) => Event::Activate { earn: self.chosen_pending(*which)? },
            Act::Cancel(which) => Event::Cancel { earn: self.chosen_pending(*which)? },
            Act::Happens(kind) => Event::Happens { kind },
        })
    }

    fn chosen_pending(&self, which: usize) -> Option<usize> {
        let has_pending = |(position, earned): (&usize, &EarnedPoints)| earned.pending.is_some().then_some(*position);
        let known: Vec<usize> = self.earned.iter().filter_map(has_pending).collect();
        known.get(which % known.len().max(1)).copied()
    }

    /// Returns the lots that an event concerns in addition to the open ones.
    fn named(&self, event: &Event) -> Vec<Text> {
        match event {
            Event::Refund { spend, .. } => self.spent[spend].parts.iter().map(|part| part.lot.clone()).collect(),
            Event::Revoke { earn, .. } => self.earned[earn].lot.iter().cloned().collect(),
            Event::Expire { lot } => vec![id("lot", *lot)],
            _ => vec![],
        }
    }

    fn apply(&self, card: &PointsCard, position: usize, event: &Event) -> Result<CardOutcome, CardRefusal> {
        let now = self.now(self.now);
        let (lot, pending) = (id("lot", position), id("pend", position));
        match event {
            Event::Earn { points, plan, hold } => {
                let arrival = Credit { lot: &lot, expiration: &plan.expiration() };
                card.earn(small(*points), arrival, &hold.delay(), &pending, &now)
            }
            Event::Add { points, plan } => {
                card.add(small(*points), Credit { lot: &lot, expiration: &plan.expiration() }, &now)
            }
            Event::Purchase { points, plan } => {
                card.purchase(small(*points), Credit { lot: &lot, expiration: &plan.expiration() }, &now)
            }
            Event::Spend { points } => card.take(DebitReason::Spend, small(*points), &now),
            Event::Subtract { points, below } => {
                card.take(DebitReason::Subtract { below_zero: *below }, small(*points), &now)
            }
            Event::Reverse { points } => card.take(DebitReason::ReversePurchase, small(*points), &now),
            Event::Refund { spend, points } => card.refund(&self.spent[spend], small(*points), &now),
            Event::Revoke { earn, points, how } => {
                let earned = EarnedPoints { points: small(*points), ..self.earned[earn].clone() };
                let how = match how {
                    How::Pending => Revocation::FromPending,
                    How::ToZero => Revocation::ToZero,
                    How::BelowZero => Revocation::BelowZero,
                };
                card.revoke(&earned, how, &now)
            }
            Event::Expire { lot } => card.expire(&id("lot", *lot), &now),
            Event::Activate { earn } => card.activate(&id("pend", *earn), &now),
            Event::Cancel { earn } => card.cancel(&id("pend", *earn), &now),
            Event::Happens { kind } => card.event(kind, &now),
        }
    }

    /// Applies one operation to both cards and to the second model.
    fn take(&mut self, act: &Act) -> TestCaseResult {
        // Points that were activated by time get their account before anything takes them back.
        self.learn(&self.card.settle(&self.now(self.now)).unwrap().due);
        let Some(event) = self.choose(act) else { return Ok(()) };
        let position = self.events.len();
        let done = self.apply(&self.card, position, &event);
        let read = self.rows.read(&self.named(&event));
        let also = self.apply(&read, position, &event);
        self.events.push((self.now, event));
        let allowed = UnitPointsModel::play(self.calendar, &self.events, self.now).is_some();
        prop_assert_eq!(done.is_ok(), allowed, "{:?}: {:?}", self.events.last(), done);
        prop_assert_eq!(also.is_ok(), allowed, "{:?}", self.events.last());
        let (Ok(done), Ok(also)) = (done, also) else {
            self.events.pop();
            return Ok(());
        };
        prop_assert!(also.due.is_empty(), "what was swept is due");
        prop_assert_eq!(&done.steps, &also.steps);
        prop_assert_eq!(essence(&done.card), essence(&also.card));
        self.earliest_first(&done)?;
        self.rows.write(&read, &also);
        self.swept.extend(also.steps);
        self.post(&done)?;
        self.learn(&done.due);
        self.learn(&done.steps);
        let back = done.steps.iter().any(|step| step.cause == MovementCause::Refunded) && done.steps.len() > 1;
        for (kind, is) in [("came back and lapsed", back), ("owes", done.card.debt > 0)] {
            *self.counts.borrow_mut().entry(kind.to_owned()).or_default() += usize::from(is);
        }
        self.keep(position, &done);
        self.card = done.card;
        self.steps.extend(done.due);
        self.steps.extend(done.steps);
        prop_assert_eq!(&self.steps, &self.swept);
        self.audit()?;
        self.compare(&self.card, self.now)
    }

    fn learn(&mut self, steps: &[CardStep]) {
        for step in steps {
            if let MovementCause::Activated(id) = &step.cause {
                let earned = self.earned.values_mut().find(|earned| earned.pending.as_ref() == Some(id));
                earned.unwrap().lot = step.credited().first().map(|part| part.lot.clone());
            }
        }
    }

    fn keep(&mut self, position: usize, done: &CardOutcome) {
        let step = done.steps.first();
        match &self.events[position].1 {
            Event::Earn { points, hold, .. } => {
                let pending = (*hold != Hold::No && *points > 0).then(|| id("pend", position));
                let lot = step.and_then(|step| step.credited().first().map(|part| part.lot.clone()));
                self.earned.insert(position, EarnedPoints { pending, lot, points: small(*points) });
            }
            Event::Spend { .. } => {
                let parts = step.map(CardStep::debited).unwrap_or_default();
                self.spent.insert(position, SpentPoints { parts, refunded: 0 });
            }
            Event::Refund { spend, points } => self.spent.get_mut(spend).unwrap().refunded += small(*points),
            Event::Revoke { earn, points, .. } => self.earned.get_mut(earn).unwrap().points -= small(*points),
            _ => {}
        }
    }

    /// Checks that no remaining point expires before a spent one.
    fn earliest_first(&self, done: &CardOutcome) -> TestCaseResult {
        let Some(CardStep { cause: MovementCause::Debited(LifetimeTotal::Spent), .. }) = done.steps.first() else {
            return Ok(());
        };
        let before = self.card.settle(&self.now(self.now)).unwrap().card;
        let end = |id: &Text| before.lots.iter().find(|lot| lot.id == *id).unwrap().expiry.expires_at();
        let late = |end: Option<Instant>| end.unwrap_or(Instant::LATEST);
        let taken: Vec<LotPart> = done.steps[0].debited();
        let last = taken.iter().map(|part| late(end(&part.lot))).max();
        let left = done.card.lots.iter().filter(|lot| lot.is_open()).map(|lot| late(end(&lot.id))).min();
        prop_assert!(left.is_none_or(|left| Some(left) >= last), "{:?}", taken);
        Ok(())
    }

    /// The ledger receives the movements: each step is a chain with an id from its subject.
    fn post(&mut self, done: &CardOutcome) -> TestCaseResult {
        let chains = done.due.iter().map(|step| (format!("{:?}", step.cause), step));
        let own = done.steps.iter().enumerate().map(|(count, step)| (format!("{}.{count}", self.events.len()), step));
        for (chain, step) in chains.chain(own) {
            let cause = format!("{:?}", step.cause);
            let kind = if cause.contains('_') { cause.split('(').next().unwrap_or_default() } else { &cause };
            *self.counts.borrow_mut().entry(kind.to_owned()).or_default() += 1;
            let mut book = Book::default();
            for movement in &step.movements {
                if let PointsAccount::Lot(_) | PointsAccount::Pending(_) = movement.from {
                    let account = card_account(CARD, &movement.from);
                    let account_state = self.journal.account_state(&account, Some(0), step.at, None).unwrap();
                    book.open(account, account_state);
                }
            }
            prop_assert!(!step.movements.is_empty(), "a step of nothing");
            prop_assert!(book.post(card_transfers(CARD, &chain.into(), step)).is_ok(), "{:?}", step);
            let entries = book.into_entries();
            self.journal.apply(&entries).unwrap();
            self.journal.apply(&entries).unwrap();
        }
        Ok(())
    }

    /// Checks that every point is accounted for, and that the ledger agrees for every account.
    fn audit(&self) -> TestCaseResult {
        let card = &self.card;
        let of = |total| card.lifetime_totals.of(total);
        let came: u64 =
            [LifetimeTotal::Earned, LifetimeTotal::Added, LifetimeTotal::Purchased, LifetimeTotal::Refunded]
                .map(of)
                .iter()
                .sum();
        let went = [
            LifetimeTotal::Spent,
            LifetimeTotal::Subtracted,
            LifetimeTotal::Expired,
            LifetimeTotal::Returned,
            LifetimeTotal::PurchaseReversed,
        ];
        let there: u64 = card.lots.iter().map(|lot| lot.points).sum();
        prop_assert_eq!(came + card.debt, there + went.map(of).iter().sum::<u64>());
        let resolved_pending =
            of(LifetimeTotal::PendingActivated) + of(LifetimeTotal::PendingCanceled) + card.pending_points();
        prop_assert_eq!(of(LifetimeTotal::PendingTotal), resolved_pending);
        prop_assert!(of(LifetimeTotal::PendingActivated) <= of(LifetimeTotal::Earned));
        prop_assert!(card.debt == 0 || there == 0, "it owes and has");
        let balance = |position: &PointsAccount| self.journal.balance(&card_account(CARD, position));
        for lot in &card.lots {
            prop_assert_eq!(balance(&PointsAccount::Lot(lot.id.clone())), i64::try_from(lot.points).unwrap());
        }
        for pending in &card.pending {
            prop_assert_eq!(
                balance(&PointsAccount::Pending(pending.id.clone())),
                i64::try_from(pending.points).unwrap()
            );
        }
        prop_assert_eq!(balance(&PointsAccount::Debt), -i64::try_from(card.debt).unwrap());
        prop_assert_eq!(&card_lifetime_totals(CARD, |account| self.journal.balance(account)), &card.lifetime_totals);
        prop_assert_eq!(self.journal.balances().map(|(_, balance)| balance).sum::<i64>(), 0);
        for total in LifetimeTotal::ALL {
            let balance = balance(&PointsAccount::LifetimeTotal(total));
            prop_assert!(if total.gives() { balance <= 0 } else { balance >= 0 }, "{:?}", total);
        }
        Ok(())
    }
}

#[test]
fn lots_equal_single_points_and_every_point_is_accounted_for() {
    let almanacs = almanacs();
    let start = (0..ZONE_COUNT, 1_262_304_000_000..1_900_000_000_000_i64);
    let terms = (prop::collection::vec(plan(), 3), hold().prop_map(|hold| vec![Hold::No, hold]));
    let acts = prop::collection::vec((pass(), act()), 1..22);
    let counts = RefCell::new(BTreeMap::new());
    holds(HISTORIES, (start, terms, acts), |((zone, now), (plans, holds), acts)| {
        let mut trial = CardHistory {
            calendar: &almanacs[zone],
            plans: &plans,
            holds: &holds,
            now,
            events: vec![],
            card: PointsCard::default(),
            steps: vec![],
            rows: Rows::default(),
            swept: vec![],
            journal: Journal::default(),
            counts: &counts,
            spent: BTreeMap::new(),
            earned: BTreeMap::new(),
        };
        for (pass, act) in &acts {
            trial.pass(pass)?;
            trial.take(act)?;
        }
        trial.probe(trial.now + 40_000_000_000)
    });
    // A property of something that never happens proves nothing.
    let counts = counts.into_inner();
    println!("{counts:?}");
    assert_eq!(counts.len(), 15, "{counts:?}");
    assert!(counts.values().all(|count| *count > 500), "{counts:?}");
}
