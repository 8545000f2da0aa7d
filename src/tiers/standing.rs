//! Decides what is remembered of a member in a tier structure, and what is told when that changes. It must not know why it changes.

use super::structure::{Measure, Structure, Tier};
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// What a tier follows from, at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The points on the card.
    pub balance: i64,
    /// All that were ever earned on it and not given back.
    pub earned: i64,
    /// Which segments of the structure the member is in.
    pub segments: Vec<Text>,
}

/// That facts became others at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Instant,
    /// What they are from then on.
    pub facts: Facts,
    /// Whether it was an activity that puts off the end of a tier.
    pub is_active: bool,
}

/// Where a member is, at the end of a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The tier.
    pub tier: Option<Text>,
    /// When it was entered.
    pub since: Instant,
    /// When it is looked at again.
    pub until: Option<Instant>,
    /// When the member falls who does not fit it any more: the end of the grace.
    pub grace: Option<Instant>,
    /// The tier that the facts fit.
    pub fit: Option<Text>,
    /// The facts.
    pub facts: Facts,
    /// When the tracking period began; 1970 where nothing is tracked.
    pub period: Instant,
    /// What had been earned when it began.
    pub mark: i64,
    /// What was earned in the period before it, where that is what counts.
    pub closed: i64,
}

/// A member's standing in a structure: the last moment at which something happened, and the positions before and after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// That moment.
    pub at: Instant,
    /// Whether there was an activity at it.
    pub is_active: bool,
    /// Where the member was before it.
    pub before: Position,
    /// Where the member is.
    pub now: Position,
}

/// What was earned before a standing began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Earlier {
    /// In the tracking period that goes on.
    pub running: i64,
    /// In the one before it.
    pub closed: i64,
}

/// What became of a tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Passage {
    /// A member of no tier came to one.
    #[default]
    Joined,
    /// A member came to a higher one.
    Upgraded,
    /// A member fell to a lower one.
    Downgraded,
    /// A member fell out of all.
    Left,
    /// A tier was looked at and is held on.
    Prolonged,
}

/// That a member went from one tier to another, or holds one on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// When; there is one at most at a moment.
    pub at: Instant,
    /// What.
    pub passage: Passage,
    /// The tier before.
    pub from: Option<Text>,
    /// The tier afterwards.
    pub to: Option<Text>,
    /// The points that were measured.
    pub points: i64,
    /// Since when the tier afterwards is held.
    pub since: Instant,
    /// When it is looked at again.
    pub until: Option<Instant>,
}

/// What became of a standing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moved {
    /// The standing.
    pub standing: Standing,
    /// What happened, in order of time.
    pub transitions: Vec<Transition>,
    /// The moment that was looked at before and had not ended: what was told of it is not so, but for what is told now.
    pub again: Option<Instant>,
}

impl Structure {
    /// A standing that begins before anything was looked at, with what is known of points that were earned before.
    pub fn begin(&self, at: Instant, facts: &Facts, earlier: Earlier, zone: &TimeZone) -> Standing {
        let mut now = Position { since: at, facts: facts.clone(), ..Position::default() };
        if let Measure::Earned { tracking, at_once } = self.measure {
            now.period = tracking.period(at, zone).0;
            now.mark = facts.earned.saturating_sub(earlier.running);
            now.closed = if at_once { 0 } else { earlier.closed };
        }
        Standing { at, is_active: false, before: now.clone(), now }
    }

    /// What is told when a member leaves the tiers at a moment, the card being gone. Nothing where there was no tier before it: of a
    /// moment only its end counts.
    pub fn leave(&self, standing: &Standing, at: Instant) -> Option<Transition> {
        let before = if standing.at == at { &standing.before } else { &standing.now };
        Some(Transition {
            at,
            passage: Passage::Left,
            from: Some(before.tier.clone()?),
            to: None,
            points: self.points(&standing.now),
            since: at,
            until: None,
        })
    }

    /// The points that decide.
    pub(super) fn points(&self, position: &Position) -> i64 {
        match self.measure {
            Measure::Balance => position.facts.balance,
            Measure::Earned { at_once: true, .. } => position.running(),
            Measure::Earned { at_once: false, .. } => position.closed.max(0),
        }
    }

    /// The points that are being collected.
    pub(super) fn collected(&self, position: &Position) -> i64 {
        match self.measure {
            Measure::Balance => position.facts.balance,
            Measure::Earned { .. } => position.running(),
        }
    }

    /// The tier of a position, as the structure has it.
    pub(super) fn tier_of(&self, position: &Position) -> Option<&Tier> {
        position.tier.as_ref().and_then(|id| self.tier(id))
    }

    /// The moment after a position at which something happens by itself; nothing does before.
    pub fn next_due(&self, position: &Position, zone: &TimeZone) -> Option<Instant> {
        let held = position.grace.or(position.until);
        let Measure::Earned { tracking, .. } = self.measure else { return held };
        let tier = self.tier_of(position);
        let fit = position.fit.as_ref().and_then(|id| self.tier(id));
        let would_fall = Structure::is_higher(tier, fit) && tier.is_some_and(|tier| self.may_fall(tier));
        let changes = position.running() != 0 || position.closed != 0 || (would_fall && held.is_none());
        let end = changes.then(|| tracking.period(position.period, zone).1);
        held.into_iter().chain(end).min()
    }
}

impl Position {
    /// What was earned in the tracking period that goes on.
    fn running(&self) -> i64 {
        self.facts.earned.saturating_sub(self.mark).max(0)
    }
}
