//! Defines the shapes of scopes and of the goods in a result.

use super::{CAPS, PICKS, TARGETS};
use crate::shape::{AMOUNT, COUNT, Field, FieldType, INT_MAX, KEY, may, must};
use crate::shape::{fields_of, one_of, shape};

/// The types of goods.
const OBJECT: FieldType = FieldType::OneOf(&["product", "sku", "products_collection"]);

/// Positions of lines.
const INDICES: FieldType = FieldType::List(&COUNT, 0, 500);

const CAP: &str = "Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product.";
const CAP_FORMULA: &str =
    "Formula for the limit of the same name, which is used instead if the formula cannot be evaluated.";

/// Returns the caps over the lifetime of a campaign or tier, each with its formula (docs/spec/calculation.md#7.1).
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn caps() -> [Field; 16] {
    let mut all = [may("", COUNT); 16];
    let mut position = 0;
    while position < 8 {
        let (name, formula, _) = CAPS[position];
        all[2 * position] = may(name, COUNT).description(CAP);
        all[2 * position + 1] = may(formula, FieldType::Text).description(CAP_FORMULA);
        position += 1;
    }
    all
}

const NAMED: &[Field] = &[
    must("object", OBJECT),
    must("id", KEY),
    may("source_id", KEY).description("Identifier of the product, SKU or collection in the merchant's system."),
    may("product_id", KEY).description("ID of the product of a SKU."),
    may("product_source_id", KEY).description("Identifier of the product of a SKU in the merchant's system."),
    may("strict", FieldType::Bool)
        .description("`true` for a product or SKU of the order, `false` for an entry of the validation rule. Set in results, without effect in a rule."),
    may("price", AMOUNT)
        .description("Price of one unit with a discount of type `FIXED`, in minor units. Default is the `fixed_amount` of the discount."),
    may("price_formula", FieldType::Either(&[FieldType::Number(0, INT_MAX), FieldType::Text]))
        .description("Formula for `price`, in major units. `price` is used instead if the formula cannot be evaluated."),
];

const TERMS: &[Field] = &[
    may("effect", one_of!(PICKS))
        .description("Selection and order of the targets by unit price. Default `APPLY_TO_EVERY`."),
    may("quantity_limit", COUNT)
        .description("Highest number of discounted units of each order item. Absent means no limit."),
    may("aggregated_quantity_limit", COUNT)
        .description("Highest number of discounted units of all order items of this entry. Absent means no limit."),
    may("amount_limit", AMOUNT)
        .description("Highest discount of each order item, in minor units. Absent means no limit."),
    may("aggregated_amount_limit", AMOUNT)
        .description("Highest discount of all order items of this entry, in minor units. Absent means no limit."),
    may("skip_initially", COUNT).description("Number of targets to skip first. Default 0."),
    may("repeat", COUNT).description("Distance between discounted targets: 1 for each, 2 for every second. Default 1."),
    may("target", one_of!(TARGETS))
        .description("Unit of selection: order items (`ITEM`) or their single units (`UNIT`). Default `ITEM`."),
    may("order_item_indices", INDICES)
        .description("Positions of the order items that are covered, from 0, in the order of application. Set in results, without effect in a rule."),
];

/// One entry of a scope in a rule.
const ENTRY: FieldType = shape!(
    "ScopeEntry",
    "Product, SKU or collection that a discount acts on or not, and the limits of the discount.",
    fields_of!(
        NAMED,
        CAP_FIELDS,
        TERMS,
        &[may("order_item_units", FieldType::List(&FieldType::Map, 0, 500))
            .description("Units of the order items that are covered. Set in results, without effect in a rule.")],
    )
);
const CAP_FIELDS: &[Field] = &caps();

/// The scope of a rule.
pub const SCOPE: FieldType = shape!(
    "Scope",
    "Items that a discount with this validation rule acts on.",
    &[
        may("excluded", FieldType::List(&ENTRY, 0, 1_000))
            .description("Items that the discount does not act on, even if they are included. Default none."),
        may("included", FieldType::List(&ENTRY, 0, 1_000))
            .description("Items that the discount acts on. Default none, which means all items that are not excluded."),
        may("included_all", FieldType::Bool)
            .description("`true` if the discount acts on all items that are not excluded. Default `false`."),
    ]
);

/// One entry of the goods in a result: of the rule, or of the order.
const LISTED: FieldType = FieldType::Object(fields_of!(
    NAMED,
    CAP_FIELDS,
    TERMS,
    &[may(
        "order_item_units",
        FieldType::List(
            &FieldType::Object(&[
                must("index", COUNT).description("Position of the order item, from 0."),
                may("units", FieldType::List(&COUNT, 0, 1_000))
                    .description("Numbers of the covered units of the order item, from 1. Absent if `units_limit_exceeded` is `true`."),
                may("units_limit_exceeded", FieldType::Bool)
                    .description("`true` if the order has too many units to list them. Discounts are still calculated in full."),
            ]),
            0,
            500
        )
    )
    .description("Units of the order items that are covered, in the order of application.")]
));

/// The goods in the scope of a redeemable, or the excluded ones.
pub const GOODS_LIST: FieldType = shape!(
    "GoodsList",
    "List of the items that a redeemable applies to, or does not apply to.",
    &[
        must("object", FieldType::OneOf(&["list"])),
        must("data_ref", FieldType::OneOf(&["data"]))
            .description("Name of the member that contains the entries. Always `data`."),
        must("data", FieldType::List(&LISTED, 0, usize::MAX)).description(
            "Entries of the validation rule, and one entry for each product or SKU of the order that they cover."
        ),
        must("total", COUNT).description("Number of entries."),
    ]
);
