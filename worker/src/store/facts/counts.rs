//! What has been counted: balances, holds and the transfers of a redemption, as the ledger's tables have them. It must not
//! know what an account stands for.

use super::seen::StoreFacts;
use crate::store::document::Unread;
use crate::store::sql::{self, Fault, Row};
use scrip::ledger::{AccountId, Session, Transfer};
use scrip::text::Text;
use scrip::time::Instant;

impl StoreFacts<'_, '_> {
    pub(super) fn find_chain(&self, id: &str) -> Result<Vec<Transfer>, Fault> {
        let rows = self.store.rows("SELECT id, chain, debit, credit, amount, reverses, at FROM transfer WHERE chain = +?1 ORDER BY length(id), id", &[id.into()])?;
        let read = |row: &Row| {
            Ok(Transfer {
                id: sql::text(row, 0)?.into(),
                chain: sql::text(row, 1)?.into(),
                debit: AccountId::new(sql::text(row, 2)?),
                credit: AccountId::new(sql::text(row, 3)?),
                amount: u64::try_from(sql::int(row, 4)?).unwrap_or(0),
                reverses: sql::text_or_null(row, 5)?.map(Text::from),
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

    pub(super) fn find_free_codes(&self, campaign_id: &str, now: Instant) -> Result<Option<u64>, Unread> {
        if self.find_campaign(campaign_id)?.is_some_and(|campaign| campaign.makes_codes) {
            return Ok(None);
        }
        Ok(u64::try_from(self.store.count_free_codes(campaign_id, now.millis())?).ok())
    }

    pub(super) fn find_moved(&self, account: &AccountId, since: Instant) -> Result<u64, Fault> {
        const MOVED: &str = "SELECT COALESCE(SUM(amount), 0) FROM (
            SELECT id, amount FROM transfer WHERE debit = +?1 AND at >= ?2 AND reverses IS NULL UNION ALL
            SELECT id, amount FROM transfer WHERE credit = +?1 AND at >= ?2 AND reverses IS NULL) own
            WHERE NOT EXISTS (SELECT 1 FROM transfer undone WHERE undone.reverses = own.id)";
        let row = self.store.row(MOVED, &[account.as_str().into(), since.millis().into()])?;
        row.map_or(Ok(0), |row| sql::int(&row, 0).map(|moved| u64::try_from(moved).unwrap_or(0)))
    }

    pub(super) fn find_held(&self, account: &AccountId, now: Instant, own: Option<&Session>) -> Result<u64, Fault> {
        if self.offered.get().is_some_and(|offered| offered.unheld.contains(account.as_str())) {
            return Ok(0);
        }
        if self.seen.borrow().unheld.iter().any(|unheld| unheld == account.as_str()) {
            return Ok(0);
        }
        let key = own.map_or("", |own| own.key.as_str());
        let owner = own.and_then(|own| own.owner.as_deref());
        let row = self.store.row(
            "SELECT COALESCE(SUM(amount), 0) FROM hold
             WHERE account = +?1 AND expires_at > ?2 AND NOT (key = +?3 AND (?4 IS NULL OR owner = +?4))",
            &[account.as_str().into(), now.millis().into(), key.into(), owner.into()],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0).map(|held| u64::try_from(held).unwrap_or(0)))
    }
}
