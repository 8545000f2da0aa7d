//! Choice of the index that a list reads. It is named in the statement, because the database has no statistics of values.

use super::clause::Clause;
use super::index::{self, Index};
use super::made_indexes::{MadeIndexes, UNINDEXED_MAX};
use super::sort_order::{NEWEST, SortOrder};
use super::term::IndexTerm;
use crate::store::Store;
use crate::store::sql::{self, Fault};

/// Maximum number of documents that are counted for the choice.
const COUNTED_MAX: i64 = 40_000;

/// Maximum number of documents that are sorted, when a condition names them or what they belong to. More are read in the order of the list.
const SORTED_ROWS_MAX: i64 = 2_000;

/// The indexes that can answer the conditions and the order of a list of one kind.
#[derive(Debug)]
pub struct ListIndexes {
    kind: String,
    order: SortOrder,
    by_value: Vec<&'static Index>,
    in_order: Option<&'static Index>,
    made: MadeIndexes,
}

/// Index to read, and true if it gives the requested order.
pub struct IndexPlan {
    /// Name of the index.
    pub by: Option<&'static str>,
    /// True if no document is sorted.
    pub is_sorted: bool,
}

impl ListIndexes {
    /// Finds the indexes for the conditions and the order of a list.
    pub fn find(store: &Store<'_>, kind: &str, terms: &[IndexTerm], order: SortOrder) -> Result<ListIndexes, Fault> {
        let mut by_value: Vec<&'static Index> = Vec::new();
        for by in terms.iter().filter_map(|term| index::by_value(kind, &term.column)) {
            if by_value.iter().all(|other| other.name != by.name) {
                by_value.push(by);
            }
        }
        let in_order = index::in_order(kind, order.column);
        let by_age = index::in_order(kind, index::AGE);
        let asked: Vec<&'static Index> = by_value.iter().copied().chain(in_order).chain(by_age).collect();
        let made = MadeIndexes::find(store, &asked)?;
        Ok(ListIndexes { kind: kind.to_owned(), order, by_value, in_order, made })
    }

    /// Makes the indexes that do not exist yet and that the list would read by: that of the order only if no condition has one. Returns false
    /// if there are none.
    pub fn make_missing(&mut self, store: &Store<'_>) -> Result<bool, Fault> {
        let in_order = self.in_order.filter(|_| self.by_value.is_empty());
        let mut has_made = false;
        for index in self.by_value.iter().copied().chain(in_order) {
            if !self.made.has(index) {
                self.made.make(store, index)?;
                has_made = true;
            }
        }
        Ok(has_made)
    }

