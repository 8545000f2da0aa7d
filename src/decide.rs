//! Decides requests: validate, redeem, roll back. It must not know JSON, HTTP or how anything is stored.

pub mod belief;
pub mod caps;
pub mod case;
pub mod check;
mod combination;
pub mod concealed;
pub mod earn;
pub mod finding;
pub mod formula_inputs;
mod hidden;
pub mod items;
pub mod judge;
mod lock;
pub mod loyalty;
pub mod payment;
pub mod postings;
pub mod purchase;
pub mod qualify;
pub mod redeem;
pub mod referral;
mod resolve;
pub mod returned;
pub mod rollback;
pub mod rule_input;
pub mod running;
pub mod tally;
mod unit_goods;
pub mod validate;
mod workload;

pub use belief::receive;
pub use case::Case;
pub use qualify::{Qualified, qualify};
pub use redeem::{Redeemed, RedeemedPart, promised, redeem};
pub use referral::Referral;
pub use rollback::{RollBack, RolledBack, rollback};
pub use tally::{Counted, OrderCount, Tally};
pub use validate::{Evaluated, SessionAnswer, Validated, validate};

use crate::ledger::Entry;
use crate::model::customer::Customer;
use crate::text::Text;

/// An answer, and what is to be written down because of it. How it came about is told from the answer's own steps.
#[derive(Debug, Clone)]
pub struct Decision<A> {
    /// What the caller is told.
    pub answer: A,
    /// What the host writes, all or nothing; `None` for an answer that changes nothing.
    pub changes: Option<Box<Changes>>,
}

/// What is to be written down besides the documents of the answer itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Lines of the ledger, in order.
    pub entries: Vec<Entry>,
    /// Rewards that are vouchers or credits, which the host hands over in the same commit.
    pub grants: Vec<RewardGrant>,
    /// Codes that a customer passed on and another redeemed.
    pub referrals: Vec<Referral>,
    /// The customer as the request knows them; the host merges this into what it has.
    pub customer: Option<Box<Customer>>,
    /// What is added to the counts of redemptions in the summary of whoever redeems.
    pub tally: Tally,
    /// What is added to the counts of orders in the summaries of those whose the order is and was.
    pub orders: Vec<OrderCount>,
}

/// A reward that is a code of a campaign, or more on the card that the customer has of it (calculation.md section 10.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardGrant {
    /// The redemption that it belongs to.
    pub redemption_id: Text,
    /// The reward.
    pub reward_id: Text,
    /// The campaign.
    pub campaign_id: Text,
    /// Gift credits in minor units, or points; `None` for a discount coupon.
    pub balance: Option<u64>,
    /// Who gets it: the holder of the card.
    pub customer_id: Option<Text>,
}
