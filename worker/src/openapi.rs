//! The OpenAPI description, generated from the route table. The committed file is next to the Worker; a test regenerates it.

mod callers;
mod parameters;
pub mod refusals;
pub mod schema;
mod tags;

use crate::access::client::response_filter::disclosure::Disclosure;
use crate::access::client::response_filter::disclosure_of;
use crate::http::caller::CredentialClass;
use crate::http::request_checks::MediaKind;
use crate::http::route::Route;
use crate::http::shape::{Field, FieldType};
use crate::openapi::schema::{Direction, SchemaRegistry};
use crate::openapi::tags::TAGS;
use serde_json::{Map, Value as Json, json};

/// Every operation of the published interface, one a line, `METHOD /path`.
pub const PUBLISHED: &str = include_str!("interface/published.txt");

/// Returns the name of an operation in lists: `GET /v1/campaigns`.
pub fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// The description of the whole interface.
const ABOUT: &str = "Scrip issues and redeems vouchers, promotions, gift cards and loyalty points at the edge. \
    Servers call `/v1` and `/v2` with a server key or an OAuth token, clients call `/client/v1` with a public key, and operators call `/management/v1` with a management key. \
    Amounts are whole numbers of minor currency units, and moments are ISO 8601 in UTC. \
    Unknown fields of a request body are ignored, and a field that is sent as `null` counts as absent on creation. \
    Each call is one transaction: all of its changes are stored or none; a job that it starts continues in slices after the response. \
    A refused request changes nothing unless the description of its operation declares a record; the property `key` of the response is the error key. \
    A method that a path does not allow is answered with 405 and the header `Allow`.";

/// Generates the description from the routes and the shapes of requests and responses, with `examples` of real responses.
pub fn generate(areas: &[&[Route]], examples: &Json) -> Json {
    let mut schemas = SchemaRegistry::default();
    let mut paths = Map::new();
    let mut used = Vec::new();
    let released = |route: &&Route| !route.path.starts_with("/test-hooks/");
    for route in areas.iter().flat_map(|area| area.iter()).filter(released) {
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(route.method.to_lowercase(), operation(route, examples, &mut schemas));
        }
        used.push(tags::name(route.path));
    }
    let responses = refusals::components(examples.get("refusals"), &mut schemas);
    let schemas = schemas.named_from(&[&Json::from(paths.clone()), &responses]);
    let tags = TAGS.iter().filter(|tag| used.contains(&tag.name));
    let tags: Vec<Json> = tags.map(|tag| json!({ "name": tag.name, "description": tag.description })).collect();
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Scrip", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "description": ABOUT },
        "tags": tags,
        "paths": paths,
        "components": { "securitySchemes": schemes(), "schemas": schemas, "responses": responses },
    })
}

fn schemes() -> Json {
    let key = |name: &str, description: &str| json!({ "type": "apiKey", "in": "header", "name": name, "description": description });
    json!({
        "X-App-Id": key("X-App-Id", "Public ID of a server key."),
        "X-App-Token": key("X-App-Token", "Secret of the server key. The secret must not leave the merchant's server."),
        "X-Client-Application-Id": key("X-Client-Application-Id", "Public ID of a client key. The header `Origin` must be among the trusted domains of the project."),
        "X-Client-Token": key("X-Client-Token", "Token of the client key. Web pages contain the token, so that it proves no customer."),
        "X-Management-Id": key("X-Management-Id", "Public ID of a management key."),
        "X-Management-Token": key("X-Management-Token", "Secret of the management key. The secret must not leave the operator's server."),
        "OAuth": { "type": "http", "scheme": "bearer", "description": "OAuth token from `POST /v1/oauth/token`, valid for 15 minutes and limited to its scopes. The scopes `api` and `client_api` open all operations of servers and of clients." },
    })
}

/// The text of the header `Idempotency-Key`.
const IDEMPOTENCY_KEY: &str = "Key chosen by the caller, one for each intended effect. \
    A retry with the same key, query and body within 24 hours receives the first response again, with the header `idempotency-replayed: true`. \
    The same key with another query or body is refused with `idempotency_key_reused`. \
    A refusal that changed nothing is not stored.";

