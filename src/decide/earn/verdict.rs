//! Decides what is told of an event: which rules fired with what they gave, and of every other why it did not. It must not know how
//! that was found.

use crate::facts::earning::Thing;
use crate::points::Expiration;
use crate::points::limits::Resting;
use crate::text::Text;
use std::collections::BTreeSet;

/// What an event earns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Earnings {
    /// Why nobody was asked, when nobody was.
    pub idle: Option<Idle>,
    /// What each membership of the customer has of it.
    pub memberships: Vec<MemberEarnings>,
}

impl Earnings {
    /// What fired: the membership, the rule and what it gave.
    pub fn firings(&self) -> impl Iterator<Item = (&MemberEarnings, &RuleOutcome, &Firing)> {
        self.memberships.iter().flat_map(|member| {
            member.rules.iter().filter_map(move |rule| {
                let firing = rule.outcome.as_ref().ok().filter(|firing| firing.counts())?;
                Some((member, rule, firing))
            })
        })
    }

    /// The cards to which points go, each once.
    pub fn cards(&self) -> Vec<&str> {
        let given = self.firings().flat_map(|(_, _, firing)| firing.effects.iter().flatten());
        let cards = given.filter_map(|granted| match &granted.gift {
            Gift::Points(points) => Some(points.card_id.as_str()),
            Gift::Thing(_) => None,
        });
        cards.collect::<BTreeSet<&str>>().into_iter().collect()
    }
}

/// What a membership has of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberEarnings {
    /// The member.
    pub member_id: Text,
    /// The program.
    pub program_id: Text,
    /// Why none of its rules was asked, when none was.
    pub idle: Option<Idle>,
    /// What became of its rules, in their order.
    pub rules: Vec<RuleOutcome>,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleOutcome {
    /// The rule.
    pub rule_id: Text,
    /// What it gave, or why it did not fire.
    pub outcome: Result<Firing, Idle>,
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq)]
pub struct Firing {
    /// The earning that matched.
    pub earning_id: Text,
    /// What became of its effects, in their order.
    pub effects: Vec<Result<Granted, Withheld>>,
}

impl Firing {
    /// Whether it gave anything: one that did not is no firing to the limits of its rule.
    pub fn counts(&self) -> bool {
        self.effects.iter().any(Result::is_ok)
    }
}

/// What an effect gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The incentive by which it did, of which there is one less.
    pub incentive_id: Option<Text>,
    /// What.
    pub gift: Gift,
}

/// What was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gift {
    /// Points.
    Points(GrantedPoints),
    /// Something that is handed over.
    Thing(Thing),
}

/// Points for a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedPoints {
    /// The card.
    pub card_id: Text,
    /// Its definition.
    pub card_definition_id: Text,
    /// How many.
    pub points: u64,
    /// How many there would be without limits.
    pub uncapped: u64,
    /// How they lapse, where it is not as the definition says.
    pub expiration: Option<Expiration>,
}

/// Why a rule, a membership or a whole event earns nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Idle {
    /// The occasion has earned before.
    Repeated,
    /// Something that it asks is there and cannot be read, or nobody can say it.
    Unreadable,
    /// The member, the program or the rule is in another state.
    Inactive,
    /// It has not begun, or is over, or these are not its hours.
    OutOfTime,
    /// It is about something else.
    OtherTrigger,
    /// It fired before.
    Resting(Resting),
    /// None of its earnings matches: why each does not.
    NoMatch(Vec<Mismatch>),
}

/// Why an earning does not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// The member holds none of its tiers.
    Tier,
    /// This test of its rules fails, by its key.
    Rule(Option<Text>),
    /// A collection or a segment that its rules name cannot be read.
    Unreadable,
}

/// Why an effect gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Withheld {
    /// It comes to no points.
    NoPoints,
    /// What it is proportional to is not there, or is no number.
    NoNumber,
    /// It comes to more points than a card can have.
    TooMany,
    /// The member has no card of the definition.
    NoCard,
    /// The limits of the card leave no room.
    Limited,
    /// There is no such incentive.
    NoIncentive,
    /// The incentive is in another state.
    InactiveIncentive,
    /// There is none left.
    OutOfStock,
    /// Something that it asks is there and cannot be read, or nobody can say it.
    Unreadable,
}

impl Withheld {
    /// As the transaction tells it (`details.rejection.reason`).
    pub fn word(self) -> &'static str {
        match self {
            Withheld::NoPoints => "no_points",
            Withheld::NoNumber => "missing_number",
            Withheld::TooMany => "too_many_points",
            Withheld::NoCard => "missing_card",
            Withheld::Limited => "earning_limit_exceeded",
            Withheld::NoIncentive => "incentive_not_found",
            Withheld::InactiveIncentive => "incentive_not_active",
            Withheld::OutOfStock => "out_of_stock",
            Withheld::Unreadable => "unreadable",
        }
    }
}

impl Idle {
    /// As it is told to whoever examines.
    pub fn word(&self) -> &'static str {
        match self {
            Idle::Repeated => "already_earned",
            Idle::Unreadable => "unreadable",
            Idle::Inactive => "not_active",
            Idle::OutOfTime => "out_of_time",
            Idle::OtherTrigger => "other_trigger",
            Idle::Resting(Resting::Until(_)) => "cooldown",
            Idle::Resting(Resting::Exhausted) => "frequency_exhausted",
            Idle::NoMatch(_) => "no_earning_matches",
        }
    }
}
