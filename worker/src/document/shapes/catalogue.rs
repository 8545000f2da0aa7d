//! The shapes of products, SKUs and collections. It must not know what they cost a customer.

use crate::document::fields::KEY;
use scrip::shape;
use scrip::shape::{Kind, may, must, object};

/// Products and SKUs, as the rewards of redemptions also show them.
pub use scrip::wire::goods::{PRODUCT, SKU};

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
