//! What a clause and the filters of a query select together: through which index, whether too much would have to be looked at, and how
//! many there are. It must not know how a list names its filters.
//!
//! The way is chosen here and named in the statement, because the database knows nothing of how often a value occurs.

use crate::document::clause::{Clause, Statement};
use crate::document::filter::Term;
use crate::document::index::{self, Index};
use crate::http::reply::{CallError, error};
use crate::store::Store;
use crate::store::parts;
use crate::store::sql::{self, Fault, Value};

/// Looks at documents that no index answers, at most, in one list: a document for every filter that no index has, and for an order that
/// it does not have either. Natively it is some 60 ms of work.
const LOOKS_MAX: i64 = 40_000;

/// Looks at a short column, at most: each takes a sixth of the time.
const SHORT_LOOKS_MAX: i64 = 240_000;

/// Bytes of the documents that are looked at, at most.
const LOOKED_BYTES_MAX: i64 = 40_000_000;

/// The columns that lists show documents by.
const SHOWN: &str = "id, key, parent, holder, created_at, updated_at, body";

/// What the filters of a query ask for.
#[derive(Debug, Default)]
pub struct Wanted {
    /// What an index may answer.
    pub terms: Vec<Term>,
    /// What takes a look at every document.
    pub looked: Vec<Statement>,
    /// What takes a look at a short column of every document.
    pub short: Vec<Statement>,
    /// What the index of parts of names is asked for.
    pub part: Option<String>,
    /// What takes a look at every document, of which any one may hold.
    pub any: Vec<Statement>,
}

impl Wanted {
    /// Wants a column to be a value.
    pub fn equal(&mut self, kind: &str, column: &str, value: &str) {
        let term = Term::of(column, &[value.to_owned()]);
        match index::by_value(kind, column) {
            Some(_) => self.terms.push(term),
            None => self.looked.push(term.statement),
        }
    }
}

/// In which order.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// The column.
    pub column: &'static str,
    /// Whether it falls.
    pub falls: bool,
}

/// The newest first, as a list is ordered that is asked for no order.
pub const NEWEST: Order = Order { column: "created_at", falls: true };

impl Order {
    fn is_by_age(self) -> bool {
        self.column == NEWEST.column
    }

    /// As a statement says it that reads by an index: what is equal stands by age.
    fn text(self, by: Option<&str>) -> String {
        let direction = if self.falls { "DESC" } else { "ASC" };
        let age = format!("created_at {direction}, seq {direction}");
        match (by, self.column) {
            (_, "created_at") => age,
            // No two have the same.
            (Some(index::KEY), "key") => format!("key {direction}"),
            (_, column) => format!("{column} {direction}, {age}"),
        }
    }
}

/// What is selected.
pub struct Selection {
    clause: Clause,
    order: String,
    /// The index that it is read by; the database's choice, where none is named.
    by: Option<&'static str>,
    /// Whether it is read by the places of what has a part in its name: these are few, so that everything else is looked at in them.
    by_part: bool,
    /// How many there are, where that is kept.
    kept: Option<i64>,
}

impl Selection {
    /// Chooses the way to what is wanted within a clause, in an order of the list's or, where none is told, in one of the caller's; what
    /// would take too many looks is refused before it is done.
    pub fn of(
        store: &Store<'_>,
        mut clause: Clause,
        wanted: Wanted,
        order: Option<Order>,
    ) -> Result<Selection, CallError> {
        let by_part = wanted.part.is_some();
        if let Some(part) = &wanted.part {
            clause.and(parts::FOUND, part.as_str());
            clause = clause.named();
        }
        let kind = clause.whole.clone();
        let by = match &kind {
            Some(kind) => chosen(store, kind, &clause, &wanted.terms)?,
            None => None,
        };
        let kept = match &kind {
            Some(kind) => kept(store, kind, &clause, &wanted)?,
            None => None,
        };
        let way = Way::of(kind.as_deref(), by, &wanted.terms, order.unwrap_or(NEWEST));
        let (by_name, text) = (way.by.filter(|_| order.is_some()), order.unwrap_or(NEWEST).text(way.by));
        let mut selection = Selection { by: by_name, by_part, order: text, clause, kept };
        if by_name == Some(index::KEY) {
            selection.clause.and_group("AND", vec![("key IS NOT NULL".to_owned(), Vec::new())]);
        }
        if selection.clause.is_named || (kind.is_none() && !wanted.terms.is_empty()) {
            // What is named is found by its name: an index that has the order would go through everything.
            selection.order.insert(0, '+');
        }
        selection.narrow(store, by, wanted, (kind.is_some(), way.is_sorted))?;
        Ok(selection)
    }

    /// Narrows the clause by what is wanted: first by what the index has.
    fn narrow(
        &mut self,
        store: &Store<'_>,
        by: Option<&Index>,
        wanted: Wanted,
        (is_whole, is_sorted): (bool, bool),
    ) -> Result<(), CallError> {
        let (answered, rest): (Vec<Term>, Vec<Term>) =
            wanted.terms.into_iter().partition(|term| !is_whole || by.is_some_and(|by| by.column == term.column));
        let statements = |terms: Vec<Term>| terms.into_iter().map(|term| term.statement).collect::<Vec<_>>();
        self.clause.and_group("AND", statements(answered));
        let looked: Vec<Statement> = statements(rest).into_iter().chain(wanted.looked).collect();
        let conditions = looked.len().saturating_add(wanted.any.len()).saturating_add(usize::from(!is_sorted));
        self.check_looks(store, by, (conditions, wanted.short.len()))?;
        self.clause.and_group("AND", wanted.short);
        self.clause.and_group("AND", looked);
        self.clause.and_group("OR", wanted.any);
        Ok(())
    }

