//! Decides what is told of a member's way through the tiers: where they are, what comes by itself, what they may lose and what they
//! may reach. It must not know how it is written.
//!
//! What comes is what comes if nothing is earned or spent any more: the standing is walked on through what is known to happen.

use super::advance::Walk;
use super::standing::{Change, Passage, Standing};
use super::structure::{Measure, Structure, Tier};
use crate::time::{Instant, TimeZone};

/// So many moments ahead are looked at: tiers that are held on and on have no end.
const MOMENTS: usize = 60;

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The tier; nothing for who is in none.
    pub current: Option<Current<'a>>,
    /// The tier that comes with the next tracking period.
    pub deferred: Option<Deferred<'a>>,
    /// What is lost next.
    pub risk: Option<Risk<'a>>,
    /// What may be reached, lowest first.
    pub opportunities: Vec<Opportunity<'a>>,
}

/// The tier of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current<'a> {
    /// The tier.
    pub tier: &'a Tier,
    /// Since when.
    pub since: Instant,
    /// When it is looked at again, or the grace period ends.
    pub until: Option<Instant>,
    /// The points that are being collected.
    pub points: i64,
}

/// A tier that is reached, and comes later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deferred<'a> {
    /// The tier.
    pub tier: &'a Tier,
    /// From when on.
    pub since: Instant,
    /// When it will be looked at again.
    pub until: Option<Instant>,
}

/// A tier that will be lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risk<'a> {
    /// When.
    pub at: Instant,
    /// The tier that comes instead; nothing where none does.
    pub to: Option<&'a Tier>,
}

/// A tier that may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opportunity<'a> {
    /// The tier.
    pub tier: &'a Tier,
    /// How many points lack.
    pub points: u64,
    /// When the points begin anew that are being collected.
    pub until: Option<Instant>,
}

impl Structure {
    /// What is told at a moment of a standing on which nothing is due, with what is known to change by itself, in order of time.
    pub fn progress<'a>(
        &'a self,
        standing: &Standing,
        coming: &[Change],
        at: Instant,
        zone: &TimeZone,
    ) -> Progress<'a> {
        let now = &standing.now;
        let tier = self.tier_of(now);
        let collected = self.collected(now);
        let mut progress = Progress {
            current: tier.map(|tier| Current {
                tier,
                since: now.since,
                until: now.grace.or(now.until),
                points: collected,
            }),
            deferred: None,
            risk: None,
            opportunities: Vec::new(),
        };
        self.look_ahead(&mut progress, standing, coming, zone);
        let until = match self.measure {
            Measure::Balance => None,
            Measure::Earned { tracking, .. } => Some(tracking.period(at, zone).1),
        };
        let reached = progress.deferred.as_ref().map(|deferred| deferred.tier).or(tier);
        let lacking = self.above(reached, &now.facts.segments).into_iter().filter_map(|tier| {
            let lacks = i64::try_from(tier.min).ok()?.checked_sub(collected)?;
            let points = u64::try_from(lacks).ok().filter(|points| *points > 0)?;
            Some(Opportunity { tier, points, until })
        });
        progress.opportunities = lacking.collect();
        progress
    }

    /// Finds what becomes of a tier first, but for its being held on.
    fn look_ahead<'a>(&'a self, progress: &mut Progress<'a>, standing: &Standing, coming: &[Change], zone: &TimeZone) {
        let mut walk = Walk::new(self, standing, coming, zone);
        for _ in 0..MOMENTS {
            let Some((at, transition)) = walk.step(Instant::LATEST.later(-1)) else { return };
            let Some(transition) = transition else { continue };
            let tier = || transition.to.as_ref().and_then(|id| self.tier(id));
            match transition.passage {
                Passage::Prolonged => continue,
                Passage::Joined | Passage::Upgraded => {
                    progress.deferred = tier().map(|tier| Deferred { tier, since: at, until: transition.until });
                }
                Passage::Downgraded | Passage::Left => progress.risk = Some(Risk { at, to: tier() }),
            }
            return;
        }
    }
}
