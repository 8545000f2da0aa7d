//! The conditions of a query: their parsing, and the refusals of those that no list can answer.

use crate::http::query::Query;
use crate::http::reply::{ErrorBody, invalid_query};
use crate::store::document_list::condition::{Condition, InvalidCondition};
use scrip::wire::problem::shortened;

/// Operators with another spelling, which comes second.
const SPELLINGS: &[(&str, &str)] = &[
    ("$more_than", "$greater_than"),
    ("$more_than_equal", "$more_than_or_equal"),
    ("$more_than_equal", "$greater_than_or_equal"),
    ("$less_than_equal", "$less_than_or_equal"),
];

/// Reads the conditions of a query, and their junction.
pub fn read(query: &Query) -> Result<(Vec<Condition>, &'static str), ErrorBody> {
    let mut conditions: Vec<Condition> = Vec::new();
    let mut junction = "AND";
    if let Some(text) = query.parameter("filters") {
        return Err(invalid_query(format!(
            "Property .filters must be an object (actual value is `{}`)",
            shortened(text)
        )));
    }
    for (path, value) in query.below("filters") {
        match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["junction"] => {
                junction = match value.to_ascii_lowercase().as_str() {
                    "and" => "AND",
                    "or" => "OR",
                    _ => {
                        return Err(invalid_query(format!(
                            "Property .filters.junction must be one of and, or (actual value is `{value}`)"
                        )));
                    }
                }
            }
            [field, "conditions"] => {
                return Err(invalid_query(format!(
                    "Property .filters.{field}.conditions must be an object (actual value is `{value}`)"
                )));
            }
            [field, "conditions", operator] | [field, "conditions", operator, _] | [field, operator] => {
                let operator = SPELLINGS.iter().find(|(_, other)| other == operator).map_or(operator, |(own, _)| own);
                match conditions.iter_mut().find(|known| known.field == *field && known.operator == *operator) {
                    Some(known) => known.values.push(value.to_owned()),
                    None => conditions.push(Condition {
                        field: (*field).into(),
                        operator: (*operator).into(),
                        values: vec![value.to_owned()],
                    }),
                }
            }
            [field] => conditions.push(Condition {
                field: (*field).into(),
                operator: "$is".into(),
                values: vec![value.to_owned()],
            }),
            other => {
                return Err(invalid_query(format!(
                    "Property .filters.{} should have required property 'conditions'",
                    other.join(".")
                )));
            }
        }
    }
    Ok((conditions, junction))
}

/// Returns the refusal of a condition.
pub fn refusal(wrong: &InvalidCondition) -> ErrorBody {
    let place = |condition: &Condition| format!("Property .filters.{}.conditions", condition.field);
    match wrong {
        InvalidCondition::Operator { condition, known } => invalid_query(format!(
            "{} must have operators of {} (actual value is `{}`)",
            place(condition),
            known.join(", "),
            condition.operator
        )),
        InvalidCondition::NotTrue { condition, value } => invalid_query(format!(
            "{}.{} must be true (actual value is `{value}`)",
            place(condition),
            condition.operator
        )),
        InvalidCondition::Count { condition, most } => {
            let value = condition.values.first().map_or("", String::as_str);
            let bound = match most {
                None => "a whole number >= 0".to_owned(),
                Some(most) => format!("a whole number from 0 to {most}"),
            };
            invalid_query(format!(
                "{}.{} must be {bound} (actual value is `{value}`)",
                place(condition),
                condition.operator
            ))
        }
        InvalidCondition::Instant { condition } => {
            not_an_instant(&["filters", &condition.field, "conditions", &condition.operator].join("."))
        }
        InvalidCondition::Calendar => invalid_query("Property .filters counts days beyond any calendar"),
    }
}

/// Returns the refusal of a value that is not an instant.
pub fn not_an_instant(path: &str) -> ErrorBody {
    invalid_query(format!("Property .{path} cannot be recognized as a ISO-8601 compliant date"))
}
