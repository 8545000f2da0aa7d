//! Defines a stack that a search tries, and evaluates it as a validation of it.

use std::borrow::Cow;

use crate::decide::case::Case;
use crate::decide::validate::Evaluation;
use crate::money::Money;
use crate::pricing::Cart;
use crate::stacking::{ApplyOutcome, WalkStep};

/// The maximum number of fold steps of one search. A fold step is one redeemable tried on the running order. More of them would occupy
/// the object of a project for more than a quarter of a second.
pub const BEST_STEPS_MAX: usize = 50_000;
/// Steps of the budget that a fold step takes for each line, in addition to those of its rules and its scope.
pub(super) const STEPS_PER_LINE: usize = 4;

/// A found stack.
#[derive(Debug, Clone, Default)]
pub(super) struct FoundStack {
    /// The positions of its offers in the trial, in order.
    pub positions: Vec<usize>,
    pub saved: Money,
    pub unproven: Option<Money>,
    /// The fold steps of the search.
    pub steps: usize,
}

/// The best stack of a search so far: the ranks of its candidates in order, and the amount that it saves.
#[derive(Debug, Clone, Default)]
pub(super) struct Incumbent {
    pub ranks: Vec<usize>,
    pub saved: Money,
}

impl Incumbent {
    /// Begins with the best single candidate, from what each saves alone.
    pub(super) fn of_single(saved: impl Iterator<Item = Money>) -> Incumbent {
        let mut best = Incumbent::default();
        saved.enumerate().for_each(|(rank, saved)| best.challenge(&[rank], saved));
        best
    }

    /// Takes a stack that is better: it saves more, or as much with fewer offers, or with those of the lower ranks.
    pub(super) fn challenge(&mut self, ranks: &[usize], saved: Money) {
        let is_shorter = || (ranks.len(), ranks) < (self.ranks.len(), self.ranks.as_slice());
        if saved > self.saved || saved == self.saved && is_shorter() {
            *self = Incumbent { ranks: ranks.to_vec(), saved };
        }
    }
}

/// Returns the offers at these positions of a trial as the redeemables of a request, without an evaluation.
pub(super) fn with_positions<'a>(trial: &Case<'a>, positions: &[usize]) -> Box<Evaluation<'a>> {
    let mut case = trial.without_redeemables();
    let named = positions.iter().filter_map(|position| trial.redeemables.get(*position));
    case.redeemables = Cow::Owned(named.cloned().collect());
    for resolved in positions.iter().filter_map(|position| trial.resolved.get(*position)) {
        case.push_resolved(resolved.clone());
    }
    Box::new(Evaluation::of(case))
}

/// Returns whether an evaluation applied all its redeemables in the order of the request.
pub(super) fn has_applied_all(evaluated: &Evaluation<'_>) -> bool {
    let is_applied = |step: &WalkStep| matches!(step.outcome, ApplyOutcome::Applied(_));
    let steps = &evaluated.walk.steps;
    evaluated.valid && steps.iter().enumerate().all(|(at, step)| step.position == at && is_applied(step))
}

/// Returns the amount that discounts have saved between two states of an order: their sum, at most the order's amount.
pub(super) fn saved_between(before: &Cart, after: &Cart) -> Money {
    // An order without an amount costs nothing.
    let off = |cart: &Cart| cart.amount.unwrap_or_default().remaining_after(cart.total().unwrap_or_default());
    off(after).remaining_after(off(before))
}
