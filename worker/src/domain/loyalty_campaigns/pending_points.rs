//! Creates, changes, activates and cancels pending points of loyalty cards (v1).

use crate::domain::balances::adjustments::refused;
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::pending;
use crate::domain::balances::pending::{NewPendingRow, PENDING_POINTS, PendingPointsTransaction, PendingState};
use crate::domain::balances::points::{PointsChange, change, expiration_in, expiration_of, note, said, spent};
use crate::domain::campaigns::campaign;
use crate::domain::clock::LocalTime;
use crate::domain::customers::{customer, referral_summary};
use crate::domain::due::unsettled;
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
const WAITING_MAX: usize = 1_000;

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
pub fn wait(call: &mut Call<'_, '_>, card: &mut Document, waits: NewPendingPoints<'_>) -> Result<Option<Text>, Fault> {
    let Some(mut known) = said(card) else { return Ok(None) };
    known.go_on(call.context.now);
    let there = amount::signed(known.points.plus(known.waiting_points())?)?;
    if waits.points > INT_MAX.minus(there)? {
        call.store.warn(format!("the card `{}` takes no more points", card.id));
        return Ok(None);
    }
    let present = LocalTime::of(call)?;
    let expiration = waits.rules.and_then(expiration_of).unwrap_or_default();
    let delay = Delay::Period(Period { value: waits.days, unit: Unit::Day });
    let points = waits.points.unsigned_abs();
    let id = call.ids.hex18("lopp_");
    let at = delay.earned(present.now().at, &present.zone).and_then(|wait| wait.activates_at()).unwrap_or_default();
    let joins = if known.waiting.len() < WAITING_MAX {
        None
    } else {
        let later = known.waiting.iter().find(|one| one.activates_at >= at);
        later.or(known.waiting.last()).map(|one| one.id.clone())
    };
    let spent = spent(call.store, card)?;
    let changed = change(&present, card, spent, |card, now| match &joins {
        Some(known) => card.adjust(known, waits.points, now),
        None => card.earn(points, Credit { lot: &id, expiration: &expiration }, &delay, &id, now),
    });
    let changed = changed.map_err(|refused| unsettled(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(None) };
    note(call.store, &present, card, &changed, None)?;
    let now_ms = call.now_ms();
    if let Some(known) = joins {
        pending::change(call.store, &known, waits.points, PendingState::Pending, now_ms);
        let row = call.store.document(PENDING_POINTS, &known)?.map(pending::show);
        write_transaction(call, card, "updated", row.unwrap_or_default(), waits.points, "AUTOMATIC")?;
        return Ok(Some(known));
    }
    let event = json!({
        "type": "customer.order.paid", "entity_id": card.holder, "created_at": timestamp::text(now_ms), "category": "ACTION",
    });
    let message = json!({
        "id": id.as_str(), "voucher_id": card.id, "campaign_id": card.parent, "customer_id": card.holder,
        "order_id": waits.origin.order_id(), "points": waits.points,
        "activates_at": present.zone.day(at).map(|day| day.text()), "details": waits.origin.details_with("event", event),
        "created_at": timestamp::text(now_ms), "updated_at": null,
    });
    let message = message.as_object().cloned().unwrap_or_default();
    write_transaction(call, card, "added", Json::Object(message.clone()), waits.points, "AUTOMATIC")?;
    pending::begin(call.store, card, &id, NewPendingRow { details: message, at, rules: waits.rules.cloned() }, now_ms);
    Ok(Some(id))
}

/// Adds `by` pending points under an id, or removes them when negative; the caller writes the card document. Returns the
/// change, which is 0 when they are no longer pending.
pub fn shift(call: &mut Call<'_, '_>, card: &mut Document, id: &str, by: i64) -> Result<i64, Fault> {
    let row = call.store.document(PENDING_POINTS, id)?.filter(|row| row.parent.as_ref() == Some(&card.id));
    let Some(row) = row.filter(|row| PendingState::of(row, call.now_ms()) == PendingState::Pending) else {
        return Ok(0);
    };
    let id = Text::from(id);
    let waits = said(card).map_or(0, |card| card.waiting.iter().find(|one| one.id == id).map_or(0, |one| one.points));
    let waits = amount::signed(waits)?;
    let by = by.max(amount::negated(waits)?);
    if waits == 0 || by == 0 {
        return Ok(0);
    }
    let (present, spent, now_ms) = (LocalTime::of(call)?, spent(call.store, card)?, call.now_ms());
    let is_over = by == amount::negated(waits)?;
    let changed = change(&present, card, spent, |points, now| match is_over {
        true => points.cancel(&id, now),
        false => points.adjust(&id, by, now),
    });
    let changed = changed.map_err(|refused| unsettled(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(0) };
    note(call.store, &present, card, &changed, Some(&mut call.ids))?;
    match is_over {
        true => pending::change(call.store, &id, 0, PendingState::Canceled, now_ms),
        false => pending::change(call.store, &id, by, PendingState::Pending, now_ms),
    }
    let word = if is_over { "canceled" } else { "updated" };
    write_transaction(call, card, word, pending::show(row), by, "AUTOMATIC")?;
    Ok(by)
}

/// Action of a caller on pending points.
#[derive(Clone, Copy)]
pub enum PendingPointsAction {
    /// They can be spent from now on.
    Activates,
    /// Their number changes by this amount.
    Adjusts(i64),
    /// They are canceled.
    Cancels,
}

/// Applies an action; returns the number of pending points before it, and the total and balance of the card.
pub fn act_on(
    call: &mut Call<'_, '_>,
    mut card: Document,
    id: &str,
    hand: PendingPointsAction,
) -> Result<PendingPointsResult, CallError> {
    let row = call.store.document(PENDING_POINTS, id)?.filter(|row| row.parent.as_ref() == Some(&card.id));
    let row = row.ok_or_else(|| not_found(PENDING_POINTS, id))?;
    let now_ms = call.now_ms();
    let state = PendingState::of(&row, now_ms);
    if state != PendingState::Pending {
        return Err(too_late(hand, state).into());
    }
    let id = Text::from(row.id.as_str());
    let waits = said(&card).map_or(0, |card| card.waiting.iter().find(|one| one.id == id).map_or(0, |one| one.points));
    let waits = amount::signed(waits)?;
    if let PendingPointsAction::Adjusts(by) = hand {
        check_bounds(call, &card, waits, by)?;
    }
    let present = LocalTime::of(call)?;
    let expiration = expiration_in(row.as_points()).unwrap_or_default();
    let spent = spent(call.store, &card)?;
    let changed = change(&present, &mut card, spent, |points, now| done_to(points, &id, hand, &expiration, now));
    let changed = changed.map_err(|refused| unsettled(&card.id, &refused))?;
    let Some(PointsChange { outcome, .. }) = &changed else { return Err(not_found(PENDING_POINTS, &id).into()) };
    let left = amount::signed(outcome.card.available())?;
    if let Some(changed) = &changed {
        note(call.store, &present, &card, changed, Some(&mut call.ids))?;
    }
    match hand {
        PendingPointsAction::Activates => {}
        PendingPointsAction::Adjusts(by) => {
            pending::change(call.store, &id, by, PendingState::Pending, now_ms);
            write_transaction(call, &card, "updated", pending::show(row), by, "MANUAL")?;
            remember(call, &card, by)?;
        }
        PendingPointsAction::Cancels => {
            pending::change(call.store, &id, 0, PendingState::Canceled, now_ms);
            let by = amount::negated(waits)?;
            write_transaction(call, &card, "canceled", pending::show(row), by, "MANUAL")?;
            remember(call, &card, by)?;
        }
    }
    call.touch(&mut card);
    call.store.update(VOUCHER.object, &card);
    let total = CARD.loaded(&card, call.context.now)?.map_or(0, |loaded| loaded.total);
    Ok(PendingPointsResult { points: waits, total, left, card_id: card.id })
}

/// Queues the transaction of a change of pending points: the details before it, and the change.
fn write_transaction(
    call: &mut Call<'_, '_>,
    card: &Document,
    word: &'static str,
    mut message: Json,
    by: i64,
    operation: &str,
) -> Result<(), Fault> {
    let on_card = said(card).map_or(0, |card| card.waiting_points());
    let before = TransactionRecord::of_value(&message).points().unwrap_or(0);
    let total = if word == "updated" { before.plus(by)? } else { before };
    if let Some(message) = message.as_object_mut() {
        message.insert("points".into(), total.into());
    }
    let total = if word == "canceled" { 0 } else { total };
    let balance = json!({
        "points": by, "total": total, "balance": on_card, "type": CARD.kind, "operation_type": operation, "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    let id = call.ids.hex18("lopc_").to_string();
    let transaction = PendingPointsTransaction { id, word, points: message, balance };
    pending::note(call.store, card, transaction, call.context.now.millis());
    Ok(())
}

/// Result of an action on pending points.
pub struct PendingPointsResult {
    /// Number of pending points before the action.
    pub points: i64,
    /// Total of spendable points ever credited to the card.
    pub total: i64,
    /// Spendable balance of the card.
    pub left: i64,
    /// Id of the card.
    pub card_id: String,
}

fn done_to(
    card: &PointsCard,
    id: &Text,
    hand: PendingPointsAction,
    expiration: &Expiration,
    now: &Now<'_>,
) -> Result<CardOutcome, CardRefusal> {
    match hand {
        PendingPointsAction::Adjusts(by) => card.adjust(id, by, now),
        PendingPointsAction::Cancels => card.cancel(id, now),
        PendingPointsAction::Activates => {
            // Their expiration starts now, not on the planned day.
            let mut card = card.clone();
            for one in card.pending.iter_mut().filter(|one| one.id == *id) {
                one.expiration = expiration.clone();
            }
            card.activate(id, now)
        }
    }
}

fn too_late(hand: PendingPointsAction, state: PendingState) -> ErrorBody {
    let done = match hand {
        PendingPointsAction::Activates => "activated",
        PendingPointsAction::Adjusts(_) => "updated",
        PendingPointsAction::Cancels => "canceled",
    };
    let message = format!("Only pending points in 'PENDING' status can be {done}. Current status: '{}'.", state.word());
    error(400, "invalid_pending_points_state", "Invalid pending points state", message)
}

/// Checks that at least one point stays pending and that the card has room.
fn check_bounds(call: &Call<'_, '_>, card: &Document, waits: i64, by: i64) -> Result<(), CallError> {
    if by == 0 {
        return Err(refused("Property .points must NOT be 0 (actual value is `0`)".into()).into());
    }
    let least = 1_i64.minus(waits)?;
    if by < least {
        return Err(refused(format!("Property .points must be >= {least} (actual value is `{by}`)")).into());
    }
    let Some(mut known) = said(card) else { return Ok(()) };
    known.go_on(call.context.now);
    let there = amount::signed(known.points.plus(known.waiting_points())?)?;
    let most = INT_MAX.minus(there)?;
    if by > most {
        return Err(refused(format!("Property .points must be <= {most} (actual value is `{by}`)")).into());
    }
    Ok(())
}

/// Changes the points that the customer earned in the campaign; pending points count from the time of earning.
fn remember(call: &mut Call<'_, '_>, card: &Document, by: i64) -> Result<(), CallError> {
    let (Some(customer), Some(campaign)) = (&card.holder, &card.parent) else { return Ok(()) };
    let Some(mut customer) = call.store.document(customer::CUSTOMER.object, customer)? else { return Ok(()) };
    let Some(campaign) = call.store.document(campaign::CAMPAIGN.object, campaign)? else { return Ok(()) };
    let name = campaign.as_campaign().name().unwrap_or_default();
    referral_summary::earn(&mut customer, name, by)?;
    call.touch(&mut customer);
    call.store.update(customer::CUSTOMER.object, &customer);
    Ok(())
}
