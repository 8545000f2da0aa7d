//! Reads the counts of one customer: what the customer redeemed, in total and in the present day, week and month.

use crate::ledger::AccountId;
use crate::ordered_map::OrderedMap;
use crate::text::{Text, joined};
use crate::time::Instant;
use crate::wire::cursor::{JsonCursor, read};

/// The counts of one customer. An account of the customer that is not listed counts nothing.
#[derive(Debug, Clone, Default)]
pub struct OwnCounts {
    /// The start of the names of the customer's accounts.
    prefix: Text,
    /// The starts of the present day, week and month in the project's zone.
    since: Vec<Instant>,
    /// The units by the rest of the account's name: in total, and since each of the starts. `None` if only the server
    /// knows them, because sessions hold some.
    accounts: OrderedMap<Option<Vec<u64>>>,
}

impl OwnCounts {
    /// Reads `{ "customer", "since": [instant], "accounts": { name: [total, since each] | null } }`.
    pub(super) fn read(at: &JsonCursor<'_>) -> OwnCounts {
        at.object();
        let mut counts = OwnCounts {
            prefix: joined(&["customer/", &at.need("customer", read::name), "/"]),
            since: at.need("since", |since| since.all(read::instant)),
            accounts: OrderedMap::default(),
        };
        if let Some(accounts) = at.get("accounts") {
            for (name, units) in accounts.members() {
                let read = (!units.is_null()).then(|| units.all(read::whole_number));
                // Memory bounds the list.
                if read.as_ref().is_some_and(|read| read.len() != counts.since.len().saturating_add(1)) {
                    units.problem("must have a total and one count for each start");
                }
                counts.accounts.insert(Text::from(name), read);
            }
        }
        counts
    }

    /// Returns whether an account is the customer's.
    pub fn has(&self, account: &AccountId) -> bool {
        !self.prefix.is_empty() && account.as_str().starts_with(self.prefix.as_str())
    }

    /// Returns the units of an account of the customer, in total or since an instant; `None` if only the server knows.
    pub fn units(&self, account: &AccountId, since: Option<Instant>) -> Option<u64> {
        let position = match since {
            None => 0,
            Some(since) => self.since.iter().position(|start| *start == since)?.checked_add(1)?,
        };
        match account.as_str().strip_prefix(self.prefix.as_str()).map(|name| self.accounts.get(name))? {
            Some(units) => units.as_ref()?.get(position).copied(),
            None => Some(0),
        }
    }
}
