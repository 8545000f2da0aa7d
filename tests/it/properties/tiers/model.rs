//! Models tiers in the simple way: a list of all events. Every instant at which a tier may change is evaluated, and the points of each
//! period are summed from the list.

use crate::properties::points::calendar_model::CalendarModel;
use crate::properties::points::operations::{Plan, Span};

/// A tier: its lower and upper bound of points, its segment, and the flag of a permanent tier.
pub type Level = (u64, Option<u64>, Option<usize>, bool);

/// A tier structure.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The tracking period, and a flag if the period of reaching counts; the balance without a period.
    pub tracked: Option<(Span, bool)>,
    pub plan: Plan,
    /// 0 for no downgrade, 1 for one level, 2 for all levels.
    pub fall: u8,
    pub grace: Option<(Span, bool)>,
    /// Lowest first.
    pub levels: Vec<Level>,
}

/// An event with its instant.
#[derive(Debug, Clone)]
pub struct Event {
    pub at: i64,
    pub balance: i64,
    pub earned: i64,
    /// A segment that the member enters or leaves.
    pub toggles: Option<usize>,
    pub is_active: bool,
}

/// The state of the member.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    pub level: Option<usize>,
    pub since: i64,
    pub until: Option<i64>,
    pub grace: Option<i64>,
}

/// A tier event: the instant, the type, the previous tier, the new tier, and the points.
pub type ExpectedChange = (i64, &'static str, Option<usize>, Option<usize>, i64);

pub struct Model<'a> {
    pub rules: &'a Rules,
    pub calendar: &'a CalendarModel,
}

impl Model<'_> {
    fn points(&self, events: &[Event], at: i64) -> i64 {
        let earned = |from: i64, to: i64| {
            events
                .iter()
                .filter(|event| event.at >= from && event.at < to)
                .map(|event| event.earned)
                .sum::<i64>()
                .max(0)
        };
        match self.rules.tracked {
            None => events.iter().filter(|event| event.at <= at).map(|event| event.balance).sum(),
            Some((span, true)) => earned(self.calendar.tracked(span, at).0, at + 1),
            Some((span, false)) => {
                let begin = self.calendar.tracked(span, at).0;
                earned(self.calendar.tracked(span, begin - 1).0, begin)
            }
        }
    }

    fn is_in(events: &[Event], segment: Option<usize>, at: i64) -> bool {
        let Some(segment) = segment else { return true };
        let times = events.iter().filter(|event| event.at <= at && event.toggles == Some(segment)).count();
        times % 2 == 1
    }

    fn fit(&self, events: &[Event], at: i64, points: i64) -> Option<usize> {
        let fits = |(_, (min, max, segment, _)): &(usize, &Level)| {
            points >= i64::try_from(*min).unwrap()
                && max.is_none_or(|max| points <= i64::try_from(max).unwrap())
                && Model::is_in(events, *segment, at)
        };
        self.rules.levels.iter().enumerate().filter(fits).map(|(place, _)| place).max()
    }

    fn term(&self, from: i64) -> Option<i64> {
        self.calendar.expiry_of(&self.rules.plan, from)
    }

    /// Replays everything from the beginning until now.
    pub fn play(&self, begin: i64, events: &[Event], now: i64) -> (Place, Vec<ExpectedChange>) {
        let (mut place, mut changes) = (Place { since: begin, ..Place::default() }, Vec::new());
        let (mut fit, mut next) = (None, Some(begin));
        while let Some(at) = next.filter(|at| *at <= now) {
            let points = self.points(events, at);
            let before = (place.level, fit);
            fit = self.fit(events, at, points);
            let begins = self.rules.tracked.is_some_and(|(span, _)| self.calendar.tracked(span, at).0 == at);
            let is_due = place.grace.or(place.until) == Some(at);
            if begins || is_due || fit != before.1 {
                let is_in = |level: usize| Model::is_in(events, self.rules.levels[level].2, at);
                if let Some(name) = self.evaluate(&mut place, fit, at, &is_in) {
                    changes.push((at, name, before.0, place.level, points));
                }
            }
            let is_active = events.iter().any(|event| event.at == at && event.is_active);
            if matches!(self.rules.plan, Plan::Sliding(..)) && is_active && place.grace.is_none() {
                place.until = place.until.map(|until| until.max(self.term(at).unwrap()));
            }
            let event = events.iter().map(|event| event.at).filter(|other| *other > at).min();
            let boundary = self.rules.tracked.map(|(span, _)| self.calendar.tracked(span, at).1);
            next = [event, boundary, place.grace.or(place.until)].into_iter().flatten().min();
        }
        (place, changes)
    }

    fn evaluate(
        &self,
        place: &mut Place,
        fit: Option<usize>,
        at: i64,
        is_in: &dyn Fn(usize) -> bool,
    ) -> Option<&'static str> {
        let enter =
            |level: Option<usize>| Place { level, since: at, until: level.and_then(|_| self.term(at)), grace: None };
        let Some(level) = place.level else {
            *place = if fit.is_some() { enter(fit) } else { return None };
            return Some("JOINED");
        };
        if fit > Some(level) {
            *place = enter(fit);
            return Some("UPGRADED");
        }
        let is_over = place.until.is_some_and(|until| until <= at);
        let falls = |level: usize| self.rules.fall > 0 && !self.rules.levels[level].3;
        if fit == Some(level) || !falls(level) {
            let was_graced = place.grace.take().is_some();
            if !is_over {
                return None;
            }
            // A term follows another: its first day is the day after the last day of the previous one.
            place.until = match self.rules.plan {
                Plan::Calendar(_) => self.term(at),
                _ if was_graced => self.term(at),
                _ => self.term(at - 1).filter(|end| *end > at).or_else(|| self.term(at)),
            };
            return Some("PROLONGED");
        }
        let is_held = self.rules.plan != Plan::Never && !is_over;
        if is_held || place.grace.is_some_and(|grace| grace > at) {
            return None;
        }
        let ends = self.rules.grace.map(|(span, round_up)| self.calendar.grace(span, round_up, at));
        if place.grace.is_none() && ends.is_some() {
            place.grace = ends;
            return None;
        }
        let to = if self.rules.fall == 2 { fit } else { (0..level).rev().find(|lower| is_in(*lower)) };
        *place = enter(to);
        if let Some(to) = to.filter(|to| self.rules.plan == Plan::Never && fit != Some(*to) && falls(*to)) {
            assert!(to < level, "who falls is lower then");
            place.grace = ends;
        }
        Some(if to.is_some() { "DOWNGRADED" } else { "LEFT" })
    }
}
