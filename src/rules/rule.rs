//! Decides what a rule can say. It must not know how a rule is written or what it is about at a given moment.

use std::sync::Arc;

use crate::model::scope::{BundleRules, GoodsObject, GoodsRef, Scope};
use crate::rules::about;
use crate::rules::compare::Condition;
use crate::rules::filter::Collection;
use crate::rules::kind::Kind;
use crate::rules::logic::Expression;
use crate::rules::names::RuleName;
use crate::rules::needs::Needs;
use crate::rules::range::Range;
use crate::text::Text;

/// A validation rule as it is evaluated. What does not change once it was read is shared, not copied.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Assigned by the service.
    pub id: Text,
    /// What it tests.
    pub tests: Arc<Group>,
    /// The text shown when a test without one of its own fails.
    pub message: Option<String>,
    /// The lines that the grant is about.
    pub scope: Scope,
    /// What makes a bundle; `None` without any (calculation.md section 8).
    pub bundle: Option<BundleRules>,
    /// What its tests look at.
    pub needs: Needs,
    /// Collections that the rule itself makes: the goods with some custom data that its scope is about.
    pub own_collections: Vec<Collection>,
}

/// Tests, and how they combine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Group {
    /// The tests by key, in key order.
    pub leaves: Vec<Leaf>,
    /// How they combine.
    pub logic: Expression,
    /// Whether that is nothing but `and`, all of them in their order.
    pub(super) plain: bool,
    /// Whether any of them, or of those inside, is one that nobody can answer but where points are earned.
    pub(super) unanswered: bool,
}

/// One numbered test of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// Its key, as the logic names it.
    pub key: Text,
    /// What it tests.
    pub test: Test,
    /// The text shown when it fails.
    pub message: Option<String>,
}

/// What is looked at, the conditions that it must meet, and tests that refine it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Test {
    /// Its name: what it looks at, and all that follows from that.
    pub name: &'static RuleName,
    /// The property of custom data, for those that have one: its name or, inside nested objects, names joined with dots.
    pub property: Option<Text>,
    /// All must hold.
    pub conditions: Arc<[Condition]>,
    /// Tests on what this one matched.
    pub rules: Option<Arc<Group>>,
    /// The amounts that meet its conditions, when it looks at an amount and they are a range.
    pub(super) range: Option<Range>,
}

impl Group {
    /// Tests that combine in this way.
    pub fn new(leaves: Vec<Leaf>, logic: Expression) -> Group {
        let is_next = |(place, part): (usize, &Expression)| *part == Expression::Leaf(place);
        let parts = match &logic {
            Expression::All(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let plain = parts.len() == leaves.len() && parts.iter().enumerate().all(is_next);
        let unanswered =
            leaves.iter().enumerate().any(|(place, leaf)| leaf.test.is_unanswered() && logic.mentions(place));
        Group { leaves, logic, plain, unanswered }
    }

    /// What the tests look at that the logic mentions.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        let mut seen = vec![false; self.leaves.len()];
        self.logic.each_place(&mut |place| {
            let (Some(leaf), Some(seen)) = (self.leaves.get(place), seen.get_mut(place)) else { return };
            if !std::mem::replace(seen, true) {
                let inner = leaf.test.rules.as_ref().map(|rules| rules.needs()).unwrap_or_default();
                needs = needs.and(leaf.test.name.needs).and(inner);
            }
        });
        needs
    }

    /// Shows every test, nested ones after the one that they refine.
    pub fn each_leaf<'a>(&'a self, see: &mut dyn FnMut(&'a Leaf)) {
        for leaf in &self.leaves {
            see(leaf);
            if let Some(rules) = &leaf.test.rules {
                rules.each_leaf(see);
            }
        }
    }
}

impl Rule {
    /// Notes in what it needs whether it names a collection, once everything else of it is known.
    pub fn note_collections(&mut self) {
        let mut named = false;
        self.each_goods(&mut |goods| named |= goods.object == GoodsObject::Collection);
        if named {
            self.needs = self.needs.and(Needs::COLLECTIONS);
        }
    }

    /// Shows all goods that the rule names, in its tests, its scope and its bundle.
    pub fn each_goods<'a>(&'a self, see: &mut dyn FnMut(&'a GoodsRef)) {
        self.tests.each_leaf(&mut |leaf| leaf.test.conditions.iter().flat_map(|one| &one.goods).for_each(&mut *see));
        self.scope.goods().for_each(&mut *see);
        let bundle = self.bundle.iter().flat_map(|bundle| &bundle.entries);
        bundle.flat_map(|entry| &entry.goods).for_each(see);
    }
}

impl Test {
    /// A test of this name.
    pub fn new(
        name: &'static RuleName,
        property: Option<Text>,
        conditions: Vec<Condition>,
        rules: Option<Group>,
    ) -> Test {
        let is_amount = matches!(name.kind, Kind::Amount | Kind::InitialAmount | Kind::TotalAmount);
        let range = if is_amount { Range::ANY.within(&conditions) } else { None };
        Test { name, property, conditions: conditions.into(), rules: rules.map(Arc::new), range }
    }

    /// Whether nobody can answer it but where points are earned, or one of those that refine it.
    pub(super) fn is_unanswered(&self) -> bool {
        matches!(self.name.kind, Kind::Earning(_)) || self.rules.as_ref().is_some_and(|rules| rules.unanswered)
    }

    /// What it is about: one of [`about`]. What refines it is part of it.
    pub fn about(&self) -> u8 {
        let inner = self.rules.as_deref().map(Group::needs).unwrap_or_default();
        let spends = inner.meets(Needs::AFTER.and(Needs::REDEMPTION));
        match self.name.about {
            _ if inner.meets(Needs::BUDGET) => about::COUNTED,
            own @ (about::COUNTED | about::OWN) => own,
            _ if spends && !matches!(self.name.kind, Kind::Data(_) | Kind::Channel(_)) => about::OWN,
            about::ORDER if inner.meets(Needs::LINES) => about::GOODS,
            own => own,
        }
    }
}
