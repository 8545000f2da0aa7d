//! Promotion campaigns, their tiers and stacks, and all offers of a project in one list.

use super::any_kind::{CountedIds, count, counted_ids};
use crate::store::Store;
use crate::store::document::{Document, select};
use crate::store::sql::{self, Fault};
use std::cmp::Reverse;

/// Lists all campaigns of promotions.
pub fn list_campaigns(store: &Store<'_>) -> Result<Vec<Document>, Fault> {
    store.select("kind = 'campaign' AND json_extract(body, '$.campaign_type') = 'PROMOTION'", &[])
}

/// Lists all campaigns with one public code.
pub fn list_standalone_campaigns(store: &Store<'_>) -> Result<Vec<Document>, Fault> {
    store.select("kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE'", &[])
}

/// Lists the tiers of a campaign by their hierarchy.
pub fn list_tiers(store: &Store<'_>, campaign: &str) -> Result<Vec<Document>, Fault> {
    store.select(
        "kind = 'promotion_tier' AND parent = +?1 ORDER BY json_extract(body, '$.hierarchy'), seq",
        &[campaign.into()],
    )
}

/// Finds the campaign of a tier or a stack, by id.
pub fn find_campaign_id(store: &Store<'_>, promotion: &str) -> Result<Option<String>, Fault> {
    let row = store.row(
        "SELECT parent FROM document WHERE kind = 'promotion_tier' AND id = +?1
         UNION ALL SELECT parent FROM document WHERE kind = 'promotion_stack' AND id = +?1",
        &[promotion.into()],
    )?;
    row.map_or(Ok(None), |row| sql::text_or_null(&row, 0).map(|id| id.map(str::to_owned)))
}

/// Finds the highest rank among the tiers of a campaign; 0 without any tier.
pub fn find_last_hierarchy(store: &Store<'_>, campaign_id: &str) -> Result<i64, Fault> {
    count(store.row(
        "SELECT COALESCE(MAX(json_extract(body, '$.hierarchy')), 0) FROM document WHERE kind = 'promotion_tier' AND parent = +?1",
        &[campaign_id.into()],
    )?)
}

/// Lists the first ten stacks of a campaign that contain a tier.
pub fn list_stacks_with_tier(store: &Store<'_>, campaign_id: &str, tier_id: &str) -> Result<CountedIds, Fault> {
    let rows = store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'promotion_stack' AND parent = +?1
           AND ?2 IN (SELECT value FROM json_each(body, '$.tiers.ids')) ORDER BY seq LIMIT 10",
        &[campaign_id.into(), tier_id.into()],
    )?;
    counted_ids(&rows)
}

/// Lists the stacks of a campaign, the newest first.
pub fn list_stacks_of(store: &Store<'_>, campaign_id: &str) -> Result<Vec<Document>, Fault> {
    let statement = select("kind = 'promotion_stack' AND parent = +?1 ORDER BY created_at DESC, seq DESC");
    store.documents(&statement, &[campaign_id.into()])
}

/// Deletes the tiers and stacks of a campaign at the commit, with the assignments of rules to its tiers.
pub fn delete_tiers_of(store: &mut Store<'_>, campaign_id: &str) {
    store.write(
        "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent IN
           (SELECT id FROM document WHERE kind = 'promotion_tier' AND parent = +?1)",
        vec![campaign_id.into()],
    );
    store.write(
        "DELETE FROM document WHERE kind IN ('promotion_tier', 'promotion_stack') AND parent = +?1",
        vec![campaign_id.into()],
    );
}

/// Conditions of the kinds of offers. Each is answered by an index in the order of the list.
const OFFERS: [&str; 5] = [
    "kind = 'promotion_tier'",
    "kind = 'promotion_stack'",
    "kind = 'campaign' AND json_extract(body, '$.campaign_type') <> 'PROMOTION' AND json_extract(body, '$.type') <> 'STANDALONE'",
    "kind = 'voucher' AND parent IS NULL",
    "kind = 'voucher' AND parent IN (SELECT id FROM document WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE')",
];

/// Lists a page of the offers, the newest first.
pub fn list_offers(store: &Store<'_>, limit: i64, offset: i64) -> Result<Vec<Document>, Fault> {
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

/// Lists a page of the campaigns whose offers clients may know, newest first: of promotions, and of one code that all use.
pub fn list_campaigns_with_offers(store: &Store<'_>, limit: i64, page: i64) -> Result<Vec<Document>, Fault> {
    let statement = select(
        "kind = 'campaign' AND (json_extract(body, '$.type') = 'STANDALONE' OR json_extract(body, '$.campaign_type') = 'PROMOTION')
           ORDER BY seq DESC LIMIT +?1 OFFSET +?2",
    );
    store.documents(&statement, &[limit.into(), limit.saturating_mul(page).into()])
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
