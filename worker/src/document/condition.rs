//! One condition of a filter: how it is read, which operators there are, and what each of them says of a column. It must not know which
//! fields a list has, nor what an index answers.

use crate::document::clause::{Clause, Statement};
use crate::document::days::{self, Days};
use crate::http::query::Query;
use crate::http::reply::{ErrorBody, invalid_query};
use crate::moment;
use crate::store::dates;
use crate::store::sql::Value;
use scrip::wire::problem::shortened;
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

/// Operators that have another spelling, which stands behind.
const SPELT: &[(&str, &str)] = &[
    ("$more_than", "$greater_than"),
    ("$more_than_equal", "$more_than_or_equal"),
    ("$more_than_equal", "$greater_than_or_equal"),
    ("$less_than_equal", "$less_than_or_equal"),
];

/// The operators about the state of a document, which take no value but `true`, by what must hold: `{}` stands for the moment of asking.
/// Last comes the column of the index that has these documents, where they are few.
pub const STATES: &[State] = &[
    ("$enabled", &[dates::IS_ACTIVE], None),
    ("$disabled", &[dates::IS_INACTIVE], Some(dates::IS_INACTIVE)),
    ("$active", &[dates::IS_ACTIVE, dates::HAS_BEGUN, dates::HAS_NOT_ENDED], None),
    ("$expired", &[dates::HAS_ENDED], None),
    ("before_start", &[dates::HAS_NOT_BEGUN], None),
    ("$failed", &["json_extract(body, '$.creation_status') = 'FAILED'"], None),
    ("$in_progress", &["json_extract(body, '$.creation_status') = 'IN_PROGRESS'"], None),
];

/// An operator about a state, what must hold, and the column of its index.
pub type State = (&'static str, &'static [&'static str], Option<&'static str>);

/// One condition, with all the values that its operator was given.
pub struct Condition {
    /// The field.
    pub field: String,
    /// How it is compared.
    pub operator: String,
    /// With what.
    pub values: Vec<String>,
}

/// How an operator holds moments and numbers against each other.
pub fn sign_of(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "$before" | "$less_than" => "<",
        "$less_than_equal" => "<=",
        "$more_than_equal" => ">=",
        "$after" | "$more_than" => ">",
        _ => return None,
    })
}

/// The conditions of a query, and what joins them.
pub fn read(query: &Query) -> Result<(Vec<Condition>, &'static str), ErrorBody> {
    let mut conditions: Vec<Condition> = Vec::new();
    let mut junction = "AND";
    if let Some(text) = query.get("filters") {
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
                let operator = SPELT.iter().find(|(_, other)| other == operator).map_or(operator, |(own, _)| own);
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

/// Refuses an operator that a column does not have.
fn check_operator(condition: &Condition, known: &[&str]) -> Result<(), ErrorBody> {
    if known.contains(&condition.operator.as_str()) {
        return Ok(());
    }
    Err(invalid_query(format!(
        "Property .filters.{}.conditions must have operators of {} (actual value is `{}`)",
        condition.field,
        known.join(", "),
        condition.operator
    )))
}

/// Whether a document is in a state now.
pub fn in_state(condition: &Condition, clause: &Clause) -> Result<Statement, ErrorBody> {
    let known: Vec<&str> = STATES.iter().map(|(operator, ..)| *operator).collect();
    check_operator(condition, &known)?;
    if let Some(value) = condition.values.iter().find(|value| *value == "false") {
        let (field, operator) = (&condition.field, &condition.operator);
        let told = format!("Property .filters.{field}.conditions.{operator} must be true (actual value is `{value}`)");
        return Err(invalid_query(told));
    }
    let parts =
        STATES.iter().find(|(operator, ..)| *operator == condition.operator).map_or(&[][..], |(_, parts, _)| parts);
    let pattern = format!("({})", parts.join(" AND "));
    let now = Value::Text(moment::text(clause.asked_at()));
    let params = vec![now; pattern.matches("{}").count()];
    Ok((pattern, params))
}

/// What a condition says of a column.
pub fn statement(condition: &Condition, column: &str, clause: &Clause) -> Result<Statement, ErrorBody> {
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
        return Ok((text, vec![Value::Text(condition.operator.clone()), Value::Text(listed)]));
    }
    if let Some(flag) = column.strip_prefix("flag ") {
        check_operator(condition, &["$is", "$is_not", "$in", "$not_in", "$has_value", "$is_unknown"])?;
        let lower = Condition {
            field: condition.field.clone(),
            operator: condition.operator.clone(),
            values: condition.values.iter().map(|value| value.to_ascii_lowercase()).collect(),
        };
        return compared(&lower, &format!("CASE WHEN {flag} THEN 'true' ELSE 'false' END"));
    }
    check_operator(condition, OPERATORS)?;
    match column.strip_prefix("one ") {
        Some(one) => compared(condition, &format!("CASE WHEN {one} IS NOT NULL THEN json_array({one}) END")),
        None => compared(condition, column),
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

/// What a condition says of a list, any of whose elements may fit.
fn of_elements(condition: &Condition, list: &str) -> Result<Statement, ErrorBody> {
    let known: Vec<&str> = OF_ELEMENTS.iter().map(|(operator, ..)| *operator).collect();
    check_operator(condition, &known)?;
    let found = OF_ELEMENTS.iter().find(|(operator, ..)| *operator == condition.operator);
    let (operator, not) = found.map_or(("$in", ""), |(_, operator, not)| (*operator, *not));
    let of_one =
        Condition { field: condition.field.clone(), operator: operator.into(), values: condition.values.clone() };
    let (text, params) = compared(&of_one, "CAST(element.value AS TEXT)")?;
    Ok((format!("{not}EXISTS (SELECT 1 FROM json_each({list}) AS element WHERE {text})"), params))
}

/// The same of a column that is an expression, whose value is compared.
pub fn compared(condition: &Condition, column: &str) -> Result<Statement, ErrorBody> {
    let first = condition.values.first().cloned().unwrap_or_default();
    let listed = || Value::Text(Json::from(condition.values.clone()).to_string());
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
            (text(&pattern), vec![count_of(condition, i64::MAX)?.into()])
        }
        operator => {
            let sign = sign_of(operator).unwrap_or(">");
            (text(&format!("@ {sign} {{}}")), vec![comparable(condition, &first)?])
        }
    })
}

