//! Converts the filters of an export request to conditions on documents.

use crate::documents::clause::Clause;
use crate::documents::filter::conditions;
use crate::domain::exports::kind::{ExportKind, REDEMPTION_STATUS};
use crate::http::caller::Settings;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_payload};
use crate::http::time_zone;
use crate::store::jobs::exports::columns;
use crate::store::records::ExportParameters;
use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Filters of an export as sent: conditions by field, and how they are joined.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExportFilters(Map<String, Json>);

impl ExportFilters {
    /// Returns the filters of an export's parameters.
    pub fn of(parameters: ExportParameters<'_>) -> ExportFilters {
        ExportFilters(parameters.filters().cloned().unwrap_or_default())
    }
}

/// Operators without a value.
const WITHOUT_VALUE: &[&str] =
    &["$has_value", "$is_unknown", "$enabled", "$disabled", "$active", "$expired", "$failed", "$in_progress"];

/// Limits a clause to the documents of an export: those that existed at `at_ms` and match the filters.
pub fn narrow(
    mut clause: Clause,
    kind: &ExportKind,
    campaign: Option<&str>,
    filters: &ExportFilters,
    at_ms: i64,
    settings: &Settings,
) -> Result<Clause, CallError> {
    let zone = time_zone::of_setup(&settings.time_zone)?;
    clause = clause.at(at_ms).in_zone(zone).ignoring_case(!settings.case_sensitive_codes);
    // A time in milliseconds; the last of all has no next one.
    clause.made_before(at_ms.saturating_add(1));
    if !kind.condition.is_empty() {
        clause.and_group("AND", vec![(kind.condition.to_owned(), Vec::new())]);
    }
    if let Some(campaign) = campaign {
        clause.and(&format!("{} = {{}}", columns::CAMPAIGN_OF_CARD), campaign);
    }
    let (query, operators) = read_query(&filters.0)?;
    let own: Vec<(&str, String)> =
        kind.conditions.iter().map(|(name, column)| (*name, column_for(name, column, &operators))).collect();
    let metadata = operators.iter().filter_map(|(field, _)| Some((field.as_str(), metadata_column(kind, field)?)));
    let columns: Vec<(&str, String)> = own.into_iter().chain(metadata).collect();
    let columns: Vec<(&str, &str)> = columns.iter().map(|(name, column)| (*name, column.as_str())).collect();
    let found = conditions(&columns, &query, &clause).map_err(|body| move_path_to_body(&body))?;
    found.narrow(&mut clause);
    Ok(clause)
}

/// Returns the column of a metadata filter.
fn metadata_column(kind: &ExportKind, field: &str) -> Option<String> {
    let name = field.strip_prefix("metadata.").filter(|_| kind.fields.iter().any(|(own, _)| *own == "metadata"))?;
    let is_plain = name.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '-' | ' '));
    (is_plain && !name.is_empty()).then(|| columns::metadata_member(name))
}

/// Returns the column of a filter. A field with `$is` or `$in` operators is compared as a flag, otherwise as a state.
fn column_for(name: &str, column: &str, operators: &[(String, String)]) -> String {
    let is_flag =
        |field: &str, operator: &str| field == name && matches!(operator, "$is" | "$is_not" | "$in" | "$not_in");
    match column {
        "state" if operators.iter().any(|(field, operator)| is_flag(field, operator)) => columns::IS_ACTIVE.to_owned(),
        REDEMPTION_STATUS => columns::redemption_status(),
        other => other.to_owned(),
    }
}

/// Converts the filters of a body to a query; also returns the operator of each field.
fn read_query(filters: &Map<String, Json>) -> Result<(Query, Vec<(String, String)>), ErrorBody> {
    let mut pairs = Vec::new();
    let mut operators = Vec::new();
    for (field, value) in filters {
        match (field.as_str(), value) {
            ("junction", Json::String(name)) => pairs.push((vec!["filters".into(), "junction".into()], name.clone())),
            _ => flatten(field, value, &mut pairs, &mut operators)?,
        }
    }
    Ok((Query::of(pairs), operators))
}

fn flatten(
    field: &str,
    value: &Json,
    pairs: &mut Vec<(Vec<String>, String)>,
    operators: &mut Vec<(String, String)>,
) -> Result<(), ErrorBody> {
    let problem = |path: &str, bound: &str, value: &Json| {
        invalid_payload(format!(
            "Property .parameters.filters.{path} {bound} (actual value is `{}`)",
            shortened(&value.to_string())
        ))
    };
    let Some(inner) = value.as_object().filter(|inner| !inner.is_empty()) else {
        return Err(problem(field, "must be an object with conditions", value));
    };
    let Some(conditions_json) = inner.get("conditions") else {
        return inner.iter().try_for_each(|(name, value)| flatten(&format!("{field}.{name}"), value, pairs, operators));
    };
    let path = format!("{field}.conditions");
    let conditions_json =
        conditions_json.as_object().ok_or_else(|| problem(&path, "must be an object", conditions_json))?;
    for (operator, values) in conditions_json {
        let path = format!("{path}.{operator}");
        operators.push((field.to_owned(), operator.clone()));
        let has_no_value = WITHOUT_VALUE.contains(&operator.as_str()) || !operator.starts_with('$');
        let values = match values {
            Json::Array(values) if values.is_empty() && !has_no_value => {
                return Err(problem(&path, "must NOT have fewer than 1 items", &json!([])));
            }
            Json::Array(values) if !values.is_empty() => values.clone(),
            Json::Array(_) => vec![json!("true")],
            one => vec![one.clone()],
        };
        for (number, value) in values.into_iter().enumerate() {
            let text = match &value {
                Json::String(text) => text.clone(),
                Json::Number(number) => number.to_string(),
                Json::Bool(flag) => flag.to_string(),
                Json::Null | Json::Object(_) if has_no_value => "true".to_owned(),
                other => return Err(problem(&path, "must be texts, numbers or booleans", other)),
            };
            let path = ["filters", field, "conditions", operator, &number.to_string()].map(str::to_owned);
            pairs.push((path.to_vec(), text));
        }
    }
    Ok(())
}

/// Rewrites the path in an error of a filter to its position in the body.
fn move_path_to_body(body: &ErrorBody) -> ErrorBody {
    let details = body.details.clone().unwrap_or_default();
    invalid_payload(details.replace("Property .filters", "Property .parameters.filters"))
}
