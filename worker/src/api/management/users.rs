//! Users of projects: invite, assign a role, get, and remove. Runs in the directory's object.

use crate::access::keys;
use crate::access::projects::{self, Project};
use crate::access::users::{self, USER};
use crate::api::management::{MANAGEMENT, check_email, project_of};
use crate::documents::shapes;
use crate::documents::shapes::management as management_shapes;
use crate::http::caller::UserRole;
use crate::http::reply::{CallError, ErrorBody, duplicate, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, below, may, must};
use crate::store::document::Document;
use crate::store::records::UserRecord;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

const ALL: &str = "/management/v1/projects/{projectId}/users";
const ONE: &str = "/management/v1/projects/{projectId}/users/{userId}";

/// Type of a login. Its length is limited because names of counting accounts contain it.
const LOGIN: FieldType = FieldType::Name(255);
const ROLE: Field = must("role", FieldType::Name(100))
    .description("Role of the user in the project: `ADMIN`, `USER`, `VIEWER` or `MERCHANT`.");
const ASSIGN: &[Field] = &[
    may("id", FieldType::Name(100))
        .description("ID of the user. Required when `login` is absent, refused together with `login`."),
    may("login", LOGIN).description("Login of the user. Required when `id` is absent, refused together with `id`."),
    ROLE,
];
const INVITE: &[Field] = &[
    must("email", LOGIN).description("E-mail address of the user, which is also the login."),
    must("first_name", FieldType::Name(200)).description("First name of the user."),
    must("last_name", FieldType::Name(200)).description("Last name of the user."),
    must("projects", FieldType::MapOf(&FieldType::Name(100)))
        .description("Role of the user by the ID of each project: `ADMIN`, `USER`, `VIEWER` or `MERCHANT`. At least one project is required."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/management/v1/projects/users/invite", "Invite a user", invite)
        .for_classes(MANAGEMENT)
        .body(INVITE)
        .answers(204, shapes::EMPTY)
        .describe(
            "inviteUser",
            "Creates a user with a role in one or more projects. No e-mail is sent: the roles count from now on for every key that names the login. The caller must administer each project (`not_found`), and the login must be new in the organisation (`duplicate_found`).",
        )
        .returns("No content: the user is created.")
        .in_directory(),
    get(ALL, "List users", list)
        .for_classes(MANAGEMENT)
        .lists("data", management_shapes::USER, shapes::TOTAL)
        .describe(
            "listUsers",
            "Returns the users who have a role in a project, newest first, without pages. Roles in other projects are not returned. An unknown project is refused with `not_found`.",
        )
        .returns("The users of the project, and the total.")
        .in_directory(),
    post(ALL, "Assign a user to a project", assign)
        .for_classes(MANAGEMENT)
        .body(ASSIGN)
        .answers(200, management_shapes::USER)
        .describe(
            "assignUser",
            "Gives a user of the organisation a role in a project, or replaces the role. The user is named by either `id` or `login`. The permissions of the user's keys follow from the role. An unknown role is refused with `used_incorrect_role`, an unknown user with `not_found`.",
        )
        .returns("The user with the role in this project.")
        .in_directory(),
    get(ONE, "Get a user", read)
        .for_classes(MANAGEMENT)
        .answers(200, management_shapes::USER)
        .describe(
            "getUser",
            "Returns a user with the role in this project. A user without a role in the project is refused with `not_found`.",
        )
        .returns("The user with the role in this project.")
        .in_directory(),
    put(ONE, "Update the role of a user", update)
        .for_classes(MANAGEMENT)
        .body(&[ROLE])
        .answers(200, management_shapes::USER)
        .describe(
            "updateUser",
            "Replaces the role that a user has in a project; the permissions of the user's keys follow. A user without a role in the project is refused with `user_not_assigned`. The last administrator of a project keeps the role (`last_administrator`).",
        )
        .returns("The user with the new role in this project.")
        .in_directory(),
    delete(ONE, "Remove a user from a project", remove)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY)
        .describe(
            "removeUser",
            "Removes the role of a user in a project; the user's keys of the project lose all permissions. A user whose only project this is cannot be removed (`single_project`), nor can the last administrator (`last_administrator`).",
        )
        .returns("No content: the user has no role in the project.")
        .in_directory(),
];

