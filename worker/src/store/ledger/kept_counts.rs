//! Balances that are kept only from the first rule on that asks for them. They are made from the transfers, which are always stored: at once
//! where these are few, else by a job (`jobs/count_transfers.rs`).
//!
//! While the job makes counts, a transfer up to the last one that it has read counts at once, and a later one when the job reads it.

use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::sql::{self, Fault, SqlRow, SqlValue};
use crate::store::transfer_rows::TransferRow;
use scrip::facts::{Keeping, RuleCount, keeping_of_balance};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Statement that changes balances by a list of [`changes_of`].
pub(super) const CHANGE_BALANCES: &str = "INSERT INTO account (id, balance)
     SELECT json_extract(value, '$[0]'), SUM(json_extract(value, '$[1]')) FROM json_each(?1)
     WHERE json_extract(value, '$[2]') IS NULL OR EXISTS (SELECT 1 FROM kept_count WHERE name = json_extract(value, '$[2]')
       AND (is_complete = 1 OR (json_extract(value, '$[3]'), json_extract(value, '$[4]')) <= (chain, id)))
     GROUP BY 1 ON CONFLICT (id) DO UPDATE SET balance = balance + excluded.balance";

/// Returns the changes of balances by transfers: of each the account, the amount, the name of the counts unless they are kept in any case, and
/// the chain and the id of the transfer.
pub(super) fn changes_of(posts: &[TransferRow]) -> SqlValue {
    let sides = posts.iter().flat_map(|post| {
        // An amount is above zero.
        let taken = post.amount.saturating_neg();
        [(&post.debit, taken), (&post.credit, post.amount)].map(|(account, amount)| (post, account, amount))
    });
    let kept = sides.filter_map(|(post, account, amount)| match keeping_of_balance(account) {
        Keeping::Never => None,
        Keeping::Always => Some(json!([account, amount])),
        Keeping::Asked(count) => Some(json!([account, amount, count.name(), post.chain, post.id])),
    });
    Json::Array(kept.collect()).to_string().into()
}

/// Counts that a job makes, and the last transfer that it has read.
#[derive(Debug)]
pub struct CountProgress {
    names: BTreeSet<String>,
    chain: String,
    id: String,
}

/// Returns those of some counts that are not kept yet.
pub fn list_unkept(store: &Store<'_>, asked: &BTreeSet<RuleCount>) -> Result<BTreeSet<String>, Fault> {
    let names: Vec<&str> = asked.iter().map(|count| count.name()).collect();
    if names.is_empty() {
        return Ok(BTreeSet::new());
    }
    let rows = store.rows(
        "SELECT value FROM json_each(?1) WHERE value NOT IN (SELECT name FROM kept_count WHERE is_complete = 1)",
        &[Json::from(names).to_string().into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Returns whether the ledger has more than this number of transfers.
pub fn has_more_transfers(store: &Store<'_>, most: i64) -> Result<bool, Fault> {
    // A limit of rows.
    let limit = most.saturating_add(1);
    let row = store.row("SELECT COUNT(*) FROM (SELECT 1 FROM transfer LIMIT +?1)", &[limit.into()])?;
    Ok(row.map_or(Ok(0), |row| sql::int(&row, 0))? > most)
}

const BEGIN: &str =
    "INSERT INTO kept_count (name, chain, id, is_complete) SELECT value, '', '', 0 FROM json_each(?1) WHERE TRUE
     ON CONFLICT (name) DO NOTHING";

/// Has a job make counts, from now on, also where the call is refused.
pub fn begin(store: &Store<'_>, names: &BTreeSet<String>) -> Result<(), Fault> {
    store.write_now(BEGIN, &[parameter_of(names)])
}

fn parameter_of(names: &BTreeSet<String>) -> SqlValue {
    Json::from_iter(names.iter().map(String::as_str)).to_string().into()
}

/// Makes counts of all transfers, when the call commits.
pub fn make(store: &mut Store<'_>, names: &BTreeSet<String>) -> Result<(), Fault> {
    /// Number of transfers that are read at a time.
    const SLICE: i64 = 5_000;
    store.write(BEGIN, vec![parameter_of(names)]);
    store.remove_read_limit();
    let mut progress = CountProgress { names: names.clone(), chain: String::new(), id: String::new() };
    while make_slice(store, &mut progress, SLICE)? {}
    Ok(())
}

/// Returns the counts that the job has to make next: those that have come least far.
pub fn find_incomplete(store: &Store<'_>) -> Result<Option<CountProgress>, Fault> {
    let rows = store.rows(
        "SELECT name, chain, id FROM kept_count WHERE (chain, id) IN
           (SELECT chain, id FROM kept_count WHERE is_complete = 0 ORDER BY chain, id LIMIT 1) AND is_complete = 0",
        &[],
    )?;
    let Some(first) = rows.first() else { return Ok(None) };
    let (chain, id) = (sql::text(first, 1)?.to_owned(), sql::text(first, 2)?.to_owned());
    let names = rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect::<Result<_, Fault>>()?;
    Ok(Some(CountProgress { names, chain, id }))
}

/// Makes counts of the next transfers, when the call commits. Returns false after the last.
pub fn make_slice(store: &mut Store<'_>, progress: &mut CountProgress, most: i64) -> Result<bool, Fault> {
    let rows = store.rows(
        "SELECT chain, id, debit, credit, amount FROM transfer WHERE (chain, id) > (+?1, +?2) ORDER BY chain, id LIMIT +?3",
        &[progress.chain.as_str().into(), progress.id.as_str().into(), most.into()],
    )?;
    let mut changes = BTreeMap::new();
    for row in &rows {
        progress.add(row, &mut changes)?;
    }
    let is_complete = i64::try_from(rows.len()).is_ok_and(|count| count < most);
    let changes: Vec<Json> = changes.into_iter().map(|(account, amount)| json!([account, amount])).collect();
    store.write(CHANGE_BALANCES, vec![Json::Array(changes).to_string().into()]);
    let names = parameter_of(&progress.names);
    store.write(
        "UPDATE kept_count SET chain = ?2, id = ?3, is_complete = ?4 WHERE name IN (SELECT value FROM json_each(?1))",
        vec![names, progress.chain.as_str().into(), progress.id.as_str().into(), i64::from(is_complete).into()],
    );
    Ok(!is_complete)
}

impl CountProgress {
    /// Adds a transfer to the changes of balances.
    fn add(&mut self, row: &SqlRow, changes: &mut BTreeMap<String, i64>) -> Result<(), Fault> {
        let amount = sql::int(row, 4)?;
        for (account, amount) in [(sql::text(row, 2)?, 0_i64.minus(amount)?), (sql::text(row, 3)?, amount)] {
            if let Keeping::Asked(count) = keeping_of_balance(account)
                && self.names.contains(count.name())
            {
                let change = changes.entry(account.to_owned()).or_default();
                *change = change.plus(amount)?;
            }
        }
        (self.chain, self.id) = (sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned());
        Ok(())
    }
}
