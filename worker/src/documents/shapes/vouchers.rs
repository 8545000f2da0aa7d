//! The shapes of publications, balances, transactions and locks.

use crate::documents::common_fields::{KEY, VOUCHER_TYPE};
use crate::documents::shapes::customers::CUSTOMER;
use scrip::shape;
use scrip::shape::{CHANGE, COUNT, Field, FieldType, KEYS, may, must, object};
use scrip::wire::voucher::VOUCHER;

/// A publication.
pub const PUBLICATION: FieldType = shape!(
    "Publication",
    "Assignment of one or several vouchers to a customer.",
    &[
        must("id", KEY),
        must("customer_id", KEY).description("ID of the customer who received the vouchers."),
        must("customer", CUSTOMER)
            .description("Customer who received the vouchers, as of the publication. A client gets the ID only."),
        must("tracking_id", FieldType::Text).or_null()
            .description("Identifier of the customer for tracking: the `source_id` for a server, an encrypted value for a client. `null` without a `source_id`."),
        must("source_id", KEY).or_null()
            .description("Identifier of the publication in the caller's system. `null` if none was sent."),
        must("metadata", FieldType::Map),
        must("channel", FieldType::Text).description("Name of the channel of the publication, as sent. Default `API`."),
        must("result", FieldType::OneOf(&["SUCCESS", "FAILURE"])).description("Result of the publication."),
        must("vouchers_id", KEYS).description("IDs of the published vouchers."),
        may("vouchers", KEYS).description("Codes of the published vouchers. Present only when there are several."),
        may("voucher", VOUCHER)
            .description("Published voucher, as of the publication. Present only when there is one."),
        must("created_at", FieldType::DateTime),
        object(&["publication"]),
    ]
);

/// A holder of a referral code.
pub const HOLDER: FieldType = shape!(
    "RedeemableHolder",
    "Relation of a customer to a referral code, as referrer or referee.",
    &[
        must("id", KEY),
        must("redeemable_id", KEY).description("ID of the voucher with the referral code."),
        must("redeemable_object", FieldType::OneOf(&["voucher"]))
            .description("Type of the redeemable. Always `voucher`."),
        must("customer_id", KEY).description("ID of the customer."),
        must("holder_role", FieldType::OneOf(&["REFERRER", "REFEREE"]))
            .description("Role of the customer: `REFERRER` passes the code on, `REFEREE` uses the code."),
        must("campaign_id", KEY).description("ID of the campaign of the referral code."),
        must("campaign_type", FieldType::OneOf(&["REFERRAL_PROGRAM"]))
            .description("Type of the campaign. Always `REFERRAL_PROGRAM`."),
        must("voucher_type", VOUCHER_TYPE).description("Type of the voucher with the referral code."),
        must("metadata", FieldType::Map),
        must("created_at", FieldType::DateTime),
        object(&["redeemable_holder"]),
    ]
);

/// Added holders.
pub const HOLDERS: FieldType = shape!(
    "RedeemableHolders",
    "List of the holders that were added to a referral code.",
    &[must("holders", FieldType::List(&HOLDER, 0, usize::MAX))
        .description("Holders that were added, one for each customer of the request and in the same order.")]
);

/// Change of the balance of a card.
pub const BALANCE: FieldType = shape!(
    "Balance",
    "Change of the balance of a card, and the balance after the change.",
    &[
        must("type", FieldType::OneOf(&["gift_voucher", "loyalty_card"])).description("Type of the card."),
        must("total", CHANGE)
            .description("Amount ever loaded on the card after the change: minor units on a gift card, points on a loyalty card."),
        must("balance", COUNT)
            .description("Balance of the card after the change: minor units on a gift card, points on a loyalty card."),
        may("amount", CHANGE)
            .description("Amount of the change, negative when subtracted: minor units on a gift card, points on a loyalty card. Absent when `points` is present."),
        may("points", CHANGE)
            .description("Number of points of the change, negative when subtracted. Absent when `amount` is present."),
        must("operation_type", FieldType::Text)
            .description("Origin of the change: `MANUAL` for a call that changes the balance directly, `AUTOMATIC` for all others."),
        must(
            "related_object",
            FieldType::Object(&[must("id", KEY), must("type", FieldType::Text).description("Type of the card. Always `voucher`.")]),
        )
        .description("Card whose balance changed."),
        object(&["balance"]),
    ]
);

