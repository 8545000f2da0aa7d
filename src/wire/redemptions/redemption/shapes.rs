//! Defines the shapes of redemptions and rollbacks.

use crate::shape::{AMOUNT, CHANGE, Field, FieldType, KEY, METADATA, may, must};
use crate::shape::{fields_of, shape};
use crate::wire::decision::{LEFT_OUT, REFUSED, TRACES};
use crate::wire::goods::{PRODUCT, SKU};
use crate::wire::order::view::STORED;
use crate::wire::request::OBJECT;
use crate::wire::reward::{OF_REWARD, PARAMETERS};
use crate::wire::voucher::{TIER, VOUCHER};

/// The customer inside a redemption.
const CUSTOMER_REFERENCE: FieldType = FieldType::Object(&[
    must("id", KEY),
    may("source_id", KEY).or_null().description(
        "Unique name of the customer in the merchant's system. `null` if none was given. Absent for a client.",
    ),
    may("name", FieldType::Text)
        .or_null()
        .description("Full name of the customer. `null` if unknown. Absent for a client."),
    may("email", FieldType::Text)
        .or_null()
        .description("Email address of the customer. `null` if unknown. Absent for a client."),
    may("metadata", FieldType::Map),
    must("object", FieldType::OneOf(&["customer"])),
]);

const CHANNEL: FieldType = FieldType::Object(&[
    must("channel_id", FieldType::Text).description("ID of the API key or user that made the call."),
    must("channel_type", FieldType::Text).description("Type of the channel. Always `API`."),
]);

/// A reward that points were exchanged for.
const EXCHANGED: FieldType = shape!(
    "ExchangedReward",
    "Reward that points bought, with the voucher or product that the customer received.",
    fields_of!(
        OF_REWARD,
        &[
            may("customer", CUSTOMER_REFERENCE)
                .or_null()
                .description("Customer who received the reward. `null` or absent if unknown."),
            may("voucher", VOUCHER)
                .or_null()
                .description("Voucher that the customer received. `null` or absent if the reward gave none."),
            may("product", PRODUCT).or_null().description(
                "Product to ship, with the first of its SKUs. `null` or absent if the reward is no product."
            ),
            may("sku", SKU).or_null().description("SKU to ship. `null` or absent if the reward is no variant."),
            may("parameters", PARAMETERS).description("Content of the reward, by type."),
            METADATA,
            may("created_at", FieldType::DateTime),
            may("updated_at", FieldType::DateTime).or_null(),
            may("loyalty_tier_id", KEY).or_null().description(
                "ID of the loyalty tier of the card's holder that set the price. `null` or absent if none did."
            ),
        ]
    )
);

/// The common members of redemptions and rollbacks.
const COMMON: &[Field] = &[
    must("id", KEY),
    must("date", FieldType::DateTime).description("Moment of the redemption or rollback, in UTC."),
    must("customer_id", KEY)
        .or_null()
        .description("ID of the customer who redeemed. `null` for a customer that is not stored."),
    must("tracking_id", FieldType::Text)
        .or_null()
        .description("Encrypted identifier of the customer. `null` if the customer has no `source_id`."),
    must("metadata", FieldType::Map),
    must("channel", CHANNEL).or_null().description("Channel through which the call came. `null` if unknown."),
    must("customer", CUSTOMER_REFERENCE)
        .or_null()
        .description("Customer who redeemed. `null` for a customer that is not stored."),
    must("result", FieldType::OneOf(&["SUCCESS", "FAILURE"])).description("Result, `SUCCESS` or `FAILURE`."),
    must("order", STORED)
        .or_null()
        .description("Order after the redemption or rollback. `null` without an order, and for a failed redemption."),
    may("amount", CHANGE).description(
        "Gift credits in minor units or points that were spent, negative for a rollback. Absent for a discount.",
    ),
    may(
        "gift",
        FieldType::Object(&[
            must("amount", CHANGE).description("Gift credits in minor units, negative for a rollback.")
        ]),
    )
    .description("Gift credits that were spent or refunded. Absent if none."),
    may(
        "loyalty_card",
        FieldType::Object(&[must("points", CHANGE).description("Number of points, negative for a rollback.")]),
    )
    .description("Points that were spent or refunded. Absent if none."),
    may("reward", EXCHANGED).description("Reward that the points bought. Absent if none."),
    must("related_object_type", FieldType::OneOf(&["voucher", "promotion_tier", "redemption"]))
        .description("Type of the redeemed object: `redemption` for a parent, or if the redeemable is unknown."),
    must("related_object_id", KEY)
        .description("ID of the redeemed voucher or promotion tier. The record's own ID for type `redemption`."),
    may("related_object_parent_id", KEY).description("ID of the campaign of the redeemed object. Absent if none."),
    may("voucher", VOUCHER)
        .description("Voucher after the redemption or rollback. Absent if the redeemed object is no voucher."),
    may("promotion_tier", TIER)
        .description("Promotion tier that was redeemed. Absent if the redeemed object is no promotion tier."),
    may("failure_code", FieldType::Text).description(
        "Machine-readable reason of a failure. Present only when `result` is `FAILURE`. See the list of error keys.",
    ),
    may("failure_message", FieldType::Text)
        .description("Short text of the reason, for people. Present only when `result` is `FAILURE`."),
];

