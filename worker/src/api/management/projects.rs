//! Projects: those of the setup, which are shown, and those that are made, changed and deleted here. Runs in the directory's object.
//! It must not know what is in a project.

use crate::access::keys::{EMPTIED, Key, SIGNED, Signed, forgetting};
use crate::access::projects::{self, DELETED, PROJECT, Project, WEBHOOK_TOKEN_LENGTH};
use crate::access::users;
use crate::api::management::terms::{self, CHANGES, CREATE};
use crate::api::management::{MANAGEMENT, ids, project_of, protected};
use crate::digest::sha256_hex;
use crate::document::shapes;
use crate::document::shapes::management as shown;
use crate::http::caller::{Caller, Class, Role, Signing};
use crate::http::reply::{CallError, error, forbidden};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::Nulls;
use crate::store::sql::Fault;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Projects that one project makes, at most: the record of its management keys holds the settings of all.
const PROJECTS_MAX: usize = 100;

const ALL: &str = "/management/v1/projects";
const ONE: &str = "/management/v1/projects/{projectId}";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List projects", list).for_classes(MANAGEMENT).lists("data", shown::PROJECT, shapes::TOTAL).in_directory(),
    post(ALL, "Create a project", create)
        .for_classes(MANAGEMENT)
        .body(CREATE)
        .answers(200, shown::PROJECT_CREATED)
        .in_directory()
        .forgotten(),
    get(ONE, "Get a project", read).for_classes(MANAGEMENT).answers(200, shown::PROJECT).in_directory(),
    put(ONE, "Update a project", update)
        .for_classes(MANAGEMENT)
        .body(CHANGES)
        .answers(200, shown::PROJECT)
        .in_directory(),
    delete(ONE, "Delete a project", remove).for_classes(MANAGEMENT).answers(204, shapes::EMPTY).in_directory(),
    post("/management/v1/projects/{projectId}/webhook-token", "Draw a new secret for webhooks", rotate_webhook_token)
        .for_classes(MANAGEMENT)
        .answers(200, shown::WEBHOOK_TOKEN)
        .in_directory()
        .forgotten(),
];

/// What is shown of a project. What signs its webhooks is told to whoever may change it.
fn show(call: &Call<'_, '_>, project: &Project) -> Result<Json, Fault> {
    let mut body = project.shown.clone();
    if tells_secrets(call.caller) {
        body.insert("webhook_token".into(), projects::webhook_token(call.store, &project.id)?.into());
    }
    let limits = project.terms.rate_limits;
    let listed = |rate: Option<crate::http::rates::Rate>| -> Json {
        rate.map(|rate| json!({ "value": rate.calls, "duration": format!("PT{}S", rate.seconds) }))
            .into_iter()
            .collect()
    };
    body.insert(
        "limits".into(),
        json!({ "api_calls": listed(limits.server.api_calls.project), "bulk_api_calls": listed(limits.server.bulk_api_calls.project) }),
    );
    body.insert("rate_limits".into(), serde_json::to_value(limits).map_err(|error| Fault(error.to_string()))?);
    body.insert("set_up".into(), project.is_set_up().into());
    Ok(Json::Object(body))
}

fn tells_secrets(caller: &Caller) -> bool {
    caller.role.is_none_or(|role| role == Role::Admin)
}

/// Those that the key manages: its own and those that it has made. Where it is somebody's, those in which they have a role.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut found: Vec<Project> = projects::find(call.store, &call.caller.project)?.into_iter().collect();
    for project in projects::made_by(call.store, &call.caller.project)? {
        let role = users::role(call.store, call.caller.user.as_deref(), &project.id)?;
        if role != Some(Role::None) {
            found.push(project);
        }
    }
    let shown = found.iter().map(|project| show(call, project)).collect::<Result<Vec<Json>, Fault>>()?;
    let total = shown.len();
    Ok(Answer::json(json!({ "object": "list", "data_ref": "data", "data": shown, "total": total })))
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    let project = project_of(call)?;
    Ok(Answer::json(show(call, &project)?))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    terms::check_rates(&call.source()?)?;
    let maker = projects::find(call.store, &call.caller.project)?.filter(Project::is_set_up);
    let Some(maker) = maker else {
        return Err(forbidden("projects are made with a management key of a project of the setup").into());
    };
    if projects::made_by(call.store, &maker.id)?.len() >= PROJECTS_MAX {
        let told = format!("the project `{}` has made {PROJECTS_MAX} projects, and can make no more", maker.id);
        return Err(error(400, "too_many_projects", "Too many projects", told).into());
    }
    let mut assigned = users_of(call, body.remove("users"))?;
    // Whoever makes a project is let in, if by nobody else.
    if let Some(login) = call.caller.user.as_deref()
        && let Some(maker) = call.store.document_by_name(users::USER, login, "")?
        && assigned.iter().all(|(user, _)| user.id != maker.id)
    {
        assigned.push((maker, "ADMIN".to_owned()));
    }
    let id = call.ids.alphanumeric("proj_", 12).to_string();
    let mut project = Project {
        id: id.clone(),
        made_by: Some(maker.id),
        created_at: call.now_ms(),
        shown: projects::shown_from_the_beginning(),
        terms: terms::of_nothing(),
    };
    terms::apply(&mut project, body)?;
    project.shown.insert("id".into(), id.as_str().into());
    call.store.insert(PROJECT, &project.row());
    let webhook_token = call.ids.alphanumeric("", WEBHOOK_TOKEN_LENGTH).to_string();
    projects::keep_webhook_token(call.store, &id, &webhook_token, false, call.now_ms());
    for (mut user, role) in assigned {
        users::assign(&mut user, &id, Some(&role), call.now_ms());
        call.store.update(users::USER, &user);
    }
    let mut answer = show(call, &project)?;
    let server = draw_key(call, &id, Class::Server)?;
    let client = draw_key(call, &id, Class::Client)?;
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("webhook_token".into(), webhook_token.into());
        answer.insert("server_side_key".into(), server);
        answer.insert("client_side_key".into(), client);
    }
    // The keys that make a project manage it at once.
    let maker = call.caller.project.clone();
    Ok(forgetting(call.store, Answer::json(answer), &maker)?)
}

