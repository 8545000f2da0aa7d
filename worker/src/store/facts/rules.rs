//! The rules of redeemables, each read once for a decision, however many redeemables have it. It must not know what they say.

use super::seen::StoreFacts;
use crate::store::document::{Unread, read_stored};
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

    fn find_rules(&self, names: &[&str]) -> Result<Vec<Arc<Rule>>, Unread> {
        let rows = self.store.rows(
            // The rules of the voucher come before those of its campaign, as they are checked.
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
        // One that is not there is gone.
        for rule in ids.iter().filter_map(|id| seen.rules.get(*id)) {
            // A voucher whose code is its id is named twice, and its rules count once.
            if !rules.iter().any(|known| known.id == rule.id) {
                rules.push(Arc::clone(rule));
            }
        }
        Ok(rules)
    }

    /// Reads those of these rules that have not been read yet.
    fn read_rules(&self, ids: &[&str]) -> Result<(), Unread> {
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

/// What is said of an assignment that does not name its rule.
fn unnamed_rule(assignment: &str) -> Unread {
    Unread::Illegible(format!(
        "the stored validation rules assignment `{assignment}` does not say which rule it assigns"
    ))
}
