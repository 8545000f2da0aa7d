//! Decides what a rule can say. It must not know how a rule is written or what it is about at a given moment.

use std::fmt;

use crate::model::scope::{GoodsRef, Scope};
use crate::money::Money;
use crate::rules::logic::Expression;
use crate::text::Text;

/// A validation rule as it is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Assigned by the service.
    pub id: Text,
    /// Its tests by key, in key order.
    pub leaves: Vec<Leaf>,
    /// How the tests combine.
    pub logic: Expression,
    /// The text shown when a test without one of its own fails.
    pub message: Option<String>,
    /// The lines that the grant is about.
    pub scope: Scope,
}

/// One numbered test of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Its key, as the logic names it.
    pub key: Text,
    /// What it tests.
    pub test: Test,
    /// The text shown when it fails.
    pub message: Option<String>,
}

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Test {
    /// What is left of the order amount when this redeemable is checked.
    OrderAmount(Vec<Condition<Money>>),
    /// The order amount before any discount.
    OrderInitialAmount(Vec<Condition<Money>>),
    /// A metadata value of the customer.
    CustomerMetadata(Text, Vec<Condition<Operand>>),
    /// At least one line is one of these.
    AnyItem(Vec<GoodsRef>),
    /// Every line is one of these.
    EveryItem(Vec<GoodsRef>),
    /// No line is one of these.
    NoItem(Vec<GoodsRef>),
}

impl Test {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Test::OrderAmount(_) => "order.amount",
            Test::OrderInitialAmount(_) => "order.initial_amount",
            Test::CustomerMetadata(..) => "customer.metadata",
            Test::AnyItem(_) => "order.items.any",
            Test::EveryItem(_) => "order.items.every",
            Test::NoItem(_) => "order.items.none",
        }
    }
}

/// An operator with its operands; all conditions of a test must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Condition<T> {
    /// How to compare.
    pub operator: Operator,
    /// With what; single-valued operators use the first.
    pub operands: Vec<T>,
}

/// How a found value is compared with the wanted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Equal to one of them.
    In,
    /// Equal to none of them.
    NotIn,
    /// Below.
    LessThan,
    /// Below or equal.
    LessThanOrEqual,
    /// Above.
    MoreThan,
    /// Above or equal.
    MoreThanOrEqual,
}

impl Operator {
    /// The operator of this name on the wire, aliases included (validation-rules.md section 3).
    pub fn parse(name: &str) -> Option<Operator> {
        Some(match name {
            "$is" | "$in" => Operator::In,
            "$is_not" | "$not_in" => Operator::NotIn,
            "$less_than" => Operator::LessThan,
            "$less_than_or_equal" | "$less_than_equal" => Operator::LessThanOrEqual,
            "$more_than" | "$greater_than" => Operator::MoreThan,
            "$more_than_or_equal" | "$more_than_equal" | "$greater_than_or_equal" => Operator::MoreThanOrEqual,
            _ => return None,
        })
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Operator::In => "is one of",
            Operator::NotIn => "is none of",
            Operator::LessThan => "is less than",
            Operator::LessThanOrEqual => "is at most",
            Operator::MoreThan => "is more than",
            Operator::MoreThanOrEqual => "is at least",
        })
    }
}

/// A metadata value that a rule compares with. Numbers are whole here; texts that hold a number compare as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A text.
    Text(Text),
    /// A whole number.
    Number(i64),
    /// Yes or no.
    Flag(bool),
}
