//! Decides the JSON of an error. It must not know why it happened.
//!
//! errors-and-auth.md section 1.

use serde::Serialize;

use crate::refusal::Refusal;
use crate::wire::problem::Problem;

/// The error body.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorBody<'a> {
    /// The HTTP status.
    pub code: u16,
    /// The machine key.
    pub key: &'a str,
    /// The text for people.
    pub message: &'a str,
    /// The longer text.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub details: &'a str,
    /// The request that it happened in.
    pub request_id: &'a str,
    /// The thing that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<&'a str>,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<&'a str>,
    /// The text that a rule's author wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CustomMessage<'a>>,
}

/// A text that a rule's author wrote.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CustomMessage<'a> {
    /// The text.
    pub message: &'a str,
}

impl<'a> ErrorBody<'a> {
    /// The body of a refusal.
    pub fn of(refusal: &'a Refusal, request_id: &'a str) -> ErrorBody<'a> {
        let resource = refusal.resource.as_ref();
        ErrorBody {
            code: refusal.reason.code(),
            key: refusal.reason.key(),
            message: refusal.reason.message(),
            details: &refusal.details,
            request_id,
            resource_id: resource.map(|(_, id)| id.as_str()),
            resource_type: resource.map(|(kind, _)| *kind),
            error: refusal.custom.as_deref().map(|message| CustomMessage { message }),
        }
    }

    /// The body for a payload that cannot be read; `details` is the problem as a sentence.
    pub fn of_problem(details: &'a str, request_id: &'a str) -> ErrorBody<'a> {
        ErrorBody {
            code: 400,
            key: "invalid_payload",
            message: "Invalid payload",
            details,
            request_id,
            resource_id: None,
            resource_type: None,
            error: None,
        }
    }
}

/// The JSON of a refusal of a whole request.
pub fn write(refusal: &Refusal, request_id: &str) -> Vec<u8> {
    serde_json::to_vec(&ErrorBody::of(refusal, request_id)).unwrap_or_default()
}

/// The JSON of a payload's problem.
pub fn write_problem(problem: &Problem, request_id: &str) -> Vec<u8> {
    serde_json::to_vec(&ErrorBody::of_problem(&problem.to_string(), request_id)).unwrap_or_default()
}
