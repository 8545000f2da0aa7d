//! Defines the shapes of validations.

use crate::shape::{AMOUNT, COUNT, Field, FieldType, KEY, Shape, TEXTS, may, must};
use crate::shape::{fields_of, shape};
use crate::wire::decision::trace::TRACE;
use crate::wire::error::REFUSAL;
use crate::wire::offer::RESOLVED;
use crate::wire::order::view::ORDER;
use crate::wire::project::stacking::STACKING_RULES;
use crate::wire::request::{LOCK, OBJECT, TTL_UNIT};
use crate::wire::reward::REWARD;
use crate::wire::scope::GOODS_LIST;
use crate::wire::voucher::LISTED_CATEGORY;

const BUNDLED: &[Field] = &[
    must("object", FieldType::Text).description("Type of the product: `product`, `sku` or `products_collection`."),
    must("id", KEY).description("ID of the product, SKU or collection."),
    must("item_quantity", COUNT).description("Number of units."),
];

/// The product bundles that a rule requires.
const BUNDLES: FieldType = shape!(
    "Bundles",
    "Product bundles that the validation rules of a redeemable require.",
    &[
        must("quantity", COUNT).description("Number of bundles that the order completes."),
        must("limit", COUNT).description("Largest number of bundles that count."),
        must(
            "identified",
            FieldType::List(
                &FieldType::Object(fields_of!(
                    BUNDLED,
                    &[must("item_index", COUNT).description("Index of the item in the order, from 0.")]
                )),
                0,
                usize::MAX
            )
        )
        .description("Units of the order that belong to complete bundles."),
        may("missing", FieldType::List(&FieldType::Object(BUNDLED), 0, usize::MAX))
            .description("Units that are missing for the next bundle. Absent if none."),
    ]
);

/// The grant of a redeemable.
pub const GRANT: FieldType = shape!(
    "Grant",
    "Grant of a redeemable: discount, gift credits or points.",
    &[
        may("discount", RESOLVED).description("Discount of a coupon or promotion tier, with resolved amounts."),
        may(
            "gift",
            FieldType::Object(&[
                must("balance", AMOUNT).description("Gift credits on the card before the redemption, in minor units."),
                must("credits", AMOUNT).description("Gift credits that are spent, in minor units."),
                may("locked_credits", AMOUNT).description(
                    "Gift credits that sessions reserve, in minor units. Present in qualifications with a session."
                ),
            ])
        )
        .description("Gift credits of a gift card. Absent for other redeemables."),
        may(
            "loyalty_card",
            FieldType::Object(&[
                must("points", COUNT)
                    .description("Number of points that are spent. Without a reward, number of points on the card."),
                may("balance", COUNT).description("Number of points on the card. Present without a reward."),
            ])
        )
        .description("Points of a loyalty card. Absent for other redeemables."),
        may("reward", REWARD).description("Reward that the points buy. Absent without a reward."),
        may("bundle", BUNDLES)
            .description("Product bundles that the validation rules require. Absent if none are required."),
    ]
);

/// A reason in short form.
pub const REASON: FieldType = shape!(
    "Reason",
    "Short form of a reason.",
    &[
        must("key", FieldType::Text).description("Machine-readable key of the reason. See the list of error keys."),
        must("message", FieldType::Text).description("Short text of the reason, for people.")
    ]
);

const EXPANSION: &[Field] = &[
    may("metadata", FieldType::Map).description("Metadata of the redeemable. Present with `expand` `redeemable`."),
    may("name", FieldType::Text)
        .description("Name of a promotion tier or promotion stack. Present with `expand` `redeemable`."),
    may("banner", FieldType::Text)
        .description("Text of a promotion tier to display in a shop. Present with `expand` `redeemable`."),
    may("campaign_name", FieldType::Text).description("Name of the campaign. Present with `expand` `redeemable`."),
    may("campaign_id", KEY).description("ID of the campaign. Present with `expand` `redeemable`."),
    may("categories", FieldType::List(&LISTED_CATEGORY, 0, 1))
        .description("Category of the redeemable, or none. Present with `expand` `category`."),
];

/// The fields that `expand` adds to a redeemable.
pub const EXPANDED: Shape = Shape {
    name: "Expanded",
    description: "Data that `expand` adds to a redeemable.",
    kind: FieldType::Object(EXPANSION),
};

const NAMED: &[Field] = &[
    must("id", KEY).description("Code or ID as requested. For a promotion stack, the ID of the promotion tier."),
    must("object", OBJECT).description("Type of the redeemable."),
];

