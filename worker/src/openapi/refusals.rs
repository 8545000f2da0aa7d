//! What operations answer when they refuse: one response for each status, and which of them a route can give. It must not know why
//! any operation refuses.

use crate::http::reply;
use crate::http::route::Route;
use crate::openapi::schema::{Schemas, Way};
use scrip::shape;
use scrip::shape::{COUNT, KEY, Kind, TEXTS, may, must};
use serde_json::{Map, Value as Json, json};

/// The one error body.
pub const ERROR: Kind = shape!(
    "Error",
    "Why a request was refused",
    &[
        must("code", Kind::Int(400, 599)).says("The HTTP status"),
        may("key", Kind::Text).says("For programs: which; what the transport refuses has none"),
        must("message", Kind::Text),
        may("details", Kind::Text).says("Names the field, the value and the bound"),
        may("request_id", Kind::Text),
        may("resource_id", KEY),
        may("resource_type", Kind::Text),
        may("related_object_ids", TEXTS).says("Some of what stands in the way"),
        may("related_object_type", Kind::Text).says("What kind of thing that is"),
        may("related_object_total", COUNT).says("How much there is of it"),
        may("error", Kind::Object(&[must("message", Kind::Text)])),
    ]
);

/// What is answered to a body that is too large.
const TOO_LARGE: Kind = shape!(
    "TooLarge",
    "What is answered to a body that is too large",
    &[
        must("statusCode", Kind::Int(413, 413)).says("The HTTP status"),
        must("error", Kind::Text).says("What the status is called"),
        must("message", Kind::Text),
    ]
);

/// A refusal: its status, its name, and what it says.
struct Refusal {
    status: u16,
    name: &'static str,
    told: &'static str,
    gives: fn(&Route) -> bool,
}

const fn refusal(status: u16, name: &'static str, told: &'static str, gives: fn(&Route) -> bool) -> Refusal {
    Refusal { status, name, told, gives }
}

fn always(_: &Route) -> bool {
    true
}

fn has_body(route: &Route) -> bool {
    !route.body.is_empty()
}

fn writes(route: &Route) -> bool {
    route.method != "GET"
}

/// Whether it is about what has states, or belongs to such a thing.
fn has_states(route: &Route) -> bool {
    writes(route) && route.life.is_some()
}

/// Whether it names something that may not be there.
fn names(route: &Route) -> bool {
    route.path.contains('{') || writes(route) || !route.query.is_empty()
}

const REFUSALS: &[Refusal] = &[
    refusal(400, "BadRequest", "What was sent does not fit, or what it asks for cannot be", always),
    refusal(401, "Unauthorized", "The credentials are not there, or nobody's", always),
    refusal(403, "Forbidden", "The credentials do not open this", always),
    refusal(404, "NotFound", "What is named is not there", names),
    refusal(406, "NotAcceptable", "The answer is JSON, which the caller does not take", always),
    refusal(
        409,
        "Conflict",
        "Something stands in the way: a name that is taken, what is used, a card that holds too little",
        writes,
    ),
    refusal(413, "TooLarge", "The body is larger than 10 MiB, or the answer would be larger than 32 MiB", always),
    refusal(415, "UnsupportedMediaType", "The body is not in the form that is read", has_body),
    refusal(422, "Unprocessable", "The same Idempotency-Key was sent with another request", writes),
    refusal(423, "Locked", "How something stands forbids it", has_states),
    refusal(
        429,
        "TooManyRequests",
        "Too many calls, too many wrong codes, or more than the share of whoever asks",
        always,
    ),
    refusal(500, "InternalError", "The service failed; nothing was done", always),
];

/// The responses, by their names, with `examples` of real ones by their status.
pub fn components(examples: Option<&Json>, schemas: &mut Schemas) -> Json {
    let error = schemas.of(&ERROR, Way::Answered);
    let too_large = schemas.of(&TOO_LARGE, Way::Answered);
    let mut components = Map::new();
    for Refusal { status, name, told, .. } in REFUSALS {
        let schema = if *status == 413 { json!({ "anyOf": [too_large, error] }) } else { error.clone() };
        let mut content = json!({ "schema": schema });
        let example =
            examples.and_then(|examples| examples.get(status.to_string())).cloned().or_else(|| unasked(*status));
        if let (Some(content), Some(example)) = (content.as_object_mut(), example) {
            content.insert("example".into(), example);
        }
        let mut response = json!({ "description": told, "content": { "application/json": content } });
        if *status == 429 {
            let header = json!({ "description": "After so many seconds it may be tried again", "schema": { "type": "integer", "minimum": 1 } });
            let of = json!({ "description": "Of what there was too much", "schema": { "type": "string", "enum": ["api_calls", "bulk_api_calls"] } });
            let headers = json!({ "Retry-After": header, "X-Rate-Limit-Type": of });
            response.as_object_mut().map(|response| response.insert("headers".into(), headers));
        }
        components.insert((*name).into(), response);
    }
    Json::Object(components)
}

/// What no story brings about by itself.
fn unasked(status: u16) -> Option<Json> {
    let request_id = "v-1b6f0a2d3c4e5f6071";
    let reply = match status {
        429 => reply::too_many(request_id, 30),
        500 => reply::failed(request_id),
        _ => return None,
    };
    serde_json::from_slice(&reply.body).ok()
}

/// The refusals of a route, by their status. A public one refuses nobody.
pub fn of(route: &Route) -> Vec<(String, Json)> {
    let given = REFUSALS.iter().filter(|refusal| !route.classes.is_empty() && (refusal.gives)(route));
    let named = |name: &str| json!({ "$ref": format!("#/components/responses/{name}") });
    given.map(|refusal| (refusal.status.to_string(), named(refusal.name))).collect()
}
