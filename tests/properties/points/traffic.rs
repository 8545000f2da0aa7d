//! Ten thousand histories of a card, over changes of clocks and the ends of years: the engine's lots are the single points of
//! the second model, every point is somewhere on every prefix, what lapses first is spent first, and a card that is swept
//! often, once or never is the same card, whether it is kept in memory or its rows are read each time.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use scrip::facts::cards::{card_account, card_figures, card_transfers};
use scrip::ledger::{Book, Journal};
use scrip::points::{
    Arrival, Card, Cause, Earned, Figure, Now, Outcome, Part, Place, Refused, Revocation, Spent, Step, Take,
};
use scrip::text::Text;
use scrip::time::Instant;

use super::almanac::{Almanac, ZONE_COUNT, almanacs};
use super::dates::near;
use super::plan::{Hold, Plan, hold, plan};
use super::rows::{Rows, essence};
use super::tokens::{Event, How, Tokens};
use crate::holds;

const HISTORIES: u32 = 10_000;
const CARD: &str = "lcrd_1";

/// What is tried next; what it is about is chosen among what happened.
#[derive(Debug, Clone)]
enum Act {
    Earn(usize, usize, usize),
    Add(usize, usize),
    Purchase(usize, usize),
    Spend(usize),
    Subtract(usize, bool),
    Reverse(usize),
    Refund(usize, usize),
    Revoke(usize, usize, How),
    Expire(usize),
    Activate(usize),
    Cancel(usize),
    Happens(&'static str),
}

/// How time passes before it.
#[derive(Debug, Clone)]
enum Pass {
    By(i64),
    /// To a change of clocks, the next year, or the next moment at which something is due, and so much further.
    To(u8, i64),
}

fn act() -> impl Strategy<Value = Act> {
    let (few, any_of) = (0..9_usize, 0..1_000_usize);
    let how = prop_oneof![Just(How::Pending), Just(How::ToZero), Just(How::BelowZero)];
    let all = prop_oneof![1 => 0..6_usize, 2 => Just(99)];
    prop_oneof![
        8 => (few.clone(), 0..3_usize, 0..2_usize).prop_map(|(points, plan, hold)| Act::Earn(points, plan, hold)),
        1 => (few.clone(), 0..3_usize).prop_map(|(points, plan)| Act::Add(points, plan)),
        1 => (few.clone(), 0..3_usize).prop_map(|(points, plan)| Act::Purchase(points, plan)),
        6 => (0..10_usize).prop_map(Act::Spend),
        1 => (few.clone(), any::<bool>()).prop_map(|(points, below)| Act::Subtract(points, below)),
        1 => few.prop_map(Act::Reverse),
        5 => (any_of.clone(), all.clone()).prop_map(|(which, points)| Act::Refund(which, points)),
        4 => (any_of.clone(), all, how).prop_map(|(which, points, how)| Act::Revoke(which, points, how)),
        1 => any_of.clone().prop_map(Act::Expire),
        1 => any_of.clone().prop_map(Act::Activate),
        1 => any_of.prop_map(Act::Cancel),
        2 => prop::sample::select(vec!["ms_a", "ms_b"]).prop_map(Act::Happens),
    ]
}

fn pass() -> impl Strategy<Value = Pass> {
    const DAY: i64 = 86_400_000;
    prop_oneof![
        5 => (0..DAY / 8).prop_map(Pass::By),
        3 => (0..5 * DAY).prop_map(Pass::By),
        1 => (0..60 * DAY).prop_map(Pass::By),
        1 => (0..400 * DAY).prop_map(Pass::By),
        1 => (0..2_u8, -DAY / 8..DAY / 8).prop_map(|(sort, by)| Pass::To(sort, by)),
        2 => (Just(2_u8), prop_oneof![Just(-1_i64), Just(0), Just(1)]).prop_map(|(sort, by)| Pass::To(sort, by)),
    ]
}

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis).unwrap()
}

