//! The shapes of discounts and gifts. It must not know where they act.

use super::{EFFECTS, GIFT_EFFECTS, KINDS, MANY, UNIT_EFFECTS};
use crate::shape::{AMOUNT, COUNT, KEY, Kind, may, must, words};
use crate::shape::{one_of, shape};
use crate::wire::order::GOODS;

/// The effects of a discount, of any type.
const EFFECT: Kind = {
    const AMOUNTS: [&str; EFFECTS.len()] = words(EFFECTS);
    const UNITS: [&str; UNIT_EFFECTS.len()] = words(UNIT_EFFECTS);
    Kind::OneOf(&[
        AMOUNTS[0], AMOUNTS[1], AMOUNTS[2], AMOUNTS[3], AMOUNTS[4], UNITS[1], UNITS[0], UNITS[2], MANY, UNITS[3],
    ])
};

/// The goods that a discount gives.
const GIVEN_PRODUCT: Kind = Kind::Object(&[may("id", KEY), may("source_id", KEY), may("name", Kind::Text)]);
const GIVEN_SKU: Kind = Kind::Object(&[
    may("id", KEY),
    may("source_id", KEY),
    may("sku", Kind::Text).says("What people call the SKU"),
    may("name", Kind::Text),
]);

/// One of many units that a discount adds.
const UNIT: Kind = Kind::Object(&[
    may("unit_off", COUNT),
    may("unit_off_formula", Kind::Text),
    must("unit_type", KEY),
    must("effect", Kind::OneOf(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"])).says("Whether it is always added"),
    may("product", GIVEN_PRODUCT),
    may("sku", GIVEN_SKU),
]);

/// A discount of any type (endpoints.md section 1, shape S7); what its type needs is checked apart.
pub const DISCOUNT: Kind = shape!(
    "DiscountDefinition",
    "A discount as its author writes it; which fields there are follows from its type",
    &[
        must("type", one_of!(KINDS)),
        may("amount_off", AMOUNT),
        may("amount_off_formula", Kind::Text),
        may("percent_off", Kind::Number(0, 100)),
        may("percent_off_formula", Kind::Text),
        may("fixed_amount", AMOUNT),
        may("fixed_amount_formula", Kind::Text),
        may("amount_limit", AMOUNT),
        may("aggregated_amount_limit", AMOUNT),
        may("unit_off", COUNT),
        may("unit_off_formula", Kind::Text),
        may("unit_type", KEY),
        may("product", GIVEN_PRODUCT).says("The product that is given"),
        may("sku", GIVEN_SKU).says("The SKU that is given"),
        may("units", Kind::List(&UNIT, 1, 100)),
        may("is_dynamic", Kind::Bool),
        may("effect", EFFECT),
    ]
);

/// A discount as a verdict shows it.
pub const RESOLVED: Kind = shape!(
    "Discount",
    "A discount with the numbers that its formulas came to",
    &[
        must("type", one_of!(KINDS)),
        must("effect", EFFECT),
        may("is_dynamic", Kind::Bool).says("Whether a formula had a say"),
        may("amount_off", AMOUNT),
        may("percent_off", Kind::Number(0, 100)),
        may("fixed_amount", AMOUNT),
        may("amount_limit", AMOUNT),
        may("aggregated_amount_limit", AMOUNT),
        may("unit_off", COUNT),
        may("unit_type", KEY),
        may("product", GOODS).says("The product that is given"),
        may("sku", GOODS).says("The SKU that is given"),
        may(
            "units",
            Kind::List(
                &Kind::Object(&[
                    must("unit_off", COUNT),
                    must("unit_type", KEY),
                    may("effect", EFFECT),
                    may("product", GOODS),
                    may("sku", GOODS),
                ]),
                0,
                100
            )
        ),
    ]
);

/// A gift card.
pub const GIFT: Kind = shape!(
    "GiftDefinition",
    "The money of a gift card",
    &[
        must("amount", AMOUNT).says("What it was loaded with, in minor units"),
        may("balance", AMOUNT),
        may("subtracted_amount", AMOUNT),
        may("effect", one_of!(GIFT_EFFECTS)),
    ]
);
