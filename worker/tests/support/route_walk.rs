//! Generates requests for all routes: bodies that match their tables, with one place at a time replaced.

use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, FieldType};
use scrip_worker::routes::AREAS;
use serde_json::{Value as Json, json};

/// Returns a value that fits a kind.
pub fn fitting(kind: &FieldType) -> Json {
    match kind {
        FieldType::Text | FieldType::Name(_) | FieldType::Any => json!("thing"),
        FieldType::Int(least, _) | FieldType::Number(least, _) => json!((*least).max(1)),
        FieldType::Bool => json!(true),
        FieldType::Date => json!("2026-01-01"),
        FieldType::DateTime => json!("2026-01-01T00:00:00Z"),
        FieldType::Duration => json!("P1D"),
        FieldType::Clock => json!("10:00"),
        FieldType::HttpsUrl => json!("https://img.example/a.png"),
        FieldType::OneOf(words) => json!(words[0]),
        FieldType::Object(fields) => Json::Object(
            fields
                .iter()
                .filter(|field| field.required)
                .map(|field| (field.name.to_owned(), fitting(&field.kind)))
                .collect(),
        ),
        FieldType::Map | FieldType::MapOf(_) | FieldType::Open(..) => json!({}),
        FieldType::Named(shape) => fitting(&shape.kind),
        FieldType::Either(kinds) => fitting(&kinds[0]),
        FieldType::List(item, least, _) => Json::Array(vec![fitting(item); *least]),
    }
}

/// Returns a whole object with one value replaced, at any depth.
pub fn variants(fields: &[Field], value: &Json, into: &mut Vec<Json>, wrap: &dyn Fn(Json) -> Json) {
    let whole = fitting(&FieldType::Object(fields_of(fields)));
    for field in fields {
        let with = |inner: Json| {
            let mut object = whole.clone();
            object[field.name] = inner;
            wrap(object)
        };
        into.push(with(value.clone()));
        match field.kind.resolved() {
            FieldType::Object(inner) => variants(inner, value, into, &with),
            FieldType::List(item, _, _) if !item.fields().is_empty() => {
                variants(item.fields(), value, into, &|item| with(json!([item])));
            }
            FieldType::List(_, _, _) => into.push(with(json!([value]))),
            FieldType::MapOf(_) => into.push(with(json!({ "a": value }))),
            _ => {}
        }
    }
}

/// Returns fields that live as long as the program, because they come from constants.
fn fields_of(fields: &[Field]) -> &'static [Field] {
    Box::leak(fields.to_vec().into_boxed_slice())
}

/// Returns credentials that the route accepts.
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

/// Returns the path of the route with a name in place of each parameter.
pub fn path_of(route: &Route, name: &str) -> String {
    let known = |part: &str| match part {
        "{projectId}" => "proj_dev".to_owned(),
        "{root}" => "0".repeat(64),
        "{bucket}" => "0".to_owned(),
        part if part.starts_with('{') => name.to_owned(),
        part => part.to_owned(),
    };
    route.path.split('/').map(known).collect::<Vec<_>>().join("/")
}

/// Returns every route that requires a caller.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    AREAS
        .iter()
        .flat_map(|area| area.iter())
        .filter(|route| !route.path.starts_with("/test-hooks/") && !route.classes.is_empty())
}
