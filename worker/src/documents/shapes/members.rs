//! The shapes of members of loyalty programs, of their cards, and of the transactions of
//! a card's points.

use crate::documents::common_fields::KEY;
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{COUNT, Field, FieldType, INT_MAX, may, must, object};
use scrip::{fields_of, shape};

const STATUS: FieldType = FieldType::OneOf(&["ACTIVE", "INACTIVE"]);

/// Names that a customer or a member is found by.
pub const IDENTIFIED_BY: &[&str] = &["customer_id", "customer_source_id", "member_id"];

/// Fields of a new member. Older clients name the customer next to the other fields.
pub const CREATE: &[Field] = &[
    may(
        "customer_identification",
        FieldType::Object(&[
            may("type", FieldType::OneOf(&["customer_id", "customer_source_id"]))
                .description("Type of the identification. Determines which field is read."),
            may("customer_id", KEY).description("ID of the customer."),
            may("customer_source_id", KEY).description("ID of the customer in the caller's system."),
        ]),
    )
    .description("Identification of the customer who becomes a member. Required unless `customer_id` is sent."),
    may("customer_id", KEY).description("ID of the customer: the older form of `customer_identification`."),
    may("status", STATUS).or_null().description("Initial status of the member. Default `ACTIVE`."),
    may("metadata", FieldType::Map).or_null(),
];
/// Names by type.
pub const CHOICES: &[TaggedBlock] = &[tagged_block(
    "customer_identification",
    "type",
    &[("customer_id", &["customer_id"]), ("customer_source_id", &["customer_source_id"])],
)];

/// Fields of a change of a member.
pub const UPDATE: &[Field] = &[may("metadata", FieldType::Map).or_null()];

const MEMBER_FIELDS: &[Field] = &[
    must("id", KEY),
    must("customer_id", KEY).description("ID of the customer."),
    must("program_id", KEY).description("ID of the loyalty program."),
    must("status", FieldType::OneOf(&["ACTIVE", "INACTIVE", "DELETED"]))
        .description("Status of the member. Only active members earn and spend points."),
    must("metadata", FieldType::Map),
    must("created_at", FieldType::DateTime),
    must("updated_at", FieldType::DateTime).or_null(),
    object(&["member"]),
];

/// A member.
pub const MEMBER: FieldType = shape!("LoyaltyMember", "Member: a customer in a loyalty program.", MEMBER_FIELDS);

/// A member with the cards.
pub const MEMBER_WITH_CARDS: FieldType = shape!(
    "LoyaltyMemberWithCards",
    "Member of a loyalty program, with the cards.",
    fields_of!(
        MEMBER_FIELDS,
        &[must("cards", FieldType::List(&MEMBER_CARD, 0, usize::MAX))
            .description("Cards of the member, with their current balances.")]
    )
);

const LIFETIME: FieldType = FieldType::Object(&[
    must(
        "points",
        FieldType::Object(&[
            must("total", COUNT)
                .description("Number of points ever earned, added or purchased. Refunds are not included."),
            must("earned", COUNT).description("Number of points earned by rules that became available."),
            must("added", COUNT).description("Number of points added manually."),
            must("purchased", COUNT).description("Number of points bought as a reward."),
            must("purchased_reversed", COUNT).description("Number of purchased points that refunds removed."),
            must("subtracted", COUNT).description("Number of points subtracted manually."),
            must("expired", COUNT).description("Number of points expired, by time or manually."),
            must("spent", COUNT).description("Number of points spent on rewards and orders."),
            must("refunded", COUNT).description("Number of spent points that were refunded."),
            must("returned", COUNT).description("Number of earned points revoked because an order was returned."),
            must("locked", COUNT).description("Always 0. Sessions do not lock points of member cards."),
            must("unlocked", COUNT).description("Always 0. Sessions do not lock points of member cards."),
        ]),
    )
    .description("Totals of points that were available at some time."),
    must(
        "pending_points",
        FieldType::Object(&[
            must("total", COUNT).description("Number of points that ever were pending."),
            must("activated", COUNT).description("Number of pending points that became available."),
            must("canceled", COUNT).description("Number of pending points that were cancelled."),
        ]),
    )
    .description("Totals of pending points."),
]);

const PENDING_TYPES: FieldType = FieldType::OneOf(&["IMMEDIATE", "PERIOD_BASED", "FIXED_DATES", "EVENT_BASED"]);
const EXPIRATION_TYPES: FieldType =
    FieldType::OneOf(&["NO_EXPIRATION", "ROLLING_EXPIRATION", "CALENDAR_EXPIRATION", "SLIDING_EXPIRATION"]);
