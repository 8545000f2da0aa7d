//! Defines the structure of a rule.

use std::sync::Arc;

use crate::model::scope::{BundleRules, GoodsObject, GoodsRef, Scope};
use crate::rules::compare::Condition;
use crate::rules::filter::Collection;
use crate::rules::kind::FactKind;
use crate::rules::logic::Expression;
use crate::rules::names::RuleName;
use crate::rules::needs::RequiredFacts;
use crate::rules::operand::TestOperand;
use crate::rules::range::AmountRange;
use crate::rules::subject;
use crate::text::Text;

/// A validation rule as it is evaluated. Parts that do not change after reading are shared, not copied.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Assigned by the service.
    pub id: Text,
    /// The tests.
    pub tests: Arc<Group>,
    /// The message when a test without one of its own fails.
    pub message: Option<String>,
    /// The lines that the grant applies to.
    pub scope: Scope,
    /// The definition of product bundles; `None` without any (docs/spec/calculation.md#8).
    pub bundle: Option<BundleRules>,
    /// The facts that its tests need.
    pub needs: RequiredFacts,
    /// Collections that the rule itself defines: the goods with some metadata in its scope.
    pub own_collections: Vec<Collection>,
}

/// Tests, and their logic.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Group {
    /// The tests by key, in key order.
    pub leaves: Vec<Leaf>,
    /// The logic that combines them.
    pub logic: Expression,
    /// `true` if the logic is only `and`, over all tests in their order.
    pub(super) plain: bool,
    /// `true` if any of them, or of their nested tests, can be evaluated only where points are earned.
    pub(super) unanswered: bool,
}

/// One numbered test of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// The key, as the logic names it.
    pub key: Text,
    /// The test.
    pub test: Test,
    /// The message when it fails.
    pub message: Option<String>,
}

/// A rule name with the conditions on its value, and nested tests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Test {
    /// The name, which defines the value and its type.
    pub name: &'static RuleName,
    /// The metadata property, if the name has one: its name or, inside nested objects, names joined with dots.
    pub property: Option<Text>,
    /// The conditions, all of which must be met.
    pub conditions: Arc<[Condition]>,
    /// Nested tests on the matches of this one.
    pub rules: Option<Arc<Group>>,
    /// The range of amounts that meet the conditions, for a test of an amount.
    pub(super) range: Option<AmountRange>,
}

impl Group {
    /// Returns a group of tests with this logic.
    pub fn new(leaves: Vec<Leaf>, logic: Expression) -> Group {
        let is_next = |position: usize, part: &Expression| *part == Expression::Leaf(position);
        let parts = match &logic {
            Expression::All(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let plain =
            parts.len() == leaves.len() && parts.iter().enumerate().all(|(position, part)| is_next(position, part));
        let unanswered =
            leaves.iter().enumerate().any(|(position, leaf)| leaf.test.is_unanswered() && logic.references(position));
        Group { leaves, logic, plain, unanswered }
    }

    /// Returns the facts that the tests in the logic need.
    pub fn needs(&self) -> RequiredFacts {
        let mut needs = RequiredFacts::default();
        let mut is_used = vec![false; self.leaves.len()];
        self.logic.each_position(&mut |position| {
            let (Some(leaf), Some(is_used)) = (self.leaves.get(position), is_used.get_mut(position)) else { return };
            if !std::mem::replace(is_used, true) {
                let inner = leaf.test.rules.as_ref().map(|rules| rules.needs()).unwrap_or_default();
                needs = needs.and(leaf.test.name.needs).and(inner);
            }
        });
        needs
    }

    /// Calls `visit` with every test, nested ones after the surrounding one.
    pub fn each_leaf<'a>(&'a self, visit: &mut dyn FnMut(&'a Leaf)) {
        for leaf in &self.leaves {
            visit(leaf);
            if let Some(rules) = &leaf.test.rules {
                rules.each_leaf(visit);
            }
        }
    }
}

impl Rule {
    /// Adds collections to the needed facts if the rule names one, after all its other parts are known.
    pub fn record_collections(&mut self) {
        let mut named = false;
        self.each_goods(&mut |goods| named |= goods.object == GoodsObject::Collection);
        if named {
            self.needs = self.needs.and(RequiredFacts::COLLECTIONS);
        }
    }

    /// Calls `visit` with all goods that the rule names, in its tests, its scope and its bundle.
    pub fn each_goods<'a>(&'a self, visit: &mut dyn FnMut(&'a GoodsRef)) {
        self.tests.each_leaf(&mut |leaf| leaf.test.conditions.iter().flat_map(|one| &one.goods).for_each(&mut *visit));
        self.scope.goods().for_each(&mut *visit);
        let bundle = self.bundle.iter().flat_map(|bundle| &bundle.entries);
        bundle.flat_map(|entry| &entry.goods).for_each(visit);
    }
}

impl Test {
    /// Returns a test of this name.
    pub fn new(
        name: &'static RuleName,
        property: Option<Text>,
        conditions: Vec<Condition>,
        rules: Option<Group>,
    ) -> Test {
        let is_amount = matches!(name.kind, FactKind::Amount | FactKind::InitialAmount | FactKind::TotalAmount);
        let range = if is_amount { AmountRange::ANY.within(&conditions) } else { None };
        Test { name, property, conditions: conditions.into(), rules: rules.map(Arc::new), range }
    }

    /// Returns the number of the set that a test of a bundle names.
    pub fn set_number(&self) -> u64 {
        self.property.as_deref().and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// Returns whether goods without the compared data meet such a test; `None` if only the server knows.
    pub fn holds_without_data(&self) -> Option<bool> {
        match self.conditions.first()?.operands.first()? {
            TestOperand::Flag(holds) => Some(*holds),
            _ => None,
        }
    }

    /// Returns whether it or a nested test can be evaluated only where points are earned.
    pub(super) fn is_unanswered(&self) -> bool {
        matches!(self.name.kind, FactKind::Earning(_)) || self.rules.as_ref().is_some_and(|rules| rules.unanswered)
    }

    /// Returns its subject: one of [`subject`]. Nested tests are included.
    pub fn subject(&self) -> u8 {
        let inner = self.rules.as_deref().map(Group::needs).unwrap_or_default();
        let spends = inner.meets(RequiredFacts::AFTER.and(RequiredFacts::REDEMPTION));
        match self.name.subject {
            _ if inner.meets(RequiredFacts::BUDGET) => subject::COUNTED,
            own @ (subject::COUNTED | subject::OWN) => own,
            _ if spends && !matches!(self.name.kind, FactKind::Data(_) | FactKind::Channel(_)) => subject::OWN,
            subject::ORDER if inner.meets(RequiredFacts::LINES) => subject::GOODS,
            own => own,
        }
    }
}
