//! Validation rules as they are shown. It must not know what a rule means.

use crate::document::resource::plain_key;
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::sql;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What lists of rules are ordered by.
pub const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"];

/// Validation rules as a resource.
pub const RULE: Resource = Resource {
    object: "validation_rules",
    shape: shapes::rules::RULE.described(),
    parameter: "validationRuleId",
    key: plain_key,
    show,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("name", "json_extract(body, '$.name')")],
        filters: &[],
        conditions: &[],
    },
};

/// Rules with how often each is assigned, counted in one look.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    let rows = call.store.rows(
        "SELECT holder, COUNT(*) FROM document
         WHERE kind = 'validation_rules_assignment' AND holder IN (SELECT value FROM json_each(?1)) GROUP BY holder",
        &[Json::from(ids).to_string().into()],
    )?;
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for row in &rows {
        counts.insert(sql::text(row, 0)?.to_owned(), sql::int(row, 1)?);
    }
    let shown = documents.into_iter().map(|document| {
        let mut body = document.body;
        body.insert("assignments_count".into(), counts.get(&document.id).copied().unwrap_or(0).into());
        Json::Object(body)
    });
    Ok(shown.collect())
}
