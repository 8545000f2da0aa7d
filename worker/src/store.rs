//! The store of one object: reads at once, writes at the end. It must not know HTTP, nor what a decision is.
//!
//! Writes are collected while a request is decided and run together by [`Store::commit`]; a refused request never
//! commits, so it cannot have written anything. The host runs the whole in one transaction, which undoes a half-run commit.

pub mod answers;
pub mod candidates;
pub mod changes;
pub mod code;
pub mod dates;
pub mod document;
pub mod edition;
pub mod facts;
pub mod free;
pub mod ledger;
mod listening;
pub mod marks;
pub mod parts;
pub mod post;
#[cfg(feature = "rehearsal")]
pub mod rehearsal;
pub mod schema;
pub mod sql;
#[cfg(not(target_arch = "wasm32"))]
pub mod sqlite;
pub mod tally;
pub mod told_events;
pub mod tracking;

use changes::{Changes, State};
use scrip::wire::{Problem, legible};
use sql::{Fault, Row, Sql, Value};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// One statement that waits for the commit.
struct Write {
    statement: Cow<'static, str>,
    params: Vec<Value>,
    /// The kind, the id, the holder and the text of the document that it writes, by their places among the parameters.
    document: Option<[usize; 4]>,
    /// The transfers that it writes.
    posts: Vec<post::Post>,
    /// The kind and the id of the document that it changes, where it writes none whole.
    changes: Option<(&'static str, String)>,
}

impl Write {
    fn new(statement: impl Into<Cow<'static, str>>, params: Vec<Value>) -> Write {
        Write { statement: statement.into(), params, document: None, posts: Vec::new(), changes: None }
    }

    /// The kind and the id of the one document that it changes.
    fn subject(&self) -> Option<(&str, &str)> {
        match (self.document, &self.changes) {
            (Some([kind, id, ..]), _) => Some((self.text(kind)?, self.text(id)?)),
            (None, Some((kind, id))) => Some((kind, id)),
            (None, None) => None,
        }
    }

