//! Decides the grant of an effect for a member. Tracks the remaining capacity of cards and stock of incentives for the next
//! effect of the event.
//!
//! docs/spec/loyalty.md#4.2, step 5. Rules that add points to one card share its limits. Rules that give the last unit
//! of an incentive give it once.

use crate::count::Countable;
use crate::decide::earn::amount;
use crate::decide::earn::context::EarningContext;
use crate::decide::earn::verdict::{EffectSkipped, GrantedContent, GrantedEffect, GrantedPoints};
use crate::facts::Known;
use crate::facts::earning::{
    EarningCard, EarningEffect, EarningFacts, IncentiveGrant, Membership, Points, PointsBasis,
};
use crate::points::limits::{EarnedSoFar, EarningLimits, GlobalLimit};
use crate::text::Text;

/// The grants of this event so far.
pub struct GrantBudget<'f> {
    facts: &'f dyn EarningFacts,
    cards: Vec<CardState>,
    stock_taken: Vec<(Text, u64)>,
}

/// The state of a card, including the grants of the event.
struct CardState {
    id: Text,
    so_far: EarnedSoFar,
    /// The capacity that it had before the event, if a limit applies to the whole card.
    capacity: Option<u64>,
}

impl<'f> GrantBudget<'f> {
    /// Returns a budget without grants.
    pub fn new(facts: &'f dyn EarningFacts) -> GrantBudget<'f> {
        GrantBudget { facts, cards: Vec::new(), stock_taken: Vec::new() }
    }

    /// Grants an effect, limited by capacity and stock.
    pub fn grant(
        &mut self,
        effect: &EarningEffect,
        member: &Membership<'_>,
        earning_context: &EarningContext<'_>,
    ) -> Result<GrantedEffect, EffectSkipped> {
        match effect {
            EarningEffect::Points(points) => {
                let content = GrantedContent::Points(self.points(points, member, earning_context)?);
                Ok(GrantedEffect { incentive_id: None, content })
            }
            EarningEffect::Incentive(id) => self.incentive(id, member, earning_context),
        }
    }

    fn incentive(
        &mut self,
        id: &Text,
        member: &Membership<'_>,
        earning_context: &EarningContext<'_>,
    ) -> Result<GrantedEffect, EffectSkipped> {
        let incentive = match self.facts.incentive(id) {
            Known::Is(incentive) => incentive,
            Known::Absent => return Err(EffectSkipped::NoIncentive),
            Known::Unknown | Known::Unreadable => return Err(EffectSkipped::Unreadable),
        };
        if !incentive.is_active {
            return Err(EffectSkipped::InactiveIncentive);
        }
        // An incentive that is not in the list was not granted yet.
        let taken = self.stock_taken.iter().find(|(known, _)| known == id).map_or(0, |(_, taken)| *taken);
        if incentive.stock.is_some_and(|stock| stock <= taken) {
            return Err(EffectSkipped::OutOfStock);
        }
        let content = match &incentive.gives {
            IncentiveGrant::Points(points) => GrantedContent::Points(self.points(points, member, earning_context)?),
            IncentiveGrant::Item(item) => GrantedContent::Item(item.clone()),
        };
        match self.stock_taken.iter_mut().find(|(known, _)| known == id) {
            Some((_, taken)) => *taken = taken.plus_one(),
            None => self.stock_taken.push((id.clone(), 1)),
        }
        Ok(GrantedEffect { incentive_id: Some(id.clone()), content })
    }

    fn points(
        &mut self,
        effect: &Points,
        member: &Membership<'_>,
        earning_context: &EarningContext<'_>,
    ) -> Result<GrantedPoints, EffectSkipped> {
        let uncapped = amount::points(&effect.amount, earning_context)?;
        let card = member.cards.iter().find(|card| card.card_definition_id == effect.card_definition_id);
        let card = card.ok_or(EffectSkipped::NoCard)?;
        let state = self.state(card, earning_context)?;
        let (so_far, capacity) = (&mut state.so_far, state.capacity);
        // Nothing is paid for an order without an amount.
        let paid = earning_context.cart().map(|cart| cart.total().unwrap_or_default().minor());
        let points = card.limits.earned(uncapped, paid, *so_far);
        if points == 0 {
            return Err(EffectSkipped::Limited);
        }
        // Pending points count as available ones, so it need not be known here which of the two these will be.
        so_far.pending = so_far.pending.checked_add(points).ok_or(EffectSkipped::TooMany)?;
        so_far.in_period = so_far.in_period.checked_add(points).ok_or(EffectSkipped::TooMany)?;
        Ok(GrantedPoints {
            card_id: card.id.clone(),
            card_definition_id: card.card_definition_id.clone(),
            points,
            uncapped,
            expiration: effect.expiration.clone(),
            basis: basis(effect, card.limits, capacity, earning_context),
        })
    }

    /// Returns the points that an effect does not give for the present order and could give for a changed one.
    pub fn ungranted_points(
        &mut self,
        effect: &EarningEffect,
        member: &Membership<'_>,
        earning_context: &EarningContext<'_>,
    ) -> Option<GrantedPoints> {
        let EarningEffect::Points(points) = effect else { return None };
        let card = member.cards.iter().find(|card| card.card_definition_id == points.card_definition_id)?;
        let capacity = self.state(card, earning_context).ok()?.capacity;
        let basis = basis(points, card.limits, capacity, earning_context)?;
        Some(GrantedPoints {
            card_id: card.id.clone(),
            card_definition_id: card.card_definition_id.clone(),
            points: 0,
            uncapped: 0,
            expiration: points.expiration.clone(),
            basis: Some(basis),
        })
    }

    /// Returns the state of a card. It is loaded only if a limit needs it.
    fn state(
        &mut self,
        card: &EarningCard,
        earning_context: &EarningContext<'_>,
    ) -> Result<&mut CardState, EffectSkipped> {
        let position = match self.cards.iter().position(|known| known.id == card.id) {
            Some(position) => position,
            None => {
                let global = card.limits.global;
                let since = global.since(earning_context.case.context.now, &earning_context.case.zone);
                let known = match global {
                    GlobalLimit::None => Known::Absent,
                    GlobalLimit::Total(_) | GlobalLimit::Current(..) => self.facts.earned(&card.id, since),
                };
                let so_far = match known {
                    Known::Is(known) => known,
                    Known::Absent => EarnedSoFar::default(),
                    Known::Unknown | Known::Unreadable => return Err(EffectSkipped::Unreadable),
                };
                let capacity = (global != GlobalLimit::None).then(|| global.capacity(so_far));
                self.cards.push(CardState { id: card.id.clone(), so_far, capacity });
                self.cards.len().remaining_after(1)
            }
        };
        self.cards.get_mut(position).ok_or(EffectSkipped::Unreadable)
    }
}

/// Returns how to recompute the points of an effect under the limits of a card, if they depend on the order of the
/// event.
fn basis(
    points: &Points,
    limits: EarningLimits,
    capacity: Option<u64>,
    earning_context: &EarningContext<'_>,
) -> Option<PointsBasis> {
    earning_context.cart().filter(|_| points.amount.follows_order())?;
    let global = capacity.map_or(GlobalLimit::None, GlobalLimit::Total);
    Some(PointsBasis { amount: points.amount.clone(), limits: EarningLimits { global, ..limits } })
}
