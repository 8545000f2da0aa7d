//! Models a card of single points: every point is an object, and every query replays all events from the first. It shares no code with the
//! engine's lots.

use super::calendar_model::CalendarModel;
use super::operations::{Hold, Plan};

/// An event; its index among all events is its name.
#[derive(Debug, Clone)]
pub enum Event {
    Earn { points: usize, plan: Plan, hold: Hold },
    Add { points: usize, plan: Plan },
    Purchase { points: usize, plan: Plan },
    Spend { points: usize },
    Subtract { points: usize, below: bool },
    Reverse { points: usize },
    Refund { spend: usize, points: usize },
    Revoke { earn: usize, points: usize, how: How },
    Expire { lot: usize },
    Activate { earn: usize },
    Cancel { earn: usize },
    Happens { kind: &'static str },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum How {
    Pending,
    ToZero,
    BelowZero,
}

/// The state of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Whereabouts {
    Pending,
    In(usize),
    Spent(usize, usize),
    Gone,
}

struct Point {
    earn: usize,
    is: Whereabouts,
    /// The order in which it was spent.
    taken: usize,
}

/// Points that expire together: points that arrived with the same expiry as existing ones.
pub struct Lot {
    plan: Plan,
    pub end: Option<i64>,
    pub arrived: i64,
    pub closed: bool,
    expired: usize,
}

/// The order of spending: points that never expire last, then by expiry, age and index of the lot.
type Turn = (bool, Option<i64>, i64, usize);

/// Counters, in the order of the engine's totals.
pub const EARNED: usize = 0;
pub const ADDED: usize = 1;
pub const PURCHASED: usize = 2;
pub const REFUNDED: usize = 3;
pub const SPENT: usize = 4;
pub const SUBTRACTED: usize = 5;
pub const EXPIRED: usize = 6;
pub const RETURNED: usize = 7;
pub const REVERSED: usize = 8;
pub const WAITED: usize = 9;
pub const ACTIVATED: usize = 10;
pub const CANCELED: usize = 11;

pub struct UnitPointsModel<'a> {
    calendar: &'a CalendarModel,
    events: &'a [(i64, Event)],
    points: Vec<Point>,
    /// By the event that created them.
    pub lots: Vec<Option<Lot>>,
    /// The lot that received the points of each event.
    pub came_to: Vec<Option<usize>>,
    pub owed: usize,
    pub counts: [usize; 12],
    now: i64,
    taken: usize,
}

