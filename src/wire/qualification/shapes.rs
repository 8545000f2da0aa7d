//! Defines the shapes of qualifications.

use super::{JUNCTIONS, SCENARIOS, SORTING_RULES};
use crate::shape::{AMOUNT, COUNT, Field, FieldType, KEY, METADATA, Shape, TEXTS, may, must};
use crate::shape::{one_of, shape};
use crate::wire::customer::CUSTOMER;
use crate::wire::decision::{APPLICABLE, GRANT};
use crate::wire::order::ORDER as SENT_ORDER;
use crate::wire::order::view::ORDER;
use crate::wire::project::stacking::STACKING_RULES;
use crate::wire::request::LOCK;
use crate::wire::scope::GOODS_LIST;
use crate::wire::voucher::LISTED_CATEGORY;

/// Several values, or one.
const VALUES: FieldType = FieldType::Either(&[FieldType::List(&FieldType::Text, 1, 100), FieldType::Text]);

/// The conditions of a filter.
const CONDITIONS: FieldType = shape!(
    "FilterConditions",
    "Conditions on the value of one field.",
    &[may(
        "conditions",
        FieldType::Object(&[
            may("$is", VALUES).description("Value that the field must have. Only the first of several values counts."),
            may("$is_not", VALUES)
                .description("Value that the field must not have. Only the first of several values counts."),
            may("$in", VALUES).description("Values of which the field must have one."),
            may("$not_in", VALUES).description("Values of which the field must have none."),
            may("$has_value", FieldType::Any)
                .description("Condition that the field has a value. The operand is ignored."),
            may("$is_unknown", FieldType::Any)
                .description("Condition that the field has no value. The operand is ignored."),
        ])
    )
    .description("Conditions by operator. All must be met.")]
);

const OPTIONS: FieldType = FieldType::Object(&[
    may("limit", FieldType::Int(1, 100))
        .description("Largest number of results on one page. Default 5. A client gets fewer if the answer would exceed 1,000,000 bytes, or after 120,000 steps of evaluation. A candidate takes 100 steps and one for each order item, a promotion stack thirty times as many."),
    may("starting_after", FieldType::DateTime)
        .or_null()
        .description("Value of `more_starting_after` of the previous page. `null` or absent means the first page."),
    may(
        "filters",
        FieldType::Object(&[
            may("junction", one_of!(JUNCTIONS))
                .description("Junction of the fields. Default `and`: all conditions must be met; `or` requires one."),
            may("category_id", CONDITIONS).description("Conditions on the ID of the category."),
            may("campaign_id", CONDITIONS).description("Conditions on the ID of the campaign."),
            may("campaign_type", CONDITIONS).description("Conditions on the type of the campaign."),
            may("resource_id", CONDITIONS).description("Conditions on the ID of the result."),
            may("resource_type", CONDITIONS)
                .description("Conditions on the type of the result: `campaign`, `voucher` or `promotion_tier`."),
            may("voucher_type", CONDITIONS).description("Conditions on the type of the voucher."),
            may("code", CONDITIONS).description("Conditions on the code of the voucher."),
            may("holder_role", CONDITIONS)
                .description("Conditions on the role of the customer: `OWNER`, `REFERRER` or `REFEREE`."),
        ]),
    )
    .description("Conditions by field of the results."),
    may("expand", FieldType::List(&FieldType::Text, 0, 100)).description(
        "Names of data to include: `redeemable`, `category`, `validation_rules`. Other names are ignored.",
    ),
    may("optimise", FieldType::Bool)
        .description("`true` to add `best`: of the results, those that together save most. Default `false`."),
    may("sorting_rule", one_of!(SORTING_RULES))
        .description("Order of the results: `DEFAULT` the newest first, `BEST_DEAL` the largest discount first, `LEAST_DEAL` the smallest first."),
]);

/// The request for a qualification.
pub const QUALIFY: Shape = Shape {
    name: "QualificationRequest",
    description: "Customer, order and options of a qualification. An empty object means an anonymous customer without an order.",
    kind: FieldType::Object(&[
        may("customer", FieldType::Named(&CUSTOMER))
            .description("Customer that redeemables are sought for. Absent means an anonymous customer."),
        may("order", SENT_ORDER).description("Order to which the redeemables would apply."),
        may("tracking_id", FieldType::Text)
            .description("Identifier of the customer: a `tracking_id` of an earlier answer, or a `source_id`. Used if no customer is sent."),
        may("scenario", one_of!(SCENARIOS))
            .description("Kind of redeemables to find, and facts to evaluate. Default `ALL`: redeemables that apply to this customer and order."),
        may("options", OPTIONS).description("Size of the page, filters, sorting and further data to include."),
        may(
            "session",
            FieldType::Object(&[
                may("type", LOCK).description("Type of session. Always `LOCK`."),
                may("key", KEY).description("Key of the session."),
            ]),
        )
        .description("Session whose reservations count as available. Sets no lock."),
        METADATA.description("Metadata of the planned redemption, which validation rules can test."),
    ]),
};

