//! Response of `/health`: the service works, or the resources that it lacks. The route is public, so the response names
//! only the failing resource; the log contains the details.

use crate::http::reply::{error, error_reply, json_reply, set_header};
use crate::http::request::Reply;
use serde_json::json;

/// The public path.
pub const PATH: &str = "/health";
/// Path at which the entry requests the health of the directory.
pub const PROBE_PATH: &str = "/internal/health";

/// Resource that the service requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthProblem {
    /// Projects and keys of the setup.
    Setup,
    /// Storage for writes.
    Storage,
}

impl HealthProblem {
    fn detail(self) -> &'static str {
        match self {
            HealthProblem::Setup => {
                "the setup `SCRIP_SETUP` is missing or cannot be read: the log says where it is wrong"
            }
            HealthProblem::Storage => "the storage takes no writes: it may be full, read-only or gone",
        }
    }
}

/// Returns 200 if no resource is missing, else 503 with the missing ones.
pub fn reply(problems: &[HealthProblem], request_id: &str) -> Reply {
    if problems.is_empty() {
        let mut reply = json_reply(200, &json!({ "status": "ok" }));
        set_header(&mut reply, "x-request-id", request_id);
        return reply;
    }
    let details: Vec<&str> = problems.iter().map(|lack| lack.detail()).collect();
    error_reply(&error(503, "service_unavailable", "The service cannot do its work", details.join("; ")), request_id)
}

/// Returns the error for a request whose object did not answer and that stores nothing: the caller may repeat it.
pub fn unanswered(request_id: &str, retry_seconds: i64) -> Reply {
    let details = "the project does not answer for the moment; nothing was stored, so ask again";
    let mut body = error(503, "service_unavailable", "The service cannot do its work", details);
    body.retry_after = Some(retry_seconds);
    error_reply(&body, request_id)
}
