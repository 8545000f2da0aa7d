//! Job that moves the records of earlier versions to the tables of their kinds, slice by slice, while the project is served.

use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::jobs;
use crate::store::jobs::record_moves;
use crate::store::sql::Fault;
use scrip::Context;

/// Rows that a record costs: the former one with its indexes, written twice, and the present one.
const COST: u64 = 24;

/// Moves the next records.
pub fn run(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    // The oldest failures may have waited for the move.
    store.mark_for_retention();
    match record_moves::move_next(store, slice.rows.div_ceil(COST))? {
        // Other jobs that are due have their turn before the next slice.
        true => jobs::update_time(store, slice.id, context.now.millis()),
        false => jobs::delete(store, slice.id),
    }
    Ok(())
}
