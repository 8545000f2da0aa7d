//! Reads of a call that are kept, and a driver that answers from them: a call that is repeated reads what it read before.
//!
//! A read is found by a digest of its statement and parameters. Secrets are never kept: the database answers them again.

use crate::store::Store;
use crate::store::sql::{Fault, Sql, SqlRow, SqlValue};
use scrip::text::{hex, sha256};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Bytes of a digest. Two of some hundred reads have equal ones in one of 10^10 calls.
const DIGEST_BYTES: usize = 6;

/// Rows by the digest of their read.
pub type ReadsByDigest = BTreeMap<String, Vec<SqlRow>>;

/// Records the reads of a call while it is switched on.
#[derive(Default)]
pub(super) struct ReadRecorder(RefCell<Option<ReadsByDigest>>);

impl ReadRecorder {
    /// Records the rows of a read. A repeated one has the same rows: writes wait for the end of the call.
    pub(super) fn record(&self, statement: &str, params: &[SqlValue], rows: &[SqlRow]) {
        if let Some(reads) = self.0.borrow_mut().as_mut()
            && !is_secret(statement, params)
        {
            reads.entry(digest(statement, params)).or_insert_with(|| rows.to_vec());
        }
    }
}

/// Driver that answers from kept reads, and writes nothing.
pub struct KeptReads<'s> {
    reads: ReadsByDigest,
    /// The database, for secrets alone.
    database: &'s dyn Sql,
    /// True if a read was not kept.
    is_missed: Cell<bool>,
}

impl KeptReads<'_> {
    /// Returns and resets the flag of a read that was not kept.
    pub fn take_missed(&self) -> bool {
        self.is_missed.take()
    }
}

impl Sql for KeptReads<'_> {
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        if is_secret(statement, params) {
            return self.database.run(statement, params);
        }
        self.reads.get(&digest(statement, params)).cloned().ok_or_else(|| {
            self.is_missed.set(true);
            Fault::new("a read of the repeated call was not kept")
        })
    }

    fn bytes(&self) -> Result<i64, Fault> {
        self.database.bytes()
    }
}

impl<'s> Store<'s> {
    /// Records all reads from now on.
    pub fn record_reads(&mut self) {
        self.recorder = ReadRecorder(RefCell::new(Some(ReadsByDigest::new())));
    }

    /// Ends the recording and returns the reads; `None` if there is no recording.
    pub fn take_reads(&mut self) -> Option<ReadsByDigest> {
        self.recorder.0.take()
    }

    /// Returns a driver for a call that is repeated with these reads.
    pub fn driver_of(&self, reads: ReadsByDigest) -> KeptReads<'s> {
        KeptReads { reads, database: self.sql, is_missed: Cell::new(false) }
    }
}

/// Tests if a statement reads keys of the project.
fn is_secret(statement: &str, params: &[SqlValue]) -> bool {
    statement.contains("'secret'")
        || params.iter().any(|param| matches!(param, SqlValue::Text(text) if text == "secret"))
}

/// Returns the digest of a read. Lengths keep the parameters apart.
fn digest(statement: &str, params: &[SqlValue]) -> String {
    let mut parts = vec![statement.to_owned()];
    parts.extend(params.iter().map(|param| match param {
        SqlValue::Null => "n".to_owned(),
        SqlValue::Int(number) => format!("i{number}"),
        SqlValue::Text(text) => format!("t{}:{text}", text.len()),
    }));
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    hex(sha256(&parts).get(..DIGEST_BYTES).unwrap_or_default())
}
