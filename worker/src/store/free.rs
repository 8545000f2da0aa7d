//! Codes of campaigns that nobody has yet, and the cards that somebody has of them. A decision counts here what a
//! publication takes from, so that both see the same codes. It must not know why a code is handed over.

use super::Store;
use super::dates;
use super::document::Document;
use super::sql::{self, Fault};
use crate::moment;
use scrip::model::incentive::Validity;
use scrip::time::Instant;
use serde_json::Value as Json;

/// More than one request can ask for.
const COUNTED_MAX: i64 = 1_000;

/// Codes that may be handed over, of which the engine says of each whether it can: of the campaign `?1`, at the moment `?2`, none of
/// those in `?3`; at most `?4`.
fn free() -> String {
    format!(
        "FROM document WHERE kind = 'voucher' AND holder IS NULL AND parent = ?1 AND {} AND {}
           AND id NOT IN (SELECT value FROM json_each(?3)) ORDER BY seq LIMIT ?4",
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
        let found = self.documents(
            &format!("SELECT id, key, parent, holder, created_at, updated_at, body {}", free()),
            &[
                campaign_id.into(),
                moment::text(now_ms).into(),
                Json::from(taken.to_vec()).to_string().into(),
                limit.into(),
            ],
        )?;
        let end = |voucher: &Document| voucher.body.get("expiration_date").and_then(Json::as_str).map(str::to_owned);
        Ok(found.into_iter().filter(|voucher| !is_over(end(voucher).as_deref(), now_ms)).collect())
    }

    /// How many there are, as far as a request could ask for them.
    pub fn count_free_codes(&self, campaign_id: &str, now_ms: i64) -> Result<i64, Fault> {
        let rows = self.rows(
            &format!("SELECT json_extract(body, '$.expiration_date') {}", free()),
            &[campaign_id.into(), moment::text(now_ms).into(), "[]".into(), COUNTED_MAX.into()],
        )?;
        let ends = rows.iter().map(|row| sql::text_or_null(row, 0)).collect::<Result<Vec<_>, Fault>>()?;
        let free = ends.into_iter().filter(|end| !is_over(*end, now_ms)).count();
        Ok(i64::try_from(free).unwrap_or(COUNTED_MAX))
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

/// Whether a code's end lies behind; nobody can say it of an end that does not read.
fn is_over(end: Option<&str>, now_ms: i64) -> bool {
    let Some(end) = end else { return false };
    let Some((end, now)) = Instant::parse(end).zip(Instant::from_millis(now_ms)) else { return true };
    Validity { expiration_date: Some(end), ..Validity::default() }.has_ended(now)
}
