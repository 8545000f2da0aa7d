//! Lists: limit, page, order and filters of a query, as one statement over the document table, and the envelope.
//! It must not know what a document says beyond the columns that a list names.

use crate::document::clause::Clause;
use crate::document::filter::{conditions, read_moment};
use crate::http::listing::{Filter, List};
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::store::document::Document;
use crate::store::{Store, sql};
use serde_json::{Map, Value as Json};

/// What a list shows when the query does not say.
pub const LIMIT_DEFAULT: i64 = 10;
/// How many elements a page has at most.
pub const LIMIT_MAX: i64 = 100;

/// The columns that an index answers for.
const INDEXED: &[&str] = &["id", "key", "parent", "holder", "created_at"];

/// What a list can be ordered by that publishes no order of its own.
const BY_AGE: &[(&str, &str)] = &[("created_at", "created_at")];

/// A page of documents, and how many there are in all.
pub struct Page {
    /// The documents of this page.
    pub documents: Vec<Document>,
    /// How many the clause selects.
    pub total: i64,
}

/// Reads a whole number of the query within bounds.
pub fn read_int(query: &Query, name: &str, least: i64, most: i64) -> Result<Option<i64>, ErrorBody> {
    let Some(text) = query.get(name) else { return Ok(None) };
    let told = |wanted: String| invalid_query(format!("Property .{name} must be {wanted} (actual value is `{text}`)"));
    let number: i64 = text.trim().parse().map_err(|_| told("an integer".into()))?;
    if number < least {
        return Err(told(format!(">= {least}")));
    }
    if number > most {
        return Err(told(format!("<= {most}")));
    }
    Ok(Some(number))
}

impl List {
    /// Selects the page that a query asks for, within a clause.
    pub fn select(&self, store: &Store<'_>, query: &Query, mut clause: Clause) -> Result<Page, CallError> {
        let (limit, offset) = self.span(query)?;
        let mut order = self.order(query)?;
        self.narrow(store, query, &mut clause)?;
        clause.check_looks(store, &order)?;
        if clause.is_named {
            // What is named is found by its name: an index that has the order would go through everything.
            order.insert(0, '+');
        }
        let total = store.row(&format!("SELECT COUNT(*) FROM document WHERE {}", clause.text), &clause.params)?;
        let total = total.map_or(Ok(0), |row| sql::int(&row, 0))?;
        let statement = format!(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE {} ORDER BY {order} LIMIT {limit} OFFSET {offset}",
            clause.text
        );
        Ok(Page { documents: store.documents(&statement, &clause.params)?, total })
    }

    /// Selects the page that a query asks for of those within a clause that pass a test which the database does not know.
    pub fn select_where(
        &self,
        store: &Store<'_>,
        query: &Query,
        mut clause: Clause,
        test: &dyn Fn(&Document) -> bool,
    ) -> Result<Page, CallError> {
        /// Documents that are in memory at once.
        const CHUNK: i64 = 500;
        let (limit, offset) = self.span(query)?;
        let order = self.order(query)?;
        self.narrow(store, query, &mut clause)?;
        let mut page = Page { documents: Vec::new(), total: 0 };
        let mut seen: i64 = 0;
        loop {
            let statement = format!(
                "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE {} ORDER BY {order} LIMIT {CHUNK} OFFSET {seen}",
                clause.text
            );
            let chunk = store.documents(&statement, &clause.params)?;
            let is_last = i64::try_from(chunk.len()).unwrap_or(CHUNK) < CHUNK;
            for document in chunk.into_iter().filter(|document| test(document)) {
                if page.total >= offset && page.total < offset.saturating_add(limit) {
                    page.documents.push(document);
                }
                page.total = page.total.saturating_add(1);
            }
            if is_last {
                return Ok(page);
            }
            seen = seen.saturating_add(CHUNK);
        }
    }

    /// Selects the documents of a clause in an order of the caller's, and so many: for lists that go on from a document.
    pub fn narrowed(
        &self,
        store: &Store<'_>,
        query: &Query,
        mut clause: Clause,
        tail: &str,
    ) -> Result<Vec<Document>, CallError> {
        self.narrow(store, query, &mut clause)?;
        clause.check_looks(store, BY_CREATION)?;
        let statement = format!(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE {} {tail}",
            clause.text
        );
        Ok(store.documents(&statement, &clause.params)?)
    }

    /// How many documents a clause selects that a query narrows.
    pub fn count(&self, store: &Store<'_>, query: &Query, mut clause: Clause) -> Result<i64, CallError> {
        self.narrow(store, query, &mut clause)?;
        clause.check_looks(store, BY_CREATION)?;
        let row = store.row(&format!("SELECT COUNT(*) FROM document WHERE {}", clause.text), &clause.params)?;
        Ok(row.map_or(Ok(0), |row| sql::int(&row, 0))?)
    }

