//! Replaces the conditions about the customer in a rule by their numbers, so that a client that decides by the rule does
//! not learn what they compare.

use serde_json::{Map, Value, json};

use crate::model::customer::Customer;
use crate::model::request::Redeemables;
use crate::rules::Rule;
use crate::rules::names::{CUSTOMER_CONDITION, is_about_customer};
use crate::text::Text;
use crate::wire::document::read_document;
use crate::wire::problem::Problem;
use crate::wire::rules::read_rule;

/// The members of a test that are its condition. The rest, messages and nested tests, stays with the rule.
const CONDITION: [&str; 3] = ["name", "property", "conditions"];

/// Replaces the conditions about the customer in the document of a validation rule. `number_of` returns the number of a
/// condition: `{ "name", "property", "conditions" }`.
pub fn number_conditions<E>(
    rule: &mut Map<String, Value>,
    number_of: &mut dyn FnMut(&Value) -> Result<u64, E>,
) -> Result<(), E> {
    let Some(Value::Object(tests)) = rule.get_mut("rules") else { return Ok(()) };
    for test in tests.values_mut().filter_map(Value::as_object_mut) {
        if test.get("name").and_then(Value::as_str).is_some_and(is_about_customer) {
            let condition: Map<String, Value> =
                CONDITION.iter().filter_map(|name| Some(((*name).to_owned(), test.remove(*name)?))).collect();
            let number = number_of(&Value::Object(condition))?;
            test.insert("name".into(), CUSTOMER_CONDITION.text.into());
            test.insert("property".into(), number.to_string().into());
        }
        number_conditions(test, number_of)?;
    }
    Ok(())
}

/// Reads a condition as a rule with this one test, as [`met_conditions`](crate::decide::met_conditions) takes it.
pub fn read_condition(condition: &Value) -> Result<Rule, Problem> {
    read_document(&json!({ "rules": { "1": condition } }).to_string(), read_rule)
}

/// Returns the request about nothing but a customer, by id or `source_id`.
pub fn request_of(customer: &str) -> Redeemables {
    let customer = Customer { source_id: Some(Text::from(customer)), ..Customer::default() };
    Redeemables { customer: Some(customer), ..Redeemables::default() }
}
