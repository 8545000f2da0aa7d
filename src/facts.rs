//! Defines how a decision loads facts. A fact is present, absent, unknown or unreadable; unknown facts allow decisions
//! without the server.

pub mod accounts;
pub mod candidates;
pub mod cards;
pub mod earning;
pub mod kept_counts;
pub mod known;
pub mod offer;
pub mod purchase;

pub use accounts::*;
pub use candidates::{CandidateEntry, CandidateFilter, Candidates, ValidityBounds, listed_time_of_stack};
pub use kept_counts::*;
pub use known::{Fact, Known};
pub use offer::{Exchange, Offer};

use crate::budget::StepBudget;
use crate::json::Node;
use crate::ledger::{AccountId, HoldOwner, Transfer};
use crate::model::client::PublicMetadata;
use crate::model::customer::{Customer, ProfilePart};
use crate::model::order::{Goods, Metadata, Order};
use crate::model::promotion::PromotionStack;
use crate::model::redeemable::{Campaign, Category, RedeemableTerms};
use crate::model::redemption::StoredRedemption;
use crate::model::request::RequestedRedeemable;
use crate::model::reward::{BoughtReward, Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::points::campaign_tiers::CampaignTier;
use crate::rules::{Collection, Rule, Segment};
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// A rule assigned to an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    /// Its id.
    pub id: Text,
    /// The rule.
    pub rule_id: Text,
    /// The object that the rule guards, by id or code.
    pub related_object_id: Text,
    /// The type of the object, as sent.
    pub related_object_type: Text,
}

/// The settings of a project that are known; a default replaces an unknown one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KnownSettings {
    /// The time zone.
    pub time_zone: bool,
    /// The stacking rules.
    pub stacking_rules: bool,
}

/// The part of a customer's summary that some orders and redemptions account for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SummaryCounts {
    /// Paid orders.
    pub orders: i64,
    /// Their total, in minor units.
    pub order_total: i64,
    /// Redemptions that are not rolled back.
    pub redeemed: i64,
    /// Redemptions that succeeded, including those that were rolled back.
    pub succeeded: i64,
}

