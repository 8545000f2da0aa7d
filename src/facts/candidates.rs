//! Decides what is prepared once of everything that may qualify: in which order it stands, when it holds, and its rules
//! beside all others. It must not know requests.
//!
//! calculation.md section 13.

use crate::facts::known::Fact;
use crate::model::discount::Discount;
use crate::model::incentive::{Campaign, Grant, Incentive, Validity};
use crate::model::qualification::Candidate;
use crate::rules::{Index, Rule, about};
use crate::text::Text;
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
    /// When an incentive of a campaign holds.
    pub fn of(incentive: &Incentive, campaign: Option<&Campaign>) -> Terms {
        let windows = || [Some(&incentive.validity), campaign.map(|campaign| &campaign.validity)].into_iter().flatten();
        let recurs =
            |window: &Validity| window.timeframe.is_some() || window.days_of_week.is_some() || window.hours.is_some();
        let plain = incentive.active
            && campaign.is_none_or(|campaign| campaign.active && !campaign.activity_after_publishing)
            && incentive.quantity.is_none()
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

    /// Whether the moment lies within.
    pub fn cover(&self, now: Instant) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }
}

/// One of them with all that belongs to it; a stack has no incentive of its own.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// What it is.
    pub candidate: &'a Candidate,
    /// What it grants.
    pub incentive: Option<&'a Incentive>,
    /// Its campaign.
    pub campaign: Option<&'a Campaign>,
    /// The rules assigned to it and to its campaign.
    pub rules: Vec<Fact<'a, Rule>>,
}

impl Candidates {
    /// Prepares them. Those of one moment stay in the order in which they came.
    pub fn new(entries: &[Entry<'_>], complete: bool) -> Candidates {
        let mut newest_first: Vec<&Entry<'_>> = entries.iter().collect();
        newest_first
            .sort_by_cached_key(|entry| u64::MAX.saturating_sub(entry.candidate.created_at.millis().unsigned_abs()));
        let mut all = Candidates { complete, ..Candidates::default() };
        for entry in newest_first {
            all.index.add(&mut entry.rules.iter().map(|rule| &**rule));
            all.terms.push(entry.terms(all.index.about(all.list.len())));
            all.list.push(entry.whole());
        }
        all
    }
}

impl Entry<'_> {
    fn terms(&self, asked: u8) -> Terms {
        let campaign = self.campaign;
        let Some(incentive) = self.incentive else {
            return Terms { from: Instant::default(), until: None, plain: false };
        };
        let terms = Terms::of(incentive, campaign);
        let plain = terms.plain
            && cannot_fail(&incentive.grant)
            && asked & about::OWN == 0
            && !self.rules.iter().any(|rule| rule.bundle.is_some());
        if plain { terms } else { Terms { from: Instant::default(), until: None, plain } }
    }

    /// The candidate with what its document leaves out and its incentive or campaign knows.
    fn whole(&self) -> Candidate {
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
fn fill(place: &mut Option<Text>, known: &Option<Text>) {
    if place.is_none() {
        place.clone_from(known);
    }
}

/// Whether what it grants can be granted on any order.
fn cannot_fail(grant: &Grant) -> bool {
    match grant {
        Grant::Discount(discount @ (Discount::Percent { .. } | Discount::Amount { .. })) => !discount.is_dynamic(),
        _ => false,
    }
}
