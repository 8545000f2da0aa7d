//! Decides the order in which redeemables are tried, and which are excluded by an exclusive one.
//!
//! docs/spec/calculation.md#11.2, steps 4 to 6.

use crate::count::Countable;
use crate::model::redeemable::Category;
use crate::model::stacking::{CalculationMode, GroupedSortingRule, NoEffectRule, SortingRule, StackingRules};
use crate::text::Text;

/// The stacking rules of one category, resolved once per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategoryRules {
    /// The rank, 0 for the highest; redeemables without a category come last.
    pub hierarchy: u64,
    /// `true` if it excludes others.
    pub exclusive: bool,
    /// `true` if it is applied together with an exclusive one.
    pub joint: bool,
    /// The maximum number of applied redeemables.
    pub limit: Option<u64>,
    /// The base of its discounts.
    pub mode: CalculationMode,
    /// `true` if redeemables without an effect are skipped.
    pub skips_no_effect: bool,
    /// The number of applied redeemables so far.
    pub applied: u64,
}

impl CategoryRules {
    /// Returns the rules of a category, or of redeemables without one.
    pub fn of(category: Option<&Category>, rules: &StackingRules) -> CategoryRules {
        let skips = rules.redeemables_no_effect_rule == NoEffectRule::Skip;
        let mode = rules.discount_calculation_mode;
        let Some(Category { id, hierarchy, .. }) = category else {
            let hierarchy = u64::MAX;
            let (exclusive, joint, limit) = (false, false, None);
            return CategoryRules { hierarchy, exclusive, joint, limit, mode, skips_no_effect: skips, applied: 0 };
        };
        let mode = match () {
            () if rules.initial_amount_mode_categories.contains(id) => CalculationMode::InitialAmount,
            () if rules.discounted_amount_mode_categories.contains(id) => CalculationMode::DiscountedAmount,
            () => mode,
        };
        let anyway = rules.no_effect_redeem_anyway_categories.contains(id);
        CategoryRules {
            hierarchy: *hierarchy,
            exclusive: rules.exclusive_categories.contains(id),
            joint: rules.joint_categories.contains(id),
            limit: rules.limit_of(id),
            mode,
            skips_no_effect: !anyway && (skips || rules.no_effect_skip_categories.contains(id)),
            applied: 0,
        }
    }
}

/// The stacking data of a redeemable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackingCandidate {
    /// Its position in the request.
    pub position: usize,
    /// The index of its category's class; `None` without a category.
    pub class: Option<usize>,
    /// Validity on the initial order; only determined for exclusive ones.
    pub valid: bool,
    /// Existence; a redeemable that does not exist is never excluded.
    pub exists: bool,
    /// `true` if it is excluded by an exclusive one.
    pub excluded: bool,
}

/// The redeemables to try, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialOrder {
    /// The number of redeemables.
    pub count: usize,
    /// The rules of those without a category.
    pub plain: CategoryRules,
    /// The rules of each category.
    pub classes: Vec<CategoryRules>,
    /// The candidates in order; empty for all in the order of the request, if none has a category.
    pub candidates: Vec<StackingCandidate>,
}

impl TrialOrder {
    /// Returns a selection of redeemables without categories, in the order of the request.
    pub fn new(count: usize, rules: &StackingRules) -> TrialOrder {
        TrialOrder { count, plain: CategoryRules::of(None, rules), classes: Vec::new(), candidates: Vec::new() }
    }

    /// Returns the candidate of a turn.
    pub(super) fn at(&self, turn: usize) -> StackingCandidate {
        let plain = StackingCandidate { position: turn, class: None, valid: false, exists: true, excluded: false };
        self.candidates.get(turn).copied().unwrap_or(plain)
    }

    /// Returns the rules of a class.
    pub(super) fn class(&mut self, class: Option<usize>) -> &mut CategoryRules {
        class.and_then(|class| self.classes.get_mut(class)).unwrap_or(&mut self.plain)
    }
}

/// The classes of a selection, by the categories that they belong to.
#[derive(Debug, Default)]
pub struct ClassNames<'c>(Vec<&'c Text>);

impl<'c> ClassNames<'c> {
    /// Returns the class of a category, which is added to the selection once; `None` without a category.
    pub fn class_of(
        &mut self,
        selection: &mut TrialOrder,
        category: Option<&'c Category>,
        rules: &StackingRules,
    ) -> Option<usize> {
        let category = category?;
        let known = self.0.iter().position(|known| **known == category.id);
        Some(known.unwrap_or_else(|| {
            self.0.push(&category.id);
            selection.classes.push(CategoryRules::of(Some(category), rules));
            self.0.len().remaining_after(1)
        }))
    }
}

/// Sorts the candidates and finds the excluded ones.
pub fn select(selection: &mut TrialOrder, rules: &StackingRules) {
    let TrialOrder { classes, candidates, .. } = selection;
    let class = |candidate: &StackingCandidate| classes.get(candidate.class?);
    if rules.redeemables_sorting_rule == SortingRule::CategoryHierarchy {
        candidates.sort_by_cached_key(|one| class(one).map_or(u64::MAX, |class| class.hierarchy));
    }
    let exclusive = |candidate: &StackingCandidate| class(candidate).is_some_and(|class| class.exclusive);
    let joint = |candidate: &StackingCandidate| class(candidate).is_some_and(|class| class.joint);
    if candidates.iter().any(|candidate| candidate.valid && exclusive(candidate)) {
        if rules.grouped_redeemables_sorting_rule == GroupedSortingRule::JointAlwaysLast {
            let (last, first) = candidates.iter().copied().partition::<Vec<_>, _>(joint);
            *candidates = [first, last].concat();
        }
        for candidate in candidates {
            candidate.excluded = candidate.exists && !exclusive(candidate) && !joint(candidate);
        }
    }
}
