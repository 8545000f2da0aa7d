//! Decides how a decision asks for what it does not have. It must not know where facts come from; an answer is
//! there, absent or unknown, and unknown is what makes a decision without the server possible.

pub mod candidates;

use std::borrow::Cow;

pub use candidates::{Candidates, Entry, Seek};

use crate::ledger::{AccountId, Transfer};
use crate::model::customer::Customer;
use crate::model::incentive::{Campaign, Category, Incentive};
use crate::model::order::{Goods, Order};
use crate::model::stacking::StackingRules;
use crate::rules::Rule;
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// What is known of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<T> {
    /// It is this.
    Is(T),
    /// It does not exist.
    Absent,
    /// Only somebody else knows.
    Unknown,
}

impl<T> Known<T> {
    /// The fact, when it is there.
    pub fn is(self) -> Option<T> {
        match self {
            Known::Is(fact) => Some(fact),
            Known::Absent | Known::Unknown => None,
        }
    }

    /// The same with the fact turned into another.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Is(fact) => Known::Is(turn(fact)),
            Known::Absent => Known::Absent,
            Known::Unknown => Known::Unknown,
        }
    }
}

impl<T> From<Option<T>> for Known<T> {
    fn from(fact: Option<T>) -> Known<T> {
        fact.map_or(Known::Absent, Known::Is)
    }
}

/// A redemption that was written down, as a rollback reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRedemption {
    /// Its id.
    pub id: Text,
    /// Whether it redeemed anything, and was not undone.
    pub state: PastState,
    /// When.
    pub date: Instant,
    /// The stack that it belongs to.
    pub parent: Option<Text>,
    /// What it redeemed as a stack, in order.
    pub children: Vec<Text>,
    /// Who redeemed.
    pub customer_id: Option<Text>,
    /// The order that it changed.
    pub order_id: Option<Text>,
    /// The voucher that it redeemed.
    pub voucher: Option<Text>,
    /// Gift credits spent.
    pub credits: Option<u64>,
    /// The document, for answers.
    pub document: crate::model::order::Metadata,
}

/// What became of a redemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastState {
    /// It stands.
    Succeeded,
    /// It never redeemed anything.
    Failed,
    /// It was undone.
    RolledBack,
}

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
    /// The project's stacking rules.
    fn stacking_rules(&self) -> Cow<'_, StackingRules>;
    /// The project's time zone.
    fn time_zone(&self) -> Cow<'_, TimeZone>;
    /// A voucher by code or id.
    fn voucher(&self, code: &str) -> Known<Cow<'_, Incentive>>;
    /// A campaign by id.
    fn campaign(&self, id: &str) -> Known<Cow<'_, Campaign>>;
    /// A category by id.
    fn category(&self, id: &str) -> Known<Cow<'_, Category>>;
    /// The rules assigned to a voucher and to its campaign.
    fn rules(&self, voucher: &Incentive) -> Known<Vec<Cow<'_, Rule>>>;
    /// A customer by id or `source_id`.
    fn customer(&self, key: &str) -> Known<Cow<'_, Customer>>;
    /// A stored order by id or `source_id`.
    fn order(&self, key: &str) -> Known<Cow<'_, Order>>;
    /// A product of the catalogue by id or `source_id`.
    fn product(&self, key: &str) -> Known<Cow<'_, Goods>>;
    /// A SKU of the catalogue by id or `source_id`.
    fn sku(&self, key: &str) -> Known<Cow<'_, Goods>>;
    /// The net of all transfers of an account.
    fn balance(&self, account: &AccountId) -> Known<i64>;
    /// Units of an account under unexpired holds of other keys than `key`.
    fn held(&self, account: &AccountId, now: Instant, key: Option<&str>) -> Known<u64>;
    /// A redemption by id.
    fn redemption(&self, id: &str) -> Known<Cow<'_, PastRedemption>>;
    /// The transfers of a redemption, in order.
    fn chain(&self, id: &str) -> Known<Vec<Transfer>>;
    /// Everything that may qualify, newest first: at least what is sought.
    fn candidates(&self, seek: &Seek<'_>) -> Known<Cow<'_, Candidates>>;
    /// What a code of a campaign would be, by the campaign's id.
    fn campaign_voucher(&self, id: &str) -> Known<Cow<'_, Incentive>>;
    /// Which rules were assigned to any of these, by id or code.
    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>>;
    /// The hash that stands for a customer's `source_id`; only the server has the key.
    fn tracking_id(&self, source_id: &str) -> Known<Text>;
}

/// The account of a voucher's redemptions.
pub fn redemptions_account(voucher_id: &str) -> AccountId {
    AccountId::new(compact_str::format_compact!("voucher/{voucher_id}/redemptions"))
}

/// The account of a gift card's credits, in minor units.
pub fn credits_account(voucher_id: &str) -> AccountId {
    AccountId::new(compact_str::format_compact!("voucher/{voucher_id}/credits"))
}

/// Where redemptions of a campaign are counted; of vouchers without a campaign, in the project.
pub fn redeemed_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "redeemed")
}

/// Where spent credits of a campaign are counted, in minor units.
pub fn spent_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "spent")
}

fn counterpart(campaign_id: Option<&str>, what: &str) -> AccountId {
    AccountId::new(match campaign_id {
        Some(id) => compact_str::format_compact!("campaign/{id}/{what}"),
        None => compact_str::format_compact!("project/{what}"),
    })
}
