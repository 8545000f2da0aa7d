//! Lists: limit, page, order and filters of a query, and the envelope. Places in a list saturate: beyond the type a page is empty.

use crate::documents::filter::{conditions, read_instant};
use crate::http::list_options::{List, ListFilter};
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, error, invalid_query};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::list_conditions::ListConditions;
use crate::store::document_list::selection::{self, ScanBound, Selection, SelectionError};
use crate::store::document_list::sort_order::{NEWEST, SortOrder};
use crate::store::sql::Fault;
use crate::timestamp;
use serde_json::{Map, Value as Json};

/// Default number of elements of a page.
pub const LIMIT_DEFAULT: i64 = 10;
/// Maximum number of elements of a page.
pub const LIMIT_MAX: i64 = 100;

/// Orders of a list that publishes none.
const BY_AGE: &[(&str, &str)] = &[("created_at", "created_at")];

/// Page of documents with the total number.
pub struct ListPage {
    /// Documents of the page.
    pub documents: Vec<Document>,
    /// Number of documents that the clause selects.
    pub total: i64,
}

/// Reads a whole number of the query within bounds.
pub fn read_int(query: &Query, name: &str, least: i64, most: i64) -> Result<Option<i64>, ErrorBody> {
    let Some(text) = query.parameter(name) else { return Ok(None) };
    let message =
        |expected: String| invalid_query(format!("Property .{name} must be {expected} (actual value is `{text}`)"));
    let number: i64 = text.trim().parse().map_err(|_| message("an integer".into()))?;
    if number < least {
        return Err(message(format!(">= {least}")));
    }
    if number > most {
        return Err(message(format!("<= {most}")));
    }
    Ok(Some(number))
}

impl List {
    /// Selects the requested page of the documents of a clause.
    pub fn select(&self, store: &Store<'_>, query: &Query, clause: Clause) -> Result<ListPage, CallError> {
        let (limit, offset) = self.span(query)?;
        let order = self.order(query)?;
        let selection = self.selection(store, query, clause, Some(order))?;
        Ok(ListPage { documents: selection.list_page(store, limit, offset)?, total: selection.count(store)? })
    }

    /// Selects the requested page of the documents of a clause that pass a test outside of the database.
    pub fn select_where(
        &self,
        store: &Store<'_>,
        query: &Query,
        clause: Clause,
        test: &dyn Fn(&Document) -> Result<bool, Fault>,
    ) -> Result<ListPage, CallError> {
        /// Maximum number of documents in memory at once.
        const CHUNK: i64 = 500;
        let (limit, offset) = self.span(query)?;
        let order = self.order(query)?;
        let selection = self.selection(store, query, clause, Some(order))?;
        let mut page = ListPage { documents: Vec::new(), total: 0 };
        let mut scanned: i64 = 0;
        loop {
            let chunk = selection.list_page(store, CHUNK, scanned)?;
            let is_last = i64::try_from(chunk.len()).unwrap_or(CHUNK) < CHUNK;
            for document in chunk {
                if !test(&document)? {
                    continue;
                }
                // Beyond the type a page is empty.
                if page.total >= offset && page.total < offset.saturating_add(limit) {
                    page.documents.push(document);
                }
                // Documents are counted one by one.
                page.total = page.total.saturating_add(1);
            }
            if is_last {
                return Ok(page);
            }
            // Beyond the type no document follows.
            scanned = scanned.saturating_add(CHUNK);
        }
    }

    /// Selects the documents of a query within a clause, for a list in an order of the caller.
    pub fn select_filtered(&self, store: &Store<'_>, query: &Query, clause: Clause) -> Result<Selection, CallError> {
        self.selection(store, query, clause, None)
    }

    /// Counts the documents that a clause and a query select.
    pub fn count(&self, store: &Store<'_>, query: &Query, clause: Clause) -> Result<i64, CallError> {
        Ok(self.selection(store, query, clause, Some(NEWEST))?.count(store)?)
    }

    /// Returns the selection of the parameters and the deep filters of a query within a clause.
    pub(super) fn selection(
        &self,
        store: &Store<'_>,
        query: &Query,
        mut clause: Clause,
        order: Option<SortOrder>,
    ) -> Result<Selection, CallError> {
        let mut filters = ListConditions::default();
        let conditions = conditions(self.conditions, query, &clause)?;
        for filter in self.filters {
            apply(filter, store, query, &mut clause, &mut filters)?;
        }
        for (is_from, at) in conditions.made {
            if is_from { clause.made_from(at) } else { clause.made_before(at) }
        }
        filters.terms.extend(conditions.terms);
        for (kind, names) in conditions.parents {
            let known = store.documents_by_names(&kind, &names.iter().map(String::as_str).collect::<Vec<_>>(), &[])?;
            filters.within_parents(known.into_iter().map(|known| known.id).collect());
        }
        match conditions.junction {
            "OR" => filters.any = conditions.scanned,
            _ => filters.scanned.extend(conditions.scanned),
        }
        Selection::of(store, clause, filters, order).map_err(|failure| match failure {
            SelectionError::Fault(fault) => fault.into(),
            SelectionError::ScanTooLarge(bound) => scan_too_large(&bound).into(),
        })
    }

