//! Decides what a member gets of an effect, and what is left for the next one of the same event: room on cards, pieces of an
//! incentive. It must not know rules.
//!
//! loyalty-v2.md section 4.2, step 5. Several rules that fill one card share its limits, and several that hand out the last piece
//! of an incentive hand out one.

use crate::decide::earn::amount;
use crate::decide::earn::scene::Scene;
use crate::decide::earn::verdict::{Gift, Granted, GrantedPoints, Withheld};
use crate::facts::Known;
use crate::facts::earning::{EarningCard, EarningFacts, Effect, Gives, Membership, Points};
use crate::points::limits::{EarnedSoFar, GlobalLimit};
use crate::text::Text;

/// What this event has taken so far.
pub struct Granting<'f> {
    facts: &'f dyn EarningFacts,
    cards: Vec<(Text, EarnedSoFar)>,
    pieces: Vec<(Text, u64)>,
}

impl<'f> Granting<'f> {
    /// Nothing was granted yet.
    pub fn new(facts: &'f dyn EarningFacts) -> Granting<'f> {
        Granting { facts, cards: Vec::new(), pieces: Vec::new() }
    }

    /// Grants an effect, as far as there is something to grant.
    pub fn grant(&mut self, effect: &Effect, member: &Membership<'_>, scene: &Scene<'_>) -> Result<Granted, Withheld> {
        match effect {
            Effect::Points(points) => {
                let gift = Gift::Points(self.points(points, member, scene)?);
                Ok(Granted { incentive_id: None, gift })
            }
            Effect::Incentive(id) => self.incentive(id, member, scene),
        }
    }

    fn incentive(&mut self, id: &Text, member: &Membership<'_>, scene: &Scene<'_>) -> Result<Granted, Withheld> {
        let incentive = match self.facts.incentive(id) {
            Known::Is(incentive) => incentive,
            Known::Absent => return Err(Withheld::NoIncentive),
            Known::Unknown | Known::Unreadable => return Err(Withheld::Unreadable),
        };
        if !incentive.is_active {
            return Err(Withheld::InactiveIncentive);
        }
        let taken = self.pieces.iter().find(|(known, _)| known == id).map_or(0, |(_, taken)| *taken);
        if incentive.stock.is_some_and(|stock| stock <= taken) {
            return Err(Withheld::OutOfStock);
        }
        let gift = match &incentive.gives {
            Gives::Points(points) => Gift::Points(self.points(points, member, scene)?),
            Gives::Thing(thing) => Gift::Thing(thing.clone()),
        };
        match self.pieces.iter_mut().find(|(known, _)| known == id) {
            Some((_, taken)) => *taken = taken.saturating_add(1),
            None => self.pieces.push((id.clone(), 1)),
        }
        Ok(Granted { incentive_id: Some(id.clone()), gift })
    }

    fn points(
        &mut self,
        effect: &Points,
        member: &Membership<'_>,
        scene: &Scene<'_>,
    ) -> Result<GrantedPoints, Withheld> {
        let uncapped = amount::points(&effect.amount, scene)?;
        let card = member.cards.iter().find(|card| card.card_definition_id == effect.card_definition_id);
        let card = card.ok_or(Withheld::NoCard)?;
        let so_far = self.so_far(card, scene)?;
        let paid = scene.cart().map(|cart| cart.total().unwrap_or_default().minor());
        let points = card.limits.earned(uncapped, paid, *so_far);
        if points == 0 {
            return Err(Withheld::Limited);
        }
        // What waits counts as what is there, so that it need not be known here which of the two these will be.
        so_far.pending = so_far.pending.saturating_add(points);
        so_far.in_period = so_far.in_period.saturating_add(points);
        Ok(GrantedPoints {
            card_id: card.id.clone(),
            card_definition_id: card.card_definition_id.clone(),
            points,
            uncapped,
            expiration: effect.expiration.clone(),
        })
    }

    /// What the card has, this event included. What no limit asks for is not looked up.
    fn so_far(&mut self, card: &EarningCard, scene: &Scene<'_>) -> Result<&mut EarnedSoFar, Withheld> {
        let place = match self.cards.iter().position(|(known, _)| *known == card.id) {
            Some(place) => place,
            None => {
                let global = card.limits.global;
                let since = global.since(scene.case.context.now, &scene.case.zone);
                let known = match global {
                    GlobalLimit::None => Known::Absent,
                    GlobalLimit::Total(_) | GlobalLimit::Current(..) => self.facts.earned(&card.id, since),
                };
                let known = match known {
                    Known::Is(known) => known,
                    Known::Absent => EarnedSoFar::default(),
                    Known::Unknown | Known::Unreadable => return Err(Withheld::Unreadable),
                };
                self.cards.push((card.id.clone(), known));
                self.cards.len().saturating_sub(1)
            }
        };
        self.cards.get_mut(place).map(|(_, so_far)| so_far).ok_or(Withheld::Unreadable)
    }
}
