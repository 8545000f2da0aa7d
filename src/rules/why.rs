//! Decides what is told of a failed test: what it wanted, what it found, and the smallest change that would pass. It
//! must not know who reads it. Made only when somebody asks.
//!
//! validation-rules.md section 8.

use crate::model::scope::GoodsRef;
use crate::refusal::{Act, Change, Why};
use crate::rules::ast::Test;
use crate::rules::compare::{Condition, Found, Operand};
use crate::rules::eval::{Failure, sum};
use crate::rules::names::{ChannelPart, Data, Kind, Over, Period, Pick};
use crate::rules::number::Number;
use crate::rules::operator::Operator;
use crate::rules::scene::Scene;

impl Failure<'_> {
    /// What can be told of it.
    pub fn why(&self, scene: &Scene<'_>) -> Option<Why> {
        let leaf = &self.leaf?.test;
        let found = self.found(leaf, scene);
        let fails = |condition: &&Condition| match &found {
            Seen::One(found) => !condition.holds(*found, &scene.clock),
            Seen::Texts(_) => true,
        };
        let condition = leaf.conditions.iter().find(fails).or_else(|| leaf.conditions.first());
        let keys: Vec<&str> = self.around.iter().chain(&self.leaf).map(|leaf| leaf.key.as_str()).collect();
        let told = match &found {
            Seen::One(Found::Missing) => None,
            Seen::One(found) => Some(found.text()),
            Seen::Texts(texts) => Some(texts.join(", ")).filter(|text| !text.is_empty()),
        };
        Some(Why {
            rule: self.rule.id.clone(),
            test: keys.join("."),
            name: leaf.name,
            property: leaf.property.clone(),
            operator: condition.map_or("", |condition| condition.operator.name()),
            wanted: condition.map(wanted).unwrap_or_default(),
            found: told,
            change: condition.and_then(|condition| self.change(leaf, condition, &found, scene)),
        })
    }

    fn found<'s>(&self, leaf: &Test, scene: &Scene<'s>) -> Seen<'s> {
        let number = |number: Option<Number>| Seen::One(number.map_or(Found::Missing, Found::Number));
        let money = |money: Option<crate::money::Money>| number(money.map(|money| Number::count(money.minor())));
        let lines = || (0..scene.items.len()).filter(|line| self.lines.is_none_or(|lines| lines.has(*line)));
        match leaf.kind {
            Kind::Amount => money(scene.amount),
            Kind::InitialAmount => money(scene.initial_amount),
            Kind::TotalAmount => money(scene.after),
            Kind::Lines(figure, Over::Sum) => number(sum(figure, scene, self.lines.as_ref())),
            Kind::Lines(figure, _) => {
                let numbers = lines().filter_map(|line| leaf.figure(figure, scene, line));
                Seen::Texts(numbers.map(|number| number.text()).collect())
            }
            Kind::Count(counter, period) => number(scene.asks.count(counter, period).map(Number::count)),
            Kind::Data(data) => Seen::One(leaf.property_of(match data {
                Data::Customer => scene.customer,
                Data::Order => scene.order,
                Data::Redemption => Some(scene.redemption),
                Data::Event | Data::Member => None,
            })),
            Kind::LineData(_) => {
                let values = lines().filter_map(|line| match leaf.property_of(scene.items.get(line)?.data) {
                    Found::Missing => None,
                    found => Some(found.text()),
                });
                Seen::Texts(values.collect())
            }
            Kind::Channel(part) => {
                let [key, user] = scene.channel;
                let found = if part == ChannelPart::Key { key } else { user };
                Seen::One(found.map_or(Found::Missing, Found::Text))
            }
            Kind::Linked => Seen::One(Found::Flag(scene.linked)),
            Kind::Goods(_) | Kind::GoodsData => {
                let name = |line: usize| scene.items.get(line)?.names().into_iter().flatten().next();
                Seen::Texts(lines().filter_map(name).map(str::to_owned).collect())
            }
            Kind::Member(_) | Kind::Scopes | Kind::MatchAll => Seen::Texts(Vec::new()),
        }
    }

    /// The goods of the test around a figure of lines, to say of what there is too little.
    fn goods_around(&self) -> Option<&GoodsRef> {
        let outer = self.around.iter().rev();
        outer.flat_map(|leaf| &leaf.test.conditions).flat_map(|condition| &condition.goods).next()
    }

    fn change(&self, leaf: &Test, condition: &Condition, found: &Seen<'_>, scene: &Scene<'_>) -> Option<Change> {
        let plain = |act: Act, of: Option<String>| Change { act, by: None, is_money: false, of };
        match (leaf.kind, found) {
            (Kind::Count(_, period), _) => Some(plain(Act::After, Some(period_end(period, scene)?))),
            (Kind::Goods(pick), _) => {
                let goods = condition.goods.first()?;
                let name = Some(goods.source_id.as_ref().unwrap_or(&goods.id).to_string());
                match pick {
                    Pick::Any | Pick::Product | Pick::Sku if !condition.operator.is_negative() => {
                        Some(Change { by: None, ..plain(Act::Add, name) })
                    }
                    Pick::None | Pick::Product | Pick::Sku => Some(plain(Act::Remove, name)),
                    _ => None,
                }
            }
            (kind, Seen::One(Found::Number(found))) if kind.is_number() => {
                let (act, by) = step(*found, condition)?;
                let of = match kind {
                    Kind::Lines(..) => self.goods_around().map(|goods| goods.source_id.as_ref().unwrap_or(&goods.id)),
                    _ => None,
                };
                let by = by.as_whole().and_then(|by| u64::try_from(by).ok())?;
                Some(Change { act, by: Some(by), is_money: kind.is_money(), of: of.map(|of| of.to_string()) })
            }
            (Kind::Data(_), Seen::One(_)) => {
                let first = condition.operands.first()?;
                let act = match (condition.operator, first) {
                    (Operator::In | Operator::Contains, _) => Act::Set,
                    (Operator::More | Operator::After, Operand::Moment(_)) => Act::After,
                    (Operator::Less | Operator::Before, Operand::Moment(_)) => Act::Before,
                    _ => return None,
                };
                Some(plain(act, Some(first.text())))
            }
            _ => None,
        }
    }
}

/// What was found, on one thing or on several lines.
enum Seen<'a> {
    One(Found<'a>),
    Texts(Vec<String>),
}

fn wanted(condition: &Condition) -> Vec<String> {
    let goods = condition.goods.iter().map(|goods| goods.source_id.as_ref().unwrap_or(&goods.id).to_string());
    condition.operands.iter().map(Operand::text).chain(goods).collect()
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
fn period_end(period: Period, scene: &Scene<'_>) -> Option<String> {
    let today = scene.clock.zone.day(scene.clock.now)?;
    let last = match period {
        Period::Ever => return None,
        Period::Day => today,
        Period::Week => today.first_of_week()?.plus(6)?,
        Period::Month => today.first_of_month()?.plus(31)?.first_of_month()?.plus(-1)?,
    };
    Some(last.text())
}
