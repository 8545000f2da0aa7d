//! Long work on the vouchers of a campaign: made, changed and removed in pieces. It must not know who asked for it.
//!
//! Every piece may run twice without harm: codes are the same for the same counter and a code that exists is left alone.

use crate::moment;
use crate::shop::codes::{CodeShape, Generator};
use crate::store::Store;
use crate::store::code::code_key;
use crate::store::ledger::account_of;
use crate::store::sql::{self, Fault};
use crate::work::actions::{Piece, advance, finish};
use scrip::Context;
use scrip::facts::redemptions_account;
use scrip::id::Ids;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// The kind of the job that makes a campaign's vouchers.
pub const VOUCHERS_GENERATE: &str = "CAMPAIGN.VOUCHERS_GENERATE";

/// The kind of the job that removes them.
pub const VOUCHERS_DELETE: &str = "CAMPAIGN.VOUCHERS_DELETE";

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

/// Makes the next vouchers.
pub fn generate(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let Piece { id, rows, .. } = *piece;
    let mut job: Generation = piece.read()?;
    let mut ids = Ids::new(context);
    let shape = CodeShape::read(Some(&job.code_config), job.case_sensitive, None)
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
        "UPDATE document SET body = json_set(body, '$.vouchers_count', CAST(json_extract(body, '$.vouchers_count') + ?2 AS INTEGER)) WHERE kind = 'campaign' AND id = +?1",
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
    advance(store, context, id, &job, (job.made, job.wanted))
}

/// Changes the free vouchers of the next chunk. One that is published or used meanwhile keeps what it was.
pub fn change(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let Piece { id, rows, .. } = *piece;
    let mut job: Change = piece.read()?;
    let now_ms = context.now.millis();
    let last = store.row(
        "SELECT MAX(seq), COUNT(*) FROM (SELECT seq FROM document WHERE kind = 'voucher' AND parent = +?1 AND seq > ?2 ORDER BY seq LIMIT +?3)",
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
            "UPDATE document SET updated_at = ?4, body = json_set(body, {}) WHERE kind = 'voucher' AND parent = +?1 AND seq > ?2 AND seq <= ?3
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
    advance(store, context, id, &job, (job.made, job.wanted))
}

fn finish_campaign(store: &mut Store<'_>, campaign_id: &str, status: &str, now_ms: i64) {
    let params = vec![campaign_id.into(), status.into(), now_ms.into(), moment::text(now_ms).into()];
    store.write_to(
        ("campaign", campaign_id),
        "UPDATE document SET updated_at = ?3, body = json_set(body, '$.creation_status', ?2, '$.vouchers_generation_status', ?2, '$.updated_at', ?4)
         WHERE kind = 'campaign' AND id = +?1",
        params,
    );
}

/// Removes the next vouchers.
pub fn remove(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let Piece { id, rows, .. } = *piece;
    let mut job: Removal = piece.read()?;
    let params = [job.campaign_id.as_str().into(), i64::try_from(rows).unwrap_or(1).into()];
    store.write_now(
        "DELETE FROM document WHERE kind IN ('validation_rules_assignment', 'redeemable_holder') AND parent IN
           (SELECT id FROM document WHERE kind = 'voucher' AND parent = +?1 ORDER BY seq LIMIT +?2)",
        &params,
    )?;
    store.write_now(
        "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE kind = 'voucher' AND parent = +?1 ORDER BY seq LIMIT +?2)",
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
    advance(store, context, id, &job, (job.made, job.wanted))
}
