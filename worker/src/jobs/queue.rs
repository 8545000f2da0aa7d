//! Queue of jobs: one row of `due` for a job. A job runs in slices, and its cursor is stored in the commit of the slice.
//!
//! Keys take turns: the next job is the earliest one of the key whose turn was the longest ago. So one key with many jobs
//! does not delay the others. The service's own jobs have a turn like a key.
//!
//! A job of a key is due at once, regardless of the time in its row: a clock that is set back does not stop it. A job of the
//! service has the time of its cause (points expire, a lock ends) and is due by the clock.
//!
//! A slice may run twice without harm. The shell, which has the clock, limits a slice in rows, so that a redemption waits
//! only milliseconds. Times and numbers of attempts saturate.

use crate::jobs::async_actions::finish;
use crate::jobs::count_transfers::COUNT_TRANSFERS;
use crate::jobs::free_pages;
use crate::jobs::{outbox, retention};
use crate::store::Store;
use crate::store::bundle_goods;
use crate::store::jobs::record_moves::MOVE_RECORDS;
use crate::store::jobs::{self, NextJob};
use crate::store::ledger::movements::MOVE_TRANSFERS;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;

/// Maximum number of attempts of a failing job.
const ATTEMPTS_MAX: i64 = 6;
/// Delay after the first failure in milliseconds; each further one is twice as long.
const PAUSE_MS: i64 = 2_000;
/// Maximum delay in milliseconds: a retry beyond it was scheduled by a clock that was ahead.
const PAUSE_MAX_MS: i64 = PAUSE_MS << (ATTEMPTS_MAX - 2);

/// Returns the delay in milliseconds after a number of failed attempts.
fn pause_after(attempts: i64) -> i64 {
    // The first failure has the shortest delay.
    PAUSE_MS << attempts.saturating_sub(1).clamp(0, ATTEMPTS_MAX)
}

/// Kind of the job that builds the bundle. Triggers of `0038_bundle_job.sql` write it.
pub const BUILD_BUNDLE: &str = "BUNDLE";

/// Returns the job that is next.
pub fn next(store: &Store<'_>, now_ms: i64) -> Result<Option<NextJob>, Fault> {
    jobs::find_next(store, now_ms, PAUSE_MAX_MS)
}

/// Requests the alarm for the earliest job.
pub fn schedule_next(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    if let Some(at) = jobs::find_next_time(store, now_ms, PAUSE_MAX_MS)? {
        store.schedule_jobs_at(at);
    }
    Ok(())
}

/// Records, in a transaction of its own, that a slice of the next job failed: it is retried later, and given up after
/// [`ATTEMPTS_MAX`] failures. The bundle's and that of a migration are never given up, because nothing would start them again. Returns the
/// kind of the job.
pub fn record_failure(store: &mut Store<'_>, context: &Context, reason: &str) -> Result<Option<String>, Fault> {
    let now_ms = context.now.millis();
    let failed = next(store, now_ms)?;
    if let Some(NextJob { id, attempts, owner, kind, .. }) = &failed {
        let attempts = attempts.saturating_add(1); // Attempts are few.
        store.warn(format!("the job {id} has failed {attempts} of {ATTEMPTS_MAX} times"));
        if [BUILD_BUNDLE, MOVE_TRANSFERS, MOVE_RECORDS, COUNT_TRANSFERS].contains(&kind.as_str()) {
            if kind == BUILD_BUNDLE {
                // The build is lost: without it, the record of written documents has no use and no end.
                bundle_goods::end_record_of_written(store);
            }
            let attempts = attempts.min(ATTEMPTS_MAX.saturating_sub(1)); // A constant.
            let pause_ms = pause_after(attempts);
            jobs::update_attempts(store, id, attempts, timestamp::later(now_ms, pause_ms));
        } else if attempts >= ATTEMPTS_MAX {
            finish(store, context, id, Err(format!("given up after {attempts} attempts: {reason}")))?;
        } else {
            let pause_ms = pause_after(attempts);
            jobs::update_attempts(store, id, attempts, timestamp::later(now_ms, pause_ms));
        }
        jobs::end_turn(store, owner);
    }
    Ok(failed.map(|job| job.kind))
}

/// Resets times after the clock was set back: those of retries, of the retention sweep, of freed pages, of the ledger and of the bundle, which
/// looks itself whether it is due. Jobs with a planned time keep it.
pub fn catch_up(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    jobs::update_times_ahead(
        store,
        &[retention::KIND, free_pages::FREE_PAGES, BUILD_BUNDLE, MOVE_TRANSFERS, MOVE_RECORDS, COUNT_TRANSFERS],
        now_ms,
    )?;
    outbox::catch_up(store, now_ms)
}
