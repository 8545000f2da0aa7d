//! Finds which offers apply alone, and how much each can give at most after others.

use crate::decide::best::stack::saved_between;
use crate::decide::case::{Case, MissingFacts, Offer};
use crate::decide::judge::CaseJudge;
use crate::model::discount::Discount;
use crate::model::redeemable::Grant;
use crate::money::Money;
use crate::stacking::{ApplyOutcome, ClassNames, OpenWalk, TrialOrder};

/// What is known about the gain of an offer after others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GainBound {
    /// It gives at most what it gives before them, and what is still to pay.
    Steady,
    /// It gives at most what is still to pay: a formula or a selection of units may find more after others.
    Varying,
    /// Nothing is known: it may change other units, or take the price of a line that another offer has added.
    Unknown,
}

impl GainBound {
    /// Returns the bound of an offer, if no other offer of the order has an unknown one.
    fn of(offer: &Offer<'_>) -> GainBound {
        let Grant::Discount(discount) = &offer.incentive.grant else { return GainBound::Unknown };
        if let Discount::Unit(_) | Discount::Units(_) = discount {
            return GainBound::Unknown;
        }
        let scope = offer.scope();
        let selective = scope.is_some_and(|scope| scope.selective);
        let has_formula_prices =
            || scope.is_some_and(|scope| scope.included.iter().any(|entry| entry.price.formula.is_some()));
        let varies = discount.acts_on_lines(scope.is_some()) && (selective || has_formula_prices());
        if varies || discount.is_dynamic() { GainBound::Varying } else { GainBound::Steady }
    }
}

/// An offer that applies alone.
#[derive(Debug, Clone)]
pub(super) struct StackCandidate {
    /// Its position in the trial.
    pub position: usize,
    /// The class of its category.
    pub class: Option<usize>,
    /// What it gives alone.
    pub alone: Money,
    /// What it saves alone: no more than the order costs.
    pub saved: Money,
    /// What is known about its gain after others.
    pub bound: GainBound,
}

/// The offers that apply alone, the largest discount first, and the rules of their categories.
#[derive(Debug)]
pub(super) struct StackCandidates {
    pub list: Vec<StackCandidate>,
    pub selection: TrialOrder,
    /// `false` if the budget ended before all offers were tried.
    pub is_complete: bool,
}

/// Tries every offer of a trial alone. Facts that only the server has are added to `missing`.
pub(super) fn find_candidates<'c>(
    case: &'c Case<'c>,
    judge: &mut CaseJudge<'c>,
    missing: &mut MissingFacts,
) -> StackCandidates {
    let mut selection = TrialOrder::new(case.resolved.len(), &case.stacking);
    let mut names = ClassNames::default();
    let class = |position: usize| {
        let category = case.offer(position).and_then(|offer| offer.category.as_deref());
        names.class_of(&mut selection, category, &case.stacking)
    };
    let classes: Vec<Option<usize>> = (0..case.resolved.len()).map(class).collect();
    let initial = &case.priced.cart;
    let start = OpenWalk::new(initial, &selection);
    let nothing = judge.record();
    let mut list = Vec::new();
    let mut is_complete = true;
    for (position, class) in classes.into_iter().enumerate() {
        judge.resume(&nothing);
        let mut walk = start.clone();
        let outcome = walk.apply(position, class, &case.stacking, initial, judge);
        if case.budget.is_over() {
            // What was computed without steps does not count.
            is_complete = false;
            break;
        }
        judge.found.missing_of(std::iter::once(position)).into_iter().for_each(|fact| missing.add(fact));
        if let (ApplyOutcome::Applied(gain), Some(offer)) = (outcome, case.offer(position)) {
            let alone = case.budget.checked(gain.total());
            let saved = saved_between(initial, &walk.cart);
            list.push(StackCandidate { position, class, alone, saved, bound: GainBound::of(offer) });
        }
    }
    judge.resume(&nothing);
    // Of equal ones the newest stays first.
    list.sort_by_key(|candidate| std::cmp::Reverse(candidate.alone));
    StackCandidates { list, selection, is_complete }
}
