//! SKUs, the variants of products: create or update, get, list, delete. It must not know what a line of an order costs.

use crate::document::clause::Clause;
use crate::document::fields::CATALOGUE_LIST;
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::bin;
use crate::shop::products::{self, PRODUCT};
use crate::shop::skus::{FIELDS, SKU, upsert, with_products};
use crate::store::document::Document;
use serde_json::Value as Json;

/// What an update may say: everything but the two names.
const CHANGES: &[Field] = FIELDS.split_at(2).1;

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

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    Ok(Answer::json(Json::Object(find(call)?.body)))
}

fn get_with_product(call: &mut Call<'_, '_>) -> Outcome {
    let sku = SKU.find(call)?;
    let shown = with_products(call, vec![sku])?;
    Ok(Answer::json(shown.into_iter().next().unwrap_or(Json::Null)))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let product = PRODUCT.find(call)?;
    let sku = upsert(call, &product.id, body)?;
    Ok(Answer::json(Json::Object(sku.body)))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let mut sku = find(call)?;
    products::change(call, &SKU, &mut sku, body)?;
    Ok(Answer::json(Json::Object(sku.body)))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let sku = find(call)?;
    bin::throw(call, SKU.object, &sku, &bin::name_of(&sku, "sku"));
    call.store.remove(SKU.object, &sku.id);
    Ok(Answer::empty(204))
}
