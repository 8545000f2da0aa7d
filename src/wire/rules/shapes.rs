//! The shapes of tests, of their conditions and of filters. It must not know whether they hold.
//!
//! Readers say what is wrong with a rule or a filter; these only describe them.

use crate::rules::names::WORDS;
use crate::rules::operator::{NAMES, Operator, Takes};
use crate::shape::{Field, INT_MAX, KEY, Kind, Shape, may, must};

const NUMBER: Kind = Kind::Number(-INT_MAX, INT_MAX);

/// A product, a SKU or a collection.
const GOODS: Kind = Kind::Named(&Shape {
    name: "RuleGoods",
    meaning: "A product, a SKU or a collection of them",
    kind: Kind::Object(&[
        may("object", Kind::OneOf(&["product", "sku", "products_collection"])),
        may("id", KEY).or_null(),
        may("source_id", KEY).or_null(),
        may("type", Kind::Text).or_null().says("Kept as it was sent"),
    ]),
});

/// A text, a number or a flag.
const PLAIN: Kind = Kind::Either(&[Kind::Text, NUMBER, Kind::Bool]);

/// What the values of an operator are: a list of them, or one.
const fn taken(takes: Takes) -> Kind {
    match takes {
        Takes::Values => {
            const VALUE: Kind = Kind::Either(&[Kind::Text, NUMBER, Kind::Bool, GOODS]);
            Kind::Either(&[Kind::List(&VALUE, 0, usize::MAX), VALUE])
        }
        Takes::Comparable => {
            const VALUE: Kind = Kind::Either(&[NUMBER, Kind::Text]);
            Kind::Either(&[Kind::List(&VALUE, 1, usize::MAX), VALUE])
        }
        Takes::Texts | Takes::Windows => Kind::Either(&[Kind::List(&Kind::Text, 1, usize::MAX), Kind::Text]),
        Takes::Count => {
            const VALUE: Kind = Kind::Either(&[Kind::Number(0, INT_MAX), Kind::Text]);
            Kind::Either(&[Kind::List(&VALUE, 1, usize::MAX), VALUE])
        }
        Takes::Moments => Kind::Either(&[Kind::List(&Kind::DateTime, 1, usize::MAX), Kind::DateTime]),
        Takes::Weekdays => Kind::Either(&[Kind::List(&Kind::Int(0, 6), 0, usize::MAX), Kind::Int(0, 6)]),
        Takes::Goods => Kind::Either(&[Kind::List(&GOODS, 0, usize::MAX), GOODS]),
        Takes::Anything => Kind::Any,
    }
}

/// What an operator says of what is found.
const fn said(operator: Operator) -> &'static str {
    match operator {
        Operator::In => "One of these",
        Operator::NotIn => "None of these",
        Operator::Less => "Below this",
        Operator::AtMost => "At most this",
        Operator::More => "Above this",
        Operator::AtLeast => "At least this",
        Operator::StartsWith => "Begins with one of these",
        Operator::EndsWith => "Ends with one of these",
        Operator::Contains => "Has one of these in it",
        Operator::NotContain => "Has none of these in it",
        Operator::Count => "Has so many elements",
        Operator::CountMore => "Has more elements",
        Operator::CountLess => "Has fewer elements",
        Operator::From => "Is in one of these collections",
        Operator::After => "Later than this",
        Operator::Before => "Earlier than this",
        Operator::MoreThanAgo => "More than so many days ago",
        Operator::LessThanAgo => "Less than so many days ago",
        Operator::DaysAgo => "So many days ago",
        Operator::MoreThanFuture => "More than so many days ahead",
        Operator::LessThanFuture => "Less than so many days ahead",
        Operator::DaysInFuture => "So many days ahead",
        Operator::Timeframe => "In a window that comes again: `start;interval;duration`",
        Operator::TimeframeAbsolute => "Between two moments: `from;to`",
        Operator::TimeframeDaily => "Between two times of day, on some weekdays: `HH:MM;HH:MM;d,d`",
        Operator::DayOfWeek => "On one of these weekdays, 0 is Sunday",
        Operator::NotDiffer => "The same elements as these, in any order",
        Operator::NotIntersect => "No element in common with these",
        Operator::HasValue => "There is a value",
        Operator::IsUnknown => "There is none",
        Operator::PreviousMonth => "In the month before this one",
        Operator::ThisMonth => "In this month",
        Operator::NextMonth => "In the month after this one",
    }
}

/// All operators, each under every name that it has.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn operators() -> [Field; NAMES.len()] {
    let mut all = [may("", Kind::Any); NAMES.len()];
    let mut place = 0;
    while place < NAMES.len() {
        let (name, operator, takes) = NAMES[place];
        all[place] = may(name, taken(takes)).says(said(operator));
        place += 1;
    }
    all
}

/// The conditions of a test: each operator with what it compares with.
static CONDITIONS: Shape =
    Shape { name: "RuleConditions", meaning: "What a value must be: all of these", kind: Kind::Object(&operators()) };

const fn of_field(name: &'static str, operator: Operator, takes: Takes) -> Field {
    let kind = match takes {
        Takes::Values => Kind::Either(&[Kind::List(&PLAIN, 0, usize::MAX), PLAIN]),
        takes => taken(takes),
    };
    may(name, kind).says(said(operator))
}

