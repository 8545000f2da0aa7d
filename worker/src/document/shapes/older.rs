//! The shapes of verdicts in the older, flat forms. It must not know how one came about.

use crate::document::fields::KEY;
use crate::document::shapes::promotions::OF_KEPT_TIER;
use scrip::shape::{AMOUNT, COUNT, Field, Kind, may, must};
use scrip::wire::decision::SESSION;
use scrip::wire::offer::RESOLVED;
use scrip::wire::order_view::ORDER;
use scrip::wire::reward::REWARD;
use scrip::wire::scope::GOODS_LIST;
use scrip::{fields_of, shape};

/// What a flat verdict says of a voucher or a tier.
const VERDICT: &[Field] = &[
    may("discount", RESOLVED),
    may("order", ORDER).says("The order after it"),
    may("applicable_to", GOODS_LIST),
    may("inapplicable_to", GOODS_LIST),
    may("tracking_id", Kind::Text).or_null(),
    may("reason", Kind::Text).says("Why it does not apply"),
];

/// The verdict on one voucher.
pub const VOUCHER_VALIDATION: Kind = shape!(
    "VoucherValidation",
    "The verdict on one voucher",
    fields_of!(
        &[
            must("valid", Kind::Bool).says("Whether it can be redeemed"),
            must("code", KEY),
            must("metadata", Kind::Map),
            may("campaign", KEY).or_null(),
            may("campaign_id", KEY).or_null(),
            may("start_date", Kind::DateTime).or_null(),
            may("expiration_date", Kind::DateTime).or_null(),
            may(
                "gift",
                Kind::Object(&[
                    must("amount", AMOUNT).says("What it was loaded with"),
                    must("balance", AMOUNT),
                    must("credits", AMOUNT).says("What is spent"),
                    must("effect", Kind::OneOf(&["APPLY_TO_ORDER", "APPLY_TO_ITEMS"])),
                ]),
            ),
            may("loyalty", Kind::Object(&[must("points_cost", COUNT).says("Points that it costs")]))
                .says("What a reward costs"),
            may("reward", REWARD),
            may("session", SESSION).says("The lock, where one was asked for"),
            may("error", Kind::Object(&[must("message", Kind::Text)])),
        ],
        VERDICT,
    )
);

const OF_TIER_VERDICT: &[Field] = fields_of!(
    OF_KEPT_TIER,
    VERDICT,
    &[
        must("valid", Kind::Bool).says("Whether it can be redeemed"),
        may("discount_amount", AMOUNT),
        may("applied_discount_amount", AMOUNT),
    ],
);

/// The verdict on one promotion tier.
pub const TIER_VALIDATION: Kind =
    shape!("PromotionTierValidation", "A promotion tier, and the verdict on it", OF_TIER_VERDICT);

/// The tiers that apply.
pub const PROMOTIONS_VALIDATION: Kind = shape!(
    "PromotionsValidation",
    "The promotion tiers that apply",
    &[
        must("valid", Kind::Bool).says("Whether any does"),
        must("promotions", Kind::List(&TIER_VALIDATION, 0, usize::MAX)).says("What applies"),
        must("tracking_id", Kind::Text).or_null(),
    ]
);
