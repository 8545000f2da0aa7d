//! Defines the operators of conditions, with their names and operands.
//!
//! docs/spec/validation-rules.md sections 3 and 12.

use std::fmt;

/// The comparison of a found value with the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Equal to one of them.
    In,
    /// Equal to none of them.
    NotIn,
    /// Below.
    Less,
    /// Below or equal.
    AtMost,
    /// Above.
    More,
    /// Above or equal.
    AtLeast,
    /// Begins with one of them.
    StartsWith,
    /// Ends with one of them.
    EndsWith,
    /// A text contains one of them as a part, an array as an element.
    Contains,
    /// Contains none of them.
    NotContain,
    /// Has this number of elements.
    Count,
    /// Has more elements.
    CountMore,
    /// Has fewer elements.
    CountLess,
    /// Is in one of these collections.
    From,
    /// Strictly later.
    After,
    /// Strictly earlier.
    Before,
    /// More than this number of days ago.
    MoreThanAgo,
    /// Less than this number of days ago.
    LessThanAgo,
    /// Exactly this number of days ago.
    DaysAgo,
    /// More than this number of days ahead.
    MoreThanFuture,
    /// Less than this number of days ahead.
    LessThanFuture,
    /// Exactly this number of days ahead.
    DaysInFuture,
    /// In a recurring window.
    Timeframe,
    /// Between two instants.
    TimeframeAbsolute,
    /// Between two times of the day on some weekdays.
    TimeframeDaily,
    /// On one of these weekdays.
    DayOfWeek,
    /// Equal elements, in any order.
    NotDiffer,
    /// No element in common with these.
    NotIntersect,
    /// The value is present.
    HasValue,
    /// The value is absent.
    IsUnknown,
    /// In the month before this one.
    PreviousMonth,
    /// In this month.
    ThisMonth,
    /// In the month after this one.
    NextMonth,
}

/// The operands of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandForm {
    /// Any values.
    Values,
    /// Numbers, or instants.
    Comparable,
    /// Texts.
    Texts,
    /// A count from 0.
    Count,
    /// Instants.
    Times,
    /// Windows, each written in one text.
    Windows,
    /// Weekdays, 0 to 6.
    Weekdays,
    /// Goods.
    Goods,
    /// Operands that do not matter.
    Anything,
}

/// The operators that a test may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operators {
    /// Equality with one of the operands, or with none.
    Equal,
    /// Equality, and below or above.
    Numbers,
    /// Equality with one of these goods, and the collection.
    Goods,
    /// Equality with one of these goods or with none, and the collection.
    GoodsOrNot,
    /// All: the values may be of any type, and a value that does not fit fails.
    All,
}

impl Operators {
    /// Returns whether an operator is allowed.
    pub fn allow(self, operator: Operator) -> bool {
        let is_equal = matches!(operator, O::In | O::NotIn);
        match self {
            Operators::Equal => is_equal,
            Operators::Numbers => is_equal || matches!(operator, O::Less | O::AtMost | O::More | O::AtLeast),
            Operators::Goods => matches!(operator, O::In | O::From),
            Operators::GoodsOrNot => is_equal || operator == O::From,
            Operators::All => true,
        }
    }
}

use OperandForm as T;
use Operator as O;

/// Names in JSON with their operators. The first name of an operator is the one that is printed.
pub(crate) const NAMES: &[(&str, Operator, OperandForm)] = &[
    ("$is", O::In, T::Values),
    ("$in", O::In, T::Values),
    ("$is_not", O::NotIn, T::Values),
    ("$not_in", O::NotIn, T::Values),
    ("$less_than", O::Less, T::Comparable),
    ("$less_than_or_equal", O::AtMost, T::Comparable),
    ("$less_than_equal", O::AtMost, T::Comparable),
    ("$more_than", O::More, T::Comparable),
    ("$greater_than", O::More, T::Comparable),
    ("$more_than_or_equal", O::AtLeast, T::Comparable),
    ("$more_than_equal", O::AtLeast, T::Comparable),
    ("$greater_than_or_equal", O::AtLeast, T::Comparable),
    ("$greater_than_equal", O::AtLeast, T::Comparable),
    ("$starts_with", O::StartsWith, T::Texts),
    ("$ends_with", O::EndsWith, T::Texts),
    ("$contains", O::Contains, T::Values),
    ("$not_contain", O::NotContain, T::Values),
    ("$count", O::Count, T::Count),
    ("$count_more", O::CountMore, T::Count),
    ("$count_less", O::CountLess, T::Count),
    ("$from", O::From, T::Goods),
    ("$after", O::After, T::Times),
    ("$before", O::Before, T::Times),
    ("$more_than_ago", O::MoreThanAgo, T::Count),
    ("$less_than_ago", O::LessThanAgo, T::Count),
    ("$is_days_ago", O::DaysAgo, T::Count),
    ("$more_than_future", O::MoreThanFuture, T::Count),
    ("$less_than_future", O::LessThanFuture, T::Count),
    ("$is_days_in_future", O::DaysInFuture, T::Count),
    ("$timeframe", O::Timeframe, T::Windows),
    ("$timeframe_absolute", O::TimeframeAbsolute, T::Windows),
    ("$timeframe_daily_hours", O::TimeframeDaily, T::Windows),
    ("$dow", O::DayOfWeek, T::Weekdays),
    ("$not_differ", O::NotDiffer, T::Values),
    ("$not_intersect", O::NotIntersect, T::Values),
    ("$has_value", O::HasValue, T::Anything),
    ("$is_unknown", O::IsUnknown, T::Anything),
    ("$previous_month", O::PreviousMonth, T::Anything),
    ("$this_month", O::ThisMonth, T::Anything),
    ("$next_month", O::NextMonth, T::Anything),
];

impl Operator {
    /// Parses the name of an operator in JSON, aliases included.
    ///
    /// ```
    /// use scrip::rules::Operator;
    /// assert_eq!(Operator::parse("$greater_than_or_equal"), Operator::parse("$more_than_equal"));
    /// assert_eq!(Operator::parse("$between"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Operator> {
        NAMES.iter().find(|(known, ..)| *known == name).map(|(_, operator, _)| *operator)
    }

    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns its operands.
    pub fn operand_form(self) -> OperandForm {
        self.row().1
    }

    fn row(self) -> (&'static str, OperandForm) {
        let row = NAMES.iter().find(|(_, operator, _)| *operator == self);
        row.map_or(("", OperandForm::Anything), |(name, _, operand_form)| (*name, *operand_form))
    }

    /// Returns whether it is negated: a missing value meets it (docs/spec/validation-rules.md#3).
    pub fn is_negative(self) -> bool {
        matches!(self, O::NotIn | O::NotContain)
    }
}

impl Operator {
    /// Returns whether its result depends on the present instant, and not only on the value and the operands.
    pub fn depends_on_now(self) -> bool {
        match self {
            O::MoreThanAgo | O::LessThanAgo | O::DaysAgo => true,
            O::MoreThanFuture | O::LessThanFuture | O::DaysInFuture => true,
            O::PreviousMonth | O::ThisMonth | O::NextMonth => true,
            O::In | O::NotIn | O::Less | O::AtMost | O::More | O::AtLeast => false,
            O::StartsWith | O::EndsWith | O::Contains | O::NotContain => false,
            O::Count | O::CountMore | O::CountLess | O::From | O::After | O::Before => false,
            O::Timeframe | O::TimeframeAbsolute | O::TimeframeDaily | O::DayOfWeek => false,
            O::NotDiffer | O::NotIntersect | O::HasValue | O::IsUnknown => false,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
