//! Revisions of data that seldom changes: a trigger draws a new random one with every change of the documents of a subject.

use crate::store::sql::{self, Fault, SqlRow};

/// Columns that select all revisions. A macro, because `concat!` takes only literals.
macro_rules! revisions {
    () => {
        "(SELECT drawn FROM edition WHERE subject = 'bundle'), (SELECT drawn FROM edition WHERE subject = 'programs'),
           (SELECT drawn FROM edition WHERE subject = 'listeners')"
    };
}

/// Columns that select all revisions.
pub const REVISIONS: &str = revisions!();

/// Statement that selects all revisions.
pub const SELECT_REVISIONS: &str = concat!("SELECT ", revisions!());

/// Number of these columns.
const SUBJECTS: usize = 3;

/// Subject of a revision.
#[derive(Debug, Clone, Copy)]
pub enum RevisionSubject {
    /// Documents that a bundle shows.
    Bundle = 0,
    /// Documents of loyalty programs.
    Programs = 1,
    /// Webhooks, and earning rules of campaigns.
    Listeners = 2,
}

/// The revisions of all subjects.
#[derive(Debug, Clone)]
pub struct Revisions(pub [String; SUBJECTS]);

impl Revisions {
    /// Reads them from the columns of a row, from a place on.
    pub fn of(row: &SqlRow, from: usize) -> Result<Revisions, Fault> {
        let mut revisions = Revisions(Default::default());
        for (own, column) in revisions.0.iter_mut().zip(from..) {
            sql::text(row, column)?.clone_into(own);
        }
        Ok(revisions)
    }

    /// Returns the revision of some subjects together.
    pub fn together(&self, subjects: &[RevisionSubject]) -> String {
        let names = subjects.iter().filter_map(|subject| self.0.get(*subject as usize));
        names.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}
