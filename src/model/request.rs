//! Decides what a request to validate or redeem is, once it has been read. It must not know JSON.
//!
//! endpoints.md section 1, shape S8.

use crate::model::customer::Customer;
use crate::model::order::{Metadata, Order};
use crate::model::page::Page;
use crate::money::Money;
use crate::text::Text;

/// What kind of thing is to be redeemed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RedeemableObject {
    /// A code, by code or id.
    #[default]
    Voucher,
    /// One tier of a promotion.
    PromotionTier,
    /// A stack of tiers, alone in its request.
    PromotionStack,
}

impl RedeemableObject {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            RedeemableObject::Voucher => "voucher",
            RedeemableObject::PromotionTier => "promotion_tier",
            RedeemableObject::PromotionStack => "promotion_stack",
        }
    }
}

/// One thing to be redeemed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redeemable {
    /// Its kind.
    pub object: RedeemableObject,
    /// Its code or id.
    pub id: Text,
    /// Gift credits to spend; as many as possible when absent.
    pub credits: Option<Money>,
    /// What points of a loyalty card are to be exchanged for.
    pub reward: Option<WantedReward>,
}

impl Redeemable {
    /// A code, or anything by its id, and nothing else said of it.
    pub fn named(id: Text) -> Redeemable {
        Redeemable { object: RedeemableObject::Voucher, id, credits: None, reward: None }
    }
}

/// A reward that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedReward {
    /// The reward, by id.
    pub id: Text,
    /// Points to pay with; as many as the order takes when absent. Only a coin listens to it.
    pub points: Option<u64>,
}

/// A lock over several requests (calculation.md section 12).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    /// Whether the request asked for a lock (`type: LOCK`).
    pub lock: bool,
    /// The key; made by the service when absent.
    pub key: Option<Text>,
    /// How long, in `unit`s.
    pub ttl: Option<u64>,
    /// The unit of `ttl`.
    pub unit: Option<TtlUnit>,
}

/// The unit of a session's time to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TtlUnit {
    /// 24 hours.
    #[default]
    Days,
    /// 60 minutes.
    Hours,
    /// 60 seconds.
    Minutes,
    /// 1000 milliseconds.
    Seconds,
    /// The finest that is kept; shorter ones end at once.
    Milliseconds,
    /// A thousandth of a millisecond.
    Microseconds,
    /// A millionth of a millisecond.
    Nanoseconds,
}

impl TtlUnit {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            TtlUnit::Days => "DAYS",
            TtlUnit::Hours => "HOURS",
            TtlUnit::Minutes => "MINUTES",
            TtlUnit::Seconds => "SECONDS",
            TtlUnit::Milliseconds => "MILLISECONDS",
            TtlUnit::Microseconds => "MICROSECONDS",
            TtlUnit::Nanoseconds => "NANOSECONDS",
        }
    }

    /// The length of `count` of these in whole milliseconds.
    pub fn millis(self, count: u64) -> u64 {
        let (times, parts): (u64, u64) = match self {
            TtlUnit::Days => (86_400_000, 1),
            TtlUnit::Hours => (3_600_000, 1),
            TtlUnit::Minutes => (60_000, 1),
            TtlUnit::Seconds => (1_000, 1),
            TtlUnit::Milliseconds => (1, 1),
            TtlUnit::Microseconds => (1, 1_000),
            TtlUnit::Nanoseconds => (1, 1_000_000),
        };
        count.saturating_mul(times).checked_div(parts).unwrap_or(u64::MAX)
    }
}

/// What an answer is to show beyond its usual fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expand {
    /// Metadata, campaign and name of each redeemable.
    pub redeemable: bool,
    /// Whole categories.
    pub category: bool,
    /// Metadata of redemptions.
    pub redemption: bool,
    /// How each verdict came about.
    pub trace: bool,
}

/// A request to validate or redeem.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Redeemables {
    /// What is to be redeemed, in the order asked for.
    pub redeemables: Vec<Redeemable>,
    /// For whom.
    pub customer: Option<Customer>,
    /// For which order.
    pub order: Option<Order>,
    /// Under which lock.
    pub session: Option<Session>,
    /// The customer by another name.
    pub tracking_id: Option<Text>,
    /// Data of the redemption itself.
    pub metadata: Metadata,
    /// What to show.
    pub expand: Expand,
    /// Who asks, as transactions show it; the host says so.
    pub channel: Channel,
}

/// Through what a request came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Channel {
    /// The key's public id or the client's name.
    pub id: Text,
    /// The page that asks, when none of the shop's own servers does: then the catalogue's price wins over the request's, and the
    /// project's terms hold.
    pub page: Option<Page>,
    /// The login of the user who asks, when it is one.
    pub user: Option<Text>,
}

impl Channel {
    /// Whether a page asks.
    pub fn is_page(&self) -> bool {
        self.page.is_some()
    }
}