/// Related redemptions or rollbacks, by id and date.
const SHORT: FieldType = FieldType::List(
    &FieldType::Object(&[
        must("id", KEY),
        must("date", FieldType::DateTime).description("Moment of the redemption or rollback, in UTC."),
    ]),
    0,
    30,
);

/// A redemption.
pub const REDEMPTION: FieldType = shape!(
    "Redemption",
    "Redemption of one redeemable, or the parent of several redemptions.",
    fields_of!(
        COMMON,
        &[
            must("object", FieldType::OneOf(&["redemption"])),
            must("status", FieldType::OneOf(&["SUCCEEDED", "FAILED", "ROLLED_BACK"]))
                .description("Status of the redemption. `ROLLED_BACK` after a rollback."),
            must("redemption", KEY).or_null()
                .description("ID of the parent redemption. `null` if the redemption has no parent."),
            may("session", FieldType::Object(&[must("key", KEY).description("Key of the session.")]))
                .description("Session that the redemption used. Absent if none."),
            may(
                "related_redemptions",
                FieldType::Object(&[
                    may("redemptions", SHORT).description("Child redemptions of a parent redemption."),
                    may(
                        "rollbacks",
                        FieldType::List(
                            &FieldType::Object(&[
                                must("id", KEY),
                                must("date", FieldType::DateTime).description("Moment of the rollback, in UTC."),
                                must("rollback_order_mode", FieldType::OneOf(&["WITH_ORDER", "WITHOUT_ORDER"]))
                                    .description("Effect of the rollback on the order: `WITH_ORDER` removed the discounts, `WITHOUT_ORDER` left the order."),
                            ]),
                            0,
                            30
                        )
                    )
                    .description("Rollbacks of the redemption."),
                ])
            )
            .description("Redemptions and rollbacks that belong to the redemption. Absent if none."),
            may("order_amount", AMOUNT)
                .description("Amount of the order before discounts, in minor units. Present only for a failure with an order."),
            may("order_hash", FieldType::Text)
                .description("SHA-256 hash of the order as sent, in place of the order. Present only for a failure with an order."),
            may("redeemable", FieldType::Object(&[must("id", KEY)
                .description("Code or ID of the redeemable, as requested."), must("object", OBJECT).description("Type of the redeemable.")]))
                .description("Redeemable as requested. Present only for a failure."),
        ],
    )
);

/// A rollback.
pub const ROLLBACK: FieldType = shape!(
    "Rollback",
    "Rollback of a redemption, with negative amounts.",
    fields_of!(
        COMMON,
        &[
            must("object", FieldType::OneOf(&["redemption_rollback"])),
            must("status", FieldType::OneOf(&["SUCCEEDED", "FAILED"])).description("Status of the rollback."),
            must("redemption", KEY).description("ID of the redemption that was rolled back."),
            must("reason", FieldType::Text)
                .or_null()
                .description("Reason of the rollback, as sent. `null` if none was sent."),
        ],
    )
);

/// The answer to a redemption.
pub const REDEMPTIONS: FieldType = shape!(
    "Redemptions",
    "Redemptions of a request, and the order after them.",
    &[
        must("redemptions", FieldType::List(&REDEMPTION, 0, 30))
            .description("One redemption for each redeemable that was applied."),
        may("parent_redemption", REDEMPTION).description("Parent of the redemptions. Absent for a single redeemable."),
        may("order", STORED).description("Order after all redemptions, with the discounts. Absent without an order."),
        must("inapplicable_redeemables", REFUSED)
            .description("Verdicts on redeemables that do not apply and were not redeemed."),
        must("skipped_redeemables", LEFT_OUT)
            .description("Verdicts on redeemables that were skipped and not redeemed."),
        TRACES,
    ]
);

/// The answer to a rollback of a stack.
pub const ROLLBACKS: FieldType = shape!(
    "Rollbacks",
    "Rollbacks of a request, and the order after them.",
    &[
        must("rollbacks", FieldType::List(&ROLLBACK, 0, 30)).description("One rollback for each redemption."),
        may("parent_rollback", ROLLBACK)
            .description("Rollback of the parent redemption. Absent if the redemption has no children."),
        may("order", STORED).description("Order after the rollback. Absent without an order."),
    ]
);
