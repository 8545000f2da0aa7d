//! Queries of the `document` table, one module for each context. A query names the members of a body that it compares.

pub mod any_kind;
pub mod campaigns;
pub mod customer_activity;
pub mod customers;
pub mod loyalty_campaigns;
pub mod loyalty_members;
pub mod loyalty_programs;
pub mod orders;
pub mod products;
pub mod promotions;
pub mod publications;
pub mod redemptions;
pub mod segments;
pub mod validation_rules;
pub mod vouchers;

use super::Store;
use super::document::Document;
use super::sql::Fault;

impl Store<'_> {
    /// Finds the first document of a kind.
    pub fn find_first(&self, kind: &str) -> Result<Option<Document>, Fault> {
        Ok(self.select("kind = +?1 ORDER BY seq LIMIT 1", &[kind.into()])?.into_iter().next())
    }

    /// Lists the documents of a kind that belong to another, in the order in which they were written.
    pub fn list_children(&self, kind: &str, parent: &str) -> Result<Vec<Document>, Fault> {
        self.select("kind = +?1 AND parent = +?2 ORDER BY seq", &[kind.into(), parent.into()])
    }

    /// Deletes the documents of a kind that belong to another, when the call commits.
    pub fn delete_children(&mut self, kind: &str, parent: &str) {
        self.write("DELETE FROM document WHERE kind = +?1 AND parent = +?2", vec![kind.into(), parent.into()]);
    }
}
