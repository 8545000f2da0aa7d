//! Decides which combinations of redeemables are refused as a whole, before any of them is resolved.
//!
//! docs/spec/calculation.md#11.2, steps 1 and 2.

use crate::model::promotion::PromotionStack;
use crate::model::request::{RedeemableObject, RequestedRedeemable};
use crate::model::stacking::StackingRules;
use crate::refusal::{Reason, Refusal};

/// Returns the refusal of a request that names one redeemable twice.
pub(in crate::decide) fn duplicated() -> Refusal {
    Refusal::new(Reason::DuplicatedRedeemables, "Duplicated redeemables detected in one redemption")
}

/// Refuses a combination that is never allowed, or more redeemables than a request may name.
pub(in crate::decide) fn check_combination(
    redeemables: &[RequestedRedeemable],
    rules: &StackingRules,
) -> Result<(), Refusal> {
    if redeemables.len() < 2 {
        return Ok(());
    }
    let is_stack = |redeemable: &RequestedRedeemable| redeemable.object == RedeemableObject::PromotionStack;
    if redeemables.iter().any(is_stack) {
        return Err(Refusal::new(Reason::InvalidRedeemables, "Promotion Stack cannot be use with other redeemables"));
    }
    let limit = rules.redeemables_limit;
    let count = redeemables.len();
    if u64::try_from(count).unwrap_or(u64::MAX) > limit {
        let details = format!("Property .redeemables {}", too_many(limit, "items", count));
        return Err(Refusal::new(Reason::InvalidRedeemables, details));
    }
    Ok(())
}

fn too_many(limit: u64, noun: &str, count: usize) -> String {
    format!("must NOT have more than {limit} {noun} (actual count is `{count}`)")
}

/// Refuses a stack as a whole if it has no tiers, one of them twice, or more than a request may name. A stack contains
/// only tiers, so none is nested.
pub(in crate::decide) fn check_stack(stack: &PromotionStack, rules: &StackingRules) -> Result<(), Refusal> {
    let (id, count, limit) = (&stack.id, stack.tiers.len(), rules.redeemables_limit);
    let refuse = |problem: &str| {
        let details = format!("Promotion Stack with id: {id} {problem}");
        Err(Refusal::new(Reason::InvalidRedeemables, details))
    };
    if count == 0 {
        return refuse("has no tiers");
    }
    if u64::try_from(count).unwrap_or(u64::MAX) > limit {
        return refuse(&too_many(limit, "tiers", count));
    }
    let twice =
        stack.tiers.iter().enumerate().any(|(position, tier)| stack.tiers.iter().take(position).any(|one| one == tier));
    if twice { refuse("names one tier twice") } else { Ok(()) }
}
