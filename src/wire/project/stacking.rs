//! Reads stacking rules, and writes them in validations.
//!
//! docs/spec/calculation.md#11.1; absent fields keep their defaults, and stored values are bounded when they are
//! written.

use crate::model::stacking::{
    ApplicationMode, CalculationMode, GroupedSortingRule, NoEffectRule, ProductsMode, RollbackMode, SortingRule,
    StackingRules,
};
use crate::shape::{Field, FieldType, KEY, may};
use crate::shape::{fields_of, one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{Fields, JsonCursor, NameTable, name_of};
use crate::wire::writer::Writer;

const APPLICATION_MODES: NameTable<ApplicationMode> =
    &[("ALL", ApplicationMode::All), ("PARTIAL", ApplicationMode::Partial)];
const SORTING_RULES: NameTable<SortingRule> =
    &[("CATEGORY_HIERARCHY", SortingRule::CategoryHierarchy), ("REQUESTED_ORDER", SortingRule::RequestedOrder)];
const PRODUCTS_MODES: NameTable<ProductsMode> = &[("STACK", ProductsMode::Stack), ("ONCE", ProductsMode::Once)];
const NO_EFFECT_RULES: NameTable<NoEffectRule> =
    &[("REDEEM_ANYWAY", NoEffectRule::RedeemAnyway), ("SKIP", NoEffectRule::Skip)];
pub(in crate::wire) const ROLLBACK_MODES: NameTable<RollbackMode> =
    &[("WITH_ORDER", RollbackMode::WithOrder), ("WITHOUT_ORDER", RollbackMode::WithoutOrder)];
const GROUPED_RULES: NameTable<GroupedSortingRule> = &[
    ("JOINT_ALWAYS_LAST", GroupedSortingRule::JointAlwaysLast),
    ("REDEEMABLES_SORTING_RULE", GroupedSortingRule::RedeemablesSortingRule),
];
const CALCULATION_MODES: NameTable<CalculationMode> =
    &[("INITIAL_AMOUNT", CalculationMode::InitialAmount), ("DISCOUNTED_AMOUNT", CalculationMode::DiscountedAmount)];

/// Ids of categories.
const CATEGORIES: FieldType = FieldType::List(&KEY, 0, 1_000);

/// Stacking rules in a request.
pub const FIELDS: &[Field] = &[
    may("exclusive_categories", CATEGORIES)
        .description("IDs of exclusive categories. A redeemable in one of them excludes all redeemables outside exclusive and joint categories. Default none."),
    may("joint_categories", CATEGORIES)
        .description("IDs of joint categories. Their redeemables can be combined with exclusive ones. Default none."),
    may("redeemables_limit", FieldType::Int(1, 30))
        .description("Highest number of redeemables in one request. Default 30."),
    may("applicable_redeemables_limit", FieldType::Int(1, 30))
        .description("Highest number of redeemables that one request applies; further ones are skipped. At most `redeemables_limit`. Default 5."),
    may("applicable_redeemables_per_category_limit", FieldType::Int(1, 30))
        .description("Highest number of redeemables of one category that one request applies. At most `applicable_redeemables_limit`. `null` means no limit and is the default."),
    may("applicable_redeemables_category_limits", FieldType::MapOf(&FieldType::Int(1, 10)))
        .description("Limits of single categories by their ID. Replace `applicable_redeemables_per_category_limit` for these categories. Default none."),
    may("applicable_exclusive_redeemables_limit", FieldType::Int(1, 5))
        .description("Highest number of exclusive redeemables that one request applies. Default 1."),
    may("applicable_exclusive_redeemables_per_category_limit", FieldType::Int(1, 30))
        .description("Highest number of exclusive redeemables of one category that one request applies. At most `applicable_exclusive_redeemables_limit`. `null` or absent means no limit."),
    may("discount_calculation_mode", one_of!(CALCULATION_MODES))
        .description("Base of a discount: the amounts before all discounts (`INITIAL_AMOUNT`) or after earlier ones (`DISCOUNTED_AMOUNT`). Default `DISCOUNTED_AMOUNT`."),
    may("initial_amount_mode_categories", CATEGORIES)
        .description("IDs of categories that always calculate from the amounts before all discounts. Default none."),
    may("discounted_amount_mode_categories", CATEGORIES)
        .description("IDs of categories that always calculate from the amounts after earlier discounts. Default none."),
    may("redeemables_application_mode", one_of!(APPLICATION_MODES))
        .description("Handling of a redeemable that fails: `ALL` then applies none, `PARTIAL` applies the others. Default `ALL`."),
    may("redeemables_sorting_rule", one_of!(SORTING_RULES))
        .description("Order of application: as in the request (`REQUESTED_ORDER`), or by rank of the category (`CATEGORY_HIERARCHY`). Default `REQUESTED_ORDER`."),
    may("redeemables_products_application_mode", one_of!(PRODUCTS_MODES))
        .description("Discounts on one order item in a request: `STACK` allows several, `ONCE` allows one. Default `STACK`."),
    may("redeemables_no_effect_rule", one_of!(NO_EFFECT_RULES))
        .description("Handling of a redeemable without effect on the order: `REDEEM_ANYWAY` applies the redeemable, `SKIP` does not. Default `REDEEM_ANYWAY`."),
    may("no_effect_skip_categories", CATEGORIES)
        .description("IDs of categories that always skip a redeemable without effect. Default none."),
    may("no_effect_redeem_anyway_categories", CATEGORIES)
        .description("IDs of categories that always apply a redeemable without effect. Default none."),
    may("redeemables_rollback_order_mode", one_of!(ROLLBACK_MODES))
        .description("Effect of a rollback on the order: `WITH_ORDER` also removes the discount from the order, `WITHOUT_ORDER` leaves the order unchanged. Default `WITH_ORDER`."),
];

/// The fields that answers include; those between the two parts affect decisions without being written.
const ANSWER_FIELDS: [&[Field]; 2] = [FIELDS.split_at(8).0, FIELDS.split_at(11).1];

/// The order of exclusive and joint redeemables: only in answers.
const GROUPED: Field =
    may("grouped_redeemables_sorting_rule", one_of!(GROUPED_RULES))
    .description("Order of joint redeemables with exclusive ones: after them (`JOINT_ALWAYS_LAST`), or all by `redeemables_sorting_rule`. Cannot be changed.");

/// Stacking rules in a validation.
pub const STACKING_RULES: FieldType = shape!(
    "StackingRules",
    "Stacking rules that the project applies to several redeemables in one request.",
    &answered::<{ FIELDS.len() - 2 }>(fields_of!(ANSWER_FIELDS[0], ANSWER_FIELDS[1], &[GROUPED]))
);

/// The fields of stored stacking rules.
pub const STORED: &[Field] = &answered::<{ FIELDS.len() + 1 }>(fields_of!(FIELDS, &[GROUPED]));

/// Stored stacking rules of a project.
pub const STACKING_RULES_DOCUMENT: FieldType = shape!(
    "StoredStackingRules",
    "Stacking rules of a project. Without `id` they are the defaults.",
    fields_of!(
        STORED,
        &[
            may("id", KEY),
            may("created_at", FieldType::DateTime),
            may("updated_at", FieldType::DateTime).or_null(),
            may("object", FieldType::OneOf(&["stacking_rules"])),
        ],
    )
);

/// Returns the fields of an answer, all of which are always present. The exception in a validation is the limit of
/// exclusive redeemables within a category, if it is not set; it is stored as null.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn answered<const N: usize>(fields: &[Field]) -> [Field; N] {
    let mut all = [GROUPED; N];
    let mut position = 0;
    while position < N {
        let field = fields[position];
        // Of the limits of 30 those within a category have no default.
        all[position] = match position {
            4 => field.or_null().always(),
            7 => field.or_null(),
            _ => field.always(),
        };
        position += 1;
    }
    all
}

