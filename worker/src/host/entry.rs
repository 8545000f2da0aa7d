//! Decides what happens to a request before an object sees it: its identifier, its size, whose it is, where it goes.
//! It must not know routes, rules or documents, and it keeps nothing but the records of keys, for a minute.
//!
//! This is the only asynchronous code of the Worker. It runs in an instance of its own, so that an instance of the
//! engine that trapped can be made anew while requests are waiting here.

use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use worker::worker_sys::web_sys;
use worker::{Env, event};

use super::bindings::{Answer, Bindings, Call, Failure, read_body, read_head, respond, respond_reply};
use super::{asset, chance, key, wire};
use crate::auth::{self, Caller, Wanted};
use crate::reply::{self, BODY_BYTES_MAX};
use crate::service::{self, Reply, Request};
use crate::store::sql::Fault;

/// Headers that no object sees.
const CREDENTIALS: [&str; 8] = [
    "authorization",
    "cookie",
    "x-app-id",
    "x-app-token",
    "x-client-application-id",
    "x-client-token",
    "x-management-id",
    "x-management-token",
];

/// A request, and what the entry needs beside it.
struct Arrival {
    raw: web_sys::Request,
    request: Request,
    env: Env,
    runtime: worker::Context,
    context: scrip::Context,
    request_id: String,
}

/// What the caller gets.
enum Outcome {
    /// The answer of an object or a file, passed on untouched.
    Answer(Answer),
    /// A reply made here.
    Reply(Reply),
}

/// Answers one HTTP request.
#[event(fetch)]
async fn fetch(raw: web_sys::Request, env: Env, runtime: worker::Context) -> Result<web_sys::Response, worker::Error> {
    let request = read_head(&raw);
    let context = context_of(&request).map_err(|fault| worker::Error::RustError(fault.0))?;
    let request_id = context.request_id().to_string();
    let arrival = Arrival { raw, request, env, runtime, context, request_id };
    let mut admitted = None;
    let mut reply = match arrival.answer(&mut admitted).await {
        Ok(Outcome::Answer(answer)) if answer.status != 500 => return respond(&answer),
        Ok(Outcome::Answer(_)) => service::failed(&arrival.request_id),
        Ok(Outcome::Reply(reply)) => reply,
        Err(Failure::Overloaded) => overloaded(&arrival.request_id),
        Err(Failure::Fault(fault)) => {
            worker::console_error!("{} failed in the entry: {fault}", arrival.request_id);
            service::failed(&arrival.request_id)
        }
    };
    // Without this a page could not tell a failure of ours from a broken connection.
    if let Some(origin) = admitted.as_ref().and_then(|caller: &Caller| caller.origin.as_deref()) {
        reply::allow_origin(&mut reply, origin);
    }
    respond_reply(&reply)
}

impl Arrival {
    /// Finds out who asks, notes it in `admitted`, and lets the right object answer.
    async fn answer(&self, admitted: &mut Option<Caller>) -> Result<Outcome, Failure> {
        let bindings: &Bindings = self.env.unchecked_ref();
        if let Some(path) = asset::path_of(&self.request)
            && let Some(bytes) = bindings.file(&path).await?
        {
            return Ok(Outcome::Answer(asset::answer(&path, &self.request, bytes)));
        }
        let wanted = match auth::lookup_key(&self.request, &self.request_id) {
            Ok(wanted) => wanted,
            Err(reply) => return Ok(Outcome::Reply(reply)),
        };
        let (kv_key, object, path) = match wanted {
            Wanted::Answered(reply) => return Ok(Outcome::Reply(reply)),
            Wanted::Key { kv_key, object, path } => (kv_key, object, path),
        };
        let now = self.context.now.millis();
        let place = key::Place { kv_key: &kv_key, object: &object, path: &path };
        let record = key::find(&place, now, &self.env, &self.runtime, &self.request_id).await?;
        let caller = match auth::admit(&self.request, record.as_deref(), now, &self.request_id) {
            Ok(caller) => admitted.insert(caller),
            Err(reply) => return Ok(Outcome::Reply(reply)),
        };
        let Some(body) = read_body(&self.raw, BODY_BYTES_MAX).await? else {
            return Ok(Outcome::Reply(service::too_large(&self.request_id)));
        };
        self.forward(caller, bindings, &body).await.map(Outcome::Answer)
    }

    /// Hands the admitted request to the object that answers it.
    async fn forward(&self, caller: &Caller, bindings: &Bindings, body: &Uint8Array) -> Result<Answer, Failure> {
        let Request { method, path, query, .. } = &self.request;
        let target = if query.is_empty() { path.clone() } else { format!("{path}?{query}") };
        let lines = self.lines(caller);
        let call = Call { method, target: &target, lines: &lines, body: Some(body) };
        bindings.ask(&caller.object(path), call).await
    }

    /// The headers that an object sees: never a credential, and none of ours that the caller made up.
    fn lines(&self, caller: &Caller) -> String {
        let rehearsed = |name: &str| cfg!(feature = "rehearsal") && name.starts_with("scrip-rehearsal-");
        let own = |name: &str| name.starts_with("scrip-") && !rehearsed(name);
        let passed = |(name, _): &&(String, String)| !CREDENTIALS.contains(&name.as_str()) && !own(name);
        let mut headers: Vec<(String, String)> = self.request.headers.iter().filter(passed).cloned().collect();
        headers.push(("scrip-caller".to_owned(), caller.header()));
        headers.push(("scrip-request-id".to_owned(), self.request_id.clone()));
        headers.push((chance::SEED_HEADER.to_owned(), chance::write_seed(&self.context.seed)));
        wire::write_lines(&headers)
    }
}

/// The moment and the seed of a request.
fn context_of(request: &Request) -> Result<scrip::Context, Fault> {
    let context = chance::context(chance::seed()?)?;
    #[cfg(feature = "rehearsal")]
    if let Some(seed) = super::rehearsal::seed_of(request)? {
        return Ok(scrip::Context { seed, ..context });
    }
    let _ = request;
    Ok(context)
}

/// 429: the caller may try again in a second, we do not.
fn overloaded(request_id: &str) -> Reply {
    Reply {
        status: 429,
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("retry-after".to_owned(), "1".to_owned()),
            ("x-request-id".to_owned(), request_id.to_owned()),
        ],
        body: br#"{"code":429,"message":"Too many requests hit the API too quickly."}"#.to_vec(),
    }
}
