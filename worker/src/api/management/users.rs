//! Users of projects: invited, given a role, shown, and taken out. Runs in the directory's object. It must not know what a role opens.

use crate::access::keys::forgetting;
use crate::access::projects;
use crate::access::users::{self, USER};
use crate::api::management::{MANAGEMENT, check_email, project_of};
use crate::document::shapes;
use crate::document::shapes::management as shown;
use crate::http::caller::Role;
use crate::http::reply::{CallError, ErrorBody, duplicate, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, below, may, must};
use crate::store::document::Document;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

const ALL: &str = "/management/v1/projects/{projectId}/users";
const ONE: &str = "/management/v1/projects/{projectId}/users/{userId}";

/// How long a login may be: the names of accounts that count for it hold it.
const LOGIN: Kind = Kind::Name(255);
const ROLE: Field = must("role", Kind::Name(100)).says("What the user may do: ADMIN, USER, VIEWER or MERCHANT");
const ASSIGN: &[Field] = &[
    may("id", Kind::Name(100)).says("The user, where the login is not named"),
    may("login", LOGIN).says("The login of the user, where the id is not named"),
    ROLE,
];
const INVITE: &[Field] = &[
    must("email", LOGIN).says("Where the user is written to, and the login"),
    must("first_name", Kind::Name(200)).says("The first name"),
    must("last_name", Kind::Name(200)).says("The last name"),
    must("projects", Kind::MapOf(&Kind::Name(100))).says("The role in each project, by the project's id"),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/management/v1/projects/users/invite", "Invite a user", invite)
        .for_classes(MANAGEMENT)
        .body(INVITE)
        .answers(204, shapes::EMPTY)
        .in_directory(),
    get(ALL, "List the users of a project", list)
        .for_classes(MANAGEMENT)
        .lists("data", shown::USER, shapes::TOTAL)
        .in_directory(),
    post(ALL, "Assign a user to a project", assign)
        .for_classes(MANAGEMENT)
        .body(ASSIGN)
        .answers(200, shown::USER)
        .in_directory(),
    get(ONE, "Get a user of a project", read).for_classes(MANAGEMENT).answers(200, shown::USER).in_directory(),
    put(ONE, "Change the role of a user", update)
        .for_classes(MANAGEMENT)
        .body(&[ROLE])
        .answers(200, shown::USER)
        .in_directory(),
    delete(ONE, "Take a user out of a project", remove)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY)
        .in_directory(),
];

/// The user is known, and has no role in the project.
pub(super) fn user_not_assigned() -> ErrorBody {
    error(400, "user_not_assigned", "User is not assigned", "User is not assigned to the project")
}

fn check_role(role: &str) -> Result<(), ErrorBody> {
    match users::named(role) {
        Some(_) => Ok(()),
        None => {
            let told = format!("The role '{}' is incorrect", shortened(role));
            Err(error(400, "used_incorrect_role", "Used incorrect role", told))
        }
    }
}

/// What is shown of a user in a project: of the roles, the one in it. What somebody may do elsewhere is told there.
fn show(user: &Document, project: &str) -> Json {
    let mut body = user.body.clone();
    if let Some(roles) = body.get_mut("projects").and_then(Json::as_object_mut) {
        roles.retain(|id, _| id == project);
    }
    Json::Object(body)
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let project = project_of(call)?;
    let found = users::of_project(call.store, &project.id)?;
    let shown = found.iter().map(|user| show(user, &project.id)).collect::<Vec<Json>>();
    let total = shown.len();
    Ok(Answer::json(json!({ "object": "list", "data_ref": "data", "data": shown, "total": total })))
}

/// The user whom the path names.
fn named(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let id = call.param("userId");
    call.store.document(USER, id)?.ok_or_else(|| not_found(USER, id).into())
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    let project = project_of(call)?;
    let user = named(call)?;
    if users::role_in(&user, &project.id).is_none() {
        return Err(not_found(USER, &user.id).into());
    }
    Ok(Answer::json(show(&user, &project.id)))
}

