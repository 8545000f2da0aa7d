//! Reports the changes of a card's lifetime totals by period, from the ledger.

use crate::documents::report_period::{self, ReportPeriod};
use crate::store::Store;
use crate::store::sql::Fault;
use scrip::facts::cards::{card_account, card_lifetime_totals};
use scrip::ledger::AccountId;
use scrip::points::{LifetimeTotal, LifetimeTotals, PointsAccount};
use std::collections::HashMap;

/// Returns the increase of each lifetime total in each period. The card must be settled.
pub fn sum_increases(store: &Store<'_>, card: &str, periods: &[ReportPeriod]) -> Result<Vec<LifetimeTotals>, Fault> {
    let accounts: Vec<String> = LifetimeTotal::ALL
        .into_iter()
        .map(|total| card_account(card, &PointsAccount::LifetimeTotal(total)).to_string())
        .collect();
    let increases = store.sum_rises(&accounts, &report_period::millis(periods))?;
    let of = |increases: &HashMap<String, i64>, account: &AccountId| {
        // The account of a total has no row in a period without a rise.
        increases.get(account.as_str()).copied().unwrap_or(0)
    };
    Ok(increases.iter().map(|increases| card_lifetime_totals(card, |account| of(increases, account))).collect())
}
