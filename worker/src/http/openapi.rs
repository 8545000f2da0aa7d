//! The description of the interface, generated from the route table. The committed file is served as bytes; a test regenerates it.
//! It must not know what an operation does.

use crate::access::auth::Class;
use crate::http::route::Route;
use crate::http::shape::{Field, Kind};
use scrip::text::LONGEST_TEXT;
use serde_json::{Map, Value as Json, json};

/// The committed description.
pub const DOCUMENT: &str = include_str!("../../openapi.json");

/// Every operation of the published surface, one a line, `METHOD /path`.
pub const PUBLISHED: &str = include_str!("../surface/published.txt");

/// The operations of it that the service does not have yet. The list only shrinks.
pub const NOT_YET: &str = include_str!("../surface/not_yet.txt");

/// An operation as lists of operations name it: `GET /v1/campaigns`.
pub fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// Writes the description anew. What is answered is described by the answers that the stories are given: `schemas` by the name of
/// what is answered, and `lists` by their operation.
pub fn generate(answers: &Json) -> Json {
    let mut paths = Map::new();
    let released = |route: &&Route| !route.path.starts_with("/rehearsal/");
    for route in crate::table::AREAS.iter().flat_map(|area| area.iter()).filter(released) {
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(route.method.to_lowercase(), operation(route, answers));
        }
    }
    let mut schemas = answers.get("schemas").and_then(Json::as_object).cloned().unwrap_or_default();
    schemas.insert("error".into(), error_schema());
    schemas.insert("too_large".into(), too_large_schema());
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Scrip", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "Apache-2.0" },
            "description": "Promotions, vouchers and gift cards, decided at the edge. Amounts are whole numbers of minor units." },
        "paths": paths,
        "components": {
            "securitySchemes": schemes(),
            "schemas": schemas,
        },
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

fn error_schema() -> Json {
    json!({
        "type": "object", "required": ["code", "message"],
        "properties": {
            "code": { "type": "integer", "description": "The HTTP status" }, "key": { "type": "string" }, "message": { "type": "string" },
            "details": { "type": "string" }, "request_id": { "type": "string" }, "resource_id": { "type": "string" },
            "resource_type": { "type": "string" }, "error": { "type": "object", "properties": { "message": { "type": "string" } } },
            "related_object_ids": { "type": "array", "items": { "type": "string" } }, "related_object_type": { "type": "string" },
            "related_object_total": { "type": "integer" },
        },
    })
}

fn too_large_schema() -> Json {
    json!({
        "type": "object", "required": ["statusCode", "error", "message"],
        "properties": { "statusCode": { "type": "integer" }, "error": { "type": "string" }, "message": { "type": "string" } },
    })
}

/// What comes of a body that is too large, and of an answer that would be.
fn too_large() -> Json {
    let either = json!({ "anyOf": [reference("too_large"), reference("error")] });
    answered("The body is larger than 10 MiB, or the answer would be larger than 32 MiB", either)
}

fn operation(route: &Route, answers: &Json) -> Json {
    let mut parameters: Vec<Json> = route
        .path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    parameters.extend(route.query.iter().map(query_parameter));
    if route.method == "POST" && route.remembered {
        let told = "The same key with the same body gives the first answer again, with `idempotency-replayed: true`";
        parameters.push(json!({ "name": "Idempotency-Key", "in": "header", "description": told, "schema": { "type": "string", "maxLength": 255 } }));
    }
    if route.is_client_side() {
        let told = "Proves the page's customer: a JSON Web Token with HS256, as POST /v1/customer-tokens makes it. A server's key needs none, and does not look at it";
        parameters.push(json!({ "name": "X-Customer-Token", "in": "header", "description": told, "schema": { "type": "string", "maxLength": 8192 } }));
    }
    let mut operation = json!({ "summary": route.summary, "operationId": operation_id(route), "parameters": parameters, "security": security(route) });
    let mut responses = Map::new();
    responses.insert(route.success.to_string(), success(route, answers));
    if let Some((status, also)) = route.also {
        responses.insert(status.to_string(), answered(also, reference(also)));
    }
    if !route.classes.is_empty() {
        responses.insert("default".into(), answered("The request was refused", reference("error")));
        responses.insert("413".into(), too_large());
    }
    if let Some(operation) = operation.as_object_mut() {
        operation.insert("responses".into(), Json::Object(responses));
        if !route.body.is_empty() {
            let media = if route.form { "application/x-www-form-urlencoded" } else { "application/json" };
            let mut content = Map::new();
            let one = object_schema(route.body);
            let schema = if route.many { json!({ "type": "array", "items": one }) } else { one };
            content.insert(media.into(), json!({ "schema": schema }));
            let required = !route.many && route.body.iter().any(|field| field.required);
            operation.insert("requestBody".into(), json!({ "required": required, "content": content }));
        }
    }
    operation
}

fn success(route: &Route, answers: &Json) -> Json {
    if route.success == 204 {
        return json!({ "description": "Done" });
    }
    match answers.get("lists").and_then(|lists| lists.get(name(route))) {
        Some(list) => answered("list", list.clone()),
        None => answered(route.answers, reference(route.answers)),
    }
}

/// A response with a body; one that is `unchanged` has none.
fn answered(told: &str, schema: Json) -> Json {
    match told {
        "unchanged" => json!({ "description": "What the caller has already" }),
        _ => json!({ "description": told, "content": { "application/json": { "schema": schema } } }),
    }
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
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
    });
    Json::Array(alternatives.collect())
}

fn query_parameter(field: &Field) -> Json {
    let mut parameter =
        json!({ "name": field.name, "in": "query", "required": field.required, "schema": schema(&field.kind) });
    if matches!(field.kind, Kind::Object(_) | Kind::Map)
        && let Some(parameter) = parameter.as_object_mut()
    {
        parameter.insert("style".into(), "deepObject".into());
        parameter.insert("explode".into(), true.into());
    }
    parameter
}

fn object_schema(fields: &[Field]) -> Json {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = schema(&field.kind);
        if !field.required {
            nullable(&mut schema);
        }
        properties.insert(field.name.into(), schema);
    }
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut object = json!({ "type": "object", "properties": properties });
    if let Some(object) = object.as_object_mut()
        && !required.is_empty()
    {
        object.insert("required".into(), json!(required));
    }
    object
}

/// A field that may be left out may be null as well, which says the same on creation and clears it on update.
fn nullable(schema: &mut Json) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Some(kind) = schema.get("type").cloned() {
        schema.insert("type".into(), json!([kind, "null"]));
    }
    if let Some(words) = schema.get_mut("enum").and_then(Json::as_array_mut) {
        words.push(Json::Null);
    }
}

/// The schema of a kind.
pub fn schema(kind: &Kind) -> Json {
    match kind {
        Kind::Text => json!({ "type": "string", "maxLength": LONGEST_TEXT }),
        Kind::Name(most) => json!({ "type": "string", "minLength": 1, "maxLength": most }),
        Kind::Int(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Date => json!({ "type": "string", "format": "date" }),
        Kind::DateTime => json!({ "type": "string", "format": "date-time" }),
        Kind::Duration => json!({ "type": "string", "format": "duration" }),
        Kind::Clock => json!({ "type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$" }),
        Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        Kind::Object(fields) => object_schema(fields),
        Kind::Map => json!({ "type": "object", "additionalProperties": true }),
        Kind::MapOfInt(least, most) => {
            json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": least, "maximum": most } })
        }
        Kind::List(item, least, most) => {
            json!({ "type": "array", "items": schema(item), "minItems": least, "maxItems": most })
        }
        Kind::Any => json!({}),
    }
}
