//! The selection of a clause and the filters of a query: the index to use, the check that it need not read too many documents,
//! and the total.
//!
//! The index is chosen here and named in the statement, because the database has no statistics of values. Costs in rows saturate: beyond
//! the type is beyond every limit.

use super::clause::{Clause, Statement};
use super::index::{self, Index};
use super::term::IndexTerm;
use crate::store::Store;
use crate::store::document::{COLUMNS, Document};
use crate::store::document_columns::NUMBERED;
use crate::store::index::blind_index::{digest, fold_name};
use crate::store::name_trigrams;
use crate::store::sql::{self, Fault, SqlValue};

/// Maximum number of document reads without an index in one list: one for each document and filter without an index, and one
/// for an order without an index. Natively about 60 ms.
const SCANNED_ROWS_MAX: i64 = 40_000;

/// Maximum number of reads of a short column: each takes a sixth of the time.
const SHORT_SCANNED_ROWS_MAX: i64 = 240_000;

/// Maximum number of documents that are sorted, when a condition names them or what they belong to. More are read in the order of the list.
const SORTED_ROWS_MAX: i64 = 2_000;

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

/// Conditions of the filters of a query.
#[derive(Debug, Default)]
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

/// Order of a list.
#[derive(Debug, Clone, Copy)]
pub struct SortOrder {
    /// The column.
    pub column: &'static str,
    /// True if it is descending.
    pub falls: bool,
}

/// Newest first: the order of a list without a requested order.
pub const NEWEST: SortOrder = SortOrder { column: "created_at", falls: true };

impl SortOrder {
    fn is_by_age(self) -> bool {
        self.column == NEWEST.column
    }

    /// Returns the order for a statement that reads by an index, in which equal documents are ordered by age.
    fn text(self, by: Option<&str>) -> String {
        let direction = direction(self.falls);
        let age = format!("created_at {direction}, seq {direction}");
        match (by, self.column) {
            (_, "created_at") => age,
            // Keys are unique.
            (Some(index::KEY), "key") => format!("key {direction}"),
            (_, column) => format!("{column} {direction}, {age}"),
        }
    }
}

/// Returns the SQL keyword of a direction.
pub(super) fn direction(falls: bool) -> &'static str {
    if falls { "DESC" } else { "ASC" }
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
        let by_part = filters.part.is_some();
        if let Some(part) = &filters.part {
            clause.and(name_trigrams::FOUND, part.as_str());
            clause = clause.named();
        }
        let kind = clause.kind.clone();
        let by = match &kind {
            Some(kind) => choose_index(store, kind, &clause, &filters.terms)?,
            None => None,
        };
        let stored_count = match &kind {
            Some(kind) => find_stored_count(store, kind, &clause, &filters)?,
            None => None,
        };
        let plan = IndexPlan::of(kind.as_deref(), by, &filters.terms, order.unwrap_or(NEWEST));
        let (by_name, text) = (plan.by.filter(|_| order.is_some()), order.unwrap_or(NEWEST).text(plan.by));
        let mut selection = Selection { by: by_name, by_part, sorts: false, order: text, clause, stored_count };
        if by_name == Some(index::KEY) {
            selection.clause.and_group("AND", vec![("key IS NOT NULL".to_owned(), Vec::new())]);
        }
        if kind.is_none() && !by_part {
            selection.by = find_narrow_index(store, &selection.clause, &filters.terms)?;
        }
        // A view of records has no index by name: sorted, it reads by the condition that names few.
        let is_narrow = if kind.is_some() { by.is_some() && !plan.is_sorted } else { selection.by.is_some() };
        selection.sorts = is_narrow && selection.clause.source() != "document";
        if selection.sorts || selection.clause.is_named || (kind.is_none() && !filters.terms.is_empty()) {
            // Named documents are found by name: the index of the order would read all documents.
            selection.order.insert(0, '+');
        }
        selection.narrow(store, by, filters, kind.is_some(), plan.is_sorted)?;
        Ok(selection)
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
        if self.by_part { "document NOT INDEXED".to_owned() } else { table(&self.clause, by) }
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
    let table = table(clause, clause.narrow.first().map(|(index, _)| *index));
    let statement = format!("SELECT {COLUMNS} FROM {table} WHERE {text} ORDER BY created_at DESC, seq DESC");
    store.documents(&statement, params)
}

