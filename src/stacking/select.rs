//! Decides the order in which redeemables are tried, and which are out because an exclusive one is in. It must not
//! know limits or amounts.
//!
//! calculation.md section 11.2, steps 4 to 6.

use crate::model::stacking::{GroupedSortingRule, SortingRule, StackingRules};
use crate::rank::{arranged, ranked};
use crate::text::Text;

/// A redeemable as stacking sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its place in the request.
    pub place: usize,
    /// Its category, or its campaign's.
    pub category: Option<Text>,
    /// The category's hierarchy, 0 the strongest.
    pub hierarchy: Option<u64>,
    /// Whether it is valid on the order as it came in.
    pub valid: bool,
    /// Whether it exists; what does not exist is never excluded.
    pub exists: bool,
}

impl Candidate {
    /// Whether its category stands alone.
    pub fn exclusive(&self, rules: &StackingRules) -> bool {
        self.among(&rules.exclusive_categories)
    }

    /// Whether its category is applied whatever else is.
    pub fn joint(&self, rules: &StackingRules) -> bool {
        self.among(&rules.joint_categories)
    }

    /// Whether its category is one of these.
    pub fn among(&self, categories: &[Text]) -> bool {
        self.category.as_ref().is_some_and(|own| categories.contains(own))
    }
}

/// The candidates in the order of trying, with those excluded marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// In order: the candidate, and whether it is excluded.
    pub candidates: Vec<(Candidate, bool)>,
}

/// Sorts the candidates and finds the excluded ones.
pub fn select(mut candidates: Vec<Candidate>, rules: &StackingRules) -> Selection {
    if rules.redeemables_sorting_rule == SortingRule::CategoryHierarchy {
        // Without a category they come after all that have one.
        let keys = candidates.iter().map(|candidate| candidate.hierarchy.unwrap_or(u64::MAX));
        let places = ranked(keys);
        candidates = arranged(candidates, &places);
    }
    let exclusive_wins = candidates.iter().any(|candidate| candidate.valid && candidate.exclusive(rules));
    if exclusive_wins && rules.grouped_redeemables_sorting_rule == GroupedSortingRule::JointAlwaysLast {
        let keys = candidates.iter().map(|candidate| u64::from(candidate.joint(rules)));
        let places = ranked(keys);
        candidates = arranged(candidates, &places);
    }
    let excluded = |candidate: &Candidate| {
        exclusive_wins && candidate.exists && !candidate.exclusive(rules) && !candidate.joint(rules)
    };
    let marked = candidates.into_iter().map(|candidate| {
        let out = excluded(&candidate);
        (candidate, out)
    });
    Selection { candidates: marked.collect() }
}
