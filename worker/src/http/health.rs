//! What `/health` answers: that the service can do its work, or what it lacks for it. Everybody may ask, so that an answer names
//! what is wrong and nothing that is inside; the log says the rest. It must not know how any of it is found out.

use crate::http::reply::{error, error_reply, json_reply, set_header};
use crate::http::request::Reply;
use serde_json::json;

/// The public path.
pub const PATH: &str = "/health";
/// What the directory is asked for it.
pub const ASKED: &str = "/internal/health";

/// What the service cannot work without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Projects and keys.
    Setup,
    /// Somewhere to write.
    Storage,
}

impl Lack {
    fn told(self) -> &'static str {
        match self {
            Lack::Setup => "the setup `SCRIP_SETUP` is missing or cannot be read: the log says where it is wrong",
            Lack::Storage => "the storage takes no writes: it may be full, read-only or gone",
        }
    }
}

/// 200 when nothing is lacking, else 503 and what is.
pub fn reply(lacks: &[Lack], request_id: &str) -> Reply {
    if lacks.is_empty() {
        let mut reply = json_reply(200, &json!({ "status": "ok" }));
        set_header(&mut reply, "x-request-id", request_id);
        return reply;
    }
    let told: Vec<&str> = lacks.iter().map(|lack| lack.told()).collect();
    error_reply(&error(503, "service_unavailable", "The service cannot do its work", told.join("; ")), request_id)
}
