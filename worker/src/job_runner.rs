//! Runs jobs: finds the function of a kind, runs one slice of the job that is next, and commits it.

use crate::api;
use crate::commit;
use crate::domain::balances::points;
use crate::domain::bundle::build_job;
use crate::domain::loyalty_members::card_changes;
use crate::domain::vouchers::bulk_jobs::{self, VOUCHERS_DELETE, VOUCHERS_GENERATE, VOUCHERS_UPDATE};
use crate::domain::{erasure, exports};
use crate::http::reply::{CallError, check_writes};
use crate::http::route::Call;
use crate::http::table::RouteTable;
use crate::jobs::async_actions::{JobSlice, finish};
use crate::jobs::bulk_items;
use crate::jobs::count_transfers;
use crate::jobs::free_pages;
use crate::jobs::queue;
use crate::jobs::record_move;
use crate::jobs::retention;
use crate::jobs::transfer_move;
use crate::routes::TABLE;
use crate::store::Store;
use crate::store::jobs;
use crate::store::jobs::record_moves::MOVE_RECORDS;
use crate::store::jobs::remnants;
use crate::store::ledger::movements::MOVE_TRANSFERS;
use crate::store::sql::Fault;
use scrip::Context;
use serde_json::{Map, Value as Json};

/// Function of a kind of job, by the form of its slices.
#[derive(Clone, Copy)]
pub enum JobKind {
    /// The function does one slice and moves the cursor.
    Slices(fn(&mut Store<'_>, &Context, &JobSlice<'_>) -> Result<(), Fault>),
    /// The function does one row of `due` and returns the rows that it used. The slice continues with other due rows of the kind while
    /// it has at least these rows left.
    DueRows(fn(&mut Store<'_>, &Context, &JobSlice<'_>) -> Result<u64, Fault>, u64),
    /// The function does one slice in the name of the caller that the cursor names.
    InNameOf(fn(&mut Store<'_>, &Context, &JobSlice<'_>, &RouteTable) -> Result<(), Fault>),
    /// The function writes one item of a list, in the name of the caller that the cursor names.
    Items(fn(&mut Call<'_, '_>, Map<String, Json>) -> Result<(), CallError>),
}

/// The kinds of jobs, and the function of each.
pub const KINDS: &[(&str, JobKind)] = &[
    (VOUCHERS_GENERATE, JobKind::Slices(bulk_jobs::generate)),
    (VOUCHERS_UPDATE, JobKind::Slices(bulk_jobs::change)),
    (VOUCHERS_DELETE, JobKind::Slices(bulk_jobs::remove)),
    (queue::BUILD_BUNDLE, JobKind::Slices(build_job::run)),
    (card_changes::SETTLE_JOB, JobKind::DueRows(card_changes::run_job, card_changes::ROWS_MIN)),
    (erasure::job::ERASE, JobKind::Slices(erasure::job::run)),
    (MOVE_TRANSFERS, JobKind::Slices(transfer_move::run)),
    (MOVE_RECORDS, JobKind::Slices(record_move::run)),
    (count_transfers::COUNT_TRANSFERS, JobKind::Slices(count_transfers::run)),
    (free_pages::FREE_PAGES, JobKind::Slices(free_pages::run)),
    (points::EXPIRATION_JOB, JobKind::Slices(points::run_job)),
    (exports::job::WRITE, JobKind::InNameOf(exports::job::write)),
    (exports::job::DELETE_LINES, JobKind::Slices(exports::job::delete_lines)),
    (api::loyalty_members::members::BATCH, JobKind::Items(api::loyalty_members::members::write_one)),
    ("CUSTOMERS.BULK_UPDATE", JobKind::Items(api::customers::customers::write_one)),
    ("CUSTOMERS.METADATA_UPDATE", JobKind::Items(api::customers::customers::write_one)),
    ("PRODUCTS.BULK_UPDATE", JobKind::Items(api::catalogue::products::write_one)),
    ("PRODUCTS.METADATA_UPDATE", JobKind::Items(api::catalogue::products::write_one)),
    ("ORDERS.IMPORT", JobKind::Items(api::orders::write_one)),
    (api::customers::csv_import::IMPORT, JobKind::Items(api::customers::csv_import::write_one)),
    (api::catalogue::csv_import::PRODUCTS, JobKind::Items(api::catalogue::csv_import::write_product)),
    (api::catalogue::csv_import::SKUS, JobKind::Items(api::catalogue::csv_import::write_sku)),
    (api::vouchers::csv_import::IMPORT_STANDALONE, JobKind::Items(api::vouchers::csv_import::write_standalone)),
    (api::vouchers::csv_import::IMPORT_INTO_CAMPAIGN, JobKind::Items(api::vouchers::csv_import::write_into)),
    ("VOUCHERS.IMPORT", JobKind::Items(api::vouchers::imports::write_standalone)),
    ("CAMPAIGN.VOUCHERS_IMPORT", JobKind::Items(api::vouchers::imports::write_into)),
    ("VOUCHERS.BULK_UPDATE", JobKind::Items(api::vouchers::imports::write_metadata)),
    ("VOUCHERS.METADATA_UPDATE", JobKind::Items(api::vouchers::imports::write_metadata)),
];

