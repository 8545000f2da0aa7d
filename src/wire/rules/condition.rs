//! Reads conditions: operators with their operands.
//!
//! docs/spec/validation-rules.md#3.

use crate::json::Node;
use crate::rules::names::Values;
use crate::rules::operator::OperandForm;
use crate::rules::{Condition, DayOrInstant, Number, Operator, TestOperand, TimeWindow};
use crate::text::Text;
use crate::time::{DailyHours, Duration, Instant, Timeframe};
use crate::wire::cursor::JsonCursor;
use crate::wire::goods::read_goods;

/// The operators that take a list, which may be empty.
const LISTS: &[&str] = &["$in", "$not_in", "$from", "$dow", "$not_differ", "$not_intersect"];

/// Reads conditions: each operator with its values, an array or a single value that counts as an array of one.
pub(super) fn read_conditions(at: &JsonCursor<'_>, values: Values) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (name, member) in at.members() {
        let Some(operator) = Operator::parse(name) else {
            member.problem("is not an operator");
            continue;
        };
        let condition = read_condition(operator, &member, values);
        // A list may be empty, which the lint reports; single values are required.
        let may_be_empty = || LISTS.contains(&name);
        if condition.operands.is_empty() && condition.goods.is_empty() && !may_be_empty() {
            member.problem("must NOT have fewer than 1 items");
        }
        conditions.push(condition);
    }
    conditions
}

fn read_condition(operator: Operator, at: &JsonCursor<'_>, values: Values) -> Condition {
    let (mut operands, mut goods) = (Vec::new(), Vec::new());
    let operand_form = operator.operand_form();
    let mut add = |item: &JsonCursor<'_>| match (values, operand_form) {
        (Values::Goods(assumed), OperandForm::Values | OperandForm::Goods) => goods.push(read_goods(item, assumed)),
        (Values::Goods(_), _) | (_, OperandForm::Goods) => at.problem(NOT_HERE),
        _ => {
            operands.extend(read_operand(item, operator, values));
        }
    };
    match at.node {
        Node::List(_) => {
            for item in at.items() {
                add(&item);
            }
        }
        _ => add(at),
    }
    Condition { operator, operands: operands.into(), goods }
}

fn read_operand(at: &JsonCursor<'_>, operator: Operator, values: Values) -> Option<TestOperand> {
    let (operand, bound) = match (operator.operand_form(), values) {
        (OperandForm::Count, _) => {
            let is_count =
                |operand: &TestOperand| matches!(operand, TestOperand::Number(number) if !number.is_negative());
            (number(at).filter(is_count), "must be a number from 0")
        }
        (OperandForm::Weekdays, _) => {
            let day = at.number().filter(|day| *day <= 6);
            (day.map(|day| TestOperand::Number(Number::count(day))), "must be an integer from 0 to 6")
        }
        (OperandForm::Times, _) => (time(at), "must be an ISO 8601 date or date-time"),
        (OperandForm::Windows, _) => (read_window(at, operator), WINDOW),
        (OperandForm::Anything, _) => (Some(TestOperand::Flag(true)), ""),
        (OperandForm::Texts, Values::Any | Values::Property) => {
            (text(at).map(|text| TestOperand::Text(Text::from(text))), "must be a string")
        }
        (OperandForm::Texts, _) => {
            at.problem(NOT_HERE);
            (None, NOT_HERE)
        }
        (OperandForm::Comparable, Values::Any | Values::Property) => {
            (number(at).or_else(|| time(at)), "must be a number or an ISO 8601 date or date-time")
        }
        (_, Values::Money | Values::Count) => (number(at), "must be a number"),
        _ => {
            let operand = match at.node {
                Node::Text(text) => Some(TestOperand::Text(Text::from(text.as_ref()))),
                Node::Flag(flag) => Some(TestOperand::Flag(*flag)),
                _ => number(at),
            };
            (operand, "must be a string, a number or a boolean")
        }
    };
    if operand.is_none() {
        at.wrong(bound);
    }
    operand
}

/// The message for an operator that a test does not allow.
const NOT_HERE: &str = "is not an operator of this rule";

/// The message for an invalid window.
const WINDOW: &str = "must be a window: `start;interval;duration`, `from;to` or `HH:MM;HH:MM;d,d`";

/// Reads a number, or a text with one: older rules and filters contain amounts as texts.
#[inline(never)]
fn number(at: &JsonCursor<'_>) -> Option<TestOperand> {
    let number = match at.node {
        Node::Integer(number) => Some(Number::integer(*number)),
        Node::Fraction(text) => Number::parse(text),
        Node::Text(text) => Number::parse(text),
        _ => None,
    };
    number.map(TestOperand::Number)
}

/// Reads a date or an instant.
#[inline(never)]
fn time(at: &JsonCursor<'_>) -> Option<TestOperand> {
    text(at).and_then(DayOrInstant::parse).map(TestOperand::Time)
}

fn text<'a>(at: &'a JsonCursor<'_>) -> Option<&'a str> {
    at.node.as_str()
}

/// Reads a window: its parts are in one text, separated by semicolons.
fn read_window(at: &JsonCursor<'_>, operator: Operator) -> Option<TestOperand> {
    let parts: Vec<&str> = text(at).unwrap_or_default().split(';').collect();
    let window = match (parts.as_slice(), operator) {
        ([start, interval, duration], Operator::Timeframe) => recurring(start, interval, duration),
        ([from, to], Operator::TimeframeAbsolute) => {
            let window = Instant::parse(from).zip(Instant::parse(to)).filter(|(from, to)| from < to);
            window.map(|(from, to)| TimeWindow::Between(from, to))
        }
        ([start, end, days], Operator::TimeframeDaily) => hours(start, end, days),
        _ => None,
    };
    window.map(|window| TestOperand::Window(Box::new(window)))
}

fn recurring(start: &str, interval: &str, duration: &str) -> Option<TimeWindow> {
    let frame = Timeframe { interval: Duration::parse(interval)?, duration: Duration::parse(duration)? };
    Some(TimeWindow::Recurring(Instant::parse(start)?, frame))
}

fn hours(start: &str, end: &str, days: &str) -> Option<TimeWindow> {
    let start = DailyHours::parse_clock(start)?;
    let end = if end.is_empty() { DailyHours::LAST_MINUTE } else { DailyHours::parse_clock(end)? };
    let mut read = Vec::new();
    for day in days.split(',') {
        read.push(day.trim().parse().ok().filter(|day| *day <= 6)?);
    }
    (start <= end).then_some(TimeWindow::Hours(DailyHours { start, end, days: read }))
}
