//! Keys of a project: made, shown, given another secret, and deleted. These operations are the service's own, and run in the directory's
//! object. It must not know what a key opens.

use crate::access::auth::Former;
use crate::access::keys::{self, KEY, Key, MADE, forgetting};
use crate::access::users;
use crate::api::management::users::user_not_assigned;
use crate::api::management::{MANAGEMENT, ids, project_of, protected};
use crate::digest::sha256_hex;
use crate::document::shapes;
use crate::document::shapes::management as shown;
use crate::http::caller::Class;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::store::document::Document;
use serde_json::{Value as Json, json};

/// Keys that are made for one project, at most.
const KEYS_MAX: usize = 50;
/// How long a former secret may still open, at most: a week.
const GRACE_MAX: i64 = 604_800;

const ALL: &str = "/management/v1/projects/{projectId}/keys";
const ONE: &str = "/management/v1/projects/{projectId}/keys/{keyId}";

const CREATE: &[Field] = &[
    must("class", Kind::OneOf(&["server", "client", "management"])).says("Whose key it is"),
    may("name", Kind::Name(200)).says("What it is called"),
    may("user", Kind::Name(255)).says("The login of the user whose key it is; it may do what the user's role lets it"),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List the keys of a project", list)
        .for_classes(MANAGEMENT)
        .lists("data", shown::API_KEY, shapes::TOTAL)
        .in_directory(),
    post(ALL, "Create a key", create)
        .for_classes(MANAGEMENT)
        .body(CREATE)
        .answers(200, shown::API_KEY_WITH_TOKEN)
        .in_directory()
        .forgotten(),
    delete(ONE, "Delete a key", remove).for_classes(MANAGEMENT).answers(204, shapes::EMPTY).in_directory(),
    post("/management/v1/projects/{projectId}/keys/{keyId}/regenerate", "Give a key another secret", regenerate)
        .for_classes(MANAGEMENT)
        .body(&[
            may("grace_seconds", Kind::Int(0, GRACE_MAX)).says("How long the former secret still opens, in seconds")
        ])
        .answers(200, shown::API_KEY_WITH_TOKEN)
        .in_directory()
        .forgotten(),
];

/// The id by which a key is named: it follows from its class and its public id, and tells no secret.
fn id_of(row: &Document) -> String {
    format!("key_{}", row.id.chars().take(24).collect::<String>())
}

fn show(row: &Document, key: &Key, now_ms: i64) -> Json {
    let former = key.former.as_ref().filter(|former| former.until > now_ms);
    json!({
        "id": id_of(row), "object": "api_key", "class": key.class, "app_id": key.id, "name": key.name, "user": key.user,
        "set_up": row.holder.as_deref() != Some(MADE), "created_at": moment::text(row.created_at),
        "updated_at": row.updated_at.map(moment::text), "former_until": former.map(|former| moment::text(former.until)),
    })
}

fn shown_once(row: &Document, key: &Key, now_ms: i64, token: &str) -> Json {
    let mut shown = show(row, key, now_ms);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("app_token".into(), token.into());
    }
    shown
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let project = project_of(call)?;
    let rows = keys::of_project(call.store, &project.id)?;
    let mut shown = Vec::with_capacity(rows.len());
    for row in &rows {
        shown.push(show(row, &Key::of(row)?, call.now_ms()));
    }
    let total = shown.len();
    Ok(Answer::json(json!({ "object": "list", "data_ref": "data", "data": shown, "total": total })))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let project = project_of(call)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str).map(str::to_owned);
    let class = match text("class").as_deref() {
        Some("client") => Class::Client,
        Some("management") => Class::Management,
        _ => Class::Server,
    };
    if let Some(login) = text("user") {
        let user = call.store.document_by_name(users::USER, &login, "")?;
        let user = user.ok_or_else(|| not_found(users::USER, &login))?;
        users::role_in(&user, &project.id).ok_or_else(user_not_assigned)?;
    }
    let made = keys::of_project(call.store, &project.id)?;
    if made.iter().filter(|row| row.holder.as_deref() == Some(MADE)).count() >= KEYS_MAX {
        let told = format!("the project has {KEYS_MAX} keys that were made for it, and can have no more");
        return Err(error(400, "too_many_keys", "Too many keys", told).into());
    }
    let (id, token) = (ids::drawn(&mut call.ids), ids::drawn(&mut call.ids));
    let key = Key {
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
    Ok(Answer::json(shown_once(&row, &key, call.now_ms(), &token)))
}

/// The key that the path names, when it was made here.
fn named(call: &Call<'_, '_>) -> Result<(Document, Key), CallError> {
    let project = project_of(call)?;
    let id = call.param("keyId");
    let row = keys::of_project(call.store, &project.id)?.into_iter().find(|row| id_of(row) == id);
    let row = row.ok_or_else(|| not_found("api_key", id))?;
    if row.holder.as_deref() != Some(MADE) {
        return Err(protected("api_key", id, "changed in the setup").into());
    }
    let key = Key::of(&row)?;
    Ok((row, key))
}

/// Tokens that were made with it end with it.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let (row, key) = named(call)?;
    call.store.remove(KEY, &row.id);
    if key.class == Class::Server {
        call.store.write(
            "DELETE FROM token WHERE project = +?1 AND record ->> 'id' = +?2",
            vec![key.project.as_str().into(), key.id.as_str().into()],
        );
    }
    Ok(forgetting(call.store, Answer::empty(204), &key.project)?)
}

/// The former secret opens for as long as is asked for, so that whoever has it can be told the new one first.
fn regenerate(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let (row, mut key) = named(call)?;
    let grace = body.get("grace_seconds").and_then(Json::as_i64).unwrap_or(0);
    let token = ids::drawn(&mut call.ids);
    let until = call.now_ms().saturating_add(grace.saturating_mul(1_000));
    let before = std::mem::replace(&mut key.token_sha256, sha256_hex(token.as_bytes()));
    key.former = (grace > 0).then_some(Former { token_sha256: before, until });
    let mut changed = key.row(true, row.created_at)?;
    changed.updated_at = Some(call.now_ms());
    call.store.update(KEY, &changed);
    let answer = Answer::json(shown_once(&changed, &key, call.now_ms(), &token));
    Ok(forgetting(call.store, answer, &key.project)?)
}
