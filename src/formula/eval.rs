//! Decides what a formula comes to. It must not know where a value is found: it asks for each operand by name. What is
//! missing, divided by zero, out of bounds or of the wrong kind makes a formula that cannot be evaluated, `None`, for
//! which the caller has a fallback value.
//!
//! calculation.md section 6; the marks `[inferred]` are our own choices.

use std::cmp::Ordering;

use crate::formula::ast::{Formula, Function, Name, Operand, Parts, Step, What, Which};
use crate::formula::ratio::Ratio;
use crate::formula::value::{Date, Value};
use crate::money::{Money, Percent};
use crate::text::Text;
use crate::time::{Day, TimeZone};

/// What a formula is evaluated against.
pub trait Lookup {
    /// The value of an operand; nothing when it is missing.
    fn find(&self, operand: &Operand) -> Option<Value>;

    /// The zone in which days begin and end.
    fn zone(&self) -> &TimeZone;
}

/// What the formula comes to; nothing when it cannot be evaluated.
pub fn evaluate(formula: &Formula, lookup: &dyn Lookup) -> Option<Value> {
    value(&formula.steps, lookup)
}

/// How often the formula comes to one of so many parts of a unit, rounded half-up at the very end; nothing for what is
/// below 0.
#[inline(never)]
fn count(formula: &Formula, lookup: &dyn Lookup, parts: i128) -> Option<u128> {
    let number = evaluate(formula, lookup)?.number().filter(|number| !number.is_negative())?;
    u128::try_from(number.times(Ratio::whole(parts))?.half_up()?).ok()
}

/// The formula as an amount: major units, rounded half-up to a whole minor unit at the very end (calculation.md section
/// 1.7). Nothing for what is below 0 or too large.
pub fn money(formula: &Formula, lookup: &dyn Lookup) -> Option<Money> {
    Money::from_wide(count(formula, lookup, 100)?)
}

/// The formula as a percentage, rounded half-up to six decimals. More than 100 is 100, as an amount above its base is
/// its base; nothing for what is below 0. `[inferred]`
pub fn percent(formula: &Formula, lookup: &dyn Lookup) -> Option<Percent> {
    Some(Percent::of_millionths(count(formula, lookup, 1_000_000)?))
}

