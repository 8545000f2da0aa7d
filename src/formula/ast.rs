//! Decides what a formula can say: its operands, functions and operators, each with its name. It must not know how a
//! formula is read, printed or evaluated; the tables here are what all three go by.

use crate::formula::ratio::Ratio;
use crate::text::Text;

/// A formula as it was understood: a small tree, at most [`DEEPEST`] deep.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    pub(crate) root: Node,
}

/// How many bytes a formula may be long.
pub const LONGEST: usize = 2_000;
/// How deep brackets, arguments and signs may nest.
pub const DEEPEST: usize = 32;
/// How many numbers, texts, operands and calls a formula may have.
pub const MOST_NODES: usize = 500;

/// A part of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// A number, never negative.
    Number(Ratio),
    /// A text.
    Text(Text),
    /// Something to be looked up.
    Operand(Operand),
    /// The sign is turned.
    Negative(Box<Node>),
    /// Operators of one level, from left to right: flat, so that a long sum is no deep tree.
    Infix(Box<Node>, Vec<(Operator, Node)>),
    /// A function of its arguments. For `SWITCH` these are the value, then value and result of each case, then the rest.
    Call(Function, Vec<Node>),
}

/// A value that belongs to the basket, the customer, the voucher or the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// What it is.
    pub name: Name,
    /// Of which line, for the operands that belong to a line.
    pub which: Which,
    /// The property, for metadata.
    pub key: Text,
}

/// The line that an operand belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one that a discount is computed for.
    Current,
    /// The one with the lowest unit price.
    Cheapest,
    /// The one with the highest unit price.
    MostExpensive,
}

impl Which {
    /// What stands before the name of the operand.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Which::Current => "",
            Which::Cheapest => "CHEAPEST_",
            Which::MostExpensive => "MOST_EXPENSIVE_",
        }
    }
}

/// What can be looked up (calculation.md section 6). Money is expected in major units: `Value::of_money`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// A property of the order's metadata.
    OrderMetadata,
    /// A property of the customer's metadata.
    CustomerMetadata,
    /// A property of the metadata of the voucher or promotion tier.
    RedeemableMetadata,
    /// A property of the redemption's metadata.
    RedemptionMetadata,
    /// A property of the publication's metadata.
    PublicationMetadata,
    /// The unit price of a line.
    ItemPrice,
    /// The amount of a line before any discount.
    ItemAmount,
    /// What is left of a line's amount after earlier discounts.
    ItemSubtotal,
    /// The units of a line.
    ItemUnitsQuantity,
    /// A property of a line's metadata.
    ItemMetadata,
    /// A property of the metadata of a line's product.
    ItemProductMetadata,
    /// The order amount.
    OrderAmount,
    /// How many lines there are.
    OrderItemsQuantity,
    /// How many units there are.
    OrderUnitsQuantity,
    /// How many bundles were found.
    BundleQuantity,
    /// How often the voucher may be redeemed.
    VoucherRedemptionQuantity,
    /// How often the voucher has been redeemed.
    VoucherRedeemedQuantity,
    /// How often the voucher has been published.
    VoucherPublishCount,
    /// From when the voucher is valid.
    VoucherStartDate,
    /// Until when the voucher is valid.
    VoucherExpirationDate,
    /// From when the promotion tier is valid.
    PromotionTierStartDate,
    /// Until when the promotion tier is valid.
    PromotionTierExpirationDate,
    /// The day on which the customer was born; a text that writes a date will do.
    CustomerBirthdate,
    /// The moment of the decision; today is asked for by this name as well.
    Now,
}

/// The operands by name, and whether they take a key. Those of a line are also known with a prefix ([`Which`]).
pub(crate) const OPERANDS: &[(&str, Name, bool)] = &[
    ("ORDER_METADATA", Name::OrderMetadata, true),
    ("CUSTOMER_METADATA", Name::CustomerMetadata, true),
    ("REDEEMABLE_METADATA", Name::RedeemableMetadata, true),
    ("REDEMPTION_METADATA", Name::RedemptionMetadata, true),
    ("PUBLICATION_METADATA", Name::PublicationMetadata, true),
    ("ORDER_ITEM_PRICE", Name::ItemPrice, false),
    ("ORDER_ITEM_AMOUNT", Name::ItemAmount, false),
    ("ORDER_ITEM_SUBTOTAL", Name::ItemSubtotal, false),
    ("ORDER_ITEM_UNITS_QUANTITY", Name::ItemUnitsQuantity, false),
    ("ORDER_ITEM_METADATA", Name::ItemMetadata, true),
    ("ORDER_ITEM_PRODUCT_METADATA", Name::ItemProductMetadata, true),
    ("ORDER_AMOUNT", Name::OrderAmount, false),
    ("ORDER_ITEMS_QUANTITY", Name::OrderItemsQuantity, false),
    ("ORDER_UNITS_QUANTITY", Name::OrderUnitsQuantity, false),
    ("order.bundle.quantity", Name::BundleQuantity, false),
    ("VOUCHER_REDEMPTION_QUANTITY", Name::VoucherRedemptionQuantity, false),
    ("VOUCHER_REDEEMED_QUANTITY", Name::VoucherRedeemedQuantity, false),
    ("VOUCHER_PUBLISH_COUNT", Name::VoucherPublishCount, false),
    ("VOUCHER_START_DATE", Name::VoucherStartDate, false),
    ("VOUCHER_EXPIRATION_DATE", Name::VoucherExpirationDate, false),
    ("PROMOTION_TIER_START_DATE", Name::PromotionTierStartDate, false),
    ("PROMOTION_TIER_EXPIRATION_DATE", Name::PromotionTierExpirationDate, false),
    ("CUSTOMER_BIRTHDATE", Name::CustomerBirthdate, false),
    ("NOW", Name::Now, false),
];

