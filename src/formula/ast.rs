//! Defines the elements of a formula: its operands, functions and operators, with their names. Parsing, printing and
//! evaluation use these tables.

use crate::formula::ratio::Ratio;
use crate::text::Text;

/// A parsed formula: a tree, stored node by node, each before its parts. One list of plain nodes needs a fraction of
/// the code that boxes would need.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    pub(crate) steps: Vec<FormulaNode>,
}

impl Formula {
    /// Returns the number of nodes.
    pub fn size(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether it has an operand that passes `test`.
    pub fn uses_operand(&self, test: impl Fn(FormulaName) -> bool) -> bool {
        self.steps.iter().any(|step| match &step.kind {
            NodeKind::Operand(operand) => test(operand.name),
            NodeKind::Number(_) | NodeKind::Text(_) | NodeKind::Call(_) => false,
        })
    }
}

/// The maximum length of a formula in bytes.
pub const LONGEST: usize = 2_000;
/// The maximum nesting of brackets, arguments and signs.
pub const DEEPEST: u8 = 32;
/// The maximum number of nodes.
pub const STEPS_MAX: usize = 500;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FormulaNode {
    /// The kind.
    pub kind: NodeKind,
    /// The operator between the part before and this one, in a chain.
    pub joint: Option<Function>,
    /// The number of nodes including all of its parts.
    pub size: usize,
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    /// A number, never negative.
    Number(Ratio),
    /// A text.
    Text(Text),
    /// An operand.
    Operand(FormulaOperand),
    /// A function of its parts.
    Call(Function),
}

/// An iterator over the parts of a node; each starts with its own node.
pub(crate) struct NodeParts<'a>(pub &'a [FormulaNode]);

impl<'a> Iterator for NodeParts<'a> {
    type Item = &'a [FormulaNode];

    fn next(&mut self) -> Option<&'a [FormulaNode]> {
        let (part, rest) = self.0.split_at_checked(self.0.first()?.size)?;
        self.0 = rest;
        Some(part)
    }
}

/// A value of the order, the customer, the voucher or the instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaOperand {
    /// The name.
    pub name: FormulaName,
    /// The line, for the operands of a line.
    pub which: OperandLine,
    /// The property, for metadata.
    pub key: Text,
}

/// The line that an operand belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandLine {
    /// The line that a discount is computed for.
    Current,
    /// The line with the lowest unit price.
    Cheapest,
    /// The line with the highest unit price.
    MostExpensive,
}

impl OperandLine {
    /// Returns the prefix of the operand's name.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            OperandLine::Current => "",
            OperandLine::Cheapest => "CHEAPEST_",
            OperandLine::MostExpensive => "MOST_EXPENSIVE_",
        }
    }
}

/// The names of operands (docs/spec/calculation.md#6). Money is expected in major units: `FormulaValue::of_money`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormulaName {
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
    /// The remaining amount of a line after earlier discounts.
    ItemSubtotal,
    /// The units of a line.
    ItemUnitsQuantity,
    /// A property of a line's metadata.
    ItemMetadata,
    /// A property of the metadata of a line's product.
    ItemProductMetadata,
    /// The order amount.
    OrderAmount,
    /// The number of lines.
    OrderItemsQuantity,
    /// The number of units.
    OrderUnitsQuantity,
    /// The number of bundles found.
    BundleQuantity,
    /// The maximum number of redemptions of the voucher.
    VoucherRedemptionQuantity,
    /// The number of redemptions of the voucher.
    VoucherRedeemedQuantity,
    /// The number of publications of the voucher.
    VoucherPublishCount,
    /// The start of the voucher's validity.
    VoucherStartDate,
    /// The end of the voucher's validity.
    VoucherExpirationDate,
    /// The start of the promotion tier's validity.
    PromotionTierStartDate,
    /// The end of the promotion tier's validity.
    PromotionTierExpirationDate,
    /// The customer's day of birth; a text that contains a date is accepted.
    CustomerBirthdate,
    /// The instant of the decision, also used for today.
    Now,
}

/// The operands by name, with `true` if they take a key. Those of a line also exist with a prefix ([`OperandLine`]).
pub(crate) const OPERANDS: &[(&str, FormulaName, bool)] = &[
    ("ORDER_METADATA", FormulaName::OrderMetadata, true),
    ("CUSTOMER_METADATA", FormulaName::CustomerMetadata, true),
    ("REDEEMABLE_METADATA", FormulaName::RedeemableMetadata, true),
    ("REDEMPTION_METADATA", FormulaName::RedemptionMetadata, true),
    ("PUBLICATION_METADATA", FormulaName::PublicationMetadata, true),
    ("ORDER_ITEM_PRICE", FormulaName::ItemPrice, false),
    ("ORDER_ITEM_AMOUNT", FormulaName::ItemAmount, false),
    ("ORDER_ITEM_SUBTOTAL", FormulaName::ItemSubtotal, false),
    ("ORDER_ITEM_UNITS_QUANTITY", FormulaName::ItemUnitsQuantity, false),
    ("ORDER_ITEM_METADATA", FormulaName::ItemMetadata, true),
    ("ORDER_ITEM_PRODUCT_METADATA", FormulaName::ItemProductMetadata, true),
    ("ORDER_AMOUNT", FormulaName::OrderAmount, false),
    ("ORDER_ITEMS_QUANTITY", FormulaName::OrderItemsQuantity, false),
    ("ORDER_UNITS_QUANTITY", FormulaName::OrderUnitsQuantity, false),
    ("order.bundle.quantity", FormulaName::BundleQuantity, false),
    ("VOUCHER_REDEMPTION_QUANTITY", FormulaName::VoucherRedemptionQuantity, false),
    ("VOUCHER_REDEEMED_QUANTITY", FormulaName::VoucherRedeemedQuantity, false),
    ("VOUCHER_PUBLISH_COUNT", FormulaName::VoucherPublishCount, false),
    ("VOUCHER_START_DATE", FormulaName::VoucherStartDate, false),
    ("VOUCHER_EXPIRATION_DATE", FormulaName::VoucherExpirationDate, false),
    ("PROMOTION_TIER_START_DATE", FormulaName::PromotionTierStartDate, false),
    ("PROMOTION_TIER_EXPIRATION_DATE", FormulaName::PromotionTierExpirationDate, false),
    ("CUSTOMER_BIRTHDATE", FormulaName::CustomerBirthdate, false),
    ("NOW", FormulaName::Now, false),
];

