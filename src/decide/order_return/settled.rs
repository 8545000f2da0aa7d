//! Decides the consequences of a new settlement of an order's discounts: the refund, and the amounts to return to
//! cards, counts and budgets.

use crate::decide::order_return::answer::{ReturnAnswer, ReturnOutcome, ReturnedLine, ReturnedRedemption};
use crate::decide::order_return::booking::{Booking, BudgetCount, ReturnBooking};
use crate::decide::order_return::card_transfers;
use crate::decide::order_return::line_goods::OrderGoods;
use crate::decide::order_return::remaining_discounts::{find_remaining_discount, remove_returned, settle_on_lines};
use crate::decide::order_return::reward_return::{RewardReturn, RewardReturns};
use crate::decide::order_return::sent_lines;
use crate::decide::order_return::share::{OrderShare, without};
use crate::decide::returns::is_returnable;
use crate::decide::summary_delta::{CountedAs, SummaryDelta, recount};
use crate::facts::Facts;
use crate::id::{Context, Ids};
use crate::json::Node;
use crate::ledger::{Entry, Transfer};
use crate::model::order::{Item, Metadata, Order};
use crate::model::order_return::{RemainingDiscount, ReturnPolicy};
use crate::model::redemption::{LineTotals, RedemptionState, StoredRedemption};
use crate::money::Money;
use crate::pricing::Cart;
use crate::refusal::Refusal;

/// The valid redemptions of an order, with the remaining amounts of their transfers.
#[derive(Default)]
pub struct Redemptions {
    /// The redemptions, by date.
    pub parts: Vec<StoredRedemption>,
    /// Their transfers with the remaining amounts.
    pub chains: Vec<Transfer>,
    /// The part of their effects that is on the order.
    pub remaining_discounts: Vec<RemainingDiscount>,
    /// Their effects without those given up by returns, also where they do not fit the order while another
    /// redemption is rolled back.
    pub recorded: Vec<RemainingDiscount>,
    /// The lines of the order as they were sent, in their order.
    pub sent: Vec<LineTotals>,
    /// The rewards that they bought with points.
    pub rewards: RewardReturns,
}

impl Redemptions {
    /// Finds the redemptions of an order. Numbers out of bounds end the decision.
    pub fn find(facts: &dyn Facts, order: &Order) -> Result<Redemptions, Refusal> {
        let mut found = Redemptions::default();
        let counts = |entry: &Node<'static>| entry.get("rollback_id").is_none();
        for (id, _) in order.redemptions.iter().filter(|(_, entry)| counts(entry)) {
            let Some(redemption) = facts.redemption(id).found() else { continue };
            if redemption.state != RedemptionState::Succeeded {
                continue;
            }
            found.chains.extend(facts.chain(id).found().unwrap_or_default());
            let children = redemption.children.iter().filter_map(|child| facts.redemption(child).found());
            let children: Vec<StoredRedemption> = children.map(|child| child.into_owned()).collect();
            found.parts.extend(if children.is_empty() { vec![redemption.into_owned()] } else { children });
        }
        found.parts.retain(|part| part.order.as_ref().is_some_and(|own| own.id.is_some() && own.id == order.id));
        found.parts.sort_by_key(|part| part.date);
        found.recorded = found.parts.iter().map(|part| find_remaining_discount(part, order)).collect();
        let records = sent_lines::records(facts, order);
        let explained: Vec<Option<LineTotals>> =
            order.items.iter().map(|item| sent_lines::sent_line(item, &records, &found.recorded)).collect();
        settle_on_lines(
            order,
            &OrderGoods::of(order, &found.parts).with_fixed_lines(order, &explained),
            &mut found.recorded,
        )?;
        found.remaining_discounts.clone_from(&found.recorded);
        found.sent = sent_lines::fit(order, &explained, &mut found.recorded, &mut found.remaining_discounts);
        found.rewards = RewardReturns::find(facts, found.parts.iter(), &found.chains);
        Ok(found)
    }

    /// Returns for each redemption whether it paid with a card.
    pub fn are_cards(&self) -> Vec<bool> {
        self.parts.iter().map(|part| part.spent.is_some()).collect()
    }
}

/// The settlement of an order's discounts.
pub struct DiscountSettlement {
    /// The remaining order.
    pub order: Order,
    /// Its cost in minor units, if that is not the total of the order.
    pub cost: Option<Money>,
    /// The remaining discounts of each redemption.
    pub remaining_discounts: Vec<RemainingDiscount>,
    /// The other settled values of each redemption.
    pub parts: Vec<SettledRedemption>,
}

/// The settled values of a redemption in addition to its discounts.
#[derive(Debug, Clone, Default)]
pub struct SettledRedemption {
    /// The policy.
    pub policy: ReturnPolicy,
    /// Its new counts in budgets and caps, if it was decided again.
    pub budget: Option<Vec<BudgetCount>>,
    /// The reason why it grants nothing any more.
    pub lost: Option<Refusal>,
}

