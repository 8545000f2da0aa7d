//! Reports the changes of a card's lifetime totals by period, from the ledger.

use crate::documents::report_period::{self, ReportPeriod};
use crate::store::Store;
use crate::store::sql::Fault;
use scrip::facts::cards::{card_account, card_lifetime_totals};
use scrip::ledger::AccountId;
use scrip::points::{LifetimeTotal, LifetimeTotals, PointsAccount};
use std::collections::HashMap;

/// Returns the increase of each lifetime total in each period. The card must be settled.
pub fn rises(store: &Store<'_>, card: &str, periods: &[ReportPeriod]) -> Result<Vec<LifetimeTotals>, Fault> {
    let accounts: Vec<String> = LifetimeTotal::ALL
        .into_iter()
        .map(|figure| card_account(card, &PointsAccount::LifetimeTotal(figure)).to_string())
        .collect();
    let moved = store.sum_rises(&accounts, &report_period::millis(periods))?;
    let of = |moved: &HashMap<String, i64>, account: &AccountId| moved.get(account.as_str()).copied().unwrap_or(0);
    Ok(moved.iter().map(|moved| card_lifetime_totals(card, |account| of(moved, account))).collect())
}
