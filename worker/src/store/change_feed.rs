//! Collects the changes of documents in a flush, with their states before and after, for webhooks.
//!
//! A project without webhooks costs one lookup in a flush with changes of listed kinds, and none in others. With webhooks
//! only documents whose changes may lead to a subscribed event are compared.

use crate::store::record_tables::{source, with_id};
use crate::store::sql::{self, Fault, Sql, SqlRow};
use serde_json::Value as Json;
use std::cell::OnceCell;
use std::rc::Rc;

/// Kinds of observed documents, with the prefixes of the events to which their changes may lead.
const OBSERVED_KINDS: &[(&str, &[&str])] = &[
    ("async_action", &["campaign."]),
    ("campaign", &["campaign."]),
    ("campaign_tier", &["campaign."]),
    ("customer", &["customer."]),
    ("earning_rule", &["campaign."]),
    // The cause of a reward is reported with it.
    ("event", &["customer.rewarded"]),
    ("granted", &["customer.rewarded"]),
    ("order", &["order."]),
    // These two also indicate that a change of a card is reported already.
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

/// Tests if a change of this kind may lead to an event.
pub fn leads_to(kind: &str, event: &str) -> bool {
    let known = OBSERVED_KINDS.iter().find(|(observed, _)| *observed == kind);
    known.is_some_and(|(_, events)| events.iter().any(|begun| event.starts_with(begun)))
}

/// Active webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Id of the webhook.
    pub id: String,
    /// URL of the webhook.
    pub target_url: String,
    /// Names of the subscribed events.
    pub events: Vec<String>,
}

impl Subscription {
    /// Parses a webhook; `None` when it is inactive.
    fn of(row: &SqlRow) -> Result<Option<Subscription>, Fault> {
        let body: Json = serde_json::from_str(sql::text(row, 1)?)
            .map_err(|error| Fault(format!("a stored webhook does not parse: {error}")))?;
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let events = body.get("events").and_then(Json::as_array).into_iter().flatten().filter_map(text).collect();
        let target_url = body.get("target_url").and_then(text).unwrap_or_default();
        let is_active = body.get("active").and_then(Json::as_bool) == Some(true);
        Ok(is_active.then_some(Subscription { id: sql::text(row, 0)?.to_owned(), target_url, events }))
    }

    /// Tests if it subscribes to an event that matches.
    pub fn subscribes_to(&self, holds: impl Fn(&str) -> bool) -> bool {
        self.events.iter().any(|event| holds(event))
    }
}

/// State of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentState {
    /// Id of the parent.
    pub parent: Option<String>,
    /// Id of the holder.
    pub holder: Option<String>,
    /// JSON text of the document.
    pub text: String,
}

impl DocumentState {
    /// Reads the current state of a document.
    pub fn of(sql: &dyn Sql, kind: &str, id: &str) -> Result<Option<DocumentState>, Fault> {
        let mut params = vec![kind.into()];
        let by_id = with_id(source(kind), id, &mut params);
        let statement = format!("SELECT parent, holder, body FROM {} WHERE kind = +?1 AND {by_id}", source(kind));
        let rows = sql.run(&statement, &params)?;
        let read = |row: &sql::SqlRow| {
            let [parent, holder] = [sql::text_or_null(row, 0)?, sql::text_or_null(row, 1)?];
            let (parent, holder) = (parent.map(str::to_owned), holder.map(str::to_owned));
            Ok(DocumentState { parent, holder, text: sql::text(row, 2)?.to_owned() })
        };
        rows.first().map(read).transpose()
    }
}

/// Change of a document.
#[derive(Debug, Clone)]
pub struct DocumentChange {
    /// Kind of the document.
    pub kind: String,
    /// Id of the document.
    pub id: String,
    /// State before; `None` for a new document.
    pub before: Option<DocumentState>,
    /// State after; `None` for a deleted document.
    pub after: Option<DocumentState>,
}

/// Statement that selects all webhooks.
pub const WEBHOOKS: &str = "SELECT id, body FROM document WHERE kind = 'webhook' ORDER BY created_at, seq";

/// Changes since the last take.
#[derive(Debug, Default)]
pub struct ChangeFeed {
    /// Changes in their order.
    pub recorded: Vec<DocumentChange>,
    /// Active webhooks, once loaded.
    listeners: OnceCell<Rc<[Subscription]>>,
    /// True when no webhook reports the changes for now.
    pub is_silent: bool,
    /// Number of deliveries written so far.
    pub deliveries: u64,
}

impl ChangeFeed {
    /// Tests if a change of this kind must be recorded.
    pub fn is_observed(&self, sql: &dyn Sql, kind: &str) -> Result<bool, Fault> {
        if !self.may_observe(kind) {
            return Ok(false);
        }
        let listeners = self.subscriptions(sql)?;
        Ok(listeners.iter().any(|webhook| webhook.subscribes_to(|event| leads_to(kind, event))))
    }

    /// Tests if a webhook may report changes of this kind.
    pub fn may_observe(&self, kind: &str) -> bool {
        !self.is_silent && OBSERVED_KINDS.iter().any(|(observed, _)| *observed == kind)
    }

    /// Returns the active webhooks.
    pub fn subscriptions(&self, sql: &dyn Sql) -> Result<Rc<[Subscription]>, Fault> {
        if let Some(listeners) = self.listeners.get() {
            return Ok(Rc::clone(listeners));
        }
        self.subscribe(&sql.run(WEBHOOKS, &[])?)
    }

    /// Takes the active webhooks from the rows of [`WEBHOOKS`].
    pub fn subscribe(&self, rows: &[SqlRow]) -> Result<Rc<[Subscription]>, Fault> {
        let listeners =
            rows.iter().map(Subscription::of).filter_map(Result::transpose).collect::<Result<Vec<_>, Fault>>()?;
        Ok(Rc::clone(self.listeners.get_or_init(|| listeners.into())))
    }

    /// Tests if the webhooks are known.
    pub fn is_subscribed(&self) -> bool {
        self.listeners.get().is_some()
    }

    /// Records a change of a document.
    pub fn record(&mut self, kind: &str, id: &str, before: Option<DocumentState>, after: Option<DocumentState>) {
        if before != after {
            self.recorded.push(DocumentChange { kind: kind.to_owned(), id: id.to_owned(), before, after });
        }
    }
}
