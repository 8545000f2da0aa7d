//! An object in process: its database, its alarm and its events.

use crate::migrated::migrated;
use scrip::Context;
use scrip_worker::service;
use scrip_worker::store::Store;
use scrip_worker::store::sql::Fault;
use scrip_worker::store::sqlite::Sqlite;
use std::cell::{Cell, RefCell};

/// The way in which the next event opens the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The database is new.
    New,
    /// The object starts again on its database.
    Again,
    /// The store is open.
    Done,
}

/// A project's object or the directory, with its own SQLite in memory.
pub struct Object {
    pub sql: Sqlite,
    start: Cell<Start>,
    pub alarm: Cell<Option<i64>>,
    /// Warnings of the service for the operator.
    pub notes: RefCell<Vec<String>>,
    /// Decisions that the shell counts: operations, each with its refusal.
    pub decided: RefCell<Vec<(&'static str, &'static str)>>,
}

impl Object {
    pub fn new() -> Object {
        Object {
            sql: migrated(),
            start: Cell::new(Start::New),
            alarm: Cell::new(None),
            notes: RefCell::default(),
            decided: RefCell::default(),
        }
    }

    /// Returns true if no event was committed since the object started.
    pub fn is_fresh(&self) -> bool {
        self.start.get() != Start::Done
    }

    /// Ends the life of the object: the next event opens its store again without an alarm.
    pub fn reopen(&self) {
        self.start.set(Start::Again);
        self.alarm.set(None);
    }

    /// Runs one event inside a transaction that a fault rolls back, as the object's shell does.
    pub fn event<T>(
        &self,
        context: &Context,
        act: impl FnOnce(&mut Store<'_>) -> Result<T, Fault>,
    ) -> Result<T, String> {
        let mut undone = None;
        let outcome = self.sql.transaction(|sql| {
            let mut store = match self.start.get() {
                Start::New => Store::open_new(sql),
                Start::Again => Store::open(sql, context.now.millis())?,
                Start::Done => Store::new(sql),
            };
            if self.is_fresh() {
                service::schedule_alarms(&mut store, context.now.millis())?;
            }
            let outcome = act(&mut store)?;
            if store.is_undone() {
                undone = Some(outcome);
                return Err(Fault::new("a dry run"));
            }
            self.notes.borrow_mut().extend(store.take_warnings());
            self.decided.borrow_mut().extend(store.take_decisions());
            // An earlier alarm stays.
            if let Some(at) = store.alarm() {
                self.alarm.set(Some(self.alarm.get().map_or(at, |earlier| earlier.min(at))));
            }
            Ok(outcome)
        });
        let replanned = self.sql.take_replanned();
        assert!(
            self.is_fresh() || replanned.is_empty(),
            "a plan follows what is bound (`+?1` instead of `?1`): {replanned:#?}"
        );
        let scans = self.sql.take_scans();
        assert!(self.is_fresh() || scans.is_empty(), "an index of the condition is there (`INDEXED BY`): {scans:#?}");
        if let Some(undone) = undone {
            return Ok(undone);
        }
        if outcome.is_ok() {
            self.start.set(Start::Done);
        }
        outcome.map_err(|fault| fault.0)
    }
}
