//! Projects: those of the setup are visible, and others are created, changed and deleted here. Runs in the
//! directory's object.

use crate::access::keys::{
    ApiKey, CHANGED, EMPTY_PROJECT, SettingsUpdate, UPDATE_WEBHOOK_SECRET, WebhookSecretUpdate, evict_project_keys,
};
use crate::access::projects::{self, DELETED, PROJECT, Project, WEBHOOK_TOKEN_LENGTH};
use crate::access::{roles, users};
use crate::api::management::terms::{self, CHANGES, CREATE};
use crate::api::management::{MANAGEMENT, ids, project_of, protected};
use crate::constant_time::sha256_hex;
use crate::documents::shapes;
use crate::documents::shapes::management as management_shapes;
use crate::domain::vouchers::code_generator;
use crate::http::caller::{CredentialClass, UserRole, WebhookSecret};
use crate::http::reply::{CallError, error, forbidden};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::Nulls;
use crate::store::amount::CheckedAmount;
use crate::store::sql::Fault;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Maximum number of projects that one project creates: the record of its management keys contains the settings of all.
const PROJECTS_MAX: usize = 100;

const ALL: &str = "/management/v1/projects";
const ONE: &str = "/management/v1/projects/{projectId}";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List projects", list)
        .for_classes(MANAGEMENT)
        .lists("data", management_shapes::PROJECT, shapes::TOTAL)
        .describe(
            "listProjects",
            "Returns the project of the management key and the projects that were created with its keys, without pages. A key that belongs to a user lists only the projects in which the role of the user permits reading. `webhook_token` is returned only to administrators.",
        )
        .returns("The projects that the key manages, and the total.")
        .in_directory(),
    post(ALL, "Create a project", create)
        .for_classes(MANAGEMENT)
        .body(CREATE)
        .answers(200, management_shapes::PROJECT_CREATED)
        .describe(
            "createProject",
            "Creates a project with a server key, a client key and a webhook secret, all in one transaction. The user of the calling key becomes an administrator of the project. Only a management key of a project from the operator's setup may call (`forbidden`), and such a project creates up to 100 projects (`too_many_projects`). The secrets are returned only once, so that the response is not kept under an `Idempotency-Key`.",
        )
        .returns("The new project with the secrets of its keys, which are returned only once.")
        .in_directory()
        .without_stored_response(),
    get(ONE, "Get a project", read)
        .for_classes(MANAGEMENT)
        .answers(200, management_shapes::PROJECT)
        .describe(
            "getProject",
            "Returns a project with its settings, client policy and rate limits. `webhook_token` is returned only to administrators. A project that the key does not manage is refused with `not_found`.",
        )
        .returns("The project.")
        .in_directory(),
    put(ONE, "Update a project", update)
        .for_classes(MANAGEMENT)
        .body(CHANGES)
        .answers(200, management_shapes::PROJECT)
        .describe(
            "updateProject",
            "Replaces the sent settings of a project; settings that are not sent stay. `rate_limits` is replaced as a whole. The change applies at once in the process that answers, and within a minute elsewhere. A project from the operator's setup is refused with `resource_protected`, an unknown one with `not_found`.",
        )
        .returns("The project after the change.")
        .in_directory(),
    delete(ONE, "Delete a project", remove)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY)
        .describe(
            "deleteProject",
            "Deletes a project for good: its keys, tokens and roles end at once, then all its data is removed. A call that fails can be repeated. A project from the operator's setup is refused with `resource_protected`, an unknown one with `not_found`.",
        )
        .returns("No content: the project and its data are deleted.")
        .in_directory(),
    post("/management/v1/projects/{projectId}/webhook-token", "Rotate the webhook secret", rotate_webhook_token)
        .for_classes(MANAGEMENT)
        .answers(200, management_shapes::WEBHOOK_TOKEN)
        .describe(
            "rotateWebhookToken",
            "Replaces the secret that signs the webhooks of a project; later deliveries, including retries, are signed with the new secret only. A secret from the operator's setup is refused with `resource_protected`, an unknown project with `not_found`.",
        )
        .returns("The new secret.")
        .in_directory()
        .without_stored_response(),
];

