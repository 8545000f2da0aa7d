//! How much waits in an object, and how long the most urgent of it has. It must not know who asks.

use crate::store::Store;
use crate::store::sql::{self, Fault};
use serde::{Deserialize, Serialize};

/// What waits, and how it is counted: each is a queue of its own in `/metrics`.
const QUEUES: &[(&str, &str)] = &[
    ("due", "SELECT COUNT(*) FROM due"),
    ("async_actions", "SELECT COUNT(*) FROM due WHERE id GLOB 'aa_*'"),
    ("webhooks", "SELECT COUNT(*) FROM outbox WHERE dead_at IS NULL"),
    ("dead_letters", "SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL"),
];

/// How much waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The queues and how long they are.
    pub queues: Vec<(String, i64)>,
    /// For how many milliseconds what should be done first has been due; 0 where its moment is to come.
    pub late_ms: i64,
}

/// How much waits at this moment.
pub fn waiting(store: &Store<'_>, now_ms: i64) -> Result<Waiting, Fault> {
    let number = |statement: &str| match store.row(statement, &[])? {
        Some(row) => sql::int_or_null(&row, 0),
        None => Ok(None),
    };
    let mut queues = Vec::with_capacity(QUEUES.len());
    for (name, statement) in QUEUES {
        queues.push(((*name).to_owned(), number(statement)?.unwrap_or(0)));
    }
    let earliest = number("SELECT MIN(at) FROM due")?.unwrap_or(now_ms);
    Ok(Waiting { queues, late_ms: now_ms.saturating_sub(earliest).max(0) })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
mod tests {
    use super::*;
    use crate::store::sql::Sql;
    use crate::store::sqlite::Sqlite;

    #[test]
    fn what_waits_is_counted_and_only_what_is_due_is_late() {
        let sql = Sqlite::memory().unwrap();
        let store = Store::open(&sql, 0).unwrap();
        let told = |now_ms| {
            let Waiting { queues, late_ms } = waiting(&store, now_ms).unwrap();
            (queues.into_iter().map(|(_, length)| length).collect::<Vec<_>>(), late_ms)
        };
        assert_eq!(told(1_000), (vec![0; 4], 0));
        sql.run("INSERT INTO due VALUES ('sweep', 5000, 'SWEEP', '', 0), ('aa_1', 2000, 'X', '', 0)", &[]).unwrap();
        assert_eq!(told(1_000), (vec![2, 1, 0, 0], 0));
        assert_eq!(told(2_700), (vec![2, 1, 0, 0], 700));
    }
}