/// Runs one slice of the job that is next, of at most `rows` rows, and schedules the alarm of the job after it.
pub fn run_due(store: &mut Store<'_>, context: &Context, rows: u64) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    if let Some(job) = queue::next(store, now_ms)? {
        remnants::record_size(store)?;
        let (id, kind, cursor) = (job.id.as_str(), job.kind.as_str(), job.cursor.as_str());
        let slice = JobSlice { id, kind, cursor, rows: rows.max(1) };
        match KINDS.iter().find(|(known, _)| *known == kind).map(|(_, kind)| *kind) {
            Some(JobKind::Slices(run)) => run(store, context, &slice)?,
            Some(JobKind::DueRows(run, least)) => run_due_rows(store, context, &slice, run, least)?,
            Some(JobKind::InNameOf(run)) => run(store, context, &slice, &TABLE)?,
            Some(JobKind::Items(write)) => {
                let write = |call: &mut Call<'_, '_>, item| write(call, item).and_then(|()| commit::run(call));
                bulk_items::run(store, context, &slice, &TABLE, &write)?;
            }
            None if kind == retention::KIND => retention::run(store, context)?,
            None => finish(store, context, id, Err(format!("there is no job of the kind `{kind}`")))?,
        }
        jobs::end_turn(store, &job.owner);
        commit::run_job(store, context)?;
    }
    queue::schedule_next(store, now_ms)
}

/// Runs a slice that does several rows of `due`, each with its own writes.
fn run_due_rows(
    store: &mut Store<'_>,
    context: &Context,
    slice: &JobSlice<'_>,
    run: fn(&mut Store<'_>, &Context, &JobSlice<'_>) -> Result<u64, Fault>,
    least: u64,
) -> Result<(), Fault> {
    // The costs of rows are estimates, so the arithmetic of the budget saturates.
    let mut left = slice.rows.saturating_sub(run(store, context, slice)?);
    let more = i64::try_from(left.checked_div(least).unwrap_or(0)).unwrap_or(i64::MAX);
    for job in store.list_due_except(slice.id, slice.kind, context.now.millis(), more)? {
        if left < least {
            break;
        }
        commit::settle_row(store)?;
        let savepoint = store.savepoint();
        let next = JobSlice { id: &job.id, kind: slice.kind, cursor: &job.cursor, rows: left };
        // A row that fails becomes the first of a later slice and fails there, where failures are counted.
        match run(store, context, &next).and_then(|cost| Ok(check_writes(store).map(|()| cost)?)) {
            // A cost above the rest leaves none.
            Ok(cost) => left = left.saturating_sub(cost),
            Err(_) => {
                store.discard_since(savepoint);
                break;
            }
        }
    }
    Ok(())
}

/// Records, in a transaction of its own, that the slice of the job that is next failed and was undone. Returns the kind of the job.
pub fn record_failure(store: &mut Store<'_>, context: &Context, fault: &str) -> Result<Option<String>, Fault> {
    let kind = queue::record_failure(store, context, fault)?;
    commit::run_internal(store, context)?;
    queue::schedule_next(store, context.now.millis())?;
    Ok(kind)
}
