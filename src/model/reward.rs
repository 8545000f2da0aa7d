//! Decides what points of a loyalty card are exchanged for. It must not know cards or balances.
//!
//! calculation.md section 10.

use crate::model::order::Metadata;
use crate::money::Money;
use crate::text::Text;

/// Something that points buy.
#[derive(Debug, Clone, PartialEq)]
pub struct Reward {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// What one gets.
    pub kind: RewardKind,
    /// How many there were; `None` is without limit. Only goods have a stock.
    pub stock: Option<u64>,
    /// Custom data.
    pub metadata: Metadata,
}

/// What one gets for points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewardKind {
    /// Goods that somebody sends.
    Material {
        /// The product.
        product_id: Text,
        /// Or one variant of it.
        sku_id: Option<Text>,
    },
    /// A code of a campaign, or more on the card that the customer has of it.
    Campaign {
        /// The campaign.
        campaign_id: Text,
        /// Gift credits in minor units, or points; `None` for a discount coupon.
        balance: Option<u64>,
    },
    /// Money off the order.
    Coin(Coin),
}

/// What points are worth: `points` of them pay `value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coin {
    /// Worth of a block of points, in minor units; never 0.
    pub value: Money,
    /// Points of a block; never 0.
    pub points: u64,
}

/// That a reward may be had with the cards of a campaign, and its price.
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
    /// The tier of the card's holder by which that is the price, where they are in one.
    pub tier_id: Option<Text>,
}
