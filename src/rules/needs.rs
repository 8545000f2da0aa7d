//! Decides what of a request tests can look at, and keeps it as a set. It must not know which test looks at what.

/// What tests look at, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Needs(u16);

impl Needs {
    /// Nothing.
    pub const NOTHING: Needs = Needs(0);
    /// The customer.
    pub const CUSTOMER: Needs = Needs(1);
    /// The order.
    pub const ORDER: Needs = Needs(2);
    /// Lines of the order.
    pub const LINES: Needs = Needs(4);
    /// What the redeemable itself leaves of the order.
    pub const AFTER: Needs = Needs(8);
    /// Custom data of products and SKUs.
    pub const GOODS_DATA: Needs = Needs(16);
    /// The order amount.
    pub const AMOUNT: Needs = Needs(32);
    /// The redemption, its channel, or counts.
    pub const REDEMPTION: Needs = Needs(64);
    /// Budgets and limits per customer, which qualifications pass over.
    pub const BUDGET: Needs = Needs(128);
    /// An event or a member of a programme, which only earning has.
    pub const EARNING: Needs = Needs(256);
    /// Collections of goods, also those of a scope or a bundle.
    pub const COLLECTIONS: Needs = Needs(512);
    /// A bundle of goods, which no test asks for; only what offers need says it.
    pub const BUNDLE: Needs = Needs(1024);

    /// Both.
    pub const fn and(self, other: Needs) -> Needs {
        Needs(self.0 | other.0)
    }

    /// Whether they have anything in common.
    pub fn meets(self, other: Needs) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it has all of the other.
    pub fn covers(self, other: Needs) -> bool {
        self.0 & other.0 == other.0
    }
}
