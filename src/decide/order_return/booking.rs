//! Decides which transfers of a redemption a return reverses, and the amount of each.

use crate::count::{Countable, share};
use crate::decide::order_return::card_transfers::{is_of, spent_units_of};
use crate::decide::order_return::reward_return::RewardReturns;
use crate::decide::order_return::share::{OrderShare, paid_units, split};
use crate::facts::{discounted_account, discounted_units_account, orders_account};
use crate::ledger::{AccountId, Transfer};
use crate::model::order::{Item, Order, RelatedObject};
use crate::model::redemption::StoredRedemption;
use crate::money::Money;
use crate::text::{Text, joined};
use crate::time::Instant;

/// The count of a redemption on an account of a budget or a cap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetCount {
    /// The debited account.
    pub debit: AccountId,
    /// The credited account.
    pub credit: AccountId,
    /// The amount.
    pub amount: u64,
}

/// A redemption whose transfers are returned.
pub struct Booking<'a> {
    /// The redemption.
    pub redemption: &'a StoredRedemption,
    /// Its discounts before the return.
    pub discount_before: Money,
    /// The part that is given up.
    pub returned_discount: Money,
    /// Its new counts in budgets and caps, if it was decided again.
    pub budget: Option<&'a [BudgetCount]>,
    /// The lines that it gave a discount on or whose units it changed.
    pub touches: &'a dyn Fn(&Item) -> bool,
    /// `true` if all of it is returned, because no unit is left.
    pub is_fully_returned: bool,
    /// The rewards that redemptions of the order bought.
    pub rewards: &'a RewardReturns,
}

/// Numbers and posts the reversing transfers.
pub struct ReturnBooking {
    /// The id of the return.
    pub chain: Text,
    /// The instant of the transfers.
    pub at: Instant,
    /// The number of transfers so far.
    pub count: usize,
}

impl Booking<'_> {
    /// Returns the transfers that reverse the returned part of a redemption. Higher counts in budgets and caps of a
    /// redemption that was decided again are charged. `chain` has the remaining amounts of the transfers.
    pub fn book(
        &self,
        chain: &[Transfer],
        order: &Order,
        back: &OrderShare,
        numbering: &mut ReturnBooking,
    ) -> Vec<Transfer> {
        let own = || chain.iter().filter(|transfer| is_of(transfer, &self.redemption.id) && transfer.amount > 0);
        let mut open_counts: Vec<BudgetCount> =
            self.budget.filter(|_| !self.is_fully_returned).unwrap_or_default().to_vec();
        let mut booked = Vec::new();
        for transfer in own() {
            let amount = match self.budget {
                _ if self.is_fully_returned => self.rewards.returned_amount(transfer),
                Some(_) if is_of_budget(transfer) => {
                    transfer.amount.remaining_after(settle_counts(&mut open_counts, transfer))
                }
                Some(_) | None => self.part(transfer, order, back),
            };
            if amount > 0 {
                booked.push(numbering.reverse(transfer, amount, self.is_fully_returned));
            }
        }
        let chain = own().next().map(|transfer| transfer.chain.clone());
        let chain = chain.or(self.redemption.parent.clone()).unwrap_or_else(|| self.redemption.id.clone());
        let more = open_counts.into_iter().filter(|count| count.amount > 0);
        booked.extend(more.filter_map(|count| numbering.charge(count, &self.redemption.id, &chain)));
        booked
    }

    fn part(&self, transfer: &Transfer, order: &Order, back: &OrderShare) -> u64 {
        let left = transfer.amount;
        if spent_units_of(transfer).is_some() {
            let remaining = self.discount_before.remaining_after(self.returned_discount);
            // The ledger of credits and points has no amount beyond the bounds of money.
            let all = Money::of(left).unwrap_or(Money::MAX);
            return split(all, [self.returned_discount.minor(), remaining.minor()]).minor();
        }
        if transfer.debit == discounted_account(None) {
            return self.returned_discount.minor().min(left);
        }
        if transfer.debit == orders_account(None) {
            return back.paid_gross().minor().min(left);
        }
        if transfer.credit == discounted_units_account() {
            return self.units(transfer, order, back).min(left);
        }
        0
    }

    /// Returns the returned part of counted units: those of the goods that the account names, else those of all lines
    /// with a discount.
    #[expect(clippy::arithmetic_side_effects, reason = "units of the lines of an order stay within 64 bits")]
    fn units(&self, transfer: &Transfer, order: &Order, back: &OrderShare) -> u64 {
        let goods = transfer.debit.as_str().rsplit_once('/').map_or("", |(_, goods)| goods);
        let named = |item: &Item| {
            let kinds = [RelatedObject::Sku, RelatedObject::Product];
            kinds.into_iter().any(|kind| item.names(kind).any(|name| name == goods))
        };
        let touched = |item: &Item| (self.touches)(item);
        let is_named = order.items.iter().any(|item| named(item) && touched(item));
        let mut parts = [0_u64; 2];
        for (position, item) in order.items.iter().enumerate() {
            if !touched(item) || is_named && !named(item) {
                continue;
            }
            // Of other lines no unit is returned.
            let gone = back.at(position).map_or(0, |line| line.paid);
            let [units, kept] = &mut parts;
            *units += gone;
            *kept += paid_units(item).remaining_after(gone);
        }
        let [units, kept] = parts;
        // The share is at most the transfer's amount, so it fits.
        share(transfer.amount, units, units + kept).unwrap_or(0)
    }
}

/// Returns whether a transfer counts a discount, or discounted units.
fn is_of_budget(transfer: &Transfer) -> bool {
    transfer.debit == discounted_account(None) || transfer.credit == discounted_units_account()
}

/// Removes from `open_counts` the part that a transfer has counted already, and returns that part.
fn settle_counts(open_counts: &mut [BudgetCount], transfer: &Transfer) -> u64 {
    let mut left = transfer.amount;
    let is_same = |count: &&mut BudgetCount| count.debit == transfer.debit && count.credit == transfer.credit;
    for count in open_counts.iter_mut().filter(is_same) {
        let kept = count.amount.min(left);
        count.amount = count.amount.remaining_after(kept);
        left = left.remaining_after(kept);
    }
    transfer.amount.remaining_after(left)
}

impl ReturnBooking {
    /// Charges a higher count to a redemption, in its own chain, so that later returns and a rollback reverse it.
    fn charge(&mut self, count: BudgetCount, redemption_id: &Text, chain: &Text) -> Option<Transfer> {
        let id = joined(&[redemption_id, ".", &self.chain, ".", &self.count.to_string()]);
        self.count = self.count.plus_one();
        Some(Transfer {
            id,
            chain: chain.clone(),
            debit: count.debit,
            credit: count.credit,
            amount: count.amount,
            reverses: None,
            part_of: None,
            at: self.at,
        })
    }

    fn reverse(&mut self, transfer: &Transfer, amount: u64, is_full: bool) -> Transfer {
        let id = joined(&[&self.chain, ".", &self.count.to_string()]);
        self.count = self.count.plus_one();
        Transfer {
            id,
            chain: self.chain.clone(),
            debit: transfer.credit.clone(),
            credit: transfer.debit.clone(),
            amount,
            reverses: is_full.then(|| transfer.id.clone()),
            part_of: (!is_full).then(|| transfer.id.clone()),
            at: self.at,
        }
    }
}
