//! Tests if promotions and their tiers can be used at an instant, for lists.

use crate::store::document::Document;
use scrip::time::{Instant, TimeZone};
use scrip::wire::cursor::{JsonCursor, read};
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_validity;
use std::collections::BTreeSet;

/// Returns the ids of those promotions whose tiers cannot be used at `now`.
pub fn closed_promotions<'d>(promotions: &'d [Document], now: Instant, zone: &TimeZone) -> BTreeSet<&'d str> {
    promotions.iter().filter(|campaign| !is_open(campaign, now, zone)).map(|campaign| &*campaign.id).collect()
}

/// Tests if a document is active and within its validity at `now`; false when its validity cannot be read.
pub fn is_open(document: &Document, now: Instant, zone: &TimeZone) -> bool {
    let read = |at: &JsonCursor<'_>| at.option("active", read::flag).unwrap_or(true).then(|| read_validity(at));
    let validity = read_fields(&document.body, read);
    validity.ok().flatten().is_some_and(|validity| validity.holds(now, zone))
}
