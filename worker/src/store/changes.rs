//! What a commit changes, kept for whoever tells of it: each document as it was and as it is. It must not know what is told.
//!
//! Nothing is looked at in a project that has nobody to tell: that is one look-up in a commit, and none where nothing is written that
//! anybody could be told of. Where there is somebody, only those documents are whose changes may lead to an event that was chosen.

use super::sql::{self, Fault, Sql};
use serde_json::Value as Json;
use std::cell::OnceCell;
use std::rc::Rc;

/// The kinds of documents whose changes are looked at, with how the events begin that they may lead to.
const HEEDED: &[(&str, &[&str])] = &[
    ("async_action", &["campaign."]),
    ("campaign", &["campaign."]),
    ("campaign_tier", &["campaign."]),
    ("customer", &["customer."]),
    ("earning_rule", &["campaign."]),
    // What gave somebody a reward is told with it.
    ("event", &["customer.rewarded"]),
    ("granted", &["customer.rewarded"]),
    // These two also say that a card is told of already.
    ("pending_points_change", &["voucher.", "customer."]),
    ("publication", &["publication.", "voucher."]),
    ("promotion_stack", &["campaign."]),
    ("promotion_tier", &["campaign."]),
    ("redemption", &["redemption.", "voucher."]),
    ("reward_assignment", &["campaign."]),
    ("validation_rules", &["business_validation_rule."]),
    ("validation_rules_assignment", &["business_validation_rule."]),
    ("voucher", &["voucher.", "campaign."]),
    ("voucher_transaction", &["voucher.", "customer."]),
];

/// Whether a change of this kind may lead to an event.
pub fn leads_to(kind: &str, event: &str) -> bool {
    let known = HEEDED.iter().find(|(heeded, _)| *heeded == kind);
    known.is_some_and(|(_, events)| events.iter().any(|begun| event.starts_with(begun)))
}

/// A webhook that is told of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Its id.
    pub id: String,
    /// Where it is.
    pub target_url: String,
    /// The names of the events that it has chosen.
    pub events: Vec<String>,
}

impl Listener {
    /// One that is active.
    fn of(row: &sql::Row) -> Result<Option<Listener>, Fault> {
        let body: Json = serde_json::from_str(sql::text(row, 1)?)
            .map_err(|error| Fault(format!("a stored webhook does not parse: {error}")))?;
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let events = body.get("events").and_then(Json::as_array).into_iter().flatten().filter_map(text).collect();
        let target_url = body.get("target_url").and_then(text).unwrap_or_default();
        let is_active = body.get("active").and_then(Json::as_bool) == Some(true);
        Ok(is_active.then_some(Listener { id: sql::text(row, 0)?.to_owned(), target_url, events }))
    }

    /// Whether it has chosen an event that holds.
    pub fn has_chosen(&self, holds: impl Fn(&str) -> bool) -> bool {
        self.events.iter().any(|event| holds(event))
    }
}

/// A document at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The document that it belongs to.
    pub parent: Option<String>,
    /// Who holds it.
    pub holder: Option<String>,
    /// What it says.
    pub text: String,
}

impl State {
    /// A document as it stands now.
    pub fn of(sql: &dyn Sql, kind: &str, id: &str) -> Result<Option<State>, Fault> {
        let rows = sql.run(
            "SELECT parent, holder, body FROM document WHERE kind = +?1 AND id = +?2",
            &[kind.into(), id.into()],
        )?;
        let read = |row: &sql::Row| {
            let [parent, holder] = [sql::text_or_null(row, 0)?, sql::text_or_null(row, 1)?];
            let (parent, holder) = (parent.map(str::to_owned), holder.map(str::to_owned));
            Ok(State { parent, holder, text: sql::text(row, 2)?.to_owned() })
        };
        rows.first().map(read).transpose()
    }
}

/// What became of a document.
#[derive(Debug, Clone)]
pub struct Change {
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// As it was; nothing of one that is new.
    pub before: Option<State>,
    /// As it is; nothing of one that is gone.
    pub after: Option<State>,
}

/// The changes since they were last asked for.
#[derive(Debug, Default)]
pub struct Changes {
    /// In their order.
    pub seen: Vec<Change>,
    /// The webhooks that are told, once that was asked.
    listeners: OnceCell<Rc<[Listener]>>,
    /// Whether nobody is to be told for now.
    pub is_silent: bool,
    /// How many letters were written so far.
    pub letters: u64,
}

impl Changes {
    /// Whether a change of this kind is looked at.
    pub fn heeds(&self, sql: &dyn Sql, kind: &str) -> Result<bool, Fault> {
        if self.is_silent || !HEEDED.iter().any(|(heeded, _)| *heeded == kind) {
            return Ok(false);
        }
        let listeners = self.listeners(sql)?;
        Ok(listeners.iter().any(|webhook| webhook.has_chosen(|event| leads_to(kind, event))))
    }

    /// The webhooks that are told: those that are active.
    pub fn listeners(&self, sql: &dyn Sql) -> Result<Rc<[Listener]>, Fault> {
        if let Some(listeners) = self.listeners.get() {
            return Ok(Rc::clone(listeners));
        }
        let rows = sql.run("SELECT id, body FROM document WHERE kind = 'webhook' ORDER BY created_at, seq", &[])?;
        let listeners =
            rows.iter().map(Listener::of).filter_map(Result::transpose).collect::<Result<Vec<_>, Fault>>()?;
        // Nobody else has set it in between.
        Ok(Rc::clone(self.listeners.get_or_init(|| listeners.into())))
    }

    /// Keeps what became of a document.
    pub fn keep(&mut self, (kind, id): (&str, &str), before: Option<State>, after: Option<State>) {
        if before != after {
            self.seen.push(Change { kind: kind.to_owned(), id: id.to_owned(), before, after });
        }
    }
}
