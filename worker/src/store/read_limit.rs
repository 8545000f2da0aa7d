//! Limit of the reads of one request, which could otherwise block the object for long.

use crate::store::Store;

/// Read budget of one request, in bytes of stored text; a statement counts as 1,000 and a row as 50. Natively such a request
/// takes about 60 ms to read, parse and decide.
pub const READ_MAX: usize = 12_000_000;

impl Store<'_> {
    /// Limits the reads from now on.
    pub fn bound(&self) {
        self.left.set(Some(READ_MAX));
    }

    /// Removes the limit: the consequences of an accepted call are completed.
    pub fn remove_read_limit(&self) {
        self.left.set(None);
    }
}
