//! What becomes of cards of points, written at the commit with all that moved. It must not know routes, nor what an operation is for.
//!
//! Nobody sees a card on which something is due: whoever reads one settles it first, and the alarm settles cards that nobody reads.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::card_rows::{self, Told, transaction};
use crate::shop::cards::{Held, LOT, PENDING, Present, TRANSACTION, load, rows_of};
use crate::shop::lives::CARD;
use crate::shop::standing_changes::{Caused, follow};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use crate::work::actions::Piece;
use scrip::Context;
use scrip::facts::cards::card_transfers;
use scrip::id::Ids;
use scrip::ledger::Entry;
use scrip::points::{Card, Cause, Outcome, Place, Refused, Step};
use scrip::text::{Text, hex, joined, sha256};
use scrip::time::Instant;
use serde_json::Value as Json;

/// The kind of the job that settles a card nobody reads; its row of `due` has the id of the card.
pub const SETTLE: &str = "CARDS.SETTLE";

/// What the engine refuses where nothing was asked for: the card is not what it wrote.
pub fn broken(card: &str, refused: &Refused) -> Fault {
    Fault(format!("the card `{card}` cannot be settled: {refused:?}"))
}

/// Settles what is due on a card and of its member's tier, and writes that at the commit; says whether there was something.
pub fn settle(store: &mut Store<'_>, present: &Present, held: &mut Held) -> Result<bool, Fault> {
    let outcome = held.card.settle(&present.now()).map_err(|refused| broken(&held.row.id, &refused))?;
    if !outcome.due.is_empty() {
        write(store, present, held, outcome, None)?;
        return Ok(true);
    }
    let due_before = held.next_due(&present.zone);
    let before = held.card.clone();
    let has_moved = follow(store, present, held, &before, &[])?;
    arm_anew(store, present, held, due_before)?;
    Ok(has_moved)
}

/// The cards of a member as they stand now, with what was due written at the commit.
pub fn settled_of(call: &mut Call<'_, '_>, present: &Present, member: &str) -> Result<Vec<Held>, CallError> {
    let mut cards = Vec::new();
    for row in rows_of(call.store, member)? {
        let mut held = load(call.store, row, &[])?;
        settle(call.store, present, &mut held)?;
        cards.push(held);
    }
    Ok(cards)
}

