//! Products: create or update, get with its SKUs, list, delete with its SKUs. It must not know what a line of an order costs.

use crate::api::catalogue::skus;
use crate::api::people::customers;
use crate::api::project::metadata_schemas;
use crate::document::fields::{BULK_METADATA, CATALOGUE_LIST, KEY, PRICE};
use crate::document::list::{Clause, List, read_moment};
use crate::document::resource::{self, Names, Resource, plain_key};
use crate::document::shapes;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::store::document::Document;
use crate::work::batch;
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

/// What an update may say: everything but the two names.
const CHANGES: &[Field] = FIELDS.split_at(2).1;

const BULK: &[Field] = &[
    must("source_id", KEY),
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
    shape: shapes::catalogue::PRODUCT,
    parameter: "productId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "products", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/products", "List products", list)
        .of(&PRODUCT)
        .listed(shapes::TOTAL)
        .scope("products")
        .query(CATALOGUE_LIST),
    post("/v1/products", "Create or update a product", create).of(&PRODUCT).scope("products").body(FIELDS),
    post("/v1/products/bulk/async", "Create or update many products", bulk)
        .of(&PRODUCT)
        .scope("products")
        .many(BULK)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/products/metadata/async", "Update the metadata of many products", bulk_metadata)
        .of(&PRODUCT)
        .scope("products")
        .body(BULK_METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    get("/v1/products/{productId}", "Get a product by id or source_id, with its SKUs", get_one)
        .of(&PRODUCT)
        .scope("products"),
    put("/v1/products/{productId}", "Update a product", update).of(&PRODUCT).scope("products").body(CHANGES),
    delete("/v1/products/{productId}", "Delete a product and its SKUs", remove)
        .of(&PRODUCT)
        .scope("products")
        .query(&[may("force", Kind::Bool)])
        .answers(204, shapes::EMPTY),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let clause = created_within(call, Clause::of_kind(PRODUCT.object))?;
    let page = PRODUCT.list.select(call.store, &call.query, clause)?;
    let shown = resource::show_body(call, page.documents)?;
    Ok(Answer::json(Json::Object(PRODUCT.list.envelope(shown, page.total))))
}

/// Narrows a clause to what was created from `start_date` to `end_date` of the query, both included.
pub fn created_within(call: &Call<'_, '_>, mut clause: Clause) -> Result<Clause, CallError> {
    for (name, condition) in [("start_date", "created_at >= {}"), ("end_date", "created_at <= {}")] {
        if let Some(at) = read_moment(&call.query, &[name])? {
            clause.and(condition, at);
        }
    }
    Ok(clause)
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let mut product = PRODUCT.find(call)?;
    let skus = skus::of_product(call, &product.id)?;
    product.body.insert("skus".into(), skus);
    Ok(Answer::json(Json::Object(product.body)))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let product = upsert(call, body)?;
    Ok(Answer::json(Json::Object(product.body)))
}

fn bulk(call: &mut Call<'_, '_>) -> Outcome {
    let items = batch::items(call)?;
    batch::answer(call, "PRODUCTS.BULK_UPDATE", items)
}

fn bulk_metadata(call: &mut Call<'_, '_>) -> Outcome {
    let items = batch::same_metadata(call)?;
    batch::answer(call, "PRODUCTS.METADATA_UPDATE", items)
}

/// One product of a list.
pub fn write_one(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<(), CallError> {
    upsert(call, sent).map(drop)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let mut product = PRODUCT.find(call)?;
    change(call, &PRODUCT, &mut product, body)?;
    Ok(Answer::json(Json::Object(product.body)))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let product = PRODUCT.find(call)?;
    call.store.remove(PRODUCT.object, &product.id);
    call.store.write("DELETE FROM document WHERE kind = 'sku' AND parent = ?1", vec![product.id.into()]);
    Ok(Answer::empty(204))
}

/// The product that a sent one means: found by id, else by source_id, and updated with what was sent; or created under the names
/// that were sent. Gives the document as it will be after the commit.
pub fn upsert(call: &mut Call<'_, '_>, mut sent: Map<String, Json>) -> Result<Document, CallError> {
    let names = Names::take(&mut sent);
    if let Some(mut product) = names.find(call, &PRODUCT)? {
        change(call, &PRODUCT, &mut product, sent)?;
        return Ok(product);
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
    customers::merge(body, sent);
}
