//! Adjusts the points that an order earned on member cards (v2) after the order changed: revokes excess points and adds missing ones.

use crate::domain::clock::LocalTime;
use crate::domain::customers::customer::CUSTOMER;
use crate::domain::decisions::facts;
use crate::domain::earning::fired_rules;
use crate::domain::earning::fired_rules::RevokedPoints;
use crate::domain::earning::program_facts::{Memberships, StoredEarnings};
use crate::domain::earning::reaction::Reaction;
use crate::domain::loyalty_members::card::{LoadedCard, load};
use crate::domain::loyalty_members::card_changes::{settle, write};
use crate::domain::loyalty_members::card_checks::definition_of;
use crate::domain::loyalty_members::card_view::{RelatedObjects, TransactionDetails};
use crate::domain::loyalty_programs::kinds::CARD;
use crate::domain::point_spending::moved_points::{ChangedOrder, MovedPoints};
use crate::http::route::Call;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::{read_loaded, readable};
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::decide::earn::{EarningCorrection, GiveBack, OrderLeft, give_back};
use scrip::decide::returns::{OrderSnapshot, ReturnedShare};
use scrip::facts::earning::EarningKey;
use scrip::model::customer::Customer;
use scrip::model::order::Order;
use scrip::points::{CardOutcome, CardRefusal, Credit, LifetimeTotal, PointsAccount};
use scrip::text::Text;
use scrip::wire::customer::read_customer;
use serde_json::json;
use std::collections::VecDeque;

/// Correction of what an order earned, step by step.
struct ProgramRevocation {
    order: ChangedOrder,
    occasion: EarningKey,
    present: LocalTime,
    /// Changes that are not applied yet.
    left: VecDeque<GiveBack>,
}

/// Queues the changes that leave an order with the points that it would earn now. A canceled or unpaid order loses all points
/// if the card definitions declare it.
pub fn take_back(call: &mut Call<'_, '_>, order: ChangedOrder) -> Result<Reaction, Fault> {
    let occasion = EarningKey::order(&order.id);
    let cards = fired_rules::cards(call.store, &occasion)?;
    if cards.is_empty() && !order.now.is_called_off() {
        return Ok(Reaction::default());
    }
    let present = LocalTime::of(call)?;
    // Due changes are settled first: they decide if points are pending or in which lot they are.
    for card in cards {
        if let Some(mut held) = held(call, &card, &[])? {
            settle(call.store, &present, &mut held)?;
        }
    }
    let own = ProgramRevocation { order, occasion, present, left: VecDeque::new() };
    Ok(Reaction::followed_by(MovedPoints::default(), move |call| begin(call, own)))
}

/// Decides the changes, when all cards are settled.
fn begin(call: &mut Call<'_, '_>, mut own: ProgramRevocation) -> Result<Reaction, Fault> {
    let Some(back) = decide(call, &own.present, &own.occasion, own.order.now.earning())? else {
        let occasion = own.occasion.as_str();
        call.store.warn(format!("what `{occasion}` brought cannot be given back: something does not read"));
        return Ok(Reaction::default());
    };
    if fired_rules::standing(call.store, &own.occasion)?.is_none() {
        return Ok(Reaction::default());
    }
    own.left = VecDeque::from(back);
    change_next(call, own)
}

/// Applies the next change. Two earnings may have credited points to one card, so each change is a step.
fn change_next(call: &mut Call<'_, '_>, mut own: ProgramRevocation) -> Result<Reaction, Fault> {
    let Some(one) = own.left.pop_front() else {
        if own.order.now.is_called_off() {
            fired_rules::end(call.store, &own.occasion, call.context.now.millis());
        }
        return Ok(Reaction::default());
    };
    let moved = change_one(call, &own, &one)?;
    Ok(Reaction::followed_by(moved, move |call| change_next(call, own)))
}

/// Queues one change with its record; returns the points that were revoked.
fn change_one(call: &mut Call<'_, '_>, own: &ProgramRevocation, one: &GiveBack) -> Result<MovedPoints, Fault> {
    let mut moved = MovedPoints::default();
    let lots: Vec<&str> = one.past.earned.lot.iter().map(Text::as_str).collect();
    let Some(mut held) = held(call, &one.past.card_id, &lots)? else { return Ok(moved) };
    let Some(settled) = change(call, &own.present, &mut held, one, &own.order.id)? else { return Ok(moved) };
    fired_rules::note_back(call.store, &own.occasion, one.past.place, &settled)?;
    if one.movement != EarningCorrection::Restore {
        let points = settled.taken.minus(one.past.taken)?;
        let missing = one.past.earned.points.remaining_after(points);
        let mut details = json!({ "card_id": held.row.id, "points": points });
        if let Some(details) = details.as_object_mut().filter(|_| missing > 0) {
            details.insert("missing_points".into(), missing.into());
        }
        moved.earned.push(details);
    }
    Ok(moved)
}

