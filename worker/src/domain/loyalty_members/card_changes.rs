//! Writes changes of points cards (v2): transfers, lots, transactions and tier state.
//!
//! A reader settles a card before it shows it; a job settles cards that no call reads. Only costs in rows of a slice saturate; points are
//! checked.

use crate::domain::clock::LocalTime;
use crate::domain::due::{schedule, unsettled};
use crate::domain::loyalty_members::card::{LOT, LoadedCard, PENDING, TRANSACTION, load, rows_of};
use crate::domain::loyalty_members::card_view;
use crate::domain::loyalty_members::card_view::{TransactionDetails, transaction};
use crate::domain::loyalty_members::tier_changes::{StepWithTransaction, act, follow};
use crate::domain::loyalty_members::tier_state::tiered;
use crate::domain::loyalty_programs::kinds::CARD;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::facts::cards::card_transfers;
use scrip::id::Ids;
use scrip::ledger::Entry;
use scrip::points::{Activity, CardOutcome, CardStep, MovementCause, PointsAccount, PointsCard};
use scrip::text::{Text, hex, joined, sha256};
use scrip::time::Instant;

/// Kind of the job that settles a card; its row in `due` has the id of the card.
pub const SETTLE: &str = "CARDS.SETTLE";

/// Queues the due changes of a card and of its member's tier; returns true when there were any.
pub fn settle(store: &mut Store<'_>, present: &LocalTime, held: &mut LoadedCard) -> Result<bool, Fault> {
    let (_, has_moved) = settle_first(store, present, held, usize::MAX)?;
    Ok(has_moved)
}

/// Queues the first due changes, at most `most`. Changes of the tier come after those of the points; later ones stay due.
/// Returns their number and whether anything changed.
fn settle_first(
    store: &mut Store<'_>,
    present: &LocalTime,
    held: &mut LoadedCard,
    most: usize,
) -> Result<(usize, bool), Fault> {
    let settled = held.card.settle_first(most, &present.now());
    let (outcome, at) = settled.map_err(|refused| unsettled(&held.row.id, &refused))?;
    let count = outcome.due.len();
    if count > 0 {
        write(store, &present.as_of(at), held, outcome, None)?;
        return Ok((count, true));
    }
    let due_before = held.next_due(&present.zone);
    let before = held.card.clone();
    let has_moved = follow(store, present, held, &before, &[])?;
    arm_anew(store, present, held, due_before)?;
    Ok((0, has_moved))
}

/// Returns the cards of a member after their due changes are queued.
pub fn settled_of(call: &mut Call<'_, '_>, present: &LocalTime, member: &str) -> Result<Vec<LoadedCard>, CallError> {
    let mut cards = Vec::new();
    for row in rows_of(call.store, member)? {
        let mut held = load(call.store, row, &[])?;
        settle(call.store, present, &mut held)?;
        cards.push(held);
    }
    Ok(cards)
}

/// Settles the cards of a customer whose tiers depend on segments, because the customer may have entered or left one.
pub fn settle_tiers(store: &mut Store<'_>, present: &LocalTime, customer: &str) -> Result<(), Fault> {
    for row in tiered(store, customer)? {
        let mut held = load(store, row, &[])?;
        if held.stood.as_ref().is_some_and(|stood| !stood.segments().is_empty()) {
            settle(store, present, &mut held)?;
        }
    }
    Ok(())
}

