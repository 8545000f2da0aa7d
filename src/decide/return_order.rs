//! Decides the return of units that a request names, by shares or by deciding the redeemables of the order again.

pub mod facts_without;
pub mod recheck;

use crate::count::{length, total};
use crate::decide::order_return::answer::{ReturnOutcome, ReturnRequest};
use crate::decide::order_return::card_transfers::{is_of, remaining_spent_units};
use crate::decide::order_return::remaining_discounts;
use crate::decide::order_return::settled::{DiscountSettlement, Redemptions, SettledRedemption, Settlement};
use crate::decide::order_return::share::{free_units, share};
use crate::decide::order_return::units::requested_units;
use crate::decide::return_order::facts_without::FactsWithout;
use crate::decide::return_order::recheck::{RecheckOutcome, RecheckedRedemption, decide_again, redeemable_exists};
use crate::decide::returns::is_returnable;
use crate::decide::summary_delta::CountedAs;
use crate::facts::{Facts, SummaryCounts};
use crate::id::Context;
use crate::ledger::Transfer;
use crate::model::order::{Item, Order, OrderStatus};
use crate::model::order_return::{RemainingDiscount, ReturnPolicy};
use crate::refusal::{Reason, Refusal};

/// Returns part of an order, or refuses with the reason.
pub fn return_items(facts: &dyn Facts, request: &ReturnRequest, context: &Context) -> Result<ReturnOutcome, Refusal> {
    let key = &request.order_key;
    let order = facts.order(key).found().ok_or_else(|| Refusal::not_found("order", key))?;
    check(&order)?;
    let back = share(&order, &requested_units(&order, &request.items)?);
    let redemptions = Redemptions::find(facts, &order)?;
    let mut settled = DiscountSettlement::by_share(&order, &back, &redemptions);
    if request.policy == ReturnPolicy::Recheck && !back.is_full {
        check_recheck(&order, &redemptions)?;
        recheck(&mut settled, facts, &order, &redemptions, context)?;
    }
    let (policy, metadata) = (request.policy, request.metadata.clone());
    let settlement = Settlement { order: &order, back: &back, redemptions: &redemptions, settled, policy, metadata };
    settlement.decide(context)
}

fn check(order: &Order) -> Result<(), Refusal> {
    let status = order.status.unwrap_or(OrderStatus::Created);
    if !is_returnable(status) {
        let details = format!("Order must be PAID or FULFILLED to be returned (actual status is `{}`)", status.name());
        return Err(Refusal::new(Reason::InvalidOrder, details));
    }
    if order.items.iter().all(|item| item.quantity == 0) {
        let details = match order.returns.is_empty() {
            true => "Order has no items to return",
            false => "Order has no items left to return",
        };
        return Err(Refusal::new(Reason::InvalidOrder, details));
    }
    Ok(())
}

/// Refuses a recheck of an order with units that were free or replaced others.
fn check_recheck(order: &Order, redemptions: &Redemptions) -> Result<(), Refusal> {
    let changed = |item: &Item| {
        let lines = redemptions.remaining_discounts.iter().filter_map(|remaining| remaining.line(item.id.as_ref()?));
        total(lines.map(|line| line.units.unsigned_abs()))
    };
    let units = |item: &Item| match free_units(item) {
        0 => Some([0, changed(item)?]),
        free => Some([free, 0]),
    };
    let found: Option<Vec<[u64; 2]>> = order.items.iter().map(units).collect();
    let found = found.ok_or_else(Refusal::out_of_bounds)?.into_iter().enumerate().find(|(_, units)| *units != [0, 0]);
    let Some((position, [free, replaced])) = found else { return Ok(()) };
    let (kind, count) = if free > 0 { ("came free", free) } else { ("were added or replaced", replaced) };
    let details = format!(
        "Property .policy must NOT be RECHECK for an order with units that {kind}: order.items[{position}] has `{count}`"
    );
    Err(Refusal::new(Reason::InvalidPayload, details))
}

/// Decides the redemptions again whose redeemables still exist; the others keep their shares.
fn recheck(
    settled: &mut DiscountSettlement,
    facts: &dyn Facts,
    order: &Order,
    redemptions: &Redemptions,
    context: &Context,
) -> Result<(), Refusal> {
    let is_again: Vec<bool> = redemptions.parts.iter().map(|part| redeemable_exists(facts, part)).collect();
    for (remaining, _) in settled.remaining_discounts.iter().zip(&is_again).filter(|(_, is_again)| **is_again) {
        remaining_discounts::remove_discounts(&mut settled.order, remaining);
    }
    let again = || redemptions.parts.iter().enumerate().filter(|(position, _)| is_again.get(*position) == Some(&true));
    let (orders, order_total) = CountedAs::stored(order).map_or((0, 0), |counted| (1, counted.total.signed()));
    let own = |transfer: &&Transfer| again().any(|(_, part)| is_of(transfer, &part.id));
    let transfers: Vec<Transfer> = redemptions.chains.iter().filter(own).cloned().collect();
    let mut requests: Vec<Vec<usize>> = Vec::new();
    for (position, part) in again() {
        let is_same = |group: &&mut Vec<usize>| {
            let first = group.first().and_then(|first| redemptions.parts.get(*first));
            first.is_some_and(|first| part.parent.is_some() && first.parent == part.parent)
        };
        match requests.last_mut().filter(is_same) {
            Some(group) => group.push(position),
            None => requests.push(vec![position]),
        }
    }
    for positions in requests {
        let parts: Vec<RecheckedRedemption<'_>> = positions
            .iter()
            .filter_map(|position| redemptions.parts.get(*position))
            .map(|redemption| RecheckedRedemption {
                redemption,
                spent: remaining_spent_units(&redemptions.chains, &redemption.id),
            })
            .collect();
        let since = parts.first().map(|part| part.redemption.date).unwrap_or_default();
        let own = length(&again().filter(|(_, part)| part.date <= since).collect::<Vec<_>>());
        let facts = FactsWithout {
            facts,
            transfers: &transfers,
            customer_id: order.customer_id.as_ref(),
            summary: SummaryCounts { orders, order_total, redeemed: own, succeeded: own },
            since,
        };
        let decided = decide_again(&facts, &parts, &mut settled.order, context.seed)?;
        for (position, decided) in positions.iter().zip(decided) {
            apply_recheck(settled, *position, decided);
        }
    }
    Ok(())
}

fn apply_recheck(settled: &mut DiscountSettlement, position: usize, decided: RecheckOutcome) {
    let Some(remaining) = settled.remaining_discounts.get_mut(position) else { return };
    let (granted, budget, lost) = match decided {
        RecheckOutcome::Granted(granted, budget) => (granted, budget, None),
        RecheckOutcome::Lost(refusal) => {
            (RemainingDiscount { id: remaining.id.clone(), ..RemainingDiscount::default() }, Vec::new(), Some(refusal))
        }
        RecheckOutcome::Deleted => return,
    };
    *remaining = granted;
    let part = SettledRedemption { policy: ReturnPolicy::Recheck, budget: Some(budget), lost };
    settled.parts.get_mut(position).into_iter().for_each(|one| one.clone_from(&part));
}
