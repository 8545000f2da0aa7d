//! Customer tokens for merchants that do not make them, and the signing key for those that do.

use crate::access::customer_keys;
use crate::access::customer_token::{SECONDS_DEFAULT, SECONDS_MAX};
use crate::documents::common_fields::KEY;
use crate::documents::shapes;
use crate::domain::stacking_rules::check_project;
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use crate::timestamp;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = &[
    must(
        "customer",
        FieldType::Object(&[
            may("id", KEY).description("ID of the customer, who must exist."),
            may("source_id", KEY).description(
                "Unique name of the customer in the merchant's system. With `id`, the name must be of the same customer.",
            ),
        ]),
    )
    .description("Customer that the token proves, named by `id`, `source_id` or both."),
    may("ttl", FieldType::Int(1, SECONDS_MAX)).description("Lifetime of the token in seconds. Default 900."),
];

const MANAGEMENT: &[CredentialClass] = &[CredentialClass::Management];

/// The routes of the area. They are this service's own.
pub const ROUTES: &[Route] = &[
    post("/v1/customer-tokens", "Create a customer token", create)
        .describe(
            "createCustomerToken",
            "Creates a signed token with which a client proves for which customer the client acts. A `source_id` without a stored customer is accepted. The answer is never repeated for an `Idempotency-Key`, because the token is secret. An unknown `id` is refused with `not_found`, a customer without any name with `invalid_payload`.",
        )
        .returns("The token, the names of the customer, and the moment at which the token expires.")
        .scope("customer_tokens")
        .body(BODY)
        .answers(200, shapes::project::CUSTOMER_TOKEN)
        .without_stored_response(),
    get("/management/v1/projects/{projectId}/customer-token-key", "Get the signing key of customer tokens", read)
        .describe(
            "getCustomerTokenKey",
            "Returns the secret key with which the merchant's server can sign customer tokens. The first call creates the key. An unknown project is refused with `not_found`.",
        )
        .returns("The ID, the secret and the algorithm of the key in force.")
        // The first call creates the key.
        .writes_on_get()
        .for_classes(MANAGEMENT)
        .answers(200, shapes::project::CUSTOMER_TOKEN_KEY),
    post(
        "/management/v1/projects/{projectId}/customer-token-key/rotate",
        "Rotate the signing key of customer tokens",
        rotate,
    )
    .describe(
        "rotateCustomerTokenKey",
        "Puts a new signing key in force. Tokens of the former key stay valid for one hour, or end now if `at_once` is `true`. An unknown project is refused with `not_found`.",
    )
    .returns("The new key, and the moment until which tokens of the former key are accepted.")
    .for_classes(MANAGEMENT)
    .body(&[may("at_once", FieldType::Bool)
        .description("`true` to reject tokens of the former key from now on. Default `false`: the former key stays valid for one hour.")])
    .answers(200, shapes::project::CUSTOMER_TOKEN_KEY_ROTATION)
    .without_stored_response(),
];

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let customer = body.get("customer").and_then(Json::as_object).cloned().unwrap_or_default();
    let (id, source_id) = names(call, &customer)?;
    let customer = source_id.as_deref().or(id.as_deref()).unwrap_or_default();
    let seconds = body.get("ttl").and_then(Json::as_i64).unwrap_or(SECONDS_DEFAULT);
    let now = call.now_ms().div_euclid(1_000);
    let key = customer_keys::find_or_create(call.store, call.now_ms())?;
    let token = key.sign(&call.caller.project, customer, now, seconds);
    let token = token.ok_or_else(|| Fault::new("a customer token could not be signed"))?;
    // Saturates at the end of time.
    let expires_at = timestamp::text(now.saturating_add(seconds).saturating_mul(1_000));
    Ok(Response::json(json!({
        "object": "customer_token", "token": token, "customer": { "id": id, "source_id": source_id }, "expires_at": expires_at,
    })))
}

/// Returns the names of a customer: both of a stored one, the source_id of a new one.
fn names(call: &Call<'_, '_>, customer: &Map<String, Json>) -> Result<(Option<String>, Option<String>), CallError> {
    let text = |name: &str| customer.get(name).and_then(Json::as_str);
    let names_of = |document: Document| (Some(document.id), document.key);
    match (text("id"), text("source_id")) {
        (None, None) => Err(Problem::missing("customer", "source_id").into()),
        (Some(id), sent) => {
            let found = call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?;
            match sent.filter(|sent| found.key.as_deref() != Some(*sent)) {
                Some(other) => {
                    let message = format!("must be the source_id of the customer {id} (actual value is `{other}`)");
                    Err(Problem::at("customer.source_id", message).into())
                }
                None => Ok(names_of(found)),
            }
        }
        (None, Some(name)) if Tracker::may_open(name) => {
            Err(Problem::at("customer.source_id", format!("must NOT be a tracking id (actual value is `{name}`)"))
                .into())
        }
        (None, Some(name)) => {
            let found = call.store.document_by_name("customer", name, name)?;
            Ok(found.map_or((None, Some(name.to_owned())), names_of))
        }
    }
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let key = customer_keys::find_or_create(call.store, call.now_ms())?;
    Ok(Response::json(
        json!({ "object": "customer_token_key", "id": key.id, "secret": key.secret, "algorithm": "HS256" }),
    ))
}

fn rotate(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let at_once = call.body(Nulls::Dropped)?.get("at_once") == Some(&Json::Bool(true));
    // The previous key stays valid until its end, so it must exist even if it was never requested.
    customer_keys::find_or_create(call.store, call.now_ms())?;
    let (key, until) = customer_keys::rotate(call.store, call.now_ms(), at_once)?;
    Ok(Response::json(json!({
        "object": "customer_token_key", "id": key.id, "secret": key.secret, "algorithm": "HS256",
        "former_until": timestamp::text(until),
    })))
}
