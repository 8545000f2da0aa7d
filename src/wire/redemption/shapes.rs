//! The shapes of redemptions and rollbacks. It must not know why one succeeded.

use crate::shape::{AMOUNT, CHANGE, Field, KEY, Kind, METADATA, may, must};
use crate::shape::{fields_of, shape};
use crate::wire::decision::{LEFT_OUT, REFUSED, TRACES};
use crate::wire::goods::{PRODUCT, SKU};
use crate::wire::order_view::KEPT;
use crate::wire::request::OBJECT;
use crate::wire::reward::{OF_REWARD, PARAMETERS};
use crate::wire::voucher::{TIER, VOUCHER};

/// The customer inside a redemption.
const PERSON: Kind = Kind::Object(&[
    must("id", KEY),
    may("source_id", KEY).or_null(),
    may("name", Kind::Text).or_null(),
    may("email", Kind::Text).or_null().says("The e-mail address"),
    may("metadata", Kind::Map),
    must("object", Kind::OneOf(&["customer"])),
]);

const CHANNEL: Kind = Kind::Object(&[
    must("channel_id", Kind::Text).says("The key that was used"),
    must("channel_type", Kind::Text).says("What kind of channel that is"),
]);

/// A reward that points were exchanged for.
const EXCHANGED: Kind = shape!(
    "ExchangedReward",
    "A reward that points were exchanged for, and what was handed over",
    fields_of!(
        OF_REWARD,
        &[
            may("customer", PERSON).or_null().says("Who got it"),
            may("voucher", VOUCHER).or_null().says("The voucher that was handed over"),
            may("product", PRODUCT).or_null().says("The product that somebody sends, with the first of its SKUs"),
            may("sku", SKU).or_null().says("The variant of it"),
            may("parameters", PARAMETERS).says("What is given"),
            METADATA,
            may("created_at", Kind::DateTime),
            may("updated_at", Kind::DateTime).or_null(),
            may("loyalty_tier_id", KEY).or_null().says("The tier of the card's holder that says the price"),
        ]
    )
);

/// What redemptions and rollbacks have alike.
const COMMON: &[Field] = &[
    must("id", KEY),
    must("date", Kind::DateTime),
    must("customer_id", KEY).or_null(),
    must("tracking_id", Kind::Text).or_null(),
    must("metadata", Kind::Map),
    must("channel", CHANNEL).or_null(),
    must("customer", PERSON).or_null(),
    must("result", Kind::OneOf(&["SUCCESS", "FAILURE"])).says("Whether it was done"),
    must("order", KEPT).or_null().says("The order after it"),
    may("amount", CHANGE).says("Money or points that were spent, or given back: below zero"),
    may("gift", Kind::Object(&[must("amount", CHANGE)])).says("Money that was spent, or given back: below zero"),
    may("loyalty_card", Kind::Object(&[must("points", CHANGE)]))
        .says("Points that were spent, or given back: below zero"),
    may("reward", EXCHANGED),
    must("related_object_type", Kind::OneOf(&["voucher", "promotion_tier", "redemption"])),
    must("related_object_id", KEY),
    may("related_object_parent_id", KEY),
    may("voucher", VOUCHER).says("The voucher after it"),
    may("promotion_tier", TIER),
    may("failure_code", Kind::Text).says("Of one that failed: why"),
    may("failure_message", Kind::Text).says("The same for people"),
];

/// Redemptions or rollbacks that belong together, by id and date.
const SHORT: Kind = Kind::List(&Kind::Object(&[must("id", KEY), must("date", Kind::DateTime)]), 0, 30);

/// A redemption.
pub const REDEMPTION: Kind = shape!(
    "Redemption",
    "A redemption",
    fields_of!(
        COMMON,
        &[
            must("object", Kind::OneOf(&["redemption"])),
            must("status", Kind::OneOf(&["SUCCEEDED", "FAILED", "ROLLED_BACK"])),
            must("redemption", KEY).or_null().says("The redemption of which it is a part"),
            may("session", Kind::Object(&[must("key", KEY)])).says("The session that it came with"),
            may(
                "related_redemptions",
                Kind::Object(&[
                    may("redemptions", SHORT).says("Its parts"),
                    may(
                        "rollbacks",
                        Kind::List(
                            &Kind::Object(&[
                                must("id", KEY),
                                must("date", Kind::DateTime),
                                must("rollback_order_mode", Kind::OneOf(&["WITH_ORDER", "WITHOUT_ORDER"]))
                                    .says("Whether it changed the order"),
                            ]),
                            0,
                            30
                        )
                    )
                    .says("What undid it"),
                ])
            )
            .says("What belongs to it"),
            may("order_amount", AMOUNT).says("Of one that failed: the amount of the order"),
            may("order_hash", Kind::Text).says("Of one that failed: which order, without saying it"),
            may("redeemable", Kind::Object(&[must("id", KEY), must("object", OBJECT)]))
                .says("Of one that failed: what was asked for"),
        ],
    )
);

/// A rollback.
pub const ROLLBACK: Kind = shape!(
    "Rollback",
    "A rollback of a redemption",
    fields_of!(
        COMMON,
        &[
            must("object", Kind::OneOf(&["redemption_rollback"])),
            must("status", Kind::OneOf(&["SUCCEEDED", "FAILED"])),
            must("redemption", KEY).says("The redemption that it undid"),
            must("reason", Kind::Text).or_null(),
        ],
    )
);

/// The answer to a redemption.
pub const REDEMPTIONS: Kind = shape!(
    "Redemptions",
    "What was redeemed",
    &[
        must("redemptions", Kind::List(&REDEMPTION, 0, 30)).says("One for each redeemable"),
        may("parent_redemption", REDEMPTION).says("The whole, where there are several"),
        may("order", KEPT).says("The order after all"),
        must("inapplicable_redeemables", REFUSED).says("What does not apply"),
        must("skipped_redeemables", LEFT_OUT).says("What was left out"),
        TRACES,
    ]
);

/// The answer to a rollback of a stack.
pub const ROLLBACKS: Kind = shape!(
    "Rollbacks",
    "What was rolled back",
    &[
        must("rollbacks", Kind::List(&ROLLBACK, 0, 30)).says("One for each redemption"),
        may("parent_rollback", ROLLBACK).says("The whole"),
        may("order", KEPT).says("The order after it"),
    ]
);
