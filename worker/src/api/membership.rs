//! Who and what belongs to a set: the shape of filters, the members of collections and of segments.
//! It must not know how sets are created or shown.

use crate::api::product_collections::ALL_PRODUCTS;
use crate::reply::{ErrorBody, invalid_payload};
use crate::shape::shown;
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// The operators of filters (validation-rules.md section 12).
const OPERATORS: &[&str] = &[
    "$is",
    "$is_not",
    "$in",
    "$not_in",
    "$contains",
    "$not_contain",
    "$starts_with",
    "$ends_with",
    "$has_value",
    "$is_unknown",
    "$more_than",
    "$less_than",
    "$more_than_equal",
    "$less_than_equal",
    "$after",
    "$before",
    "$more_than_ago",
    "$less_than_ago",
    "$is_days_ago",
    "$more_than_future",
    "$less_than_future",
    "$is_days_in_future",
    "$count",
    "$count_less",
    "$count_more",
    "$next_month",
    "$this_month",
    "$previous_month",
];

/// Checks that a filter is `{ junction, "<field path>": { conditions: { "$operator": value or values } } }`.
pub fn check_filter(filter: &Map<String, Json>, path: &str) -> Result<(), ErrorBody> {
    for (field, rule) in filter.iter().filter(|(field, _)| *field != "junction") {
        let place = format!("{path}.{field}");
        let Some(rule) = rule.as_object() else {
            return Err(Problem::at(&place, format!("must be an object (actual value is `{}`)", shown(rule))).into());
        };
        let conditions = rule.get("conditions").ok_or_else(|| Problem::missing(&place, "conditions"))?;
        let Some(conditions) = conditions.as_object() else {
            let told = format!("must be an object (actual value is `{}`)", shown(conditions));
            return Err(Problem::at(format!("{place}.conditions"), told).into());
        };
        if let Some(operator) = conditions.keys().find(|operator| !OPERATORS.contains(&operator.as_str())) {
            let told = format!("must have operators of {} (actual value is `{operator}`)", OPERATORS.join(", "));
            return Err(Problem::at(format!("{place}.conditions"), told).into());
        }
    }
    let junction = filter.get("junction").and_then(Json::as_str).map(str::to_ascii_lowercase);
    match junction.as_deref() {
        Some("and" | "or") => Ok(()),
        _ => {
            let told = format!("Property .{path} has wrong `junction` property. It must be one of: and, or");
            Err(invalid_payload(told))
        }
    }
}

/// Whether a collection has a product or a SKU. What follows from a filter is decided by [`filter_holds`].
pub fn collection_has(collection: &Map<String, Json>, goods: &Document) -> bool {
    if collection.get("id").and_then(Json::as_str) == Some(ALL_PRODUCTS) {
        return true;
    }
    match collection.get("filter").and_then(Json::as_object) {
        Some(filter) => filter_holds(filter, &goods.body),
        // A product that is listed brings its SKUs.
        None => listed(collection, "products")
            .filter_map(|listed| listed.get("id").and_then(Json::as_str))
            .any(|listed| listed == goods.id || goods.parent.as_deref() == Some(listed)),
    }
}

/// Whether a segment has a customer, who need not be stored. What follows from a filter is decided by [`filter_holds`].
pub fn segment_has(segment: &Map<String, Json>, customer: &Map<String, Json>) -> bool {
    match segment.get("filter").and_then(Json::as_object) {
        Some(filter) => filter_holds(filter, customer),
        None => listed(segment, "customers").any(|listed| customer.get("id") == Some(listed)),
    }
}

fn listed<'b>(body: &'b Map<String, Json>, name: &str) -> impl Iterator<Item = &'b Json> {
    body.get(name).and_then(Json::as_array).into_iter().flatten()
}

/// Whether a filter holds for a document. The engine's reader of filters goes here; until then no filter holds for anything.
fn filter_holds(_filter: &Map<String, Json>, _document: &Map<String, Json>) -> bool {
    false
}