fn id(kind: &str, place: usize) -> Text {
    format!("{kind}_{place:04}").into()
}

fn small(points: usize) -> u64 {
    u64::try_from(points).unwrap()
}

struct Trial<'a> {
    almanac: &'a Almanac,
    plans: &'a [Plan],
    holds: &'a [Hold],
    now: i64,
    /// What was done, as the second model reads it.
    events: Vec<(i64, Event)>,
    /// Kept in memory, swept by nobody.
    card: Card,
    steps: Vec<Step>,
    /// Kept as rows, swept whenever time passes.
    rows: Rows,
    swept: Vec<Step>,
    journal: Journal,
    seen: &'a RefCell<BTreeMap<String, usize>>,
    /// What was spent, and what was earned and in how much it was not revoked, by event.
    spent: BTreeMap<usize, Spent>,
    earned: BTreeMap<usize, Earned>,
}

impl Trial<'_> {
    fn now(&self, millis: i64) -> Now<'_> {
        Now { at: at(millis), zone: &self.almanac.zone }
    }

    fn pass(&mut self, pass: &Pass) -> TestCaseResult {
        let next = match pass {
            Pass::By(by) => self.now + by,
            Pass::To(2, by) => self.card.next_due().map_or(self.now, |due| due.millis() + by),
            Pass::To(sort, by) => near(self.almanac, self.now, *sort, *by),
        };
        // The clock of a card never goes back, and not beyond the years that are known.
        let next = next.clamp(self.now, 3_000_000_000_000);
        self.probe(next)?;
        for moment in [self.now + (next - self.now) / 3, next] {
            let before = self.rows.read(&[]);
            let outcome = before.settle(&self.now(moment)).unwrap();
            self.rows.write(&before, &outcome);
            self.swept.extend(outcome.due);
        }
        self.now = next;
        Ok(())
    }

    /// Reading is settling: at once, in two steps, or in the second model; and nobody wrote anything.
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

    fn compare(&self, card: &Card, until: i64) -> TestCaseResult {
        let model = Tokens::play(self.almanac, &self.events, until).unwrap();
        prop_assert_eq!(card.balance(), model.balance());
        prop_assert_eq!(card.debt, small(model.owed));
        for (figure, count) in Figure::ALL.into_iter().zip(model.counts) {
            prop_assert_eq!(card.figures.of(figure), small(count), "{:?}", figure);
        }
        for place in 0..self.events.len() {
            let lot = card.lots.iter().find(|lot| lot.id == id("lot", place) && lot.is_open());
            let known = model.lots[place].as_ref().filter(|_| model.inside(place) > 0);
            prop_assert_eq!(lot.is_some(), known.is_some(), "lot {}", place);
            if let Some((lot, known)) = lot.zip(known) {
                prop_assert_eq!(lot.points, small(model.inside(place)), "lot {}", place);
                prop_assert_eq!(lot.expiry.lapses_at().map(Instant::millis), known.end, "lot {}", place);
                prop_assert_eq!(lot.arrived_at, at(known.arrived));
            }
            let waiting = card.pending.iter().find(|pending| pending.id == id("pend", place));
            prop_assert_eq!(waiting.map_or(0, |pending| pending.points), small(model.waiting(place)));
        }
        let soonest = model.lots.iter().enumerate().filter(|(place, _)| model.inside(*place) > 0);
        let soonest: Vec<(i64, usize)> =
            soonest.filter_map(|(place, lot)| Some((lot.as_ref()?.end?, model.inside(place)))).collect();
        let end = soonest.iter().map(|(end, _)| *end).min();
        let points = soonest.iter().filter(|(at, _)| Some(*at) == end).map(|(_, points)| points).sum::<usize>();
        let next = card.next_expiration(&self.almanac.zone);
        prop_assert_eq!(next.map_or(0, |next| next.points), small(points));
        Ok(())
    }

    /// What comes from the places that an act names; nothing when there is nothing to name.
    fn choose(&self, act: &Act) -> Option<Event> {
        let among = |known: Vec<usize>, which: usize| known.get(which % known.len().max(1)).copied();
        let plan = |which: usize| self.plans[which].clone();
        Some(match act {
            Act::Earn(points, one, other) => {
                Event::Earn { points: *points, plan: plan(*one), hold: self.holds[*other].clone() }
            }
            Act::Add(points, one) => Event::Add { points: *points, plan: plan(*one) },
            Act::Purchase(points, one) => Event::Purchase { points: *points, plan: plan(*one) },
            Act::Spend(points) => {
                // Sometimes one more than there is.
                let there = self.card.settle(&self.now(self.now)).unwrap().card.available();
                Event::Spend { points: points % (usize::try_from(there).unwrap() + 2) }
            }
            Act::Subtract(points, below) => Event::Subtract { points: *points, below: *below },
            Act::Reverse(points) => Event::Reverse { points: *points },
            Act::Refund(which, points) => {
                let spend = among(self.spent.keys().copied().collect(), *which)?;
                let spent = &self.spent[&spend];
                let left = spent.parts.iter().map(|part| part.points).sum::<u64>() - spent.refunded;
                // Sometimes more than there is.
                let points = if *points == 99 { usize::try_from(left).unwrap() } else { *points };
                Event::Refund { spend, points }
            }
            Act::Revoke(which, points, how) => {
                let earn = among(self.earned.keys().copied().collect(), *which)?;
                let left = usize::try_from(self.earned[&earn].points).unwrap();
                Event::Revoke { earn, points: left.min(*points), how: *how }
            }
            Act::Expire(which) => {
                let known = self.card.lots.iter().filter_map(|lot| lot.id.strip_prefix("lot_")?.parse().ok());
                Event::Expire { lot: among(known.collect(), *which)? }
            }
            Act::Activate(which) => Event::Activate { earn: self.waited(*which)? },
            Act::Cancel(which) => Event::Cancel { earn: self.waited(*which)? },
            Act::Happens(kind) => Event::Happens { kind },
        })
    }

    fn waited(&self, which: usize) -> Option<usize> {
        let waits = |(place, earned): (&usize, &Earned)| earned.pending.is_some().then_some(*place);
        let known: Vec<usize> = self.earned.iter().filter_map(waits).collect();
        known.get(which % known.len().max(1)).copied()
    }

    /// Which lots an event is about, beside the open ones.
    fn named(&self, event: &Event) -> Vec<Text> {
        match event {
            Event::Refund { spend, .. } => self.spent[spend].parts.iter().map(|part| part.lot.clone()).collect(),
            Event::Revoke { earn, .. } => self.earned[earn].lot.iter().cloned().collect(),
            Event::Expire { lot } => vec![id("lot", *lot)],
            _ => vec![],
        }
    }

    fn apply(&self, card: &Card, place: usize, event: &Event) -> Result<Outcome, Refused> {
        let now = self.now(self.now);
        let (lot, pending) = (id("lot", place), id("pend", place));
        match event {
            Event::Earn { points, plan, hold } => {
                let arrival = Arrival { lot: &lot, expiration: &plan.expiration() };
                card.earn(small(*points), arrival, (&hold.delay(), &pending), &now)
            }
            Event::Add { points, plan } => {
                card.add(small(*points), Arrival { lot: &lot, expiration: &plan.expiration() }, &now)
            }
            Event::Purchase { points, plan } => {
                card.purchase(small(*points), Arrival { lot: &lot, expiration: &plan.expiration() }, &now)
            }
            Event::Spend { points } => card.take(Take::Spend, small(*points), &now),
            Event::Subtract { points, below } => card.take(Take::Subtract { below_zero: *below }, small(*points), &now),
            Event::Reverse { points } => card.take(Take::ReversePurchase, small(*points), &now),
            Event::Refund { spend, points } => card.refund(&self.spent[spend], small(*points), &now),
            Event::Revoke { earn, points, how } => {
                let earned = Earned { points: small(*points), ..self.earned[earn].clone() };
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

    /// One act, on both cards and in the second model.
    fn take(&mut self, act: &Act) -> TestCaseResult {
        // What was activated by time tells where its points are before somebody wants them back.
        self.learn(&self.card.settle(&self.now(self.now)).unwrap().due);
        let Some(event) = self.choose(act) else { return Ok(()) };
        let place = self.events.len();
        let done = self.apply(&self.card, place, &event);
        let read = self.rows.read(&self.named(&event));
        let also = self.apply(&read, place, &event);
        self.events.push((self.now, event));
        let allowed = Tokens::play(self.almanac, &self.events, self.now).is_some();
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
        let back = done.steps.iter().any(|step| step.cause == Cause::Refunded) && done.steps.len() > 1;
        for (kind, is) in [("came back and lapsed", back), ("owes", done.card.debt > 0)] {
            *self.seen.borrow_mut().entry(kind.to_owned()).or_default() += usize::from(is);
        }
        self.keep(place, &done);
        self.card = done.card;
        self.steps.extend(done.due);
        self.steps.extend(done.steps);
        prop_assert_eq!(&self.steps, &self.swept);
        self.audit()?;
        self.compare(&self.card, self.now)
    }

    fn learn(&mut self, steps: &[Step]) {
        for step in steps {
            if let Cause::Activated(id) = &step.cause {
                let earned = self.earned.values_mut().find(|earned| earned.pending.as_ref() == Some(id));
                earned.unwrap().lot = step.brought().first().map(|part| part.lot.clone());
            }
        }
    }

    fn keep(&mut self, place: usize, done: &Outcome) {
        let step = done.steps.first();
        match &self.events[place].1 {
            Event::Earn { points, hold, .. } => {
                let pending = (*hold != Hold::No && *points > 0).then(|| id("pend", place));
                let lot = step.and_then(|step| step.brought().first().map(|part| part.lot.clone()));
                self.earned.insert(place, Earned { pending, lot, points: small(*points) });
            }
            Event::Spend { .. } => {
                let parts = step.map(Step::taken).unwrap_or_default();
                self.spent.insert(place, Spent { parts, refunded: 0 });
            }
            Event::Refund { spend, points } => self.spent.get_mut(spend).unwrap().refunded += small(*points),
            Event::Revoke { earn, points, .. } => self.earned.get_mut(earn).unwrap().points -= small(*points),
            _ => {}
        }
    }

    /// Nothing that is left lapses before something that was spent.
    fn earliest_first(&self, done: &Outcome) -> TestCaseResult {
        let Some(Step { cause: Cause::Taken(Figure::Spent), .. }) = done.steps.first() else { return Ok(()) };
        let before = self.card.settle(&self.now(self.now)).unwrap().card;
        let end = |id: &Text| before.lots.iter().find(|lot| lot.id == *id).unwrap().expiry.lapses_at();
        let late = |end: Option<Instant>| end.unwrap_or(Instant::LATEST);
        let taken: Vec<Part> = done.steps[0].taken();
        let last = taken.iter().map(|part| late(end(&part.lot))).max();
        let left = done.card.lots.iter().filter(|lot| lot.is_open()).map(|lot| late(end(&lot.id))).min();
        prop_assert!(left.is_none_or(|left| Some(left) >= last), "{:?}", taken);
        Ok(())
    }

    /// The ledger takes what moved: each step is a chain, and known again by what it is about.
    fn post(&mut self, done: &Outcome) -> TestCaseResult {
        let chains = done.due.iter().map(|step| (format!("{:?}", step.cause), step));
        let own = done.steps.iter().enumerate().map(|(count, step)| (format!("{}.{count}", self.events.len()), step));
        for (chain, step) in chains.chain(own) {
            let cause = format!("{:?}", step.cause);
            let kind = if cause.contains('_') { cause.split('(').next().unwrap_or_default() } else { &cause };
            *self.seen.borrow_mut().entry(kind.to_owned()).or_default() += 1;
            let mut book = Book::default();
            for movement in &step.movements {
                if let Place::Lot(_) | Place::Pending(_) = movement.from {
                    let account = card_account(CARD, &movement.from);
                    let standing = self.journal.standing(&account, Some(0), step.at, None);
                    book.open(account, standing);
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

    /// Every point that came is somewhere, and the ledger says the same of every place.
    fn audit(&self) -> TestCaseResult {
        let card = &self.card;
        let of = |figure| card.figures.of(figure);
        let came: u64 = [Figure::Earned, Figure::Added, Figure::Purchased, Figure::Refunded].map(of).iter().sum();
        let went = [Figure::Spent, Figure::Subtracted, Figure::Expired, Figure::Returned, Figure::PurchaseReversed];
        let there: u64 = card.lots.iter().map(|lot| lot.points).sum();
        prop_assert_eq!(came + card.debt, there + went.map(of).iter().sum::<u64>());
        let waited = of(Figure::PendingActivated) + of(Figure::PendingCanceled) + card.waiting();
        prop_assert_eq!(of(Figure::PendingTotal), waited);
        prop_assert!(of(Figure::PendingActivated) <= of(Figure::Earned));
        prop_assert!(card.debt == 0 || there == 0, "it owes and has");
        let balance = |place: &Place| self.journal.balance(&card_account(CARD, place));
        for lot in &card.lots {
            prop_assert_eq!(balance(&Place::Lot(lot.id.clone())), i64::try_from(lot.points).unwrap());
        }
        for pending in &card.pending {
            prop_assert_eq!(balance(&Place::Pending(pending.id.clone())), i64::try_from(pending.points).unwrap());
        }
        prop_assert_eq!(balance(&Place::Debt), -i64::try_from(card.debt).unwrap());
        prop_assert_eq!(&card_figures(CARD, |account| self.journal.balance(account)), &card.figures);
        prop_assert_eq!(self.journal.balances().map(|(_, balance)| balance).sum::<i64>(), 0);
        for figure in Figure::ALL {
            let balance = balance(&Place::Figure(figure));
            prop_assert!(if figure.gives() { balance <= 0 } else { balance >= 0 }, "{:?}", figure);
        }
        Ok(())
    }
}

#[test]
fn lots_are_single_points_and_every_point_is_somewhere() {
    let almanacs = almanacs();
    let start = (0..ZONE_COUNT, 1_262_304_000_000..1_900_000_000_000_i64);
    let terms = (prop::collection::vec(plan(), 3), hold().prop_map(|hold| vec![Hold::No, hold]));
    let acts = prop::collection::vec((pass(), act()), 1..22);
    let seen = RefCell::new(BTreeMap::new());
    holds(HISTORIES, (start, terms, acts), |((zone, now), (plans, holds), acts)| {
        let mut trial = Trial {
            almanac: &almanacs[zone],
            plans: &plans,
            holds: &holds,
            now,
            events: vec![],
            card: Card::default(),
            steps: vec![],
            rows: Rows::default(),
            swept: vec![],
            journal: Journal::default(),
            seen: &seen,
            spent: BTreeMap::new(),
            earned: BTreeMap::new(),
        };
        for (pass, act) in &acts {
            trial.pass(pass)?;
            trial.take(act)?;
        }
        trial.probe(trial.now + 40_000_000_000)
    });
    // A property of what never happens says nothing.
    let seen = seen.into_inner();
    println!("{seen:?}");
    assert_eq!(seen.len(), 15, "{seen:?}");
    assert!(seen.values().all(|count| *count > 500), "{seen:?}");
}
