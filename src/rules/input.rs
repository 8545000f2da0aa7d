//! Decides what a rule gets to look at. It must not know what any rule says.

use std::ops::Deref;

use crate::model::order::Metadata;
use crate::money::Money;
use crate::rules::basket::Basket;
use crate::rules::compare::Clock;
use crate::rules::kind::{Counter, Period};
use crate::rules::needs::Needs;
use crate::text::Text;

/// What is fetched only when a test asks. Whoever answers notes what only the server knows.
pub trait RuleFacts {
    /// What is left of the order amount.
    fn amount(&self) -> Option<Money>;
    /// The figures of a line as it stands now.
    fn figures(&self, line: usize) -> Figures;
    /// Custom data of the SKU and the product of a line, the first that has the property counts.
    fn goods_data(&self, line: usize, property: &str) -> [Option<&Metadata>; 4];
    /// Whether the customer is in this segment; `None` when nobody can say: then no test of it holds.
    fn is_in_segment(&self, id: &str) -> Option<bool>;
    /// Whether the customer is in this loyalty tier; `None` when nobody can say: then no test of it holds.
    fn is_in_tier(&self, id: &str) -> Option<bool>;
    /// Whether the code was published to the customer, though nobody holds it: a code for many has no holder. Only a redeemable asks.
    fn is_published(&self) -> bool {
        false
    }
    /// What is counted, this attempt included; `None` when only the server knows: then a limit holds.
    fn count(&self, counter: Counter, period: Period) -> Option<u64>;
}

/// A line as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Unit price.
    pub price: Option<Money>,
    /// Units.
    pub quantity: u64,
    /// What is left to pay, discounts of the line off; `None` when nothing says the amount.
    pub subtotal: Option<Money>,
}

/// What stays as it is while a request is decided.
#[derive(Clone, Copy)]
pub struct RequestFacts<'a> {
    /// What time it is, and where.
    pub clock: Clock<'a>,
    /// The customer's custom data; `None` when there is no customer.
    pub customer: Option<&'a Metadata>,
    /// Whether it can be said who the customer is, so that what is counted of one customer means anything.
    pub identified: bool,
    /// The order's custom data; `None` when there is no order.
    pub order: Option<&'a Metadata>,
    /// The order amount before any discount.
    pub initial_amount: Option<Money>,
    /// Custom data of the redemption.
    pub redemption: &'a Metadata,
    /// The id of the caller's key, and the login of its user.
    pub channel: [Option<&'a str>; 2],
}

/// What only earning points has.
#[derive(Debug, Clone, Copy)]
pub struct EarningInput<'a> {
    /// The tiers that the customer holds, by id.
    pub tiers: &'a [Text],
    /// The member's custom data.
    pub member: &'a Metadata,
    /// The custom event's, when one is what happened.
    pub event: Option<&'a Metadata>,
}

/// What a rule can look at while one redeemable is checked.
#[derive(Clone, Copy)]
pub struct RuleInput<'a> {
    /// What does not depend on the redeemable.
    pub request_facts: &'a RequestFacts<'a>,
    /// Whether the customer holds the code.
    pub linked: bool,
    /// What is left of the order amount after the redeemable itself; only there when rules are checked for the second time.
    pub after: Option<Money>,
    /// The lines; none when there is no order.
    pub items: Basket<'a>,
    /// Tests that look at any of these hold without being asked; qualifications pass over some.
    pub passes: Needs,
    /// What only earning has; nothing where something is redeemed.
    pub earning: Option<EarningInput<'a>>,
    /// What is fetched when it is needed.
    pub facts: &'a dyn RuleFacts,
}

impl RuleInput<'_> {
    /// Whether the code was published to the customer.
    pub fn is_linked(&self) -> bool {
        self.linked || self.facts.is_published()
    }
}

impl<'a> Deref for RuleInput<'a> {
    type Target = RequestFacts<'a>;

    fn deref(&self) -> &RequestFacts<'a> {
        self.request_facts
    }
}

/// Lines of an order as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines([u64; 8]);

impl Lines {
    /// No line.
    pub const NONE: Lines = Lines([0; 8]);

    /// Those lines of an order of `count` that pass.
    pub fn of(count: usize, mut test: impl FnMut(usize) -> bool) -> Lines {
        let mut lines = Lines::NONE;
        for (word, start) in lines.0.iter_mut().zip((0..count).step_by(64)) {
            for bit in 0..64_usize.min(count.saturating_sub(start)) {
                if test(start.saturating_add(bit)) {
                    *word |= 1 << bit;
                }
            }
        }
        lines
    }

    /// Puts a line among them.
    pub fn add(&mut self, line: usize) {
        if let Some(word) = self.0.get_mut(line >> 6) {
            *word |= 1 << (line & 63);
        }
    }

    /// Whether a line is among them.
    pub fn has(&self, line: usize) -> bool {
        self.0.get(line >> 6).is_some_and(|word| word >> (line & 63) & 1 == 1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}
