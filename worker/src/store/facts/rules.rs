//! Rules of redeemables: each is read once for a decision.

use super::cache::StoreFacts;
use crate::store::document::{UnreadableFact, read_stored};
use crate::store::sql;
use scrip::facts::{Fact, Known};
use scrip::rules::Rule;
use scrip::wire::rules::read_rule;
use serde_json::Value as Json;
use std::sync::Arc;

impl StoreFacts<'_, '_> {
    pub(super) fn rules_named(&self, names: &[&str]) -> Known<Vec<Fact<'_, Rule>>> {
        let rules = self.known(self.find_rules(names).map(Some));
        rules.map(|rules| rules.into_iter().map(Fact::Own).collect())
    }

    fn find_rules(&self, names: &[&str]) -> Result<Vec<Arc<Rule>>, UnreadableFact> {
        let rows = self.store.rows(
            // Rules of the voucher come before those of its campaign, in the order of their tests.
            "SELECT given.id, CASE json_type(given.body, '$.rule_id') WHEN 'text' THEN json_extract(given.body, '$.rule_id') END
             FROM json_each(?1) named
               JOIN document given ON given.kind = 'validation_rules_assignment' AND given.parent = named.value
             ORDER BY named.key, given.seq",
            &[Json::from(names.to_vec()).to_string().into()],
        )?;
        let mut ids: Vec<&str> = Vec::with_capacity(rows.len());
        for row in &rows {
            let Some(rule) = sql::text_or_null(row, 1)? else { return Err(unnamed_rule(sql::text(row, 0)?)) };
            ids.push(rule);
        }
        self.read_rules(&ids)?;
        let seen = self.seen.borrow();
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        // A missing rule is deleted.
        for rule in ids.iter().filter_map(|id| seen.rules.get(*id)) {
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
            let seen = self.seen.borrow();
            ids.iter().copied().filter(|id| !seen.rules.contains_key(*id)).collect()
        };
        if new.is_empty() {
            return Ok(());
        }
        let rows = self.store.rows(
            "SELECT id, body FROM document WHERE kind = 'validation_rules' AND id IN (SELECT value FROM json_each(?1))",
            &[Json::from(new).to_string().into()],
        )?;
        for row in &rows {
            let id = sql::text(row, 0)?;
            let rule = read_stored("validation rule", id, sql::text(row, 1)?, read_rule)?;
            self.seen.borrow_mut().rules.insert(id.to_owned(), Arc::new(rule));
        }
        Ok(())
    }
}

/// Returns the warning for an assignment without a rule.
fn unnamed_rule(assignment: &str) -> UnreadableFact {
    UnreadableFact::Illegible(format!(
        "the stored validation rules assignment `{assignment}` does not say which rule it assigns"
    ))
}
