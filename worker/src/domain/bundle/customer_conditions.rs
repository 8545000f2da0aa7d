//! Numbers the conditions about the customer in a core, which discloses the numbers alone.

use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::bundle::number_conditions;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Conditions with their numbers. A condition keeps its number while a core has it, so that an unchanged core keeps its bytes.
#[derive(Debug, Default)]
pub struct NumberedConditions {
    before: BTreeMap<String, u64>,
    last: u64,
    present: BTreeMap<u64, String>,
}

impl NumberedConditions {
    /// Continues the numbers of the last core.
    pub fn after(last: BTreeMap<u64, String>) -> NumberedConditions {
        let highest = last.keys().next_back().copied().unwrap_or(0);
        let before = last.into_iter().map(|(number, condition)| (condition, number)).collect();
        NumberedConditions { before, last: highest, present: BTreeMap::new() }
    }

    /// Replaces the conditions in a validation rule by their numbers.
    pub fn number(&mut self, rule: &mut Document) -> Result<(), Fault> {
        number_conditions(&mut rule.body, &mut |condition| self.number_of(condition))
    }

    fn number_of(&mut self, condition: &Json) -> Result<u64, Fault> {
        let text = condition.to_string();
        let number = match self.before.get(&text) {
            Some(number) => *number,
            None => {
                let next = self.last.checked_add(1).ok_or_else(|| Fault::new("no number is left for a condition"))?;
                self.last = next;
                self.before.insert(text.clone(), next);
                next
            }
        };
        self.present.insert(number, text);
        Ok(number)
    }

    /// Returns the conditions of this core by number.
    pub fn into_present(self) -> BTreeMap<u64, String> {
        self.present
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_keeps_its_number_and_another_gets_a_higher_one() {
        let condition = |name: &str| json!({ "name": "customer.segment", "conditions": { "$is": [name] } });
        let mut first = NumberedConditions::default();
        assert_eq!([1, 2, 1], ["a", "b", "a"].map(|name| first.number_of(&condition(name)).unwrap()));
        let mut second = NumberedConditions::after(first.into_present());
        assert_eq!([2, 3], ["b", "c"].map(|name| second.number_of(&condition(name)).unwrap()));
        let mut third = NumberedConditions::after(second.into_present());
        assert_eq!([4, 3], ["d", "c"].map(|name| third.number_of(&condition(name)).unwrap()));
    }
}
