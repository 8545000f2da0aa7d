//! Store of one object: reads run at once, writes are queued, and [`Store::flush`] runs them in order. A refused request never commits, so
//! it writes nothing. The host runs all in one transaction, which undoes an incomplete flush. Sizes in bytes and numbers of statements
//! saturate: they are bounds and estimates.

pub mod access;
pub mod amount;
pub mod bundle_goods;
pub mod bundle_heads;
pub mod bundle_keys;
pub mod bundle_work;
pub mod candidates;
pub mod change_feed;
pub mod configuration;
pub mod counts;
pub mod document;
pub mod document_columns;
pub mod document_list;
mod document_rows;
pub mod documents;
pub mod facts;
#[cfg(feature = "test-hooks")]
pub mod fault_injection;
pub mod index;
pub mod jobs;
pub mod kept_reads;
pub mod ledger;
pub mod loyalty;
pub mod name_trigrams;
pub mod queued;
mod read_limit;
pub mod read_recorder;
pub mod record_tables;
pub mod records;
pub mod redemption_inputs;
pub mod schema;
pub mod sql;
pub mod sql_rows;
#[cfg(not(target_arch = "wasm32"))]
pub mod sqlite;
#[cfg(feature = "test-hooks")]
pub mod test_hooks;
pub mod tracking;
pub mod transfer_rows;
pub mod webhooks;

use change_feed::{ChangeFeed, DocumentState};
use queued::{QueuedDocument, QueuedWrite};
pub use read_limit::READ_MAX;
use scrip::count::Countable;
use scrip::wire::{Problem, readability};
use sql::{Fault, Sql, SqlRow, SqlValue};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Database of one object, with the queued writes of the current request.
pub struct Store<'s> {
    sql: &'s dyn Sql,
    writes: Vec<QueuedWrite>,
    /// Time of the next job.
    work_at: Option<i64>,
    /// Time of the next webhook delivery.
    deliveries_at: Option<i64>,
    is_new: bool,
    is_opened: bool,
    /// Flag of [`Store::mark_for_retention`].
    leaving: Cell<bool>,
    /// Flag of [`Store::undo_at_end`].
    undone: bool,
    /// Value of [`Store::longest_read_parameter`].
    longest_read: Cell<usize>,
    /// Number of queued writes that have been checked.
    checked: Cell<usize>,
    /// Reads that are kept for a repetition of the call.
    recorder: read_recorder::ReadRecorder,
    /// Remaining read budget, if it is limited.
    left: Cell<Option<usize>>,
    /// Revisions by the number of their subject (`configuration.rs`), where they were read since the last write.
    revisions: RefCell<Option<[String; 3]>>,
    /// Changes made by flushes.
    changes: ChangeFeed,
    /// Keys and counters of the code generators that this request used; the tables are updated when the call commits.
    pub generators: BTreeMap<String, ([u8; 32], u64)>,
    /// Warnings for the operator, without duplicates.
    warnings: RefCell<Vec<String>>,
    /// Number of the first record that this call may insert.
    pub first_number: i64,
    /// Verdicts of [`Store::count_decision`].
    verdicts: RefCell<Vec<(&'static str, &'static str)>>,
    /// Work of this slice of a job on the bundle; the host counts it after the commit.
    pub bundle_work: bundle_work::BundleWork,
    /// Fault to be injected in the middle of the flush; for tests only.
    #[cfg(feature = "test-hooks")]
    pub injected_fault: Option<crate::store::fault_injection::InjectedFault>,
}

