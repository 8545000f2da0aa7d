//! Reads of a call that are kept, and a driver that answers from them: a call that is repeated reads what it read before.
//!
//! A read is found by a digest of its statement and parameters. Secrets are never kept: the database answers them again.

use crate::store::Store;
use crate::store::read_recorder::{ReadsByDigest, digest, is_secret};
use crate::store::sql::{Fault, Sql, SqlRow, SqlValue};
use std::cell::Cell;

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
        self.recorder.start();
    }

    /// Tests if reads are recorded.
    pub fn records_reads(&self) -> bool {
        self.recorder.is_on()
    }

    /// Ends the recording and returns the reads; `None` if there is no recording.
    pub fn take_reads(&mut self) -> Option<ReadsByDigest> {
        self.recorder.take()
    }

    /// Returns a driver for a call that is repeated with these reads.
    pub fn driver_of(&self, reads: ReadsByDigest) -> KeptReads<'s> {
        KeptReads { reads, database: self.sql, is_missed: Cell::new(false) }
    }
}
