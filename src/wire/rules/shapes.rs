//! Defines the shapes of tests, of their conditions and of filters.
//!
//! The readers report problems of a rule or a filter; the shapes only describe them.

use crate::rules::names::TEST_NAMES;
use crate::rules::operator::{NAMES, OperandForm, Operator};
use crate::shape::{Field, FieldType, INT_MAX, KEY, Shape, may, must};

const NUMBER: FieldType = FieldType::Number(-INT_MAX, INT_MAX);

/// A product, a SKU or a collection.
const GOODS: FieldType = FieldType::Named(&Shape {
    name: "RuleGoods",
    description: "Product, SKU or collection that a test compares with.",
    kind: FieldType::Object(&[
        may("object", FieldType::OneOf(&["product", "sku", "products_collection"])),
        may("id", KEY).or_null(),
        may("source_id", KEY).or_null().description(
            "Identifier of the product, SKU or collection in the merchant's system. `null` or absent if named by `id`.",
        ),
        may("type", FieldType::Text)
            .or_null()
            .description("Type of the product, SKU or collection. Stored as sent, without effect."),
    ]),
});

/// A text, a number or a boolean.
const PLAIN: FieldType = FieldType::Either(&[FieldType::Text, NUMBER, FieldType::Bool]);

/// Returns the type of an operator's values: a list of them, or one.
const fn operand_type(operand_form: OperandForm) -> FieldType {
    match operand_form {
        OperandForm::Values => {
            const VALUE: FieldType = FieldType::Either(&[FieldType::Text, NUMBER, FieldType::Bool, GOODS]);
            FieldType::Either(&[FieldType::List(&VALUE, 0, usize::MAX), VALUE])
        }
        OperandForm::Comparable => {
            const VALUE: FieldType = FieldType::Either(&[NUMBER, FieldType::Text]);
            FieldType::Either(&[FieldType::List(&VALUE, 1, usize::MAX), VALUE])
        }
        OperandForm::Texts | OperandForm::Windows => {
            FieldType::Either(&[FieldType::List(&FieldType::Text, 1, usize::MAX), FieldType::Text])
        }
        OperandForm::Count => {
            const VALUE: FieldType = FieldType::Either(&[FieldType::Number(0, INT_MAX), FieldType::Text]);
            FieldType::Either(&[FieldType::List(&VALUE, 1, usize::MAX), VALUE])
        }
        OperandForm::Times => {
            FieldType::Either(&[FieldType::List(&FieldType::DateTime, 1, usize::MAX), FieldType::DateTime])
        }
        OperandForm::Weekdays => {
            FieldType::Either(&[FieldType::List(&FieldType::Int(0, 6), 0, usize::MAX), FieldType::Int(0, 6)])
        }
        OperandForm::Goods => FieldType::Either(&[FieldType::List(&GOODS, 0, usize::MAX), GOODS]),
        OperandForm::Anything => FieldType::Any,
    }
}

