//! Explains a failed test: its operands, the found value, and the smallest change that would pass. It is built on
//! demand.
//!
//! docs/spec/validation-rules.md#8.

use crate::model::scope::GoodsRef;
use crate::refusal::{Remedy, RemedyAction, RuleExplanation};
use crate::rules::compare::Condition;
use crate::rules::eval::{FailingTest, channel, data_of, line_amount, sum};
use crate::rules::input::RuleInput;
use crate::rules::kind::{CountPeriod, FactKind, GoodsQuantifier, LineQuantifier};
use crate::rules::names::Values;
use crate::rules::number::Number;
use crate::rules::operand::{FoundValue, TestOperand};
use crate::rules::operator::Operator;
use crate::rules::order_lines::ResolvedLine;
use crate::rules::rule::Test;

impl FailingTest<'_> {
    /// Returns the explanation of the failing test.
    #[cold]
    #[inline(never)]
    pub fn explain(&self, input: &RuleInput<'_>) -> Option<RuleExplanation> {
        let leaf = &self.leaf?.test;
        let tested_values = self.tested_values(leaf, input);
        let fails = |condition: &&Condition| match tested_values {
            TestedValues::One(found) => !condition.holds_on(found, &input.clock),
            TestedValues::Several(_) => true,
        };
        let condition = leaf.conditions.iter().find(fails).or_else(|| leaf.conditions.first());
        let keys: Vec<&str> = self.around.iter().chain(&self.leaf).map(|leaf| leaf.key.as_str()).collect();
        let change = condition.and_then(|condition| self.change(leaf, condition, &tested_values, input));
        Some(RuleExplanation {
            rule: self.rule.id.clone(),
            test: keys.join("."),
            name: leaf.name.text,
            property: leaf.property.clone(),
            operator: condition.map_or("", |condition| condition.operator.name()),
            expected: condition.map(expected).unwrap_or_default(),
            found: match tested_values {
                TestedValues::One(FoundValue::Missing) => None,
                TestedValues::One(found) => Some(found.text()),
                TestedValues::Several(texts) => Some(texts).filter(|texts| !texts.is_empty()),
            },
            change,
        })
    }

    fn tested_values<'s>(&self, leaf: &Test, input: &RuleInput<'s>) -> TestedValues<'s> {
        let number = |number: Option<Number>| TestedValues::One(number.map_or(FoundValue::Missing, FoundValue::Number));
        match leaf.name.kind {
            FactKind::Amount | FactKind::InitialAmount | FactKind::TotalAmount => {
                number(leaf.amount(input).map(|amount| Number::count(amount.minor())))
            }
            FactKind::Count(counter, period) => number(input.facts.count(counter, period).map(Number::count)),
            FactKind::Lines(line_amount, LineQuantifier::Sum) => number(sum(line_amount, input, self.lines.as_deref())),
            FactKind::Lines(of, LineQuantifier::Any | LineQuantifier::Each | LineQuantifier::Inherit) => self
                .values_of_lines(input, |line, _| {
                    line_amount(of, input, line).map_or(FoundValue::Missing, FoundValue::Number)
                }),
            FactKind::LineData(_) => self.values_of_lines(input, |_, item| leaf.property_of(item.data())),
            FactKind::Goods(_) | FactKind::GoodsData | FactKind::GoodsSet => self.values_of_lines(input, |_, item| {
                item.names().into_iter().flatten().next().map_or(FoundValue::Missing, FoundValue::Text)
            }),
            FactKind::Data(data) => TestedValues::One(leaf.property_of(data_of(data, input))),
            FactKind::Channel(part) => TestedValues::One(channel(part, input)),
            FactKind::Linked => TestedValues::One(FoundValue::Flag(input.is_linked())),
            FactKind::Segment | FactKind::Tier | FactKind::CustomerCondition => TestedValues::Several(String::new()),
            FactKind::Scopes | FactKind::MatchAll | FactKind::Earning(_) => TestedValues::Several(String::new()),
        }
    }

    /// Returns the found values of the tested lines.
    fn values_of_lines<'s>(
        &self,
        input: &RuleInput<'s>,
        find: impl Fn(usize, &'s ResolvedLine<'s>) -> FoundValue<'s>,
    ) -> TestedValues<'s> {
        let (mut texts, mut between) = (String::new(), "");
        for (line, item) in input.items.iter().enumerate() {
            if self.lines.as_ref().is_some_and(|lines| !lines.has(line)) {
                continue;
            }
            let found = find(line, item);
            if !matches!(found, FoundValue::Missing) {
                texts.push_str(between);
                texts.push_str(&found.text());
                between = ", ";
            }
        }
        TestedValues::Several(texts)
    }

    /// Returns the goods of the surrounding test, to name in a change of line amounts.
    fn goods_around(&self) -> Option<String> {
        let outer = self.around.iter().rev();
        outer.flat_map(|leaf| leaf.test.conditions.iter()).flat_map(|condition| &condition.goods).next().map(name_of)
    }

    fn change(
        &self,
        leaf: &Test,
        condition: &Condition,
        tested_values: &TestedValues<'_>,
        input: &RuleInput<'_>,
    ) -> Option<Remedy> {
        let (act, by, of) = match (leaf.name.kind, tested_values) {
            (FactKind::Count(_, period), _) => (RemedyAction::After, None, Some(period_end(period, input)?)),
            (FactKind::Goods(pick), _) => {
                let name = name_of(condition.goods.first()?);
                let act = match pick {
                    GoodsQuantifier::Any | GoodsQuantifier::Product | GoodsQuantifier::Sku
                        if !condition.operator.is_negative() =>
                    {
                        RemedyAction::Add
                    }
                    GoodsQuantifier::None | GoodsQuantifier::Product | GoodsQuantifier::Sku => RemedyAction::Remove,
                    _ => return None,
                };
                (act, None, Some(name))
            }
            (kind, TestedValues::One(FoundValue::Number(found))) if leaf.name.values.are_numbers() => {
                let (act, by) = step(*found, condition)?;
                let of = if matches!(kind, FactKind::Lines(..)) { self.goods_around() } else { None };
                (act, Some(u64::try_from(by.as_integer()?).ok()?), of)
            }
            (FactKind::Data(_), TestedValues::One(_)) => {
                let first = condition.operands.first()?;
                let act = match (condition.operator, first) {
                    (Operator::In | Operator::Contains, _) => RemedyAction::Set,
                    (Operator::More | Operator::After, TestOperand::Time(_)) => RemedyAction::After,
                    (Operator::Less | Operator::Before, TestOperand::Time(_)) => RemedyAction::Before,
                    _ => return None,
                };
                (act, None, Some(first.text()))
            }
            _ => return None,
        };
        Some(Remedy { act, by, is_money: by.is_some() && leaf.name.values == Values::Money, of })
    }
}

