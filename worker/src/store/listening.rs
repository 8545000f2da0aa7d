//! What was changed, for whoever tells it, and whom. It must not know what a change means.

use super::Store;
use super::changes::{Change, Listener, State};
use super::sql::Fault;
use std::rc::Rc;

impl Store<'_> {
    /// What was changed since this was last asked.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes.seen)
    }

    /// The webhooks that are told of changes.
    pub fn listeners(&self) -> Result<Rc<[Listener]>, Fault> {
        self.changes.listeners(self.sql)
    }

    /// Counts a letter that is written in this event: which one it is.
    pub fn next_letter(&mut self) -> u64 {
        self.changes.letters = self.changes.letters.saturating_add(1);
        self.changes.letters
    }

    /// Says whether nobody is to be told of what is committed from now on.
    pub fn keep_silent(&mut self, is_silent: bool) {
        self.changes.is_silent = is_silent;
    }

    /// Notes something that happened and is no document, where there is anybody to tell.
    pub fn tell(&mut self, kind: &str, id: &str, text: String) -> Result<(), Fault> {
        if self.changes.heeds(self.sql, kind)? {
            self.changes.keep((kind, id), None, Some(State { parent: None, holder: None, text }));
        }
        Ok(())
    }
}
