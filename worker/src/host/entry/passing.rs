//! Has an admitted request answered: by copies of the rules where these suffice, else by its object, past the attempt limiter.

use super::{EntryOutcome, IncomingRequest};
use crate::access::failed_attempts;
use crate::domain::bundle::edge_rules::{EdgeOperation, EdgeRequest, stores_nothing};
use crate::host::attempt_limiter::AttemptLimiter;
use crate::host::bindings::{Bindings, ObjectCallFailure, is_on_cloudflare};
use crate::host::edge::{EdgeCall, EdgeHost};
use crate::host::passed_headers::is_test;
use crate::http::caller::Caller;
use crate::http::health;
use crate::http::reply;
use crate::http::request::{Reply, Request};
use crate::http::table::MatchedRoute;
use js_sys::Uint8Array;

/// Seconds after which a request may be repeated that no object answered.
const RETRY_SECONDS: i64 = 1;

/// Request with its call of the entry's rules, if there is one.
struct PassedRequest<'p> {
    matched: &'p MatchedRoute,
    caller: &'p Caller,
    bindings: &'p Bindings,
    body: &'p Uint8Array,
    edge: Option<&'p EdgeCall<'p>>,
    /// The request as the entry's rules read it; `None` if only the object can answer it.
    read: Option<&'p EdgeRequest<'p>>,
}

impl IncomingRequest {
    /// Answers the request by copies, or forwards it. If it names codes, the attempt limiter may delay or refuse it.
    pub(super) async fn pass(
        &self,
        matched: &MatchedRoute,
        caller: &Caller,
        bindings: &Bindings,
        body: &Uint8Array,
    ) -> Result<EntryOutcome, ObjectCallFailure> {
        let edge = self.edge_call(matched, caller);
        // The entry reads the body only then.
        let whole = edge.as_ref().map(|_| Request { body: body.to_vec(), ..self.request.clone() });
        let read = edge
            .as_ref()
            .zip(whole.as_ref())
            .and_then(|(edge, whole)| EdgeRequest::read(edge.operation, matched, whole));
        let passed = PassedRequest { matched, caller, bindings, body, edge: edge.as_ref(), read: read.as_ref() };
        // Without a code there is nothing to guess.
        if passed.read.is_some_and(|read| !read.names_codes)
            && let Some(reply) = self.answer_by_rules(&passed, false).await
        {
            return Ok(EntryOutcome::Reply(reply));
        }
        let Some(client_key) = failed_attempts::client_key(matched.route, caller) else {
            return self.forward_or_fall_back(&passed).await;
        };
        let limiter = AttemptLimiter::of(bindings, client_key, self.lines(is_test, &[]), &self.request_id);
        if let Some(seconds) = limiter.enter().await {
            return Ok(EntryOutcome::Reply(reply::too_many(&self.request_id, seconds)));
        }
        let by_rules = match passed.read {
            Some(read) if read.names_codes => self.answer_by_rules(&passed, false).await,
            _ => None,
        };
        let mut outcome = match by_rules {
            Some(reply) => Ok(EntryOutcome::Reply(reply)),
            None => self.forward_or_fall_back(&passed).await,
        };
        let answer = match &mut outcome {
            Ok(EntryOutcome::Answer(answer)) => Some(answer),
            _ => None,
        };
        limiter.leave(answer, self.arrived_ms, &self.runtime).await;
        outcome
    }

    /// Returns the call of the entry's rules, if the entry may answer such a request.
    fn edge_call<'c>(&'c self, matched: &MatchedRoute, caller: &'c Caller) -> Option<EdgeCall<'c>> {
        let operation = EdgeOperation::of(matched, &self.request, caller)?;
        #[cfg(feature = "test-hooks")]
        if crate::host::test_hooks::is_for_object(&self.request) {
            return None;
        }
        let host = EdgeHost { env: &self.env, runtime: &self.runtime, is_on_cloudflare: is_on_cloudflare(&self.raw) };
        EdgeCall::of(operation, caller, &self.context, &self.request_id, host)
    }

    async fn answer_by_rules(&self, passed: &PassedRequest<'_>, is_fallback: bool) -> Option<Reply> {
        let (edge, read) = passed.edge.zip(passed.read)?;
        edge.answer(read, &|| self.demand_lines(passed.caller), is_fallback).await
    }

    /// Forwards the request. Where its object does not answer, the entry's rules do if they suffice; otherwise the caller may repeat a
    /// request that stores nothing.
    async fn forward_or_fall_back(&self, passed: &PassedRequest<'_>) -> Result<EntryOutcome, ObjectCallFailure> {
        let PassedRequest { matched, caller, bindings, body, .. } = passed;
        match self.forward(matched.route, caller, bindings, body).await {
            Err(ObjectCallFailure::Fault(fault)) if passed.edge.is_some() && stores_nothing(&body.to_vec()) => {
                self.log("error", 503, &fault.0);
                let reply = self.answer_by_rules(passed, true).await;
                Ok(EntryOutcome::Reply(reply.unwrap_or_else(|| health::unanswered(&self.request_id, RETRY_SECONDS))))
            }
            outcome => outcome,
        }
    }
}
