//! Stock of a reward in a program.

use crate::domain::loyalty_programs::kinds::REWARD;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::Store;
use crate::store::amount;
use crate::store::document::Document;
use crate::store::ledger::balance_of;
use crate::store::sql::Fault;
use crate::store::transfer_rows::TransferRow;
use scrip::count::Countable;
use scrip::facts::cards::{program_stock_account, purchased_account};
use serde_json::Value as Json;

/// Stock of a reward in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stock {
    /// Id of its account.
    pub account: String,
    /// Units left; `None` means unlimited.
    pub left: Option<u64>,
}

fn stock_account(row: &Document) -> String {
    let text = |name: &Option<String>| name.clone().unwrap_or_default();
    program_stock_account(&text(&row.parent), &text(&row.holder), row.created_at).to_string()
}

/// Returns the stock of a reward in a program; `None` when the reward is not assigned.
pub fn find_of_reward(store: &Store<'_>, program: &str, reward: &str) -> Result<Option<Stock>, Fault> {
    let found = store.document(REWARD.assigned.unwrap_or_default(), &format!("{program}/{reward}"))?;
    found.map(|row| find_of_assignment(store, &row)).transpose()
}

/// Returns the stock of an assignment.
pub fn find_of_assignment(store: &Store<'_>, row: &Document) -> Result<Stock, Fault> {
    let account = stock_account(row);
    let left = match row.as_assignment().stock_limit() {
        Some(quantity) => {
            Some(quantity.remaining_after(amount::total(list_taken_units(store, std::slice::from_ref(&account))?)?))
        }
        None => None,
    };
    Ok(Stock { account, left })
}

/// Returns the units taken from each account.
fn list_taken_units(store: &Store<'_>, accounts: &[String]) -> Result<Vec<u64>, Fault> {
    let account_balances = store.account_balances(accounts, 0, "")?;
    accounts.iter().map(|account| Ok(balance_of(&account_balances, account)?.balance.unsigned_abs())).collect()
}

/// Queues the transfer of one unit from a stock, or back to it.
pub fn post_unit(call: &mut Call<'_, '_>, chain: &str, account: &str, program: &str, is_return: bool) {
    let (stock, sold) = (account.to_owned(), purchased_account(program).to_string());
    let (debit, credit) = if is_return { (sold, stock) } else { (stock, sold) };
    let at = call.now_ms();
    let post = TransferRow {
        id: format!("{chain}.stock"),
        chain: chain.to_owned(),
        debit,
        credit,
        amount: 1,
        reverses: None,
        part_of: None,
        at,
    };
    call.store.post(vec![post]);
}

/// Returns assignments of rewards as the API returns them.
pub fn to_json(call: &mut Call<'_, '_>, rows: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let accounts: Vec<String> = rows.iter().map(stock_account).collect();
    let taken_units = list_taken_units(call.store, &accounts)?;
    let json = rows.into_iter().zip(taken_units).map(|(mut row, taken_units)| {
        row.body.insert("redeemed".into(), taken_units.into());
        Json::Object(row.body)
    });
    Ok(json.collect())
}
