//! Conditions of the filters of a query, sorted by what answers them.

use super::clause::Statement;
use super::index;
use super::term::IndexTerm;
use crate::store::Store;
use crate::store::index::blind_index::{digest, fold_name};
use crate::store::sql::Fault;

/// Conditions of the filters of a query.
#[derive(Debug, Default, Clone)]
pub struct ListConditions {
    /// Conditions that an index may answer.
    pub terms: Vec<IndexTerm>,
    /// Conditions that must read every document.
    pub scanned: Vec<Statement>,
    /// Conditions that must read a short column of every document.
    pub short: Vec<Statement>,
    /// Text for the index of parts of names.
    pub part: Option<String>,
    /// Conditions that must read every document, of which one must be true.
    pub any: Vec<Statement>,
}

impl ListConditions {
    /// Requires a value in a column.
    pub fn equal(&mut self, kind: &str, column: &str, value: &str) {
        self.require(kind, column, IndexTerm::of(column, &[value.to_owned()]));
    }

    fn require(&mut self, kind: &str, column: &str, term: IndexTerm) {
        match index::by_value(kind, column) {
            Some(_) => self.terms.push(term),
            None => self.scanned.push(term.statement),
        }
    }

    /// Requires a column to be the digest of a value (`store/index/blind_index.rs`).
    pub fn digest_equal(&mut self, kind: &str, column: &str, name: &str, value: &str) {
        self.equal(kind, column, &digest(name, value));
    }

    /// Requires the name of the document to contain a text, without case.
    pub fn contains(&mut self, store: &Store<'_>, text: &str) -> Result<(), Fault> {
        let part = fold_name(text);
        self.part = store.part(&part)?;
        self.short.push(("instr(label, {}) > 0".to_owned(), vec![part.into()]));
        Ok(())
    }

    /// Requires a column of instants to lie before a time, or else after it.
    pub fn bound_time(&mut self, kind: &str, column: &str, is_before: bool, at_ms: i64) {
        self.require(kind, column, IndexTerm::bound(column, if is_before { "<" } else { ">" }, at_ms));
    }

    /// Requires a column, which is 1 or else 0 or null, to be a flag.
    pub fn flagged(&mut self, column: &str, flag: bool) {
        self.scanned.push((format!("COALESCE({column}, 0) = {{}}"), vec![i64::from(flag).into()]));
    }

    /// Requires the parent to be one of some documents; without any, no document matches.
    pub fn within_parents(&mut self, mut ids: Vec<String>) {
        if ids.is_empty() {
            // No document belongs to one without an id.
            ids.push(String::new());
        }
        self.terms.push(IndexTerm::of("parent", &ids));
    }
}