    /// Returns the index of the conditions that leaves the fewest documents. Where all leave many, those that do not exist yet are made.
    pub fn choose(
        &mut self,
        store: &Store<'_>,
        clause: &Clause,
        terms: &[IndexTerm],
    ) -> Result<Option<&'static Index>, Fault> {
        let (ready, missing): (Vec<_>, Vec<_>) = self.by_value.iter().partition(|index| self.made.has(index));
        if missing.is_empty() && ready.len() < 2 {
            return Ok(ready.first().copied());
        }
        // An index that was counted by is used, also where another one is better.
        ready.iter().try_for_each(|index| self.made.note_use(store, index))?;
        let least = find_least(store, clause, terms, &ready)?;
        if missing.is_empty() || least.is_some_and(|(count, _)| count <= UNINDEXED_MAX) || !self.has_many(store)? {
            return Ok(least.map(|(_, by)| by));
        }
        for index in missing {
            self.made.make(store, index)?;
        }
        Ok(find_least(store, clause, terms, &self.by_value)?.map(|(_, by)| by))
    }

    fn has_many(&self, store: &Store<'_>) -> Result<bool, Fault> {
        Ok(store.document_count(&self.kind)?.is_none_or(|count| count > UNINDEXED_MAX))
    }

    /// Returns the index to read where `by` answers the conditions: that of the order, if none does.
    pub fn plan(
        &mut self,
        store: &Store<'_>,
        by: Option<&'static Index>,
        terms: &[IndexTerm],
    ) -> Result<IndexPlan, Fault> {
        if let Some(by) = by {
            self.made.note_use(store, by)?;
            let is_one = terms.iter().filter(|term| term.column == by.column).all(|term| term.value.is_some());
            let is_sorted = by.is_by_age && (self.order.column == by.column || (self.order.is_by_age() && is_one));
            return Ok(IndexPlan { by: Some(by.name), is_sorted });
        }
        match self.in_order {
            Some(in_order) => self.plan_in(store, in_order),
            // The documents are counted by their age, or read in that order and sorted.
            None => {
                let by_age = self.plan_by_age(store)?;
                Ok(IndexPlan { is_sorted: by_age.is_sorted && self.order.is_by_age(), ..by_age })
            }
        }
    }

    /// Returns the index by age.
    pub fn plan_by_age(&mut self, store: &Store<'_>) -> Result<IndexPlan, Fault> {
        match index::in_order(&self.kind, index::AGE) {
            Some(by_age) => self.plan_in(store, by_age),
            None => Ok(IndexPlan { by: Some(index::CREATED), is_sorted: true }),
        }
    }

    /// Returns an index that gives an order. Few documents are sorted instead.
    fn plan_in(&mut self, store: &Store<'_>, in_order: &'static Index) -> Result<IndexPlan, Fault> {
        if !self.made.has(in_order) {
            if !self.has_many(store)? {
                return Ok(IndexPlan { by: Some(index::CREATED), is_sorted: false });
            }
            self.made.make(store, in_order)?;
        }
        self.made.note_use(store, in_order)?;
        Ok(IndexPlan { by: Some(in_order.name), is_sorted: true })
    }
}

/// Makes the index by age of a kind that has its own table, where it has many documents: for readers that go on from an age.
pub fn make_for_age(store: &Store<'_>, kind: &str) -> Result<(), Fault> {
    ListIndexes::find(store, kind, &[], NEWEST)?.plan_by_age(store).map(drop)
}

/// Returns the index that leaves the fewest documents, with their number.
fn find_least(
    store: &Store<'_>,
    clause: &Clause,
    terms: &[IndexTerm],
    indexes: &[&'static Index],
) -> Result<Option<(i64, &'static Index)>, Fault> {
    let mut least: Option<(i64, &'static Index)> = None;
    for by in indexes.iter().copied() {
        let mut clause = clause.clone();
        let of_column = terms.iter().filter(|term| term.column == by.column);
        clause.and_group("AND", of_column.map(|term| term.statement.clone()).collect());
        let (text, params) = clause.parts();
        let statement = format!(
            "SELECT COUNT(*) FROM (SELECT 1 FROM {} WHERE {text} LIMIT {COUNTED_MAX})",
            clause.table(Some(by.name))
        );
        let count = store.row(&statement, params)?.map_or(Ok(0), |row| sql::int(&row, 0))?;
        if least.is_none_or(|(least, _)| count < least) {
            least = Some((count, by));
        }
    }
    Ok(least)
}

/// Returns the index of the condition of a clause, or of these terms, that leaves the fewest documents, if these are few. Otherwise the
/// database chooses: the order of the list finds a page sooner.
pub(super) fn find_narrow_index(
    store: &Store<'_>,
    clause: &Clause,
    terms: &[IndexTerm],
) -> Result<Option<&'static str>, Fault> {
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
            format!("SELECT COUNT(*) FROM (SELECT 1 FROM {} WHERE {text} LIMIT {most})", clause.table(Some(index)));
        let count = store.row(&statement, params)?.map_or(Ok(0), |row| sql::int(&row, 0))?;
        if count < most {
            (most, least) = (count, Some(index));
        }
    }
    Ok(least)
}
