//! Handles a request before an object receives it: its identifier, size, caller and target.
//! It caches the records of keys for a minute. Final verdicts of clients come from copies of the rules (`edge.rs`).
//!
//! This is the only asynchronous code of the Worker. It runs in a separate instance, so that an instance of the
//! engine that trapped can be replaced while requests are waiting here.

use super::attempt_limiter::AttemptLimiter;
use super::bindings::{
    Bindings, Body, ObjectCall, ObjectCallFailure, ObjectResponse, ResponseParts, origin_of, read_body, read_head,
    respond, respond_file, respond_in_parts, respond_reply,
};
use super::bundle_calls::BundleCall;
use super::directory_instructions::DirectoryCall;
use super::edge::{self, EdgeCall, EdgeEngine, EdgeHost};
use super::edge_pass::EdgePass;
use super::entry_outcome::{EntryOutcome, is_unanswered};
use super::passed_headers::{is_test, passes};
use super::{asset, edge_pass, health, key, log, metrics, object_protocol, random};
use crate::access::auth::{self, KeyLookup};
use crate::access::failed_attempts;
use crate::access::rates;
use crate::http::caller::{Caller, FORWARD_TO_PROJECT, FORWARDED};
use crate::http::file;
use crate::http::public;
use crate::http::reply::{self, BODY_BYTES_MAX, ErrorBody, error_reply};
use crate::http::request::{Reply, Request};
use crate::http::route::Route;
use crate::http::table::MatchedRoute;
use crate::routes::TABLE;
use crate::store::sql::Fault;
use js_sys::Uint8Array;
use js_sys::futures::future_to_promise;
use std::cell::RefCell;
use std::future::Future;
use std::task::{Context, Poll, Waker};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;
use worker::worker_sys::{self, web_sys};

/// A request, and the context that the entry needs for it.
struct IncomingRequest {
    raw: web_sys::Request,
    /// Body as the shell has read it, or undefined.
    body: JsValue,
    rules: EdgeEngine,
    request: Request,
    matched: Result<MatchedRoute, ErrorBody>,
    env: Env,
    runtime: worker::Context,
    /// Arrival by the runtime's clock, before the shell has read the body.
    arrived_ms: i64,
    /// The same clock at the time of `context`.
    begun_ms: i64,
    context: scrip::Context,
    request_id: String,
}

/// Facts found about a request while it is handled.
#[derive(Default)]
struct RequestProgress {
    /// Authenticated caller.
    caller: Option<Caller>,
    /// Remaining calls of the caller's rates.
    share: Option<rates::RateRemaining>,
}

thread_local! {
    /// Counts of calls to this process, by caller.
    static COUNTS: RefCell<rates::Counts> = RefCell::default();
}

/// Answers one HTTP request: with the response if all that it needs is in memory, else with the promise of one. `body` is the body as the
/// shell has read it, or undefined if it has not; the request arrived at `arrived_ms`, and `rules` decides in the other instance.
#[wasm_bindgen(js_name = answer)]
pub fn answer_request(
    raw: web_sys::Request,
    body: JsValue,
    arrived_ms: f64,
    rules: EdgeEngine,
    env: Env,
    runtime: worker_sys::Context,
) -> Result<JsValue, JsValue> {
    let answered = fetch(raw, body, arrived_ms as i64, rules, env, worker::Context::new(runtime));
    let mut answered = Box::pin(async move { Ok::<JsValue, JsValue>(answered.await?.into()) });
    // A promise takes as long as a decision. It begins by polling again, so that it misses no event.
    match answered.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answered) => answered,
        Poll::Pending => Ok(future_to_promise(answered).into()),
    }
}

