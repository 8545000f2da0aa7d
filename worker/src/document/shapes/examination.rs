//! The shapes of dry runs: what is supposed, and what would be earned by it. It must not know what is earned.

use crate::document::fields::KEY;
use scrip::shape;
use scrip::shape::{AMOUNT, COUNT, Field, Kind, may, must, object};
use scrip::wire::order::ITEM;

const EVENT: Kind = Kind::OneOf(&["customer.order.paid", "customer.segment.entered", "customer.custom_event"]);
const DATA: Kind = Kind::Object(&[may("metadata", Kind::Map)]);
const CUSTOMER: Field = may("customer", DATA).says("What the customer says instead");
const MEMBER: Field = may("member", DATA).says("What the member says instead");

const ORDER: Kind = Kind::Object(&[
    may("amount", AMOUNT).says("Minor units; the sum of the lines when left out"),
    may("initial_amount", AMOUNT),
    may("discount_amount", AMOUNT),
    may("items", Kind::List(&ITEM, 0, 500)),
    may("metadata", Kind::Map),
]);

/// What is supposed to happen, and to whom.
pub const EXAMINE_EARNINGS: &[Field] = &[
    must(
        "trigger",
        Kind::Object(&[
            must("type", Kind::OneOf(&["ALL", "SPECIFIC"])),
            may("specific", Kind::Object(&[must("event", EVENT)])),
        ]),
    )
    .says("What happens"),
    must(
        "customer_identification",
        Kind::Object(&[
            must("type", Kind::OneOf(&["customer_id", "customer_source_id", "member_id"])),
            may("customer_id", KEY),
            may("customer_source_id", KEY).says("The caller's name for the customer"),
            may("member_id", KEY),
        ]),
    )
    .says("To whom"),
    may("customer_order_paid", Kind::Object(&[CUSTOMER, MEMBER, may("order", ORDER)])).says("The order that is paid"),
    may("customer_segment_entered", Kind::Object(&[CUSTOMER, MEMBER])).says("Some segment is entered"),
    may(
        "customer_custom_event",
        Kind::Object(&[
            must("type", Kind::OneOf(&["ALL", "SPECIFIC"])),
            may("all", Kind::Object(&[CUSTOMER, MEMBER, may("custom_event", DATA)])),
            may(
                "specific",
                Kind::Object(&[
                    CUSTOMER,
                    MEMBER,
                    must("custom_event", Kind::Object(&[must("schema_id", KEY), may("metadata", Kind::Map)])),
                ]),
            ),
        ]),
    )
    .says("An event of any schema, or of one"),
];

const RULE: Kind = Kind::Object(&[must("id", KEY), object(&["earning_rule"])]);

const CARD: Kind = shape!(
    "CardEstimation",
    "What a card would earn",
    &[
        must(
            "card",
            Kind::Object(&[
                must("id", KEY),
                must("card_definition_id", KEY),
                must("card_type", Kind::OneOf(&["INDIVIDUAL"])),
                must("code", KEY).or_null(),
                object(&["card"]),
            ])
        ),
        must("points_estimation", COUNT).says("How many points"),
        must(
            "earning_rules",
            Kind::List(
                &Kind::Object(&[
                    must("earning_rule", RULE),
                    must("points_estimation", COUNT),
                    object(&["earning_rule_estimation"]),
                ]),
                0,
                usize::MAX
            )
        )
        .says("By which rules"),
        object(&["card_estimation"]),
    ]
);

const BENEFIT: Kind = shape!(
    "BenefitEstimation",
    "What would be given beside points",
    &[
        must(
            "benefit",
            Kind::Object(&[
                must("id", KEY),
                must("name", Kind::Text),
                must("type", Kind::OneOf(&["POINTS", "POINTS_PROPORTIONAL", "MATERIAL", "DIGITAL"])),
                object(&["benefit"]),
            ])
        ),
        must(
            "earning_rules",
            Kind::List(
                &Kind::Object(&[must("earning_rule", RULE), object(&["earning_rule_estimation"])]),
                0,
                usize::MAX
            )
        )
        .says("By which rules"),
        object(&["benefit_estimation"]),
    ]
);

const MEMBERSHIP: Kind = shape!(
    "MemberEarningsOpportunity",
    "What a membership would earn",
    &[
        must(
            "member",
            Kind::Object(&[
                must("id", KEY),
                must("customer_id", KEY),
                must("program_id", KEY),
                must("metadata", Kind::Map),
                object(&["member"]),
            ])
        ),
        must(
            "program",
            Kind::Object(&[
                must("id", KEY),
                must("name", Kind::Text),
                must("metadata", Kind::Map),
                object(&["program"])
            ])
        ),
        must("cards", Kind::List(&CARD, 0, usize::MAX)).says("The cards that would earn"),
        must("benefits", Kind::List(&BENEFIT, 0, usize::MAX)).says("What would be given beside points"),
        object(&["member_earnings_opportunity"]),
    ]
);

/// What would be earned.
pub const EARNINGS: Kind = shape!(
    "EarningsExamineResult",
    "What a customer would earn",
    &[
        must("event", EVENT).or_null().says("By what; nothing where all of it was asked"),
        must(
            "customer",
            Kind::Object(&[
                must("id", KEY),
                must("source_id", KEY).or_null(),
                must("metadata", Kind::Map),
                object(&["customer"]),
            ])
        ),
        must(
            "earning_rules",
            Kind::List(
                &Kind::Object(&[
                    must("id", KEY),
                    must("name", Kind::Text),
                    must("metadata", Kind::Map),
                    object(&["earning_rule"]),
                ]),
                0,
                usize::MAX
            )
        )
        .says("The rules that would fire"),
        must("memberships", Kind::List(&MEMBERSHIP, 0, usize::MAX)).says("What each membership would earn"),
        object(&["earnings_examine_result"]),
    ]
);
