//! Checks that the service works: the directory reads its setup and writes a row, and the folder of the objects exists. The check
//! is public, so it runs at most once a second for any number of calls.

use super::bindings::{Bindings, ObjectCall};
use crate::http::health::{self, HealthProblem};
use crate::http::request::Reply;
use std::cell::RefCell;

/// Time for which a result is reused.
const REUSED_MILLIS: i64 = 1_000;

thread_local! {
    static LAST: RefCell<Option<(i64, Vec<HealthProblem>)>> = const { RefCell::new(None) };
}

/// Returns the reply of `/health`.
pub(super) async fn find(bindings: &Bindings, lines: &str, now: i64, request_id: &str) -> Reply {
    // A clock that is set back makes nothing recent.
    let is_recent = |at: i64| (0..REUSED_MILLIS).contains(&now.saturating_sub(at));
    let last = LAST.with_borrow(|last| last.clone()).filter(|(at, _)| is_recent(*at));
    let problems = match last {
        Some((_, problems)) => problems,
        None => {
            let problems = find_problems(bindings, lines).await;
            LAST.set(Some((now, problems.clone())));
            problems
        }
    };
    health::reply(&problems, request_id)
}

async fn find_problems(bindings: &Bindings, lines: &str) -> Vec<HealthProblem> {
    let call = ObjectCall { method: "GET", target: health::PROBE_PATH, lines, body: None };
    let mut problems = Vec::new();
    // An object with a failed commit does not answer at all.
    let is_written = match bindings.call("directory", call).await {
        Ok(answer) if answer.status == 503 => {
            problems.push(HealthProblem::Setup);
            true
        }
        Ok(answer) => answer.status == 200,
        Err(_) => false,
    };
    if !(is_written && bindings.has_folder().await) {
        problems.push(HealthProblem::Storage);
    }
    problems
}
