//! Defines the set of request parts that tests need.

/// A set of request parts that tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequiredFacts(u16);

impl RequiredFacts {
    /// Nothing.
    pub const NOTHING: RequiredFacts = RequiredFacts(0);
    /// The customer.
    pub const CUSTOMER: RequiredFacts = RequiredFacts(1);
    /// The order.
    pub const ORDER: RequiredFacts = RequiredFacts(2);
    /// Lines of the order.
    pub const LINES: RequiredFacts = RequiredFacts(4);
    /// The order after the redeemable itself.
    pub const AFTER: RequiredFacts = RequiredFacts(8);
    /// Metadata of products and SKUs.
    pub const GOODS_DATA: RequiredFacts = RequiredFacts(16);
    /// The order amount.
    pub const AMOUNT: RequiredFacts = RequiredFacts(32);
    /// The redemption, its channel, or counts.
    pub const REDEMPTION: RequiredFacts = RequiredFacts(64);
    /// Budgets and limits per customer, which qualifications skip.
    pub const BUDGET: RequiredFacts = RequiredFacts(128);
    /// An event or a member of a program, which only earning has.
    pub const EARNING: RequiredFacts = RequiredFacts(256);
    /// Collections of goods, also those of a scope or a bundle.
    pub const COLLECTIONS: RequiredFacts = RequiredFacts(512);
    /// A product bundle, which no test uses; only the needs of offers contain it.
    pub const BUNDLE: RequiredFacts = RequiredFacts(1024);

    /// The key or the user of the request.
    pub const CHANNEL: RequiredFacts = RequiredFacts(2048);

    /// Returns the union.
    pub const fn and(self, other: RequiredFacts) -> RequiredFacts {
        RequiredFacts(self.0 | other.0)
    }

    /// Returns whether the sets intersect.
    pub fn meets(self, other: RequiredFacts) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether it contains all of the other.
    pub fn covers(self, other: RequiredFacts) -> bool {
        self.0 & other.0 == other.0
    }
}
