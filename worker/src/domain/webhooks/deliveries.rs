//! Queues webhook deliveries in the commit of their cause: changes become events, and each subscribed webhook gets a delivery.
//!
//! A project without webhooks costs one lookup for each commit (`store/change_feed`).

use crate::documents::json_members;
use crate::domain::webhooks::event::WebhookEvent;
use crate::domain::webhooks::events::events_for;
use crate::http::caller::CredentialClass;
use crate::http::route::Call;
use crate::jobs::outbox;
use crate::store::Store;
use crate::store::change_feed::{DocumentChange, Subscription};
use crate::store::records::Members;
use crate::store::sql::Fault;
use crate::store::webhooks::outbox::{TOKEN, WEBHOOK, WebhookDelivery};
use crate::timestamp;
use scrip::Context;
use scrip::text::{hex, sha256};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;

/// Maximum size of a delivery in bytes: beyond it, objects are reduced to their names. A row of the database has at most 2 MB.
const DELIVERY_BYTES_MAX: usize = 1_000_000;

/// Queues a delivery for each event that the changes bring about and each webhook that subscribes to it.
pub fn enqueue(
    store: &mut Store<'_>,
    context: &Context,
    changes: &[DocumentChange],
    cause: &EventCause<'_>,
) -> Result<(), Fault> {
    let webhooks = store.subscriptions()?;
    // An accepted call gets complete deliveries, even when that needs more reads than a call may use.
    store.remove_read_limit();
    let is_chosen = |event: &str| webhooks.iter().any(|webhook| webhook.subscribes_to(|name| name == event));
    let webhook_events = events_for(store, changes, context.now, &is_chosen)?;
    let writer = DeliveryWriter {
        project: &cause.project,
        now: timestamp::text(context.now.millis()),
        cause,
        seed: context.seed,
    };
    let mut deliveries = Vec::new();
    for webhook_event in &webhook_events {
        let event = format!("{}{}", webhook_event.prefix, writer.own("event", store.next_delivery()));
        for webhook in webhooks.iter().filter(|webhook| webhook.subscribes_to(|name| name == webhook_event.event)) {
            // `letter` is a stored name: the ids of deliveries depend on it.
            let id = format!("whs_{}", writer.own("letter", store.next_delivery()));
            deliveries.push(writer.delivery(webhook, webhook_event, id, &event)?);
        }
    }
    outbox::enqueue(store, context.now.millis(), &cause.key, deliveries);
    Ok(())
}

/// The caller and the request behind an event.
pub struct EventCause<'c> {
    project: Cow<'c, str>,
    source: Source<'c>,
    request: &'c str,
    /// Key whose share of the queue the deliveries use; empty for jobs of the service itself.
    key: String,
}

impl<'c> EventCause<'c> {
    /// Describes the caller of a call.
    pub fn of_call(call: &Call<'c, '_>) -> EventCause<'c> {
        let caller = call.caller;
        let channel = if caller.class == CredentialClass::Client { "CLIENT_API" } else { "API" };
        let user = caller.user.as_deref().map(|id| UserReference { id });
        let api_key = Some(ApiKeyReference { name: &caller.key_id, app_id: &caller.key_id });
        let key = serde_json::json!([caller.class, caller.key_id]).to_string();
        let source = Source { channel, api_key, user };
        EventCause { project: Cow::Borrowed(&caller.project), source, request: call.request_id, key }
    }

    /// Describes a job without a caller.
    pub fn of_job(store: &Store<'_>, request: &'c str) -> Result<EventCause<'c>, Fault> {
        let source = Source { channel: "INTERNAL", api_key: None, user: None };
        let secret = store.document("secret", TOKEN)?;
        let project = secret.as_ref().and_then(|secret| Members::of(&secret.body).text("project")).unwrap_or_default();
        Ok(EventCause { project: Cow::Owned(project.to_owned()), source, request, key: String::new() })
    }
}

#[derive(Serialize)]
struct Source<'c> {
    channel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<ApiKeyReference<'c>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserReference<'c>>,
}

#[derive(Serialize)]
struct ApiKeyReference<'c> {
    name: &'c str,
    app_id: &'c str,
}

#[derive(Serialize)]
struct UserReference<'c> {
    id: &'c str,
}

/// Body of a webhook delivery (docs/spec/errors-and-auth.md, webhooks).
#[derive(Serialize)]
struct DeliveryBody<'c> {
    id: &'c str,
    project_id: &'c str,
    created_at: &'c str,
    #[serde(rename = "type")]
    event_name: &'static str,
    data: &'c Map<String, Json>,
    source: WebhookSource<'c>,
    event: DeliveryEvent<'c>,
}

/// Webhook of a delivery.
#[derive(Serialize)]
struct WebhookSource<'c> {
    id: &'c str,
    object: &'static str,
    target_url: &'c str,
}

#[derive(Serialize)]
struct DeliveryEvent<'c> {
    id: &'c str,
    #[serde(rename = "type")]
    name: &'static str,
    created_at: &'c str,
    entity_id: &'c str,
    group_id: &'c str,
    event_source: &'c Source<'c>,
}

/// Writes deliveries of events.
struct DeliveryWriter<'c> {
    project: &'c str,
    now: String,
    cause: &'c EventCause<'c>,
    seed: [u8; 32],
}

impl DeliveryWriter<'_> {
    /// Returns eighteen characters of a unique id: one event of an object has several deliveries.
    fn own(&self, word: &str, place: u64) -> String {
        let digest = sha256(&[&self.seed, word.as_bytes(), &place.to_be_bytes()]);
        hex(digest.get(..9).unwrap_or_default())
    }

    fn delivery(
        &self,
        webhook: &Subscription,
        webhook_event: &WebhookEvent,
        id: String,
        event: &str,
    ) -> Result<WebhookDelivery, Fault> {
        let body = |data| {
            let event = DeliveryEvent {
                id: event,
                name: webhook_event.event,
                created_at: &self.now,
                entity_id: &webhook_event.id,
                group_id: self.cause.request,
                event_source: &self.cause.source,
            };
            let source = WebhookSource { id: &webhook.id, object: WEBHOOK, target_url: &webhook.target_url };
            let (project_id, created_at) = (self.project, self.now.as_str());
            let body =
                DeliveryBody { id: &id, project_id, created_at, event_name: webhook_event.event, data, source, event };
            serde_json::to_string(&body).map_err(|error| Fault(format!("a delivery cannot be written: {error}")))
        };
        let mut text = body(&webhook_event.data)?;
        if text.len() > DELIVERY_BYTES_MAX {
            text = body(&named(&webhook_event.data))?;
        }
        Ok(WebhookDelivery {
            webhook: webhook.id.clone(),
            entity: webhook_event.entity.clone(),
            event: webhook_event.event,
            customer: webhook_event.customer.clone(),
            body: text,
            id,
        })
    }
}

/// Reduces objects to their names.
fn named(data: &Map<String, Json>) -> Map<String, Json> {
    let brief = |value: &Json| match value {
        Json::Object(members) => Json::Object(json_members::pick(members, &["id", "source_id", "code", "object"])),
        Json::Array(_) => Json::Null,
        plain => plain.clone(),
    };
    data.iter().map(|(name, value)| (name.clone(), brief(value))).collect()
}
