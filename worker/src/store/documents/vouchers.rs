//! Vouchers, their number in a campaign, codes without a holder, holders of referral codes, and the states of code generators. Does not
//! depend on the way in which codes are generated. Decisions count the same codes that publications take.

use super::any_kind::texts;
use crate::store::Store;
use crate::store::amount;
use crate::store::document::{self, COLUMNS, Document};
use crate::store::index::validity_sql;
use crate::store::ledger::account_of;
use crate::store::sql::{self, Fault, SqlRow};
use crate::timestamp;
use scrip::facts::redemptions_account;
use scrip::model::redeemable::Validity;
use scrip::text::{decode_hex_array, hex};
use scrip::time::Instant;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// A voucher that is inserted with many others.
#[derive(Debug)]
pub struct GeneratedVoucher {
    /// Its id.
    pub id: String,
    /// The key that its code is found by.
    pub key: String,
    /// Its code.
    pub code: String,
}

/// The vouchers of a campaign from one number to another.
#[derive(Debug, Clone, Copy)]
pub struct VoucherRange {
    /// The number after which the span begins.
    pub after: i64,
    /// The number of its last voucher.
    pub until: i64,
    /// The number of vouchers in it.
    pub count: i64,
}

/// Lists those of some keys that vouchers have.
pub fn list_taken_keys(store: &Store<'_>, keys: &[String]) -> Result<Vec<String>, Fault> {
    let taken = store.rows(
        "SELECT key FROM document WHERE kind = 'voucher' AND key IN (SELECT value FROM json_each(?1))",
        &[Json::from(keys.to_vec()).to_string().into()],
    )?;
    taken.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Inserts vouchers of a campaign that have the members of a template, and leaves out those with a key that exists. Returns the number of
/// inserted vouchers. Runs at once.
pub fn insert_many(
    store: &Store<'_>,
    campaign: &str,
    vouchers: &[GeneratedVoucher],
    template: &Map<String, Json>,
    now_ms: i64,
) -> Result<i64, Fault> {
    let rows: Vec<Json> = vouchers.iter().map(|new| json!([new.id, new.key, new.code])).collect();
    store.write_now(
        "INSERT OR IGNORE INTO document (seq, kind, id, key, parent, created_at, body)
         SELECT (SELECT seq FROM next_document) + key, 'voucher', json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2, ?3,
           json_set(?4, '$.id', json_extract(value, '$[0]'), '$.code', json_extract(value, '$[2]')) FROM json_each(?1)",
        &[
            Json::Array(rows).to_string().into(),
            campaign.into(),
            now_ms.into(),
            Json::Object(template.clone()).to_string().into(),
        ],
    )?;
    if vouchers.is_empty() { Ok(0) } else { count_changes(store) }
}

/// Returns the number of rows that the last statement changed.
fn count_changes(store: &Store<'_>) -> Result<i64, Fault> {
    store.row("SELECT changes()", &[])?.map_or(Ok(0), |row| sql::int(&row, 0))
}

/// Adds to the number of vouchers that a campaign contains, at the flush.
pub fn update_count(store: &mut Store<'_>, campaign: &str, added: i64) {
    store.write_counts(
        "UPDATE document SET body = json_set(body, '$.vouchers_count', CAST(json_extract(body, '$.vouchers_count') + ?2 AS INTEGER)) WHERE kind = 'campaign' AND id = +?1",
        vec![campaign.into(), added.into()],
    );
}

/// Records the state in which the generation of a campaign's vouchers ended, at the flush.
pub fn update_generation_status(store: &mut Store<'_>, campaign: &str, status: &str, now_ms: i64) {
    store.write_to(
        "campaign",
        campaign,
        "UPDATE document SET updated_at = ?3, body = json_set(body, '$.creation_status', ?2, '$.vouchers_generation_status', ?2, '$.updated_at', ?4)
         WHERE kind = 'campaign' AND id = +?1",
        vec![campaign.into(), status.into(), now_ms.into(), timestamp::text(now_ms).into()],
    );
}

/// Finds the next vouchers of a campaign after a number, at most `most`.
pub fn find_range(store: &Store<'_>, campaign: &str, after: i64, most: i64) -> Result<VoucherRange, Fault> {
    let last = store.row(
        "SELECT MAX(seq), COUNT(*) FROM (SELECT seq FROM document WHERE kind = 'voucher' AND parent = +?1 AND seq > ?2 ORDER BY seq LIMIT +?3)",
        &[campaign.into(), after.into(), most.into()],
    )?;
    let Some(row) = last else { return Ok(VoucherRange { after, until: after, count: 0 }) };
    Ok(VoucherRange { after, until: sql::int_or_null(&row, 0)?.unwrap_or(after), count: sql::int(&row, 1)? })
}

/// Change of a member that vouchers have from their campaign.
#[derive(Debug, Clone, Copy)]
pub struct InheritedChange<'c> {
    /// Name of the member.
    pub name: &'c str,
    /// Value that the campaign had before; `null` if it had none.
    pub former: &'c Json,
    /// Value that the vouchers get.
    pub value: &'c Json,
    /// Time of the campaign's change. A voucher that changed since then and has another value than the former one got it later.
    pub since_ms: i64,
}

