//! The head of a bundle as the entry answers it: its copy in KV, and which of two copies counts.

use crate::http::answer::Response;
use crate::http::reply::{self, ErrorBody};
use crate::http::request::{Reply, Request};
use crate::http::request_checks::header;
use crate::store::sql::Fault;
use scrip::text::sha256_hex;
use serde::{Deserialize, Serialize};

/// Media type of a head.
pub const JOSE: &str = "application/jose";
/// Cache control of a head. A client that has none yet may start with one that is a minute old and gets the next one behind it; a call with
/// `If-None-Match` is never answered by a cache.
const CACHED: &str = "private, max-age=0, stale-while-revalidate=60";
/// Time after the planned build at which the entry asks the project's object for the reason.
const OVERDUE_MS: i64 = 10_000;
/// Seconds after which a client may request a head again that is not built yet.
pub const RETRY_SECONDS: i64 = 1;

/// Copy of a head in KV.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadCopy {
    /// The head, a compact JWS.
    pub jws: String,
    /// Its epoch.
    pub epoch: i64,
    /// Its revision.
    pub rev: i64,
    /// Time from which clients refuse it.
    pub exp_ms: i64,
    /// Time at which it is replaced at the latest.
    pub due_ms: i64,
    /// Hash of the settings that its core was built with.
    pub settings: String,
}

impl HeadCopy {
    /// Reads a value of KV; `None` if another version of the service wrote it.
    pub fn read(text: &str) -> Option<HeadCopy> {
        serde_json::from_str(text).ok()
    }

    /// Writes a value of KV.
    pub fn write(&self) -> Result<String, Fault> {
        serde_json::to_string(self).map_err(|error| Fault(error.to_string()))
    }

    /// Returns true if clients accept it at a time.
    fn is_valid(&self, now_ms: i64) -> bool {
        now_ms < self.exp_ms
    }
}

/// Returns the name of the copy of a project's head in KV.
pub fn copy_name(project: &str) -> String {
    format!("bundle-head:{project}")
}

/// Result of reading a head from KV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KvReading {
    /// Its copy.
    Found(HeadCopy),
    /// There is none.
    Missing,
    /// KV failed, or did not answer in time.
    Failed,
}

/// Head to answer, and what the project's object is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadChoice {
    /// The head; `None` if there is no valid one.
    pub head: Option<HeadCopy>,
    /// Demand to the project's object, if any; true if KV has no head.
    pub demand: Option<bool>,
}

/// Chooses between the copy in memory and that of KV: an older one in KV never wins. `settings` is the hash of the caller's settings.
pub fn choose(cached: Option<&HeadCopy>, read: KvReading, settings: &str, now_ms: i64) -> HeadChoice {
    let cached = cached.cloned();
    let (head, is_missing) = match read {
        KvReading::Failed => (cached, false),
        KvReading::Missing => (cached, true),
        KvReading::Found(found) => {
            let is_newer = cached.as_ref().is_none_or(|cached| (cached.epoch, cached.rev) < (found.epoch, found.rev));
            (if is_newer { Some(found) } else { cached }, false)
        }
    };
    let is_overdue = |head: &HeadCopy| {
        // Saturates at the end of time.
        head.settings != settings || head.due_ms.saturating_add(OVERDUE_MS) <= now_ms || !head.is_valid(now_ms)
    };
    let is_demanded = is_missing || head.as_ref().is_some_and(is_overdue);
    HeadChoice { head: head.filter(|head| head.is_valid(now_ms)), demand: is_demanded.then_some(is_missing) }
}

/// Returns the response with a head: 304 if the caller has it.
pub fn respond(jws: &str, request: &Request) -> Response {
    let tag = format!("\"{}\"", sha256_hex(jws.as_bytes()));
    let mut response = if is_known(request, &tag) {
        Response::empty(304)
    } else {
        let mut response = Response::bytes(jws.as_bytes().to_vec());
        response.headers.push(("content-type", JOSE.to_owned()));
        response
    };
    response.headers.push(("etag", tag));
    response.headers.push(("cache-control", CACHED.to_owned()));
    response
}

