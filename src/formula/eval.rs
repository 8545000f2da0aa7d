//! Evaluates formulas. A missing operand, a division by zero, an overflow or a wrong type makes the result `None`, for
//! which the caller has a fallback value.
//!
//! docs/spec/calculation.md#6; the marks `[inferred]` are our own choices.

use std::cmp::Ordering;

use crate::formula::ast::{
    Formula, FormulaName, FormulaNode, FormulaOperand, Function, NodeKind, NodeParts, OperandLine,
};
use crate::formula::ratio::Ratio;
use crate::formula::value::{Date, FormulaValue};
use crate::money::{Money, Percent};
use crate::text::Text;
use crate::time::{Day, TimeZone};

/// The values for an evaluation.
pub trait Lookup {
    /// Returns the value of an operand; `None` if it is missing.
    fn find(&self, operand: &FormulaOperand) -> Option<FormulaValue>;

    /// Returns the time zone of days.
    fn zone(&self) -> &TimeZone;
}

/// Returns the value of a formula; `None` if it cannot be evaluated.
pub fn evaluate(formula: &Formula, lookup: &dyn Lookup) -> Option<FormulaValue> {
    value(&formula.steps, lookup)
}

/// Returns the value in `parts` of a unit, rounded half up at the very end; `None` if it is negative.
#[inline(never)]
fn count(formula: &Formula, lookup: &dyn Lookup, parts: i128) -> Option<u128> {
    let number = evaluate(formula, lookup)?.number().filter(|number| !number.is_negative())?;
    u128::try_from(number.times(Ratio::integer(parts))?.half_up()?).ok()
}

/// Returns the value as an amount: major units, rounded half up to a whole minor unit at the very end
/// (docs/spec/calculation.md section 1.7). `None` if it is negative or too large.
pub fn money(formula: &Formula, lookup: &dyn Lookup) -> Option<Money> {
    Money::from_wide(count(formula, lookup, 100)?)
}

/// Returns the value as a percentage, rounded half up to six decimals. More than 100 is 100, as an amount above its
/// base is its base; `None` if it is negative. `[inferred]`
pub fn percent(formula: &Formula, lookup: &dyn Lookup) -> Option<Percent> {
    Some(Percent::of_millionths(count(formula, lookup, 1_000_000)?))
}

/// Returns the value as a whole number of units or points, rounded half up as points are
/// (docs/spec/calculation.md#1.8); `None` if it is negative. For units `[inferred]`.
pub fn units(formula: &Formula, lookup: &dyn Lookup) -> Option<u64> {
    u64::try_from(count(formula, lookup, 1)?).ok()
}

/// Returns the line with the lowest or highest unit price, from the unit price and subtotal of each. Of equal prices
/// the lowest subtotal counts, and then the first. A line without a unit price is neither.
///
/// ```
/// use scrip::formula::{OperandLine, extreme};
/// use scrip::money::Money;
/// let line = |price, subtotal| (Money::new(price), Money::new(subtotal).unwrap());
/// let lines = [line(200, 400), line(100, 300), line(200, 200), line(100, 100), line(200, 200)];
/// assert_eq!(extreme(OperandLine::Cheapest, &lines), Some(3));
/// assert_eq!(extreme(OperandLine::MostExpensive, &lines), Some(2));
/// ```
pub fn extreme(which: OperandLine, lines: &[(Option<Money>, Money)]) -> Option<usize> {
    let mut best: Option<(usize, Money, Money)> = None;
    for (position, (price, subtotal)) in lines.iter().enumerate() {
        let Some(price) = *price else { continue };
        let better = best.is_none_or(|(_, found, lowest)| {
            let order = match which {
                OperandLine::Current => return false,
                OperandLine::Cheapest => price.cmp(&found),
                OperandLine::MostExpensive => found.cmp(&price),
            };
            order.then(subtotal.cmp(&lowest)).is_lt()
        });
        if better && which != OperandLine::Current {
            best = Some((position, price, *subtotal));
        }
    }
    best.map(|(position, ..)| position)
}

