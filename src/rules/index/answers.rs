//! Decides which of many different tests hold, with what tests of one kind look for looked up once. It must not know
//! lists of rules.

use crate::json::Node;
use crate::model::order::Metadata;
use crate::ordered_map::OrderedMap;
use crate::rules::compare::Condition;
use crate::rules::index::key::key;
use crate::rules::input::RuleInput;
use crate::rules::kind::{Data, Kind};
use crate::rules::needs::Needs;
use crate::rules::operand::Operand;
use crate::rules::operator::Operator;
use crate::rules::rule::Test;
use crate::text::Text;

/// How a test is asked when there are many: those of one kind share what they find.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// By itself.
    Alone,
    /// Whether a property of the customer, by its place, is one of some texts.
    Texts(usize),
}

/// A property of the customer, and which tests each text that they name makes hold.
#[derive(Debug, Clone)]
pub(super) struct Property {
    name: Text,
    texts: OrderedMap<Vec<u32>>,
}

impl Property {
    /// The tests that hold because of the text that the property is; nothing when it is no text.
    fn named_by(&self, customer: &Metadata) -> Option<&[u32]> {
        match customer.find_dotted(&self.name)? {
            Node::Text(text) => Some(self.texts.get(text).map_or(&[], Vec::as_slice)),
            _ => None,
        }
    }
}

/// Every different test, each kept once and known by its number.
#[derive(Debug, Clone, Default)]
pub(super) struct Tests {
    /// By their keys.
    tests: OrderedMap<Test>,
    /// What each of them is about.
    about: Vec<u8>,
    /// How each of them is asked.
    ways: Vec<Way>,
    /// The properties that they name.
    properties: Vec<Property>,
}

impl Tests {
    /// The number of a test; every different one is kept once.
    pub(super) fn number_of(&mut self, test: &Test) -> u32 {
        let next = self.about.len();
        let key = key(test).map_or_else(|| next.to_string().into(), Text::from);
        if let Some(known) = self.tests.place(&key) {
            return number(known);
        }
        self.tests.put(key, test.clone());
        self.about.push(test.about());
        self.ways.push(way(test, number(next), &mut self.properties));
        number(next)
    }

    /// Which tests hold.
    pub(super) fn answers(&self, input: &RuleInput<'_>, asked: u8) -> Vec<bool> {
        // What no test may be asked about must not be looked up either.
        let shares = input.passes == Needs::default();
        let texts: Vec<Option<&[u32]>> =
            self.properties.iter().map(|property| property.named_by(input.customer?)).collect();
        let tests = self.tests.iter().zip(&self.about).zip(&self.ways);
        let answer = |((test, about), way): ((&Test, &u8), &Way)| match way {
            _ if about & asked == 0 => true,
            // Those that hold are found by the text, below.
            Way::Texts(property) if shares => !matches!(texts.get(*property), Some(Some(_))) && test.holds_alone(input),
            _ => test.holds_alone(input),
        };
        let mut found: Vec<bool> = tests.map(answer).collect();
        for test in texts.into_iter().flatten().flatten().filter(|_| shares) {
            found.get_mut(*test as usize).into_iter().for_each(|holds| *holds = true);
        }
        found
    }
}

/// How a test is asked among many.
pub(super) fn way(test: &Test, number: u32, properties: &mut Vec<Property>) -> Way {
    let [Condition { operator: Operator::In, operands, .. }] = &*test.conditions else {
        return Way::Alone;
    };
    match (test.name.kind, &test.property) {
        _ if test.rules.is_some() => Way::Alone,
        (Kind::Data(Data::Customer), Some(property)) if operands.iter().all(|one| one.as_text().is_some()) => {
            let place = properties.iter().position(|known| known.name == *property).unwrap_or_else(|| {
                properties.push(Property { name: property.clone(), texts: OrderedMap::default() });
                properties.len().saturating_sub(1)
            });
            let Some(Property { texts, .. }) = properties.get_mut(place) else { return Way::Alone };
            for text in operands.iter().filter_map(Operand::as_text) {
                texts.get_or(&Text::from(text), Vec::new).into_iter().for_each(|tests| tests.push(number));
            }
            Way::Texts(place)
        }
        _ => Way::Alone,
    }
}

/// A place as indexes keep it.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
