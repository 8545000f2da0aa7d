//! Documents of a decision, found by name: vouchers, tiers, campaigns, rules with their assignments, customers and orders. Counted facts:
//! balances, holds and the transfers of a redemption.

use super::cache::{HeldKey, StoreFacts};
use super::voucher_details::AssignedRule;
use crate::store::amount;
use crate::store::document::{StoredDocument, UnreadableFact, read_stored, readable, unreadable};
use crate::store::ledger::account_of;
use crate::store::sql::{self, Fault, SqlRow};
use crate::store::tracking::Tracker;
use crate::store::transfer_rows::TransferRow;
use scrip::facts::{Assignment, Fact, Known, SummaryCounts, incentive_account, tier_account};
use scrip::json::Node;
use scrip::ledger::{AccountId, HoldOwner, Transfer};
use scrip::model::customer::Customer;
use scrip::model::order::{Metadata, Order};
use scrip::model::redeemable::{Campaign, RedeemableTerms};
use scrip::model::reward::RewardAssignment;
use scrip::model::stacking::StackingRules;
use scrip::rules::Rule;
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::cursor::Read;
use scrip::wire::customer::read_customer;
use scrip::wire::order::read_order;
use scrip::wire::project::stacking::read_stacking_rules;
use scrip::wire::reward::read_reward_assignment;
use scrip::wire::rules::{read_assignment, read_rule};
use scrip::wire::voucher::{read_campaign, read_stored_tier};
use serde_json::Value as Json;
use std::sync::Arc;

impl StoreFacts<'_, '_> {
    /// Returns the metadata of the latest publication of a voucher to a customer.
    pub(super) fn find_publication(&self, voucher_id: &str, customer_id: &str) -> Result<Option<Metadata>, Fault> {
        let row = self.store.row(
            "SELECT json_extract(document.body, '$.metadata') FROM published CROSS JOIN document
               ON document.kind = 'publication' AND document.id = published.publication
             WHERE published.voucher = +?1 AND document.holder = +?2 ORDER BY document.created_at DESC, document.seq DESC LIMIT 1",
            &[voucher_id.into(), customer_id.into()],
        )?;
        let Some(row) = row else { return Ok(None) };
        match serde_json::from_str(sql::text_or_null(&row, 0)?.unwrap_or("{}")) {
            Ok(Node::Object(members)) => Ok(Some(Metadata::of(&members))),
            Ok(_) => Ok(Some(Metadata::default())),
            Err(error) => Err(Fault(format!("a stored publication does not parse: {error}"))),
        }
    }

    pub(super) fn find_campaign(&self, id: &str) -> Result<Option<Campaign>, UnreadableFact> {
        if let Some(text) = self.cache.borrow().campaigns.get(id) {
            return read_stored("campaign", id, text, read_campaign).map(Some);
        }
        let stored = self.store.stored_document("campaign", id)?;
        stored.map(|stored| read_stored("campaign", id, &stored.text, read_campaign)).transpose()
    }

    /// Reads a tier; one without its campaign counts as deleted.
    pub(super) fn find_tier(&self, id: &str) -> Result<Option<RedeemableTerms>, UnreadableFact> {
        let select = format!(
            "SELECT t.body, t.parent, c.id, c.body, (SELECT balance FROM account WHERE id = {})
             FROM document t LEFT JOIN document c ON c.kind = 'campaign' AND c.id = t.parent
             WHERE t.kind = 'promotion_tier' AND t.id = +?1",
            account_of(tier_account, "t.id")
        );
        let row = self.store.row(&select, &[id.into()])?;
        let Some(row) = row else { return Ok(None) };
        let campaign = sql::text_or_null(&row, 2)?;
        if campaign.is_none() && sql::text_or_null(&row, 1)?.is_some() {
            return Ok(None);
        }
        let tier =
            read_stored_tier(sql::text(&row, 0)?).map_err(|problem| unreadable("promotion tier", id, &problem))?;
        let mut cache = self.cache.borrow_mut();
        if let Some(id) = campaign {
            cache.campaigns.insert(id.to_owned(), sql::text(&row, 3)?.to_owned());
        }
        // An account without a row has no transfers, so its balance is 0.
        cache.balances.insert(incentive_account(&tier).to_string(), sql::int_or_null(&row, 4)?.unwrap_or(0));
        Ok(Some(tier))
    }

    pub(super) fn find_reward_assignment(
        &self,
        reward_id: &str,
        campaign_id: &str,
    ) -> Result<Option<RewardAssignment>, UnreadableFact> {
        let row = self.store.row(
            "SELECT id, body FROM document WHERE kind = 'reward_assignment' AND parent = +?1
             AND json_extract(body, '$.related_object_id') = +?2 ORDER BY seq LIMIT 1",
            &[reward_id.into(), campaign_id.into()],
        )?;
        let read = |row: SqlRow| {
            read_stored("reward assignment", sql::text(&row, 0)?, sql::text(&row, 1)?, read_reward_assignment)
        };
        row.map(read).transpose()
    }

