//! Finds the best stack where an offer may make units of the order free, which the others then do not see. A validation
//! repeats its walk for that, so every stack is evaluated as a whole, without a bound.

use crate::budget::StepCost;
use crate::count::Countable;
use crate::decide::best::candidates::{StackCandidates, find_candidates};
use crate::decide::best::stack::{
    FoundStack, Incumbent, STEPS_PER_LINE, has_applied_all, saved_between, with_positions,
};
use crate::decide::case::{Case, MissingFacts};
use crate::decide::finding::Findings;
use crate::decide::items::Items;
use crate::decide::judge::CaseJudge;
use crate::money::Money;

/// The maximum number of fold steps of one search: a whole evaluation takes several times the time of a step on a running order. All lists
/// of six offers take 10,000.
const CLAIM_STEPS_MAX: usize = 12_000;

/// Finds the best stack of the offers of a trial in at most `most_steps`.
pub(super) fn find_stack(trial: &Case<'_>, most_steps: usize, missing: &mut MissingFacts) -> FoundStack {
    let StackCandidates { list: candidates, is_complete, .. } = {
        let (items, mut found) = (Items::new(trial), Findings::default());
        let mut judge = CaseJudge::new(trial, &items, &mut found);
        find_candidates(trial, &mut judge, missing)
    };
    let limit = trial.stacking.applicable_redeemables_limit.min(trial.stacking.redeemables_limit);
    // Not all offers are candidates, so no list proves anything.
    let most_steps = if is_complete { CLAIM_STEPS_MAX.min(most_steps).remaining_after(candidates.len()) } else { 0 };
    let mut enumeration = Enumeration {
        trial,
        positions: candidates.iter().map(|candidate| candidate.position).collect(),
        // A limit beyond the type is none.
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        steps: most_steps,
        best: Incumbent::default(),
        missing,
    };
    enumeration.try_greedily();
    enumeration.extend(&mut Vec::new());
    let Enumeration { best, steps, positions, .. } = enumeration;
    let positions = best.ranks.iter().filter_map(|rank| positions.get(*rank)).copied().collect();
    let unproven = (steps > 0).then_some(Money::ZERO);
    let steps = trial.resolved.len().add_steps(most_steps.remaining_after(steps));
    FoundStack { positions, saved: best.saved, unproven, steps }
}

struct Enumeration<'s, 'a> {
    trial: &'s Case<'a>,
    /// The position of each candidate; lists have their ranks.
    positions: Vec<usize>,
    limit: usize,
    /// The fold steps that are left.
    steps: usize,
    best: Incumbent,
    missing: &'s mut MissingFacts,
}

impl Enumeration<'_, '_> {
    /// Evaluates a list, which challenges the best one if it applies as a whole.
    fn evaluate(&mut self, list: &[usize]) {
        let Enumeration { trial, positions, .. } = self;
        let cost = trial.priced.cart.lines.len().times_steps(STEPS_PER_LINE).plus_one().times_steps(list.len());
        self.steps = self.steps.remaining_after(list.len());
        if self.steps == 0 || !trial.budget.spend(cost) {
            self.steps = 0;
            return;
        }
        let listed: Vec<usize> = list.iter().filter_map(|rank| positions.get(*rank)).copied().collect();
        let mut evaluated = with_positions(trial, &listed);
        evaluated.evaluate_unanswered();
        trial.budget.continue_as(&evaluated.case.budget);
        evaluated.case.missing.iter().for_each(|fact| self.missing.add(fact.clone()));
        if trial.budget.is_over() {
            // What was computed without steps does not count.
            self.steps = 0;
            return;
        }
        if has_applied_all(&evaluated) {
            self.best.challenge(list, saved_between(&trial.priced.cart, &evaluated.walk.cart));
        }
    }

    /// Adds the offer that saves most, until none saves more: a good stack even if the steps do not last.
    fn try_greedily(&mut self) {
        let mut list: Vec<usize> = Vec::new();
        while list.len() < self.limit {
            for rank in (0..self.positions.len()).filter(|rank| !list.contains(rank)) {
                self.evaluate(&[list.as_slice(), &[rank]].concat());
            }
            if self.best.ranks == list {
                return;
            }
            list.clone_from(&self.best.ranks);
        }
    }

    /// Evaluates every list that begins with this one. A list that does not apply may be the beginning of one that does.
    fn extend(&mut self, list: &mut Vec<usize>) {
        if list.len() >= self.limit {
            return;
        }
        for rank in 0..self.positions.len() {
            if self.steps == 0 {
                return;
            }
            if !list.contains(&rank) {
                list.push(rank);
                self.evaluate(list);
                self.extend(list);
                list.pop();
            }
        }
    }
}
