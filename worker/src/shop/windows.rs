//! Whether a promotion and its tiers are open at a moment, for lists. It must not know what is decided when one is used.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::moment;
use crate::store::document::Document;
use scrip::time::{Instant, TimeZone};
use scrip::wire::at::read_fields;
use scrip::wire::voucher::read_validity;
use serde_json::{Map, Value as Json};

/// Switched on, and between its dates at a moment.
pub const OPEN: &str =
    "COALESCE(json_extract(body, '$.active'), 1) AND COALESCE(json_extract(body, '$.start_date') <= {}, 1)
    AND COALESCE(json_extract(body, '$.expiration_date') > {}, 1)";

/// The promotions whose tiers cannot be used now.
pub fn closed_promotions(call: &Call<'_, '_>, now: Instant, zone: &TimeZone) -> Result<Vec<String>, CallError> {
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'campaign' AND json_extract(body, '$.campaign_type') = 'PROMOTION'",
        &[],
    )?;
    let text = moment::text(now.millis());
    let is_closed = |campaign: &Document| {
        let date = |name: &str| campaign.body.get(name).and_then(Json::as_str);
        campaign.body.get("active") == Some(&Json::Bool(false))
            || date("start_date").is_some_and(|start| start > text.as_str())
            || date("expiration_date").is_some_and(|end| end <= text.as_str())
            || !recurs_now(&campaign.body, now, zone)
    };
    Ok(found.into_iter().filter(is_closed).map(|campaign| campaign.id).collect())
}

/// Whether a moment lies in every recurring window of a document.
pub fn recurs_now(body: &Map<String, Json>, now: Instant, zone: &TimeZone) -> bool {
    let read = read_fields(body, read_validity);
    // Of windows that do not read nobody can say when they are open.
    let Ok(validity) = read else { return false };
    let in_frame = match (validity.timeframe, validity.start_date) {
        (Some(frame), Some(start)) => frame.covers(start, now, zone),
        (Some(_), None) => false,
        (None, _) => true,
    };
    let on_day = validity.days_of_week.is_none_or(|days| zone.weekday(now).is_some_and(|today| days.contains(&today)));
    in_frame && on_day && validity.hours.is_none_or(|hours| hours.iter().any(|hours| hours.covers(now, zone)))
}