/// Number of points; negative for debt.
const BALANCE: FieldType = FieldType::Int(-INT_MAX, INT_MAX);
const POINTS: FieldType = FieldType::Object(&[must("total", COUNT).description("Number of points.")]);

/// A card.
pub const CARD: FieldType = shape!(
    "PointsCard",
    "Points card of a member.",
    &[
        must("id", KEY),
        must("card_definition_id", KEY).description("ID of the card definition."),
        must("card_type", FieldType::OneOf(&["INDIVIDUAL"])).description("Type of the card. Always `INDIVIDUAL`."),
        must("code", KEY).or_null().description("Code of the card. `null` if all codes were taken."),
        must(
            "balance",
            FieldType::Object(&[
                must("points", BALANCE).description("Number of points that can be spent. Negative if overdrawn."),
                must("pending_points", COUNT).description("Number of pending points.")
            ])
        )
        .description("Current balance of the card."),
        must("lifetime_bucket", LIFETIME).description("Totals since the card was issued. No total ever decreases."),
        must(
            "next_expiration",
            FieldType::Object(&[
                must("points", COUNT).description("Number of points that expire on that day."),
                must("date", FieldType::Date)
                    .description("Last day on which the points can be spent, in the project's time zone."),
            ])
        )
        .or_null()
        .description("Next points to expire. `null` if none do."),
        must(
            "next_activation",
            FieldType::Object(&[
                must("points", COUNT).description("Number of points that become available together."),
                must("type", PENDING_TYPES).description("Rule that determines how long the points are pending."),
                may("date", FieldType::Date)
                    .description("First day on which the points can be spent. Absent with `EVENT_BASED`."),
                may("cancel_date", FieldType::Date)
                    .description("Last day for the event with `EVENT_BASED`; afterwards the points are cancelled."),
            ])
        )
        .or_null()
        .description("Next pending points to become available. `null` if there are none."),
        object(&["card"]),
    ]
);

/// Members of a member's card.
pub const MEMBER_CARD_FIELDS: &[Field] = &[
    must("member_role", FieldType::OneOf(&["OWNER", "MEMBER"]))
        .description("Role of the member for the card. Always `OWNER`."),
    must("created_at", FieldType::DateTime),
    must("card", CARD).description("Points card."),
    object(&["member_card"]),
];

/// Card of a member.
pub const MEMBER_CARD: FieldType = shape!("MemberCard", "Card of a member.", MEMBER_CARD_FIELDS);

