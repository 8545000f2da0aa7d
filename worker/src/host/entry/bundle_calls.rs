//! Calls about the bundle that the entry answers without the project's object: the head, its parts, and the feed.

use super::{EntryOutcome, IncomingRequest};
use crate::access::feed as feed_access;
use crate::host::bindings::{Bindings, ObjectCallFailure};
use crate::host::{bundle, feed, random};
use crate::http::caller::{Caller, CredentialClass};
use crate::http::reply::error_reply;
use crate::http::table::MatchedRoute;

impl IncomingRequest {
    /// Answers the head of a bundle or a part of one, or opens its feed, without the project's object; `None` if only the object can answer.
    pub(super) async fn answer_bundle(
        &self,
        matched: &MatchedRoute,
        caller: &Caller,
        kv_key: &str,
        bindings: &Bindings,
    ) -> Result<Option<EntryOutcome>, ObjectCallFailure> {
        if matched.route.path == feed_access::PATH && feed_access::is_upgrade(&self.request) {
            return Ok(Some(match feed::open(bindings, &self.request, caller, kv_key).await? {
                Some(answer) => EntryOutcome::Feed(answer),
                None => EntryOutcome::Reply(error_reply(&feed_access::full(), &self.request_id)),
            }));
        }
        if !bundle::is_about_copies(matched.route, &self.request) {
            return Ok(None);
        }
        #[cfg(feature = "test-hooks")]
        if crate::host::test_hooks::has_own_clock(&self.request) {
            return Ok(None);
        }
        let now = self.context.now.millis();
        if caller.class == CredentialClass::Bundle {
            let part = bundle::find_part(bindings, matched, caller, &self.request_id).await;
            return Ok(part.map(EntryOutcome::Answer));
        }
        let lines = self.lines(
            |_| false,
            &[
                ("scrip-caller", &caller.header()),
                ("scrip-request-id", &self.request_id),
                (random::SEED_HEADER, &random::write_seed(&self.context.seed)),
            ],
        );
        let call = bundle::HeadCall { matched, request: &self.request, caller, request_id: &self.request_id, lines };
        Ok(Some(EntryOutcome::Reply(bundle::answer_head(call, now, &self.env, &self.runtime).await)))
    }
}
