//! Users as the directory keeps them: people with a login, and a role in each of their projects. It must not know what a role lets
//! anybody do.

use crate::http::caller::{ROLES, Role};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde_json::Value as Json;

/// The kind of the rows of users; the login is the key.
pub const USER: &str = "user";

/// The role of a name.
pub fn named(name: &str) -> Option<Role> {
    ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}

/// The role that a user has in a project.
pub fn role_in(user: &Document, project: &str) -> Option<Role> {
    let name = user.body.get("projects")?.get(project)?.as_str()?;
    named(name)
}

/// What a key may do because of whose it is: all that its class may where it is nobody's, or of a login that only the setup knows.
pub fn role(store: &Store<'_>, login: Option<&str>, project: &str) -> Result<Option<Role>, Fault> {
    let Some(login) = login else { return Ok(None) };
    let user = store.document_by_name(USER, login, "")?;
    Ok(user.map(|user| role_in(&user, project).unwrap_or(Role::None)))
}

/// Everybody who has a role in a project, the newest first.
pub fn of_project(store: &Store<'_>, project: &str) -> Result<Vec<Document>, Fault> {
    let all = store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'user' ORDER BY seq DESC",
        &[],
    )?;
    let has_role =
        |user: &Document| user.body.get("projects").and_then(|roles| roles.get(project)).is_some_and(Json::is_string);
    Ok(all.into_iter().filter(has_role).collect())
}

/// Gives a user a role in a project, or takes it away.
pub fn assign(user: &mut Document, project: &str, role: Option<&str>, now_ms: i64) {
    user.updated_at = Some(now_ms);
    if let Some(roles) = user.body.get_mut("projects").and_then(Json::as_object_mut) {
        match role {
            Some(role) => drop(roles.insert(project.to_owned(), role.into())),
            None => drop(roles.remove(project)),
        }
    }
}
