//! The filters of an export, which come in its body, as conditions over documents. It must not know which kinds of exports there are.

use crate::document::clause::Clause;
use crate::document::filter::conditions;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_payload};
use crate::http::time_zone;
use crate::shop::exported::{CAMPAIGN_OF, Exported, REDEEMED};
use crate::store::ledger::account_of;
use scrip::facts::redemptions_account;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

/// Operators that need no value.
const TAKE_NONE: &[&str] =
    &["$has_value", "$is_unknown", "$enabled", "$disabled", "$active", "$expired", "$failed", "$in_progress"];

/// Narrows a clause to what of a kind is told: what there was at a moment, and what the filters let through.
pub fn narrow(
    mut clause: Clause,
    kind: &Exported,
    (campaign, filters): (Option<&str>, &Map<String, Json>),
    (at_ms, zone): (i64, &Json),
) -> Result<Clause, CallError> {
    clause = clause.at(at_ms).in_zone(time_zone::of_setup(zone)?);
    clause.made_before(at_ms.saturating_add(1));
    if !kind.within.is_empty() {
        clause.and_group("AND", vec![(kind.within.to_owned(), Vec::new())]);
    }
    if let Some(campaign) = campaign {
        clause.and(&format!("{CAMPAIGN_OF} = {{}}"), campaign);
    }
    let (query, said) = query_of(filters)?;
    let redeemed = account_of(redemptions_account, "document.id");
    let own: Vec<(&str, String)> =
        kind.conditions.iter().map(|(name, column)| (*name, column_of(name, column, &said, &redeemed))).collect();
    let metadata = said.iter().filter_map(|(field, _)| Some((field.as_str(), metadata_column(kind, field)?)));
    let columns: Vec<(&str, String)> = own.into_iter().chain(metadata).collect();
    let columns: Vec<(&str, &str)> = columns.iter().map(|(name, column)| (*name, column.as_str())).collect();
    let found = conditions(&columns, &query, &clause).map_err(|body| in_body(&body))?;
    found.narrow(&mut clause);
    Ok(clause)
}

/// A filter of custom data, by the name that it has there.
fn metadata_column(kind: &Exported, field: &str) -> Option<String> {
    let name = field.strip_prefix("metadata.").filter(|_| kind.fields.iter().any(|(own, _)| *own == "metadata"))?;
    let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' '));
    (is_plain && !name.is_empty()).then(|| format!("json_extract(body, '$.metadata.\"{name}\"')"))
}

/// The column of a filter. Whether something is on can be asked as a state and as a flag.
fn column_of(name: &str, column: &str, said: &[(String, String)], redeemed: &str) -> String {
    let as_flag = |(field, operator): &(String, String)| {
        field == name && matches!(operator.as_str(), "$is" | "$is_not" | "$in" | "$not_in")
    };
    match column {
        "state" if said.iter().any(as_flag) => "flag COALESCE(json_extract(body, '$.active'), 1)".to_owned(),
        REDEEMED => format!(
            "each (SELECT CASE WHEN taken = 0 THEN json_array('not_redeemed')
               WHEN taken >= json_extract(document.body, '$.redemption.quantity') THEN json_array('redeemed', 'fully_redeemed')
               ELSE json_array('redeemed', 'partially_redeemed') END
             FROM (SELECT -COALESCE((SELECT balance FROM account WHERE account.id = {redeemed}), 0) AS taken))"
        ),
        other => other.to_owned(),
    }
}

/// The filters of a body in the words of a query, and which field is asked by which operator.
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

/// What is wrong with a filter, told of the body in which it came.
fn in_body(body: &ErrorBody) -> ErrorBody {
    let told = body.details.clone().unwrap_or_default();
    invalid_payload(told.replace("Property .filters", "Property .parameters.filters"))
}
