//! The deep filters of a query, `filters[field][conditions][$op][n]=value` and `filters[junction]`, as conditions of a clause.
//! The list names the fields with their columns.
//!
//! `crate::store::document_list::filter` describes the columns and their prefixes.
//! `filters[field]=value` means `$is`.

use crate::documents::condition::{self, not_an_instant};
use crate::http::query::Query;
use crate::http::reply::{ErrorBody, invalid_query};
use crate::store::document_list::clause::Clause;
use crate::store::document_list::filter::Conditions;
use crate::timestamp;

/// Maximum number of conditions in one query: a statement may have 100 parameters.
const CONDITIONS_MAX: usize = 40;

/// Reads the deep filters of a query, within a clause.
pub fn conditions(columns: &[(&str, &str)], query: &Query, clause: &Clause) -> Result<Conditions, ErrorBody> {
    let (conditions, junction) = condition::read(query)?;
    if conditions.len() > CONDITIONS_MAX {
        return Err(invalid_query(format!("Property .filters must NOT have more than {CONDITIONS_MAX} conditions")));
    }
    let mut found = Conditions { junction, ..Conditions::default() };
    for condition in conditions {
        let column =
            columns.iter().find(|(name, _)| *name == condition.field).map(|(_, column)| *column).ok_or_else(|| {
                let known: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
                let known = if known.is_empty() { "none here".to_owned() } else { known.join(", ") };
                invalid_query(format!(
                    "Property .filters.{} is not a filter of this list (known are {known})",
                    condition.field
                ))
            })?;
        found.add(condition, column, clause).map_err(|wrong| condition::refusal(&wrong))?;
    }
    Ok(found)
}

/// Reads a time of the query.
pub fn read_instant(query: &Query, path: &[&str]) -> Result<Option<i64>, ErrorBody> {
    let Some(text) = query.get_path(path) else { return Ok(None) };
    timestamp::parse(text).map(Some).ok_or_else(|| not_an_instant(&path.join(".")))
}
