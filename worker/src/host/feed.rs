//! Passes the opening of a WebSocket on to the feed of a project, and closes connections whose key was changed.

use super::bindings::{Bindings, ObjectCallFailure};
use super::durable;
use crate::access::feed;
use crate::http::caller::Caller;
use crate::http::request::Request;
use crate::http::request_checks::header;
use crate::store::sql::Fault;
use worker::worker_sys::web_sys;

/// Opens a connection to the feed of the caller's project. `key` names the record of the caller's key, so that a change of it can close
/// the connection. Returns `None` where the feed has no place left.
pub(super) async fn open(
    bindings: &Bindings,
    request: &Request,
    caller: &Caller,
    key: &str,
) -> Result<Option<web_sys::Response>, ObjectCallFailure> {
    let protocol = header(request, feed::PROTOCOLS).map(|_| feed::PROTOCOL);
    let answer = bindings.open_feed(&caller.project, key, caller.expires_at, protocol).await?;
    match answer.status() {
        101 => Ok(Some(answer)),
        503 => Ok(None),
        status => Err(Fault::new(format!("the feed answered {status}")).into()),
    }
}

/// Closes the connections that were opened with these keys, as the names of their records. A failure is the text to log: the connections
/// then end when they are a day old.
pub(super) async fn close(bindings: &Bindings, project: &str, keys: &str) -> Result<(), String> {
    bindings.close_feed(project, keys).await.map_err(|error| durable::describe(&error))
}
