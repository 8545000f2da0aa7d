//! Payments of orders with points, and their refunds: transfers and transactions.

use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::{LoadedCard, load};
use crate::domain::loyalty_members::card_changes::write_outcome;
use crate::domain::loyalty_members::card_checks::{card_refusal, find_definition};
use crate::domain::loyalty_members::card_view::{RelatedObjects, SpendingTarget, TransactionDetails};
use crate::domain::loyalty_programs::kinds::{CARD, find_by_id};
use crate::domain::point_spending::moved_points::MovedPoints;
use crate::domain::point_spending::order_snapshot::{read_snapshot, snapshot_json};
use crate::domain::point_spending::refunds::find_spent_points;
use crate::domain::point_spending::spendable_cards::{ORDER_TRANSACTION, SpendableCards};
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::Store;
use crate::store::amount;
use crate::store::document::{Document, DocumentBody, read_loaded};
use crate::store::sql::Fault;
use crate::store::transfer_rows::TransferRow;
use crate::timestamp;
use scrip::count::Countable;
use scrip::decide::payment::Payment;
use scrip::decide::returns::OrderSnapshot;
use scrip::facts::cards::{paid_account, payments_account};
use scrip::model::order::Order;
use scrip::money::Money;
use scrip::points::{DebitReason, RefundExpiry, SpentPoints};
use scrip::wire::order::read_order;
use serde_json::{Map, Value as Json, json};

/// An order to be paid.
pub struct PaymentOrder {
    /// Stored document of the order.
    pub row: Document,
    /// The order.
    pub order: Order,
    /// Amount to pay before any payment with points.
    pub total: Money,
    /// Amount that is still to be paid.
    pub due: Money,
}

/// Returns the payment view of a stored order.
pub fn load_payment_order(store: &Store<'_>, row: Document) -> Result<PaymentOrder, CallError> {
    let order =
        read_loaded("order", &row, read_order).map_err(|_| Fault(format!("the order `{}` cannot be read", row.id)))?;
    // An order without an amount has nothing to pay.
    let total = row.as_order().total().map_or(Ok(Money::ZERO), |minor| stored_money(minor, &row.id))?;
    let due = total.remaining_after(find_paid_amount(store, &row.id)?);
    Ok(PaymentOrder { row, order, total, due })
}

/// Returns the amount of an order that was paid with points, without refunded points.
pub fn find_paid_amount(store: &Store<'_>, order: &str) -> Result<Money, Fault> {
    let account = paid_account(order).to_string();
    stored_money(amount::unsigned(store.account_balance(&account, 0)?.balance)?, &account)
}

/// Returns a stored amount. Fails beyond the largest amount, where only a corrupt row leads.
fn stored_money(minor: u64, owner: &str) -> Result<Money, Fault> {
    Money::of(minor).ok_or_else(|| Fault(format!("an amount of `{owner}` is out of bounds: {minor}")))
}

/// Result of a payment request.
pub enum PaymentDecision {
    /// The payment is made.
    Paid(Payment),
    /// The payment is rejected for this reason.
    Rejected(Json),
}

/// Returns the document of a payment, without its id and without the members of a completed payment.
pub fn payment_details(
    member: &Document,
    spendable: &SpendableCards,
    payment_order: &PaymentOrder,
    limits: &Json,
    decision: &PaymentDecision,
) -> DocumentBody {
    let card = spendable.cards.first();
    let (status, rejection) = match decision {
        PaymentDecision::Paid(_) => ("APPROVED", Json::Null),
        PaymentDecision::Rejected(refusal) => ("REJECTED", refusal.clone()),
    };
    let mut details = json!({ "reason": "Order payment", "rejection": rejection, "metadata": limits });
    if let (PaymentDecision::Paid(payment), Some(details)) = (decision, details.as_object_mut()) {
        let ratio: Json =
            serde_json::from_str(&payment.ratio.text()).unwrap_or_else(|_| payment.ratio.text().as_str().into());
        let paid = json!({ "amount": payment.amount, "points_spent": payment.points, "exchange_ratio": ratio });
        details.insert("payment".into(), paid);
    }
    let mut body = Map::new();
    body.insert("program_id".into(), member.parent.clone().into());
    body.insert("member_id".into(), member.id.as_str().into());
    body.insert("card_id".into(), card.map(|loaded| loaded.row.id.as_str()).into());
    body.insert("card_definition_id".into(), card.map(|loaded| loaded.definition_id()).into());
    body.insert("card_transaction_id".into(), Json::Null);
    body.insert("order_id".into(), payment_order.row.id.as_str().into());
    body.insert("status".into(), status.into());
    body.insert("type".into(), "PAY_WITH_POINTS".into());
    body.insert("details".into(), details);
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), ORDER_TRANSACTION.into());
    body
}

