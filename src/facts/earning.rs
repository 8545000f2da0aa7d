//! Defines the facts of earning: earning rules and incentives, and members with their cards.
//!
//! docs/spec/loyalty.md sections 4 and 5.

use crate::facts::{Fact, Known};
use crate::formula::{Formula, FormulaName};
use crate::model::order::Metadata;
use crate::model::redeemable::Validity;
use crate::model::scope::GoodsRef;
use crate::points::limits::{EarnedSoFar, EarningLimits, FireCount, TriggerLimits};
use crate::points::proportional::PointsPerStep;
use crate::points::{EarnedPoints, Expiration, Revocation};
use crate::rules::Rule;
use crate::text::{Text, joined};
use crate::time::Instant;

/// The event that an earning rule waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Trigger {
    /// An order is paid.
    #[default]
    OrderPaid,
    /// A custom event of this schema.
    CustomEvent(Text),
    /// The customer enters this segment.
    SegmentEntered(Text),
}

/// An earning rule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EarningRule {
    /// Assigned by the service.
    pub id: Text,
    /// `true` if its state allows it to fire.
    pub is_active: bool,
    /// The trigger.
    pub trigger: Trigger,
    /// The earnings; the first that matches applies.
    pub earnings: Vec<Earning>,
    /// The validity.
    pub validity: Validity,
    /// The limits on how often it fires for one member.
    pub limits: TriggerLimits,
}

/// The conditions and effects of earning.
#[derive(Debug, Clone, PartialEq)]
pub struct Earning {
    /// Assigned by the service.
    pub id: Text,
    /// The condition.
    pub rule: Rule,
    /// The tiers that earn: one of any of these; `None` for every member.
    pub tiers: Option<Vec<RequiredTiers>>,
    /// The effects, all of which are granted.
    pub effects: Vec<EarningEffect>,
}

/// Tiers of one structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredTiers {
    /// The structure.
    pub structure_id: Text,
    /// The tiers.
    pub tier_ids: Vec<Text>,
}

/// One effect of earning.
#[derive(Debug, Clone, PartialEq)]
pub enum EarningEffect {
    /// Points.
    Points(Points),
    /// An incentive, by id.
    Incentive(Text),
}

/// Points on the member's card of a definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// The definition.
    pub card_definition_id: Text,
    /// The amount.
    pub amount: PointsAmount,
    /// The expiration, if it differs from the definition's.
    pub expiration: Option<Expiration>,
}

/// An amount of points.
#[derive(Debug, Clone, PartialEq)]
pub enum PointsAmount {
    /// A fixed number.
    Fixed(u64),
    /// In proportion to a number.
    Proportional {
        /// The number.
        base: PointsBase,
        /// The size of a step.
        every: u64,
        /// The points of each whole step.
        worth: PointsPerStep,
    },
    /// The value of a formula, in total or for each step.
    Formula {
        /// The formula.
        formula: Formula,
        /// The amount if the formula has no value; if proportional, it defines the steps.
        plain: Box<PointsAmount>,
    },
}

impl PointsAmount {
    /// Returns whether it depends on the order.
    pub fn follows_order(&self) -> bool {
        match self {
            PointsAmount::Fixed(_) => false,
            PointsAmount::Proportional { base, .. } => base.is_of_order(),
            PointsAmount::Formula { formula, plain } => {
                plain.follows_order() || formula.uses_operand(FormulaName::is_of_order)
            }
        }
    }
}

/// The inputs to recompute the points that a rule gives for an order after a change of the order.
#[derive(Debug, Clone, PartialEq)]
pub struct PointsBasis {
    /// The amount.
    pub amount: PointsAmount,
    /// The limits of the card; for the whole card the capacity that it had before the order.
    pub limits: EarningLimits,
}

/// The number that points are proportional to (docs/spec/loyalty.md#4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointsBase {
    /// `PRE_DISCOUNT_ORDER_AMOUNT`.
    OrderAmount,
    /// `POST_DISCOUNT_ORDER_AMOUNT`.
    OrderTotal,
    /// `ORDER_METADATA_VALUE`: a number under this name.
    OrderData(Text),
    /// `CUSTOMER_METADATA_VALUE`.
    CustomerData(Text),
    /// `CUSTOM_EVENT_METADATA_VALUE`.
    EventData(Text),
    /// `PRE_DISCOUNT_ORDER_ITEMS_AMOUNT`: of the lines with any of these goods, each line once.
    LinesAmount(Vec<GoodsRef>),
    /// `POST_DISCOUNT_ORDER_ITEMS_AMOUNT`.
    LinesSubtotal(Vec<GoodsRef>),
    /// `ORDER_ITEMS_QUANTITY`.
    LinesQuantity(Vec<GoodsRef>),
}

impl PointsBase {
    /// Returns the goods whose lines it uses; `None` if it uses no lines.
    pub fn goods(&self) -> Option<&[GoodsRef]> {
        match self {
            PointsBase::LinesAmount(goods) | PointsBase::LinesSubtotal(goods) | PointsBase::LinesQuantity(goods) => {
                Some(goods)
            }
            PointsBase::OrderAmount | PointsBase::OrderTotal => None,
            PointsBase::OrderData(_) | PointsBase::CustomerData(_) | PointsBase::EventData(_) => None,
        }
    }

    /// Returns whether it is a number of the order or of its lines.
    fn is_of_order(&self) -> bool {
        match self {
            PointsBase::OrderAmount | PointsBase::OrderTotal | PointsBase::OrderData(_) => true,
            PointsBase::LinesAmount(_) | PointsBase::LinesSubtotal(_) | PointsBase::LinesQuantity(_) => true,
            PointsBase::CustomerData(_) | PointsBase::EventData(_) => false,
        }
    }
}