/// Writes what became of a card at the commit: what moved, the lots that changed, a transaction for each step, and what becomes of the
/// member's tier. Gives the transactions of the operation itself; `own` says what they tell, and mints their ids.
pub fn write(
    store: &mut Store<'_>,
    present: &Present,
    held: &mut Held,
    outcome: Outcome,
    mut own: Option<(&Told<'_>, &mut Ids)>,
) -> Result<Vec<Document>, Fault> {
    let Outcome { card, due, steps } = outcome;
    let before = held.card.clone();
    let due_before = held.next_due(&present.zone);
    let mut caused: Vec<Caused> = Vec::new();
    if !due.is_empty() {
        held.card = before.settle(&present.now()).map_err(|refused| broken(&held.row.id, &refused))?.card;
    }
    // What was due is told of as it was then, whatever is done to the card now.
    for step in &due {
        let id = due_id(step)?;
        put(store, present, held, step, &id, &Told::default())?;
        caused.push((step.clone(), id.to_string()));
    }
    let settled = std::mem::replace(&mut held.card, card);
    let mut made = Vec::new();
    if let Some((told, ids)) = own.as_mut() {
        for step in &steps {
            let id = ids.hex18("lctx_");
            made.push(put(store, present, held, step, &id, told)?);
            caused.push((step.clone(), id.to_string()));
        }
    }
    write_rows(store, present, held, (&before, &settled), (&due, &steps));
    follow(store, present, held, &before, &caused)?;
    arm_anew(store, present, held, due_before)?;
    Ok(made)
}

/// Writes a step: its transfers, and its transaction.
fn put(
    store: &mut Store<'_>,
    present: &Present,
    held: &Held,
    step: &Step,
    id: &Text,
    told: &Told<'_>,
) -> Result<Document, Fault> {
    let entries: Vec<Entry> = card_transfers(&held.row.id, id, step).into_iter().map(Entry::Post).collect();
    store.apply(&entries, None, present.millis());
    let row = transaction(held, step, id, &present.zone, told)?;
    store.insert(TRANSACTION, &row);
    Ok(row)
}

/// The id of the transaction of something that was due: it follows from what was, so that settling again gives the same.
fn due_id(step: &Step) -> Result<Text, Fault> {
    let (what, of) = match &step.cause {
        Cause::Lapsed(lot) => ("lapsed", lot),
        Cause::Activated(pending) => ("activated", pending),
        Cause::Canceled(pending) => ("canceled", pending),
        Cause::Arrived(_)
        | Cause::Waits(_)
        | Cause::Expired(_)
        | Cause::Taken(_)
        | Cause::Refunded
        | Cause::Returned => return Err(Fault(format!("{:?} never happens by time", step.cause))),
    };
    let digest = sha256(&[what.as_bytes(), b"/", of.as_bytes()]);
    Ok(joined(&["lctx_", &hex(digest.get(..9).unwrap_or_default())]))
}

/// Writes the rows of lots and of what waits, as far as they changed since before; when nothing was done to one since it was settled,
/// it changed when its points moved.
fn write_rows(
    store: &mut Store<'_>,
    present: &Present,
    held: &mut Held,
    (before, settled): (&Card, &Card),
    (due, steps): (&[Step], &[Step]),
) {
    let (lots, waiting) = held.card.changed_since(before);
    let moved = |place: Place| {
        let moves = |step: &&Step| step.movements.iter().any(|one| one.from == place || one.to == place);
        due.iter().rev().find(moves).map_or(present.millis(), |step| step.at.millis())
    };
    let changed_at = |is_settled: bool, place: Place| if is_settled { moved(place) } else { present.millis() };
    let zone = &present.zone;
    let mut changed: Vec<(&str, Document)> = Vec::new();
    for lot in lots {
        let known = held.rows.get(lot.id.as_str());
        let at = changed_at(settled.lots.contains(lot), Place::Lot(lot.id.clone()));
        changed.push((LOT, card_rows::lot(&held.row, known, lot, (at, zone))));
    }
    for pending in waiting {
        let known = held.rows.get(pending.id.as_str());
        let at = changed_at(settled.pending.contains(pending), Place::Pending(pending.id.clone()));
        changed.push((PENDING, card_rows::pending(&held.row, known, pending, (at, zone))));
    }
    for step in due.iter().chain(steps) {
        let (id, status) = match &step.cause {
            Cause::Activated(id) => (id, "ACTIVATED"),
            Cause::Canceled(id) => (id, "CANCELED"),
            Cause::Arrived(_)
            | Cause::Waits(_)
            | Cause::Lapsed(_)
            | Cause::Expired(_)
            | Cause::Taken(_)
            | Cause::Refunded
            | Cause::Returned => continue,
        };
        let is_over = !held.card.pending.iter().any(|pending| pending.id == *id);
        if let Some(row) = held.rows.get(id.as_str()).filter(|_| is_over) {
            let arrived = step.brought().into_iter().next().map(|part| part.lot);
            changed.push((PENDING, card_rows::over(row, status, arrived.as_ref(), step.at.millis())));
        }
    }
    for (kind, row) in changed {
        if held.rows.contains_key(&row.id) {
            store.update(kind, &row);
        } else {
            store.insert(kind, &row);
        }
        held.rows.insert(row.id.clone(), row);
    }
}

/// The same when something else is due next than was before.
fn arm_anew(store: &mut Store<'_>, present: &Present, held: &Held, due_before: Option<Instant>) -> Result<(), Fault> {
    let next = held.next_due(&present.zone);
    if next == due_before { Ok(()) } else { arm(store, (SETTLE, &held.row.id), next, &present.said) }
}

/// Sees to it at the commit that a job of a kind settles a card when something is due on it next, in the zone in which that was said: the
/// alarm knows no caller and so no setup.
pub fn arm(
    store: &mut Store<'_>,
    (kind, card): (&'static str, &str),
    next: Option<Instant>,
    said: &Json,
) -> Result<(), Fault> {
    let Some(next) = next.map(Instant::millis) else {
        store.write("DELETE FROM due WHERE id = ?1", vec![card.into()]);
        return Ok(());
    };
    store.write(
        "INSERT INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, ?4, 0)
         ON CONFLICT (id) DO UPDATE SET at = excluded.at, cursor = excluded.cursor, attempts = 0",
        vec![card.into(), next.into(), kind.into(), said.to_string().into()],
    );
    // The alarm must not be put off for other work that is due before it.
    let other = store.row("SELECT MIN(at) FROM due WHERE id <> ?1", &[card.into()])?;
    let other = other.map_or(Ok(None), |row| sql::int_or_null(&row, 0))?;
    store.wake_at(other.map_or(next, |other| other.min(next)));
    Ok(())
}

/// The work of the alarm: settles a card that nobody has read since something was due. One that is gone is left alone.
pub fn sweep(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let Some(row) = store.document(CARD.stored, piece.id)? else {
        store.write("DELETE FROM due WHERE id = ?1", vec![piece.id.into()]);
        return Ok(());
    };
    let present = Present::read(context.now, piece.read()?)?;
    let mut held = load(store, row, &[])?;
    settle(store, &present, &mut held)?;
    arm(store, (SETTLE, piece.id), held.next_due(&present.zone), &present.said)
}