    /// Narrows a clause by the parameters and deep filters of a query.
    pub(super) fn narrow(&self, store: &Store<'_>, query: &Query, clause: &mut Clause) -> Result<(), CallError> {
        let (indexed, looked): (Vec<&Filter>, Vec<&Filter>) =
            self.filters.iter().partition(|filter| filter.is_indexed());
        for filter in indexed {
            apply(filter, store, query, clause)?;
        }
        let conditions = conditions(self.conditions, query, clause)?;
        clause.is_named |= !conditions.indexed.is_empty();
        clause.and_group("AND", conditions.indexed);
        clause.indexed = Some((clause.text.len(), clause.params.len()));
        for filter in looked {
            apply(filter, store, query, clause)?;
        }
        let plain = clause.params.len().saturating_sub(clause.indexed.map_or(0, |(_, params)| params));
        clause.looks = plain.saturating_add(conditions.looked.len());
        clause.and_group(conditions.junction, conditions.looked);
        Ok(())
    }

    /// How many documents a query asks for, and how many it passes over.
    fn span(&self, query: &Query) -> Result<(i64, i64), ErrorBody> {
        let limit = read_int(query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
        let page = read_int(query, "page", 1, self.page_max)?.unwrap_or(1);
        Ok((limit, page.saturating_sub(1).saturating_mul(limit)))
    }

    /// Selects everything within a clause, the newest first: for lists without pages.
    pub fn select_all(&self, store: &Store<'_>, clause: Clause) -> Result<Vec<Document>, CallError> {
        let statement = format!(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE {} ORDER BY created_at DESC, seq DESC",
            clause.text
        );
        Ok(store.documents(&statement, &clause.params)?)
    }

    fn order(&self, query: &Query) -> Result<String, ErrorBody> {
        let Some(text) = query.get("order") else { return Ok(BY_CREATION.into()) };
        let (name, direction) = text.strip_prefix('-').map_or((text, "ASC"), |name| (name, "DESC"));
        let orders = if self.orders.is_empty() { BY_AGE } else { self.orders };
        let column = orders.iter().find(|(known, _)| *known == name).map(|(_, column)| column);
        column.map(|column| format!("{column} {direction}, seq {direction}")).ok_or_else(|| {
            let known: Vec<String> = orders.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
            invalid_query(format!("Property .order must be one of {} (actual value is `{text}`)", known.join(", ")))
        })
    }

    /// The envelope around what is shown.
    pub fn envelope(&self, shown: Vec<Json>, total: i64) -> Map<String, Json> {
        let mut envelope = Map::new();
        envelope.insert("object".into(), "list".into());
        envelope.insert("data_ref".into(), self.data_ref.into());
        envelope.insert(self.data_ref.into(), Json::Array(shown));
        envelope.insert("total".into(), total.into());
        envelope
    }
}

/// The order of a list that is asked for none.
const BY_CREATION: &str = "created_at DESC, seq DESC";

impl Filter {
    /// Whether an index answers it.
    fn is_indexed(&self) -> bool {
        match self {
            Filter::Is(_, column)
            | Filter::Contains(_, column)
            | Filter::Moment(_, column)
            | Filter::Word(_, column, _)
            | Filter::Flag(_, column)
            | Filter::Name(_, column, _) => INDEXED.contains(column),
        }
    }
}

fn apply(filter: &Filter, store: &Store<'_>, query: &Query, clause: &mut Clause) -> Result<(), CallError> {
    match filter {
        Filter::Is(name, column) => {
            if let Some(value) = query.get(name) {
                clause.and(&format!("{column} = {{}}"), value);
            }
        }
        Filter::Contains(name, column) => {
            if let Some(value) = query.get(name) {
                clause.and(&format!("instr(lower({column}), {{}}) > 0"), value.to_lowercase());
            }
        }
        Filter::Moment(name, column) => {
            for (side, sign) in [("before", "<"), ("after", ">")] {
                if let Some(at) = read_moment(query, &[name, side])? {
                    clause.and(&format!("{column} {sign} {{}}"), at);
                }
            }
        }
        Filter::Word(name, column, words) => {
            if let Some(value) = query.get(name) {
                if !words.contains(&value) {
                    let told =
                        format!("Property .{name} must be one of {} (actual value is `{value}`)", words.join(", "));
                    return Err(invalid_query(told).into());
                }
                clause.and(&format!("{column} = {{}}"), value);
            }
        }
        Filter::Flag(name, column) => {
            if let Some(value) = query.get(name) {
                let flag = match value {
                    "true" => 1_i64,
                    "false" => 0,
                    _ => {
                        return Err(invalid_query(format!(
                            "Property .{name} must be a boolean (actual value is `{value}`)"
                        ))
                        .into());
                    }
                };
                clause.and(&format!("COALESCE({column}, 0) = {{}}"), flag);
            }
        }
        Filter::Name(name, column, kind) => {
            if let Some(value) = query.get(name) {
                let named = store.document_by_name(kind, value, value)?;
                clause.and(&format!("{column} = {{}}"), named.map_or_else(|| value.to_owned(), |found| found.id));
            }
        }
    }
    Ok(())
}

/// The page that a query asks for of all that is listed, which is in hand.
pub fn paged(list: &List, query: &Query, all: Vec<Json>) -> Result<Map<String, Json>, CallError> {
    let limit = read_int(query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let page = read_int(query, "page", 1, list.page_max)?.unwrap_or(1);
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let place = |number: i64| usize::try_from(number).unwrap_or(0);
    let before = place(page.saturating_sub(1)).saturating_mul(place(limit));
    Ok(list.envelope(all.into_iter().skip(before).take(place(limit)).collect(), total))
}
