//! Defines rewards for points of a loyalty card.
//!
//! docs/spec/calculation.md#10.

use crate::model::order::Metadata;
use crate::money::Money;
use crate::text::Text;

/// A reward for points.
#[derive(Debug, Clone, PartialEq)]
pub struct Reward {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The content.
    pub kind: RewardKind,
    /// The initial stock; `None` without a limit. Only goods have a stock.
    pub stock: Option<u64>,
    /// Metadata.
    pub metadata: Metadata,
}

/// The content of a reward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewardKind {
    /// Goods to be sent.
    Material {
        /// The product.
        product_id: Text,
        /// The SKU, if it is one.
        sku_id: Option<Text>,
    },
    /// A code of a campaign, or a credit on the card that the customer has of it.
    Campaign {
        /// The campaign.
        campaign_id: Text,
        /// Gift credits in minor units, or points; `None` for a discount coupon.
        balance: Option<u64>,
    },
    /// Money off the order.
    Coin(PointsRate),
}

/// The value of points: `points` of them pay `value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointsRate {
    /// The value of a block of points, in minor units; never 0.
    pub value: Money,
    /// Points of a block; never 0.
    pub points: u64,
}

/// The assignment of a reward to the cards of a campaign, with its price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardAssignment {
    /// Assigned by the service.
    pub id: Text,
    /// The reward.
    pub reward_id: Text,
    /// The campaign of the cards.
    pub campaign_id: Text,
    /// The price in points; a coin has none.
    pub points: Option<u64>,
    /// The tier of the card's holder that determines the price, if any.
    pub tier_id: Option<Text>,
}

/// A voucher that a redemption of points bought, or to which it added credits or points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoughtReward {
    /// The voucher, by id.
    pub voucher_id: Text,
    /// The credits in minor units or points that the redemption added to it; 1 for a coupon.
    pub bought: u64,
    /// The credits or points that can be taken off it now; for a coupon 1 while it is unused.
    pub available: u64,
}
