//! Tests of the metrics of queues.

use scrip_worker::jobs::queue_metrics::{QueueMetrics, find_queue_metrics};
use scrip_worker::store::Store;
use scrip_worker::store::jobs::{self, QueuedJob};
use scrip_worker::store::sqlite::Sqlite;

#[test]
fn waiting_rows_are_counted_and_only_due_ones_are_late() {
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, 0).unwrap();
    let details = |store: &Store<'_>, now_ms| {
        let QueueMetrics { queues, late_ms, .. } = find_queue_metrics(store, now_ms).unwrap();
        (queues.into_iter().map(|(_, length)| length).collect::<Vec<_>>(), late_ms)
    };
    assert_eq!(details(&store, 1_000), (vec![0; 4], 0));
    jobs::insert_of_service(&mut store, "SWEEP", "", 5_000);
    jobs::insert(&mut store, &QueuedJob { id: "aa_1", kind: "X", cursor: "", owner: "key" }, 2_000);
    store.flush().unwrap();
    assert_eq!(details(&store, 1_000), (vec![2, 1, 0, 0], 0));
    assert_eq!(details(&store, 2_700), (vec![2, 1, 0, 0], 700));
}
