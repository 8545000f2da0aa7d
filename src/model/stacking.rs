//! Decides what the stacking rules of a project say. It must not know how they are applied.
//!
//! calculation.md section 11.1.

use serde::Serialize;

use crate::text::Text;

/// How many redeemables one request may name, whatever a project says.
pub const MOST_REDEEMABLES: u64 = 30;

/// Whether all must hold or those that hold are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApplicationMode {
    /// One that fails fails all.
    #[default]
    All,
    /// Those that hold are applied.
    Partial,
}

/// In which order redeemables are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortingRule {
    /// As the request names them.
    #[default]
    RequestedOrder,
    /// By the hierarchy of their categories.
    CategoryHierarchy,
}

/// What a discount is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CalculationMode {
    /// The order before all discounts.
    #[default]
    InitialAmount,
    /// What earlier discounts left.
    DiscountedAmount,
}

/// Whether one product may be discounted more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProductsMode {
    /// As often as discounts apply.
    #[default]
    Stack,
    /// By the first discount only.
    Once,
}

/// What becomes of a redeemable that grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoEffectRule {
    /// It is redeemed all the same.
    #[default]
    RedeemAnyway,
    /// It is skipped.
    Skip,
}

/// Whether a rollback changes the order as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RollbackMode {
    /// Discounts are taken off the order and it is canceled.
    #[default]
    WithOrder,
    /// The order is left as it is.
    WithoutOrder,
}

/// How exclusive and joint redeemables are ordered among themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupedSortingRule {
    /// Exclusive first, joint last.
    #[default]
    JointAlwaysLast,
    /// Together, by the sorting rule.
    RedeemablesSortingRule,
}

/// The stacking rules of a project. A project that never wrote any has [`StackingRules::default`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackingRules {
    /// How many redeemables one request may name, 1 to 30.
    pub redeemables_limit: u64,
    /// How many may be applied.
    pub applicable_redeemables_limit: u64,
    /// How many of one category may be applied.
    pub applicable_redeemables_per_category_limit: Option<u64>,
    /// The same for single categories; wins over the general limit.
    pub applicable_redeemables_category_limits: Vec<(Text, u64)>,
    /// How many exclusive ones may be applied.
    pub applicable_exclusive_redeemables_limit: u64,
    /// How many exclusive ones of one category may be applied.
    pub applicable_exclusive_redeemables_per_category_limit: Option<u64>,
    /// Categories that stand alone.
    pub exclusive_categories: Vec<Text>,
    /// Categories that are applied whatever else is.
    pub joint_categories: Vec<Text>,
    /// All or those that hold.
    pub redeemables_application_mode: ApplicationMode,
    /// In which order.
    pub redeemables_sorting_rule: SortingRule,
    /// How often one product.
    pub redeemables_products_application_mode: ProductsMode,
    /// What of those that grant nothing.
    pub redeemables_no_effect_rule: NoEffectRule,
    /// Categories that are skipped without an effect whatever the rule says.
    pub no_effect_skip_categories: Vec<Text>,
    /// Categories that are redeemed without an effect whatever the rule says.
    pub no_effect_redeem_anyway_categories: Vec<Text>,
    /// What a rollback does to the order.
    pub redeemables_rollback_order_mode: RollbackMode,
    /// Exclusive and joint among themselves.
    pub grouped_redeemables_sorting_rule: GroupedSortingRule,
    /// The base of discounts.
    pub discount_calculation_mode: CalculationMode,
    /// Categories with the initial amount as their base.
    pub initial_amount_mode_categories: Vec<Text>,
    /// Categories with the discounted amount as their base.
    pub discounted_amount_mode_categories: Vec<Text>,
}

impl StackingRules {
    /// Whether anything at all may be skipped for giving nothing.
    pub fn skips_no_effect(&self) -> bool {
        self.redeemables_no_effect_rule == NoEffectRule::Skip || !self.no_effect_skip_categories.is_empty()
    }

    /// How many of this category may be applied, by its own limit or by the general one.
    pub fn limit_of(&self, category: &Text) -> Option<u64> {
        let own = self.applicable_redeemables_category_limits.iter().find(|(known, _)| known == category);
        own.map(|(_, limit)| *limit).or(self.applicable_redeemables_per_category_limit)
    }
}

impl Default for StackingRules {
    fn default() -> StackingRules {
        StackingRules {
            redeemables_limit: MOST_REDEEMABLES,
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