/// The found value, of one source or of several lines.
enum TestedValues<'a> {
    One(FoundValue<'a>),
    /// The values as one text.
    Several(String),
}

fn name_of(goods: &GoodsRef) -> String {
    goods.source_id.as_ref().unwrap_or(&goods.id).as_str().to_owned()
}

fn expected(condition: &Condition) -> Vec<String> {
    condition.operands.iter().map(TestOperand::text).chain(condition.goods.iter().map(name_of)).collect()
}

/// Returns the smallest change in whole units that would pass.
fn step(found: Number, condition: &Condition) -> Option<(RemedyAction, Number)> {
    let numbers = condition.operands.iter().filter_map(|operand| match operand {
        TestOperand::Number(number) => Some(*number),
        _ => None,
    });
    let nearest = numbers.min_by_key(|expected| found.to(*expected).size())?;
    let (up, down) = (found.to(nearest), nearest.to(found));
    Some(match condition.operator {
        Operator::More => (RemedyAction::More, up.next()),
        Operator::AtLeast => (RemedyAction::More, up),
        Operator::Less => (RemedyAction::Less, down.next()),
        Operator::AtMost => (RemedyAction::Less, down),
        Operator::In if down.is_negative() => (RemedyAction::More, up),
        Operator::In => (RemedyAction::Less, down),
        Operator::NotIn => (RemedyAction::More, Number::integer(1)),
        _ => return None,
    })
}

/// Returns the last day of the present period; `None` for a lifetime count.
fn period_end(period: CountPeriod, input: &RuleInput<'_>) -> Option<String> {
    let today = input.clock.zone().day(input.clock.now)?;
    let last = match period {
        CountPeriod::Ever => return None,
        CountPeriod::Day => today,
        CountPeriod::Week => today.first_of_week()?.plus(6)?,
        CountPeriod::Month => today.first_of_month()?.plus(31)?.first_of_month()?.plus(-1)?,
    };
    Some(last.text())
}
