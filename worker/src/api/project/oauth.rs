//! OAuth tokens: issued for a server key, kept as a digest, good for 15 minutes. Runs in the directory's object.
//! It must not know what a scope opens.

use crate::access::keys::{self, FORGET, Issued};
use crate::digest::sha256_hex;
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::intake::header;
use crate::http::query::Query;
use crate::http::reply::{CallError, bare_error, error};
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::{Field, Kind, may};
use crate::store::sql;
use serde_json::{Value as Json, json};

/// How long a token is good for.
const TOKEN_SECONDS: i64 = 900;
/// Live tokens of one project, at most.
const TOKENS_MAX: i64 = 1_000;

/// The scopes of the interface.
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
    // Of this service alone.
    "customer_tokens",
];

const NAMED: &[Field] = &[may("access_token", Kind::Text).says("The token")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/oauth/token", "Issue a token", issue)
        .for_classes(&[Class::Server])
        .form(&[may("grant_type", Kind::Text), may("scope", Kind::Text)])
        .answers(200, shapes::project::OAUTH_TOKEN)
        .in_directory()
        .forgotten(),
    post("/v1/oauth/introspect", "Say whether a token counts", introspect)
        .for_classes(&[Class::Server])
        .form(NAMED)
        .answers(200, shapes::project::OAUTH_INTROSPECTION)
        .in_directory()
        .forgotten(),
    post("/v1/oauth/token/revoke", "End a token", revoke)
        .for_classes(&[Class::Server])
        .form(NAMED)
        .answers(204, shapes::EMPTY)
        .or_answers(404, shapes::EMPTY)
        .in_directory()
        .forgotten(),
];

/// The parameters come as a form, in the query, or as JSON.
fn parameter(call: &Call<'_, '_>, form: &Query, name: &str) -> Option<String> {
    let json = header(call.request, "content-type").is_some_and(|media| media.contains("json"));
    if json {
        let body: serde_json::Value = serde_json::from_slice(&call.request.body).unwrap_or_default();
        return body.get(name).and_then(|value| value.as_str()).map(str::to_owned);
    }
    form.get(name).or_else(|| call.query.get(name)).map(str::to_owned)
}

fn issue(call: &mut Call<'_, '_>) -> Outcome {
    let form = Query::read(&String::from_utf8_lossy(&call.request.body));
    if parameter(call, &form, "grant_type").as_deref() != Some("client_credentials") {
        return Err(bare_error(400, "invalid_grant_type", "Invalid grant_type").into());
    }
    let wanted = parameter(call, &form, "scope").unwrap_or_default();
    let scopes: Vec<String> = wanted.split_ascii_whitespace().map(str::to_owned).collect();
    if scopes.is_empty() || scopes.iter().any(|scope| !SCOPES.contains(&scope.as_str())) {
        return Err(bare_error(400, "invalid_scope", &format!("Invalid scope: {wanted}")).into());
    }
    let now_ms = call.now_ms();
    let project = call.caller.project.clone();
    check_room(call, &project)?;
    let token = call.ids.alphanumeric("", 50).to_string();
    let expires_at = now_ms.saturating_add(TOKEN_SECONDS.saturating_mul(1_000));
    let issued =
        Issued { project: project.clone(), id: call.caller.key_id.clone(), scopes: scopes.clone(), expires_at };
    let written = serde_json::to_string(&issued).map_err(|error| sql::Fault(error.to_string()))?;
    let params = vec![sha256_hex(token.as_bytes()).into(), project.into(), written.into(), expires_at.into()];
    call.store.write("INSERT INTO token (sha256, project, record, expires_at) VALUES (?1, ?2, ?3, ?4)", params);
    call.store.write(
        "DELETE FROM token WHERE project = +?1 AND expires_at <= ?2",
        vec![call.caller.project.clone().into(), now_ms.into()],
    );
    Ok(Answer::json(shown(&token, &issued, TOKEN_SECONDS)))
}

/// Refuses one token too many, and says when the first of those that count ends.
fn check_room(call: &Call<'_, '_>, project: &str) -> Result<(), CallError> {
    let now_ms = call.now_ms();
    let live = call.store.row(
        "SELECT COUNT(*), MIN(expires_at) FROM token WHERE project = +?1 AND expires_at > ?2",
        &[project.into(), now_ms.into()],
    )?;
    let live = live.unwrap_or_default();
    if sql::int(&live, 0)? < TOKENS_MAX {
        return Ok(());
    }
    let seconds = crate::moment::seconds_until(now_ms, sql::int_or_null(&live, 1)?.unwrap_or_default()).max(1);
    let told = format!("the project has {TOKENS_MAX} live tokens; the first of them ends in {seconds} s");
    let mut refusal = error(429, "too_many_tokens", "Too many tokens", told);
    refusal.retry_after = Some(seconds);
    Err(refusal.into())
}

/// What is told of a token, which lives for so many more seconds.
fn shown(token: &str, issued: &Issued, seconds: i64) -> Json {
    json!({
        "access_token": token, "client_id": issued.id, "expires_at": issued.expires_at.checked_div(1_000).unwrap_or(0),
        "expires_in": seconds, "scope": issued.scopes.join(" "), "token_type": "Bearer",
    })
}

/// The token that a request names, and what is known of it while it counts. One of another project is as unknown as one that never was.
fn named(call: &Call<'_, '_>) -> Result<(String, Option<Issued>), CallError> {
    let form = Query::read(&String::from_utf8_lossy(&call.request.body));
    let token = parameter(call, &form, "access_token").filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| bare_error(400, "missing_parameters", "Missing parameters"))?;
    let record = keys::record_of_token(call.store, &sha256_hex(token.as_bytes()), call.now_ms())?;
    let record = record.filter(|record| record.project == call.caller.project);
    let issued = record.map(|record| Issued {
        project: record.project,
        id: record.id,
        scopes: record.scopes,
        expires_at: record.expires_at.unwrap_or_default(),
    });
    Ok((token, issued))
}

fn introspect(call: &mut Call<'_, '_>) -> Outcome {
    let (token, Some(issued)) = named(call)? else { return Ok(Answer::json(json!({ "active": false }))) };
    let left = crate::moment::seconds_until(call.now_ms(), issued.expires_at);
    let mut told = shown(&token, &issued, left);
    if let Some(told) = told.as_object_mut() {
        told.insert("active".into(), true.into());
    }
    Ok(Answer::json(told))
}

/// The entry that is asked forgets the token with this answer; the others within the minute for which they believe what they keep.
fn revoke(call: &mut Call<'_, '_>) -> Outcome {
    let (token, Some(_)) = named(call)? else { return Ok(Answer::empty(404)) };
    let sha256 = sha256_hex(token.as_bytes());
    call.store.write("DELETE FROM token WHERE sha256 = +?1", vec![sha256.as_str().into()]);
    let mut answer = Answer::empty(204);
    answer.headers.push((FORGET, format!("token:{sha256}")));
    Ok(answer)
}
