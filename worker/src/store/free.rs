//! Codes of campaigns that nobody has yet, and the cards that somebody has of them. A decision counts here what a
//! publication takes from, so that both see the same codes. It must not know why a code is handed over.

use super::Store;
use super::document::Document;
use super::sql::{self, Fault};
use crate::moment;
use serde_json::Value as Json;

/// More than one request can ask for.
const COUNTED_MAX: i64 = 1_000;

/// A code that can be handed over: of the campaign `?1`, at the moment `?2`, none of those in `?3`; at most `?4`.
const FREE: &str = "FROM document
    WHERE kind = 'voucher' AND holder IS NULL AND parent = ?1 AND COALESCE(json_extract(body, '$.active'), 1) <> 0
      AND (json_extract(body, '$.expiration_date') IS NULL OR json_extract(body, '$.expiration_date') > ?2)
      AND id NOT IN (SELECT value FROM json_each(?3)) ORDER BY seq LIMIT ?4";

impl Store<'_> {
    /// Codes of a campaign that can be handed over, oldest first.
    pub fn free_codes(
        &self,
        campaign_id: &str,
        now_ms: i64,
        taken: &[&str],
        limit: i64,
    ) -> Result<Vec<Document>, Fault> {
        self.documents(
            &format!("SELECT id, key, parent, holder, created_at, updated_at, body {FREE}"),
            &[
                campaign_id.into(),
                moment::text(now_ms).into(),
                Json::from(taken.to_vec()).to_string().into(),
                limit.into(),
            ],
        )
    }

    /// How many there are, as far as a request could ask for them.
    pub fn count_free_codes(&self, campaign_id: &str, now_ms: i64) -> Result<i64, Fault> {
        let row = self.row(
            &format!("SELECT COUNT(*) FROM (SELECT 1 {FREE})"),
            &[campaign_id.into(), moment::text(now_ms).into(), "[]".into(), COUNTED_MAX.into()],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }

    /// The card that a customer has of a campaign, the first when there are several.
    pub fn card_of(&self, campaign_id: &str, customer_id: &str) -> Result<Option<Document>, Fault> {
        let found = self.documents(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
             WHERE kind = 'voucher' AND holder = ?1 AND parent = ?2 ORDER BY seq LIMIT 1",
            &[customer_id.into(), campaign_id.into()],
        )?;
        Ok(found.into_iter().next())
    }
}
