//! Adjusts the points that an order earned on member cards (v2) after the order changed: revokes excess points and adds missing ones.

use crate::domain::clock::LocalTime;
use crate::domain::customers::customer::CUSTOMER;
use crate::domain::decisions::facts;
use crate::domain::earning::fired_rules;
use crate::domain::earning::fired_rules::RevokedPoints;
use crate::domain::earning::program_facts::{Memberships, StoredEarnings};
use crate::domain::earning::reaction::Reaction;
use crate::domain::loyalty_members::card::{LoadedCard, load};
use crate::domain::loyalty_members::card_changes::{settle, write_outcome};
use crate::domain::loyalty_members::card_checks::find_definition;
use crate::domain::loyalty_members::card_view::{RelatedObjects, TransactionDetails};
use crate::domain::loyalty_programs::kinds::CARD;
use crate::domain::point_spending::moved_points::{ChangedOrder, MovedPoints};
use crate::http::route::Call;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::{read_loaded, readable};
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::decide::earn::{self, EarningCorrection, PointsCorrection, RemainingOrder};
use scrip::decide::returns::{OrderSnapshot, ReturnedShare};
use scrip::facts::earning::EarningKey;
use scrip::model::customer::Customer;
use scrip::model::order::Order;
use scrip::points::{CardOutcome, CardRefusal, Credit, LifetimeTotal, PointsAccount};
use scrip::text::Text;
use scrip::wire::customer::read_customer;
use serde_json::json;
use std::collections::VecDeque;

/// Correction of the points that an order earned, step by step.
struct ProgramRevocation {
    order: ChangedOrder,
    earning_key: EarningKey,
    present: LocalTime,
    /// Changes that are not applied yet.
    remaining: VecDeque<PointsCorrection>,
}

/// Queues the changes that leave an order with the points that it would earn now. A canceled or unpaid order loses all points
/// if the card definitions declare it.
pub fn correct_order(call: &mut Call<'_, '_>, order: ChangedOrder) -> Result<Reaction, Fault> {
    let earning_key = EarningKey::order(&order.id);
    let cards = fired_rules::list_cards(call.store, &earning_key)?;
    if cards.is_empty() && !order.now.is_canceled() {
        return Ok(Reaction::default());
    }
    let present = LocalTime::of(call)?;
    // Due changes are settled first: they decide if points are pending or in which lot they are.
    for card in cards {
        if let Some(mut loaded) = load_card(call, &card, &[])? {
            settle(call.store, &present, &mut loaded)?;
        }
    }
    let revocation = ProgramRevocation { order, earning_key, present, remaining: VecDeque::new() };
    Ok(Reaction::followed_by(MovedPoints::default(), move |call| start(call, revocation)))
}

/// Decides the changes, when all cards are settled.
fn start(call: &mut Call<'_, '_>, mut revocation: ProgramRevocation) -> Result<Reaction, Fault> {
    let Some(corrections) =
        decide_corrections(call, &revocation.present, &revocation.earning_key, revocation.order.now.earning())?
    else {
        let earning_key = revocation.earning_key.as_str();
        call.store.warn(format!("the points of `{earning_key}` cannot be revoked: a stored document cannot be read"));
        return Ok(Reaction::default());
    };
    if fired_rules::find_status(call.store, &revocation.earning_key)?.is_none() {
        return Ok(Reaction::default());
    }
    revocation.remaining = VecDeque::from(corrections);
    change_next(call, revocation)
}

/// Applies the next change. Two earnings may have credited points to one card, so each change is a step.
fn change_next(call: &mut Call<'_, '_>, mut revocation: ProgramRevocation) -> Result<Reaction, Fault> {
    let Some(correction) = revocation.remaining.pop_front() else {
        if revocation.order.now.is_canceled() {
            fired_rules::mark_revoked(call.store, &revocation.earning_key, call.context.now.millis());
        }
        return Ok(Reaction::default());
    };
    let moved = write_correction(call, &revocation, &correction)?;
    Ok(Reaction::followed_by(moved, move |call| change_next(call, revocation)))
}

/// Queues one change with its record; returns the points that were revoked.
fn write_correction(
    call: &mut Call<'_, '_>,
    revocation: &ProgramRevocation,
    correction: &PointsCorrection,
) -> Result<MovedPoints, Fault> {
    let mut moved = MovedPoints::default();
    let lots: Vec<&str> = correction.stored_earning.earned.lot.iter().map(Text::as_str).collect();
    let Some(mut loaded) = load_card(call, &correction.stored_earning.card_id, &lots)? else { return Ok(moved) };
    let Some(revoked) = apply_correction(call, &revocation.present, &mut loaded, correction, &revocation.order.id)?
    else {
        return Ok(moved);
    };
    fired_rules::record_revocation(call.store, &revocation.earning_key, correction.stored_earning.position, &revoked)?;
    if correction.movement != EarningCorrection::Restore {
        let points = revoked.revoked.minus(correction.stored_earning.revoked)?;
        let missing = correction.stored_earning.earned.points.remaining_after(points);
        let mut details = json!({ "card_id": loaded.row.id, "points": points });
        if let Some(details) = details.as_object_mut().filter(|_| missing > 0) {
            details.insert("missing_points".into(), missing.into());
        }
        moved.earned.push(details);
    }
    Ok(moved)
}

