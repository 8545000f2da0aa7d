//! The shapes of members of loyalty programs, of their cards, and of what happens to points of a card. It must not know when anything
//! happens.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use scrip::shape::{COUNT, Field, INT_MAX, Kind, may, must, object};
use scrip::{fields_of, shape};

const STATUS: Kind = Kind::OneOf(&["ACTIVE", "INACTIVE"]);

/// Names that a customer or a member is found by.
pub const IDENTIFIED_BY: &[&str] = &["customer_id", "customer_source_id", "member_id"];

/// What a new member is sent as. Older clients name the customer beside the rest.
pub const CREATE: &[Field] = &[
    may(
        "customer_identification",
        Kind::Object(&[
            may("type", Kind::OneOf(&["customer_id", "customer_source_id"])),
            may("customer_id", KEY),
            may("customer_source_id", KEY).says("The caller's name for the customer"),
        ]),
    )
    .says("Who becomes a member"),
    may("customer_id", KEY),
    may("status", STATUS).or_null(),
    may("metadata", Kind::Map).or_null(),
];
/// Which name comes with which type.
pub const CHOICES: &[Choice] = &[choice(
    "customer_identification",
    "type",
    &[("customer_id", &["customer_id"]), ("customer_source_id", &["customer_source_id"])],
)];

/// What a member is changed by.
pub const UPDATE: &[Field] = &[may("metadata", Kind::Map).or_null()];

const SHOWN: &[Field] = &[
    must("id", KEY),
    must("customer_id", KEY),
    must("program_id", KEY),
    must("status", Kind::OneOf(&["ACTIVE", "INACTIVE", "DELETED"])),
    must("metadata", Kind::Map),
    must("created_at", Kind::DateTime),
    must("updated_at", Kind::DateTime).or_null(),
    object(&["member"]),
];

/// A member.
pub const MEMBER: Kind = shape!("LoyaltyMember", "A customer in a loyalty program", SHOWN);

/// A member with the cards.
pub const MEMBER_WITH_CARDS: Kind = shape!(
    "LoyaltyMemberWithCards",
    "A customer in a loyalty program, with the cards",
    fields_of!(SHOWN, &[must("cards", Kind::List(&MEMBER_CARD, 0, usize::MAX)).says("The cards of the member")])
);

const LIFETIME: Kind = Kind::Object(&[
    must(
        "points",
        Kind::Object(&[
            must("total", COUNT).says("All that ever came"),
            must("earned", COUNT).says("Earned, as far as they could be spent"),
            must("added", COUNT).says("Added by hand"),
            must("purchased", COUNT).says("Bought with points of another card"),
            must("purchased_reversed", COUNT).says("Bought, and given back"),
            must("subtracted", COUNT).says("Taken by hand"),
            must("expired", COUNT).says("Lapsed"),
            must("spent", COUNT).says("Spent on rewards and orders"),
            must("refunded", COUNT).says("Spent, and came back"),
            must("returned", COUNT).says("Earned, and given back"),
            must("locked", COUNT).says("Always 0: nothing locks points"),
            must("unlocked", COUNT).says("Always 0: nothing locks points"),
        ]),
    ),
    must(
        "pending_points",
        Kind::Object(&[
            must("total", COUNT).says("All that ever had to wait"),
            must("activated", COUNT).says("Waited, and could be spent"),
            must("canceled", COUNT).says("Waited, and never could be spent"),
        ]),
    ),
]);

const PENDING_TYPES: Kind = Kind::OneOf(&["IMMEDIATE", "PERIOD_BASED", "FIXED_DATES", "EVENT_BASED"]);
const EXPIRATION_TYPES: Kind =
    Kind::OneOf(&["NO_EXPIRATION", "ROLLING_EXPIRATION", "CALENDAR_EXPIRATION", "SLIDING_EXPIRATION"]);
/// A number of points that may be owed.
const BALANCE: Kind = Kind::Int(-INT_MAX, INT_MAX);
const POINTS: Kind = Kind::Object(&[must("total", COUNT).says("How many")]);

