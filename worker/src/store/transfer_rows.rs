//! Rows of ledger transfers. How a row is found by an account and a time is that account's [`TimeIndex`].

use super::sql::{Fault, SqlValue};
use scrip::facts::{TimeIndex, redemption_accounts, time_index};
use scrip::ledger::AccountId;
use serde_json::{Value as Json, json};
use std::collections::{HashMap, HashSet};

/// Transfer of an amount from one account to another.
#[derive(Debug, Clone)]
pub struct TransferRow {
    /// Id of the transfer.
    pub id: String,
    /// Id of its chain, which happens as a whole or not at all.
    pub chain: String,
    /// Account that is reduced.
    pub debit: String,
    /// Account that is increased.
    pub credit: String,
    /// Amount, above zero.
    pub amount: i64,
    /// Id of the transfer that it reverses.
    pub reverses: Option<String>,
    /// Id of the transfer that it refunds in part.
    pub part_of: Option<String>,
    /// Time in milliseconds since 1970.
    pub at: i64,
}

/// Converts transfers to a parameter of the statement that inserts them: of each its columns in their order.
pub(super) fn parameter(rows: &[TransferRow]) -> SqlValue {
    let mut together: HashMap<(&str, i64), HashSet<&str>> = HashMap::new();
    for row in rows {
        together.entry((&row.chain, row.at)).or_default().extend([row.debit.as_str(), &row.credit]);
    }
    let has_entry = |row: &TransferRow, account: &str| match time_index(account) {
        TimeIndex::None => None,
        TimeIndex::Own => Some(1),
        TimeIndex::Redemptions(id) => {
            let moved = together.get(&(row.chain.as_str(), row.at));
            let is_counted = |account: AccountId| moved.is_some_and(|moved| moved.contains(account.as_str()));
            (!redemption_accounts(id).into_iter().any(is_counted)).then_some(1)
        }
    };
    let row = |row: &TransferRow| {
        let TransferRow { id, chain, debit, credit, amount, reverses, part_of, at } = row;
        json!([chain, id, debit, credit, amount, at, reverses, part_of, has_entry(row, debit), has_entry(row, credit)])
    };
    Json::Array(rows.iter().map(row).collect()).to_string().into()
}

/// Checks that each transfer of an account since some time has an entry of its own.
pub(super) fn check_own(account: &str) -> Result<(), Fault> {
    match time_index(account) {
        TimeIndex::Own => Ok(()),
        TimeIndex::None | TimeIndex::Redemptions(_) => {
            Err(Fault(format!("the transfers of `{account}` have no entries by time")))
        }
    }
}

/// Returns the accounts by whose chains further transfers of some accounts are found, as a list for `json_each`.
pub(super) fn accounts_beside(accounts: &[&str]) -> Result<SqlValue, Fault> {
    let mut beside: Vec<String> = Vec::new();
    for account in accounts {
        match time_index(account) {
            TimeIndex::None => return Err(Fault(format!("the transfers of `{account}` are not found by time"))),
            TimeIndex::Own => {}
            TimeIndex::Redemptions(id) => beside.extend(redemption_accounts(id).map(|account| account.to_string())),
        }
    }
    Ok(Json::from(beside).to_string().into())
}
