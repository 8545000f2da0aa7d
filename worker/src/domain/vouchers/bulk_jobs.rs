//! Jobs on the vouchers of a campaign: create, change and delete them in slices.
//!
//! A slice may run twice without harm: the same counter gives the same code, and an existing code is left unchanged.

use crate::domain::vouchers::code_generator::{CodeShape, Generator};
use crate::jobs::async_actions::{JobSlice, advance, finish};
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::DocumentBody;
use crate::store::documents::vouchers::{self, GeneratedVoucher, InheritedChange};
use crate::store::index::code_key::code_key;
use crate::store::records::CodeConfig;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;
use scrip::count::Countable;
use scrip::id::Ids;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Kind of the job that creates the vouchers of a campaign.
pub const VOUCHERS_GENERATE: &str = "CAMPAIGN.VOUCHERS_GENERATE";

/// Kind of the job that deletes them.
pub const VOUCHERS_DELETE: &str = "CAMPAIGN.VOUCHERS_DELETE";

/// Progress of the creation of vouchers.
#[derive(Debug, Serialize, Deserialize)]
pub struct VoucherCreationJob {
    /// Id of the campaign.
    pub campaign_id: String,
    /// The voucher's body without id and code.
    pub template: DocumentBody,
    /// The `code_config`.
    pub code_config: Map<String, Json>,
    /// True when codes are case-sensitive.
    pub case_sensitive: bool,
    /// Requested number of vouchers.
    #[serde(rename = "wanted")]
    pub total: u64,
    /// Number of vouchers created so far.
    #[serde(rename = "made")]
    pub created: u64,
}

/// Progress of the deletion of a campaign's vouchers.
#[derive(Debug, Serialize, Deserialize)]
pub struct VoucherDeletionJob {
    /// Id of the campaign, whose document is deleted already.
    pub campaign_id: String,
    /// Number of vouchers at the start.
    #[serde(rename = "wanted")]
    pub total: u64,
    /// Number of vouchers deleted so far.
    #[serde(rename = "made")]
    pub deleted: u64,
}

/// Kind of the job that applies changes of a campaign to its vouchers.
pub const VOUCHERS_UPDATE: &str = "CAMPAIGN.VOUCHERS_UPDATE";

/// Progress of the change of vouchers that are neither assigned nor used.
#[derive(Debug, Serialize, Deserialize)]
pub struct VoucherUpdateJob {
    /// Id of the campaign.
    pub campaign_id: String,
    /// Changed fields, as vouchers store them.
    pub fields: DocumentBody,
    /// Values of these fields before the change. A job of an earlier version has none.
    #[serde(default)]
    pub former: DocumentBody,
    /// Time of the change.
    #[serde(default = "latest_time")]
    pub since_ms: i64,
    /// Position of the last processed voucher.
    pub after: i64,
    /// Number of vouchers.
    #[serde(rename = "wanted")]
    pub total: u64,
    /// Number of vouchers processed so far.
    #[serde(rename = "made")]
    pub processed: u64,
}

/// Returns the time before which every voucher changed: a job of an earlier version changes them all.
fn latest_time() -> i64 {
    i64::MAX
}

