//! Decides how stacking rules are read. It must not know how they are applied.
//!
//! calculation.md section 11.1; fields that are not there keep their defaults, and what a project may write is bounded
//! where it is written.

use crate::model::stacking::{
    ApplicationMode, CalculationMode, GroupedSortingRule, NoEffectRule, ProductsMode, RollbackMode, SortingRule,
    StackingRules,
};
use crate::text::Text;
use crate::wire::at::At;
use crate::wire::problem::Problem;

/// Reads stacking rules.
pub fn read_stacking_rules(at: &At<'_>) -> Result<StackingRules, Problem> {
    let mut rules = StackingRules::default();
    for (name, member) in at.members()? {
        if member.is_null() {
            continue;
        }
        match name {
            "redeemables_limit" => rules.redeemables_limit = member.whole_number()?,
            "applicable_redeemables_limit" => rules.applicable_redeemables_limit = member.whole_number()?,
            "applicable_redeemables_per_category_limit" => {
                rules.applicable_redeemables_per_category_limit = Some(member.whole_number()?);
            }
            "applicable_redeemables_category_limits" => {
                rules.applicable_redeemables_category_limits = read_limits(&member)?;
            }
            "applicable_exclusive_redeemables_limit" => {
                rules.applicable_exclusive_redeemables_limit = member.whole_number()?;
            }
            "applicable_exclusive_redeemables_per_category_limit" => {
                rules.applicable_exclusive_redeemables_per_category_limit = Some(member.whole_number()?);
            }
            "exclusive_categories" => rules.exclusive_categories = read_texts(&member)?,
            "joint_categories" => rules.joint_categories = read_texts(&member)?,
            "no_effect_skip_categories" => rules.no_effect_skip_categories = read_texts(&member)?,
            "no_effect_redeem_anyway_categories" => rules.no_effect_redeem_anyway_categories = read_texts(&member)?,
            "initial_amount_mode_categories" => rules.initial_amount_mode_categories = read_texts(&member)?,
            "discounted_amount_mode_categories" => rules.discounted_amount_mode_categories = read_texts(&member)?,
            _ => read_mode(&mut rules, name, &member)?,
        }
    }
    Ok(rules)
}

fn read_mode(rules: &mut StackingRules, name: &str, at: &At<'_>) -> Result<(), Problem> {
    match name {
        "redeemables_application_mode" => {
            let words = &[("ALL", ApplicationMode::All), ("PARTIAL", ApplicationMode::Partial)];
            rules.redeemables_application_mode = at.one_of(words)?;
        }
        "redeemables_sorting_rule" => {
            let hierarchy = ("CATEGORY_HIERARCHY", SortingRule::CategoryHierarchy);
            rules.redeemables_sorting_rule =
                at.one_of(&[hierarchy, ("REQUESTED_ORDER", SortingRule::RequestedOrder)])?;
        }
        "redeemables_products_application_mode" => {
            let words = &[("STACK", ProductsMode::Stack), ("ONCE", ProductsMode::Once)];
            rules.redeemables_products_application_mode = at.one_of(words)?;
        }
        "redeemables_no_effect_rule" => {
            let words = &[("REDEEM_ANYWAY", NoEffectRule::RedeemAnyway), ("SKIP", NoEffectRule::Skip)];
            rules.redeemables_no_effect_rule = at.one_of(words)?;
        }
        "redeemables_rollback_order_mode" => {
            let words = &[("WITH_ORDER", RollbackMode::WithOrder), ("WITHOUT_ORDER", RollbackMode::WithoutOrder)];
            rules.redeemables_rollback_order_mode = at.one_of(words)?;
        }
        "grouped_redeemables_sorting_rule" => {
            let last = ("JOINT_ALWAYS_LAST", GroupedSortingRule::JointAlwaysLast);
            let sorted = ("REDEEMABLES_SORTING_RULE", GroupedSortingRule::RedeemablesSortingRule);
            rules.grouped_redeemables_sorting_rule = at.one_of(&[last, sorted])?;
        }
        "discount_calculation_mode" => {
            let initial = ("INITIAL_AMOUNT", CalculationMode::InitialAmount);
            let discounted = ("DISCOUNTED_AMOUNT", CalculationMode::DiscountedAmount);
            rules.discount_calculation_mode = at.one_of(&[initial, discounted])?;
        }
        _ => {}
    }
    Ok(())
}

fn read_texts(at: &At<'_>) -> Result<Vec<Text>, Problem> {
    at.all(|item| item.text())
}

fn read_limits(at: &At<'_>) -> Result<Vec<(Text, u64)>, Problem> {
    let mut limits = Vec::new();
    for (category, limit) in at.members()? {
        limits.push((Text::from(category), limit.whole_number()?));
    }
    Ok(limits)
}