/// The program of a membership.
pub const PROGRAM: FieldType = shape!(
    "MembershipProgram",
    "Loyalty program of a membership.",
    &[
        must("id", KEY),
        must("name", FieldType::Text).description("Name of the loyalty program."),
        must("status", FieldType::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"]))
            .description("Status of the loyalty program."),
        must("metadata", FieldType::Map),
        object(&["program"]),
    ]
);

const MEMBERSHIP: FieldType = shape!(
    "MembershipWithoutTierProgress",
    "Membership of a customer in a loyalty program, with the cards.",
    &[
        must("member", MEMBER).description("Member of the program."),
        must("program", PROGRAM).description("Loyalty program."),
        must("cards", FieldType::List(&MEMBER_CARD, 0, usize::MAX))
            .description("Cards of the member, with their current balances."),
        object(&["membership"]),
    ]
);

/// Memberships of a customer.
pub const MEMBERSHIPS: FieldType = shape!(
    "MembershipsResult",
    "Memberships of a customer in all loyalty programs.",
    &[
        must(
            "customer",
            FieldType::Object(&[
                must("id", KEY),
                must("source_id", KEY)
                    .or_null()
                    .description("ID of the customer in the caller's system. `null` without one."),
                object(&["customer"])
            ])
        )
        .description("Customer."),
        must("memberships", FieldType::List(&MEMBERSHIP, 0, usize::MAX))
            .description("Memberships, the oldest first. Deleted programs are omitted."),
        object(&["memberships_result"]),
    ]
);

/// Fields of a manual adjustment of a card's points.
pub const ADJUST: &[Field] = &[
    must("points", FieldType::Int(-INT_MAX, INT_MAX))
        .description("Number of points to add, negative to subtract. With 0 nothing is recorded."),
    may("reason", FieldType::Name(255)).or_null().description("Reason of the change, stored in the transaction."),
];

const PART: FieldType = shape!(
    "CardTransactionBucket",
    "Points of one bucket that a transaction moved.",
    &[
        must("id", KEY),
        must("points", POINTS).description("Points of this bucket in the transaction."),
        must("expiration_date", FieldType::Date)
            .or_null()
            .description("Last day on which the points can be spent. `null` if the points do not expire."),
        must("expiration_type", EXPIRATION_TYPES).description("Rule for the expiration of the bucket."),
    ]
);

/// Reference to a document by its id.
const NAMED: FieldType = FieldType::Object(&[must("id", KEY)]);

/// Transaction of a card.
pub const TRANSACTION: FieldType = shape!(
    "CardTransaction",
    "Record of one change to the points of a card.",
    &[
        must("id", KEY),
        must("card_id", KEY).description("ID of the card."),
        must("program_id", KEY).description("ID of the loyalty program."),
        must("member_id", KEY).description("ID of the member who owns the card."),
        must("card_definition_id", KEY).description("ID of the card definition."),
        must("card_type", FieldType::OneOf(&["INDIVIDUAL"])).description("Type of the card. Always `INDIVIDUAL`."),
        must(
            "type",
            FieldType::OneOf(&[
                "ADMIN_CREDIT",
                "ADMIN_DEBIT",
                "ADMIN_POINTS_EXPIRATION",
                "POINTS_EARNED",
                "POINTS_SPENT_ON_REWARD",
                "POINTS_PURCHASED",
                "POINTS_PURCHASE_REVERSED",
                "POINTS_SPENT_ON_ORDER",
                "POINTS_REFUNDED",
                "POINTS_RETURNED",
                "POINTS_EXPIRED",
                "PENDING_POINTS_ADDED",
                "PENDING_POINTS_ACTIVATED",
                "PENDING_POINTS_CANCELED",
            ])
        )
        .description("Type of the change. `ADMIN_` types are manual changes through the API."),
        must(
            "details",
            FieldType::Object(&[
                must("reason", FieldType::Text).or_null().description("Reason of a manual change. `null` otherwise."),
                must(
                    "points",
                    FieldType::Object(&[
                        must("total", COUNT).description("Number of points that moved."),
                        may("expiration_date", FieldType::Date).or_null().description(
                            "Last day on which added points can be spent. `null` if the points do not expire."
                        ),
                        may("expiration_type", EXPIRATION_TYPES).description("Expiration rule of added points."),
                        may("date", FieldType::Date)
                            .description("First day to spend the points, or last day for the event."),
                        may("type", PENDING_TYPES).description("Rule that determines how long the points are pending."),
                    ])
                )
                .description("Points that moved."),
                may("bucket", PART).description("Bucket that expired. Present for expirations only."),
                may("buckets", FieldType::List(&PART, 0, usize::MAX))
                    .description("Buckets that points were added to or taken from."),
                may("order", NAMED).description("Order that the points were earned, spent or revoked with."),
                may("earning_rule", NAMED).description("Earning rule that granted the points."),
                may("reward", NAMED).description("Reward that was bought or refunded."),
                may("reward_transaction", NAMED).description("Reward transaction: purchase or refund."),
                may("purchase_transaction", NAMED).description("Purchase that a refund reverses."),
                may("order_transaction", NAMED).description("Order transaction that the points were spent with."),
            ])
        )
        .description("Details of the change. Blocks that do not apply are absent."),
        must("status", FieldType::OneOf(&["PENDING", "PROCESSING", "APPROVED", "REJECTED"]))
            .description("Status of the transaction. Always `APPROVED`."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["card_transaction"]),
    ]
);

/// Transaction of an operation on a card.
const RECORDED: Field =
    must("transaction", TRANSACTION).or_null().description("Recorded transaction. `null` without one.");

/// Returns the field with the status of an operation on a card.
const fn status(statuses: &'static [&'static str]) -> Field {
    must("status", FieldType::OneOf(statuses))
        .description("Result of the call: `TRANSACTION_CREATED`, or another value if nothing changed.")
}

const MESSAGE: Field = must("message", FieldType::Text).description("Result of the call as a sentence.");

/// Response of a manual adjustment.
pub const ADJUSTED: FieldType = shape!(
    "CardPointsAdjustment",
    "Result of a manual change of points.",
    &[RECORDED, status(&["TRANSACTION_CREATED", "NO_CHANGE"]), MESSAGE]
);
/// Response of an activation of pending points.
pub const ACTIVATED: FieldType = shape!(
    "PendingPointsActivation",
    "Result of the activation of pending points.",
    &[RECORDED, status(&["TRANSACTION_CREATED", "NO_ACTIVATION"]), MESSAGE]
);
/// Response of a cancellation of pending points.
pub const CANCELED: FieldType = shape!(
    "PendingPointsCancellation",
    "Result of the cancellation of pending points.",
    &[RECORDED, status(&["TRANSACTION_CREATED", "NO_CANCELLATION"]), MESSAGE]
);
/// Response of an expiration of a lot.
pub const EXPIRED: FieldType = shape!(
    "CardPointsExpiration",
    "Result of the expiration of a bucket.",
    &[RECORDED, status(&["TRANSACTION_CREATED", "NO_EXPIRATION"]), MESSAGE]
);

