//! Decides which operators there are, what they are called and what they compare with. It must not know how they
//! compare.
//!
//! validation-rules.md sections 3 and 12.

use std::fmt;

/// How a found value is compared with the wanted ones.
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
    /// A text has one of them in it, an array has it as an element.
    Contains,
    /// Contains none of them.
    NotContain,
    /// Has so many elements.
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
    /// More than so many days ago.
    MoreThanAgo,
    /// Less than so many days ago.
    LessThanAgo,
    /// So many days ago.
    DaysAgo,
    /// More than so many days ahead.
    MoreThanFuture,
    /// Less than so many days ahead.
    LessThanFuture,
    /// So many days ahead.
    DaysInFuture,
    /// In a recurring window.
    Timeframe,
    /// Between two moments.
    TimeframeAbsolute,
    /// Between two times of the day on some weekdays.
    TimeframeDaily,
    /// On one of these weekdays.
    DayOfWeek,
    /// The same elements as these, in any order.
    NotDiffer,
    /// No element in common with these.
    NotIntersect,
    /// There is a value.
    HasValue,
    /// There is none.
    IsUnknown,
    /// In the month before, this one or the next one.
    PreviousMonth,
    /// In this month.
    ThisMonth,
    /// In the month after this one.
    NextMonth,
}

/// What an operator takes on its right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Any values.
    Values,
    /// Numbers, or moments.
    Comparable,
    /// Texts.
    Texts,
    /// A count from 0.
    Count,
    /// Moments.
    Moments,
    /// Windows, each written in one text.
    Windows,
    /// Weekdays, 0 to 6.
    Weekdays,
    /// Goods.
    Goods,
    /// Nothing that matters.
    Anything,
}

/// The operators that a test may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operators {
    /// Whether it is one of them, or none.
    Equal,
    /// The same, and below or above.
    Numbers,
    /// Whether it is one of these goods, and from which collection.
    Goods,
    /// The same, or none of them.
    GoodsOrNot,
    /// All: what the values are is anything, and whatever does not fit a value does not hold.
    All,
}

impl Operators {
    /// Whether an operator is one of them.
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

use Operator as O;
use Takes as T;

/// Names on the wire with their operators. The first name of an operator is the one it is told by.
pub(crate) const NAMES: &[(&str, Operator, Takes)] = &[
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
    ("$after", O::After, T::Moments),
    ("$before", O::Before, T::Moments),
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
    /// The operator of this name on the wire, aliases included.
    ///
    /// ```
    /// use scrip::rules::Operator;
    /// assert_eq!(Operator::parse("$greater_than_or_equal"), Operator::parse("$more_than_equal"));
    /// assert_eq!(Operator::parse("$between"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Operator> {
        NAMES.iter().find(|(known, ..)| *known == name).map(|(_, operator, _)| *operator)
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it takes.
    pub fn takes(self) -> Takes {
        self.row().1
    }

    fn row(self) -> (&'static str, Takes) {
        let row = NAMES.iter().find(|(_, operator, _)| *operator == self);
        row.map_or(("", Takes::Anything), |(name, _, takes)| (*name, *takes))
    }

    /// Whether it says what something is not: a missing value satisfies it (validation-rules.md section 3).
    pub fn is_negative(self) -> bool {
        matches!(self, O::NotIn | O::NotContain)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
