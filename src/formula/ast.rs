//! Decides what a formula can say: its operands, functions and operators, each with its name. It must not know how a
//! formula is read, printed or evaluated; the tables here are what all three go by.

use crate::formula::ratio::Ratio;
use crate::text::Text;

/// A formula as it was understood: a tree, written down node by node, each before its parts. One list of plain steps is
/// read, compared, copied and dropped with a fraction of the code that boxes would need.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    pub(crate) steps: Vec<Step>,
}

impl Formula {
    /// How many nodes it has.
    pub fn size(&self) -> usize {
        self.steps.len()
    }
}

/// How many bytes a formula may be long.
pub const LONGEST: usize = 2_000;
/// How deep brackets, arguments and signs may nest.
pub const DEEPEST: u8 = 32;
/// How many nodes the tree may have.
pub const MOST_STEPS: usize = 500;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// What it is.
    pub what: What,
    /// In a chain, the operator between the part before and this one.
    pub joint: Option<Function>,
    /// How many steps it is, with all of its parts.
    pub size: usize,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// A number, never negative.
    Number(Ratio),
    /// A text.
    Text(Text),
    /// Something to be looked up.
    Operand(Operand),
    /// A function of its parts.
    Call(Function),
}

/// The parts of a node, one after the other; each begins with its own step.
pub(crate) struct Parts<'a>(pub &'a [Step]);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [Step];

    fn next(&mut self) -> Option<&'a [Step]> {
        let (part, rest) = self.0.split_at_checked(self.0.first()?.size)?;
        self.0 = rest;
        Some(part)
    }
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

/// What can be computed from values, called or written between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    /// Operators of one level from left to right: flat, so that a long sum is no deep tree.
    Chain,
    /// Values in brackets, `("a";"b")`: a set to look in.
    List,
    /// The other sign.
    Negative,
    Or,
    And,
    MoreThanOrEqual,
    LessThanOrEqual,
    MoreThan,
    LessThan,
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
    Min,
    Max,
    DefaultTo,
    Pow,
    Round,
    Floor,
    Ceil,
    If,
    /// Of the value, then value and result of each case, then the rest.
    Switch,
    Today,
    Date,
    DateTime,
    DayOfMonth,
    Month,
    Year,
    DaysSince,
    MonthsSince,
    YearsSince,
    DaysUntil,
    MonthsUntil,
}

/// How tightly an operator binds: the higher, the tighter.
pub(crate) type Level = u8;
/// Tests stand alone: `a > b > c` says nothing. Those with a name may also be called, `DATE_IS(a;b)`.
pub(crate) const TESTS: Level = 2;
/// What is only called holds together more tightly than any operator.
pub(crate) const CALLED: Level = 5;

/// What stands before each case of a `SWITCH`, and nowhere else.
pub(crate) const CASE: &str = "SWITCH_CASE";

/// The functions: how they are written, how tightly they bind, and how many arguments they take; 0 for any number.
/// `TODAY` stands without brackets.
pub(crate) const FUNCTIONS: &[(&str, Function, Level, usize)] = &[
    ("OR", Function::Or, 0, 2),
    ("AND", Function::And, 1, 2),
    (">=", Function::MoreThanOrEqual, TESTS, 2),
    ("<=", Function::LessThanOrEqual, TESTS, 2),
    (">", Function::MoreThan, TESTS, 2),
    ("<", Function::LessThan, TESTS, 2),
    ("=", Function::Equal, TESTS, 2),
    ("is", Function::Is, TESTS, 2),
    ("isNot", Function::IsNot, TESTS, 2),
    ("contains", Function::Contains, TESTS, 2),
    ("startsWith", Function::StartsWith, TESTS, 2),
    ("endsWith", Function::EndsWith, TESTS, 2),
    ("IN_ARRAY", Function::InArray, TESTS, 0),
    ("NOT_IN_ARRAY", Function::NotInArray, TESTS, 0),
    ("DATE_IS", Function::DateIs, TESTS, 2),
    ("DATE_IS_NOT", Function::DateIsNot, TESTS, 2),
    ("IS_AFTER", Function::IsAfter, TESTS, 2),
    ("IS_BEFORE", Function::IsBefore, TESTS, 2),
    ("+", Function::Plus, 3, 2),
    ("-", Function::Minus, 3, 2),
    ("*", Function::Times, 4, 2),
    ("/", Function::Over, 4, 2),
    ("%", Function::Rest, 4, 2),
    ("MIN", Function::Min, CALLED, 0),
    ("MAX", Function::Max, CALLED, 0),
    ("DEFAULT_TO", Function::DefaultTo, CALLED, 0),
    ("POW", Function::Pow, CALLED, 2),
    ("ROUND", Function::Round, CALLED, 2),
    ("FLOOR", Function::Floor, CALLED, 2),
    ("CEIL", Function::Ceil, CALLED, 2),
    ("IF", Function::If, CALLED, 3),
    ("SWITCH", Function::Switch, CALLED, 3),
    ("TODAY", Function::Today, CALLED, 0),
    ("DATE", Function::Date, CALLED, 1),
    ("DATE_TIME", Function::DateTime, CALLED, 1),
    ("DAY_OF_MONTH", Function::DayOfMonth, CALLED, 1),
    ("MONTH", Function::Month, CALLED, 1),
    ("YEAR", Function::Year, CALLED, 1),
    ("DAYS_SINCE", Function::DaysSince, CALLED, 1),
    ("MONTHS_SINCE", Function::MonthsSince, CALLED, 1),
    ("YEARS_SINCE", Function::YearsSince, CALLED, 1),
    ("DAYS_UNTIL", Function::DaysUntil, CALLED, 1),
    ("MONTHS_UNTIL", Function::MonthsUntil, CALLED, 1),
];

impl Function {
    /// How it is written, and how tightly it binds; a list has no name.
    pub(crate) fn written(self) -> (&'static str, Level) {
        let found = FUNCTIONS.iter().find(|(_, function, ..)| *function == self);
        found.map_or(("", CALLED), |(name, _, level, _)| (name, *level))
    }
}
