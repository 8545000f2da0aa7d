//! Finds suspicious parts of a valid rule: tests that never or always pass, that are never evaluated, or that occur
//! twice.
//!
//! A set of conditions on one value is tried on the values around all its operands, so the result agrees with the
//! evaluation of rules.

use std::borrow::Cow;

use crate::budget::{StepBudget, StepCost};
use crate::json::Node;
use crate::model::scope::GoodsRef;
use crate::rules::compare::{Clock, Condition};
use crate::rules::kind::{FactKind, LineQuantifier};
use crate::rules::logic::Expression;
use crate::rules::names::{RuleName, Values};
use crate::rules::number::Number;
use crate::rules::operand::{FoundValue, TestOperand};
use crate::rules::operator::Operator;
use crate::rules::rule::{Group, Leaf, Rule, Test};
use crate::time::{Instant, TimeZone};

/// A suspicious part of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The path, such as `rules.1.conditions`.
    pub path: String,
    /// The description.
    pub text: String,
}

/// Returns the warnings of a rule, in the order of its tests.
pub fn lint(rule: &Rule) -> Vec<Warning> {
    let mut found = Vec::new();
    let budget = StepBudget::default();
    let same = |one: &GoodsRef, other: &GoodsRef| one.object == other.object && one.id == other.id;
    lint_group(&rule.tests, "rules", false, &budget, &mut found);
    for (position, excluded) in rule.scope.excluded.iter().enumerate() {
        let included = &rule.scope.included;
        if budget.spend(included.len()) && included.iter().any(|entry| same(&entry.goods, &excluded.goods)) {
            let path = format!("applicable_to.excluded[{position}]");
            found.push(Warning { path, text: format!("excludes `{}`, which is included as well", excluded.goods.id) });
        }
    }
    found
}

/// Checks a group of tests. Checks beyond the step budget are skipped: nothing depends on warnings.
fn lint_group(group: &Group, path: &str, nested: bool, budget: &StepBudget, found: &mut Vec<Warning>) {
    let mut mentioned = vec![false; group.leaves.len()];
    group.logic.each_position(&mut |position| {
        mentioned.get_mut(position).into_iter().for_each(|is_mentioned| *is_mentioned = true)
    });
    for (position, leaf) in group.leaves.iter().enumerate() {
        let path = format!("{path}.{}", leaf.key);
        let mut warn = |part: &str, text: String| found.push(Warning { path: format!("{path}{part}"), text });
        if mentioned.get(position) == Some(&false) {
            warn("", "is not mentioned in the logic, and is never asked".to_owned());
        }
        let operands = operands(&leaf.test.conditions);
        let duplicate = || group.leaves.iter().take(position).find(|other| other.test == leaf.test);
        if let Some(duplicate) =
            Some(position).filter(|position| budget.spend(position.times_steps(operands))).and_then(|_| duplicate())
        {
            warn("", format!("says the same as the rule `{}`", duplicate.key));
        }
        if budget.spend(operands.times_steps(8)) {
            lint_test(&leaf.test, nested, &mut warn);
        }
        if let Some(rules) = &leaf.test.rules {
            lint_group(rules, &format!("{path}.rules"), true, budget, found);
        }
    }
    let mut together = Vec::new();
    joined(&group.logic, &mut together);
    let leaves: Vec<&Leaf> = together.iter().filter_map(|position| group.leaves.get(*position)).collect();
    for (position, leaf) in leaves.iter().enumerate() {
        let test = &leaf.test;
        let same = |other: &&&Leaf| other.test.name == test.name && other.test.property == test.property;
        let Some(other) = leaves.iter().take(position).find(same) else { continue };
        let operands = operands(&test.conditions).add_steps(operands(&other.test.conditions));
        if !budget.spend(operands.times_steps(8)) {
            return;
        }
        let both: Vec<Condition> = other.test.conditions.iter().chain(test.conditions.iter()).cloned().collect();
        if one_value(test.name.kind) && leaf.key != other.key && verdict(test.name, &both) == LintResult::Never {
            let text = format!("contradicts the rule `{}`: both can never hold", other.key);
            found.push(Warning { path: format!("{path}.{}", leaf.key), text });
        }
    }
}

fn operands(conditions: &[Condition]) -> usize {
    let count = |one: &Condition| one.operands.len().add_steps(one.goods.len());
    conditions.iter().map(count).fold(1, usize::add_steps)
}