/// Who is to have which role from the first day, each of them known.
fn users_of(
    call: &Call<'_, '_>,
    sent: Option<Json>,
) -> Result<Vec<(crate::store::document::Document, String)>, CallError> {
    let mut assigned: Vec<(crate::store::document::Document, String)> = Vec::new();
    for (place, user) in sent.iter().flat_map(|sent| sent.as_array().into_iter().flatten()).enumerate() {
        let empty = Map::new();
        let named = user.as_object().unwrap_or(&empty);
        let (user, role) = super::users::named_in(call, named, &format!("users[{place}]"))?;
        if assigned.iter().any(|(known, _)| known.id == user.id) {
            return Err(Problem::at(format!("users[{place}]"), format!("names `{}` again", user.id)).into());
        }
        assigned.push((user, role));
    }
    Ok(assigned)
}

fn draw_key(call: &mut Call<'_, '_>, project: &str, class: Class) -> Result<Json, Fault> {
    let (id, token) = (ids::drawn(&mut call.ids), ids::drawn(&mut call.ids));
    let key = Key {
        project: project.to_owned(),
        class,
        id: id.clone(),
        token_sha256: sha256_hex(token.as_bytes()),
        user: None,
        name: None,
        former: None,
    };
    let row = key.row(true, call.now_ms())?;
    call.store.insert(crate::access::keys::KEY, &row);
    Ok(json!({ "app_id": id, "app_token": token }))
}

/// What changes holds for every key of the project: at once where this was asked, and within a minute elsewhere.
fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    let source = call.source()?;
    terms::check_rates(&source)?;
    // The one member that may be nothing.
    if source.get("dial_code").is_some_and(Json::is_null) {
        body.insert("dial_code".into(), Json::Null);
    }
    let mut project = project_of(call)?;
    if project.is_set_up() {
        return Err(protected(PROJECT, &project.id, "changed in the setup").into());
    }
    terms::apply(&mut project, body)?;
    call.store.update(PROJECT, &project.row());
    let answer = Answer::json(show(call, &project)?);
    Ok(forgetting(call.store, answer, &project.id)?)
}

/// Its keys and tokens go with it, and what is in its object. One that was deleted may be deleted again, should emptying it have failed.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let id = call.param("projectId").to_owned();
    let gone = call.store.document(DELETED, &id)?;
    let is_gone = gone.is_some_and(|gone| gone.parent.as_deref() == Some(&call.caller.project));
    let mut answer = Answer::empty(204);
    if !is_gone {
        let project = project_of(call)?;
        if project.is_set_up() {
            return Err(protected(PROJECT, &id, "deleted in the setup").into());
        }
        answer = forgetting(call.store, answer, &id)?;
        for mut user in users::of_project(call.store, &id)? {
            users::assign(&mut user, &id, None, call.now_ms());
            call.store.update(users::USER, &user);
        }
        projects::delete(call.store, &project, call.now_ms());
    }
    answer.headers.push((EMPTIED, id));
    Ok(answer)
}

fn rotate_webhook_token(call: &mut Call<'_, '_>) -> Outcome {
    let project = project_of(call)?;
    if projects::is_webhook_token_set_up(call.store, &project.id)? {
        return Err(protected("webhook_token", &project.id, "changed in the setup").into());
    }
    let token = call.ids.alphanumeric("", WEBHOOK_TOKEN_LENGTH).to_string();
    projects::keep_webhook_token(call.store, &project.id, &token, false, call.now_ms());
    let body = json!({ "object": "webhook_token", "project_id": project.id, "webhook_token": token });
    let mut answer = forgetting(call.store, Answer::json(body), &project.id)?;
    let signed = Signed { project: project.id, signing: Signing { token, since_ms: call.now_ms() } };
    answer.headers.push((SIGNED, serde_json::to_string(&signed).map_err(|error| Fault(error.to_string()))?));
    Ok(answer)
}