impl<'a> UnitPointsModel<'a> {
    /// Returns the card after all events at an instant; none if the last event is refused.
    pub fn play(calendar: &'a CalendarModel, events: &'a [(i64, Event)], until: i64) -> Option<UnitPointsModel<'a>> {
        let lots = events.iter().map(|_| None).collect();
        let came_to = vec![None; events.len()];
        let mut card = UnitPointsModel {
            calendar,
            events,
            points: vec![],
            lots,
            came_to,
            owed: 0,
            counts: [0; 12],
            now: 0,
            taken: 0,
        };
        for (position, (at, event)) in events.iter().enumerate() {
            card.pass(*at);
            card.take(position, event)?;
        }
        card.pass(until);
        Some(card)
    }

    pub fn inside(&self, lot: usize) -> usize {
        self.points.iter().filter(|point| point.is == Whereabouts::In(lot)).count()
    }

    pub fn pending_points(&self, earn: usize) -> usize {
        self.points.iter().filter(|point| point.is == Whereabouts::Pending && point.earn == earn).count()
    }

    pub fn balance(&self) -> i64 {
        let there = self.points.iter().filter(|point| matches!(point.is, Whereabouts::In(_))).count();
        there as i64 - self.owed as i64
    }

    fn lot(&mut self, lot: usize) -> &mut Lot {
        self.lots[lot].as_mut().unwrap()
    }

    fn plan(&self, earn: usize) -> (&'a Plan, Option<&'a Hold>) {
        match &self.events[earn].1 {
            Event::Earn { plan, hold, .. } => (plan, Some(hold)),
            Event::Add { plan, .. } | Event::Purchase { plan, .. } => (plan, None),
            other => panic!("{other:?} brings nothing"),
        }
    }

    fn pending_until(&self, earn: usize) -> (Option<i64>, Option<i64>) {
        self.calendar.pending_until(self.plan(earn).1.unwrap(), self.events[earn].0)
    }

    /// Applies everything due until an instant, in order: expirations, then cancellations, then activations.
    fn pass(&mut self, until: i64) {
        loop {
            let mut due: Vec<(i64, u8, usize)> = Vec::new();
            for point in &self.points {
                match point.is {
                    Whereabouts::In(lot) => {
                        due.extend(self.lots[lot].as_ref().unwrap().end.map(|end| (end, 0, lot)));
                    }
                    Whereabouts::Pending => match self.pending_until(point.earn) {
                        (Some(begins), _) => due.push((begins, 2, point.earn)),
                        (None, ends) => due.push((ends.unwrap(), 1, point.earn)),
                    },
                    Whereabouts::Spent(..) | Whereabouts::Gone => {}
                }
            }
            let Some((at, sort, which)) = due.into_iter().min().filter(|(at, ..)| *at <= until) else { break };
            self.now = at;
            match sort {
                0 => self.expire(which),
                1 => _ = self.cancel(which, usize::MAX),
                _ => self.activate(which),
            }
        }
        self.now = until;
    }

    fn expire(&mut self, lot: usize) {
        let count = self.inside(lot);
        self.points.iter_mut().filter(|point| point.is == Whereabouts::In(lot)).for_each(|point| {
            point.is = Whereabouts::Gone;
        });
        self.counts[EXPIRED] += count;
        self.lot(lot).closed = true;
        self.lot(lot).expired += count;
    }

    fn cancel(&mut self, earn: usize, most: usize) -> usize {
        let is_pending = |point: &&mut Point| point.is == Whereabouts::Pending && point.earn == earn;
        let count =
            self.points.iter_mut().filter(is_pending).take(most).map(|point| point.is = Whereabouts::Gone).count();
        self.counts[CANCELED] += count;
        count
    }

    fn activate(&mut self, earn: usize) {
        let count = self.pending_points(earn);
        self.points.retain(|point| !(point.is == Whereabouts::Pending && point.earn == earn));
        self.counts[ACTIVATED] += count;
        self.credit(earn, count, EARNED);
    }

    fn credit(&mut self, event: usize, count: usize, total: usize) {
        let (plan, _) = self.plan(event);
        let end = self.calendar.expiry_of(plan, self.now);
        let alike = |lot: &Lot| {
            let kind = match (&lot.plan, plan) {
                (Plan::Never, Plan::Never)
                | (Plan::Rolling(..), Plan::Rolling(..))
                | (Plan::Calendar(_), Plan::Calendar(_)) => true,
                (Plan::Sliding(..), Plan::Sliding(..)) => lot.plan == *plan,
                _ => false,
            };
            kind && lot.end == end && !lot.closed
        };
        for _ in 0..count {
            self.counts[total] += 1;
            if self.owed > 0 {
                self.owed -= 1;
                self.points.push(Point { earn: event, is: Whereabouts::Gone, taken: 0 });
                continue;
            }
            let known = (0..self.lots.len())
                .filter(|lot| self.lots[*lot].as_ref().is_some_and(alike) && self.inside(*lot) > 0)
                .min_by_key(|lot| (self.lots[*lot].as_ref().unwrap().arrived, *lot));
            let lot = known.unwrap_or_else(|| {
                let arrived = self.now;
                self.lots[event] = Some(Lot { plan: plan.clone(), end, arrived, closed: false, expired: 0 });
                event
            });
            self.came_to[event] = Some(lot);
            self.points.push(Point { earn: event, is: Whereabouts::In(lot), taken: 0 });
        }
    }

    /// Returns the position of an available point in the order of spending.
    fn order_of(&self, point: usize) -> Option<(Turn, usize)> {
        let Whereabouts::In(lot) = self.points[point].is else { return None };
        let known = self.lots[lot].as_ref().unwrap();
        Some(((known.end.is_none(), known.end, known.arrived, lot), point))
    }

    /// Removes one point: of the given lot, or of the one that expires first.
    fn leave(&mut self, of: Option<usize>) -> bool {
        let mine = |((.., lot), _): &(Turn, usize)| of.is_none_or(|of| of == *lot);
        let there = (0..self.points.len()).filter_map(|point| self.order_of(point)).filter(mine);
        let Some((_, point)) = there.min() else { return false };
        self.points[point].is = Whereabouts::Gone;
        true
    }

    /// Extends the lots that expire by inactivity; empty lots are not extended.
    fn active(&mut self, moves: impl Fn(&Plan) -> bool) {
        for lot in 0..self.lots.len() {
            let filled = self.inside(lot) > 0;
            if let Some(known) = self.lots[lot].as_mut().filter(|lot| filled && moves(&lot.plan)) {
                known.end = known.end.max(self.calendar.expiry_of(&known.plan, self.now));
            }
        }
    }

    fn take(&mut self, position: usize, event: &'a Event) -> Option<()> {
        match event {
            Event::Earn { points, hold, .. } => {
                if *points > 0 {
                    self.active(|plan| matches!(plan, Plan::Sliding(_, true, ..)));
                }
                if *hold == Hold::No {
                    self.credit(position, *points, EARNED);
                } else {
                    self.counts[WAITED] += points;
                    let pending_point = || Point { earn: position, is: Whereabouts::Pending, taken: 0 };
                    self.points.extend((0..*points).map(|_| pending_point()));
                }
            }
            Event::Add { points, .. } => self.credit(position, *points, ADDED),
            Event::Purchase { points, .. } => self.credit(position, *points, PURCHASED),
            Event::Spend { points } => self.spend(position, *points)?,
            Event::Subtract { points, below } => self.debit(*points, SUBTRACTED, *below)?,
            Event::Reverse { points } => self.debit(*points, REVERSED, false)?,
            Event::Refund { spend, points } => self.refund(*spend, *points)?,
            Event::Revoke { earn, points, how } => self.revoke(*earn, *points, *how),
            Event::Expire { lot } => {
                let known = self.lots[*lot].as_ref().unwrap();
                if known.closed || known.end.is_none_or(|end| end <= self.now) {
                    return None;
                }
                if self.inside(*lot) > 0 {
                    self.expire(*lot);
                }
            }
            Event::Activate { earn } => {
                (self.pending_points(*earn) > 0).then_some(())?;
                self.activate(*earn);
            }
            Event::Cancel { earn } => (self.cancel(*earn, usize::MAX) > 0).then_some(())?,
            Event::Happens { kind } => self.happens(kind),
        }
        Some(())
    }

    fn spend(&mut self, position: usize, points: usize) -> Option<()> {
        (self.balance().max(0) >= points as i64).then_some(())?;
        // The removed points are selected by their expiry before the extension. Then all present points are extended, including those about
        // to be removed.
        let mut order: Vec<_> = (0..self.points.len()).filter_map(|position| self.order_of(position)).collect();
        order.sort();
        if points > 0 {
            self.active(|plan| matches!(plan, Plan::Sliding(_, _, true, _)));
        }
        for ((.., lot), point) in order.into_iter().take(points) {
            self.taken += 1;
            self.points[point] =
                Point { earn: self.points[point].earn, is: Whereabouts::Spent(position, lot), taken: self.taken };
        }
        self.counts[SPENT] += points;
        Some(())
    }

    fn debit(&mut self, points: usize, total: usize, below: bool) -> Option<()> {
        (below || self.balance().max(0) >= points as i64).then_some(())?;
        for _ in 0..points {
            if !self.leave(None) {
                self.owed += 1;
            }
        }
        self.counts[total] += points;
        Some(())
    }

    fn refund(&mut self, spend: usize, points: usize) -> Option<()> {
        let spent = |point: &Point| matches!(point.is, Whereabouts::Spent(by, _) if by == spend);
        (self.points.iter().filter(|point| spent(point)).count() >= points).then_some(())?;
        for _ in 0..points {
            let positions = (0..self.points.len()).filter(|position| spent(&self.points[*position]));
            let last = positions.max_by_key(|position| self.points[*position].taken)?;
            let Whereabouts::Spent(_, lot) = self.points[last].is else { return None };
            self.counts[REFUNDED] += 1;
            if self.owed > 0 {
                self.owed -= 1;
                self.points[last].is = Whereabouts::Gone;
                continue;
            }
            self.follow(lot);
            self.points[last].is = Whereabouts::In(lot);
        }
        for lot in 0..self.lots.len() {
            let over =
                self.lots[lot].as_ref().is_some_and(|lot| lot.closed || lot.end.is_some_and(|at| at <= self.now));
            if over && self.inside(lot) > 0 {
                self.expire(lot);
            }
        }
        Some(())
    }

    /// Points that return to an empty lot, which activities extend, expire with the last extended lot.
    fn follow(&mut self, lot: usize) {
        let plan = self.lot(lot).plan.clone();
        if self.inside(lot) > 0 || self.lot(lot).closed || !matches!(plan, Plan::Sliding(..)) {
            return;
        }
        let others = (0..self.lots.len()).filter(|other| self.inside(*other) > 0);
        let others =
            others.filter_map(|other| self.lots[other].as_ref()).filter(|other| other.plan == plan && !other.closed);
        let last = others.filter_map(|other| other.end).max();
        self.lot(lot).end = self.lot(lot).end.max(last);
    }

    fn revoke(&mut self, earn: usize, points: usize, how: How) {
        let mut left = points - self.cancel(earn, points);
        if how == How::Pending {
            return;
        }
        if let Some(lot) = self.came_to[earn] {
            let lost = self.lot(lot).expired.min(left);
            self.lot(lot).expired -= lost;
            left -= lost;
            while left > 0 && self.leave(Some(lot)) {
                self.counts[RETURNED] += 1;
                left -= 1;
            }
        }
        while left > 0 && self.leave(None) {
            self.counts[RETURNED] += 1;
            left -= 1;
        }
        if how == How::BelowZero {
            self.counts[RETURNED] += left;
            self.owed += left;
        }
    }

    fn happens(&mut self, kind: &str) {
        self.active(|plan| match plan {
            Plan::Sliding(_, _, _, custom) => custom.as_ref().is_none_or(|types| types.contains(&kind)),
            _ => false,
        });
        for earn in 0..self.events.len() {
            let is_pending = match &self.events[earn].1 {
                Event::Earn { hold: Hold::Event(types, _), .. } => types.contains(&kind),
                _ => false,
            };
            if is_pending && self.pending_points(earn) > 0 {
                self.activate(earn);
            }
        }
    }
}