/// The members of stacking rules.
const MEMBERS: Fields<StackingRules> = &[
    ("redeemables_limit", |rules, at| rules.redeemables_limit = at.whole_number()),
    ("applicable_redeemables_limit", |rules, at| rules.applicable_redeemables_limit = at.whole_number()),
    ("applicable_redeemables_per_category_limit", |rules, at| {
        rules.applicable_redeemables_per_category_limit = Some(at.whole_number())
    }),
    ("applicable_redeemables_category_limits", |rules, at| {
        rules.applicable_redeemables_category_limits = read_limits(at)
    }),
    ("applicable_exclusive_redeemables_limit", |rules, at| {
        rules.applicable_exclusive_redeemables_limit = at.whole_number()
    }),
    ("applicable_exclusive_redeemables_per_category_limit", |rules, at| {
        rules.applicable_exclusive_redeemables_per_category_limit = Some(at.whole_number())
    }),
    ("exclusive_categories", |rules, at| rules.exclusive_categories = at.texts()),
    ("joint_categories", |rules, at| rules.joint_categories = at.texts()),
    ("no_effect_skip_categories", |rules, at| rules.no_effect_skip_categories = at.texts()),
    ("no_effect_redeem_anyway_categories", |rules, at| rules.no_effect_redeem_anyway_categories = at.texts()),
    ("initial_amount_mode_categories", |rules, at| rules.initial_amount_mode_categories = at.texts()),
    ("discounted_amount_mode_categories", |rules, at| rules.discounted_amount_mode_categories = at.texts()),
    ("redeemables_application_mode", |rules, at| rules.redeemables_application_mode = at.one_of(APPLICATION_MODES)),
    ("redeemables_sorting_rule", |rules, at| rules.redeemables_sorting_rule = at.one_of(SORTING_RULES)),
    ("redeemables_products_application_mode", |rules, at| {
        rules.redeemables_products_application_mode = at.one_of(PRODUCTS_MODES)
    }),
    ("redeemables_no_effect_rule", |rules, at| rules.redeemables_no_effect_rule = at.one_of(NO_EFFECT_RULES)),
    ("redeemables_rollback_order_mode", |rules, at| rules.redeemables_rollback_order_mode = at.one_of(ROLLBACK_MODES)),
    ("grouped_redeemables_sorting_rule", |rules, at| rules.grouped_redeemables_sorting_rule = at.one_of(GROUPED_RULES)),
    ("discount_calculation_mode", |rules, at| rules.discount_calculation_mode = at.one_of(CALCULATION_MODES)),
];

