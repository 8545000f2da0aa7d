//! Runs everything that happens between a handler's return and the end of the host's transaction.
//!
//! | Step | May queue writes |
//! |---|---|
//! | 1. Domain events are found: queued documents are compared with stored ones | no |
//! | 2. Queued documents are checked (row size, readable by the engine) and run | no |
//! | 3. Lots of loyalty cards follow the transfers of points; flush | yes |
//! | 4. [`OBSERVERS`] react to each domain event, each before the next; flush after each step of one. New events join the queue | yes |
//! | 5. Webhook deliveries are queued for all that has changed | yes |
//! | 6. Retention is scheduled; flush | yes |
//!
//! A flush that may have changed the bundle wakes the job that builds it.
//!
//! A step that fails undoes all of them: the host rolls its transaction back.

use crate::domain::balances::point_postings;
use crate::domain::bundle::build_job;
use crate::domain::catalogue::products::PRODUCT;
use crate::domain::catalogue::skus::SKU;
use crate::domain::earning::domain_events::{DomainEvent, detect_events, detect_segment_events};
use crate::domain::earning::follow_up;
use crate::domain::earning::reaction::Reaction;
use crate::domain::point_spending::moved_points::MovedPoints;
use crate::domain::webhooks::deliveries::{self, EventCause};
use crate::http::reply::{CallError, check_writes};
use crate::http::route::Call;
use crate::jobs::retention;
use crate::store::Store;
use crate::store::sql::Fault;
use crate::store::transfer_rows::TransferRow;
use scrip::Context;
use std::collections::VecDeque;

/// Reacts to a domain event by queueing writes, in one or several steps.
type Observer = fn(&mut Call<'_, '_>, &DomainEvent) -> Result<Reaction, Fault>;

/// All observers of domain events, in this order. Points that paid an order are refunded before the points that it earned are revoked.
/// `activate_pending` also extends the expiration of points by activity.
const OBSERVERS: &[Observer] = &[
    follow_up::refund_payment,
    follow_up::correct_program_points,
    follow_up::correct_campaign_points,
    follow_up::activate_pending,
    follow_up::grant_earnings,
    follow_up::update_tiers,
];

/// Commits the writes of a call with all that follows from them.
pub fn run(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    run_consequences(call)?;
    let changes = call.store.take_changes();
    if !changes.is_empty() {
        let cause = EventCause::of_call(call);
        deliveries::enqueue(call.store, call.context, &changes, &cause)?;
    }
    finish(call.store, call.context)
}

/// Runs the writes of a call and everything that follows from them, except webhooks (steps 1 to 4). Returns the points that
/// moved because of orders.
/// A handler calls it when its answer contains those points; [`run`] does the rest after the handler.
pub fn run_consequences(call: &mut Call<'_, '_>) -> Result<MovedPoints, CallError> {
    let mut moved = MovedPoints::default();
    let events = detect_events(call)?;
    let transfers: Vec<TransferRow> =
        call.store.queued_transfers().filter(|post| point_postings::moves_points(post)).cloned().collect();
    if call.store.may_write(&[PRODUCT.object, SKU.object]) {
        call.catalogue.clear();
    }
    flush(call.store)?;
    if events.is_empty() && transfers.is_empty() {
        return Ok(moved);
    }
    // The call is accepted: its consequences are no longer limited.
    call.store.remove_read_limit();
    if !transfers.is_empty() {
        point_postings::apply_to_lots(call, &transfers)?;
        flush(call.store)?;
    }
    let mut queue = VecDeque::from(events);
    while let Some(event) = queue.pop_front() {
        for observe in OBSERVERS {
            let mut reaction = observe(call, &event)?;
            loop {
                moved.add(reaction.moved);
                // Points may bring a customer into a segment; the same earning is not granted twice at one instant.
                queue.extend(detect_segment_events(call)?);
                flush(call.store)?;
                let Some(step) = reaction.next else { break };
                reaction = step(call)?;
            }
        }
    }
    Ok(moved)
}

/// Runs the queued writes of a handler before the handler reads them: cards that it settled. Webhooks report them at the end of the call.
pub fn settle_first(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    flush(call.store)
}

/// Runs the writes so far, so that the next row of a slice, or the next step, reads them; [`run_job`] or [`run_internal`] commits.
pub fn settle_row(store: &mut Store<'_>) -> Result<(), Fault> {
    Ok(flush(store)?)
}

/// Runs the writes of a test that gives the stored documents. They are not checked: an older version may have written unreadable ones.
#[cfg(feature = "test-hooks")]
pub fn run_test_documents(store: &mut Store<'_>) -> Result<(), Fault> {
    store.flush()
}

/// Commits one slice of a job without a caller.
pub fn run_job(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    flush(store)?;
    let changes = store.take_changes();
    if !changes.is_empty() {
        let request_id = context.request_id();
        let cause = EventCause::of_job(store, request_id.as_str())?;
        deliveries::enqueue(store, context, &changes, &cause)?;
    }
    Ok(finish(store, context)?)
}

/// Commits writes of the service itself, which no webhook reports: initial documents of a project, secrets, outcomes of deliveries.
pub fn run_internal(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    Ok(finish(store, context)?)
}

fn finish(store: &mut Store<'_>, context: &Context) -> Result<(), CallError> {
    retention::schedule(store, context.now.millis())?;
    flush(store)
}

/// Checks the queued writes and runs them. A refusal undoes the transaction, because some of them may have run.
fn flush(store: &mut Store<'_>) -> Result<(), CallError> {
    if let Err(refused) = check_writes(store) {
        store.undo_at_end();
        return Err(refused.into());
    }
    let may_change_bundle = store.may_change_bundle();
    store.expect_changes()?;
    store.flush()?;
    // Triggers have marked it in this transaction (`store/migrations/0038_bundle_job.sql`).
    if may_change_bundle {
        build_job::wake_if_marked(store)?;
    }
    Ok(())
}
