//! Decides what a formula computes with: numbers, texts, yes or no, dates and lists of these, and how one kind is read
//! as another. It must not know where a value comes from.

use crate::formula::ratio::Ratio;
use crate::json::Node;
use crate::money::Money;
use crate::text::Text;
use crate::time::{self, Instant, TimeZone};

/// A value while a formula is evaluated. What is missing is no value at all.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number; money is in major units.
    Number(Ratio),
    /// A text.
    Text(Text),
    /// Yes or no.
    Flag(bool),
    /// A day or a moment.
    Date(Date),
    /// Several values.
    List(Vec<Value>),
}

/// A day of the calendar or a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Date {
    /// A day, the same in every zone.
    Day(time::Day),
    /// A moment.
    Moment(Instant),
}

impl Date {
    /// Reads `2023-08-17`, or a date and time in ISO 8601.
    pub fn parse(text: &str) -> Option<Date> {
        match time::Day::parse(text) {
            Some(day) => Some(Date::Day(day)),
            None => Instant::parse(text).map(Date::Moment),
        }
    }

    /// The day of the calendar in this zone.
    pub fn day(self, zone: &TimeZone) -> Option<time::Day> {
        match self {
            Date::Day(day) => Some(day),
            Date::Moment(moment) => zone.day(moment),
        }
    }
}

impl Value {
    /// An amount, in the major units that formulas count in.
    pub fn of_money(money: Money) -> Value {
        Value::Number(Ratio::of_money(money))
    }

    /// A count.
    pub fn of_count(count: u64) -> Value {
        Value::Number(Ratio::whole(i128::from(count)))
    }

    /// A moment.
    pub fn of_moment(moment: Instant) -> Value {
        Value::Date(Date::Moment(moment))
    }

    /// A value of custom data; `null`, objects and numbers out of bounds are none.
    pub fn of_json(json: &Node<'_>) -> Option<Value> {
        Some(match json {
            Node::Null | Node::Object(_) => return None,
            Node::Flag(flag) => Value::Flag(*flag),
            Node::Whole(whole) => Value::Number(Ratio::whole(i128::from(*whole))),
            Node::Fraction(digits) => Value::Number(Ratio::parse(digits)?),
            Node::Text(text) => Value::Text(Text::from(text.as_ref())),
            Node::List(elements) => Value::List(elements.iter().filter_map(Value::of_json).collect()),
        })
    }

    /// As a number; a text counts when it writes one.
    pub fn number(&self) -> Option<Ratio> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => Ratio::parse(text),
            _ => None,
        }
    }

    /// As yes or no.
    pub fn flag(&self) -> Option<bool> {
        match self {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// As a day or a moment; a text counts when it writes one.
    pub fn date(&self) -> Option<Date> {
        match self {
            Value::Date(date) => Some(*date),
            Value::Text(text) => Date::parse(text),
            _ => None,
        }
    }

    /// As a text.
    pub fn text(&self) -> Option<Text> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(number.text()),
            Value::Flag(flag) => Some(Text::from(if *flag { "true" } else { "false" })),
            Value::Date(_) | Value::List(_) => None,
        }
    }

    /// The elements of a list; anything else is its own only element.
    pub fn elements(&self) -> &[Value] {
        match self {
            Value::List(elements) => elements,
            single => std::slice::from_ref(single),
        }
    }
}
