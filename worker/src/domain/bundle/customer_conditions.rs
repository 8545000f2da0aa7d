//! Numbers the conditions about the customer in a core, which discloses only the numbers.

use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::bundle::{conditions_of_new_customer, number_conditions, segments_of};
use scrip::time::Instant;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

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

    /// Returns the number of a condition.
    pub fn number_of(&mut self, condition: &Json) -> Result<u64, Fault> {
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

    /// Continues the numbers of a core with further rules, and keeps its conditions.
    pub fn extending(core: &BTreeMap<u64, String>) -> NumberedConditions {
        NumberedConditions { present: core.clone(), ..NumberedConditions::after(core.clone()) }
    }

    /// Returns the conditions of this core by number.
    pub fn into_conditions(self) -> BTreeMap<u64, String> {
        self.present
    }
}

/// Numbers of the conditions that a new customer without data meets, and does not meet. A condition in neither list depends on
/// the time.
#[derive(Debug, Default, Serialize)]
pub struct NewCustomerResults {
    met: Vec<String>,
    unmet: Vec<String>,
}

impl NewCustomerResults {
    /// Adds the results of further conditions.
    pub fn join(&mut self, further: NewCustomerResults) {
        self.met.extend(further.met);
        self.unmet.extend(further.unmet);
    }
}

/// Decides the conditions of a core for a customer that a client names without proof: of a stored one no profile is read, and a new
/// one has no data (docs/spec/calculation.md#19, D21).
pub fn decide_for_new_customer(
    segments: &BTreeMap<&str, &Document>,
    conditions: &BTreeMap<u64, String>,
    now: Instant,
) -> Result<NewCustomerResults, Fault> {
    let read = |text: &String| serde_json::from_str(text).map_err(|error| Fault(error.to_string()));
    let read: Vec<Json> = conditions.values().map(read).collect::<Result<_, _>>()?;
    let named: BTreeSet<&str> = read.iter().flat_map(segments_of).collect();
    let named = named.into_iter().filter_map(|id| segments.get(id));
    let segments = named.map(|segment| without_members(segment)).collect();
    // No result depends on the seed.
    let decided = conditions_of_new_customer(segments, &read, &Context { now, seed: [0; 32], first_number: None });
    let decided = decided.map_err(|problem| Fault(format!("the segments of the bundle cannot be read: {problem}")))?;
    let numbers = |expected: bool| {
        let matching = conditions.keys().zip(&decided).filter(|(_, is_met)| **is_met == Some(expected));
        matching.map(|(number, _)| number.to_string()).collect()
    };
    Ok(NewCustomerResults { met: numbers(true), unmet: numbers(false) })
}

/// Returns a segment without the customers that it lists: a new one is none of them.
fn without_members(segment: &Document) -> Json {
    let without = |name: &str, value: &Json| if name == "customers" { json!([]) } else { value.clone() };
    segment.body.iter().map(|(name, value)| (name.clone(), without(name, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_number_and_another_gets_a_higher_one() {
        let condition = |name: &str| json!({ "name": "customer.segment", "conditions": { "$is": [name] } });
        let mut first = NumberedConditions::default();
        assert_eq!([1, 2, 1], ["a", "b", "a"].map(|name| first.number_of(&condition(name)).unwrap()));
        let mut second = NumberedConditions::after(first.into_conditions());
        assert_eq!([2, 3], ["b", "c"].map(|name| second.number_of(&condition(name)).unwrap()));
        let mut third = NumberedConditions::after(second.into_conditions());
        assert_eq!([4, 3], ["d", "c"].map(|name| third.number_of(&condition(name)).unwrap()));
    }
}
