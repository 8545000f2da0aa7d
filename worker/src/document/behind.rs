//! Where a list by age goes on: behind a moment, `starting_after`, or behind one of its documents, `starting_after_id`. A moment alone passes
//! over everything that was made in it, of which a page may have shown a part; an id passes over nothing. It must not know what is listed.

use crate::document::clause::Clause;
use crate::document::fields::KEY;
use crate::document::filter::read_moment;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::http::shape::{Field, Kind, may};
use crate::store::Store;
use crate::store::sql;
use serde_json::Value as Json;

/// The parameter that names a moment.
pub const MOMENT: Field = may("starting_after", Kind::DateTime).says(
    "Goes on behind this moment, in order of created_at: what was made in it is passed over, so that only starting_after_id reaches all of \
     what was made at once",
);
/// The parameter that names a document; the moment says nothing beside it.
pub const ID: Field = may("starting_after_id", KEY).says("Goes on behind the one with this id, in order of created_at");

/// Narrows a list of some kinds to what stands behind the place that a query names.
pub fn narrow(store: &Store<'_>, query: &Query, kinds: &[&str], clause: &mut Clause) -> Result<(), CallError> {
    let (id, moment) = (query.get("starting_after_id"), read_moment(query, &["starting_after"])?);
    if id.is_none() && moment.is_none() {
        return Ok(());
    }
    let falls = is_falling(query, &["created_at"])?;
    if let Some(id) = id {
        let row = store.row(
            "SELECT created_at, seq FROM document WHERE id = +?1 AND kind IN (SELECT value FROM json_each(?2))",
            &[id.into(), Json::from(kinds.to_vec()).to_string().into()],
        )?;
        let row = row.ok_or_else(|| {
            let told = format!("must be the id of a {} (actual value is `{id}`)", kinds.join(" or "));
            invalid_query(format!("Property .starting_after_id {told}"))
        })?;
        let place = vec![sql::int(&row, 0)?.into(), sql::int(&row, 1)?.into()];
        let sign = if falls { "<" } else { ">" };
        clause.and_group("AND", vec![(format!("(created_at, seq) {sign} ({{}}, {{}})"), place)]);
    } else if let Some(at) = moment {
        if falls { clause.made_before(at) } else { clause.made_from(at.saturating_add(1)) }
    }
    Ok(())
}

/// Whether a list goes downwards that goes on behind a moment: of any other order than these, a moment says nothing.
pub fn is_falling(query: &Query, orders: &[&str]) -> Result<bool, ErrorBody> {
    let Some(text) = query.get("order") else { return Ok(true) };
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
