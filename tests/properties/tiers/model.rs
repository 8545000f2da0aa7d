//! Tiers in the obvious way: all that happened is a list, and every moment at which something may become another is looked at, each
//! period's points added up from the list. It must not know what the engine keeps of a member.

use crate::points::almanac::Almanac;
use crate::points::plan::{Plan, Span};

/// A tier: from how many points, to how many, in which segment, and whether it is kept for good.
pub type Level = (u64, Option<u64>, Option<usize>, bool);

/// A tier structure.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The tracking period, and whether what it is reached in counts; the balance where there is none.
    pub tracked: Option<(Span, bool)>,
    pub plan: Plan,
    /// 0 for never, 1 for one level, 2 for as far as it goes.
    pub fall: u8,
    pub grace: Option<(Span, bool)>,
    /// Lowest first.
    pub levels: Vec<Level>,
}

/// What happened at a moment.
#[derive(Debug, Clone)]
pub struct Event {
    pub at: i64,
    pub balance: i64,
    pub earned: i64,
    /// A segment that the member enters or leaves.
    pub toggles: Option<usize>,
    pub is_active: bool,
}

/// Where the member is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    pub level: Option<usize>,
    pub since: i64,
    pub until: Option<i64>,
    pub grace: Option<i64>,
}

/// What is told: the moment, the word, from where, where to, of how many points.
pub type Told = (i64, &'static str, Option<usize>, Option<usize>, i64);

pub struct Model<'a> {
    pub rules: &'a Rules,
    pub almanac: &'a Almanac,
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
            Some((span, true)) => earned(self.almanac.tracked(span, at).0, at + 1),
            Some((span, false)) => {
                let begin = self.almanac.tracked(span, at).0;
                earned(self.almanac.tracked(span, begin - 1).0, begin)
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
        self.almanac.lapse(&self.rules.plan, from)
    }

    /// Everything from the beginning to now.
    pub fn play(&self, begin: i64, events: &[Event], now: i64) -> (Place, Vec<Told>) {
        let (mut place, mut told) = (Place { since: begin, ..Place::default() }, Vec::new());
        let (mut fit, mut next) = (None, Some(begin));
        while let Some(at) = next.filter(|at| *at <= now) {
            let points = self.points(events, at);
            let before = (place.level, fit);
            fit = self.fit(events, at, points);
            let begins = self.rules.tracked.is_some_and(|(span, _)| self.almanac.tracked(span, at).0 == at);
            let is_due = place.grace.or(place.until) == Some(at);
            if begins || is_due || fit != before.1 {
                let is_in = |level: usize| Model::is_in(events, self.rules.levels[level].2, at);
                if let Some(word) = self.look(&mut place, fit, at, &is_in) {
                    told.push((at, word, before.0, place.level, points));
                }
            }
            let is_active = events.iter().any(|event| event.at == at && event.is_active);
            if matches!(self.rules.plan, Plan::Sliding(..)) && is_active && place.grace.is_none() {
                place.until = place.until.map(|until| until.max(self.term(at).unwrap()));
            }
            let event = events.iter().map(|event| event.at).filter(|other| *other > at).min();
            let boundary = self.rules.tracked.map(|(span, _)| self.almanac.tracked(span, at).1);
            next = [event, boundary, place.grace.or(place.until)].into_iter().flatten().min();
        }
        (place, told)
    }

    fn look(
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
            // A term follows the other: its first day is the one after the last day of the other.
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
        let ends = self.rules.grace.map(|(span, round_up)| self.almanac.grace(span, round_up, at));
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
