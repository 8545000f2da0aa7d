//! The selection of a clause and the filters of a query: the index to use, the check that it need not read too many documents,
//! and the total.
//!
//! The index is chosen here and named in the statement, because the database has no statistics of values. Costs in rows saturate: beyond
//! the type is beyond every limit.

use super::clause::{Clause, Statement};
use super::index::{self, Index};
use super::index_choice::{ListIndexes, find_narrow_index};
use super::list_conditions::ListConditions;
use super::sort_order::{NEWEST, SortOrder, direction};
use super::term::IndexTerm;
use crate::store::Store;
use crate::store::document::{COLUMNS, Document};
use crate::store::document_columns::NUMBERED;
use crate::store::name_trigrams;
use crate::store::sql::{self, Fault, SqlValue};

/// Maximum number of document reads without an index in one list: one for each document and filter without an index, and one
/// for an order without an index. Natively about 60 ms.
const SCANNED_ROWS_MAX: i64 = 40_000;

/// Maximum number of reads of a short column: each takes a sixth of the time.
const SHORT_SCANNED_ROWS_MAX: i64 = 240_000;

/// Maximum size in bytes of the documents that are read.
const SCANNED_BYTES_MAX: i64 = 40_000_000;

/// Bounds of a list that reads too many documents.
#[derive(Debug)]
pub struct ScanBound {
    /// Number of conditions that read every document.
    pub scans: i64,
    /// Number of reads that a list may need.
    pub scanned_rows_max: i64,
    /// Documents that it may read for this number of conditions.
    pub documents_max: i64,
    /// Bytes of documents that it may read.
    pub bytes_max: i64,
}

/// Reason why a selection is not made.
#[derive(Debug)]
pub enum SelectionError {
    /// The store failed.
    Fault(Fault),
    /// It would read too many documents.
    ScanTooLarge(ScanBound),
}

impl From<Fault> for SelectionError {
    fn from(fault: Fault) -> SelectionError {
        SelectionError::Fault(fault)
    }
}

/// A selection of documents.
pub struct Selection {
    clause: Clause,
    order: String,
    /// Index that it reads; `None` leaves the choice to the database.
    by: Option<&'static str>,
    /// True if it is read through the index of parts of names: these documents are few, so all other conditions are checked in them.
    by_part: bool,
    /// True if few records are found by what they belong to, and sorted.
    pub(super) sorts: bool,
    /// Number of documents, if it is stored.
    stored_count: Option<i64>,
}

impl Selection {
    /// Chooses the index for the requested documents within a clause, in an order of the list or, without one, of the caller.
    /// Refuses a selection that would read too many documents.
    pub fn of(
        store: &Store<'_>,
        mut clause: Clause,
        filters: ListConditions,
        order: Option<SortOrder>,
    ) -> Result<Selection, SelectionError> {
        if let Some(part) = &filters.part {
            clause.and(name_trigrams::FOUND, part.as_str());
            clause = clause.named();
        }
        let Some(kind) = clause.kind.clone() else {
            return Selection::of_narrow(store, clause, filters, order);
        };
        let mut indexes = ListIndexes::find(store, &kind, &filters.terms, order.unwrap_or(NEWEST))?;
        match Selection::of_kind(store, clause.clone(), filters.clone(), order, &mut indexes) {
            Err(SelectionError::ScanTooLarge(_)) if indexes.make_missing(store)? => {
                Selection::of_kind(store, clause, filters, order, &mut indexes)
            }
            chosen => chosen,
        }
    }

    /// Selects documents of one kind, by an index of its lists.
    fn of_kind(
        store: &Store<'_>,
        clause: Clause,
        filters: ListConditions,
        order: Option<SortOrder>,
        indexes: &mut ListIndexes,
    ) -> Result<Selection, SelectionError> {
        let by = indexes.choose(store, &clause, &filters.terms)?;
        let plan = indexes.plan(store, by, &filters.terms)?;
        if by.is_none() && clause.made != (None, None) {
            // Documents of a time are counted by their age.
            indexes.plan_by_age(store)?;
        }
        let stored_count = match &clause.kind {
            Some(kind) => find_stored_count(store, kind, &clause, &filters)?,
            None => None,
        };
        let (by_name, text) = (plan.by.filter(|_| order.is_some()), order.unwrap_or(NEWEST).text(plan.by));
        let mut selection = Selection { by: by_name, by_part: false, sorts: false, order: text, clause, stored_count };
        if by_name == Some(index::KEY) {
            selection.clause.and_group("AND", vec![("key IS NOT NULL".to_owned(), Vec::new())]);
        }
        selection.sort_if_narrow(by.is_some() && !plan.is_sorted);
        selection.narrow(store, by, filters, true, plan.is_sorted)?;
        Ok(selection)
    }

