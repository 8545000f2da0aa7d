//! What is answered to everybody without a look at any project: whether the process answers, and the description.

use crate::http::request::Reply;
use crate::http::route::Route;
use crate::http::{health, reply};

/// The description of the interface, as it is committed.
pub const DOCUMENT: &str = include_str!("../../openapi.json");

/// The answer of a public route that needs no store: whether the process answers, and the description of the interface.
pub fn answer_public(route: &Route, request_id: &str) -> Option<Reply> {
    let mut reply = match route.path {
        "/health/live" => health::reply(&[], request_id),
        "/openapi.json" => reply::bytes_reply(200, DOCUMENT.as_bytes().to_vec()),
        _ => return None,
    };
    reply::set_header(&mut reply, "x-request-id", request_id);
    Some(reply)
}
