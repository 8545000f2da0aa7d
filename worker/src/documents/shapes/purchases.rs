//! The shapes of purchases, refunds, payments of orders, and estimates of purchases.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::estimates::CUSTOMER_OF_ESTIMATE;
use crate::documents::shapes::loyalty_gifts::MATERIAL;
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{COUNT, Field, FieldType, INT_MAX, may, must, object};
use scrip::{fields_of, shape};

const MODE: Field = may("mode", FieldType::OneOf(&["TRANSACTION", "DRY_RUN"])).or_null().description(
    "`TRANSACTION` to execute the call, `DRY_RUN` to calculate only and store nothing. Default `TRANSACTION`.",
);
const NAMED: FieldType = FieldType::Object(&[must("id", KEY)]);

/// Fields of a purchase of a reward.
pub const BUY: &[Field] =
    &[must("reward_id", KEY).description("ID of the reward, which must be assigned to the program."), MODE];

/// Fields of a refund of a purchase.
pub const REFUND: &[Field] = &[may(
    "policies",
    FieldType::Object(&[
        may("refund", FieldType::OneOf(&["DEFAULT", "ALLOW"])).or_null().description(
            "`ALLOW` returns all points even if the reward is not refundable or was used. Default `DEFAULT`.",
        ),
        may("stock", FieldType::OneOf(&["DEFAULT", "WRITE_OFF"]))
            .or_null()
            .description("`WRITE_OFF` to leave the stock unchanged, `DEFAULT` to return one unit. Default `DEFAULT`."),
    ]),
)
.or_null()
.description("Exceptions from the default refund. Absent means none.")];

const REFUND_RESULTS: &[&str] = &["SKIPPED", "DELETED", "CREDITS_SUBTRACTED"];
const RESULT: Field = may("result", FieldType::OneOf(REFUND_RESULTS))
    .description("Result of a refund for the voucher: kept, deleted, or balance reduced. Absent in purchases.");

