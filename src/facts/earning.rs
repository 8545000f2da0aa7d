//! Decides what can be earned and what is asked to know what is: earning rules and incentives as they say it, members with
//! their cards as they stand. It must not know what anybody earns, nor how any of it is written or stored.
//!
//! loyalty-v2.md sections 4 and 5.

use crate::facts::{Fact, Known};
use crate::formula::Formula;
use crate::model::incentive::Validity;
use crate::model::order::Metadata;
use crate::model::scope::GoodsRef;
use crate::points::limits::{EarnedSoFar, EarningLimits, Fired, TriggerLimits};
use crate::points::proportional::Worth;
use crate::points::{Earned, Expiration, Revocation};
use crate::rules::Rule;
use crate::text::{Text, joined};
use crate::time::Instant;

/// What something is earned for.
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
    /// Whether its state lets it fire.
    pub is_active: bool,
    /// What it is about.
    pub trigger: Trigger,
    /// The first that matches is earned.
    pub earnings: Vec<Earning>,
    /// When it fires.
    pub validity: Validity,
    /// How often it fires for one member.
    pub limits: TriggerLimits,
}

/// What is earned, and by whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Earning {
    /// Assigned by the service.
    pub id: Text,
    /// What must hold.
    pub rule: Rule,
    /// Which tiers earn: one of any of these; `None` is everybody.
    pub tiers: Option<Vec<Tiers>>,
    /// What is earned: all of it.
    pub effects: Vec<Effect>,
}

/// Tiers of one structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiers {
    /// The structure.
    pub structure_id: Text,
    /// The tiers.
    pub tier_ids: Vec<Text>,
}

/// One thing that is earned.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
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
    /// How many.
    pub amount: Amount,
    /// How they lapse, where it is not as the definition says.
    pub expiration: Option<Expiration>,
}

/// How many points.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    /// So many.
    Fixed(u64),
    /// In proportion to something.
    Proportional {
        /// To what.
        base: Base,
        /// For every whole one of so many.
        every: u64,
        /// As much.
        worth: Worth,
    },
    /// As much as a formula comes to: so many, or for each of the steps.
    Formula {
        /// The formula.
        formula: Formula,
        /// What there is where it comes to no number; in proportion to something, what the steps are counted of.
        plain: Box<Amount>,
    },
}

/// What points are proportional to (loyalty-v2.md section 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// `PRE_DISCOUNT_ORDER_AMOUNT`.
    OrderAmount,
    /// `POST_DISCOUNT_ORDER_AMOUNT`.
    OrderTotal,
    /// `ORDER_METADATA_VALUE`: a number of this name.
    OrderData(Text),
    /// `CUSTOMER_METADATA_VALUE`.
    CustomerData(Text),
    /// `CUSTOM_EVENT_METADATA_VALUE`.
    EventData(Text),
    /// `PRE_DISCOUNT_ORDER_ITEMS_AMOUNT`: of the lines of any of these goods, each line once.
    LinesAmount(Vec<GoodsRef>),
    /// `POST_DISCOUNT_ORDER_ITEMS_AMOUNT`.
    LinesSubtotal(Vec<GoodsRef>),
    /// `ORDER_ITEMS_QUANTITY`.
    LinesQuantity(Vec<GoodsRef>),
}

impl Base {
    /// The goods whose lines it is about; `None` where it is about no lines.
    pub fn goods(&self) -> Option<&[GoodsRef]> {
        match self {
            Base::LinesAmount(goods) | Base::LinesSubtotal(goods) | Base::LinesQuantity(goods) => Some(goods),
            Base::OrderAmount | Base::OrderTotal => None,
            Base::OrderData(_) | Base::CustomerData(_) | Base::EventData(_) => None,
        }
    }
}

/// What an earning rule hands out by its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Incentive {
    /// Assigned by the service.
    pub id: Text,
    /// Whether its state lets it be handed out.
    pub is_active: bool,
    /// How many are left; `None` is without end.
    pub stock: Option<u64>,
    /// What it is.
    pub gives: Gives,
}

