//! Lists: limit, page, order and filters of a query, as one statement over the document table, and the envelope.
//! It must not know what a document says beyond the columns that a list names.

use crate::document::clause::Clause;
use crate::document::filter::{Term, conditions, read_moment};
use crate::document::index;
use crate::document::selection::{NEWEST, Order, Selection, Wanted};
use crate::http::listing::{Filter, List};
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::marks::{label, mark};
use crate::store::sql::Fault;
use serde_json::{Map, Value as Json};

/// What a list shows when the query does not say.
pub const LIMIT_DEFAULT: i64 = 10;
/// How many elements a page has at most.
pub const LIMIT_MAX: i64 = 100;

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
    pub fn select(&self, store: &Store<'_>, query: &Query, clause: Clause) -> Result<Page, CallError> {
        let (limit, offset) = self.span(query)?;
        let order = self.order(query)?;
        let selection = self.selection(store, query, clause, Some(order))?;
        let (statement, params) = selection.page(limit, offset);
        Ok(Page { documents: store.documents(&statement, params)?, total: selection.total(store)? })
    }

    /// Selects the page that a query asks for of those within a clause that pass a test which the database does not know.
    pub fn select_where(
        &self,
        store: &Store<'_>,
        query: &Query,
        clause: Clause,
        test: &dyn Fn(&Document) -> Result<bool, Fault>,
    ) -> Result<Page, CallError> {
        /// Documents that are in memory at once.
        const CHUNK: i64 = 500;
        let (limit, offset) = self.span(query)?;
        let order = self.order(query)?;
        let selection = self.selection(store, query, clause, Some(order))?;
        let mut page = Page { documents: Vec::new(), total: 0 };
        let mut seen: i64 = 0;
        loop {
            let (statement, params) = selection.page(CHUNK, seen);
            let chunk = store.documents(&statement, params)?;
            let is_last = i64::try_from(chunk.len()).unwrap_or(CHUNK) < CHUNK;
            for document in chunk {
                if !test(&document)? {
                    continue;
                }
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
        clause: Clause,
        tail: &str,
    ) -> Result<Vec<Document>, CallError> {
        let selection = self.selection(store, query, clause, None)?;
        let (statement, params) = selection.documents(tail);
        Ok(store.documents(&statement, params)?)
    }

    /// How many documents a clause selects that a query narrows.
    pub fn count(&self, store: &Store<'_>, query: &Query, clause: Clause) -> Result<i64, CallError> {
        Ok(self.selection(store, query, clause, Some(NEWEST))?.total(store)?)
    }

    /// What the parameters and the deep filters of a query select within a clause.
    pub(super) fn selection(
        &self,
        store: &Store<'_>,
        query: &Query,
        mut clause: Clause,
        order: Option<Order>,
    ) -> Result<Selection, CallError> {
        let mut wanted = Wanted::default();
        let conditions = conditions(self.conditions, query, &clause)?;
        for filter in self.filters {
            apply(filter, store, query, (&mut clause, &mut wanted))?;
        }
        for (is_from, at) in conditions.made {
            if is_from { clause.made_from(at) } else { clause.made_before(at) }
        }
        wanted.terms.extend(conditions.terms);
        for (kind, names) in conditions.parents {
            let known = store.documents_by_names(&kind, &names.iter().map(String::as_str).collect::<Vec<_>>(), &[])?;
            let mut ids: Vec<String> = known.into_iter().map(|known| known.id).collect();
            if ids.is_empty() {
                // No document belongs to one without an id.
                ids.push(String::new());
            }
            wanted.terms.push(Term::of("parent", &ids));
        }
        match conditions.junction {
            "OR" => wanted.any = conditions.looked,
            _ => wanted.looked.extend(conditions.looked),
        }
        Selection::of(store, clause, wanted, order)
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

    fn order(&self, query: &Query) -> Result<Order, ErrorBody> {
        let Some(text) = query.get("order") else { return Ok(NEWEST) };
        let (name, falls) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        let orders = if self.orders.is_empty() { BY_AGE } else { self.orders };
        let column = orders.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
        column.map(|column| Order { column, falls }).ok_or_else(|| {
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

/// Adds what a filter of a query asks for to what is wanted, or to the clause where it is about the age.
fn apply(
    filter: &Filter,
    store: &Store<'_>,
    query: &Query,
    (clause, wanted): (&mut Clause, &mut Wanted),
) -> Result<(), CallError> {
    let kind = clause.whole.clone().unwrap_or_default();
    match filter {
        Filter::Is(name, column) => {
            if let Some(value) = query.get(name) {
                wanted.equal(&kind, column, value);
            }
        }
        Filter::Mark(name, column) => {
            if let Some(value) = query.get(name) {
                wanted.equal(&kind, column, &mark(name, value));
            }
        }
        Filter::Part(name) => {
            if let Some(value) = query.get(name) {
                let part = label(value);
                wanted.part = store.part(&part)?;
                wanted.short.push(("instr(label, {}) > 0".to_owned(), vec![part.into()]));
            }
        }
        Filter::Moment(name, column) => {
            check_sides(query, name)?;
            for (side, sign) in [("before", "<"), ("after", ">")] {
                match (read_moment(query, &[name, side])?, *column, side) {
                    (None, ..) => {}
                    (Some(at), "created_at", "before") => clause.made_before(at),
                    (Some(at), "created_at", _) => clause.made_from(at.saturating_add(1)),
                    (Some(at), column, _) if index::by_value(&kind, column).is_some() => {
                        wanted.terms.push(Term::bound(column, sign, at));
                    }
                    (Some(at), column, _) => wanted.looked.push((format!("{column} {sign} {{}}"), vec![at.into()])),
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
                wanted.equal(&kind, column, value);
            }
        }
        Filter::Flag(name, column) => {
            let flag = match query.get(name) {
                None => return Ok(()),
                Some("true") => 1_i64,
                Some("false") => 0,
                Some(value) => {
                    let told = format!("Property .{name} must be a boolean (actual value is `{value}`)");
                    return Err(invalid_query(told).into());
                }
            };
            wanted.looked.push((format!("COALESCE({column}, 0) = {{}}"), vec![flag.into()]));
        }
        Filter::Name(name, column, named) => {
            if let Some(value) = query.get(name) {
                let found = store.document_by_name(named, value, value)?;
                wanted.equal(&kind, column, &found.map_or_else(|| value.to_owned(), |found| found.id));
            }
        }
    }
    Ok(())
}

/// Refuses what says nothing of a moment: it is asked about by `name[before]` and `name[after]`.
fn check_sides(query: &Query, name: &str) -> Result<(), ErrorBody> {
    let other = query.below(name).find(|(path, _)| !matches!(path, [side] if side == "before" || side == "after"));
    let told = match (query.get(name), other) {
        (Some(text), _) => format!("must be an object with before or after (actual value is `{text}`)"),
        (None, Some((path, _))) => format!("must be an object with before or after (it has `{}`)", path.join(".")),
        (None, None) => return Ok(()),
    };
    Err(invalid_query(format!("Property .{name} {told}")))
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