/// An incentive that earning rules grant by id.
#[derive(Debug, Clone, PartialEq)]
pub struct Incentive {
    /// Assigned by the service.
    pub id: Text,
    /// `true` if its state allows it to be granted.
    pub is_active: bool,
    /// The stock; `None` without a limit.
    pub stock: Option<u64>,
    /// The content.
    pub gives: IncentiveGrant,
}

/// The content of an incentive.
#[derive(Debug, Clone, PartialEq)]
pub enum IncentiveGrant {
    /// Points.
    Points(Points),
    /// An item.
    Item(GrantedItem),
}

/// An item to be fulfilled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantedItem {
    /// A product.
    Product(Text),
    /// A SKU.
    Sku {
        /// The product.
        product_id: Text,
        /// The SKU.
        id: Text,
    },
    /// A code of a campaign of discount coupons.
    Coupon(Text),
    /// A code of a campaign of gift cards.
    GiftCard {
        /// The campaign.
        campaign_id: Text,
        /// Minor units in addition to the campaign's own.
        balance: u64,
    },
}

/// The data of a loyalty program for earning.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoyaltyProgram {
    /// Assigned by the service.
    pub id: Text,
    /// `true` if its state allows members to earn.
    pub is_active: bool,
    /// The validity.
    pub validity: Validity,
}

/// The data of a program's member for earning.
#[derive(Debug, Clone)]
pub struct Membership<'a> {
    /// The member.
    pub member_id: Text,
    /// `true` if their state allows them to earn.
    pub is_active: bool,
    /// Their metadata.
    pub metadata: Metadata,
    /// The program.
    pub program: Fact<'a, LoyaltyProgram>,
    /// The assigned rules, by id, in the order of assignment.
    pub rules: Vec<(Text, Known<Fact<'a, EarningRule>>)>,
    /// Their current tiers in it.
    pub tiers: Vec<CurrentTier>,
    /// Their cards.
    pub cards: Vec<EarningCard>,
}

/// A current tier of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentTier {
    /// The structure of the tier.
    pub structure_id: Text,
    /// The tier.
    pub tier_id: Text,
}

/// A card on which a member earns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarningCard {
    /// The card.
    pub id: Text,
    /// Its definition.
    pub card_definition_id: Text,
    /// The earning limits of the definition.
    pub limits: EarningLimits,
}

/// The status of an earning key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EarningStatus {
    /// It has not earned.
    #[default]
    New,
    /// It has earned.
    Earned,
    /// Its earning was revoked.
    Revoked,
}

/// The key by which an event earns once. An order has one for its lifetime, a custom event and an entry into a
/// segment each have their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EarningKey(Text);

impl EarningKey {
    /// Returns the key of an order, by the service's id.
    pub fn order(id: &str) -> EarningKey {
        EarningKey(joined(&["order/", id]))
    }

    /// Returns the key of a custom event, by the service's id.
    pub fn custom_event(id: &str) -> EarningKey {
        EarningKey(joined(&["event/", id]))
    }

    /// Returns the key of a customer's entry into a segment at an instant: leaving and entering again is a new one.
    pub fn segment(id: &str, customer_id: &str, entered_at: Instant) -> EarningKey {
        EarningKey(joined(&["segment/", id, "/", customer_id, "/", &entered_at.millis().to_string()]))
    }

    /// Returns the stored text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the service's id of the order; `None` for another key.
    pub fn order_id(&self) -> Option<&str> {
        self.0.strip_prefix("order/")
    }
}

/// Points that an earning key earned, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEarning {
    /// The card.
    pub card_id: Text,
    /// Its definition.
    pub card_definition_id: Text,
    /// The points and their account.
    pub earned: EarnedPoints,
    /// The points revoked so far, including those that were missing then.
    pub revoked_due: u64,
    /// The part of them that could be taken.
    pub revoked: u64,
    /// Its position among all earnings of the key.
    pub position: usize,
    /// The inputs to recompute the points, if they were stored.
    pub basis: Option<PointsBasis>,
}

/// Read-only, synchronous access to the facts of earning in addition to [`crate::facts::Facts`].
pub trait EarningFacts {
    /// Returns the status of an earning key.
    fn status(&self, key: &EarningKey) -> Known<EarningStatus>;
    /// Returns the memberships of a customer, in the order in which they began.
    fn memberships(&self, customer_id: &str) -> Known<Vec<Membership<'_>>>;
    /// Returns how often a rule fired for a member, counted since an instant if its limits need one.
    fn fired(&self, member_id: &str, rule_id: &str, since: Option<Instant>) -> Known<FireCount>;
    /// Returns the points of a card after due events; those earned since an instant, if its limits need one.
    fn earned(&self, card_id: &str, since: Option<Instant>) -> Known<EarnedSoFar>;
    /// Returns an incentive by id.
    fn incentive(&self, id: &str) -> Known<Fact<'_, Incentive>>;
    /// Returns the points of an earning key.
    fn stored_earnings(&self, key: &EarningKey) -> Known<Vec<StoredEarning>>;
    /// Returns how many points of an earning key a card got since an instant.
    fn credited_since(&self, key: &EarningKey, card_id: &str, since: Instant) -> Known<u64>;
    /// Returns how a card definition revokes earned points, if it does.
    fn revocation(&self, card_definition_id: &str) -> Known<Option<Revocation>>;
    /// Returns the earning limits of a card definition.
    fn limits(&self, card_definition_id: &str) -> Known<EarningLimits>;
}
