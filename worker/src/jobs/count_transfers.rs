//! Job that makes the counts that the first rule asks for, from the transfers of the ledger (`store/ledger/kept_counts.rs`).

use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::jobs;
use crate::store::ledger::kept_counts;
use crate::store::sql::Fault;
use scrip::Context;

/// Kind of the job.
pub const COUNT_TRANSFERS: &str = "COUNT_TRANSFERS";

/// Rows that a transfer costs at most: itself, and two balances.
const COST: u64 = 3;

/// Makes counts of the next transfers.
pub fn run(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let Some(mut progress) = kept_counts::find_incomplete(store)? else {
        jobs::delete(store, slice.id);
        return Ok(());
    };
    let most = i64::try_from(slice.rows.div_ceil(COST)).unwrap_or(i64::MAX);
    kept_counts::make_slice(store, &mut progress, most)?;
    jobs::update_time(store, slice.id, context.now.millis());
    Ok(())
}