/// Pending points.
pub const PENDING_POINTS: FieldType = shape!(
    "LoyaltyPendingPoints",
    "Points of a loyalty card that were earned by an order and cannot be spent yet.",
    &[
        must("id", KEY),
        must("voucher_id", KEY).description("ID of the loyalty card."),
        must("campaign_id", KEY).description("ID of the loyalty campaign."),
        must("customer_id", KEY).description("ID of the holder of the card."),
        must("order_id", KEY).description("ID of the order that earned the points."),
        must("points", COUNT).description("Number of pending points."),
        must("activates_at", FieldType::Date)
            .description("First day on which the points can be spent, in the project's time zone."),
        must(
            "details",
            FieldType::Object(&[
                must(
                    "event",
                    FieldType::Object(&[
                        must("type", FieldType::OneOf(&["customer.order.paid"]))
                            .description("Type of the event. Always `customer.order.paid`."),
                        must("entity_id", KEY).description("ID of the customer of the event."),
                        must("created_at", FieldType::DateTime),
                        must("category", FieldType::OneOf(&["ACTION"])).description(
                            "Category of the event. Always `ACTION`, for compatibility with earlier clients."
                        ),
                    ]),
                )
                .description("Event that earned the points."),
                must("earning_rule", EARNING_RULE).description("Earning rule that granted the points."),
                must("order", ORDER).description("Order that earned the points."),
                HOLDER_TIER,
            ]),
        )
        .description("Origin of the points."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
    ]
);

/// Tier that changed the number of points.
const HOLDER_TIER: Field = may(
    "holder_loyalty_tier",
    FieldType::Object(&[must("id", KEY), must("name", FieldType::Text).description("Name of the tier.")]),
)
.description("Tier of the card at the time of the earning. Absent outside all tiers.");

const ORDER: FieldType = FieldType::Object(&[
    must("id", KEY),
    must("source_id", KEY)
        .or_null()
        .description("Identifier of the order in the merchant's system. `null` if the order has none."),
]);

/// Earning rule that granted points.
const EARNING_RULE: FieldType = FieldType::Object(&[
    must("id", KEY),
    must(
        "source",
        FieldType::Object(&[may("banner", FieldType::Text).description("Text of the earning rule for customers.")]),
    )
    .description("Presentation of the earning rule."),
]);

/// Change of pending points.
pub const PENDING_BALANCE: FieldType = shape!(
    "PendingPointsBalance",
    "Change of pending points, and their number after the change.",
    &[
        must("points", CHANGE).description("Number of points of the change, negative when subtracted."),
        must("total", COUNT).description("Number of pending points after the change."),
        must("operation_type", FieldType::OneOf(&["MANUAL"])).description("Origin of the change. Always `MANUAL`."),
        must(
            "related_object",
            FieldType::Object(&[
                must("id", KEY),
                must("type", FieldType::Text).description("Type of the card. Always `voucher`.")
            ]),
        )
        .description("Card whose pending points changed."),
        object(&["balance"]),
    ]
);

/// The other card of a transfer.
const OTHER_CARD: FieldType = FieldType::Object(&[
    must("id", KEY),
    must("code", KEY).description("Code of the card."),
    must("campaign", KEY).description("Name of the campaign of the card."),
    must("campaign_id", KEY).description("ID of the campaign of the card."),
    must("type", VOUCHER_TYPE).description("Type of the voucher. Always `LOYALTY_CARD`."),
    object(&["voucher"]),
]);

/// A transaction of a card.
pub const TRANSACTION: FieldType = shape!(
    "Transaction",
    "Record of one change of the balance of a card.",
    &[
        must("id", KEY),
        must("source_id", KEY).or_null()
            .description("Identifier of the change in the caller's system. `null` if none was sent."),
        must("voucher_id", KEY).description("ID of the card."),
        must("campaign_id", KEY).or_null()
            .description("ID of the campaign of the card. `null` for a card without a campaign."),
        must("related_transaction_id", KEY).or_null()
            .description("ID of the transaction that this one reverses. `null` unless this is a refund."),
        must("source", FieldType::Text).or_null()
            .description("Channel or API key through which the change was requested. `null` if the service made the change by itself."),
        must("reason", FieldType::Text).or_null()
            .description("Reason of the change, as sent. `null` if none was sent."),
        must("type", FieldType::Text)
            .description("Type of the change: unit and movement. Credits belong to gift cards, points to loyalty cards."),
        must("created_at", FieldType::DateTime),
        must(
            "details",
            FieldType::Object(&[
                must("balance", BALANCE).description("Change of the balance, and the balance after the change."),
                may("order", ORDER).or_null()
                    .description("Order of the redemption, rollback, earning or return. `null` or absent without an order."),
                may("redemption", FieldType::Object(&[must("id", KEY)]))
                    .description("Redemption that spent the balance, or that the rollback reverses."),
                may("rollback", FieldType::Object(&[must("id", KEY)]))
                    .description("Rollback that refunded the balance."),
                may("order_return", FieldType::Object(&[must("id", KEY)]))
                    .description("Return of order items that caused the change."),
                may(
                    "reward",
                    FieldType::Object(&[must("id", KEY), must("name", FieldType::Text).description("Name of the reward.")]),
                )
                .description("Reward that the points were exchanged for."),
                may("earning_rule", EARNING_RULE).description("Earning rule that granted the points."),
                may("pending_points", PENDING_POINTS).description("Pending points that became spendable."),
                HOLDER_TIER,
                may(
                    "event_schema",
                    FieldType::Object(&[must("id", KEY), must("name", KEY).description("Name of the custom event.")]),
                )
                .description("Schema of the custom event that earned the points."),
                may("segment", FieldType::Object(&[must("id", KEY)]))
                    .description("Segment whose entering earned the points."),
                may("source_voucher", OTHER_CARD).description("Card from which the points were transferred."),
                may("destination_voucher", OTHER_CARD).description("Card to which the points were transferred."),
            ]),
        )
        .description("Change of the balance and its origin."),
    ]
);

/// Activity of a card.
pub const MEMBER_ACTIVITY: FieldType = shape!(
    "LoyaltyCardActivity",
    "Event of a loyalty card.",
    &[
        must("id", KEY),
        must("type", FieldType::Text).description("Type of the event."),
        must("created_at", FieldType::DateTime),
        must(
            "data",
            FieldType::Object(&[
                must("data", FieldType::Map).description(
                    "Objects of the event by name: customer, campaign, voucher, and those of the event type."
                ),
                must(
                    "event_source",
                    FieldType::Object(&[must("channel", FieldType::OneOf(&["API", "INTERNAL"]))
                        .description("Channel of the event: `API` for a call, `INTERNAL` for the service itself.")])
                )
                .description("Origin of the event."),
            ])
        )
        .description("Content of the event."),
    ]
);

/// Points of a card that expire together.
pub const POINTS_BUCKET: FieldType = shape!(
    "LoyaltyPointsBucket",
    "Points of a loyalty card that expire on the same day, or never.",
    &[
        must("id", KEY),
        must("voucher_id", KEY).description("ID of the loyalty card."),
        must("campaign_id", KEY).description("ID of the loyalty campaign."),
        must(
            "bucket",
            FieldType::Object(&[must("total_points", COUNT).description("Number of points that are left.")])
        )
        .description("Content of the bucket."),
        must("status", FieldType::OneOf(&["ACTIVE"])).description("Status of the bucket. Always `ACTIVE`."),
        may("expires_at", FieldType::Date).description(
            "Last day on which the points can be spent, in the project's time zone. Absent if the points never expire."
        ),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["loyalty_points_bucket"]),
    ]
);

