//! Decides whether a found value meets a condition: numbers, texts, lists, days and instants.
//!
//! docs/spec/validation-rules.md#3.

use std::cell::Cell;
use std::cmp::Ordering;

use crate::budget::{StepBudget, StepCost};
use crate::json::Node;
use crate::model::scope::GoodsRef;
use crate::rules::number::Number;
use crate::rules::operand::{DayOrInstant, FoundValue, TestOperand, TimeWindow};
use crate::rules::operator::Operator;
use crate::rules::value_set::{ValueOperands, ValueSet};
use crate::time::{Day, Instant, TimeZone};

/// The present instant and the time zone.
#[derive(Debug, Clone, Copy)]
pub struct Clock<'a> {
    /// The instant of the decision.
    pub now: Instant,
    /// The project's time zone: days begin and end in it.
    pub zone: &'a TimeZone,
    /// Records that a comparison depended on the zone, if that matters.
    pub zone_use: Option<&'a Cell<bool>>,
    /// The step budget of comparisons; `None` without a limit.
    pub budget: Option<&'a StepBudget>,
}

impl<'a> Clock<'a> {
    /// Returns the zone for a comparison that depends on it.
    #[inline]
    pub(super) fn zone(&self) -> &'a TimeZone {
        if let Some(used) = self.zone_use {
            used.set(true);
        }
        self.zone
    }

    /// Takes steps from the budget. Returns whether it allows them.
    #[inline]
    pub(super) fn spend(&self, steps: usize) -> bool {
        self.budget.is_none_or(|budget| budget.spend(steps))
    }
}

/// An operator with its operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The comparison.
    pub operator: Operator,
    /// The operands; operators of one value use the first.
    pub operands: ValueOperands,
    /// The goods, in tests of goods.
    pub goods: Vec<GoodsRef>,
}

impl Condition {
    /// Returns whether a found value meets the condition.
    #[inline]
    pub fn holds(&self, found: FoundValue<'_>, clock: &Clock<'_>) -> bool {
        // Most conditions on an order compare a number with one number.
        if let (FoundValue::Number(found), [TestOperand::Number(expected)]) = (found, &*self.operands) {
            match self.operator {
                Operator::More => return found > *expected,
                Operator::AtLeast => return found >= *expected,
                Operator::Less => return found < *expected,
                Operator::AtMost => return found <= *expected,
                _ => {}
            }
        }
        // Most conditions on metadata compare a text with a list of texts.
        if let (FoundValue::Text(found), Operator::In) = (found, self.operator) {
            return self.has_text(found);
        }
        self.holds_on(found, clock)
    }

    /// Returns whether a text is one of the operands.
    #[inline]
    pub(super) fn has_text(&self, found: &str) -> bool {
        self.one(FoundValue::Text(found))
    }

    /// Returns whether a found value meets the condition, without the shortcuts of `holds`.
    #[inline(never)]
    pub(super) fn holds_on(&self, found: FoundValue<'_>, clock: &Clock<'_>) -> bool {
        if !clock.spend(self.steps(found)) {
            return false;
        }
        let elements = match found {
            FoundValue::Missing => return self.holds_on_nothing(),
            FoundValue::Value(Node::List(elements)) => elements.as_slice(),
            single => {
                return match self.operator {
                    Operator::HasValue => true,
                    Operator::IsUnknown => false,
                    Operator::Count | Operator::CountMore | Operator::CountLess => self.counts(1),
                    Operator::NotDiffer => {
                        self.operands.iter().all(|expected| same(single, expected)) && self.one(single)
                    }
                    Operator::NotIntersect => !self.one(single),
                    _ => self.meets(single, clock),
                };
            }
        };
        let mut all = elements.iter().map(FoundValue::of);
        match self.operator {
            Operator::Count | Operator::CountMore | Operator::CountLess => self.counts(elements.len()),
            Operator::HasValue => !elements.is_empty(),
            Operator::IsUnknown => elements.is_empty(),
            // Compared as sets: every element is expected, and every expected value is found.
            Operator::NotDiffer => {
                let found = ValueSet::found(elements.iter().map(FoundValue::of));
                let there = |expected: &TestOperand| {
                    let is_there = || elements.iter().any(|value| same(FoundValue::of(value), expected));
                    found.has_operand(expected).unwrap_or_else(is_there)
                };
                all.all(|value| self.one(value)) && self.operands.iter().all(there)
            }
            Operator::NotIntersect => !all.any(|value| self.one(value)),
            operator if operator.is_negative() => all.all(|value| self.meets(value, clock)),
            _ => all.any(|value| self.meets(value, clock)),
        }
    }

