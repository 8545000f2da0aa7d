//! Deliveries to webhooks that were given up.

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow};

/// A delivery that was given up.
#[derive(Debug)]
pub struct DeadLetter {
    /// Its id.
    pub id: String,
    /// Type of the event.
    pub event_type: String,
    /// The entity that it is about.
    pub entity_id: String,
    /// Moment of the event, in milliseconds since 1970.
    pub created_at: i64,
    /// Moment at which it was given up.
    pub dead_at: i64,
    /// Number of attempts.
    pub attempts: i64,
    /// Reason of the last failure.
    pub failure: Option<String>,
    /// The body, as JSON.
    pub body: String,
}

/// Lists the dead letters of a webhook after a position, up to a number.
pub fn list(store: &Store<'_>, webhook_id: &str, after: i64, limit: i64) -> Result<Vec<DeadLetter>, Fault> {
    let rows = store.rows(
        "SELECT id, type, entity, created_at, dead_at, attempts, failure, body FROM outbox
         WHERE webhook = +?1 AND dead_at IS NOT NULL AND seq > +?2 ORDER BY seq LIMIT +?3",
        &[webhook_id.into(), after.into(), limit.into()],
    )?;
    rows.iter().map(read).collect()
}

fn read(row: &SqlRow) -> Result<DeadLetter, Fault> {
    Ok(DeadLetter {
        id: sql::text(row, 0)?.to_owned(),
        event_type: sql::text(row, 1)?.to_owned(),
        entity_id: sql::text(row, 2)?.to_owned(),
        created_at: sql::int(row, 3)?,
        dead_at: sql::int(row, 4)?,
        attempts: sql::int(row, 5)?,
        failure: sql::text_or_null(row, 6)?.map(str::to_owned),
        body: sql::text(row, 7)?.to_owned(),
    })
}

/// Finds the position of a dead letter of a webhook.
pub fn find_position(store: &Store<'_>, webhook_id: &str, id: &str) -> Result<Option<i64>, Fault> {
    let row = store.row(
        "SELECT seq FROM outbox WHERE id = +?1 AND webhook = +?2 AND dead_at IS NOT NULL",
        &[id.into(), webhook_id.into()],
    )?;
    row.map(|row| sql::int(&row, 0)).transpose()
}

/// Counts the dead letters of a webhook.
pub fn count(store: &Store<'_>, webhook_id: &str) -> Result<i64, Fault> {
    let row =
        store.row("SELECT COUNT(*) FROM outbox WHERE webhook = +?1 AND dead_at IS NOT NULL", &[webhook_id.into()])?;
    row.map_or(Ok(0), |row| sql::int(&row, 0))
}
