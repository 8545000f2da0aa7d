//! Decides, one redeemable after the other, whether it is applied to the running order, skipped or refused. It must
//! not know why a redeemable is valid.
//!
//! calculation.md section 11.2, steps 7 and 8.

use crate::model::stacking::{ApplicationMode, CalculationMode, NoEffectRule, ProductsMode, StackingRules};
use crate::pricing::{Base, Cart, Gain};
use crate::refusal::{Refusal, Skip};
use crate::stacking::select::{Candidate, Selection};
use crate::text::Text;

/// Knows what each redeemable is worth and whether it may be used.
pub trait Judge {
    /// Whether only the server could say.
    fn undecided(&self, place: usize) -> bool;
    /// Why it may not be used on this order, if so.
    fn refusal(&mut self, place: usize, cart: &Cart) -> Option<Refusal>;
    /// What it gives. With `once`, lines that were discounted in this request are out of its reach.
    fn gain(&mut self, place: usize, cart: &Cart, base: Base<'_>, once: bool) -> Result<Gain, Refusal>;
}

/// What became of one redeemable.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It gave this. The order after it is the order before it with this added; writers replay it.
    Applied(Gain),
    /// It was left out.
    Skipped(Skip),
    /// It cannot be used.
    Refused(Refusal),
}

/// One step of the walk.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The redeemable's place in the request.
    pub place: usize,
    /// What became of it.
    pub outcome: Outcome,
}

/// The whole walk: every redeemable once, in the order in which they were tried, and the order at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    /// Step by step.
    pub steps: Vec<Step>,
    /// The order with everything applied.
    pub cart: Cart,
}

/// Tries every candidate in turn.
pub fn walk(selection: &Selection, rules: &StackingRules, initial: &Cart, judge: &mut dyn Judge) -> Walk {
    let mut state = State { cart: initial.clone(), applied: Vec::new(), failed: false };
    let mut steps = Vec::with_capacity(selection.candidates.len());
    for (candidate, excluded) in &selection.candidates {
        let outcome = state.step(candidate, *excluded, rules, initial, judge);
        steps.push(Step { place: candidate.place, outcome });
    }
    Walk { steps, cart: state.cart }
}

struct State {
    cart: Cart,
    applied: Vec<Applied>,
    failed: bool,
}

struct Applied {
    category: Option<Text>,
    exclusive: bool,
}

impl State {
    fn step(
        &mut self,
        candidate: &Candidate,
        excluded: bool,
        rules: &StackingRules,
        initial: &Cart,
        judge: &mut dyn Judge,
    ) -> Outcome {
        if excluded {
            return Outcome::Skipped(Skip::Exclusion);
        }
        let all = rules.redeemables_application_mode == ApplicationMode::All;
        if all && self.failed {
            return Outcome::Skipped(Skip::PrecedingFailure);
        }
        if judge.undecided(candidate.place) {
            return Outcome::Skipped(Skip::Undecided);
        }
        if let Some(skip) = self.limit(candidate, rules) {
            return Outcome::Skipped(skip);
        }
        match self.attempt(candidate, rules, initial, judge) {
            Err(refusal) => {
                self.failed = true;
                Outcome::Refused(refusal)
            }
            Ok(gain) if gain.is_nothing() && skips_no_effect(candidate, rules) => Outcome::Skipped(Skip::NoEffect),
            Ok(gain) => {
                self.applied
                    .push(Applied { category: candidate.category.clone(), exclusive: candidate.exclusive(rules) });
                Outcome::Applied(gain)
            }
        }
    }

    /// The first limit that one more would exceed. Only what is applied counts.
    fn limit(&self, candidate: &Candidate, rules: &StackingRules) -> Option<Skip> {
        let count = |wanted: &dyn Fn(&Applied) -> bool| {
            let found = self.applied.iter().filter(|applied| wanted(applied)).count();
            u64::try_from(found).unwrap_or(u64::MAX)
        };
        if count(&|_| true) >= rules.applicable_redeemables_limit {
            return Some(Skip::Limit);
        }
        let own = candidate.category.as_ref();
        let same = |applied: &Applied| own.is_some() && applied.category.as_ref() == own;
        let limit = own.and_then(|category| rules.limit_of(category));
        if own.is_some() && limit.is_some_and(|limit| count(&same) >= limit) {
            return Some(Skip::CategoryLimit);
        }
        if !candidate.exclusive(rules) {
            return None;
        }
        if count(&|applied| applied.exclusive) >= rules.applicable_exclusive_redeemables_limit {
            return Some(Skip::ExclusiveLimit);
        }
        let limit = rules.applicable_exclusive_redeemables_per_category_limit;
        if limit.is_some_and(|limit| count(&|applied| applied.exclusive && same(applied)) >= limit) {
            return Some(Skip::ExclusiveCategoryLimit);
        }
        None
    }

    /// Validates on the running order, computes the effect and commits it, unless it is nothing and would be skipped.
    fn attempt(
        &mut self,
        candidate: &Candidate,
        rules: &StackingRules,
        initial: &Cart,
        judge: &mut dyn Judge,
    ) -> Result<Gain, Refusal> {
        if let Some(refusal) = judge.refusal(candidate.place, &self.cart) {
            return Err(refusal);
        }
        let base = match calculation_mode(candidate, rules) {
            CalculationMode::InitialAmount => Base::Initial(initial),
            CalculationMode::DiscountedAmount => Base::Discounted,
        };
        let once = rules.redeemables_products_application_mode == ProductsMode::Once;
        let gain = judge.gain(candidate.place, &self.cart, base, once)?;
        if gain.is_nothing() && skips_no_effect(candidate, rules) {
            return Ok(gain);
        }
        self.cart.add(&gain).ok_or_else(too_large)?;
        Ok(gain)
    }
}

fn too_large() -> Refusal {
    let bound = crate::money::LARGEST;
    Refusal::new(crate::refusal::Reason::InvalidAmount, format!("All discounts together amount to more than {bound}"))
}

fn calculation_mode(candidate: &Candidate, rules: &StackingRules) -> CalculationMode {
    if candidate.among(&rules.initial_amount_mode_categories) {
        CalculationMode::InitialAmount
    } else if candidate.among(&rules.discounted_amount_mode_categories) {
        CalculationMode::DiscountedAmount
    } else {
        rules.discount_calculation_mode
    }
}

fn skips_no_effect(candidate: &Candidate, rules: &StackingRules) -> bool {
    if candidate.among(&rules.no_effect_redeem_anyway_categories) {
        return false;
    }
    candidate.among(&rules.no_effect_skip_categories) || rules.redeemables_no_effect_rule == NoEffectRule::Skip
}
