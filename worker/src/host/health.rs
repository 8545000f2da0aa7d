//! Finds out whether the service can do its work: the directory reads its setup and writes a row, and the disk takes a file. It
//! asks at most once a second, whoever asks it how often, since everybody may. It must not know what an answer looks like.

use std::cell::RefCell;

use super::bindings::{Bindings, Call};
use crate::http::health::{self, Lack};
use crate::http::request::Reply;

/// How long an answer is given again.
const SETTLED_MILLIS: i64 = 1_000;

thread_local! {
    static LAST: RefCell<Option<(i64, Vec<Lack>)>> = const { RefCell::new(None) };
}

/// The answer of `/health`.
pub(super) async fn find(bindings: &Bindings, lines: &str, now: i64, request_id: &str) -> Reply {
    let is_settled = |at: i64| (0..SETTLED_MILLIS).contains(&now.saturating_sub(at));
    let last = LAST.with_borrow(|last| last.clone()).filter(|(at, _)| is_settled(*at));
    let lacks = match last {
        Some((_, lacks)) => lacks,
        None => {
            let lacks = look(bindings, lines).await;
            LAST.set(Some((now, lacks.clone())));
            lacks
        }
    };
    health::reply(&lacks, request_id)
}

async fn look(bindings: &Bindings, lines: &str) -> Vec<Lack> {
    let call = Call { method: "GET", target: health::ASKED, lines, body: None };
    let mut lacks = Vec::new();
    // An object whose commit fails answers nothing at all.
    let is_written = match bindings.ask("directory", call).await {
        Ok(answer) if answer.status == 503 => {
            lacks.push(Lack::Setup);
            true
        }
        Ok(answer) => answer.status == 200,
        Err(_) => false,
    };
    if !(is_written && bindings.disk_takes_writes().await) {
        lacks.push(Lack::Storage);
    }
    lacks
}
