//! What leaves when its time is over: one row of `due` for all of it, there as long as something is to leave.
//! It must not know what anything is kept for.
//!
//! Where it matters, whoever reads looks at the clock: a lock that ended holds nothing. The sweep gives its room back, a little in
//! one event, and wakes nobody where there is nothing to sweep.

use crate::access::idempotency::ANSWERS_KEPT_MS;
use crate::store::Store;
use crate::store::sql::{self, Fault};
use crate::work::outbox;
use scrip::Context;

/// The kind of its row in `due`.
pub const KIND: &str = "SWEEP";
/// The id of that row.
const ID: &str = "sweep";
const DAY_MS: i64 = 86_400_000;
/// How long failed redemptions and rollbacks are kept.
pub const FAILURES_KEPT_MS: i64 = 30 * DAY_MS;
/// How long async actions are kept with their results, counted from their beginning.
pub const ACTIONS_KEPT_MS: i64 = 30 * DAY_MS;
/// How long exports are kept.
pub const EXPORTS_KEPT_MS: i64 = 7 * DAY_MS;
/// How long what a webhook could not be told is kept, to be sent again.
pub const LETTERS_KEPT_MS: i64 = 30 * DAY_MS;
/// Between two events where more is to leave: others have their turn.
const BREATH_MS: i64 = 200;
/// Between two events otherwise.
const REST_MS: i64 = 3_600_000;
/// The farthest that the alarm is set to: locks may end in a thousand years.
const FARTHEST_MS: i64 = 30 * DAY_MS;

/// One sort of rows.
struct Sort {
    /// When its oldest row began to wait.
    oldest: &'static str,
    /// How long a row waits.
    kept_ms: i64,
    /// How many rows leave in one event, at most: what a redemption may have to wait for.
    rows: i64,
    /// Removes rows that began to wait at ?1 or before, ?2 of them at most.
    remove: &'static [&'static str],
}

/// The oldest answers, as many as weigh 4 MB together, and one whatever it weighs.
macro_rules! oldest_answers {
    () => {
        "(SELECT seq FROM
           (SELECT seq, SUM(bytes) OVER (ORDER BY created_at, bytes, seq) - bytes AS before FROM
             (SELECT seq, created_at, bytes FROM answer WHERE status > 0 AND created_at <= ?1 ORDER BY created_at, bytes, seq LIMIT +?2))
         WHERE before < 4000000)"
    };
}

/// The failures among documents, in the words of their index.
macro_rules! failed {
    () => {
        "document INDEXED BY document_failed WHERE kind = 'redemption' AND (id GLOB 'rf_*' OR id GLOB 'rrf_*')"
    };
}

/// Async actions that are over.
macro_rules! over {
    () => {
        "document WHERE kind = 'async_action' AND id NOT IN (SELECT id FROM due)"
    };
}

const SORTS: &[Sort] = &[
    Sort {
        oldest: "SELECT created_at FROM answer WHERE status > 0 ORDER BY created_at LIMIT 1",
        kept_ms: ANSWERS_KEPT_MS,
        rows: 200,
        remove: &[
            concat!("DELETE FROM answer_slice WHERE answer IN ", oldest_answers!()),
            concat!("DELETE FROM answer WHERE seq IN ", oldest_answers!()),
        ],
    },
    Sort {
        oldest: "SELECT expires_at FROM hold ORDER BY expires_at LIMIT 1",
        kept_ms: 0,
        rows: 1_000,
        remove: &["DELETE FROM hold WHERE (key, owner, account) IN
           (SELECT key, owner, account FROM hold WHERE expires_at <= ?1 ORDER BY expires_at LIMIT +?2)"],
    },
    Sort {
        oldest: concat!("SELECT created_at FROM ", failed!(), " ORDER BY created_at LIMIT 1"),
        kept_ms: FAILURES_KEPT_MS,
        rows: 100,
        remove: &[concat!(
            "DELETE FROM document WHERE seq IN (SELECT seq FROM ",
            failed!(),
            " AND created_at <= ?1 ORDER BY created_at, seq LIMIT +?2)"
        )],
    },
    Sort {
        oldest: concat!("SELECT created_at FROM ", over!(), " ORDER BY created_at LIMIT 1"),
        kept_ms: ACTIONS_KEPT_MS,
        // Each may tell of a thousand errors.
        rows: 20,
        remove: &[concat!(
            "DELETE FROM document WHERE seq IN (SELECT seq FROM ",
            over!(),
            " AND created_at <= ?1 ORDER BY created_at, seq LIMIT +?2)"
        )],
    },
    Sort {
        oldest: "SELECT created_at FROM document WHERE kind = 'export' ORDER BY created_at LIMIT 1",
        kept_ms: EXPORTS_KEPT_MS,
        rows: 1_000,
        // The lines of one first, and then itself.
        remove: &[
            "DELETE FROM export_line WHERE (export, place, seq, part) IN
               (SELECT export, place, seq, part FROM export_line WHERE export =
                 (SELECT id FROM document WHERE kind = 'export' AND created_at <= ?1 ORDER BY created_at, seq LIMIT 1) LIMIT +?2)",
            "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE kind = 'export' AND created_at <= ?1
               AND NOT EXISTS (SELECT 1 FROM export_line WHERE export = document.id) ORDER BY created_at, seq LIMIT +?2)",
        ],
    },
    Sort {
        oldest: "SELECT dead_at FROM outbox WHERE dead_at IS NOT NULL ORDER BY dead_at LIMIT 1",
        kept_ms: LETTERS_KEPT_MS,
        rows: 200,
        remove: &["DELETE FROM outbox WHERE seq IN
           (SELECT seq FROM outbox WHERE dead_at <= ?1 AND dead_at IS NOT NULL ORDER BY dead_at LIMIT +?2)"],
    },
];

/// Sees to it that what the request at hand writes leaves one day. Runs right before the commit.
pub fn arm(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    if !store.take_leaving() {
        return Ok(());
    }
    let at = now_ms.saturating_add(REST_MS);
    let begun = store.row(
        "INSERT INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, '', 0)
         ON CONFLICT (id) DO NOTHING RETURNING (SELECT MIN(at) FROM due)",
        &[ID.into(), at.into(), KIND.into()],
    )?;
    // Only a row that is new needs the alarm, which must not be put off for work that is due before it.
    if let Some(row) = begun {
        store.wake_at(sql::int_or_null(&row, 0)?.map_or(at, |earliest| earliest.min(at)));
        outbox::wake(store)?;
    }
    Ok(())
}

/// Removes some of what has had its time, and says when there is more to do.
pub fn run(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let mut next: Option<i64> = None;
    for sort in SORTS {
        let params = [now_ms.saturating_sub(sort.kept_ms).into(), sort.rows.into()];
        for statement in sort.remove {
            store.write_now(statement, &params)?;
        }
        if let Some(row) = store.row(sort.oldest, &[])? {
            let over = sql::int(&row, 0)?.saturating_add(sort.kept_ms);
            next = Some(next.map_or(over, |earlier| earlier.min(over)));
        }
    }
    match next {
        None => store.write("DELETE FROM due WHERE id = +?1", vec![ID.into()]),
        Some(over) => {
            let wait = over.saturating_sub(now_ms);
            let wait = if wait <= 0 { BREATH_MS } else { wait.clamp(REST_MS, FARTHEST_MS) };
            let at = now_ms.saturating_add(wait);
            store.write("UPDATE due SET at = ?2, attempts = 0 WHERE id = +?1", vec![ID.into(), at.into()]);
        }
    }
    Ok(())
}