/// Converts a project to JSON for a user with a role in it. The webhook secret is visible to users who may change it.
fn to_json(call: &Call<'_, '_>, project: &Project, role: Option<UserRole>) -> Result<Json, Fault> {
    let mut body = project.members.clone();
    if role.is_none_or(|role| role == UserRole::Admin) {
        body.insert("webhook_token".into(), projects::webhook_token(call.store, &project.id)?.into());
    }
    let limits = project.terms.rate_limits;
    let listed = |rate: Option<crate::http::rate_limits::Rate>| -> Json {
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
    body.insert("replay_days".into(), project.terms.settings.replay_days.into());
    let charset = code_generator::alphabet(&project.terms.settings);
    body.insert("default_code_config".into(), json!({ "charset": charset }));
    Ok(Json::Object(body))
}

/// Lists the projects that the key manages: its own and those that it has created. The role that the user of the key has in a
/// project determines if it is listed, and its visible members.
fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let own = projects::find(call.store, &call.caller.project)?;
    let mut projects = Vec::new();
    for project in own.into_iter().chain(projects::list_created_by(call.store, &call.caller.project)?) {
        let role = users::role(call.store, call.caller.user.as_deref(), &project)?;
        if role.is_none_or(|role| roles::allows(role, call.route)) {
            projects.push(to_json(call, &project, role)?);
        }
    }
    let total = projects.len();
    Ok(Response::json(json!({ "object": "list", "data_ref": "data", "data": projects, "total": total })))
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    let project = project_of(call)?;
    Ok(Response::json(to_json(call, &project, call.caller.role)?))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    terms::check_rates(&call.source()?)?;
    let maker = projects::find(call.store, &call.caller.project)?.filter(Project::is_set_up);
    let Some(maker) = maker else {
        return Err(forbidden("projects are made with a management key of a project of the setup").into());
    };
    if projects::list_created_by(call.store, &maker.id)?.len() >= PROJECTS_MAX {
        let message = format!("the project `{}` has made {PROJECTS_MAX} projects, and can make no more", maker.id);
        return Err(error(400, "too_many_projects", "Too many projects", message).into());
    }
    let mut assigned = users_of(call, &maker.id, body.remove("users"))?;
    // The creator of a project always gets access to it.
    if let Some(login) = call.caller.user.as_deref()
        && let Some(caller) = users::with_login(call.store, &maker.id, login)?
        && assigned.iter().all(|(user, _)| user.id != caller.id)
    {
        assigned.push((caller, "ADMIN".to_owned()));
    }
    let id = call.ids.alphanumeric("proj_", 12).to_string();
    let mut project = Project {
        id: id.clone(),
        created_by: Some(maker.id),
        created_at: call.now_ms(),
        members: projects::initial_members(),
        terms: terms::without_settings(),
    };
    terms::apply(&mut project, body)?;
    project.members.insert("id".into(), id.as_str().into());
    call.store.insert(PROJECT, &project.row());
    let webhook_token = call.ids.alphanumeric("", WEBHOOK_TOKEN_LENGTH).to_string();
    projects::update_webhook_token(call.store, &id, &webhook_token, false, call.now_ms());
    for (mut user, role) in assigned {
        users::assign(&mut user, &id, Some(&role), call.now_ms());
        call.store.update(users::USER, &user);
    }
    let mut answer = to_json(call, &project, call.caller.role)?;
    let server = create_key(call, &id, CredentialClass::Server)?;
    let client = create_key(call, &id, CredentialClass::Client)?;
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("webhook_token".into(), webhook_token.into());
        answer.insert("server_side_key".into(), server);
        answer.insert("client_side_key".into(), client);
    }
    // The keys that created a project manage it at once.
    let maker = call.caller.project.clone();
    Ok(evict_project_keys(call.store, Response::json(answer), &maker)?)
}

