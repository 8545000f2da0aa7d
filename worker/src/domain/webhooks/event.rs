//! Changes of documents, and the events built from them.

use crate::domain::balances::kinds;
use crate::store::Store;
use crate::store::change_feed::{DocumentChange, DocumentState};
use crate::store::document::DocumentBody;
use crate::store::records::{EntityRecord, ObjectReference};
use crate::store::sql::Fault;
use scrip::time::Instant;
use serde_json::{Map, Value as Json};

/// Event for webhooks.
#[derive(Debug, Clone)]
pub struct WebhookEvent {
    /// Name of the event.
    pub event: &'static str,
    /// Prefix of its ids.
    pub prefix: &'static str,
    /// Id of the changed document.
    pub id: String,
    /// Id of the entity: deliveries about one entity arrive in order.
    pub entity: String,
    /// Members of the event.
    pub data: Map<String, Json>,
    /// Id of the customer concerned, if any.
    pub customer: Option<String>,
}

/// Tests if any webhook subscribes to an event.
pub(super) type IsSubscribed<'c> = &'c dyn Fn(&str) -> bool;

/// Parsed state of a document.
pub(super) struct ParsedDocument {
    pub(super) parent: Option<String>,
    pub(super) holder: Option<String>,
    pub(super) body: DocumentBody,
}

pub(super) fn read(state: &DocumentState) -> Result<ParsedDocument, Fault> {
    let body =
        serde_json::from_str(&state.text).map_err(|error| Fault(format!("a stored body does not parse: {error}")))?;
    Ok(ParsedDocument { parent: state.parent.clone(), holder: state.holder.clone(), body })
}

/// Parsed change of a document.
pub(super) struct ParsedChange<'c> {
    pub(super) kind: &'c str,
    pub(super) id: &'c str,
    pub(super) before: Option<ParsedDocument>,
    pub(super) after: Option<ParsedDocument>,
}

/// Kind of change of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Created,
    Updated,
    Enabled,
    Disabled,
    Deleted,
}

/// Members whose changes alone raise no event.
const IGNORED_FIELDS: &[&str] = &["updated_at", "vouchers_count", "vouchers_generation_status", "creation_status"];

impl ParsedChange<'_> {
    pub(super) fn change_kind(&self) -> Option<ChangeKind> {
        match (&self.before, &self.after) {
            (None, Some(_)) => Some(ChangeKind::Created),
            (Some(_), None) => Some(ChangeKind::Deleted),
            (None, None) => None,
            (Some(before), Some(after)) => {
                let active = |read: &ParsedDocument| EntityRecord::of(&read.body).is_active();
                match (active(before), active(after)) {
                    (Some(false), Some(true)) => return Some(ChangeKind::Enabled),
                    (Some(true), Some(false)) => return Some(ChangeKind::Disabled),
                    _ => {}
                }
                let reported = |read: &ParsedDocument| {
                    let mut body = read.body.clone();
                    body.retain(|name, _| !IGNORED_FIELDS.contains(&name.as_str()));
                    body
                };
                (reported(before) != reported(after)).then_some(ChangeKind::Updated)
            }
        }
    }

    pub(super) fn current(&self) -> Option<&ParsedDocument> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// Collects the events of changes.
pub(super) struct EventBuilder<'t, 's> {
    pub(super) store: &'t Store<'s>,
    pub(super) changes: &'t [DocumentChange],
    pub(super) now: String,
    pub(super) at: Instant,
    pub(super) is_subscribed: IsSubscribed<'t>,
    pub(super) events: Vec<WebhookEvent>,
}

/// Event name by kind of change.
pub(super) type EventNames = [(ChangeKind, &'static str)];

impl EventBuilder<'_, '_> {
    /// Adds the event for a change of a document; its data is loaded only if a webhook subscribes.
    pub(super) fn add_change_event(
        &mut self,
        parsed: &ParsedChange<'_>,
        words: &EventNames,
        prefix: &'static str,
        entity: &str,
        data: impl Fn(&Self) -> Result<Json, Fault>,
    ) -> Result<(), Fault> {
        let change_kind = parsed.change_kind();
        let Some((_, event)) = words.iter().find(|(word, _)| Some(*word) == change_kind) else { return Ok(()) };
        self.add(event, prefix, parsed.id, entity, data)
    }

    pub(super) fn add(
        &mut self,
        event: &'static str,
        prefix: &'static str,
        id: &str,
        entity: &str,
        data: impl Fn(&Self) -> Result<Json, Fault>,
    ) -> Result<(), Fault> {
        if !(self.is_subscribed)(event) {
            return Ok(());
        }
        let Json::Object(mut data) = data(self)? else { return Ok(()) };
        self.complete_customers(&mut data)?;
        let customer = ["customer", "holder"].into_iter().find_map(|name| data.get(name)?.get("id")?.as_str());
        let customer = customer.map(str::to_owned);
        self.events.push(WebhookEvent { event, prefix, id: id.to_owned(), entity: entity.to_owned(), data, customer });
        Ok(())
    }

    /// Completes the customers of an event with the balances of their cards, as the API returns them.
    fn complete_customers(&self, data: &mut Map<String, Json>) -> Result<(), Fault> {
        for name in ["customer", "holder"] {
            let customer = data.get_mut(name).and_then(Json::as_object_mut);
            let Some(customer) = customer.filter(|customer| customer.contains_key("loyalty")) else { continue };
            let id = ObjectReference::of(customer).id().unwrap_or_default().to_owned();
            let mut held = kinds::find_balances(self.store, self.at, &[&id])?;
            held.remove(&id).unwrap_or_default().complete(customer);
        }
        Ok(())
    }

    /// Returns a document as events contain it; null when it does not exist.
    pub(super) fn document_json(&self, kind: &str, id: Option<&str>) -> Result<Json, Fault> {
        let Some(id) = id else { return Ok(Json::Null) };
        Ok(self.store.document(kind, id)?.map_or(Json::Null, |document| Json::Object(document.body)))
    }
}