/// The rules of a result, in a list.
const CHECKED: FieldType = FieldType::Object(&[
    must("object", FieldType::OneOf(&["list"])),
    must("data_ref", FieldType::OneOf(&["data"]))
        .description("Name of the member that contains the assignments. Always `data`."),
    must(
        "data",
        FieldType::List(
            &FieldType::Object(&[
                must("id", KEY),
                must("rule_id", KEY).description("ID of the validation rule."),
                must("related_object_id", KEY).description("ID of the object that the rule is assigned to."),
                must("related_object_type", FieldType::Text)
                    .description("Type of the object that the rule is assigned to."),
                must("object", FieldType::OneOf(&["validation_rules_assignment"])),
                must("validation_status", FieldType::OneOf(&["VALID", "PARTIALLY_VALID", "INVALID"])).description(
                    "Result of the rule: `VALID`, `PARTIALLY_VALID` if tests were omitted, `INVALID` if a product bundle is missing.",
                ),
                must("validation_omitted_rules", TEXTS).description("Names of tests that the qualification omitted."),
            ]),
            0,
            usize::MAX,
        ),
    )
    .description("Assignments of validation rules."),
    must("total", COUNT).description("Number of assignments."),
]);

/// The members of a result.
pub const OF_QUALIFIED: &[Field] = &[
    must("id", KEY).description("ID of the result, or code of a voucher, to use as the `id` of a redeemable."),
    must("object", FieldType::OneOf(&["campaign", "voucher", "promotion_tier", "promotion_stack"]))
        .description("Type of the result."),
    may("created_at", FieldType::DateTime),
    may("result", GRANT).description("Grant of the redeemable. Absent for a campaign."),
    may("order", ORDER).description("Order with the discounts of this redeemable only. Absent without an order."),
    may("applicable_to", GOODS_LIST).description("Products, SKUs and collections that the discount may act on."),
    may("inapplicable_to", GOODS_LIST).description("Products, SKUs and collections that the discount leaves out."),
    may("validation_rule_id", KEY).description("ID of the first validation rule of the result. Absent if none."),
    may("validation_rules_assignments", CHECKED)
        .description("Assignments of validation rules to the result. Present with `expand` `validation_rules`."),
    may("redeemables", FieldType::List(&APPLICABLE, 0, 30))
        .description("Promotion tiers of a promotion stack that apply. Absent for other results."),
    may("metadata", FieldType::Map).description("Metadata of the result. Present with `expand` `redeemable`."),
    may("name", FieldType::Text)
        .description("Name of a campaign, promotion tier or promotion stack. Present with `expand` `redeemable`."),
    may("banner", FieldType::Text)
        .description("Text of a promotion tier to display in a shop. Present with `expand` `redeemable`."),
    may("campaign_name", FieldType::Text).description("Name of the campaign. Present with `expand` `redeemable`."),
    may("campaign_id", KEY).description("ID of the campaign. Present with `expand` `redeemable`."),
    may("categories", FieldType::List(&LISTED_CATEGORY, 0, 1))
        .description("Category of the result, or none. Present with `expand` `category`."),
];

/// A result.
pub const QUALIFIED: FieldType =
    shape!("QualifiedRedeemable", "Redeemable or campaign that applies, evaluated separately.", OF_QUALIFIED);

/// The best stack.
const BEST: FieldType = shape!(
    "BestStack",
    "Vouchers and promotion tiers of the qualification that together save most, in the order in which they do. A validation of them gives the same amounts.",
    &[
        must(
            "redeemables",
            FieldType::List(
                &FieldType::Object(&[
                    must("object", FieldType::OneOf(&["voucher", "promotion_tier"]))
                        .description("Type of the redeemable."),
                    must("id", KEY).description("Code of the voucher, or ID of the promotion tier."),
                ]),
                0,
                30
            )
        )
        .description("Redeemables to send to a validation or redemption, in order. Empty if nothing saves."),
        may("order", ORDER).description("Order with the discounts of these redeemables. Absent without an order."),
        must("saved_amount", AMOUNT)
            .description("Sum of the discounts of these redeemables, at most the amount of the order."),
        must("proven", FieldType::Bool)
            .description("`true` if no other combination of the results saves more. `false` if the search ended before."),
        may("unproven_amount", AMOUNT).description(
            "Largest amount that another combination could save in addition. Absent if it is proven, or if no bound is known."
        ),
    ]
);

/// A page of results.
pub const QUALIFICATION: FieldType = shape!(
    "Qualification",
    "Page of redeemables that apply, and the order as sent.",
    &[
        must(
            "redeemables",
            FieldType::Object(&[
                must("object", FieldType::OneOf(&["list"])),
                must("data_ref", FieldType::OneOf(&["data"]))
                    .description("Name of the member that contains the results. Always `data`."),
                must("data", FieldType::List(&QUALIFIED, 0, 500))
                    .description("Redeemables and campaigns that apply, in the requested order."),
                must("total", COUNT).description(
                    "Number of results on all pages. For a client, candidates that were not evaluated count as results."
                ),
                must("has_more", FieldType::Bool)
                    .description("`true` if a further page exists, also after a page with fewer than `limit` results."),
                may("more_starting_after", FieldType::DateTime).description(
                    "Value of `starting_after` for the next page, to be sent with all digits. Absent on the last page."
                ),
            ])
        )
        .description("Page of redeemables and campaigns that apply."),
        may("tracking_id", FieldType::Text)
            .description("Encrypted identifier of the customer, which later requests may contain."),
        may("order", ORDER).description("Order as sent, without computed amounts. Absent if none was sent."),
        must("stacking_rules", STACKING_RULES)
            .description("Stacking rules of the project, by which results may be combined."),
        may("best", BEST).description("Results that together save most. Present with `optimise`."),
        may("missing", TEXTS)
            .description("Facts that the client does not have and on which the results depend: the results are provisional. Absent if they are final."),
        may("omitted", TEXTS)
            .description("Fields that only the server can fill, left out of a client's answer: `tracking_id`. Absent if none."),
    ]
);