/// A lock.
pub const LOCK: FieldType = shape!(
    "Lock",
    "Lock that reserves redemptions and credits for one owner until the lock expires.",
    &[
        must("key", KEY).description("Key of the session. A redemption sends the key to use the reserved units."),
        must("type", FieldType::OneOf(&["LOCK"])).description("Type of the session. Always `LOCK`."),
        must("owner", FieldType::Text)
            .description("Owner of the lock: `server`, `client`, or `customer` for a customer proven by a token."),
        must("customer", KEY)
            .or_null()
            .description("Identifier of the customer who owns the lock. `null` for other owners."),
        must("created_at", FieldType::DateTime),
        must("expires_at", FieldType::DateTime)
            .description("Moment at which the lock expires and its units are released, in UTC."),
        must(
            "holds",
            FieldType::List(
                &FieldType::Object(&[
                    must("id", KEY),
                    must("code", KEY).description("Code of the locked voucher."),
                    must("redemptions", COUNT).description("Number of redemptions that are reserved."),
                    may("credits", COUNT).description("Amount of gift credits that is reserved, in minor units."),
                    object(&["voucher", "promotion_tier"]),
                ]),
                0,
                usize::MAX
            ),
        )
        .description("Reserved units by redeemable."),
        object(&["session"]),
    ]
);
