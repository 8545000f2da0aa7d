//! Replaces the conditions about the customer in a rule by their numbers, so that a client that decides by the rule does
//! not learn what they compare.

use serde_json::{Map, Value, json};

use crate::bundle::facts::RuleSetFacts;
use crate::decide::met_conditions;
use crate::facts::{Facts, Known};
use crate::id::Context;
use crate::model::customer::{Customer, ProfilePart};
use crate::model::request::Redeemables;
use crate::rules::kind::MetadataOwner;
use crate::rules::names::{CUSTOMER_CONDITION, is_about_customer};
use crate::rules::{Clock, FactKind, Rule, TestOperand};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::document::read_document;
use crate::wire::problem::Problem;
use crate::wire::rule_set::RuleSet;
use crate::wire::rules::read_rule;

/// The members of a test that are its condition. The rest, messages and nested tests, stays with the rule.
const CONDITION: [&str; 3] = ["name", "property", "conditions"];

/// Replaces the conditions about the customer in the document of a validation rule. `number_of` returns the number of a
/// condition: `{ "name", "property", "conditions" }`.
pub fn number_conditions<E>(
    rule: &mut Map<String, Value>,
    number_of: &mut dyn FnMut(&Value) -> Result<u64, E>,
) -> Result<(), E> {
    replace_conditions(rule, is_about_customer, &mut |test, condition| {
        let number = number_of(&condition)?;
        test.insert("name".into(), CUSTOMER_CONDITION.text.into());
        test.insert("property".into(), number.to_string().into());
        Ok(())
    })
}

/// Replaces the condition of a test in a document: it gets the test without the condition, and the condition.
pub(super) type ReplaceCondition<'r, E> = dyn FnMut(&mut Map<String, Value>, Value) -> Result<(), E> + 'r;

/// Calls `replace` with every test of the selected names, without its condition, and with the condition, nested tests included.
pub(super) fn replace_conditions<E>(
    rule: &mut Map<String, Value>,
    is_selected: fn(&str) -> bool,
    replace: &mut ReplaceCondition<'_, E>,
) -> Result<(), E> {
    let Some(Value::Object(tests)) = rule.get_mut("rules") else { return Ok(()) };
    for test in tests.values_mut().filter_map(Value::as_object_mut) {
        if test.get("name").and_then(Value::as_str).is_some_and(is_selected) {
            let condition: Map<String, Value> =
                CONDITION.iter().filter_map(|name| Some(((*name).to_owned(), test.remove(*name)?))).collect();
            replace(test, Value::Object(condition))?;
        }
        replace_conditions(test, is_selected, replace)?;
    }
    Ok(())
}

/// Reads a condition as a rule with this one test, as [`met_conditions`](crate::decide::met_conditions) takes it.
pub fn read_condition(condition: &Value) -> Result<Rule, Problem> {
    read_document(&json!({ "rules": { "1": condition } }).to_string(), read_rule)
}

/// Returns whether the result of a condition stays the same if a request sends a part of the profile, because it does not compare that part.
pub fn is_independent_of(condition: &Rule, part: ProfilePart, facts: &dyn Facts) -> bool {
    let mut stays = true;
    condition.tests.each_leaf(&mut |leaf| {
        let mut names = leaf.test.conditions.iter().flat_map(|one| &one.operands).filter_map(TestOperand::as_text);
        stays &= match leaf.test.name.kind {
            FactKind::Segment => names.all(|name| match facts.segment(name) {
                Known::Is(segment) => !segment.uses_part(part),
                Known::Absent => true,
                Known::Unknown | Known::Unreadable => false,
            }),
            FactKind::Tier => true,
            FactKind::Data(MetadataOwner::Customer) => part != ProfilePart::Metadata,
            _ => false,
        };
    });
    stays
}

/// Returns the earliest time, from now on, at which the result of a condition may change for a customer who is not stored, and who would be
/// at each time. It may change at the start of a day too.
pub fn next_turn_of_new_customer(condition: &Rule, facts: &dyn Facts, clock: &Clock<'_>) -> Option<Instant> {
    let mut turns = Vec::new();
    condition.tests.each_leaf(&mut |leaf| {
        let names = leaf.test.conditions.iter().flat_map(|one| &one.operands).filter_map(TestOperand::as_text);
        let segments =
            names.filter(|_| leaf.test.name.kind == FactKind::Segment).map(|name| facts.segment(name).found());
        turns.extend(segments.flatten().filter_map(|segment| segment.next_turn_of_creation(clock)));
    });
    turns.into_iter().min()
}

/// Returns the request about nothing but a customer, by id or `source_id`.
pub fn request_of(customer: &str) -> Redeemables {
    let customer = Customer { source_id: Some(Text::from(customer)), ..Customer::default() };
    Redeemables { customer: Some(customer), ..Redeemables::default() }
}

/// Returns the ids of the segments that a condition names.
pub fn segments_of(condition: &Value) -> Vec<&str> {
    let is_about_segments = condition.get("name").and_then(Value::as_str) == Some("customer.segment");
    let mut names = Vec::new();
    let mut values: Vec<&Value> = condition.get("conditions").filter(|_| is_about_segments).into_iter().collect();
    while let Some(value) = values.pop() {
        match value {
            Value::String(name) => names.push(name.as_str()),
            Value::Array(inner) => values.extend(inner),
            Value::Object(inner) => values.extend(inner.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    names
}

/// The name of the new customer: no customer of the given facts has it.
const NEW: &str = "new";

/// Returns which of the conditions a new customer without known data meets. `segments` are the documents of those that they
/// name. The result is `None` where it changes with the time or depends on what cannot be read.
pub fn conditions_of_new_customer(
    segments: Vec<Value>,
    conditions: &[Value],
    context: &Context,
) -> Result<Vec<Option<bool>>, Problem> {
    let given = json!({ "complete": true, "client": {}, "customers": [], "segments": segments });
    let mut given = RuleSet::read(given.to_string().as_bytes())?;
    // A segment that is not given is unknown, and so is every condition that names it.
    given.segments.retain(|segment| !segment.depends_on_creation());
    let (facts, request) = (RuleSetFacts::new(given), request_of(NEW));
    let is_met = |condition: &Value| {
        let rule = read_condition(condition).ok()?;
        met_conditions(&facts, &request, &[rule], context).ok()??.first().copied()
    };
    Ok(conditions.iter().map(is_met).collect())
}
