//! How many there are of a reward for a program, and how many are gone. It must not know who buys one.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::lives::REWARD;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::post::Post;
use crate::store::sql::Fault;
use scrip::facts::cards::{program_stock_account, purchased_account};
use serde_json::Value as Json;

/// A reward as a program has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    /// The account of its goods.
    pub account: String,
    /// How many are left; nothing is without end.
    pub left: Option<u64>,
}

fn account(row: &Document) -> String {
    let text = |name: &Option<String>| name.clone().unwrap_or_default();
    program_stock_account(&text(&row.parent), &text(&row.holder), row.created_at).to_string()
}

/// The shelf of a reward in a program, if it is in it.
pub fn find(store: &Store<'_>, program: &str, reward: &str) -> Result<Option<Shelf>, Fault> {
    let found = store.document(REWARD.assigned.unwrap_or_default(), &format!("{program}/{reward}"))?;
    found.map(|row| of(store, &row)).transpose()
}

/// The shelf that an assignment is.
pub fn of(store: &Store<'_>, row: &Document) -> Result<Shelf, Fault> {
    let account = account(row);
    let quantity = row.body.get("stock").and_then(|stock| stock.get("limited")?.get("quantity")?.as_u64());
    let left = match quantity {
        Some(quantity) => Some(quantity.saturating_sub(gone(store, std::slice::from_ref(&account))?.into_iter().sum())),
        None => None,
    };
    Ok(Shelf { account, left })
}

/// How many are gone of each.
fn gone(store: &Store<'_>, accounts: &[String]) -> Result<Vec<u64>, Fault> {
    let standings = store.standings(accounts, 0, "")?;
    let gone = |account: &String| standings.get(account).map_or(0, |standing| standing.balance.unsigned_abs());
    Ok(accounts.iter().map(gone).collect())
}

/// Takes one from a shelf at the commit, or puts one back.
pub fn move_one(call: &mut Call<'_, '_>, chain: &str, account: &str, program: &str, is_back: bool) {
    let (shelf, sold) = (account.to_owned(), purchased_account(program).to_string());
    let (debit, credit) = if is_back { (sold, shelf) } else { (shelf, sold) };
    let at = call.now_ms();
    let post =
        Post { id: format!("{chain}.stock"), chain: chain.to_owned(), debit, credit, amount: 1, reverses: None, at };
    call.store.post(vec![post]);
}

/// Assignments of rewards as they are told of.
pub fn show(call: &mut Call<'_, '_>, rows: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let accounts: Vec<String> = rows.iter().map(account).collect();
    let gone = gone(call.store, &accounts)?;
    let shown = rows.into_iter().zip(gone).map(|(mut row, gone)| {
        row.body.insert("redeemed".into(), gone.into());
        Json::Object(row.body)
    });
    Ok(shown.collect())
}
