//! OAuth tokens: issued for a server key, stored as a digest, valid for 15 minutes. Each key has a maximum number of tokens;
//! a new one replaces the oldest of the key. Runs in the directory's object.

use crate::access::keys::{self, EVICT_RECORDS, IssuedToken};
use crate::constant_time::sha256_hex;
use crate::documents::shapes;
use crate::http::caller::CredentialClass;
use crate::http::query::Query;
use crate::http::reply::{CallError, bare_error};
use crate::http::request_checks::header;
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::{Field, FieldType, may};
use crate::store::access::credentials;
use crate::store::sql::Fault;
use serde_json::{Value as Json, json};

/// Validity of a token, in seconds.
const TOKEN_SECONDS: i64 = 900;

/// The scopes of the API.
pub const SCOPES: &[&str] = &[
    "api",
    "client_api",
    "vouchers",
    "client_vouchers",
    "promotions",
    "client_promotions",
    "campaigns",
    "client_publish",
    "client_bundle",
    "exports",
    "publications",
    "client_validate",
    "validations",
    "client_validations",
    "qualifications",
    "client_qualifications",
    "client_redeem",
    "redemptions",
    "client_redemptions",
    "customers",
    "client_customers",
    "orders",
    "products",
    "skus",
    "validation-rules",
    "validation-rules-assignments",
    "segments",
    "events",
    "client_events",
    "rewards",
    "assets",
    "task-results",
    "loyalties",
    "consents",
    "client_consents",
    "async-actions",
    "product-collections",
    "categories",
    "metadata-schemas",
    "locations",
    "referrals",
    "trash-bin",
    "templates",
    // A scope of this service only.
    "customer_tokens",
];

const NAMED: &[Field] = &[may("access_token", FieldType::Text).description("OAuth token. Required.")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/oauth/token", "Create an OAuth token", issue)
        .for_classes(&[CredentialClass::Server])
        .form(&[
            may("grant_type", FieldType::Text)
                .description("Grant type. Required, and only `client_credentials` is supported."),
            may("scope", FieldType::Text).description("Scopes of the token, separated by spaces. At least one is required."),
        ])
        .answers(200, shapes::project::OAUTH_TOKEN)
        .describe(
            "createOAuthToken",
            "Creates a bearer token for the calling server key, valid for 15 minutes and limited to the scopes. A key has up to 100 tokens; a further one ends the oldest. The parameters are read from the form, from a JSON body, or else from the query. Another grant is refused with `invalid_grant_type`, an unknown or missing scope with `invalid_scope`.",
        )
        .returns("The new token, which is returned only once.")
        .in_directory()
        .without_stored_response(),
    post("/v1/oauth/introspect", "Introspect an OAuth token", introspect)
        .for_classes(&[CredentialClass::Server])
        .form(NAMED)
        .answers(200, shapes::project::OAUTH_INTROSPECTION)
        .describe(
            "introspectOAuthToken",
            "Returns whether a token of the project is valid, with its scopes and expiration. An expired or unknown token, or one of another project, is reported as not active. A request without a token is refused with `missing_parameters`.",
        )
        .returns("The state of the token.")
        .in_directory()
        .without_stored_response(),
    post("/v1/oauth/token/revoke", "Revoke an OAuth token", revoke)
        .for_classes(&[CredentialClass::Server])
        .form(NAMED)
        .answers(204, shapes::EMPTY)
        .or_answers(404, shapes::EMPTY)
        .describe(
            "revokeOAuthToken",
            "Ends a token of the project, at once in the process that answers and within a minute elsewhere. An expired or unknown token, or one of another project, is answered with 404 and an empty body. A request without a token is refused with `missing_parameters`.",
        )
        .returns("No content: the token is no longer valid.")
        .in_directory()
        .without_stored_response(),
];

/// Returns a parameter of the body, which is a form or a JSON object, else of the query. Some clients send the query with a JSON content
/// type and no body (docs/spec/clients.md).
fn parameter(call: &Call<'_, '_>, form: &Query, name: &str) -> Option<String> {
    let json = header(call.request, "content-type").is_some_and(|media| media.contains("json"));
    let sent = if json {
        let body: Json = serde_json::from_slice(&call.request.body).unwrap_or_default();
        body.get(name).and_then(Json::as_str).map(str::to_owned)
    } else {
        form.parameter(name).map(str::to_owned)
    };
    sent.or_else(|| call.query.parameter(name).map(str::to_owned))
}

