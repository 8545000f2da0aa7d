//! Decides for the stacker whether a redeemable may be used and what it gives. It must not know the order of trying.

use crate::decide::case::{Case, Resolved};
use crate::decide::check::{Found, check};
use crate::decide::loyalty::exchange;
use crate::decide::scene::{Items, check_rules_after};
use crate::model::incentive::Grant;
use crate::model::reward::RewardKind;
use crate::model::scope::Scope;
use crate::money::Money;
use crate::pricing::{Base, Cart, Gain, apply_discount, apply_gift, eligible_units};
use crate::refusal::{Reason, Refusal};
use crate::stacking::Judge;

/// The judge of one case.
pub struct Bench<'c> {
    case: &'c Case<'c>,
    items: Items<'c>,
    /// What the last check of each redeemable found.
    pub found: Vec<Found>,
}

impl<'c> Bench<'c> {
    /// A judge over a resolved request.
    pub fn new(case: &'c Case<'c>) -> Bench<'c> {
        let items = Items::new(case);
        let found = vec![Found::default(); case.resolved.len()];
        Bench { case, items, found }
    }

    fn eligible(&self, place: usize, cart: &Cart, once: bool) -> Vec<u64> {
        let everything = Scope::default();
        let scope = self.case.offer(place).and_then(|offer| offer.scope());
        let mut units = eligible_units(scope.unwrap_or(&everything), &self.items, cart);
        if once {
            for (units, line) in units.iter_mut().zip(&cart.lines) {
                if line.applied.is_some_and(|applied| !applied.is_zero()) {
                    *units = 0;
                }
            }
        }
        units
    }
}

impl Judge for Bench<'_> {
    fn undecided(&self, place: usize) -> bool {
        matches!(self.case.resolved.get(place), Some(Resolved::Unknown))
    }

    fn refusal(&mut self, place: usize, cart: &Cart) -> Option<Refusal> {
        let offer = match self.case.resolved.get(place)? {
            Resolved::Offer(offer) => offer,
            Resolved::Refused(refusal) => return Some(refusal.clone()),
            Resolved::Unknown => return None,
        };
        let redeemable = self.case.redeemables.get(place)?;
        let mut found = Found::default();
        let verdict = check(self.case, redeemable, offer, cart, &self.items, &mut found);
        if let Some(slot) = self.found.get_mut(place) {
            *slot = found;
        }
        verdict.err()
    }

    fn objection(&mut self, place: usize, before: &Cart, gain: &Gain) -> Option<Refusal> {
        let (offer, found) = (self.case.offer(place)?, self.found.get_mut(place)?);
        check_rules_after(self.case, offer, before, gain, &self.items, found).err()
    }

    fn rewards(&self, place: usize) -> bool {
        let exchange = self.case.offer(place).and_then(|offer| offer.exchange.as_ref());
        exchange.is_some_and(|exchange| !matches!(exchange.reward.kind, RewardKind::Coin(_)))
    }

    fn gain(&mut self, place: usize, cart: &Cart, base: Base<'_>, once: bool) -> Result<Gain, Refusal> {
        let Some(offer) = self.case.offer(place) else {
            return Ok(Gain::default());
        };
        let eligible = self.eligible(place, cart, once);
        match &offer.incentive.grant {
            Grant::Discount(discount) => {
                let scoped = offer.scope().is_some();
                apply_discount(discount, cart, base, &eligible, scoped)
                    .ok_or_else(|| Refusal::new(Reason::InvalidAmount, "Amount has to be a valid positive number"))
            }
            Grant::Gift(gift) => {
                let left = self.found.get(place).and_then(|found| found.credits).unwrap_or(0);
                let wanted = self.case.redeemables.get(place).and_then(|redeemable| redeemable.credits);
                let left = Money::from_wide(u128::from(left)).unwrap_or_default();
                let credits = wanted.map_or(left, |wanted| wanted.min(left));
                apply_gift(gift.effect, credits, cart, &eligible).map_err(|_| {
                    Refusal::new(
                        Reason::MissingOrderItemsAmount,
                        "At least one applicable order item with amount is required to redeem this GIFT_VOUCHER",
                    )
                })
            }
            Grant::Loyalty(_) => {
                let mut found = self.found.get(place).cloned().unwrap_or_default();
                let gain = exchange(self.case.redeemables.get(place), offer, cart, &mut found);
                if let Some(slot) = self.found.get_mut(place) {
                    *slot = found;
                }
                Ok(gain)
            }
        }
    }
}
