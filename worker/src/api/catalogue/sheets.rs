//! Products and SKUs from CSV files: each row as a call of its own would write it. It must not know how a file is read.

use crate::document::columns::{Cell, Column, column};
use crate::document::shapes;
use crate::document::sheet::{self, body};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Outcome, Route, post};
use crate::http::shape::{self, Field, Nulls};
use crate::shop::products::{self, PRODUCT};
use crate::shop::{metadata_cells, skus};
use crate::work::batch;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// The kinds of the jobs.
pub const PRODUCTS: &str = "PRODUCTS.IMPORT_CSV";
/// See [`PRODUCTS`].
pub const SKUS: &str = "SKUS.IMPORT_CSV";

const BODY: &[Field] = &[sheet::FILE];

const OF_PRODUCT: &[Column] = &[
    column(&["id"], "id", Cell::Text),
    column(&["name"], "name", Cell::Text),
    column(&["source_id", "sourceid"], "source_id", Cell::Text),
    column(&["price"], "price", Cell::Whole),
    column(&["attributes"], "attributes", Cell::List),
    column(&["image_url"], "image_url", Cell::Text),
    column(&["created_at", "updated_at"], "", Cell::Passed),
];

const OF_SKU: &[Column] = &[
    column(&["id"], "id", Cell::Text),
    column(&["product_id"], "product_id", Cell::Text),
    column(&["sku"], "sku", Cell::Text),
    column(&["source_id", "sourceid"], "source_id", Cell::Text),
    column(&["price"], "price", Cell::Whole),
    column(&["currency"], "currency", Cell::Text),
    column(&["attributes"], "attributes", Cell::Json),
    column(&["image_url"], "image_url", Cell::Text),
    column(&["created_at", "updated_at"], "", Cell::Passed),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/products/importCSV", "Import products from a CSV file", import_products)
        .scope("products")
        .upload(BODY)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/skus/importCSV", "Import SKUs from a CSV file", import_skus)
        .scope("skus")
        .upload(BODY)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
];

fn import_products(call: &mut Call<'_, '_>) -> Outcome {
    batch::answer_file(call, PRODUCTS, (OF_PRODUCT, &["name"]), None)
}

fn import_skus(call: &mut Call<'_, '_>) -> Outcome {
    batch::answer_file(call, SKUS, (OF_SKU, &["source_id", "product_id"]), None)
}

/// Writes the product of one row.
pub fn write_product(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let mut said = body(OF_PRODUCT, row);
    require(&said, "name")?;
    metadata_cells::settle(call, PRODUCT.object, &mut said)?;
    let sent = shape::read(products::FIELDS, said, Nulls::Dropped)?;
    products::upsert(call, sent).map(drop)
}

/// Writes the SKU of one row, whose product is there.
pub fn write_sku(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let mut said = body(OF_SKU, row);
    require(&said, "source_id")?;
    require(&said, "product_id")?;
    let named = said.remove("product_id").and_then(|named| named.as_str().map(str::to_owned)).unwrap_or_default();
    metadata_cells::settle(call, "sku", &mut said)?;
    let sent = shape::read(skus::FIELDS, said, Nulls::Dropped)?;
    let product = call.store.document_by_name(PRODUCT.object, &named, &named)?;
    let product = product.ok_or_else(|| not_found(PRODUCT.object, &named))?;
    skus::upsert(call, &product.id, sent).map(drop)
}

fn require(said: &Map<String, Json>, name: &str) -> Result<(), Problem> {
    if said.contains_key(name) { Ok(()) } else { Err(Problem::missing("", name)) }
}
