//! What is answered to everybody without a look at any project: whether the process answers, and the description.

use crate::http::request::Reply;
use crate::http::route::Route;
use crate::http::{health, reply};

/// Where the description of the interface is, in the interface and among the files that lie beside the Worker: it is too large
/// to be a part of it.
pub const DESCRIPTION: &str = "/openapi.json";

/// The answer of a public route that needs nothing: whether the process answers.
pub fn answer_public(route: &Route, request_id: &str) -> Option<Reply> {
    (route.path == "/health/live").then(|| health::reply(&[], request_id))
}

/// The answer that holds the description, as far as it is not the file itself.
pub fn describe(request_id: &str) -> Reply {
    let mut reply = reply::bytes_reply(200, Vec::new());
    reply::set_header(&mut reply, "x-request-id", request_id);
    reply
}
