//! Reads references to goods: a product, a SKU or a collection, in tests, scopes and collections. Also defines the
//! shapes of the catalogue's goods.

use crate::json::Node;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::shape::{AMOUNT, COUNT, Field, FieldType, KEY, KEYS, may, must, object};
use crate::shape::{fields_of, shape};
use crate::wire::cursor::{JsonCursor, read};

const OF_PRODUCT: &[Field] = &[
    must("id", KEY),
    must("source_id", KEY)
        .or_null()
        .description("Unique name of the product in the merchant's system. `null` if none was given."),
    must("name", FieldType::Text).or_null().description("Name of the product. `null` if unknown."),
    must("price", AMOUNT).or_null().description("Price of one unit, in minor units. `null` if unknown."),
    must("attributes", KEYS).description("Names of the attributes by which the SKUs of the product differ."),
    must("metadata", FieldType::Map),
    must("image_url", FieldType::Text).or_null().description("HTTPS address of an image. `null` if there is none."),
    must("created_at", FieldType::DateTime),
    must("updated_at", FieldType::DateTime).or_null(),
    object(&["product"]),
];

const OF_SKU: &[Field] = &[
    must("id", KEY),
    must("source_id", KEY)
        .or_null()
        .description("Unique name of the SKU in the merchant's system. `null` if none was given."),
    must("product_id", KEY).description("ID of the product that contains the SKU."),
    must("sku", FieldType::Text).or_null().description("Name of the SKU. `null` if unknown."),
    must("price", AMOUNT)
        .or_null()
        .description("Price of one unit, in minor units. `null` means the price of the product."),
    must("currency", FieldType::Text)
        .or_null()
        .description("Currency code of the price, for information only. `null` if unknown."),
    must("attributes", FieldType::Map)
        .description("Values of the attributes by which the SKU differs from other SKUs of the product."),
    must("metadata", FieldType::Map),
    must("image_url", FieldType::Text).or_null().description("HTTPS address of an image. `null` if there is none."),
    must("created_at", FieldType::DateTime),
    must("updated_at", FieldType::DateTime).or_null(),
    object(&["sku"]),
];

/// A product.
pub const PRODUCT: FieldType = shape!(
    "Product",
    "Product of the catalogue.",
    fields_of!(
        OF_PRODUCT,
        &[may(
            "skus",
            FieldType::Object(&[
                object(&["list"]),
                must("data_ref", FieldType::OneOf(&["data"]))
                    .description("Name of the member that contains the SKUs. Always `data`."),
                must("data", FieldType::List(&FieldType::Object(OF_SKU), 0, usize::MAX))
                    .description("First SKUs of the product, at most 1,000."),
                must("total", COUNT).description("Number of SKUs of the product."),
            ]),
        )
        .description("SKUs of the product. Present when a single product is read.")],
    )
);

/// A SKU.
pub const SKU: FieldType = shape!(
    "Sku",
    "SKU, a variant of a product.",
    fields_of!(
        OF_SKU,
        &[may("product", FieldType::Object(OF_PRODUCT))
            .description("Product of the SKU. Present where the SKU is returned without its product.")]
    )
);

/// Reads a product, SKU or collection; `assumed` is the type of one that has none.
pub fn read_goods(at: &JsonCursor<'_>, assumed: Option<GoodsObject>) -> GoodsRef {
    const OBJECTS: &[(&str, GoodsObject)] = &[
        ("product", GoodsObject::Product),
        ("sku", GoodsObject::Sku),
        ("products_collection", GoodsObject::Collection),
    ];
    if let (Node::Text(_), Some(object)) = (at.node, assumed) {
        return GoodsRef::new(object, at.name(), None);
    }
    at.object();
    let object = match assumed {
        Some(assumed) => at.option("object", |object| object.one_of(OBJECTS)).unwrap_or(assumed),
        None => at.need("object", |object| object.one_of(OBJECTS)),
    };
    let source_id = at.option("source_id", read::name);
    let id = match (at.option("id", read::name), &source_id) {
        (Some(id), _) => id,
        (None, Some(source_id)) => source_id.clone(),
        (None, None) => at.need("id", read::name),
    };
    GoodsRef::new(object, id, source_id)
}
