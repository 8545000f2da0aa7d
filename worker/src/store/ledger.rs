//! Tables of the ledger: balances, transfers and holds.

pub mod kept_counts;
pub mod movements;

use super::Store;
use super::amount::{self, CheckedAmount};
use super::sql::{self, Fault, SqlRow};
use super::transfer_rows::{self, TransferRow};
use scrip::facts::voucher_accounts;
use scrip::ledger::{AccountId, Entry};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::ops::Range;

/// Returns the state of an account from what [`Store::account_balances`] has read. Fails for an account that it did not read: its balance is
/// unknown, and not zero.
pub fn balance_of(read: &HashMap<String, AccountBalance>, account: &str) -> Result<AccountBalance, Fault> {
    read.get(account).copied().ok_or_else(|| Fault(format!("the balance of `{account}` was not read")))
}

/// State of an account: its balance, and the amount that others have reserved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountBalance {
    /// The net of all transfers: credits less debits.
    pub balance: i64,
    /// Amount reserved by unexpired holds of other keys.
    pub held: i64,
}

/// Units of a customer's account, by the part of its name after the customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnUnits {
    /// Rest of the name.
    pub account: String,
    /// Time of the movement; `None` for the balance.
    pub at: Option<i64>,
    /// Number of units.
    pub units: u64,
}

/// Returns the SQL expression for an account of the id in a column; the engine defines the names of accounts.
pub fn account_of(account: fn(&str) -> AccountId, column: &str) -> String {
    format!("'{}'", account(&format!("' || {column} || '")))
}

/// Statement that inserts transfers from a list of [`transfer_rows::parameter`].
const INSERT_TRANSFERS: &str = "INSERT INTO transfer (chain, id, debit, credit, amount, at, reverses, part_of, by_debit, by_credit)
     SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
       json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]'), json_extract(value, '$[7]'),
       json_extract(value, '$[8]'), json_extract(value, '$[9]') FROM json_each(?1)";

impl Store<'_> {
    /// Queues the release of holds on a voucher, including those on its per-customer accounts: of one key, or all.
    pub fn release_voucher(&mut self, voucher_id: &str, key: Option<&str>) {
        let (own, by_customer) = voucher_accounts(voucher_id);
        self.write(
            "DELETE FROM hold WHERE (?3 IS NULL OR key = +?3) AND (account GLOB ?1 || '*' OR account GLOB '*' || ?2)",
            vec![own.as_str().into(), by_customer.as_str().into(), key.map(str::to_owned).into()],
        );
    }

    /// Returns the states of accounts at `now_ms`; an account that is not stored has a balance of zero.
    pub fn account_balances(
        &self,
        accounts: &[String],
        now_ms: i64,
        own_hold: &str,
    ) -> Result<HashMap<String, AccountBalance>, Fault> {
        let mut balances = HashMap::new();
        if accounts.is_empty() {
            return Ok(balances);
        }
        let rows = self.rows(
            "SELECT named.value, COALESCE((SELECT balance FROM account WHERE id = named.value), 0),
               COALESCE((SELECT SUM(amount) FROM hold WHERE account = named.value AND expires_at > ?2 AND key <> ?3), 0)
             FROM json_each(?1) AS named",
            &[Json::from(accounts.to_vec()).to_string().into(), now_ms.into(), own_hold.into()],
        )?;
        for row in &rows {
            let balance = AccountBalance { balance: sql::int(row, 1)?, held: sql::int(row, 2)? };
            balances.insert(sql::text(row, 0)?.to_owned(), balance);
        }
        Ok(balances)
    }

    /// Returns the state of one account at `now_ms`; an account that is not stored has a balance of zero.
    pub fn account_balance(&self, account: &str, now_ms: i64) -> Result<AccountBalance, Fault> {
        balance_of(&self.account_balances(&[account.to_owned()], now_ms, "")?, account)
    }

    /// Queues transfers and the changes of balances.
    pub fn post(&mut self, mut posts: Vec<TransferRow>) {
        /// Number of transfers of one statement.
        const SLICE: usize = 2_000;
        while !posts.is_empty() {
            let rest = posts.split_off(posts.len().min(SLICE));
            self.post_slice(posts);
            posts = rest;
        }
    }

    fn post_slice(&mut self, posts: Vec<TransferRow>) {
        let changes = kept_counts::changes_of(&posts);
        self.write_transfers(INSERT_TRANSFERS, vec![transfer_rows::parameter(&posts)], posts);
        self.write(kept_counts::CHANGE_BALANCES, vec![changes]);
    }

    /// Queues the ledger entries of a decision: first releases, then holds, then transfers, one statement for each kind.
    /// `origin` marks the client that sets holds.
    pub fn apply(&mut self, entries: &[Entry], origin: Option<&str>, now_ms: i64) -> Result<(), Fault> {
        let mut posts: Vec<TransferRow> = Vec::new();
        let mut holds: Vec<Json> = Vec::new();
        for entry in entries {
            match entry {
                Entry::Post(transfer) => posts.push(TransferRow {
                    id: transfer.id.to_string(),
                    chain: transfer.chain.to_string(),
                    debit: transfer.debit.to_string(),
                    credit: transfer.credit.to_string(),
                    amount: amount::signed(transfer.amount)?,
                    reverses: transfer.reverses.as_ref().map(ToString::to_string),
                    part_of: transfer.part_of.as_ref().map(ToString::to_string),
                    at: transfer.at.millis(),
                }),
                Entry::Hold(hold) => {
                    let (amount, expires_at) = (amount::signed(hold.amount)?, hold.expires_at.millis());
                    holds.push(json!([
                        hold.key.as_str(),
                        hold.owner.as_str(),
                        hold.account.as_str(),
                        amount,
                        expires_at
                    ]));
                }
                Entry::Release(session) => self.write(
                    "DELETE FROM hold WHERE key = +?1 AND (?2 IS NULL OR owner = +?2 OR (?3 AND owner = ''))",
                    vec![
                        session.key.as_str().into(),
                        session.owner.as_deref().into(),
                        i64::from(session.servers).into(),
                    ],
                ),
            }
        }
        self.hold(&Json::Array(holds), origin, now_ms);
        self.post(posts);
        Ok(())
    }

    /// Queues holds: a list of key, owner, account, amount and end for each. A hold of the same owner and key is replaced.
    pub fn hold(&mut self, holds: &Json, origin: Option<&str>, now_ms: i64) {
        if holds.as_array().is_none_or(Vec::is_empty) {
            return;
        }
        self.mark_for_retention();
        self.write(
            "INSERT INTO hold (key, owner, account, amount, expires_at, created_at, origin)
             SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
               json_extract(value, '$[4]'), ?2, ?3 FROM json_each(?1) WHERE TRUE
             ON CONFLICT (key, owner, account) DO UPDATE SET amount = excluded.amount, expires_at = excluded.expires_at",
            vec![holds.to_string().into(), now_ms.into(), origin.into()],
        );
        // New holds remove some expired ones.
        self.write(
            "DELETE FROM hold WHERE (key, owner, account) IN
               (SELECT key, owner, account FROM hold WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 100)",
            vec![now_ms.into()],
        );
    }
}

