//! Writes changes of points cards (v2): transfers, lots, transactions and tier state.
//!
//! A reader settles a card before it returns it; a job settles cards that no call reads. Only costs in rows of a slice saturate; points are
//! checked.

use crate::domain::clock::LocalTime;
use crate::domain::due::{schedule, settlement_fault};
use crate::domain::loyalty_members::card::{LOT, LoadedCard, PENDING, TRANSACTION, list_cards, load};
use crate::domain::loyalty_members::card_view;
use crate::domain::loyalty_members::card_view::{TransactionDetails, transaction_row};
use crate::domain::loyalty_members::tier_changes::{StepWithTransaction, advance_tier, extend_by_activity};
use crate::domain::loyalty_members::tier_state::list_tiered_cards;
use crate::domain::loyalty_programs::kinds::CARD;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::count::Countable;
use scrip::facts::cards::card_transfers;
use scrip::id::Ids;
use scrip::ledger::Entry;
use scrip::points::{Activity, CardOutcome, CardStep, MovementCause, PointsAccount, PointsCard};
use scrip::text::{Text, hex, joined, sha256};
use scrip::time::Instant;

/// Kind of the job that settles a card; its row in `due` has the id of the card.
pub const SETTLE_JOB: &str = "CARDS.SETTLE";

/// Queues the due changes of a card and of its member's tier; returns true when there were any.
pub fn settle(store: &mut Store<'_>, present: &LocalTime, loaded: &mut LoadedCard) -> Result<bool, Fault> {
    let (_, has_moved) = settle_first_steps(store, present, loaded, usize::MAX)?;
    Ok(has_moved)
}

/// Queues the first due changes, at most `steps_max`. Changes of the tier come after those of the points; later ones stay due.
/// Returns their number, and true when anything changed.
fn settle_first_steps(
    store: &mut Store<'_>,
    present: &LocalTime,
    loaded: &mut LoadedCard,
    steps_max: usize,
) -> Result<(usize, bool), Fault> {
    let settled = loaded.card.settle_first(steps_max, &present.now());
    let (outcome, at) = settled.map_err(|refused| settlement_fault(&loaded.row.id, &refused))?;
    let count = outcome.due.len();
    if count > 0 {
        write_outcome(store, &present.as_of(at), loaded, outcome, None)?;
        return Ok((count, true));
    }
    let due_before = loaded.next_due(&present.zone);
    let before = loaded.card.clone();
    let has_moved = advance_tier(store, present, loaded, &before, &[])?;
    schedule_if_changed(store, present, loaded, due_before)?;
    Ok((0, has_moved))
}

/// Returns the cards of a member after their due changes are queued.
pub fn load_settled_cards(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    member: &str,
) -> Result<Vec<LoadedCard>, CallError> {
    let mut cards = Vec::new();
    for row in list_cards(call.store, member)? {
        let mut loaded = load(call.store, row, &[])?;
        settle(call.store, present, &mut loaded)?;
        cards.push(loaded);
    }
    Ok(cards)
}

/// Settles the cards of a customer whose tiers depend on segments, because the customer may have entered or left one.
pub fn settle_tiers(store: &mut Store<'_>, present: &LocalTime, customer: &str) -> Result<(), Fault> {
    for row in list_tiered_cards(store, customer)? {
        let mut loaded = load(store, row, &[])?;
        if loaded.tier_state.as_ref().is_some_and(|tier_state| !tier_state.segments().is_empty()) {
            settle(store, present, &mut loaded)?;
        }
    }
    Ok(())
}

/// Applies a custom event of the member to a card, and queues the changes.
pub fn apply_event(
    store: &mut Store<'_>,
    present: &LocalTime,
    loaded: &mut LoadedCard,
    schema_id: &str,
    details: &TransactionDetails<'_>,
    ids: &mut Ids,
) -> Result<(), Fault> {
    match loaded.card.event(schema_id, &present.now()) {
        Ok(outcome) => drop(write_outcome(store, present, loaded, outcome, Some((details, ids)))?),
        Err(refused) => store.warn(format!("the card `{}` cannot record an event: {refused:?}", loaded.row.id)),
    }
    let due_before = loaded.next_due(&present.zone);
    extend_by_activity(store, present, loaded, Activity::Custom(schema_id))?;
    schedule_if_changed(store, present, loaded, due_before)
}

