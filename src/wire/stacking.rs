//! Decides how stacking rules are read, and shown in validations. It must not know how they are applied.
//!
//! calculation.md section 11.1; fields that are not there keep their defaults, and what a project may write is bounded
//! where it is written.

use crate::model::stacking::{
    ApplicationMode, CalculationMode, GroupedSortingRule, NoEffectRule, ProductsMode, RollbackMode, SortingRule,
    StackingRules,
};
use crate::shape::{Field, KEY, Kind, may};
use crate::shape::{fields_of, one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{Cursor, Fields, Words, word};
use crate::wire::writer::Writer;

const APPLICATION_MODES: Words<ApplicationMode> =
    &[("ALL", ApplicationMode::All), ("PARTIAL", ApplicationMode::Partial)];
const SORTING_RULES: Words<SortingRule> =
    &[("CATEGORY_HIERARCHY", SortingRule::CategoryHierarchy), ("REQUESTED_ORDER", SortingRule::RequestedOrder)];
const PRODUCTS_MODES: Words<ProductsMode> = &[("STACK", ProductsMode::Stack), ("ONCE", ProductsMode::Once)];
const NO_EFFECT_RULES: Words<NoEffectRule> =
    &[("REDEEM_ANYWAY", NoEffectRule::RedeemAnyway), ("SKIP", NoEffectRule::Skip)];
pub(super) const ROLLBACK_MODES: Words<RollbackMode> =
    &[("WITH_ORDER", RollbackMode::WithOrder), ("WITHOUT_ORDER", RollbackMode::WithoutOrder)];
const GROUPED_RULES: Words<GroupedSortingRule> = &[
    ("JOINT_ALWAYS_LAST", GroupedSortingRule::JointAlwaysLast),
    ("REDEEMABLES_SORTING_RULE", GroupedSortingRule::RedeemablesSortingRule),
];
const CALCULATION_MODES: Words<CalculationMode> =
    &[("INITIAL_AMOUNT", CalculationMode::InitialAmount), ("DISCOUNTED_AMOUNT", CalculationMode::DiscountedAmount)];

/// Names of categories.
const CATEGORIES: Kind = Kind::List(&KEY, 0, 1_000);

/// Stacking rules as they are sent.
pub const FIELDS: &[Field] = &[
    may("exclusive_categories", CATEGORIES).says("Categories whose redeemables apply alone"),
    may("joint_categories", CATEGORIES).says("Categories whose redeemables apply with exclusive ones"),
    may("redeemables_limit", Kind::Int(1, 30)).says("Redeemables in a request, at most"),
    may("applicable_redeemables_limit", Kind::Int(1, 30)).says("Redeemables that apply, at most"),
    may("applicable_redeemables_per_category_limit", Kind::Int(1, 30)).says("The same within a category"),
    may("applicable_redeemables_category_limits", Kind::MapOf(&Kind::Int(1, 10)))
        .says("The same for categories of their own, by their ids"),
    may("applicable_exclusive_redeemables_limit", Kind::Int(1, 5)).says("Exclusive redeemables that apply, at most"),
    may("applicable_exclusive_redeemables_per_category_limit", Kind::Int(1, 30)).says("The same within a category"),
    may("discount_calculation_mode", one_of!(CALCULATION_MODES)).says("What a percentage is taken of"),
    may("initial_amount_mode_categories", CATEGORIES).says("Categories that calculate from the initial amount"),
    may("discounted_amount_mode_categories", CATEGORIES).says("Categories that calculate from what is left"),
    may("redeemables_application_mode", one_of!(APPLICATION_MODES)).says("Whether all must apply"),
    may("redeemables_sorting_rule", one_of!(SORTING_RULES)).says("In which order they apply"),
    may("redeemables_products_application_mode", one_of!(PRODUCTS_MODES))
        .says("Whether several discounts may fall on one line"),
    may("redeemables_no_effect_rule", one_of!(NO_EFFECT_RULES)).says("What becomes of one that takes nothing off"),
    may("no_effect_skip_categories", CATEGORIES).says("Categories of which such a one is left out"),
    may("no_effect_redeem_anyway_categories", CATEGORIES).says("Categories of which such a one is redeemed"),
    may("redeemables_rollback_order_mode", one_of!(ROLLBACK_MODES)).says("Whether a rollback changes the order"),
];

/// What decides without being shown stands between these.
const SHOWN: [&[Field]; 2] = [FIELDS.split_at(8).0, FIELDS.split_at(11).1];

/// How exclusive and joint redeemables are sorted: shown, and never sent.
const GROUPED: Field =
    may("grouped_redeemables_sorting_rule", one_of!(GROUPED_RULES)).says("In which order groups of them apply");

/// Stacking rules as a validation shows them.
pub const STACKING_RULES: Kind = shape!(
    "StackingRules",
    "The project's rules for redeemables in one request",
    &answered::<{ FIELDS.len() - 2 }>(fields_of!(SHOWN[0], SHOWN[1], &[GROUPED]))
);

/// Stacking rules as they are kept.
pub const KEPT: &[Field] = &answered::<{ FIELDS.len() + 1 }>(fields_of!(FIELDS, &[GROUPED]));

/// Answers say all of them but, in a validation, the limit of exclusive redeemables within a category where it is not set: a shop
/// of today has none, and it is kept as null.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn answered<const N: usize>(fields: &[Field]) -> [Field; N] {
    let mut all = [GROUPED; N];
    let mut place = 0;
    while place < N {
        let field = fields[place];
        // Of the limits of 30 those within a category have no default.
        all[place] = match place {
            4 => field.or_null().always(),
            7 => field.or_null(),
            _ => field.always(),
        };
        place += 1;
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
pub fn read_stacking_rules(at: &Cursor<'_>) -> StackingRules {
    let mut rules = StackingRules::default();
    at.fields(&mut rules, MEMBERS);
    rules
}

fn read_limits(at: &Cursor<'_>) -> Vec<(Text, u64)> {
    let mut limits = Vec::new();
    for (category, limit) in at.members() {
        limits.push((Text::from(category), limit.whole_number()));
    }
    limits
}

/// Writes stacking rules as the next value, as validations show them: without the calculation mode and its categories,
/// and a limit within a category that is not set as nothing (calculation.md section 11.1; interface.md, validations).
pub(crate) fn put_stacking_rules(out: &mut Writer, rules: &StackingRules) {
    out.object(|out| {
        out.put_number("redeemables_limit", rules.redeemables_limit);
        out.put_number("applicable_redeemables_limit", rules.applicable_redeemables_limit);
        out.number_or_null(
            "applicable_redeemables_per_category_limit",
            rules.applicable_redeemables_per_category_limit,
        );
        out.member("applicable_redeemables_category_limits").object(|out| {
            for (category, limit) in &rules.applicable_redeemables_category_limits {
                out.pair(category, |out| out.number(*limit));
            }
        });
        out.put_number("applicable_exclusive_redeemables_limit", rules.applicable_exclusive_redeemables_limit);
        out.number_if(
            "applicable_exclusive_redeemables_per_category_limit",
            rules.applicable_exclusive_redeemables_per_category_limit,
        );
        out.texts("exclusive_categories", &rules.exclusive_categories);
        out.texts("joint_categories", &rules.joint_categories);
        out.word_if("redeemables_application_mode", word(APPLICATION_MODES, rules.redeemables_application_mode));
        out.word_if("redeemables_sorting_rule", word(SORTING_RULES, rules.redeemables_sorting_rule));
        let products = rules.redeemables_products_application_mode;
        out.word_if("redeemables_products_application_mode", word(PRODUCTS_MODES, products));
        out.word_if("redeemables_no_effect_rule", word(NO_EFFECT_RULES, rules.redeemables_no_effect_rule));
        out.texts("no_effect_skip_categories", &rules.no_effect_skip_categories);
        out.texts("no_effect_redeem_anyway_categories", &rules.no_effect_redeem_anyway_categories);
        out.word_if("redeemables_rollback_order_mode", word(ROLLBACK_MODES, rules.redeemables_rollback_order_mode));
        out.word_if("grouped_redeemables_sorting_rule", word(GROUPED_RULES, rules.grouped_redeemables_sorting_rule));
    });
}
