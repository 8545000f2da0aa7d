//! Customer tokens, made for a shop that does not make them itself, and the key for a shop that does. It must not know what a proven
//! customer may do.

use crate::access::customer_keys;
use crate::access::customer_token::{SECONDS_DEFAULT, SECONDS_MAX};
use crate::document::fields::KEY;
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::stacking_rules::check_project;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] =
    &[must("customer", Kind::Object(&[may("id", KEY), may("source_id", KEY)])), may("ttl", Kind::Int(1, SECONDS_MAX))];

const MANAGEMENT: &[Class] = &[Class::Management];

/// The routes of the area. They are this service's own.
pub const ROUTES: &[Route] = &[
    post("/v1/customer-tokens", "Make a token that proves a customer to pages", make)
        .scope("customer_tokens")
        .body(BODY)
        .answers(200, shapes::project::CUSTOMER_TOKEN)
        .forgotten(),
    get("/management/v1/projects/{projectId}/customer-token-key", "Get the key that signs customer tokens", read)
        // The first who asks has it made.
        .writing()
        .for_classes(MANAGEMENT)
        .answers(200, shapes::project::CUSTOMER_TOKEN_KEY),
    post(
        "/management/v1/projects/{projectId}/customer-token-key/rotate",
        "Put a new key for customer tokens in force",
        rotate,
    )
    .for_classes(MANAGEMENT)
    .body(&[may("at_once", Kind::Bool)])
    .answers(200, shapes::project::CUSTOMER_TOKEN_KEY_ROTATION)
    .forgotten(),
];

fn make(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let named = body.get("customer").and_then(Json::as_object).cloned().unwrap_or_default();
    let (id, source_id) = names(call, &named)?;
    let customer = source_id.as_deref().or(id.as_deref()).unwrap_or_default();
    let seconds = body.get("ttl").and_then(Json::as_i64).unwrap_or(SECONDS_DEFAULT);
    let now = call.now_ms().div_euclid(1_000);
    let key = customer_keys::current(call.store, call.now_ms())?;
    let token = key.sign(&call.caller.project, customer, now, seconds);
    let token = token.ok_or_else(|| Fault::new("a customer token could not be signed"))?;
    let expires_at = moment::text(now.saturating_add(seconds).saturating_mul(1_000));
    Ok(Answer::json(json!({
        "object": "customer_token", "token": token, "customer": { "id": id, "source_id": source_id }, "expires_at": expires_at,
    })))
}

/// The names of a customer: of a stored one both, of one who is new the source_id.
fn names(call: &Call<'_, '_>, named: &Map<String, Json>) -> Result<(Option<String>, Option<String>), CallError> {
    let text = |name: &str| named.get(name).and_then(Json::as_str);
    let both = |document: Document| (Some(document.id), document.key);
    match (text("id"), text("source_id")) {
        (None, None) => Err(Problem::missing("customer", "source_id").into()),
        (Some(id), sent) => {
            let found = call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?;
            match sent.filter(|sent| found.key.as_deref() != Some(*sent)) {
                Some(other) => {
                    let told = format!("must be the source_id of the customer {id} (actual value is `{other}`)");
                    Err(Problem::at("customer.source_id", told).into())
                }
                None => Ok(both(found)),
            }
        }
        (None, Some(name)) if Tracker::may_open(name) => {
            Err(Problem::at("customer.source_id", format!("must NOT be a tracking id (actual value is `{name}`)"))
                .into())
        }
        (None, Some(name)) => {
            let found = call.store.document_by_name("customer", name, name)?;
            Ok(found.map_or((None, Some(name.to_owned())), both))
        }
    }
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let key = customer_keys::current(call.store, call.now_ms())?;
    Ok(Answer::json(
        json!({ "object": "customer_token_key", "id": key.id, "secret": key.secret, "algorithm": "HS256" }),
    ))
}

fn rotate(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let at_once = call.body(Nulls::Dropped)?.get("at_once") == Some(&Json::Bool(true));
    // What there was before is in force until it is not, also where nobody had asked for it yet.
    customer_keys::current(call.store, call.now_ms())?;
    let (key, until) = customer_keys::rotate(call.store, call.now_ms(), at_once)?;
    Ok(Answer::json(json!({
        "object": "customer_token_key", "id": key.id, "secret": key.secret, "algorithm": "HS256",
        "former_until": moment::text(until),
    })))
}
