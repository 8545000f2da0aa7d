//! Job that overwrites the free pages of the database file after an erasure. Requests during a run share the job.

use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::jobs;
use crate::store::jobs::remnants::{self, LOG_STEPS};
use crate::store::sql::Fault;
use scrip::Context;

/// Kind of the job.
pub const FREE_PAGES: &str = "FREE_PAGES";
/// Pause between two steps in milliseconds: requests that arrive meanwhile share them.
const PAUSE_MS: i64 = 500;

/// Requests that all currently free pages are overwritten. A running job repeats the steps for the log.
pub fn request(store: &mut Store<'_>, now_ms: i64) {
    jobs::insert_of_service(store, FREE_PAGES, &LOG_STEPS.to_string(), now_ms);
    store.schedule_jobs_at(now_ms);
}

/// Runs the next step.
pub fn run(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let Some(left) = remnants::fill(store, slice.read()?)? else {
        jobs::delete(store, slice.id);
        return Ok(());
    };
    // Saturates at the end of time.
    let at = context.now.millis().saturating_add(PAUSE_MS);
    jobs::update_cursor(store, slice.id, &left.to_string(), at);
    Ok(())
}
