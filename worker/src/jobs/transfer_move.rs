//! Job that moves the ledger transfers of earlier versions to the present table, slice by slice, while the project is served.

use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::jobs;
use crate::store::ledger::movements;
use crate::store::sql::Fault;
use scrip::Context;

/// Rows that a transfer costs: the former one with its four indexes, and the present one with up to two.
const COST: u64 = 8;

/// Moves the next transfers.
pub fn run(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    match movements::move_next(store, slice.rows.div_ceil(COST))? {
        // Other jobs that are due have their turn before the next slice.
        true => jobs::update_time(store, slice.id, context.now.millis()),
        false => jobs::delete(store, slice.id),
    }
    Ok(())
}