/// The text of the header `X-Customer-Token`.
const CUSTOMER_TOKEN: &str = "Customer token that proves for which customer the client acts: a JSON Web Token signed with HS256. \
    `POST /v1/customer-tokens` creates one. \
    A token that is expired or wrongly signed is refused with `invalid_customer_token`. \
    The header is ignored when the caller uses a server key.";

fn operation(route: &Route, examples: &Json, schemas: &mut SchemaRegistry) -> Json {
    let parameter = |name: &str| {
        let description = parameters::description(route.path, name);
        json!({ "name": name, "in": "path", "required": true, "description": description, "schema": { "type": "string" } })
    };
    let in_path = |segment: &'static str| segment.strip_prefix('{')?.strip_suffix('}');
    let mut parameters: Vec<Json> = route.path.split('/').filter_map(in_path).map(parameter).collect();
    parameters.extend(route.query.iter().map(|field| query_parameter(field, schemas)));
    if route.method == "POST" && route.stores_response {
        parameters.push(json!({ "name": "Idempotency-Key", "in": "header", "description": IDEMPOTENCY_KEY, "schema": { "type": "string", "maxLength": 255 } }));
    }
    if route.is_client_side() {
        parameters.push(json!({ "name": "X-Customer-Token", "in": "header", "description": CUSTOMER_TOKEN, "schema": { "type": "string", "maxLength": 8192 } }));
    }
    let mut operation = json!({
        "tags": [tags::name(route.path)], "summary": route.summary, "description": format!("{} {}", route.about, callers::sentences(route)), "operationId": route.id,
        "parameters": parameters, "security": security(route),
    });
    let example = |part: &str| examples.get(part).and_then(|of| of.get(name(route))).cloned();
    let mut responses = Map::new();
    let mut response = success(route, example("answers"), schemas);
    if let (Some((media, example)), Some(response)) = (route.file, response.as_object_mut()) {
        let content = response.entry("content").or_insert_with(|| json!({}));
        content[media] = json!({ "schema": { "type": "string" }, "example": example });
    }
    responses.insert(route.success.to_string(), response);
    responses.extend(refusals::of(route, examples.get("keys").and_then(|of| of.get(name(route)))));
    if let Some((status, also)) = route.also {
        let schema = schemas.of(&also, Direction::Response);
        responses.insert(status.to_string(), response_json(status, "", also.fields().is_empty(), schema, None));
    }
    if let Some(operation) = operation.as_object_mut() {
        operation.insert("responses".into(), Json::Object(responses));
        if !route.body.is_empty() {
            operation.insert("requestBody".into(), body(route, example("requests"), schemas));
        }
    }
    operation
}

fn body(route: &Route, example: Option<Json>, schemas: &mut SchemaRegistry) -> Json {
    let media = match route.media_kind() {
        MediaKind::Json => "application/json",
        MediaKind::Form => "application/x-www-form-urlencoded",
        MediaKind::File => "multipart/form-data",
    };
    let one = schemas.object(route.body, Direction::Request);
    let schema = if route.many { json!({ "type": "array", "items": one }) } else { one };
    let mut content = json!({ "schema": schema });
    if let (Some(content), Some(example)) = (content.as_object_mut(), example) {
        content.insert("example".into(), example);
    }
    let required = !route.many && route.body.iter().any(|field| field.required);
    json!({ "required": required, "content": { media: content } })
}

/// Returns the schema of the response of a route; a client receives only the members that its disclosure allows.
fn success(route: &Route, example: Option<Json>, schemas: &mut SchemaRegistry) -> Json {
    if matches!(route.success, 101 | 204) {
        return json!({ "description": text_of(route.success, route.returns) });
    }
    let message = disclosure_of(route);
    let schema = match (route.list, message) {
        (Some((data_ref, beside)), message) => {
            let item = match message {
                Some(Disclosure::These(members)) => {
                    members.iter().find(|(name, _)| *name == data_ref).map(|(_, message)| message)
                }
                _ => message,
            };
            let items = match item {
                Some(message) => schemas.of_disclosed(&route.answers, message),
                None => schemas.of(&route.answers, Direction::Response),
            };
            envelope(data_ref, !route.by_cursor, items, beside, schemas)
        }
        // A server that calls a client-side route receives all members.
        (None, Some(message)) if route.classes.contains(&CredentialClass::Server) => {
            json!({ "anyOf": [schemas.of_disclosed(&route.answers, message), schemas.of(&route.answers, Direction::Response)] })
        }
        (None, Some(message)) => schemas.of_disclosed(&route.answers, message),
        (None, None) => schemas.of(&route.answers, Direction::Response),
    };
    let is_file_alone = route.file.is_some() && route.answers.fields().is_empty();
    response_json(route.success, route.returns, is_file_alone, schema, example)
}

