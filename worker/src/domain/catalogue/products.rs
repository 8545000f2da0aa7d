//! Products of the catalogue, as API calls and orders write them.

use crate::documents::clause::Clause;
use crate::documents::common_fields::{KEY, PRICE};
use crate::documents::filter::read_instant;
use crate::documents::merge;
use crate::documents::resource::{self, NameLookup, plain_key};
use crate::documents::shapes;
use crate::domain::metadata::schemas;
use crate::domain::trash_bin;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, RequestBody, Resource};
use crate::http::shape::{Field, FieldType, may};
use crate::store::document::{Document, DocumentBody};
use crate::store::document_list::column::member;
use crate::timestamp;
use serde_json::{Value as Json, json};

/// Fields of a product.
pub const FIELDS: &[Field] = &[
    may("id", KEY),
    may("source_id", KEY).description("Unique name of the product in the merchant's system."),
    may("name", FieldType::Text).description("Name of the product."),
    may("price", PRICE).description("Price of one unit, in minor units. `null` means unknown."),
    may("attributes", FieldType::List(&KEY, 0, 1_000))
        .description("Names of the attributes by which the SKUs of the product differ. `null` removes all names."),
    may("metadata", FieldType::Map),
    may("image_url", FieldType::HttpsUrl)
        .description("HTTPS address of an image of the product. `null` removes the address."),
];

/// Orders of catalogue lists; most products and SKUs have only a few of these fields.
pub const CATALOGUE_ORDERS: &[(&str, &str)] = &[
    ("created_at", "created_at"),
    ("updated_at", "updated_at"),
    ("type", member!("type")),
    ("code", member!("code")),
    ("campaign", member!("campaign")),
    ("category", member!("category")),
];

/// Products as a resource.
pub const PRODUCT: Resource = Resource {
    object: "product",
    shape: shapes::catalogue::PRODUCT.described(),
    parameter: "productId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List { data_ref: "products", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// Limits a list to documents created from `start_date` to `end_date` of the query, both inclusive.
pub fn select_by_creation(call: &Call<'_, '_>, mut clause: Clause) -> Result<Clause, CallError> {
    for (name, condition) in [("start_date", "created_at >= {}"), ("end_date", "created_at <= {}")] {
        if let Some(at) = read_instant(&call.query, &[name])? {
            clause.and(condition, at);
        }
    }
    Ok(clause)
}

/// Finds the product of a request by id, else by source_id, and updates it; otherwise creates it under the sent names.
/// Returns the document with the queued writes applied.
pub fn upsert(call: &mut Call<'_, '_>, mut sent: RequestBody) -> Result<Document, CallError> {
    let names = NameLookup::take(&mut sent);
    if let Some(mut product) = names.find(call, &PRODUCT)? {
        merge_and_update(call, &PRODUCT, &mut product, sent)?;
        return Ok(product);
    }
    if let Some(name) = &names.source_id {
        trash_bin::check_name_free(call, PRODUCT.object, name, "id", name)?;
    }
    let id = names.id.unwrap_or_else(|| call.ids.hex18("prod_").to_string());
    let body = json!({
        "id": id, "source_id": names.source_id, "name": null, "price": null, "attributes": [], "metadata": {}, "image_url": null,
        "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": "product",
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut product = Document::new(id, names.source_id, call.now_ms(), body);
    merge_fields(&mut product.body, sent);
    check_metadata(call, &PRODUCT, &product.body)?;
    call.store.insert(PRODUCT.object, &product);
    Ok(product)
}

/// Merges sent fields into a catalogue document, and queues the write when a field changes.
pub fn merge_and_update(
    call: &mut Call<'_, '_>,
    resource: &Resource,
    document: &mut Document,
    sent: RequestBody,
) -> Result<(), CallError> {
    let has_metadata = sent.contains_key("metadata");
    merge_fields(&mut document.body, sent);
    if has_metadata {
        check_metadata(call, resource, &document.body)?;
    }
    call.touch(document);
    call.store.update(resource.object, document);
    Ok(())
}

/// Checks the metadata of a catalogue document against the project's schema.
pub fn check_metadata(call: &Call<'_, '_>, resource: &Resource, body: &DocumentBody) -> Result<(), CallError> {
    schemas::check_body(call.store, resource.object, body)
}

/// Merges sent fields; `attributes: null` becomes an empty collection.
pub fn merge_fields(body: &mut DocumentBody, mut sent: RequestBody) {
    if let Some(attributes) = sent.get_mut("attributes").filter(|attributes| attributes.is_null()) {
        *attributes = if body.get("attributes").is_some_and(Json::is_object) { json!({}) } else { json!([]) };
    }
    merge::merge(body, sent);
}