const BUCKET: &[Field] = &[
    must("id", KEY),
    must("card_id", KEY).description("ID of the card."),
    must("card_definition_id", KEY).description("ID of the card definition."),
    must("program_id", KEY).description("ID of the loyalty program."),
    must("card_type", FieldType::OneOf(&["INDIVIDUAL"])).description("Type of the card. Always `INDIVIDUAL`."),
    must("member_id", KEY).description("ID of the member who owns the card."),
    must("points", POINTS).description("Points in the bucket."),
    must("created_at", FieldType::DateTime),
    must("updated_at", FieldType::DateTime).or_null(),
];

/// Pending points.
pub const PENDING_BUCKET: FieldType = shape!(
    "CardPendingPointsBucket",
    "Bucket of pending points: points earned together that cannot be spent yet.",
    fields_of!(
        BUCKET,
        &[
            must("date", FieldType::Date)
                .description("First day to spend the points or, with `EVENT_BASED`, last day for the event."),
            must("type", FieldType::OneOf(&["PERIOD_BASED", "FIXED_DATES", "EVENT_BASED"]))
                .description("Rule that determines how long the points are pending."),
            must("status", FieldType::OneOf(&["PENDING", "ACTIVATED", "CANCELED", "DELETED"]))
                .description("Status of the bucket. Ends as `ACTIVATED` or `CANCELED`."),
            object(&["card_pending_points_bucket"]),
        ]
    )
);

/// A lot.
pub const EXPIRING_BUCKET: FieldType = shape!(
    "CardPointsBucket",
    "Bucket of points of a card that expire together.",
    fields_of!(
        BUCKET,
        &[
            must("customer_id", KEY).description("ID of the customer."),
            must("expiration_date", FieldType::Date)
                .description("Last day on which the points can be spent, in the project's time zone."),
            must("expiration_type", EXPIRATION_TYPES).description("Rule for the expiration of the bucket."),
            must("status", FieldType::OneOf(&["ACTIVE", "DELETED", "EXPIRED"]))
                .description("Status of the bucket. Points of an active bucket can be spent."),
            object(&["card_points_bucket"]),
        ]
    )
);

const SKU_REFERENCE: FieldType =
    FieldType::Object(&[may("product_id", KEY).description("ID of the SKU's product."), must("id", KEY)]);

/// Transaction of an incentive that a member earned.
pub const BENEFIT_TRANSACTION: FieldType = shape!(
    "BenefitTransaction",
    "Record of an incentive that an earning rule granted to a member, or could not grant.",
    &[
        must("id", KEY),
        must("benefit_id", KEY).description("ID of the incentive, in the form of a benefit ID."),
        must("program_id", KEY).description("ID of the loyalty program."),
        must("member_id", KEY).description("ID of the member."),
        must("earning_rule_id", KEY).description("ID of the earning rule."),
        must("type", FieldType::OneOf(&["FULFILLMENT"])).description("Type of the transaction. Always `FULFILLMENT`."),
        must(
            "details",
            FieldType::Object(&[
                must(
                    "rejection",
                    FieldType::Object(&[must("reason", FieldType::Text).description("Key of the reason.")])
                )
                .or_null()
                .description("Reason of a rejection. `null` if the incentive was granted."),
                must(
                    "result",
                    FieldType::Object(&[
                        may("product", NAMED).description("Product that the customer receives."),
                        may("sku", SKU_REFERENCE).description("SKU that the customer receives."),
                        may(
                            "voucher",
                            FieldType::Object(&[
                                must("id", KEY),
                                must("code", KEY).description("Code of the voucher."),
                                must("campaign_id", KEY).description("ID of the campaign of the voucher.")
                            ])
                        )
                        .description("Voucher that was published to the customer."),
                        may("card", NAMED).description("Card that received points."),
                        may("points", POINTS).description("Points that the card received."),
                    ])
                )
                .or_null()
                .description("Granted item. `null` if the transaction was rejected."),
            ])
        )
        .description("Details of the grant."),
        must("status", FieldType::OneOf(&["PENDING", "APPROVED", "REJECTED"]))
            .description("Status of the transaction: `APPROVED` if the incentive was granted, else `REJECTED`."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["benefit_transaction"]),
    ]
);
