//! Removes rows past their keeping time: one row of `due` for all of them, present as long as there is anything to remove.
//!
//! Readers compare with the clock where it matters: an expired lock has no effect. The retention sweep frees the space, a few
//! rows at a time, and schedules nothing when there is nothing to remove. Times saturate, at both ends of time.

use crate::access::idempotency::RESPONSES_RETAINED_MS;
use crate::jobs::outbox;
use crate::store::Store;
use crate::store::document_list::made_indexes;
use crate::store::documents::redemptions;
use crate::store::jobs;
use crate::store::jobs::retention::{self as stored, RetainedRows};
use crate::store::redemption_inputs;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;

/// Kind of the job.
pub const KIND: &str = "SWEEP";
/// Id of its row in `due`.
const ID: &str = "sweep";
const DAY_MS: i64 = 86_400_000;
/// Keeping time of failed redemptions and rollbacks.
pub const FAILURES_RETAINED_MS: i64 = 30 * DAY_MS;
/// Keeping time of async actions with their results, from their creation.
pub const ACTIONS_RETAINED_MS: i64 = 30 * DAY_MS;
/// Keeping time of exports.
pub const EXPORTS_RETAINED_MS: i64 = 7 * DAY_MS;
/// Keeping time of dead letters, which can be sent again meanwhile.
pub const DELIVERIES_RETAINED_MS: i64 = 30 * DAY_MS;
/// Pause between two runs when more is to be removed: others have their turn.
const PAUSE_MS: i64 = 200;
/// Minimum pause between two runs otherwise.
const IDLE_MS: i64 = 3_600_000;
/// Maximum pause: locks may end in a thousand years.
const HORIZON_MS: i64 = 30 * DAY_MS;

/// Rule for one kind of rows.
struct RetentionRule {
    of: RetainedRows,
    /// Time for which a row is retained; of inputs of redemptions the project decides, and it is 0 here.
    retained_ms: i64,
    /// Maximum number of rows removed in one run: a redemption may wait that long.
    rows: i64,
}

const RULES: &[RetentionRule] = &[
    RetentionRule { of: RetainedRows::Responses, retained_ms: RESPONSES_RETAINED_MS, rows: 200 },
    RetentionRule { of: RetainedRows::Holds, retained_ms: 0, rows: 1_000 },
    RetentionRule { of: RetainedRows::Failures, retained_ms: FAILURES_RETAINED_MS, rows: 100 },
    // Each may contain a thousand errors.
    RetentionRule { of: RetainedRows::Actions, retained_ms: ACTIONS_RETAINED_MS, rows: 20 },
    RetentionRule { of: RetainedRows::Exports, retained_ms: EXPORTS_RETAINED_MS, rows: 1_000 },
    RetentionRule { of: RetainedRows::DeadLetters, retained_ms: DELIVERIES_RETAINED_MS, rows: 200 },
    RetentionRule { of: RetainedRows::Inputs, retained_ms: 0, rows: 200 },
];

/// Schedules the removal of rows that the current request writes. Runs right before the commit.
pub fn schedule(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    if !store.take_retention_mark() {
        return Ok(());
    }
    let at = timestamp::later(now_ms, IDLE_MS);
    // The alarm is needed only for a row that is new, or that a clock that was ahead has delayed. It must not delay jobs
    // that are due earlier.
    if let Some(earliest) = stored::schedule(store, ID, KIND, at, HORIZON_MS)? {
        store.schedule_jobs_at(earliest);
        outbox::schedule_alarm(store, now_ms)?;
    }
    Ok(())
}

/// Has the retention sweep run at once.
pub fn schedule_at_once(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    stored::schedule(store, ID, KIND, now_ms, 0)?;
    store.schedule_jobs_at(now_ms);
    Ok(())
}

/// Schedules the removal of indexes of lists, when the object opens its database: a list that made one may have been refused, and then scheduled
/// nothing.
pub fn resume(store: &Store<'_>, now_ms: i64) -> Result<(), Fault> {
    if let Some(over) = made_indexes::find_next_drop(store)? {
        stored::schedule(store, ID, KIND, over.max(now_ms), HORIZON_MS)?;
    }
    Ok(())
}

/// Runs the retention sweep: removes some rows, and schedules the next run.
pub fn run(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let mut next: Option<i64> = None;
    for rule in RULES {
        let retained_ms = match rule.of {
            RetainedRows::Inputs => {
                let Some(setting) = redemptions::find_replay_setting(store)? else { continue };
                redemption_inputs::retained_ms(setting.days)
            }
            _ => rule.retained_ms,
        };
        stored::delete(store, rule.of, timestamp::earlier(now_ms, retained_ms), rule.rows)?;
        if let Some(oldest) = stored::find_oldest(store, rule.of)? {
            let over = timestamp::later(oldest, retained_ms);
            next = Some(next.map_or(over, |earlier| earlier.min(over)));
        }
    }
    if let Some(over) = made_indexes::drop_unused(store, now_ms)? {
        next = Some(next.map_or(over, |earlier| earlier.min(over)));
    }
    match next {
        None => jobs::delete(store, ID),
        Some(over) => {
            let wait = timestamp::elapsed(now_ms, over);
            let wait = if wait <= 0 { PAUSE_MS } else { wait.clamp(IDLE_MS, HORIZON_MS) };
            jobs::update_time(store, ID, timestamp::later(now_ms, wait));
        }
    }
    Ok(())
}
