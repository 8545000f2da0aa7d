//! The store of one object: reads at once, writes at the end. It must not know HTTP, nor what a decision is.
//!
//! Writes are collected while a request is decided and run together by [`Store::commit`]; a refused request never
//! commits, so it cannot have written anything. The host runs the whole in one transaction, which undoes a half-run commit.

pub mod candidates;
pub mod document;
pub mod facts;
pub mod free;
pub mod ledger;
pub mod schema;
pub mod sql;
#[cfg(not(target_arch = "wasm32"))]
pub mod sqlite;

use sql::{Fault, Row, Sql, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One statement that waits for the commit.
struct Write {
    statement: Cow<'static, str>,
    params: Vec<Value>,
}

/// The database of one object, with the writes of the request at hand.
pub struct Store<'s> {
    sql: &'s dyn Sql,
    writes: Vec<Write>,
    alarm: Option<i64>,
    is_new: bool,
    /// Keys and counters of the generators of codes that this event has drawn from; the tables learn of it at the commit.
    pub drawn: BTreeMap<String, ([u8; 32], u64)>,
    /// The fault to act out in the middle of the commit; for the tests only.
    #[cfg(feature = "rehearsal")]
    pub rehearsed: Option<crate::rehearsal::Rehearsed>,
}

impl<'s> Store<'s> {
    /// A store over a database whose tables exist.
    pub fn new(sql: &'s dyn Sql) -> Store<'s> {
        Store {
            sql,
            writes: Vec::new(),
            alarm: None,
            is_new: false,
            drawn: BTreeMap::new(),
            #[cfg(feature = "rehearsal")]
            rehearsed: None,
        }
    }

    /// A store over a database that may be empty or older: brings the tables up to date first.
    pub fn open(sql: &'s dyn Sql, now_ms: i64) -> Result<Store<'s>, Fault> {
        let is_new = schema::migrate(sql, now_ms)?;
        Ok(Store { is_new, ..Store::new(sql) })
    }

    /// Whether the database was empty until this event; true once.
    pub fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// Runs a reading statement now.
    pub fn rows(&self, statement: &str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        self.sql.run(statement, params)
    }

    /// Runs a reading statement now and gives its first row.
    pub fn row(&self, statement: &str, params: &[Value]) -> Result<Option<Row>, Fault> {
        Ok(self.sql.run(statement, params)?.into_iter().next())
    }

    /// Remembers a writing statement for the commit.
    pub fn write(&mut self, statement: impl Into<Cow<'static, str>>, params: Vec<Value>) {
        self.writes.push(Write { statement: statement.into(), params });
    }

    /// Runs a writing statement now: only for work that needs its outcome, inside the host's transaction.
    pub fn write_now(&self, statement: &str, params: &[Value]) -> Result<(), Fault> {
        self.sql.run(statement, params).map(|_| ())
    }

    /// Whether the request at hand has anything to write.
    pub fn is_dirty(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Forgets the writes of a refused request.
    pub fn discard(&mut self) {
        self.writes.clear();
        self.drawn.clear();
        self.alarm = None;
    }

    /// How many writes there are.
    pub fn mark(&self) -> usize {
        self.writes.len()
    }

    /// Forgets the writes since there were so many.
    pub fn forget_since(&mut self, mark: usize) {
        self.writes.truncate(mark);
    }

    /// Runs the writes in their order.
    pub fn commit(&mut self) -> Result<(), Fault> {
        let writes = std::mem::take(&mut self.writes);
        self.drawn.clear();
        #[cfg(feature = "rehearsal")]
        let middle = writes.len().div_ceil(2);
        #[cfg(feature = "rehearsal")]
        let mut done: usize = 0;
        for write in writes {
            self.sql.run(&write.statement, &write.params)?;
            #[cfg(feature = "rehearsal")]
            {
                done = done.saturating_add(1);
                if done == middle
                    && let Some(rehearsed) = self.rehearsed.take()
                {
                    crate::rehearsal::act(&rehearsed, self.sql)?;
                }
            }
        }
        Ok(())
    }

    /// Asks for the object's alarm at a moment; the earliest one asked for counts.
    pub fn wake_at(&mut self, at_ms: i64) {
        self.alarm = Some(self.alarm.map_or(at_ms, |earlier| earlier.min(at_ms)));
    }

    /// The moment that the object's alarm must be set to; none leaves it as it is.
    pub fn alarm(&self) -> Option<i64> {
        self.alarm
    }
}
