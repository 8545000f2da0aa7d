//! Decides how goods are named: a product, a SKU or a collection of them, in tests, scopes and collections; and what the catalogue
//! shows of one. It must not know what is asked of them.

use crate::json::Node;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::shape::{AMOUNT, COUNT, Field, KEY, KEYS, Kind, may, must, object};
use crate::shape::{fields_of, shape};
use crate::wire::cursor::{Cursor, read};

const OF_PRODUCT: &[Field] = &[
    must("id", KEY),
    must("source_id", KEY).or_null(),
    must("name", Kind::Text).or_null(),
    must("price", AMOUNT).or_null(),
    must("attributes", KEYS).says("Names of what its SKUs differ by"),
    must("metadata", Kind::Map),
    must("image_url", Kind::Text).or_null(),
    must("created_at", Kind::DateTime),
    must("updated_at", Kind::DateTime).or_null(),
    object(&["product"]),
];

const OF_SKU: &[Field] = &[
    must("id", KEY),
    must("source_id", KEY).or_null(),
    must("product_id", KEY),
    must("sku", Kind::Text).or_null().says("What people call it"),
    must("price", AMOUNT).or_null(),
    must("currency", Kind::Text).or_null(),
    must("attributes", Kind::Map).says("What it differs by from other SKUs of the product"),
    must("metadata", Kind::Map),
    must("image_url", Kind::Text).or_null(),
    must("created_at", Kind::DateTime),
    must("updated_at", Kind::DateTime).or_null(),
    object(&["sku"]),
];

/// A product.
pub const PRODUCT: Kind = shape!(
    "Product",
    "A product of the catalogue",
    fields_of!(
        OF_PRODUCT,
        &[may(
            "skus",
            Kind::Object(&[
                object(&["list"]),
                must("data_ref", Kind::OneOf(&["data"])),
                must("data", Kind::List(&Kind::Object(OF_SKU), 0, usize::MAX)),
                must("total", COUNT),
            ]),
        )
        .says("Its SKUs")],
    )
);

/// A SKU.
pub const SKU: Kind = shape!(
    "Sku",
    "A SKU of a product",
    fields_of!(OF_SKU, &[may("product", Kind::Object(OF_PRODUCT)).says("Its product")])
);

/// Reads a product, SKU or collection; one that does not say what it is, is an assumed one.
pub fn read_goods(at: &Cursor<'_>, assumed: Option<GoodsObject>) -> GoodsRef {
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
