//! Counted facts of a decision: balances, holds and the transfers of a redemption.

use super::cache::StoreFacts;
use crate::store::amount;
use crate::store::document::UnreadableFact;
use crate::store::sql::{self, Fault, SqlRow};
use scrip::facts::SummaryCounts;
use scrip::ledger::{AccountId, HoldOwner, Transfer};
use scrip::text::Text;
use scrip::time::Instant;

impl StoreFacts<'_, '_> {
    pub(super) fn find_chain(&self, id: &str) -> Result<Vec<Transfer>, Fault> {
        let rows = self.store.rows(
            "SELECT id, chain, debit, credit,
               amount - COALESCE((SELECT SUM(amount) FROM transfer part WHERE part.part_of = own.id), 0), reverses, at
             FROM transfer own WHERE chain = +?1
               AND NOT EXISTS (SELECT 1 FROM transfer undone WHERE undone.reverses = own.id) ORDER BY length(id), id",
            &[id.into()],
        )?;
        let read = |row: &SqlRow| {
            Ok(Transfer {
                id: sql::text(row, 0)?.into(),
                chain: sql::text(row, 1)?.into(),
                debit: AccountId::new(sql::text(row, 2)?),
                credit: AccountId::new(sql::text(row, 3)?),
                amount: amount::unsigned(sql::int(row, 4)?)?,
                reverses: sql::text_or_null(row, 5)?.map(Text::from),
                part_of: None,
                at: Instant::from_millis(sql::int(row, 6)?).unwrap_or_default(),
            })
        };
        rows.iter().map(read).collect()
    }

    pub(super) fn find_balance(&self, account: &AccountId) -> Result<i64, Fault> {
        if let Some(balance) = self.offered.get().and_then(|offered| offered.balances.get(account.as_str())) {
            return Ok(*balance);
        }
        if let Some(balance) = self.seen.borrow().balances.get(account.as_str()) {
            return Ok(*balance);
        }
        let row = self.store.row("SELECT balance FROM account WHERE id = +?1", &[account.as_str().into()])?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }

    pub(super) fn find_free_codes(&self, campaign_id: &str, now: Instant) -> Result<Option<u64>, UnreadableFact> {
        if self.find_campaign(campaign_id)?.is_some_and(|campaign| campaign.makes_codes) {
            return Ok(None);
        }
        Ok(u64::try_from(self.store.count_free_codes(campaign_id, now.millis())?).ok())
    }

    pub(super) fn find_moved(&self, account: &AccountId, since: Instant) -> Result<u64, Fault> {
        const MOVED: &str = "SELECT COALESCE(SUM(amount - COALESCE(
              (SELECT SUM(amount) FROM transfer part WHERE part.part_of = own.id), 0)), 0) FROM (
            SELECT id, amount FROM transfer WHERE debit = +?1 AND at >= ?2 AND reverses IS NULL AND part_of IS NULL UNION ALL
            SELECT id, amount FROM transfer WHERE credit = +?1 AND at >= ?2 AND reverses IS NULL AND part_of IS NULL) own
            WHERE NOT EXISTS (SELECT 1 FROM transfer undone WHERE undone.reverses = own.id)";
        let row = self.store.row(MOVED, &[account.as_str().into(), since.millis().into()])?;
        row.map_or(Ok(0), |row| amount::unsigned(sql::int(&row, 0)?))
    }

    pub(super) fn find_later_counts(&self, customer_id: &str, after: Instant) -> Result<SummaryCounts, Fault> {
        const ORDERS: &str = "SELECT COUNT(*), COALESCE(SUM(json_extract(body, '$.total_amount')), 0)
            FROM document INDEXED BY order_counted WHERE kind = 'order' AND holder = +?1 AND created_at > ?2
              AND json_extract(body, '$.status') IN ('PAID', 'FULFILLED')";
        const REDEMPTIONS: &str = "SELECT COALESCE(SUM(json_extract(body, '$.status') <> 'ROLLED_BACK'), 0), COUNT(*)
            FROM document WHERE kind = 'redemption' AND holder = +?1 AND created_at > ?2
              AND json_extract(body, '$.object') = 'redemption' AND json_extract(body, '$.result') = 'SUCCESS'
              AND json_extract(body, '$.related_object_type') <> 'redemption'";
        let two = |statement: &str| {
            let row = self.store.row(statement, &[customer_id.into(), after.millis().into()])?;
            row.map_or(Ok([0, 0]), |row| Ok::<_, Fault>([sql::int(&row, 0)?, sql::int(&row, 1)?]))
        };
        let ([orders, order_total], [redeemed, succeeded]) = (two(ORDERS)?, two(REDEMPTIONS)?);
        Ok(SummaryCounts { orders, order_total, redeemed, succeeded })
    }

    pub(super) fn find_held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Result<u64, Fault> {
        if self.offered.get().is_some_and(|offered| offered.unheld.contains(account.as_str())) {
            return Ok(0);
        }
        if self.seen.borrow().unheld.iter().any(|unheld| unheld == account.as_str()) {
            return Ok(0);
        }
        let key = own.map_or("", |own| own.key.as_str());
        let owner = own.and_then(|own| own.owner.as_deref());
        let servers = own.is_some_and(|own| own.servers);
        let row = self.store.row(
            "SELECT COALESCE(SUM(amount), 0) FROM hold
             WHERE account = +?1 AND expires_at > ?2 AND NOT (key = +?3 AND (?4 IS NULL OR owner = +?4 OR (?5 AND owner = '')))",
            &[account.as_str().into(), now.millis().into(), key.into(), owner.into(), i64::from(servers).into()],
        )?;
        row.map_or(Ok(0), |row| amount::unsigned(sql::int(&row, 0)?))
    }
}
