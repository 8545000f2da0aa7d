//! Decides which combinations of redeemables are refused as a whole, before anything is known of them. It must not know
//! what any of them grants.
//!
//! calculation.md section 11.2, steps 1 and 2.

use crate::model::promotion::Stack;
use crate::model::request::{Redeemable, RedeemableObject};
use crate::model::stacking::StackingRules;
use crate::refusal::{Reason, Refusal};

/// The refusal of a request that names one redeemable twice.
pub(super) fn duplicated() -> Refusal {
    Refusal::new(Reason::DuplicatedRedeemables, "Duplicated redeemables detected in one redemption")
}

/// Refuses a combination that is never allowed, or more redeemables than a request may name.
pub(super) fn check_combination(redeemables: &[Redeemable], rules: &StackingRules) -> Result<(), Refusal> {
    if redeemables.len() < 2 {
        return Ok(());
    }
    let is_stack = |redeemable: &Redeemable| redeemable.object == RedeemableObject::PromotionStack;
    if redeemables.iter().any(is_stack) {
        return Err(Refusal::new(Reason::InvalidRedeemables, "Promotion Stack cannot be use with other redeemables"));
    }
    let limit = rules.redeemables_limit;
    let count = redeemables.len();
    if u64::try_from(count).unwrap_or(u64::MAX) > limit {
        return Err(Refusal::new(
            Reason::InvalidRedeemables,
            ["Property .redeemables", &too_many(limit, "items", count)].concat(),
        ));
    }
    Ok(())
}

fn too_many(limit: u64, things: &str, count: usize) -> String {
    let (limit, count) = (limit.to_string(), count.to_string());
    [" must NOT have more than ", &limit, " ", things, " (actual count is `", &count, "`)"].concat()
}

/// How a refusal of a stack begins; its id follows.
const STACK: &str = "Promotion Stack with id: ";

/// A stack is refused as a whole when it cannot be tried: it has no tiers, one of them twice, or more than a request may
/// name. Only tiers can be in it, so that no stack is within another.
pub(super) fn check_stack(stack: &Stack, rules: &StackingRules) -> Result<(), Refusal> {
    let (id, count, limit) = (&stack.id, stack.tiers.len(), rules.redeemables_limit);
    let refuse = |details: String| Err(Refusal::new(Reason::InvalidRedeemables, details));
    if count == 0 {
        return refuse([STACK, id, " has no tiers"].concat());
    }
    if u64::try_from(count).unwrap_or(u64::MAX) > limit {
        return refuse([STACK, id, &too_many(limit, "tiers", count)].concat());
    }
    let twice =
        stack.tiers.iter().enumerate().any(|(place, tier)| stack.tiers.iter().take(place).any(|one| one == tier));
    if twice { refuse([STACK, id, " names one tier twice"].concat()) } else { Ok(()) }
}
