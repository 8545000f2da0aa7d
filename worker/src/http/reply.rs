//! Replies: JSON bodies, the one error body, and the headers that every reply carries.

use crate::http::request::Reply;
use crate::store::sql::{Fault, TEXT_BYTES_MAX};
use crate::store::{READ_MAX, Store};
use scrip::text::LONGEST_TEXT;
use serde::Serialize;
use serde_json::{Value as Json, json};

/// Maximum size of a request body in bytes; a larger one is refused unread (errors-and-auth: 10 MiB).
pub const BODY_BYTES_MAX: usize = 10_485_760;
/// Maximum size of a response in bytes: an object's call returns at most 32 MiB, and the headers need a part of it.
pub const ANSWER_BYTES_MAX: usize = 33_488_896;

/// The error body, behind one pointer because refusals travel through many results.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ErrorBody(Box<ErrorFields>);

impl std::ops::Deref for ErrorBody {
    type Target = ErrorFields;
    fn deref(&self) -> &ErrorFields {
        &self.0
    }
}

impl std::ops::DerefMut for ErrorBody {
    fn deref_mut(&mut self) -> &mut ErrorFields {
        &mut self.0
    }
}

/// Fields of the error body, in the order of the JSON. Fields that are not set are omitted.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ErrorFields {
    /// The HTTP status.
    pub code: u16,
    /// Key of the error; transport errors have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Short text.
    pub message: String,
    /// Text that names the field, the value and the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// The id of the request, set when the reply is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Document that it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// The type of that document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// Some of the documents that prevent the operation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_object_ids: Vec<String>,
    /// The type of those documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_object_type: Option<String>,
    /// Number of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_object_total: Option<i64>,
    /// The project's own message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Json>,
    /// Value of the header `Allow`: the methods of the path, if it does not allow the one of the request.
    #[serde(skip)]
    pub allow: Option<String>,
    /// Seconds until the request may be repeated: the header `Retry-After`.
    #[serde(skip)]
    pub retry_after: Option<i64>,
}

/// Early end of a call: a refusal for the caller, or an internal fault.
#[derive(Debug)]
pub enum CallError {
    /// A refusal that the caller receives; nothing is written.
    Refused(ErrorBody),
    /// The caller learns only that it failed; everything is undone.
    Fault(Fault),
}

impl From<ErrorBody> for Fault {
    /// Converts a refusal to a fault where no caller could correct the request, as in a job.
    fn from(body: ErrorBody) -> Fault {
        Fault(body.details.as_deref().unwrap_or(&body.message).to_owned())
    }
}

impl From<CallError> for Fault {
    fn from(error: CallError) -> Fault {
        match error {
            CallError::Refused(body) => body.into(),
            CallError::Fault(fault) => fault,
        }
    }
}

impl From<Fault> for CallError {
    fn from(fault: Fault) -> CallError {
        CallError::Fault(fault)
    }
}

impl From<ErrorBody> for CallError {
    fn from(body: ErrorBody) -> CallError {
        CallError::Refused(body)
    }
}

/// Returns an error body with a key and details.
pub fn error(code: u16, key: &str, message: &str, details: impl Into<String>) -> ErrorBody {
    let details = Some(details.into());
    ErrorBody(Box::new(ErrorFields {
        code,
        key: Some(key.into()),
        message: message.into(),
        details,
        ..ErrorFields::default()
    }))
}

/// Returns an error body with a key and no details.
pub fn bare_error(code: u16, key: &str, message: &str) -> ErrorBody {
    ErrorBody(Box::new(ErrorFields { code, key: Some(key.into()), message: message.into(), ..ErrorFields::default() }))
}

/// Returns an error body of the transport, which has no key.
pub fn transport_error(code: u16, message: &str, details: impl Into<String>) -> ErrorBody {
    ErrorBody(Box::new(ErrorFields {
        code,
        message: message.into(),
        details: Some(details.into()),
        ..ErrorFields::default()
    }))
}

impl ErrorBody {
    /// Names the document that the error is about.
    pub fn about(mut self, resource_type: &str, resource_id: &str) -> ErrorBody {
        self.resource_type = Some(resource_type.into());
        self.resource_id = Some(resource_id.into());
        self
    }
}

/// Returns the error for a body that does not have the shape of the operation.
pub fn invalid_payload(details: impl Into<String>) -> ErrorBody {
    error(400, "invalid_payload", "Invalid payload", details)
}