/// Returns the description of an operator.
const fn operator_description(operator: Operator) -> &'static str {
    match operator {
        Operator::In => "Accepted values. The tested value must equal one of them.",
        Operator::NotIn => "Excluded values. The tested value must equal none of them.",
        Operator::Less => "Upper bound. The tested value must be lower.",
        Operator::AtMost => "Upper bound. The tested value must be lower or equal.",
        Operator::More => "Lower bound. The tested value must be higher.",
        Operator::AtLeast => "Lower bound. The tested value must be higher or equal.",
        Operator::StartsWith => "Prefixes. The tested text must begin with one of them.",
        Operator::EndsWith => "Suffixes. The tested text must end with one of them.",
        Operator::Contains => "Parts of a text or elements of a list. The tested value must contain one of them.",
        Operator::NotContain => "Parts of a text or elements of a list. The tested value must contain none of them.",
        Operator::Count => "Number of elements that the tested list must have.",
        Operator::CountMore => "Number of elements. The tested list must have more.",
        Operator::CountLess => "Number of elements. The tested list must have fewer.",
        Operator::From => "Collections of products. The tested product or SKU must belong to one of them.",
        Operator::After => "Moment. The tested moment must be later.",
        Operator::Before => "Moment. The tested moment must be earlier.",
        Operator::MoreThanAgo => {
            "Number of days. The tested date must be more days in the past, in the project's time zone."
        }
        Operator::LessThanAgo => {
            "Number of days. The tested date must be fewer days in the past, in the project's time zone."
        }
        Operator::DaysAgo => {
            "Number of days. The tested date must be exactly that many days in the past, in the project's time zone."
        }
        Operator::MoreThanFuture => {
            "Number of days. The tested date must be more days in the future, in the project's time zone."
        }
        Operator::LessThanFuture => {
            "Number of days. The tested date must be fewer days in the future, in the project's time zone."
        }
        Operator::DaysInFuture => {
            "Number of days. The tested date must be exactly that many days in the future, in the project's time zone."
        }
        Operator::Timeframe => {
            "Recurring window in the form `start;interval;duration`. The tested moment must lie inside."
        }
        Operator::TimeframeAbsolute => "Period in the form `from;to`. The tested moment must lie inside.",
        Operator::TimeframeDaily => {
            "Hours on weekdays in the form `HH:MM;HH:MM;d,d`, in the project's time zone. The tested moment must lie inside."
        }
        Operator::DayOfWeek => {
            "Weekdays, from 0 for Sunday to 6 for Saturday. The tested date must fall on one of them."
        }
        Operator::NotDiffer => "Elements. The tested list must have exactly these, in any order.",
        Operator::NotIntersect => "Elements. The tested list must have none of them.",
        Operator::HasValue => "Condition that the tested value is present. The content of this field is ignored.",
        Operator::IsUnknown => "Condition that the tested value is missing. The content of this field is ignored.",
        Operator::PreviousMonth => {
            "Condition that the tested date lies in the previous month, in the project's time zone. The content of this field is ignored."
        }
        Operator::ThisMonth => {
            "Condition that the tested date lies in the current month, in the project's time zone. The content of this field is ignored."
        }
        Operator::NextMonth => {
            "Condition that the tested date lies in the next month, in the project's time zone. The content of this field is ignored."
        }
    }
}

/// Returns all operators, each under all of its names.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn operators() -> [Field; NAMES.len()] {
    let mut all = [may("", FieldType::Any); NAMES.len()];
    let mut position = 0;
    while position < NAMES.len() {
        let (name, operator, operand_form) = NAMES[position];
        all[position] = may(name, operand_type(operand_form)).description(operator_description(operator));
        position += 1;
    }
    all
}

/// The conditions of a test: each operator with its operands.
static CONDITIONS: Shape = Shape {
    name: "RuleConditions",
    description: "Conditions on the tested value, all of which must be met.",
    kind: FieldType::Object(&operators()),
};

const fn of_field(name: &'static str, operator: Operator, operand_form: OperandForm) -> Field {
    let kind = match operand_form {
        OperandForm::Values => FieldType::Either(&[FieldType::List(&PLAIN, 0, usize::MAX), PLAIN]),
        operand_form => operand_type(operand_form),
    };
    may(name, kind).description(operator_description(operator))
}

/// The operators of filters (docs/spec/validation-rules.md#12).
pub const FIELD_CONDITIONS: &[Field] = &[
    of_field("$is", Operator::In, OperandForm::Values),
    of_field("$is_not", Operator::NotIn, OperandForm::Values),
    of_field("$in", Operator::In, OperandForm::Values),
    of_field("$not_in", Operator::NotIn, OperandForm::Values),
    of_field("$contains", Operator::Contains, OperandForm::Values),
    of_field("$not_contain", Operator::NotContain, OperandForm::Values),
    of_field("$starts_with", Operator::StartsWith, OperandForm::Texts),
    of_field("$ends_with", Operator::EndsWith, OperandForm::Texts),
    of_field("$has_value", Operator::HasValue, OperandForm::Anything),
    of_field("$is_unknown", Operator::IsUnknown, OperandForm::Anything),
    of_field("$more_than", Operator::More, OperandForm::Comparable),
    of_field("$less_than", Operator::Less, OperandForm::Comparable),
    of_field("$more_than_equal", Operator::AtLeast, OperandForm::Comparable),
    of_field("$less_than_equal", Operator::AtMost, OperandForm::Comparable),
    of_field("$after", Operator::After, OperandForm::Times),
    of_field("$before", Operator::Before, OperandForm::Times),
    of_field("$more_than_ago", Operator::MoreThanAgo, OperandForm::Count),
    of_field("$less_than_ago", Operator::LessThanAgo, OperandForm::Count),
    of_field("$is_days_ago", Operator::DaysAgo, OperandForm::Count),
    of_field("$more_than_future", Operator::MoreThanFuture, OperandForm::Count),
    of_field("$less_than_future", Operator::LessThanFuture, OperandForm::Count),
    of_field("$is_days_in_future", Operator::DaysInFuture, OperandForm::Count),
    of_field("$count", Operator::Count, OperandForm::Count),
    of_field("$count_less", Operator::CountLess, OperandForm::Count),
    of_field("$count_more", Operator::CountMore, OperandForm::Count),
    of_field("$next_month", Operator::NextMonth, OperandForm::Anything),
    of_field("$this_month", Operator::ThisMonth, OperandForm::Anything),
    of_field("$previous_month", Operator::PreviousMonth, OperandForm::Anything),
];