impl Operand {
    /// The operand of this name, still without its key, and whether it takes one.
    pub(crate) fn named(word: &str) -> Option<(Operand, bool)> {
        let prefixed = [Which::Cheapest, Which::MostExpensive].into_iter();
        let (which, rest) = prefixed
            .filter_map(|which| Some((which, word.strip_prefix(which.prefix())?)))
            .find(|(_, rest)| rest.starts_with("ORDER_ITEM_"))
            .unwrap_or((Which::Current, word));
        let (_, name, keyed) = OPERANDS.iter().find(|(known, ..)| *known == rest)?;
        Some((Operand { name: *name, which, key: Text::default() }, *keyed))
    }
}

impl Name {
    /// How it is written, and whether a key follows.
    pub(crate) fn written(self) -> (&'static str, bool) {
        let found = OPERANDS.iter().find(|(_, name, _)| *name == self);
        found.map_or(("", false), |(written, _, keyed)| (written, *keyed))
    }
}

/// What can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Min,
    Max,
    Pow,
    If,
    DefaultTo,
    Round,
    Floor,
    Ceil,
    Switch,
    DayOfMonth,
    Month,
    Year,
    Today,
    Date,
    DateTime,
    DaysSince,
    MonthsSince,
    YearsSince,
    DaysUntil,
    MonthsUntil,
    /// Values in brackets, `("a";"b")`: a set to look in.
    List,
}

/// No bound on the number of arguments but that of the formula's size.
const ANY: usize = usize::MAX;

/// What stands before each case of a `SWITCH`, and nowhere else.
pub(crate) const CASE: &str = "SWITCH_CASE";

/// The functions: name, and how many arguments they take at least and at most. `TODAY` stands without brackets. A list
/// has no name.
pub(crate) const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("MIN", Function::Min, 1, ANY),
    ("MAX", Function::Max, 1, ANY),
    ("POW", Function::Pow, 2, 2),
    ("IF", Function::If, 3, 3),
    ("DEFAULT_TO", Function::DefaultTo, 1, ANY),
    ("ROUND", Function::Round, 2, 2),
    ("FLOOR", Function::Floor, 2, 2),
    ("CEIL", Function::Ceil, 2, 2),
    ("SWITCH", Function::Switch, 3, 3),
    ("DAY_OF_MONTH", Function::DayOfMonth, 1, 1),
    ("MONTH", Function::Month, 1, 1),
    ("YEAR", Function::Year, 1, 1),
    ("TODAY", Function::Today, 0, 0),
    ("DATE", Function::Date, 1, 1),
    ("DATE_TIME", Function::DateTime, 1, 1),
    ("DAYS_SINCE", Function::DaysSince, 1, 1),
    ("MONTHS_SINCE", Function::MonthsSince, 1, 1),
    ("YEARS_SINCE", Function::YearsSince, 1, 1),
    ("DAYS_UNTIL", Function::DaysUntil, 1, 1),
    ("MONTHS_UNTIL", Function::MonthsUntil, 1, 1),
];

/// What stands between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    MoreThan,
    LessThan,
    MoreThanOrEqual,
    LessThanOrEqual,
    Equal,
    Is,
    IsNot,
    Contains,
    StartsWith,
    EndsWith,
    InArray,
    NotInArray,
    DateIs,
    DateIsNot,
    IsAfter,
    IsBefore,
    Plus,
    Minus,
    Times,
    Over,
    Rest,
}

/// How tightly an operator binds: the higher, the tighter.
pub(crate) type Level = u8;
/// Tests stand alone: `a > b > c` says nothing.
pub(crate) const TESTS: Level = 2;
/// No operator binds as tightly.
pub(crate) const TIGHTEST: Level = 5;

/// The operators: how they are written, and how tightly they bind. Tests with a name may also be called,
/// `DATE_IS(a;b)` for `a DATE_IS b`.
pub(crate) const OPERATORS: &[(&str, Operator, Level)] = &[
    ("OR", Operator::Or, 0),
    ("AND", Operator::And, 1),
    (">=", Operator::MoreThanOrEqual, TESTS),
    ("<=", Operator::LessThanOrEqual, TESTS),
    (">", Operator::MoreThan, TESTS),
    ("<", Operator::LessThan, TESTS),
    ("=", Operator::Equal, TESTS),
    ("is", Operator::Is, TESTS),
    ("isNot", Operator::IsNot, TESTS),
    ("contains", Operator::Contains, TESTS),
    ("startsWith", Operator::StartsWith, TESTS),
    ("endsWith", Operator::EndsWith, TESTS),
    ("IN_ARRAY", Operator::InArray, TESTS),
    ("NOT_IN_ARRAY", Operator::NotInArray, TESTS),
    ("DATE_IS", Operator::DateIs, TESTS),
    ("DATE_IS_NOT", Operator::DateIsNot, TESTS),
    ("IS_AFTER", Operator::IsAfter, TESTS),
    ("IS_BEFORE", Operator::IsBefore, TESTS),
    ("+", Operator::Plus, 3),
    ("-", Operator::Minus, 3),
    ("*", Operator::Times, 4),
    ("/", Operator::Over, 4),
    ("%", Operator::Rest, 4),
];

impl Function {
    /// How it is written; a list has no name.
    pub(crate) fn written(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function, ..)| *function == self).map_or("", |(name, ..)| name)
    }
}

impl Operator {
    /// How it is written, and how tightly it binds.
    pub(crate) fn written(self) -> (&'static str, Level) {
        let found = OPERATORS.iter().find(|(_, operator, _)| *operator == self);
        found.map_or(("", TIGHTEST), |(name, _, level)| (name, *level))
    }
}
