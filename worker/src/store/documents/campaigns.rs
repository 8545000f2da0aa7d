//! Queries of campaigns, the promotion tiers and stacks of them, all offers of a project in one list, and of what came of campaigns in a time.
//! The ledger has the amounts; it does not depend on the caller.

use super::any_kind::{CountedIds, count, counted_ids};
use crate::store::Store;
use crate::store::document::{COLUMNS, Document};
use crate::store::document_rows::select;
use crate::store::index::validity_sql::MAY_NOT_HAVE_ENDED;
use crate::store::sql::{self, Fault, SqlValue};
use crate::timestamp;
use serde_json::Value as Json;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Redemptions and rollbacks that failed.
pub struct FailureCounts {
    /// Number of redemptions.
    pub redemptions: i64,
    /// Number of rollbacks.
    pub rollbacks: i64,
}

/// Vouchers of a campaign that are stored.
pub struct CampaignVouchers {
    /// Number of vouchers.
    pub count: i64,
    /// Credits or points that were ever loaded on them.
    pub loaded: i64,
    /// The part of these that was loaded after they were created.
    pub added: i64,
}

/// Transactions of one type of the cards of a campaign.
pub struct CardMovements {
    /// Type of the transactions.
    pub kind: String,
    /// Sum of their amounts, whether added or subtracted.
    pub amount: i64,
}

/// Changes of pending points by hand.
pub struct PendingChanges {
    /// Points that were subtracted.
    pub subtracted: i64,
    /// Points that were canceled.
    pub canceled: i64,
}