const CONDITIONS_OF: Field = may("conditions", FieldType::Named(&CONDITIONS))
    .or_null()
    .description("Conditions on the tested value, all of which must be met. `null` or absent means none.");
const PROPERTY: Field = may("property", FieldType::Text).or_null().description(
    "Key of the metadata to test. Required if `name` refers to metadata. `null` or absent for other names.",
);
const ERROR: Field = may(
    "error",
    FieldType::Object(&[may("message", FieldType::Text)
        .or_null()
        .description("Text of the message. `null` or absent means none.")]),
)
.or_null()
.description("Message of the merchant if the test fails. `null` or absent means the message of the rule.");

/// A test of a rule.
static TEST: Shape = Shape {
    name: "RuleTest",
    description: "Test of one fact about the customer, order or redemption.",
    kind: FieldType::Object(&[
        must("name", FieldType::OneOf(TEST_NAMES)).description("Name of the fact to test."),
        PROPERTY,
        CONDITIONS_OF,
        may("rules", FieldType::Named(&TESTS))
            .or_null()
            .description("Tests of the matched items. `null` or absent means none."),
        ERROR,
    ]),
};

/// The tests of a rule by their keys, and their logic.
pub static TESTS: Shape = Shape {
    name: "RuleTests",
    description: "Tests by their keys, and the logic that joins them.",
    kind: FieldType::Open(&[LOGIC], &FieldType::Named(&TEST)),
};

const LOGIC: Field = may("logic", FieldType::Text)
    .or_null()
    .description("Expression that joins the keys with `and`, `or` and parentheses. Keys that are not mentioned are not evaluated. `null` or absent means that all must pass.");

/// The product bundles that a rule requires.
pub static BUNDLES: Shape = Shape {
    name: "BundleRules",
    description: "Parts of a product bundle by their keys, and the number of bundles that count.",
    kind: FieldType::Open(
        &[
            may("limit", FieldType::Int(1, 100))
                .or_null()
                .description("Highest number of bundles that count in one order. Absent means 1, `null` means 100."),
            LOGIC.description("Expression that joins the keys. Stored as sent; a bundle always needs all parts."),
        ],
        &FieldType::Named(&Shape {
            name: "BundlePart",
            description: "Part of a product bundle.",
            kind: FieldType::Object(&[
                must("name", FieldType::OneOf(&["order.items.any"]))
                    .description("Name of the fact to test. Always `order.items.any`."),
                may("conditions", FieldType::Named(&PART))
                    .or_null()
                    .description("Products, SKUs or collections that form the part."),
                may("rules", FieldType::Named(&TESTS))
                    .or_null()
                    .description("Test of the number of units in each bundle. `null` or absent means one unit."),
                ERROR,
            ]),
        }),
    ),
};

static PART: Shape = Shape {
    name: "BundleConditions",
    description: "Products, SKUs or collections that form a part of a product bundle.",
    kind: FieldType::Object(&[
        may("$is", operand_type(OperandForm::Goods)).description(operator_description(Operator::In)),
        may("$in", operand_type(OperandForm::Goods)).description(operator_description(Operator::In)),
        may("$from", operand_type(OperandForm::Goods)).description(operator_description(Operator::From)),
    ]),
};

/// A filter of customers or goods.
pub static FILTER: Shape = Shape {
    name: "Filter",
    description: "Conditions on customers, products or SKUs by the path of a field, and the junction that joins them.",
    kind: FieldType::Open(
        &[may("junction", FieldType::OneOf(&["and", "or", "AND", "OR"]))
            .description("Junction of the conditions: `and` requires all of them, `or` requires one.")],
        &FieldType::Object(&[must(
            "conditions",
            FieldType::Named(&Shape {
                name: "FieldConditions",
                description: "Conditions on one field, all of which must be met.",
                kind: FieldType::Object(FIELD_CONDITIONS),
            }),
        )
        .description("Conditions on the field, all of which must be met.")]),
    ),
};
