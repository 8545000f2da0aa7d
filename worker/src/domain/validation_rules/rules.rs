//! Validation rules as the API returns them.

use crate::documents::resource::plain_key;
use crate::documents::shapes;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::document_list::column::member;
use crate::store::documents::validation_rules;
use serde_json::Value as Json;

/// Orders of lists of rules.
pub const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"];

/// Validation rules as a resource.
pub const RULE: Resource = Resource {
    object: "validation_rules",
    shape: shapes::rules::RULE.described(),
    parameter: "validationRuleId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("name", member!("name"))],
        filters: &[],
        conditions: &[],
    },
};

/// Returns rules with the number of their assignments, counted in one statement.
pub fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    let counts = validation_rules::count_assignments(call.store, &ids)?;
    let rules = documents.into_iter().map(|document| {
        let mut body = document.body;
        body.insert("assignments_count".into(), counts.get(&document.id).copied().unwrap_or(0).into());
        Json::Object(body)
    });
    Ok(rules.collect())
}
