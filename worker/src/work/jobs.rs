//! Long work: one row of `due` a job, done in chunks, the cursor moved in the same commit. It must not know HTTP, nor which kinds
//! of work there are: the table that it is handed says that.
//!
//! Every chunk may run twice without harm. How much a chunk does is said by whoever has the clock, in rows: so much that a
//! redemption waits for milliseconds only.

use crate::http::table::Table;
use crate::store::Store;
use crate::store::sql::{self, Fault};
use crate::work::actions::{Piece, finish};
use crate::work::batch::{self, Step};
use crate::work::sweep;
use scrip::Context;

/// How often a job that fails is tried.
const ATTEMPTS_MAX: i64 = 6;

/// How a kind of long work is done.
#[derive(Clone, Copy)]
pub enum Work {
    /// A function does one piece and moves the cursor.
    Pieces(fn(&mut Store<'_>, &Context, &Piece<'_>) -> Result<(), Fault>),
    /// The same in the name of whoever asked, whom the cursor names.
    Asked(fn(&mut Store<'_>, &Context, &Piece<'_>, &Table) -> Result<(), Fault>),
    /// The items of a list are written one by one.
    Items(Step),
}

/// Runs one chunk of the earliest job that is due, of `rows` rows at most, and asks for the alarm of the next.
pub fn run_due(
    store: &mut Store<'_>,
    context: &Context,
    rows: u64,
    (kinds, table): (&[(&str, Work)], &Table),
) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let row = store.row("SELECT id, kind, cursor FROM due WHERE at <= ?1 ORDER BY at, id LIMIT 1", &[now_ms.into()])?;
    if let Some(row) = row {
        let (id, kind, cursor) = (sql::text(&row, 0)?, sql::text(&row, 1)?, sql::text(&row, 2)?);
        let piece = Piece { id, kind, cursor, rows: rows.max(1) };
        match kinds.iter().find(|(known, _)| *known == kind).map(|(_, work)| *work) {
            Some(Work::Pieces(run)) => run(store, context, &piece)?,
            Some(Work::Asked(run)) => run(store, context, &piece, table)?,
            Some(Work::Items(step)) => batch::run(store, context, &piece, (step, table))?,
            None if kind == sweep::KIND => sweep::run(store, context)?,
            None => finish(store, context, id, Err(format!("there is no job of the kind `{kind}`")))?,
        }
        store.commit()?;
        (table.tell)(store, context)?;
    }
    wake_for_next(store)
}

fn wake_for_next(store: &mut Store<'_>) -> Result<(), Fault> {
    let next = store.row("SELECT MIN(at) FROM due", &[])?;
    if let Some(at) = next.map_or(Ok(None), |row| sql::int_or_null(&row, 0))? {
        store.wake_at(at);
    }
    Ok(())
}

/// Records that the chunk of the earliest due job failed, in a transaction of its own: it is tried again later, and given up
/// after [`ATTEMPTS_MAX`] times.
pub fn note_failure(store: &mut Store<'_>, context: &Context, what: &str) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let row = store.row("SELECT id, attempts FROM due WHERE at <= ?1 ORDER BY at, id LIMIT 1", &[now_ms.into()])?;
    if let Some(row) = row {
        let (id, attempts) = (sql::text(&row, 0)?.to_owned(), sql::int(&row, 1)?.saturating_add(1));
        store.note(format!("the job {id} has failed {attempts} of {ATTEMPTS_MAX} times"));
        if attempts >= ATTEMPTS_MAX {
            finish(store, context, &id, Err(format!("given up after {attempts} attempts: {what}")))?;
        } else {
            let delay_ms = 1_000_i64.saturating_mul(1_i64 << attempts.clamp(0, 10));
            let params = vec![id.into(), now_ms.saturating_add(delay_ms).into(), attempts.into()];
            store.write("UPDATE due SET at = ?2, attempts = ?3 WHERE id = +?1", params);
        }
        store.commit()?;
    }
    wake_for_next(store)
}
