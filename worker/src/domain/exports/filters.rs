//! Converts the filters of an export request to conditions on documents.

use crate::documents::clause::Clause;
use crate::documents::filter::conditions;
use crate::domain::exports::kind::{ExportKind, REDEEMED};
use crate::http::caller::Settings;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_payload};
use crate::http::time_zone;
use crate::store::jobs::exports::columns;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

/// Operators without a value.
const TAKE_NONE: &[&str] =
    &["$has_value", "$is_unknown", "$enabled", "$disabled", "$active", "$expired", "$failed", "$in_progress"];

/// Limits a clause to the documents of an export: those that existed at `at_ms` and match the filters.
pub fn narrow(
    mut clause: Clause,
    kind: &ExportKind,
    campaign: Option<&str>,
    filters: &Map<String, Json>,
    at_ms: i64,
    settings: &Settings,
) -> Result<Clause, CallError> {
    let zone = time_zone::of_setup(&settings.time_zone)?;
    clause = clause.at(at_ms).in_zone(zone).ignoring_case(!settings.case_sensitive_codes);
    // A time in milliseconds; the last of all has no next one.
    clause.made_before(at_ms.saturating_add(1));
    if !kind.within.is_empty() {
        clause.and_group("AND", vec![(kind.within.to_owned(), Vec::new())]);
    }
    if let Some(campaign) = campaign {
        clause.and(&format!("{} = {{}}", columns::CAMPAIGN_OF_CARD), campaign);
    }
    let (query, said) = query_of(filters)?;
    let own: Vec<(&str, String)> =
        kind.conditions.iter().map(|(name, column)| (*name, column_of(name, column, &said))).collect();
    let metadata = said.iter().filter_map(|(field, _)| Some((field.as_str(), metadata_column(kind, field)?)));
    let columns: Vec<(&str, String)> = own.into_iter().chain(metadata).collect();
    let columns: Vec<(&str, &str)> = columns.iter().map(|(name, column)| (*name, column.as_str())).collect();
    let found = conditions(&columns, &query, &clause).map_err(|body| in_body(&body))?;
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
fn column_of(name: &str, column: &str, said: &[(String, String)]) -> String {
    let is_flag =
        |field: &str, operator: &str| field == name && matches!(operator, "$is" | "$is_not" | "$in" | "$not_in");
    match column {
        "state" if said.iter().any(|(field, operator)| is_flag(field, operator)) => columns::IS_ACTIVE.to_owned(),
        REDEEMED => columns::redemption_status(),
        other => other.to_owned(),
    }
}

/// Converts the filters of a body to a query; also returns the operator of each field.
fn query_of(filters: &Map<String, Json>) -> Result<(Query, Vec<(String, String)>), ErrorBody> {
    let mut pairs = Vec::new();
    let mut said = Vec::new();
    for (field, value) in filters {
        match (field.as_str(), value) {
            ("junction", Json::String(word)) => pairs.push((vec!["filters".into(), "junction".into()], word.clone())),
            _ => flatten(field, value, &mut pairs, &mut said)?,
        }
    }
    Ok((Query::of(pairs), said))
}

fn flatten(
    field: &str,
    value: &Json,
    pairs: &mut Vec<(Vec<String>, String)>,
    said: &mut Vec<(String, String)>,
) -> Result<(), ErrorBody> {
    let wrong = |place: &str, bound: &str, value: &Json| {
        invalid_payload(format!(
            "Property .parameters.filters.{place} {bound} (actual value is `{}`)",
            shortened(&value.to_string())
        ))
    };
    let Some(inner) = value.as_object().filter(|inner| !inner.is_empty()) else {
        return Err(wrong(field, "must be an object with conditions", value));
    };
    let Some(asked) = inner.get("conditions") else {
        return inner.iter().try_for_each(|(name, value)| flatten(&format!("{field}.{name}"), value, pairs, said));
    };
    let place = format!("{field}.conditions");
    let asked = asked.as_object().ok_or_else(|| wrong(&place, "must be an object", asked))?;
    for (operator, values) in asked {
        let place = format!("{place}.{operator}");
        said.push((field.to_owned(), operator.clone()));
        let takes_none = TAKE_NONE.contains(&operator.as_str()) || !operator.starts_with('$');
        let values = match values {
            Json::Array(values) if values.is_empty() && !takes_none => {
                return Err(wrong(&place, "must NOT have fewer than 1 items", &json!([])));
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
                Json::Null | Json::Object(_) if takes_none => "true".to_owned(),
                other => return Err(wrong(&place, "must be texts, numbers or booleans", other)),
            };
            let path = ["filters", field, "conditions", operator, &number.to_string()].map(str::to_owned);
            pairs.push((path.to_vec(), text));
        }
    }
    Ok(())
}

/// Rewrites the path in an error of a filter to its position in the body.
fn in_body(body: &ErrorBody) -> ErrorBody {
    let details = body.details.clone().unwrap_or_default();
    invalid_payload(details.replace("Property .filters", "Property .parameters.filters"))
}