/// Queues the result of an operation: transfers, changed lots, a transaction for each step, and the change of the member's
/// tier. Returns the transactions of the operation itself; `operation` has their details and generates their ids.
pub fn write_outcome(
    store: &mut Store<'_>,
    present: &LocalTime,
    loaded: &mut LoadedCard,
    outcome: CardOutcome,
    mut operation: Option<(&TransactionDetails<'_>, &mut Ids)>,
) -> Result<Vec<Document>, Fault> {
    let CardOutcome { card, due, steps } = outcome;
    let before = loaded.card.clone();
    let due_before = loaded.next_due(&present.zone);
    let settled = match operation {
        None => card.clone(),
        Some(_) if due.is_empty() => before.clone(),
        Some(_) => before.settle(&present.now()).map_err(|refused| settlement_fault(&loaded.row.id, &refused))?.card,
    };
    // Due changes are recorded with the state of the card at that time.
    loaded.card = settled.clone();
    let (mut rows, mut caused): (Vec<Document>, Vec<StepWithTransaction>) = (Vec::new(), Vec::new());
    for step in &due {
        let id = due_transaction_id(step)?;
        rows.push(transaction_row(loaded, step, &id, &present.zone, &TransactionDetails::default())?);
        caused.push((step.clone(), id.to_string()));
    }
    loaded.card = card;
    let was_due = rows.len();
    if let Some((details, ids)) = operation.as_mut() {
        for step in &steps {
            let id = ids.hex18("lctx_");
            rows.push(transaction_row(loaded, step, &id, &present.zone, details)?);
            caused.push((step.clone(), id.to_string()));
        }
    }
    let transfers = caused.iter().flat_map(|(step, id)| card_transfers(&loaded.row.id, &id.as_str().into(), step));
    let entries: Vec<Entry> = transfers.map(Entry::Post).collect();
    store.apply(&entries, None, present.millis())?;
    store.insert_all(TRANSACTION, &rows);
    let change = CardChange { before: &before, settled: &settled, due: &due, steps: &steps };
    write_rows(store, present, loaded, &change);
    advance_tier(store, present, loaded, &before, &caused)?;
    schedule_if_changed(store, present, loaded, due_before)?;
    Ok(rows.split_off(was_due))
}

/// Returns the id of the transaction of a due step. It is derived from the step, so that settling again derives the same id.
fn due_transaction_id(step: &CardStep) -> Result<Text, Fault> {
    let (kind, source) = match &step.cause {
        MovementCause::ExpiredByTime(lot) => ("lapsed", lot),
        MovementCause::Activated(pending) => ("activated", pending),
        MovementCause::Canceled(pending) => ("canceled", pending),
        MovementCause::Credited(_)
        | MovementCause::Pending(_)
        | MovementCause::Expired(_)
        | MovementCause::Debited(_)
        | MovementCause::Refunded
        | MovementCause::Returned => return Err(Fault(format!("{:?} never happens by time", step.cause))),
    };
    let digest = sha256(&[kind.as_bytes(), b"/", source.as_bytes()]);
    Ok(joined(&["lctx_", &hex(digest.get(..9).unwrap_or_default())]))
}

/// Change of a card by an operation.
struct CardChange<'a> {
    before: &'a PointsCard,
    /// The card after the due steps, before the operation.
    settled: &'a PointsCard,
    due: &'a [CardStep],
    /// Steps of the operation.
    steps: &'a [CardStep],
}