impl Store<'_> {
    /// Finds the names of campaigns, by id.
    pub fn find_campaign_names(&self, ids: &[&str]) -> Result<HashMap<String, String>, Fault> {
        let rows = self.rows(
            "SELECT document.id, json_extract(document.body, '$.name') FROM json_each(?1) AS named
             CROSS JOIN document ON document.kind = 'campaign' AND document.id = named.value",
            &[Json::from(ids).to_string().into()],
        )?;
        rows.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned()))).collect()
    }

    /// Finds the categories of campaigns, by the id of the campaign. One without a category is left out.
    pub fn find_campaign_categories(&self, ids: &[&str]) -> Result<BTreeMap<String, String>, Fault> {
        let rows = self.rows(
            "SELECT id, CASE json_type(body, '$.category_id') WHEN 'text' THEN json_extract(body, '$.category_id') END FROM document
             WHERE kind = 'campaign' AND id IN (SELECT value FROM json_each(?1))",
            &[Json::from(ids).to_string().into()],
        )?;
        let mut categories = BTreeMap::new();
        for row in &rows {
            if let Some(category) = sql::text_or_null(row, 1)? {
                categories.insert(sql::text(row, 0)?.to_owned(), category.to_owned());
            }
        }
        Ok(categories)
    }

    /// Counts the stored redemptions and rollbacks of a campaign that failed in a time.
    pub fn count_campaign_failures(&self, campaign_id: &str, time: &Range<i64>) -> Result<FailureCounts, Fault> {
        let [redemptions, rollbacks] = self.sums(
            "SELECT SUM(failure.id GLOB 'rf_*'), SUM(failure.id GLOB 'rrf_*') FROM every_redemption AS failure
             WHERE (failure.id GLOB 'rf_*' OR failure.id GLOB 'rrf_*')
               AND failure.created_at >= +?2 AND failure.created_at < +?3
               AND EXISTS (SELECT 1 FROM document AS owner WHERE owner.kind IN ('voucher', 'promotion_tier') AND owner.id = failure.parent AND owner.parent = +?1)",
            &within(campaign_id, time),
        )?;
        Ok(FailureCounts { redemptions, rollbacks })
    }

    /// Sums the vouchers of a campaign that were created in a time.
    pub fn sum_campaign_vouchers(&self, campaign_id: &str, time: &Range<i64>) -> Result<CampaignVouchers, Fault> {
        let [count, loaded, added] = self.sums(
            "SELECT COUNT(*), SUM(COALESCE(json_extract(body, '$.gift.amount'), json_extract(body, '$.loyalty_card.points'), 0)),
               SUM(COALESCE((SELECT SUM(MAX(0, COALESCE(json_extract(moved.body, '$.details.balance.points'), json_extract(moved.body, '$.details.balance.amount'))))
                  FROM voucher_transaction AS moved WHERE moved.parent = document.id
                    AND json_extract(moved.body, '$.type') NOT IN ('CREDITS_REFUND', 'POINTS_REFUND')), 0)
                + COALESCE((SELECT SUM(MAX(0, COALESCE(json_extract(moved.body, '$.details.balance.points'), json_extract(moved.body, '$.details.balance.amount'))))
                  FROM document AS moved WHERE moved.kind = 'voucher_transaction' AND moved.parent = document.id
                    AND json_extract(moved.body, '$.type') NOT IN ('CREDITS_REFUND', 'POINTS_REFUND')), 0))
             FROM document WHERE kind = 'voucher' AND parent = +?1 AND created_at >= +?2 AND created_at < +?3",
            &within(campaign_id, time),
        )?;
        Ok(CampaignVouchers { count, loaded, added })
    }

    /// Counts the vouchers of a campaign that were moved to the trash bin in a time.
    pub fn count_trashed_vouchers(&self, campaign_id: &str, time: &Range<i64>) -> Result<i64, Fault> {
        let [count] = self.sums(
            "SELECT COUNT(*) FROM document WHERE kind = 'bin_entry' AND parent = +?1 AND created_at >= +?2 AND created_at < +?3",
            &within(campaign_id, time),
        )?;
        Ok(count)
    }

    /// Sums the transactions of a campaign's cards in a time, by their type.
    pub fn sum_card_movements(&self, campaign_id: &str, time: &Range<i64>) -> Result<Vec<CardMovements>, Fault> {
        let rows = self.rows(
            "SELECT json_extract(body, '$.type'),
               SUM(ABS(COALESCE(json_extract(body, '$.details.balance.points'), json_extract(body, '$.details.balance.amount'))))
             FROM every_voucher_transaction WHERE holder = +?1 AND created_at >= +?2 AND created_at < +?3 GROUP BY 1",
            &within(campaign_id, time),
        )?;
        let read = |row: &Vec<SqlValue>| {
            let (kind, amount) = (sql::text(row, 0)?.to_owned(), sql::int_or_null(row, 1)?.unwrap_or(0));
            Ok(CardMovements { kind, amount })
        };
        rows.iter().map(read).collect()
    }

    /// Sums the points of a campaign's cards that were first pending in a period, without later subtractions.
    pub fn sum_pending_points(&self, campaign_id: &str, time: &Range<i64>) -> Result<i64, Fault> {
        // `told` is the stored name of `PENDING_DETAILS`.
        let [points] = self.sums(
            "SELECT SUM(json_extract(body, '$.told.points')) FROM document
             WHERE kind = 'pending_points' AND holder = +?1 AND created_at >= +?2 AND created_at < +?3",
            &within(campaign_id, time),
        )?;
        Ok(points)
    }

    /// Sums the changes of pending points of a campaign's cards in a time.
    pub fn sum_pending_changes(&self, campaign_id: &str, time: &Range<i64>) -> Result<PendingChanges, Fault> {
        let [subtracted, canceled] = self.sums(
            "SELECT SUM(MAX(0, -json_extract(body, '$.balance.points')) * (json_extract(body, '$.change') = 'updated')),
               SUM(-json_extract(body, '$.balance.points') * (json_extract(body, '$.change') = 'canceled')) FROM document
             WHERE kind = 'pending_points_change' AND holder = +?1 AND created_at >= +?2 AND created_at < +?3",
            &within(campaign_id, time),
        )?;
        Ok(PendingChanges { subtracted, canceled })
    }

    /// Counts the customers that received a code of a campaign from another customer in a time.
    pub fn count_referees(&self, campaign_id: &str, time: &Range<i64>) -> Result<i64, Fault> {
        let [count] = self.sums(
            "SELECT COUNT(*) FROM document AS held WHERE held.kind = 'redeemable_holder' AND held.created_at >= +?2 AND held.created_at < +?3
               AND json_extract(held.body, '$.holder_role') = 'REFEREE' AND json_extract(held.body, '$.campaign_id') = +?1",
            &within(campaign_id, time),
        )?;
        Ok(count)
    }
}

fn within(campaign_id: &str, time: &Range<i64>) -> [SqlValue; 3] {
    [campaign_id.into(), time.start.into(), time.end.into()]
}

/// Marks a campaign when the call commits: its vouchers are being generated.
pub fn update_generation_in_progress(store: &mut Store<'_>, campaign_id: &str) {
    store.write_counts(
        "UPDATE document SET body = json_set(body, '$.vouchers_generation_status', 'IN_PROGRESS') WHERE kind = 'campaign' AND id = +?1",
        vec![campaign_id.into()],
    );
}

