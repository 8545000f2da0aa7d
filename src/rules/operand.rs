//! Decides what tests compare: the values that a rule names and those that a test finds, and how both are told to people. It
//! must not know where a value was found or how it is compared.
//!
//! validation-rules.md section 3.

use std::cmp::Ordering;

use crate::json::Node;
use crate::rules::number::Number;
use crate::text::Text;
use crate::time::{DailyHours, Day, Instant, TimeZone, Timeframe};

/// What a rule compares with, made when it is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A text.
    Text(Text),
    /// A number.
    Number(Number),
    /// Yes or no.
    Flag(bool),
    /// A day or a moment.
    Moment(Moment),
    /// A window.
    Window(Box<Window>),
}

/// A window that a moment lies in or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Window {
    /// Recurring, from a start.
    Recurring(Instant, Timeframe),
    /// From one moment to another; the end is outside.
    Between(Instant, Instant),
    /// Hours of some days.
    Hours(DailyHours),
}

/// A day of the calendar, or a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// A day, wherever it is.
    Day(Day),
    /// A moment.
    At(Instant),
}

/// What a test found.
#[derive(Debug, Clone, Copy)]
pub enum FoundValue<'a> {
    /// Nothing.
    Missing,
    /// A number.
    Number(Number),
    /// A text.
    Text(&'a str),
    /// Yes or no.
    Flag(bool),
    /// Anything of custom data.
    Value(&'a Node<'static>),
}

impl<'a> FoundValue<'a> {
    /// A value of custom data. Null counts as not there; a place on a map cannot be compared.
    #[inline]
    pub fn value(value: Option<&'a Node<'static>>) -> FoundValue<'a> {
        value.map_or(FoundValue::Missing, FoundValue::of)
    }

    #[inline]
    pub(super) fn of(value: &'a Node<'static>) -> FoundValue<'a> {
        match value {
            Node::Null => FoundValue::Missing,
            Node::Flag(flag) => FoundValue::Flag(*flag),
            Node::Whole(number) => FoundValue::Number(Number::whole(*number)),
            Node::Fraction(text) => Number::parse(text).map_or(FoundValue::Missing, FoundValue::Number),
            Node::Text(text) => FoundValue::Text(text),
            Node::List(_) | Node::Object(_) => FoundValue::Value(value),
        }
    }

    /// As it is told; nothing for what is missing.
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

impl Window {
    pub(super) fn covers(&self, moment: Instant, zone: &TimeZone) -> bool {
        match self {
            Window::Recurring(start, frame) => frame.covers(*start, moment, zone),
            Window::Between(from, to) => *from <= moment && moment < *to,
            Window::Hours(hours) => hours.covers(moment, zone),
        }
    }

    /// For people.
    fn text(&self) -> String {
        match self {
            Window::Recurring(start, _) => ["recurring from ", &start.text()].concat(),
            Window::Between(from, to) => ["from ", &from.text(), " to ", &to.text()].concat(),
            Window::Hours(hours) => hours.text(),
        }
    }
}

impl Operand {
    /// The text, when it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Operand::Text(text) => Some(text),
            _ => None,
        }
    }

    /// As it is told.
    pub fn text(&self) -> String {
        match self {
            Operand::Text(text) => text.as_str().to_owned(),
            Operand::Number(number) => number.text(),
            Operand::Flag(flag) => flag_text(*flag),
            Operand::Moment(Moment::Day(day)) => day.text(),
            Operand::Moment(Moment::At(moment)) => moment.text(),
            Operand::Window(window) => window.text(),
        }
    }
}

impl Moment {
    /// Reads a day or a moment. A moment before 1970 is kept as its day.
    pub fn parse(text: &str) -> Option<Moment> {
        if let Some(day) = Day::parse(text) {
            return Some(Moment::Day(day));
        }
        let before = || text.get(..10).filter(|_| text.len() > 10).and_then(Day::parse).filter(|day| day.number() < 0);
        Instant::parse(text).map(Moment::At).or_else(|| before().map(Moment::Day))
    }

    pub(super) fn found(found: FoundValue<'_>) -> Option<Moment> {
        match found {
            FoundValue::Text(text) => Moment::parse(text),
            _ => None,
        }
    }

    /// The day in a zone.
    pub fn day(self, zone: &TimeZone) -> Option<Day> {
        match self {
            Moment::Day(day) => Some(day),
            Moment::At(moment) => zone.day(moment),
        }
    }

    pub(super) fn instant(self, zone: &TimeZone) -> Option<Instant> {
        match self {
            Moment::Day(day) => zone.start_of(day),
            Moment::At(moment) => Some(moment),
        }
    }

    /// Two moments compare as such; as soon as one is a day, by the calendar.
    pub(super) fn compare(self, other: Moment, zone: &TimeZone) -> Option<Ordering> {
        match (self, other) {
            (Moment::At(one), Moment::At(other)) => Some(one.cmp(&other)),
            _ => Some(self.day(zone)?.cmp(&other.day(zone)?)),
        }
    }
}

fn flag_text(flag: bool) -> String {
    String::from(if flag { "true" } else { "false" })
}
