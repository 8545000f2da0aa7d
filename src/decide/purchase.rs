//! Decides whether a member can buy a reward with points, its price, and the cards involved. A dry run and a purchase
//! are the same decision.
//!
//! docs/spec/loyalty.md sections 7 and 10.

use crate::decide::case::{Case, RequestCustomer};
use crate::decide::items::Items;
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::{OfferFacts, RunningOrder, request_facts};
use crate::facts::purchase::{Cost, LoyaltyReward, PurchasingMember, RewardContent};
use crate::facts::{Fact, Facts};
use crate::id::Context;
use crate::model::request::Redeemables;
use crate::points::limits::{ExceededLimit, LimitRefusal};
use crate::rules::{EarningInput, RequiredFacts};
use crate::text::Text;

/// The reason why a reward cannot be bought; the first one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PurchaseRefusal {
    /// The reward is not active.
    Inactive,
    /// The reward is outside its validity.
    OutOfTime,
    /// The reward is out of stock.
    OutOfStock,
    /// No cost of the reward applies to the member.
    NoCost,
    /// A fact that the price needs cannot be read.
    Unreadable,
    /// The member has no card to pay with.
    NoCard {
        /// The required card definition.
        card_definition_id: Text,
    },
    /// The member has no card for the points that the reward gives.
    NoTarget {
        /// The required card definition.
        card_definition_id: Text,
    },
    /// The card has too few points.
    Short {
        /// The price in points.
        required: u64,
        /// The balance in points.
        available: u64,
    },
}

/// The reason against a purchase that could be made at another time, or by another member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseBlocker {
    /// The purchase would exceed a spending limit.
    Limited(ExceededLimit),
    /// The member has reached the frequency limit.
    LimitRefusal(LimitRefusal),
}

/// The decided purchase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PurchasePlan<'r> {
    /// The cost that applies.
    pub cost: &'r Cost,
    /// The index of the paying card.
    pub card: usize,
    /// The index of the card that gets the bought points, if points are bought.
    pub target: Option<usize>,
    /// The reason against the purchase, if any: then it is rejected.
    pub blocker: Option<PurchaseBlocker>,
}

/// The price of a reward for a member, and the cards involved.
#[derive(Debug, Clone, PartialEq)]
pub struct Price<'r> {
    /// The cost that applies.
    pub cost: &'r Cost,
    /// The index of the paying card.
    pub card: usize,
    /// The index of the card that gets the bought points, or the reason why no card does.
    pub target: Result<Option<usize>, PurchaseRefusal>,
}

/// Returns the price of a reward for a member; `left` is its stock, `None` without a limit.
pub fn price<'r>(
    reward: &'r LoyaltyReward,
    left: Option<u64>,
    buying: &PurchasingMember<'_>,
    facts: &dyn Facts,
    context: &Context,
) -> Result<Price<'r>, PurchaseRefusal> {
    if !reward.is_active {
        return Err(PurchaseRefusal::Inactive);
    }
    if !reward.validity.holds(context.now, &facts.time_zone()) {
        return Err(PurchaseRefusal::OutOfTime);
    }
    if left == Some(0) {
        return Err(PurchaseRefusal::OutOfStock);
    }
    let cost = cost_of(reward, buying, facts, context)?;
    let card_of = |definition: &Text| buying.cards.iter().position(|card| card.card_definition_id == *definition);
    let card = card_of(&cost.card_definition_id)
        .ok_or_else(|| PurchaseRefusal::NoCard { card_definition_id: cost.card_definition_id.clone() })?;
    let target = match &reward.gives {
        RewardContent::Item(_) => Ok(None),
        RewardContent::Points { card_definition_id, .. } => {
            let no_target = || PurchaseRefusal::NoTarget { card_definition_id: card_definition_id.clone() };
            card_of(card_definition_id).map(Some).ok_or_else(no_target)
        }
    };
    Ok(Price { cost, card, target })
}

/// Decides the purchase of a reward by a member; `left` is its stock, `None` without a limit.
pub fn purchase<'r>(
    reward: &'r LoyaltyReward,
    left: Option<u64>,
    buying: &PurchasingMember<'_>,
    facts: &dyn Facts,
    context: &Context,
) -> Result<PurchasePlan<'r>, PurchaseRefusal> {
    let Price { cost, card, target } = price(reward, left, buying, facts, context)?;
    let target = target?;
    let no_card = || PurchaseRefusal::NoCard { card_definition_id: cost.card_definition_id.clone() };
    let paying = buying.cards.get(card).ok_or_else(no_card)?;
    // A card in debt has no points to spend.
    let available = u64::try_from(paying.so_far.balance).unwrap_or(0);
    if cost.points > available {
        return Err(PurchaseRefusal::Short { required: cost.points, available });
    }
    let zone = facts.time_zone();
    let limited = paying.limits.check(cost.points, paying.so_far).err().map(PurchaseBlocker::Limited);
    let resting = || reward.limits.allow(buying.bought, context.now, &zone).err().map(PurchaseBlocker::LimitRefusal);
    Ok(PurchasePlan { cost, card, target, blocker: limited.or_else(resting) })
}

/// Returns the first cost that applies to the member.
fn cost_of<'r>(
    reward: &'r LoyaltyReward,
    buying: &PurchasingMember<'_>,
    facts: &dyn Facts,
    context: &Context,
) -> Result<&'r Cost, PurchaseRefusal> {
    let request = Redeemables::default();
    let mut case = Case::new(facts, &request, context);
    case.request_customer =
        RequestCustomer { customer: Some(Fact::Borrowed(buying.customer)), stored: true, ..RequestCustomer::default() };
    let items = Items::with_collections(&case, &[]);
    let (setting, usage) = (request_facts(&case), RequestUsage::default());
    let order =
        RunningOrder { cart: &case.priced.cart, items: &items, request_facts: &setting, usage: &usage, paid: None };
    for cost in &reward.costs {
        let view = OfferFacts::new(&case, None, &order);
        let mut input = view.input(RequiredFacts::NOTHING);
        input.earning = Some(EarningInput { tiers: &[], member: buying.member, event: None });
        let holds = cost.rule.check(&input).and_then(|()| cost.rule.check_after(&input)).is_ok();
        if !view.is_certain() || case.budget.is_over() {
            return Err(PurchaseRefusal::Unreadable);
        }
        if holds {
            return Ok(cost);
        }
    }
    Err(PurchaseRefusal::NoCost)
}
