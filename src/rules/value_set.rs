//! Decides whether a value is one of many: values by what they are, so that one look is enough. It must not know what the
//! values are compared for.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::slice::Iter;

use crate::rules::number::Number;
use crate::rules::operand::{FoundValue, Operand};
use crate::text::Text;

/// As many are looked at one by one.
const FEW: usize = 16;

/// What a condition compares with, as it was given. Many are kept by what they are as well.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Operands {
    list: Vec<Operand>,
    /// Nothing where there are few, or some that are no plain values.
    among: Option<Box<ValueSet>>,
}

impl From<Vec<Operand>> for Operands {
    fn from(list: Vec<Operand>) -> Operands {
        let among = if list.len() > FEW { ValueSet::of(&list) } else { None };
        Operands { among: among.map(Box::new), list }
    }
}

impl Deref for Operands {
    type Target = [Operand];

    fn deref(&self) -> &[Operand] {
        &self.list
    }
}

impl<'a> IntoIterator for &'a Operands {
    type Item = &'a Operand;
    type IntoIter = Iter<'a, Operand>;

    fn into_iter(self) -> Iter<'a, Operand> {
        self.list.iter()
    }
}

impl Operands {
    /// The values by what they are, when there are many.
    pub(super) fn among(&self) -> Option<&ValueSet> {
        self.among.as_deref()
    }
}

/// Many values by what they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct ValueSet {
    texts: BTreeSet<Text>,
    numbers: BTreeSet<Number>,
    /// The numbers that texts hold.
    held: BTreeSet<Number>,
    yes: bool,
    no: bool,
}

impl ValueSet {
    fn of(operands: &[Operand]) -> Option<ValueSet> {
        let mut among = ValueSet::default();
        for operand in operands {
            match operand {
                Operand::Text(text) => among.add(FoundValue::Text(text)),
                Operand::Number(number) => among.add(FoundValue::Number(*number)),
                Operand::Flag(flag) => among.add(FoundValue::Flag(*flag)),
                Operand::Moment(_) | Operand::Window(_) => return None,
            }
        }
        Some(among)
    }

    /// The values that were found, for whoever asks which of them are there.
    pub(super) fn found<'f>(all: impl Iterator<Item = FoundValue<'f>>) -> ValueSet {
        let mut among = ValueSet::default();
        all.for_each(|found| among.add(found));
        among
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

    /// Whether a value is one of them: a text that is one of the texts or holds one of the numbers, a number that is one of
    /// the numbers or is held by one of the texts.
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

    /// The same of an operand.
    pub(super) fn has_operand(&self, wanted: &Operand) -> Option<bool> {
        match wanted {
            Operand::Text(text) => Some(self.has(FoundValue::Text(text))),
            Operand::Number(number) => Some(self.has(FoundValue::Number(*number))),
            Operand::Flag(flag) => Some(self.has(FoundValue::Flag(*flag))),
            Operand::Moment(_) | Operand::Window(_) => None,
        }
    }
}
