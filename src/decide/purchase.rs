//! Decides whether a member can buy a reward with points, what it costs them, and which cards that is about. It must not know JSON, how
//! anything is stored, nor how what is bought is handed over; and it changes nothing: trying and buying are one decision.
//!
//! loyalty-v2.md sections 7 and 10.

use crate::decide::case::{Buyer, Case};
use crate::decide::items::Items;
use crate::decide::rule_input::{OfferFacts, RunningOrder, request_facts};
use crate::decide::running::Running;
use crate::facts::purchase::{Buying, Cost, LoyaltyReward, Rewarded};
use crate::facts::{Fact, Facts};
use crate::id::Context;
use crate::model::request::Redeemables;
use crate::points::limits::{Exceeded, Resting};
use crate::rules::{EarningInput, Needs};
use crate::text::Text;

/// Why a reward cannot be bought, in the order in which it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// Its state does not let it be.
    Inactive,
    /// Not now.
    OutOfTime,
    /// There is none left.
    OutOfStock,
    /// It costs nothing that fits who buys.
    NoCost,
    /// Nobody can say what it costs.
    Unreadable,
    /// The member has no card to pay with.
    NoCard {
        /// Of which kind.
        card_definition_id: Text,
    },
    /// The member has no card for the points that it gives.
    NoTarget {
        /// Of which kind.
        card_definition_id: Text,
    },
    /// There are fewer points.
    Short {
        /// What it costs.
        required: u64,
        /// What there is.
        available: u64,
    },
}

/// What stands in the way of a purchase that could be made at another time, or by another member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    /// More would be spent than may be.
    Limited(Exceeded),
    /// The member bought it too often.
    Resting(Resting),
}

/// What a purchase is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bought<'r> {
    /// The price.
    pub cost: &'r Cost,
    /// Which of the cards pays.
    pub card: usize,
    /// Which of the cards gets the points that are bought, when points are.
    pub target: Option<usize>,
    /// What stands in the way, if something does: then it is rejected.
    pub hindrance: Option<Hindrance>,
}

/// What a reward costs a member, and which cards that is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Price<'r> {
    /// The price.
    pub cost: &'r Cost,
    /// Which of the cards pays.
    pub card: usize,
    /// Which of the cards gets the points that are bought; why none does, where none does.
    pub target: Result<Option<usize>, Denied>,
}

/// What a reward of which so many are left costs a member; nothing is without end.
pub fn price<'r>(
    reward: &'r LoyaltyReward,
    left: Option<u64>,
    buying: &Buying<'_>,
    facts: &dyn Facts,
    context: &Context,
) -> Result<Price<'r>, Denied> {
    if !reward.is_active {
        return Err(Denied::Inactive);
    }
    if !reward.validity.holds(context.now, &facts.time_zone()) {
        return Err(Denied::OutOfTime);
    }
    if left == Some(0) {
        return Err(Denied::OutOfStock);
    }
    let cost = cost_of(reward, buying, facts, context)?;
    let card_of = |definition: &Text| buying.cards.iter().position(|card| card.card_definition_id == *definition);
    let card = card_of(&cost.card_definition_id)
        .ok_or_else(|| Denied::NoCard { card_definition_id: cost.card_definition_id.clone() })?;
    let target = match &reward.gives {
        Rewarded::Thing(_) => Ok(None),
        Rewarded::Points { card_definition_id, .. } => {
            let no_target = || Denied::NoTarget { card_definition_id: card_definition_id.clone() };
            card_of(card_definition_id).map(Some).ok_or_else(no_target)
        }
    };
    Ok(Price { cost, card, target })
}

/// What it comes to that a member buys a reward of which so many are left; nothing is without end.
pub fn purchase<'r>(
    reward: &'r LoyaltyReward,
    left: Option<u64>,
    buying: &Buying<'_>,
    facts: &dyn Facts,
    context: &Context,
) -> Result<Bought<'r>, Denied> {
    let Price { cost, card, target } = price(reward, left, buying, facts, context)?;
    let target = target?;
    let no_card = || Denied::NoCard { card_definition_id: cost.card_definition_id.clone() };
    let paying = buying.cards.get(card).ok_or_else(no_card)?;
    let available = u64::try_from(paying.so_far.balance).unwrap_or(0);
    if cost.points > available {
        return Err(Denied::Short { required: cost.points, available });
    }
    let zone = facts.time_zone();
    let limited = paying.limits.check(cost.points, paying.so_far).err().map(Hindrance::Limited);
    let resting = || reward.limits.allow(buying.bought, context.now, &zone).err().map(Hindrance::Resting);
    Ok(Bought { cost, card, target, hindrance: limited.or_else(resting) })
}

/// The first cost that fits who buys.
fn cost_of<'r>(
    reward: &'r LoyaltyReward,
    buying: &Buying<'_>,
    facts: &dyn Facts,
    context: &Context,
) -> Result<&'r Cost, Denied> {
    let asked = Redeemables::default();
    let mut case = Case::new(facts, &asked, context);
    case.buyer = Buyer { customer: Some(Fact::Lent(buying.customer)), stored: true, ..Buyer::default() };
    let items = Items::naming(&case, &[]);
    let (setting, running) = (request_facts(&case), Running::default());
    let order = RunningOrder { cart: &case.priced.cart, items: &items, request_facts: &setting, running: &running };
    for cost in &reward.costs {
        let view = OfferFacts::new(&case, None, &order);
        let mut input = view.input(Needs::NOTHING);
        input.earning = Some(EarningInput { tiers: &[], member: buying.member, event: None });
        let holds = cost.rule.check(&input).and_then(|()| cost.rule.check_after(&input)).is_ok();
        if !view.is_certain() || case.work.is_over() {
            return Err(Denied::Unreadable);
        }
        if holds {
            return Ok(cost);
        }
    }
    Err(Denied::NoCost)
}
