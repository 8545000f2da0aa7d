//! The operator's desk: projects, their keys and users, and their brand. No area imports another's handlers.

pub mod branding;
mod ids;
pub mod keys;
pub mod projects;
mod terms;
pub mod users;

use crate::access::projects::Project;
use crate::http::caller::Class;
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::Call;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;

const MANAGEMENT: &[Class] = &[Class::Management];

/// What the setup says is changed there and nowhere else: the next start would undo it.
fn protected(kind: &str, id: &str, how: &str) -> ErrorBody {
    let told = format!("Resource {kind} with id {id} is protected and cannot be modified: it is {how}");
    error(400, "resource_protected", "Resource is protected", told).about(kind, id)
}

/// Refuses what is no e-mail address; `path` says where it stands. Which mailboxes there are, only a letter to them would say.
fn check_email(email: &str, path: impl FnOnce() -> String) -> Result<(), Problem> {
    if email.contains('@') && !email.contains(['/', ' ']) {
        return Ok(());
    }
    let told = format!("must be an e-mail address (actual value is `{}`)", shortened(email));
    Err(Problem::at(path(), told))
}

/// The project of the caller, which the entry has found to be the one that the path names.
fn project_of(call: &Call<'_, '_>) -> Result<Project, CallError> {
    let id = call.param("projectId");
    let is_callers = id == call.caller.project;
    let found = if is_callers { crate::access::projects::find(call.store, id)? } else { None };
    found.ok_or_else(|| not_found(crate::access::projects::PROJECT, id).into())
}
