//! The shapes of publications, balances, transactions and locks. It must not know what a code is worth.

use crate::document::fields::{KEY, VOUCHER_TYPE};
use crate::document::shapes::customers::CUSTOMER;
use scrip::shape;
use scrip::shape::{CHANGE, COUNT, Field, KEYS, Kind, may, must, object};
use scrip::wire::voucher::VOUCHER;

/// A publication.
pub const PUBLICATION: Kind = shape!(
    "Publication",
    "Codes that were handed to a customer",
    &[
        must("id", KEY),
        must("customer_id", KEY),
        must("customer", CUSTOMER),
        must("tracking_id", Kind::Text).or_null(),
        must("source_id", KEY).or_null(),
        must("metadata", Kind::Map),
        must("channel", Kind::Text),
        must("result", Kind::OneOf(&["SUCCESS", "FAILURE"])).says("Whether it was done"),
        must("vouchers_id", KEYS).says("The ids of the vouchers"),
        may("vouchers", KEYS).says("The codes, where there are several"),
        may("voucher", VOUCHER).says("The voucher, where there is one"),
        must("created_at", Kind::DateTime),
        object(&["publication"]),
    ]
);

/// A holder of a referral code.
pub const HOLDER: Kind = shape!(
    "RedeemableHolder",
    "A customer who has a referral code",
    &[
        must("id", KEY),
        must("redeemable_id", KEY).says("The code's own id"),
        must("redeemable_object", Kind::OneOf(&["voucher"])).says("What it is that they have"),
        must("customer_id", KEY),
        must("holder_role", Kind::OneOf(&["REFERRER", "REFEREE"])).says("Whether they pass it on or got it"),
        must("campaign_id", KEY),
        must("campaign_type", Kind::OneOf(&["REFERRAL_PROGRAM"])),
        must("voucher_type", VOUCHER_TYPE).says("What kind of voucher the code is"),
        must("metadata", Kind::Map),
        must("created_at", Kind::DateTime),
        object(&["redeemable_holder"]),
    ]
);

/// Holders that were added.
pub const HOLDERS: Kind = shape!(
    "RedeemableHolders",
    "The holders of a referral code that were added",
    &[must("holders", Kind::List(&HOLDER, 0, usize::MAX)).says("One for each customer that was sent, in their order")]
);

/// What moved the balance of a card.
pub const BALANCE: Kind = shape!(
    "Balance",
    "What moved the balance of a card",
    &[
        must("type", Kind::OneOf(&["gift_voucher", "loyalty_card"])).says("What kind of card"),
        must("total", CHANGE).says("What was ever on the card"),
        must("balance", COUNT).says("What is on the card"),
        may("amount", CHANGE).says("Minor units that came, or went: below zero"),
        may("points", CHANGE).says("Points that came, or went: below zero"),
        must("operation_type", Kind::Text).says("By which kind of operation"),
        must("related_object", Kind::Object(&[must("id", KEY), must("type", Kind::Text)])).says("The card"),
        object(&["balance"]),
    ]
);