/// Decides how the points of an order change; `None` when a document cannot be read.
fn decide(
    call: &Call<'_, '_>,
    present: &LocalTime,
    occasion: &EarningKey,
    left: Option<&Order>,
) -> Result<Option<Vec<GiveBack>>, Fault> {
    let customer_id = fired_rules::find_customer(call.store, occasion)?;
    let customer = earner(call, customer_id.as_deref())?;
    let bought = fired_rules::bought(call.store, occasion)?;
    let left = left.map(|order| OrderLeft {
        order,
        customer: &customer,
        share: bought.map_or(ReturnedShare::NONE, |bought| bought.amount_back(&OrderSnapshot::of(order))),
    });
    let facts = facts::facts(call)?;
    let memberships = Memberships::default();
    let stored = StoredEarnings::new(call.store, &facts, present, &memberships);
    let back = give_back(&facts, &stored, occasion, left, call.context);
    stored.end()?;
    facts.end()?;
    Ok(back)
}

/// Returns the customer who earned by an order, as stored now; an empty customer when it was deleted.
pub fn earner(call: &Call<'_, '_>, customer_id: Option<&str>) -> Result<Customer, Fault> {
    let document = match customer_id {
        Some(id) => call.store.document(CUSTOMER.object, id)?,
        None => None,
    };
    let Some(document) = document else { return Ok(Customer::default()) };
    Ok(readable(call.store, read_loaded(CUSTOMER.object, &document, read_customer))?.unwrap_or_default())
}

/// Applies the change of one earning; returns its record, or `None` when the card has no room.
fn change(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    held: &mut LoadedCard,
    one: &GiveBack,
    order_id: &str,
) -> Result<Option<RevokedPoints>, Fault> {
    let mut settled =
        RevokedPoints { points: one.total, back: one.due, taken: one.past.taken, ..RevokedPoints::default() };
    if one.past.earned.points == 0 {
        return Ok(Some(settled));
    }
    let outcome = match one.movement {
        EarningCorrection::Restore => restore(call, present, held, one),
        EarningCorrection::Revoke(method) => held.card.revoke(&one.past.earned, method, &present.now()),
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(refused) => {
            call.store.warn(format!("the points of the card `{}` do not move: {refused:?}", held.row.id));
            return Ok(None);
        }
    };
    if one.movement == EarningCorrection::Restore {
        settled.taken = settled.taken.remaining_after(one.past.earned.points);
        let [pending, lot] = fired_rules::arrival(&outcome);
        settled.arrival = [pending, lot.or_else(|| one.past.earned.lot.clone())];
    } else {
        settled.taken = settled.taken.plus(taken(&outcome)?)?;
    }
    let details = TransactionDetails {
        related: RelatedObjects { order: Some(order_id), ..RelatedObjects::default() },
        ..TransactionDetails::default()
    };
    write(call.store, present, held, outcome, Some((&details, &mut call.ids)))?;
    Ok(Some(settled))
}

/// Adds points again: to the pending points, else as the card definition declares.
fn restore(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    held: &LoadedCard,
    one: &GiveBack,
) -> Result<CardOutcome, CardRefusal> {
    let points = one.past.earned.points;
    if let Some(pending) = &one.past.earned.pending {
        let points = i64::try_from(points).map_err(|_| CardRefusal::Beyond)?;
        return held.card.adjust(pending, points, &present.now());
    }
    let (lot, pending) = (call.ids.hex18("lcpeb_"), call.ids.hex18("lcppb_"));
    let Ok(definition) = definition_of(call.store, held) else { return Err(CardRefusal::Beyond) };
    let arrival = Credit { lot: &lot, expiration: &definition.expiration };
    held.card.earn(points, arrival, &definition.delay, &pending, &present.now())
}

/// Returns the points that were revoked from a card.
fn taken(outcome: &CardOutcome) -> Result<u64, Fault> {
    let back = [PointsAccount::Figure(LifetimeTotal::Returned), PointsAccount::Figure(LifetimeTotal::PendingCanceled)];
    let movements = outcome.steps.iter().flat_map(|step| &step.movements);
    amount::total(movements.filter(|one| back.contains(&one.to)).map(|one| one.points))
}

/// Loads a card with the given lots; `None` when the card was deleted.
fn held(call: &Call<'_, '_>, card_id: &str, lots: &[&str]) -> Result<Option<LoadedCard>, Fault> {
    let row = call.store.document(CARD.stored, card_id)?;
    row.map(|row| load(call.store, row, lots)).transpose()
}
