//! Public responses that need no project: liveness of the process, and the OpenAPI description.

use crate::http::request::Reply;
use crate::http::route::Route;
use crate::http::{health, reply};

/// Path of the OpenAPI description, in the API and among the files next to the Worker: it is too large to be a
/// part of the Worker.
pub const DESCRIPTION: &str = "/openapi.json";

/// Returns the reply of a public route that reports liveness of the process.
pub fn answer_public(route: &Route, request_id: &str) -> Option<Reply> {
    (route.path == "/health/live").then(|| health::reply(&[], request_id))
}

/// Returns the reply for the description, without the file itself.
pub fn describe(request_id: &str) -> Reply {
    let mut reply = reply::bytes_reply(200, Vec::new());
    reply::set_header(&mut reply, "x-request-id", request_id);
    reply
}