/// Changes members of the vouchers of a span that have no holder and no redemption, except for values that vouchers got of their own
/// later. Runs at once.
pub fn update_unused(
    store: &Store<'_>,
    campaign: &str,
    range: VoucherRange,
    changes: &[InheritedChange<'_>],
    now_ms: i64,
) -> Result<(), Fault> {
    let unused = format!(
        "kind = 'voucher' AND parent = +?1 AND seq > ?2 AND seq <= ?3
         AND holder IS NULL AND NOT EXISTS (SELECT 1 FROM account WHERE account.id = {} AND balance <> 0)",
        account_of(redemptions_account, "document.id")
    );
    for change in changes {
        store.write_now(
            &format!(
                "UPDATE document SET body = json_set(body, '$.' || ?4, json(?5)) WHERE {unused}
                   AND (COALESCE(updated_at, created_at) < ?7 OR json_extract(body, '$.' || ?4) IS json_extract(?6, '$'))"
            ),
            &[
                campaign.into(),
                range.after.into(),
                range.until.into(),
                change.name.into(),
                change.value.to_string().into(),
                change.former.to_string().into(),
                change.since_ms.into(),
            ],
        )?;
    }
    // The date comes last, because the changes above compare it.
    store.write_now(
        &format!("UPDATE document SET updated_at = ?4, body = json_set(body, '$.updated_at', ?5) WHERE {unused}"),
        &[campaign.into(), range.after.into(), range.until.into(), now_ms.into(), timestamp::text(now_ms).into()],
    )
}

/// Records that vouchers change now, at the flush.
pub fn mark_updated(store: &mut Store<'_>, ids: Vec<&str>, now_ms: i64) {
    store.write_counts(
        "UPDATE document SET updated_at = ?2, body = json_set(body, '$.updated_at', ?3)
         WHERE kind = 'voucher' AND id IN (SELECT value FROM json_each(?1))",
        vec![Json::from(ids).to_string().into(), now_ms.into(), timestamp::text(now_ms).into()],
    );
}

/// Deletes the next vouchers of a campaign with their assignments and holders, up to a number. Returns the number of deleted vouchers. Runs at
/// once.
pub fn delete_next(store: &Store<'_>, campaign: &str, most: i64) -> Result<i64, Fault> {
    let params = [campaign.into(), most.into()];
    store.write_now(
        "DELETE FROM document WHERE kind IN ('validation_rules_assignment', 'redeemable_holder') AND parent IN
           (SELECT id FROM document WHERE kind = 'voucher' AND parent = +?1 ORDER BY seq LIMIT +?2)",
        &params,
    )?;
    store.write_now(
        "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE kind = 'voucher' AND parent = +?1 ORDER BY seq LIMIT +?2)",
        &params,
    )?;
    count_changes(store)
}

/// Deletes the holders of a referral code, at the flush.
pub fn delete_referral_holders(store: &mut Store<'_>, voucher: &str) {
    store.write("DELETE FROM document WHERE kind = 'redeemable_holder' AND parent = +?1", vec![voucher.into()]);
}

/// Lists the ids of the vouchers that a customer holds.
pub fn list_ids_of_holder(store: &Store<'_>, customer_id: &str) -> Result<Vec<String>, Fault> {
    texts(&store.rows("SELECT id FROM document WHERE kind = 'voucher' AND holder = +?1", &[customer_id.into()])?)
}

/// Lists the ids of the codes that campaigns have for all customers, if both can be used now: a code before its start date is secret.
pub fn list_public_ids(store: &Store<'_>, now_ms: i64) -> Result<Vec<String>, Fault> {
    let rows = store.rows(
        "SELECT voucher.id FROM document AS campaign INDEXED BY campaign_public CROSS JOIN document AS voucher
         WHERE campaign.kind = 'campaign' AND json_extract(campaign.body, '$.type') = 'STANDALONE'
           AND COALESCE(json_extract(campaign.body, '$.active'), 1) = 1
           AND COALESCE(json_extract(campaign.body, '$.start_date'), '') <= +?1
           AND COALESCE(json_extract(campaign.body, '$.expiration_date'), '9999') > +?1
           AND voucher.kind = 'voucher' AND voucher.parent = campaign.id AND voucher.holder IS NULL
           AND COALESCE(json_extract(voucher.body, '$.active'), 1) = 1
           AND COALESCE(json_extract(voucher.body, '$.start_date'), '') <= +?1
           AND COALESCE(json_extract(voucher.body, '$.expiration_date'), '9999') > +?1",
        &[timestamp::text(now_ms).into()],
    )?;
    texts(&rows)
}

/// Lists the vouchers without a campaign that are set to be known to clients, the newest first. Disabled ones and those that ended before
/// a time are none of them, so that they take the place of no other.
pub fn list_visible(store: &Store<'_>, since_ms: i64, most: i64) -> Result<Vec<Document>, Fault> {
    let statement = format!("SELECT {COLUMNS} FROM {}", visible_vouchers());
    store.documents(&statement, &[timestamp::text(since_ms).into(), most.into()])
}

/// Lists the ids of these vouchers, the newest first.
pub fn list_visible_ids(store: &Store<'_>, since_ms: i64, most: i64) -> Result<Vec<String>, Fault> {
    let statement = format!("SELECT id FROM {}", visible_vouchers());
    texts(&store.rows(&statement, &[timestamp::text(since_ms).into(), most.into()])?)
}

fn visible_vouchers() -> String {
    format!(
        "document INDEXED BY voucher_visible WHERE kind = 'voucher' AND parent IS NULL AND json_extract(body, '$.visibility') IN ('public', 'sealed')
       AND NOT ({}) AND {}
       ORDER BY created_at DESC, seq DESC LIMIT +?2",
        validity_sql::IS_INACTIVE,
        validity_sql::MAY_NOT_HAVE_ENDED.replace("{}", "+?1")
    )
}

/// Lists the ids of the vouchers without a campaign that are sealed by default, the newest first: discounts of unlimited quantity without a
/// holder. Triggers keep the list (`migrations/0056_unlimited_vouchers.sql`).
pub fn list_unlimited_ids(store: &Store<'_>, most: i64) -> Result<Vec<String>, Fault> {
    let rows = store.rows(
        "SELECT document.id FROM unlimited_voucher CROSS JOIN document ON document.seq = unlimited_voucher.seq
           ORDER BY unlimited_voucher.created_at DESC, unlimited_voucher.seq DESC LIMIT +?1",
        &[most.into()],
    )?;
    texts(&rows)
}

/// Lists the public codes of campaigns.
pub fn list_standalone(store: &Store<'_>) -> Result<Vec<Document>, Fault> {
    store.select(
        "kind = 'voucher' AND parent IN (SELECT id FROM document INDEXED BY campaign_public
           WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE')",
        &[],
    )
}

/// Loads the codes of vouchers, by their ids.
pub fn load_codes(store: &Store<'_>, ids: &[&str]) -> Result<BTreeMap<String, String>, Fault> {
    let rows = store.rows(
        "SELECT id, json_extract(body, '$.code') FROM document
         WHERE kind = 'voucher' AND id IN (SELECT value FROM json_each(?1))",
        &[Json::from(ids).to_string().into()],
    )?;
    rows.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned()))).collect()
}

