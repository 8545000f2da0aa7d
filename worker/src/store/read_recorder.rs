//! Records the reads of a call, each under a digest of its statement and parameters. Secrets are never recorded.

use crate::store::sql::{SqlRow, SqlValue};
use scrip::text::{hex, sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Bytes of a digest. Two of some hundred reads have equal ones in one of 10^10 calls.
const DIGEST_BYTES: usize = 6;

/// Rows by the digest of their read.
pub type ReadsByDigest = BTreeMap<String, Vec<SqlRow>>;

/// Records the reads of a call while it is switched on.
#[derive(Default)]
pub struct ReadRecorder(RefCell<Option<ReadsByDigest>>);

impl ReadRecorder {
    /// Starts a recording.
    pub fn start(&self) {
        self.0.replace(Some(ReadsByDigest::new()));
    }

    /// Tests if there is a recording.
    pub fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Ends the recording and returns the reads; `None` if there is none.
    pub fn take(&self) -> Option<ReadsByDigest> {
        self.0.take()
    }

    /// Records the rows of a read. A repeated one has the same rows: writes wait for the end of the call.
    pub fn record(&self, statement: &str, params: &[SqlValue], rows: &[SqlRow]) {
        if let Some(reads) = self.0.borrow_mut().as_mut()
            && !is_secret(statement, params)
        {
            reads.entry(digest(statement, params)).or_insert_with(|| rows.to_vec());
        }
    }
}

/// Tests if a statement reads keys of the project.
pub fn is_secret(statement: &str, params: &[SqlValue]) -> bool {
    let is_named = matches!(params.first(), Some(SqlValue::Text(kind)) if kind == "secret");
    statement.contains("'secret'") || is_named && statement.contains("kind = +?1")
}

/// Returns the digest of a read. Lengths keep the parameters apart.
pub fn digest(statement: &str, params: &[SqlValue]) -> String {
    let mut parts = vec![statement.to_owned()];
    parts.extend(params.iter().map(|param| match param {
        SqlValue::Null => "n".to_owned(),
        SqlValue::Int(number) => format!("i{number}"),
        SqlValue::Text(text) => format!("t{}:{text}", text.len()),
    }));
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    hex(sha256(&parts).get(..DIGEST_BYTES).unwrap_or_default())
}
