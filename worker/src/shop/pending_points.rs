//! Points of loyalty cards of the older interface that wait: they begin to, are made active, more, fewer, or never can be spent. It must not
//! know routes, nor why they were earned.

use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::Call;
use crate::http::shape::INT_MAX;
use crate::moment;
use crate::shop::balances::refused;
use crate::shop::card_changes::broken;
use crate::shop::card_lots::{Change, change, expiration_in, expiration_of, note, said, spent};
use crate::shop::cards::Present;
use crate::shop::pending_rows::{self, Begun, PENDING_POINTS, State};
use crate::shop::purses::CARD;
use crate::shop::vouchers::VOUCHER;
use crate::shop::{campaigns, customers, referral_counts};
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::points::{Arrival, Card, Delay, Expiration, Now, Outcome, Period, Refused, Unit};
use scrip::text::Text;
use serde_json::{Map, Value as Json, json};

/// What waits on a card. When there would be more, what comes joins what becomes active with it, or else soon after.
const WAITING_MAX: usize = 1_000;

/// Points that are to wait.
pub struct Waits<'w> {
    /// How many.
    pub points: i64,
    /// How many days.
    pub days: u32,
    /// The rules by which they lapse then, as they are written.
    pub rules: Option<&'w Json>,
    /// What is told of what they were earned for.
    pub details: Map<String, Json>,
}

/// Lets points wait on a card at the commit; the card itself is left to the caller. Says whether it has room for them.
pub fn wait(call: &mut Call<'_, '_>, card: &mut Document, waits: Waits<'_>) -> Result<bool, Fault> {
    let Some(mut known) = said(card) else { return Ok(false) };
    known.go_on(call.context.now);
    let there = known.points.saturating_add(known.waiting_points());
    if i64::try_from(there).is_ok_and(|there| waits.points > INT_MAX.saturating_sub(there)) {
        call.store.note(format!("the card `{}` takes no more points", card.id));
        return Ok(false);
    }
    let present = Present::of(call)?;
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
        None => card.earn(points, Arrival { lot: &id, expiration: &expiration }, (&delay, &id), now),
    });
    let changed = changed.map_err(|refused| broken(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(false) };
    note(call.store, &present, card, &changed, None)?;
    let now_ms = call.now_ms();
    if let Some(known) = joins {
        pending_rows::change(call.store, &known, (waits.points, State::Pending), now_ms);
        let row = call.store.document(PENDING_POINTS, &known)?.map(pending_rows::show);
        tell(call, card, "updated", (row.unwrap_or_default(), (waits.points, "AUTOMATIC")));
        return Ok(true);
    }
    let of = |name: &str| waits.details.get(name).cloned().unwrap_or_default();
    let told = json!({
        "id": id.as_str(), "voucher_id": card.id, "campaign_id": card.parent, "customer_id": card.holder,
        "order_id": of("order").get("id"), "points": waits.points,
        "activates_at": present.zone.day(at).map(|day| day.text()), "details": waits.details,
        "created_at": moment::text(now_ms), "updated_at": null,
    });
    let told = told.as_object().cloned().unwrap_or_default();
    tell(call, card, "added", (Json::Object(told.clone()), (waits.points, "AUTOMATIC")));
    pending_rows::begin(call.store, card, &id, Begun { told, at, rules: waits.rules.cloned() }, now_ms);
    Ok(true)
}

/// What somebody does with points that wait.
#[derive(Clone, Copy)]
pub enum Hand {
    /// They can be spent from now on.
    Activates,
    /// There are so many more of them, or fewer.
    Adjusts(i64),
    /// They never can be spent.
    Cancels,
}

/// Does it at the commit; gives how many there were, how many were ever on the card, and what is on it.
pub fn act_on(call: &mut Call<'_, '_>, mut card: Document, id: &str, hand: Hand) -> Result<Handled, CallError> {
    let row = call.store.document(PENDING_POINTS, id)?.filter(|row| row.parent.as_ref() == Some(&card.id));
    let row = row.ok_or_else(|| not_found(PENDING_POINTS, id))?;
    let now_ms = call.now_ms();
    let state = State::of(&row, now_ms);
    if state != State::Pending {
        return Err(too_late(hand, state).into());
    }
    let id = Text::from(row.id.as_str());
    let waits = said(&card).map_or(0, |card| card.waiting.iter().find(|one| one.id == id).map_or(0, |one| one.points));
    let waits = i64::try_from(waits).unwrap_or(INT_MAX);
    if let Hand::Adjusts(by) = hand {
        check_bounds(call, &card, waits, by)?;
    }
    let present = Present::of(call)?;
    let expiration = expiration_in(&row.body).unwrap_or_default();
    let spent = spent(call.store, &card)?;
    let changed = change(&present, &mut card, spent, |points, now| done_to(points, (&id, hand), &expiration, now));
    let changed = changed.map_err(|refused| broken(&card.id, &refused))?;
    let Some(Change { outcome, .. }) = &changed else { return Err(not_found(PENDING_POINTS, &id).into()) };
    let left = i64::try_from(outcome.card.available()).unwrap_or(INT_MAX);
    if let Some(changed) = &changed {
        note(call.store, &present, &card, changed, Some(&mut call.ids))?;
    }
    match hand {
        Hand::Activates => {}
        Hand::Adjusts(by) => {
            pending_rows::change(call.store, &id, (by, State::Pending), now_ms);
            tell(call, &card, "updated", (pending_rows::show(row), (by, "MANUAL")));
            remember(call, &card, by)?;
        }
        Hand::Cancels => {
            pending_rows::change(call.store, &id, (0, State::Canceled), now_ms);
            tell(call, &card, "canceled", (pending_rows::show(row), (waits.saturating_neg(), "MANUAL")));
            remember(call, &card, waits.saturating_neg())?;
        }
    }
    call.touch(&mut card);
    call.store.update(VOUCHER.object, &card);
    let total = CARD.loaded(&card, call.context.now).map_or(0, |loaded| loaded.total);
    Ok(Handled { points: waits, total, left, card_id: card.id })
}

