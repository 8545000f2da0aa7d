//! Whether a promotion and its tiers are open at a moment, for lists. It must not know what is decided when one is used.

use crate::http::reply::CallError;
use crate::http::route::Call;
use scrip::time::{Instant, TimeZone};
use scrip::wire::cursor::{Cursor, read};
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_validity;
use serde_json::{Map, Value as Json};

/// The promotions whose tiers cannot be used now.
pub fn closed_promotions(call: &Call<'_, '_>, now: Instant, zone: &TimeZone) -> Result<Vec<String>, CallError> {
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'campaign' AND json_extract(body, '$.campaign_type') = 'PROMOTION'",
        &[],
    )?;
    let closed = found.into_iter().filter(|campaign| !is_open(&campaign.body, now, zone));
    Ok(closed.map(|campaign| campaign.id).collect())
}

/// Whether a document is switched on, and a moment lies in its windows. Of windows that do not read nobody can say when they
/// are open.
pub fn is_open(body: &Map<String, Json>, now: Instant, zone: &TimeZone) -> bool {
    let read = |at: &Cursor<'_>| at.option("active", read::flag).unwrap_or(true).then(|| read_validity(at));
    let validity = read_fields(body, read);
    validity.ok().flatten().is_some_and(|validity| validity.holds(now, zone))
}
