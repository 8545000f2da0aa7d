//! Long work: one row of `due` a job, done in chunks, the cursor moved in the same commit. It must not know HTTP.
//!
//! Every chunk may run twice without harm: codes are the same for the same counter and a code that exists is left alone.
//! How much a chunk does is said by whoever has the clock, in rows: so much that a redemption waits for milliseconds only.

use crate::moment;
use crate::shop::codes::{CodeShape, Generator, code_key};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::ledger::account_of;
use crate::store::sql::{self, Fault};
use scrip::Context;
use scrip::facts::redemptions_account;
use scrip::id::Ids;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// How often a job that fails is tried.
const ATTEMPTS_MAX: i64 = 6;

/// The making of codes for a campaign.
#[derive(Debug, Serialize, Deserialize)]
pub struct Generation {
    /// The campaign.
    pub campaign_id: String,
    /// The voucher's body without id and code.
    pub template: Map<String, Json>,
    /// The `code_config`.
    pub code_config: Map<String, Json>,
    /// Whether codes differ by case.
    pub case_sensitive: bool,
    /// How many vouchers are asked for.
    pub wanted: u64,
    /// How many there are already.
    pub made: u64,
}

/// The removal of a campaign's vouchers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Removal {
    /// The campaign, whose document is gone already.
    pub campaign_id: String,
    /// How many there were.
    pub wanted: u64,
    /// How many are gone.
    pub made: u64,
}

/// The kind of the job that carries a campaign's changes to its vouchers.
pub const VOUCHERS_UPDATE: &str = "CAMPAIGN.VOUCHERS_UPDATE";

/// A campaign's changes on their way to the vouchers that nobody has and nobody has used.
#[derive(Debug, Serialize, Deserialize)]
pub struct Change {
    /// The campaign.
    pub campaign_id: String,
    /// The fields that changed, as vouchers have them.
    pub fields: Map<String, Json>,
    /// The last voucher that was looked at.
    pub after: i64,
    /// How many vouchers there are.
    pub wanted: u64,
    /// How many were looked at.
    pub made: u64,
}

