//! What moved on a card in periods of the calendar, as the ledger says. It must not know what a period is called.

use crate::document::span::{self, Period};
use crate::store::Store;
use crate::store::sql::{self, Fault};
use scrip::facts::cards::{card_account, card_figures};
use scrip::ledger::AccountId;
use scrip::points::{Figure, Figures, Place};
use serde_json::Value as Json;
use std::collections::HashMap;

/// By how much the figures of a card's life rose in each of some periods. What is due on it must be settled.
pub fn rises(store: &Store<'_>, card: &str, periods: &[Period]) -> Result<Vec<Figures>, Fault> {
    let accounts: Vec<String> =
        Figure::ALL.into_iter().map(|figure| card_account(card, &Place::Figure(figure)).to_string()).collect();
    let rows = store.rows(
        "SELECT span.key, account.value,
           COALESCE((SELECT SUM(amount) FROM transfer WHERE credit = account.value AND at >= span.value ->> 0 AND at < span.value ->> 1), 0)
           - COALESCE((SELECT SUM(amount) FROM transfer WHERE debit = account.value AND at >= span.value ->> 0 AND at < span.value ->> 1), 0)
         FROM json_each(?1) AS span CROSS JOIN json_each(?2) AS account",
        &[
            span::as_parameter(periods, scrip::time::Instant::millis).into(),
            Json::from(accounts).to_string().into(),
        ],
    )?;
    let mut moved: Vec<HashMap<String, i64>> = periods.iter().map(|_| HashMap::new()).collect();
    for row in &rows {
        let place = usize::try_from(sql::int(row, 0)?).unwrap_or(usize::MAX);
        if let Some(moved) = moved.get_mut(place) {
            moved.insert(sql::text(row, 1)?.to_owned(), sql::int(row, 2)?);
        }
    }
    let of = |moved: &HashMap<String, i64>, account: &AccountId| moved.get(account.as_str()).copied().unwrap_or(0);
    Ok(moved.iter().map(|moved| card_figures(card, |account| of(moved, account))).collect())
}
