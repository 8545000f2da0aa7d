//! The shapes of validation rules and stacking rules. It must not know what they let through.

use crate::document::fields::KEY;
use scrip::shape::{COUNT, Kind, may, must, object};
use scrip::wire::rules::{BUNDLES, TESTS};
use scrip::wire::scope::SCOPE;
use scrip::{fields_of, shape};

/// A validation rule.
pub const RULE: Kind = shape!(
    "ValidationRule",
    "A validation rule",
    &[
        must("id", KEY),
        must("name", KEY),
        must("type", Kind::OneOf(&["expression", "basic", "advanced", "complex"])),
        must("context_type", Kind::Text).says("What it may guard"),
        must("rules", Kind::Named(&TESTS)).says("Its tests by their keys, and their logic"),
        must("bundle_rules", Kind::Named(&BUNDLES)).says("The bundles of goods that it asks for"),
        must("applicable_to", SCOPE),
        must("error", Kind::Object(&[may("message", Kind::Text).or_null()])).or_null(),
        may(
            "warnings",
            Kind::List(
                &Kind::Object(&[must("path", Kind::Text).says("Where"), must("text", Kind::Text).says("What")]),
                0,
                usize::MAX
            )
        )
        .says("What its author may not have meant"),
        must("assignments_count", COUNT).says("How much it guards"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["validation_rules"]),
    ]
);

/// Stacking rules as a project keeps them.
pub const STACKING_RULES: Kind = shape!(
    "KeptStackingRules",
    "The stacking rules of a project; without id and object the defaults",
    fields_of!(
        scrip::wire::stacking::KEPT,
        &[
            may("id", KEY),
            may("created_at", Kind::DateTime),
            may("updated_at", Kind::DateTime).or_null(),
            may("object", Kind::OneOf(&["stacking_rules"])),
        ],
    )
);
