//! Decides what becomes of a standing, moment by moment: where facts change, where a tracking period begins, where a tier is looked
//! at again, and where a grace period ends. It must not know what is told of it.

use super::standing::{Change, Facts, Moved, Passage, Position, Standing, Transition};
use super::structure::{Expiration, Measure, Structure, Tier};
use crate::time::{Instant, TimeZone};

/// A standing on its way through time.
pub(super) struct Walk<'a> {
    structure: &'a Structure,
    changes: &'a [Change],
    zone: &'a TimeZone,
    pub standing: Standing,
}

impl<'a> Walk<'a> {
    pub fn new(structure: &'a Structure, standing: &Standing, changes: &'a [Change], zone: &'a TimeZone) -> Walk<'a> {
        Walk { structure, changes, zone, standing: standing.clone() }
    }

    /// The next moment, if there is one until then, and what happened at it.
    pub fn step(&mut self, until: Instant) -> Option<(Instant, Option<Transition>)> {
        let last = self.standing.at;
        // A clock that was put back does not undo what happened.
        let change = self.changes.first().map(|change| change.at.max(last));
        let due = self.structure.next_due(&self.standing.now, self.zone).map(|due| due.max(last));
        let at = change.into_iter().chain(due).min().filter(|at| *at <= until)?;
        let mut facts = self.standing.now.facts.clone();
        let mut is_active = at == last && self.standing.is_active;
        while let Some((change, rest)) = self.changes.split_first().filter(|(change, _)| change.at <= at) {
            facts.clone_from(&change.facts);
            is_active |= change.is_active;
            self.changes = rest;
        }
        let before = if at == last { &self.standing.before } else { &self.standing.now }.clone();
        let (now, transition) = self.structure.position(&before, (at, is_active), &facts, self.zone);
        self.standing = Standing { at, is_active, before, now };
        Some((at, transition))
    }
}

impl Structure {
    /// A standing at a later moment, with everything that changed until then, in order of time.
    pub fn advance(&self, standing: &Standing, changes: &[Change], now: Instant, zone: &TimeZone) -> Moved {
        let mut walk = Walk::new(self, standing, changes, zone);
        let mut moved = Moved::default();
        while let Some((at, transition)) = walk.step(now) {
            if at == standing.at {
                moved.again = Some(at);
            }
            moved.transitions.extend(transition);
        }
        moved.standing = walk.standing;
        moved
    }

    /// Where somebody is at the end of a moment, with these facts from then on.
    fn position(
        &self,
        before: &Position,
        (at, is_active): (Instant, bool),
        facts: &Facts,
        zone: &TimeZone,
    ) -> (Position, Option<Transition>) {
        let mut now = Position { facts: facts.clone(), ..before.clone() };
        let is_new_period = self.track(&mut now, before, at, zone);
        let points = self.points(&now);
        let fit = self.fitting(points, &now.facts.segments);
        now.fit = fit.map(|fit| fit.id.clone());
        let is_over = |end: Option<Instant>| end.is_some_and(|end| end <= at);
        let is_due = is_over(before.grace.or(before.until));
        let mut passage = None;
        if is_new_period || is_due || now.fit != before.fit {
            passage = self.look(&mut now, fit, at, zone);
        }
        if let Expiration::Sliding(sliding) = &self.expiration
            && is_active
            && now.grace.is_none()
        {
            now.until = now.until.map(|until| until.max(sliding.end(at, zone)));
        }
        let transition = passage.map(|passage| Transition {
            at,
            passage,
            from: before.tier.clone(),
            to: now.tier.clone(),
            points,
            since: now.since,
            until: now.until,
        });
        (now, transition)
    }

    /// Begins the tracking period of a moment, if it is another one.
    fn track(&self, now: &mut Position, before: &Position, at: Instant, zone: &TimeZone) -> bool {
        let Measure::Earned { tracking, at_once } = self.measure else { return false };
        let (begin, _) = tracking.period(at, zone);
        if begin <= before.period {
            return false;
        }
        let follows = tracking.period(before.period, zone).1 == begin;
        let earned = before.facts.earned;
        now.closed = if follows && !at_once { earned.saturating_sub(before.mark).max(0) } else { 0 };
        (now.period, now.mark) = (begin, earned);
        true
    }

    /// Looks at a tier beside the one that fits.
    fn look(&self, now: &mut Position, fit: Option<&Tier>, at: Instant, zone: &TimeZone) -> Option<Passage> {
        let tier = self.tier_of(now);
        if Structure::is_higher(fit, tier) {
            let passage = if tier.is_some() { Passage::Upgraded } else { Passage::Joined };
            self.enter(now, fit, at, zone);
            return Some(passage);
        }
        let tier = tier?;
        let is_over = now.until.is_some_and(|until| until <= at);
        if fit == Some(tier) || !self.may_fall(tier) {
            return self.hold(now, is_over, at, zone);
        }
        if self.expiration != Expiration::Never && !is_over {
            return None;
        }
        match (self.grace, now.grace) {
            (Some(grace), None) => now.grace = Some(grace.end(at, zone)),
            (Some(_), Some(end)) if end > at => {}
            _ => return Some(self.drop(now, (tier, fit), at, zone)),
        }
        None
    }

    /// Holds a tier on. A term follows the last one, unless the member had not fitted the tier when that was over.
    fn hold(&self, now: &mut Position, is_over: bool, at: Instant, zone: &TimeZone) -> Option<Passage> {
        let was_graced = now.grace.take().is_some();
        if !is_over {
            return None;
        }
        let over = now.until.filter(|_| !was_graced);
        now.until = match over {
            Some(over) => self.next_term(over, zone),
            None => self.term(at, zone),
        };
        Some(Passage::Prolonged)
    }

    /// Falls out of a tier. Who does not fit the next one either, and may fall from it at any time, has the grace of that one.
    fn drop(&self, now: &mut Position, (tier, fit): (&Tier, Option<&Tier>), at: Instant, zone: &TimeZone) -> Passage {
        let next = self.fall(tier, fit, &now.facts.segments);
        self.enter(now, next, at, zone);
        let Some(next) = next else { return Passage::Left };
        if self.expiration == Expiration::Never && fit != Some(next) && self.may_fall(next) {
            now.grace = self.grace.map(|grace| grace.end(at, zone));
        }
        Passage::Downgraded
    }

    fn enter(&self, now: &mut Position, tier: Option<&Tier>, at: Instant, zone: &TimeZone) {
        now.tier = tier.map(|tier| tier.id.clone());
        now.since = at;
        now.until = tier.and_then(|_| self.term(at, zone));
        now.grace = None;
    }
}
