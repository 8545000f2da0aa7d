//! Evaluates filters of collections and segments, and the operators that rules share with them (docs/spec/validation-rules.md 3 and 12).

use serde_json::Value as Json;

/// Returns a member of a document, `metadata.brand` for example.
fn at<'a>(document: &'a Json, path: &str) -> &'a Json {
    path.split('.').fold(document, |value, part| &value[part])
}

pub fn holds(filter: &Json, document: &Json) -> bool {
    let tests: Vec<bool> = filter
        .as_object()
        .unwrap()
        .iter()
        .filter(|(path, _)| *path != "junction")
        .map(|(path, test)| all(&test["conditions"], at(document, path)))
        .collect();
    if filter["junction"] == "or" { tests.contains(&true) } else { !tests.contains(&false) }
}

/// All of several operators must match.
pub fn all(conditions: &Json, value: &Json) -> bool {
    conditions
        .as_object()
        .unwrap()
        .iter()
        .all(|(operator, operands)| one(operator, operands.as_array().unwrap(), value))
}

fn one(operator: &str, operands: &[Json], value: &Json) -> bool {
    match operator {
        "$is" | "$in" => operands.contains(value),
        "$is_not" | "$not_in" => !operands.contains(value),
        _ => value.as_i64().is_some_and(|value| compares(operator, operands, i128::from(value))),
    }
}

/// An operator on a number.
pub fn compares(operator: &str, operands: &[Json], value: i128) -> bool {
    let bound = i128::from(operands[0].as_i64().unwrap());
    match operator {
        "$more_than" => value > bound,
        "$less_than" => value < bound,
        "$more_than_or_equal" => value >= bound,
        "$less_than_or_equal" => value <= bound,
        "$is" => value == bound,
        other => panic!("the model knows no operator `{other}`"),
    }
}

pub fn number(conditions: &Json, value: i128) -> bool {
    conditions
        .as_object()
        .unwrap()
        .iter()
        .all(|(operator, operands)| compares(operator, operands.as_array().unwrap(), value))
}
