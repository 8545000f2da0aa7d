//! Decides how much of bought rewards is taken back, and how many of the paid points are refunded.
//!
//! Points are refunded for the value that can be taken. All of them are refunded for an unused reward, a proportional
//! part for a partly spent card, and none for a used reward.

use crate::count::share;
use crate::decide::order_return::card_transfers::{is_of, remaining_spent_units, spent_units_of};
use crate::facts::Facts;
use crate::ledger::Transfer;
use crate::model::redemption::{SpentUnits, StoredRedemption};
use crate::model::reward::BoughtReward;
use crate::text::Text;

/// The returned value of bought rewards on one voucher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardReturn {
    /// The voucher, by id.
    pub voucher_id: Text,
    /// The bought value: credits in minor units, points, or 1 for a coupon.
    pub bought: u64,
    /// The part of it that can be taken.
    pub taken: u64,
}

impl RewardReturn {
    /// Takes the available value of one reward.
    pub fn of(reward: &BoughtReward) -> RewardReturn {
        RewardReturn {
            voucher_id: reward.voucher_id.clone(),
            bought: reward.bought,
            taken: reward.available.min(reward.bought),
        }
    }

    /// Returns whether nothing can be taken.
    pub fn is_used(&self) -> bool {
        self.taken == 0
    }

    /// Returns the refunded part of the paid points, rounded down.
    pub fn refunded_points(&self, points: u64) -> u64 {
        // No more is taken than was bought.
        share(points, self.taken, self.bought).unwrap_or(0)
    }
}

/// The rewards that several redemptions bought. Those on one voucher are taken together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RewardReturns {
    /// The vouchers.
    pub vouchers: Vec<RewardReturn>,
    /// The redemptions, each with the index of its voucher.
    redemptions: Vec<(Text, usize)>,
}

impl RewardReturns {
    /// Finds the rewards of redemptions whose points were not refunded. `chain` has the remaining amounts of their
    /// transfers.
    pub fn find<'p>(
        facts: &dyn Facts,
        redemptions: impl Iterator<Item = &'p StoredRedemption>,
        chain: &[Transfer],
    ) -> RewardReturns {
        let mut found = RewardReturns::default();
        for redemption in redemptions.filter(|redemption| redemption.document.get("reward").is_some()) {
            if !matches!(remaining_spent_units(chain, &redemption.id), Some(SpentUnits::Points(1..))) {
                continue;
            }
            if let Some(reward) = facts.bought_reward(redemption).found() {
                found.add(redemption.id.clone(), &reward);
            }
        }
        found
    }

    #[expect(clippy::arithmetic_side_effects, reason = "what an order bought stays within 64 bits")]
    fn add(&mut self, redemption_id: Text, reward: &BoughtReward) {
        let known = self.vouchers.iter().position(|known| known.voucher_id == reward.voucher_id);
        let position = known.unwrap_or(self.vouchers.len());
        match self.vouchers.get_mut(position) {
            Some(known) => {
                known.bought += reward.bought;
                known.taken = reward.available.min(known.bought);
            }
            None => self.vouchers.push(RewardReturn::of(reward)),
        }
        self.redemptions.push((redemption_id, position));
    }

    /// Returns the return of the reward of a redemption, including other rewards on the same voucher.
    pub fn of(&self, redemption_id: &str) -> Option<&RewardReturn> {
        let (_, position) = self.redemptions.iter().find(|(id, _)| id == redemption_id)?;
        self.vouchers.get(*position)
    }

    /// Returns the refunded part of the points that a redemption paid.
    pub fn refunded_points(&self, redemption_id: &str, points: u64) -> u64 {
        self.of(redemption_id).map_or(points, |reward| reward.refunded_points(points))
    }

    /// Returns a redemption with the spent points reduced to those that are refunded.
    pub fn lower_spent(&self, redemption: StoredRedemption) -> StoredRedemption {
        let lower = |spent| match spent {
            SpentUnits::Points(points) => SpentUnits::Points(self.refunded_points(&redemption.id, points)),
            SpentUnits::Credits(_) => spent,
        };
        StoredRedemption { spent: redemption.spent.map(lower), ..redemption }
    }

    /// Returns the part of a transfer that is reversed.
    pub fn returned_amount(&self, transfer: &Transfer) -> u64 {
        let own = self.redemptions.iter().find(|(id, _)| is_of(transfer, id));
        match (own, spent_units_of(transfer)) {
            (Some((id, _)), Some(SpentUnits::Points(points))) => self.refunded_points(id, points),
            _ => transfer.amount,
        }
    }
}
