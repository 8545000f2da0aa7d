//! Keys of a project: create, get, regenerate the secret, and delete. These operations are the service's own, and run in the
//! directory's object.

use crate::access::auth::PreviousSecret;
use crate::access::keys::{self, ApiKey, CREATED_BY_API, KEY, evict_keys};
use crate::access::users;
use crate::api::management::users::user_not_assigned;
use crate::api::management::{MANAGEMENT, ids, project_of, protected};
use crate::constant_time::sha256_hex;
use crate::documents::shapes;
use crate::documents::shapes::management as management_shapes;
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::access::credentials;
use crate::store::document::Document;
use crate::timestamp;
use serde_json::{Value as Json, json};

/// Maximum number of keys that are created for one project.
const KEYS_MAX: usize = 50;
/// Maximum grace period of a former secret: a week.
const GRACE_MAX: i64 = 604_800;

const ALL: &str = "/management/v1/projects/{projectId}/keys";
const ONE: &str = "/management/v1/projects/{projectId}/keys/{keyId}";

const CREATE: &[Field] = &[
    must("class", FieldType::OneOf(&["server", "client", "management"])).description("Class of the key: `server` for secret keys of servers, `client` for public keys of web pages and apps, `management` for the management API."),
    may("name", FieldType::Name(200)).description("Name of the key, for people. The name need not be unique."),
    may("user", FieldType::Name(255))
        .description("Login of the user who owns the key. The key has the permissions of the user's role; without a user, all permissions of its class."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List API keys", list)
        .for_classes(MANAGEMENT)
        .lists("data", management_shapes::API_KEY, shapes::TOTAL)
        .describe(
            "listApiKeys",
            "Returns all keys of a project without their secrets, including those from the operator's setup, without pages. An unknown project is refused with `not_found`.",
        )
        .returns("The keys of the project, and the total.")
        .in_directory(),
    post(ALL, "Create an API key", create)
        .for_classes(MANAGEMENT)
        .body(CREATE)
        .answers(200, management_shapes::API_KEY_WITH_TOKEN)
        .describe(
            "createApiKey",
            "Creates a server, client or management key of a project, up to 50 for each project (`too_many_keys`). A key that belongs to a user has the permissions of the user's role; a user without a role in the project is refused with `user_not_assigned`. The secret is returned only once, so that the response is not kept under an `Idempotency-Key`.",
        )
        .returns("The new key with its secret, which is returned only once.")
        .in_directory()
        .without_stored_response(),
    delete(ONE, "Delete an API key", remove)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY)
        .describe(
            "deleteApiKey",
            "Deletes a key. Its OAuth tokens and export links end with the key, at once in the process that answers and within a minute elsewhere. A key from the operator's setup is refused with `resource_protected`, an unknown one with `not_found`.",
        )
        .returns("No content: the key is deleted.")
        .in_directory(),
    post("/management/v1/projects/{projectId}/keys/{keyId}/regenerate", "Regenerate the secret of an API key", regenerate)
        .for_classes(MANAGEMENT)
        .body(&[may("grace_seconds", FieldType::Int(0, GRACE_MAX)).description(
            "Number of seconds for which the former secret stays valid. Default 0: the former secret ends at once.",
        )])
        .answers(200, management_shapes::API_KEY_WITH_TOKEN)
        .describe(
            "regenerateApiKey",
            "Replaces the secret of a key; the new secret is valid at once. The former secret stays valid for `grace_seconds`, and the OAuth tokens and export links made with that secret end at the same time. A key from the operator's setup is refused with `resource_protected`, an unknown one with `not_found`.",
        )
        .returns("The key with its new secret, which is returned only once.")
        .in_directory()
        .without_stored_response(),
];

/// Returns the id of a key, which follows from its class and its public id, and reveals no secret.
fn id_of(row: &Document) -> String {
    format!("key_{}", row.id.chars().take(24).collect::<String>())
}

fn to_json(row: &Document, key: &ApiKey, now_ms: i64) -> Json {
    let former = key.former.as_ref().filter(|former| former.until > now_ms);
    json!({
        "id": id_of(row), "object": "api_key", "class": key.class, "app_id": key.id, "name": key.name, "user": key.user,
        "set_up": row.holder.as_deref() != Some(CREATED_BY_API), "created_at": timestamp::text(row.created_at),
        "updated_at": row.updated_at.map(timestamp::text), "former_until": former.map(|former| timestamp::text(former.until)),
    })
}

