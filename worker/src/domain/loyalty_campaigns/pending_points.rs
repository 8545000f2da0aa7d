//! Creates, changes, activates and cancels pending points of loyalty cards (v1).

use crate::domain::balances::adjustments::change_refusal;
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::pending;
use crate::domain::balances::pending::{NewPendingRow, PENDING_POINTS, PendingPointsTransaction, PendingState};
use crate::domain::balances::points::{
    PointsChange, apply_operation, find_account_balance, parse_expiration, read_loyalty_card, record_change,
    stored_expiration,
};
use crate::domain::campaigns::campaign;
use crate::domain::clock::LocalTime;
use crate::domain::customers::{customer, referral_summary};
use crate::domain::due::settlement_fault;
use crate::domain::loyalty_campaigns::points_origin::PointsOrigin;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::Call;
use crate::http::shape::INT_MAX;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::Document;
use crate::store::records::TransactionRecord;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::points::{CardOutcome, CardRefusal, Credit, Delay, Expiration, Now, Period, PointsCard, Unit};
use scrip::text::Text;
use serde_json::{Value as Json, json};

/// Maximum number of pending entries on a card. Beyond it, new points join the next entry to become active.
const PENDING_MAX: usize = 1_000;

/// Points to be credited later.
pub struct NewPendingPoints<'w> {
    /// Number of points.
    pub points: i64,
    /// Days until they can be spent.
    pub days: u32,
    /// Stored expiration rules that apply from then on.
    pub rules: Option<&'w Json>,
    /// The origin of the points.
    pub origin: PointsOrigin,
}