const DIGITAL: FieldType = shape!(
    "DigitalFulfilment",
    "Vouchers or points that the customer received.",
    &[
        may("type", FieldType::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS", "LOYALTY_CARD_POINTS"]))
            .description("Type of the gift. Determines which block is present."),
        may(
            "discount_coupons",
            FieldType::List(
                &FieldType::Object(&[must("id", KEY), must("code", KEY).description("Code of the voucher."), RESULT]),
                0,
                1
            )
        )
        .description("Discount codes. Empty in a dry run."),
        may(
            "gift_vouchers",
            FieldType::List(
                &FieldType::Object(&[
                    must("id", KEY),
                    must("code", KEY).description("Code of the gift card."),
                    must("amount", COUNT)
                        .description("Amount added to the gift card or, in a refund, taken off, in minor units."),
                    must("balance", COUNT).description("Balance of the gift card afterwards, in minor units."),
                    RESULT,
                ]),
                0,
                1
            )
        )
        .description("Gift cards. Empty in a dry run."),
        may(
            "loyalty_card_points",
            FieldType::Object(&[
                must("points", COUNT).description("Number of points."),
                must("card_definition_id", KEY).description("ID of the card definition of the card."),
                must("card_id", KEY).description("ID of the card that received the points."),
            ])
        )
        .description("Points added to a card of the member."),
    ]
);

const FULFILMENT: FieldType = shape!(
    "RewardFulfilment",
    "Reward that the customer received.",
    &[
        must(
            "reward",
            FieldType::Object(&[
                must("id", KEY),
                must("type", FieldType::OneOf(&["MATERIAL", "DIGITAL"])).description("Type of the reward.")
            ])
        )
        .description("Reward that was bought."),
        must("quantity", COUNT).description("Number of units. Always 1."),
        must("material", MATERIAL).or_null().description("Goods that the customer receives. `null` for other rewards."),
        must("digital", DIGITAL).or_null().description("Vouchers or points. `null` for goods."),
    ]
);

const REJECTION: FieldType = shape!(
    "TransactionRejection",
    "Reason of a rejected transaction.",
    &[
        must("reason", FieldType::Text).description("Key of the reason."),
        may("details", FieldType::Map).description("Data of the reason: the limit that was exceeded, or a message.")
    ]
);

const REWARD_DETAILS: FieldType = FieldType::Object(&[
    must("reason", FieldType::Text).description("Kind of the transaction as a text."),
    must("rejection", REJECTION).or_null().description("Reason of a rejection. `null` unless `status` is `REJECTED`."),
    must("metadata", FieldType::Map),
    must("points", FieldType::Object(&[must("total", COUNT).description("Number of points.")]))
        .description("Points that the purchase costs or the refund returns."),
    must("result", FULFILMENT).or_null().description(
        "Reward as the customer received it, or as the refund revoked it. `null` while pending or if rejected.",
    ),
    may(
        "purchase",
        FieldType::Object(&[
            must("card_transaction", NAMED).description("Card transaction that took the points."),
            must("reward_transaction", NAMED).description("Reward transaction of the purchase."),
        ]),
    )
    .description("Purchase that is refunded. Present in refunds only."),
]);

/// A purchase of a reward, or its refund.
pub const REWARD_TRANSACTION: FieldType = shape!(
    "RewardTransaction",
    "Record of a purchase of a reward with points, or of the refund of a purchase.",
    &[
        may("id", KEY),
        must("card_id", KEY).description("ID of the card that pays."),
        must("card_transaction_id", KEY).or_null().description("ID of the transaction on the card. `null` if no points moved."),
        must("program_id", KEY).description("ID of the loyalty program."),
        must("member_id", KEY).description("ID of the member."),
        must("reward_id", KEY).description("ID of the reward."),
        must("status", FieldType::OneOf(&["PENDING", "PROCESSING", "APPROVED", "REJECTED", "SIMULATED", "REFUNDED"])).description("Status of the transaction. `PENDING` in the answer to a purchase, `SIMULATED` in a dry run, `REFUNDED` after a refund."),
        must("type", FieldType::OneOf(&["PURCHASE", "REFUND"])).description("Type of the transaction."),
        must("details", REWARD_DETAILS).description("Details of the transaction."),
        may("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["reward_transaction"]),
    ]
);

/// Returns the field with a transaction of this type.
const fn transaction(kind: FieldType) -> Field {
    must("transaction", kind).description("Recorded or simulated transaction.")
}

/// Returns the field with the status of the call.
const fn status(statuses: &'static [&'static str]) -> Field {
    must("status", FieldType::OneOf(statuses)).description("Result of the call.")
}

const MESSAGE: Field = must("message", FieldType::Text).description("Result of the call as a sentence.");

/// Response of a purchase.
pub const BOUGHT: FieldType = shape!(
    "RewardPurchase",
    "Result of a call that buys a reward.",
    &[transaction(REWARD_TRANSACTION), status(&["TRANSACTION_CREATED", "DRY_RUN"]), MESSAGE]
);
/// Response of a refund.
pub const REFUNDED: FieldType = shape!(
    "RewardRefund",
    "Result of a call that refunds a reward.",
    &[transaction(REWARD_TRANSACTION), status(&["APPROVED"]), MESSAGE]
);

const LIMIT: FieldType =
    FieldType::Object(&[must("max", FieldType::Int(1, INT_MAX)).description("Upper limit, in points or minor units.")]);

/// Fields of a payment of an order.
pub const PAY: &[Field] = &[
    must("card_id", KEY).description("ID of the member's card that pays."),
    must(
        "order",
        FieldType::Object(&[
            may("id", KEY).or_null(),
            may("source_id", KEY)
                .or_null()
                .description("ID of the order in the caller's system. Ignored if `id` is sent."),
        ]),
    )
    .description("Order to pay, which must belong to the customer. One of the fields is required."),
    may(
        "payment_limit",
        FieldType::Object(&[
            may("type", FieldType::OneOf(&["CARD_BALANCE", "POINTS_LIMIT", "AMOUNT_LIMIT"]))
                .description("Type of the limit: none but the balance, points, or amount."),
            may("points_limit", LIMIT).or_null().description("Maximum number of points to spend."),
            may("amount_limit", LIMIT).or_null().description("Maximum amount to pay, in minor units."),
        ]),
    )
    .or_null()
    .description("Limit of the payment. By default as much as the balance allows."),
    MODE,
];
/// Blocks that belong together.
pub const PAY_CHOICES: &[TaggedBlock] = &[tagged_block(
    "payment_limit",
    "type",
    &[("CARD_BALANCE", &[]), ("POINTS_LIMIT", &["points_limit"]), ("AMOUNT_LIMIT", &["amount_limit"])],
)];

/// A payment of an order.
pub const ORDER_TRANSACTION: FieldType = shape!(
    "OrderTransaction",
    "Record of a payment of an order with points.",
    &[
        may("id", KEY),
        must("program_id", KEY).description("ID of the loyalty program."),
        must("member_id", KEY).description("ID of the member."),
        must("card_id", KEY).description("ID of the card that pays."),
        must("card_definition_id", KEY).description("ID of the card definition of the card."),
        must("card_transaction_id", KEY)
            .or_null()
            .description("ID of the transaction on the card. `null` if no points moved."),
        must("order_id", KEY).description("ID of the order."),
        must("status", FieldType::OneOf(&["PENDING", "PROCESSING", "APPROVED", "REJECTED", "SIMULATED"]))
            .description("Status of the transaction. `PENDING` in the answer to a payment, `SIMULATED` in a dry run."),
        must("type", FieldType::OneOf(&["PAY_WITH_POINTS"]))
            .description("Type of the transaction. Always `PAY_WITH_POINTS`."),
        must(
            "details",
            FieldType::Object(&[
                must("reason", FieldType::Text).description("Kind of the transaction as a text."),
                must("rejection", REJECTION)
                    .or_null()
                    .description("Reason of a rejection. `null` unless `status` is `REJECTED`."),
                must(
                    "metadata",
                    FieldType::Object(&[
                        may("amount_limit", COUNT).description("Maximum amount to pay, in minor units."),
                        may("points_limit", COUNT).description("Maximum number of points to spend."),
                    ])
                )
                .description("Limit that the request set."),
                may(
                    "payment",
                    FieldType::Object(&[
                        may("id", KEY),
                        must("amount", COUNT).description("Amount paid, in minor units."),
                        must("points_spent", COUNT).description("Number of points spent, rounded up."),
                        must("exchange_ratio", FieldType::Number(0, INT_MAX))
                            .description("Number of points per minor unit."),
                    ])
                )
                .description("Payment. Absent if rejected."),
            ])
        )
        .description("Details of the payment."),
        may("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["order_transaction"]),
    ]
);

/// Response of a payment.
pub const PAID: FieldType = shape!(
    "OrderPayment",
    "Result of a call that pays an order.",
    &[transaction(ORDER_TRANSACTION), status(&["TRANSACTION_CREATED", "DRY_RUN"]), MESSAGE]
);

/// Fields of a query for the rewards that a customer could buy.
pub const EXAMINE: &[Field] = &[
    must(
        "customer_identification",
        FieldType::Object(&[
            may("type", FieldType::OneOf(super::members::IDENTIFIED_BY))
                .description("Type of the identification. Determines which field is read."),
            may("customer_id", KEY).or_null().description("ID of the customer."),
            may("customer_source_id", KEY).or_null().description("ID of the customer in the caller's system."),
            may("member_id", KEY).or_null().description("ID of a member. Limits the answer to this membership."),
        ]),
    )
    .description("Identification of the customer."),
    may("customer", FieldType::Object(&[may("metadata", FieldType::Map).or_null()]))
        .description("Supposed metadata of the customer, merged over the stored one."),
    may("member", FieldType::Object(&[may("metadata", FieldType::Map).or_null()]))
        .description("Supposed metadata of each member, merged over the stored one."),
];
/// Names by type.
pub const EXAMINE_CHOICES: &[TaggedBlock] = &[tagged_block(
    "customer_identification",
    "type",
    &[
        ("customer_id", &["customer_id"]),
        ("customer_source_id", &["customer_source_id"]),
        ("member_id", &["member_id"]),
    ],
)];

const PLAIN: &[Field] = &[must("id", KEY), must("metadata", FieldType::Map)];

const ESTIMATE: FieldType = shape!(
    "RewardEstimation",
    "Estimate for buying one reward with one card.",
    &[
        must("reward", FieldType::Object(&[must("id", KEY), object(&["reward"])])).description("Reward."),
        must("status", FieldType::OneOf(&["AVAILABLE", "UNAVAILABLE"]))
            .description("`AVAILABLE` if the card can pay for the reward."),
        must(
            "cost",
            FieldType::Object(&[must("points", COUNT).description("Number of points."), object(&["reward_cost"])])
        )
        .description("Price of the reward for the member."),
        may(
            "unavailability_reasons",
            FieldType::List(
                &FieldType::Object(&[
                    must("reason", FieldType::OneOf(&["insufficient_balance", "no_target_card"]))
                        .description("Key of the reason: too few points, or no card for purchased points."),
                    must(
                        "details",
                        FieldType::Object(&[
                            may("required", COUNT).description("Number of points that the reward costs."),
                            may("available", COUNT).description("Number of points on the card."),
                            may("missing", COUNT).description("Number of points missing."),
                            may("card_definition_id", KEY).description("ID of the card definition without a card."),
                        ])
                    )
                    .description("Data of the reason."),
                    object(&["reward_unavailability_reason"]),
                ]),
                0,
                2
            )
        )
        .description("Reasons. Present only with `UNAVAILABLE`."),
        object(&["reward_estimation"]),
    ]
);

/// Rewards that a customer could buy.
pub const EXAMINED: FieldType = shape!(
    "RewardsExamineResult",
    "Rewards that a customer could buy with points.",
    &[
        must("customer", CUSTOMER_OF_ESTIMATE).description("Customer with the supposed metadata."),
        must(
            "rewards",
            FieldType::List(
                &FieldType::Object(fields_of!(
                    PLAIN,
                    &[
                        must("name", FieldType::Text).description("Name of the reward."),
                        must("type", FieldType::OneOf(&["MATERIAL", "DIGITAL"])).description("Type of the reward."),
                        may("purchase_limits", super::earnings::TRIGGER_LIMITS)
                            .description("Limits on how often one member may buy the reward. Not checked here."),
                        object(&["reward"]),
                    ]
                )),
                0,
                usize::MAX
            )
        )
        .description("Rewards that occur in the estimates."),
        must(
            "memberships",
            FieldType::List(
                &FieldType::Object(&[
                    must(
                        "member",
                        FieldType::Object(fields_of!(
                            PLAIN,
                            &[
                                must("customer_id", KEY).description("ID of the customer."),
                                must("program_id", KEY).description("ID of the loyalty program."),
                                object(&["member"])
                            ]
                        ))
                    )
                    .description("Member."),
                    must(
                        "program",
                        FieldType::Object(fields_of!(
                            PLAIN,
                            &[
                                must("name", FieldType::Text).description("Name of the loyalty program."),
                                object(&["program"])
                            ]
                        ))
                    )
                    .description("Loyalty program."),
                    must(
                        "cards",
                        FieldType::List(
                            &FieldType::Object(&[
                                must(
                                    "card",
                                    FieldType::Object(&[
                                        must("id", KEY),
                                        must("card_definition_id", KEY).description("ID of the card definition."),
                                        must("card_type", FieldType::OneOf(&["INDIVIDUAL"]))
                                            .description("Type of the card."),
                                        must("code", KEY).or_null().description("Code of the card."),
                                        object(&["card"]),
                                    ])
                                )
                                .description("Card of the member."),
                                must("rewards", FieldType::List(&ESTIMATE, 0, usize::MAX))
                                    .description("Estimates for rewards that this card would pay."),
                                object(&["card_estimation"]),
                            ]),
                            0,
                            usize::MAX
                        )
                    )
                    .description("Cards of the member, with the rewards that each could buy."),
                    object(&["member_rewards_opportunity"]),
                ]),
                0,
                usize::MAX
            )
        )
        .description("Active memberships in active programs."),
        object(&["rewards_examine_result"]),
    ]
);
