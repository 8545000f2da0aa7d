//! Defines the stored tier state of a member in a tier structure, and the changes it reports.

use super::structure::{LoyaltyTier, TierMeasure, TierStructure};
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// The inputs of a tier state, at an instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TierFacts {
    /// The balance of the card, in points.
    pub balance: i64,
    /// All points ever earned on it and not revoked.
    pub earned: i64,
    /// The segments of the structure that the member belongs to.
    pub segments: Vec<Text>,
}

/// A change of the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierInputChange {
    /// The instant of the change.
    pub at: Instant,
    /// The inputs from then on.
    pub facts: TierFacts,
    /// `true` for an activity that postpones the end of a tier.
    pub is_active: bool,
}

/// The position of a member at the end of an instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TierPosition {
    /// The tier.
    pub tier: Option<Text>,
    /// The instant of entry.
    pub since: Instant,
    /// The end of its term.
    pub until: Option<Instant>,
    /// The end of the grace period of a member who does not qualify any more.
    pub grace: Option<Instant>,
    /// The tier that fits the inputs.
    pub fit: Option<Text>,
    /// The inputs.
    pub facts: TierFacts,
    /// The start of the tracking period; the start of 1970 if points are not tracked.
    pub period: Instant,
    /// The earned points at its start.
    pub mark: i64,
    /// The points earned in the period before it, if those count.
    pub closed: i64,
}

/// The tier state of a member in a structure: the last instant of a change, and the positions before and after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TierState {
    /// The instant.
    pub at: Instant,
    /// `true` if it had an activity.
    pub is_active: bool,
    /// The position before it.
    pub before: TierPosition,
    /// The present position.
    pub now: TierPosition,
}

/// The points earned before a tier state starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PriorPoints {
    /// In the current tracking period.
    pub current: i64,
    /// In the tracking period before it.
    pub closed: i64,
}

/// A kind of tier change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TierChangeKind {
    /// A member without a tier entered one.
    #[default]
    Joined,
    /// A member rose to a higher tier.
    Upgraded,
    /// A member fell to a lower tier.
    Downgraded,
    /// A member lost the tier and has none.
    Left,
    /// A tier was prolonged.
    Prolonged,
}

/// A change from one tier to another, or a prolongation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierChange {
    /// The instant; each has at most one change.
    pub at: Instant,
    /// The kind.
    pub change_kind: TierChangeKind,
    /// The tier before.
    pub from: Option<Text>,
    /// The tier after.
    pub to: Option<Text>,
    /// The measured points.
    pub points: i64,
    /// The instant of entry of the tier after.
    pub since: Instant,
    /// The end of its term.
    pub until: Option<Instant>,
}

/// The result of advancing a tier state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TierOutcome {
    /// The tier state.
    pub state: TierState,
    /// The changes, in order of time.
    pub transitions: Vec<TierChange>,
    /// An instant that was reported before and had not ended: the present report replaces the earlier one.
    pub again: Option<Instant>,
}

impl TierStructure {
    /// Returns a new tier state before its first evaluation, with the points that were earned before.
    #[expect(clippy::arithmetic_side_effects, reason = "what a card has had stays within `points::card::POINTS_MAX`")]
    pub fn start(&self, at: Instant, facts: &TierFacts, earlier: PriorPoints, zone: &TimeZone) -> TierState {
        let mut now = TierPosition { since: at, facts: facts.clone(), ..TierPosition::default() };
        if let TierMeasure::Earned { tracking, at_once } = self.measure {
            now.period = tracking.period(at, zone).0;
            now.mark = facts.earned - earlier.current;
            now.closed = if at_once { 0 } else { earlier.closed };
        }
        TierState { at, is_active: false, before: now.clone(), now }
    }

    /// Returns the tier change when a member's card is deleted at an instant. `None` if there was no tier before: only
    /// the end of an instant counts.
    pub fn change_on_deletion(&self, state: &TierState, at: Instant) -> Option<TierChange> {
        let before = if state.at == at { &state.before } else { &state.now };
        Some(TierChange {
            at,
            change_kind: TierChangeKind::Left,
            from: Some(before.tier.clone()?),
            to: None,
            points: self.points(&state.now),
            since: at,
            until: None,
        })
    }

    /// Returns the points that decide the tier.
    pub(super) fn points(&self, position: &TierPosition) -> i64 {
        match self.measure {
            TierMeasure::Balance => position.facts.balance,
            TierMeasure::Earned { at_once: true, .. } => position.current_points(),
            TierMeasure::Earned { at_once: false, .. } => position.closed.max(0),
        }
    }

    /// Returns the points collected so far.
    pub(super) fn collected(&self, position: &TierPosition) -> i64 {
        match self.measure {
            TierMeasure::Balance => position.facts.balance,
            TierMeasure::Earned { .. } => position.current_points(),
        }
    }

    /// Returns the tier of a position.
    pub(super) fn tier_of(&self, position: &TierPosition) -> Option<&LoyaltyTier> {
        position.tier.as_ref().and_then(|id| self.tier(id))
    }

    /// Returns the next instant at which an event is due by time; nothing changes before.
    pub fn next_due(&self, position: &TierPosition, zone: &TimeZone) -> Option<Instant> {
        let held = position.grace.or(position.until);
        let TierMeasure::Earned { tracking, .. } = self.measure else { return held };
        let tier = self.tier_of(position);
        let fit = position.fit.as_ref().and_then(|id| self.tier(id));
        let would_fall = TierStructure::is_higher(tier, fit) && tier.is_some_and(|tier| self.may_fall(tier));
        let changes = position.current_points() != 0 || position.closed != 0 || (would_fall && held.is_none());
        let end = changes.then(|| tracking.period(position.period, zone).1);
        held.into_iter().chain(end).min()
    }
}

impl TierPosition {
    /// Returns the points earned in the current tracking period.
    #[expect(clippy::arithmetic_side_effects, reason = "what a card has had stays within `points::card::POINTS_MAX`")]
    pub(super) fn current_points(&self) -> i64 {
        (self.facts.earned - self.mark).max(0)
    }
}