/// The state of a generator.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorState {
    /// The key of its permutation.
    pub secret: [u8; 32],
    /// The counter of the next code.
    pub counter: u64,
}

/// Finds the state of a generator.
pub fn find_generator(store: &Store<'_>, id: &str) -> Result<Option<GeneratorState>, Fault> {
    let row = store.row("SELECT secret, counter FROM generator WHERE id = +?1", &[id.into()])?;
    let Some(row) = row else { return Ok(None) };
    let secret =
        decode_hex_array::<32>(sql::text(&row, 0)?).ok_or_else(|| Fault::new("a generator's secret does not parse"))?;
    Ok(Some(GeneratorState { secret, counter: amount::unsigned(sql::int(&row, 1)?)? }))
}

/// Writes the state of a generator, at the flush.
pub fn update_generator(store: &mut Store<'_>, id: &str, state: GeneratorState) -> Result<(), Fault> {
    let counter = amount::signed(state.counter)?;
    store.write(
        "INSERT INTO generator (id, secret, counter) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET counter = excluded.counter",
        vec![id.into(), hex(&state.secret).into(), counter.into()],
    );
    Ok(())
}

/// Deletes the states of all generators of an owner, at the flush.
pub fn delete_generators(store: &mut Store<'_>, owner: &str) {
    store.write("DELETE FROM generator WHERE id >= ?1 || '/' AND id < ?1 || '0'", vec![owner.into()]);
}

/// More than one request can name.
const COUNTED_MAX: i64 = 1_000;