/// A card.
pub const CARD: Kind = shape!(
    "PointsCard",
    "A card of points",
    &[
        must("id", KEY),
        must("card_definition_id", KEY),
        must("card_type", Kind::OneOf(&["INDIVIDUAL"])),
        must("code", KEY).or_null().says("Its code; none where all codes are taken"),
        must("balance", Kind::Object(&[must("points", BALANCE), must("pending_points", COUNT)])),
        must("lifetime_bucket", LIFETIME).says("What came and went in its life"),
        must(
            "next_expiration",
            Kind::Object(&[
                must("points", COUNT).says("How many"),
                must("date", Kind::Date).says("The last day on which they can be spent"),
            ])
        )
        .or_null()
        .says("The points that lapse next"),
        must(
            "next_activation",
            Kind::Object(&[
                must("points", COUNT).says("How many"),
                must("type", PENDING_TYPES),
                may("date", Kind::Date).says("The first day on which they can be spent"),
                may("cancel_date", Kind::Date).says("The last day on which the event may come"),
            ])
        )
        .or_null()
        .says("The points that can be spent next"),
        object(&["card"]),
    ]
);

/// What is told of a card as a member has it.
pub const MEMBER_CARD_FIELDS: &[Field] = &[
    must("member_role", Kind::OneOf(&["OWNER", "MEMBER"])).says("Whether the card is the member's own"),
    must("created_at", Kind::DateTime),
    must("card", CARD).says("The card"),
    object(&["member_card"]),
];

/// A card as a member has it.
pub const MEMBER_CARD: Kind = shape!("MemberCard", "A card that a member has", MEMBER_CARD_FIELDS);

