//! The shapes of what members do with points: rewards that they buy and give back, orders that they pay, and what they could buy. It must
//! not know when any of it may be done.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use crate::document::shapes::loyalty_gifts::MATERIAL;
use scrip::shape::{COUNT, Field, INT_MAX, Kind, may, must, object};
use scrip::{fields_of, shape};

const MODE: Field =
    may("mode", Kind::OneOf(&["TRANSACTION", "DRY_RUN"])).or_null().says("Whether it is done or only tried");
const NAMED: Kind = Kind::Object(&[must("id", KEY)]);

/// What a reward is bought by.
pub const BUY: &[Field] = &[must("reward_id", KEY), MODE];

/// What a purchase is given back by.
pub const REFUND: &[Field] = &[may(
    "policies",
    Kind::Object(&[
        may("refund", Kind::OneOf(&["DEFAULT", "ALLOW"]))
            .or_null()
            .says("Whether points come back that the reward says do not"),
        may("stock", Kind::OneOf(&["DEFAULT", "WRITE_OFF"])).or_null().says("Whether there is one more again"),
    ]),
)
.or_null()
.says("What is done otherwise than by default")];

const TAKEN_BACK: &[&str] = &["SKIPPED", "DELETED", "CREDITS_SUBTRACTED"];
const RESULT: Field = may("result", Kind::OneOf(TAKEN_BACK)).says("What became of it when it was given back");