/// Returns the statement for codes that can be assigned: of the campaign `?1`, at `?2` (`?6` in milliseconds), without those in
/// `?3`; at most `?4`, after `?5` others. The last column is the expiration date, which the engine tests.
///
/// A bearer of the code may have redeemed it or reserved it in a session. A code has redemptions left, and no session reserves
/// it; the code of a standalone campaign gets no holder, so that reservations of others do not count. A card was
/// never redeemed, not even by a redemption that was undone: the bearer knows the code and would share the balance. Most used codes are
/// marked (`store/migrations/0044_used_codes.sql`), and the index leaves them out; the other conditions decide.
fn free(columns: &str) -> String {
    let redemptions = account_of(redemptions_account, "document.id");
    format!(
        "SELECT {columns}, json_extract(body, '$.expiration_date')
         FROM document INDEXED BY document_free
         WHERE kind = 'voucher' AND holder IS NULL AND used_up IS NULL AND parent = +?1
           AND NOT EXISTS (SELECT 1 FROM account WHERE account.id = {redemptions} AND (
             json_type(body, '$.gift') = 'object' OR json_type(body, '$.loyalty_card') = 'object'
             OR json_extract(body, '$.redemption.quantity') + account.balance <= 0))
           AND (NOT EXISTS (SELECT 1 FROM hold WHERE hold.account = {redemptions} AND hold.expires_at > ?6)
             OR (SELECT json_extract(campaign.body, '$.type') FROM document AS campaign
                 WHERE campaign.kind = 'campaign' AND campaign.id = +?1) = 'STANDALONE')
           AND {} AND {}
           AND id NOT IN (SELECT value FROM json_each(?3)) ORDER BY seq LIMIT +?4 OFFSET +?5",
        validity_sql::IS_ACTIVE,
        validity_sql::HAS_NOT_ENDED.replace("{}", "?2")
    )
}

impl Store<'_> {
    /// Returns the codes of a campaign that can be assigned, the oldest first.
    pub fn free_codes(
        &self,
        campaign_id: &str,
        now_ms: i64,
        taken: &[&str],
        limit: i64,
    ) -> Result<Vec<Document>, Fault> {
        let found = self.free_rows(COLUMNS, campaign_id, now_ms, taken, limit)?;
        found.iter().map(|row| document::read(row)).collect()
    }

    /// Returns their number, up to the largest request.
    pub fn count_free_codes(&self, campaign_id: &str, now_ms: i64) -> Result<i64, Fault> {
        let found = self.free_rows("seq", campaign_id, now_ms, &[], COUNTED_MAX)?;
        Ok(i64::try_from(found.len()).unwrap_or(COUNTED_MAX))
    }

    /// Returns rows of the oldest codes that can be assigned; expired ones are replaced by later ones.
    fn free_rows(
        &self,
        columns: &str,
        campaign_id: &str,
        now_ms: i64,
        taken: &[&str],
        limit: i64,
    ) -> Result<Vec<SqlRow>, Fault> {
        let statement = free(columns);
        let (now, taken) = (timestamp::text(now_ms), Json::from(taken.to_vec()).to_string());
        let most = usize::try_from(limit).unwrap_or(0);
        let (mut found, mut scanned) = (Vec::new(), 0_i64);
        loop {
            let params = [
                campaign_id.into(),
                now.as_str().into(),
                taken.as_str().into(),
                limit.into(),
                scanned.into(),
                now_ms.into(),
            ];
            let rows = self.rows(&statement, &params)?;
            let is_last = rows.len() < most;
            for mut row in rows {
                // An empty row has no last value.
                let end = row.split_off(row.len().saturating_sub(1));
                if !is_over(sql::text_or_null(&end, 0)?, now_ms) {
                    found.push(row);
                }
            }
            if is_last || found.len() >= most {
                found.truncate(most);
                return Ok(found);
            }
            // Beyond the type no row follows.
            scanned = scanned.saturating_add(limit);
        }
    }

    /// Returns the customer's card of a campaign, the first one when there are several.
    pub fn card_of(&self, campaign_id: &str, customer_id: &str) -> Result<Option<Document>, Fault> {
        let found = self.select(
            "kind = 'voucher' AND holder = +?1 AND parent = +?2 ORDER BY seq LIMIT 1",
            &[customer_id.into(), campaign_id.into()],
        )?;
        Ok(found.into_iter().next())
    }
}

/// Tests if an expiration date has passed; true when it cannot be read.
fn is_over(end: Option<&str>, now_ms: i64) -> bool {
    let Some(end) = end else { return false };
    let Some((end, now)) = Instant::parse(end).zip(Instant::from_millis(now_ms)) else { return true };
    Validity { expiration_date: Some(end), ..Validity::default() }.has_ended(now)
}
