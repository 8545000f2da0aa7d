//! The description of the interface, generated from the route table. The committed file lies beside the Worker; a test regenerates it.
//! It must not know what an operation does.

pub mod refusals;
pub mod schema;

use crate::access::page::shown::disclosure::Disclosure;
use crate::access::page::shown::told_on;
use crate::http::caller::Class;
use crate::http::intake::Sent;
use crate::http::route::Route;
use crate::http::shape::{Field, Kind};
use crate::openapi::schema::{Schemas, Way};
use serde_json::{Map, Value as Json, json};

/// Every operation of the published surface, one a line, `METHOD /path`.
pub const PUBLISHED: &str = include_str!("surface/published.txt");

/// An operation as lists of operations name it: `GET /v1/campaigns`.
pub fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// Writes the description anew: from the routes and the shapes of what they read and answer, with `examples` of real answers.
pub fn generate(areas: &[&[Route]], examples: &Json) -> Json {
    let mut schemas = Schemas::default();
    let mut paths = Map::new();
    let mut tags = Vec::new();
    let released = |route: &&Route| !route.path.starts_with("/rehearsal/");
    for route in areas.iter().flat_map(|area| area.iter()).filter(released) {
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(route.method.to_lowercase(), operation(route, examples, &mut schemas));
        }
        let tag = json!({ "name": tag(route) });
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let responses = refusals::components(examples.get("refusals"), &mut schemas);
    let schemas = schemas.named_from(&[&Json::from(paths.clone()), &responses]);
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Scrip", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "description": "Promotions, vouchers and gift cards, decided at the edge. Amounts are whole numbers of minor units. What a path does not allow is answered with 405 and the header `Allow`." },
        "tags": tags,
        "paths": paths,
        "components": { "securitySchemes": schemes(), "schemas": schemas, "responses": responses },
    })
}

fn schemes() -> Json {
    let key = |name: &str| json!({ "type": "apiKey", "in": "header", "name": name });
    json!({
        "X-App-Id": key("X-App-Id"), "X-App-Token": key("X-App-Token"),
        "X-Client-Application-Id": key("X-Client-Application-Id"), "X-Client-Token": key("X-Client-Token"),
        "X-Management-Id": key("X-Management-Id"), "X-Management-Token": key("X-Management-Token"),
        "OAuth": { "type": "http", "scheme": "bearer", "description": "A token from POST /v1/oauth/token" },
    })
}

/// What an operation is about, as its path says it.
fn tag(route: &Route) -> &'static str {
    let named =
        |segment: &&str| !matches!(*segment, "" | "v1" | "v2" | "client" | "management" | "projects" | "{projectId}");
    match route.classes {
        [] => "service",
        _ => route.path.split('/').find(named).unwrap_or("service"),
    }
}

fn operation(route: &Route, examples: &Json, schemas: &mut Schemas) -> Json {
    let parameter =
        |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
    let in_path = |segment: &'static str| segment.strip_prefix('{')?.strip_suffix('}');
    let mut parameters: Vec<Json> = route.path.split('/').filter_map(in_path).map(parameter).collect();
    parameters.extend(route.query.iter().map(|field| query_parameter(field, schemas)));
    if route.method == "POST" && route.remembered {
        let told = "The same key with the same body gives the first answer again, with `idempotency-replayed: true`";
        parameters.push(json!({ "name": "Idempotency-Key", "in": "header", "description": told, "schema": { "type": "string", "maxLength": 255 } }));
    }
    if route.is_client_side() {
        let told = "Proves the page's customer: a JSON Web Token with HS256, as POST /v1/customer-tokens makes it. A server's key needs none, and does not look at it";
        parameters.push(json!({ "name": "X-Customer-Token", "in": "header", "description": told, "schema": { "type": "string", "maxLength": 8192 } }));
    }
    let mut operation = json!({
        "tags": [tag(route)], "summary": route.summary, "operationId": operation_id(route), "parameters": parameters,
        "security": security(route),
    });
    let example = |part: &str| examples.get(part).and_then(|of| of.get(name(route))).cloned();
    let mut responses = Map::new();
    let mut told = success(route, example("answers"), schemas);
    if let (Some((media, example)), Some(told)) = (route.file, told.as_object_mut()) {
        let content = told.entry("content").or_insert_with(|| json!({}));
        content[media] = json!({ "schema": { "type": "string" }, "example": example });
    }
    responses.insert(route.success.to_string(), told);
    responses.extend(refusals::of(route));
    if let Some((status, also)) = route.also {
        let schema = schemas.of(&also, Way::Answered);
        responses.insert(status.to_string(), answered(status, also.fields().is_empty(), schema, None));
    }
    if let Some(operation) = operation.as_object_mut() {
        operation.insert("responses".into(), Json::Object(responses));
        if !route.body.is_empty() {
            operation.insert("requestBody".into(), body(route, example("requests"), schemas));
        }
    }
    operation
}

fn body(route: &Route, example: Option<Json>, schemas: &mut Schemas) -> Json {
    let media = match route.sent() {
        Sent::Json => "application/json",
        Sent::Form => "application/x-www-form-urlencoded",
        Sent::File => "multipart/form-data",
    };
    let one = schemas.object(route.body, Way::Sent);
    let schema = if route.many { json!({ "type": "array", "items": one }) } else { one };
    let mut content = json!({ "schema": schema });
    if let (Some(content), Some(example)) = (content.as_object_mut(), example) {
        content.insert("example".into(), example);
    }
    let required = !route.many && route.body.iter().any(|field| field.required);
    json!({ "required": required, "content": { media: content } })
}

