//! One condition of a filter: the operators, and the statement that each of them makes about a column.

use super::clause::{Clause, Statement};
use super::days::{self, Days};
use crate::store::index::validity_sql;
use crate::store::sql::SqlValue;
use crate::timestamp;
use serde_json::Value as Json;

/// The operators that the service knows.
const OPERATORS: &[&str] = &[
    "$is",
    "$is_not",
    "$in",
    "$not_in",
    "$has_value",
    "$is_unknown",
    "$contains",
    "$not_contain",
    "$starts_with",
    "$ends_with",
    "$before",
    "$after",
    "$more_than",
    "$less_than",
    "$more_than_equal",
    "$less_than_equal",
    "$count",
    "$count_more",
    "$count_less",
];

/// Operators about the state of a document, which only take `true`, with their conditions: `{}` is the current time.
/// The last element is the column of the index with these documents, if they are few.
pub const STATES: &[StateOperator] = &[
    ("$enabled", &[validity_sql::IS_ACTIVE], None),
    ("$disabled", &[validity_sql::IS_INACTIVE], Some(validity_sql::IS_INACTIVE)),
    ("$active", &[validity_sql::IS_ACTIVE, validity_sql::HAS_BEGUN, validity_sql::HAS_NOT_ENDED], None),
    ("$expired", &[validity_sql::HAS_ENDED], None),
    ("before_start", &[validity_sql::HAS_NOT_BEGUN], None),
    ("$failed", &["json_extract(body, '$.creation_status') = 'FAILED'"], None),
    ("$in_progress", &["json_extract(body, '$.creation_status') = 'IN_PROGRESS'"], None),
];

/// An operator about a state, what must hold, and the column of its index.
pub type StateOperator = (&'static str, &'static [&'static str], Option<&'static str>);

/// One condition, with all the values that its operator was given.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The field.
    pub field: String,
    /// Operator of the comparison.
    pub operator: String,
    /// With what.
    pub values: Vec<String>,
}

/// Reason why a condition does not fit a column.
#[derive(Debug)]
pub enum InvalidCondition {
    /// The column does not have the operator.
    Operator {
        /// The condition.
        condition: Condition,
        /// The operators of the column.
        known: Vec<&'static str>,
    },
    /// The operator takes only `true`.
    NotTrue {
        /// The condition.
        condition: Condition,
        /// The value.
        value: String,
    },
    /// The value is not a count within bounds.
    Count {
        /// The condition.
        condition: Condition,
        /// The largest count, where there is one.
        most: Option<i64>,
    },
    /// The value is not an instant.
    Instant {
        /// The condition.
        condition: Condition,
    },
    /// The days lie beyond the calendar.
    Calendar,
}

/// Returns the SQL sign of an operator on instants and numbers.
pub fn sign_of(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "$before" | "$less_than" => "<",
        "$less_than_equal" => "<=",
        "$more_than_equal" => ">=",
        "$after" | "$more_than" => ">",
        _ => return None,
    })
}

