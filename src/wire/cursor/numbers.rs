//! Reads numbers: unsigned, signed, rounded, amounts and percentages.

use super::JsonCursor;
use crate::json::Node;
use crate::money::{LARGEST, Money, Percent};
use crate::text::Decimal;

/// The bound of whole numbers; its end is [`LARGEST`].
const MUST_BE_INTEGER: &str = "must be an integer from 0 to 9007199254740991";

impl JsonCursor<'_> {
    /// Returns the signed integer, without reporting a problem.
    pub fn integer(&self) -> Option<i64> {
        self.node.as_i64().filter(|number| number.unsigned_abs() <= LARGEST.unsigned_abs())
    }

    /// Returns the unsigned integer, without reporting a problem.
    pub fn number(&self) -> Option<u64> {
        self.node.as_i64().filter(|number| *number <= LARGEST).and_then(|number| u64::try_from(number).ok())
    }

    /// Returns a number with at most 6 decimals, rounded up or down to an integer.
    pub fn rounded(&self, up: bool) -> Option<u64> {
        let Node::Fraction(text) = self.node else { return self.number() };
        let millionths = Decimal::read(text).filter(|read| !read.negative)?.times_ten_to(6)?;
        let units = if up { millionths.div_ceil(1_000_000) } else { millionths.checked_div(1_000_000)? };
        u64::try_from(units).ok()
    }

    /// Returns an integer from 0 to the largest that is exact everywhere.
    #[inline(never)]
    pub fn whole_number(&self) -> u64 {
        self.or_wrong(self.number(), MUST_BE_INTEGER)
    }

    /// Returns a number of units: an integer, or a text with one (docs/spec/calculation.md#2.2).
    #[inline(never)]
    pub fn quantity(&self) -> u64 {
        match self.node {
            Node::Text(text) => {
                let number = text.parse().ok().filter(|number| (0..=LARGEST).contains(number));
                self.or_wrong(number.and_then(|number| u64::try_from(number).ok()), MUST_BE_INTEGER)
            }
            _ => self.whole_number(),
        }
    }

    /// Returns an amount in minor units.
    #[inline(never)]
    pub fn money(&self) -> Money {
        Money::from_wide(u128::from(self.whole_number())).unwrap_or_default()
    }

    /// Returns a percentage.
    #[inline(never)]
    pub fn percent(&self) -> Percent {
        let read = match self.node {
            Node::Integer(number) => Percent::parse(&number.to_string()),
            Node::Fraction(text) => Percent::parse(text),
            Node::Text(text) => Percent::parse(text),
            _ => None,
        };
        self.or_wrong(read, "must be a number from 0 to 100 with at most 6 decimals")
    }
}
