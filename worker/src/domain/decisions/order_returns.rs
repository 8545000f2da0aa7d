//! Queues the writes of a return of part of an order: ledger entries, refunds to cards and the counts of the customer.

use crate::domain::balances::kinds::{BalanceKind, CARD, GIFT};
use crate::domain::balances::point_postings;
use crate::domain::balances::transactions::{TransactionHead, insert};
use crate::domain::caller;
use crate::domain::decisions::facts;
use crate::domain::rewards::returns;
use crate::domain::vouchers::voucher;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::facts::DocumentsById;
use scrip::decide::SummaryDelta;
use scrip::decide::order_return::answer::{ReturnAnswer, ReturnOutcome, ReturnedRedemption};
use scrip::decide::order_return::changed_order::{ChangedOrder, OrderChange, change_order};
use scrip::ledger::Entry;
use scrip::model::order::Order;
use scrip::model::redemption::SpentUnits;
use scrip::pricing::lines::PriceSource;
use scrip::wire::redemptions::order_return::stored_return;
use serde_json::{Value as Json, json};

/// Queues the refunds of a return; the order document and its counts are left to the caller. Returns the customer with the
/// queued writes applied.
pub fn write_refunds(
    call: &mut Call<'_, '_>,
    outcome: &ReturnOutcome,
    read_documents: &DocumentsById,
) -> Result<Option<Document>, CallError> {
    let ReturnOutcome { returned, entries, summary_delta, rewards, .. } = outcome;
    let withdrawn_rewards = returns::return_all(call, rewards)?;
    for part in &returned.parts {
        let Some((spent, voucher)) = part.spent.zip(part.redemption.voucher.as_ref()) else { continue };
        // A reward may have been credited to the card that paid for it.
        let changed_card =
            withdrawn_rewards.iter().find_map(|reward| reward.card().filter(|card| voucher.id == card.id));
        let stored = if changed_card.is_none() { call.store.document(VOUCHER.object, &voucher.id)? } else { None };
        if let Some(card) = changed_card.cloned().or(stored) {
            record_refund(call, Refund { part, spent, card }, returned, entries)?;
        }
    }
    call.store.apply(entries, None, call.now_ms())?;
    let changed = returned.parts.iter().filter(|part| part.is_fully_returned || part.spent.is_some());
    let changed = changed.filter_map(|part| part.redemption.voucher.as_ref());
    voucher::mark_updated(call, changed.map(|voucher| voucher.id.as_str()).collect());
    let customer_id = returned.parts.iter().find_map(|part| part.redemption.customer_id.as_deref());
    match *summary_delta == SummaryDelta::default() {
        true => Ok(None),
        false => facts::write_customer(call, read_documents, None, customer_id, summary_delta, &[]),
    }
}

/// Credits or points that a return refunds to a card.
struct Refund<'p> {
    part: &'p ReturnedRedemption,
    spent: SpentUnits,
    card: Document,
}

/// Records a refund as a transaction of the card.
fn record_refund(
    call: &mut Call<'_, '_>,
    refund: Refund<'_>,
    returned: &ReturnAnswer,
    entries: &[Entry],
) -> Result<(), CallError> {
    let Refund { part, spent, card } = refund;
    let mut card_after = card.clone();
    // The entries of this return are not posted yet.
    point_postings::refund_queued(call, &mut card_after, entries)?;
    let card_after = voucher::to_json_after_rollback(call, card_after, Some(spent))?;
    let balance_kind: &BalanceKind = match spent {
        SpentUnits::Credits(_) => &GIFT,
        SpentUnits::Points(_) => &CARD,
    };
    let number =
        |name: &str| card_after.get(balance_kind.block).and_then(|block| block.get(name)).cloned().unwrap_or_default();
    let mut balance = json!({
        "type": balance_kind.kind, "total": number(balance_kind.total), "object": "balance", "balance": number("balance"),
        "operation_type": "AUTOMATIC", "related_object": { "type": "voucher", "id": card.id },
    });
    if let Some(balance) = balance.as_object_mut() {
        balance.insert(balance_kind.total.into(), spent.amount().into());
    }
    let details = json!({
        "balance": balance, "order": order_names(&returned.order), "redemption": { "id": part.redemption.id.as_str() },
        "order_return": { "id": returned.id.as_str() },
    });
    let id = call.ids.record("vtx_");
    let (kind, source) = (format!("{}_REFUND", balance_kind.unit), caller::channel(call).id);
    let moved = TransactionHead { id: &id, kind: &kind, source: Some(&source), at_ms: call.now_ms() };
    insert(call.store, &card, &moved, [Json::Null, Json::Null], &details);
    Ok(())
}

/// Sets the remaining discounts of a changed order, and queues the refunds of its redemptions. Sent discounts on lines take
/// precedence, and with `has_discount` that of the order too. A sent discount equal to the stored one does not count as sent.
pub fn write_change(
    call: &mut Call<'_, '_>,
    stored: &Order,
    order: Order,
    has_discount: bool,
    read_documents: &DocumentsById,
) -> Result<Order, CallError> {
    let facts = facts::facts(call)?;
    let change = OrderChange { stored, order, has_discount, price_source: PriceSource::Sent };
    let changed = change_order(&facts, change, call.context);
    facts.end()?;
    let ChangedOrder { mut order, returned } = changed?;
    if let Some(outcome) = returned {
        write_refunds(call, &outcome, read_documents)?;
        order.returns.push(stored_return(&outcome.returned));
    }
    Ok(order)
}

fn order_names(order: &Order) -> Json {
    json!({ "id": order.id.as_deref(), "source_id": order.source_id.as_deref() })
}