fn lint_test(test: &Test, nested: bool, warn: &mut dyn FnMut(&str, String)) {
    if matches!(test.name.kind, FactKind::Scopes | FactKind::MatchAll) {
        if !nested {
            warn("", format!("`{}` has a meaning only inside of another rule", test.name.text));
        }
        return;
    }
    if !nested
        && matches!(
            test.name.kind,
            FactKind::Lines(_, LineQuantifier::Inherit) | FactKind::LineData(LineQuantifier::Inherit)
        )
    {
        warn("", "stands outside of a rule about items: it looks at every line".to_owned());
    }
    if matches!(test.name.kind, FactKind::Earning(_)) {
        warn("", format!("looks at loyalty, which this service does not serve: `{}` finds nothing", test.name.text));
        return;
    }
    if test.conditions.is_empty() {
        warn(".conditions", "has no conditions, and always holds".to_owned());
        return;
    }
    for condition in test.conditions.iter() {
        if condition.operands.is_empty() && condition.goods.is_empty() {
            let held = if condition.operator.is_negative() { "always holds" } else { "never holds" };
            warn(".conditions", format!("has an empty list, and {held}"));
            return;
        }
    }
    if test.name.kind == FactKind::Linked && !test.requires_true() {
        warn(".conditions", "always holds".to_owned());
    }
    match verdict(test.name, &test.conditions) {
        LintResult::Never => warn(".conditions", "can never hold".to_owned()),
        LintResult::Always => warn(".conditions", "always holds".to_owned()),
        LintResult::Depends => {}
    }
}

/// Collects the tests that must all pass for an expression to pass.
fn joined(logic: &Expression, together: &mut Vec<usize>) {
    match logic {
        Expression::Leaf(position) => together.push(*position),
        Expression::All(parts) => parts.iter().for_each(|part| joined(part, together)),
        Expression::Any(_) => {}
    }
}

/// Returns whether two tests of this kind use the same single value.
fn one_value(kind: FactKind) -> bool {
    !matches!(
        kind,
        FactKind::Lines(_, LineQuantifier::Any | LineQuantifier::Inherit)
            | FactKind::LineData(_)
            | FactKind::GoodsData
            | FactKind::GoodsSet
            | FactKind::Goods(_)
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LintResult {
    Never,
    Always,
    Depends,
}

/// Tries the conditions on the values around their operands.
fn verdict(name: &RuleName, conditions: &[Condition]) -> LintResult {
    use Operator as O;
    let compares = |one: &Condition| {
        let known = matches!(one.operator, O::In | O::NotIn | O::Less | O::AtMost | O::More | O::AtLeast);
        known && one.goods.is_empty() && !one.operands.iter().any(|operand| matches!(operand, TestOperand::Time(_)))
    };
    if matches!(name.values, Values::Goods(_)) || !conditions.iter().all(compares) {
        return LintResult::Depends;
    }
    let zone = TimeZone::default();
    let clock = Clock { now: Instant::default(), zone: &zone, zone_use: None, budget: None };
    let holds = |found: FoundValue<'_>| conditions.iter().all(|condition| condition.holds(found, &clock));
    let operands = || conditions.iter().flat_map(|condition| &condition.operands);
    let mut verdicts = Vec::new();
    for operand in operands() {
        match operand {
            TestOperand::Number(number) => {
                verdicts.extend(around(*number, name.values).map(|one| holds(FoundValue::Number(one))))
            }
            TestOperand::Text(text) => verdicts.push(holds(FoundValue::Text(text))),
            TestOperand::Flag(flag) => {
                verdicts.extend([holds(FoundValue::Flag(*flag)), holds(FoundValue::Flag(!flag))])
            }
            TestOperand::Time(_) | TestOperand::Window(_) => {}
        }
    }
    if name.values.are_numbers() {
        verdicts.push(holds(FoundValue::Number(Number::integer(0))));
    } else {
        // A list may contain all of them, a text may be none of them, and the value may be absent.
        let all = Node::List(operands().map(json).collect());
        verdicts.extend([holds(FoundValue::Value(&all)), holds(FoundValue::Text("\u{0}")), holds(FoundValue::Missing)]);
    }
    match (verdicts.contains(&true), verdicts.contains(&false)) {
        (false, _) => LintResult::Never,
        (true, false) => LintResult::Always,
        (true, true) => LintResult::Depends,
    }
}

/// Returns the number itself and its neighbours. Amounts and counts are whole and not negative.
fn around(number: Number, values: Values) -> impl Iterator<Item = Number> {
    let one = Number::integer(1);
    let neighbours = [one.to(number), number, number.next()];
    neighbours.into_iter().filter(move |number| !values.are_numbers() || !number.is_negative())
}

fn json(operand: &TestOperand) -> Node<'static> {
    match operand {
        TestOperand::Flag(flag) => Node::Flag(*flag),
        TestOperand::Number(number) => number.as_integer().map_or(Node::Null, Node::Integer),
        other => Node::Text(Cow::Owned(other.text())),
    }
}
