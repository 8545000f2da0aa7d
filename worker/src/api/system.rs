//! Public routes: health, liveness, and the OpenAPI description.

use crate::documents::shapes;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Route, get};
use crate::store::sql::Fault;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/health", "Check the health of the service", public)
        .for_classes(&[])
        .answers(200, shapes::project::HEALTH)
        .or_answers(503, crate::openapi::refusals::ERROR)
        .describe(
            "getHealth",
            "Returns whether the service can work: its setup has been read and its storage takes writes. The error 503 names the part that fails, without details of the installation.",
        )
        .returns("The status of a service that can work."),
    get("/health/live", "Check whether the process responds", public)
        .for_classes(&[])
        .answers(200, shapes::project::HEALTH)
        .describe(
            "getLiveness",
            "Returns the status `ok` as long as the process responds; setup and storage are not checked.",
        )
        .returns("The status of a process that responds."),
    get("/openapi.json", "Get the API description", public)
        .for_classes(&[])
        .answers(200, shapes::project::OPENAPI)
        .describe("getOpenApi", "Returns this description as an OpenAPI 3.1 document.")
        .returns("The OpenAPI document."),
];

/// Handles public routes, which are answered before a call is created.
fn public(call: &mut Call<'_, '_>) -> HandlerResult {
    Err(CallError::Fault(Fault(format!("the public route {} was called with a store", call.route.path))))
}