/// Returns the same response as a reply of the entry.
pub fn reply(jws: &str, request: &Request, request_id: &str) -> Reply {
    let response = respond(jws, request);
    let mut reply = match response.status {
        304 => reply::empty_reply(304),
        status => reply::bytes_reply(status, jws.as_bytes().to_vec()),
    };
    for (name, value) in &response.headers {
        reply::set_header(&mut reply, name, value);
    }
    reply::set_header(&mut reply, "x-request-id", request_id);
    reply
}

/// Returns true if the caller has the head of this tag. A tag that a proxy made weak is equal.
fn is_known(request: &Request, tag: &str) -> bool {
    let known = header(request, "if-none-match").unwrap_or_default();
    known.split(',').map(str::trim).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Returns the error for a head that is not built yet, or that KV does not give.
pub fn not_ready() -> ErrorBody {
    let details = "the bundle is being built, or cannot be read for the moment; ask again";
    let mut body = reply::error(503, "bundle_not_ready", "Bundle not ready", details);
    body.retry_after = Some(RETRY_SECONDS);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_772_323_200_000;
    const HOUR: i64 = 3_600_000;

    fn copy(epoch: i64, rev: i64) -> HeadCopy {
        let (exp_ms, due_ms) = (NOW + 24 * HOUR, NOW + 12 * HOUR);
        HeadCopy { jws: format!("{epoch}.{rev}"), epoch, rev, exp_ms, due_ms, settings: "as set".into() }
    }

    fn chosen(cached: Option<HeadCopy>, read: KvReading, now_ms: i64) -> (Option<String>, Option<bool>) {
        let HeadChoice { head, demand } = choose(cached.as_ref(), read, "as set", now_ms);
        (head.map(|head| head.jws), demand)
    }

    #[test]
    fn an_older_copy_in_kv_never_wins() {
        let found = |epoch, rev| KvReading::Found(copy(epoch, rev));
        let answered = |text: &str| (Some(text.to_owned()), None);
        assert_eq!(chosen(None, found(0, 5), NOW), answered("0.5"));
        assert_eq!(chosen(Some(copy(0, 6)), found(0, 5), NOW), answered("0.6"));
        assert_eq!(chosen(Some(copy(0, 4)), found(0, 5), NOW), answered("0.5"));
        assert_eq!(chosen(Some(copy(9, 4)), found(0, 5), NOW), answered("9.4"));
        assert_eq!(chosen(Some(copy(0, 5)), found(9, 4), NOW), answered("9.4"));
    }

    #[test]
    fn memory_answers_while_kv_fails_and_only_as_long_as_clients_accept_it() {
        let cached = || Some(copy(0, 5));
        assert_eq!(chosen(cached(), KvReading::Failed, NOW), (Some("0.5".into()), None));
        assert_eq!(chosen(cached(), KvReading::Missing, NOW), (Some("0.5".into()), Some(true)));
        assert_eq!(chosen(None, KvReading::Failed, NOW), (None, None));
        assert_eq!(chosen(None, KvReading::Missing, NOW), (None, Some(true)));
        assert_eq!(chosen(cached(), KvReading::Failed, NOW + 24 * HOUR), (None, Some(false)));
    }

    #[test]
    fn a_head_with_other_settings_or_overdue_is_answered_and_demanded() {
        let found = || KvReading::Found(copy(0, 5));
        assert_eq!(choose(None, found(), "other", NOW).demand, Some(false));
        assert_eq!(choose(None, found(), "other", NOW).head.unwrap().rev, 5);
        assert_eq!(chosen(None, found(), NOW + 12 * HOUR + 9_999).1, None);
        assert_eq!(chosen(None, found(), NOW + 12 * HOUR + 10_000), (Some("0.5".into()), Some(false)));
    }

    #[test]
    fn a_copy_is_read_as_it_was_written() {
        let copy = copy(3, 4);
        assert_eq!(HeadCopy::read(&copy.write().unwrap()), Some(copy));
        assert_eq!(HeadCopy::read("{}"), None);
    }
}