impl From<scrip::wire::Problem> for ErrorBody {
    fn from(problem: scrip::wire::Problem) -> ErrorBody {
        invalid_payload(problem.to_string())
    }
}

impl From<scrip::wire::Problem> for CallError {
    fn from(problem: scrip::wire::Problem) -> CallError {
        CallError::Refused(problem.into())
    }
}

impl From<scrip::refusal::Refusal> for CallError {
    fn from(refusal: scrip::refusal::Refusal) -> CallError {
        let reason = refusal.reason;
        let mut body = error(reason.code(), reason.key(), reason.message(), refusal.details());
        if let Some((kind, id)) = refusal.resource() {
            body = body.about(kind, id);
        }
        body.error = refusal.custom_message().map(|message| json!({ "message": message }));
        CallError::Refused(body)
    }
}

impl From<scrip::lifecycle::TransitionRefusal> for ErrorBody {
    fn from(denial: scrip::lifecycle::TransitionRefusal) -> ErrorBody {
        error(denial.code, denial.key, denial.message, denial.details)
    }
}

/// Returns the error for a request that would read more stored rows than allowed.
pub fn reads_too_much() -> ErrorBody {
    let details = format!(
        "the request reads more than `{READ_MAX}` bytes of stored documents: ask for fewer at once (`limit`), or for less with each rule"
    );
    error(400, "request_too_complex", "Request takes too much work", details)
}

/// Refuses a text that is too long for a row of the database; `purpose` describes the effect of the payload.
pub fn check_row(length: usize, purpose: &str) -> Result<(), ErrorBody> {
    if length <= TEXT_BYTES_MAX {
        return Ok(());
    }
    let bound = format!("of more than {TEXT_BYTES_MAX} bytes (actual length is `{length}`)");
    Err(invalid_payload(format!("Payload must NOT {purpose} {bound}")))
}

/// Refuses queued writes that a row would not hold or that no decision could read again. Each write is checked once.
pub fn check_writes(store: &Store<'_>) -> Result<(), ErrorBody> {
    let savepoint = store.take_unchecked();
    check_row(store.longest_write(savepoint), "make a document")?;
    Ok(store.check_readable(savepoint)?)
}

/// Returns the error for a body that does not match its length or its chunks.
pub fn malformed_body() -> ErrorBody {
    invalid_payload("the body does not arrive as its head says: its length or a chunk is wrong")
}

/// Returns the error for a body that did not arrive in time; the client may still be sending it.
pub fn timed_out_body() -> ErrorBody {
    transport_error(408, "Request Timeout", "the body did not arrive in time")
}

/// Refuses an answer that would not reach the caller, before any write.
pub fn check_answer(reply: &Reply) -> Result<(), ErrorBody> {
    let length = reply.body.len();
    if length <= ANSWER_BYTES_MAX {
        return Ok(());
    }
    let details =
        format!("the answer would have `{length}` bytes, at most {ANSWER_BYTES_MAX} are sent; nothing was written");
    Err(error(413, "answer_too_large", "Answer too large", details))
}

/// Returns the error for a query that does not have the shape of the operation.
pub fn invalid_query(details: impl Into<String>) -> ErrorBody {
    error(400, "invalid_query_params", "Invalid query params", details)
}

/// Converts a refusal of a body into one of the query that it was read from.
pub fn of_query(error: CallError) -> CallError {
    match error {
        CallError::Refused(refusal) if refusal.key.as_deref() == Some("invalid_payload") => {
            let details = refusal.details.as_deref().unwrap_or_default();
            invalid_query(details.replacen("Payload must have required", "Query should have required", 1)).into()
        }
        other => other,
    }
}

/// Returns the error for an unknown document.
pub fn not_found(resource_type: &str, id: &str) -> ErrorBody {
    error(404, "not_found", "Resource not found", format!("Cannot find {resource_type} with id {id}"))
        .about(resource_type, id)
}

/// Returns the error for a document that exists already; `by` is the name that is taken.
pub fn duplicate(resource_type: &str, by: &str, value: &str) -> ErrorBody {
    error(
        409,
        "duplicate_found",
        "Duplicated resource found",
        format!("Duplicated {resource_type} exists with {by} {value}"),
    )
    .about(resource_type, value)
}

