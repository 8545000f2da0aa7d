//! Credentials of the feed, and the refusals that only it gives. A browser page cannot add headers to the opening of a WebSocket, so the key is
//! sent in the list of subprotocols: `scrip, <id>, <token>`, or `scrip, <token>` for an OAuth token.

use crate::http::caller::CredentialClass;
use crate::http::reply::{ErrorBody, transport_error};
use crate::http::request::Request;
use crate::http::request_checks::header;
use crate::http::route::Route;

/// Path of the feed.
pub const PATH: &str = "/client/v1/bundle/feed";
/// Header with the list of subprotocols.
pub const PROTOCOLS: &str = "sec-websocket-protocol";
/// The only subprotocol of the feed. The others of the list are credentials, and are never answered.
pub const PROTOCOL: &str = "scrip";
/// Seconds after which a client may try again to open a feed that was refused for its number of connections.
const RETRY_SECONDS: i64 = 60;

/// Returns the credentials in the list of subprotocols, which only the feed accepts: class, id and token.
pub fn credentials<'r>(route: &Route, request: &'r Request) -> Option<(CredentialClass, &'r str, &'r str)> {
    if route.path != PATH {
        return None;
    }
    let mut listed = header(request, PROTOCOLS)?.split(',').map(str::trim);
    if listed.next() != Some(PROTOCOL) {
        return None;
    }
    match (listed.next(), listed.next(), listed.next()) {
        (Some(token), None, None) => Some((CredentialClass::OAuth, "", token)),
        (Some(id), Some(token), None) => Some((CredentialClass::Client, id, token)),
        _ => None,
    }
}

/// Returns true if a request opens a WebSocket.
pub fn is_upgrade(request: &Request) -> bool {
    let is_websocket =
        header(request, "upgrade").is_some_and(|is_websocket| is_websocket.eq_ignore_ascii_case("websocket"));
    is_websocket && request.method == "GET"
}

/// Returns the error for a call that opens no WebSocket.
pub fn upgrade_required() -> ErrorBody {
    let details = "the feed is a WebSocket: the request must have the header `Upgrade: websocket`";
    transport_error(426, "Upgrade Required", details)
}

/// Returns the error for a connection beyond the maximum.
pub fn full() -> ErrorBody {
    let details = "the feed of the project has as many connections as it may have: fetch the head with `GET /client/v1/bundle` meanwhile";
    let mut body = transport_error(503, "Service unavailable", details);
    body.retry_after = Some(RETRY_SECONDS);
    body
}
