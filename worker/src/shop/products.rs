//! Products, as a shop and its orders write them to the catalogue. It must not know what a line costs.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, PRICE};
use crate::document::filter::read_moment;
use crate::document::merge;
use crate::document::resource::{self, Names, plain_key};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::http::shape::{Field, Kind, may};
use crate::moment;
use crate::shop::{bin, metadata_schemas};
use crate::store::document::Document;
use serde_json::{Map, Value as Json, json};

/// What can be said of a product.
pub const FIELDS: &[Field] = &[
    may("id", KEY),
    may("source_id", KEY),
    may("name", Kind::Text),
    may("price", PRICE),
    may("attributes", Kind::List(&KEY, 0, 1_000)),
    may("metadata", Kind::Map),
    may("image_url", Kind::Text),
];

/// What an object of the catalogue can be ordered by; few of these fields exist on one, as published.
pub const CATALOGUE_ORDERS: &[(&str, &str)] = &[
    ("created_at", "created_at"),
    ("updated_at", "updated_at"),
    ("type", "json_extract(body, '$.type')"),
    ("code", "json_extract(body, '$.code')"),
    ("campaign", "json_extract(body, '$.campaign')"),
    ("category", "json_extract(body, '$.category')"),
];

/// Products as a resource.
pub const PRODUCT: Resource = Resource {
    object: "product",
    shape: shapes::catalogue::PRODUCT.described(),
    parameter: "productId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "products", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// Narrows a clause to what was created from `start_date` to `end_date` of the query, both included.
pub fn created_within(call: &Call<'_, '_>, mut clause: Clause) -> Result<Clause, CallError> {
    for (name, condition) in [("start_date", "created_at >= {}"), ("end_date", "created_at <= {}")] {
        if let Some(at) = read_moment(&call.query, &[name])? {
            clause.and(condition, at);
        }
    }
    Ok(clause)
}

/// The product that a sent one means: found by id, else by source_id, and updated with what was sent; or created under the names
/// that were sent. Gives the document as it will be after the commit.
pub fn upsert(call: &mut Call<'_, '_>, mut sent: Map<String, Json>) -> Result<Document, CallError> {
    let names = Names::take(&mut sent);
    if let Some(mut product) = names.find(call, &PRODUCT)? {
        change(call, &PRODUCT, &mut product, sent)?;
        return Ok(product);
    }
    if let Some(name) = &names.source_id {
        bin::check_free(call, PRODUCT.object, name, ("id", name))?;
    }
    let id = names.id.unwrap_or_else(|| call.ids.hex18("prod_").to_string());
    let body = json!({
        "id": id, "source_id": names.source_id, "name": null, "price": null, "attributes": [], "metadata": {}, "image_url": null,
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": "product",
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut product = Document::new(id, names.source_id, call.now_ms(), body);
    merge(&mut product.body, sent);
    check_metadata(call, &PRODUCT, &product.body)?;
    call.store.insert(PRODUCT.object, &product);
    Ok(product)
}

/// Puts what was sent into a document of the catalogue, and writes it at the commit when that changes anything.
pub fn change(
    call: &mut Call<'_, '_>,
    resource: &Resource,
    document: &mut Document,
    sent: Map<String, Json>,
) -> Result<(), CallError> {
    let has_metadata = sent.contains_key("metadata");
    merge(&mut document.body, sent);
    if has_metadata {
        check_metadata(call, resource, &document.body)?;
    }
    call.touch(document);
    call.store.update(resource.object, document);
    Ok(())
}

/// Holds the metadata of something in the catalogue against the project's schema.
pub fn check_metadata(call: &Call<'_, '_>, resource: &Resource, body: &Map<String, Json>) -> Result<(), CallError> {
    metadata_schemas::check(call.store, &[(resource.object, body.get("metadata"))])
}

/// As everywhere, but that a null puts a collection back to none.
pub fn merge(body: &mut Map<String, Json>, mut sent: Map<String, Json>) {
    if let Some(attributes) = sent.get_mut("attributes").filter(|attributes| attributes.is_null()) {
        *attributes = if body.get("attributes").is_some_and(Json::is_object) { json!({}) } else { json!([]) };
    }
    merge::merge(body, sent);
}
