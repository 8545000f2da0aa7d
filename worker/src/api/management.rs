//! The management API: projects, their keys and users, and their branding.

pub mod branding;
mod ids;
pub mod keys;
pub mod projects;
mod terms;
pub mod users;

use crate::access::projects::Project;
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::Call;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;

const MANAGEMENT: &[CredentialClass] = &[CredentialClass::Management];

/// Refuses a change of an object that the setup defines: the next start would undo it.
fn protected(kind: &str, id: &str, how: &str) -> ErrorBody {
    let message = format!("Resource {kind} with id {id} is protected and cannot be modified: it is {how}");
    error(400, "resource_protected", "Resource is protected", message).about(kind, id)
}

/// Refuses an invalid e-mail address at `path`. The existence of the mailbox is not checked.
fn check_email(email: &str, path: impl FnOnce() -> String) -> Result<(), Problem> {
    if email.contains('@') && !email.contains(['/', ' ']) {
        return Ok(());
    }
    let message = format!("must be an e-mail address (actual value is `{}`)", shortened(email));
    Err(Problem::at(path(), message))
}

/// Returns the project of the caller, which the entry has matched with the path.
fn project_of(call: &Call<'_, '_>) -> Result<Project, CallError> {
    let id = call.param("projectId");
    let is_callers = id == call.caller.project;
    let found = if is_callers { crate::access::projects::find(call.store, id)? } else { None };
    found.ok_or_else(|| not_found(crate::access::projects::PROJECT, id).into())
}
