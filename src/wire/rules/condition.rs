//! Decides how conditions are read: operators, and what each compares with. It must not know what is tested.
//!
//! validation-rules.md section 3.

use crate::json::Node;
use crate::rules::names::Values;
use crate::rules::operator::Takes;
use crate::rules::{Condition, Moment, Number, Operand, Operator, Window};
use crate::text::Text;
use crate::time::{DailyHours, Duration, Instant, Timeframe};
use crate::wire::cursor::Cursor;
use crate::wire::goods::read_goods;

/// The operators that take a list, which may be empty.
const LISTS: &[&str] = &["$in", "$not_in", "$from", "$dow", "$not_differ", "$not_intersect"];

/// Reads conditions: each operator with its values, an array or a bare value that stands for an array of one.
pub(super) fn read_conditions(at: &Cursor<'_>, values: Values) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (name, member) in at.members() {
        let Some(operator) = Operator::parse(name) else {
            member.problem("is not an operator");
            continue;
        };
        let condition = read_condition(operator, &member, values);
        // A list may be empty, which the lint tells; one value must be there.
        let may_be_empty = || LISTS.contains(&name);
        if condition.operands.is_empty() && condition.goods.is_empty() && !may_be_empty() {
            member.problem("must NOT have fewer than 1 items");
        }
        conditions.push(condition);
    }
    conditions
}

fn read_condition(operator: Operator, at: &Cursor<'_>, values: Values) -> Condition {
    let (mut operands, mut goods) = (Vec::new(), Vec::new());
    let takes = operator.takes();
    let mut add = |item: &Cursor<'_>| match (values, takes) {
        (Values::Goods(assumed), Takes::Values | Takes::Goods) => goods.push(read_goods(item, assumed)),
        (Values::Goods(_), _) | (_, Takes::Goods) => at.problem(NOT_HERE),
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

fn read_operand(at: &Cursor<'_>, operator: Operator, values: Values) -> Option<Operand> {
    let (operand, bound) = match (operator.takes(), values) {
        (Takes::Count, _) => {
            let is_count = |operand: &Operand| matches!(operand, Operand::Number(number) if !number.is_negative());
            (number(at).filter(is_count), "must be a number from 0")
        }
        (Takes::Weekdays, _) => {
            let day = at.number().filter(|day| *day <= 6);
            (day.map(|day| Operand::Number(Number::count(day))), "must be an integer from 0 to 6")
        }
        (Takes::Moments, _) => (moment(at), "must be an ISO 8601 date or date-time"),
        (Takes::Windows, _) => (read_window(at, operator), WINDOW),
        (Takes::Anything, _) => (Some(Operand::Flag(true)), ""),
        (Takes::Texts, Values::Any | Values::Property) => {
            (text(at).map(|text| Operand::Text(Text::from(text))), "must be a string")
        }
        (Takes::Texts, _) => {
            at.problem(NOT_HERE);
            (None, NOT_HERE)
        }
        (Takes::Comparable, Values::Any | Values::Property) => {
            (number(at).or_else(|| moment(at)), "must be a number or an ISO 8601 date or date-time")
        }
        (_, Values::Money | Values::Count) => (number(at), "must be a number"),
        _ => {
            let operand = match at.node {
                Node::Text(text) => Some(Operand::Text(Text::from(text.as_ref()))),
                Node::Flag(flag) => Some(Operand::Flag(*flag)),
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

/// What is said of an operator that a test cannot have.
const NOT_HERE: &str = "is not an operator of this rule";

/// What is said of a window that is none.
const WINDOW: &str = "must be a window: `start;interval;duration`, `from;to` or `HH:MM;HH:MM;d,d`";

/// A number, or a text that holds one: older rules and filters hold amounts as texts.
#[inline(never)]
fn number(at: &Cursor<'_>) -> Option<Operand> {
    let number = match at.node {
        Node::Whole(number) => Some(Number::whole(*number)),
        Node::Fraction(text) => Number::parse(text),
        Node::Text(text) => Number::parse(text),
        _ => None,
    };
    number.map(Operand::Number)
}

/// A date or a moment.
#[inline(never)]
fn moment(at: &Cursor<'_>) -> Option<Operand> {
    text(at).and_then(Moment::parse).map(Operand::Moment)
}

fn text<'a>(at: &'a Cursor<'_>) -> Option<&'a str> {
    at.node.as_str()
}

/// Reads a window: its parts stand in one text, divided by semicolons.
fn read_window(at: &Cursor<'_>, operator: Operator) -> Option<Operand> {
    let parts: Vec<&str> = text(at).unwrap_or_default().split(';').collect();
    let window = match (parts.as_slice(), operator) {
        ([start, interval, duration], Operator::Timeframe) => recurring(start, interval, duration),
        ([from, to], Operator::TimeframeAbsolute) => {
            let window = Instant::parse(from).zip(Instant::parse(to)).filter(|(from, to)| from < to);
            window.map(|(from, to)| Window::Between(from, to))
        }
        ([start, end, days], Operator::TimeframeDaily) => hours(start, end, days),
        _ => None,
    };
    window.map(|window| Operand::Window(Box::new(window)))
}

fn recurring(start: &str, interval: &str, duration: &str) -> Option<Window> {
    let frame = Timeframe { interval: Duration::parse(interval)?, duration: Duration::parse(duration)? };
    Some(Window::Recurring(Instant::parse(start)?, frame))
}

fn hours(start: &str, end: &str, days: &str) -> Option<Window> {
    let (start, end) = (DailyHours::parse_clock(start)?, DailyHours::parse_clock(end)?);
    let mut read = Vec::new();
    for day in days.split(',') {
        read.push(day.trim().parse().ok().filter(|day| *day <= 6)?);
    }
    (start <= end).then_some(Window::Hours(DailyHours { start, end, days: read }))
}