/// Converts periods to a parameter of a statement: the start and the end of each.
pub(super) fn periods_parameter(periods: &[Range<i64>]) -> String {
    Json::from(periods.iter().map(|period| json!([period.start, period.end])).collect::<Vec<_>>()).to_string()
}

/// Returns the net amount that ledger entries take from an account.
pub fn net_debit(moved: &[Entry], account: &str) -> Result<i64, Fault> {
    moved.iter().try_fold(0_i64, |taken, entry| match entry {
        Entry::Post(transfer) if transfer.debit.as_str() == account => taken.plus(amount::signed(transfer.amount)?),
        Entry::Post(transfer) if transfer.credit.as_str() == account => taken.minus(amount::signed(transfer.amount)?),
        Entry::Post(_) | Entry::Hold(_) | Entry::Release(_) => Ok(taken),
    })
}

/// Returns the balances of a customer's accounts, at most `most`.
pub fn list_own_balances(store: &Store<'_>, customer_id: &str, most: i64) -> Result<Vec<OwnUnits>, Fault> {
    let (from, until) = own_range(customer_id);
    let rows = store.rows(
        "SELECT id, NULL, ABS(balance) FROM account WHERE id > +?1 AND id < +?2 LIMIT +?3",
        &[from.as_str().into(), until.into(), most.into()],
    )?;
    rows.iter().map(|row| read_units(row, &from)).collect()
}

