//! The shapes of earning estimates: the supposed event, and the points and incentives that it would earn.

use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{AMOUNT, COUNT, Field, FieldType, may, must, object};
use scrip::wire::order::ITEM;

const EVENT: FieldType =
    FieldType::OneOf(&["customer.order.paid", "customer.segment.entered", "customer.custom_event"]);
const DATA: FieldType = FieldType::Object(&[may("metadata", FieldType::Map)]);
const CUSTOMER: Field =
    may("customer", DATA).description("Supposed metadata of the customer, merged over the stored one.");
const MEMBER: Field = may("member", DATA).description("Supposed metadata of each member, merged over the stored one.");

const ORDER: FieldType = FieldType::Object(&[
    may("amount", AMOUNT).description("Amount of the order in minor units. Default is the sum of the items."),
    may("initial_amount", AMOUNT).description("Amount of the order before free units were added, in minor units."),
    may("discount_amount", AMOUNT).description("Discount on the order as a whole, in minor units."),
    may("items", FieldType::List(&ITEM, 0, 500)).description("Items of the order."),
    may("metadata", FieldType::Map),
]);

/// Supposed event and its customer.
pub const EXAMINE_EARNINGS: &[Field] = &[
    must(
        "trigger",
        FieldType::Object(&[
            must("type", FieldType::OneOf(&["ALL", "SPECIFIC"]))
                .description("`ALL` to examine every type of event, `SPECIFIC` for one."),
            may("specific", FieldType::Object(&[must("event", EVENT).description("Type of the event.")]))
                .description("Event to examine. Required by `SPECIFIC`."),
        ]),
    )
    .description("Events to examine."),
    must(
        "customer_identification",
        FieldType::Object(&[
            must("type", FieldType::OneOf(&["customer_id", "customer_source_id", "member_id"]))
                .description("Type of the identification. Determines which field is read."),
            may("customer_id", KEY).description("ID of the customer."),
            may("customer_source_id", KEY).description("ID of the customer in the caller's system."),
            may("member_id", KEY).description("ID of a member. Limits the answer to this membership."),
        ]),
    )
    .description("Identification of the customer."),
    may(
        "customer_order_paid",
        FieldType::Object(&[
            CUSTOMER,
            MEMBER,
            may("order", ORDER).description("Supposed order. Default is an empty order."),
        ]),
    )
    .description("Supposed payment of an order."),
    may("customer_segment_entered", FieldType::Object(&[CUSTOMER, MEMBER]))
        .description("Supposed entry into a segment. All rules that wait for a segment apply."),
    may(
        "customer_custom_event",
        FieldType::Object(&[
            must("type", FieldType::OneOf(&["ALL", "SPECIFIC"]))
                .description("`ALL` for an event of any schema, `SPECIFIC` for one schema."),
            may(
                "all",
                FieldType::Object(&[
                    CUSTOMER,
                    MEMBER,
                    may("custom_event", DATA).description("Supposed metadata of the event."),
                ]),
            )
            .description("Supposed event of any schema. Allowed with `ALL` only."),
            may(
                "specific",
                FieldType::Object(&[
                    CUSTOMER,
                    MEMBER,
                    must(
                        "custom_event",
                        FieldType::Object(&[
                            must("schema_id", KEY).description("ID of the event schema."),
                            may("metadata", FieldType::Map),
                        ]),
                    )
                    .description("Schema and supposed metadata of the event."),
                ]),
            )
            .description("Supposed event of one schema. Required by `SPECIFIC`."),
        ]),
    )
    .description("Supposed custom event."),
];

const RULE: FieldType = FieldType::Object(&[must("id", KEY), object(&["earning_rule"])]);

