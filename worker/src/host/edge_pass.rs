//! A request on its way through the entry, as the rules of the entry may answer it.

use super::bindings::ObjectResponse;
use super::edge::{EdgeCall, EdgeHost};
use super::entry_outcome::EntryOutcome;
use super::metrics;
use crate::domain::bundle::kv_copies::edge_rules::{EdgeOperation, EdgeRequest, stores_nothing};
use crate::http::caller::Caller;
use crate::http::health;
use crate::http::request::Request;
use crate::http::table::MatchedRoute;
use js_sys::Uint8Array;
use scrip::Context;

/// Seconds after which a request may be repeated that no object answered.
const RETRY_SECONDS: i64 = 1;

/// Request with its body, which the entry reads only for operations of its rules.
pub(super) struct EdgeBody<'m> {
    matched: &'m MatchedRoute,
    operation: EdgeOperation,
    request: Request,
    body: Uint8Array,
}

impl<'m> EdgeBody<'m> {
    /// Reads the body; `None` for all calls that the entry never answers.
    pub fn of(
        matched: &'m MatchedRoute,
        request: &Request,
        caller: &Caller,
        body: &Uint8Array,
    ) -> Option<EdgeBody<'m>> {
        #[cfg(feature = "test-hooks")]
        if super::test_hooks::builds_bundle(request) {
            super::bundle::forget_head(&caller.project);
        }
        let operation = EdgeOperation::of(matched, request, caller)?;
        #[cfg(feature = "test-hooks")]
        if super::test_hooks::is_for_object(request) {
            return None;
        }
        let request = Request { body: body.to_vec(), ..request.clone() };
        Some(EdgeBody { matched, operation, request, body: body.clone() })
    }

    /// Returns the request for the rules, if the Worker has a secret and the project allows it. `lines` writes the header lines of a demand.
    pub fn pass<'p>(
        &'p self,
        caller: &'p Caller,
        context: &'p Context,
        request_id: &'p str,
        host: EdgeHost<'p>,
        lines: &'p dyn Fn() -> String,
    ) -> Option<EdgePass<'p>> {
        let call = EdgeCall::of(caller, context, request_id, host)?;
        Some(EdgePass {
            body: self,
            call,
            request_id,
            names_codes: EdgeRequest::read(self.operation, self.matched, &self.request).map(|read| read.names_codes),
            lines,
        })
    }
}

/// Request that the rules may answer.
pub(super) struct EdgePass<'p> {
    body: &'p EdgeBody<'p>,
    call: EdgeCall<'p>,
    request_id: &'p str,
    /// True if it names codes; `None` if only the object can answer it.
    names_codes: Option<bool>,
    lines: &'p dyn Fn() -> String,
}

/// Returns the answer by the rules to a request that names codes, or to one that does not; `None` where the object is to answer.
pub(super) async fn answer(edge: Option<&EdgePass<'_>>, names_codes: bool) -> Option<ObjectResponse> {
    let edge = edge?;
    edge.names_codes.filter(|names| *names == names_codes)?;
    edge.answer(false).await
}

impl EdgePass<'_> {
    async fn answer(&self, is_fallback: bool) -> Option<ObjectResponse> {
        self.names_codes?;
        let EdgeBody { matched, body, .. } = self.body;
        let answer = self.call.answer(matched.route.path, body, self.lines, is_fallback).await?;
        metrics::count_by_rules(matched.route);
        Some(answer)
    }

    /// Returns true for a request whose codes the rules may know.
    pub fn names_codes(&self) -> bool {
        self.names_codes == Some(true)
    }

    /// Returns true if nothing can have been stored for the request.
    pub fn stores_nothing(&self) -> bool {
        stores_nothing(&self.body.request.body)
    }

    /// Returns the answer after the object has failed: by the rules if they suffice, else that the request may be repeated.
    pub async fn answer_after_failure(&self) -> EntryOutcome {
        match self.answer(true).await {
            Some(answer) => EntryOutcome::Answer(answer),
            None => EntryOutcome::Reply(health::unanswered(self.request_id, RETRY_SECONDS)),
        }
    }
}
