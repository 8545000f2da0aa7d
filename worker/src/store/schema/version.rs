//! Refuses databases of later versions.

use crate::store::sql::Fault;

/// Refuses a database with more steps than this version has: it could not maintain their additions.
pub(super) fn refuse_later(done: i64, known: usize) -> Result<(), Fault> {
    if usize::try_from(done).is_ok_and(|done| done <= known) {
        return Ok(());
    }
    Err(Fault(format!(
        "a later version wrote the database: it has step {done} of the schema, this version knows {known}"
    )))
}