impl DiscountSettlement {
    /// Settles by shares: each returned unit gives up its share of the discounts.
    pub fn by_share(order: &Order, back: &OrderShare, redemptions: &Redemptions) -> DiscountSettlement {
        let mut remaining_discounts = redemptions.remaining_discounts.clone();
        remove_returned(order, back, &mut remaining_discounts);
        let parts = vec![SettledRedemption::default(); remaining_discounts.len()];
        DiscountSettlement { order: without(order, back, &remaining_discounts), cost: None, remaining_discounts, parts }
    }
}

/// The input of a settlement.
pub struct Settlement<'a> {
    /// The order before the settlement.
    pub order: &'a Order,
    /// The returned units.
    pub back: &'a OrderShare,
    /// The redemptions of the order.
    pub redemptions: &'a Redemptions,
    /// The settled discounts.
    pub settled: DiscountSettlement,
    /// The requested policy.
    pub policy: ReturnPolicy,
    /// Metadata of the return.
    pub metadata: Metadata,
}

impl Settlement<'_> {
    /// Decides the refund and the amounts to return to cards, counts and budgets. Sums out of bounds end the decision.
    pub fn decide(self, context: &Context) -> Result<ReturnOutcome, Refusal> {
        let Settlement { order, back, redemptions, settled, policy, metadata } = self;
        let mut ids = Ids::new(context);
        let id = ids.hex18("ret_");
        // An order without an amount costs nothing.
        let total = |order: &Order| Cart::stored(order).total().unwrap_or_default();
        let owed = order.uncovered();
        let (paid, cost) = (total(order).remaining_after(owed), settled.cost.unwrap_or_else(|| total(&settled.order)));
        // An order that is not paid yet gets no refund and has no unpaid rest.
        let refund = if order.status.is_some_and(is_returnable) { paid.remaining_after(cost) } else { Money::ZERO };
        let uncovered = if order.may_be_paid() { cost.remaining_after(paid) } else { Money::ZERO };
        let mut numbering = ReturnBooking { chain: id.clone(), at: context.now, count: 0 };
        let (mut entries, mut parts) = (Vec::new(), Vec::new());
        let after = settled.remaining_discounts.into_iter().zip(settled.parts);
        for ((redemption, before), (remaining, part)) in
            redemptions.parts.iter().zip(&redemptions.remaining_discounts).zip(after)
        {
            let touches = |item: &Item| item.id.as_ref().is_some_and(|id| before.line(id).is_some());
            let discount = before.total().remaining_after(remaining.total());
            // A used reward is not returned with the order, nor are its points refunded.
            let keeps_reward = redemptions.rewards.of(&redemption.id).is_some_and(RewardReturn::is_used);
            let is_fully_returned = back.is_full && !keeps_reward;
            let booking = Booking {
                redemption,
                discount_before: before.total(),
                returned_discount: discount,
                budget: part.budget.as_deref(),
                touches: &touches,
                is_fully_returned,
                rewards: &redemptions.rewards,
            };
            let transfers = booking.book(&redemptions.chains, order, back, &mut numbering);
            let spent = transfers.iter().find_map(card_transfers::refunded_units_of);
            entries.extend(transfers.into_iter().map(Entry::Post));
            parts.push(ReturnedRedemption {
                redemption: redemption.clone(),
                policy: part.policy,
                discount,
                spent,
                is_fully_returned,
                remaining,
                lost: part.lost,
            });
        }
        let summary_delta = SummaryDelta::refunded(parts.iter().filter_map(|part| part.spent));
        let summary_delta = summary_delta.ok_or_else(Refusal::out_of_bounds)?;
        let orders = recount(CountedAs::stored(order), CountedAs::stored(&settled.order));
        let line_id = |position: usize| order.items.get(position).and_then(|item| item.id.clone());
        let lines =
            back.lines.iter().map(|share| ReturnedLine { line_id: line_id(share.position), share: share.clone() });
        // An order without an amount has none to return.
        let gross = |order: &Order| order.amount.unwrap_or_default();
        let all_discounts = |order: &Order| gross(order).remaining_after(total(order));
        let mut remaining = settled.order;
        remaining.set_uncovered(uncovered);
        let returned = ReturnAnswer {
            id,
            date: context.now,
            policy,
            lines: lines.collect(),
            amount: gross(order).remaining_after(gross(&remaining)),
            discount: all_discounts(order).remaining_after(all_discounts(&remaining)),
            refund,
            uncovered,
            parts,
            order: remaining,
            metadata,
        };
        let taken = redemptions.rewards.vouchers.iter().filter(|reward| back.is_full && !reward.is_used());
        Ok(ReturnOutcome { returned, entries, summary_delta, orders, rewards: taken.cloned().collect() })
    }
}
