//! Metrics of the queues of an object: their lengths, and the delay of the most urgent job. Ages saturate.

use crate::store::Store;
use crate::store::sql::Fault;
use crate::store::{bundle_heads, jobs, webhooks::outbox};
use crate::timestamp;
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
pub fn find_queue_metrics(store: &Store<'_>, now_ms: i64) -> Result<QueueMetrics, Fault> {
    let mut queues = Vec::with_capacity(QUEUES.len());
    for (name, count) in QUEUES {
        queues.push(((*name).to_owned(), count(store)?));
    }
    let earliest = jobs::find_earliest_time(store)?.unwrap_or(now_ms);
    let issued_ms = bundle_heads::find_state(store)?.head.map(|head| head.issued_ms);
    let bundle_age_ms = issued_ms.map(|issued_ms| timestamp::elapsed(issued_ms, now_ms).max(0));
    Ok(QueueMetrics { queues, late_ms: timestamp::elapsed(earliest, now_ms).max(0), bundle_age_ms })
}
