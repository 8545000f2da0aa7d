//! SKUs, the variants of products: create or update, get, list, delete.

use crate::documents::common_fields::CATALOGUE_LIST;
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::catalogue::products;
use crate::domain::catalogue::products::PRODUCT;
use crate::domain::catalogue::skus::{FIELDS, SKU, to_json_with_products, upsert};
use crate::domain::trash_bin;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use serde_json::Value as Json;

/// Fields of an update: all except the two names.
const CHANGES: &[Field] = FIELDS.split_at(2).1;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/products/{productId}/skus", "List the SKUs of a product", list)
        .describe(
            "listSkus",
            "Returns the SKUs of one product, the newest first by default. An unknown product is refused with `not_found`, an unknown order with `invalid_query_params`.",
        )
        .returns("The SKUs of this page and the total.")
        .of(&SKU)
        .lists_resource(shapes::TOTAL)
        .scope("products")
        .or_scope("skus")
        .query(CATALOGUE_LIST),
    post("/v1/products/{productId}/skus", "Create or update a SKU", create)
        .describe(
            "createSku",
            "Updates the SKU with the `id`, else the `source_id`, that is sent, also a SKU of another product; otherwise creates a SKU of this product. Fields that are absent stay as they are, and metadata is merged key by key. An unknown product is refused with `not_found`, an `id` and a `source_id` of two SKUs with `duplicate_found`.",
        )
        .returns("The SKU after the change.")
        .of(&SKU)
        .scope("products")
        .or_scope("skus")
        .body(FIELDS),
    get("/v1/products/{productId}/skus/{skuId}", "Get a SKU of a product", get_one)
        .describe(
            "getSkuOfProduct",
            "Returns one SKU of a product. An unknown ID, or a SKU of another product, is refused with `not_found`.",
        )
        .returns("The SKU.")
        .of(&SKU)
        .scope("products")
        .or_scope("skus"),
    put("/v1/products/{productId}/skus/{skuId}", "Update a SKU", update)
        .describe(
            "updateSku",
            "Changes the fields that are sent; metadata is merged key by key. The names of a SKU never change here. A SKU of another product is refused with `not_found`, metadata against the schema with `metadata_validation_failed`.",
        )
        .returns("The SKU after the change.")
        .of(&SKU)
        .scope("products")
        .or_scope("skus")
        .body(CHANGES),
    delete("/v1/products/{productId}/skus/{skuId}", "Delete a SKU", remove)
        .describe(
            "deleteSku",
            "Deletes a SKU of a product. By default the SKU moves to the trash bin, and its `source_id` stays taken until the entry is purged. A SKU of another product is refused with `not_found`.",
        )
        .returns("No content. The SKU is deleted.")
        .of(&SKU)
        .scope("products")
        .or_scope("skus")
        .query(&[may("force", FieldType::Bool)
            .description("`true` to delete for good, without an entry in the trash bin. Default `false`.")])
        .answers(204, shapes::EMPTY),
    get("/v1/skus/{skuId}", "Get a SKU by ID or source_id", get_with_product)
        .describe("getSku", "Returns one SKU together with its product. An unknown ID is refused with `not_found`.")
        .returns("The SKU, with its product.")
        .of(&SKU)
        .scope("skus"),
];

/// Finds the SKU that a path names; it must belong to the path's product.
fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let product = PRODUCT.find(call)?;
    let sku = SKU.find(call)?;
    if sku.parent.as_deref() == Some(product.id.as_str()) {
        return Ok(sku);
    }
    Err(not_found(SKU.object, call.param(SKU.parameter)).into())
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let product = PRODUCT.find(call)?;
    let mut clause = products::select_by_creation(call, Clause::of_kind(SKU.object))?;
    clause.within(&product.id);
    let page = SKU.list.select(call.store, &call.query, clause)?;
    let skus = resource::bodies_to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(SKU.list.envelope(skus, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    Ok(Response::json(Json::Object(find(call)?.body)))
}

fn get_with_product(call: &mut Call<'_, '_>) -> HandlerResult {
    let sku = SKU.find(call)?;
    let skus = to_json_with_products(call, vec![sku])?;
    Ok(Response::json(skus.into_iter().next().unwrap_or(Json::Null)))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Kept)?;
    let product = PRODUCT.find(call)?;
    let sku = upsert(call, &product.id, body)?;
    Ok(Response::json(Json::Object(sku.body)))
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Kept)?;
    let mut sku = find(call)?;
    products::merge_and_update(call, &SKU, &mut sku, body)?;
    Ok(Response::json(Json::Object(sku.body)))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let sku = find(call)?;
    trash_bin::move_to_trash(call, SKU.object, &sku, &trash_bin::name_of(&sku, "sku"));
    call.store.delete(SKU.object, &sku.id);
    Ok(Response::empty(204))
}
