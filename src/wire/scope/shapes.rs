//! The shapes of scopes and of the goods in a result. It must not know what is taken off them.

use super::{CAPS, PICKS, TARGETS};
use crate::shape::{AMOUNT, COUNT, Field, INT_MAX, KEY, Kind, may, must};
use crate::shape::{fields_of, one_of, shape};

/// The words for goods.
const OBJECT: Kind = Kind::OneOf(&["product", "sku", "products_collection"]);

/// Places of lines.
const INDICES: Kind = Kind::List(&COUNT, 0, 500);

const CAP: &str = "Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says";
const CAP_FORMULA: &str = "A formula for such a limit";

/// The caps over the life of a campaign or tier, each with its formula (calculation.md section 7.1).
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn caps() -> [Field; 16] {
    let mut all = [may("", COUNT); 16];
    let mut place = 0;
    while place < 8 {
        let (name, formula, _) = CAPS[place];
        all[2 * place] = may(name, COUNT).says(CAP);
        all[2 * place + 1] = may(formula, Kind::Text).says(CAP_FORMULA);
        place += 1;
    }
    all
}

const NAMED: &[Field] = &[
    must("object", OBJECT),
    must("id", KEY),
    may("source_id", KEY),
    may("product_id", KEY),
    may("product_source_id", KEY),
    may("strict", Kind::Bool),
    may("price", AMOUNT),
    may("price_formula", Kind::Either(&[Kind::Number(0, INT_MAX), Kind::Text])),
];

const TERMS: &[Field] = &[
    may("effect", one_of!(PICKS)).says("Which of the units it acts on"),
    may("quantity_limit", COUNT),
    may("aggregated_quantity_limit", COUNT),
    may("amount_limit", AMOUNT),
    may("aggregated_amount_limit", AMOUNT),
    may("skip_initially", COUNT),
    may("repeat", COUNT),
    may("target", one_of!(TARGETS)),
    may("order_item_indices", INDICES),
];

/// One entry of a scope, as its author writes it.
const ENTRY: Kind = shape!(
    "ScopeEntry",
    "Goods that a discount acts on, or not, and how far",
    fields_of!(NAMED, CAP_FIELDS, TERMS, &[may("order_item_units", Kind::List(&Kind::Map, 0, 500))])
);
const CAP_FIELDS: &[Field] = &caps();

/// The goods that a rule makes a discount apply to.
pub const SCOPE: Kind = shape!(
    "Scope",
    "The goods that a rule makes a discount act on",
    &[
        may("excluded", Kind::List(&ENTRY, 0, 1_000)).says("Goods that it does not act on"),
        may("included", Kind::List(&ENTRY, 0, 1_000)).says("Goods that it acts on"),
        may("included_all", Kind::Bool).says("Whether it acts on all others as well"),
    ]
);

/// One entry of the goods in a result: of the rule, or of the order.
const LISTED: Kind = Kind::Object(fields_of!(
    NAMED,
    CAP_FIELDS,
    TERMS,
    &[may(
        "order_item_units",
        Kind::List(
            &Kind::Object(&[
                must("index", COUNT).says("The place of the line"),
                may("units", Kind::List(&COUNT, 0, 1_000)).says("The units of the line, by their places"),
                may("units_limit_exceeded", Kind::Bool).says("Whether they are too many to be numbered"),
            ]),
            0,
            500
        )
    )]
));

/// Goods that a redeemable is about, or not.
pub const GOODS_LIST: Kind = shape!(
    "GoodsList",
    "Goods that a redeemable is about, or not",
    &[
        must("object", Kind::OneOf(&["list"])),
        must("data_ref", Kind::OneOf(&["data"])),
        must("data", Kind::List(&LISTED, 0, usize::MAX)),
        must("total", COUNT),
    ]
);