    /// Selects documents that a condition of the clause names, or what they belong to, or a part of their names.
    fn of_narrow(
        store: &Store<'_>,
        clause: Clause,
        filters: ListConditions,
        order: Option<SortOrder>,
    ) -> Result<Selection, SelectionError> {
        let by_part = filters.part.is_some();
        let (is_sorted, text) = (order.unwrap_or(NEWEST).is_by_age(), order.unwrap_or(NEWEST).text(None));
        let mut selection = Selection { by: None, by_part, sorts: false, order: text, clause, stored_count: None };
        if !by_part {
            selection.by = find_narrow_index(store, &selection.clause, &filters.terms)?;
        }
        selection.sort_if_narrow(selection.by.is_some());
        if !selection.sorts && !selection.clause.is_named && !filters.terms.is_empty() {
            selection.order.insert(0, '+');
        }
        selection.narrow(store, None, filters, false, is_sorted)?;
        Ok(selection)
    }

    /// Has the database read by a condition that names few documents, and sort them.
    fn sort_if_narrow(&mut self, is_narrow: bool) {
        // A view of records has no index by name: sorted, it reads by the condition that names few.
        self.sorts = is_narrow && self.clause.source() != "document";
        if self.sorts || self.clause.is_named {
            // Named documents are found by name: the index of the order would read all documents.
            self.order.insert(0, '+');
        }
    }

    /// Adds the conditions to the clause, first those that the index answers.
    fn narrow(
        &mut self,
        store: &Store<'_>,
        by: Option<&Index>,
        filters: ListConditions,
        is_kind: bool,
        is_sorted: bool,
    ) -> Result<(), SelectionError> {
        let (answered, rest) = filters
            .terms
            .into_iter()
            .partition::<Vec<_>, _>(|term| !is_kind || by.is_some_and(|by| by.column == term.column));
        let statements = |terms: Vec<IndexTerm>| terms.into_iter().map(|term| term.statement).collect::<Vec<_>>();
        self.clause.and_group("AND", statements(answered));
        let scanned: Vec<Statement> = statements(rest).into_iter().chain(filters.scanned).collect();
        // Conditions are few.
        let conditions = scanned.len().saturating_add(filters.any.len()).saturating_add(usize::from(!is_sorted));
        self.check_scan(store, by, conditions, filters.short.len())?;
        self.clause.and_group("AND", filters.short);
        self.clause.and_group("AND", scanned);
        self.clause.and_group("OR", filters.any);
        Ok(())
    }

    /// Refuses a list before it reads more documents than allowed: those that the index leaves, for each condition that
    /// it does not answer.
    fn check_scan(
        &self,
        store: &Store<'_>,
        by: Option<&Index>,
        conditions: usize,
        short: usize,
    ) -> Result<(), SelectionError> {
        // Conditions are few.
        let scans = i64::try_from(conditions.saturating_add(short)).unwrap_or(i64::MAX);
        let is_short = conditions == 0;
        let scanned_rows_max = if is_short { SHORT_SCANNED_ROWS_MAX } else { SCANNED_ROWS_MAX };
        let Some(most) = scanned_rows_max.checked_div(scans) else { return Ok(()) };
        let (text, params) = self.clause.parts();
        let statement = format!(
            "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM (SELECT octet_length(body) AS size FROM {} WHERE {text} LIMIT {})",
            self.table(by.map(|by| by.name)),
            // A limit of rows.
            most.saturating_add(1)
        );
        let row = store.row(&statement, params)?.unwrap_or_default();
        // Beyond the type is beyond every limit.
        let (count, bytes) = (sql::int(&row, 0)?, sql::int(&row, 1)?.saturating_mul(scans));
        if count <= most && (is_short || bytes <= SCANNED_BYTES_MAX) {
            return Ok(());
        }
        Err(SelectionError::ScanTooLarge(ScanBound {
            scans,
            scanned_rows_max,
            documents_max: most,
            bytes_max: SCANNED_BYTES_MAX,
        }))
    }

