//! Finds the best stack: of the offers that a customer may use for an order, those that together save most, in the
//! order in which they do.
//!
//! docs/spec/calculation.md#13. Every stack is tried by the walk of a validation (`stacking/fold.rs`), so that a
//! validation of the answer gives the same amounts. Gift cards and points pay for an order and save nothing.

mod candidates;
mod claims;
mod search;
mod stack;

use std::borrow::Cow;

use crate::budget::StepCost;
pub use crate::decide::best::stack::BEST_STEPS_MAX;
use crate::decide::best::stack::with_positions;
use crate::decide::case::{Case, MissingFacts, ResolvedName};
use crate::decide::validate::Evaluation;
use crate::model::redeemable::Grant;
use crate::model::request::RequestedRedeemable;
use crate::money::Money;
use crate::rules::RequiredFacts;

/// Steps of the budget to prepare an offer.
const STEPS_PER_OFFER: usize = 100;

/// The best stack of an order.
#[derive(Clone)]
pub struct BestStack<'a> {
    /// Its redeemables in order, evaluated as a validation of them; without any if nothing saves.
    pub evaluated: Box<Evaluation<'a>>,
    /// The amount that it saves: its discounts, at most the amount of the order.
    pub saved: Money,
    /// The most that another stack could save in addition, 0 if it is proven to be the best; `None` if that is unknown.
    pub unproven: Option<Money>,
    /// The fold steps of the search.
    pub steps: usize,
}

/// The offers among which the best stack is sought.
pub struct StackOffers<'a> {
    trial: Case<'a>,
    /// `true` if all offers of the customer were added.
    is_complete: bool,
    most_steps: usize,
}

impl<'a> StackOffers<'a> {
    /// Returns no offers yet for the request of a case, for a search of at most `most_steps`.
    pub fn new(case: &Case<'a>, most_steps: usize) -> StackOffers<'a> {
        let mut trial = case.without_redeemables();
        // A validation evaluates all tests. The search has a budget of its own: when that is over, the best found counts.
        (trial.passes, trial.budget) = (RequiredFacts::default(), case.facts.budget());
        trial.redeemables = Cow::Owned(Vec::new());
        StackOffers { trial, is_complete: true, most_steps }
    }

    /// Adds an offer by its name in a request; only discounts can save.
    pub fn add(&mut self, named: RequestedRedeemable, resolved: ResolvedName<'a>) {
        let is_discount = |resolved: &ResolvedName<'_>| matches!(resolved, ResolvedName::Offer(offer) if matches!(offer.incentive.grant, Grant::Discount(_)));
        if !is_discount(&resolved) {
            return;
        }
        let lines = self.trial.priced.cart.lines.len();
        if self.trial.budget.spend(lines.add_steps(STEPS_PER_OFFER)) {
            self.trial.redeemables.to_mut().push(named);
            self.trial.push_resolved(resolved);
        } else {
            self.is_complete = false;
        }
    }

    /// Records that the customer has more offers.
    pub fn leave_others(&mut self) {
        self.is_complete = false;
    }
}

/// Finds the best stack. Its facts that only the server has are missing for the case, too.
pub fn find_best_stack<'a>(case: &mut Case<'a>, offers: StackOffers<'a>) -> BestStack<'a> {
    let StackOffers { mut trial, is_complete, most_steps } = offers;
    let (found, missing) = {
        let mut missing = MissingFacts::default();
        let found = match trial.may_claim() {
            true => claims::find_stack(&trial, most_steps, &mut missing),
            false => search::find_stack(&trial, most_steps, &mut missing),
        };
        (found, missing)
    };
    missing.iter().for_each(|fact| case.missing.add(fact.clone()));
    if !trial.resolved.is_empty() && !case.facts.knows_settings().stacking_rules {
        case.missing.add("project/stacking_rules".into());
    }
    case.zone_use.set(case.zone_use.get() || trial.zone_use.get());
    case.add_missing_time_zone();
    trial.budget = case.budget.clone();
    let mut evaluated = with_positions(&trial, &found.positions);
    evaluated.evaluate();
    case.budget = evaluated.case.budget.clone();
    let unproven = found.unproven.filter(|_| is_complete);
    BestStack { evaluated, saved: found.saved, unproven, steps: found.steps }
}