    /// Finds a document of a kind by id.
    pub(super) fn find<T>(&self, kind: &str, id: &str, read: Read<T>) -> Known<Fact<'_, T>> {
        let read = |stored: StoredDocument| read_stored(kind, id, &stored.text, read);
        let found = self.store.stored_document(kind, id).map_err(UnreadableFact::from);
        self.known(found.and_then(|found| found.map(read).transpose())).map(Fact::own)
    }

    pub(super) fn find_assignments(&self, objects: &[&str]) -> Result<Vec<Assignment>, Fault> {
        let rows = self.store.rows(
            "SELECT id, body FROM document
             WHERE kind = 'validation_rules_assignment' AND parent IN (SELECT value FROM json_each(?1)) ORDER BY seq",
            &[Json::from(objects.to_vec()).to_string().into()],
        )?;
        let mut assignments = Vec::with_capacity(rows.len());
        for row in &rows {
            let (id, body) = (sql::text(row, 0)?, sql::text(row, 1)?);
            let read = read_stored("validation rules assignment", id, body, read_assignment);
            assignments.extend(readable(self.store, read)?);
        }
        Ok(assignments)
    }

    /// Returns the current loyalty tiers of a customer, evaluated once for all tests of a request.
    pub(super) fn tiers_of(&self, customer: &str) -> Result<Vec<Text>, Fault> {
        if let Some(known) = self.cache.borrow().tiers.get(customer) {
            return Ok(known.clone());
        }
        let found = (self.find_tiers)(customer)?;
        self.cache.borrow_mut().tiers.insert(customer.to_owned(), found.clone());
        Ok(found)
    }

    pub(super) fn find_customer(&self, key: &str) -> Result<Option<Customer>, UnreadableFact> {
        if let Some(known) = self.cache.borrow().customer_ids.get(key) {
            let stored =
                known.as_ref().and_then(|id| self.cache.borrow().customers.get(id).map(|stored| stored.text.clone()));
            return stored.map(|text| read_stored("customer", key, &text, read_customer)).transpose();
        }
        let source_id = if Tracker::may_open(key) { self.tracker()?.source_id(key)? } else { None };
        let name = source_id.as_deref().unwrap_or(key);
        let found = self.store.stored_by_name("customer", name, key)?;
        let id = found.as_ref().map(|stored| stored.id.clone());
        self.cache.borrow_mut().customer_ids.insert(key.to_owned(), id);
        let Some(stored) = found else { return Ok(None) };
        let customer = read_stored("customer", key, &stored.text, read_customer);
        self.cache.borrow_mut().customers.insert(stored.id.clone(), stored);
        Ok(Some(customer?))
    }

    pub(super) fn find_customer_by_email(&self, email: &str) -> Result<Option<Customer>, UnreadableFact> {
        let Some(stored) = self.store.stored_by_email(email)? else { return Ok(None) };
        let customer = read_stored("customer", email, &stored.text, read_customer)?;
        self.cache.borrow_mut().customers.insert(stored.id.clone(), stored);
        Ok(Some(customer))
    }

    pub(super) fn find_order(&self, key: &str) -> Result<Option<Order>, UnreadableFact> {
        let Some(stored) = self.store.stored_by_name("order", key, key)? else { return Ok(None) };
        let order = read_stored("order", key, &stored.text, read_order)?;
        self.cache.borrow_mut().orders.insert(stored.id);
        Ok(Some(order))
    }

    pub(super) fn find_rules_of_project(&self) -> Result<Option<StackingRules>, UnreadableFact> {
        let statement = "SELECT body FROM document WHERE kind = 'stacking_rules' ORDER BY seq LIMIT 1";
        let row = self.store.configuration_rows(statement, &[])?.into_iter().next();
        let read = |row: SqlRow| read_stored("stacking rules", "", sql::text(&row, 0)?, read_stacking_rules);
        row.map(read).transpose()
    }
}