/// Notes an async action and its job at the commit; gives the action's id.
pub fn start(store: &mut Store<'_>, context: &Context, ids: &mut Ids, request_id: &str, job: (&str, Json)) -> String {
    let (kind, cursor) = job;
    let now_ms = context.now.millis();
    let id = ids.hex18("aa_").to_string();
    let body = json!({
        "id": id, "type": kind, "status": "IN_PROGRESS", "operation_status": "UNKNOWN", "progress": 0, "processing_time": 0,
        "request_id": request_id, "created_at": moment::text(now_ms), "updated_at": moment::text(now_ms), "object": "async_action",
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let document = Document {
        id: id.clone(),
        key: None,
        parent: None,
        holder: None,
        created_at: now_ms,
        updated_at: Some(now_ms),
        body,
    };
    store.insert("async_action", &document);
    store.leaves_later();
    let params = vec![id.clone().into(), now_ms.into(), kind.into(), cursor.to_string().into()];
    store.write("INSERT INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, ?4, 0)", params);
    store.wake_at(now_ms);
    id
}

/// Runs one chunk of the earliest job that is due, of `rows` rows at most, and asks for the alarm of the next.
pub fn run_due(store: &mut Store<'_>, context: &Context, rows: u64) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let rows = rows.max(1);
    let row = store.row("SELECT id, kind, cursor FROM due WHERE at <= ?1 ORDER BY at, id LIMIT 1", &[now_ms.into()])?;
    if let Some(row) = row {
        let (id, kind, cursor) = (sql::text(&row, 0)?.to_owned(), sql::text(&row, 1)?, sql::text(&row, 2)?);
        let broken = |error: serde_json::Error| Fault(format!("the cursor of {id} does not parse: {error}"));
        match kind {
            "CAMPAIGN.VOUCHERS_GENERATE" => {
                generate(store, context, &id, serde_json::from_str(cursor).map_err(broken)?, rows)?
            }
            VOUCHERS_UPDATE => change(store, context, &id, serde_json::from_str(cursor).map_err(broken)?, rows)?,
            "CAMPAIGN.VOUCHERS_DELETE" => {
                remove(store, context, &id, serde_json::from_str(cursor).map_err(broken)?, rows)?
            }
            crate::work::sweep::KIND => crate::work::sweep::run(store, context)?,
            kind if crate::table::STEPS.iter().any(|(known, _)| *known == kind) => {
                crate::work::batch::run(store, context, &id, (kind, cursor), rows)?
            }
            other => finish(store, context, &id, Err(format!("there is no job of the kind `{other}`")))?,
        }
        store.commit()?;
    }
    wake_for_next(store)
}

fn wake_for_next(store: &mut Store<'_>) -> Result<(), Fault> {
    let next = store.row("SELECT MIN(at) FROM due", &[])?;
    if let Some(at) = next.map_or(Ok(None), |row| sql::int_or_null(&row, 0))? {
        store.wake_at(at);
    }
    Ok(())
}

/// Records that the chunk of the earliest due job failed, in a transaction of its own: it is tried again later, and given up
/// after [`ATTEMPTS_MAX`] times.
pub fn note_failure(store: &mut Store<'_>, context: &Context, what: &str) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let row = store.row("SELECT id, attempts FROM due WHERE at <= ?1 ORDER BY at, id LIMIT 1", &[now_ms.into()])?;
    if let Some(row) = row {
        let (id, attempts) = (sql::text(&row, 0)?.to_owned(), sql::int(&row, 1)?.saturating_add(1));
        if attempts >= ATTEMPTS_MAX {
            finish(store, context, &id, Err(format!("given up after {attempts} attempts: {what}")))?;
        } else {
            let delay_ms = 1_000_i64.saturating_mul(1_i64 << attempts.clamp(0, 10));
            let params = vec![id.into(), now_ms.saturating_add(delay_ms).into(), attempts.into()];
            store.write("UPDATE due SET at = ?2, attempts = ?3 WHERE id = ?1", params);
        }
        store.commit()?;
    }
    wake_for_next(store)
}

fn generate(store: &mut Store<'_>, context: &Context, id: &str, mut job: Generation, rows: u64) -> Result<(), Fault> {
    let mut ids = Ids::new(context);
    let shape = CodeShape::read(Some(&job.code_config), job.case_sensitive)
        .map_err(|body| Fault(format!("{:?}", body.details)))?;
    let mut generator = Generator::open(store, &mut ids, &job.campaign_id, &shape)?;
    let campaign = store.document("campaign", &job.campaign_id)?;
    if campaign.is_none() {
        return finish(store, context, id, Err("the campaign was deleted meanwhile".into()));
    }
    let missing = job.wanted.saturating_sub(job.made).min(rows);
    let mut made: Vec<Json> = Vec::new();
    // Ids that begin alike lie together in the index: half as many pages to write. What follows is long enough to be nobody else's.
    let lead = ids.alphanumeric("v_", 8);
    for _ in 0..missing {
        let Some(code) = generator.next(&shape) else { break };
        made.push(json!([ids.alphanumeric(lead.as_str(), 24), code_key(&code, job.case_sensitive), code]));
    }
    let tried = made.len();
    let now_ms = context.now.millis();
    job.template.insert("created_at".into(), moment::text(now_ms).into());
    let params = [
        Json::Array(made).to_string().into(),
        job.campaign_id.as_str().into(),
        now_ms.into(),
        Json::Object(job.template.clone()).to_string().into(),
    ];
    store.write_now(
        "INSERT OR IGNORE INTO document (kind, id, key, parent, created_at, body)
         SELECT 'voucher', json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2, ?3,
           json_set(?4, '$.id', json_extract(value, '$[0]'), '$.code', json_extract(value, '$[2]')) FROM json_each(?1)",
        &params,
    )?;
    let added =
        if tried == 0 { 0 } else { store.row("SELECT changes()", &[])?.map_or(Ok(0), |row| sql::int(&row, 0))? };
    job.made = job.made.saturating_add(u64::try_from(added).unwrap_or(0));
    let (statement, params) = generator.kept();
    store.write(statement, params);
    let params = vec![job.campaign_id.clone().into(), added.into()];
    store.write(
        "UPDATE document SET body = json_set(body, '$.vouchers_count', CAST(json_extract(body, '$.vouchers_count') + ?2 AS INTEGER)) WHERE kind = 'campaign' AND id = ?1",
        params,
    );
    if job.made >= job.wanted {
        let done = json!({ "message": format!("{} vouchers generated", job.made), "done_count": job.made });
        finish_campaign(store, &job.campaign_id, "DONE", now_ms);
        return finish(store, context, id, Ok(done));
    }
    if tried == 0 {
        finish_campaign(store, &job.campaign_id, "FAILED", now_ms);
        let told = shape.too_small(job.wanted).details.clone().unwrap_or_default();
        return finish(store, context, id, Err(format!("{told}; {} were made", job.made)));
    }
    let cursor = serde_json::to_string(&job).map_err(|error| Fault(error.to_string()))?;
    advance(store, context, id, cursor, (job.made, job.wanted));
    Ok(())
}

/// Changes the free vouchers of the next chunk. One that is published or used meanwhile keeps what it was.
fn change(store: &mut Store<'_>, context: &Context, id: &str, mut job: Change, rows: u64) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let last = store.row(
        "SELECT MAX(seq), COUNT(*) FROM (SELECT seq FROM document WHERE kind = 'voucher' AND parent = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3)",
        &[job.campaign_id.as_str().into(), job.after.into(), i64::try_from(rows).unwrap_or(1).into()],
    )?;
    let (last, seen) = match last {
        Some(row) => (sql::int_or_null(&row, 0)?.unwrap_or(job.after), sql::int(&row, 1)?),
        None => (job.after, 0),
    };
    let mut fields = job.fields.clone();
    fields.insert("updated_at".into(), moment::text(now_ms).into());
    let sets: Vec<String> = (0..fields.len())
        .map(|at| format!("'$.' || json_extract(?5, '$[{at}][0]'), json(json_extract(?5, '$[{at}][1]'))"))
        .collect();
    let pairs = fields.into_iter().map(|(name, value)| json!([name, value.to_string()]));
    store.write_now(
        &format!(
            "UPDATE document SET updated_at = ?4, body = json_set(body, {}) WHERE kind = 'voucher' AND parent = ?1 AND seq > ?2 AND seq <= ?3
               AND holder IS NULL AND NOT EXISTS (SELECT 1 FROM account WHERE account.id = {} AND balance <> 0)",
            sets.join(", "),
            account_of(redemptions_account, "document.id")
        ),
        &[job.campaign_id.as_str().into(), job.after.into(), last.into(), now_ms.into(), Json::Array(pairs.collect()).to_string().into()],
    )?;
    job.after = last;
    job.made = job.made.saturating_add(u64::try_from(seen).unwrap_or(0));
    if u64::try_from(seen).unwrap_or(0) < rows {
        let done = json!({ "message": format!("{} vouchers looked at", job.made), "done_count": job.made });
        return finish(store, context, id, Ok(done));
    }
    let cursor = serde_json::to_string(&job).map_err(|error| Fault(error.to_string()))?;
    advance(store, context, id, cursor, (job.made, job.wanted));
    Ok(())
}

fn finish_campaign(store: &mut Store<'_>, campaign_id: &str, status: &str, now_ms: i64) {
    let params = vec![campaign_id.into(), status.into(), now_ms.into(), moment::text(now_ms).into()];
    store.write(
        "UPDATE document SET updated_at = ?3, body = json_set(body, '$.creation_status', ?2, '$.vouchers_generation_status', ?2, '$.updated_at', ?4)
         WHERE kind = 'campaign' AND id = ?1",
        params,
    );
}

fn remove(store: &mut Store<'_>, context: &Context, id: &str, mut job: Removal, rows: u64) -> Result<(), Fault> {
    let params = [job.campaign_id.as_str().into(), i64::try_from(rows).unwrap_or(1).into()];
    store.write_now(
        "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent IN
           (SELECT id FROM document WHERE kind = 'voucher' AND parent = ?1 ORDER BY seq LIMIT ?2)",
        &params,
    )?;
    store.write_now(
        "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE kind = 'voucher' AND parent = ?1 ORDER BY seq LIMIT ?2)",
        &params,
    )?;
    let removed = store.row("SELECT changes()", &[])?.map_or(Ok(0), |row| sql::int(&row, 0))?;
    job.made = job.made.saturating_add(u64::try_from(removed).unwrap_or(0));
    if u64::try_from(removed).unwrap_or(0) < rows {
        store.write(
            "DELETE FROM generator WHERE id >= ?1 || '/' AND id < ?1 || '0'",
            vec![job.campaign_id.clone().into()],
        );
        return finish(
            store,
            context,
            id,
            Ok(json!({ "message": format!("{} vouchers deleted", job.made), "done_count": job.made })),
        );
    }
    let cursor = serde_json::to_string(&job).map_err(|error| Fault(error.to_string()))?;
    advance(store, context, id, cursor, (job.made, job.wanted));
    Ok(())
}

/// Moves the cursor, and tells the progress: 99 at most until the end.
pub fn advance(store: &mut Store<'_>, context: &Context, id: &str, cursor: String, (made, wanted): (u64, u64)) {
    let now_ms = context.now.millis();
    let progress = made.saturating_mul(100).checked_div(wanted.max(1)).unwrap_or(0).min(99);
    store.write(
        "UPDATE due SET cursor = ?2, at = ?3, attempts = 0 WHERE id = ?1",
        vec![id.into(), cursor.into(), now_ms.into()],
    );
    let params =
        vec![id.into(), i64::try_from(progress).unwrap_or(0).into(), moment::text(now_ms).into(), now_ms.into()];
    store.write(
        "UPDATE document SET updated_at = ?4, body = json_set(body, '$.progress', CAST(?2 AS INTEGER), '$.updated_at', ?3, '$.processing_time', CAST(?4 - created_at AS INTEGER))
         WHERE kind = 'async_action' AND id = ?1",
        params,
    );
}

/// Ends an async action with its result, or with what made it fail.
pub fn finish(store: &mut Store<'_>, context: &Context, id: &str, outcome: Result<Json, String>) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let (status, operation_status, result) = match outcome {
        Ok(result) => ("DONE", "SUCCESS", result),
        Err(message) => ("FAILED", "FAILED", json!({ "message": message })),
    };
    store.write("DELETE FROM due WHERE id = ?1", vec![id.into()]);
    store.write("DELETE FROM document WHERE kind = 'batch' AND parent = ?1", vec![id.into()]);
    let params = vec![
        id.into(),
        status.into(),
        operation_status.into(),
        moment::text(now_ms).into(),
        now_ms.into(),
        result.to_string().into(),
    ];
    store.write(
        "UPDATE document SET updated_at = ?5, body = json_set(body, '$.status', ?2, '$.operation_status', ?3, '$.progress', 100, '$.updated_at', ?4,
           '$.processing_time', CAST(?5 - created_at AS INTEGER), '$.result', json(?6)) WHERE kind = 'async_action' AND id = ?1",
        params,
    );
    Ok(())
}
