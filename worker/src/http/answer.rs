//! Responses of handlers before they are sent: status, body and headers.

use serde_json::Value as Json;

/// Body of a response. Members that a client may not see are removed from a value before it is printed.
#[derive(Debug)]
pub enum ResponseBody {
    /// JSON value, not serialized yet.
    Value(Json),
    /// JSON that the engine serialized; empty if there is no body.
    Written(Vec<u8>),
}

/// Response to be sent. Even one with an error status commits the writes of the handler.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Its body.
    pub body: ResponseBody,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
}

impl Response {
    /// Returns 200 with a JSON body.
    pub fn json(body: Json) -> Response {
        Response::status(200, body)
    }
    /// Returns a status with a JSON body.
    pub fn status(status: u16, body: Json) -> Response {
        Response { status, body: ResponseBody::Value(body), headers: Vec::new() }
    }
    /// Returns a status without a body.
    pub fn empty(status: u16) -> Response {
        Response::with_bytes(status, Vec::new())
    }
    /// Returns 200 with a serialized body.
    pub fn bytes(body: Vec<u8>) -> Response {
        Response::with_bytes(200, body)
    }
    /// Returns a status with a serialized body.
    pub fn with_bytes(status: u16, body: Vec<u8>) -> Response {
        Response { status, body: ResponseBody::Written(body), headers: Vec::new() }
    }
}