/// Returns the error for a document that others use, with the names of some and the number of all.
pub fn in_use(kind: &str, id: &str, by_kind: &str, by: Vec<String>, total: i64) -> ErrorBody {
    let details = format!("Resource {kind} with id {id} is in use by {by_kind}s with ids [{}]", by.join(", "));
    let mut body = error(400, "resource_in_use", "Resource in use", details).about(kind, id);
    body.related_object_ids = by;
    body.related_object_type = Some(by_kind.to_owned());
    body.related_object_total = Some(total);
    body
}

/// Returns the error for missing or wrong credentials, which it does not distinguish.
pub fn unauthorized() -> ErrorBody {
    bare_error(401, "unauthorized", "Unauthorized")
}

/// Returns the error for credentials that do not allow the operation.
pub fn forbidden(details: impl Into<String>) -> ErrorBody {
    error(403, "forbidden", "Forbidden", details)
}

/// Returns a JSON reply.
pub fn json_reply(status: u16, body: &Json) -> Reply {
    // JSON can always be serialized, to bytes in half the time that its display takes.
    bytes_reply(status, serde_json::to_vec(body).unwrap_or_default())
}

/// Returns a reply with JSON that is already written.
pub fn bytes_reply(status: u16, body: Vec<u8>) -> Reply {
    Reply { status, headers: vec![("content-type".into(), "application/json".into())], body }
}

/// Returns a reply without a body.
pub fn empty_reply(status: u16) -> Reply {
    Reply { status, headers: Vec::new(), body: Vec::new() }
}

/// Returns the reply of a refusal.
pub fn error_reply(body: &ErrorBody, request_id: &str) -> Reply {
    let mut body = body.clone();
    body.message = within(std::mem::take(&mut body.message));
    body.details = body.details.take().map(within);
    // The 401 body has no request id (errors-and-auth, section 1); the header has it.
    if body.code != 401 && !request_id.is_empty() {
        body.request_id = Some(request_id.to_owned());
    }
    let mut reply = bytes_reply(body.code, serde_json::to_vec(&body).unwrap_or_default());
    if let Some(allow) = &body.allow {
        set_header(&mut reply, "allow", allow);
    }
    if let Some(seconds) = body.retry_after {
        set_header(&mut reply, "retry-after", &seconds.to_string());
    }
    set_header(&mut reply, "x-request-id", request_id);
    reply
}

/// Shortens a text that may repeat sent data to the maximum length of a text.
fn within(text: String) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        None => text,
        // The sign of the cut is one character.
        Some(_) => text.chars().take(LONGEST_TEXT.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Returns the reply to a body that is too large: a separate shape, as published.
pub fn too_large(request_id: &str) -> Reply {
    let message = format!("Payload content length greater than maximum allowed: {BODY_BYTES_MAX}");
    let mut reply =
        json_reply(413, &json!({ "statusCode": 413, "error": "Request Entity Too Large", "message": message }));
    set_header(&mut reply, "x-request-id", request_id);
    reply
}

/// Returns the reply to too many calls, with the seconds until the next one: a separate shape, as published.
pub fn too_many(request_id: &str, seconds: u64) -> Reply {
    let message = "Too many requests hit the API too quickly.";
    let mut reply = json_reply(429, &json!({ "code": 429, "message": message }));
    set_header(&mut reply, "x-request-id", request_id);
    set_header(&mut reply, "retry-after", &seconds.to_string());
    reply
}

/// Returns the reply of a fault, which contains only the request's identifier.
pub fn failed(request_id: &str) -> Reply {
    let body = bare_error(500, "internal_error", "Internal error");
    error_reply(&body, request_id)
}

/// Sets a header, in place of an older one of that name.
pub fn set_header(reply: &mut Reply, name: &str, value: &str) {
    reply.headers.retain(|(known, _)| known != name);
    reply.headers.push((name.to_owned(), value.to_owned()));
}

/// Every origin, as `access-control-allow-origin` names it.
pub const ANY_ORIGIN: &str = "*";

/// Adds the headers that a client of a trusted origin needs to read a reply.
pub fn allow_origin(reply: &mut Reply, origin: &str) {
    set_header(reply, "access-control-allow-origin", origin);
    let exposed = "x-request-id, scrip-answered, scrip-context, scrip-revision, date, etag, idempotency-replayed, retry-after, x-rate-limit-limit, \
         x-rate-limit-remaining, x-rate-limit-retry, x-rate-limit-type";
    set_header(reply, "access-control-expose-headers", exposed);
    if origin != ANY_ORIGIN {
        set_header(reply, "vary", "origin");
    }
}
