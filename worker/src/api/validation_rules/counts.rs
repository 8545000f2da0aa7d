//! Counts that a rule asks for: they are kept before the rule takes effect, so no decision sees a part of them.

use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, Response, refused_but_written};
use crate::jobs::count_transfers::COUNT_TRANSFERS;
use crate::store::jobs;
use crate::store::ledger::kept_counts;
use scrip::facts::{RuleCount, asked_counts};
use scrip::wire::document::read_fields;
use scrip::wire::rules::read_rule;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

/// Maximum number of transfers of which counts are made within a call.
const COUNTED_AT_ONCE_MAX: i64 = 50_000;

/// Returns the counts that a rule asks for. One that the engine cannot read passes nowhere, and may ask for any where a later version reads it.
pub fn asked_by(body: &Map<String, Json>) -> BTreeSet<RuleCount> {
    read_fields(body, read_rule)
        .map_or_else(|_| RuleCount::ALL.iter().copied().collect(), |rule| asked_counts(&rule.tests))
}

/// Keeps counts from now on; a call that has queued no write calls it before. Where the project has too many transfers for one call, a job makes the
/// counts, and the call is to return this refusal.
pub fn keep(call: &mut Call<'_, '_>, asked: &BTreeSet<RuleCount>) -> Result<Option<Response>, CallError> {
    let unkept = kept_counts::list_unkept(call.store, asked)?;
    if unkept.is_empty() {
        return Ok(None);
    }
    let is_being_made = kept_counts::find_incomplete(call.store)?.is_some();
    if !is_being_made && !kept_counts::has_more_transfers(call.store, COUNTED_AT_ONCE_MAX)? {
        kept_counts::make(call.store, &unkept)?;
        return Ok(None);
    }
    let now_ms = call.now_ms();
    // All is written at once and nothing queued: a refusal with queued writes would be stored for its `Idempotency-Key`.
    kept_counts::begin(call.store, &unkept)?;
    jobs::insert_now(call.store, COUNT_TRANSFERS, now_ms)?;
    call.store.schedule_jobs_at(now_ms);
    Ok(Some(refused_but_written(&not_made_yet(), call.request_id)))
}

fn not_made_yet() -> ErrorBody {
    let details = "the counts of redemptions that the rule asks for are being made from the project's history; \
                   repeat the call in some minutes, nothing was changed";
    error(409, "counts_not_ready", "Counts not ready", details)
}