impl StoreFacts<'_, '_> {
    pub(super) fn rules_named(&self, names: &[&str]) -> Known<Vec<Fact<'_, Rule>>> {
        let rules = self.known(self.find_rules(names).map(Some));
        rules.map(|rules| rules.into_iter().map(Fact::Shared).collect())
    }

    /// Returns the rules of a voucher and its campaign.
    pub(super) fn rules_of_voucher(&self, voucher: &RedeemableTerms) -> Known<Vec<Fact<'_, Rule>>> {
        let assigned = self.cache.borrow().rules_of_vouchers.get(voucher.id.as_str()).cloned();
        let Some(assigned) = assigned else {
            let names = [Some(&voucher.id), Some(&voucher.code), voucher.campaign_id.as_ref()];
            return self.rules_named(&names.into_iter().flatten().map(Text::as_str).collect::<Vec<_>>());
        };
        let rules = self.known(self.load_rules(&assigned).map(Some));
        rules.map(|rules| rules.into_iter().map(Fact::Shared).collect())
    }

    fn find_rules(&self, names: &[&str]) -> Result<Vec<Arc<Rule>>, UnreadableFact> {
        let rows = self.store.rows(
            // Rules of the voucher come before those of its campaign, in the order of their tests.
            "SELECT given.id, CASE json_type(given.body, '$.rule_id') WHEN 'text' THEN json_extract(given.body, '$.rule_id') END
             FROM json_each(?1) named
               CROSS JOIN document given ON given.kind = 'validation_rules_assignment' AND given.parent = named.value
             ORDER BY named.key, given.seq",
            &[Json::from(names.to_vec()).to_string().into()],
        )?;
        let assigned = |row: &SqlRow| {
            let rule = sql::text_or_null(row, 1)?.map(str::to_owned);
            Ok(AssignedRule { assignment: sql::text(row, 0)?.to_owned(), rule })
        };
        self.load_rules(&rows.iter().map(assigned).collect::<Result<Vec<_>, Fault>>()?)
    }

    /// Returns rules that are assigned, in their order.
    fn load_rules(&self, assigned: &[AssignedRule]) -> Result<Vec<Arc<Rule>>, UnreadableFact> {
        let mut ids: Vec<&str> = Vec::with_capacity(assigned.len());
        for AssignedRule { assignment, rule } in assigned {
            let Some(rule) = rule else { return Err(unnamed_rule(assignment)) };
            ids.push(rule);
        }
        self.read_rules(&ids)?;
        let cache = self.cache.borrow();
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        // A missing rule is deleted.
        for rule in ids.iter().filter_map(|id| cache.rules.get(*id)) {
            // A voucher whose code is its id is named twice; its rules count once.
            if !rules.iter().any(|known| known.id == rule.id) {
                rules.push(Arc::clone(rule));
            }
        }
        Ok(rules)
    }

    /// Reads the rules that have not been read yet.
    fn read_rules(&self, ids: &[&str]) -> Result<(), UnreadableFact> {
        let new: Vec<&str> = {
            let cache = self.cache.borrow();
            ids.iter().copied().filter(|id| !cache.rules.contains_key(*id)).collect()
        };
        if new.is_empty() {
            return Ok(());
        }
        let rows = self.store.configuration_rows(
            "SELECT id, body FROM document WHERE kind = 'validation_rules' AND id IN (SELECT value FROM json_each(?1))",
            &[Json::from(new).to_string().into()],
        )?;
        for row in &rows {
            let id = sql::text(row, 0)?;
            let rule = read_stored("validation rule", id, sql::text(row, 1)?, read_rule)?;
            self.cache.borrow_mut().rules.insert(id.to_owned(), Arc::new(rule));
        }
        Ok(())
    }
}

/// Returns a stored instant. Fails outside of the years that an instant has.
fn stored_instant(millis: i64) -> Result<Instant, Fault> {
    Instant::from_millis(millis).ok_or_else(|| Fault(format!("a stored time is out of bounds: {millis}")))
}

/// Returns the warning for an assignment without a rule.
fn unnamed_rule(assignment: &str) -> UnreadableFact {
    UnreadableFact::Unreadable(format!(
        "the stored validation rules assignment `{assignment}` cannot be read: it names no rule"
    ))
}

impl StoreFacts<'_, '_> {
    pub(super) fn find_chain(&self, id: &str) -> Result<Vec<Transfer>, Fault> {
        let read = |row: &TransferRow| {
            Ok(Transfer {
                id: row.id.as_str().into(),
                chain: row.chain.as_str().into(),
                debit: AccountId::new(row.debit.as_str()),
                credit: AccountId::new(row.credit.as_str()),
                amount: amount::unsigned(row.amount)?,
                reverses: row.reverses.as_deref().map(Text::from),
                part_of: None,
                at: stored_instant(row.at)?,
            })
        };
        self.store.list_chain(id)?.iter().map(read).collect()
    }

