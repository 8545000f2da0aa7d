//! Products: create or update, get with its SKUs, list, delete with its SKUs.

use crate::documents::common_fields::{BULK_METADATA, CATALOGUE_LIST, KEY, PRICE};
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::catalogue::products::{FIELDS, PRODUCT, merge_and_update, select_by_creation, upsert};
use crate::domain::catalogue::skus::{self, SKU};
use crate::domain::trash_bin;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::jobs::bulk_items;
use crate::store::document_list::clause::Clause;
use serde_json::{Map, Value as Json};

/// Fields of an update: all except the two names.
const CHANGES: &[Field] = FIELDS.split_at(2).1;

const BULK: &[Field] = &[
    must("source_id", KEY)
        .description("Unique name of the product in the merchant's system. An unknown name creates a product."),
    may("name", FieldType::Text).description("Name of the product."),
    may("price", PRICE).description("Price of one unit, in minor units."),
    may("attributes", FieldType::List(&KEY, 0, 1_000))
        .description("Names of the attributes by which the SKUs of the product differ. `null` removes all names."),
    may("metadata", FieldType::Map),
    may("image_url", FieldType::HttpsUrl).description("HTTPS address of an image of the product."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/products", "List products", list)
        .describe(
            "listProducts",
            "Returns the products of the catalogue without their SKUs, the newest first by default. An unknown order is refused with `invalid_query_params`.",
        )
        .returns("The products of this page and the total.")
        .of(&PRODUCT)
        .lists_resource(shapes::TOTAL)
        .scope("products")
        .query(CATALOGUE_LIST),
    post("/v1/products", "Create or update a product", create)
        .describe(
            "createProduct",
            "Updates the product with the `id`, else the `source_id`, that is sent; otherwise creates a product under these names. Fields that are absent stay as they are, and metadata is merged key by key. An `id` and a `source_id` of two products, or a `source_id` in the trash bin, are refused with `duplicate_found`. Metadata against the schema is refused with `metadata_validation_failed`.",
        )
        .returns("The product after the change.")
        .of(&PRODUCT)
        .scope("products")
        .body(FIELDS),
    post("/v1/products/bulk/async", "Create or update many products", bulk)
        .describe(
            "createOrUpdateProducts",
            "Starts an async action that creates or updates each listed product by `source_id`. The list is checked as a whole before the action starts; afterwards each product succeeds or fails independently. A malformed list is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action, which reports the result of each product.")
        .of(&PRODUCT)
        .scope("products")
        .many(BULK)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/products/metadata/async", "Update the metadata of many products", bulk_metadata)
        .describe(
            "updateProductsMetadata",
            "Starts an async action that merges the same metadata into each listed product. A `source_id` without a product creates one. Each product succeeds or fails independently. A malformed body is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action, which reports the result of each product.")
        .of(&PRODUCT)
        .scope("products")
        .body(BULK_METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    get("/v1/products/{productId}", "Get a product by ID or source_id", get_one)
        .describe(
            "getProduct",
            "Returns one product with its first 1,000 SKUs. An unknown ID is refused with `not_found`.",
        )
        .returns("The product, with its SKUs.")
        .of(&PRODUCT)
        .scope("products"),
    put("/v1/products/{productId}", "Update a product", update)
        .describe(
            "updateProduct",
            "Changes the fields that are sent; metadata is merged key by key. The names of a product never change here. An unknown ID is refused with `not_found`, metadata against the schema with `metadata_validation_failed`.",
        )
        .returns("The product after the change.")
        .of(&PRODUCT)
        .scope("products")
        .body(CHANGES),
    delete("/v1/products/{productId}", "Delete a product", remove)
        .describe(
            "deleteProduct",
            "Deletes a product and its SKUs. By default the product moves to the trash bin, and its `source_id` stays taken until the entry is purged. An unknown ID is refused with `not_found`.",
        )
        .returns("No content. The product and its SKUs are deleted.")
        .of(&PRODUCT)
        .scope("products")
        .query(&[may("force", FieldType::Bool)
            .description("`true` to delete for good, without an entry in the trash bin. Default `false`.")])
        .answers(204, shapes::EMPTY),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let clause = select_by_creation(call, Clause::of_kind(PRODUCT.object))?;
    let page = PRODUCT.list.select(call.store, &call.query, clause)?;
    let products = resource::bodies_to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(PRODUCT.list.envelope(products, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut product = PRODUCT.find(call)?;
    let skus = skus::list_of_product(call, &product.id, skus::SHOWN_MAX)?;
    product.body.insert("skus".into(), skus);
    Ok(Response::json(Json::Object(product.body)))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Kept)?;
    let product = upsert(call, body)?;
    Ok(Response::json(Json::Object(product.body)))
}

fn bulk(call: &mut Call<'_, '_>) -> HandlerResult {
    let items = bulk_items::items(call)?;
    bulk_items::answer(call, "PRODUCTS.BULK_UPDATE", items)
}

fn bulk_metadata(call: &mut Call<'_, '_>) -> HandlerResult {
    let items = bulk_items::same_metadata(call)?;
    bulk_items::answer(call, "PRODUCTS.METADATA_UPDATE", items)
}

/// Writes one product of a list.
pub fn write_one(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<(), CallError> {
    upsert(call, sent).map(drop)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Kept)?;
    let mut product = PRODUCT.find(call)?;
    merge_and_update(call, &PRODUCT, &mut product, body)?;
    Ok(Response::json(Json::Object(product.body)))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let product = PRODUCT.find(call)?;
    trash_bin::move_to_trash(call, PRODUCT.object, &product, &trash_bin::name_of(&product, "name"));
    call.store.delete(PRODUCT.object, &product.id);
    call.store.delete_children(SKU.object, &product.id);
    Ok(Response::empty(204))
}
