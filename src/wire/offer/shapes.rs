//! Defines the shapes of discounts and gift cards.

use super::{EFFECTS, GIFT_EFFECTS, KINDS, MANY, UNIT_EFFECTS};
use crate::shape::{AMOUNT, COUNT, FieldType, KEY, may, must, names_of};
use crate::shape::{one_of, shape};
use crate::wire::order::GOODS;

/// The effects of all types of discount.
const EFFECT: FieldType = {
    const AMOUNTS: [&str; EFFECTS.len()] = names_of(EFFECTS);
    const UNITS: [&str; UNIT_EFFECTS.len()] = names_of(UNIT_EFFECTS);
    FieldType::OneOf(&[
        AMOUNTS[0], AMOUNTS[1], AMOUNTS[2], AMOUNTS[3], AMOUNTS[4], UNITS[1], UNITS[0], UNITS[2], MANY, UNITS[3],
    ])
};

/// The goods of a unit discount.
const GIVEN_PRODUCT: FieldType = FieldType::Object(&[
    may("id", KEY),
    may("source_id", KEY).description("Identifier of the product in the merchant's system."),
    may("name", FieldType::Text).description("Name of the product."),
]);
const GIVEN_SKU: FieldType = FieldType::Object(&[
    may("id", KEY),
    may("source_id", KEY).description("Identifier of the SKU in the merchant's system."),
    may("sku", FieldType::Text).description("Name of the SKU."),
    may("name", FieldType::Text).description("Name of the product of the SKU."),
]);

