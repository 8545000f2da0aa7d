//! Tests if promotions and their tiers can be used at an instant, for lists.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::documents::promotions;
use scrip::time::{Instant, TimeZone};
use scrip::wire::cursor::{JsonCursor, read};
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_validity;

/// Returns the ids of the promotions whose tiers cannot be used at `now`.
pub fn closed_promotions(call: &Call<'_, '_>, now: Instant, zone: &TimeZone) -> Result<Vec<String>, CallError> {
    let found = promotions::list_campaigns(call.store)?;
    let closed = found.into_iter().filter(|campaign| !is_open(campaign, now, zone));
    Ok(closed.map(|campaign| campaign.id).collect())
}

/// Tests if a document is active and within its validity at `now`; false when its validity cannot be read.
pub fn is_open(document: &Document, now: Instant, zone: &TimeZone) -> bool {
    let read = |at: &JsonCursor<'_>| at.option("active", read::flag).unwrap_or(true).then(|| read_validity(at));
    let validity = read_fields(&document.body, read);
    validity.ok().flatten().is_some_and(|validity| validity.holds(now, zone))
}
