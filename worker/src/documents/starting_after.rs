//! Continuation of a list by age: after a time, `starting_after`, or after one of its documents, `starting_after_id`. A time
//! skips all documents created in it, of which a page may have contained only a part; an id skips none.

use crate::documents::common_fields::KEY;
use crate::documents::filter::read_instant;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::http::shape::{Field, FieldType, may};
use crate::store::Store;
use crate::store::document_list::clause::Clause;
use crate::store::documents::any_kind;

/// The parameter that names a time.
pub const TIME: Field = may("starting_after", FieldType::DateTime)
    .description("Moment in UTC after which the page continues, by `created_at`. Objects created at this very moment are skipped; `starting_after_id` skips none.");
/// The parameter that names a document; it has precedence over the time.
pub const ID: Field = may("starting_after_id", KEY)
    .description("ID of an object of the list, after which the page continues, by `created_at`. Takes precedence over `starting_after`.");

/// Limits a list of some kinds to the documents after the position in a query.
pub fn narrow(store: &Store<'_>, query: &Query, kinds: &[&str], clause: &mut Clause) -> Result<(), CallError> {
    let (id, instant) = (query.parameter("starting_after_id"), read_instant(query, &["starting_after"])?);
    if id.is_none() && instant.is_none() {
        return Ok(());
    }
    let falls = is_falling(query, &["created_at"])?;
    if let Some(id) = id {
        let age = any_kind::find_age(store, kinds, id)?.ok_or_else(|| {
            let message = format!("must be the id of a {} (actual value is `{id}`)", kinds.join(" or "));
            invalid_query(format!("Property .starting_after_id {message}"))
        })?;
        clause.continue_after_document(age, falls);
    } else if let Some(at) = instant {
        // Saturates at the end of time.
        if falls { clause.made_before(at) } else { clause.made_from(at.saturating_add(1)) }
    }
    Ok(())
}

/// Returns true if a list that continues after a time is descending. Refuses orders for which a time has no meaning.
pub fn is_falling(query: &Query, orders: &[&str]) -> Result<bool, ErrorBody> {
    let Some(text) = query.parameter("order") else { return Ok(true) };
    let (name, falls) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
    if orders.contains(&name) {
        return Ok(falls);
    }
    let known: Vec<String> = orders.iter().map(|name| format!("{name}, -{name}")).collect();
    Err(invalid_query(format!(
        "Property .order must be one of {} beside .starting_after (actual value is `{text}`)",
        known.join(", ")
    )))
}