    /// Refuses to look through more documents than a list may, before it does: what the index leaves of them, for each condition
    /// that it does not answer.
    fn check_looks(
        &self,
        store: &Store<'_>,
        by: Option<&Index>,
        (conditions, short): (usize, usize),
    ) -> Result<(), CallError> {
        let looks = i64::try_from(conditions.saturating_add(short)).unwrap_or(i64::MAX);
        let is_short = conditions == 0;
        let looks_max = if is_short { SHORT_LOOKS_MAX } else { LOOKS_MAX };
        let Some(most) = looks_max.checked_div(looks) else { return Ok(()) };
        let (text, params) = self.clause.parts();
        let statement = format!(
            "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM (SELECT octet_length(body) AS size FROM {} WHERE {text} LIMIT {})",
            self.table(by.map(|by| by.name)),
            most.saturating_add(1)
        );
        let row = store.row(&statement, params)?.unwrap_or_default();
        let (count, bytes) = (sql::int(&row, 0)?, sql::int(&row, 1)?.saturating_mul(looks));
        if count <= most && (is_short || bytes <= LOOKED_BYTES_MAX) {
            return Ok(());
        }
        let told = format!(
            "Property .filters and .order need a look at every document for `{looks}` conditions, and a list must NOT need more than \
             {looks_max} looks or {LOOKED_BYTES_MAX} bytes: it has more than {most} documents, or too large ones. Narrow it by what is \
             indexed (created_at, campaign_id, customer), or ask for fewer filters"
        );
        Err(error(400, "request_too_complex", "Request takes too much work", told).into())
    }

    fn table(&self, by: Option<&str>) -> String {
        if self.by_part { "document NOT INDEXED".to_owned() } else { table(by) }
    }

    /// The documents of a page.
    pub fn page(&self, limit: i64, offset: i64) -> (String, &[Value]) {
        self.statement(SHOWN, &format!("ORDER BY {} LIMIT {limit} OFFSET {offset}", self.order))
    }

    /// Documents, or other columns of them, with a tail of the caller's.
    pub fn statement(&self, columns: &str, tail: &str) -> (String, &[Value]) {
        let (text, params) = self.clause.parts();
        (format!("SELECT {columns} FROM {} WHERE {text} {tail}", self.table(self.by)), params)
    }

    /// The documents, with a tail of the caller's.
    pub fn documents(&self, tail: &str) -> (String, &[Value]) {
        self.statement(SHOWN, tail)
    }

    /// Narrows it further: how many there are stays what it was.
    pub fn and_group(&mut self, junction: &str, conditions: Vec<Statement>) {
        self.clause.and_group(junction, conditions);
    }

    /// How many there are.
    pub fn total(&self, store: &Store<'_>) -> Result<i64, Fault> {
        if let Some(kept) = self.kept {
            return Ok(kept);
        }
        let (statement, params) = self.statement("COUNT(*)", "");
        store.row(&statement, params)?.map_or(Ok(0), |row| sql::int(&row, 0))
    }
}

fn table(by: Option<&str>) -> String {
    by.map_or_else(|| "document".to_owned(), |name| format!("document INDEXED BY {name}"))
}

/// The index that documents are read by, and whether they come in the order that is asked for.
struct Way {
    by: Option<&'static str>,
    is_sorted: bool,
}

impl Way {
    fn of(kind: Option<&str>, by: Option<&'static Index>, terms: &[Term], order: Order) -> Way {
        let Some(kind) = kind else {
            return Way { by: None, is_sorted: order.is_by_age() };
        };
        match by {
            Some(by) => {
                let is_one = terms.iter().filter(|term| term.column == by.column).all(|term| term.value.is_some());
                let is_sorted = by.is_by_age && (order.column == by.column || (order.is_by_age() && is_one));
                Way { by: Some(by.name), is_sorted }
            }
            None if order.is_by_age() => Way { by: Some(index::CREATED), is_sorted: true },
            None => {
                let by = index::in_order(kind, order.column);
                Way { by: Some(by.map_or(index::CREATED, |by| by.name)), is_sorted: by.is_some() }
            }
        }
    }
}

/// The index that leaves the fewest documents of a kind, of those that the terms have.
fn chosen(store: &Store<'_>, kind: &str, clause: &Clause, terms: &[Term]) -> Result<Option<&'static Index>, Fault> {
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
        let statement =
            format!("SELECT COUNT(*) FROM (SELECT 1 FROM {} WHERE {text} LIMIT {LOOKS_MAX})", table(Some(by.name)));
        let count = store.row(&statement, params)?.map_or(Ok(0), |row| sql::int(&row, 0))?;
        if least.is_none_or(|(least, _)| count < least) {
            least = Some((count, by));
        }
    }
    Ok(least.map(|(_, by)| by))
}

/// How many documents of a kind are wanted, where that is kept.
fn kept(store: &Store<'_>, kind: &str, clause: &Clause, wanted: &Wanted) -> Result<Option<i64>, Fault> {
    if !(wanted.looked.is_empty() && wanted.short.is_empty() && wanted.any.is_empty()) {
        return Ok(None);
    }
    match (wanted.terms.as_slice(), clause.made) {
        ([], (None, None)) => store.tally(kind),
        ([], (from, until)) => {
            let before = match until {
                Some(until) => store.tally_before(kind, until)?,
                None => store.tally(kind)?,
            };
            let earlier = match from {
                Some(from) => store.tally_before(kind, from)?,
                None => Some(0),
            };
            Ok(before.zip(earlier).map(|(before, earlier)| before.saturating_sub(earlier).max(0)))
        }
        ([Term { column, value: Some(value), .. }], (None, None)) => store.tally_of(kind, column, value),
        _ => Ok(None),
    }
}
