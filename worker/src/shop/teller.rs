//! A change of a document, read, and how what it means is said. It must not know what any kind of document means.

use crate::store::Store;
use crate::store::changes::{Change, State};
use crate::store::sql::Fault;
use serde_json::{Map, Value as Json};

/// Something that somebody may be told.
#[derive(Debug, Clone)]
pub struct Happening {
    /// The name of the event.
    pub event: &'static str,
    /// What its ids begin with.
    pub prefix: &'static str,
    /// The document that it is about.
    pub id: String,
    /// The document within whose story it has its place: what is told of one arrives in order.
    pub entity: String,
    /// What is told.
    pub data: Map<String, Json>,
    /// Of whom.
    pub customer: Option<String>,
}

/// Whether anybody wants to be told of an event.
pub(super) type Chosen<'c> = &'c dyn Fn(&str) -> bool;

/// A document at a moment, read.
pub(super) struct Read {
    pub(super) parent: Option<String>,
    pub(super) holder: Option<String>,
    pub(super) body: Map<String, Json>,
}

pub(super) fn read(state: &State) -> Result<Read, Fault> {
    let body =
        serde_json::from_str(&state.text).map_err(|error| Fault(format!("a stored body does not parse: {error}")))?;
    Ok(Read { parent: state.parent.clone(), holder: state.holder.clone(), body })
}

/// A change, read.
pub(super) struct Seen<'c> {
    pub(super) kind: &'c str,
    pub(super) id: &'c str,
    pub(super) before: Option<Read>,
    pub(super) after: Option<Read>,
}

/// How a document changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Created,
    Updated,
    Enabled,
    Disabled,
    Deleted,
}

/// Members that change with what others tell of.
const QUIET: &[&str] = &["updated_at", "vouchers_count", "vouchers_generation_status", "creation_status"];

impl Seen<'_> {
    pub(super) fn turn(&self) -> Option<Turn> {
        match (&self.before, &self.after) {
            (None, Some(_)) => Some(Turn::Created),
            (Some(_), None) => Some(Turn::Deleted),
            (None, None) => None,
            (Some(before), Some(after)) => {
                let active = |read: &Read| read.body.get("active").and_then(Json::as_bool);
                match (active(before), active(after)) {
                    (Some(false), Some(true)) => return Some(Turn::Enabled),
                    (Some(true), Some(false)) => return Some(Turn::Disabled),
                    _ => {}
                }
                let loud = |read: &Read| {
                    let mut body = read.body.clone();
                    body.retain(|name, _| !QUIET.contains(&name.as_str()));
                    body
                };
                (loud(before) != loud(after)).then_some(Turn::Updated)
            }
        }
    }

    pub(super) fn known(&self) -> Option<&Read> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// Says what happened.
pub(super) struct Teller<'t, 's> {
    pub(super) store: &'t Store<'s>,
    pub(super) changes: &'t [Change],
    pub(super) now: String,
    pub(super) chosen: Chosen<'t>,
    pub(super) told: Vec<Happening>,
}

/// What is told of a document that changes, by how it does.
pub(super) type Words = [(Turn, &'static str)];

impl Teller<'_, '_> {
    /// A change of a document in the word for it; what is told is found only where somebody wants to know.
    pub(super) fn say(
        &mut self,
        seen: &Seen<'_>,
        words: &Words,
        prefix: &'static str,
        entity: &str,
        data: impl Fn(&Self) -> Result<Json, Fault>,
    ) -> Result<(), Fault> {
        let turn = seen.turn();
        let Some((_, event)) = words.iter().find(|(word, _)| Some(*word) == turn) else { return Ok(()) };
        self.add((*event, prefix), (seen.id, entity), data)
    }

    pub(super) fn add(
        &mut self,
        (event, prefix): (&'static str, &'static str),
        (id, entity): (&str, &str),
        data: impl Fn(&Self) -> Result<Json, Fault>,
    ) -> Result<(), Fault> {
        if !(self.chosen)(event) {
            return Ok(());
        }
        let Json::Object(data) = data(self)? else { return Ok(()) };
        let customer = ["customer", "holder"].into_iter().find_map(|name| data.get(name)?.get("id")?.as_str());
        let customer = customer.map(str::to_owned);
        self.told.push(Happening { event, prefix, id: id.to_owned(), entity: entity.to_owned(), data, customer });
        Ok(())
    }

    /// A document as it is told; nothing of one that is not there.
    pub(super) fn shown(&self, kind: &str, id: Option<&str>) -> Result<Json, Fault> {
        let Some(id) = id else { return Ok(Json::Null) };
        Ok(self.store.document(kind, id)?.map_or(Json::Null, |document| Json::Object(document.body)))
    }
}