/// Returns the value of a node.
fn value(steps: &[FormulaNode], lookup: &dyn Lookup) -> Option<FormulaValue> {
    let (step, rest) = steps.split_first()?;
    let mut parts = NodeParts(rest);
    let function = match &step.kind {
        NodeKind::Number(number) => return Some(FormulaValue::Number(*number)),
        NodeKind::Text(text) => return Some(FormulaValue::Text(text.clone())),
        NodeKind::Operand(operand) => return lookup.find(operand),
        NodeKind::Call(function) => *function,
    };
    match function {
        Function::Chain => chain(parts, lookup),
        Function::Min | Function::Max => extremum(function, parts, lookup),
        Function::Today => today(lookup).map(|day| FormulaValue::Date(Date::Day(day))),
        Function::DefaultTo => parts.find_map(|part| value(part, lookup)),
        Function::List => {
            let mut elements = Vec::new();
            for part in parts {
                elements.push(value(part, lookup)?);
            }
            Some(FormulaValue::List(elements))
        }
        Function::Switch => {
            let expected = value(parts.next()?, lookup)?;
            loop {
                let case = value(parts.next()?, lookup);
                // The last part has none after it: it is the default.
                let Some(result) = parts.next() else { return case };
                if same(&expected, &case?, lookup) {
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
            let second = parts.next().map_or(Some(FormulaValue::Flag(false)), |part| value(part, lookup))?;
            compute(function, &first, &second, lookup)
        }
    }
}

/// Evaluates operators of one precedence, from left to right.
fn chain(mut parts: NodeParts<'_>, lookup: &dyn Lookup) -> Option<FormulaValue> {
    let mut found = value(parts.next()?, lookup);
    if let Some(operator @ (Function::And | Function::Or)) = parts.0.first()?.joint {
        // A deciding operand (`false` for and, `true` for or) decides even if another is missing: their order does not
        // matter.
        let decisive = operator == Function::Or;
        let mut known = true;
        loop {
            match found.and_then(|found| found.flag()) {
                Some(flag) if flag == decisive => return Some(FormulaValue::Flag(decisive)),
                flag => known &= flag.is_some(),
            }
            let Some(part) = parts.next() else { break };
            found = value(part, lookup);
        }
        return known.then_some(FormulaValue::Flag(!decisive));
    }
    let mut found = found?;
    for part in parts {
        found = compute(part.first()?.joint?, &found, &value(part, lookup)?, lookup)?;
    }
    Some(found)
}

/// Evaluates a function of one or two values.
fn compute(function: Function, left: &FormulaValue, right: &FormulaValue, lookup: &dyn Lookup) -> Option<FormulaValue> {
    use Function::{
        Ceil, Contains, Date as DateOf, DateIs, DateIsNot, DateTime, DayOfMonth, DaysSince, DaysUntil, EndsWith, Equal,
        Floor, InArray, Is, IsAfter, IsBefore, IsNot, LessThan, LessThanOrEqual, Minus, Month, MonthsSince,
        MonthsUntil, MoreThan, MoreThanOrEqual, Negative, NotInArray, Over, Plus, Pow, Rest, Round, StartsWith, Times,
        Year, YearsSince,
    };
    Some(match function {
        Plus | Minus | Times | Over | Rest | Pow | Round | Floor | Ceil => {
            let (left, right) = (left.number()?, right.number()?);
            FormulaValue::Number(match function {
                Plus => left.checked_add(right),
                Minus => left.minus(right),
                Times => left.times(right),
                Over => left.divided_by(right),
                Rest => left.remainder(right),
                Pow => left.power(right),
                Round => left.round(right.as_integer()?),
                Floor => left.floor(right.as_integer()?),
                _ => left.ceil(right.as_integer()?),
            }?)
        }
        Negative => FormulaValue::Number(left.number()?.negated()?),
        MoreThan | LessThan | MoreThanOrEqual | LessThanOrEqual | IsAfter | IsBefore => {
            let order = match function {
                IsAfter | IsBefore => compare_dates(left.date()?, right.date()?, lookup),
                _ => compare(left, right, lookup),
            }?;
            FormulaValue::Flag(match function {
                MoreThan | IsAfter => order.is_gt(),
                LessThan | IsBefore => order.is_lt(),
                MoreThanOrEqual => order.is_ge(),
                _ => order.is_le(),
            })
        }
        Equal | Is => FormulaValue::Flag(same(left, right, lookup)),
        IsNot => FormulaValue::Flag(!same(left, right, lookup)),
        InArray => FormulaValue::Flag(contains(left, right, lookup)),
        NotInArray => FormulaValue::Flag(!contains(left, right, lookup)),
        Contains | StartsWith | EndsWith => {
            let part = right.text()?;
            let mut texts = left.elements().iter().filter_map(FormulaValue::text);
            FormulaValue::Flag(texts.any(|text| match function {
                Contains => text.contains(part.as_str()),
                StartsWith => text.starts_with(part.as_str()),
                _ => text.ends_with(part.as_str()),
            }))
        }
        DateTime => FormulaValue::Date(left.date()?),
        _ => {
            let day = left.date()?.day(lookup.zone())?;
            let number = match function {
                DateOf => return Some(FormulaValue::Date(Date::Day(day))),
                DateIs | DateIsNot => {
                    let equal = day == right.date()?.day(lookup.zone())?;
                    return Some(FormulaValue::Flag(equal == (function == DateIs)));
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
            FormulaValue::Number(Ratio::integer(i128::from(number)))
        }
    })
}

/// Returns the day of the decision, in the zone of the project.
fn today(lookup: &dyn Lookup) -> Option<Day> {
    let now = FormulaOperand { name: FormulaName::Now, which: OperandLine::Current, key: Text::default() };
    lookup.find(&now)?.date()?.day(lookup.zone())
}

/// Returns the smallest or largest of several numbers.
fn extremum(function: Function, parts: NodeParts<'_>, lookup: &dyn Lookup) -> Option<FormulaValue> {
    let expected = if function == Function::Min { Ordering::Less } else { Ordering::Greater };
    let mut best: Option<Ratio> = None;
    for part in parts {
        let number = value(part, lookup)?.number()?;
        let better = match best {
            Some(best) => number.compare(best)? == expected,
            None => true,
        };
        if better {
            best = Some(number);
        }
    }
    best.map(FormulaValue::Number)
}

/// Compares two instants exactly, and by days of the zone if one is a day.
fn compare_dates(left: Date, right: Date, lookup: &dyn Lookup) -> Option<Ordering> {
    match (left, right) {
        (Date::Instant(left), Date::Instant(right)) => Some(left.cmp(&right)),
        _ => Some(left.day(lookup.zone())?.cmp(&right.day(lookup.zone())?)),
    }
}

/// Compares two values: dates if one of them is a date, else numbers.
fn compare(left: &FormulaValue, right: &FormulaValue, lookup: &dyn Lookup) -> Option<Ordering> {
    match (left, right) {
        (FormulaValue::Date(_), _) | (_, FormulaValue::Date(_)) => compare_dates(left.date()?, right.date()?, lookup),
        _ => left.number()?.compare(right.number()?),
    }
}

/// Returns whether two values are equal: of a list any element may be. If one is a number or a date, the other is
/// converted; otherwise the texts are compared exactly.
fn same(left: &FormulaValue, right: &FormulaValue, lookup: &dyn Lookup) -> bool {
    let exact = |value: &FormulaValue| matches!(value, FormulaValue::Number(_) | FormulaValue::Date(_));
    left.elements().iter().any(|left| {
        right.elements().iter().any(|right| {
            if exact(left) || exact(right) {
                return compare(left, right, lookup) == Some(Ordering::Equal);
            }
            left.text().is_some_and(|text| right.text() == Some(text))
        })
    })
}

/// Returns whether a value is in a set: a list, or texts separated by commas (`"EU,EMEA"`).
fn contains(value: &FormulaValue, set: &FormulaValue, lookup: &dyn Lookup) -> bool {
    match set {
        FormulaValue::Text(names) => names
            .split(',')
            .map(|name| FormulaValue::Text(Text::from(name.trim_ascii())))
            .any(|name| same(value, &name, lookup)),
        _ => same(value, set, lookup),
    }
}
