//! How often a custom event was told of a customer. It must not know who asks for it.

use super::Store;
use super::sql::{self, Fault};
use serde::Deserialize;

/// What an event says that it is.
#[derive(Deserialize)]
struct Named {
    #[serde(default, rename = "type")]
    name: String,
}

impl Store<'_> {
    /// How often an event was told of a customer, as far as it is stored.
    pub fn event_count(&self, customer: &str, event: &str) -> Result<u64, Fault> {
        let row = self.row(
            "SELECT COUNT(*) FROM document WHERE kind = 'event' AND holder = +?1 AND json_extract(body, '$.type') = +?2",
            &[customer.into(), event.into()],
        )?;
        let count = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// The same, with what waits for the commit.
    pub fn event_count_ahead(&self, customer: &str, event: &str) -> Result<u64, Fault> {
        let mut count = self.event_count(customer, event)?;
        for written in self.written().filter(|written| written.kind == "event" && written.holder == Some(customer)) {
            let named: Named = serde_json::from_str(written.text)
                .map_err(|error| Fault(format!("an event does not parse: {error}")))?;
            count = count.saturating_add(u64::from(named.name == event));
        }
        Ok(count)
    }
}
