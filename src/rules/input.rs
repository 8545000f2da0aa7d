//! Defines the input of rules.

use std::ops::Deref;

use crate::count::Countable;
use crate::model::order::Metadata;
use crate::money::Money;
use crate::rules::compare::Clock;
use crate::rules::kind::{CountPeriod, Counter};
use crate::rules::needs::RequiredFacts;
use crate::rules::order_lines::OrderLines;
use crate::text::Text;

/// Facts that are loaded only when a test needs them. The implementation records the facts that only the server has.
pub trait RuleFacts {
    /// Returns the remaining order amount.
    fn amount(&self) -> Option<Money>;
    /// Returns the present amounts of a line.
    fn line_amounts(&self, line: usize) -> LineAmounts;
    /// Returns metadata of the SKU and the product of a line; the first with the property counts.
    fn goods_data(&self, line: usize, property: &str) -> [Option<&Metadata>; 4];
    /// Returns whether the goods of a line are in a set of a bundle. Data of the SKU come before those of the product; `without` says whether
    /// goods without such data are in it, if that is known.
    fn is_in_goods_set(&self, _line: usize, _number: u64, _without: Option<bool>) -> bool {
        false
    }
    /// Returns whether the known metadata of the customer is complete; otherwise no test of absent data passes.
    fn is_customer_data_complete(&self) -> bool {
        true
    }
    /// Returns whether the customer is in this segment; `None` if that is unknown: then no test of it passes.
    fn is_in_segment(&self, id: &str) -> Option<bool>;
    /// Returns whether the customer is in this loyalty tier; `None` if that is unknown: then no test of it passes.
    fn is_in_tier(&self, id: &str) -> Option<bool>;
    /// Records that a test of segments or tiers passed.
    fn record_passed_membership(&self) {}
    /// Returns whether the customer meets the condition of this number; `None` if that is unknown: then no test of it
    /// passes.
    fn meets_condition(&self, _number: &str) -> Option<bool> {
        None
    }
    /// Returns whether the code was published to the customer without being its holder: a code for many has no holder.
    /// Only redeemables need it.
    fn is_published(&self) -> bool {
        false
    }
    /// Returns a count, including this attempt; `None` if only the server knows: then a limit passes.
    fn count(&self, counter: Counter, period: CountPeriod) -> Option<u64>;
}

/// The present amounts of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineAmounts {
    /// Unit price.
    pub price: Option<Money>,
    /// Units.
    pub quantity: u64,
    /// The remaining amount, less discounts of the line; `None` if the amount is unknown.
    pub subtotal: Option<Money>,
}

/// The facts that do not change while a request is decided.
#[derive(Clone, Copy)]
pub struct RequestFacts<'a> {
    /// The present instant and the time zone.
    pub clock: Clock<'a>,
    /// The customer's metadata; `None` without a customer.
    pub customer: Option<&'a Metadata>,
    /// `true` if the customer can be identified, so that counts per customer are meaningful.
    pub identified: bool,
    /// The order's metadata; `None` without an order.
    pub order: Option<&'a Metadata>,
    /// The order amount before any discount.
    pub initial_amount: Option<Money>,
    /// Metadata of the redemption.
    pub redemption: &'a Metadata,
    /// The id of the caller's key, and the login of its user.
    pub channel: [Option<&'a str>; 2],
}

/// Data that only earning points has.
#[derive(Debug, Clone, Copy)]
pub struct EarningInput<'a> {
    /// The tiers of the customer, by id.
    pub tiers: &'a [Text],
    /// The member's metadata.
    pub member: &'a Metadata,
    /// The custom event's metadata, if the event is one.
    pub event: Option<&'a Metadata>,
}

/// The input of a rule while one redeemable is checked.
#[derive(Clone, Copy)]
pub struct RuleInput<'a> {
    /// The facts that do not depend on the redeemable.
    pub request_facts: &'a RequestFacts<'a>,
    /// `true` if the customer is the holder of the code.
    pub linked: bool,
    /// The remaining order amount after the redeemable itself; only set for the second check of rules.
    pub after: Option<Money>,
    /// The lines; empty without an order.
    pub items: OrderLines<'a>,
    /// Tests that need any of these facts pass without evaluation; qualifications skip some.
    pub passes: RequiredFacts,
    /// Data that only earning has; `None` for a redemption.
    pub earning: Option<EarningInput<'a>>,
    /// Facts that are loaded when needed.
    pub facts: &'a dyn RuleFacts,
}

impl RuleInput<'_> {
    /// Returns whether the code was published to the customer.
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

/// A set of order lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines([u64; 8]);

impl Lines {
    /// The empty set.
    pub const NONE: Lines = Lines([0; 8]);

    /// Returns the lines of an order of `count` that pass a test.
    pub fn of(count: usize, mut test: impl FnMut(usize) -> bool) -> Lines {
        let mut lines = Lines::NONE;
        for (word, start) in lines.0.iter_mut().zip((0..count).step_by(64)) {
            for bit in 0..64_usize.min(count.remaining_after(start)) {
                // At most 512 lines.
                if test(start.saturating_add(bit)) {
                    *word |= 1 << bit;
                }
            }
        }
        lines
    }

    /// Adds a line.
    pub fn add(&mut self, line: usize) {
        if let Some(word) = self.0.get_mut(line >> 6) {
            *word |= 1 << (line & 63);
        }
    }

    /// Returns whether the set contains a line.
    pub fn has(&self, line: usize) -> bool {
        self.0.get(line >> 6).is_some_and(|word| word >> (line & 63) & 1 == 1)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}