/// Creates the next vouchers.
pub fn generate(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let JobSlice { id, rows, .. } = *slice;
    let mut job: VoucherCreationJob = slice.read()?;
    let mut ids = Ids::new(context);
    let shape = CodeShape::read(CodeConfig::of(&job.code_config), job.case_sensitive, None)
        .map_err(|body| Fault(format!("{:?}", body.details)))?;
    let mut generator = Generator::open(store, &mut ids, &job.campaign_id, &shape)?;
    let campaign = store.document("campaign", &job.campaign_id)?;
    if campaign.is_none() {
        return finish(store, context, id, Err("the campaign was deleted meanwhile".into()));
    }
    let missing = job.total.remaining_after(job.created).min(rows);
    let mut generated_vouchers: Vec<GeneratedVoucher> = Vec::new();
    // Ids with a common prefix are adjacent in the index, which halves the written pages. The rest of the id is long enough to be unique.
    let lead = ids.alphanumeric("v_", 8);
    for _ in 0..missing {
        let Some(code) = generator.next(&shape) else { break };
        let (id, key) = (ids.alphanumeric(lead.as_str(), 24).to_string(), code_key(&code, job.case_sensitive));
        generated_vouchers.push(GeneratedVoucher { id, key, code });
    }
    let generated = generated_vouchers.len();
    let now_ms = context.now.millis();
    job.template.insert("created_at".into(), timestamp::text(now_ms).into());
    let added = vouchers::insert_many(store, &job.campaign_id, &generated_vouchers, &job.template, now_ms)?;
    job.created = job.created.plus(amount::unsigned(added)?)?;
    generator.write_state(store)?;
    vouchers::update_count(store, &job.campaign_id, added);
    if job.created >= job.total {
        let done = json!({ "message": format!("{} vouchers generated", job.created), "done_count": job.created });
        vouchers::update_generation_status(store, &job.campaign_id, "DONE", now_ms);
        return finish(store, context, id, Ok(done));
    }
    if generated == 0 {
        vouchers::update_generation_status(store, &job.campaign_id, "FAILED", now_ms);
        let details = shape.too_small(job.total).details.clone().unwrap_or_default();
        return finish(store, context, id, Err(format!("{details}; {} were made", job.created)));
    }
    advance(store, context, id, &job, job.created, job.total)
}

/// Changes the free vouchers of the next slice. One that was published or used meanwhile is left unchanged, and so is a field that a
/// voucher got another value of meanwhile.
pub fn change(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let JobSlice { id, rows, .. } = *slice;
    let mut job: VoucherUpdateJob = slice.read()?;
    let now_ms = context.now.millis();
    let span = vouchers::find_range(store, &job.campaign_id, job.after, i64::try_from(rows).unwrap_or(1))?;
    let changes: Vec<InheritedChange<'_>> = job
        .fields
        .iter()
        .map(|(name, value)| InheritedChange {
            name,
            former: job.former.get(name).unwrap_or(&Json::Null),
            value,
            since_ms: job.since_ms,
        })
        .collect();
    vouchers::update_unused(store, &job.campaign_id, span, &changes, now_ms)?;
    let found = amount::unsigned(span.count)?;
    job.after = span.until;
    job.processed = job.processed.plus(found)?;
    if found < rows {
        let done = json!({ "message": format!("{} vouchers looked at", job.processed), "done_count": job.processed });
        return finish(store, context, id, Ok(done));
    }
    advance(store, context, id, &job, job.processed, job.total)
}

/// Deletes the next vouchers.
pub fn remove(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let JobSlice { id, rows, .. } = *slice;
    let mut job: VoucherDeletionJob = slice.read()?;
    let deleted = vouchers::delete_next(store, &job.campaign_id, i64::try_from(rows).unwrap_or(1))?;
    let deleted = amount::unsigned(deleted)?;
    job.deleted = job.deleted.plus(deleted)?;
    if deleted < rows {
        vouchers::delete_generators(store, &job.campaign_id);
        return finish(
            store,
            context,
            id,
            Ok(json!({ "message": format!("{} vouchers deleted", job.deleted), "done_count": job.deleted })),
        );
    }
    advance(store, context, id, &job, job.deleted, job.total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    fn jobs_keep_the_names_of_their_stored_members() {
        let stored = json!({ "campaign_id": "camp_1", "fields": {}, "former": {}, "since_ms": 1, "after": 2, "wanted": 3, "made": 4 });
        let update: VoucherUpdateJob = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!((update.total, update.processed), (3, 4));
        assert_eq!(serde_json::to_value(&update).unwrap(), stored);
        let stored = json!({ "campaign_id": "camp_1", "template": {}, "code_config": {}, "case_sensitive": true, "wanted": 3, "made": 4 });
        let creation: VoucherCreationJob = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(serde_json::to_value(&creation).unwrap(), stored);
        let stored = json!({ "campaign_id": "camp_1", "wanted": 3, "made": 4 });
        let deletion: VoucherDeletionJob = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(serde_json::to_value(&deletion).unwrap(), stored);
    }
}