/// Returns the error for a known user without a role in the project.
pub(super) fn user_not_assigned() -> ErrorBody {
    error(400, "user_not_assigned", "User is not assigned", "User is not assigned to the project")
}

fn check_role(role: &str) -> Result<(), ErrorBody> {
    match users::role_by_name(role) {
        Some(_) => Ok(()),
        None => {
            let message = format!("The role '{}' is incorrect", shortened(role));
            Err(error(400, "used_incorrect_role", "Used incorrect role", message))
        }
    }
}

/// Converts a user in a project to JSON, with the role in that project only. Other projects return their own roles.
fn to_json(user: &Document, project: &str) -> Json {
    let mut body = user.body.clone();
    if let Some(roles) = body.get_mut("projects").and_then(Json::as_object_mut) {
        roles.retain(|id, _| id == project);
    }
    Json::Object(body)
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let project = project_of(call)?;
    let found = users::of_project(call.store, &project)?;
    let users = found.iter().map(|user| to_json(user, &project.id)).collect::<Vec<Json>>();
    let total = users.len();
    Ok(Response::json(json!({ "object": "list", "data_ref": "data", "data": users, "total": total })))
}

/// Returns the user of the project's organisation that the path names.
fn named(call: &Call<'_, '_>, project: &Project) -> Result<Document, CallError> {
    let id = call.param("userId");
    users::with_id(call.store, project.organisation(), id)?.ok_or_else(|| not_found(USER, id).into())
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    let project = project_of(call)?;
    let user = named(call, &project)?;
    if users::role_in(&user, &project.id).is_none() {
        return Err(not_found(USER, &user.id).into());
    }
    Ok(Response::json(to_json(&user, &project.id)))
}

/// Returns the user of an organisation that an assignment names, and the role. Exactly one of id and login is given, as is published.
pub(super) fn named_in(
    call: &Call<'_, '_>,
    organisation: &str,
    sent: &Map<String, Json>,
    path: &str,
) -> Result<(Document, String), CallError> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    let (id, login) = (text("id"), text("login"));
    let role = text("role").unwrap_or_default();
    check_role(role)?;
    let (name, found) = match (id, login) {
        (Some(_), Some(login)) => {
            let message = format!("must NOT be sent together with id (actual value is `{}`)", shortened(login));
            return Err(Problem::at(below(path, "login"), message).into());
        }
        (None, None) => return Err(Problem::missing(path, "id").into()),
        (Some(id), None) => (id, users::with_id(call.store, organisation, id)?),
        (None, Some(login)) => (login, users::with_login(call.store, organisation, login)?),
    };
    let user = found.ok_or_else(|| not_found(USER, name))?;
    Ok((user, role.to_owned()))
}

fn assign(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let project = project_of(call)?;
    let (user, role) = named_in(call, project.organisation(), &body, "")?;
    assign_role(call, user, &project, &role)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let project = project_of(call)?;
    let role = body.get("role").and_then(Json::as_str).unwrap_or_default().to_owned();
    check_role(&role)?;
    let user = named(call, &project)?;
    users::role_in(&user, &project.id).ok_or_else(user_not_assigned)?;
    assign_role(call, user, &project, &role)
}

/// Assigns a role to a user, which determines the permissions of the user's keys.
fn assign_role(call: &mut Call<'_, '_>, mut user: Document, project: &Project, role: &str) -> HandlerResult {
    if users::role_by_name(role) != Some(UserRole::Admin) {
        check_administrators(call, &user, project)?;
    }
    users::assign(&mut user, &project.id, Some(role), call.now_ms());
    call.store.update(USER, &user);
    let answer = Response::json(to_json(&user, &project.id));
    evict_user_keys(call, answer, &user)
}

