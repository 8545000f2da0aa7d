//! Calls of a shop's server and of its pages.

use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use serde_json::Value as Json;

/// Sends a call as a page would, with these credentials.
pub fn send(edge: &Edge, now: i64, call: &str, body: &Json, credentials: &[(&str, &str)]) -> Reply {
    let (method, path) = call.split_once(' ').unwrap();
    let mut headers: Vec<(String, String)> =
        credentials.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    headers.push(("origin".into(), "http://localhost:3000".into()));
    headers.push(("content-type".into(), "application/json".into()));
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request { method: method.into(), path: path.into(), headers, body, ..Request::default() };
    edge.send(request, now, None)
}

/// Makes a call of the merchant's server that must succeed.
pub fn make(edge: &Edge, now: i64, call: &str, body: &Json) -> Json {
    let reply = send(edge, now, call, body, &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")]);
    let answer: Json = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
    assert!(reply.status < 300, "{call} {body}: {} {answer}", reply.status);
    answer
}