async fn fetch(
    raw: web_sys::Request,
    body: JsValue,
    arrived_ms: i64,
    rules: EdgeEngine,
    env: Env,
    runtime: worker::Context,
) -> Result<web_sys::Response, worker::Error> {
    log::record_panics();
    let begun_ms = random::clock_ms();
    let bindings: &Bindings = env.unchecked_ref();
    let request = read_head(&raw, bindings.has_objects_here());
    let context = context_of(&request).map_err(|fault| worker::Error::RustError(fault.0))?;
    #[cfg(feature = "test-hooks")]
    super::test_hooks::trap_if_asked(&request, false);
    let request_id = context.request_id().to_string();
    let matched = TABLE.find(&request.method, &request.path);
    let arrival =
        IncomingRequest { raw, body, rules, request, matched, env, runtime, arrived_ms, begun_ms, context, request_id };
    let mut progress = RequestProgress::default();
    let outcome = arrival.answer(&mut progress).await;
    #[cfg(feature = "test-hooks")]
    super::test_hooks::trap_if_asked(&arrival.request, true);
    let mut reply = match outcome {
        Ok(EntryOutcome::Answer(mut answer)) if answer.status != 500 => {
            arrival.count(answer.status);
            write_rate_headers(&progress, &mut answer);
            return respond(&answer);
        }
        Ok(EntryOutcome::Parts(mut parts)) => {
            arrival.count(parts.answer.status);
            write_rate_headers(&progress, &mut parts.answer);
            return respond_in_parts(&parts);
        }
        Ok(EntryOutcome::Response(answer)) => {
            arrival.count(answer.status());
            return Ok(answer);
        }
        // The object has logged it.
        Ok(EntryOutcome::Answer(_)) => reply::failed(&arrival.request_id),
        Ok(EntryOutcome::Reply(reply)) => reply,
        // The caller may retry after a second; the entry does not.
        Err(ObjectCallFailure::Overloaded) => {
            arrival.log("warning", 429, "the object has too much to do");
            reply::too_many(&arrival.request_id, 1)
        }
        Err(ObjectCallFailure::Fault(fault)) => {
            arrival.log("error", 500, &fault.0);
            unanswered(&arrival.request_id)
        }
    };
    // Without this a client could not distinguish a failure of the service from a broken connection.
    if let Some(origin) = progress.caller.as_ref().and_then(|caller| caller.origin.as_deref()) {
        reply::allow_origin(&mut reply, origin);
    }
    if let Some(share) = &progress.share {
        share.write_headers(&mut reply);
    }
    arrival.count(reply.status);
    respond_reply(&reply)
}

/// Adds the headers of the remaining rate to a response of an object.
fn write_rate_headers(progress: &RequestProgress, answer: &mut ObjectResponse) {
    let Some(share) = &progress.share else { return };
    let headers = share.headers();
    let lines = headers.iter().map(|(name, value)| (*name, value.as_str()));
    answer.lines.push_str(&object_protocol::write_lines(lines));
}

