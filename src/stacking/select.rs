//! Decides the order in which redeemables are tried, and which are out because an exclusive one is in. It must not
//! know limits or amounts.
//!
//! calculation.md section 11.2, steps 4 to 6.

use crate::model::incentive::Category;
use crate::model::stacking::{CalculationMode, GroupedSortingRule, NoEffectRule, SortingRule, StackingRules};

/// What stacking rules say of one category, looked up once a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// 0 the strongest; without a category after all that have one.
    pub hierarchy: u64,
    /// Whether it stands alone.
    pub exclusive: bool,
    /// Whether it is applied whatever else is.
    pub joint: bool,
    /// How many of it may be applied.
    pub limit: Option<u64>,
    /// What its discounts are computed on.
    pub mode: CalculationMode,
    /// Whether those without an effect are left out.
    pub skips_no_effect: bool,
    /// How many of it are applied by now.
    pub applied: u64,
}

impl Class {
    /// What the rules say of a category, or of redeemables that have none.
    pub fn of(category: Option<&Category>, rules: &StackingRules) -> Class {
        let skips = rules.redeemables_no_effect_rule == NoEffectRule::Skip;
        let mode = rules.discount_calculation_mode;
        let Some(Category { id, hierarchy, .. }) = category else {
            let hierarchy = u64::MAX;
            let (exclusive, joint, limit) = (false, false, None);
            return Class { hierarchy, exclusive, joint, limit, mode, skips_no_effect: skips, applied: 0 };
        };
        let mode = match () {
            () if rules.initial_amount_mode_categories.contains(id) => CalculationMode::InitialAmount,
            () if rules.discounted_amount_mode_categories.contains(id) => CalculationMode::DiscountedAmount,
            () => mode,
        };
        let anyway = rules.no_effect_redeem_anyway_categories.contains(id);
        Class {
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

/// A redeemable as stacking sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its place in the request.
    pub place: usize,
    /// The place of its category's class; `None` without a category.
    pub class: Option<usize>,
    /// Whether it is valid on the order as it came in; asked only of exclusive ones.
    pub valid: bool,
    /// Whether it exists; what does not exist is never excluded.
    pub exists: bool,
    /// Whether it is out because an exclusive one is in.
    pub excluded: bool,
}

/// What is tried, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// How many there are.
    pub count: usize,
    /// What the rules say of those without a category.
    pub plain: Class,
    /// What they say of each category.
    pub classes: Vec<Class>,
    /// In order; empty for all in the order in which they were named, when none has a category.
    pub candidates: Vec<Candidate>,
}

impl Selection {
    /// So many, all in the order in which they were named, and none with a category.
    pub fn new(count: usize, rules: &StackingRules) -> Selection {
        Selection { count, plain: Class::of(None, rules), classes: Vec::new(), candidates: Vec::new() }
    }

    /// The `turn`-th to be tried.
    pub(super) fn at(&self, turn: usize) -> Candidate {
        let plain = Candidate { place: turn, class: None, valid: false, exists: true, excluded: false };
        self.candidates.get(turn).copied().unwrap_or(plain)
    }

    /// What the rules say of a class.
    pub(super) fn class(&mut self, class: Option<usize>) -> &mut Class {
        class.and_then(|class| self.classes.get_mut(class)).unwrap_or(&mut self.plain)
    }
}

/// Sorts the candidates and finds the excluded ones.
pub fn select(selection: &mut Selection, rules: &StackingRules) {
    let Selection { classes, candidates, .. } = selection;
    let class = |candidate: &Candidate| classes.get(candidate.class?);
    if rules.redeemables_sorting_rule == SortingRule::CategoryHierarchy {
        candidates.sort_by_cached_key(|one| class(one).map_or(u64::MAX, |class| class.hierarchy));
    }
    let exclusive = |candidate: &Candidate| class(candidate).is_some_and(|class| class.exclusive);
    let joint = |candidate: &Candidate| class(candidate).is_some_and(|class| class.joint);
    if candidates.iter().any(|candidate| candidate.valid && exclusive(candidate)) {
        if rules.grouped_redeemables_sorting_rule == GroupedSortingRule::JointAlwaysLast {
            let (last, first): (Vec<Candidate>, Vec<Candidate>) = candidates.iter().copied().partition(joint);
            *candidates = [first, last].concat();
        }
        for candidate in candidates {
            candidate.excluded = candidate.exists && !exclusive(candidate) && !joint(candidate);
        }
    }
}