fn related<'a>(transaction: &'a str, order: &'a str) -> RelatedObjects<'a> {
    RelatedObjects { order: Some(order), order_transaction: Some(transaction), ..RelatedObjects::default() }
}

/// Decided payment of a member, with the body of its transaction.
pub struct DecidedPayment<'a> {
    /// The member.
    pub member: &'a Document,
    /// The order to be paid.
    pub payment_order: &'a PaymentOrder,
    /// Result of the request.
    pub decision: &'a PaymentDecision,
    /// Body of the transaction, as [`payment_details`] returns it.
    pub body: DocumentBody,
}

/// Queues the payment, or the record of its rejection; returns the transaction.
pub fn pay(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    spendable: &mut SpendableCards,
    decided: DecidedPayment<'_>,
) -> Result<Document, CallError> {
    let DecidedPayment { member, payment_order, decision, mut body } = decided;
    let id = call.ids.hex18("lotx_").to_string();
    if let (PaymentDecision::Paid(payment), Some(loaded)) = (decision, spendable.cards.first_mut()) {
        let outcome = loaded.card.take(DebitReason::Spend, payment.points, &present.now());
        let outcome = outcome.map_err(|refused| card_refusal(&loaded.row.id, refused))?;
        let members = TransactionDetails {
            reason: None,
            spent_on: Some(SpendingTarget::Order),
            related: related(&id, &payment_order.row.id),
        };
        let transactions = write_outcome(call.store, present, loaded, outcome, Some((&members, &mut call.ids)))?;
        body.insert("card_transaction_id".into(), transactions.into_iter().next().map(|row| row.id).into());
        let payment_id = call.ids.hex18("lpay_");
        if let Some(members) = body.get_mut("details").and_then(|details| details.get_mut("payment")?.as_object_mut()) {
            members.insert("id".into(), payment_id.as_str().into());
        }
        let mut snapshot = OrderSnapshot::of(&payment_order.order);
        // The goods matter only for cards that refund by item.
        if find_definition(call.store, loaded)?.refund_expiry != Some(RefundExpiry::Item) {
            snapshot.goods.clear();
        }
        let stored =
            json!({ "spent": payment.points, "back": 0, "amount": payment.amount, "bought": snapshot_json(&snapshot) });
        body.insert("kept".into(), stored);
        post_payment(call, &id, &payment_order.row.id, payment.amount, false)?;
    }
    body.insert("id".into(), id.as_str().into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    let mut document = Document::new(id, None, call.now_ms(), body);
    (document.parent, document.holder) = (Some(member.id.clone()), member.holder.clone());
    call.store.insert(ORDER_TRANSACTION, &document);
    Ok(document)
}

fn post_payment(call: &mut Call<'_, '_>, chain: &str, order: &str, amount: u64, is_refund: bool) -> Result<(), Fault> {
    let (paid, from) = (paid_account(order).to_string(), payments_account().to_string());
    let (debit, credit) = if is_refund { (paid, from) } else { (from, paid) };
    let amount = amount::signed(amount)?;
    let at = call.now_ms();
    call.store.post(vec![TransferRow {
        id: format!("{chain}.paid"),
        chain: chain.to_owned(),
        debit,
        credit,
        amount,
        reverses: None,
        part_of: None,
        at,
    }]);
    Ok(())
}

/// Queues the refund of points that paid an order, by the card definitions and by the remaining goods of the order. Without `left` the
/// order is canceled.
pub fn refund_order(
    call: &mut Call<'_, '_>,
    order_id: &str,
    left: Option<&OrderSnapshot>,
) -> Result<MovedPoints, Fault> {
    match try_refund_order(call, order_id, left) {
        Ok(moved) => Ok(moved),
        Err(CallError::Refused(refusal)) => {
            let refusal = refusal.details.as_deref().unwrap_or_default();
            call.store.warn(format!("the payment of `{order_id}` is not refunded: {refusal}"));
            Ok(MovedPoints::default())
        }
        Err(CallError::Fault(fault)) => Err(fault),
    }
}

fn try_refund_order(
    call: &mut Call<'_, '_>,
    order_id: &str,
    left: Option<&OrderSnapshot>,
) -> Result<MovedPoints, CallError> {
    let mut moved = MovedPoints::default();
    let payments = call.store.list_refundable_payments(paid_account(order_id).as_str())?;
    if payments.is_empty() {
        return Ok(moved);
    }
    let present = LocalTime::of(call)?;
    let mut spendings = Vec::new();
    for payment in payments {
        let spent_points = find_spent_points(call.store, payment.as_payment().card_transaction_id(), &payment.id)?;
        spendings.push((payment, spent_points));
    }
    let parts = spendings.iter().flat_map(|(_, spent_points)| &spent_points.parts);
    let lots: Vec<String> = parts.map(|part| part.lot.to_string()).collect();
    let lots: Vec<&str> = lots.iter().map(String::as_str).collect();
    let mut cards: Vec<LoadedCard> = Vec::new();
    for (payment, spent_points) in spendings {
        let id = payment.as_payment().card_id();
        if !cards.iter().any(|loaded| loaded.row.id == id) {
            // Points of a deleted card are not refunded.
            let Some(row) = find_by_id(call.store, &CARD, id)? else { continue };
            cards.push(load(call.store, row, &lots)?);
        }
        if let Some(loaded) = cards.iter_mut().find(|loaded| loaded.row.id == id) {
            moved.spent.extend(refund_payment(call, &present, loaded, payment, spent_points, left)?);
        }
    }
    Ok(moved)
}

/// Refunds one payment by the remaining goods of the order, less earlier refunds.
fn refund_payment(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    loaded: &mut LoadedCard,
    mut payment: Document,
    mut spent_points: SpentPoints,
    left: Option<&OrderSnapshot>,
) -> Result<Option<Json>, CallError> {
    let paid = payment.as_payment();
    let unreadable = || Fault(format!("the payment `{}` cannot be read", payment.id));
    let stored = paid.spent().zip(paid.refunded()).zip(paid.amount());
    let ((spent, earlier), worth) = stored.ok_or_else(unreadable)?;
    let worth = stored_money(worth, &payment.id)?;
    let Some(mode) = find_definition(call.store, loaded)?.refund_expiry else { return Ok(None) };
    // Payments that are older than snapshots have none, and refund by the whole order.
    let snapshot = paid.order_snapshot().map(read_snapshot).transpose()?.unwrap_or_default();
    let due = snapshot.refunded_share(mode, left).ok_or_else(unreadable)?.of(spent);
    let refunded_now = due.remaining_after(earlier);
    if refunded_now == 0 {
        return Ok(None);
    }
    spent_points.refunded = earlier;
    let order = paid.order_id().to_owned();
    let outcome = loaded.card.refund(&spent_points, refunded_now, &present.now());
    let outcome = outcome.map_err(|refused| card_refusal(&loaded.row.id, refused))?;
    let members = TransactionDetails { reason: None, spent_on: None, related: related(&payment.id, &order) };
    write_outcome(call.store, present, loaded, outcome, Some((&members, &mut call.ids)))?;
    // At most the whole is due, of which a part is never beyond the bounds.
    let portion = |points: u64| worth.portion(points, spent).ok_or_else(unreadable);
    let amount = portion(due)?.remaining_after(portion(earlier)?).minor();
    if amount > 0 {
        post_payment(call, &format!("{}.back.{due}", payment.id), &order, amount, true)?;
    }
    if let Some(stored) = payment.body.get_mut("kept").and_then(Json::as_object_mut) {
        stored.insert("back".into(), due.into());
    }
    call.touch(&mut payment);
    call.store.update(ORDER_TRANSACTION, &payment);
    Ok(Some(json!({ "card_id": loaded.row.id, "points": refunded_now, "amount": amount })))
}
