//! Calls about the bundle that need no object of a project: the head, its parts, its goods, and the feed.

use super::bindings::{Bindings, ObjectCallFailure, ObjectResponse};
use super::{bundle, bundle_goods, feed};
use crate::access::feed as feed_access;
use crate::http::caller::{Caller, CredentialClass};
use crate::http::reply::error_reply;
use crate::http::request::{Reply, Request};
use crate::http::table::MatchedRoute;
use worker::{Context, Env, web_sys};

/// Admitted call, which may be about the bundle.
pub(super) struct BundleCall<'c> {
    pub matched: &'c MatchedRoute,
    pub request: &'c Request,
    pub caller: &'c Caller,
    pub request_id: &'c str,
    /// Key of the caller, as it is cached.
    pub kv_key: &'c str,
    pub now_ms: i64,
    /// Writes the internal headers for a demand to the project's object.
    pub lines: &'c dyn Fn() -> String,
}

/// Answer to such a call.
pub(super) enum BundleAnswer {
    /// A part of a core, or a goods bucket.
    Part(ObjectResponse),
    /// Open connection to the feed.
    Feed(web_sys::Response),
    /// The head, or a refusal.
    Reply(Reply),
}

impl BundleCall<'_> {
    /// Answers the head of a bundle or a part of one, or opens its feed; `None` for other calls, and if only the object can answer.
    pub(super) async fn answer(
        self,
        bindings: &Bindings,
        env: &Env,
        runtime: &Context,
    ) -> Result<Option<BundleAnswer>, ObjectCallFailure> {
        let BundleCall { matched, request, caller, request_id, kv_key, now_ms, lines } = self;
        if matched.route.path == feed_access::PATH && feed_access::is_upgrade(request) {
            return Ok(Some(match feed::open(bindings, request, caller, kv_key).await? {
                Some(answer) => BundleAnswer::Feed(answer),
                None => BundleAnswer::Reply(error_reply(&feed_access::full(), request_id)),
            }));
        }
        if !bundle::is_about_copies(matched.route, request) {
            return Ok(None);
        }
        #[cfg(feature = "test-hooks")]
        if super::test_hooks::has_own_clock(request) {
            return Ok(None);
        }
        if bundle::is_about_goods(matched.route) {
            let bucket = bundle_goods::find_bucket(bindings, matched, request, caller, request_id).await;
            return Ok(bucket.map(BundleAnswer::Part));
        }
        if caller.class == CredentialClass::Bundle {
            let part = bundle::find_part(bindings, matched, caller, request_id).await;
            return Ok(part.map(BundleAnswer::Part));
        }
        let call = bundle::HeadCall { matched, request, caller, request_id, lines: lines() };
        Ok(Some(BundleAnswer::Reply(bundle::answer_head(call, now_ms, env, runtime).await)))
    }
}