/// Read-only, synchronous access to all facts that a decision may need.
pub trait Facts {
    /// Returns the step budget of a decision. Facts that serve several decisions of one request return the rest of it.
    fn budget(&self) -> StepBudget {
        StepBudget::default()
    }
    /// Returns the instant at which offers must have started and not ended; `None` for that of the decision.
    fn in_force_at(&self) -> Option<Instant> {
        None
    }
    /// Returns the project's stacking rules.
    fn stacking_rules(&self) -> Fact<'_, StackingRules>;
    /// Returns the project's time zone.
    fn time_zone(&self) -> Fact<'_, TimeZone>;
    /// Announces the redeemables of a request, so that a store can load all of them at once.
    fn expect_redeemables(&self, _redeemables: &[RequestedRedeemable]) {}
    /// Returns a voucher by code or id.
    fn voucher(&self, code: &str) -> Known<Fact<'_, RedeemableTerms>>;
    /// Returns a promotion tier by id.
    fn tier(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>>;
    /// Returns a complete offer that was built beforehand, of a voucher by code or id, or of a tier by id.
    fn offer(&self, _named: &RequestedRedeemable) -> Option<&Offer<'_>> {
        None
    }
    /// Returns a promotion stack by id.
    fn stack(&self, id: &str) -> Known<Fact<'_, PromotionStack>>;
    /// Returns a reward by id.
    fn reward(&self, id: &str) -> Known<Fact<'_, Reward>>;
    /// Returns the assignment of a reward to the cards of a campaign.
    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Fact<'_, RewardAssignment>>;
    /// Returns the tier of a card in its loyalty campaign, which may change prices of rewards.
    fn campaign_tier(&self, _card: &RedeemableTerms) -> Known<Fact<'_, CampaignTier>> {
        Known::Absent
    }
    /// Returns a campaign by id.
    fn campaign(&self, id: &str) -> Known<Fact<'_, Campaign>>;
    /// Returns a category by id.
    fn category(&self, id: &str) -> Known<Fact<'_, Category>>;
    /// Returns the rules assigned to only this object, by its id.
    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>>;
    /// Returns the rules assigned to a voucher or tier and to its campaign.
    fn rules(&self, voucher: &RedeemableTerms) -> Known<Vec<Fact<'_, Rule>>>;
    /// Returns a segment by id.
    fn segment(&self, id: &str) -> Known<Fact<'_, Segment>>;
    /// Returns a collection of products and SKUs by id.
    fn collection(&self, id: &str) -> Known<Fact<'_, Collection>>;
    /// Returns a customer by id or `source_id`.
    fn customer(&self, key: &str) -> Known<Fact<'_, Customer>>;
    /// Returns the customer with an e-mail address in folded case: the one created first.
    fn customer_by_email(&self, email: &str) -> Known<Fact<'_, Customer>>;
    /// Returns the members of a stored customer's profile that contain the balances of their cards, as of now; absent if
    /// the profile itself has them.
    fn card_balances(&self, _customer: &str) -> Known<Fact<'_, Node<'static>>> {
        Known::Absent
    }
    /// Returns the loyalty tiers of a customer, by the customer's id.
    fn tiers(&self, customer: &str) -> Known<Vec<Text>>;
    /// Returns whether a customer, by id, meets the condition of this number, as the rules of a bundle have them. The
    /// rules of the service itself contain the conditions.
    fn customer_condition(&self, _customer: &str, _number: &str) -> Known<bool> {
        Known::Unknown
    }
    /// Returns whether that result stays the same if a request sends this part of the profile.
    fn is_condition_independent_of(&self, _customer: &str, _number: &str, _part: ProfilePart) -> bool {
        false
    }
    /// Returns whether a customer without known data meets the condition of this number when the customer is new.
    fn new_customer_condition(&self, _number: &str) -> Known<bool> {
        Known::Unknown
    }
    /// Returns whether the facts have the whole profile of a stored customer, by id, and not only some results.
    fn knows_profile(&self, _customer: &str) -> bool {
        true
    }
    /// Returns the number of custom events of this name of a customer, by the customer's id.
    fn event_count(&self, customer: &str, event: &str) -> Known<u64>;
    /// Returns a stored order by id or `source_id`.
    fn order(&self, key: &str) -> Known<Fact<'_, Order>>;
    /// Announces that the goods of these lines will be needed, so that a store can load all of them at once.
    fn expect_goods(&self, _order: &Order) {}
    /// Returns a product of the catalogue by id or `source_id`.
    fn product(&self, key: &str) -> Known<Fact<'_, Goods>>;
    /// Returns a SKU of the catalogue by id or `source_id`.
    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>>;
    /// Returns the metadata of the latest publication of a voucher to a customer, both by id.
    fn publication(&self, voucher_id: &str, customer_id: &str) -> Known<Fact<'_, Metadata>>;
    /// Returns the net of all transfers of an account.
    fn balance(&self, account: &AccountId) -> Known<i64>;
    /// Returns the units that left or reached an account since an instant, by transfers that were not reversed.
    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64>;
    /// Returns the part of a customer's summary, by the customer's id, from orders and redemptions made after an
    /// instant.
    fn later_counts(&self, customer_id: &str, after: Instant) -> Known<SummaryCounts>;
    /// Returns the units of an account under unexpired holds of other sessions than `own`.
    fn held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Known<u64>;
    /// Returns a redemption by id.
    fn redemption(&self, id: &str) -> Known<Fact<'_, StoredRedemption>>;
    /// Returns the transfers of a redemption that were not reversed, in order, with their remaining amounts.
    fn chain(&self, id: &str) -> Known<Vec<Transfer>>;
    /// Returns the voucher that a redemption of points bought; absent if it bought none.
    fn bought_reward(&self, redemption: &StoredRedemption) -> Known<BoughtReward>;
    /// Returns the candidates of a qualification, newest first: at least those that pass the filter.
    fn candidates(&self, filter: &CandidateFilter<'_>) -> Known<Fact<'_, Candidates>>;
    /// Returns how many codes of a campaign can still be published; `None` without a limit, as for a campaign that
    /// generates them.
    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>>;
    /// Returns whether a customer is the holder of a card of a campaign, to which a reward adds.
    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool>;
    /// Returns the terms of a future code of a campaign, by the campaign's id.
    fn campaign_voucher(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>>;
    /// Returns the rules assigned to any of these objects, by id or code.
    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>>;
    /// Returns the tracking id of a customer's `source_id`; only the server has the key. A text in the form of a tracking
    /// id is returned unchanged.
    fn tracking_id(&self, source_id: &str) -> Known<Text>;
    /// Returns whether the channel through which the server gets the request is known.
    fn knows_channel(&self) -> bool {
        true
    }
    /// Returns which settings are known to be the project's.
    fn knows_settings(&self) -> KnownSettings {
        KnownSettings { time_zone: true, stacking_rules: true }
    }
    /// Returns the keys of public metadata of goods and offers, if the facts have only those. Then only the server
    /// knows the rest.
    fn public_metadata(&self) -> Option<&PublicMetadata> {
        None
    }
}