/// Writes down at the commit what happened to points that wait: what is told of them, as it was before, and how many came or went.
fn tell(call: &mut Call<'_, '_>, card: &Document, word: &str, (mut told, (by, operation)): (Json, (i64, &str))) {
    let on_card = said(card).map_or(0, |card| card.waiting_points());
    let before = told.get("points").and_then(Json::as_i64).unwrap_or(0);
    let total = if word == "updated" { before.saturating_add(by) } else { before };
    if let Some(told) = told.as_object_mut() {
        told.insert("points".into(), total.into());
    }
    let total = if word == "canceled" { 0 } else { total };
    let balance = json!({
        "points": by, "total": total, "balance": on_card, "type": CARD.kind, "operation_type": operation, "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    let id = call.ids.hex18("lopc_").to_string();
    pending_rows::note(call.store, card, (id, word), (told, balance), call.context.now.millis());
}

/// What is told of what was done.
pub struct Handled {
    /// How many there were.
    pub points: i64,
    /// What was ever on the card, as far as it could be spent.
    pub total: i64,
    /// What is on it.
    pub left: i64,
    /// The card.
    pub card_id: String,
}

fn done_to(card: &Card, (id, hand): (&Text, Hand), expiration: &Expiration, now: &Now<'_>) -> Result<Outcome, Refused> {
    match hand {
        Hand::Adjusts(by) => card.adjust(id, by, now),
        Hand::Cancels => card.cancel(id, now),
        Hand::Activates => {
            // They lapse counted from now, and not from the day on which they would have come.
            let mut card = card.clone();
            for one in card.pending.iter_mut().filter(|one| one.id == *id) {
                one.expiration = expiration.clone();
            }
            card.activate(id, now)
        }
    }
}

fn too_late(hand: Hand, state: State) -> ErrorBody {
    let done = match hand {
        Hand::Activates => "activated",
        Hand::Adjusts(_) => "updated",
        Hand::Cancels => "canceled",
    };
    let told = format!("Only pending points in 'PENDING' status can be {done}. Current status: '{}'.", state.word());
    error(400, "invalid_pending_points_state", "Invalid pending points state", told)
}

/// Some are left, and no more than a card can have.
fn check_bounds(call: &Call<'_, '_>, card: &Document, waits: i64, by: i64) -> Result<(), CallError> {
    if by == 0 {
        return Err(refused("Property .points must NOT be 0 (actual value is `0`)".into()).into());
    }
    let least = 1_i64.saturating_sub(waits);
    if by < least {
        return Err(refused(format!("Property .points must be >= {least} (actual value is `{by}`)")).into());
    }
    let Some(mut known) = said(card) else { return Ok(()) };
    known.go_on(call.context.now);
    let there = i64::try_from(known.points.saturating_add(known.waiting_points())).unwrap_or(INT_MAX);
    let most = INT_MAX.saturating_sub(there);
    if by > most {
        return Err(refused(format!("Property .points must be <= {most} (actual value is `{by}`)")).into());
    }
    Ok(())
}

/// What a customer earned in a campaign counts from when it was earned, and is more or less by what becomes of it.
fn remember(call: &mut Call<'_, '_>, card: &Document, by: i64) -> Result<(), CallError> {
    let (Some(customer), Some(campaign)) = (&card.holder, &card.parent) else { return Ok(()) };
    let Some(mut customer) = call.store.document(customers::CUSTOMER.object, customer)? else { return Ok(()) };
    let Some(campaign) = call.store.document(campaigns::CAMPAIGN.object, campaign)? else { return Ok(()) };
    let name = campaign.body.get("name").and_then(Json::as_str).unwrap_or_default();
    referral_counts::earn(&mut customer.body, name, by)?;
    call.touch(&mut customer);
    call.store.update(customers::CUSTOMER.object, &customer);
    Ok(())
}