    pub(super) fn find_balance(&self, account: &AccountId) -> Result<i64, Fault> {
        if let Some(balance) = self.offered.get().and_then(|offered| offered.balances.get(account.as_str())) {
            return Ok(*balance);
        }
        if let Some(balance) = self.cache.borrow().balances.get(account.as_str()) {
            return Ok(*balance);
        }
        // Most often the holds are asked for next.
        let row = self.store.row(
            "SELECT COALESCE((SELECT balance FROM account WHERE id = +?1), 0), EXISTS (SELECT 1 FROM hold WHERE account = +?1)",
            &[account.as_str().into()],
        )?;
        let row = row.unwrap_or_default();
        let (balance, is_held) = (sql::int(&row, 0)?, sql::int(&row, 1)? == 1);
        let mut cache = self.cache.borrow_mut();
        cache.balances.insert(account.as_str().to_owned(), balance);
        if !is_held {
            cache.unheld.push(account.as_str().to_owned());
        }
        Ok(balance)
    }

    pub(super) fn find_free_codes(&self, campaign_id: &str, now: Instant) -> Result<Option<u64>, UnreadableFact> {
        if self.find_campaign(campaign_id)?.is_some_and(|campaign| campaign.makes_codes) {
            return Ok(None);
        }
        Ok(u64::try_from(self.store.count_free_codes(campaign_id, now.millis())?).ok())
    }

    pub(super) fn find_moved(&self, account: &AccountId, since: Instant) -> Result<u64, Fault> {
        let key = (account.as_str().to_owned(), since.millis());
        if let Some(moved) = self.cache.borrow().moved.get(&key) {
            return Ok(*moved);
        }
        let moved = self.store.sum_moved(account.as_str(), since.millis())?;
        self.cache.borrow_mut().moved.insert(key, moved);
        Ok(moved)
    }

    pub(super) fn find_later_counts(&self, customer_id: &str, after: Instant) -> Result<SummaryCounts, Fault> {
        const ORDERS: &str = "SELECT COUNT(*), COALESCE(SUM(json_extract(body, '$.total_amount')), 0)
            FROM every_order WHERE holder = +?1 AND created_at > ?2
              AND json_extract(body, '$.status') IN ('PAID', 'FULFILLED')";
        const REDEMPTIONS: &str = "SELECT COALESCE(SUM(json_extract(body, '$.status') <> 'ROLLED_BACK'), 0), COUNT(*)
            FROM every_redemption WHERE holder = +?1 AND created_at > ?2
              AND json_extract(body, '$.object') = 'redemption' AND json_extract(body, '$.result') = 'SUCCESS'
              AND json_extract(body, '$.related_object_type') <> 'redemption'";
        let two = |statement: &str| {
            let row = self.store.row(statement, &[customer_id.into(), after.millis().into()])?;
            row.map_or(Ok([0, 0]), |row| Ok::<_, Fault>([sql::int(&row, 0)?, sql::int(&row, 1)?]))
        };
        let ([orders, order_total], [redeemed, succeeded]) = (two(ORDERS)?, two(REDEMPTIONS)?);
        Ok(SummaryCounts { orders, order_total, redeemed, succeeded })
    }

    pub(super) fn find_held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Result<u64, Fault> {
        if self.offered.get().is_some_and(|offered| offered.unheld.contains(account.as_str())) {
            return Ok(0);
        }
        if self.cache.borrow().has_no_holds {
            return Ok(0);
        }
        if self.cache.borrow().unheld.iter().any(|unheld| unheld == account.as_str()) {
            return Ok(0);
        }
        let held_key = HeldKey {
            account: account.as_str().to_owned(),
            now_ms: now.millis(),
            key: own.map_or_else(String::new, |own| own.key.to_string()),
            owner: own.and_then(|own| own.owner.as_deref()).map(str::to_owned),
            servers: own.is_some_and(|own| own.servers),
        };
        if let Some(held) = self.cache.borrow().held.get(&held_key) {
            return Ok(*held);
        }
        let HeldKey { key, owner, servers, .. } = &held_key;
        let row = self.store.row(
            "SELECT COALESCE(SUM(amount), 0), COALESCE((SELECT balance FROM account WHERE id = +?1), 0) FROM hold
             WHERE account = +?1 AND expires_at > ?2 AND NOT (key = +?3 AND (?4 IS NULL OR owner = +?4 OR (?5 AND owner = '')))",
            &[
                account.as_str().into(),
                now.millis().into(),
                key.as_str().into(),
                owner.as_deref().into(),
                i64::from(*servers).into(),
            ],
        )?;
        let row = row.unwrap_or_default();
        let (held, balance) = (amount::unsigned(sql::int(&row, 0)?)?, sql::int(&row, 1)?);
        let mut cache = self.cache.borrow_mut();
        cache.held.insert(held_key, held);
        // Most often the balance is asked for next.
        cache.balances.entry(account.as_str().to_owned()).or_insert(balance);
        Ok(held)
    }
}
