//! Defines the values of formulas: numbers, texts, booleans, dates and lists of these, and their conversions.

use crate::formula::ratio::Ratio;
use crate::json::Node;
use crate::money::Money;
use crate::text::Text;
use crate::time::{self, Instant, TimeZone};

/// A value while a formula is evaluated. A missing value is `None`.
#[derive(Debug, Clone, PartialEq)]
pub enum FormulaValue {
    /// A number; money is in major units.
    Number(Ratio),
    /// A text.
    Text(Text),
    /// A boolean.
    Flag(bool),
    /// A day or an instant.
    Date(Date),
    /// Several values.
    List(Vec<FormulaValue>),
}

/// A day of the calendar or an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Date {
    /// A day, equal in every zone.
    Day(time::Day),
    /// An instant.
    Instant(Instant),
}

impl Date {
    /// Parses `2023-08-17`, or a date and time in ISO 8601.
    pub fn parse(text: &str) -> Option<Date> {
        match time::Day::parse(text) {
            Some(day) => Some(Date::Day(day)),
            None => Instant::parse(text).map(Date::Instant),
        }
    }

    /// Returns the day of the calendar in this zone.
    pub fn day(self, zone: &TimeZone) -> Option<time::Day> {
        match self {
            Date::Day(day) => Some(day),
            Date::Instant(instant) => zone.day(instant),
        }
    }
}

impl FormulaValue {
    /// Returns an amount, in the major units of formulas.
    pub fn of_money(money: Money) -> FormulaValue {
        FormulaValue::Number(Ratio::of_money(money))
    }

    /// Returns a count.
    pub fn of_count(count: u64) -> FormulaValue {
        FormulaValue::Number(Ratio::integer(i128::from(count)))
    }

    /// Returns an instant.
    pub fn of_instant(instant: Instant) -> FormulaValue {
        FormulaValue::Date(Date::Instant(instant))
    }

    /// Returns a metadata value; `None` for `null`, objects and numbers out of bounds.
    pub fn of_json(json: &Node<'_>) -> Option<FormulaValue> {
        Some(match json {
            Node::Null | Node::Object(_) => return None,
            Node::Flag(flag) => FormulaValue::Flag(*flag),
            Node::Integer(integer) => FormulaValue::Number(Ratio::integer(i128::from(*integer))),
            Node::Fraction(digits) => FormulaValue::Number(Ratio::parse(digits)?),
            Node::Text(text) => FormulaValue::Text(Text::from(text.as_ref())),
            Node::List(elements) => FormulaValue::List(elements.iter().filter_map(FormulaValue::of_json).collect()),
        })
    }

    /// Returns the number; a text is parsed as one.
    pub fn number(&self) -> Option<Ratio> {
        match self {
            FormulaValue::Number(number) => Some(*number),
            FormulaValue::Text(text) => Ratio::parse(text),
            _ => None,
        }
    }

    /// Returns the boolean.
    pub fn flag(&self) -> Option<bool> {
        match self {
            FormulaValue::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the day or instant; a text is parsed as one.
    pub fn date(&self) -> Option<Date> {
        match self {
            FormulaValue::Date(date) => Some(*date),
            FormulaValue::Text(text) => Date::parse(text),
            _ => None,
        }
    }

    /// Returns the text.
    pub fn text(&self) -> Option<Text> {
        match self {
            FormulaValue::Text(text) => Some(text.clone()),
            FormulaValue::Number(number) => Some(number.text()),
            FormulaValue::Flag(flag) => Some(Text::from(if *flag { "true" } else { "false" })),
            FormulaValue::Date(_) | FormulaValue::List(_) => None,
        }
    }

    /// Returns the elements of a list; any other value is its own only element.
    pub fn elements(&self) -> &[FormulaValue] {
        match self {
            FormulaValue::List(elements) => elements,
            single => std::slice::from_ref(single),
        }
    }
}