/// Decides how the points of an order change; `None` when a document cannot be read.
fn decide_corrections(
    call: &Call<'_, '_>,
    present: &LocalTime,
    earning_key: &EarningKey,
    remaining: Option<&Order>,
) -> Result<Option<Vec<PointsCorrection>>, Fault> {
    let customer_id = fired_rules::find_customer(call.store, earning_key)?;
    let customer = find_earner(call, customer_id.as_deref())?;
    let snapshot = fired_rules::find_order_snapshot(call.store, earning_key)?;
    let remaining = remaining.map(|order| RemainingOrder {
        order,
        customer: &customer,
        share: snapshot
            .map_or(ReturnedShare::NONE, |snapshot| snapshot.returned_amount_share(&OrderSnapshot::of(order))),
    });
    let facts = facts::facts(call)?;
    let memberships = Memberships::default();
    let stored = StoredEarnings::new(call.store, &facts, present, &memberships);
    let corrections = earn::decide_corrections(&facts, &stored, earning_key, remaining, call.context);
    stored.finish()?;
    facts.end()?;
    Ok(corrections)
}

/// Returns the customer who earned by an order, as stored now; an empty customer when it was deleted.
pub fn find_earner(call: &Call<'_, '_>, customer_id: Option<&str>) -> Result<Customer, Fault> {
    let document = match customer_id {
        Some(id) => call.store.document(CUSTOMER.object, id)?,
        None => None,
    };
    let Some(document) = document else { return Ok(Customer::default()) };
    Ok(readable(call.store, read_loaded(CUSTOMER.object, &document, read_customer))?.unwrap_or_default())
}

/// Applies the change of one earning; returns its record, or `None` when the card has no room.
fn apply_correction(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    loaded: &mut LoadedCard,
    correction: &PointsCorrection,
    order_id: &str,
) -> Result<Option<RevokedPoints>, Fault> {
    let mut revoked = RevokedPoints {
        points: correction.total,
        due: correction.due,
        revoked: correction.stored_earning.revoked,
        ..RevokedPoints::default()
    };
    if correction.stored_earning.earned.points == 0 {
        return Ok(Some(revoked));
    }
    let outcome = match correction.movement {
        EarningCorrection::Restore => restore(call, present, loaded, correction),
        EarningCorrection::Revoke(method) => {
            loaded.card.revoke(&correction.stored_earning.earned, method, &present.now())
        }
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(refused) => {
            call.store.warn(format!("the points of the card `{}` do not move: {refused:?}", loaded.row.id));
            return Ok(None);
        }
    };
    if correction.movement == EarningCorrection::Restore {
        revoked.revoked = revoked.revoked.remaining_after(correction.stored_earning.earned.points);
        let [pending, lot] = fired_rules::credit_targets(&outcome);
        revoked.credited_to = [pending, lot.or_else(|| correction.stored_earning.earned.lot.clone())];
    } else {
        revoked.revoked = revoked.revoked.plus(revoked_points(&outcome)?)?;
    }
    let details = TransactionDetails {
        related: RelatedObjects { order: Some(order_id), ..RelatedObjects::default() },
        ..TransactionDetails::default()
    };
    write_outcome(call.store, present, loaded, outcome, Some((&details, &mut call.ids)))?;
    Ok(Some(revoked))
}

/// Adds points again: to the pending points, else as the card definition declares.
fn restore(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    loaded: &LoadedCard,
    correction: &PointsCorrection,
) -> Result<CardOutcome, CardRefusal> {
    let points = correction.stored_earning.earned.points;
    if let Some(pending) = &correction.stored_earning.earned.pending {
        let points = i64::try_from(points).map_err(|_| CardRefusal::Beyond)?;
        return loaded.card.adjust(pending, points, &present.now());
    }
    let (lot, pending) = (call.ids.hex18("lcpeb_"), call.ids.hex18("lcppb_"));
    let Ok(definition) = find_definition(call.store, loaded) else { return Err(CardRefusal::Beyond) };
    let credit = Credit { lot: &lot, expiration: &definition.expiration };
    loaded.card.earn(points, credit, &definition.delay, &pending, &present.now())
}

/// Returns the points that were revoked from a card.
fn revoked_points(outcome: &CardOutcome) -> Result<u64, Fault> {
    let accounts = [
        PointsAccount::LifetimeTotal(LifetimeTotal::Returned),
        PointsAccount::LifetimeTotal(LifetimeTotal::PendingCanceled),
    ];
    let movements = outcome.steps.iter().flat_map(|step| &step.movements);
    amount::total(movements.filter(|movement| accounts.contains(&movement.to)).map(|movement| movement.points))
}

/// Loads a card with the named lots; `None` when the card was deleted.
fn load_card(call: &Call<'_, '_>, card_id: &str, lots: &[&str]) -> Result<Option<LoadedCard>, Fault> {
    let row = call.store.document(CARD.stored, card_id)?;
    row.map(|row| load(call.store, row, lots)).transpose()
}
