//! Decides the report on a member's tiers: the present tier, future changes by time, the tier at risk, and reachable
//! tiers.
//!
//! Future changes assume that no points are earned or spent: the tier state is advanced through known events.

use super::advance::TierTimeline;
use super::state::{TierChangeKind, TierInputChange, TierState};
use super::structure::{LoyaltyTier, TierMeasure, TierStructure};
use crate::time::{Instant, TimeZone};

/// The number of future instants to check: tiers that are prolonged again and again have no end.
const INSTANTS_MAX: usize = 60;

/// The report on a member's tiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardProgress<'a> {
    /// The present tier; `None` without one.
    pub current: Option<TierProgress<'a>>,
    /// The tier that starts with the next tracking period.
    pub deferred: Option<DeferredTier<'a>>,
    /// The next loss of a tier.
    pub risk: Option<DowngradeRisk<'a>>,
    /// The reachable tiers, lowest first.
    pub opportunities: Vec<NextTier<'a>>,
}

/// The tier of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierProgress<'a> {
    /// The tier.
    pub tier: &'a LoyaltyTier,
    /// The instant of entry.
    pub since: Instant,
    /// The end of its term, or of the grace period.
    pub until: Option<Instant>,
    /// The points collected so far.
    pub points: i64,
}

/// A tier that is reached and starts later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeferredTier<'a> {
    /// The tier.
    pub tier: &'a LoyaltyTier,
    /// The start.
    pub since: Instant,
    /// The end of its term.
    pub until: Option<Instant>,
}

/// The future loss of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DowngradeRisk<'a> {
    /// The instant of the loss.
    pub at: Instant,
    /// The following tier; `None` without one.
    pub to: Option<&'a LoyaltyTier>,
}

/// A reachable tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextTier<'a> {
    /// The tier.
    pub tier: &'a LoyaltyTier,
    /// The missing points.
    pub points: u64,
    /// The end of the period in which points are collected.
    pub until: Option<Instant>,
}

impl TierStructure {
    /// Returns the report on a tier state without due events. `future_changes` has the known future changes, in order of time.
    pub fn progress<'a>(
        &'a self,
        state: &TierState,
        future_changes: &[TierInputChange],
        at: Instant,
        zone: &TimeZone,
    ) -> CardProgress<'a> {
        let now = &state.now;
        let tier = self.tier_of(now);
        let collected = self.collected(now);
        let mut progress = CardProgress {
            current: tier.map(|tier| TierProgress {
                tier,
                since: now.since,
                until: now.grace.or(now.until),
                points: collected,
            }),
            deferred: None,
            risk: None,
            opportunities: Vec::new(),
        };
        self.add_next_changes(&mut progress, state, future_changes, zone);
        let until = match self.measure {
            TierMeasure::Balance => None,
            TierMeasure::Earned { tracking, .. } => Some(tracking.period(at, zone).1),
        };
        let reached = progress.deferred.as_ref().map(|deferred| deferred.tier).or(tier);
        let next_tiers = self.find_higher_tiers(reached, &now.facts.segments).into_iter().filter_map(|tier| {
            let missing = i64::try_from(tier.min).ok()?.checked_sub(collected)?;
            let points = u64::try_from(missing).ok().filter(|points| *points > 0)?;
            Some(NextTier { tier, points, until })
        });
        progress.opportunities = next_tiers.collect();
        progress
    }

    /// Finds the first future change of the tier, except for prolongations.
    fn add_next_changes<'a>(
        &'a self,
        progress: &mut CardProgress<'a>,
        state: &TierState,
        future_changes: &[TierInputChange],
        zone: &TimeZone,
    ) {
        let mut timeline = TierTimeline::new(self, state, future_changes, zone);
        for _ in 0..INSTANTS_MAX {
            let Some((at, transition)) = timeline.step(Instant::LATEST.later(-1)) else { return };
            let Some(transition) = transition else { continue };
            let tier = || transition.to.as_ref().and_then(|id| self.tier(id));
            match transition.change_kind {
                TierChangeKind::Prolonged => continue,
                TierChangeKind::Joined | TierChangeKind::Upgraded => {
                    progress.deferred = tier().map(|tier| DeferredTier { tier, since: at, until: transition.until });
                }
                TierChangeKind::Downgraded | TierChangeKind::Left => {
                    progress.risk = Some(DowngradeRisk { at, to: tier() })
                }
            }
            return;
        }
    }
}