const DIGITAL: Kind = shape!(
    "HandedCode",
    "Codes or points that were handed over",
    &[
        may("type", Kind::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS", "LOYALTY_CARD_POINTS"])),
        may("discount_coupons", Kind::List(&Kind::Object(&[must("id", KEY), must("code", KEY), RESULT]), 0, 1))
            .says("Discount codes"),
        may(
            "gift_vouchers",
            Kind::List(
                &Kind::Object(&[
                    must("id", KEY),
                    must("code", KEY),
                    must("amount", COUNT).says("Minor units that were put on it"),
                    must("balance", COUNT).says("Minor units that were on it then"),
                    RESULT,
                ]),
                0,
                1
            )
        )
        .says("Gift cards"),
        may(
            "loyalty_card_points",
            Kind::Object(&[
                must("points", COUNT).says("How many"),
                must("card_definition_id", KEY),
                must("card_id", KEY).says("On which card"),
            ])
        )
        .says("Points on a card"),
    ]
);

const HANDED: Kind = shape!(
    "HandedReward",
    "What was handed over",
    &[
        must("reward", Kind::Object(&[must("id", KEY), must("type", Kind::OneOf(&["MATERIAL", "DIGITAL"]))])),
        must("quantity", COUNT).says("How many"),
        must("material", MATERIAL).or_null().says("Goods"),
        must("digital", DIGITAL).or_null().says("Codes or points"),
    ]
);

const REJECTION: Kind = shape!(
    "TransactionRejection",
    "Why it was not done",
    &[must("reason", Kind::Text).says("In a word"), may("details", Kind::Map).says("What stood in the way")]
);

const REWARD_DETAILS: Kind = Kind::Object(&[
    must("reason", Kind::Text),
    must("rejection", REJECTION).or_null().says("Why it was not done"),
    must("metadata", Kind::Map),
    must("points", Kind::Object(&[must("total", COUNT).says("How many")])),
    must("result", HANDED).or_null().says("What was handed over"),
    may(
        "purchase",
        Kind::Object(&[
            must("card_transaction", NAMED).says("What it did to the card"),
            must("reward_transaction", NAMED).says("The purchase"),
        ]),
    )
    .says("What is given back"),
]);

/// A purchase of a reward, or its refund.
pub const REWARD_TRANSACTION: Kind = shape!(
    "RewardTransaction",
    "A purchase of a reward, or its refund",
    &[
        may("id", KEY),
        must("card_id", KEY).says("The card that pays"),
        must("card_transaction_id", KEY).or_null().says("What happened to its points"),
        must("program_id", KEY),
        must("member_id", KEY).says("Who buys"),
        must("reward_id", KEY).says("What is bought"),
        must("status", Kind::OneOf(&["PENDING", "PROCESSING", "APPROVED", "REJECTED", "SIMULATED", "REFUNDED"])),
        must("type", Kind::OneOf(&["PURCHASE", "REFUND"])),
        must("details", REWARD_DETAILS),
        may("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["reward_transaction"]),
    ]
);

/// What is answered of a transaction: itself, and what became of the call.
macro_rules! answered {
    ($name:literal, $says:literal, $transaction:expr, $statuses:expr) => {
        shape!(
            $name,
            $says,
            &[
                must("transaction", $transaction).says("What is done"),
                must("status", Kind::OneOf($statuses)),
                must("message", Kind::Text),
            ]
        )
    };
}

/// What a purchase answers.
pub const BOUGHT: Kind =
    answered!("RewardPurchase", "What becomes of a purchase", REWARD_TRANSACTION, &["TRANSACTION_CREATED", "DRY_RUN"]);
/// What a refund answers.
pub const REFUNDED: Kind =
    answered!("RewardRefund", "What becomes of a purchase that is given back", REWARD_TRANSACTION, &["APPROVED"]);

const LIMIT: Kind = Kind::Object(&[must("max", Kind::Int(1, INT_MAX)).says("As much")]);

/// What an order is paid by.
pub const PAY: &[Field] = &[
    must("card_id", KEY).says("The card that pays"),
    must("order", Kind::Object(&[may("id", KEY).or_null(), may("source_id", KEY).or_null()]))
        .says("The order, by either of its names"),
    may(
        "payment_limit",
        Kind::Object(&[
            may("type", Kind::OneOf(&["CARD_BALANCE", "POINTS_LIMIT", "AMOUNT_LIMIT"])),
            may("points_limit", LIMIT).or_null().says("At most so many points"),
            may("amount_limit", LIMIT).or_null().says("At most so many minor units"),
        ]),
    )
    .or_null()
    .says("How much is paid at most"),
    MODE,
];
/// Which blocks belong together.
pub const PAY_CHOICES: &[Choice] = &[choice(
    "payment_limit",
    "type",
    &[("CARD_BALANCE", &[]), ("POINTS_LIMIT", &["points_limit"]), ("AMOUNT_LIMIT", &["amount_limit"])],
)];

/// A payment of an order.
pub const ORDER_TRANSACTION: Kind = shape!(
    "OrderTransaction",
    "A payment of an order with points",
    &[
        may("id", KEY),
        must("program_id", KEY),
        must("member_id", KEY).says("Who pays"),
        must("card_id", KEY).says("The card that pays"),
        must("card_definition_id", KEY),
        must("card_transaction_id", KEY).or_null().says("What happened to its points"),
        must("order_id", KEY).says("What is paid"),
        must("status", Kind::OneOf(&["PENDING", "PROCESSING", "APPROVED", "REJECTED", "SIMULATED"])),
        must("type", Kind::OneOf(&["PAY_WITH_POINTS"])),
        must(
            "details",
            Kind::Object(&[
                must("reason", Kind::Text),
                must("rejection", REJECTION).or_null().says("Why it was not done"),
                must(
                    "metadata",
                    Kind::Object(&[
                        may("amount_limit", COUNT).says("At most so many minor units"),
                        may("points_limit", COUNT).says("At most so many points"),
                    ])
                ),
                may(
                    "payment",
                    Kind::Object(&[
                        may("id", KEY),
                        must("amount", COUNT).says("Minor units that are paid"),
                        must("points_spent", COUNT).says("What they cost"),
                        must("exchange_ratio", Kind::Number(0, INT_MAX)).says("How many points a minor unit costs"),
                    ])
                )
                .says("What is paid"),
            ])
        ),
        may("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["order_transaction"]),
    ]
);

/// What a payment answers.
pub const PAID: Kind =
    answered!("OrderPayment", "What becomes of a payment", ORDER_TRANSACTION, &["TRANSACTION_CREATED", "DRY_RUN"]);

/// What is asked of what somebody could buy.
pub const EXAMINE: &[Field] = &[
    must(
        "customer_identification",
        Kind::Object(&[
            may("type", Kind::OneOf(super::members::IDENTIFIED_BY)),
            may("customer_id", KEY).or_null(),
            may("customer_source_id", KEY).or_null().says("The caller's name for the customer"),
            may("member_id", KEY).or_null().says("The membership"),
        ]),
    )
    .says("Who asks"),
    may("customer", Kind::Object(&[may("metadata", Kind::Map).or_null()]))
        .says("What differs from the customer as stored"),
    may("member", Kind::Object(&[may("metadata", Kind::Map).or_null()])).says("What differs from the member as stored"),
];
/// Which name comes with which type.
pub const EXAMINE_CHOICES: &[Choice] = &[choice(
    "customer_identification",
    "type",
    &[
        ("customer_id", &["customer_id"]),
        ("customer_source_id", &["customer_source_id"]),
        ("member_id", &["member_id"]),
    ],
)];

const PLAIN: &[Field] = &[must("id", KEY), must("metadata", Kind::Map)];

const ESTIMATE: Kind = shape!(
    "RewardEstimation",
    "Whether a reward could be bought with a card",
    &[
        must("reward", Kind::Object(&[must("id", KEY), object(&["reward"])])),
        must("status", Kind::OneOf(&["AVAILABLE", "UNAVAILABLE"])),
        must("cost", Kind::Object(&[must("points", COUNT).says("What it costs"), object(&["reward_cost"])]))
            .says("What it costs"),
        may(
            "unavailability_reasons",
            Kind::List(
                &Kind::Object(&[
                    must("reason", Kind::OneOf(&["insufficient_balance", "no_target_card"])),
                    must(
                        "details",
                        Kind::Object(&[
                            may("required", COUNT).says("What it costs"),
                            may("available", COUNT).says("What there is"),
                            may("missing", COUNT).says("What lacks"),
                            may("card_definition_id", KEY),
                        ])
                    ),
                    object(&["reward_unavailability_reason"]),
                ]),
                0,
                2
            )
        )
        .says("Why not"),
        object(&["reward_estimation"]),
    ]
);

/// What somebody could buy.
pub const EXAMINED: Kind = shape!(
    "RewardsExamineResult",
    "What somebody could buy with points",
    &[
        must("customer", Kind::Object(fields_of!(PLAIN, &[must("source_id", KEY).or_null(), object(&["customer"])]))),
        must(
            "rewards",
            Kind::List(
                &Kind::Object(fields_of!(
                    PLAIN,
                    &[
                        must("name", Kind::Text),
                        must("type", Kind::OneOf(&["MATERIAL", "DIGITAL"])),
                        may("purchase_limits", super::earnings::TRIGGER_LIMITS).says("How often one member may buy it"),
                        object(&["reward"]),
                    ]
                )),
                0,
                usize::MAX
            )
        )
        .says("The rewards that are told of"),
        must(
            "memberships",
            Kind::List(
                &Kind::Object(&[
                    must(
                        "member",
                        Kind::Object(fields_of!(
                            PLAIN,
                            &[must("customer_id", KEY), must("program_id", KEY), object(&["member"])]
                        ))
                    )
                    .says("The member"),
                    must("program", Kind::Object(fields_of!(PLAIN, &[must("name", Kind::Text), object(&["program"])])))
                        .says("The program"),
                    must(
                        "cards",
                        Kind::List(
                            &Kind::Object(&[
                                must(
                                    "card",
                                    Kind::Object(&[
                                        must("id", KEY),
                                        must("card_definition_id", KEY),
                                        must("card_type", Kind::OneOf(&["INDIVIDUAL"])),
                                        must("code", KEY).or_null(),
                                        object(&["card"]),
                                    ])
                                )
                                .says("The card"),
                                must("rewards", Kind::List(&ESTIMATE, 0, usize::MAX)).says("What it could buy"),
                                object(&["card_estimation"]),
                            ]),
                            0,
                            usize::MAX
                        )
                    )
                    .says("The cards, with what each could buy"),
                    object(&["member_rewards_opportunity"]),
                ]),
                0,
                usize::MAX
            )
        )
        .says("The programs in which something could be bought"),
        object(&["rewards_examine_result"]),
    ]
);