/// Applies a custom event of the member to a card, and queues the changes.
pub fn apply_event(
    store: &mut Store<'_>,
    present: &LocalTime,
    held: &mut LoadedCard,
    schema_id: &str,
    own: (&TransactionDetails<'_>, &mut Ids),
) -> Result<(), Fault> {
    match held.card.event(schema_id, &present.now()) {
        Ok(outcome) => drop(write(store, present, held, outcome, Some(own))?),
        Err(refused) => store.note(format!("the card `{}` sees no event: {refused:?}", held.row.id)),
    }
    let due_before = held.next_due(&present.zone);
    act(store, present, held, Activity::Custom(schema_id))?;
    arm_anew(store, present, held, due_before)
}

/// Queues the result of an operation: transfers, changed lots, a transaction for each step, and the change of the member's
/// tier. Returns the transactions of the operation itself; `own` has their details and generates their ids.
pub fn write(
    store: &mut Store<'_>,
    present: &LocalTime,
    held: &mut LoadedCard,
    outcome: CardOutcome,
    mut own: Option<(&TransactionDetails<'_>, &mut Ids)>,
) -> Result<Vec<Document>, Fault> {
    let CardOutcome { card, due, steps } = outcome;
    let before = held.card.clone();
    let due_before = held.next_due(&present.zone);
    let settled = match own {
        None => card.clone(),
        Some(_) if due.is_empty() => before.clone(),
        Some(_) => before.settle(&present.now()).map_err(|refused| unsettled(&held.row.id, &refused))?.card,
    };
    // Due changes are recorded with the state of the card at that time.
    held.card = settled.clone();
    let (mut rows, mut caused): (Vec<Document>, Vec<StepWithTransaction>) = (Vec::new(), Vec::new());
    for step in &due {
        let id = due_id(step)?;
        rows.push(transaction(held, step, &id, &present.zone, &TransactionDetails::default())?);
        caused.push((step.clone(), id.to_string()));
    }
    held.card = card;
    let was_due = rows.len();
    if let Some((details, ids)) = own.as_mut() {
        for step in &steps {
            let id = ids.hex18("lctx_");
            rows.push(transaction(held, step, &id, &present.zone, details)?);
            caused.push((step.clone(), id.to_string()));
        }
    }
    let transfers = caused.iter().flat_map(|(step, id)| card_transfers(&held.row.id, &id.as_str().into(), step));
    let entries: Vec<Entry> = transfers.map(Entry::Post).collect();
    store.apply(&entries, None, present.millis())?;
    store.insert_all(TRANSACTION, &rows);
    let change = CardChange { before: &before, settled: &settled, due: &due, steps: &steps };
    write_rows(store, present, held, &change);
    follow(store, present, held, &before, &caused)?;
    arm_anew(store, present, held, due_before)?;
    Ok(rows.split_off(was_due))
}

/// Returns the id of the transaction of a due step. It is derived from the step, so that settling again gives the same id.
fn due_id(step: &CardStep) -> Result<Text, Fault> {
    let (what, of) = match &step.cause {
        MovementCause::Lapsed(lot) => ("lapsed", lot),
        MovementCause::Activated(pending) => ("activated", pending),
        MovementCause::Canceled(pending) => ("canceled", pending),
        MovementCause::Arrived(_)
        | MovementCause::Waits(_)
        | MovementCause::Expired(_)
        | MovementCause::Taken(_)
        | MovementCause::Refunded
        | MovementCause::Returned => return Err(Fault(format!("{:?} never happens by time", step.cause))),
    };
    let digest = sha256(&[what.as_bytes(), b"/", of.as_bytes()]);
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
fn write_rows(store: &mut Store<'_>, present: &LocalTime, held: &mut LoadedCard, change: &CardChange<'_>) {
    let CardChange { before, settled, due, steps } = *change;
    let (lots, waiting) = held.card.changed_since(before);
    let moved = |place: PointsAccount| {
        let moves = |step: &&CardStep| step.movements.iter().any(|one| one.from == place || one.to == place);
        due.iter().rev().find(moves).map_or(present.millis(), |step| step.at.millis())
    };
    let changed_at = |is_settled: bool, place: PointsAccount| if is_settled { moved(place) } else { present.millis() };
    let zone = &present.zone;
    let (mut of_lots, mut of_pending): (Vec<Document>, Vec<Document>) = (Vec::new(), Vec::new());
    for lot in lots {
        let known = held.rows.get(lot.id.as_str());
        let at = changed_at(settled.lots.contains(lot), PointsAccount::Lot(lot.id.clone()));
        of_lots.push(card_view::lot(&held.row, known, lot, at, zone));
    }
    for pending in waiting {
        let known = held.rows.get(pending.id.as_str());
        let at = changed_at(settled.pending.contains(pending), PointsAccount::Pending(pending.id.clone()));
        of_pending.push(card_view::pending(&held.row, known, pending, at, zone));
    }
    for step in due.iter().chain(steps) {
        let (id, status) = match &step.cause {
            MovementCause::Activated(id) => (id, "ACTIVATED"),
            MovementCause::Canceled(id) => (id, "CANCELED"),
            MovementCause::Arrived(_)
            | MovementCause::Waits(_)
            | MovementCause::Lapsed(_)
            | MovementCause::Expired(_)
            | MovementCause::Taken(_)
            | MovementCause::Refunded
            | MovementCause::Returned => continue,
        };
        let is_over = !held.card.pending.iter().any(|pending| pending.id == *id);
        if let Some(row) = held.rows.get(id.as_str()).filter(|_| is_over) {
            let arrived = step.brought().into_iter().next().map(|part| part.lot);
            of_pending.push(card_view::over(row, status, arrived.as_ref(), step.at.millis()));
        }
    }
    for (kind, changed) in [(LOT, of_lots), (PENDING, of_pending)] {
        let (known, new) = changed.into_iter().partition::<Vec<_>, _>(|row| held.rows.contains_key(&row.id));
        store.insert_all(kind, &new);
        store.update_all(kind, &known);
        held.rows.extend(new.into_iter().chain(known).map(|row| (row.id.clone(), row)));
    }
}

/// Schedules the next settlement when its time has changed.
fn arm_anew(
    store: &mut Store<'_>,
    present: &LocalTime,
    held: &LoadedCard,
    due_before: Option<Instant>,
) -> Result<(), Fault> {
    let next = held.next_due(&present.zone);
    if next == due_before { Ok(()) } else { schedule(store, SETTLE, &held.row.id, next, present) }
}

/// Cost to settle a card, in rows that a job writes without reading them: about nine statements to read it, and three written rows.
const ROWS_OF_A_CARD: u64 = 15;
/// Cost of each due change: five rows (a transfer, two balances, a transaction, a lot), and as much time to describe it.
const ROWS_OF_A_THING: u64 = 10;
/// Divisor of a card's loaded rows: a slice settles at least this share of them, so that it is worth the read of the card.
const SHARE_OF_A_CARD: usize = 8;
// These costs are estimates, so the arithmetic of a slice's budget of rows saturates.

/// Cost of a card with one due change: with fewer rows a slice settles no further card.
pub const LEAST_ROWS: u64 = ROWS_OF_A_CARD.saturating_add(ROWS_OF_A_THING);

/// Settles due changes of a card in the zone of its job, within about the rows of the slice; returns the rows used. The rest stays due.
/// The job of a deleted card is deleted.
pub fn settle_due(store: &mut Store<'_>, context: &Context, piece: &JobSlice<'_>) -> Result<u64, Fault> {
    let Some(row) = store.document(CARD.stored, piece.id)? else {
        store.delete_due(piece.id);
        return Ok(1);
    };
    let present = LocalTime::read(context.now, piece.read()?)?;
    let mut held = load(store, row, &[])?;
    let fitting = piece.rows.saturating_sub(ROWS_OF_A_CARD).checked_div(ROWS_OF_A_THING).unwrap_or(0);
    let share = held.rows.len().checked_div(SHARE_OF_A_CARD).unwrap_or(0);
    let most = usize::try_from(fitting).unwrap_or(usize::MAX).max(share).max(1);
    let (count, _) = settle_first(store, &present, &mut held, most)?;
    schedule(store, SETTLE, piece.id, held.next_due(&present.zone), &present)?;
    let things = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(ROWS_OF_A_THING);
    Ok(ROWS_OF_A_CARD.saturating_add(things))
}
