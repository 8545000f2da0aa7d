//! Decides what happens to a request before an object sees it: its identifier, its size, whose it is, where it goes.
//! It must not know routes, rules or documents, and it keeps nothing but the records of keys, for a minute.
//!
//! This is the only asynchronous code of the Worker. It runs in an instance of its own, so that an instance of the
//! engine that trapped can be made anew while requests are waiting here.

use super::bindings::{
    Answer, Bindings, Body, Call, Failure, Parts, origin_of, read_body, read_head, respond, respond_in_parts,
    respond_reply,
};
use super::gate::Gate;
use super::{asset, chance, health, key, log, metrics, wire};
use crate::access::auth::{self, Wanted};
use crate::access::guesses;
use crate::access::keys::{self, Signed};
use crate::access::rates;
use crate::http::caller::{CARRIED, Caller, ONWARD};
use crate::http::public;
use crate::http::reply::{self, BODY_BYTES_MAX, error_reply};
use crate::http::request::{Reply, Request};
use crate::http::route::Route;
use crate::shop::webhooks::SIGNED;
use crate::store::sql::Fault;
use crate::table::TABLE;
use js_sys::Uint8Array;
use std::cell::RefCell;
use wasm_bindgen::JsCast;
use worker::worker_sys::web_sys;
use worker::{Env, event};

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
    route: Option<&'static Route>,
    env: Env,
    runtime: worker::Context,
    arrived_ms: i64,
    context: scrip::Context,
    request_id: String,
}

/// What is found out about a request on its way.
#[derive(Default)]
struct Known {
    /// Who asks, once let in.
    caller: Option<Caller>,
    /// What is left of how often they may.
    share: Option<rates::Share>,
}

thread_local! {
    /// How often who has called this process.
    static COUNTS: RefCell<rates::Counts> = RefCell::default();
}

/// What the caller gets.
enum Outcome {
    /// The answer of an object or a file, passed on untouched.
    Answer(Answer),
    /// The first part of an answer; its object gives the next ones to whoever reads on.
    Parts(Parts),
    /// A reply made here.
    Reply(Reply),
}

/// Answers one HTTP request.
#[event(fetch)]
async fn fetch(raw: web_sys::Request, env: Env, runtime: worker::Context) -> Result<web_sys::Response, worker::Error> {
    log::tell_panics();
    let arrived_ms = chance::clock_ms();
    let request = read_head(&raw);
    let context = context_of(&request).map_err(|fault| worker::Error::RustError(fault.0))?;
    let request_id = context.request_id().to_string();
    let route = TABLE.find(&request.method, &request.path).ok().map(|matched| matched.route);
    let arrival = Arrival { raw, request, route, env, runtime, arrived_ms, context, request_id };
    let mut known = Known::default();
    let mut reply = match arrival.answer(&mut known).await {
        Ok(Outcome::Answer(mut answer)) if answer.status != 500 => {
            arrival.count(answer.status);
            tell_share(&known, &mut answer);
            return respond(&answer);
        }
        Ok(Outcome::Parts(mut parts)) => {
            arrival.count(parts.answer.status);
            tell_share(&known, &mut parts.answer);
            return respond_in_parts(&parts);
        }
        // The object has told the log.
        Ok(Outcome::Answer(_)) => reply::failed(&arrival.request_id),
        Ok(Outcome::Reply(reply)) => reply,
        // The caller may try again in a second, we do not.
        Err(Failure::Overloaded) => {
            arrival.log("warning", 429, "the object has too much to do");
            reply::too_many(&arrival.request_id, 1)
        }
        Err(Failure::Fault(fault)) => {
            arrival.log("error", 500, &fault.0);
            unanswered(&arrival.request_id)
        }
    };
    // Without this a page could not tell a failure of ours from a broken connection.
    if let Some(origin) = known.caller.as_ref().and_then(|caller| caller.origin.as_deref()) {
        reply::allow_origin(&mut reply, origin);
    }
    if let Some(share) = &known.share {
        share.tell(&mut reply);
    }
    arrival.count(reply.status);
    respond_reply(&reply)
}

/// Says in an answer of an object what is left of the caller's share.
fn tell_share(known: &Known, answer: &mut Answer) {
    let Some(share) = &known.share else { return };
    let headers = share.headers();
    let lines = headers.iter().map(|(name, value)| (*name, value.as_str()));
    answer.lines.push_str(&wire::write_lines(lines));
}

impl Arrival {
    /// Counts the request as answered.
    fn count(&self, status: u16) {
        let millis = chance::clock_ms().saturating_sub(self.arrived_ms);
        metrics::count(&self.request, self.route, status, u64::try_from(millis).unwrap_or(0));
    }

    /// Tells the log that the request was not answered as it should be.
    fn log(&self, level: &str, status: u16, what: &str) {
        let asked = log::name_of(&self.request, self.route);
        log::request(level, "request_failed", &self.request_id, (&asked, status), what);
    }