    /// The text at a place among the parameters.
    fn text(&self, place: usize) -> Option<&str> {
        match self.params.get(place) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// A document that waits for the commit.
#[derive(Debug, Clone, Copy)]
pub struct Written<'w> {
    /// Its kind.
    pub kind: &'w str,
    /// Its id.
    pub id: &'w str,
    /// Who holds it.
    pub holder: Option<&'w str>,
    /// What it says.
    pub text: &'w str,
}

/// The database of one object, with the writes of the request at hand.
pub struct Store<'s> {
    sql: &'s dyn Sql,
    writes: Vec<Write>,
    /// When long work is due.
    work_at: Option<i64>,
    /// When letters are.
    letters_at: Option<i64>,
    is_new: bool,
    /// As [`Store::leaves_later`].
    leaving: bool,
    /// As [`Store::longest_asked`].
    asked: Cell<usize>,
    /// How much may still be read, where that is bounded.
    left: Cell<Option<usize>>,
    /// What was changed by commits.
    changes: Changes,
    /// Keys and counters of the generators of codes that this event has drawn from; the tables learn of it at the commit.
    pub drawn: BTreeMap<String, ([u8; 32], u64)>,
    /// What whoever keeps the service should look at, each once.
    notes: RefCell<Vec<String>>,
    /// As [`Store::decided`].
    verdicts: RefCell<Vec<(&'static str, &'static str)>>,
    /// The fault to act out in the middle of the commit; for the tests only.
    #[cfg(feature = "rehearsal")]
    pub rehearsed: Option<crate::store::rehearsal::Rehearsed>,
}

impl<'s> Store<'s> {
    /// A store over a database whose tables exist.
    pub fn new(sql: &'s dyn Sql) -> Store<'s> {
        Store {
            sql,
            writes: Vec::new(),
            work_at: None,
            letters_at: None,
            is_new: false,
            leaving: false,
            asked: Cell::new(0),
            left: Cell::new(None),
            changes: Changes::default(),
            drawn: BTreeMap::new(),
            notes: RefCell::default(),
            verdicts: RefCell::default(),
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

    /// Notes something for whoever keeps the service; the host logs it with the id of the request.
    pub fn note(&self, text: String) {
        let mut notes = self.notes.borrow_mut();
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// What was noted since this was last asked.
    pub fn take_notes(&self) -> Vec<String> {
        self.notes.take()
    }

    /// Notes that an operation was decided, and the key of what it was refused for; the host counts it once it is committed.
    pub fn decided(&self, operation: &'static str, refused: Option<&'static str>) {
        self.verdicts.borrow_mut().push((operation, refused.unwrap_or_default()));
    }

    /// What was decided since this was last asked: operations, each with the key of what it was refused for, or with nothing.
    pub fn take_decided(&self) -> Vec<(&'static str, &'static str)> {
        self.verdicts.take()
    }

    /// Runs a reading statement now.
    pub fn rows(&self, statement: &str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        self.asked.set(self.asked.get().max(longest(params)));
        self.read(statement, params)
    }

    /// Bounds what may be read from now on: one request holds the object for no longer than that takes.
    pub fn bound(&self) {
        self.left.set(Some(READ_MAX));
    }

    /// Lifts that bound again: what follows from a call that was accepted is done whole.
    pub fn unbound(&self) {
        self.left.set(None);
    }

    /// Whether more was asked for than may be read.
    pub fn is_spent(&self) -> bool {
        self.left.get() == Some(0)
    }

    fn read(&self, statement: &str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        /// Bytes of text that take as long as a statement, and as a row, of their own.
        const STATEMENT: usize = 1_000;
        const ROW: usize = 50;
        if self.is_spent() {
            return Err(Fault::new("the request reads more than one may"));
        }
        let rows = self.sql.run(statement, params)?;
        if let Some(left) = self.left.get() {
            let size = |row: &Row| total(row).saturating_add(ROW);
            let read = rows.iter().map(size).fold(STATEMENT, usize::saturating_add);
            self.left.set(Some(left.saturating_sub(read)));
        }
        if self.is_spent() { Err(Fault::new("the request reads more than one may")) } else { Ok(rows) }
    }

    /// Runs a reading statement now and gives its first row.
    pub fn row(&self, statement: &str, params: &[Value]) -> Result<Option<Row>, Fault> {
        Ok(self.rows(statement, params)?.into_iter().next())
    }

    /// Runs a reading statement whose one parameter is a list of names; of more than the platform takes at once, again.
    /// Each name is in one run.
    pub fn rows_among(&self, statement: &str, names: &[&str]) -> Result<Vec<Row>, Fault> {
        let mut rows = Vec::new();
        for slice in slices(names) {
            rows.extend(self.read(statement, &[serde_json::Value::from(slice.to_vec()).to_string().into()])?);
        }
        Ok(rows)
    }

    /// Remembers a writing statement for the commit.
    pub fn write(&mut self, statement: impl Into<Cow<'static, str>>, params: Vec<Value>) {
        self.writes.push(Write::new(statement, params));
    }

    /// The same of a statement that changes one document, whose change is told.
    pub fn write_to(
        &mut self,
        document: (&'static str, &str),
        statement: impl Into<Cow<'static, str>>,
        params: Vec<Value>,
    ) {
        let (kind, id) = document;
        self.writes.push(Write { changes: Some((kind, id.to_owned())), ..Write::new(statement, params) });
    }

    /// Remembers a statement for the commit that writes a document, whose kind, id, holder and text are at these places.
    fn write_document(&mut self, statement: &'static str, params: Vec<Value>, places: [usize; 4]) {
        self.writes.push(Write { document: Some(places), ..Write::new(statement, params) });
    }

    /// Remembers a statement for the commit that writes transfers.
    fn write_posts(&mut self, statement: &'static str, params: Vec<Value>, posts: Vec<post::Post>) {
        self.writes.push(Write { posts, ..Write::new(statement, params) });
    }

    /// The transfers that wait for the commit.
    pub fn posted(&self) -> impl Iterator<Item = &post::Post> {
        self.writes.iter().flat_map(|write| &write.posts)
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
        self.changes.seen.clear();
        self.drawn.clear();
        self.work_at = None;
        self.letters_at = None;
        self.leaving = false;
    }

    /// Notes that something is written which leaves when its time is over.
    pub fn leaves_later(&mut self) {
        self.leaving = true;
    }

    /// Whether that was noted since this was last asked.
    pub fn take_leaving(&mut self) -> bool {
        std::mem::take(&mut self.leaving)
    }

    /// How many bytes the longest text has that waits for the commit, since there were so many writes.
    pub fn longest_write(&self, mark: usize) -> usize {
        self.writes.iter().skip(mark).map(|write| longest(&write.params)).max().unwrap_or(0)
    }

    /// Refuses a document among the writes since there were so many that the engine could not read when a decision asks
    /// for it.
    pub fn check_legible(&self, mark: usize) -> Result<(), Problem> {
        let mut written = self.writes.iter().skip(mark).filter_map(|write| Some((write, write.document?)));
        written.try_for_each(|(write, [kind, _, _, body])| {
            legible::check(write.text(kind).unwrap_or_default(), write.text(body).unwrap_or_default())
        })
    }

    /// The documents that wait for the commit, in the order in which they were written.
    pub fn written(&self) -> impl Iterator<Item = Written<'_>> {
        self.writes.iter().filter_map(|write| {
            let [kind, id, holder, text] = write.document?.map(|place| write.text(place));
            Some(Written { kind: kind?, id: id?, holder, text: text? })
        })
    }

    /// Whether something that waits for the commit may write documents of these kinds: what is no single document may write any.
    pub fn may_write(&self, kinds: &[&str]) -> bool {
        self.writes.iter().any(|write| match write.document {
            Some([kind, ..]) => write.text(kind).is_none_or(|kind| kinds.contains(&kind)),
            None => write.statement.contains("document"),
        })
    }

    /// How many bytes the longest text had that a reading statement asked with.
    pub fn longest_asked(&self) -> usize {
        self.asked.get()
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
            self.carry_out(&write)?;
            #[cfg(feature = "rehearsal")]
            {
                done = done.saturating_add(1);
                if done == middle
                    && let Some(rehearsed) = self.rehearsed.take()
                {
                    crate::store::rehearsal::act(&rehearsed, self.sql)?;
                }
            }
        }
        Ok(())
    }

    /// Runs one of the writes, and keeps what it changes.
    fn carry_out(&mut self, write: &Write) -> Result<(), Fault> {
        let heeded = match write.subject() {
            Some((kind, id)) if self.changes.heeds(self.sql, kind)? => (kind, id),
            _ => return self.sql.run(&write.statement, &write.params).map(drop),
        };
        let before = State::of(self.sql, heeded.0, heeded.1)?;
        self.sql.run(&write.statement, &write.params)?;
        let after = match write.document {
            // The parent stands before the holder in each of those statements.
            Some([_, _, holder, text]) => {
                let own = |place: usize| write.text(place).map(str::to_owned);
                let parent = holder.checked_sub(1).and_then(own);
                Some(State { parent, holder: own(holder), text: own(text).unwrap_or_default() })
            }
            None => State::of(self.sql, heeded.0, heeded.1)?,
        };
        self.changes.keep(heeded, before, after);
        Ok(())
    }

    /// Asks for the object's alarm at a moment at which work is due; the earliest one asked for counts.
    pub fn wake_at(&mut self, at_ms: i64) {
        self.work_at = Some(self.work_at.map_or(at_ms, |earlier| earlier.min(at_ms)));
    }

    /// The same of letters, which nobody needs to look for work for.
    pub fn carry_at(&mut self, at_ms: i64) {
        self.letters_at = Some(self.letters_at.map_or(at_ms, |earlier| earlier.min(at_ms)));
    }

    /// When work is due, and when letters are; the object's alarm must be set to the earlier one, and none leaves it as it is.
    pub fn alarms(&self) -> [Option<i64>; 2] {
        [self.work_at, self.letters_at]
    }

    /// The moment of the alarm.
    pub fn alarm(&self) -> Option<i64> {
        self.alarms().into_iter().flatten().min()
    }
}

/// Bytes of stored text that one request may read, a statement counted as 1,000 and a row as 50: natively they are read, parsed and
/// decided on in some 60 ms.
pub const READ_MAX: usize = 12_000_000;

/// How many bytes all texts have.
fn total(params: &[Value]) -> usize {
    let length = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Null | Value::Int(_) => 8,
    };
    params.iter().map(length).fold(0, usize::saturating_add)
}

/// How many bytes the longest text has.
fn longest(params: &[Value]) -> usize {
    let length = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Null | Value::Int(_) => 0,
    };
    params.iter().map(length).max().unwrap_or(0)
}

/// Names in slices that a statement can take as one text.
pub fn slices<'n, 's>(names: &'s [&'n str]) -> Vec<&'s [&'n str]> {
    /// Names in a slice, at most: of 1,000 characters, each of which may be written with six letters.
    const NAMES_MAX: usize = 300;
    /// Bytes of names that are few, however they are written.
    const BYTES_MAX: usize = 200_000;
    let are_few = names.iter().map(|name| name.len()).sum::<usize>() <= BYTES_MAX;
    names.chunks(if are_few { names.len().max(1) } else { NAMES_MAX }).collect()
}