/// Issues a token. Above the limit of a key it replaces the oldest of that key, so that no key exhausts the space of others.
fn issue(call: &mut Call<'_, '_>) -> HandlerResult {
    let form = Query::read(&String::from_utf8_lossy(&call.request.body));
    if parameter(call, &form, "grant_type").as_deref() != Some("client_credentials") {
        return Err(bare_error(400, "invalid_grant_type", "Invalid grant_type").into());
    }
    let requested_scopes = parameter(call, &form, "scope").unwrap_or_default();
    let scopes: Vec<String> = requested_scopes.split_ascii_whitespace().map(str::to_owned).collect();
    if scopes.is_empty() || scopes.iter().any(|scope| !SCOPES.contains(&scope.as_str())) {
        return Err(bare_error(400, "invalid_scope", &format!("Invalid scope: {requested_scopes}")).into());
    }
    let now_ms = call.now_ms();
    let project = call.caller.project.clone();
    let beyond =
        // The new token is one of them.
        credentials::list_tokens_of_key(call.store, &project, &call.caller.key_id, keys::TOKENS_MAX.saturating_sub(1))?;
    let token = call.ids.alphanumeric("", 50).to_string();
    // Saturates at the end of time.
    let expires_at = now_ms.saturating_add(TOKEN_SECONDS.saturating_mul(1_000));
    let secret = call.caller.secrets.first().cloned();
    let issued = IssuedToken { project: project.clone(), id: call.caller.key_id.clone(), secret, scopes, expires_at };
    let written = serde_json::to_string(&issued).map_err(|error| Fault(error.to_string()))?;
    credentials::insert_token(call.store, sha256_hex(token.as_bytes()), project, written, expires_at);
    credentials::delete_expired_tokens(call.store, &call.caller.project, now_ms);
    let mut answer = Response::json(token_json(&token, &issued, TOKEN_SECONDS));
    if !beyond.is_empty() {
        credentials::delete_tokens(call.store, &beyond);
        answer.headers.push((EVICT_RECORDS, keys::names_of_tokens(&beyond)));
    }
    Ok(answer)
}

/// Returns the response for a token that expires in `seconds`.
fn token_json(token: &str, issued: &IssuedToken, seconds: i64) -> Json {
    json!({
        "access_token": token, "client_id": issued.id, "expires_at": issued.expires_at.checked_div(1_000).unwrap_or(0),
        "expires_in": seconds, "scope": issued.scopes.join(" "), "token_type": "Bearer",
    })
}

/// Returns the token of a request, and its record while it is valid. A token of another project is unknown.
fn named(call: &Call<'_, '_>) -> Result<(String, Option<IssuedToken>), CallError> {
    let form = Query::read(&String::from_utf8_lossy(&call.request.body));
    let token = parameter(call, &form, "access_token").filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| bare_error(400, "missing_parameters", "Missing parameters"))?;
    let record = keys::record_of_token(call.store, &sha256_hex(token.as_bytes()), call.now_ms())?;
    let record = record.filter(|record| record.project == call.caller.project);
    let issued = record.map(|record| IssuedToken {
        project: record.project,
        id: record.id,
        secret: record.made_with,
        scopes: record.scopes,
        expires_at: record.expires_at.unwrap_or_default(),
    });
    Ok((token, issued))
}

fn introspect(call: &mut Call<'_, '_>) -> HandlerResult {
    let (token, Some(issued)) = named(call)? else { return Ok(Response::json(json!({ "active": false }))) };
    let left = crate::timestamp::seconds_until(call.now_ms(), issued.expires_at);
    let mut details = token_json(&token, &issued, left);
    if let Some(details) = details.as_object_mut() {
        details.insert("active".into(), true.into());
    }
    Ok(Response::json(details))
}

/// Revokes a token. The entry of this call evicts it with this response; the others within the minute for which they cache it.
fn revoke(call: &mut Call<'_, '_>) -> HandlerResult {
    let (token, Some(_)) = named(call)? else { return Ok(Response::empty(404)) };
    let sha256 = sha256_hex(token.as_bytes());
    credentials::delete_token(call.store, &sha256);
    let mut answer = Response::empty(204);
    answer.headers.push((EVICT_RECORDS, format!("token:{sha256}")));
    Ok(answer)
}
