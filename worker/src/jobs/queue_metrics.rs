//! Metrics of the queues of an object: their lengths, and the delay of the most urgent job.

use crate::store::Store;
use crate::store::sql::Fault;
use crate::store::{bundle_heads, jobs, webhooks::outbox};
use serde::{Deserialize, Serialize};

/// Counts the rows of a queue.
type CountRows = fn(&Store<'_>) -> Result<i64, Fault>;

/// The queues of `/metrics`, each with the function that counts its rows.
const QUEUES: &[(&str, CountRows)] = &[
    ("due", jobs::count),
    ("async_actions", jobs::count_actions),
    ("webhooks", outbox::count_waiting),
    ("dead_letters", outbox::count_dead),
];

/// Lengths and delay of the queues.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueMetrics {
    /// Names and lengths of the queues.
    pub queues: Vec<(String, i64)>,
    /// Milliseconds since the most urgent job became due; 0 when it is not due.
    pub late_ms: i64,
    /// Milliseconds since the head of the bundle was signed; absent without a head.
    #[serde(default)]
    pub bundle_age_ms: Option<i64>,
}

/// Returns the metrics at `now_ms`.
pub fn waiting(store: &Store<'_>, now_ms: i64) -> Result<QueueMetrics, Fault> {
    let mut queues = Vec::with_capacity(QUEUES.len());
    for (name, count) in QUEUES {
        queues.push(((*name).to_owned(), count(store)?));
    }
    let earliest = jobs::find_earliest_time(store)?.unwrap_or(now_ms);
    let issued_ms = bundle_heads::find_state(store)?.head.map(|head| head.issued_ms);
    let bundle_age_ms = issued_ms.map(|issued_ms| now_ms.saturating_sub(issued_ms).max(0));
    Ok(QueueMetrics { queues, late_ms: now_ms.saturating_sub(earliest).max(0), bundle_age_ms })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
mod tests {
    use super::*;
    use crate::store::jobs::QueuedJob;
    use crate::store::sqlite::Sqlite;

    #[test]
    fn what_waits_is_counted_and_only_what_is_due_is_late() {
        let sql = Sqlite::memory().unwrap();
        let mut store = Store::open(&sql, 0).unwrap();
        let details = |store: &Store<'_>, now_ms| {
            let QueueMetrics { queues, late_ms, .. } = waiting(store, now_ms).unwrap();
            (queues.into_iter().map(|(_, length)| length).collect::<Vec<_>>(), late_ms)
        };
        assert_eq!(details(&store, 1_000), (vec![0; 4], 0));
        jobs::insert_of_service(&mut store, "SWEEP", "", 5_000);
        jobs::insert(&mut store, &QueuedJob { id: "aa_1", kind: "X", cursor: "", owner: "key" }, 2_000);
        store.flush().unwrap();
        assert_eq!(details(&store, 1_000), (vec![2, 1, 0, 0], 0));
        assert_eq!(details(&store, 2_700), (vec![2, 1, 0, 0], 700));
    }
}