/// Whom an assignment names by id or by login, and the role: exactly one of the names, as is published.
pub(super) fn named_in(
    call: &Call<'_, '_>,
    sent: &Map<String, Json>,
    path: &str,
) -> Result<(Document, String), CallError> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    let (id, login) = (text("id"), text("login"));
    let role = text("role").unwrap_or_default();
    check_role(role)?;
    let (name, found) = match (id, login) {
        (Some(_), Some(login)) => {
            let told = format!("must NOT be sent together with id (actual value is `{}`)", shortened(login));
            return Err(Problem::at(below(path, "login"), told).into());
        }
        (None, None) => return Err(Problem::missing(path, "id").into()),
        (Some(id), None) => (id, call.store.document(USER, id)?),
        (None, Some(login)) => (login, call.store.document_by_name(USER, login, "")?),
    };
    let user = found.ok_or_else(|| not_found(USER, name))?;
    Ok((user, role.to_owned()))
}

fn assign(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let project = project_of(call)?;
    let (user, role) = named_in(call, &body, "")?;
    give(call, user, &project.id, &role)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let project = project_of(call)?;
    let role = body.get("role").and_then(Json::as_str).unwrap_or_default().to_owned();
    check_role(&role)?;
    let user = named(call)?;
    users::role_in(&user, &project.id).ok_or_else(user_not_assigned)?;
    give(call, user, &project.id, &role)
}

/// Gives a user a role; what the keys of the user may do follows from it.
fn give(call: &mut Call<'_, '_>, mut user: Document, project: &str, role: &str) -> Outcome {
    if users::named(role) != Some(Role::Admin) {
        check_administrators(call, &user, project)?;
    }
    users::assign(&mut user, project, Some(role), call.now_ms());
    call.store.update(USER, &user);
    let answer = Answer::json(show(&user, project));
    Ok(forgetting(call.store, answer, project)?)
}

/// Refuses what would leave a project without an administrator that has one.
fn check_administrators(call: &Call<'_, '_>, user: &Document, project: &str) -> Result<(), CallError> {
    let is_administrator = |user: &Document| users::role_in(user, project) == Some(Role::Admin);
    if !is_administrator(user) {
        return Ok(());
    }
    let others = users::of_project(call.store, project)?;
    if others.iter().any(|other| other.id != user.id && is_administrator(other)) {
        return Ok(());
    }
    let told = format!("the user `{}` is the last administrator of the project `{project}`", user.id);
    Err(error(400, "last_administrator", "Last administrator", told).into())
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let project = project_of(call)?;
    let mut user = named(call)?;
    users::role_in(&user, &project.id).ok_or_else(user_not_assigned)?;
    if user.body.get("projects").and_then(Json::as_object).is_none_or(|roles| roles.len() < 2) {
        let told = format!("the user `{}` has no other project, and cannot be taken out of the only one", user.id);
        return Err(error(400, "single_project", "User with a single project", told).into());
    }
    check_administrators(call, &user, &project.id)?;
    users::assign(&mut user, &project.id, None, call.now_ms());
    call.store.update(USER, &user);
    Ok(forgetting(call.store, Answer::empty(204), &project.id)?)
}

/// Nobody is written to: the login counts from now on, and whoever keeps the service makes a key for it.
fn invite(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let login = text("email");
    check_email(&login, || "email".to_owned())?;
    let roles = body.get("projects").and_then(Json::as_object).cloned().unwrap_or_default();
    if roles.is_empty() {
        return Err(Problem::at("projects", "must NOT have fewer than 1 properties").into());
    }
    let made = projects::made_by(call.store, &call.caller.project)?;
    for (id, role) in &roles {
        check_role(role.as_str().unwrap_or_default())?;
        let is_open =
            |login| users::role(call.store, login, id).map(|role| role.is_none_or(|role| role == Role::Admin));
        let is_managed = *id == call.caller.project || made.iter().any(|project| project.id == *id);
        if !is_managed || !is_open(call.caller.user.as_deref())? {
            return Err(not_found(projects::PROJECT, &shortened(id)).into());
        }
    }
    if call.store.document_by_name(USER, &login, "")?.is_some() {
        return Err(duplicate(USER, "login", &login).into());
    }
    let id = call.ids.alphanumeric("user_", 32).to_string();
    let whole = json!({
        "id": id, "login": login, "email": login, "first_name": text("first_name"), "last_name": text("last_name"),
        "projects": roles, "is_owner": false,
    });
    let whole = whole.as_object().cloned().unwrap_or_default();
    call.store.insert(USER, &Document::new(id, Some(login), call.now_ms(), whole));
    let mut answer = Answer::empty(204);
    // A key of the setup may bear the login: from now on the role holds for it.
    for project in roles.keys() {
        answer = forgetting(call.store, answer, project)?;
    }
    Ok(answer)
}
