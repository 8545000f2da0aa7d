//! Counters of quotas: amounts that clients use in a window of time, and publications to them in a day.

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow};

/// A window of time of a quota of one owner.
#[derive(Debug, Clone)]
pub struct QuotaWindow<'q> {
    /// The owner of the quota.
    pub owner: String,
    /// Name of the counted amount.
    pub name: &'q str,
    /// Number of windows that have begun since 1970.
    pub number: i64,
}

fn count(row: Option<SqlRow>) -> Result<i64, Fault> {
    row.map_or(Ok(0), |row| sql::int(&row, 0))
}

/// Finds the amount that has been used in a window.
pub fn find_used(store: &Store<'_>, window: QuotaWindow<'_>) -> Result<i64, Fault> {
    count(store.row(
        "SELECT used FROM allowance WHERE key = +?1 AND name = +?2 AND span = +?3",
        &[window.owner.into(), window.name.into(), window.number.into()],
    )?)
}

/// Adds to the amount that is used in a window, when the call commits. The first use of a window begins from zero.
pub fn insert_used(store: &mut Store<'_>, window: QuotaWindow<'_>, amount: i64) {
    store.write(
        "INSERT INTO allowance (key, name, span, used) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (key, name) DO UPDATE SET
           used = CASE WHEN span = excluded.span THEN used + excluded.used ELSE excluded.used END, span = excluded.span",
        vec![window.owner.into(), window.name.into(), window.number.into(), amount.into()],
    );
}

/// Publications from one place to one receiver in a day.
#[derive(Debug, Clone, Copy)]
pub struct DailyPublications<'p> {
    /// Days since 1970.
    pub day: i64,
    /// The campaign, or a voucher without one.
    pub parent_id: &'p str,
    /// Digest of the receiver.
    pub receiver: &'p str,
}

/// Finds the number of publications to a receiver in a day.
pub fn find_publications(store: &Store<'_>, daily: DailyPublications<'_>) -> Result<i64, Fault> {
    count(store.row(
        "SELECT count FROM handed_out WHERE day = +?1 AND place = +?2 AND who = +?3",
        &[daily.day.into(), daily.parent_id.into(), daily.receiver.into()],
    )?)
}

/// Counts a publication to a receiver when the call commits, and deletes a number of counters of earlier days.
pub fn insert_publication(store: &mut Store<'_>, daily: DailyPublications<'_>, deleted_max: i64) {
    let DailyPublications { day, parent_id, receiver } = daily;
    store.write(
        "INSERT INTO handed_out (day, place, who, count) VALUES (?1, ?2, ?3, 1)
         ON CONFLICT (day, place, who) DO UPDATE SET count = count + 1",
        vec![day.into(), parent_id.into(), receiver.into()],
    );
    store.write(
        "DELETE FROM handed_out WHERE (day, place, who) IN
           (SELECT day, place, who FROM handed_out WHERE day < ?1 ORDER BY day LIMIT +?2)",
        vec![day.into(), deleted_max.into()],
    );
}
