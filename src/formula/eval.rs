//! Decides what a formula comes to. It must not know where a value is found: it asks for each operand by name. What is
//! missing, divided by zero, out of bounds or of the wrong kind makes a formula that cannot be evaluated, `None`, for
//! which the caller has a fallback value.
//!
//! calculation.md section 6; the marks `[inferred]` are our own choices.

use std::cmp::Ordering;

use chrono::{Datelike, NaiveDate};

use crate::formula::ast::{Formula, Function, Name, Node, Operand, Operator, Which};
use crate::formula::calendar;
use crate::formula::ratio::Ratio;
use crate::formula::value::{Date, Value};
use crate::money::{Money, Percent};
use crate::text::Text;
use crate::time::TimeZone;

/// What a formula is evaluated against.
pub trait Lookup {
    /// The value of an operand; nothing when it is missing.
    fn find(&self, operand: &Operand) -> Option<Value>;

    /// The zone in which days begin and end.
    fn zone(&self) -> &TimeZone;
}

/// What the formula comes to; nothing when it cannot be evaluated.
pub fn evaluate(formula: &Formula, lookup: &dyn Lookup) -> Option<Value> {
    formula.root.evaluate(lookup)
}

/// The formula as a number that is not below 0.
fn number(formula: &Formula, lookup: &dyn Lookup) -> Option<Ratio> {
    evaluate(formula, lookup)?.number().filter(|number| !number.is_negative())
}

/// The formula as an amount: major units, rounded half-up to a whole minor unit at the very end (calculation.md section
/// 1.7). Nothing for what is below 0 or too large.
pub fn money(formula: &Formula, lookup: &dyn Lookup) -> Option<Money> {
    let minor = number(formula, lookup)?.times(Ratio::whole(100))?.half_up()?;
    Money::from_wide(u128::try_from(minor).ok()?)
}

/// The formula as a percentage, rounded half-up to six decimals. More than 100 is 100, as an amount above its base is
/// its base; nothing for what is below 0. `[inferred]`
pub fn percent(formula: &Formula, lookup: &dyn Lookup) -> Option<Percent> {
    let hundred = Ratio::whole(100);
    let found = number(formula, lookup)?;
    let capped = if found.compare(hundred).is_gt() { hundred } else { found.round(6)? };
    Percent::parse(&capped.to_string())
}

/// The formula as a whole count of units or points, rounded half-up as points are (calculation.md section 1.8); nothing
/// for what is below 0. For units `[inferred]`.
pub fn units(formula: &Formula, lookup: &dyn Lookup) -> Option<u64> {
    u64::try_from(number(formula, lookup)?.half_up()?).ok()
}

/// The line with the lowest or highest unit price, by unit price and subtotal of each: of several the one with the
/// lowest subtotal, for both, and of these the first. A line without a unit price is neither.
///
/// ```
/// use scrip::formula::{Which, extreme};
/// use scrip::money::Money;
/// let line = |price, subtotal| (Money::new(price), Money::new(subtotal).unwrap());
/// let lines = [line(200, 400), line(100, 300), line(200, 200), line(100, 100), line(200, 200)];
/// assert_eq!(extreme(Which::Cheapest, &lines), Some(3));
/// assert_eq!(extreme(Which::MostExpensive, &lines), Some(2));
/// ```
pub fn extreme(which: Which, lines: &[(Option<Money>, Money)]) -> Option<usize> {
    let mut best: Option<(usize, Money, Money)> = None;
    for (place, (price, subtotal)) in lines.iter().enumerate() {
        let Some(price) = *price else { continue };
        let better = best.is_none_or(|(_, found, lowest)| {
            let order = match which {
                Which::Current => return false,
                Which::Cheapest => price.cmp(&found),
                Which::MostExpensive => found.cmp(&price),
            };
            order.then(subtotal.cmp(&lowest)).is_lt()
        });
        if better && which != Which::Current {
            best = Some((place, price, *subtotal));
        }
    }
    best.map(|(place, ..)| place)
}