/// The program of a membership.
pub const PROGRAM: Kind = shape!(
    "MembershipProgram",
    "The program that somebody is a member of",
    &[
        must("id", KEY),
        must("name", Kind::Text),
        must("status", Kind::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"])),
        must("metadata", Kind::Map),
        object(&["program"]),
    ]
);

const MEMBERSHIP: Kind = shape!(
    "MembershipWithoutTierProgress",
    "That a customer is a member of a program, with the cards",
    &[
        must("member", MEMBER).says("The member"),
        must("program", PROGRAM).says("The program"),
        must("cards", Kind::List(&MEMBER_CARD, 0, usize::MAX)).says("The cards of the member"),
        object(&["membership"]),
    ]
);

/// Every membership of a customer.
pub const MEMBERSHIPS: Kind = shape!(
    "MembershipsResult",
    "Which programs a customer is a member of",
    &[
        must("customer", Kind::Object(&[must("id", KEY), must("source_id", KEY).or_null(), object(&["customer"])])),
        must("memberships", Kind::List(&MEMBERSHIP, 0, usize::MAX)).says("In which programs, with which cards"),
        object(&["memberships_result"]),
    ]
);

/// What points of a card are changed by, by hand.
pub const ADJUST: &[Field] = &[
    must("points", Kind::Int(-INT_MAX, INT_MAX)).says("How many come; fewer than nothing are taken"),
    may("reason", Kind::Name(255)).or_null(),
];

const PART: Kind = shape!(
    "CardTransactionBucket",
    "Points of one lot",
    &[
        must("id", KEY),
        must("points", POINTS),
        must("expiration_date", Kind::Date).or_null().says("The last day on which they can be spent"),
        must("expiration_type", EXPIRATION_TYPES),
    ]
);

/// What something is about, by its id.
const NAMED: Kind = Kind::Object(&[must("id", KEY)]);

/// What happened to a card.
pub const TRANSACTION: Kind = shape!(
    "CardTransaction",
    "What happened to the points of a card",
    &[
        must("id", KEY),
        must("card_id", KEY).says("The card"),
        must("program_id", KEY),
        must("member_id", KEY).says("Whose card it is"),
        must("card_definition_id", KEY),
        must("card_type", Kind::OneOf(&["INDIVIDUAL"])),
        must(
            "type",
            Kind::OneOf(&[
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
        ),
        must(
            "details",
            Kind::Object(&[
                must("reason", Kind::Text).or_null(),
                must(
                    "points",
                    Kind::Object(&[
                        must("total", COUNT).says("How many"),
                        may("expiration_date", Kind::Date).or_null().says("The last day on which they can be spent"),
                        may("expiration_type", EXPIRATION_TYPES),
                        may("date", Kind::Date).says("When they can be spent"),
                        may("type", PENDING_TYPES),
                    ])
                ),
                may("bucket", PART).says("The lot that lapsed"),
                may("buckets", Kind::List(&PART, 0, usize::MAX)).says("The lots that they came to, or came from"),
                may("order", NAMED).says("The order that they were earned, spent or given back with"),
                may("earning_rule", NAMED).says("The rule by which they were earned"),
                may("reward", NAMED).says("What they were spent on"),
                may("reward_transaction", NAMED).says("The purchase that they were spent on, or its refund"),
                may("purchase_transaction", NAMED).says("What they were spent by, where they come back"),
                may("order_transaction", NAMED).says("The payment that they were spent on"),
            ])
        ),
        must("status", Kind::OneOf(&["PENDING", "PROCESSING", "APPROVED", "REJECTED"])),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["card_transaction"]),
    ]
);

/// What an operation on a card answers.
macro_rules! operation {
    ($name:literal, $says:literal, $nothing:literal) => {
        shape!(
            $name,
            $says,
            &[
                must("transaction", TRANSACTION).or_null().says("What happened; nothing where nothing changed"),
                must("status", Kind::OneOf(&["TRANSACTION_CREATED", $nothing])),
                must("message", Kind::Text),
            ]
        )
    };
}

/// What a change by hand answers.
pub const ADJUSTED: Kind = operation!("CardPointsAdjustment", "What became of a change by hand", "NO_CHANGE");
/// What making active what waits answers.
pub const ACTIVATED: Kind = operation!("PendingPointsActivation", "What became of points that waited", "NO_ACTIVATION");
/// What cancelling what waits answers.
pub const CANCELED: Kind =
    operation!("PendingPointsCancellation", "What became of points that waited", "NO_CANCELLATION");
/// What making a lot lapse answers.
pub const EXPIRED: Kind = operation!("CardPointsExpiration", "What became of a lot", "NO_EXPIRATION");

const BUCKET: &[Field] = &[
    must("id", KEY),
    must("card_id", KEY).says("The card"),
    must("card_definition_id", KEY),
    must("program_id", KEY),
    must("card_type", Kind::OneOf(&["INDIVIDUAL"])),
    must("member_id", KEY).says("Whose card it is"),
    must("points", POINTS),
    must("created_at", Kind::DateTime),
    must("updated_at", Kind::DateTime).or_null(),
];

/// What waits.
pub const PENDING_BUCKET: Kind = shape!(
    "CardPendingPointsBucket",
    "Points that cannot be spent yet",
    fields_of!(
        BUCKET,
        &[
            must("date", Kind::Date)
                .says("The first day on which they can be spent, or the last on which their event may come"),
            must("type", Kind::OneOf(&["PERIOD_BASED", "FIXED_DATES", "EVENT_BASED"])),
            must("status", Kind::OneOf(&["PENDING", "ACTIVATED", "CANCELED", "DELETED"])),
            object(&["card_pending_points_bucket"]),
        ]
    )
);

/// A lot.
pub const EXPIRING_BUCKET: Kind = shape!(
    "CardPointsBucket",
    "Points that lapse together",
    fields_of!(
        BUCKET,
        &[
            must("customer_id", KEY),
            must("expiration_date", Kind::Date).says("The last day on which they can be spent"),
            must("expiration_type", EXPIRATION_TYPES),
            must("status", Kind::OneOf(&["ACTIVE", "DELETED", "EXPIRED"])),
            object(&["card_points_bucket"]),
        ]
    )
);

const PIECE: Kind = Kind::Object(&[may("product_id", KEY), must("id", KEY)]);

/// What became of an incentive that a member earned.
pub const BENEFIT_TRANSACTION: Kind = shape!(
    "BenefitTransaction",
    "What a member was given beside points",
    &[
        must("id", KEY),
        must("benefit_id", KEY).says("What it is of"),
        must("program_id", KEY),
        must("member_id", KEY).says("Who was given it"),
        must("earning_rule_id", KEY).says("The rule by which it was earned"),
        must("type", Kind::OneOf(&["FULFILLMENT"])),
        must(
            "details",
            Kind::Object(&[
                must("rejection", Kind::Object(&[must("reason", Kind::Text)]))
                    .or_null()
                    .says("Why it could not be given"),
                must(
                    "result",
                    Kind::Object(&[
                        may("product", NAMED).says("Goods to be sent"),
                        may("sku", PIECE).says("A variant of them to be sent"),
                        may("voucher", Kind::Object(&[must("id", KEY), must("code", KEY), must("campaign_id", KEY)]))
                            .says("The code that was published to the customer"),
                        may("card", NAMED).says("The card to which points went"),
                        may("points", POINTS).says("How many points"),
                    ])
                )
                .or_null()
                .says("What was given"),
            ])
        ),
        must("status", Kind::OneOf(&["PENDING", "APPROVED", "REJECTED"])),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["benefit_transaction"]),
    ]
);