/// Adds pending points to a card; the caller writes the card document. Returns their id, or `None` when the card has no room.
pub fn add(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    pending_points: NewPendingPoints<'_>,
) -> Result<Option<Text>, Fault> {
    let Some(mut current) = read_loyalty_card(card) else { return Ok(None) };
    current.advance_to(call.context.now);
    let existing = amount::signed(current.points.plus(current.pending_points())?)?;
    if pending_points.points > INT_MAX.minus(existing)? {
        call.store.warn(format!("the card `{}` takes no more points", card.id));
        return Ok(None);
    }
    let present = LocalTime::of(call)?;
    let expiration = parse_expiration(pending_points.rules, card)?;
    let delay = Delay::Period(Period { value: pending_points.days, unit: Unit::Day });
    let points = pending_points.points.unsigned_abs();
    let id = call.ids.hex18("lopp_");
    let at = delay.earned(present.now().at, &present.zone).and_then(|wait| wait.activates_at()).unwrap_or_default();
    let joined_id = if current.pending.len() < PENDING_MAX {
        None
    } else {
        let later = current.pending.iter().find(|pending_lot| pending_lot.activates_at >= at);
        later.or(current.pending.last()).map(|pending_lot| pending_lot.id.clone())
    };
    let account_balance = find_account_balance(call.store, card)?;
    let changed = apply_operation(&present, card, account_balance, |card, now| match &joined_id {
        Some(joined) => card.adjust(joined, pending_points.points, now),
        None => card.earn(points, Credit { lot: &id, expiration: &expiration }, &delay, &id, now),
    });
    let changed = changed.map_err(|refused| settlement_fault(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(None) };
    record_change(call.store, &present, card, &changed, None)?;
    let now_ms = call.now_ms();
    if let Some(joined_id) = joined_id {
        pending::update(call.store, &joined_id, pending_points.points, PendingState::Pending, now_ms);
        let row = call.store.document(PENDING_POINTS, &joined_id)?;
        let row = row.ok_or_else(|| Fault(format!("the pending points `{joined_id}` have no row")))?;
        write_transaction(call, card, "updated", pending::to_json(row), pending_points.points, "AUTOMATIC")?;
        return Ok(Some(joined_id));
    }
    let event = json!({
        "type": "customer.order.paid", "entity_id": card.holder, "created_at": timestamp::text(now_ms), "category": "ACTION",
    });
    let details = json!({
        "id": id.as_str(), "voucher_id": card.id, "campaign_id": card.parent, "customer_id": card.holder,
        "order_id": pending_points.origin.order_id(), "points": pending_points.points,
        "activates_at": present.zone.day(at).map(|day| day.text()), "details": pending_points.origin.details_with("event", event),
        "created_at": timestamp::text(now_ms), "updated_at": null,
    });
    write_transaction(call, card, "added", details.clone(), pending_points.points, "AUTOMATIC")?;
    pending::insert(call.store, card, &id, NewPendingRow { details, at, rules: pending_points.rules.cloned() }, now_ms);
    Ok(Some(id))
}

/// Adds `by` pending points under an id, or removes them when negative; the caller writes the card document. Returns the
/// change, which is 0 when they are no longer pending.
pub fn adjust(call: &mut Call<'_, '_>, card: &mut Document, id: &str, by: i64) -> Result<i64, Fault> {
    let row = call.store.document(PENDING_POINTS, id)?.filter(|row| row.parent.as_ref() == Some(&card.id));
    let Some(row) = row.filter(|row| PendingState::of(row, call.now_ms()) == PendingState::Pending) else {
        return Ok(0);
    };
    let id = Text::from(id);
    let pending_points = pending_on_card(card, &id)?;
    let by = by.max(amount::negated(pending_points)?);
    if pending_points == 0 || by == 0 {
        return Ok(0);
    }
    let (present, account_balance, now_ms) =
        (LocalTime::of(call)?, find_account_balance(call.store, card)?, call.now_ms());
    let is_canceled = by == amount::negated(pending_points)?;
    let changed = apply_operation(&present, card, account_balance, |points, now| match is_canceled {
        true => points.cancel(&id, now),
        false => points.adjust(&id, by, now),
    });
    let changed = changed.map_err(|refused| settlement_fault(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(0) };
    record_change(call.store, &present, card, &changed, Some(&mut call.ids))?;
    match is_canceled {
        true => pending::update(call.store, &id, 0, PendingState::Canceled, now_ms),
        false => pending::update(call.store, &id, by, PendingState::Pending, now_ms),
    }
    let change_name = if is_canceled { "canceled" } else { "updated" };
    write_transaction(call, card, change_name, pending::to_json(row), by, "AUTOMATIC")?;
    Ok(by)
}

/// Returns the number of points that are pending on a card under an id; 0 when they are no longer pending.
fn pending_on_card(card: &Document, id: &Text) -> Result<i64, Fault> {
    let card = read_loyalty_card(card);
    let pending = card.iter().flat_map(|card| &card.pending).find(|pending_lot| pending_lot.id == *id);
    pending.map_or(Ok(0), |pending_lot| amount::signed(pending_lot.points))
}

/// Action of a caller on pending points.
#[derive(Clone, Copy)]
pub enum PendingPointsAction {
    /// They can be spent from now on.
    Activate,
    /// Their number changes by this amount.
    Adjust(i64),
    /// They are canceled.
    Cancel,
}

/// Applies an action; returns the number of pending points before it, and the total and balance of the card.
pub fn apply_action(
    call: &mut Call<'_, '_>,
    mut card: Document,
    id: &str,
    action: PendingPointsAction,
) -> Result<PendingPointsResult, CallError> {
    let row = call.store.document(PENDING_POINTS, id)?.filter(|row| row.parent.as_ref() == Some(&card.id));
    let row = row.ok_or_else(|| not_found(PENDING_POINTS, id))?;
    let now_ms = call.now_ms();
    let state = PendingState::of(&row, now_ms);
    if state != PendingState::Pending {
        return Err(state_refusal(action, state).into());
    }
    let id = Text::from(row.id.as_str());
    let pending_points = pending_on_card(&card, &id)?;
    if let PendingPointsAction::Adjust(by) = action {
        check_bounds(call, &card, pending_points, by)?;
    }
    let present = LocalTime::of(call)?;
    let expiration = stored_expiration(&row)?;
    let account_balance = find_account_balance(call.store, &card)?;
    let changed = apply_operation(&present, &mut card, account_balance, |points, now| {
        apply_to_points(points, &id, action, &expiration, now)
    });
    let changed = changed.map_err(|refused| settlement_fault(&card.id, &refused))?;
    let Some(PointsChange { outcome, .. }) = &changed else { return Err(not_found(PENDING_POINTS, &id).into()) };
    let balance = amount::signed(outcome.card.available())?;
    if let Some(changed) = &changed {
        record_change(call.store, &present, &card, changed, Some(&mut call.ids))?;
    }
    match action {
        PendingPointsAction::Activate => {}
        PendingPointsAction::Adjust(by) => {
            pending::update(call.store, &id, by, PendingState::Pending, now_ms);
            write_transaction(call, &card, "updated", pending::to_json(row), by, "MANUAL")?;
            update_earned_points(call, &card, by)?;
        }
        PendingPointsAction::Cancel => {
            pending::update(call.store, &id, 0, PendingState::Canceled, now_ms);
            let by = amount::negated(pending_points)?;
            write_transaction(call, &card, "canceled", pending::to_json(row), by, "MANUAL")?;
            update_earned_points(call, &card, by)?;
        }
    }
    call.touch(&mut card);
    call.store.update(VOUCHER.object, &card);
    let credited = CARD.credited_total(&card, call.context.now)?.ok_or_else(|| unreadable_card(&card))?;
    Ok(PendingPointsResult { points: pending_points, total: credited.total, balance, card_id: card.id })
}

/// Queues the transaction of a change of pending points: the details before it, and the change.
fn write_transaction(
    call: &mut Call<'_, '_>,
    card: &Document,
    change_name: &'static str,
    mut details: Json,
    by: i64,
    operation: &str,
) -> Result<(), Fault> {
    let on_card = read_loyalty_card(card).ok_or_else(|| unreadable_card(card))?.pending_points();
    let before = TransactionRecord::of_value(&details).points();
    let before = before.ok_or_else(|| Fault(format!("pending points of `{}` have no number", card.id)))?;
    let total = if change_name == "updated" { before.plus(by)? } else { before };
    if let Some(details) = details.as_object_mut() {
        details.insert("points".into(), total.into());
    }
    let total = if change_name == "canceled" { 0 } else { total };
    let balance = json!({
        "points": by, "total": total, "balance": on_card, "type": CARD.kind, "operation_type": operation, "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    let id = call.ids.hex18("lopc_").to_string();
    let transaction = PendingPointsTransaction { id, change_name, points: details, balance };
    pending::insert_transaction(call.store, card, transaction, call.context.now.millis());
    Ok(())
}

fn unreadable_card(card: &Document) -> Fault {
    Fault(format!("the card `{}` cannot be read", card.id))
}

/// Result of an action on pending points.
pub struct PendingPointsResult {
    /// Number of pending points before the action.
    pub points: i64,
    /// Total of spendable points ever credited to the card.
    pub total: i64,
    /// Spendable balance of the card.
    pub balance: i64,
    /// Id of the card.
    pub card_id: String,
}

fn apply_to_points(
    card: &PointsCard,
    id: &Text,
    action: PendingPointsAction,
    expiration: &Expiration,
    now: &Now<'_>,
) -> Result<CardOutcome, CardRefusal> {
    match action {
        PendingPointsAction::Adjust(by) => card.adjust(id, by, now),
        PendingPointsAction::Cancel => card.cancel(id, now),
        PendingPointsAction::Activate => {
            // Their expiration starts now, not on the planned day.
            let mut card = card.clone();
            for pending_lot in card.pending.iter_mut().filter(|pending_lot| pending_lot.id == *id) {
                pending_lot.expiration = expiration.clone();
            }
            card.activate(id, now)
        }
    }
}

fn state_refusal(action: PendingPointsAction, state: PendingState) -> ErrorBody {
    let verb = match action {
        PendingPointsAction::Activate => "activated",
        PendingPointsAction::Adjust(_) => "updated",
        PendingPointsAction::Cancel => "canceled",
    };
    let details = format!("Only pending points in 'PENDING' status can be {verb}. Current status: '{}'.", state.name());
    error(400, "invalid_pending_points_state", "Invalid pending points state", details)
}

/// Checks that at least one point stays pending and that the card has room.
fn check_bounds(call: &Call<'_, '_>, card: &Document, pending_points: i64, by: i64) -> Result<(), CallError> {
    if by == 0 {
        return Err(change_refusal("Property .points must NOT be 0 (actual value is `0`)".into()).into());
    }
    let lowest = 1_i64.minus(pending_points)?;
    if by < lowest {
        return Err(change_refusal(format!("Property .points must be >= {lowest} (actual value is `{by}`)")).into());
    }
    let Some(mut current) = read_loyalty_card(card) else { return Ok(()) };
    current.advance_to(call.context.now);
    let existing = amount::signed(current.points.plus(current.pending_points())?)?;
    let highest = INT_MAX.minus(existing)?;
    if by > highest {
        return Err(change_refusal(format!("Property .points must be <= {highest} (actual value is `{by}`)")).into());
    }
    Ok(())
}

/// Changes the points that the customer earned in the campaign; pending points count from the time of earning.
fn update_earned_points(call: &mut Call<'_, '_>, card: &Document, by: i64) -> Result<(), CallError> {
    let (Some(customer), Some(campaign)) = (&card.holder, &card.parent) else { return Ok(()) };
    let Some(mut customer) = call.store.document(customer::CUSTOMER.object, customer)? else { return Ok(()) };
    let Some(campaign) = call.store.document(campaign::CAMPAIGN.object, campaign)? else { return Ok(()) };
    let name = campaign.as_campaign().name().unwrap_or_default();
    referral_summary::add_points(&mut customer, name, by)?;
    call.touch(&mut customer);
    call.store.update(customer::CUSTOMER.object, &customer);
    Ok(())
}