const CARD: FieldType = shape!(
    "CardEstimation",
    "Points that one card would earn.",
    &[
        must(
            "card",
            FieldType::Object(&[
                must("id", KEY),
                must("card_definition_id", KEY).description("ID of the card definition."),
                must("card_type", FieldType::OneOf(&["INDIVIDUAL"]))
                    .description("Type of the card. Always `INDIVIDUAL`."),
                must("code", KEY).or_null().description("Code of the card. `null` if all codes were taken."),
                object(&["card"]),
            ])
        )
        .description("Card of the member."),
        must("points_estimation", COUNT).description("Number of points that the card would earn."),
        must(
            "earning_rules",
            FieldType::List(
                &FieldType::Object(&[
                    must("earning_rule", RULE).description("Earning rule."),
                    must("points_estimation", COUNT).description("Number of points that the rule would grant."),
                    object(&["earning_rule_estimation"]),
                ]),
                0,
                usize::MAX
            )
        )
        .description("Earning rules that would grant the points."),
        object(&["card_estimation"]),
    ]
);

const BENEFIT: FieldType = shape!(
    "BenefitEstimation",
    "Incentive that a member would receive.",
    &[
        must(
            "benefit",
            FieldType::Object(&[
                must("id", KEY),
                must("name", FieldType::Text).description("Name of the benefit."),
                must("type", FieldType::OneOf(&["POINTS", "POINTS_PROPORTIONAL", "MATERIAL", "DIGITAL"]))
                    .description("Type of the benefit."),
                object(&["benefit"]),
            ])
        )
        .description("Incentive, in the form of a benefit."),
        must(
            "earning_rules",
            FieldType::List(
                &FieldType::Object(&[
                    must("earning_rule", RULE).description("Earning rule."),
                    object(&["earning_rule_estimation"])
                ]),
                0,
                usize::MAX
            )
        )
        .description("Earning rules that would grant the benefit."),
        object(&["benefit_estimation"]),
    ]
);

const MEMBERSHIP: FieldType = shape!(
    "MemberEarningsOpportunity",
    "Points and benefits that one membership would earn.",
    &[
        must(
            "member",
            FieldType::Object(&[
                must("id", KEY),
                must("customer_id", KEY).description("ID of the customer."),
                must("program_id", KEY).description("ID of the loyalty program."),
                must("metadata", FieldType::Map),
                object(&["member"]),
            ])
        )
        .description("Member."),
        must(
            "program",
            FieldType::Object(&[
                must("id", KEY),
                must("name", FieldType::Text).description("Name of the loyalty program."),
                must("metadata", FieldType::Map),
                object(&["program"])
            ])
        )
        .description("Loyalty program."),
        must("cards", FieldType::List(&CARD, 0, usize::MAX)).description("Cards that would earn points."),
        must("benefits", FieldType::List(&BENEFIT, 0, usize::MAX))
            .description("Incentives that the member would receive."),
        object(&["member_earnings_opportunity"]),
    ]
);

/// Customer of an estimate.
pub(super) const CUSTOMER_OF_ESTIMATE: FieldType = FieldType::Object(&[
    must("id", KEY),
    must("source_id", KEY).or_null().description("ID of the customer in the caller's system. `null` without one."),
    may("metadata", FieldType::Map),
    object(&["customer"]),
]);

/// Points and incentives that would be earned.
pub const EARNINGS: FieldType = shape!(
    "EarningsExamineResult",
    "Points and benefits that a customer would earn.",
    &[
        must("event", EVENT).or_null().description("Type of the examined event. `null` if every type was examined."),
        must("customer", CUSTOMER_OF_ESTIMATE).description("Customer as stored."),
        must(
            "earning_rules",
            FieldType::List(
                &FieldType::Object(&[
                    must("id", KEY),
                    must("name", FieldType::Text).description("Name of the earning rule."),
                    must("metadata", FieldType::Map),
                    object(&["earning_rule"]),
                ]),
                0,
                usize::MAX
            )
        )
        .description("Earning rules that would grant something."),
        must("memberships", FieldType::List(&MEMBERSHIP, 0, usize::MAX))
            .description("Memberships of the customer, with the earnings of each."),
        object(&["earnings_examine_result"]),
    ]
);