/// Reads stacking rules.
pub fn read_stacking_rules(at: &JsonCursor<'_>) -> StackingRules {
    let mut rules = StackingRules::default();
    at.fields(&mut rules, MEMBERS);
    rules
}

fn read_limits(at: &JsonCursor<'_>) -> Vec<(Text, u64)> {
    let mut limits = Vec::new();
    for (category, limit) in at.members() {
        limits.push((Text::from(category), limit.whole_number()));
    }
    limits
}

/// Writes stacking rules as the next value, in the format of validations. The calculation mode and its categories are
/// omitted, and so is an unset limit within a category (docs/spec/calculation.md#11.1; docs/spec/interface.md,
/// validations).
pub(crate) fn write_stacking_rules(out: &mut Writer, rules: &StackingRules) {
    out.object(|out| {
        out.write_number("redeemables_limit", rules.redeemables_limit);
        out.write_number("applicable_redeemables_limit", rules.applicable_redeemables_limit);
        out.number_or_null(
            "applicable_redeemables_per_category_limit",
            rules.applicable_redeemables_per_category_limit,
        );
        out.member("applicable_redeemables_category_limits").object(|out| {
            for (category, limit) in &rules.applicable_redeemables_category_limits {
                out.pair(category, |out| out.number(*limit));
            }
        });
        out.write_number("applicable_exclusive_redeemables_limit", rules.applicable_exclusive_redeemables_limit);
        out.number_if(
            "applicable_exclusive_redeemables_per_category_limit",
            rules.applicable_exclusive_redeemables_per_category_limit,
        );
        out.texts("exclusive_categories", &rules.exclusive_categories);
        out.texts("joint_categories", &rules.joint_categories);
        out.constant_if("redeemables_application_mode", name_of(APPLICATION_MODES, rules.redeemables_application_mode));
        out.constant_if("redeemables_sorting_rule", name_of(SORTING_RULES, rules.redeemables_sorting_rule));
        let products = rules.redeemables_products_application_mode;
        out.constant_if("redeemables_products_application_mode", name_of(PRODUCTS_MODES, products));
        out.constant_if("redeemables_no_effect_rule", name_of(NO_EFFECT_RULES, rules.redeemables_no_effect_rule));
        out.texts("no_effect_skip_categories", &rules.no_effect_skip_categories);
        out.texts("no_effect_redeem_anyway_categories", &rules.no_effect_redeem_anyway_categories);
        out.constant_if(
            "redeemables_rollback_order_mode",
            name_of(ROLLBACK_MODES, rules.redeemables_rollback_order_mode),
        );
        out.constant_if(
            "grouped_redeemables_sorting_rule",
            name_of(GROUPED_RULES, rules.grouped_redeemables_sorting_rule),
        );
    });
}