/// Returns the accounts of a customer, under each of these names, of which sessions hold units.
pub fn list_own_held(store: &Store<'_>, names: &[&str], now_ms: i64) -> Result<Vec<String>, Fault> {
    let rows = store.rows(
        "SELECT DISTINCT substr(account, length('customer/' || named.value || '/') + 1) FROM json_each(?1) AS named CROSS JOIN hold
         WHERE account > 'customer/' || named.value || '/' AND account < 'customer/' || named.value || '0' AND expires_at > +?2",
        &[Json::from(names.to_vec()).to_string().into(), now_ms.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Returns the bounds of the names of a customer's accounts: `0` follows the slash.
fn own_range(customer_id: &str) -> (String, String) {
    (format!("customer/{customer_id}/"), format!("customer/{customer_id}0"))
}

fn read_units(row: &SqlRow, prefix: &str) -> Result<OwnUnits, Fault> {
    let account = rest_of(sql::text(row, 0)?, prefix)?;
    Ok(OwnUnits { account, at: sql::int_or_null(row, 1)?, units: amount::unsigned(sql::int(row, 2)?)? })
}

fn rest_of(account: &str, prefix: &str) -> Result<String, Fault> {
    let rest =
        account.strip_prefix(prefix).ok_or_else(|| Fault(format!("`{account}` is another customer's account")))?;
    Ok(rest.to_owned())
}

/// A hold on an account.
#[derive(Debug, PartialEq, Eq)]
pub struct StoredHold {
    /// Key of the session.
    pub key: String,
    /// Owner of the session; empty for a server.
    pub owner: String,
    /// The account.
    pub account: String,
    /// The reserved amount.
    pub amount: i64,
    /// End of the hold, in milliseconds since 1970.
    pub expires_at: i64,
    /// Begin of the hold, where it is known.
    pub created_at: Option<i64>,
}

/// Lists the keys of open sessions after a key, up to a number: all, or those that reserve an account.
pub fn list_session_keys(
    store: &Store<'_>,
    after: &str,
    now_ms: i64,
    limit: i64,
    account: Option<&str>,
) -> Result<Vec<String>, Fault> {
    let mut params = vec![after.into(), now_ms.into(), limit.into()];
    let statement = match account {
        None => "SELECT DISTINCT key FROM hold WHERE key > ?1 AND expires_at > ?2 ORDER BY key LIMIT +?3",
        Some(account) => {
            params.push(account.into());
            "SELECT DISTINCT key FROM hold WHERE key > ?1 AND expires_at > ?2 AND account = +?4 ORDER BY key LIMIT +?3"
        }
    };
    store.rows(statement, &params)?.iter().map(|row| Ok(sql::text(row, 0)?.to_owned())).collect()
}

/// Lists the open holds under some keys, by key, owner and account.
pub fn list_holds(store: &Store<'_>, keys: &[&str], now_ms: i64) -> Result<Vec<StoredHold>, Fault> {
    let rows = store.rows(
        "SELECT key, owner, account, amount, expires_at, created_at FROM hold
         WHERE key IN (SELECT value FROM json_each(?1)) AND expires_at > ?2 ORDER BY key, owner, account",
        &[Json::from(keys).to_string().into(), now_ms.into()],
    )?;
    let hold = |row: &sql::SqlRow| {
        Ok(StoredHold {
            key: sql::text(row, 0)?.to_owned(),
            owner: sql::text(row, 1)?.to_owned(),
            account: sql::text(row, 2)?.to_owned(),
            amount: sql::int(row, 3)?,
            expires_at: sql::int(row, 4)?,
            created_at: sql::int_or_null(row, 5)?,
        })
    };
    rows.iter().map(hold).collect()
}

/// Returns true if an open session reserves an account.
pub fn is_account_held(store: &Store<'_>, key: &str, account: &str, now_ms: i64) -> Result<bool, Fault> {
    let row = store.row(
        "SELECT 1 FROM hold WHERE key = +?1 AND account = +?2 AND expires_at > ?3",
        &[key.into(), account.into(), now_ms.into()],
    )?;
    Ok(row.is_some())
}

/// Returns true if a session is open.
pub fn is_session_open(store: &Store<'_>, key: &str, now_ms: i64) -> Result<bool, Fault> {
    let row = store.row("SELECT 1 FROM hold WHERE key = +?1 AND expires_at > ?2", &[key.into(), now_ms.into()])?;
    Ok(row.is_some())
}

/// Deletes all holds of a session, set by any caller, when the call commits.
pub fn delete_session(store: &mut Store<'_>, key: &str) {
    store.write("DELETE FROM hold WHERE key = +?1", vec![key.into()]);
}

/// Open sessions of one origin.
#[derive(Debug)]
pub struct OriginSessions {
    /// Number of the sessions.
    pub count: i64,
    /// Earliest end of a hold of them, in milliseconds since 1970.
    pub first_end: Option<i64>,
}

/// Counts the open sessions of an origin other than one, which is named by its key and its owner.
pub fn count_sessions(
    store: &Store<'_>,
    origin: &str,
    now_ms: i64,
    own_key: &str,
    own_owner: &str,
) -> Result<OriginSessions, Fault> {
    let row = store.row(
        "SELECT COUNT(DISTINCT key), MIN(expires_at) FROM hold
         WHERE origin = +?1 AND expires_at > ?2 AND NOT (key = +?3 AND owner = +?4)",
        &[origin.into(), now_ms.into(), own_key.into(), own_owner.into()],
    )?;
    let row = row.unwrap_or_default();
    Ok(OriginSessions { count: sql::int(&row, 0)?, first_end: sql::int_or_null(&row, 1)? })
}
