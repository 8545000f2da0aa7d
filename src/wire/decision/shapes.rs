//! The shapes of validations. It must not know how an answer came about.

use crate::shape::{AMOUNT, COUNT, Field, KEY, Kind, Shape, TEXTS, may, must};
use crate::shape::{fields_of, shape};
use crate::wire::error::REFUSAL;
use crate::wire::offer::RESOLVED;
use crate::wire::order_view::ORDER;
use crate::wire::request::{LOCK, OBJECT, TTL_UNIT};
use crate::wire::reward::REWARD;
use crate::wire::scope::GOODS_LIST;
use crate::wire::stacking::STACKING_RULES;
use crate::wire::trace::TRACE;
use crate::wire::voucher::LISTED_CATEGORY;

const BUNDLED: &[Field] =
    &[must("object", Kind::Text), must("id", KEY), must("item_quantity", COUNT).says("How many units")];

/// The bundles of goods that a rule asks for.
const BUNDLES: Kind = shape!(
    "Bundles",
    "The bundles of goods that a rule asks for",
    &[
        must("quantity", COUNT).says("How many bundles are complete"),
        must("limit", COUNT).says("How many count at most"),
        must(
            "identified",
            Kind::List(
                &Kind::Object(fields_of!(BUNDLED, &[must("item_index", COUNT).says("The place of the line")])),
                0,
                usize::MAX
            )
        )
        .says("What of the order belongs to them"),
        may("missing", Kind::List(&Kind::Object(BUNDLED), 0, usize::MAX)).says("What the next one lacks"),
    ]
);

/// What a redeemable gives.
pub const GRANT: Kind = shape!(
    "Grant",
    "What a redeemable gives",
    &[
        may("discount", RESOLVED),
        may(
            "gift",
            Kind::Object(&[
                must("balance", AMOUNT).says("What was on it"),
                must("credits", AMOUNT).says("What is spent"),
                may("locked_credits", AMOUNT).says("What sessions hold of it"),
            ])
        ),
        may(
            "loyalty_card",
            Kind::Object(&[
                must("points", COUNT).says("Points that are spent, or that are on it where nothing was asked for"),
                may("balance", COUNT),
            ])
        ),
        may("reward", REWARD),
        may("bundle", BUNDLES).says("The bundles of goods that its rules ask for"),
    ]
);

/// A reason in short.
pub const REASON: Kind = shape!(
    "Reason",
    "A reason in short",
    &[must("key", Kind::Text).says("For programs: `voucher_expired`, `not_found`, …"), must("message", Kind::Text)]
);

const EXPANSION: &[Field] = &[
    may("metadata", Kind::Map).says("Custom data, with `redeemable`"),
    may("name", Kind::Text).says("The name of a tier or a stack, with `redeemable`"),
    may("banner", Kind::Text),
    may("campaign_name", Kind::Text),
    may("campaign_id", KEY),
    may("categories", Kind::List(&LISTED_CATEGORY, 0, 1)).says("Its category, with `category`"),
];

/// What `expand` adds to what is said of a redeemable.
pub const EXPANDED: Shape = Shape {
    name: "Expanded",
    meaning: "What `expand` adds to what is said of a redeemable",
    kind: Kind::Object(EXPANSION),
};

const NAMED: &[Field] = &[must("id", KEY).says("As it was asked for; of a stack, the tier"), must("object", OBJECT)];

/// It applies.
pub const APPLICABLE: Kind = shape!(
    "Applicable",
    "It applies",
    fields_of!(
        &[must("status", Kind::OneOf(&["APPLICABLE"]))],
        NAMED,
        &[
            may("order", ORDER).says("The order after it"),
            must("applicable_to", GOODS_LIST),
            must("inapplicable_to", GOODS_LIST),
            must("result", GRANT).says("What it gives"),
        ],
        EXPANSION,
    )
);

/// It does not apply.
pub const INAPPLICABLE: Kind = shape!(
    "Inapplicable",
    "It does not apply",
    fields_of!(
        &[must("status", Kind::OneOf(&["INAPPLICABLE"]))],
        NAMED,
        &[must(
            "result",
            Kind::Object(&[
                must("error", REFUSAL).says("Why"),
                must("details", REASON).says("Why, in short"),
                may("bundle", BUNDLES).says("The bundles of goods that its rules ask for"),
            ])
        )],
        EXPANSION,
    )
);

/// It was not tried, or left out.
pub const SKIPPED: Kind = shape!(
    "Skipped",
    "It was not tried, or left out; the key is `known_to_server_only` when the rules do not have the code",
    fields_of!(
        &[must("status", Kind::OneOf(&["SKIPPED"]))],
        NAMED,
        &[must("result", Kind::Object(&[must("details", REASON).says("Why")]))],
        EXPANSION,
    )
);

/// The verdict on one redeemable.
pub const REDEEMABLE: Kind = Kind::Named(&Shape {
    name: "Redeemable",
    meaning: "The verdict on one redeemable: `status` says which",
    kind: Kind::Either(&[APPLICABLE, INAPPLICABLE, SKIPPED]),
});

/// A lock on redeemables.
pub const SESSION: Kind = shape!(
    "Session",
    "A lock on redeemables",
    &[
        must("type", LOCK),
        must("key", KEY).says("What to redeem with"),
        must("ttl", COUNT).says("How long it lasts"),
        must("ttl_unit", TTL_UNIT).says("The unit of `ttl`"),
    ]
);

/// The lists of what was refused and left out.
pub const REFUSED: Kind = Kind::List(&INAPPLICABLE, 0, 30);
/// What was left out.
pub const LEFT_OUT: Kind = Kind::List(&SKIPPED, 0, 30);

/// Why, redeemable by redeemable.
pub const TRACES: Field = may("trace", Kind::List(&TRACE, 0, 30)).says("Why, redeemable by redeemable, with `trace`");

/// The verdict on a request.
pub const VALIDATION: Kind = shape!(
    "Validation",
    "The verdict on a request: what `POST /client/v1/validations` answers",
    &[
        must("id", KEY),
        must("valid", Kind::Bool).says("Whether the request can be redeemed as it is"),
        must("redeemables", Kind::List(&REDEEMABLE, 0, 30)).says("What applies; of a request that does not, all"),
        may("inapplicable_redeemables", REFUSED).says("What does not apply"),
        may("skipped_redeemables", LEFT_OUT).says("What was left out"),
        may("order", ORDER).says("The order after all; only when `valid`"),
        may("tracking_id", Kind::Text),
        may("session", SESSION).says("The lock, where one was asked for"),
        must("stacking_rules", STACKING_RULES),
        may("provisional", TEXTS),
        TRACES,
    ]
);
