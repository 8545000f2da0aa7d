//! Decides which lines of an order a condition on goods matches, and combines amounts of lines.

use crate::budget::StepCost;
use crate::money::Money;
use crate::rules::compare::Condition;
use crate::rules::input::{Lines, RuleInput};
use crate::rules::kind::{LineAmount, LineQuantifier};
use crate::rules::number::Number;
use crate::rules::operator::Operator;

/// The lines for nested tests.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct NestedTests {
    /// The lines that the surrounding test matched.
    pub lines: Lines,
    /// `true` if all of them must pass, instead of one.
    pub each: bool,
}

impl Condition {
    /// Returns the lines that have any of its goods.
    pub(super) fn lines(&self, input: &RuleInput<'_>) -> Lines {
        let mut lines = Lines::NONE;
        if input.clock.spend(input.items.lookup_steps().times_steps(self.goods.len())) {
            for goods in &self.goods {
                input.items.each_position(goods, &mut |line| lines.add(line));
            }
        }
        lines
    }

    /// Returns whether any line has any of its goods.
    #[inline(never)]
    pub(super) fn is_on_a_line(&self, input: &RuleInput<'_>) -> bool {
        input.clock.spend(input.items.lookup_steps().times_steps(self.goods.len())) && input.items.has_any(&self.goods)
    }
}

/// Returns the lines with the lowest or highest unit price, within the collections of `$from` if there are any. Of
/// equal prices the matching ones count [inferred: one that matches is enough].
pub(super) fn extreme(
    cheapest: bool,
    members: &[(&Condition, Lines)],
    input: &RuleInput<'_>,
    inside: &dyn Fn(usize) -> bool,
) -> Lines {
    let meets = |line: usize, from: bool| {
        let mut those = members.iter().filter(|(one, _)| (one.operator == Operator::From) == from);
        those.all(|(_, lines)| lines.has(line))
    };
    let price = |line: usize| {
        let line_amounts = (inside(line) && meets(line, true)).then(|| input.facts.line_amounts(line));
        line_amounts.and_then(|line_amounts| line_amounts.price)
    };
    let prices = (0..input.items.len()).filter_map(price);
    let extreme = if cheapest { prices.min() } else { prices.max() };
    let meets_all = |line: usize| price(line).is_some_and(|price| Some(price) == extreme && meets(line, false));
    Lines::of(input.items.len(), meets_all)
}

/// Returns the sum of an amount over lines; `None` if it overflows or exceeds the step budget.
pub(in crate::rules) fn sum(line_amount: LineAmount, input: &RuleInput<'_>, lines: Option<&Lines>) -> Option<Number> {
    if !input.clock.spend(input.items.len()) {
        return None;
    }
    let mut sum: u64 = 0;
    for line in (0..input.items.len()).filter(|line| lines.is_none_or(|lines| lines.has(*line))) {
        let line_amounts = input.facts.line_amounts(line);
        // A line without a price or an amount adds nothing.
        sum = sum.checked_add(match line_amount {
            LineAmount::Price => line_amounts.price.map_or(0, Money::minor),
            LineAmount::Quantity => line_amounts.quantity,
            LineAmount::Amount => line_amounts.subtotal.map_or(0, Money::minor),
        })?;
    }
    Some(Number::count(sum))
}

pub(super) fn all_lines(input: &RuleInput<'_>) -> Lines {
    Lines::of(input.items.len(), |_| true)
}

pub(super) fn over_lines(
    over: LineQuantifier,
    input: &RuleInput<'_>,
    within: Option<&NestedTests>,
    test: impl Fn(usize) -> bool,
) -> bool {
    if !input.clock.spend(input.items.len()) {
        return false;
    }
    let each =
        over == LineQuantifier::Each || (over == LineQuantifier::Inherit && within.is_some_and(|within| within.each));
    let mut lines =
        (0..input.items.len()).filter(|line| within.is_none_or(|within| within.lines.has(*line))).peekable();
    if each { lines.peek().is_some() && lines.all(test) } else { lines.any(test) }
}

/// Returns an amount of one line.
pub(in crate::rules) fn line_amount(line_amount: LineAmount, input: &RuleInput<'_>, line: usize) -> Option<Number> {
    let line_amounts = input.facts.line_amounts(line);
    match line_amount {
        LineAmount::Price => line_amounts.price.map(|price| Number::count(price.minor())),
        LineAmount::Quantity => Some(Number::count(line_amounts.quantity)),
        LineAmount::Amount => line_amounts.subtotal.map(|subtotal| Number::count(subtotal.minor())),
    }
}