impl Node {
    fn evaluate(&self, lookup: &dyn Lookup) -> Option<Value> {
        match self {
            Node::Number(number) => Some(Value::Number(*number)),
            Node::Text(text) => Some(Value::Text(text.clone())),
            Node::Operand(operand) => lookup.find(operand),
            Node::Negative(inner) => Some(Value::Number(inner.evaluate(lookup)?.number()?.negated()?)),
            Node::Infix(first, rest) => match rest.first()?.0 {
                Operator::And => joined(first, rest, false, lookup),
                Operator::Or => joined(first, rest, true, lookup),
                _ => {
                    let mut value = first.evaluate(lookup)?;
                    for (operator, node) in rest {
                        value = operator.apply(&value, &node.evaluate(lookup)?, lookup.zone())?;
                    }
                    Some(value)
                }
            },
            Node::Call(function, arguments) => function.call(arguments, lookup),
        }
    }
}

/// Several conditions by `AND` or `OR`. What decides for itself (a no, a yes) decides, though another is missing: the
/// order in which they stand changes nothing.
fn joined(first: &Node, rest: &[(Operator, Node)], decisive: bool, lookup: &dyn Lookup) -> Option<Value> {
    let mut known = true;
    for node in std::iter::once(first).chain(rest.iter().map(|(_, node)| node)) {
        match node.evaluate(lookup).and_then(|value| value.flag()) {
            Some(flag) if flag == decisive => return Some(Value::Flag(decisive)),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(Value::Flag(!decisive))
}

impl Operator {
    fn apply(self, left: &Value, right: &Value, zone: &TimeZone) -> Option<Value> {
        let order = || compare(left, right, zone);
        let days = || Some((left.date()?.day(zone)?, right.date()?.day(zone)?));
        let dates = || compare_dates(left.date()?, right.date()?, zone);
        Some(Value::Flag(match self {
            Operator::Plus => return numbers(left, right, Ratio::plus),
            Operator::Minus => return numbers(left, right, Ratio::minus),
            Operator::Times => return numbers(left, right, Ratio::times),
            Operator::Over => return numbers(left, right, Ratio::over),
            Operator::Rest => return numbers(left, right, Ratio::rest_over),
            Operator::MoreThan => order()?.is_gt(),
            Operator::LessThan => order()?.is_lt(),
            Operator::MoreThanOrEqual => order()?.is_ge(),
            Operator::LessThanOrEqual => order()?.is_le(),
            Operator::Equal | Operator::Is => same(left, right, zone),
            Operator::IsNot => !same(left, right, zone),
            Operator::Contains => finds(left, right, |text, part| text.contains(part))?,
            Operator::StartsWith => finds(left, right, |text, part| text.starts_with(part))?,
            Operator::EndsWith => finds(left, right, |text, part| text.ends_with(part))?,
            Operator::InArray => among(left, right, zone),
            Operator::NotInArray => !among(left, right, zone),
            Operator::DateIs => days().map(|(left, right)| left == right)?,
            Operator::DateIsNot => days().map(|(left, right)| left != right)?,
            Operator::IsAfter => dates()?.is_gt(),
            Operator::IsBefore => dates()?.is_lt(),
            Operator::And | Operator::Or => return None,
        }))
    }
}

fn numbers(left: &Value, right: &Value, compute: fn(Ratio, Ratio) -> Option<Ratio>) -> Option<Value> {
    compute(left.number()?, right.number()?).map(Value::Number)
}

/// Two moments compare exactly; where one is a day, the days of the zone do.
fn compare_dates(left: Date, right: Date, zone: &TimeZone) -> Option<Ordering> {
    match (left, right) {
        (Date::Moment(left), Date::Moment(right)) => Some(left.cmp(&right)),
        _ => Some(left.day(zone)?.cmp(&right.day(zone)?)),
    }
}

/// How two values stand to each other: dates when one of them is a date, else numbers.
fn compare(left: &Value, right: &Value, zone: &TimeZone) -> Option<Ordering> {
    match (left, right) {
        (Value::Date(_), _) | (_, Value::Date(_)) => compare_dates(left.date()?, right.date()?, zone),
        _ => Some(left.number()?.compare(right.number()?)),
    }
}

/// Whether two values are the same: of a list any element may be it. Where one is a number or a date the other is read
/// as one; otherwise the texts are compared letter by letter.
fn same(left: &Value, right: &Value, zone: &TimeZone) -> bool {
    let (lefts, rights) = (left.elements(), right.elements());
    let equal = |left: &Value, right: &Value| match (left, right) {
        (Value::Number(_) | Value::Date(_), _) | (_, Value::Number(_) | Value::Date(_)) => {
            compare(left, right, zone).is_some_and(Ordering::is_eq)
        }
        _ => left.text().is_some_and(|text| right.text() == Some(text)),
    };
    lefts.iter().any(|left| rights.iter().any(|right| equal(left, right)))
}

/// Whether a value is one of a set: a list, or texts parted by commas (`"EU,EMEA"`).
fn among(value: &Value, set: &Value, zone: &TimeZone) -> bool {
    match set {
        Value::Text(names) => {
            let mut names = names.split(',').map(|name| Value::Text(Text::new(name.trim())));
            names.any(|name| same(value, &name, zone))
        }
        _ => same(value, set, zone),
    }
}

/// Whether a text, or any text of a list, passes a test with another text.
fn finds(left: &Value, right: &Value, test: fn(&str, &str) -> bool) -> Option<bool> {
    let part = right.text()?;
    Some(left.elements().iter().any(|element| element.text().is_some_and(|text| test(&text, &part))))
}

impl Function {
    fn call(self, arguments: &[Node], lookup: &dyn Lookup) -> Option<Value> {
        let value = |place: usize| arguments.get(place)?.evaluate(lookup);
        let number = |place: usize| value(place)?.number();
        let digits = || number(1)?.as_whole();
        let day = || value(0)?.date()?.day(lookup.zone());
        // Since a day is as many as until today, and until a day as many as since today with the other sign.
        let months = || calendar::months(day()?, today(lookup)?);
        let days = || Some(calendar::days(day()?, today(lookup)?));
        let counted = match self {
            Function::If => return value(if value(0)?.flag()? { 1 } else { 2 }),
            Function::Switch => return choice(arguments, lookup),
            Function::DefaultTo => return arguments.iter().find_map(|argument| argument.evaluate(lookup)),
            Function::List => {
                let elements = arguments.iter().map(|argument| argument.evaluate(lookup));
                return elements.collect::<Option<Vec<Value>>>().map(Value::List);
            }
            Function::Min => return extremum(arguments, Ordering::Less, lookup),
            Function::Max => return extremum(arguments, Ordering::Greater, lookup),
            Function::Pow => return number(0)?.to_the(number(1)?).map(Value::Number),
            Function::Round => return number(0)?.round(digits()?).map(Value::Number),
            Function::Floor => return number(0)?.floor(digits()?).map(Value::Number),
            Function::Ceil => return number(0)?.ceil(digits()?).map(Value::Number),
            Function::Today => return today(lookup).map(|day| Value::Date(Date::Day(day))),
            Function::Date => return day().map(|day| Value::Date(Date::Day(day))),
            Function::DateTime => return value(0)?.date().map(Value::Date),
            Function::DayOfMonth => i64::from(day()?.day()),
            Function::Month => i64::from(day()?.month()),
            Function::Year => i64::from(day()?.year()),
            Function::DaysSince => days()?,
            Function::DaysUntil => days()?.checked_neg()?,
            Function::MonthsSince => months()?,
            Function::MonthsUntil => months()?.checked_neg()?,
            Function::YearsSince => months()?.checked_div(12)?,
        };
        Some(Value::Number(Ratio::whole(i128::from(counted))))
    }
}

fn today(lookup: &dyn Lookup) -> Option<NaiveDate> {
    let now = Operand { name: Name::Now, which: Which::Current, key: Text::default() };
    lookup.find(&now)?.date()?.day(lookup.zone())
}

/// The smallest or largest of several numbers.
fn extremum(arguments: &[Node], wanted: Ordering, lookup: &dyn Lookup) -> Option<Value> {
    let mut best: Option<Ratio> = None;
    for argument in arguments {
        let number = argument.evaluate(lookup)?.number()?;
        if best.is_none_or(|best| number.compare(best) == wanted) {
            best = Some(number);
        }
    }
    best.map(Value::Number)
}

/// The result of the first case whose value is the first argument's; otherwise the last argument.
fn choice(arguments: &[Node], lookup: &dyn Lookup) -> Option<Value> {
    let (wanted, cases) = arguments.split_first()?;
    let wanted = wanted.evaluate(lookup)?;
    let mut pairs = cases.chunks_exact(2);
    for pair in pairs.by_ref() {
        let [case, result] = pair else { return None };
        if same(&wanted, &case.evaluate(lookup)?, lookup.zone()) {
            return result.evaluate(lookup);
        }
    }
    pairs.remainder().first()?.evaluate(lookup)
}
