//! Decides what is told of a failed test: what it wanted, what it found, and the smallest change that would pass. It
//! must not know who reads it. Made only when somebody asks.
//!
//! validation-rules.md section 8.

use crate::model::scope::GoodsRef;
use crate::refusal::{Act, Change, Why};
use crate::rules::basket::ResolvedLine;
use crate::rules::compare::Condition;
use crate::rules::eval::{Blamed, channel, data_of, figure, sum};
use crate::rules::input::RuleInput;
use crate::rules::kind::{Kind, Over, Period, Pick};
use crate::rules::names::Values;
use crate::rules::number::Number;
use crate::rules::operand::{FoundValue, Operand};
use crate::rules::operator::Operator;
use crate::rules::rule::Test;

impl Blamed<'_> {
    /// What can be told of it.
    #[cold]
    #[inline(never)]
    pub fn why(&self, input: &RuleInput<'_>) -> Option<Why> {
        let leaf = &self.leaf?.test;
        let seen = self.seen(leaf, input);
        let fails = |condition: &&Condition| match seen {
            Seen::One(found) => !condition.holds_on(found, &input.clock),
            Seen::Several(_) => true,
        };
        let condition = leaf.conditions.iter().find(fails).or_else(|| leaf.conditions.first());
        let keys: Vec<&str> = self.around.iter().chain(&self.leaf).map(|leaf| leaf.key.as_str()).collect();
        let change = condition.and_then(|condition| self.change(leaf, condition, &seen, input));
        Some(Why {
            rule: self.rule.id.clone(),
            test: keys.join("."),
            name: leaf.name.text,
            property: leaf.property.clone(),
            operator: condition.map_or("", |condition| condition.operator.name()),
            wanted: condition.map(wanted).unwrap_or_default(),
            found: match seen {
                Seen::One(FoundValue::Missing) => None,
                Seen::One(found) => Some(found.text()),
                Seen::Several(texts) => Some(texts).filter(|texts| !texts.is_empty()),
            },
            change,
        })
    }

    fn seen<'s>(&self, leaf: &Test, input: &RuleInput<'s>) -> Seen<'s> {
        let number = |number: Option<Number>| Seen::One(number.map_or(FoundValue::Missing, FoundValue::Number));
        match leaf.name.kind {
            Kind::Amount | Kind::InitialAmount | Kind::TotalAmount => {
                number(leaf.amount(input).map(|amount| Number::count(amount.minor())))
            }
            Kind::Count(counter, period) => number(input.facts.count(counter, period).map(Number::count)),
            Kind::Lines(figure, Over::Sum) => number(sum(figure, input, self.lines.as_deref())),
            Kind::Lines(of, Over::Any | Over::Each | Over::Inherit) => self.seen_of_lines(input, |line, _| {
                figure(of, input, line).map_or(FoundValue::Missing, FoundValue::Number)
            }),
            Kind::LineData(_) => self.seen_of_lines(input, |_, item| leaf.property_of(item.data())),
            Kind::Goods(_) | Kind::GoodsData => self.seen_of_lines(input, |_, item| {
                item.names().into_iter().flatten().next().map_or(FoundValue::Missing, FoundValue::Text)
            }),
            Kind::Data(data) => Seen::One(leaf.property_of(data_of(data, input))),
            Kind::Channel(part) => Seen::One(channel(part, input)),
            Kind::Linked => Seen::One(FoundValue::Flag(input.is_linked())),
            Kind::Segment | Kind::Tier | Kind::Scopes | Kind::MatchAll | Kind::Earning(_) => {
                Seen::Several(String::new())
            }
        }
    }

    /// What there is on each line that was looked at.
    fn seen_of_lines<'s>(
        &self,
        input: &RuleInput<'s>,
        find: impl Fn(usize, &'s ResolvedLine<'s>) -> FoundValue<'s>,
    ) -> Seen<'s> {
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
        Seen::Several(texts)
    }

    /// The goods of the test around a figure of lines, to say of what there is too little.
    fn goods_around(&self) -> Option<String> {
        let outer = self.around.iter().rev();
        outer.flat_map(|leaf| leaf.test.conditions.iter()).flat_map(|condition| &condition.goods).next().map(name_of)
    }

    fn change(&self, leaf: &Test, condition: &Condition, seen: &Seen<'_>, input: &RuleInput<'_>) -> Option<Change> {
        let (act, by, of) = match (leaf.name.kind, seen) {
            (Kind::Count(_, period), _) => (Act::After, None, Some(period_end(period, input)?)),
            (Kind::Goods(pick), _) => {
                let name = name_of(condition.goods.first()?);
                let act = match pick {
                    Pick::Any | Pick::Product | Pick::Sku if !condition.operator.is_negative() => Act::Add,
                    Pick::None | Pick::Product | Pick::Sku => Act::Remove,
                    _ => return None,
                };
                (act, None, Some(name))
            }
            (kind, Seen::One(FoundValue::Number(found))) if leaf.name.values.are_numbers() => {
                let (act, by) = step(*found, condition)?;
                let of = if matches!(kind, Kind::Lines(..)) { self.goods_around() } else { None };
                (act, Some(u64::try_from(by.as_whole()?).ok()?), of)
            }
            (Kind::Data(_), Seen::One(_)) => {
                let first = condition.operands.first()?;
                let act = match (condition.operator, first) {
                    (Operator::In | Operator::Contains, _) => Act::Set,
                    (Operator::More | Operator::After, Operand::Moment(_)) => Act::After,
                    (Operator::Less | Operator::Before, Operand::Moment(_)) => Act::Before,
                    _ => return None,
                };
                (act, None, Some(first.text()))
            }
            _ => return None,
        };
        Some(Change { act, by, is_money: by.is_some() && leaf.name.values == Values::Money, of })
    }
}

/// What was found, on one thing or on several lines.
enum Seen<'a> {
    One(FoundValue<'a>),
    /// As one text.
    Several(String),
}

fn name_of(goods: &GoodsRef) -> String {
    goods.source_id.as_ref().unwrap_or(&goods.id).as_str().to_owned()
}

fn wanted(condition: &Condition) -> Vec<String> {
    condition.operands.iter().map(Operand::text).chain(condition.goods.iter().map(name_of)).collect()
}

/// The smallest step of whole units that would pass.
fn step(found: Number, condition: &Condition) -> Option<(Act, Number)> {
    let numbers = condition.operands.iter().filter_map(|operand| match operand {
        Operand::Number(number) => Some(*number),
        _ => None,
    });
    let nearest = numbers.min_by_key(|wanted| found.to(*wanted).size())?;
    let (up, down) = (found.to(nearest), nearest.to(found));
    Some(match condition.operator {
        Operator::More => (Act::More, up.next()),
        Operator::AtLeast => (Act::More, up),
        Operator::Less => (Act::Less, down.next()),
        Operator::AtMost => (Act::Less, down),
        Operator::In if down.is_negative() => (Act::More, up),
        Operator::In => (Act::Less, down),
        Operator::NotIn => (Act::More, Number::whole(1)),
        _ => return None,
    })
}

/// The first day of the next period; nothing for what is counted for ever.
fn period_end(period: Period, input: &RuleInput<'_>) -> Option<String> {
    let today = input.clock.zone.day(input.clock.now)?;
    let last = match period {
        Period::Ever => return None,
        Period::Day => today,
        Period::Week => today.first_of_week()?.plus(6)?,
        Period::Month => today.first_of_month()?.plus(31)?.first_of_month()?.plus(-1)?,
    };
    Some(last.text())
}
