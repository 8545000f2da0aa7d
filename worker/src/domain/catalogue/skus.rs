//! SKUs of the catalogue, as API calls and orders write them.

use crate::documents::clause::Clause;
use crate::documents::common_fields::{KEY, PRICE};
use crate::documents::resource::{self, NameLookup, plain_key};
use crate::documents::shapes;
use crate::domain::catalogue::products;
use crate::domain::catalogue::products::{CATALOGUE_ORDERS, PRODUCT};
use crate::domain::trash_bin;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, RequestBody, Resource};
use crate::http::shape::{Field, FieldType, may};
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::timestamp;
use serde_json::{Value as Json, json};

/// Maximum number of SKUs in the response of one product; the list of its SKUs has pages.
pub const SHOWN_MAX: usize = 1_000;

/// Fields of a SKU.
pub const FIELDS: &[Field] = &[
    may("id", KEY),
    may("source_id", KEY).description("Unique name of the SKU in the merchant's system."),
    may("sku", FieldType::Text).description("Name of the SKU."),
    may("price", PRICE).description("Price of one unit, in minor units. `null` means the price of the product."),
    may("currency", FieldType::Text).description("Currency code of the price, for information only."),
    may("attributes", FieldType::Map)
        .description("Values of the attributes by which the SKU differs from other SKUs. `null` removes all values."),
    may("image_url", FieldType::HttpsUrl)
        .description("HTTPS address of an image of the SKU. `null` removes the address."),
    may("metadata", FieldType::Map),
];

/// SKUs as a resource.
pub const SKU: Resource = Resource {
    object: "sku",
    shape: shapes::catalogue::SKU.described(),
    parameter: "skuId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List { data_ref: "skus", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// Returns the first `most` SKUs of a product with their total number, as the product contains them.
pub fn list_of_product(call: &Call<'_, '_>, product_id: &str, most: usize) -> Result<Json, CallError> {
    let mut clause = Clause::of_kind(SKU.object);
    clause.within(product_id);
    let found = SKU.list.select_all(call.store, clause)?;
    let total = found.len();
    let skus: Vec<Json> = found.into_iter().take(most).map(|sku| Json::Object(sku.body)).collect();
    Ok(json!({ "object": "list", "data_ref": "data", "data": skus, "total": total }))
}

/// Returns products and SKUs as the API returns them outside of their product: a SKU contains its product.
pub fn to_json_with_products(call: &Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, Fault> {
    let parents: Vec<&str> = documents.iter().filter_map(|document| document.parent.as_deref()).collect();
    let products = call.store.documents_by_names(PRODUCT.object, &[], &parents)?;
    let skus = documents.into_iter().map(|mut document| {
        if let Some(parent) = &document.parent {
            let product = products.iter().find(|product| product.id == *parent);
            let product = product.map_or(Json::Null, |product| Json::Object(product.body.clone()));
            document.body.insert("product".into(), product);
        }
        Json::Object(document.body)
    });
    Ok(skus.collect())
}

/// Finds the SKU of a request, in any product, and updates it; otherwise creates it in this product.
pub fn upsert(call: &mut Call<'_, '_>, product_id: &str, mut sent: RequestBody) -> Result<Document, CallError> {
    let names = NameLookup::take(&mut sent);
    if let Some(mut sku) = names.find(call, &SKU)? {
        products::merge_and_update(call, &SKU, &mut sku, sent)?;
        return Ok(sku);
    }
    if let Some(name) = &names.source_id {
        trash_bin::check_name_free(call, SKU.object, name, "id", name)?;
    }
    let id = names.id.unwrap_or_else(|| call.ids.hex18("sku_").to_string());
    let body = json!({
        "id": id, "source_id": names.source_id, "product_id": product_id, "sku": null, "price": null, "currency": null, "attributes": {},
        "image_url": null, "metadata": {}, "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": "sku",
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut sku = Document::new(id, names.source_id, call.now_ms(), body);
    sku.parent = Some(product_id.to_owned());
    products::merge_fields(&mut sku.body, sent);
    products::check_metadata(call, &SKU, &sku.body)?;
    call.store.insert(SKU.object, &sku);
    Ok(sku)
}
