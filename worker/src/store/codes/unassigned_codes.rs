//! Codes of campaigns without a holder, and cards of customers. Decisions count the same codes that publications take.

use crate::store::Store;
use crate::store::document::{self, COLUMNS, Document};
use crate::store::index::validity_sql;
use crate::store::ledger::account_of;
use crate::store::sql::{self, Fault, SqlRow};
use crate::timestamp;
use scrip::facts::redemptions_account;
use scrip::model::redeemable::Validity;
use scrip::time::Instant;
use serde_json::Value as Json;

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
            // Saturates: beyond the type no row follows.
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