    /// Returns the limit and the offset of a query.
    fn span(&self, query: &Query) -> Result<(i64, i64), ErrorBody> {
        let limit = read_int(query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
        let page = read_int(query, "page", 1, self.page_max)?.unwrap_or(1);
        // Beyond the type a page is empty.
        Ok((limit, page.saturating_sub(1).saturating_mul(limit)))
    }

    /// Selects everything within a clause, the newest first: for lists without pages.
    pub fn select_all(&self, store: &Store<'_>, clause: Clause) -> Result<Vec<Document>, CallError> {
        Ok(selection::list_all(store, &clause)?)
    }

    fn order(&self, query: &Query) -> Result<SortOrder, ErrorBody> {
        let Some(text) = query.parameter("order") else { return Ok(NEWEST) };
        let (name, falls) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        let orders = if self.orders.is_empty() { BY_AGE } else { self.orders };
        let column = orders.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        column.map(|column| SortOrder { column, falls }).ok_or_else(|| {
            let known: Vec<String> = orders.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
            invalid_query(format!("Property .order must be one of {} (actual value is `{text}`)", known.join(", ")))
        })
    }

    /// Returns the envelope around the documents of a page.
    pub fn envelope(&self, items: Vec<Json>, total: i64) -> Map<String, Json> {
        let mut envelope = Map::new();
        envelope.insert("object".into(), "list".into());
        envelope.insert("data_ref".into(), self.data_ref.into());
        envelope.insert(self.data_ref.into(), Json::Array(items));
        envelope.insert("total".into(), total.into());
        envelope
    }
}

/// Adds a filter of a query to the conditions, or to the clause if it concerns the age.
fn apply(
    filter: &ListFilter,
    store: &Store<'_>,
    query: &Query,
    clause: &mut Clause,
    filters: &mut ListConditions,
) -> Result<(), CallError> {
    let kind = clause.kind().unwrap_or_default().to_owned();
    match filter {
        ListFilter::Is(name, column) => {
            if let Some(value) = query.parameter(name) {
                filters.equal(&kind, column, value);
            }
        }
        ListFilter::Digest(name, column) => {
            if let Some(value) = query.parameter(name) {
                filters.digest_equal(&kind, column, name, value);
            }
        }
        ListFilter::Part(name) => {
            if let Some(value) = query.parameter(name) {
                filters.contains(store, value)?;
            }
        }
        ListFilter::Instant(name, column) => {
            check_sides(query, name)?;
            for side in ["before", "after"] {
                let is_before = side == "before";
                match (read_instant(query, &[name, side])?, *column) {
                    (None, _) => {}
                    (Some(at), "created_at") if is_before => clause.made_before(at),
                    (Some(at), "created_at") => clause.made_from(timestamp::later(at, 1)),
                    (Some(at), column) => filters.bound_time(&kind, column, is_before, at),
                }
            }
        }
        ListFilter::OneOf(name, column, values) => {
            if let Some(value) = query.parameter(name) {
                if !values.contains(&value) {
                    let message =
                        format!("Property .{name} must be one of {} (actual value is `{value}`)", values.join(", "));
                    return Err(invalid_query(message).into());
                }
                filters.equal(&kind, column, value);
            }
        }
        ListFilter::Flag(name, column) => {
            let flag = match query.parameter(name) {
                None => return Ok(()),
                Some("true") => true,
                Some("false") => false,
                Some(value) => {
                    let message = format!("Property .{name} must be a boolean (actual value is `{value}`)");
                    return Err(invalid_query(message).into());
                }
            };
            filters.flagged(column, flag);
        }
        ListFilter::Name(name, column, named) => {
            if let Some(value) = query.parameter(name) {
                let found = store.document_by_name(named, value, value)?;
                filters.equal(&kind, column, &found.map_or_else(|| value.to_owned(), |found| found.id));
            }
        }
    }
    Ok(())
}

/// Returns the refusal of a list that would read too many documents.
fn scan_too_large(bound: &ScanBound) -> ErrorBody {
    let ScanBound { scans, scanned_rows_max, documents_max, bytes_max } = bound;
    let message = format!(
        "Property .filters and .order need a look at every document for `{scans}` conditions, and a list must NOT need more than \
         {scanned_rows_max} looks or {bytes_max} bytes: it has more than {documents_max} documents, or too large ones. Narrow it by what is \
         indexed (created_at, campaign_id, customer), or ask for fewer filters"
    );
    error(400, "request_too_complex", "Request takes too much work", message)
}

/// Refuses other conditions on a time than `name[before]` and `name[after]`.
fn check_sides(query: &Query, name: &str) -> Result<(), ErrorBody> {
    let other = query.below(name).find(|(path, _)| !matches!(path, [side] if side == "before" || side == "after"));
    let message = match (query.parameter(name), other) {
        (Some(text), _) => format!("must be an object with before or after (actual value is `{text}`)"),
        (None, Some((path, _))) => format!("must be an object with before or after (it has `{}`)", path.join(".")),
        (None, None) => return Ok(()),
    };
    Err(invalid_query(format!("Property .{name} {message}")))
}

/// Returns the page of a query from a complete list in memory.
pub fn page_of(list: &List, query: &Query, all: Vec<Json>) -> Result<Map<String, Json>, CallError> {
    let limit = read_int(query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let page = read_int(query, "page", 1, list.page_max)?.unwrap_or(1);
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let place = |number: i64| usize::try_from(number).unwrap_or(0);
    // Beyond the type a page is empty.
    let before = place(page.saturating_sub(1)).saturating_mul(place(limit));
    Ok(list.envelope(all.into_iter().skip(before).take(place(limit)).collect(), total))
}