/// The operators of filters (validation-rules.md section 12).
pub const FIELD_CONDITIONS: &[Field] = &[
    of_field("$is", Operator::In, Takes::Values),
    of_field("$is_not", Operator::NotIn, Takes::Values),
    of_field("$in", Operator::In, Takes::Values),
    of_field("$not_in", Operator::NotIn, Takes::Values),
    of_field("$contains", Operator::Contains, Takes::Values),
    of_field("$not_contain", Operator::NotContain, Takes::Values),
    of_field("$starts_with", Operator::StartsWith, Takes::Texts),
    of_field("$ends_with", Operator::EndsWith, Takes::Texts),
    of_field("$has_value", Operator::HasValue, Takes::Anything),
    of_field("$is_unknown", Operator::IsUnknown, Takes::Anything),
    of_field("$more_than", Operator::More, Takes::Comparable),
    of_field("$less_than", Operator::Less, Takes::Comparable),
    of_field("$more_than_equal", Operator::AtLeast, Takes::Comparable),
    of_field("$less_than_equal", Operator::AtMost, Takes::Comparable),
    of_field("$after", Operator::After, Takes::Moments),
    of_field("$before", Operator::Before, Takes::Moments),
    of_field("$more_than_ago", Operator::MoreThanAgo, Takes::Count),
    of_field("$less_than_ago", Operator::LessThanAgo, Takes::Count),
    of_field("$is_days_ago", Operator::DaysAgo, Takes::Count),
    of_field("$more_than_future", Operator::MoreThanFuture, Takes::Count),
    of_field("$less_than_future", Operator::LessThanFuture, Takes::Count),
    of_field("$is_days_in_future", Operator::DaysInFuture, Takes::Count),
    of_field("$count", Operator::Count, Takes::Count),
    of_field("$count_less", Operator::CountLess, Takes::Count),
    of_field("$count_more", Operator::CountMore, Takes::Count),
    of_field("$next_month", Operator::NextMonth, Takes::Anything),
    of_field("$this_month", Operator::ThisMonth, Takes::Anything),
    of_field("$previous_month", Operator::PreviousMonth, Takes::Anything),
];

const CONDITIONS_OF: Field = may("conditions", Kind::Named(&CONDITIONS)).or_null();
const PROPERTY: Field = may("property", Kind::Text).or_null().says("Of custom data, which");
const ERROR: Field =
    may("error", Kind::Object(&[may("message", Kind::Text).or_null().says("What is told where it does not hold")]))
        .or_null()
        .says("What its author says where it does not hold");

/// A test of a rule.
static TEST: Shape = Shape {
    name: "RuleTest",
    meaning: "A test of a rule, and tests of what it matches",
    kind: Kind::Object(&[
        must("name", Kind::OneOf(WORDS)).says("What is looked at"),
        PROPERTY,
        CONDITIONS_OF,
        may("rules", Kind::Named(&TESTS)).or_null().says("Tests of what it matches"),
        ERROR,
    ]),
};

/// The tests of a rule by their keys, and how they are joined.
pub static TESTS: Shape = Shape {
    name: "RuleTests",
    meaning: "Tests by their keys, and how they are joined",
    kind: Kind::Open(&[LOGIC], &Kind::Named(&TEST)),
};

const LOGIC: Field = may("logic", Kind::Text)
    .or_null()
    .says("How the keys are joined, such as `1 and (2 or 3)`; all of them when left out");

/// The bundles that a rule asks for.
pub static BUNDLES: Shape = Shape {
    name: "BundleRules",
    meaning: "The parts of a bundle by their keys, and how many bundles there may be",
    kind: Kind::Open(
        &[may("limit", Kind::Int(1, 100)).or_null().says("So many bundles; 1 when left out, 100 when null"), LOGIC],
        &Kind::Named(&Shape {
            name: "BundlePart",
            meaning: "Goods of which a bundle has some",
            kind: Kind::Object(&[
                must("name", Kind::OneOf(&["order.items.any"])),
                may("conditions", Kind::Named(&PART)).or_null().says("Which goods"),
                may("rules", Kind::Named(&TESTS)).or_null().says("How many of them"),
                ERROR,
            ]),
        }),
    ),
};

static PART: Shape = Shape {
    name: "BundleConditions",
    meaning: "Which goods are a part of a bundle",
    kind: Kind::Object(&[
        may("$is", taken(Takes::Goods)).says(said(Operator::In)),
        may("$in", taken(Takes::Goods)).says(said(Operator::In)),
        may("$from", taken(Takes::Goods)).says(said(Operator::From)),
    ]),
};

/// A filter of customers or goods.
pub static FILTER: Shape = Shape {
    name: "Filter",
    meaning: "Conditions by the path of a field, and how they are joined",
    kind: Kind::Open(
        &[may("junction", Kind::OneOf(&["and", "or", "AND", "OR"])).says("Whether all of them must hold, or one")],
        &Kind::Object(&[must(
            "conditions",
            Kind::Named(&Shape {
                name: "FieldConditions",
                meaning: "What a field must be: all of these",
                kind: Kind::Object(FIELD_CONDITIONS),
            }),
        )]),
    ),
};
