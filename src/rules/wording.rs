//! Decides how values of rules are told to people. It must not know what they are compared with.

use crate::rules::compare::{FoundValue, Moment, Operand, Window};

impl Window {
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

impl FoundValue<'_> {
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

fn flag_text(flag: bool) -> String {
    String::from(if flag { "true" } else { "false" })
}
