//! What is answered to everybody without a look at any project: whether the process answers, and the description.

use crate::http::request::Reply;
use crate::http::route::Route;
use crate::http::{health, openapi, reply};

/// The answer of a public route that needs no store: whether the process answers, and the description of the interface.
pub fn answer_public(route: &Route, request_id: &str) -> Option<Reply> {
    let mut reply = match route.path {
        "/health/live" => health::reply(&[], request_id),
        "/openapi.json" => reply::bytes_reply(200, openapi::DOCUMENT.as_bytes().to_vec()),
        _ => return None,
    };
    reply::set_header(&mut reply, "x-request-id", request_id);
    Some(reply)
}