/// The redeemable applies.
pub const APPLICABLE: FieldType = shape!(
    "ApplicableRedeemable",
    "Redeemable that applies.",
    fields_of!(
        &[must("status", FieldType::OneOf(&["APPLICABLE"])).description("Status of the verdict. Always `APPLICABLE`.")],
        NAMED,
        &[
            may("order", ORDER).description(
                "Order after this redeemable and those before, with the discounts. Absent without an order."
            ),
            must("applicable_to", GOODS_LIST)
                .description("Products, SKUs and collections that the discount may act on."),
            must("inapplicable_to", GOODS_LIST)
                .description("Products, SKUs and collections that the discount leaves out."),
            must("result", GRANT).description("Grant of the redeemable."),
        ],
        EXPANSION,
    )
);

/// The redeemable does not apply.
pub const INAPPLICABLE: FieldType = shape!(
    "InapplicableRedeemable",
    "Redeemable that does not apply.",
    fields_of!(
        &[must("status", FieldType::OneOf(&["INAPPLICABLE"]))
            .description("Status of the verdict. Always `INAPPLICABLE`.")],
        NAMED,
        &[must(
            "result",
            FieldType::Object(&[
                must("error", REFUSAL).description("Error that a redemption would be answered with."),
                must("details", REASON).description(
                    "Key and message of the error. The message is that of the validation rule if the rule has one."
                ),
                may("bundle", BUNDLES)
                    .description("Product bundles that the validation rules require. Absent if none are required."),
            ])
        )
        .description("Reason for which the redeemable does not apply.")],
        EXPANSION,
    )
);

/// The redeemable was skipped.
pub const SKIPPED: FieldType = shape!(
    "SkippedRedeemable",
    "Redeemable that was skipped without fault. The key is `known_to_server_only` if only the server can decide.",
    fields_of!(
        &[must("status", FieldType::OneOf(&["SKIPPED"])).description("Status of the verdict. Always `SKIPPED`.")],
        NAMED,
        &[must("result", FieldType::Object(&[must("details", REASON).description("Key and message of the reason.")]))
            .description("Reason for which the redeemable was skipped.")],
        EXPANSION,
    )
);

/// The verdict on one redeemable.
pub const REDEEMABLE: FieldType = FieldType::Named(&Shape {
    name: "Redeemable",
    description: "Verdict on one redeemable, discriminated by `status`.",
    kind: FieldType::Either(&[APPLICABLE, INAPPLICABLE, SKIPPED]),
});

/// A lock on redeemables.
pub const SESSION: FieldType = shape!(
    "Session",
    "Lock that reserves redeemables for a limited time.",
    &[
        must("type", LOCK).description("Type of session. Always `LOCK`."),
        must("key", KEY).description("Key of the session, to send with the redemption."),
        must("ttl", COUNT).description("Lifetime of the lock, in `ttl_unit`."),
        must("ttl_unit", TTL_UNIT).description("Unit of `ttl`."),
    ]
);

/// The list of refused redeemables.
pub const REFUSED: FieldType = FieldType::List(&INAPPLICABLE, 0, 30);
/// The list of skipped redeemables.
pub const LEFT_OUT: FieldType = FieldType::List(&SKIPPED, 0, 30);

/// The explanations, one per redeemable.
pub const TRACES: Field = may("trace", FieldType::List(&TRACE, 0, 30)).description(
    "Explanation of the verdict on each redeemable, in the order of evaluation. Present with `expand` `trace`.",
);

/// The verdict on a request.
pub const VALIDATION: FieldType = shape!(
    "Validation",
    "Verdict on a request with several redeemables.",
    &[
        must("id", KEY),
        must("valid", FieldType::Bool).description("`true` if the request can be redeemed as sent."),
        must("redeemables", FieldType::List(&REDEEMABLE, 0, 30))
            .description("Verdicts on all redeemables in application mode `ALL`. In mode `PARTIAL` those that apply, or if none, those refused."),
        may("inapplicable_redeemables", REFUSED)
            .description("Verdicts on redeemables that do not apply. Absent if none."),
        may("skipped_redeemables", LEFT_OUT).description("Verdicts on redeemables that were skipped. Absent if none."),
        may("order", ORDER)
            .description("Order after all redeemables, with the discounts. Present if `valid` is `true` and an order was sent."),
        may("tracking_id", FieldType::Text)
            .description("Encrypted identifier of the customer, which later requests may contain."),
        may("session", SESSION).description("Lock that was set. Absent if the request contained no `session`."),
        must("stacking_rules", STACKING_RULES).description("Stacking rules of the project that were followed."),
        may("missing", TEXTS)
            .description("Facts that the client does not have and on which the verdict depends: the verdict is provisional. Absent if it is final."),
        may("omitted", TEXTS)
            .description("Fields that only the server can fill, left out of a client's answer: `tracking_id`. Absent if none."),
        TRACES,
    ]
);