    /// Returns whether a yearly recurring day meets the condition: of a birthdate the month counts, not the year
    /// [inferred].
    pub fn is_anniversary(&self, found: FoundValue<'_>, clock: &Clock<'_>) -> bool {
        let days = || Some((clock.zone().day(clock.now)?, DayOrInstant::found(found)?.day(clock.zone())?));
        let ahead = |expected: i64| {
            days().is_some_and(|(today, day)| day.calendar_months_since(today).checked_rem_euclid(12) == Some(expected))
        };
        match self.operator {
            Operator::PreviousMonth => ahead(11),
            Operator::ThisMonth => ahead(0),
            Operator::NextMonth => ahead(1),
            _ => self.holds(found, clock),
        }
    }

    /// Returns whether an instant meets the condition, where an operand that is a day stands for the whole day.
    pub fn holds_by_day(&self, found: FoundValue<'_>, clock: &Clock<'_>) -> bool {
        let is_on_one = || {
            let day = DayOrInstant::found(found).filter(|_| clock.spend(self.operands.len()))?.day(clock.zone())?;
            Some(self.operands.iter().any(|expected| expected.as_text().and_then(Day::parse) == Some(day)))
        };
        match self.operator {
            Operator::In => is_on_one() == Some(true) || self.holds(found, clock),
            Operator::NotIn => is_on_one() != Some(true) && self.holds(found, clock),
            _ => self.holds(found, clock),
        }
    }

    /// Returns the earliest time, from now on, at which the result for the present instant as value may change, apart from the start of
    /// a day.
    pub fn next_turn(&self, clock: &Clock<'_>) -> Option<Instant> {
        let is_about_parts = matches!(
            self.operator,
            Operator::StartsWith
                | Operator::EndsWith
                | Operator::Contains
                | Operator::NotContain
                | Operator::NotDiffer
                | Operator::NotIntersect
        );
        let is_about_hours = |operand: &TestOperand| match operand {
            TestOperand::Window(window) => !matches!(**window, TimeWindow::Between(..)),
            _ => false,
        };
        if is_about_parts || self.operands.iter().any(is_about_hours) {
            return Some(clock.now);
        }
        let named = |operand: &TestOperand| match operand {
            TestOperand::Time(time) => [time.instant(clock.zone), None],
            TestOperand::Text(text) => [DayOrInstant::parse(text).and_then(|time| time.instant(clock.zone)), None],
            TestOperand::Window(window) => match **window {
                TimeWindow::Between(from, to) => [Some(from), Some(to)],
                TimeWindow::Recurring(..) | TimeWindow::Hours(_) => [None, None],
            },
            _ => [None, None],
        };
        // After an instant is from the next one on.
        let after = |at: Instant| {
            let next = at.millis().checked_add(1).and_then(Instant::from_millis);
            [Some(at), next].into_iter().flatten().find(|turn| *turn > clock.now)
        };
        self.operands.iter().flat_map(named).flatten().filter_map(after).min()
    }

    /// Returns whether a missing value meets the condition: negative operators, a count of 0, and `IsUnknown` do.
    fn holds_on_nothing(&self) -> bool {
        match self.operator {
            Operator::IsUnknown => true,
            Operator::Count => self.counts(0),
            operator => operator.is_negative(),
        }
    }

    fn counts(&self, elements: usize) -> bool {
        let found = Number::count(u64::try_from(elements).unwrap_or(u64::MAX));
        self.number().is_some_and(|expected| match self.operator {
            Operator::CountMore => found > expected,
            Operator::CountLess => found < expected,
            _ => found == expected,
        })
    }

    fn number(&self) -> Option<Number> {
        match self.operands.first()? {
            TestOperand::Number(number) => Some(*number),
            _ => None,
        }
    }

    #[inline(never)]
    fn one(&self, found: FoundValue<'_>) -> bool {
        match self.operands.members() {
            Some(members) => members.has(found),
            None => self.operands.iter().any(|expected| same(found, expected)),
        }
    }

    /// Returns the maximum steps of a comparison: sets use binary search, and texts are scanned for each other.
    fn steps(&self, found: FoundValue<'_>) -> usize {
        let values = match found {
            FoundValue::Value(Node::List(elements)) => elements.len(),
            _ => 1,
        };
        let expected = self.operands.len();
        match self.operator {
            Operator::StartsWith | Operator::EndsWith => values.times_steps(expected),
            Operator::Contains | Operator::NotContain => {
                let length = |value: &Node<'_>| value.as_str().map_or(1, |text| text.len());
                let characters = match found {
                    FoundValue::Text(text) => text.len(),
                    FoundValue::Value(Node::List(elements)) => elements.iter().map(length).fold(0, usize::add_steps),
                    _ => 1,
                };
                characters.add_steps(values).times_steps(expected)
            }
            Operator::NotDiffer => values.times_steps(4).add_steps(expected),
            _ => values.times_steps(4),
        }
    }

