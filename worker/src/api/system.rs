//! What is there for everyone: whether the service can work, whether it is up, and its own description. It must not know any project.

use crate::document::shapes;
use crate::http::reply::CallError;
use crate::http::route::{Call, Outcome, Route, get};
use crate::store::sql::Fault;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/health", "Whether the service can do its work: its setup is read and its storage takes writes", public)
        .for_classes(&[])
        .answers(200, shapes::project::HEALTH)
        .or_answers(503, crate::openapi::refusals::ERROR),
    get("/health/live", "Whether the process answers at all", public)
        .for_classes(&[])
        .answers(200, shapes::project::HEALTH),
    get("/openapi.json", "The description of this interface", public)
        .for_classes(&[])
        .answers(200, shapes::project::OPENAPI),
];

/// Public routes are answered before a call is made.
fn public(call: &mut Call<'_, '_>) -> Outcome {
    Err(CallError::Fault(Fault(format!("the public route {} was called with a store", call.route.path))))
}