/// The schema of what a route answers; a page is told what its disclosure lets through.
fn success(route: &Route, example: Option<Json>, schemas: &mut Schemas) -> Json {
    if route.success == 204 {
        return json!({ "description": "Done" });
    }
    let told = told_on(route);
    let schema = match (route.list, told) {
        (Some((data_ref, beside)), told) => {
            let item = match told {
                Some(Disclosure::These(members)) => {
                    members.iter().find(|(name, _)| *name == data_ref).map(|(_, told)| told)
                }
                _ => told,
            };
            let items = match item {
                Some(told) => schemas.told(&route.answers, told),
                None => schemas.of(&route.answers, Way::Answered),
            };
            envelope((data_ref, !route.by_cursor), items, beside, schemas)
        }
        // A server that calls a page's route is told all.
        (None, Some(told)) if route.classes.contains(&Class::Server) => {
            json!({ "anyOf": [schemas.told(&route.answers, told), schemas.of(&route.answers, Way::Answered)] })
        }
        (None, Some(told)) => schemas.told(&route.answers, told),
        (None, None) => schemas.of(&route.answers, Way::Answered),
    };
    let is_file_alone = route.file.is_some() && route.answers.fields().is_empty();
    answered(route.success, is_file_alone, schema, example)
}

/// The schema of a page of a list, which says in which member it lists unless it goes by cursors.
fn envelope((data_ref, is_named): (&str, bool), items: Json, beside: &[Field], schemas: &mut Schemas) -> Json {
    let mut schema = schemas.object(beside, Way::Answered);
    let own = [
        ("object", json!({ "type": "string", "enum": ["list"], "description": "What it is" })),
        (
            "data_ref",
            json!({ "type": "string", "enum": [data_ref], "description": "The member that holds what is listed" }),
        ),
        (data_ref, json!({ "type": "array", "items": items, "description": "What is listed" })),
    ];
    for (name, property) in own.into_iter().filter(|(name, _)| is_named || *name != "data_ref") {
        if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
            properties.insert(name.into(), property);
        }
        if let Some(required) = schema.get_mut("required").and_then(Json::as_array_mut) {
            required.push(name.into());
        }
    }
    schema
}

/// A response; one that says nothing has no body.
fn answered(status: u16, is_bare: bool, schema: Json, example: Option<Json>) -> Json {
    let told = match status {
        202 => "It is done later",
        304 => "What the caller has already",
        503 => "The service cannot do its work",
        _ => "Done",
    };
    if is_bare {
        return json!({ "description": told });
    }
    let mut content = json!({ "schema": schema });
    if let (Some(content), Some(example)) = (content.as_object_mut(), example) {
        content.insert("example".into(), example);
    }
    json!({ "description": told, "content": { "application/json": content } })
}

/// A description as it is committed: a line for each operation and for each schema.
pub fn written(document: &Json) -> String {
    let mut text = String::new();
    write(document, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Json, depth: usize, text: &mut String) {
    let Some(members) = value.as_object().filter(|members| depth < 3 && !members.is_empty()) else {
        return text.push_str(&value.to_string());
    };
    let mut between = "{\n";
    for (name, value) in members {
        text.push_str(between);
        text.push_str(&" ".repeat(depth.saturating_add(1)));
        text.push_str(&Json::from(name.as_str()).to_string());
        text.push_str(": ");
        write(value, depth.saturating_add(1), text);
        between = ",\n";
    }
    text.push('\n');
    text.push_str(&" ".repeat(depth));
    text.push('}');
}

/// `GET /v1/campaigns/{campaignId}` is `get_v1_campaigns_campaignId`.
fn operation_id(route: &Route) -> String {
    let words: Vec<String> = route
        .path
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    format!("{}_{}", route.method.to_lowercase(), words.join("_"))
}

fn security(route: &Route) -> Json {
    let alternatives = route.classes.iter().map(|class| match class {
        Class::Server => json!({ "X-App-Id": [], "X-App-Token": [] }),
        Class::Client => json!({ "X-Client-Application-Id": [], "X-Client-Token": [] }),
        Class::Management => json!({ "X-Management-Id": [], "X-Management-Token": [] }),
        Class::OAuth => json!({ "OAuth": [route.scope] }),
        // The token of a link is a parameter of the query; nothing else is needed beside it.
        // Nor is anything beside the address of an image.
        Class::Link | Class::Image => json!({}),
    });
    Json::Array(alternatives.collect())
}

fn query_parameter(field: &Field, schemas: &mut Schemas) -> Json {
    let mut parameter = json!({
        "name": field.name, "in": "query", "required": field.required, "description": field.meaning(),
        "schema": schemas.of(&field.kind, Way::Answered),
    });
    if matches!(field.kind.meant(), Kind::Object(_) | Kind::Map)
        && let Some(parameter) = parameter.as_object_mut()
    {
        parameter.insert("style".into(), "deepObject".into());
        parameter.insert("explode".into(), true.into());
    }
    parameter
}
