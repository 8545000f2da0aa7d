//! Decides whether the stacking rules have room for the promotions of a product in every cart. Their limits and exclusive categories count the
//! promotions of other lines too.

use crate::decide::case::Offer;
use crate::model::stacking::{GroupedSortingRule, SortingRule, StackingRules};
use crate::stacking::CategoryRules;
use crate::text::Text;

/// A promotion tier as the stacking rules see it.
pub(super) struct StackMember {
    category: Option<Text>,
    rules: CategoryRules,
    /// `true` if its rules only require goods, so that no earlier discount decides whether it applies.
    is_of_goods: bool,
}

impl StackMember {
    pub(super) fn new(offer: &Offer<'_>, is_of_goods: bool, rules: &StackingRules) -> StackMember {
        let category = offer.category.as_deref();
        let id = category.map(|category| category.id.clone());
        StackMember { category: id, rules: CategoryRules::of(category, rules), is_of_goods }
    }

    /// Returns whether an exclusive one excludes it.
    fn is_plain(&self) -> bool {
        !self.rules.exclusive && !self.rules.joint
    }
}

/// The stacking rules, and the promotions that a cart may have together.
pub(super) struct StackRoom<'s> {
    pub rules: &'s StackingRules,
    pub all: Vec<&'s StackMember>,
}

impl StackRoom<'_> {
    /// Returns whether one of the promotions of a product, which are some of all, may be left out of a stack.
    pub(super) fn may_displace(&self, own: &[&StackMember]) -> bool {
        let most = self.rules.redeemables_limit.min(self.rules.applicable_redeemables_limit);
        !own.is_empty()
            && (self.exceeds(most, |_| true) || self.may_block() || own.iter().any(|member| self.excludes(member)))
    }

    /// Returns whether the other promotions and the limits of its category may exclude one.
    fn excludes(&self, member: &StackMember) -> bool {
        let in_category = |other: &StackMember| other.category == member.category;
        if member.rules.limit.is_some_and(|limit| self.exceeds(limit, in_category)) {
            return true;
        }
        if !member.rules.exclusive {
            return member.is_plain() && self.all.iter().any(|other| other.rules.exclusive);
        }
        let of_category = self.rules.applicable_exclusive_redeemables_per_category_limit;
        self.all.iter().any(|other| other.is_plain())
            || self.exceeds(self.rules.applicable_exclusive_redeemables_limit, |other| other.rules.exclusive)
            || of_category.is_some_and(|limit| self.exceeds(limit, in_category))
    }

    /// Returns whether one that is tried earlier may lower an amount that another one requires.
    fn may_block(&self) -> bool {
        let is_grouped = self.rules.grouped_redeemables_sorting_rule == GroupedSortingRule::JointAlwaysLast
            && self.all.iter().any(|member| member.rules.exclusive);
        let is_sorted = self.rules.redeemables_sorting_rule == SortingRule::CategoryHierarchy || is_grouped;
        is_sorted && self.all.iter().any(|member| !member.is_of_goods)
    }

    fn exceeds(&self, limit: u64, is: impl Fn(&StackMember) -> bool) -> bool {
        let count = self.all.iter().filter(|member| is(member)).count();
        // A count that fits no limit exceeds all.
        u64::try_from(count).map_or(true, |count| count > limit)
    }
}