    fn table(&self, by: Option<&str>) -> String {
        if self.by_part { "document NOT INDEXED".to_owned() } else { self.clause.table(by) }
    }

    /// Lists the documents of a page.
    pub fn list_page(&self, store: &Store<'_>, limit: i64, offset: i64) -> Result<Vec<Document>, Fault> {
        let (statement, params) =
            self.statement(NUMBERED, &format!("ORDER BY {} LIMIT {limit} OFFSET {offset}", self.order));
        store.documents(&statement, params)
    }

    /// Lists a number of documents in the order in which they were stored, or in the reverse order.
    pub fn list_stored(&self, store: &Store<'_>, limit: i64, falls: bool) -> Result<Vec<Document>, Fault> {
        let (statement, params) = self.statement(NUMBERED, &format!("ORDER BY seq {} LIMIT {limit}", direction(falls)));
        store.documents(&statement, params)
    }

    /// Lists a number of documents, the newest first.
    pub fn list_newest(&self, store: &Store<'_>, limit: i64) -> Result<Vec<Document>, Fault> {
        let tail = format!("ORDER BY {}created_at DESC, seq DESC LIMIT {limit}", if self.sorts { "+" } else { "" });
        let (statement, params) = self.statement(NUMBERED, &tail);
        store.documents(&statement, params)
    }

    /// Returns the statement for columns of the documents, with a tail.
    pub(super) fn statement(&self, columns: &str, tail: &str) -> (String, &[SqlValue]) {
        let (text, params) = self.clause.parts();
        (format!("SELECT {columns} FROM {} WHERE {text} {tail}", self.table(self.by)), params)
    }

    /// Adds a further condition; the total stays unchanged.
    pub(super) fn and_group(&mut self, junction: &str, conditions: Vec<Statement>) {
        self.clause.and_group(junction, conditions);
    }

    /// Returns the number of documents.
    pub fn count(&self, store: &Store<'_>) -> Result<i64, Fault> {
        if let Some(stored_count) = self.stored_count {
            return Ok(stored_count);
        }
        let (statement, params) = self.statement("COUNT(*)", "");
        store.row(&statement, params)?.map_or(Ok(0), |row| sql::int(&row, 0))
    }
}

/// Lists all documents of a clause, the newest first.
pub fn list_all(store: &Store<'_>, clause: &Clause) -> Result<Vec<Document>, Fault> {
    let (text, params) = clause.parts();
    let table = clause.table(clause.narrow.first().map(|(index, _)| *index));
    let statement = format!("SELECT {COLUMNS} FROM {table} WHERE {text} ORDER BY created_at DESC, seq DESC");
    store.documents(&statement, params)
}

/// Returns the number of requested documents of a kind, if it is stored.
fn find_stored_count(
    store: &Store<'_>,
    kind: &str,
    clause: &Clause,
    filters: &ListConditions,
) -> Result<Option<i64>, Fault> {
    if !(filters.scanned.is_empty() && filters.short.is_empty() && filters.any.is_empty()) {
        return Ok(None);
    }
    match (filters.terms.as_slice(), clause.made) {
        ([], (None, None)) => store.document_count(kind),
        ([], (from, until)) => {
            let before = match until {
                Some(until) => store.document_count_before(kind, until)?,
                None => store.document_count(kind)?,
            };
            let earlier = match from {
                Some(from) => store.document_count_before(kind, from)?,
                None => Some(0),
            };
            // An estimate of rows.
            Ok(before.zip(earlier).map(|(before, earlier)| before.saturating_sub(earlier).max(0)))
        }
        ([IndexTerm { column, value: Some(value), .. }], (None, None)) => store.document_count_of(kind, column, value),
        _ => Ok(None),
    }
}