/// Points that wait.
pub const PENDING_POINTS: Kind = shape!(
    "LoyaltyPendingPoints",
    "Points of a loyalty card that were earned and cannot be spent yet",
    &[
        must("id", KEY),
        must("voucher_id", KEY),
        must("campaign_id", KEY),
        must("customer_id", KEY),
        must("order_id", KEY).says("The order that they were earned by"),
        must("points", COUNT).says("How many"),
        must("activates_at", Kind::Date).says("The first day on which they can be spent"),
        must(
            "details",
            Kind::Object(&[
                must(
                    "event",
                    Kind::Object(&[
                        must("type", Kind::OneOf(&["customer.order.paid"])),
                        must("entity_id", KEY).says("The customer"),
                        must("created_at", Kind::DateTime),
                        must("category", Kind::OneOf(&["ACTION"])).says("Kept for older clients"),
                    ]),
                )
                .says("What happened"),
                must("earning_rule", EARNING_RULE).says("The rule by which they were earned"),
                must("order", Kind::Object(&[must("id", KEY), must("source_id", KEY).or_null()])),
                HOLDER_TIER,
            ]),
        )
        .says("What they were earned for"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
    ]
);

/// The tier that changed how many points there are.
const HOLDER_TIER: Field = may("holder_loyalty_tier", Kind::Object(&[must("id", KEY), must("name", Kind::Text)]))
    .says("The tier that the holder of the card was in");

/// A rule that brought points.
const EARNING_RULE: Kind = Kind::Object(&[
    must("id", KEY),
    must("source", Kind::Object(&[may("banner", Kind::Text).says("What people are told of it")]))
        .says("Where it stands"),
]);

/// What changed how many points wait.
pub const PENDING_BALANCE: Kind = shape!(
    "PendingPointsBalance",
    "How many points came to those that wait, or went",
    &[
        must("points", CHANGE).says("Points that came, or went: below zero"),
        must("total", COUNT).says("How many wait now"),
        must("operation_type", Kind::OneOf(&["MANUAL"])).says("By which kind of operation"),
        must("related_object", Kind::Object(&[must("id", KEY), must("type", Kind::Text)])).says("The card"),
        object(&["balance"]),
    ]
);

/// The other card of a transfer.
const OTHER_CARD: Kind = Kind::Object(&[
    must("id", KEY),
    must("code", KEY),
    must("campaign", KEY),
    must("campaign_id", KEY),
    must("type", VOUCHER_TYPE).says("What kind of voucher it is"),
    object(&["voucher"]),
]);

/// A transaction of a card.
pub const TRANSACTION: Kind = shape!(
    "Transaction",
    "A movement of the balance of a card",
    &[
        must("id", KEY),
        must("source_id", KEY).or_null(),
        must("voucher_id", KEY),
        must("campaign_id", KEY).or_null(),
        must("related_transaction_id", KEY).or_null().says("The movement that it undoes"),
        must("source", Kind::Text).or_null().says("Who made it"),
        must("reason", Kind::Text).or_null(),
        must("type", Kind::Text),
        must("created_at", Kind::DateTime),
        must(
            "details",
            Kind::Object(&[
                must("balance", BALANCE),
                may("order", Kind::Object(&[must("id", KEY), must("source_id", KEY).or_null()])).or_null(),
                may("redemption", Kind::Object(&[must("id", KEY)])).says("The redemption"),
                may("rollback", Kind::Object(&[must("id", KEY)])).says("The rollback"),
                may("reward", Kind::Object(&[must("id", KEY), must("name", Kind::Text)])),
                may("earning_rule", EARNING_RULE).says("The rule by which points were earned"),
                may("pending_points", PENDING_POINTS).says("The points that waited"),
                HOLDER_TIER,
                may("event_schema", Kind::Object(&[must("id", KEY), must("name", KEY)])).says("The custom event"),
                may("segment", Kind::Object(&[must("id", KEY)])).says("The segment that was entered"),
                may("source_voucher", OTHER_CARD).says("The card that points came from"),
                may("destination_voucher", OTHER_CARD).says("The card that points went to"),
            ]),
        )
        .says("What moved, and by what"),
    ]
);

/// What happened to a card.
pub const MEMBER_ACTIVITY: Kind = shape!(
    "LoyaltyCardActivity",
    "What happened to a loyalty card",
    &[
        must("id", KEY),
        must("type", Kind::Text).says("What happened"),
        must("created_at", Kind::DateTime),
        must(
            "data",
            Kind::Object(&[
                must("data", Kind::Map).says("Whom and what it is about"),
                must(
                    "event_source",
                    Kind::Object(&[must("channel", Kind::OneOf(&["API", "INTERNAL"])).says("Asked for, or by itself")])
                )
                .says("Where it came from"),
            ])
        )
        .says("What it was"),
    ]
);

/// Points of a card that lapse together.
pub const POINTS_BUCKET: Kind = shape!(
    "LoyaltyPointsBucket",
    "Points of a loyalty card that lapse together, or never",
    &[
        must("id", KEY),
        must("voucher_id", KEY),
        must("campaign_id", KEY),
        must("bucket", Kind::Object(&[must("total_points", COUNT).says("How many are left of them")]))
            .says("The points"),
        must("status", Kind::OneOf(&["ACTIVE"])),
        may("expires_at", Kind::Date).says("The last day on which they can be spent; not there where they never lapse"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["loyalty_points_bucket"]),
    ]
);

/// A lock.
pub const LOCK: Kind = shape!(
    "Lock",
    "A lock, and what it holds",
    &[
        must("key", KEY).says("What to redeem with"),
        must("type", Kind::OneOf(&["LOCK"])),
        must("owner", Kind::Text).says("Whose it is: the servers', a page's, or a customer's"),
        must("customer", KEY).or_null().says("The customer who has proven to be one"),
        must("created_at", Kind::DateTime),
        must("expires_at", Kind::DateTime),
        must(
            "holds",
            Kind::List(
                &Kind::Object(&[
                    must("id", KEY),
                    must("code", KEY),
                    must("redemptions", COUNT).says("Redemptions that are held"),
                    may("credits", COUNT).says("Minor units that are held"),
                    object(&["voucher", "promotion_tier"]),
                ]),
                0,
                usize::MAX
            ),
        )
        .says("What it holds"),
        object(&["session"]),
    ]
);