/// Writes the changed rows of lots and pending points. A row without a change by the operation gets the time of its last due step.
fn write_rows(store: &mut Store<'_>, present: &LocalTime, loaded: &mut LoadedCard, change: &CardChange<'_>) {
    let CardChange { before, settled, due, steps } = *change;
    let (lots, pending_points) = loaded.card.changed_since(before);
    let last_change_of = |account: PointsAccount| {
        let moves =
            |step: &&CardStep| step.movements.iter().any(|movement| movement.from == account || movement.to == account);
        due.iter().rev().find(moves).map_or(present.millis(), |step| step.at.millis())
    };
    let changed_at =
        |is_settled: bool, account: PointsAccount| if is_settled { last_change_of(account) } else { present.millis() };
    let zone = &present.zone;
    let (mut of_lots, mut of_pending): (Vec<Document>, Vec<Document>) = (Vec::new(), Vec::new());
    for lot in lots {
        let known = loaded.rows.get(lot.id.as_str());
        let at = changed_at(settled.lots.contains(lot), PointsAccount::Lot(lot.id.clone()));
        of_lots.push(card_view::lot_row(&loaded.row, known, lot, at, zone));
    }
    for pending in pending_points {
        let known = loaded.rows.get(pending.id.as_str());
        let at = changed_at(settled.pending.contains(pending), PointsAccount::Pending(pending.id.clone()));
        of_pending.push(card_view::pending_row(&loaded.row, known, pending, at, zone));
    }
    for step in due.iter().chain(steps) {
        let (id, status) = match &step.cause {
            MovementCause::Activated(id) => (id, "ACTIVATED"),
            MovementCause::Canceled(id) => (id, "CANCELED"),
            MovementCause::Credited(_)
            | MovementCause::Pending(_)
            | MovementCause::ExpiredByTime(_)
            | MovementCause::Expired(_)
            | MovementCause::Debited(_)
            | MovementCause::Refunded
            | MovementCause::Returned => continue,
        };
        let is_closed = !loaded.card.pending.iter().any(|pending| pending.id == *id);
        if let Some(row) = loaded.rows.get(id.as_str()).filter(|_| is_closed) {
            let credited_lot = step.credited().into_iter().next().map(|part| part.lot);
            of_pending.push(card_view::closed_pending_row(row, status, credited_lot.as_ref(), step.at.millis()));
        }
    }
    for (kind, changed) in [(LOT, of_lots), (PENDING, of_pending)] {
        let (known, new) = changed.into_iter().partition::<Vec<_>, _>(|row| loaded.rows.contains_key(&row.id));
        store.insert_all(kind, &new);
        store.update_all(kind, &known);
        loaded.rows.extend(new.into_iter().chain(known).map(|row| (row.id.clone(), row)));
    }
}

/// Schedules the next settlement when its time has changed.
fn schedule_if_changed(
    store: &mut Store<'_>,
    present: &LocalTime,
    loaded: &LoadedCard,
    due_before: Option<Instant>,
) -> Result<(), Fault> {
    let next = loaded.next_due(&present.zone);
    if next == due_before { Ok(()) } else { schedule(store, SETTLE_JOB, &loaded.row.id, next, present) }
}

/// Cost to settle a card, in rows that a job writes without reading them: about nine statements to read it, and three written rows.
const ROWS_PER_CARD: u64 = 15;
/// Cost of each due change: five rows (a transfer, two balances, a transaction, a lot), and as much time to describe it.
const ROWS_PER_CHANGE: u64 = 10;
/// Divisor of a card's loaded rows: a slice settles at least this share of them, so that it is worth the read of the card.
const CARD_SHARE_DIVISOR: usize = 8;
// These costs are estimates, so the arithmetic of a slice's budget of rows saturates.

/// Cost of a card with one due change: with fewer rows a slice settles no further card.
pub const ROWS_MIN: u64 = ROWS_PER_CARD.saturating_add(ROWS_PER_CHANGE);

/// Settles due changes of a card in the zone of its job, within about the rows of the slice; returns the rows used. The rest stays due.
/// The job of a deleted card is deleted.
pub fn run_job(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<u64, Fault> {
    let Some(row) = store.document(CARD.stored, slice.id)? else {
        store.delete_due(slice.id);
        return Ok(1);
    };
    let present = LocalTime::read(context.now, slice.read()?)?;
    let mut loaded = load(store, row, &[])?;
    // The divisors are constants; a number of rows is no amount.
    let fitting = slice.rows.remaining_after(ROWS_PER_CARD).checked_div(ROWS_PER_CHANGE).unwrap_or(0);
    let share = loaded.rows.len().checked_div(CARD_SHARE_DIVISOR).unwrap_or(0); // A constant divisor.
    let steps_max = usize::try_from(fitting).unwrap_or(usize::MAX).max(share).max(1);
    let (count, _) = settle_first_steps(store, &present, &mut loaded, steps_max)?;
    schedule(store, SETTLE_JOB, slice.id, loaded.next_due(&present.zone), &present)?;
    // A cost in rows, not points.
    let changes = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(ROWS_PER_CHANGE);
    // A cost in rows, not points.
    Ok(ROWS_PER_CARD.saturating_add(changes))
}
