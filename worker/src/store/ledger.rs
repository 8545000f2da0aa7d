//! The ledger's tables: balances, transfers and holds. It must not know what an account counts.

use super::Store;
use super::post::Post;
use super::sql::{self, Fault, Value};
use scrip::facts::voucher_accounts;
use scrip::ledger::{AccountId, Entry, Transfer};
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// How an account stands: what it holds, and what others have reserved on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// The net of all transfers: credits less debits.
    pub balance: i64,
    /// What unexpired holds of other keys reserve.
    pub held: i64,
}

/// The expression of a statement for an account of what the id in a column names: what accounts are called the engine says.
pub fn account_of(account: fn(&str) -> AccountId, column: &str) -> String {
    format!("'{}'", account(&format!("' || {column} || '")))
}

impl Store<'_> {
    /// Gives back at the commit what locks hold of a voucher, the customers' share of it included: under a key, or all of it.
    pub fn release_voucher(&mut self, voucher_id: &str, key: Option<&str>) {
        let (own, by_customer) = voucher_accounts(voucher_id);
        self.write(
            "DELETE FROM hold WHERE (?3 IS NULL OR key = +?3) AND (account GLOB ?1 || '*' OR account GLOB '*' || ?2)",
            vec![own.as_str().into(), by_customer.as_str().into(), key.map(str::to_owned).into()],
        );
    }

    /// How accounts stand at a moment; an account that is not listed stands at zero.
    pub fn standings(
        &self,
        accounts: &[String],
        now_ms: i64,
        own_hold: &str,
    ) -> Result<HashMap<String, Standing>, Fault> {
        let mut standings = HashMap::new();
        if accounts.is_empty() {
            return Ok(standings);
        }
        let rows = self.rows(
            "SELECT named.value, COALESCE((SELECT balance FROM account WHERE id = named.value), 0),
               COALESCE((SELECT SUM(amount) FROM hold WHERE account = named.value AND expires_at > ?2 AND key <> ?3), 0)
             FROM json_each(?1) AS named",
            &[Json::from(accounts.to_vec()).to_string().into(), now_ms.into(), own_hold.into()],
        )?;
        for row in &rows {
            let standing = Standing { balance: sql::int(row, 1)?, held: sql::int(row, 2)? };
            standings.insert(sql::text(row, 0)?.to_owned(), standing);
        }
        Ok(standings)
    }

    /// Writes transfers at the commit: the transfers themselves, and the balances that follow.
    pub fn post(&mut self, mut posts: Vec<Post>) {
        /// Transfers of one statement.
        const SLICE: usize = 2_000;
        while !posts.is_empty() {
            let rest = posts.split_off(posts.len().min(SLICE));
            self.post_slice(posts);
            posts = rest;
        }
    }

    fn post_slice(&mut self, posts: Vec<Post>) {
        let rows: Vec<Json> = posts
            .iter()
            .map(|post| json!([post.id, post.chain, post.debit, post.credit, post.amount, post.reverses, post.at]))
            .collect();
        let rows = Value::Text(Json::Array(rows).to_string());
        self.write_posts(
            "INSERT INTO transfer (id, chain, debit, credit, amount, reverses, at)
             SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
               json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]') FROM json_each(?1)",
            vec![rows.clone()],
            posts,
        );
        self.write(
            "INSERT INTO account (id, balance)
             SELECT id, SUM(amount) FROM (
               SELECT json_extract(value, '$[2]') AS id, -json_extract(value, '$[4]') AS amount FROM json_each(?1)
               UNION ALL SELECT json_extract(value, '$[3]'), json_extract(value, '$[4]') FROM json_each(?1))
             WHERE TRUE GROUP BY id
             ON CONFLICT (id) DO UPDATE SET balance = balance + excluded.balance",
            vec![rows],
        );
    }

    /// Writes what a decision has entered into the ledger, at the commit: what is given back first, then holds, then
    /// transfers, each kind in one statement however many there are. `origin` stands for where a page's holds come from.
    pub fn apply(&mut self, entries: &[Entry], origin: Option<&str>, now_ms: i64) {
        let mut posts: Vec<Post> = Vec::new();
        let mut holds: Vec<Json> = Vec::new();
        for entry in entries {
            match entry {
                Entry::Post(transfer) => posts.push(Post {
                    id: transfer.id.to_string(),
                    chain: transfer.chain.to_string(),
                    debit: transfer.debit.to_string(),
                    credit: transfer.credit.to_string(),
                    amount: i64::try_from(transfer.amount).unwrap_or(i64::MAX),
                    reverses: transfer.reverses.as_ref().map(ToString::to_string),
                    at: transfer.at.millis(),
                }),
                Entry::Hold(hold) => {
                    let (amount, expires_at) =
                        (i64::try_from(hold.amount).unwrap_or(i64::MAX), hold.expires_at.millis());
                    holds.push(json!([
                        hold.key.as_str(),
                        hold.owner.as_str(),
                        hold.account.as_str(),
                        amount,
                        expires_at
                    ]));
                }
                Entry::Release(session) => self.write(
                    "DELETE FROM hold WHERE key = +?1 AND (?2 IS NULL OR owner = +?2)",
                    vec![session.key.as_str().into(), session.owner.as_deref().into()],
                ),
            }
        }
        self.hold(&Json::Array(holds), origin, now_ms);
        self.post(posts);
    }

    /// Reserves amounts at the commit, a list of key, owner, account, amount and end for each; the same owner reserves anew under
    /// the same key, in place of the old hold.
    pub fn hold(&mut self, holds: &Json, origin: Option<&str>, now_ms: i64) {
        if holds.as_array().is_none_or(Vec::is_empty) {
            return;
        }
        self.leaves_later();
        self.write(
            "INSERT INTO hold (key, owner, account, amount, expires_at, created_at, origin)
             SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
               json_extract(value, '$[4]'), ?2, ?3 FROM json_each(?1) WHERE TRUE
             ON CONFLICT (key, owner, account) DO UPDATE SET amount = excluded.amount, expires_at = excluded.expires_at",
            vec![holds.to_string().into(), now_ms.into(), origin.into()],
        );
        // Holds that ended leave with new ones coming, a few at a time.
        self.write(
            "DELETE FROM hold WHERE (key, owner, account) IN
               (SELECT key, owner, account FROM hold WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 100)",
            vec![now_ms.into()],
        );
    }
}

/// How much of an account some lines of the ledger take.
pub fn taken(moved: &[Entry], account: &str) -> i64 {
    let amount = |transfer: &Transfer| i64::try_from(transfer.amount).unwrap_or(i64::MAX);
    let of = |entry: &Entry| match entry {
        Entry::Post(transfer) if transfer.debit.as_str() == account => amount(transfer),
        Entry::Post(transfer) if transfer.credit.as_str() == account => amount(transfer).saturating_neg(),
        Entry::Post(_) | Entry::Hold(_) | Entry::Release(_) => 0,
    };
    moved.iter().map(of).fold(0, i64::saturating_add)
}