/// Returns the schema of a page of a list. Unless it is cursor-based, the page names the member with its items.
fn envelope(data_ref: &str, is_named: bool, items: Json, beside: &[Field], schemas: &mut SchemaRegistry) -> Json {
    let mut schema = schemas.object(beside, Direction::Response);
    let own = [
        ("object", json!({ "type": "string", "enum": ["list"], "description": "Type of the object. Always `list`." })),
        (
            "data_ref",
            json!({ "type": "string", "enum": [data_ref], "description": "Name of the property that contains the listed objects." }),
        ),
        (
            data_ref,
            json!({ "type": "array", "items": items, "description": "Listed objects of this page, in the requested order." }),
        ),
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

/// Returns a response; a bare one has no body.
fn response_json(status: u16, contents: &'static str, is_bare: bool, schema: Json, example: Option<Json>) -> Json {
    let description = text_of(status, contents);
    if is_bare {
        return json!({ "description": description });
    }
    let mut content = json!({ "schema": schema });
    if let (Some(content), Some(example)) = (content.as_object_mut(), example) {
        content.insert("example".into(), example);
    }
    json!({ "description": description, "content": { "application/json": content } })
}

/// Returns the text of a response: its contents, else what its status means.
fn text_of(status: u16, contents: &'static str) -> &'static str {
    match status {
        _ if !contents.is_empty() => contents,
        202 => "The accepted work, which continues after the response.",
        204 => "No content: the change is complete.",
        304 => "No content: the caller already has the current version, as named by `If-None-Match`.",
        404 => "No content: the named object does not exist, or is no longer valid.",
        503 => "The error `service_unavailable`: the setup cannot be read or the storage takes no writes.",
        _ => "The result of the call; after a dry run, the result that the call would have.",
    }
}

/// Formats a description for the repository: a line for each operation and for each schema.
pub fn print(document: &Json) -> String {
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
        // The depth of the description is small: nothing saturates.
        let deeper = depth.saturating_add(1);
        text.push_str(&" ".repeat(deeper));
        text.push_str(&Json::from(name.as_str()).to_string());
        text.push_str(": ");
        write(value, deeper, text);
        between = ",\n";
    }
    text.push('\n');
    text.push_str(&" ".repeat(depth));
    text.push('}');
}

fn security(route: &Route) -> Json {
    let alternatives = route.classes.iter().flat_map(|class| match class {
        CredentialClass::Server => vec![json!({ "X-App-Id": [], "X-App-Token": [] })],
        CredentialClass::Client => vec![json!({ "X-Client-Application-Id": [], "X-Client-Token": [] })],
        CredentialClass::Management => vec![json!({ "X-Management-Id": [], "X-Management-Token": [] })],
        CredentialClass::OAuth => {
            let (_, prefix) = route.scope_names();
            route.scopes().map(|scope| json!({ "OAuth": [format!("{prefix}{scope}")] })).collect()
        }
        // The token of a link is a parameter of the query; no other credentials are needed.
        // The address of an image or of a part of a bundle needs none either.
        CredentialClass::Link | CredentialClass::Image | CredentialClass::Bundle => vec![json!({})],
    });
    Json::Array(alternatives.collect())
}

fn query_parameter(field: &Field, schemas: &mut SchemaRegistry) -> Json {
    let mut parameter = json!({
        "name": field.name, "in": "query", "required": field.required, "description": field.description_text(),
        "schema": schemas.of(&field.kind, Direction::Response),
    });
    if matches!(field.kind.resolved(), FieldType::Object(_) | FieldType::Map)
        && let Some(parameter) = parameter.as_object_mut()
    {
        parameter.insert("style".into(), "deepObject".into());
        parameter.insert("explode".into(), true.into());
    }
    parameter
}
