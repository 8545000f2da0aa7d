//! Advances a tier state in time: at changes of inputs, starts of tracking periods, ends of tier terms, and ends of
//! grace periods.

use super::state::{TierChange, TierChangeKind, TierFacts, TierInputChange, TierOutcome, TierPosition, TierState};
use super::structure::{LoyaltyTier, TierExpiration, TierMeasure, TierStructure};
use crate::time::{Instant, TimeZone};

/// A tier state while it advances.
pub(super) struct TierTimeline<'a> {
    structure: &'a TierStructure,
    changes: &'a [TierInputChange],
    zone: &'a TimeZone,
    pub state: TierState,
}

impl<'a> TierTimeline<'a> {
    pub fn new(
        structure: &'a TierStructure,
        state: &TierState,
        changes: &'a [TierInputChange],
        zone: &'a TimeZone,
    ) -> TierTimeline<'a> {
        TierTimeline { structure, changes, zone, state: state.clone() }
    }

    /// Advances to the next instant up to `until`, if any, and returns it with the tier change.
    pub fn step(&mut self, until: Instant) -> Option<(Instant, Option<TierChange>)> {
        let last = self.state.at;
        // A clock that was set back does not undo earlier changes.
        let change = self.changes.first().map(|change| change.at.max(last));
        let due = self.structure.next_due(&self.state.now, self.zone).map(|due| due.max(last));
        let at = change.into_iter().chain(due).min().filter(|at| *at <= until)?;
        let mut facts = self.state.now.facts.clone();
        let mut is_active = at == last && self.state.is_active;
        while let Some((change, rest)) = self.changes.split_first().filter(|(change, _)| change.at <= at) {
            facts.clone_from(&change.facts);
            is_active |= change.is_active;
            self.changes = rest;
        }
        let before = if at == last { &self.state.before } else { &self.state.now }.clone();
        let (now, transition) = self.structure.at_end_of(&before, at, is_active, &facts, self.zone);
        self.state = TierState { at, is_active, before, now };
        Some((at, transition))
    }
}

impl TierStructure {
    /// Returns the tier state at a later instant, with all changes up to it, in order of time.
    pub fn advance(
        &self,
        state: &TierState,
        changes: &[TierInputChange],
        now: Instant,
        zone: &TimeZone,
    ) -> TierOutcome {
        let mut timeline = TierTimeline::new(self, state, changes, zone);
        let mut outcome = TierOutcome::default();
        while let Some((at, transition)) = timeline.step(now) {
            if at == state.at {
                outcome.again = Some(at);
            }
            outcome.transitions.extend(transition);
        }
        outcome.state = timeline.state;
        outcome
    }

    /// Returns the position at the end of an instant, with these inputs from then on.
    fn at_end_of(
        &self,
        before: &TierPosition,
        at: Instant,
        is_active: bool,
        facts: &TierFacts,
        zone: &TimeZone,
    ) -> (TierPosition, Option<TierChange>) {
        let mut now = TierPosition { facts: facts.clone(), ..before.clone() };
        let is_new_period = self.track(&mut now, before, at, zone);
        let points = self.points(&now);
        let fit = self.find_fitting_tier(points, &now.facts.segments);
        now.fit = fit.map(|fit| fit.id.clone());
        let is_over = |end: Option<Instant>| end.is_some_and(|end| end <= at);
        let is_due = is_over(before.grace.or(before.until));
        let mut change_kind = None;
        if is_new_period || is_due || now.fit != before.fit {
            change_kind = self.evaluate(&mut now, fit, at, zone);
        }
        if let TierExpiration::Sliding(sliding) = &self.expiration
            && is_active
            && now.grace.is_none()
        {
            now.until = now.until.map(|until| until.max(sliding.end(at, zone)));
        }
        let transition = change_kind.map(|change_kind| TierChange {
            at,
            change_kind,
            from: before.tier.clone(),
            to: now.tier.clone(),
            points,
            since: now.since,
            until: now.until,
        });
        (now, transition)
    }

    /// Starts the tracking period of an instant, if it is a new one.
    fn track(&self, now: &mut TierPosition, before: &TierPosition, at: Instant, zone: &TimeZone) -> bool {
        let TierMeasure::Earned { tracking, at_once } = self.measure else { return false };
        let (start, _) = tracking.period(at, zone);
        if start <= before.period {
            return false;
        }
        let follows = tracking.period(before.period, zone).1 == start;
        let earned = before.facts.earned;
        now.closed = if follows && !at_once { before.current_points() } else { 0 };
        (now.period, now.mark) = (start, earned);
        true
    }

    /// Compares the present tier with the one that fits.
    fn evaluate(
        &self,
        now: &mut TierPosition,
        fit: Option<&LoyaltyTier>,
        at: Instant,
        zone: &TimeZone,
    ) -> Option<TierChangeKind> {
        let tier = self.tier_of(now);
        if TierStructure::is_higher(fit, tier) {
            let change_kind = if tier.is_some() { TierChangeKind::Upgraded } else { TierChangeKind::Joined };
            self.enter_tier(now, fit, at, zone);
            return Some(change_kind);
        }
        let tier = tier?;
        let is_over = now.until.is_some_and(|until| until <= at);
        if fit == Some(tier) || !self.may_fall(tier) {
            return self.keep_tier(now, is_over, at, zone);
        }
        if self.expiration != TierExpiration::Never && !is_over {
            return None;
        }
        match (self.grace, now.grace) {
            (Some(grace), None) => now.grace = Some(grace.end(at, zone)),
            (Some(_), Some(end)) if end > at => {}
            (None, _) | (Some(_), Some(_)) => return Some(self.drop(now, tier, fit, at, zone)),
        }
        None
    }

    /// Keeps a tier. A new term follows the last one, unless the member did not qualify when that ended.
    fn keep_tier(&self, now: &mut TierPosition, is_over: bool, at: Instant, zone: &TimeZone) -> Option<TierChangeKind> {
        let was_graced = now.grace.take().is_some();
        if !is_over {
            return None;
        }
        let over = now.until.filter(|_| !was_graced);
        now.until = match over {
            Some(over) => self.next_term(over, zone),
            None => self.term(at, zone),
        };
        Some(TierChangeKind::Prolonged)
    }

    /// Moves a member down. If they do not qualify for the next tier either, and may fall from it at any time, its
    /// grace period starts.
    fn drop(
        &self,
        now: &mut TierPosition,
        tier: &LoyaltyTier,
        fit: Option<&LoyaltyTier>,
        at: Instant,
        zone: &TimeZone,
    ) -> TierChangeKind {
        let next = self.find_downgraded_tier(tier, fit, &now.facts.segments);
        self.enter_tier(now, next, at, zone);
        let Some(next) = next else { return TierChangeKind::Left };
        if self.expiration == TierExpiration::Never && fit != Some(next) && self.may_fall(next) {
            now.grace = self.grace.map(|grace| grace.end(at, zone));
        }
        TierChangeKind::Downgraded
    }

    fn enter_tier(&self, now: &mut TierPosition, tier: Option<&LoyaltyTier>, at: Instant, zone: &TimeZone) {
        now.tier = tier.map(|tier| tier.id.clone());
        now.since = at;
        now.until = tier.and_then(|_| self.term(at, zone));
        now.grace = None;
    }
}
