//! Schedules the jobs that settle cards.

use crate::domain::clock::LocalTime;
use crate::jobs::outbox;
use crate::store::Store;
use crate::store::jobs::DueRow;
use crate::store::sql::Fault;
use scrip::points::CardRefusal;
use scrip::time::Instant;

/// Returns the fault for a card that cannot be settled.
pub fn settlement_fault(card: &str, refused: &CardRefusal) -> Fault {
    Fault(format!("the card `{card}` cannot be settled: {refused:?}"))
}

/// Schedules the job that settles a card at `next`. The row contains the zone, because a job has no caller and no setup.
pub fn schedule(
    store: &mut Store<'_>,
    kind: &'static str,
    card: &str,
    next: Option<Instant>,
    time: &LocalTime,
) -> Result<(), Fault> {
    let Some(next) = next.map(Instant::millis) else {
        store.delete_due(card);
        return Ok(());
    };
    store.write_due(&DueRow { id: card, kind, at_ms: next, cursor: &time.setting.to_string() });
    // The alarm must not be delayed when another job is due earlier.
    let other = store.find_earliest_due_except(card)?;
    store.schedule_jobs_at(other.map_or(next, |other| other.min(next)));
    outbox::schedule_alarm(store, time.millis())
}