/// What an incentive gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Gives {
    /// Points.
    Points(Points),
    /// Something else.
    Thing(Thing),
}

/// Something that is handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// A product.
    Product(Text),
    /// A variant of one.
    Sku {
        /// The product.
        product_id: Text,
        /// The variant.
        id: Text,
    },
    /// A code of a campaign of discounts.
    Coupon(Text),
    /// A code of a campaign of gift cards.
    GiftCard {
        /// The campaign.
        campaign_id: Text,
        /// Minor units on it, besides what the campaign puts there.
        balance: u64,
    },
}

/// A program, as far as earning asks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// Assigned by the service.
    pub id: Text,
    /// Whether its state lets its members earn.
    pub is_active: bool,
    /// When they do.
    pub validity: Validity,
}

/// A member of a program with what earning asks of them.
#[derive(Debug, Clone)]
pub struct Membership<'a> {
    /// The member.
    pub member_id: Text,
    /// Whether their state lets them earn.
    pub is_active: bool,
    /// Their custom data.
    pub metadata: Metadata,
    /// The program.
    pub program: Fact<'a, Program>,
    /// The rules assigned to it, by id, in the order in which they were.
    pub rules: Vec<(Text, Known<Fact<'a, EarningRule>>)>,
    /// The tiers that they hold in it.
    pub tiers: Vec<HeldTier>,
    /// Their cards.
    pub cards: Vec<EarningCard>,
}

/// A tier that a member holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldTier {
    /// The structure that it is of.
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
    /// What the definition lets be earned.
    pub limits: EarningLimits,
}

/// What became of an occasion so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// Nothing was earned by it.
    #[default]
    New,
    /// Something was.
    Earned,
    /// And was given back.
    GivenBack,
}

/// What an earning is known by, so that nothing is earned twice by it: an order has one for its whole life, whatever becomes of it,
/// an event and an entry into a segment each have their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occasion(Text);

impl Occasion {
    /// An order, by the service's id.
    pub fn order(id: &str) -> Occasion {
        Occasion(joined(&["order/", id]))
    }

    /// A custom event, by the service's id.
    pub fn custom_event(id: &str) -> Occasion {
        Occasion(joined(&["event/", id]))
    }

    /// The moment at which a customer entered a segment: whoever leaves and comes back enters again.
    pub fn segment(id: &str, customer_id: &str, entered_at: Instant) -> Occasion {
        Occasion(joined(&["segment/", id, "/", customer_id, "/", &entered_at.millis().to_string()]))
    }

    /// As it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Points that an occasion brought, as they were written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastEarning {
    /// The card.
    pub card_id: Text,
    /// Its definition.
    pub card_definition_id: Text,
    /// Where they went, and how many they were.
    pub earned: Earned,
    /// How many of them were given back already.
    pub back: u64,
    /// Its place among all that the occasion brought.
    pub place: usize,
}

/// Read-only, synchronous access to everything that earning asks besides [`crate::facts::Facts`].
pub trait EarningFacts {
    /// What became of an occasion.
    fn standing(&self, occasion: &Occasion) -> Known<Standing>;
    /// The memberships of a customer, in the order in which they began.
    fn memberships(&self, customer_id: &str) -> Known<Vec<Membership<'_>>>;
    /// How often a rule fired for a member, counted since a moment, where its limits ask for one.
    fn fired(&self, member_id: &str, rule_id: &str, since: Option<Instant>) -> Known<Fired>;
    /// What a card has, what is due settled; what it earned since a moment, where its limits ask for one.
    fn earned(&self, card_id: &str, since: Option<Instant>) -> Known<EarnedSoFar>;
    /// An incentive by id.
    fn incentive(&self, id: &str) -> Known<Fact<'_, Incentive>>;
    /// The points that an occasion brought.
    fn past(&self, occasion: &Occasion) -> Known<Vec<PastEarning>>;
    /// How a card definition takes earned points back, when it does.
    fn revocation(&self, card_definition_id: &str) -> Known<Option<Revocation>>;
}
