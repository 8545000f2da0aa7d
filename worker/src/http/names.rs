//! Whether what a request names in its path, its query and its form is within bounds, and what is true or false says so.
//! It must not know what any operation wants to read.

use crate::http::query::{Query, read_bool};
use crate::http::reply::{ErrorBody, error, invalid_payload, invalid_query};
use crate::http::request::Request;
use crate::http::shape::{Field, Kind, too_long};
use crate::http::table::Matched;
use scrip::text::{LONGEST_NAME, LONGEST_TEXT};
use scrip::wire::problem::shortened;

/// Refuses what is longer than any name in the path, the query or a form, where the route does not ask for a whole text.
pub fn check_names(request: &Request, matched: &Matched, query: &Query) -> Result<(), ErrorBody> {
    check_params(matched)?;
    check_pairs(matched.route.query, query).map_err(invalid_query)?;
    if matched.route.form {
        let form = Query::read(&String::from_utf8_lossy(&request.body));
        check_pairs(matched.route.body, &form).map_err(invalid_payload)?;
    }
    Ok(())
}

/// Refuses what is longer than any name in the path.
pub fn check_params(matched: &Matched) -> Result<(), ErrorBody> {
    for (name, value) in &matched.params {
        if let Some(told) = too_long(value, LONGEST_NAME) {
            return Err(error(400, "invalid_path_params", "Invalid path params", format!("Parameter .{name} {told}")));
        }
    }
    Ok(())
}

fn check_pairs(fields: &[Field], query: &Query) -> Result<(), String> {
    for (name, value) in query.pairs() {
        let field = fields.iter().find(|field| name.first().is_some_and(|first| first == field.name));
        let most = if matches!(field, Some(Field { kind: Kind::Text, .. })) { LONGEST_TEXT } else { LONGEST_NAME };
        let name = name.join(".");
        if let Some(told) = too_long(&name, LONGEST_NAME) {
            return Err(format!("The name of a parameter {told}"));
        }
        if let Some(told) = too_long(value, most) {
            return Err(format!("Property .{name} {told}"));
        }
        if matches!(field, Some(Field { kind: Kind::Bool, .. })) && read_bool(value).is_none() {
            return Err(format!("Property .{name} must be true or false (actual value is `{}`)", shortened(value)));
        }
    }
    Ok(())
}
