//! Queries of campaigns, and of what came of them in a time. The ledger has the amounts; it does not depend on who asks.

use super::any_kind::count;
use crate::store::Store;
use crate::store::sql::{self, Fault, SqlValue};
use serde_json::Value as Json;
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

/// Details of a voucher that its own document does not contain.
pub struct VoucherDetails {
    /// Balance of the account of its publications, which are debited.
    pub publications: i64,
    /// Category of its campaign.
    pub category_id: Option<String>,
    /// Assignments of validation rules, in the order in which they were written.
    pub rule_assignments: Vec<Json>,
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
            "SELECT id, json_extract(body, '$.category_id') FROM document
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

    /// Finds the details of a voucher in one statement, by its id, the account of its publications and its campaign.
    pub fn find_voucher_details(&self, id: &str, account: &str, campaign_id: &str) -> Result<VoucherDetails, Fault> {
        let row = self.row(
            "SELECT COALESCE((SELECT balance FROM account WHERE id = +?1), 0),
               (SELECT json_extract(body, '$.category_id') FROM document WHERE kind = 'campaign' AND id = +?2),
               (SELECT json_group_array(json(body)) FROM
                 (SELECT body FROM document WHERE kind = 'validation_rules_assignment' AND parent = +?3 ORDER BY seq))",
            &[account.into(), campaign_id.into(), id.into()],
        )?;
        let row = row.unwrap_or_default();
        Ok(VoucherDetails {
            publications: sql::int(&row, 0)?,
            category_id: sql::text_or_null(&row, 1)?.map(str::to_owned),
            rule_assignments: serde_json::from_str(sql::text(&row, 2)?).map_err(|error| Fault(error.to_string()))?,
        })
    }

    /// Counts the stored redemptions and rollbacks of a campaign that failed in a time.
    pub fn count_campaign_failures(&self, campaign_id: &str, time: &Range<i64>) -> Result<FailureCounts, Fault> {
        let [redemptions, rollbacks] = self.sums(
            "SELECT SUM(failure.id GLOB 'rf_*'), SUM(failure.id GLOB 'rrf_*') FROM document AS failure
             WHERE failure.kind = 'redemption' AND (failure.id GLOB 'rf_*' OR failure.id GLOB 'rrf_*')
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
               SUM((SELECT SUM(MAX(0, COALESCE(json_extract(moved.body, '$.details.balance.points'), json_extract(moved.body, '$.details.balance.amount'))))
                  FROM document AS moved WHERE moved.kind = 'voucher_transaction' AND moved.parent = document.id
                    AND json_extract(moved.body, '$.type') NOT IN ('CREDITS_REFUND', 'POINTS_REFUND')))
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
             FROM document WHERE kind = 'voucher_transaction' AND holder = +?1 AND created_at >= +?2 AND created_at < +?3 GROUP BY 1",
            &within(campaign_id, time),
        )?;
        let read = |row: &Vec<SqlValue>| {
            let (kind, amount) = (sql::text(row, 0)?.to_owned(), sql::int_or_null(row, 1)?.unwrap_or(0));
            Ok(CardMovements { kind, amount })
        };
        rows.iter().map(read).collect()
    }

    /// Sums the points of a campaign's cards that were pending first in a time, as far as they were not subtracted since.
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

/// Notes in a campaign at the commit that its vouchers are being made.
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

/// Renames a category in the campaigns and vouchers that show it, at the commit.
pub fn update_category_name(store: &mut Store<'_>, category_id: &str, name: &str) {
    store.write(
        "UPDATE document SET body = json_set(body, '$.category', ?2)
         WHERE kind IN ('campaign', 'voucher') AND json_extract(body, '$.category_id') = +?1",
        vec![category_id.into(), name.into()],
    );
}
