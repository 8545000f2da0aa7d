//! Decides what is prepared once of everything that may qualify: in which order it stands, when it holds, and its rules
//! beside all others. It must not know requests.
//!
//! calculation.md section 13.

use super::Held;
use crate::model::discount::Discount;
use crate::model::incentive::{Campaign, Grant, Incentive, Validity};
use crate::model::qualification::Candidate;
use crate::rank::{arranged, ranked};
use crate::rules::{Index, Rule, about};
use crate::time::Instant;

/// What a qualification is going to look at, so that a store need not read everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seek<'a> {
    /// The customer whose vouchers count besides the public ones.
    pub customer: Option<&'a str>,
    /// Nothing but that customer's vouchers.
    pub wallet: bool,
    /// Nothing but stacks of promotion tiers.
    pub stacks: bool,
    /// Nothing that was created at this moment or later.
    pub before: Option<Instant>,
}

/// Everything that may qualify, newest first.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// What they are.
    pub list: Vec<Candidate>,
    /// When each of them holds.
    pub terms: Vec<Terms>,
    /// The rules of each of them.
    pub index: Index,
    /// Whether there is nothing else that only the server knows.
    pub complete: bool,
}

/// When something holds, as far as two comparisons can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Not before.
    pub from: Instant,
    /// Not at this moment or later; `None` is without end.
    pub until: Option<Instant>,
    /// Whether there is nothing else to look at: no count, no recurring window, nothing that could fail.
    pub plain: bool,
}

impl Terms {
    /// Whether the moment lies within.
    pub fn cover(&self, now: Instant) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }
}

/// One of them with all that belongs to it; a stack has no incentive of its own.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// What it is.
    pub candidate: Candidate,
    /// What it grants.
    pub incentive: Option<&'a Incentive>,
    /// Its campaign.
    pub campaign: Option<&'a Campaign>,
    /// The rules assigned to it and to its campaign.
    pub rules: Vec<Held<'a, Rule>>,
}

impl Candidates {
    /// Prepares them. Those of one moment stay in the order in which they came.
    pub fn new(entries: Vec<Entry<'_>>, complete: bool) -> Candidates {
        let age = |entry: &Entry<'_>| u64::MAX.saturating_sub(entry.candidate.created_at.millis().unsigned_abs());
        let places = ranked(entries.iter().map(age));
        let entries = arranged(entries, &places);
        let mut index = Index::default();
        for entry in &entries {
            index.add(&mut entry.rules.iter().map(|rule| &**rule));
        }
        index.close();
        let terms = entries.iter().enumerate().map(|(place, entry)| entry.terms(index.about(place))).collect();
        let list = entries.into_iter().map(Entry::into_candidate).collect();
        Candidates { list, terms, index, complete }
    }
}

impl Entry<'_> {
    fn terms(&self, asked: u8) -> Terms {
        let campaign = self.campaign;
        let Some(incentive) = self.incentive else {
            return Terms { from: Instant::default(), until: None, plain: false };
        };
        let windows = || [Some(&incentive.validity), campaign.map(|campaign| &campaign.validity)].into_iter().flatten();
        let recurs =
            |window: &Validity| window.timeframe.is_some() || window.days_of_week.is_some() || window.hours.is_some();
        let plain = incentive.active
            && campaign.is_none_or(|campaign| campaign.active && !campaign.activity_after_publishing)
            && incentive.quantity.is_none()
            && cannot_fail(&incentive.grant)
            && asked & about::OWN == 0
            && !self.rules.iter().any(|rule| rule.bundle.is_some())
            && !windows().any(recurs);
        if !plain {
            // What is looked at in full is not looked at here: a window of its own may stand in place of a campaign's.
            return Terms { from: Instant::default(), until: None, plain };
        }
        Terms {
            from: windows().filter_map(|window| window.start_date).max().unwrap_or_default(),
            until: windows().filter_map(|window| window.expiration_date).min(),
            plain,
        }
    }

    /// What a document leaves out and its incentive or campaign knows.
    fn into_candidate(self) -> Candidate {
        let mut candidate = self.candidate;
        if let Some(incentive) = self.incentive {
            candidate.campaign_id = candidate.campaign_id.or_else(|| incentive.campaign_id.clone());
            candidate.category_id = candidate.category_id.or_else(|| incentive.category_id.clone());
            candidate.holder_id = candidate.holder_id.or_else(|| incentive.holder_id.clone());
        }
        let inherited = || self.campaign.and_then(|campaign| campaign.category_id.clone());
        candidate.category_id = candidate.category_id.or_else(inherited);
        candidate
    }
}

/// Whether what it grants can be granted on any order.
fn cannot_fail(grant: &Grant) -> bool {
    match grant {
        Grant::Discount(discount @ (Discount::Percent { .. } | Discount::Amount { .. })) => !discount.is_dynamic(),
        _ => false,
    }
}