    /// Finds out who asks, notes it, and lets the right object answer.
    async fn answer(&self, known: &mut Known) -> Result<Outcome, Failure> {
        let bindings: &Bindings = self.env.unchecked_ref();
        if let Some(path) = asset::path_of(&self.request)
            && let Some(bytes) = bindings.file(&path).await?
        {
            return Ok(Outcome::Answer(asset::answer(&path, &self.request, bytes)));
        }
        let lines = self.lines(rehearses, &[("scrip-request-id", &self.request_id)]);
        if let Some(reply) = metrics::answer(bindings, &self.request, &lines, &self.request_id).await? {
            return Ok(Outcome::Reply(reply));
        }
        let wanted = match auth::lookup_key(&TABLE, &self.request, &self.request_id) {
            Ok(wanted) => wanted,
            Err(reply) => return Ok(Outcome::Reply(reply)),
        };
        let now = self.context.now.millis();
        let (kv_key, object, path) = match wanted {
            Wanted::Answered(reply) => return Ok(Outcome::Reply(reply)),
            Wanted::Description => return self.describe(bindings).await,
            Wanted::Health => return Ok(Outcome::Reply(health::find(bindings, &lines, now, &self.request_id).await)),
            Wanted::Key { kv_key, object, path } => (kv_key, object, path),
        };
        let name = key::name(&kv_key, &self.env);
        let place = key::Place { name: &name, object: &object, path: &path, lines: &lines };
        let caller = match self.admit(&place, now).await? {
            Ok(caller) => known.caller.insert(Caller { local: self.is_local(), ..caller }),
            Err(reply) => return Ok(Outcome::Reply(reply)),
        };
        let verdict = COUNTS.with_borrow_mut(|counts| counts.ask(&TABLE, &self.request, caller, now));
        match verdict {
            rates::Verdict::Unlimited => {}
            rates::Verdict::Within(share) => known.share = Some(share),
            rates::Verdict::Beyond { share, seconds, of } => {
                return Ok(Outcome::Reply(rates::refused(&self.request_id, &share, seconds, of)));
            }
        }
        match read_body(&self.raw, BODY_BYTES_MAX).await? {
            Body::Whole(body) => self.pass(caller, bindings, &body).await,
            Body::TooLong => Ok(Outcome::Reply(reply::too_large(&self.request_id))),
            Body::Broken => Ok(Outcome::Reply(error_reply(&reply::broken_body(), &self.request_id))),
            Body::Late => Ok(Outcome::Reply(error_reply(&reply::late_body(), &self.request_id))),
        }
    }

    /// Answers with the description of the interface.
    async fn describe(&self, bindings: &Bindings) -> Result<Outcome, Failure> {
        let missing = || Fault::new(format!("{} is not among the files beside the Worker", public::DESCRIPTION));
        let bytes = bindings.file(public::DESCRIPTION).await?.ok_or_else(missing)?;
        let reply = public::describe(&self.request_id);
        Ok(Outcome::Answer(Answer { status: reply.status, lines: wire::write_reply_lines(&reply), bytes }))
    }

    /// Hands the request on, where it names codes only as fast as the gate lets whoever guesses.
    async fn pass(&self, caller: &Caller, bindings: &Bindings, body: &Uint8Array) -> Result<Outcome, Failure> {
        let Some(asker) = self.route.and_then(|route| guesses::asker(route, caller)) else {
            return self.forward(caller, bindings, body).await;
        };
        let gate = Gate::of(bindings, asker, self.lines(rehearses, &[]), &self.request_id);
        if let Some(seconds) = gate.enter().await {
            return Ok(Outcome::Reply(reply::too_many(&self.request_id, seconds)));
        }
        let mut outcome = self.forward(caller, bindings, body).await;
        let answer = match &mut outcome {
            Ok(Outcome::Answer(answer)) => Some(answer),
            _ => None,
        };
        gate.leave(answer, self.arrived_ms, &self.runtime).await;
        outcome
    }

    /// Judges the request by the record of its key. One that was kept and does not fit may be older than a new secret.
    async fn admit(&self, place: &key::Place<'_>, now: i64) -> Result<Result<Caller, Reply>, Failure> {
        let judge = |kept: Option<key::Kept>| {
            let record = kept.as_ref().map(|kept| kept.record.as_str());
            auth::admit(&TABLE, &self.request, record, now, &self.request_id)
        };
        let kept = key::find(place, now, &self.env, &self.runtime).await?;
        let may_have_changed = kept.as_ref().is_some_and(|kept| kept.may_have_changed(now));
        match judge(kept) {
            Err(refusal) if refusal.status == 401 && may_have_changed => {
                Ok(judge(key::ask(place, now, &self.env, &self.runtime).await?))
            }
            verdict => Ok(verdict),
        }
    }

