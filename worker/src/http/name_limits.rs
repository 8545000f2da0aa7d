//! Limits on the values that a request names in its path, query and form, and the check that flags are `true` or `false`.

use crate::http::query::{Query, read_bool};
use crate::http::reply::{ErrorBody, error, invalid_payload, invalid_query};
use crate::http::request::Request;
use crate::http::shape::{Field, FieldType, too_long};
use crate::http::table::MatchedRoute;
use scrip::text::{LONGEST_NAME, LONGEST_TEXT};
use scrip::wire::problem::shortened;

/// Refuses values in the path, the query or a form that exceed the length of names, unless the route takes a text.
pub fn check_names(request: &Request, matched: &MatchedRoute, query: &Query) -> Result<(), ErrorBody> {
    check_params(matched)?;
    check_pairs(matched.route.query, query).map_err(invalid_query)?;
    if matched.route.form {
        let form = Query::read(&String::from_utf8_lossy(&request.body));
        check_pairs(matched.route.body, &form).map_err(invalid_payload)?;
    }
    Ok(())
}

/// Refuses values in the path that exceed the length of names.
pub fn check_params(matched: &MatchedRoute) -> Result<(), ErrorBody> {
    for (name, value) in &matched.params {
        if let Some(details) = too_long(value, LONGEST_NAME) {
            return Err(error(
                400,
                "invalid_path_params",
                "Invalid path params",
                format!("Parameter .{name} {details}"),
            ));
        }
    }
    Ok(())
}

fn check_pairs(fields: &[Field], query: &Query) -> Result<(), String> {
    for (name, value) in query.pairs() {
        let field = fields.iter().find(|field| name.first().is_some_and(|first| first == field.name));
        let most = if matches!(field, Some(Field { kind: FieldType::Text, .. })) { LONGEST_TEXT } else { LONGEST_NAME };
        let name = name.join(".");
        if let Some(details) = too_long(&name, LONGEST_NAME) {
            return Err(format!("The name of a parameter {details}"));
        }
        if let Some(details) = too_long(value, most) {
            return Err(format!("Property .{name} {details}"));
        }
        if matches!(field, Some(Field { kind: FieldType::Bool, .. })) && read_bool(value).is_none() {
            return Err(format!("Property .{name} must be true or false (actual value is `{}`)", shortened(value)));
        }
    }
    Ok(())
}
