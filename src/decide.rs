//! Decides requests: validate, qualify, redeem, roll back, return and earn.

pub mod best;
pub mod case;
pub mod check;
pub mod client_order;
pub mod client_refusals;
pub mod client_trust;
mod customer_conditions;
pub mod earn;
pub mod finding;
pub mod items;
pub mod judge;
pub mod loyalty;
pub mod order_return;
pub mod payment;
pub mod postings;
pub mod purchase;
pub mod qualify;
pub mod redeem;
pub mod referral;
pub mod request_usage;
mod resolve;
pub mod return_order;
pub mod returns;
pub mod rollback;
pub mod rule_input;
pub mod summary_delta;
pub mod validate;

pub use best::BestStack;
pub use case::Case;
pub use client_trust::{receive, with_proven_customer};
pub use customer_conditions::met_conditions;
pub use order_return::answer::{ReturnAnswer, ReturnRequest};
pub use qualify::prices::{GoodsPrice, find_prices};
pub use qualify::{QualificationAnswer, qualify, qualify_offline};
pub use redeem::{
    NewCustomer, RedeemedPart, RedemptionCounts, RedemptionDecision, count_redemption, expected_grants, redeem,
};
pub use referral::Referral;
pub use return_order::return_items;
pub use rollback::{RollbackDecision, RollbackRequest, rollback};
pub use summary_delta::{CountedAs, OrderCount, SummaryDelta};
pub use validate::{Evaluation, SessionAnswer, ValidationDecision, validate, validate_offline};

use crate::ledger::Entry;
use crate::model::customer::Customer;
use crate::text::Text;

/// An answer and the changes to store with it. The steps of the answer explain the decision.
#[derive(Debug, Clone)]
pub struct Decision<A> {
    /// The answer for the caller.
    pub answer: A,
    /// The writes of the host, all or none; `None` for an answer that changes nothing.
    pub changes: Option<Box<Effects>>,
}

/// Changes to store in addition to the documents of the answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Entries of the ledger, in order.
    pub entries: Vec<Entry>,
    /// Rewards that are vouchers or credits; the host fulfils them in the same commit.
    pub grants: Vec<RewardGrant>,
    /// Referral codes that were passed on and redeemed by another customer.
    pub referrals: Vec<Referral>,
    /// The customer as the request describes them; the host merges this into the stored profile.
    pub customer: Option<Box<Customer>>,
    /// Increments for the redemption counts in the summary of the redeeming customer.
    pub summary_delta: SummaryDelta,
    /// Increments for the order counts in the summaries of the order's present and former customers.
    pub orders: Vec<OrderCount>,
}

/// A reward that is a code of a campaign, or a credit on the card that the customer has of it
/// (docs/spec/calculation.md#10.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardGrant {
    /// The redemption that the reward belongs to.
    pub redemption_id: Text,
    /// The reward.
    pub reward_id: Text,
    /// The campaign.
    pub campaign_id: Text,
    /// Gift credits in minor units, or points; `None` for a discount coupon.
    pub balance: Option<u64>,
    /// The receiver: the holder of the card.
    pub customer_id: Option<Text>,
}
