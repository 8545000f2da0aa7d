//! Requests and replies that a host exchanges with the service: complete bodies and header lines.

/// Request with its complete body.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// The path as sent, percent-encoded, without the query.
    pub path: String,
    /// The query as sent, without `?`; empty when there is none.
    pub query: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body, at most 10 MiB.
    pub body: Vec<u8>,
}

/// A reply for the host to send.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body; empty for 204.
    pub body: Vec<u8>,
}
