//! The shapes of products, SKUs and collections. It must not know what they cost a customer.

use crate::document::fields::{KEY, PRICE};
use scrip::shape::{COUNT, Field, KEYS, Kind, may, must, object};
use scrip::{fields_of, shape};

const OF_PRODUCT: &[Field] = &[
    must("id", KEY),
    must("source_id", KEY).or_null(),
    must("name", Kind::Text).or_null(),
    must("price", PRICE).or_null(),
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
    must("price", PRICE).or_null(),
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

/// A collection of products.
pub const COLLECTION: Kind = shape!(
    "ProductCollection",
    "Products and SKUs that are named together",
    &[
        must("id", KEY),
        must("name", KEY),
        must("type", Kind::OneOf(&["STATIC", "AUTO_UPDATE"])),
        may("filter", Kind::Named(&scrip::wire::rules::FILTER)),
        may(
            "products",
            Kind::List(
                &Kind::Object(&[must("id", KEY), may("product_id", KEY), object(&["product", "sku"])]),
                0,
                usize::MAX
            ),
        )
        .says("What belongs to it, where it was listed"),
        must("created_at", Kind::DateTime).or_null(),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["products_collection"]),
    ]
);
