//! The shapes of incentives: what they give, and which of their blocks belong together. What is sent and what is shown have one shape, but
//! for what two revisions of the interface call differently. It must not know when anything is given.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use crate::document::shapes::activities::activity;
use crate::document::shapes::points::{CALCULATIONS, GOODS_NAMES, NAME, PROPORTIONAL, STOCK, STOCKS};
use scrip::shape::{COUNT, Field, Kind, may, must, object};
use scrip::{fields_of, shape};

const TYPES: Kind = Kind::OneOf(&["POINTS", "POINTS_PROPORTIONAL", "MATERIAL", "DIGITAL"]);
const NAMED: Kind = Kind::Object(&[must("id", KEY)]);

/// Goods that are given.
pub const MATERIAL: Kind = shape!(
    "GivenGoods",
    "Goods that are given",
    &[
        may("type", Kind::OneOf(&["PRODUCT", "SKU"])),
        may("product", NAMED),
        may("sku", Kind::Object(&[must("product_id", KEY), must("id", KEY)])),
    ]
);
/// Which goods.
pub const MATERIALS: Choice = choice("material", "type", &[("PRODUCT", &["product"]), ("SKU", &["sku"])]);

/// A code of a campaign of discounts.
pub const COUPONS: Field = may("discount_coupons", Kind::Object(&[must("campaign_id", KEY)])).says("A discount code");
/// A code of a campaign of gift cards.
pub const GIFTS: Field =
    may("gift_vouchers", Kind::Object(&[must("campaign_id", KEY), must("balance", COUNT).says("Minor units on top")]))
        .says("A gift card");

/// A code that is given.
const DIGITAL: Kind = shape!(
    "GivenCode",
    "A code that is given",
    &[may("type", Kind::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS"])), COUPONS, GIFTS]
);

/// What an incentive gives, by its type.
pub const GIVEN: Choice = choice(
    "",
    "type",
    &[
        ("POINTS", &["points"]),
        ("POINTS_PROPORTIONAL", &["points_proportional"]),
        ("MATERIAL", &["material"]),
        ("DIGITAL", &["digital"]),
    ],
);
/// Which blocks belong together.
pub const CHOICES: &[Choice] = &[
    GIVEN,
    MATERIALS,
    choice("digital", "type", &[("DISCOUNT_COUPONS", &["discount_coupons"]), ("GIFT_VOUCHERS", &["gift_vouchers"])]),
    choice("points_proportional", "calculation_type", CALCULATIONS),
    choice("points_proportional.order_items.amount.applicable_to[]", "type", GOODS_NAMES),
    choice("points_proportional.order_items.subtotal_amount.applicable_to[]", "type", GOODS_NAMES),
    choice("points_proportional.order_items.quantity.applicable_to[]", "type", GOODS_NAMES),
    choice("stock", "type", STOCKS),
];

/// What an incentive gives, where it is sent and where it is shown.
const BLOCKS: &[Field] = &[
    may("points", Kind::Object(&[must("value", COUNT).says("How many"), must("card_definition_id", KEY)]))
        .says("A number of points"),
    may("points_proportional", Kind::Object(PROPORTIONAL)),
    may("material", MATERIAL).says("The goods that it gives"),
    may("digital", DIGITAL).says("The code that it gives"),
];

const STATUS: Field = may("status", Kind::OneOf(&["DRAFT", "ACTIVE"]));
const NEW: &[Field] = &[must("name", NAME), must("type", TYPES), STATUS];
const KNOWN: &[Field] = &[may("name", NAME), may("type", TYPES)];
/// The number of the older revision.
const PIECES: Kind = Kind::Int(0, 2_147_483_647);
const OLDER_STOCK: Field = may("stock", Kind::Either(&[PIECES, STOCK]));
const LATER_STOCK: Field = may("stock", Kind::Either(&[STOCK, PIECES]));

/// What a new incentive is sent as.
pub const CREATE: &[Field] = fields_of!(NEW, &[OLDER_STOCK.always()], BLOCKS);
/// What an incentive is changed by.
pub const UPDATE: &[Field] = fields_of!(KNOWN, &[OLDER_STOCK], BLOCKS);
/// What a new benefit is sent as.
pub const CREATE_BENEFIT: &[Field] = fields_of!(NEW, &[LATER_STOCK], BLOCKS);
/// What a benefit is changed by.
pub const UPDATE_BENEFIT: &[Field] = fields_of!(KNOWN, &[LATER_STOCK], BLOCKS);

/// What an incentive says under either of its names.
const SHOWN: &[Field] = &[
    must("id", KEY),
    must("name", NAME),
    must("type", TYPES),
    must("status", Kind::OneOf(&["DRAFT", "ACTIVE", "DELETED"])),
    must("created_at", Kind::DateTime),
    must("updated_at", Kind::DateTime).or_null(),
];

/// An incentive.
pub const INCENTIVE: Kind = shape!(
    "LoyaltyIncentive",
    "What an earning rule gives",
    fields_of!(
        SHOWN,
        &[must("stock", COUNT).or_null().says("How many are left; null where there is no end"), object(&["incentive"])],
        BLOCKS
    )
);

/// An incentive under its later name.
pub const BENEFIT: Kind = shape!(
    "LoyaltyBenefit",
    "What an earning rule gives, under its later name",
    fields_of!(SHOWN, &[must("stock", STOCK).says("How many are left"), object(&["benefit"])], BLOCKS)
);

/// What happened to an incentive.
pub const INCENTIVE_ACTIVITY: Kind = activity!("IncentiveActivity", "incentive_id");
/// What happened to a benefit.
pub const BENEFIT_ACTIVITY: Kind = activity!("BenefitActivity", "benefit_id");
