//! SKUs, as a shop and its orders write them to the catalogue. It must not know what a line costs.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, PRICE};
use crate::document::resource::{self, Names, plain_key};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::http::shape::{Field, Kind, may};
use crate::moment;
use crate::shop::bin;
use crate::shop::products::{self, CATALOGUE_ORDERS, PRODUCT};
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde_json::{Map, Value as Json, json};

/// SKUs that the reading of one product shows; the list of its SKUs has pages.
pub const SHOWN_MAX: usize = 1_000;

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

/// SKUs as a resource.
pub const SKU: Resource = Resource {
    object: "sku",
    shape: shapes::catalogue::SKU.described(),
    parameter: "skuId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "skus", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// The first SKUs of a product, in their list, as the product shows them.
pub fn of_product(call: &Call<'_, '_>, product_id: &str, most: usize) -> Result<Json, CallError> {
    let mut clause = Clause::of_kind(SKU.object);
    clause.and("parent = {}", product_id);
    let found = SKU.list.select_all(call.store, clause)?;
    let total = found.len();
    let shown: Vec<Json> = found.into_iter().take(most).map(|sku| Json::Object(sku.body)).collect();
    Ok(json!({ "object": "list", "data_ref": "data", "data": shown, "total": total }))
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

/// The SKU that a sent one means, wherever it belongs, updated with what was sent; or a new one of this product.
pub fn upsert(call: &mut Call<'_, '_>, product_id: &str, mut sent: Map<String, Json>) -> Result<Document, CallError> {
    let names = Names::take(&mut sent);
    if let Some(mut sku) = names.find(call, &SKU)? {
        products::change(call, &SKU, &mut sku, sent)?;
        return Ok(sku);
    }
    if let Some(name) = &names.source_id {
        bin::check_free(call, SKU.object, name, ("id", name))?;
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