/// Returns the users of an organisation with their initial roles; each user must be known.
fn users_of(
    call: &Call<'_, '_>,
    organisation: &str,
    sent: Option<Json>,
) -> Result<Vec<(crate::store::document::Document, String)>, CallError> {
    let mut assigned: Vec<(crate::store::document::Document, String)> = Vec::new();
    for (place, user) in sent.iter().flat_map(|sent| sent.as_array().into_iter().flatten()).enumerate() {
        let empty = Map::new();
        let named = user.as_object().unwrap_or(&empty);
        let (user, role) = super::users::named_in(call, organisation, named, &format!("users[{place}]"))?;
        if assigned.iter().any(|(known, _)| known.id == user.id) {
            return Err(Problem::at(format!("users[{place}]"), format!("names `{}` again", user.id)).into());
        }
        assigned.push((user, role));
    }
    Ok(assigned)
}

fn create_key(call: &mut Call<'_, '_>, project: &str, class: CredentialClass) -> Result<Json, Fault> {
    let (id, token) = (ids::generate_id(&mut call.ids), ids::generate_id(&mut call.ids));
    let key = ApiKey {
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

/// Changes a project for all of its keys: at once in the process of this call, and within a minute elsewhere.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    let source = call.source()?;
    terms::check_rates(&source)?;
    // Only this member may be null.
    if source.get("dial_code").is_some_and(Json::is_null) {
        body.insert("dial_code".into(), Json::Null);
    }
    let mut project = project_of(call)?;
    if project.is_set_up() {
        return Err(protected(PROJECT, &project.id, "changed in the setup").into());
    }
    let case_sensitive = source.get("case_sensitive_codes").filter(|sent| !sent.is_null());
    if let Some(sent) = case_sensitive.filter(|sent| **sent != project.terms.settings.case_sensitive_codes) {
        let bound = format!("must be {}, as the project was created", project.terms.settings.case_sensitive_codes);
        return Err(Problem::bound("case_sensitive_codes", &bound, &sent.to_string()).into());
    }
    terms::apply(&mut project, body)?;
    let changed_ms = project.terms.settings.changed_ms.plus(1)?.max(call.now_ms());
    project.terms.settings.changed_ms = changed_ms;
    call.store.update(PROJECT, &project.row());
    let answer = Response::json(to_json(call, &project, call.caller.role)?);
    let mut answer = evict_project_keys(call.store, answer, &project.id)?;
    let changed = SettingsUpdate { project: project.id, settings: project.terms.settings };
    answer.headers.push((CHANGED, serde_json::to_string(&changed).map_err(|error| Fault(error.to_string()))?));
    Ok(answer)
}

/// Deletes a project with its keys, its tokens and the contents of its object. A deleted one may be deleted again if its
/// object was not emptied.
fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let id = call.param("projectId").to_owned();
    let gone = call.store.document(DELETED, &id)?;
    let is_gone = gone.is_some_and(|gone| gone.parent.as_deref() == Some(&call.caller.project));
    let mut answer = Response::empty(204);
    if !is_gone {
        let project = project_of(call)?;
        if project.is_set_up() {
            return Err(protected(PROJECT, &id, "deleted in the setup").into());
        }
        answer = evict_project_keys(call.store, answer, &id)?;
        for mut user in users::of_project(call.store, &project)? {
            users::assign(&mut user, &id, None, call.now_ms());
            call.store.update(users::USER, &user);
        }
        projects::delete(call.store, &project, call.now_ms());
    }
    answer.headers.push((EMPTY_PROJECT, id));
    Ok(answer)
}

fn rotate_webhook_token(call: &mut Call<'_, '_>) -> HandlerResult {
    let project = project_of(call)?;
    if projects::is_webhook_token_set_up(call.store, &project.id)? {
        return Err(protected("webhook_token", &project.id, "changed in the setup").into());
    }
    let token = call.ids.alphanumeric("", WEBHOOK_TOKEN_LENGTH).to_string();
    projects::update_webhook_token(call.store, &project.id, &token, false, call.now_ms());
    let body = json!({ "object": "webhook_token", "project_id": project.id, "webhook_token": token });
    let mut answer = evict_project_keys(call.store, Response::json(body), &project.id)?;
    let signing = WebhookSecret { token, since_ms: call.now_ms() };
    let signed = WebhookSecretUpdate { project: project.id, signing, settings: Some(project.terms.settings) };
    answer
        .headers
        .push((UPDATE_WEBHOOK_SECRET, serde_json::to_string(&signed).map_err(|error| Fault(error.to_string()))?));
    Ok(answer)
}
