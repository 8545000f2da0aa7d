//! The shapes of verdicts in the flat forms of the legacy routes.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::promotions::STORED_TIER_FIELDS;
use scrip::shape::{AMOUNT, COUNT, Field, FieldType, may, must};
use scrip::wire::decision::SESSION;
use scrip::wire::offer::RESOLVED;
use scrip::wire::order::view::ORDER;
use scrip::wire::reward::REWARD;
use scrip::wire::scope::GOODS_LIST;
use scrip::{fields_of, shape};

/// Members of a flat verdict about a voucher or a tier.
const VERDICT: &[Field] = &[
    may("discount", RESOLVED)
        .description("Discount with resolved amounts. Absent if the redeemable does not apply or gives no discount."),
    may("order", ORDER)
        .description("Order with the discounts. Absent without an order, and if the redeemable does not apply."),
    may("applicable_to", GOODS_LIST).description(
        "Products, SKUs and collections that the discount may act on. Absent if the redeemable does not apply.",
    ),
    may("inapplicable_to", GOODS_LIST).description(
        "Products, SKUs and collections that the discount leaves out. Absent if the redeemable does not apply.",
    ),
    may("tracking_id", FieldType::Text).or_null().description(
        "Encrypted identifier of the customer, which later requests may contain. Absent or `null` without a customer.",
    ),
    may("reason", FieldType::Text)
        .description("Text of the reason for which the redeemable does not apply. Absent if the redeemable applies."),
];

/// The verdict on one voucher.
pub const VOUCHER_VALIDATION: FieldType = shape!(
    "VoucherValidation",
    "Verdict on one voucher, in the legacy form.",
    fields_of!(
        &[
            must("valid", FieldType::Bool).description("`true` if the voucher can be redeemed as requested."),
            must("code", KEY).description("Code of the voucher. For an unknown voucher, the code as sent."),
            must("metadata", FieldType::Map)
                .description("Metadata of the voucher. Empty for a client if the voucher does not apply."),
            may("campaign", KEY)
                .or_null()
                .description("Name of the campaign. Absent if the voucher does not apply, `null` without a campaign."),
            may("campaign_id", KEY)
                .or_null()
                .description("ID of the campaign. Absent if the voucher does not apply, `null` without a campaign."),
            may("start_date", FieldType::DateTime).or_null().description(
                "Moment from which the voucher can be redeemed, in UTC. `null` means no bound. Absent if the voucher does not apply."
            ),
            may("expiration_date", FieldType::DateTime).or_null().description(
                "Moment after which the voucher can no longer be redeemed, in UTC. `null` means no end. Absent if the voucher does not apply."
            ),
            may(
                "gift",
                FieldType::Object(&[
                    must("amount", AMOUNT).description("Gift credits ever loaded on the card, in minor units."),
                    must("balance", AMOUNT).description("Gift credits that can be spent, in minor units."),
                    must("credits", AMOUNT).description("Gift credits that are spent, in minor units."),
                    must("effect", FieldType::OneOf(&["APPLY_TO_ORDER", "APPLY_TO_ITEMS"]))
                        .description("Target of the gift credits: the whole order or the items."),
                ]),
            )
            .description("Gift credits of a gift card. Absent for other vouchers."),
            may(
                "loyalty",
                FieldType::Object(&[must("points_cost", COUNT).description(
                    "Number of points that the reward costs. Without a reward, number of points on the card."
                )])
            )
            .description("Price of the reward. Present for a loyalty card."),
            may("reward", REWARD).description("Reward that the points buy. Absent without a reward."),
            may("session", SESSION).description("Lock that was set. Absent if the request contained no `session`."),
            may(
                "error",
                FieldType::Object(&[must("message", FieldType::Text)
                    .description("Text that the author of the validation rule wrote for customers.")])
            )
            .description("Custom error of the violated validation rule. Absent when the rule declares none."),
        ],
        VERDICT,
    )
);

const OF_TIER_VERDICT: &[Field] = fields_of!(
    STORED_TIER_FIELDS,
    VERDICT,
    &[
        must("valid", FieldType::Bool).description("`true` if the promotion tier can be redeemed as requested."),
        may("discount_amount", AMOUNT).description(
            "Discount on order and items so far, in minor units. Absent if the promotion tier does not apply."
        ),
        may("applied_discount_amount", AMOUNT)
            .description("Discount on order and items by this promotion tier, in minor units. Absent if the promotion tier does not apply."),
    ],
);

/// The verdict on one promotion tier.
pub const TIER_VALIDATION: FieldType =
    shape!("PromotionTierValidation", "Promotion tier with the verdict, in the legacy form.", OF_TIER_VERDICT);

/// The tiers that apply.
pub const PROMOTIONS_VALIDATION: FieldType = shape!(
    "PromotionsValidation",
    "Promotion tiers that apply, in the legacy form.",
    &[
        must("valid", FieldType::Bool).description("`true` if at least one promotion tier applies."),
        must("promotions", FieldType::List(&TIER_VALIDATION, 0, usize::MAX))
            .description("Promotion tiers that apply, by ascending hierarchy."),
        must("tracking_id", FieldType::Text).or_null().description(
            "Encrypted identifier of the customer, which later requests may contain. `null` without a customer."
        ),
    ]
);
