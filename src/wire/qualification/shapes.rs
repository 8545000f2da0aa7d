//! The shapes of qualifications. It must not know what qualifies.

use super::{JUNCTIONS, SCENARIOS, SORTING_RULES};
use crate::shape::{COUNT, Field, KEY, Kind, METADATA, Shape, TEXTS, may, must};
use crate::shape::{one_of, shape};
use crate::wire::customer::CUSTOMER;
use crate::wire::decision::{APPLICABLE, GRANT};
use crate::wire::order::ORDER as SENT_ORDER;
use crate::wire::order_view::ORDER;
use crate::wire::request::LOCK;
use crate::wire::scope::GOODS_LIST;
use crate::wire::stacking::STACKING_RULES;
use crate::wire::voucher::LISTED_CATEGORY;

/// Some values, or one.
const VALUES: Kind = Kind::Either(&[Kind::List(&Kind::Text, 1, 100), Kind::Text]);

/// The conditions of a filter.
const CONDITIONS: Kind = shape!(
    "FilterConditions",
    "What a field must be",
    &[may(
        "conditions",
        Kind::Object(&[
            may("$is", VALUES).says("The first of these"),
            may("$is_not", VALUES).says("Anything but the first of these"),
            may("$in", VALUES).says("One of these"),
            may("$not_in", VALUES).says("None of these"),
            may("$has_value", Kind::Any).says("Anything at all"),
            may("$is_unknown", Kind::Any).says("Nothing"),
        ])
    )]
);

const OPTIONS: Kind = Kind::Object(&[
    may("limit", Kind::Int(1, 50)).says("How many are shown; 5 when left out"),
    may("starting_after", Kind::DateTime).or_null().says("The `more_starting_after` of the page before"),
    may(
        "filters",
        Kind::Object(&[
            may("junction", one_of!(JUNCTIONS)),
            may("category_id", CONDITIONS),
            may("campaign_id", CONDITIONS),
            may("campaign_type", CONDITIONS).says("The type of the campaign"),
            may("resource_id", CONDITIONS).says("The id of what is found"),
            may("resource_type", CONDITIONS).says("The kind of what is found"),
            may("voucher_type", CONDITIONS).says("The type of the voucher"),
            may("code", CONDITIONS),
            may("holder_role", CONDITIONS).says("What the customer is to the voucher"),
        ]),
    )
    .says("What is found, by field"),
    may("expand", Kind::List(&Kind::Text, 0, 100))
        .says("`redeemable`, `category`, `validation_rules`; other names are passed over"),
    may("sorting_rule", one_of!(SORTING_RULES)).says("Newest first, or by what is taken off"),
]);

/// What is looked for.
pub const QUALIFY: Shape = Shape {
    name: "QualificationRequest",
    meaning: "What is looked for: nothing asks for whatever works for nobody in particular",
    kind: Kind::Object(&[
        may("customer", Kind::Named(&CUSTOMER)).says("For whom"),
        may("order", SENT_ORDER).says("For which cart"),
        may("tracking_id", Kind::Text),
        may("scenario", one_of!(SCENARIOS)).says("Which facts are looked at"),
        may("options", OPTIONS).says("What is shown, and how much"),
        may("session", Kind::Object(&[may("type", LOCK), may("key", KEY).says("Whose lock")]))
            .says("Whose locks are one's own"),
        METADATA.says("Of the redemption that is planned; rules may ask for it"),
    ]),
};

/// The rules of something that works, in its list.
const CHECKED: Kind = Kind::Object(&[
    must("object", Kind::OneOf(&["list"])),
    must("data_ref", Kind::OneOf(&["data"])),
    must(
        "data",
        Kind::List(
            &Kind::Object(&[
                must("id", KEY),
                must("rule_id", KEY),
                must("related_object_id", KEY),
                must("related_object_type", Kind::Text),
                must("object", Kind::OneOf(&["validation_rules_assignment"])),
                must("validation_status", Kind::OneOf(&["VALID", "PARTIALLY_VALID", "INVALID"])),
                must("validation_omitted_rules", TEXTS),
            ]),
            0,
            usize::MAX,
        ),
    ),
    must("total", COUNT),
]);

/// The members of something that works.
pub const OF_QUALIFIED: &[Field] = &[
    must("id", KEY).says("What a validation takes as a redeemable's id"),
    must("object", Kind::OneOf(&["campaign", "voucher", "promotion_tier", "promotion_stack"])),
    may("created_at", Kind::DateTime),
    may("result", GRANT).says("What it gives"),
    may("order", ORDER).says("The order with it"),
    may("applicable_to", GOODS_LIST),
    may("inapplicable_to", GOODS_LIST),
    may("validation_rule_id", KEY).says("The first rule that guards it"),
    may("validation_rules_assignments", CHECKED).says("The rules that guard it, with `validation_rules`"),
    may("redeemables", Kind::List(&APPLICABLE, 0, 30)).says("Of a stack, its tiers"),
    may("metadata", Kind::Map).says("Custom data, with `redeemable`"),
    may("name", Kind::Text).says("What people call it, with `redeemable`"),
    may("banner", Kind::Text),
    may("campaign_name", Kind::Text),
    may("campaign_id", KEY),
    may("categories", Kind::List(&LISTED_CATEGORY, 0, 1)).says("Its category, with `category`"),
];

/// Something that works, by itself.
pub const QUALIFIED: Kind = shape!("Qualified", "Something that works, by itself", OF_QUALIFIED);

/// What works, page by page.
pub const QUALIFICATION: Kind = shape!(
    "Qualification",
    "What works, page by page",
    &[
        must(
            "redeemables",
            Kind::Object(&[
                must("object", Kind::OneOf(&["list"])),
                must("data_ref", Kind::OneOf(&["data"])),
                must("data", Kind::List(&QUALIFIED, 0, 500)),
                must("total", COUNT),
                must("has_more", Kind::Bool),
                may("more_starting_after", Kind::DateTime),
            ])
        )
        .says("What works"),
        may("tracking_id", Kind::Text),
        may("order", ORDER).says("As it was sent"),
        must("stacking_rules", STACKING_RULES),
        may("provisional", TEXTS),
    ]
);
