//! Decides how a decision asks for what it does not have. It must not know where facts come from; an answer is
//! there, absent or unknown, and unknown is what makes a decision without the server possible.

pub mod accounts;
pub mod candidates;
pub mod cards;
pub mod earning;
pub mod known;
pub mod offer;
pub mod purchase;

pub use accounts::*;
pub use candidates::{Candidates, Entry, Seek, Terms};
pub use known::{Fact, Known};
pub use offer::{Exchange, Offer};

use crate::ledger::{AccountId, Session, Transfer};
use crate::model::customer::Customer;
use crate::model::incentive::{Campaign, Category, Incentive};
use crate::model::order::{Goods, Metadata, Order};
use crate::model::page::PublicMetadata;
use crate::model::promotion::Stack;
use crate::model::redemption::PastRedemption;
use crate::model::request::Redeemable;
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::points::tiered::CampaignTier;
use crate::rules::{Collection, Rule, Segment};
use crate::text::Text;
use crate::time::{Instant, TimeZone};
use crate::work::Work;

/// A rule assigned to something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    /// Its id.
    pub id: Text,
    /// The rule.
    pub rule_id: Text,
    /// What the rule holds for, by id or code.
    pub related_object_id: Text,
    /// What kind of thing that is, as written.
    pub related_object_type: Text,
}

/// Read-only, synchronous access to everything that a decision may ask.
pub trait Facts {
    /// How much work a decision may do. Facts that serve several decisions of one request give what the others left.
    fn work(&self) -> Work {
        Work::default()
    }
    /// The project's stacking rules.
    fn stacking_rules(&self) -> Fact<'_, StackingRules>;
    /// The project's time zone.
    fn time_zone(&self) -> Fact<'_, TimeZone>;
    /// A voucher by code or id.
    fn voucher(&self, code: &str) -> Known<Fact<'_, Incentive>>;
    /// A promotion tier by id.
    fn tier(&self, id: &str) -> Known<Fact<'_, Incentive>>;
    /// A voucher by code or id, or a tier by id, with all that belongs to it, if that has been put together beforehand and
    /// nothing of it is missing.
    fn offer(&self, _named: &Redeemable) -> Option<&Offer<'_>> {
        None
    }
    /// A promotion stack by id.
    fn stack(&self, id: &str) -> Known<Fact<'_, Stack>>;
    /// A reward by id.
    fn reward(&self, id: &str) -> Known<Fact<'_, Reward>>;
    /// How a reward is assigned to the cards of a campaign.
    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Fact<'_, RewardAssignment>>;
    /// The tier of its loyalty campaign that a card is in, which may change what rewards cost.
    fn campaign_tier(&self, _card: &Incentive) -> Known<Fact<'_, CampaignTier>> {
        Known::Absent
    }
    /// A campaign by id.
    fn campaign(&self, id: &str) -> Known<Fact<'_, Campaign>>;
    /// A category by id.
    fn category(&self, id: &str) -> Known<Fact<'_, Category>>;
    /// The rules assigned to one thing alone, by its id.
    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>>;
    /// The rules assigned to a voucher or tier and to its campaign.
    fn rules(&self, voucher: &Incentive) -> Known<Vec<Fact<'_, Rule>>>;
    /// A segment by id.
    fn segment(&self, id: &str) -> Known<Fact<'_, Segment>>;
    /// A collection of products and SKUs by id.
    fn collection(&self, id: &str) -> Known<Fact<'_, Collection>>;
    /// A customer by id or `source_id`.
    fn customer(&self, key: &str) -> Known<Fact<'_, Customer>>;
    /// The loyalty tiers that a customer is in, by the customer's id.
    fn tiers(&self, customer: &str) -> Known<Vec<Text>>;
    /// How often a custom event of this name was told of a customer, by the customer's id.
    fn event_count(&self, customer: &str, event: &str) -> Known<u64>;
    /// A stored order by id or `source_id`.
    fn order(&self, key: &str) -> Known<Fact<'_, Order>>;
    /// The goods that these lines name will be asked for: who has to fetch them may fetch all of them at once.
    fn expect_goods(&self, _order: &Order) {}
    /// A product of the catalogue by id or `source_id`.
    fn product(&self, key: &str) -> Known<Fact<'_, Goods>>;
    /// A SKU of the catalogue by id or `source_id`.
    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>>;
    /// What was said with the latest publication of a voucher to a customer, both by id.
    fn publication(&self, voucher_id: &str, customer_id: &str) -> Known<Fact<'_, Metadata>>;
    /// The net of all transfers of an account.
    fn balance(&self, account: &AccountId) -> Known<i64>;
    /// Units that left or reached an account since a moment, by transfers that have not been undone.
    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64>;
    /// Units of an account under unexpired holds of other sessions than one's own.
    fn held(&self, account: &AccountId, now: Instant, own: Option<&Session>) -> Known<u64>;
    /// A redemption by id.
    fn redemption(&self, id: &str) -> Known<Fact<'_, PastRedemption>>;
    /// The transfers of a redemption, in order.
    fn chain(&self, id: &str) -> Known<Vec<Transfer>>;
    /// Everything that may qualify, newest first: at least what is sought.
    fn candidates(&self, seek: &Seek<'_>) -> Known<Fact<'_, Candidates>>;
    /// How many codes of a campaign can still be handed over; `None` is without end, as a campaign that makes its own has.
    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>>;
    /// Whether a customer holds a card of a campaign, to which a reward adds.
    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool>;
    /// What a code of a campaign would be, by the campaign's id.
    fn campaign_voucher(&self, id: &str) -> Known<Fact<'_, Incentive>>;
    /// Which rules were assigned to any of these, by id or code.
    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>>;
    /// The hash that stands for a customer's `source_id`; only the server has the key. One that is such a hash stays as it is.
    fn tracking_id(&self, source_id: &str) -> Known<Text>;
    /// What is told of the metadata of goods and offers, where that is not all of it: then of everything else only the server
    /// knows whether it is there.
    fn public_metadata(&self) -> Option<&PublicMetadata> {
        None
    }
}