    /// Hands the admitted request to the object that answers it.
    async fn forward(&self, caller: &Caller, bindings: &Bindings, body: &Uint8Array) -> Result<Outcome, Failure> {
        let Request { method, path, query, .. } = &self.request;
        let target = if query.is_empty() { path.clone() } else { format!("{path}?{query}") };
        let lines = self.lines(
            passes,
            &[
                ("scrip-caller", &caller.header()),
                ("scrip-request-id", &self.request_id),
                ("scrip-origin", &origin_of(&self.raw, &self.request)),
                (chance::SEED_HEADER, &chance::write_seed(&self.context.seed)),
            ],
        );
        let call = Call { method, target: &target, lines: &lines, body: Some(body) };
        let object = auth::object(&TABLE, &self.request, caller);
        let mut answer = bindings.ask(&object, call).await?;
        if object == "directory" {
            self.follow(bindings, &mut answer).await?;
        }
        if let Some(project) = wire::take_line(&mut answer.lines, ONWARD) {
            return self.go_on(caller, bindings, (&project, &answer.bytes)).await;
        }
        Ok(match wire::take_line(&mut answer.lines, "scrip-next") {
            None => Outcome::Answer(answer),
            Some(next) => Outcome::Parts(Parts { answer, next, stub: bindings.stub(&object)?, target, lines }),
        })
    }

    /// Hands what one project's object answered to that of another, which answers the caller.
    async fn go_on(
        &self,
        caller: &Caller,
        bindings: &Bindings,
        (project, body): (&str, &Uint8Array),
    ) -> Result<Outcome, Failure> {
        let missing = || Fault::new(format!("the caller does not manage `{project}`"));
        let caller = caller.in_other(project).ok_or_else(missing)?;
        let lines = self.lines(
            passes,
            &[
                ("scrip-caller", &caller.header()),
                (CARRIED, "true"),
                ("scrip-request-id", &self.request_id),
                ("scrip-origin", &origin_of(&self.raw, &self.request)),
                (chance::SEED_HEADER, &chance::write_seed(&self.context.seed)),
            ],
        );
        let call = Call { method: &self.request.method, target: &self.request.path, lines: &lines, body: Some(body) };
        Ok(Outcome::Answer(bindings.ask(&format!("project:{project}"), call).await?))
    }

    /// Does what the directory tells the entry beside its answer: forgets what is kept here of keys that have changed, and has the
    /// object of a project that is gone emptied.
    async fn follow(&self, bindings: &Bindings, answer: &mut Answer) -> Result<(), Failure> {
        if let Some(names) = wire::take_line(&mut answer.lines, keys::FORGET) {
            for name in names.split(',').filter(|name| !name.is_empty()) {
                key::forget(&key::name(name, &self.env), &self.env).await?;
            }
        }
        if let Some(project) = wire::take_line(&mut answer.lines, keys::EMPTIED) {
            bindings.empty(&project).await?;
        }
        if let Some(signed) = wire::take_line(&mut answer.lines, keys::SIGNED) {
            self.sign(bindings, &signed).await?;
        }
        Ok(())
    }

    /// Tells the object of a project what signs its webhooks from now on.
    async fn sign(&self, bindings: &Bindings, signed: &str) -> Result<(), Failure> {
        let read: Signed =
            serde_json::from_str(signed).map_err(|error| Fault(format!("a secret does not read: {error}")))?;
        let lines = self.lines(rehearses, &[("scrip-request-id", &self.request_id)]);
        let body = Uint8Array::from(signed.as_bytes());
        let call = Call { method: "PUT", target: SIGNED, lines: &lines, body: Some(&body) };
        match bindings.ask(&format!("project:{}", read.project), call).await?.status {
            204 => Ok(()),
            status => Err(Fault(format!("what signs webhooks was not taken: {status}")).into()),
        }
    }

    /// Whether the service runs where one develops. What is deployed has no such binding.
    fn is_local(&self) -> bool {
        self.env.var("SCRIP_LOCAL").is_ok_and(|said| said.to_string() == "true")
    }

    /// The header lines for an object: those of the caller that `pass` lets through, then ours.
    fn lines(&self, pass: fn(&str) -> bool, own: &[(&str, &str)]) -> String {
        let headers = self.request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        wire::write_lines(headers.filter(|(name, _)| pass(name)).chain(own.iter().copied()))
    }
}

/// Whether an object sees this header of the caller: never a credential, and none of ours that the caller made up.
fn passes(name: &str) -> bool {
    rehearses(name) || !(CREDENTIALS.contains(&name) || name.starts_with("scrip-"))
}

/// Whether this header sets the scene of a test.
fn rehearses(name: &str) -> bool {
    cfg!(feature = "rehearsal") && name.starts_with("scrip-rehearsal-")
}

/// The moment and the seed of a request.
fn context_of(request: &Request) -> Result<scrip::Context, Fault> {
    let context = chance::context(chance::seed()?)?;
    #[cfg(feature = "rehearsal")]
    let context = super::rehearsal::context_of(request, context)?;
    let _ = request;
    Ok(context)
}

/// 500 where nobody knows whether the object committed; only a retry with the same Idempotency-Key is safe.
fn unanswered(request_id: &str) -> Reply {
    let body =
        format!(r#"{{"code":500,"key":"internal_error","message":"Internal error","request_id":"{request_id}"}}"#);
    json_reply(500, request_id, body)
}

fn json_reply(status: u16, request_id: &str, body: String) -> Reply {
    let headers = [("content-type", "application/json"), ("x-request-id", request_id)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Reply { status, headers: headers.into(), body: body.into_bytes() }
}
