//! Decides whether a value is in a set: values are indexed by type, so that one lookup is enough.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::slice::Iter;

use crate::rules::number::Number;
use crate::rules::operand::{FoundValue, TestOperand};
use crate::text::Text;

/// The number of operands up to which they are compared one by one.
const FEW: usize = 16;

/// The operands of a condition, in their order. Many are indexed in addition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ValueOperands {
    list: Vec<TestOperand>,
    /// The index; `None` for few operands, or for any that is no plain value.
    members: Option<Box<ValueSet>>,
}

impl From<Vec<TestOperand>> for ValueOperands {
    fn from(list: Vec<TestOperand>) -> ValueOperands {
        let members = if list.len() > FEW { ValueSet::of(&list) } else { None };
        ValueOperands { members: members.map(Box::new), list }
    }
}

impl Deref for ValueOperands {
    type Target = [TestOperand];

    fn deref(&self) -> &[TestOperand] {
        &self.list
    }
}

impl<'a> IntoIterator for &'a ValueOperands {
    type Item = &'a TestOperand;
    type IntoIter = Iter<'a, TestOperand>;

    fn into_iter(self) -> Iter<'a, TestOperand> {
        self.list.iter()
    }
}

impl ValueOperands {
    /// Returns the index of the values, if there are many.
    pub(super) fn members(&self) -> Option<&ValueSet> {
        self.members.as_deref()
    }
}

/// Values indexed by type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct ValueSet {
    texts: BTreeSet<Text>,
    numbers: BTreeSet<Number>,
    /// The numbers that texts contain.
    held: BTreeSet<Number>,
    yes: bool,
    no: bool,
}

impl ValueSet {
    fn of(operands: &[TestOperand]) -> Option<ValueSet> {
        let mut members = ValueSet::default();
        for operand in operands {
            match operand {
                TestOperand::Text(text) => members.add(FoundValue::Text(text)),
                TestOperand::Number(number) => members.add(FoundValue::Number(*number)),
                TestOperand::Flag(flag) => members.add(FoundValue::Flag(*flag)),
                TestOperand::Time(_) | TestOperand::Window(_) => return None,
            }
        }
        Some(members)
    }

    /// Returns the set of found values, to test which operands it contains.
    pub(super) fn found<'f>(all: impl Iterator<Item = FoundValue<'f>>) -> ValueSet {
        let mut members = ValueSet::default();
        all.for_each(|found| members.add(found));
        members
    }

    fn add(&mut self, value: FoundValue<'_>) {
        match value {
            FoundValue::Text(text) => {
                self.texts.insert(Text::from(text));
                self.held.extend(Number::parse(text));
            }
            FoundValue::Number(number) => {
                self.numbers.insert(number);
            }
            FoundValue::Flag(true) => self.yes = true,
            FoundValue::Flag(false) => self.no = true,
            FoundValue::Missing | FoundValue::Value(_) => {}
        }
    }

    /// Returns whether the set contains a value. A text also equals a number that it contains, and vice versa.
    pub(super) fn has(&self, found: FoundValue<'_>) -> bool {
        match found {
            FoundValue::Text(text) => {
                let is_number = || Number::parse(text).is_some_and(|number| self.numbers.contains(&number));
                self.texts.contains(text) || (!self.numbers.is_empty() && is_number())
            }
            FoundValue::Number(number) => self.numbers.contains(&number) || self.held.contains(&number),
            FoundValue::Flag(true) => self.yes,
            FoundValue::Flag(false) => self.no,
            FoundValue::Missing | FoundValue::Value(_) => false,
        }
    }

    /// Returns whether the set contains an operand; `None` for an instant or a window.
    pub(super) fn has_operand(&self, expected: &TestOperand) -> Option<bool> {
        match expected {
            TestOperand::Text(text) => Some(self.has(FoundValue::Text(text))),
            TestOperand::Number(number) => Some(self.has(FoundValue::Number(*number))),
            TestOperand::Flag(flag) => Some(self.has(FoundValue::Flag(*flag))),
            TestOperand::Time(_) | TestOperand::Window(_) => None,
        }
    }
}
