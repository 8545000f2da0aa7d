//! Offers of a project in one list: promotion tiers and stacks, the codes that clients may get, and the campaigns of private codes,
//! each of which stands for all its codes.

use super::any_kind::count;
use crate::store::Store;
use crate::store::document::{Document, select};
use crate::store::sql::Fault;
use std::cmp::Reverse;

/// Conditions of the kinds of offers. Each is answered by an index in the order of the list.
const OFFERS: [&str; 5] = [
    "kind = 'promotion_tier'",
    "kind = 'promotion_stack'",
    "kind = 'campaign' AND json_extract(body, '$.campaign_type') <> 'PROMOTION' AND json_extract(body, '$.type') <> 'STANDALONE'",
    "kind = 'voucher' AND parent IS NULL",
    "kind = 'voucher' AND parent IN (SELECT id FROM document WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE')",
];

/// Lists a page of the offers, the newest first.
pub fn list_page(store: &Store<'_>, limit: i64, offset: i64) -> Result<Vec<Document>, Fault> {
    // The page is among the newest of each kind.
    let most = limit.saturating_add(offset);
    let mut found = Vec::new();
    for offers in OFFERS {
        let statement = select(&format!("{offers} ORDER BY created_at DESC, seq DESC LIMIT +?1"));
        found.extend(store.documents(&statement, &[most.into()])?);
    }
    // Offers of one moment stay in the order of kinds, on every page.
    found.sort_by_key(|offer| Reverse(offer.created_at));
    let [limit, offset] = [limit, offset].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    Ok(found.into_iter().skip(offset).take(limit).collect())
}

/// Counts the offers.
pub fn count_offers(store: &Store<'_>) -> Result<i64, Fault> {
    let mut total: i64 = 0;
    for offers in OFFERS {
        let some = count(store.row(&format!("SELECT COUNT(*) FROM document WHERE {offers}"), &[])?)?;
        total = total.checked_add(some).ok_or_else(|| Fault::new("a project has more offers than can be counted"))?;
    }
    Ok(total)
}