impl IncomingRequest {
    /// Returns the route of the request; `None` for an unknown path or method.
    fn route(&self) -> Option<&'static Route> {
        self.matched.as_ref().ok().map(|matched| matched.route)
    }

    /// Counts the request as answered.
    fn count(&self, status: u16) {
        // A clock that was set back measures no time.
        let millis = random::clock_ms().saturating_sub(self.arrived_ms);
        metrics::count(&self.request, self.route(), status, u64::try_from(millis).unwrap_or(0));
    }

    /// Logs that a request was not answered as expected.
    fn log(&self, level: &str, status: u16, reason: &str) {
        let route_name = log::name_of(&self.request, self.route());
        log::request(level, "request_failed", &self.request_id, &route_name, status, reason);
    }

    /// Authenticates the caller, and forwards the request to its object.
    async fn answer(&self, progress: &mut RequestProgress) -> Result<EntryOutcome, ObjectCallFailure> {
        let bindings: &Bindings = self.env.unchecked_ref();
        if let Some(path) = file::path_of(&self.request)
            && let Some(file) = bindings.file(&path).await?
        {
            let response = respond_file(200, &asset::header_lines(&path), &file, &self.request.method)?;
            return Ok(EntryOutcome::Response(response));
        }
        let lines = self.lines(is_test, &[("scrip-request-id", &self.request_id)]);
        if let Some(reply) = metrics::answer(bindings, &self.request, &lines, &self.request_id).await? {
            return Ok(EntryOutcome::Reply(reply));
        }
        let lookup = match auth::lookup_key(&self.matched, &self.request, &self.request_id) {
            Ok(lookup) => lookup,
            Err(reply) => return Ok(EntryOutcome::Reply(reply)),
        };
        let now = self.context.now.millis();
        let (matched, kv_key, object, path) = match lookup {
            KeyLookup::Answered(reply) => return Ok(EntryOutcome::Reply(reply)),
            KeyLookup::Description => return self.describe(bindings).await,
            KeyLookup::Health => {
                return Ok(EntryOutcome::Reply(health::find(bindings, &lines, now, &self.request_id).await));
            }
            KeyLookup::Key { matched, kv_key, object, path } => (matched, kv_key, object, path),
        };
        let name = key::name(&kv_key, &self.env);
        let place = key::KeyLocation { name: &name, object: &object, path: &path, lines: &lines };
        let caller = match self.admit(matched, &place, now).await? {
            Ok(caller) => progress.caller.insert(Caller { local: bindings.is_local(), ..caller }),
            Err(reply) => return Ok(EntryOutcome::Reply(reply)),
        };
        let verdict = COUNTS.with_borrow_mut(|counts| counts.count_call(matched.route, caller, now));
        match verdict {
            rates::RateDecision::Unlimited => {}
            rates::RateDecision::Within(share) => progress.share = Some(share),
            rates::RateDecision::Beyond { share, seconds, of } => {
                return Ok(EntryOutcome::Reply(rates::refusal(&self.request_id, &share, seconds, of)));
            }
        }
        let call = BundleCall {
            matched,
            request: &self.request,
            caller,
            request_id: &self.request_id,
            kv_key: &kv_key,
            now_ms: self.context.now.millis(),
            lines: &|| self.demand_lines(caller),
        };
        if let Some(answer) = call.answer(bindings, &self.env, &self.runtime).await? {
            return Ok(answer.into());
        }
        match read_body(&self.raw, &self.body, BODY_BYTES_MAX).await? {
            Body::Whole(body) => self.pass(matched, caller, bindings, &body).await,
            Body::TooLong => Ok(EntryOutcome::Reply(reply::too_large(&self.request_id))),
            Body::Broken => Ok(EntryOutcome::Reply(error_reply(&reply::malformed_body(), &self.request_id))),
            Body::Late => Ok(EntryOutcome::Reply(error_reply(&reply::timed_out_body(), &self.request_id))),
        }
    }

    /// Answers with the OpenAPI description.
    async fn describe(&self, bindings: &Bindings) -> Result<EntryOutcome, ObjectCallFailure> {
        let missing = || Fault::new(format!("{} is not among the files beside the Worker", public::DESCRIPTION));
        let file = bindings.file(public::DESCRIPTION).await?.ok_or_else(missing)?;
        let reply = public::describe(&self.request_id);
        let lines = object_protocol::write_reply_lines(&reply);
        let response = respond_file(reply.status, &lines, &file, &self.request.method)?;
        Ok(EntryOutcome::Response(response))
    }

    /// Answers the request by copies of the rules, or forwards it. If it names codes, the attempt limiter may delay or refuse it.
    async fn pass(
        &self,
        matched: &MatchedRoute,
        caller: &Caller,
        bindings: &Bindings,
        body: &Uint8Array,
    ) -> Result<EntryOutcome, ObjectCallFailure> {
        #[cfg(feature = "test-hooks")]
        if super::test_hooks::builds_bundle(&self.request) {
            super::bundle::forget_head(&caller.project);
        }
        let call = || EdgeCall::of(caller, &self.context, &self.request_id, self.edge_host());
        let lines = || self.demand_lines(caller);
        let edge = EdgePass::of(matched, &self.request, body, caller, call, &lines);
        let edge = edge.as_ref();
        // Without a code there is nothing to guess.
        if let Some(answer) = edge_pass::answer(edge, false).await {
            return Ok(EntryOutcome::Answer(answer));
        }
        let Some(client_key) = failed_attempts::client_key(matched.route, caller) else {
            return self.forward_or_fall_back(matched.route, caller, bindings, body, edge).await;
        };
        let limiter = AttemptLimiter::of(bindings, client_key, self.lines(is_test, &[]), &self.request_id);
        if let Some(seconds) = limiter.enter().await {
            return Ok(EntryOutcome::Reply(reply::too_many(&self.request_id, seconds)));
        }
        let mut outcome = match edge_pass::answer(edge, true).await {
            Some(answer) => Ok(EntryOutcome::Answer(answer)),
            None => self.forward_or_fall_back(matched.route, caller, bindings, body, edge).await,
        };
        // The rules answer a right code also while the object fails. What then has no answer must count, or codes could be tried freely.
        let is_guess = edge.is_some_and(EdgePass::names_codes) && is_unanswered(&outcome);
        let answer = outcome.as_mut().ok().and_then(EntryOutcome::answer_mut);
        limiter.leave(answer, is_guess, self.begun_ms, &self.runtime).await;
        outcome
    }

    /// Forwards the request. Where its object fails and nothing can have been stored, the rules of the entry answer, or the caller may repeat it.
    async fn forward_or_fall_back(
        &self,
        route: &Route,
        caller: &Caller,
        bindings: &Bindings,
        body: &Uint8Array,
        edge: Option<&EdgePass<'_>>,
    ) -> Result<EntryOutcome, ObjectCallFailure> {
        let outcome = self.forward(route, caller, bindings, body).await;
        if let Ok(EntryOutcome::Answer(answer)) = &outcome {
            edge::confirm_revision(caller, answer, &self.context, &self.edge_host());
        }
        let Some(edge) = edge.filter(|edge| edge.stores_nothing()) else { return outcome };
        match &outcome {
            Err(ObjectCallFailure::Fault(fault)) => self.log("error", 503, &fault.0),
            // The object has logged it.
            Ok(EntryOutcome::Answer(answer)) if answer.status == 500 => {}
            _ => return outcome,
        }
        Ok(edge.answer_after_failure().await)
    }

    fn edge_host(&self) -> EdgeHost<'_> {
        EdgeHost { env: &self.env, rules: &self.rules, runtime: &self.runtime, begun_ms: self.begun_ms }
    }

    /// Checks the request against the record of its key. A cached record that does not fit may be older than a new secret.
    async fn admit(
        &self,
        matched: &MatchedRoute,
        place: &key::KeyLocation<'_>,
        now: i64,
    ) -> Result<Result<Caller, Reply>, ObjectCallFailure> {
        let judge = |cached: Option<key::CachedKey>| {
            let record = cached.as_ref().and_then(|cached| cached.record.as_deref());
            auth::admit(matched, &self.request, record, now, &self.request_id)
        };
        let cached = key::find(place, now, &self.env, &self.runtime).await?;
        let may_have_changed = cached.as_ref().is_some_and(|cached| cached.may_have_changed(now));
        match judge(cached) {
            Err(refusal) if refusal.status == 401 && may_have_changed => {
                Ok(judge(key::request_record(place, now, &self.env, &self.runtime).await?))
            }
            verdict => Ok(verdict),
        }
    }

    /// Forwards the admitted request to its object.
    async fn forward(
        &self,
        route: &Route,
        caller: &Caller,
        bindings: &Bindings,
        body: &Uint8Array,
    ) -> Result<EntryOutcome, ObjectCallFailure> {
        let Request { method, path, query, .. } = &self.request;
        let target = if query.is_empty() { path.clone() } else { format!("{path}?{query}") };
        let lines = self.lines(
            passes,
            &[
                ("scrip-caller", &caller.header()),
                ("scrip-request-id", &self.request_id),
                ("scrip-origin", &origin_of(&self.raw, &self.request)),
                (random::SEED_HEADER, &random::write_seed(&self.context.seed)),
            ],
        );
        let call = ObjectCall { method, target: &target, lines: &lines, body: Some(body) };
        let object = auth::object(route, caller);
        let mut answer = bindings.call(&object, call).await?;
        if object == "directory" {
            let call = DirectoryCall {
                env: &self.env,
                runtime: &self.runtime,
                caller,
                request_id: &self.request_id,
                params: self.matched.as_ref().map(|matched| matched.params.as_slice()).unwrap_or_default(),
                lines: self.lines(is_test, &[("scrip-request-id", &self.request_id)]),
                demand_lines: &|caller| self.demand_lines(caller),
            };
            call.follow(&mut answer).await?;
        }
        if let Some(project) = object_protocol::take_line(&mut answer.lines, FORWARD_TO_PROJECT) {
            return self.forward_to_project(caller, bindings, &project, &answer.bytes).await;
        }
        Ok(match object_protocol::take_line(&mut answer.lines, "scrip-next") {
            None => EntryOutcome::Answer(answer),
            Some(next) => {
                EntryOutcome::Parts(ResponseParts { answer, next, stub: bindings.stub(&object)?, target, lines })
            }
        })
    }

    /// Forwards the response of one project's object to that of another, which answers the caller.
    async fn forward_to_project(
        &self,
        caller: &Caller,
        bindings: &Bindings,
        project: &str,
        body: &Uint8Array,
    ) -> Result<EntryOutcome, ObjectCallFailure> {
        let missing = || Fault::new(format!("the caller does not manage `{project}`"));
        let caller = caller.in_other(project).ok_or_else(missing)?;
        let lines = self.lines(
            passes,
            &[
                ("scrip-caller", &caller.header()),
                (FORWARDED, "true"),
                ("scrip-request-id", &self.request_id),
                ("scrip-origin", &origin_of(&self.raw, &self.request)),
                (random::SEED_HEADER, &random::write_seed(&self.context.seed)),
            ],
        );
        let call =
            ObjectCall { method: &self.request.method, target: &self.request.path, lines: &lines, body: Some(body) };
        Ok(EntryOutcome::Answer(bindings.call(&format!("project:{project}"), call).await?))
    }

    /// Returns the header lines of a demand to build the bundle: none of the caller's but the clock of a test, or the object would set an
    /// alarm of the real clock.
    fn demand_lines(&self, caller: &Caller) -> String {
        let seed = random::write_seed(&self.context.seed);
        let own = [
            ("scrip-caller", &*caller.header()),
            ("scrip-request-id", &self.request_id),
            (random::SEED_HEADER, &*seed),
        ];
        self.lines(is_test, &own)
    }

    /// Returns the header lines for an object: those of the caller that `pass` accepts, then the entry's own.
    fn lines(&self, pass: fn(&str) -> bool, own: &[(&str, &str)]) -> String {
        let headers = self.request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        object_protocol::write_lines(headers.filter(|(name, _)| pass(name)).chain(own.iter().copied()))
    }
}

/// Reads the time and the seed of a request.
fn context_of(request: &Request) -> Result<scrip::Context, Fault> {
    let context = random::context(random::seed()?)?;
    #[cfg(feature = "test-hooks")]
    let context = super::test_hooks::context_of(request, context)?;
    let _ = request;
    Ok(context)
}

/// Returns 500 if it is unknown that the object committed; only a retry with the same Idempotency-Key is safe.
fn unanswered(request_id: &str) -> Reply {
    let body =
        format!(r#"{{"code":500,"key":"internal_error","message":"Internal error","request_id":"{request_id}"}}"#);
    let headers = [("content-type", "application/json"), ("x-request-id", request_id)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Reply { status: 500, headers: headers.into(), body: body.into_bytes() }
}
