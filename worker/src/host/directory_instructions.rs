//! Follows the instructions of the directory in the headers of its answers: changed keys, settings and projects.

use super::bindings::{Bindings, ObjectCall, ObjectCallFailure, ObjectResponse};
use super::{bundle, feed, key, log, object_protocol};
use crate::access::keys::{self, WebhookSecretUpdate};
use crate::domain::webhooks::subscriptions::WEBHOOK_TOKEN_PATH;
use crate::http::caller::Caller;
use crate::store::sql::Fault;
use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use worker::{Context, Env};

/// Call of the directory, whose answer may contain instructions.
pub(super) struct DirectoryCall<'c> {
    pub env: &'c Env,
    pub runtime: &'c Context,
    pub caller: &'c Caller,
    pub request_id: &'c str,
    /// Parameters of the path.
    pub params: &'c [(&'static str, String)],
    /// Header lines of calls to other objects.
    pub lines: String,
    /// Writes the header lines of a demand for the bundle.
    pub demand_lines: &'c dyn Fn(&Caller) -> String,
}

impl DirectoryCall<'_> {
    /// Follows the instructions of the directory in the headers of its answer: evicts the records of changed keys, and has the
    /// object of a deleted project emptied.
    pub(super) async fn follow(&self, answer: &mut ObjectResponse) -> Result<(), ObjectCallFailure> {
        if let Some(names) = object_protocol::take_line(&mut answer.lines, keys::EVICT_RECORDS) {
            self.evict_records(&names).await;
            self.close_feeds(&names).await;
        }
        if let Some(project) = object_protocol::take_line(&mut answer.lines, keys::EMPTY_PROJECT) {
            self.bindings().empty(&project).await?;
        }
        if let Some(signed) = object_protocol::take_line(&mut answer.lines, keys::UPDATE_WEBHOOK_SECRET) {
            self.sign(&signed).await?;
        }
        if let Some(changed) = object_protocol::take_line(&mut answer.lines, keys::CHANGED) {
            let caller = keys::with_settings(self.caller, &changed)?;
            bundle::demand_after_change(&caller, (self.demand_lines)(&caller), self.env, self.runtime);
        }
        Ok(())
    }

    /// Evicts records of keys and tokens from the caches. The call itself is done by now: if KV accepts no more calls, the answer is still sent, and
    /// the record in KV stays valid for a minute.
    async fn evict_records(&self, names: &str) {
        let names = names.split(',').filter(|name| !name.is_empty()).map(|name| key::name(name, self.env));
        let names: Vec<_> = names.collect();
        names.iter().for_each(|name| key::evict_here(name));
        for name in &names {
            if let Err(error) = key::evict_from_kv(name, self.env).await {
                return log::write("error", "key_not_forgotten", self.request_id, &error.to_string());
            }
        }
    }

    /// Closes the connections to feeds that were opened with changed keys of the project that the path names, or of the caller's. The call
    /// itself is done by now, and is answered even where this fails.
    async fn close_feeds(&self, names: &str) {
        let named = self.params.iter().find(|(name, _)| *name == "projectId").map(|(_, id)| id.as_str());
        let project = named.unwrap_or(&self.caller.project);
        if let Err(error) = feed::close(self.bindings(), project, names).await {
            log::write("error", "feed_not_closed", self.request_id, &error);
        }
    }

    /// Sends the new webhook secret of a project to its object.
    async fn sign(&self, signed: &str) -> Result<(), ObjectCallFailure> {
        let read: WebhookSecretUpdate =
            serde_json::from_str(signed).map_err(|error| Fault(format!("a secret cannot be read: {error}")))?;
        let body = Uint8Array::from(signed.as_bytes());
        let call = ObjectCall { method: "PUT", target: WEBHOOK_TOKEN_PATH, lines: &self.lines, body: Some(&body) };
        match self.bindings().call(&format!("project:{}", read.project), call).await?.status {
            204 => Ok(()),
            status => Err(Fault(format!("the project's object refused the webhook secret: {status}")).into()),
        }
    }

    fn bindings(&self) -> &Bindings {
        self.env.unchecked_ref()
    }
}
