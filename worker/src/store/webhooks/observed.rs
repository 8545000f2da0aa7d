//! Access to the change feed.

use crate::store::Store;
use crate::store::change_feed::{DocumentChange, DocumentState, Subscription, WEBHOOKS};
use crate::store::sql::Fault;
use std::rc::Rc;

impl Store<'_> {
    /// Takes the changes since the last call.
    pub fn take_changes(&mut self) -> Vec<DocumentChange> {
        std::mem::take(&mut self.changes.recorded)
    }

    /// Returns the active webhooks.
    pub fn subscriptions(&self) -> Result<Rc<[Subscription]>, Fault> {
        self.changes.subscriptions(self.sql)
    }

    /// Loads the active webhooks if one may report a queued write, before the writes make the revisions unknown.
    pub fn expect_changes(&self) -> Result<(), Fault> {
        let mut kinds = self.writes.iter().filter_map(|write| write.subject().map(|(kind, _)| kind));
        if !self.changes.is_subscribed() && kinds.any(|kind| self.changes.may_observe(kind)) {
            self.changes.subscribe(&self.listener_rows(WEBHOOKS)?)?;
        }
        Ok(())
    }

    /// Counts a delivery of this request, and returns its number.
    pub fn next_delivery(&mut self) -> u64 {
        // Only tells whether there is any.
        self.changes.deliveries = self.changes.deliveries.saturating_add(1);
        self.changes.deliveries
    }

    /// Turns the reports of webhooks off or on for the following writes.
    pub fn suppress_events(&mut self, is_silent: bool) {
        self.changes.is_silent = is_silent;
    }

    /// Records an event without a document, if a webhook subscribes to such events.
    pub fn announce(&mut self, kind: &str, id: &str, text: String) -> Result<(), Fault> {
        if self.changes.is_observed(self.sql, kind)? {
            self.changes.record(kind, id, None, Some(DocumentState { parent: None, holder: None, text }));
        }
        Ok(())
    }
}