/// Returns the index of the condition of a clause, or of these terms, that leaves the fewest documents, if these are few. Otherwise the
/// database chooses: the order of the list finds a page sooner.
fn find_narrow_index(store: &Store<'_>, clause: &Clause, terms: &[IndexTerm]) -> Result<Option<&'static str>, Fault> {
    let mut conditions = clause.narrow.clone();
    for term in terms.iter().filter(|term| term.value.is_some()) {
        let index = match term.column.as_str() {
            "parent" => clause.parent_index(),
            "holder" => "document_holder",
            "id" => "document_id",
            "key" => "document_key",
            _ => continue,
        };
        conditions.push((index, term.statement.clone()));
    }
    // A limit of rows.
    let mut most = SORTED_ROWS_MAX.saturating_add(1);
    let mut least = None;
    for (index, condition) in conditions {
        let clause = clause.with_only(condition);
        let (text, params) = clause.parts();
        let statement =
            format!("SELECT COUNT(*) FROM (SELECT 1 FROM {} WHERE {text} LIMIT {most})", table(&clause, Some(index)));
        let count = store.row(&statement, params)?.map_or(Ok(0), |row| sql::int(&row, 0))?;
        if count < most {
            (most, least) = (count, Some(index));
        }
    }
    Ok(least)
}

/// Returns what is read: a view of records has no index by name.
fn table(clause: &Clause, by: Option<&str>) -> String {
    match (clause.source(), by) {
        ("document", None) => "document".to_owned(),
        ("document", Some(name)) => format!("document INDEXED BY {name}"),
        (source, _) => format!("{source} AS document"),
    }
}

/// Index to read, and true if it gives the requested order.
struct IndexPlan {
    by: Option<&'static str>,
    is_sorted: bool,
}

impl IndexPlan {
    fn of(kind: Option<&str>, by: Option<&'static Index>, terms: &[IndexTerm], order: SortOrder) -> IndexPlan {
        let Some(kind) = kind else {
            return IndexPlan { by: None, is_sorted: order.is_by_age() };
        };
        match by {
            Some(by) => {
                let is_one = terms.iter().filter(|term| term.column == by.column).all(|term| term.value.is_some());
                let is_sorted = by.is_by_age && (order.column == by.column || (order.is_by_age() && is_one));
                IndexPlan { by: Some(by.name), is_sorted }
            }
            None if order.is_by_age() => IndexPlan { by: Some(index::CREATED), is_sorted: true },
            None => {
                let by = index::in_order(kind, order.column);
                IndexPlan { by: Some(by.map_or(index::CREATED, |by| by.name)), is_sorted: by.is_some() }
            }
        }
    }
}

/// Returns the index of the terms that leaves the fewest documents of a kind.
fn choose_index(
    store: &Store<'_>,
    kind: &str,
    clause: &Clause,
    terms: &[IndexTerm],
) -> Result<Option<&'static Index>, Fault> {
    let mut known: Vec<&'static Index> = Vec::new();
    for by in terms.iter().filter_map(|term| index::by_value(kind, &term.column)) {
        if known.iter().all(|other| other.name != by.name) {
            known.push(by);
        }
    }
    if known.len() < 2 {
        return Ok(known.pop());
    }
    let mut least: Option<(i64, &'static Index)> = None;
    for by in known {
        let mut clause = clause.clone();
        let of_column = terms.iter().filter(|term| term.column == by.column);
        clause.and_group("AND", of_column.map(|term| term.statement.clone()).collect());
        let (text, params) = clause.parts();
        let statement = format!(
            "SELECT COUNT(*) FROM (SELECT 1 FROM {} WHERE {text} LIMIT {SCANNED_ROWS_MAX})",
            table(&clause, Some(by.name))
        );
        let count = store.row(&statement, params)?.map_or(Ok(0), |row| sql::int(&row, 0))?;
        if least.is_none_or(|(least, _)| count < least) {
            least = Some((count, by));
        }
    }
    Ok(least.map(|(_, by)| by))
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
