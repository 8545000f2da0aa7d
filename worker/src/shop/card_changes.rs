//! What becomes of cards of points, written at the commit with all that moved. It must not know routes, nor what an operation is for.
//!
//! Nobody sees a card on which something is due: whoever reads one settles it first, and the alarm settles cards that nobody reads.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::card_rows::{self, Told, transaction};
use crate::shop::cards::{Held, LOT, PENDING, Present, TRANSACTION, load, rows_of};
use crate::shop::lives::CARD;
use crate::shop::standing_changes::{Caused, act, follow};
use crate::shop::standings::tiered;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use crate::work::actions::Piece;
use crate::work::outbox;
use scrip::Context;
use scrip::facts::cards::card_transfers;
use scrip::id::Ids;
use scrip::ledger::Entry;
use scrip::points::{Activity, Card, Cause, Outcome, Place, Refused, Step};
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
    let (_, has_moved) = settle_first(store, present, held, usize::MAX)?;
    Ok(has_moved)
}

/// The same of the first things that are due, so many at most. The tier is behind them; what is due after them is left. Says how many
/// there were, and whether anything moved.
fn settle_first(
    store: &mut Store<'_>,
    present: &Present,
    held: &mut Held,
    most: usize,
) -> Result<(usize, bool), Fault> {
    let settled = held.card.settle_first(most, &present.now());
    let (outcome, at) = settled.map_err(|refused| broken(&held.row.id, &refused))?;
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

/// Settles the cards of a customer whose tiers ask for segments, which they may have entered or left.
pub fn settle_tiers(store: &mut Store<'_>, present: &Present, customer: &str) -> Result<(), Fault> {
    for row in tiered(store, customer)? {
        let mut held = load(store, row, &[])?;
        if held.stood.as_ref().is_some_and(|stood| !stood.segments().is_empty()) {
            settle(store, present, &mut held)?;
        }
    }
    Ok(())
}

/// Tells a card, whose member a custom event names, of that event, and writes at the commit what becomes of it.
pub fn tell_event(
    store: &mut Store<'_>,
    present: &Present,
    held: &mut Held,
    schema_id: &str,
    own: (&Told<'_>, &mut Ids),
) -> Result<(), Fault> {
    match held.card.event(schema_id, &present.now()) {
        Ok(outcome) => drop(write(store, present, held, outcome, Some(own))?),
        Err(refused) => store.note(format!("the card `{}` sees no event: {refused:?}", held.row.id)),
    }
    let due_before = held.next_due(&present.zone);
    act(store, present, held, Activity::Custom(schema_id))?;
    arm_anew(store, present, held, due_before)
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
    let settled = match own {
        None => card.clone(),
        Some(_) if due.is_empty() => before.clone(),
        Some(_) => before.settle(&present.now()).map_err(|refused| broken(&held.row.id, &refused))?.card,
    };
    // What was due is told of as it was then, whatever is done to the card now.
    held.card = settled.clone();
    let (mut rows, mut caused): (Vec<Document>, Vec<Caused>) = (Vec::new(), Vec::new());
    for step in &due {
        let id = due_id(step)?;
        rows.push(transaction(held, step, &id, &present.zone, &Told::default())?);
        caused.push((step.clone(), id.to_string()));
    }
    held.card = card;
    let was_due = rows.len();
    if let Some((told, ids)) = own.as_mut() {
        for step in &steps {
            let id = ids.hex18("lctx_");
            rows.push(transaction(held, step, &id, &present.zone, told)?);
            caused.push((step.clone(), id.to_string()));
        }
    }
    let transfers = caused.iter().flat_map(|(step, id)| card_transfers(&held.row.id, &id.as_str().into(), step));
    let entries: Vec<Entry> = transfers.map(Entry::Post).collect();
    store.apply(&entries, None, present.millis());
    store.insert_all(TRANSACTION, &rows);
    write_rows(store, present, held, (&before, &settled), (&due, &steps));
    follow(store, present, held, &before, &caused)?;
    arm_anew(store, present, held, due_before)?;
    Ok(rows.split_off(was_due))
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
    let (mut of_lots, mut of_pending): (Vec<Document>, Vec<Document>) = (Vec::new(), Vec::new());
    for lot in lots {
        let known = held.rows.get(lot.id.as_str());
        let at = changed_at(settled.lots.contains(lot), Place::Lot(lot.id.clone()));
        of_lots.push(card_rows::lot(&held.row, known, lot, (at, zone)));
    }
    for pending in waiting {
        let known = held.rows.get(pending.id.as_str());
        let at = changed_at(settled.pending.contains(pending), Place::Pending(pending.id.clone()));
        of_pending.push(card_rows::pending(&held.row, known, pending, (at, zone)));
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
            of_pending.push(card_rows::over(row, status, arrived.as_ref(), step.at.millis()));
        }
    }
    for (kind, changed) in [(LOT, of_lots), (PENDING, of_pending)] {
        let (known, new): (Vec<Document>, Vec<Document>) =
            changed.into_iter().partition(|row| held.rows.contains_key(&row.id));
        store.insert_all(kind, &new);
        store.update_all(kind, &known);
        held.rows.extend(new.into_iter().chain(known).map(|row| (row.id.clone(), row)));
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
        store.write("DELETE FROM due WHERE id = +?1", vec![card.into()]);
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
    outbox::wake(store)
}

/// What it takes to settle a card, in the time of rows that a job writes without looking at them: it is read, with its lots and its tier, in
/// some nine statements, and three rows are written.
const ROWS_OF_A_CARD: u64 = 15;
/// What each thing takes that is due on it: five rows (a transfer, two balances, a transaction, a lot), and as long again to tell of it.
const ROWS_OF_A_THING: u64 = 10;
/// A piece does so much of a card as the whole of it is read for.
const SHARE_OF_A_CARD: usize = 8;

/// The work of the alarm: settles cards that nobody has read since something was due, as many as the piece has rows for.
pub fn sweep(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let least = ROWS_OF_A_CARD.saturating_add(ROWS_OF_A_THING);
    let first = settle_unread(store, context, (piece.id, piece.read()?), piece.rows)?;
    let mut left = piece.rows.saturating_sub(first);
    let more = i64::try_from(left.checked_div(least).unwrap_or(0)).unwrap_or(i64::MAX);
    let due = store.rows(
        "SELECT id, cursor FROM due WHERE kind = +?1 AND at <= ?2 AND id <> ?3 ORDER BY at, id LIMIT +?4",
        &[SETTLE.into(), context.now.millis().into(), piece.id.into(), more.into()],
    )?;
    for row in &due {
        if left < least {
            break;
        }
        store.commit()?;
        let (id, said) = (sql::text(row, 0)?, sql::text(row, 1)?);
        let mark = store.mark();
        let said =
            serde_json::from_str(said).map_err(|error| Fault(format!("the zone of `{id}` does not parse: {error}")));
        // A card that cannot be settled is the first of a later piece, and fails there, where that is counted.
        match said.and_then(|said| settle_unread(store, context, (id, said), left)) {
            Ok(cost) => left = left.saturating_sub(cost),
            Err(_) => {
                store.forget_since(mark);
                break;
            }
        }
    }
    Ok(())
}

/// Settles what so many rows are enough for of what is due on a card, in the zone that was said when it was armed, and says how many they
/// were. What is left is due still. A card that is gone is left alone.
fn settle_unread(
    store: &mut Store<'_>,
    context: &Context,
    (card, said): (&str, Json),
    rows: u64,
) -> Result<u64, Fault> {
    let Some(row) = store.document(CARD.stored, card)? else {
        store.write("DELETE FROM due WHERE id = +?1", vec![card.into()]);
        return Ok(1);
    };
    let present = Present::read(context.now, said)?;
    let mut held = load(store, row, &[])?;
    let fitting = rows.saturating_sub(ROWS_OF_A_CARD).checked_div(ROWS_OF_A_THING).unwrap_or(0);
    let share = held.rows.len().checked_div(SHARE_OF_A_CARD).unwrap_or(0);
    let most = usize::try_from(fitting).unwrap_or(usize::MAX).max(share).max(1);
    let (count, _) = settle_first(store, &present, &mut held, most)?;
    arm(store, (SETTLE, card), held.next_due(&present.zone), &present.said)?;
    let things = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(ROWS_OF_A_THING);
    Ok(ROWS_OF_A_CARD.saturating_add(things))
}
