//! Jobs on the vouchers of a campaign: create, change and delete them in slices.
//!
//! A slice may run twice without harm: the same counter gives the same code, and an existing code is left unchanged.

use crate::domain::vouchers::code_generator::{CodeShape, Generator};
use crate::jobs::async_actions::{JobSlice, advance, finish};
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
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
    pub template: Map<String, Json>,
    /// The `code_config`.
    pub code_config: Map<String, Json>,
    /// True when codes are case-sensitive.
    pub case_sensitive: bool,
    /// Requested number of vouchers.
    pub wanted: u64,
    /// Number of vouchers created so far.
    pub made: u64,
}

/// Progress of the deletion of a campaign's vouchers.
#[derive(Debug, Serialize, Deserialize)]
pub struct VoucherDeletionJob {
    /// Id of the campaign, whose document is deleted already.
    pub campaign_id: String,
    /// Number of vouchers at the start.
    pub wanted: u64,
    /// Number of vouchers deleted so far.
    pub made: u64,
}

/// Kind of the job that applies changes of a campaign to its vouchers.
pub const VOUCHERS_UPDATE: &str = "CAMPAIGN.VOUCHERS_UPDATE";

/// Progress of the change of vouchers that are neither assigned nor used.
#[derive(Debug, Serialize, Deserialize)]
pub struct VoucherUpdateJob {
    /// Id of the campaign.
    pub campaign_id: String,
    /// Changed fields, as vouchers store them.
    pub fields: Map<String, Json>,
    /// Values of these fields before the change. A job of an earlier version has none.
    #[serde(default)]
    pub former: Map<String, Json>,
    /// Moment of the change.
    #[serde(default = "latest_moment")]
    pub since_ms: i64,
    /// Position of the last processed voucher.
    pub after: i64,
    /// Number of vouchers.
    pub wanted: u64,
    /// Number of vouchers processed so far.
    pub made: u64,
}

/// Returns the moment before which every voucher changed: a job of an earlier version changes them all.
fn latest_moment() -> i64 {
    i64::MAX
}

/// Creates the next vouchers.
pub fn generate(store: &mut Store<'_>, context: &Context, piece: &JobSlice<'_>) -> Result<(), Fault> {
    let JobSlice { id, rows, .. } = *piece;
    let mut job: VoucherCreationJob = piece.read()?;
    let mut ids = Ids::new(context);
    let shape = CodeShape::read(CodeConfig::of(&job.code_config), job.case_sensitive, None)
        .map_err(|body| Fault(format!("{:?}", body.details)))?;
    let mut generator = Generator::open(store, &mut ids, &job.campaign_id, &shape)?;
    let campaign = store.document("campaign", &job.campaign_id)?;
    if campaign.is_none() {
        return finish(store, context, id, Err("the campaign was deleted meanwhile".into()));
    }
    let missing = job.wanted.remaining_after(job.made).min(rows);
    let mut made: Vec<GeneratedVoucher> = Vec::new();
    // Ids with a common prefix are adjacent in the index, which halves the written pages. The rest of the id is long enough to be unique.
    let lead = ids.alphanumeric("v_", 8);
    for _ in 0..missing {
        let Some(code) = generator.next(&shape) else { break };
        let (id, key) = (ids.alphanumeric(lead.as_str(), 24).to_string(), code_key(&code, job.case_sensitive));
        made.push(GeneratedVoucher { id, key, code });
    }
    let tried = made.len();
    let now_ms = context.now.millis();
    job.template.insert("created_at".into(), timestamp::text(now_ms).into());
    let added = vouchers::insert_many(store, &job.campaign_id, &made, &job.template, now_ms)?;
    job.made = job.made.plus(amount::unsigned(added)?)?;
    generator.write_state(store)?;
    vouchers::update_count(store, &job.campaign_id, added);
    if job.made >= job.wanted {
        let done = json!({ "message": format!("{} vouchers generated", job.made), "done_count": job.made });
        vouchers::update_generation_status(store, &job.campaign_id, "DONE", now_ms);
        return finish(store, context, id, Ok(done));
    }
    if tried == 0 {
        vouchers::update_generation_status(store, &job.campaign_id, "FAILED", now_ms);
        let details = shape.too_small(job.wanted).details.clone().unwrap_or_default();
        return finish(store, context, id, Err(format!("{details}; {} were made", job.made)));
    }
    advance(store, context, id, &job, job.made, job.wanted)
}

/// Changes the free vouchers of the next slice. One that was published or used meanwhile is left unchanged, and so is a field that a
/// voucher got another value of meanwhile.
pub fn change(store: &mut Store<'_>, context: &Context, piece: &JobSlice<'_>) -> Result<(), Fault> {
    let JobSlice { id, rows, .. } = *piece;
    let mut job: VoucherUpdateJob = piece.read()?;
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
    let seen = amount::unsigned(span.count)?;
    job.after = span.until;
    job.made = job.made.plus(seen)?;
    if seen < rows {
        let done = json!({ "message": format!("{} vouchers looked at", job.made), "done_count": job.made });
        return finish(store, context, id, Ok(done));
    }
    advance(store, context, id, &job, job.made, job.wanted)
}

/// Deletes the next vouchers.
pub fn remove(store: &mut Store<'_>, context: &Context, piece: &JobSlice<'_>) -> Result<(), Fault> {
    let JobSlice { id, rows, .. } = *piece;
    let mut job: VoucherDeletionJob = piece.read()?;
    let removed = vouchers::delete_next(store, &job.campaign_id, i64::try_from(rows).unwrap_or(1))?;
    let removed = amount::unsigned(removed)?;
    job.made = job.made.plus(removed)?;
    if removed < rows {
        vouchers::delete_generators(store, &job.campaign_id);
        return finish(
            store,
            context,
            id,
            Ok(json!({ "message": format!("{} vouchers deleted", job.made), "done_count": job.made })),
        );
    }
    advance(store, context, id, &job, job.made, job.wanted)
}
