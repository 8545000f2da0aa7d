//! Defines the shapes of validation rules, segments and collections as documents.

use super::{BUNDLES, FILTER, TESTS};
use crate::shape::{COUNT, FieldType, KEY, may, must, object, shape};
use crate::wire::scope::SCOPE;

/// A validation rule.
pub const RULE: FieldType = shape!(
    "ValidationRule",
    "Named conditions on customer, order and redemption, and the items that a discount acts on. Assignments put a rule into effect.",
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the rule."),
        must("type", FieldType::OneOf(&["expression", "basic", "advanced", "complex"]))
            .description("Form in which the rule was edited. Stored as sent, without effect."),
        must("context_type", FieldType::Text)
            .description("Kind of object for which editors offer the rule. Does not restrict assignments."),
        must("rules", FieldType::Named(&TESTS))
            .description("Tests by their keys, and the logic that joins them. Empty without tests."),
        must("bundle_rules", FieldType::Named(&BUNDLES))
            .description("Product bundles that an order must contain. Empty without bundles."),
        must("applicable_to", SCOPE).description("Items that a discount with this rule acts on."),
        must(
            "error",
            FieldType::Object(&[may("message", FieldType::Text).or_null()
                .description("Text of the message. `null` or absent without one.")]),
        ).or_null()
        .description("Message of the merchant for failed tests without a message of their own. `null` without one."),
        may(
            "warnings",
            FieldType::List(
                &FieldType::Object(&[
                    must("path", FieldType::Text).description("Path of the part in the rule."),
                    must("text", FieldType::Text).description("Description of the mistake.")
                ]),
                0,
                usize::MAX
            )
        )
        .description("Parts of the definition that are probably mistakes. Present only in the response to a creation or a change."),
        must("assignments_count", COUNT).description("Number of objects that the rule is assigned to."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["validation_rules"]),
    ]
);

/// A segment.
pub const SEGMENT: FieldType = shape!(
    "Segment",
    "Group of customers: a fixed list, or all customers that match a filter.",
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the segment."),
        must("type", FieldType::OneOf(&["static", "auto-update", "passive"])).description(
            "Type of the segment: `static` is a fixed list, `auto-update` and `passive` follow the filter."
        ),
        must("filter", FieldType::Named(&FILTER))
            .or_null()
            .description("Conditions that customers of the segment match. `null` for a `static` segment."),
        must("initial_sync_status", FieldType::Text)
            .description("Status of the first evaluation of the filter: `IN_PROGRESS` or `DONE`."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["segment"]),
    ]
);

/// A collection of products.
pub const COLLECTION: FieldType = shape!(
    "ProductCollection",
    "Group of products and SKUs: a fixed list, or all products and SKUs that match a filter.",
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the collection."),
        must("type", FieldType::OneOf(&["STATIC", "AUTO_UPDATE"]))
            .description("Type of the collection: `STATIC` is a fixed list, `AUTO_UPDATE` follows the filter."),
        may("filter", FieldType::Named(&FILTER)).description(
            "Conditions that products and SKUs of the collection match. Absent for a `STATIC` collection."
        ),
        may(
            "products",
            FieldType::List(
                &FieldType::Object(&[
                    must("id", KEY),
                    may("product_id", KEY).description("ID of the product of a SKU. Absent for a product."),
                    object(&["product", "sku"]),
                ]),
                0,
                usize::MAX
            ),
        )
        .description("Products and SKUs of a `STATIC` collection. Absent for an `AUTO_UPDATE` collection."),
        must("created_at", FieldType::DateTime).or_null(),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["products_collection"]),
    ]
);
