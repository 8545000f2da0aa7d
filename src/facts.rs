//! Decides how a decision asks for what it does not have. It must not know where facts come from; an answer is
//! there, absent or unknown, and unknown is what makes a decision without the server possible.

pub mod candidates;
pub mod offer;

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

pub use candidates::{Candidates, Entry, Seek, Terms};
pub use offer::{Exchange, Offer};

use crate::ledger::{AccountId, Session, Transfer};
use crate::model::customer::Customer;
use crate::model::incentive::{Campaign, Category, Incentive, IncentiveObject};
use crate::model::order::{Goods, Order};
use crate::model::page::PublicMetadata;
use crate::model::promotion::Stack;
use crate::model::redemption::PastRedemption;
use crate::model::request::Redeemable;
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::rules::{Collection, Rule, Segment};
use crate::text::{Text, joined};
use crate::time::{Instant, TimeZone};
use crate::work::Work;

/// What is known of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<T> {
    /// It is this.
    Is(T),
    /// It does not exist.
    Absent,
    /// Only somebody else knows.
    Unknown,
    /// It is there and cannot be read, so that nobody can say what it allows: whatever needs it is refused.
    Unreadable,
}

impl<T> Known<T> {
    /// The fact, when it is there.
    pub fn found(self) -> Option<T> {
        match self {
            Known::Is(fact) => Some(fact),
            Known::Absent | Known::Unknown | Known::Unreadable => None,
        }
    }

    /// The same with the fact turned into another.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Is(fact) => Known::Is(turn(fact)),
            Known::Absent => Known::Absent,
            Known::Unknown => Known::Unknown,
            Known::Unreadable => Known::Unreadable,
        }
    }
}

impl<T> From<Option<T>> for Known<T> {
    fn from(fact: Option<T>) -> Known<T> {
        fact.map_or(Known::Absent, Known::Is)
    }
}

/// A fact as a case keeps it: lent by whoever knows it, or its own. It is as small as a place, where a `Cow` is as large
/// as what it may own; a case moves dozens of them.
#[derive(Debug, Clone)]
pub enum Fact<'a, T> {
    /// Somebody else's.
    Lent(&'a T),
    /// Its own, or shared.
    Own(Arc<T>),
}

impl<T: Clone> Fact<'_, T> {
    /// The fact itself.
    pub fn into_owned(self) -> T {
        match self {
            Fact::Lent(fact) => fact.clone(),
            Fact::Own(fact) => Arc::unwrap_or_clone(fact),
        }
    }
}

impl<T> Deref for Fact<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Fact::Lent(fact) => fact,
            Fact::Own(fact) => fact,
        }
    }
}

impl<'a, T: Clone> From<Cow<'a, T>> for Fact<'a, T> {
    fn from(fact: Cow<'a, T>) -> Fact<'a, T> {
        match fact {
            Cow::Borrowed(fact) => Fact::Lent(fact),
            Cow::Owned(fact) => Fact::Own(Arc::new(fact)),
        }
    }
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
    /// How much work a decision may do. Facts that serve several decisions of one request give what the others left.
    fn work(&self) -> Work {
        Work::default()
    }
    /// The project's stacking rules.
    fn stacking_rules(&self) -> Cow<'_, StackingRules>;
    /// The project's time zone.
    fn time_zone(&self) -> Cow<'_, TimeZone>;
    /// A voucher by code or id.
    fn voucher(&self, code: &str) -> Known<Cow<'_, Incentive>>;
    /// A promotion tier by id.
    fn tier(&self, id: &str) -> Known<Cow<'_, Incentive>>;
    /// A voucher by code or id, or a tier by id, with all that belongs to it, if that has been put together beforehand and
    /// nothing of it is missing.
    fn offer(&self, _named: &Redeemable) -> Option<&Offer<'_>> {
        None
    }
    /// A promotion stack by id.
    fn stack(&self, id: &str) -> Known<Cow<'_, Stack>>;
    /// A reward by id.
    fn reward(&self, id: &str) -> Known<Cow<'_, Reward>>;
    /// How a reward is assigned to the cards of a campaign.
    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Cow<'_, RewardAssignment>>;
    /// A campaign by id.
    fn campaign(&self, id: &str) -> Known<Cow<'_, Campaign>>;
    /// A category by id.
    fn category(&self, id: &str) -> Known<Cow<'_, Category>>;
    /// The rules assigned to one thing alone, by its id.
    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>>;
    /// The rules assigned to a voucher or tier and to its campaign.
    fn rules(&self, voucher: &Incentive) -> Known<Vec<Fact<'_, Rule>>>;
    /// A segment by id.
    fn segment(&self, id: &str) -> Known<Cow<'_, Segment>>;
    /// A collection of products and SKUs by id.
    fn collection(&self, id: &str) -> Known<Cow<'_, Collection>>;
    /// A customer by id or `source_id`.
    fn customer(&self, key: &str) -> Known<Cow<'_, Customer>>;
    /// A stored order by id or `source_id`.
    fn order(&self, key: &str) -> Known<Cow<'_, Order>>;
    /// The goods that these lines name will be asked for: who has to fetch them may fetch all of them at once.
    fn expect_goods(&self, _order: &Order) {}
    /// A product of the catalogue by id or `source_id`.
    fn product(&self, key: &str) -> Known<Fact<'_, Goods>>;
    /// A SKU of the catalogue by id or `source_id`.
    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>>;
    /// The net of all transfers of an account.
    fn balance(&self, account: &AccountId) -> Known<i64>;
    /// Units that left or reached an account since a moment, by transfers that have not been undone.
    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64>;
    /// Units of an account under unexpired holds of other sessions than one's own.
    fn held(&self, account: &AccountId, now: Instant, own: Option<&Session>) -> Known<u64>;
    /// A redemption by id.
    fn redemption(&self, id: &str) -> Known<Cow<'_, PastRedemption>>;
    /// The transfers of a redemption, in order.
    fn chain(&self, id: &str) -> Known<Vec<Transfer>>;
    /// Everything that may qualify, newest first: at least what is sought.
    fn candidates(&self, seek: &Seek<'_>) -> Known<Cow<'_, Candidates>>;
    /// How many codes of a campaign can still be handed over; `None` is without end, as a campaign that makes its own has.
    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>>;
    /// Whether a customer holds a card of a campaign, to which a reward adds.
    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool>;
    /// What a code of a campaign would be, by the campaign's id.
    fn campaign_voucher(&self, id: &str) -> Known<Cow<'_, Incentive>>;
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

/// The account of a voucher's redemptions.
pub fn redemptions_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "redemptions")
}

