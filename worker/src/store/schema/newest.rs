//! What a version makes of a database that a later one wrote: nothing. It must not know any step.

use crate::store::sql::Fault;

/// Refuses a database in which more steps have run than this version knows: it would not keep true what the later ones added.
pub(super) fn refuse_later(done: i64, known: usize) -> Result<(), Fault> {
    if usize::try_from(done).is_ok_and(|done| done <= known) {
        return Ok(());
    }
    Err(Fault(format!(
        "a later version wrote the database: it has step {done} of the schema, this version knows {known}"
    )))
}