impl<'s> Store<'s> {
    /// Creates a store for a database whose tables exist.
    pub fn new(sql: &'s dyn Sql) -> Store<'s> {
        Store {
            sql,
            writes: Vec::new(),
            work_at: None,
            deliveries_at: None,
            is_new: false,
            is_opened: false,
            leaving: Cell::new(false),
            undone: false,
            longest_read: Cell::new(0),
            checked: Cell::new(0),
            recorder: read_recorder::ReadRecorder::default(),
            left: Cell::new(None),
            revisions: RefCell::default(),
            changes: ChangeFeed::default(),
            generators: BTreeMap::new(),
            warnings: RefCell::default(),
            first_number: 0,
            verdicts: RefCell::default(),
            bundle_work: bundle_work::BundleWork::None,
            #[cfg(feature = "test-hooks")]
            injected_fault: None,
        }
    }

    /// Opens a store for a database that may be empty or older: migrates its tables first.
    pub fn open(sql: &'s dyn Sql, now_ms: i64) -> Result<Store<'s>, Fault> {
        let is_new = schema::migrate(sql, now_ms)?;
        Ok(Store { is_new, is_opened: true, ..Store::new(sql) })
    }

    /// Opens a store for a new database on which all migrations have run.
    #[cfg(feature = "test-hooks")]
    pub fn open_new(sql: &'s dyn Sql) -> Store<'s> {
        Store { is_new: true, is_opened: true, ..Store::new(sql) }
    }

    /// Returns true once when the database was empty before this request.
    pub fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// Tests if the object has opened its database in this request.
    pub fn is_opened(&self) -> bool {
        self.is_opened
    }

    /// Folds codes that an earlier version stored, after a migration in this request.
    pub fn fold_code_keys(&self, case_sensitive: bool) -> Result<(), Fault> {
        if self.is_opened { schema::fold_voucher_keys(self.sql, case_sensitive) } else { Ok(()) }
    }

    /// Records a warning for the operator; the host logs it with the id of the request.
    pub fn warn(&self, text: String) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// Takes the recorded warnings.
    pub fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// Records the verdict of an operation with the key of its refusal; the host counts it after the commit.
    pub fn count_decision(&self, operation: &'static str, refused: Option<&'static str>) {
        self.verdicts.borrow_mut().push((operation, refused.unwrap_or_default()));
    }

    /// Takes the recorded verdicts: operations, each with the key of its refusal or an empty text.
    pub fn take_decisions(&self) -> Vec<(&'static str, &'static str)> {
        self.verdicts.take()
    }

    /// Runs a reading statement at once.
    pub fn rows(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.longest_read.set(self.longest_read.get().max(sql::longest(params)));
        self.read(statement, params)
    }

    /// Tests if the read limit was exceeded.
    pub fn exceeds_read_limit(&self) -> bool {
        self.left.get() == Some(0)
    }

    /// Records the rows of a read, and counts them against the limit of reads.
    fn note_read(&self, statement: &str, params: &[SqlValue], rows: &[SqlRow]) -> Result<(), Fault> {
        self.recorder.record(statement, params, rows);
        /// Bytes that cost as much time as a statement, and as a row.
        const STATEMENT: usize = 1_000;
        const ROW: usize = 50;
        if let Some(left) = self.left.get() {
            let size = |row: &SqlRow| sql::total(row).saturating_add(ROW); // A row fits memory.
            // The rows fit memory.
            let read = rows.iter().map(size).fold(STATEMENT, usize::saturating_add);
            self.left.set(Some(left.remaining_after(read)));
        }
        if self.exceeds_read_limit() { Err(Fault::new("the request reads more than one may")) } else { Ok(()) }
    }

    fn read(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        if self.exceeds_read_limit() {
            return Err(Fault::new("the request reads more than one may"));
        }
        let rows = self.sql.run(statement, params)?;
        self.note_read(statement, params, &rows)?;
        Ok(rows)
    }

    /// Returns the size of the database in bytes, without free pages.
    pub fn bytes(&self) -> Result<i64, Fault> {
        self.sql.bytes()
    }

    /// Runs a reading statement at once and returns its first row.
    pub fn row(&self, statement: &str, params: &[SqlValue]) -> Result<Option<SqlRow>, Fault> {
        Ok(self.rows(statement, params)?.into_iter().next())
    }

    /// Runs a reading statement now and gives the numbers of its first row; NULL is zero.
    fn sums<const N: usize>(&self, statement: &str, params: &[SqlValue]) -> Result<[i64; N], Fault> {
        let row = self.row(statement, params)?.unwrap_or_default();
        let mut sums = [0; N];
        for (column, sum) in sums.iter_mut().enumerate() {
            *sum = sql::int_or_null(&row, column)?.unwrap_or(0); // The sum of no rows is NULL.
        }
        Ok(sums)
    }

    /// Runs a reading statement whose only parameter is a list of names, in several runs if the list is too long. Each
    /// name is in one run.
    pub fn rows_in(&self, statement: &str, names: &[&str]) -> Result<Vec<SqlRow>, Fault> {
        let mut rows = Vec::new();
        for slice in slices(names) {
            rows.extend(self.read(statement, &[serde_json::Value::from(slice.to_vec()).to_string().into()])?);
        }
        Ok(rows)
    }

    /// Queues a writing statement.
    pub fn write(&mut self, statement: impl Into<Cow<'static, str>>, params: Vec<SqlValue>) {
        self.writes.push(QueuedWrite::new(statement, params));
    }

    /// Queues a statement that changes only counts, times or places of documents, which no bundle contains.
    pub fn write_counts(&mut self, statement: impl Into<Cow<'static, str>>, params: Vec<SqlValue>) {
        self.writes.push(QueuedWrite { only_counts: true, ..QueuedWrite::new(statement, params) });
    }

    /// Queues a statement that changes one document; the change is reported to the change feed.
    pub fn write_to(
        &mut self,
        kind: &'static str,
        id: &str,
        statement: impl Into<Cow<'static, str>>,
        params: Vec<SqlValue>,
    ) {
        self.writes.push(QueuedWrite { changes: Some((kind, id.to_owned())), ..QueuedWrite::new(statement, params) });
    }

    /// Queues a statement that writes transfers.
    fn write_transfers(
        &mut self,
        statement: &'static str,
        params: Vec<SqlValue>,
        posts: Vec<transfer_rows::TransferRow>,
    ) {
        self.writes.push(QueuedWrite { posts, ..QueuedWrite::new(statement, params) });
    }

    /// Returns the queued transfers.
    pub fn queued_transfers(&self) -> impl Iterator<Item = &transfer_rows::TransferRow> {
        self.writes.iter().flat_map(|write| &write.posts)
    }

    /// Runs a writing statement at once, inside the host's transaction: only for work that needs its result.
    pub fn write_now(&self, statement: &str, params: &[SqlValue]) -> Result<(), Fault> {
        self.revisions.take();
        self.sql.run(statement, params).map(|_| ())
    }

    /// Tests if any write is queued.
    pub fn is_dirty(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Drops the queued writes of a refused request.
    pub fn discard(&mut self) {
        self.writes.clear();
        self.checked.set(0);
        self.changes.recorded.clear();
        self.generators.clear();
        self.work_at = None;
        self.deliveries_at = None;
        self.leaving.set(false);
    }

    /// Records that a row with a keeping time is written.
    pub fn mark_for_retention(&self) {
        self.leaving.set(true);
    }

    /// Returns and resets the flag of [`Store::mark_for_retention`].
    pub fn take_retention_mark(&mut self) -> bool {
        self.leaving.take()
    }

    /// Requests that the host undoes all writes of the current request, which only needs its answer.
    pub fn undo_at_end(&mut self) {
        self.undone = true;
    }

    /// Tests if that was requested.
    pub fn is_undone(&self) -> bool {
        self.undone
    }

    /// Returns the length in bytes of the longest text among the queued writes from `savepoint` on.
    pub fn longest_write(&self, savepoint: usize) -> usize {
        self.writes.iter().skip(savepoint).map(|write| sql::longest(&write.params)).max().unwrap_or(0)
    }

    /// Refuses a queued document from `savepoint` on that the engine could not read in a decision.
    pub fn check_readable(&self, savepoint: usize) -> Result<(), Problem> {
        let mut written = self.writes.iter().skip(savepoint).filter_map(|write| Some((write, write.document?)));
        written.try_for_each(|(write, [kind, _, _, body])| match write.text(body).unwrap_or_default() {
            body if write.is_readable(body) => Ok(()),
            body => readability::check(write.text(kind).unwrap_or_default(), body),
        })
    }

    /// Returns the queued documents, in the order of their writes.
    pub fn queued_documents(&self) -> impl Iterator<Item = QueuedDocument<'_>> {
        self.writes.iter().filter_map(|write| {
            let [kind, id, holder, text] = write.document?.map(|place| write.text(place));
            Some(QueuedDocument { kind: kind?, id: id?, holder, text: text? })
        })
    }

    /// Tests if a queued write may change documents of these kinds; a statement for several documents may change any.
    pub fn may_write(&self, kinds: &[&str]) -> bool {
        self.writes.iter().any(|write| match write.document {
            Some([kind, ..]) => write.text(kind).is_none_or(|kind| kinds.contains(&kind)),
            None => write.statement.contains("document"),
        })
    }

    /// Tests if a queued write may change a document that a bundle contains.
    pub fn may_change_bundle(&self) -> bool {
        self.writes.iter().any(QueuedWrite::may_be_in_bundle)
    }

    /// Returns the length in bytes of the longest text parameter of a reading statement.
    pub fn longest_read_parameter(&self) -> usize {
        self.longest_read.get()
    }

    /// Returns the number of checked writes, and marks all as checked.
    pub fn take_unchecked(&self) -> usize {
        self.checked.replace(self.writes.len())
    }

    /// Returns the number of queued writes.
    pub fn savepoint(&self) -> usize {
        self.writes.len()
    }

    /// Drops the queued writes from `savepoint` on.
    pub fn discard_since(&mut self, savepoint: usize) {
        self.writes.truncate(savepoint);
        self.checked.set(self.checked.get().min(savepoint));
    }

    /// Runs the queued writes in their order.
    pub fn flush(&mut self) -> Result<(), Fault> {
        let writes = std::mem::take(&mut self.writes);
        self.revisions.take();
        self.checked.set(0);
        self.generators.clear();
        #[cfg(feature = "test-hooks")]
        let middle = writes.len().div_ceil(2);
        #[cfg(feature = "test-hooks")]
        let mut done: usize = 0;
        for write in writes {
            self.run_write(&write)?;
            #[cfg(feature = "test-hooks")]
            {
                done = done.plus_one();
                if done == middle
                    && let Some(fault) = self.injected_fault.take()
                {
                    crate::store::fault_injection::act(fault, self.sql)?;
                }
            }
        }
        Ok(())
    }

    /// Runs one write, and reports its change to the change feed.
    fn run_write(&mut self, write: &QueuedWrite) -> Result<(), Fault> {
        let (kind, id) = match write.subject() {
            Some((kind, id)) if self.changes.is_observed(self.sql, kind)? => (kind, id),
            _ => return write.run(self.sql),
        };
        let before = DocumentState::of(self.sql, kind, id)?;
        write.run(self.sql)?;
        let after = match write.document {
            // The parent precedes the holder in each of those statements.
            Some([_, _, holder, text]) => {
                let own = |place: usize| write.text(place).map(str::to_owned);
                let parent = holder.checked_sub(1).and_then(own);
                Some(DocumentState { parent, holder: own(holder), text: own(text).unwrap_or_default() })
            }
            None => DocumentState::of(self.sql, kind, id)?,
        };
        self.changes.record(kind, id, before, after);
        Ok(())
    }

    /// Requests the object's alarm for a job; the earliest requested time counts.
    pub fn schedule_jobs_at(&mut self, at_ms: i64) {
        self.work_at = Some(self.work_at.map_or(at_ms, |earlier| earlier.min(at_ms)));
    }

    /// Requests the object's alarm for a delivery, which needs no lookup of jobs.
    pub fn schedule_deliveries_at(&mut self, at_ms: i64) {
        self.deliveries_at = Some(self.deliveries_at.map_or(at_ms, |earlier| earlier.min(at_ms)));
    }

    /// Returns the times of the next job and of the next delivery. The alarm is set to the earlier one; without both it stays unchanged.
    pub fn alarms(&self) -> [Option<i64>; 2] {
        [self.work_at, self.deliveries_at]
    }

    /// Returns the time of the alarm.
    pub fn alarm(&self) -> Option<i64> {
        self.alarms().into_iter().flatten().min()
    }
}

/// Splits names into slices that fit one parameter.
pub fn slices<'n, 's>(names: &'s [&'n str]) -> Vec<&'s [&'n str]> {
    /// Maximum number of names in a slice: of 1,000 characters, each written as up to six.
    const NAMES_MAX: usize = 300;
    /// Up to this total size in bytes, all names fit one slice in any notation.
    const BYTES_MAX: usize = 200_000;
    let are_few = names.iter().map(|name| name.len()).sum::<usize>() <= BYTES_MAX;
    names.chunks(if are_few { names.len().max(1) } else { NAMES_MAX }).collect()
}
