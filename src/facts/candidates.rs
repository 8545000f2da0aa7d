//! Prepares the candidates of qualifications once: their order, their validity, and an index of all their rules.
//!
//! docs/spec/calculation.md#13.

use crate::facts::known::Fact;
use crate::model::discount::Discount;
use crate::model::qualification::Candidate;
use crate::model::redeemable::{Campaign, Grant, RedeemableTerms, Validity};
use crate::model::visibility::ListedTime;
use crate::rules::{Rule, RuleIndex, subject};
use crate::text::Text;
use crate::time::Instant;

/// The candidates that a qualification needs, so that a store need not read all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CandidateFilter<'a> {
    /// The customer whose vouchers count in addition to the public ones.
    pub customer: Option<&'a str>,
    /// `true` for only that customer's vouchers.
    pub only_own: bool,
    /// `true` for only promotion stacks.
    pub stacks: bool,
    /// `true` for only that customer's vouchers, and the promotions that every client may see.
    pub client: bool,
}

/// All candidates of qualifications, newest first.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// The candidates.
    pub list: Vec<Candidate>,
    /// The validity of each.
    pub terms: Vec<ValidityBounds>,
    /// The time in which every client sees each; `None` for one that only its own customer may see.
    pub listed: Vec<Option<ListedTime>>,
    /// The rules of each.
    pub index: RuleIndex,
    /// `true` if the server has no further candidates.
    pub complete: bool,
    /// `true` if the server has no further candidates that every client sees.
    pub listed_complete: bool,
    /// `true` if the server has no further candidates that only the client's customer sees.
    pub own_complete: bool,
}

/// The part of the validity of a candidate that two comparisons can decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidityBounds {
    /// The start, inclusive.
    pub from: Instant,
    /// The end, exclusive; `None` without an end.
    pub until: Option<Instant>,
    /// `true` if no further check is needed: no count, no recurring window, no grant that could fail.
    pub plain: bool,
}

impl ValidityBounds {
    /// Returns the validity of a redeemable of a campaign.
    pub fn of(incentive: &RedeemableTerms, campaign: Option<&Campaign>) -> ValidityBounds {
        let windows = || [Some(&incentive.validity), campaign.map(|campaign| &campaign.validity)].into_iter().flatten();
        let recurs =
            |window: &Validity| window.timeframe.is_some() || window.days_of_week.is_some() || window.hours.is_some();
        let plain = incentive.active
            && campaign.is_none_or(|campaign| campaign.active && !campaign.activity_after_publishing)
            && incentive.quantity.is_none()
            && !windows().any(recurs);
        if !plain {
            // A full check follows anyway: its own window may replace that of a campaign.
            return ValidityBounds { from: Instant::default(), until: None, plain };
        }
        ValidityBounds {
            from: windows().filter_map(|window| window.start_date).max().unwrap_or_default(),
            until: windows().filter_map(|window| window.expiration_date).min(),
            plain,
        }
    }

    /// Returns whether an instant is within.
    pub fn cover(&self, now: Instant) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }
}

/// A candidate with its parts; a stack has no terms of its own.
#[derive(Debug, Clone)]
pub struct CandidateEntry<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    /// Its terms.
    pub incentive: Option<&'a RedeemableTerms>,
    /// Its campaign.
    pub campaign: Option<&'a Campaign>,
    /// The rules assigned to it and to its campaign.
    pub rules: Vec<Fact<'a, Rule>>,
    /// The time in which every client sees it.
    pub listed: Option<ListedTime>,
}

/// Returns the time in which every client sees a stack: the one in which they see all its tiers.
pub fn listed_time_of_stack(tiers: impl Iterator<Item = Option<ListedTime>>) -> Option<ListedTime> {
    let times: Option<Vec<ListedTime>> = tiers.collect();
    times?.into_iter().reduce(ListedTime::and)
}

impl Candidates {
    /// Prepares candidates. Those created at one instant stay in the given order.
    pub fn new(entries: &[CandidateEntry<'_>]) -> Candidates {
        let mut newest_first: Vec<&CandidateEntry<'_>> = entries.iter().collect();
        newest_first.sort_by_cached_key(|entry| !entry.candidate.created_at.millis().unsigned_abs());
        let mut all = Candidates::default();
        for entry in newest_first {
            all.index.add(&mut entry.rules.iter().map(|rule| &**rule));
            all.terms.push(entry.terms(all.index.subjects_of(all.list.len())));
            all.listed.push(entry.listed);
            all.list.push(entry.full_candidate());
        }
        all
    }

    /// Returns whether the server has no further candidates that a filter finds.
    pub fn has_all(&self, filter: &CandidateFilter<'_>) -> bool {
        let has_own = filter.customer.is_none() || self.own_complete;
        self.complete || filter.client && has_own && self.listed_complete
    }

    /// Returns whether every client sees the candidate at a place.
    pub fn is_listed(&self, position: usize, now: Instant) -> bool {
        self.listed.get(position).copied().flatten().is_some_and(|listed| listed.covers(now))
    }
}

impl CandidateEntry<'_> {
    fn terms(&self, subjects: u8) -> ValidityBounds {
        let campaign = self.campaign;
        let Some(incentive) = self.incentive else {
            return ValidityBounds { from: Instant::default(), until: None, plain: false };
        };
        let terms = ValidityBounds::of(incentive, campaign);
        let plain = terms.plain
            && cannot_fail(&incentive.grant)
            && subjects & subject::OWN == 0
            && !self.rules.iter().any(|rule| rule.bundle.is_some());
        if plain { terms } else { ValidityBounds { from: Instant::default(), until: None, plain } }
    }

    /// Returns the candidate with fields from its terms or campaign that are missing in its document.
    fn full_candidate(&self) -> Candidate {
        let mut candidate = self.candidate.clone();
        if let Some(incentive) = self.incentive {
            fill(&mut candidate.campaign_id, &incentive.campaign_id);
            fill(&mut candidate.category_id, &incentive.category_id);
            fill(&mut candidate.holder_id, &incentive.holder_id);
        }
        if let Some(campaign) = self.campaign {
            fill(&mut candidate.category_id, &campaign.category_id);
        }
        candidate
    }
}

#[inline(never)]
fn fill(position: &mut Option<Text>, known: &Option<Text>) {
    if position.is_none() {
        position.clone_from(known);
    }
}

/// Returns whether a grant succeeds on any order.
fn cannot_fail(grant: &Grant) -> bool {
    match grant {
        Grant::Discount(discount @ (Discount::Percent { .. } | Discount::Amount { .. })) => !discount.is_dynamic(),
        _ => false,
    }
}
