//! Tells webhooks what happened, in the commit of its cause: what was changed becomes events, and each that a webhook has chosen a letter.
//! It must not know which route changed anything, nor what its change means.
//!
//! A project that has no webhooks pays one look-up for a commit (`store/changes`); nothing is composed.

use crate::document::part;
use crate::http::caller::Class;
use crate::http::route::Call;
use crate::moment;
use crate::shop::earnings;
use crate::shop::happenings::happened;
use crate::shop::teller::Happening;
use crate::store::Store;
use crate::store::changes::{Change, Listener};
use crate::store::sql::Fault;
use crate::work::outbox::{self, Letter, TOKEN};
use scrip::Context;
use scrip::text::{hex, sha256};
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Bytes of a letter, at most: beyond, it has the names alone of what it tells. A row of the database holds no more than 2 MB.
const LETTER_BYTES_MAX: usize = 1_000_000;

/// Runs the writes of a call and what follows from them, and tells what came of it.
pub fn commit(call: &mut Call<'_, '_>) -> Result<(), Fault> {
    earnings::commit(call)?;
    let changes = call.store.take_changes();
    if changes.is_empty() {
        return Ok(());
    }
    let channel = if call.caller.class == Class::Client { "CLIENT_API" } else { "API" };
    let user = call.caller.user.as_deref().map(|id| User { id });
    let api_key = Some(ApiKey { name: &call.caller.key_id, app_id: &call.caller.key_id });
    let cause = Cause { source: Source { channel, api_key, user }, request: call.request_id };
    tell(call.store, call.context, &changes, (&call.caller.project, &cause))
}

/// Tells what came of a piece of long work that nobody asked for now.
pub fn tell_of_work(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    let changes = store.take_changes();
    if changes.is_empty() {
        return Ok(());
    }
    let id = context.request_id();
    let cause = Cause { source: Source { channel: "INTERNAL", api_key: None, user: None }, request: id.as_str() };
    let kept = store.document("secret", TOKEN)?;
    let project = kept.as_ref().and_then(|kept| kept.body.get("project")?.as_str()).unwrap_or_default();
    tell(store, context, &changes, (project, &cause))
}

fn tell(
    store: &mut Store<'_>,
    context: &Context,
    changes: &[Change],
    (project, cause): (&str, &Cause<'_>),
) -> Result<(), Fault> {
    let webhooks = store.listeners()?;
    // What was accepted is told whole, however much there is to read for it.
    store.unbound();
    let is_chosen = |event: &str| webhooks.iter().any(|webhook| webhook.has_chosen(|chosen| chosen == event));
    let happenings = happened(store, changes, context.now, &is_chosen)?;
    let scribe = Scribe { project, now: moment::text(context.now.millis()), cause, seed: context.seed };
    let mut letters = Vec::new();
    for happening in &happenings {
        let event = format!("{}{}", happening.prefix, scribe.own("event", store.next_letter()));
        for webhook in webhooks.iter().filter(|webhook| webhook.has_chosen(|chosen| chosen == happening.event)) {
            let id = format!("whs_{}", scribe.own("letter", store.next_letter()));
            letters.push(scribe.letter(webhook, happening, (id, &event))?);
        }
    }
    outbox::post(store, context.now.millis(), letters);
    store.commit()
}

/// Who asked for what happened, and with which request.
struct Cause<'c> {
    source: Source<'c>,
    request: &'c str,
}

#[derive(Serialize)]
struct Source<'c> {
    channel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<ApiKey<'c>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<User<'c>>,
}

#[derive(Serialize)]
struct ApiKey<'c> {
    name: &'c str,
    app_id: &'c str,
}

#[derive(Serialize)]
struct User<'c> {
    id: &'c str,
}

/// What a webhook is sent (errors-and-auth.md, webhooks).
#[derive(Serialize)]
struct Body<'c> {
    id: &'c str,
    project_id: &'c str,
    created_at: &'c str,
    #[serde(rename = "type")]
    event_name: &'static str,
    data: &'c Map<String, Json>,
    source: Origin<'c>,
    event: Event<'c>,
}

/// The webhook.
#[derive(Serialize)]
struct Origin<'c> {
    id: &'c str,
    object: &'static str,
    target_url: &'c str,
}

#[derive(Serialize)]
struct Event<'c> {
    id: &'c str,
    #[serde(rename = "type")]
    name: &'static str,
    created_at: &'c str,
    entity_id: &'c str,
    group_id: &'c str,
    event_source: &'c Source<'c>,
}

/// Writes what happened as it is told.
struct Scribe<'c> {
    project: &'c str,
    now: String,
    cause: &'c Cause<'c>,
    seed: [u8; 32],
}

impl Scribe<'_> {
    /// Eighteen letters that nothing else of its sort has: one event of an object writes several letters, and more than once.
    fn own(&self, word: &str, place: u64) -> String {
        let digest = sha256(&[&self.seed, word.as_bytes(), &place.to_be_bytes()]);
        hex(digest.get(..9).unwrap_or_default())
    }

    fn letter(&self, webhook: &Listener, happening: &Happening, (id, event): (String, &str)) -> Result<Letter, Fault> {
        let body = |data| {
            let event = Event {
                id: event,
                name: happening.event,
                created_at: &self.now,
                entity_id: &happening.id,
                group_id: self.cause.request,
                event_source: &self.cause.source,
            };
            let source = Origin { id: &webhook.id, object: outbox::WEBHOOK, target_url: &webhook.target_url };
            let (project_id, created_at) = (self.project, self.now.as_str());
            let body = Body { id: &id, project_id, created_at, event_name: happening.event, data, source, event };
            serde_json::to_string(&body).map_err(|error| Fault(format!("a letter cannot be written: {error}")))
        };
        let mut text = body(&happening.data)?;
        if text.len() > LETTER_BYTES_MAX {
            text = body(&named(&happening.data))?;
        }
        Ok(Letter {
            webhook: webhook.id.clone(),
            entity: happening.entity.clone(),
            event: happening.event,
            customer: happening.customer.clone(),
            body: text,
            id,
        })
    }
}

/// The names alone of what is told.
fn named(data: &Map<String, Json>) -> Map<String, Json> {
    let brief = |value: &Json| match value {
        Json::Object(members) => Json::Object(part::known(members, &["id", "source_id", "code", "object"])),
        Json::Array(_) => Json::Null,
        plain => plain.clone(),
    };
    data.iter().map(|(name, value)| (name.clone(), brief(value))).collect()
}