/// The account of an incentive's redemptions, a voucher's or a tier's.
pub fn incentive_account(incentive: &Incentive) -> AccountId {
    match incentive.object {
        IncentiveObject::Voucher => redemptions_account(&incentive.id),
        IncentiveObject::PromotionTier => tier_account(&incentive.id),
    }
}

/// The account of a tier's redemptions.
pub fn tier_account(tier_id: &str) -> AccountId {
    account("promotion_tier", tier_id, "redemptions")
}

/// The account of how often a voucher was published.
pub fn publications_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "publications")
}

/// Where publications of a campaign are counted; of vouchers without a campaign, in the project.
pub fn published_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "published")
}

/// How the names of a voucher's own accounts begin, and how those of its redemptions by customers end.
pub fn voucher_accounts(voucher_id: &str) -> (Text, Text) {
    (joined(&["voucher/", voucher_id, "/"]), joined(&["/of/", voucher_id]))
}

/// What an account is a part of, which locks hold: a kind of thing, its id and the part. A customer's share is none.
pub fn part_of(account: &str) -> Option<(&str, &str, &str)> {
    let (object, rest) = account.split_once('/')?;
    let (id, what) = rest.rsplit_once('/')?;
    matches!(object, "voucher" | "promotion_tier" | "reward" | "campaign").then_some((object, id, what))
}

/// The account of a gift card's credits, in minor units.
pub fn credits_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "credits")
}

/// The account of a loyalty card's points.
pub fn points_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "points")
}

/// The account of the goods of a reward.
pub fn stock_account(reward_id: &str) -> AccountId {
    account("reward", reward_id, "stock")
}

/// The codes of a campaign that rewards hand over. They count themselves, so that nothing is ever posted here; locks hold.
pub fn codes_account(campaign_id: &str) -> AccountId {
    account("campaign", campaign_id, "codes")
}

/// Where redeemed goods of a reward are counted.
pub fn rewarded_account(reward_id: &str) -> AccountId {
    account("reward", reward_id, "redeemed")
}

/// Where redemptions of a campaign are counted; of vouchers without a campaign, in the project.
pub fn redeemed_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "redeemed")
}

/// Where spent credits of a campaign are counted, in minor units.
pub fn spent_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "spent")
}

/// The account of units discounted in the life of a campaign or tier, of all customers or of one (calculation.md
/// section 7.1). `goods` is what is counted together: an entry of a scope, or one product of it.
pub fn units_account(owner: &str, goods: &str, customer: Option<&str>) -> AccountId {
    AccountId::new(match customer {
        Some(customer) => joined(&["customer/", customer, "/units/", owner, "/", goods]),
        None => joined(&["units/", owner, "/", goods]),
    })
}

/// Where all discounted units are counted.
pub fn discounted_units_account() -> AccountId {
    AccountId::new("project/units")
}

/// Where spent points of a campaign are counted.
pub fn points_spent_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "points_spent")
}

/// Redemptions by one customer of one incentive or, with the id of a campaign, of all of it
/// (validation-rules.md section 4.5).
pub fn customer_account(customer_id: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["customer/", customer_id, "/of/", of]))
}

/// Redemptions by one customer of what has no campaign.
pub fn customer_total_account(customer_id: &str) -> AccountId {
    AccountId::new(joined(&["customer/", customer_id]))
}

/// Redemptions of one incentive through one channel.
pub fn channel_account(channel_id: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["channel/", channel_id, "/of/", of]))
}

/// All redemptions through one channel.
pub fn channel_total_account(channel_id: &str) -> AccountId {
    AccountId::new(joined(&["channel/", channel_id]))
}

/// Redemptions of one incentive by one user, whatever keys they call with.
pub fn user_account(login: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["user/", login, "/of/", of]))
}

/// All redemptions by one user.
pub fn user_total_account(login: &str) -> AccountId {
    AccountId::new(joined(&["user/", login]))
}

/// The value of orders made with a campaign, in minor units (validation-rules.md section 4.6); without a campaign,
/// where that value comes from.
pub fn orders_account(campaign_id: Option<&str>) -> AccountId {
    budget("orders", campaign_id)
}

/// The discounts granted in a campaign, in minor units; without a campaign, where they come from.
pub fn discounted_account(campaign_id: Option<&str>) -> AccountId {
    budget("discounted", campaign_id)
}

fn account(kind: &str, id: &str, what: &str) -> AccountId {
    AccountId::new(joined(&[kind, "/", id, "/", what]))
}

fn counterpart(campaign_id: Option<&str>, what: &str) -> AccountId {
    match campaign_id {
        Some(id) => account("campaign", id, what),
        None => AccountId::new(joined(&["project/", what])),
    }
}

fn budget(what: &str, campaign_id: Option<&str>) -> AccountId {
    AccountId::new(match campaign_id {
        Some(id) => joined(&[what, "/", id]),
        None => joined(&["project/", what]),
    })
}
