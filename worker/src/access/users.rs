//! Users as the directory stores them: a login, and a role in each project. A user belongs to an organisation, the project of the setup
//! that invited them. One login may be a user of several organisations, which do not see each other.

use crate::access::projects::Project;
use crate::http::caller::{ROLES, UserRole};
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::{Store, access::credentials};
use scrip::id::Ids;
use serde_json::Value as Json;

/// Kind of the rows of users. The parent is the organisation; the key consists of organisation and login.
pub const USER: &str = "user";

/// Returns the key of the row of an organisation's user. The id of an organisation has no `/`.
pub fn key_of(organisation: &str, login: &str) -> String {
    format!("{organisation}/{login}")
}

/// Finds the user of an organisation with a login.
pub fn with_login(store: &Store<'_>, organisation: &str, login: &str) -> Result<Option<Document>, Fault> {
    store.document_by_name(USER, &key_of(organisation, login), "")
}

/// Finds the user of an organisation with an id.
pub fn with_id(store: &Store<'_>, organisation: &str, id: &str) -> Result<Option<Document>, Fault> {
    let found = store.document(USER, id)?;
    Ok(found.filter(|user| user.parent.as_deref() == Some(organisation)))
}

/// Returns the role of a name.
pub fn role_by_name(name: &str) -> Option<UserRole> {
    ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}

/// Returns the role that a user has in a project.
pub fn role_in(user: &Document, project: &str) -> Option<UserRole> {
    let name = user.body.get("projects")?.get(project)?.as_str()?;
    role_by_name(name)
}

/// Returns the role of the user who owns a key. `None`, all that the class of the key may do, without an owner or for a login that
/// the project's organisation has not invited.
pub fn role(store: &Store<'_>, login: Option<&str>, project: &Project) -> Result<Option<UserRole>, Fault> {
    let Some(login) = login else { return Ok(None) };
    let user = with_login(store, project.organisation(), login)?;
    Ok(user.map(|user| role_in(&user, &project.id).unwrap_or(UserRole::None)))
}

/// Lists the users who have a role in a project, the newest first.
pub fn of_project(store: &Store<'_>, project: &Project) -> Result<Vec<Document>, Fault> {
    let all = credentials::list_users(store, project.organisation())?;
    let has_role = |user: &Document| {
        user.body.get("projects").and_then(|roles| roles.get(&project.id)).is_some_and(Json::is_string)
    };
    Ok(all.into_iter().filter(has_role).collect())
}

/// Copies users of an organisation to one of its projects, which the setup has made a separate organisation. Copied are users with a
/// role in it, and users whose login is on a key of it, so that no key gains permissions.
pub fn copy_to_project(
    store: &mut Store<'_>,
    ids: &mut Ids,
    project: &Project,
    logins: &[String],
) -> Result<(), Fault> {
    for user in credentials::list_users(store, project.organisation())? {
        let login = user.body.get("login").and_then(Json::as_str).unwrap_or_default().to_owned();
        let role = user.body.get("projects").and_then(|roles| roles.get(&project.id)).cloned();
        if role.is_none() && !logins.contains(&login) || with_login(store, &project.id, &login)?.is_some() {
            continue;
        }
        let id = ids.alphanumeric("user_", 32).to_string();
        let mut body = user.body;
        body.insert("id".into(), id.as_str().into());
        body.insert("projects".into(), role.into_iter().map(|role| (project.id.clone(), role)).collect());
        let mut copy = Document::new(id, Some(key_of(&project.id, &login)), user.created_at, body);
        copy.parent = Some(project.id.clone());
        store.insert(USER, &copy);
    }
    Ok(())
}

/// Assigns a user a role in a project, or removes it.
pub fn assign(user: &mut Document, project: &str, role: Option<&str>, now_ms: i64) {
    user.updated_at = Some(now_ms);
    if let Some(roles) = user.body.get_mut("projects").and_then(Json::as_object_mut) {
        match role {
            Some(role) => drop(roles.insert(project.to_owned(), role.into())),
            None => drop(roles.remove(project)),
        }
    }
}
