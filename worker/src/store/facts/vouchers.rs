//! Vouchers of a decision. One statement reads those of a request, each with its campaign, its balances and its rules.

use super::cache::StoreFacts;
use super::voucher_details::VoucherDetails;
use crate::store::configuration::revisions::{REVISIONS, Revisions};
use crate::store::document::{UnreadableFact, unreadable};
use crate::store::index::code_key::code_key;
use crate::store::ledger::account_of;
use crate::store::sql::{self, Fault, SqlRow};
use scrip::facts::{credits_account, publications_account, redemptions_account};
use scrip::model::redeemable::RedeemableTerms;
use scrip::model::request::{RedeemableObject, RequestedRedeemable};
use scrip::wire::voucher::read_stored_voucher;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Number of the columns of a voucher, which those of the revisions follow.
const WIDTH: usize = 14;

/// Statement that reads vouchers by their keys.
static BY_KEY: LazyLock<String> = LazyLock::new(|| select_by("key"));

/// Statement that reads vouchers by their ids.
static BY_ID: LazyLock<String> = LazyLock::new(|| select_by("id"));

/// Returns the statement that reads vouchers by a column. A name without a voucher has a row, too, which contains the revisions.
/// Rules of the voucher come before those of its campaign, in the order of their tests.
fn select_by(column: &str) -> String {
    let [redemptions, credits, published] =
        [redemptions_account, credits_account, publications_account].map(|account| account_of(account, "v.id"));
    format!(
        "SELECT named.value, v.id, v.body, v.parent, c.id, c.body,
           CASE json_type(c.body, '$.category_id') WHEN 'text' THEN json_extract(c.body, '$.category_id') END,
           (SELECT balance FROM account WHERE id = {redemptions}), (SELECT balance FROM account WHERE id = {credits}),
           (SELECT balance FROM account WHERE id = {published}),
           EXISTS (SELECT 1 FROM hold WHERE account = {redemptions}) + 2 * EXISTS (SELECT 1 FROM hold WHERE account = {credits}),
           (SELECT json_group_array(json_array(id, rule)) FROM
             (SELECT given.id AS id, CASE json_type(given.body, '$.rule_id') WHEN 'text' THEN json_extract(given.body, '$.rule_id') END AS rule
              FROM json_each(json_array(v.id, json_extract(v.body, '$.code'), json_extract(v.body, '$.campaign_id'))) AS owner
              CROSS JOIN document AS given ON given.kind = 'validation_rules_assignment' AND given.parent = owner.value
              ORDER BY owner.key, given.seq)),
           (SELECT json_group_array(json(body)) FROM
             (SELECT body FROM document WHERE kind = 'validation_rules_assignment' AND parent = v.id ORDER BY seq)),
           EXISTS (SELECT 1 FROM hold),
           {REVISIONS}
         FROM json_each(?1) AS named LEFT JOIN document AS v ON v.kind = 'voucher' AND v.{column} = named.value
           LEFT JOIN document AS c ON c.kind = 'campaign' AND c.id = v.parent"
    )
}

impl StoreFacts<'_, '_> {
    /// Reads the vouchers that are named by their codes.
    pub(super) fn read_expected(&self, redeemables: &[RequestedRedeemable]) -> Result<(), Fault> {
        let codes = redeemables.iter().filter(|one| one.object == RedeemableObject::Voucher);
        let mut keys: BTreeSet<String> = codes.map(|one| code_key(&one.id, self.case_sensitive)).collect();
        keys.retain(|key| !self.cache.borrow().vouchers.contains_key(key));
        if keys.is_empty() {
            return Ok(());
        }
        let rows = self.read_vouchers(&BY_KEY, &keys.iter().map(String::as_str).collect::<Vec<_>>())?;
        self.cache.borrow_mut().vouchers.extend(rows);
        Ok(())
    }

    /// Reads vouchers by one of the statements: of each name its row, if there is a voucher.
    fn read_vouchers(&self, statement: &str, names: &[&str]) -> Result<Vec<(String, Option<SqlRow>)>, Fault> {
        let rows = self.store.rows(statement, &[Json::from(names).to_string().into()])?;
        if let Some(row) = rows.first() {
            self.store.note_revisions(Revisions::of(row, WIDTH)?);
            self.cache.borrow_mut().has_no_holds = sql::int(row, 13)? == 0;
        }
        let read = |row: SqlRow| {
            let name = sql::text(&row, 0)?.to_owned();
            let is_found = sql::text_or_null(&row, 1)?.is_some();
            Ok((name, is_found.then_some(row)))
        };
        rows.into_iter().map(read).collect()
    }

    /// Returns the row of a voucher by its code, else by its id.
    fn find_row(&self, code: &str) -> Result<Option<SqlRow>, Fault> {
        let key = code_key(code, self.case_sensitive);
        let known = self.cache.borrow().vouchers.get(&*key).cloned();
        let row = match known {
            Some(row) => row,
            None => self.read_vouchers(&BY_KEY, &[&key])?.pop().and_then(|(_, row)| row),
        };
        match row {
            Some(row) => Ok(Some(row)),
            None => Ok(self.read_vouchers(&BY_ID, &[code])?.pop().and_then(|(_, row)| row)),
        }
    }

    /// Returns a voucher by its code or id. One without its campaign counts as deleted.
    pub(super) fn find_voucher(&self, code: &str) -> Result<Option<RedeemableTerms>, UnreadableFact> {
        let Some(row) = self.find_row(code)? else { return Ok(None) };
        let (id, campaign) = (sql::text(&row, 1)?, sql::text_or_null(&row, 4)?);
        if campaign.is_none() && sql::text_or_null(&row, 3)?.is_some() {
            return Ok(None);
        }
        let voucher = read_stored_voucher(sql::text(&row, 2)?)
            .map_err(|problem| unreadable("voucher", code, &problem))?
            .at(self.now);
        let mut cache = self.cache.borrow_mut();
        if let Some(id) = campaign {
            cache.campaigns.insert(id.to_owned(), sql::text(&row, 5)?.to_owned());
        }
        let held = sql::int(&row, 10)?;
        for (account, balance, is_held) in
            [(redemptions_account(&voucher.id), 7, held & 1), (credits_account(&voucher.id), 8, held & 2)]
        {
            // An account without a row has no transfers, so its balance is 0.
            cache.balances.insert(account.to_string(), sql::int_or_null(&row, balance)?.unwrap_or(0));
            if is_held == 0 {
                cache.unheld.push(account.to_string());
            }
        }
        let rules = serde_json::from_str(sql::text(&row, 11)?).map_err(|error| Fault(error.to_string()))?;
        cache.rules_of_vouchers.insert(voucher.id.to_string(), rules);
        let details = VoucherDetails {
            publications: sql::int_or_null(&row, 9)?.unwrap_or(0),
            category_id: sql::text_or_null(&row, 6)?.map(str::to_owned),
            rule_assignments: sql::text(&row, 12)?.to_owned(),
        };
        cache.details.insert(id.to_owned(), details);
        Ok(Some(voucher))
    }

    /// Takes the details of the vouchers that were read.
    pub fn take_details(&self) -> BTreeMap<String, VoucherDetails> {
        std::mem::take(&mut self.cache.borrow_mut().details)
    }
}
