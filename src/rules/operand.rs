//! Defines the values that tests compare: operands of a rule and found values, and their texts in traces.
//!
//! docs/spec/validation-rules.md#3.

use std::cmp::Ordering;

use crate::json::Node;
use crate::rules::number::Number;
use crate::text::Text;
use crate::time::{DailyHours, Day, Instant, TimeZone, Timeframe};

/// An operand of a condition, created when the rule is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TestOperand {
    /// A text.
    Text(Text),
    /// A number.
    Number(Number),
    /// A boolean.
    Flag(bool),
    /// A day or an instant.
    Time(DayOrInstant),
    /// A window.
    Window(Box<TimeWindow>),
}

/// A time window.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TimeWindow {
    /// Recurring, from a start.
    Recurring(Instant, Timeframe),
    /// From one instant to another; the end is exclusive.
    Between(Instant, Instant),
    /// Hours of some days.
    Hours(DailyHours),
}

/// A day of the calendar, or an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DayOrInstant {
    /// A day, without a zone.
    Day(Day),
    /// An instant.
    At(Instant),
}

/// The value that a test found.
#[derive(Debug, Clone, Copy)]
pub enum FoundValue<'a> {
    /// No value.
    Missing,
    /// A number.
    Number(Number),
    /// A text.
    Text(&'a str),
    /// A boolean.
    Flag(bool),
    /// A list or an object of metadata.
    Value(&'a Node<'static>),
}

impl<'a> FoundValue<'a> {
    /// Returns a metadata value. Null counts as missing; a map coordinate cannot be compared.
    #[inline]
    pub fn value(value: Option<&'a Node<'static>>) -> FoundValue<'a> {
        value.map_or(FoundValue::Missing, FoundValue::of)
    }

    #[inline]
    pub(super) fn of(value: &'a Node<'static>) -> FoundValue<'a> {
        match value {
            Node::Null => FoundValue::Missing,
            Node::Flag(flag) => FoundValue::Flag(*flag),
            Node::Integer(number) => FoundValue::Number(Number::integer(*number)),
            Node::Fraction(text) => Number::parse(text).map_or(FoundValue::Missing, FoundValue::Number),
            Node::Text(text) => FoundValue::Text(text),
            Node::List(_) | Node::Object(_) => FoundValue::Value(value),
        }
    }

    /// Returns the text for traces; empty for a missing value.
    pub fn text(&self) -> String {
        match self {
            FoundValue::Missing => String::new(),
            FoundValue::Number(number) => number.text(),
            FoundValue::Text(text) => (*text).to_owned(),
            FoundValue::Flag(flag) => flag_text(*flag),
            FoundValue::Value(value) => value.text(),
        }
    }
}

impl TimeWindow {
    pub(super) fn covers(&self, instant: Instant, zone: &TimeZone) -> bool {
        match self {
            TimeWindow::Recurring(start, frame) => frame.covers(*start, instant, zone),
            TimeWindow::Between(from, to) => *from <= instant && instant < *to,
            TimeWindow::Hours(hours) => hours.covers(instant, zone),
        }
    }

    /// Returns the text for people.
    fn text(&self) -> String {
        match self {
            TimeWindow::Recurring(start, _) => format!("recurring from {}", start.text()),
            TimeWindow::Between(from, to) => format!("from {} to {}", from.text(), to.text()),
            TimeWindow::Hours(hours) => hours.text(),
        }
    }
}

impl TestOperand {
    /// Returns the text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            TestOperand::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text for traces.
    pub fn text(&self) -> String {
        match self {
            TestOperand::Text(text) => text.as_str().to_owned(),
            TestOperand::Number(number) => number.text(),
            TestOperand::Flag(flag) => flag_text(*flag),
            TestOperand::Time(DayOrInstant::Day(day)) => day.text(),
            TestOperand::Time(DayOrInstant::At(instant)) => instant.text(),
            TestOperand::Window(window) => window.text(),
        }
    }
}

impl DayOrInstant {
    /// Parses a day or an instant. An instant before 1970 is read as its day.
    pub fn parse(text: &str) -> Option<DayOrInstant> {
        if let Some(day) = Day::parse(text) {
            return Some(DayOrInstant::Day(day));
        }
        let before = || text.get(..10).filter(|_| text.len() > 10).and_then(Day::parse).filter(|day| day.number() < 0);
        Instant::parse(text).map(DayOrInstant::At).or_else(|| before().map(DayOrInstant::Day))
    }

    pub(super) fn found(found: FoundValue<'_>) -> Option<DayOrInstant> {
        match found {
            FoundValue::Text(text) => DayOrInstant::parse(text),
            _ => None,
        }
    }

    /// Returns the day in a zone.
    pub fn day(self, zone: &TimeZone) -> Option<Day> {
        match self {
            DayOrInstant::Day(day) => Some(day),
            DayOrInstant::At(instant) => zone.day(instant),
        }
    }

    pub(super) fn instant(self, zone: &TimeZone) -> Option<Instant> {
        match self {
            DayOrInstant::Day(day) => zone.start_of(day),
            DayOrInstant::At(instant) => Some(instant),
        }
    }

    /// Compares two instants directly, and by the calendar if one of them is a day.
    pub(super) fn compare(self, other: DayOrInstant, zone: &TimeZone) -> Option<Ordering> {
        match (self, other) {
            (DayOrInstant::At(one), DayOrInstant::At(other)) => Some(one.cmp(&other)),
            _ => Some(self.day(zone)?.cmp(&other.day(zone)?)),
        }
    }
}

fn flag_text(flag: bool) -> String {
    String::from(if flag { "true" } else { "false" })
}