/// Counts the campaigns and vouchers of a category, up to a number.
pub fn count_of_category(store: &Store<'_>, category_id: &str, most: i64) -> Result<i64, Fault> {
    count(store.row(
        "SELECT COUNT(*) FROM (SELECT 1 FROM document WHERE kind IN ('campaign', 'voucher') AND json_extract(body, '$.category_id') = +?1 LIMIT +?2)",
        &[category_id.into(), most.into()],
    )?)
}

/// Renames a category in the campaigns and vouchers that contain it, when the call commits.
pub fn update_category_name(store: &mut Store<'_>, category_id: &str, name: &str) {
    store.write(
        "UPDATE document SET body = json_set(body, '$.category', ?2)
         WHERE kind IN ('campaign', 'voucher') AND json_extract(body, '$.category_id') = +?1",
        vec![category_id.into(), name.into()],
    );
}

/// Lists all campaigns of promotions.
pub fn list_promotions(store: &Store<'_>) -> Result<Vec<Document>, Fault> {
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
    let statement = select("kind = 'promotion_stack' AND parent = +?1 ORDER BY +created_at DESC, seq DESC");
    store.documents(&statement, &[campaign_id.into()])
}

/// Deletes the tiers and stacks of a campaign when the call commits, with the assignments of rules to its tiers.
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

/// Tables and conditions of the kinds of offers. Each is answered by an index in the order of the list.
const OFFERS: [&str; 5] = [
    "document WHERE kind = 'promotion_tier'",
    "document WHERE kind = 'promotion_stack'",
    "document WHERE kind = 'campaign' AND json_extract(body, '$.campaign_type') <> 'PROMOTION' AND json_extract(body, '$.type') <> 'STANDALONE'",
    "document INDEXED BY document_open WHERE kind = 'voucher' AND parent IS NULL",
    "document INDEXED BY voucher_campaign WHERE kind = 'voucher' AND parent IN (SELECT id FROM document INDEXED BY campaign_public WHERE kind = 'campaign' AND json_extract(body, '$.type') = 'STANDALONE')",
];

/// Lists a page of the offers, the newest first.
pub fn list_offers(store: &Store<'_>, limit: i64, offset: i64) -> Result<Vec<Document>, Fault> {
    // The page is among the newest of each kind.
    let most = limit.saturating_add(offset);
    let mut found = Vec::new();
    for offers in OFFERS {
        let statement = format!("SELECT {COLUMNS} FROM {offers} ORDER BY created_at DESC, seq DESC LIMIT +?1");
        found.extend(store.documents(&statement, &[most.into()])?);
    }
    // Offers of one instant stay in the order of kinds, on every page.
    found.sort_by_key(|offer| Reverse(offer.created_at));
    let [limit, offset] = [limit, offset].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    Ok(found.into_iter().skip(offset).take(limit).collect())
}

/// Lists the ids and positions of the next campaigns whose offers clients may know, newest first, of those that were stored before a
/// position: of promotions, and of one code that all use. Those that ended before a time are none of them, unless their codes may have
/// later ends of their own.
pub fn list_ids_with_offers(
    store: &Store<'_>,
    since_ms: i64,
    limit: i64,
    before: i64,
) -> Result<Vec<(String, i64)>, Fault> {
    let statement = format!(
        "SELECT id, seq FROM document WHERE kind = 'campaign' AND (json_extract(body, '$.type') = 'STANDALONE' OR json_extract(body, '$.campaign_type') = 'PROMOTION')
           AND ({} OR json_extract(body, '$.activity_duration_after_publishing') IS NOT NULL)
           AND seq < ?3 ORDER BY seq DESC LIMIT +?2",
        MAY_NOT_HAVE_ENDED.replace("{}", "+?1")
    );
    let rows = store.rows(&statement, &[timestamp::text(since_ms).into(), limit.into(), before.into()])?;
    rows.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::int(row, 1)?))).collect()
}

/// Counts the offers.
pub fn count_offers(store: &Store<'_>) -> Result<i64, Fault> {
    let mut total: i64 = 0;
    for offers in OFFERS {
        let some = count(store.row(&format!("SELECT COUNT(*) FROM {offers}"), &[])?)?;
        total = total.checked_add(some).ok_or_else(|| Fault::new("a project has more offers than can be counted"))?;
    }
    Ok(total)
}
