//! A client that knows which numbered conditions its customer meets, and not what they compare, answers with the bytes of the service.

use proptest::prelude::*;
use scrip::Context;
use scrip::bundle::{PreparedRules, number_conditions, read_condition, request_of};
use scrip::decide::met_conditions;
use scrip::time::Instant;
use serde_json::{Map, Value, json};

use crate::properties::generator::{Case, case};

/// Returns the answer of a set of rules, without what only the client or only the service adds.
fn answer(rules: &PreparedRules, case: &Case, request: &Value) -> Value {
    let context = Context { now: Instant::parse("2026-03-01T12:00:00Z").unwrap(), seed: [7; 32], first_number: None };
    let request = request.to_string();
    let answer = match case.verb {
        "qualify" => rules.qualify(request.as_bytes(), &context),
        _ => rules.validate(request.as_bytes(), &context),
    };
    serde_json::from_slice(&answer.body).unwrap()
}

/// Returns the rules without what they compare, and the conditions by number.
fn compiled(given: &Value) -> (Value, Vec<Value>) {
    let mut given = given.clone();
    let mut conditions: Vec<Value> = Vec::new();
    let mut number_of = |condition: &Value| -> Result<u64, ()> {
        let position = conditions.iter().position(|known| known == condition).unwrap_or_else(|| {
            conditions.push(condition.clone());
            conditions.len() - 1
        });
        Ok(position as u64)
    };
    for rule in given["validation_rules"].as_array_mut().unwrap() {
        number_conditions(rule.as_object_mut().unwrap(), &mut number_of).unwrap();
    }
    given.as_object_mut().unwrap().remove("segments");
    (given, conditions)
}

/// Returns the customer as a client knows her: the numbers that `rules` say she meets.
fn supplement(rules: &PreparedRules, conditions: &[Value]) -> Value {
    let context = Context { now: Instant::parse("2026-03-01T12:00:00Z").unwrap(), seed: [7; 32], first_number: None };
    let read: Vec<_> = conditions.iter().map(|condition| read_condition(condition).unwrap()).collect();
    let met = met_conditions(rules.facts(), &request_of("ann"), &read, &context).unwrap();
    let numbers = met.map(|met| {
        let met = met.iter().enumerate().filter(|(_, is_met)| **is_met);
        met.map(|(number, _)| number.to_string()).collect::<Vec<_>>()
    });
    json!({ "customers": [{ "id": "cust_1", "source_id": "ann", "conditions": numbers.unwrap() }] })
}

#[test]
fn numbers_decide_as_the_conditions_do() {
    let final_answers = std::cell::Cell::new([0_u32; 2]);
    crate::properties::holds(4_000, any::<u64>(), |number| {
        let mut case = case(number);
        let given = case.given.as_object_mut().unwrap();
        given.insert("complete".into(), true.into());
        given.insert("client".into(), json!({}));
        let mut request = case.request.clone();
        request.as_object_mut().unwrap().insert("customer".into(), json!({ "source_id": "ann" }));
        let plain = PreparedRules::new(case.given.to_string().as_bytes()).unwrap().with_customer("ann");
        let (rules, conditions) = compiled(&case.given);
        let text = rules.to_string();
        for part in ["seg_vip", "seg_static", "\"tags\"", "\"age\""] {
            let elsewhere = case.given["vouchers"].to_string() + &case.given["promotion_tiers"].to_string();
            prop_assert!(
                !rules["validation_rules"].to_string().contains(part) || elsewhere.contains(part),
                "{part}: {text}"
            );
        }
        let mut core = rules.as_object().unwrap().clone();
        core.remove("customers");
        let core = Value::Object(core).to_string();
        let about = supplement(&plain, &conditions).to_string();
        let joined = PreparedRules::joined(core.as_bytes(), &[about.as_bytes()]).unwrap().with_customer("ann");
        let (with_numbers, with_conditions) = (answer(&joined, &case, &request), answer(&plain, &case, &request));
        let provisional = |answer: &Value| answer.get("missing").is_some();
        if provisional(&with_numbers) || provisional(&with_conditions) {
            return Ok(());
        }
        let [all, met] = final_answers.get();
        final_answers.set([all + 1, met + u32::from(!conditions.is_empty())]);
        let without = |mut answer: Value| {
            let fields: &mut Map<String, Value> = answer.as_object_mut().unwrap();
            fields.remove("omitted");
            fields.remove("tracking_id");
            answer
        };
        prop_assert_eq!(without(with_numbers), without(with_conditions), "{}", request);
        Ok(())
    });
    let [all, met] = final_answers.get();
    assert!(met > 300, "{met} of {all} final answers were about conditions");
}