fn to_json_with_token(row: &Document, key: &ApiKey, now_ms: i64, token: &str) -> Json {
    let mut key_json = to_json(row, key, now_ms);
    if let Some(key_json) = key_json.as_object_mut() {
        key_json.insert("app_token".into(), token.into());
    }
    key_json
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let project = project_of(call)?;
    let rows = keys::of_project(call.store, &project.id)?;
    let mut keys = Vec::with_capacity(rows.len());
    for row in &rows {
        keys.push(to_json(row, &ApiKey::of(row)?, call.now_ms()));
    }
    let total = keys.len();
    Ok(Response::json(json!({ "object": "list", "data_ref": "data", "data": keys, "total": total })))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let project = project_of(call)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str).map(str::to_owned);
    let class = match text("class").as_deref() {
        Some("client") => CredentialClass::Client,
        Some("management") => CredentialClass::Management,
        _ => CredentialClass::Server,
    };
    if let Some(login) = text("user") {
        let user = users::with_login(call.store, project.organisation(), &login)?;
        let user = user.ok_or_else(|| not_found(users::USER, &login))?;
        users::role_in(&user, &project.id).ok_or_else(user_not_assigned)?;
    }
    let made = keys::of_project(call.store, &project.id)?;
    if made.iter().filter(|row| row.holder.as_deref() == Some(CREATED_BY_API)).count() >= KEYS_MAX {
        let message = format!("the project has {KEYS_MAX} keys that were made for it, and can have no more");
        return Err(error(400, "too_many_keys", "Too many keys", message).into());
    }
    let (id, token) = (ids::generate_id(&mut call.ids), ids::generate_id(&mut call.ids));
    let key = ApiKey {
        project: project.id,
        class,
        id,
        token_sha256: sha256_hex(token.as_bytes()),
        user: text("user"),
        name: text("name"),
        former: None,
    };
    let row = key.row(true, call.now_ms())?;
    call.store.insert(KEY, &row);
    Ok(Response::json(to_json_with_token(&row, &key, call.now_ms(), &token)))
}

/// Finds the key that the path names, if it was created through the API.
fn named(call: &Call<'_, '_>) -> Result<(Document, ApiKey), CallError> {
    let project = project_of(call)?;
    let id = call.param("keyId");
    let row = keys::of_project(call.store, &project.id)?.into_iter().find(|row| id_of(row) == id);
    let row = row.ok_or_else(|| not_found("api_key", id))?;
    if row.holder.as_deref() != Some(CREATED_BY_API) {
        return Err(protected("api_key", id, "changed in the setup").into());
    }
    let key = ApiKey::of(&row)?;
    Ok((row, key))
}

/// Deletes a key. Its tokens end with it.
fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let (row, key) = named(call)?;
    call.store.delete(KEY, &row.id);
    if key.class == CredentialClass::Server {
        credentials::delete_tokens_of_key(call.store, &key.project, &key.id);
    }
    Ok(evict_keys(call.store, Response::empty(204), &[row])?)
}

/// Regenerates the secret. The former one, with its tokens, stays valid for the requested grace, so that the new one can be distributed.
fn regenerate(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let (row, mut key) = named(call)?;
    let grace = body.get("grace_seconds").and_then(Json::as_i64).unwrap_or(0);
    let token = ids::generate_id(&mut call.ids);
    // Saturates at the end of time.
    let until = call.now_ms().saturating_add(grace.saturating_mul(1_000));
    let before = std::mem::replace(&mut key.token_sha256, sha256_hex(token.as_bytes()));
    key.former = (grace > 0).then_some(PreviousSecret { token_sha256: before, until });
    let mut changed = key.row(true, row.created_at)?;
    changed.updated_at = Some(call.now_ms());
    call.store.update(KEY, &changed);
    let answer = Response::json(to_json_with_token(&changed, &key, call.now_ms(), &token));
    Ok(evict_keys(call.store, answer, &[row])?)
}
