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
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use crate::work::outbox::{self, Letter, TOKEN};
use scrip::Context;
use scrip::text::{hex, sha256};
use serde_json::{Map, Value as Json, json};

/// Bytes of a letter, at most: beyond, it has the names alone of what it tells. A row of the database holds no more than 2 MB.
const LETTER_BYTES_MAX: usize = 1_000_000;

/// Runs the writes of a call and what follows from them, and tells what came of it.
pub fn commit(call: &mut Call<'_, '_>) -> Result<(), Fault> {
    earnings::commit(call)?;
    let mut source = json!({
        "channel": if call.caller.class == Class::Client { "CLIENT_API" } else { "API" },
        "api_key": { "name": call.caller.key_id, "app_id": call.caller.key_id },
    });
    if let (Some(source), Some(login)) = (source.as_object_mut(), &call.caller.user) {
        source.insert("user".into(), json!({ "id": login }));
    }
    tell(call.store, call.context, (&source, call.request_id))
}

/// Tells what came of a piece of long work that nobody asked for now.
pub fn tell_of_work(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    let id = context.request_id();
    tell(store, context, (&json!({ "channel": "INTERNAL" }), id.as_str()))
}

fn tell(store: &mut Store<'_>, context: &Context, cause: (&Json, &str)) -> Result<(), Fault> {
    let changes = store.take_changes();
    if changes.is_empty() {
        return Ok(());
    }
    let mut webhooks = outbox::webhooks(store)?;
    webhooks.retain(|webhook| webhook.body.get("active").and_then(Json::as_bool) == Some(true));
    if webhooks.is_empty() {
        return Ok(());
    }
    // What was accepted is told whole, however much there is to read for it.
    store.unbound();
    let chosen = |event: &str| webhooks.iter().any(|webhook| has_chosen(webhook, event));
    let happenings = happened(store, &changes, context.now, &chosen)?;
    let mut scribe = Scribe::of(store, context, cause)?;
    let mut letters = Vec::new();
    for happening in &happenings {
        let event = scribe.event(happening);
        for webhook in webhooks.iter().filter(|webhook| has_chosen(webhook, happening.event)) {
            letters.push(scribe.letter(webhook, happening, &event));
        }
    }
    outbox::post(store, context.now.millis(), letters);
    store.commit()
}

fn has_chosen(webhook: &Document, event: &str) -> bool {
    let events = webhook.body.get("events").and_then(Json::as_array);
    events.into_iter().flatten().any(|chosen| chosen.as_str() == Some(event))
}

/// Writes what happened as it is told.
struct Scribe<'c> {
    project: String,
    now: String,
    source: &'c Json,
    group: &'c str,
    seed: [u8; 32],
    /// The last letter that there is.
    place: i64,
}

impl<'c> Scribe<'c> {
    fn of(store: &Store<'_>, context: &Context, (source, group): (&'c Json, &'c str)) -> Result<Scribe<'c>, Fault> {
        let kept = store.document("secret", TOKEN)?;
        let project = kept.and_then(|kept| kept.body.get("project").and_then(Json::as_str).map(str::to_owned));
        let last = store.row("SELECT MAX(seq) FROM outbox", &[])?;
        let place = last.map_or(Ok(None), |row| sql::int_or_null(&row, 0))?.unwrap_or(0);
        let now = moment::text(context.now.millis());
        Ok(Scribe { project: project.unwrap_or_default(), now, source, group, seed: context.seed, place })
    }

    /// Eighteen letters that nothing else of its sort has: one event of an object writes several letters, and more than once.
    fn own(&self, word: &str) -> String {
        let digest = sha256(&[&self.seed, word.as_bytes(), &self.place.to_be_bytes()]);
        hex(digest.get(..9).unwrap_or_default())
    }

    /// What happened, of which the next letters tell: one at least.
    fn event(&self, happening: &Happening) -> Json {
        let id = format!("{}{}", happening.prefix, self.own("event"));
        json!({
            "id": id, "type": happening.event, "created_at": self.now, "entity_id": happening.id, "group_id": self.group,
            "event_source": self.source,
        })
    }

    fn letter(&mut self, webhook: &Document, happening: &Happening, event: &Json) -> Letter {
        self.place = self.place.saturating_add(1);
        let id = format!("whs_{}", self.own("letter"));
        let target = webhook.body.get("target_url").cloned().unwrap_or_default();
        let body = |data: &Map<String, Json>| {
            let source = json!({ "id": webhook.id, "object": outbox::WEBHOOK, "target_url": target });
            json!({
                "id": id, "project_id": self.project, "created_at": self.now, "type": happening.event, "data": data, "source": source,
                "event": event,
            })
            .to_string()
        };
        let mut text = body(&happening.data);
        if text.len() > LETTER_BYTES_MAX {
            text = body(&named(&happening.data));
        }
        let customer = happening.customer.clone();
        Letter {
            id: id.clone(),
            webhook: webhook.id.clone(),
            entity: happening.entity.clone(),
            event: happening.event,
            customer,
            body: text,
        }
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