    /// Returns whether one value that is no list meets the condition.
    fn meets(&self, found: FoundValue<'_>, clock: &Clock<'_>) -> bool {
        let order = || compare(found, self.operands.first()?, clock);
        let texts = |test: fn(&str, &str) -> bool| {
            let FoundValue::Text(found) = found else { return false };
            let texts = self.operands.iter().filter_map(TestOperand::as_text);
            texts.into_iter().any(|expected| test(found, expected))
        };
        let contains = || texts(|found, expected| found.contains(expected)) || self.one(found);
        match self.operator {
            Operator::In => self.one(found),
            Operator::NotIn => !self.one(found),
            Operator::Less | Operator::Before => order() == Some(Ordering::Less),
            Operator::AtMost => order().is_some_and(Ordering::is_le),
            Operator::More | Operator::After => order() == Some(Ordering::Greater),
            Operator::AtLeast => order().is_some_and(Ordering::is_ge),
            Operator::StartsWith => texts(|found, expected| found.starts_with(expected)),
            Operator::EndsWith => texts(|found, expected| found.ends_with(expected)),
            Operator::Contains => contains(),
            Operator::NotContain => !contains(),
            _ => DayOrInstant::found(found).is_some_and(|time| self.meets_in_time(time, clock)),
        }
    }

    fn meets_in_time(&self, time: DayOrInstant, clock: &Clock<'_>) -> bool {
        let zone = clock.zone();
        let (Some(day), Some(today)) = (time.day(zone), zone.day(clock.now)) else { return false };
        let ago = today.days_since(day);
        let expected = self.number().and_then(Number::as_integer);
        let days = |test: fn(i64, i64) -> bool, days: i64| expected.is_some_and(|expected| test(days, expected));
        // Less than n days ago excludes the future, and vice versa.
        let within = |days: i64, expected: i64| (0..expected).contains(&days);
        let beyond = |days: i64, expected: i64| days > expected;
        let equal = |days: i64, expected: i64| days == expected;
        // The calendar bounds numbers of days.
        let ahead = ago.saturating_neg();
        match self.operator {
            Operator::MoreThanAgo => days(beyond, ago),
            Operator::LessThanAgo => days(within, ago),
            Operator::DaysAgo => days(equal, ago),
            Operator::MoreThanFuture => days(beyond, ahead),
            Operator::LessThanFuture => days(within, ahead),
            Operator::DaysInFuture => days(equal, ahead),
            Operator::DayOfWeek => {
                let weekday = Number::integer(i64::from(day.weekday()));
                self.operands.contains(&TestOperand::Number(weekday))
            }
            Operator::PreviousMonth => day.calendar_months_since(today) == -1,
            Operator::ThisMonth => day.calendar_months_since(today) == 0,
            Operator::NextMonth => day.calendar_months_since(today) == 1,
            _ => {
                let Some(at) = time.instant(zone) else { return false };
                self.operands.iter().any(|expected| match expected {
                    TestOperand::Window(window) => window.covers(at, zone),
                    _ => false,
                })
            }
        }
    }
}

/// Returns whether a found value equals an expected one. A text that contains a number equals that number.
fn same(found: FoundValue<'_>, expected: &TestOperand) -> bool {
    match (found, expected) {
        (FoundValue::Text(found), TestOperand::Text(expected)) => found == expected,
        (FoundValue::Flag(found), TestOperand::Flag(expected)) => found == *expected,
        (FoundValue::Value(Node::Object(_)), _) => false,
        (_, TestOperand::Time(expected)) => DayOrInstant::found(found) == Some(*expected),
        _ => numbers(found, expected).is_some_and(Ordering::is_eq),
    }
}

fn numbers(found: FoundValue<'_>, expected: &TestOperand) -> Option<Ordering> {
    let found = match found {
        FoundValue::Number(number) => number,
        FoundValue::Text(text) => Number::parse(text)?,
        _ => return None,
    };
    match expected {
        TestOperand::Number(expected) => Some(found.cmp(expected)),
        TestOperand::Text(expected) => Some(found.cmp(&Number::parse(expected)?)),
        _ => None,
    }
}

/// Compares a found value with an expected one, as numbers or in time; `None` if they are of different kinds.
fn compare(found: FoundValue<'_>, expected: &TestOperand, clock: &Clock<'_>) -> Option<Ordering> {
    match expected {
        TestOperand::Time(expected) => DayOrInstant::found(found)?.compare(*expected, clock.zone()),
        _ => numbers(found, expected),
    }
}