/// Refuses an operator that a column does not have.
fn check_operator(condition: &Condition, known: &[&'static str]) -> Result<(), InvalidCondition> {
    if known.contains(&condition.operator.as_str()) {
        return Ok(());
    }
    Err(InvalidCondition::Operator { condition: condition.clone(), known: known.to_vec() })
}

/// Returns the statement that a document is in a state now.
pub fn in_state(condition: &Condition, clause: &Clause) -> Result<Statement, InvalidCondition> {
    let known: Vec<&str> = STATES.iter().map(|(operator, ..)| *operator).collect();
    check_operator(condition, &known)?;
    if let Some(value) = condition.values.iter().find(|value| *value == "false") {
        return Err(InvalidCondition::NotTrue { condition: condition.clone(), value: value.clone() });
    }
    let parts =
        STATES.iter().find(|(operator, ..)| *operator == condition.operator).map_or(&[][..], |(_, parts, _)| parts);
    let pattern = format!("({})", parts.join(" AND "));
    let now = SqlValue::Text(timestamp::text(clause.now_ms()));
    let params = vec![now; pattern.matches("{}").count()];
    Ok((pattern, params))
}

/// Returns the statement of a condition about a column.
pub fn statement(condition: &Condition, column: &str, clause: &Clause) -> Result<Statement, InvalidCondition> {
    if column == "state" {
        return in_state(condition, clause);
    }
    if let Some(list) = column.strip_prefix("each ") {
        return of_elements(condition, list);
    }
    if let Some(object) = column.strip_prefix("keys ") {
        let text = format!(
            "EXISTS (SELECT 1 FROM json_each({object}) WHERE key = {{}} AND CAST(value AS TEXT) IN (SELECT value FROM json_each({{}})))"
        );
        let listed = Json::from(condition.values.clone()).to_string();
        return Ok((text, vec![SqlValue::Text(condition.operator.clone()), SqlValue::Text(listed)]));
    }
    if let Some(flag) = column.strip_prefix("flag ") {
        check_operator(condition, &["$is", "$is_not", "$in", "$not_in", "$has_value", "$is_unknown"])?;
        let lower = Condition {
            field: condition.field.clone(),
            operator: condition.operator.clone(),
            values: condition.values.iter().map(|value| value.to_ascii_lowercase()).collect(),
        };
        return comparison(&lower, &format!("CASE WHEN {flag} THEN 'true' ELSE 'false' END"));
    }
    check_operator(condition, OPERATORS)?;
    match column.strip_prefix("one ") {
        Some(one) => comparison(condition, &format!("CASE WHEN {one} IS NOT NULL THEN json_array({one}) END")),
        None => comparison(condition, column),
    }
}

/// Operators about lists, and which of them an element must fit; of the contraries none may.
const OF_ELEMENTS: &[(&str, &str, &str)] = &[
    ("$is", "$in", ""),
    ("$in", "$in", ""),
    ("$is_not", "$in", "NOT "),
    ("$not_in", "$in", "NOT "),
    ("$has_value", "$has_value", ""),
    ("$is_unknown", "$has_value", "NOT "),
    ("$contains", "$contains", ""),
    ("$not_contain", "$contains", "NOT "),
    ("$starts_with", "$starts_with", ""),
    ("$ends_with", "$ends_with", ""),
];

/// Returns the statement of a condition about a list, any element of which may match.
fn of_elements(condition: &Condition, list: &str) -> Result<Statement, InvalidCondition> {
    let known: Vec<&str> = OF_ELEMENTS.iter().map(|(operator, ..)| *operator).collect();
    check_operator(condition, &known)?;
    let found = OF_ELEMENTS.iter().find(|(operator, ..)| *operator == condition.operator);
    let (operator, not) = found.map_or(("$in", ""), |(_, operator, not)| (*operator, *not));
    let of_one =
        Condition { field: condition.field.clone(), operator: operator.into(), values: condition.values.clone() };
    let (text, params) = comparison(&of_one, "CAST(element.value AS TEXT)")?;
    Ok((format!("{not}EXISTS (SELECT 1 FROM json_each({list}) AS element WHERE {text})"), params))
}

/// Returns the statement of a condition about an expression, by its value.
pub fn comparison(condition: &Condition, column: &str) -> Result<Statement, InvalidCondition> {
    let first = condition.values.first().cloned().unwrap_or_default();
    let listed = || SqlValue::Text(Json::from(condition.values.clone()).to_string());
    let text = |pattern: &str| pattern.replace("@", column);
    Ok(match condition.operator.as_str() {
        "$is" | "$in" => (text("CAST(@ AS TEXT) IN (SELECT value FROM json_each({}))"), vec![listed()]),
        "$is_not" | "$not_in" => {
            (text("(@ IS NULL OR CAST(@ AS TEXT) NOT IN (SELECT value FROM json_each({})))"), vec![listed()])
        }
        "$has_value" => (text("@ IS NOT NULL"), vec![]),
        "$is_unknown" => (text("@ IS NULL"), vec![]),
        "$contains" => (text("instr(@, {}) > 0"), vec![first.into()]),
        "$not_contain" => (text("(@ IS NULL OR instr(@, {}) = 0)"), vec![first.into()]),
        "$starts_with" => (text("substr(@, 1, length({})) = {}"), vec![first.clone().into(), first.into()]),
        "$ends_with" => (text("substr(@, -length({})) = {}"), vec![first.clone().into(), first.into()]),
        "$count" | "$count_more" | "$count_less" => {
            let sign = match condition.operator.as_str() {
                "$count" => "=",
                "$count_more" => ">",
                _ => "<",
            };
            let pattern = format!("(CASE WHEN json_valid(@) THEN json_array_length(@) ELSE 0 END {sign} {{}})");
            (text(&pattern), vec![count_of(condition, None)?.into()])
        }
        operator => {
            let sign = sign_of(operator).unwrap_or(">");
            (text(&format!("@ {sign} {{}}")), vec![comparable(condition, &first)?])
        }
    })
}

/// Returns the days that match a condition.
pub fn days_of(condition: &Condition, operator: &str, clause: &Clause) -> Result<Days, InvalidCondition> {
    let count = if days::counts(operator) { count_of(condition, Some(days::DAYS_MAX))? } else { 0 };
    match condition.values.first().map(String::as_str) {
        Some(value) if !days::counts(operator) && value != "true" => {
            Err(InvalidCondition::NotTrue { condition: condition.clone(), value: value.to_owned() })
        }
        _ => Days::of(operator, count, clause).ok_or(InvalidCondition::Calendar),
    }
}

/// Returns the whole number of a condition.
fn count_of(condition: &Condition, most: Option<i64>) -> Result<i64, InvalidCondition> {
    let value = condition.values.first().map_or("", String::as_str);
    let count = value.parse::<i64>().ok().filter(|count| (0..=most.unwrap_or(i64::MAX)).contains(count));
    count.ok_or_else(|| InvalidCondition::Count { condition: condition.clone(), most })
}

/// Numbers compare as numbers; dates, which are stored as ISO text in UTC, compare as such text.
fn comparable(condition: &Condition, value: &str) -> Result<SqlValue, InvalidCondition> {
    match value.parse::<i64>() {
        Ok(number) => Ok(SqlValue::Int(number)),
        Err(_) => Ok(SqlValue::Text(timestamp::text(instant_of(condition, value)?))),
    }
}

/// Returns the time that a condition names, in milliseconds since 1970.
pub fn instant_of(condition: &Condition, value: &str) -> Result<i64, InvalidCondition> {
    timestamp::parse(value).ok_or_else(|| InvalidCondition::Instant { condition: condition.clone() })
}
