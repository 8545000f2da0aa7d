//! The routes as a test walks over them: bodies that fit their tables, with one place at a time replaced.

use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, Kind};
use scrip_worker::table::AREAS;
use serde_json::{Value as Json, json};

/// A value that fits a kind.
pub fn fitting(kind: &Kind) -> Json {
    match kind {
        Kind::Text | Kind::Name(_) | Kind::Any => json!("thing"),
        Kind::Int(least, _) | Kind::Number(least, _) => json!((*least).max(1)),
        Kind::Bool => json!(true),
        Kind::Date => json!("2026-01-01"),
        Kind::DateTime => json!("2026-01-01T00:00:00Z"),
        Kind::Duration => json!("P1D"),
        Kind::Clock => json!("10:00"),
        Kind::OneOf(words) => json!(words[0]),
        Kind::Object(fields) => Json::Object(
            fields
                .iter()
                .filter(|field| field.required)
                .map(|field| (field.name.to_owned(), fitting(&field.kind)))
                .collect(),
        ),
        Kind::Map | Kind::MapOf(_) | Kind::Open(..) => json!({}),
        Kind::Named(shape) => fitting(&shape.kind),
        Kind::Either(kinds) => fitting(&kinds[0]),
        Kind::List(item, least, _) => Json::Array(vec![fitting(item); *least]),
    }
}

/// A whole object with one place, at any depth, replaced by a value.
pub fn variants(fields: &[Field], value: &Json, into: &mut Vec<Json>, wrap: &dyn Fn(Json) -> Json) {
    let whole = fitting(&Kind::Object(fields_of(fields)));
    for field in fields {
        let with = |inner: Json| {
            let mut object = whole.clone();
            object[field.name] = inner;
            wrap(object)
        };
        into.push(with(value.clone()));
        match field.kind.meant() {
            Kind::Object(inner) => variants(inner, value, into, &with),
            Kind::List(item, _, _) if !item.fields().is_empty() => {
                variants(item.fields(), value, into, &|item| with(json!([item])));
            }
            Kind::List(_, _, _) => into.push(with(json!([value]))),
            Kind::MapOf(_) => into.push(with(json!({ "a": value }))),
            _ => {}
        }
    }
}

/// The fields live as long as the program: they come from constants.
fn fields_of(fields: &[Field]) -> &'static [Field] {
    Box::leak(fields.to_vec().into_boxed_slice())
}

/// Credentials that the route takes.
pub fn headers(route: &Route) -> Vec<(String, String)> {
    let pairs: &[(&str, &str)] = match route.path.split('/').nth(1) {
        Some("client") => &[
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:1"),
        ],
        Some("management") => &[("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")],
        _ => &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")],
    };
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The path of the route with a name in the place of each parameter.
pub fn path_of(route: &Route, name: &str) -> String {
    let known = |part: &str| match part {
        "{projectId}" => "proj_dev".to_owned(),
        part if part.starts_with('{') => name.to_owned(),
        part => part.to_owned(),
    };
    route.path.split('/').map(known).collect::<Vec<_>>().join("/")
}

/// Every route that asks who calls.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    AREAS
        .iter()
        .flat_map(|area| area.iter())
        .filter(|route| !route.path.starts_with("/rehearsal/") && !route.classes.is_empty())
}
