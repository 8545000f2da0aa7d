//! Defines the stacking rules of a project.
//!
//! docs/spec/calculation.md#11.1.

use serde::Serialize;

use crate::text::Text;

/// The maximum number of redeemables of a request, for every project.
pub const REDEEMABLES_MAX: u64 = 30;

/// The condition under which redeemables are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApplicationMode {
    /// All or none: one failure refuses all.
    #[default]
    All,
    /// Only the valid ones are applied.
    Partial,
}

/// The order in which redeemables are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortingRule {
    /// The order of the request.
    #[default]
    RequestedOrder,
    /// By the hierarchy of their categories.
    CategoryHierarchy,
}

/// The base of a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CalculationMode {
    /// The order before all discounts.
    #[default]
    InitialAmount,
    /// The amount after earlier discounts.
    DiscountedAmount,
}

/// The number of discounts on one product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProductsMode {
    /// Every discount that applies.
    #[default]
    Stack,
    /// The first discount only.
    Once,
}

/// The treatment of a redeemable without an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoEffectRule {
    /// It is redeemed.
    #[default]
    RedeemAnyway,
    /// It is skipped.
    Skip,
}

/// The effect of a rollback on the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RollbackMode {
    /// Discounts are taken off the order and it is canceled.
    #[default]
    WithOrder,
    /// The order is not changed.
    WithoutOrder,
}

/// The order of exclusive and joint redeemables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupedSortingRule {
    /// Exclusive first, joint last.
    #[default]
    JointAlwaysLast,
    /// Together, by the sorting rule.
    RedeemablesSortingRule,
}

/// The stacking rules of a project. A project without stored rules has [`StackingRules::default`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackingRules {
    /// The maximum number of redeemables of a request, 1 to 30.
    pub redeemables_limit: u64,
    /// The maximum number of applied redeemables.
    pub applicable_redeemables_limit: u64,
    /// The maximum number of applied ones of one category.
    pub applicable_redeemables_per_category_limit: Option<u64>,
    /// The maximum for single categories; wins over the general one.
    pub applicable_redeemables_category_limits: Vec<(Text, u64)>,
    /// The maximum number of applied exclusive ones.
    pub applicable_exclusive_redeemables_limit: u64,
    /// The maximum number of applied exclusive ones of one category.
    pub applicable_exclusive_redeemables_per_category_limit: Option<u64>,
    /// The exclusive categories.
    pub exclusive_categories: Vec<Text>,
    /// The categories that are applied together with exclusive ones.
    pub joint_categories: Vec<Text>,
    /// The condition under which redeemables are applied.
    pub redeemables_application_mode: ApplicationMode,
    /// The order of application.
    pub redeemables_sorting_rule: SortingRule,
    /// The number of discounts on one product.
    pub redeemables_products_application_mode: ProductsMode,
    /// The treatment of redeemables without an effect.
    pub redeemables_no_effect_rule: NoEffectRule,
    /// Categories that are always skipped without an effect.
    pub no_effect_skip_categories: Vec<Text>,
    /// Categories that are always redeemed, even without an effect.
    pub no_effect_redeem_anyway_categories: Vec<Text>,
    /// The effect of a rollback on the order.
    pub redeemables_rollback_order_mode: RollbackMode,
    /// The order of exclusive and joint ones.
    pub grouped_redeemables_sorting_rule: GroupedSortingRule,
    /// The base of discounts.
    pub discount_calculation_mode: CalculationMode,
    /// Categories with the initial amount as their base.
    pub initial_amount_mode_categories: Vec<Text>,
    /// Categories with the discounted amount as their base.
    pub discounted_amount_mode_categories: Vec<Text>,
}

impl StackingRules {
    /// Returns whether any redeemable may be skipped because it has no effect.
    pub fn skips_no_effect(&self) -> bool {
        self.redeemables_no_effect_rule == NoEffectRule::Skip || !self.no_effect_skip_categories.is_empty()
    }

    /// Returns the maximum of applied ones of this category: its own limit or the general one.
    pub fn limit_of(&self, category: &Text) -> Option<u64> {
        let own = self.applicable_redeemables_category_limits.iter().find(|(known, _)| known == category);
        own.map(|(_, limit)| *limit).or(self.applicable_redeemables_per_category_limit)
    }
}

impl Default for StackingRules {
    fn default() -> StackingRules {
        StackingRules {
            redeemables_limit: REDEEMABLES_MAX,
            applicable_redeemables_limit: 5,
            applicable_redeemables_per_category_limit: None,
            applicable_redeemables_category_limits: Vec::new(),
            applicable_exclusive_redeemables_limit: 1,
            applicable_exclusive_redeemables_per_category_limit: None,
            exclusive_categories: Vec::new(),
            joint_categories: Vec::new(),
            redeemables_application_mode: ApplicationMode::All,
            redeemables_sorting_rule: SortingRule::RequestedOrder,
            redeemables_products_application_mode: ProductsMode::Stack,
            redeemables_no_effect_rule: NoEffectRule::RedeemAnyway,
            no_effect_skip_categories: Vec::new(),
            no_effect_redeem_anyway_categories: Vec::new(),
            redeemables_rollback_order_mode: RollbackMode::WithOrder,
            grouped_redeemables_sorting_rule: GroupedSortingRule::JointAlwaysLast,
            discount_calculation_mode: CalculationMode::DiscountedAmount,
            initial_amount_mode_categories: Vec::new(),
            discounted_amount_mode_categories: Vec::new(),
        }
    }
}