/// The days that a condition lets through.
pub fn days_of(condition: &Condition, operator: &str, clause: &Clause) -> Result<Days, ErrorBody> {
    let count = if days::counts(operator) { count_of(condition, days::DAYS_MAX)? } else { 0 };
    match condition.values.first().map(String::as_str) {
        Some(value) if !days::counts(operator) && value != "true" => {
            let (field, operator) = (&condition.field, &condition.operator);
            let told = "must be true";
            Err(invalid_query(format!(
                "Property .filters.{field}.conditions.{operator} {told} (actual value is `{value}`)"
            )))
        }
        _ => Days::of(operator, count, clause)
            .ok_or_else(|| invalid_query("Property .filters counts days beyond any calendar")),
    }
}

/// The whole number of a condition.
fn count_of(condition: &Condition, most: i64) -> Result<i64, ErrorBody> {
    let value = condition.values.first().map_or("", String::as_str);
    let count = value.parse::<i64>().ok().filter(|count| (0..=most).contains(count));
    count.ok_or_else(|| {
        let (field, operator) = (&condition.field, &condition.operator);
        let bound = if most == i64::MAX {
            "a whole number >= 0".to_owned()
        } else {
            format!("a whole number from 0 to {most}")
        };
        invalid_query(format!(
            "Property .filters.{field}.conditions.{operator} must be {bound} (actual value is `{value}`)"
        ))
    })
}

/// Numbers compare as numbers; dates, which are stored as ISO text in UTC, compare as such text.
fn comparable(condition: &Condition, value: &str) -> Result<Value, ErrorBody> {
    match value.parse::<i64>() {
        Ok(number) => Ok(Value::Int(number)),
        Err(_) => Ok(Value::Text(moment::text(moment_of(condition, value)?))),
    }
}

/// The moment that a condition names, in milliseconds since 1970.
pub fn moment_of(condition: &Condition, value: &str) -> Result<i64, ErrorBody> {
    let path = ["filters", &condition.field, "conditions", &condition.operator].join(".");
    moment::parse(value).ok_or_else(|| no_moment(&path))
}

/// The refusal of what is no moment.
pub fn no_moment(path: &str) -> ErrorBody {
    invalid_query(format!("Property .{path} cannot be recognized as a ISO-8601 compliant date"))
}
