//! SKUs, the variants of products: create or update, get, list, delete. It must not know what a line of an order costs.

use crate::api::catalogue::products::{self, CATALOGUE_ORDERS, PRODUCT};
use crate::document::fields::{CATALOGUE_LIST, KEY, PRICE};
use crate::document::list::{Clause, List};
use crate::document::resource::{self, Names, Resource, plain_key};
use crate::document::shapes;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::moment;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde_json::{Map, Value as Json, json};

/// SKUs that the reading of one product shows; the list of its SKUs has pages.
const SHOWN_MAX: usize = 1_000;

/// What can be said of a SKU.
pub const FIELDS: &[Field] = &[
    may("id", KEY),
    may("source_id", KEY),
    may("sku", Kind::Text),
    may("price", PRICE),
    may("currency", Kind::Text),
    may("attributes", Kind::Map),
    may("image_url", Kind::Text),
    may("metadata", Kind::Map),
];

/// What an update may say: everything but the two names.
const CHANGES: &[Field] = FIELDS.split_at(2).1;

/// SKUs as a resource.
pub const SKU: Resource = Resource {
    object: "sku",
    shape: shapes::catalogue::SKU,
    parameter: "skuId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "skus", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/products/{productId}/skus", "List the SKUs of a product", list)
        .of(&SKU)
        .listed(shapes::TOTAL)
        .scope("products")
        .query(CATALOGUE_LIST),
    post("/v1/products/{productId}/skus", "Create or update a SKU of a product", create)
        .of(&SKU)
        .scope("products")
        .body(FIELDS),
    get("/v1/products/{productId}/skus/{skuId}", "Get a SKU of a product", get_one).of(&SKU).scope("products"),
    put("/v1/products/{productId}/skus/{skuId}", "Update a SKU", update).of(&SKU).scope("products").body(CHANGES),
    delete("/v1/products/{productId}/skus/{skuId}", "Delete a SKU", remove)
        .of(&SKU)
        .scope("products")
        .query(&[may("force", Kind::Bool)])
        .answers(204, shapes::EMPTY),
    get("/v1/skus/{skuId}", "Get a SKU by id or source_id, with its product", get_with_product).of(&SKU).scope("skus"),
];

/// The SKU that a path names; it must be one of the path's product.
fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let product = PRODUCT.find(call)?;
    let sku = SKU.find(call)?;
    if sku.parent.as_deref() == Some(product.id.as_str()) {
        return Ok(sku);
    }
    Err(not_found(SKU.object, call.param(SKU.parameter)).into())
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let product = PRODUCT.find(call)?;
    let mut clause = products::created_within(call, Clause::of_kind(SKU.object))?;
    clause.and("parent = {}", product.id);
    let page = SKU.list.select(call.store, &call.query, clause)?;
    let shown = resource::show_body(call, page.documents)?;
    Ok(Answer::json(Json::Object(SKU.list.envelope(shown, page.total))))
}

/// The SKUs of a product, in their list, as the product shows them.
pub fn of_product(call: &Call<'_, '_>, product_id: &str) -> Result<Json, CallError> {
    let mut clause = Clause::of_kind(SKU.object);
    clause.and("parent = {}", product_id);
    let found = SKU.list.all(call.store, clause)?;
    let total = found.len();
    let shown: Vec<Json> = found.into_iter().take(SHOWN_MAX).map(|sku| Json::Object(sku.body)).collect();
    Ok(json!({ "object": "list", "data_ref": "data", "data": shown, "total": total }))
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    Ok(Answer::json(Json::Object(find(call)?.body)))
}

fn get_with_product(call: &mut Call<'_, '_>) -> Outcome {
    let sku = SKU.find(call)?;
    let shown = with_products(call, vec![sku])?;
    Ok(Answer::json(shown.into_iter().next().unwrap_or(Json::Null)))
}

/// Things of the catalogue as they are shown outside of their product: a SKU carries its product.
pub fn with_products(call: &Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, Fault> {
    let parents: Vec<&str> = documents.iter().filter_map(|document| document.parent.as_deref()).collect();
    let products = call.store.documents_by_names(PRODUCT.object, &[], &parents)?;
    let shown = documents.into_iter().map(|mut document| {
        if let Some(parent) = &document.parent {
            let product = products.iter().find(|product| product.id == *parent);
            let product = product.map_or(Json::Null, |product| Json::Object(product.body.clone()));
            document.body.insert("product".into(), product);
        }
        Json::Object(document.body)
    });
    Ok(shown.collect())
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let product = PRODUCT.find(call)?;
    let sku = upsert(call, &product.id, body)?;
    Ok(Answer::json(Json::Object(sku.body)))
}

/// The SKU that a sent one means, wherever it belongs, updated with what was sent; or a new one of this product.
pub fn upsert(call: &mut Call<'_, '_>, product_id: &str, mut sent: Map<String, Json>) -> Result<Document, CallError> {
    let names = Names::take(&mut sent);
    if let Some(mut sku) = names.find(call, &SKU)? {
        products::change(call, &SKU, &mut sku, sent)?;
        return Ok(sku);
    }
    let id = names.id.unwrap_or_else(|| call.ids.hex18("sku_").to_string());
    let body = json!({
        "id": id, "source_id": names.source_id, "product_id": product_id, "sku": null, "price": null, "currency": null, "attributes": {},
        "image_url": null, "metadata": {}, "created_at": moment::text(call.now_ms()), "updated_at": null, "object": "sku",
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut sku = Document::new(id, names.source_id, call.now_ms(), body);
    sku.parent = Some(product_id.to_owned());
    products::merge(&mut sku.body, sent);
    products::check_metadata(call, &SKU, &sku.body)?;
    call.store.insert(SKU.object, &sku);
    Ok(sku)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let mut sku = find(call)?;
    products::change(call, &SKU, &mut sku, body)?;
    Ok(Answer::json(Json::Object(sku.body)))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let sku = find(call)?;
    call.store.remove(SKU.object, &sku.id);
    Ok(Answer::empty(204))
}