/// Instructs the entry to evict the records of the keys with a user's login, and of their tokens.
fn evict_user_keys(call: &Call<'_, '_>, answer: Response, user: &Document) -> HandlerResult {
    let login = user.as_user().login();
    let rows = keys::with_login(call.store, user.parent.as_deref().unwrap_or_default(), login)?;
    Ok(keys::evict_keys(call.store, answer, &rows)?)
}

/// Refuses to remove the last administrator of a project.
fn check_administrators(call: &Call<'_, '_>, user: &Document, project: &Project) -> Result<(), CallError> {
    let is_administrator = |user: &Document| users::role_in(user, &project.id) == Some(UserRole::Admin);
    if !is_administrator(user) {
        return Ok(());
    }
    let others = users::of_project(call.store, project)?;
    if others.iter().any(|other| other.id != user.id && is_administrator(other)) {
        return Ok(());
    }
    let message = format!("the user `{}` is the last administrator of the project `{}`", user.id, project.id);
    Err(error(400, "last_administrator", "Last administrator", message).into())
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let project = project_of(call)?;
    let mut user = named(call, &project)?;
    users::role_in(&user, &project.id).ok_or_else(user_not_assigned)?;
    if user.as_user().projects().is_none_or(|roles| roles.len() < 2) {
        let message = format!("the user `{}` has no other project, and cannot be taken out of the only one", user.id);
        return Err(error(400, "single_project", "User with a single project", message).into());
    }
    check_administrators(call, &user, &project)?;
    users::assign(&mut user, &project.id, None, call.now_ms());
    call.store.update(USER, &user);
    evict_user_keys(call, Response::empty(204), &user)
}

/// Lists the projects that the caller administers: its own, and those that were created with it.
fn administered(call: &Call<'_, '_>, own: Project) -> Result<Vec<Project>, CallError> {
    let mut all = projects::list_created_by(call.store, &own.id)?;
    all.push(own);
    let mut administered = Vec::with_capacity(all.len());
    for project in all {
        let role = users::role(call.store, call.caller.user.as_deref(), &project)?;
        if role.is_none_or(|role| role == UserRole::Admin) {
            administered.push(project);
        }
    }
    Ok(administered)
}

/// Invites a user without sending an e-mail: the login is valid from now on, and the operator creates a key for it.
fn invite(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let login = text("email");
    check_email(&login, || "email".to_owned())?;
    let roles = UserRecord::of(&body).projects().cloned().unwrap_or_default();
    if roles.is_empty() {
        return Err(Problem::at("projects", "must NOT have fewer than 1 properties").into());
    }
    let own = projects::find(call.store, &call.caller.project)?;
    let own = own.ok_or_else(|| not_found(projects::PROJECT, &call.caller.project))?;
    let organisation = own.organisation().to_owned();
    let administered = administered(call, own)?;
    for (id, role) in &roles {
        check_role(role.as_str().unwrap_or_default())?;
        if !administered.iter().any(|project| project.id == *id) {
            return Err(not_found(projects::PROJECT, &shortened(id)).into());
        }
    }
    if users::with_login(call.store, &organisation, &login)?.is_some() {
        return Err(duplicate(USER, "login", &login).into());
    }
    // A key of the setup with the login has all permissions of its class until its user is invited: only its project may do that.
    for row in keys::with_login(call.store, &organisation, &login)? {
        let key = keys::ApiKey::of(&row)?;
        if !administered.iter().any(|project| project.id == key.project) {
            return Err(duplicate(USER, "login", &login).into());
        }
    }
    let id = call.ids.alphanumeric("user_", 32).to_string();
    let body = json!({
        "id": id, "login": login, "email": login, "first_name": text("first_name"), "last_name": text("last_name"),
        "projects": roles, "is_owner": false,
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut user = Document::new(id, Some(users::key_of(&organisation, &login)), call.now_ms(), body);
    user.parent = Some(organisation);
    call.store.insert(USER, &user);
    // A key of the setup may have the login: from now on the role applies to it.
    evict_user_keys(call, Response::empty(204), &user)
}
