//! Defines the result of earning: the rules that fired with what they gave, and the reason of every other rule.

use crate::facts::earning::{GrantedItem, PointsBasis};
use crate::points::Expiration;
use crate::points::limits::LimitRefusal;
use crate::text::Text;
use std::collections::BTreeSet;

/// The result of earning for an event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Earnings {
    /// The reason why no rule was evaluated, if none was.
    pub not_earned: Option<NotEarned>,
    /// The earnings of each membership of the customer.
    pub memberships: Vec<MemberEarnings>,
}

impl Earnings {
    /// Returns the fired rules: the membership, the rule and what it gave.
    pub fn fired_rules(&self) -> impl Iterator<Item = (&MemberEarnings, &RuleOutcome, &FiredEarning)> {
        self.memberships.iter().flat_map(|member| {
            member.rules.iter().filter_map(move |rule| {
                let fired = rule.outcome.as_ref().ok().filter(|fired| fired.counts())?;
                Some((member, rule, fired))
            })
        })
    }

    /// Returns the cards that receive points, each once.
    pub fn cards(&self) -> Vec<&str> {
        let given = self.fired_rules().flat_map(|(_, _, fired)| fired.effects.iter().flatten());
        let cards = given.filter_map(|granted| match &granted.content {
            GrantedContent::Points(points) => Some(points.card_id.as_str()),
            GrantedContent::Item(_) => None,
        });
        cards.collect::<BTreeSet<&str>>().into_iter().collect()
    }
}

/// The earnings of a membership from an event.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberEarnings {
    /// The member.
    pub member_id: Text,
    /// The program.
    pub program_id: Text,
    /// The reason why none of its rules was evaluated, if none was.
    pub not_earned: Option<NotEarned>,
    /// The outcomes of its rules, in their order.
    pub rules: Vec<RuleOutcome>,
}

/// The outcome of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleOutcome {
    /// The rule.
    pub rule_id: Text,
    /// The fired earning, or the reason why the rule did not fire.
    pub outcome: Result<FiredEarning, NotEarned>,
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq)]
pub struct FiredEarning {
    /// The earning that matched.
    pub earning_id: Text,
    /// The outcomes of its effects, in their order.
    pub effects: Vec<Result<GrantedEffect, EffectSkipped>>,
    /// Points that the effects do not give for the present order and could give for a changed one.
    pub absent: Vec<GrantedPoints>,
}

impl FiredEarning {
    /// Returns whether it gave anything. Otherwise it does not count for the limits of its rule.
    pub fn counts(&self) -> bool {
        self.effects.iter().any(Result::is_ok)
    }
}

/// An effect that was granted.
#[derive(Debug, Clone, PartialEq)]
pub struct GrantedEffect {
    /// The incentive that was used; its stock decreases by one.
    pub incentive_id: Option<Text>,
    /// The granted points or item.
    pub content: GrantedContent,
}

/// Points or an item.
#[derive(Debug, Clone, PartialEq)]
pub enum GrantedContent {
    /// Points.
    Points(GrantedPoints),
    /// An item to be fulfilled.
    Item(GrantedItem),
}

/// Points for a card.
#[derive(Debug, Clone, PartialEq)]
pub struct GrantedPoints {
    /// The card.
    pub card_id: Text,
    /// Its definition.
    pub card_definition_id: Text,
    /// The number of points.
    pub points: u64,
    /// The number of points without limits.
    pub uncapped: u64,
    /// The expiration, if it differs from the definition's.
    pub expiration: Option<Expiration>,
    /// The inputs to recompute the points, if they depend on the order.
    pub basis: Option<PointsBasis>,
}

/// The reason why a rule, a membership or a whole event earns nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotEarned {
    /// The earning key has earned before.
    Repeated,
    /// A fact that it needs cannot be read or is unknown.
    Unreadable,
    /// The member, the program or the rule is not active.
    Inactive,
    /// It has not begun, is over, or is outside its hours.
    OutOfTime,
    /// The trigger is a different one.
    OtherTrigger,
    /// The limits of the rule are reached.
    LimitRefusal(LimitRefusal),
    /// None of its earnings matches; the reason of each.
    NoMatch(Vec<EarningMismatch>),
}

/// The reason why an earning does not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarningMismatch {
    /// The member has none of its tiers.
    Tier,
    /// This test of its rules fails, by its key.
    Rule(Option<Text>),
    /// A collection or a segment that its rules name cannot be read.
    Unreadable,
}

/// The reason why an effect gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectSkipped {
    /// The amount gives no points.
    NoPoints,
    /// The number that it is proportional to is absent, or not a number.
    NoNumber,
    /// The points exceed the maximum of a card.
    TooMany,
    /// The member has no card of the definition.
    NoCard,
    /// The limits of the card leave no capacity.
    Limited,
    /// There is no such incentive.
    NoIncentive,
    /// The incentive is not active.
    InactiveIncentive,
    /// The incentive is out of stock.
    OutOfStock,
    /// A fact that it needs cannot be read or is unknown.
    Unreadable,
}

impl EffectSkipped {
    /// Returns the name in transactions (`details.rejection.reason`).
    pub fn name(self) -> &'static str {
        match self {
            EffectSkipped::NoPoints => "no_points",
            EffectSkipped::NoNumber => "missing_number",
            EffectSkipped::TooMany => "too_many_points",
            EffectSkipped::NoCard => "missing_card",
            EffectSkipped::Limited => "earning_limit_exceeded",
            EffectSkipped::NoIncentive => "incentive_not_found",
            EffectSkipped::InactiveIncentive => "incentive_not_active",
            EffectSkipped::OutOfStock => "out_of_stock",
            EffectSkipped::Unreadable => "unreadable",
        }
    }
}

impl NotEarned {
    /// Returns the name in estimates.
    pub fn name(&self) -> &'static str {
        match self {
            NotEarned::Repeated => "already_earned",
            NotEarned::Unreadable => "unreadable",
            NotEarned::Inactive => "not_active",
            NotEarned::OutOfTime => "out_of_time",
            NotEarned::OtherTrigger => "other_trigger",
            NotEarned::LimitRefusal(LimitRefusal::Until(_)) => "cooldown",
            NotEarned::LimitRefusal(LimitRefusal::Exhausted) => "frequency_exhausted",
            NotEarned::NoMatch(_) => "no_earning_matches",
        }
    }
}
