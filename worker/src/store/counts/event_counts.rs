//! Counts custom events of customers.

use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::sql::{self, Fault};
use serde::Deserialize;

/// Member of an event that has its name.
#[derive(Deserialize)]
struct EventReference {
    #[serde(default, rename = "type")]
    name: String,
}

impl Store<'_> {
    /// Returns the number of stored events of a name and customer.
    pub fn event_count(&self, customer: &str, event: &str) -> Result<u64, Fault> {
        let row = self.row(
            "SELECT COUNT(*) FROM document WHERE kind = 'event' AND holder = +?1 AND json_extract(body, '$.type') = +?2",
            &[customer.into(), event.into()],
        )?;
        let count = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
        amount::unsigned(count)
    }

    /// Returns the number of events of a name and customer, including queued ones.
    pub fn event_count_ahead(&self, customer: &str, event: &str) -> Result<u64, Fault> {
        let mut count = self.event_count(customer, event)?;
        for written in self.written().filter(|written| written.kind == "event" && written.holder == Some(customer)) {
            let named: EventReference = serde_json::from_str(written.text)
                .map_err(|error| Fault(format!("an event does not parse: {error}")))?;
            count = count.plus(u64::from(named.name == event))?;
        }
        Ok(count)
    }
}
