//! A request on its way through the entry, as the rules of the entry may answer it.

use super::bindings::ObjectResponse;
use super::edge::{EdgeAnswer, EdgeCall, SentRequest};
use super::entry_outcome::EntryOutcome;
use super::metrics;
use crate::domain::bundle::kv_copies::edge_rules::{EdgeOperation, EdgeRequest, accepts_head, stores_nothing};
use crate::http::caller::Caller;
use crate::http::health;
use crate::http::request::Request;
use crate::http::table::MatchedRoute;
use js_sys::Uint8Array;
use std::cell::OnceCell;

/// Seconds after which a request may be repeated that no object answered.
const RETRY_SECONDS: i64 = 1;

/// Request that the rules may answer.
pub(super) struct EdgePass<'p> {
    matched: &'p MatchedRoute,
    operation: EdgeOperation,
    /// The other instance reads it to decide; this one does where nothing was decided.
    body: &'p Uint8Array,
    call: EdgeCall<'p>,
    /// True if the request names codes; `None` if only the object can answer it.
    names_codes: OnceCell<Option<bool>>,
    lines: &'p dyn Fn() -> String,
}

/// Returns the answer by the rules to a request that names no codes or, where the attempt limiter let it pass (`has_entered`), to one that
/// does; `None` where the object is to answer.
pub(super) async fn answer(edge: Option<&EdgePass<'_>>, has_entered: bool) -> Option<ObjectResponse> {
    let edge = edge?;
    if has_entered && !edge.names_codes() {
        return None;
    }
    edge.answer(has_entered, false).await
}

impl<'p> EdgePass<'p> {
    /// Returns `None` for all calls that the entry never answers, and where there is no `call`. `lines` writes the header lines of a demand.
    pub fn of(
        matched: &'p MatchedRoute,
        request: &Request,
        body: &'p Uint8Array,
        caller: &Caller,
        call: impl FnOnce() -> Option<EdgeCall<'p>>,
        lines: &'p dyn Fn() -> String,
    ) -> Option<EdgePass<'p>> {
        let operation = EdgeOperation::of(matched, request, caller)?;
        #[cfg(feature = "test-hooks")]
        if super::test_hooks::is_for_object(request) {
            return None;
        }
        let call = call()?;
        let names_codes = OnceCell::new();
        if !accepts_head(matched, request, body.length() > 0) {
            // It is empty.
            let _ = names_codes.set(None);
        }
        Some(EdgePass { matched, operation, body, call, names_codes, lines })
    }

    async fn answer(&self, has_entered: bool, is_fallback: bool) -> Option<ObjectResponse> {
        if self.names_codes.get() == Some(&None) {
            return None;
        }
        let request = SentRequest { path: self.matched.route.path, body: self.body, has_entered, is_fallback };
        match self.call.answer(request, self.lines).await? {
            EdgeAnswer::Final(answer) => {
                metrics::count_by_rules(self.matched.route);
                Some(answer)
            }
            EdgeAnswer::NamesCodes => {
                self.names_codes.get_or_init(|| Some(true));
                None
            }
        }
    }

    /// Returns true for a request whose codes the rules may know.
    pub fn names_codes(&self) -> bool {
        let read = || EdgeRequest::read(self.operation, &self.body.to_vec()).map(|read| read.names_codes);
        *self.names_codes.get_or_init(read) == Some(true)
    }

    /// Returns true if nothing can have been stored for the request.
    pub fn stores_nothing(&self) -> bool {
        stores_nothing(&self.body.to_vec())
    }

    /// Returns the answer after the object has failed: by the rules if they suffice, else that the request may be repeated.
    pub async fn answer_after_failure(&self) -> EntryOutcome {
        match self.answer(true, true).await {
            Some(answer) => EntryOutcome::Answer(answer),
            None => EntryOutcome::Reply(health::unanswered(self.call.request_id, RETRY_SECONDS)),
        }
    }
}