impl FormulaName {
    /// Returns whether it is a value of the order or of one of its lines.
    pub fn is_of_order(self) -> bool {
        match self {
            FormulaName::OrderMetadata
            | FormulaName::OrderAmount
            | FormulaName::OrderItemsQuantity
            | FormulaName::OrderUnitsQuantity => true,
            FormulaName::ItemPrice
            | FormulaName::ItemAmount
            | FormulaName::ItemSubtotal
            | FormulaName::ItemUnitsQuantity => true,
            FormulaName::ItemMetadata | FormulaName::ItemProductMetadata | FormulaName::BundleQuantity => true,
            FormulaName::CustomerMetadata | FormulaName::RedeemableMetadata | FormulaName::RedemptionMetadata => false,
            FormulaName::PublicationMetadata
            | FormulaName::VoucherRedemptionQuantity
            | FormulaName::VoucherRedeemedQuantity => false,
            FormulaName::VoucherPublishCount | FormulaName::VoucherStartDate | FormulaName::VoucherExpirationDate => {
                false
            }
            FormulaName::PromotionTierStartDate | FormulaName::PromotionTierExpirationDate => false,
            FormulaName::CustomerBirthdate | FormulaName::Now => false,
        }
    }
}

impl FormulaOperand {
    /// Returns the operand of this name, without its key, and whether it takes one.
    pub(crate) fn named(token: &str) -> Option<(FormulaOperand, bool)> {
        let prefixed = [OperandLine::Cheapest, OperandLine::MostExpensive].into_iter();
        let (which, rest) = prefixed
            .filter_map(|which| Some((which, token.strip_prefix(which.prefix())?)))
            .find(|(_, rest)| rest.starts_with("ORDER_ITEM_"))
            .unwrap_or((OperandLine::Current, token));
        let (_, name, keyed) = OPERANDS.iter().find(|(known, ..)| *known == rest)?;
        Some((FormulaOperand { name: *name, which, key: Text::default() }, *keyed))
    }
}

impl FormulaName {
    /// Returns the name as written, and whether a key follows.
    pub(crate) fn written(self) -> (&'static str, bool) {
        let found = OPERANDS.iter().find(|(_, name, _)| *name == self);
        found.map_or(("", false), |(written, _, keyed)| (written, *keyed))
    }
}

/// A function or operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    /// Operators of one precedence from left to right: flat, so that a long sum is no deep tree.
    Chain,
    /// Values in brackets, `("a";"b")`: a set to search.
    List,
    /// Negation of a number.
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
    /// Arguments: the value, then value and result of each case, then the default.
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

/// The precedence of an operator: a higher one binds more tightly.
pub(crate) type Precedence = u8;
/// The precedence of tests, which cannot be chained: `a > b > c` is invalid. Those with a name may also be called,
/// `DATE_IS(a;b)`.
pub(crate) const TESTS: Precedence = 2;
/// The precedence of functions, which bind more tightly than any operator.
pub(crate) const CALL: Precedence = 5;

/// The keyword before each case of a `SWITCH`.
pub(crate) const CASE: &str = "SWITCH_CASE";

/// The functions: name, precedence, and number of arguments, 0 for any number. `TODAY` is written without brackets.
pub(crate) const FUNCTIONS: &[(&str, Function, Precedence, usize)] = &[
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
    ("MIN", Function::Min, CALL, 0),
    ("MAX", Function::Max, CALL, 0),
    ("DEFAULT_TO", Function::DefaultTo, CALL, 0),
    ("POW", Function::Pow, CALL, 2),
    ("ROUND", Function::Round, CALL, 2),
    ("FLOOR", Function::Floor, CALL, 2),
    ("CEIL", Function::Ceil, CALL, 2),
    ("IF", Function::If, CALL, 3),
    ("SWITCH", Function::Switch, CALL, 3),
    ("TODAY", Function::Today, CALL, 0),
    ("DATE", Function::Date, CALL, 1),
    ("DATE_TIME", Function::DateTime, CALL, 1),
    ("DAY_OF_MONTH", Function::DayOfMonth, CALL, 1),
    ("MONTH", Function::Month, CALL, 1),
    ("YEAR", Function::Year, CALL, 1),
    ("DAYS_SINCE", Function::DaysSince, CALL, 1),
    ("MONTHS_SINCE", Function::MonthsSince, CALL, 1),
    ("YEARS_SINCE", Function::YearsSince, CALL, 1),
    ("DAYS_UNTIL", Function::DaysUntil, CALL, 1),
    ("MONTHS_UNTIL", Function::MonthsUntil, CALL, 1),
];

impl Function {
    /// Returns the name and the precedence; a list has no name.
    pub(crate) fn written(self) -> (&'static str, Precedence) {
        let found = FUNCTIONS.iter().find(|(_, function, ..)| *function == self);
        found.map_or(("", CALL), |(name, _, level, _)| (name, *level))
    }
}
