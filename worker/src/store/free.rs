//! Codes of campaigns that nobody has yet, and the cards that somebody has of them. A decision counts here what a
//! publication takes from, so that both see the same codes. It must not know why a code is handed over.

use super::Store;
use super::dates;
use super::document::{self, COLUMNS, Document};
use super::sql::{self, Fault, Row};
use crate::moment;
use scrip::model::incentive::Validity;
use scrip::time::Instant;
use serde_json::Value as Json;

/// More than one request can ask for.
const COUNTED_MAX: i64 = 1_000;

/// Columns of codes that may be handed over and, last, when each ends, by which the engine says whether it can: of the campaign `?1`,
/// at the moment `?2`, none of those in `?3`; at most `?4`, after `?5` others.
fn free(columns: &str) -> String {
    format!(
        "SELECT {columns}, json_extract(body, '$.expiration_date')
         FROM document WHERE kind = 'voucher' AND holder IS NULL AND parent = +?1 AND {} AND {}
           AND id NOT IN (SELECT value FROM json_each(?3)) ORDER BY seq LIMIT +?4 OFFSET +?5",
        dates::IS_ACTIVE,
        dates::HAS_NOT_ENDED.replace("{}", "?2")
    )
}

impl Store<'_> {
    /// Codes of a campaign that can be handed over, oldest first.
    pub fn free_codes(
        &self,
        campaign_id: &str,
        now_ms: i64,
        taken: &[&str],
        limit: i64,
    ) -> Result<Vec<Document>, Fault> {
        let found = self.free_rows(COLUMNS, (campaign_id, now_ms), taken, limit)?;
        found.iter().map(|row| document::read(row)).collect()
    }

    /// How many there are, as far as a request could ask for them.
    pub fn count_free_codes(&self, campaign_id: &str, now_ms: i64) -> Result<i64, Fault> {
        let found = self.free_rows("seq", (campaign_id, now_ms), &[], COUNTED_MAX)?;
        Ok(i64::try_from(found.len()).unwrap_or(COUNTED_MAX))
    }

    /// Rows of the oldest codes that can be handed over: in the place of those that cannot come later ones.
    fn free_rows(
        &self,
        columns: &str,
        (campaign_id, now_ms): (&str, i64),
        taken: &[&str],
        limit: i64,
    ) -> Result<Vec<Row>, Fault> {
        let statement = free(columns);
        let (now, taken) = (moment::text(now_ms), Json::from(taken.to_vec()).to_string());
        let most = usize::try_from(limit).unwrap_or(0);
        let (mut found, mut seen) = (Vec::new(), 0_i64);
        loop {
            let params = [campaign_id.into(), now.as_str().into(), taken.as_str().into(), limit.into(), seen.into()];
            let rows = self.rows(&statement, &params)?;
            let is_last = rows.len() < most;
            for mut row in rows {
                let end = row.split_off(row.len().saturating_sub(1));
                if !is_over(sql::text_or_null(&end, 0)?, now_ms) {
                    found.push(row);
                }
            }
            if is_last || found.len() >= most {
                found.truncate(most);
                return Ok(found);
            }
            seen = seen.saturating_add(limit);
        }
    }

    /// The card that a customer has of a campaign, the first when there are several.
    pub fn card_of(&self, campaign_id: &str, customer_id: &str) -> Result<Option<Document>, Fault> {
        let found = self.documents(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
             WHERE kind = 'voucher' AND holder = +?1 AND parent = +?2 ORDER BY seq LIMIT 1",
            &[customer_id.into(), campaign_id.into()],
        )?;
        Ok(found.into_iter().next())
    }
}

/// Whether a code's end lies behind; nobody can say it of an end that does not read.
fn is_over(end: Option<&str>, now_ms: i64) -> bool {
    let Some(end) = end else { return false };
    let Some((end, now)) = Instant::parse(end).zip(Instant::from_millis(now_ms)) else { return true };
    Validity { expiration_date: Some(end), ..Validity::default() }.has_ended(now)
}
