//! Decides which of many different tests pass. Tests of one property share its lookup.

use crate::count::Countable;
use crate::json::Node;
use crate::model::order::Metadata;
use crate::ordered_map::OrderedMap;
use crate::rules::compare::Condition;
use crate::rules::index::key::key;
use crate::rules::input::RuleInput;
use crate::rules::kind::{FactKind, MetadataOwner};
use crate::rules::needs::RequiredFacts;
use crate::rules::operand::TestOperand;
use crate::rules::operator::Operator;
use crate::rules::rule::Test;
use crate::text::Text;

/// The evaluation of a test among many: tests of one property share the found value.
#[derive(Debug, Clone)]
pub(super) enum TestLookup {
    /// Evaluated separately.
    Single,
    /// A test whether a property of the customer, by its position, is one of some texts.
    Texts(usize),
}

/// A property of the customer, and the tests that each text of it makes pass.
#[derive(Debug, Clone)]
pub(super) struct Property {
    name: Text,
    texts: OrderedMap<Vec<u32>>,
}

impl Property {
    /// Returns the tests that pass because of the text of the property; `None` if it is no text.
    fn named_by(&self, customer: &Metadata) -> Option<&[u32]> {
        match customer.find_dotted(&self.name)? {
            Node::Text(text) => Some(self.texts.get(text).map_or(&[], Vec::as_slice)),
            _ => None,
        }
    }
}

/// Every different test, each stored once and identified by its number.
#[derive(Debug, Clone, Default)]
pub(super) struct Tests {
    /// The tests by their keys.
    tests: OrderedMap<Test>,
    /// The subjects of each test.
    subjects: Vec<u8>,
    /// The evaluation of each test.
    lookups: Vec<TestLookup>,
    /// The properties that they name.
    properties: Vec<Property>,
}

impl Tests {
    /// Returns the number of a test; every different one is stored once.
    pub(super) fn number_of(&mut self, test: &Test) -> u32 {
        let next = self.subjects.len();
        let key = key(test).map_or_else(|| next.to_string().into(), Text::from);
        if let Some(known) = self.tests.position(&key) {
            return number(known);
        }
        self.tests.insert(key, test.clone());
        self.subjects.push(test.subject());
        self.lookups.push(lookup(test, number(next), &mut self.properties));
        number(next)
    }

    /// Returns the number of different tests.
    pub(super) fn len(&self) -> usize {
        self.subjects.len()
    }

    /// Returns which tests pass. Those that are not `needed`, if it is given, are not evaluated and count as passed.
    pub(super) fn answers(&self, input: &RuleInput<'_>, subjects: u8, needed: Option<&[bool]>) -> Vec<bool> {
        // Tests that pass without evaluation must not be looked up either.
        let shares = input.passes == RequiredFacts::default();
        let texts: Vec<Option<&[u32]>> =
            self.properties.iter().map(|property| property.named_by(input.customer?)).collect();
        let tests = self.tests.iter().zip(&self.subjects).zip(&self.lookups);
        let is_needed = |test: usize| needed.is_none_or(|needed| needed.get(test).copied().unwrap_or(false));
        let answer = |(number, ((test, subject), lookup)): (usize, ((&Test, &u8), &TestLookup))| match lookup {
            _ if subject & subjects == 0 || !is_needed(number) => true,
            // Passing tests are found by the text, below.
            TestLookup::Texts(property) if shares => {
                !matches!(texts.get(*property), Some(Some(_))) && test.holds_by_itself(input)
            }
            _ => test.holds_by_itself(input),
        };
        let mut found: Vec<bool> = tests.enumerate().map(answer).collect();
        for test in texts.into_iter().flatten().flatten().filter(|_| shares) {
            found.get_mut(*test as usize).into_iter().for_each(|holds| *holds = true);
        }
        found
    }
}

/// Returns the evaluation of a test among many.
pub(super) fn lookup(test: &Test, number: u32, properties: &mut Vec<Property>) -> TestLookup {
    let [Condition { operator: Operator::In, operands, .. }] = &*test.conditions else {
        return TestLookup::Single;
    };
    match (test.name.kind, &test.property) {
        _ if test.rules.is_some() => TestLookup::Single,
        (FactKind::Data(MetadataOwner::Customer), Some(property))
            if operands.iter().all(|one| one.as_text().is_some()) =>
        {
            let position = properties.iter().position(|known| known.name == *property).unwrap_or_else(|| {
                properties.push(Property { name: property.clone(), texts: OrderedMap::default() });
                properties.len().remaining_after(1)
            });
            let Some(Property { texts, .. }) = properties.get_mut(position) else { return TestLookup::Single };
            for text in operands.iter().filter_map(TestOperand::as_text) {
                texts.get_or(&Text::from(text), Vec::new).into_iter().for_each(|tests| tests.push(number));
            }
            TestLookup::Texts(position)
        }
        _ => TestLookup::Single,
    }
}

/// Returns a position as indexes store it.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