/// The formula as a whole count of units or points, rounded half-up as points are (calculation.md section 1.8); nothing
/// for what is below 0. For units `[inferred]`.
pub fn units(formula: &Formula, lookup: &dyn Lookup) -> Option<u64> {
    u64::try_from(count(formula, lookup, 1)?).ok()
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

/// The value of a node.
fn value(steps: &[Step], lookup: &dyn Lookup) -> Option<Value> {
    let (step, rest) = steps.split_first()?;
    let mut parts = Parts(rest);
    let function = match &step.what {
        What::Number(number) => return Some(Value::Number(*number)),
        What::Text(text) => return Some(Value::Text(text.clone())),
        What::Operand(operand) => return lookup.find(operand),
        What::Call(function) => *function,
    };
    match function {
        Function::Chain => chain(parts, lookup),
        Function::Min | Function::Max => extremum(function, parts, lookup),
        Function::Today => today(lookup).map(|day| Value::Date(Date::Day(day))),
        Function::DefaultTo => parts.find_map(|part| value(part, lookup)),
        Function::List => {
            let mut elements = Vec::new();
            for part in parts {
                elements.push(value(part, lookup)?);
            }
            Some(Value::List(elements))
        }
        Function::Switch => {
            let wanted = value(parts.next()?, lookup)?;
            loop {
                let case = value(parts.next()?, lookup);
                // The last part has no other after it: it is what holds when no case does.
                let Some(result) = parts.next() else { return case };
                if same(&wanted, &case?, lookup.zone()) {
                    return value(result, lookup);
                }
            }
        }
        _ => {
            let first = value(parts.next()?, lookup)?;
            if function == Function::If {
                let skipped = if first.flag()? { 0 } else { 1 };
                return value(parts.nth(skipped)?, lookup);
            }
            let second = parts.next().map_or(Some(Value::Flag(false)), |part| value(part, lookup))?;
            compute(function, &first, &second, lookup)
        }
    }
}

/// Operators of one level, from left to right.
fn chain(mut parts: Parts<'_>, lookup: &dyn Lookup) -> Option<Value> {
    let mut found = value(parts.next()?, lookup);
    if let Some(operator @ (Function::And | Function::Or)) = parts.0.first()?.joint {
        // What decides for itself (a no, a yes) decides, though another is missing: the order in which they stand
        // changes nothing.
        let decisive = operator == Function::Or;
        let mut known = true;
        loop {
            match found.and_then(|found| found.flag()) {
                Some(flag) if flag == decisive => return Some(Value::Flag(decisive)),
                flag => known &= flag.is_some(),
            }
            let Some(part) = parts.next() else { break };
            found = value(part, lookup);
        }
        return known.then_some(Value::Flag(!decisive));
    }
    let mut found = found?;
    for part in parts {
        found = compute(part.first()?.joint?, &found, &value(part, lookup)?, lookup)?;
    }
    Some(found)
}

/// A function of one or two values.
fn compute(function: Function, left: &Value, right: &Value, lookup: &dyn Lookup) -> Option<Value> {
    use Function::{
        Ceil, Contains, Date as DateOf, DateIs, DateIsNot, DateTime, DayOfMonth, DaysSince, DaysUntil, EndsWith, Equal,
        Floor, InArray, Is, IsAfter, IsBefore, IsNot, LessThan, LessThanOrEqual, Minus, Month, MonthsSince,
        MonthsUntil, MoreThan, MoreThanOrEqual, Negative, NotInArray, Over, Plus, Pow, Rest, Round, StartsWith, Times,
        Year, YearsSince,
    };
    let zone = lookup.zone();
    Some(match function {
        Plus | Minus | Times | Over | Rest | Pow | Round | Floor | Ceil => {
            let (left, right) = (left.number()?, right.number()?);
            Value::Number(match function {
                Plus => left.checked_add(right),
                Minus => left.minus(right),
                Times => left.times(right),
                Over => left.over(right),
                Rest => left.rest_over(right),
                Pow => left.to_the(right),
                Round => left.round(right.as_whole()?),
                Floor => left.floor(right.as_whole()?),
                _ => left.ceil(right.as_whole()?),
            }?)
        }
        Negative => Value::Number(left.number()?.negated()?),
        MoreThan | LessThan | MoreThanOrEqual | LessThanOrEqual | IsAfter | IsBefore => {
            let order = match function {
                IsAfter | IsBefore => compare_dates(left.date()?, right.date()?, zone),
                _ => compare(left, right, zone),
            }?;
            Value::Flag(match function {
                MoreThan | IsAfter => order.is_gt(),
                LessThan | IsBefore => order.is_lt(),
                MoreThanOrEqual => order.is_ge(),
                _ => order.is_le(),
            })
        }
        Equal | Is => Value::Flag(same(left, right, zone)),
        IsNot => Value::Flag(!same(left, right, zone)),
        InArray => Value::Flag(among(left, right, zone)),
        NotInArray => Value::Flag(!among(left, right, zone)),
        Contains | StartsWith | EndsWith => {
            let part = right.text()?;
            let mut texts = left.elements().iter().filter_map(Value::text);
            Value::Flag(texts.any(|text| match function {
                Contains => text.contains(part.as_str()),
                StartsWith => text.starts_with(part.as_str()),
                _ => text.ends_with(part.as_str()),
            }))
        }
        DateTime => Value::Date(left.date()?),
        _ => {
            let day = left.date()?.day(zone)?;
            let number = match function {
                DateOf => return Some(Value::Date(Date::Day(day))),
                DateIs | DateIsNot => {
                    let equal = day == right.date()?.day(zone)?;
                    return Some(Value::Flag(equal == (function == DateIs)));
                }
                DayOfMonth => i64::from(day.date().2),
                Month => i64::from(day.date().1),
                Year => day.date().0,
                DaysSince => today(lookup)?.days_since(day),
                DaysUntil => day.days_since(today(lookup)?),
                MonthsSince => today(lookup)?.months_since(day)?,
                MonthsUntil => day.months_since(today(lookup)?)?,
                YearsSince => today(lookup)?.months_since(day)?.checked_div(12)?,
                _ => return None,
            };
            Value::Number(Ratio::whole(i128::from(number)))
        }
    })
}

/// The day of the decision, in the zone of the project.
fn today(lookup: &dyn Lookup) -> Option<Day> {
    let now = Operand { name: Name::Now, which: Which::Current, key: Text::default() };
    lookup.find(&now)?.date()?.day(lookup.zone())
}

/// The smallest or largest of several numbers.
fn extremum(function: Function, parts: Parts<'_>, lookup: &dyn Lookup) -> Option<Value> {
    let wanted = if function == Function::Min { Ordering::Less } else { Ordering::Greater };
    let mut best: Option<Ratio> = None;
    for part in parts {
        let number = value(part, lookup)?.number()?;
        let better = match best {
            Some(best) => number.compare(best)? == wanted,
            None => true,
        };
        if better {
            best = Some(number);
        }
    }
    best.map(Value::Number)
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
        _ => left.number()?.compare(right.number()?),
    }
}

/// Whether two values are the same: of a list any element may be it. Where one is a number or a date the other is read
/// as one; otherwise the texts are compared letter by letter.
fn same(left: &Value, right: &Value, zone: &TimeZone) -> bool {
    let exact = |value: &Value| matches!(value, Value::Number(_) | Value::Date(_));
    left.elements().iter().any(|left| {
        right.elements().iter().any(|right| {
            if exact(left) || exact(right) {
                return compare(left, right, zone) == Some(Ordering::Equal);
            }
            left.text().is_some_and(|text| right.text() == Some(text))
        })
    })
}

/// Whether a value is one of a set: a list, or texts parted by commas (`"EU,EMEA"`).
fn among(value: &Value, set: &Value, zone: &TimeZone) -> bool {
    match set {
        Value::Text(names) => {
            names.split(',').map(|name| Value::Text(Text::from(name.trim_ascii()))).any(|name| same(value, &name, zone))
        }
        _ => same(value, set, zone),
    }
}
