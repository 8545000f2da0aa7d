//! Products: create or update, get with its SKUs, list, delete with its SKUs. It must not know what a line of an order costs.

use crate::document::clause::Clause;
use crate::document::fields::{BULK_METADATA, CATALOGUE_LIST, KEY, PRICE};
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::products::{FIELDS, PRODUCT, change, created_within, upsert};
use crate::shop::{bin, skus};
use crate::work::batch;
use serde_json::{Map, Value as Json};

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

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let mut product = PRODUCT.find(call)?;
    let skus = skus::of_product(call, &product.id, skus::SHOWN_MAX)?;
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
    bin::throw(call, PRODUCT.object, &product, &bin::name_of(&product, "name"));
    call.store.remove(PRODUCT.object, &product.id);
    call.store.write("DELETE FROM document WHERE kind = 'sku' AND parent = +?1", vec![product.id.into()]);
    Ok(Answer::empty(204))
}