/// One of several kinds of units that a discount adds.
const UNIT: FieldType = FieldType::Object(&[
    may("unit_off", COUNT).description("Number of units to give. Default 1."),
    may("unit_off_formula", FieldType::Text)
        .description("Formula for `unit_off`, which is used instead if the formula cannot be evaluated."),
    must("unit_type", KEY).description("ID of the product or SKU that is added. `prod_5h1pp1ng` represents shipping."),
    must("effect", FieldType::OneOf(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"]))
        .description("Method of adding the units: `ADD_NEW_ITEMS` always adds them, `ADD_MISSING_ITEMS` first makes units free that are already in the order."),
    may("product", GIVEN_PRODUCT).description("Product of the units, as sent."),
    may("sku", GIVEN_SKU).description("SKU of the units, as sent."),
]);

/// A discount of any type (docs/spec/endpoints.md section 1, shape S7); the fields of its type are checked separately.
pub const DISCOUNT: FieldType = shape!(
    "DiscountDefinition",
    "Discount as defined on a voucher, campaign or promotion tier. The fields that are allowed depend on `type`.",
    &[
        must("type", one_of!(KINDS))
            .description("Type of discount: `AMOUNT` off, `PERCENT` off, a `FIXED` price, or free units (`UNIT`)."),
        may("amount_off", AMOUNT).description("Amount of the discount, in minor units. Required for `AMOUNT`."),
        may("amount_off_formula", FieldType::Text)
            .description("Formula for `amount_off`, in major units. `amount_off` is used instead if the formula cannot be evaluated."),
        may("percent_off", FieldType::Number(0, 100))
            .description("Percentage of the discount, with at most 6 decimals. Required for `PERCENT`."),
        may("percent_off_formula", FieldType::Text)
            .description("Formula for `percent_off`, which is used instead if the formula cannot be evaluated."),
        may("fixed_amount", AMOUNT)
            .description("Amount that remains to pay for the order or for each unit, in minor units. For `FIXED`; required if `effect` is `APPLY_TO_ORDER` and no formula is present."),
        may("fixed_amount_formula", FieldType::Text)
            .description("Formula for `fixed_amount`, in major units. `fixed_amount` is used instead if the formula cannot be evaluated."),
        may("amount_limit", AMOUNT)
            .description("Highest discount of the order, or of each order item, in minor units. For `PERCENT` only. Absent means no limit."),
        may("aggregated_amount_limit", AMOUNT)
            .description("Highest discount of all order items together, in minor units. For `PERCENT` and `AMOUNT`; no effect on `APPLY_TO_ORDER`. Absent means no limit."),
        may("unit_off", COUNT).description("Number of units to give. For `UNIT`. Default 1."),
        may("unit_off_formula", FieldType::Text)
            .description("Formula for `unit_off`, which is used instead if the formula cannot be evaluated."),
        may("unit_type", KEY)
            .description("ID of the product or SKU to give; for `ADD_SAME_ITEMS` also of a collection. `prod_5h1pp1ng` represents shipping. Required for `UNIT` without `units`."),
        may("product", GIVEN_PRODUCT).description("Product that is given, as sent."),
        may("sku", GIVEN_SKU).description("SKU that is given, as sent."),
        may("units", FieldType::List(&UNIT, 1, 100))
            .description("Products and SKUs that are given together. Required for `ADD_MANY_ITEMS`."),
        may("is_dynamic", FieldType::Bool)
            .description("`true` if a formula determines the value. Stored as sent, without effect."),
        may("effect", EFFECT)
            .description("Part of the order that the discount acts on, or the way of giving units. Default is the items of the validation rule, or else the order."),
    ]
);

/// A discount in a verdict.
pub const RESOLVED: FieldType = shape!(
    "Discount",
    "Discount as applied, with the values that its formulas gave.",
    &[
        must("type", one_of!(KINDS))
            .description("Type of discount: `AMOUNT` off, `PERCENT` off, a `FIXED` price, or free units (`UNIT`)."),
        must("effect", EFFECT).description("Part of the order that the discount acts on, or the way of giving units."),
        may("is_dynamic", FieldType::Bool).description("`true` if a formula determined the value."),
        may("amount_off", AMOUNT).description("Amount of the discount, in minor units. Present for `AMOUNT`."),
        may("percent_off", FieldType::Number(0, 100)).description("Percentage of the discount. Present for `PERCENT`."),
        may("fixed_amount", AMOUNT)
            .description("Amount that remains to pay for the order or for each unit, in minor units. Absent if prices are defined for each item."),
        may("amount_limit", AMOUNT)
            .description("Highest discount of the order, or of each order item, in minor units. Absent without a limit."),
        may("aggregated_amount_limit", AMOUNT)
            .description("Highest discount of all order items together, in minor units. Absent without a limit."),
        may("unit_off", COUNT).description("Number of units that are given. Present for `UNIT`."),
        may("unit_type", KEY).description("ID of the product, SKU or collection that is given. Present for `UNIT`."),
        may("product", GOODS).description("Product that is given."),
        may("sku", GOODS).description("SKU that is given."),
        may(
            "units",
            FieldType::List(
                &FieldType::Object(&[
                    must("unit_off", COUNT).description("Number of units that are given."),
                    must("unit_type", KEY).description("ID of the product or SKU that is given."),
                    may("effect", EFFECT).description("Method of adding the units."),
                    may("product", GOODS).description("Product that is given."),
                    may("sku", GOODS).description("SKU that is given."),
                ]),
                0,
                100
            )
        )
        .description("Products and SKUs that are given together. Present for `ADD_MANY_ITEMS`."),
    ]
);

/// A gift card.
pub const GIFT: FieldType = shape!(
    "GiftDefinition",
    "Amount and balance of a gift card.",
    &[
        must("amount", AMOUNT).description("Amount ever loaded on the card, in minor units."),
        may("balance", AMOUNT)
            .description("Amount that can be spent now, in minor units. Default is `amount` less `subtracted_amount`."),
        may("subtracted_amount", AMOUNT)
            .description("Amount that was subtracted other than by redemptions, in minor units."),
        may("effect", one_of!(GIFT_EFFECTS))
            .description("Part of the order that the card pays: the order or only the items of the validation rule. Default `APPLY_TO_ORDER`."),
    ]
);
