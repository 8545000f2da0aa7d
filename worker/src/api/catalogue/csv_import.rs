//! Import of products and SKUs from CSV files: each row is written like a separate call.

use crate::documents::csv_columns::{CellType, CsvColumn, column};
use crate::documents::csv_file::{self, body};
use crate::documents::shapes;
use crate::domain::catalogue::products;
use crate::domain::catalogue::products::PRODUCT;
use crate::domain::catalogue::skus;
use crate::domain::metadata::csv_cells;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Route, post};
use crate::http::shape::{self, Field, Nulls};
use crate::jobs::bulk_items;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// The kinds of the jobs.
pub const PRODUCTS: &str = "PRODUCTS.IMPORT_CSV";
/// See [`PRODUCTS`].
pub const SKUS: &str = "SKUS.IMPORT_CSV";

const BODY: &[Field] = &[csv_file::FILE];

const OF_PRODUCT: &[CsvColumn] = &[
    column(&["id"], "id", CellType::Text),
    column(&["name"], "name", CellType::Text),
    column(&["source_id", "sourceid"], "source_id", CellType::Text),
    column(&["price"], "price", CellType::Integer),
    column(&["attributes"], "attributes", CellType::List),
    column(&["image_url"], "image_url", CellType::Text),
    column(&["created_at", "updated_at"], "", CellType::Passed),
];

const OF_SKU: &[CsvColumn] = &[
    column(&["id"], "id", CellType::Text),
    column(&["product_id"], "product_id", CellType::Text),
    column(&["sku"], "sku", CellType::Text),
    column(&["source_id", "sourceid"], "source_id", CellType::Text),
    column(&["price"], "price", CellType::Integer),
    column(&["currency"], "currency", CellType::Text),
    column(&["attributes"], "attributes", CellType::Json),
    column(&["image_url"], "image_url", CellType::Text),
    column(&["created_at", "updated_at"], "", CellType::Passed),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/products/importCSV", "Import products from a CSV file", import_products)
        .describe(
            "importProducts",
            "Starts an async action that creates or updates the product of each row, by `id` or `source_id`. The column `name` is required; unknown columns become metadata. The file, of at most 100,000 rows, is read before the action starts; afterwards each row succeeds or fails independently. A file that cannot be read is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action, which reports the result of each row.")
        .scope("products")
        .upload(BODY)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/skus/importCSV", "Import SKUs from a CSV file", import_skus)
        .describe(
            "importSkus",
            "Starts an async action that creates or updates the SKU of each row, by `id` or `source_id`. The columns `source_id` and `product_id` are required, and the product must exist; unknown columns become metadata. The file, of at most 100,000 rows, is read before the action starts; afterwards each row succeeds or fails independently. A file that cannot be read is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action, which reports the result of each row.")
        .scope("skus")
        .upload(BODY)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
];

fn import_products(call: &mut Call<'_, '_>) -> HandlerResult {
    bulk_items::answer_file(call, PRODUCTS, OF_PRODUCT, &["name"], None)
}

fn import_skus(call: &mut Call<'_, '_>) -> HandlerResult {
    bulk_items::answer_file(call, SKUS, OF_SKU, &["source_id", "product_id"], None)
}

/// Writes the product of one row.
pub fn write_product(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let mut members = body(OF_PRODUCT, row);
    require(&members, "name")?;
    csv_cells::convert(call, PRODUCT.object, &mut members)?;
    let sent = shape::read(products::FIELDS, members, Nulls::Dropped)?;
    products::upsert(call, sent).map(drop)
}

/// Writes the SKU of one row, whose product exists.
pub fn write_sku(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let mut members = body(OF_SKU, row);
    require(&members, "source_id")?;
    require(&members, "product_id")?;
    let named = members.remove("product_id").and_then(|named| named.as_str().map(str::to_owned)).unwrap_or_default();
    csv_cells::convert(call, "sku", &mut members)?;
    let sent = shape::read(skus::FIELDS, members, Nulls::Dropped)?;
    let product = call.store.document_by_name(PRODUCT.object, &named, &named)?;
    let product = product.ok_or_else(|| not_found(PRODUCT.object, &named))?;
    skus::upsert(call, &product.id, sent).map(drop)
}

fn require(members: &Map<String, Json>, name: &str) -> Result<(), Problem> {
    if members.contains_key(name) { Ok(()) } else { Err(Problem::missing("", name)) }
}
