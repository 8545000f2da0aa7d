//! Decides whether a value is one of many: values in an order in which they are found by halving. It must not know what the
//! values are compared for.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::rank::{arranged, ranked_by};
use crate::rules::compare::{FoundValue, Operand};
use crate::rules::number::Number;
use crate::text::Text;

/// As many are looked at one by one sooner than they are put in order.
const FEW: usize = 16;

/// The operands of one condition in their order, once somebody asked. It says nothing that they do not say themselves.
#[derive(Default)]
pub struct Sorted(OnceLock<Option<Box<Among>>>);

/// Many values by what they are.
#[derive(Default)]
pub(super) struct Among {
    texts: Vec<Text>,
    numbers: Vec<Number>,
    /// The numbers that texts hold, once a number is looked for.
    held: OnceLock<Vec<Number>>,
    yes: bool,
    no: bool,
}

impl Sorted {
    /// These operands in order; nothing where there are few, or some that have no order here.
    #[inline]
    pub(super) fn of(&self, operands: &[Operand]) -> Option<&Among> {
        if operands.len() <= FEW {
            return None;
        }
        self.0.get_or_init(|| Among::of(operands).map(Box::new)).as_deref()
    }
}

impl Among {
    fn of(operands: &[Operand]) -> Option<Among> {
        let mut among = Among::default();
        for operand in operands {
            match operand {
                Operand::Text(text) => among.add(FoundValue::Text(text)),
                Operand::Number(number) => among.add(FoundValue::Number(*number)),
                Operand::Flag(flag) => among.add(FoundValue::Flag(*flag)),
                Operand::Moment(_) | Operand::Window(_) => return None,
            }
        }
        Some(among.closed())
    }

    /// The values that were found, for whoever asks which of them are there.
    pub(super) fn found<'f>(all: impl Iterator<Item = FoundValue<'f>>) -> Among {
        let mut among = Among::default();
        all.for_each(|found| among.add(found));
        among.closed()
    }

    fn add(&mut self, value: FoundValue<'_>) {
        match value {
            FoundValue::Text(text) => self.texts.push(Text::from(text)),
            FoundValue::Number(number) => self.numbers.push(number),
            FoundValue::Flag(false) => self.no = true,
            FoundValue::Flag(true) => self.yes = true,
            FoundValue::Missing | FoundValue::Value(_) => {}
        }
    }

    fn closed(mut self) -> Among {
        self.texts = in_order(std::mem::take(&mut self.texts));
        self.numbers = in_order(std::mem::take(&mut self.numbers));
        self
    }

    /// Whether a value is one of them: a text that is one of the texts or holds one of the numbers, a number that is one of
    /// the numbers or is held by one of the texts.
    pub(super) fn has(&self, found: FoundValue<'_>) -> bool {
        match found {
            FoundValue::Text(text) => {
                let is_text = self.texts.binary_search_by(|known| known.as_str().cmp(text)).is_ok();
                is_text
                    || (!self.numbers.is_empty() && Number::parse(text).is_some_and(|one| among(&self.numbers, one)))
            }
            FoundValue::Number(number) => {
                let held = || in_order(self.texts.iter().filter_map(|text| Number::parse(text)).collect());
                among(&self.numbers, number) || among(self.held.get_or_init(held), number)
            }
            FoundValue::Flag(flag) => {
                if flag {
                    self.yes
                } else {
                    self.no
                }
            }
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

fn among(numbers: &[Number], wanted: Number) -> bool {
    numbers.binary_search(&wanted).is_ok()
}

fn in_order<T: Ord>(values: Vec<T>) -> Vec<T> {
    let compare = |one: usize, other: usize| values.get(one).cmp(&values.get(other));
    let places = ranked_by(values.len(), &compare);
    arranged(values, &places)
}

impl std::fmt::Debug for Sorted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Sorted")
    }
}

impl Clone for Sorted {
    fn clone(&self) -> Sorted {
        Sorted::default()
    }
}

impl PartialEq for Sorted {
    fn eq(&self, _: &Sorted) -> bool {
        true
    }
}

impl Eq for Sorted {}

impl Hash for Sorted {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
