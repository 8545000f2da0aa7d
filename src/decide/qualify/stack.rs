//! Decides the gain of a stack of promotion tiers when no other redeemable is redeemed with it.

use crate::decide::case::Case;
use crate::decide::validate::Evaluation;
use crate::model::request::RequestedRedeemable;
use crate::text::Text;

/// Tries a stack as a validation of it would; `None` if it does not apply or gives nothing.
pub(super) fn try_stack<'a>(case: &mut Case<'a>, id: &Text) -> Option<Box<Evaluation<'a>>> {
    let mut stack_trial = Evaluation::of(case.without_redeemables());
    stack_trial.case.expand(&RequestedRedeemable::named(id.clone())).ok()?;
    stack_trial.evaluate();
    case.budget = stack_trial.case.budget.clone();
    stack_trial.missing.iter().for_each(|fact| case.missing.add(fact.clone()));
    (stack_trial.valid && stack_trial.applied().next().is_some()).then(|| Box::new(stack_trial))
}
