//! Indexes of lists that are made when a list first needs one, and dropped after 30 days without use. Until a kind has many documents, a list
//! reads all of them.

use super::index::{self, Index};
use crate::store::Store;
use crate::store::sql::{self, Fault};
use scrip::id::instant_of_number;
use std::collections::BTreeMap;

/// Number of documents of a kind up to which a list reads them all: natively about 4 ms.
pub const UNINDEXED_MAX: i64 = 2_000;

/// Days that an index is kept without use.
pub const KEPT_DAYS: i64 = 30;

const DAY_MS: i64 = 86_400_000;

/// The indexes on demand that exist, each with the day of its last use since 1970.
#[derive(Debug)]
pub struct MadeIndexes(BTreeMap<String, i64>);

impl MadeIndexes {
    /// Reads them, if one of some indexes is one on demand.
    pub fn find(store: &Store<'_>, asked: &[&'static Index]) -> Result<MadeIndexes, Fault> {
        if asked.iter().all(|index| index.made_on.is_none()) {
            return Ok(MadeIndexes(BTreeMap::new()));
        }
        let rows = store.rows("SELECT name, used_day FROM list_index", &[])?;
        let made = rows.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::int(row, 1)?)));
        made.collect::<Result<_, Fault>>().map(MadeIndexes)
    }

    /// Tests if an index exists.
    pub fn has(&self, index: &Index) -> bool {
        index.made_on.is_none() || self.0.contains_key(index.name)
    }

    /// Makes an index at once, if it does not exist.
    pub fn make(&mut self, store: &Store<'_>, index: &Index) -> Result<(), Fault> {
        let Some(made_on) = index.made_on.filter(|_| !self.has(index)) else { return Ok(()) };
        store.write_now(&format!("CREATE INDEX {} ON {made_on}", index.name), &[])?;
        self.note_use(store, index)
    }

    /// Records that an index on demand is used today.
    pub fn note_use(&mut self, store: &Store<'_>, index: &Index) -> Result<(), Fault> {
        let today = day_of(instant_of_number(store.first_number));
        if index.made_on.is_none() || self.0.get(index.name).is_some_and(|used| *used >= today) {
            return Ok(());
        }
        store.write_now(
            "INSERT INTO list_index (name, used_day) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET used_day = excluded.used_day",
            &[index.name.into(), today.into()],
        )?;
        self.0.insert(index.name.to_owned(), today);
        // If the list is refused in the end, the next opening of the database schedules the sweep.
        store.mark_for_retention();
        Ok(())
    }
}

fn day_of(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS)
}

/// Drops one index that was not used for some time before a time, at once. Returns the time from which on the next one may be dropped.
pub fn drop_unused(store: &Store<'_>, now_ms: i64) -> Result<Option<i64>, Fault> {
    // Times saturate at both ends of time.
    let until = day_of(now_ms).saturating_sub(KEPT_DAYS);
    let unused = store.row("SELECT name FROM list_index WHERE used_day <= +?1 LIMIT 1", &[until.into()])?;
    if let Some(row) = &unused {
        let name = sql::text(row, 0)?;
        // Only a name of this list becomes part of a statement.
        if let Some(index) = index::made_on_demand().find(|index| index.name == name) {
            store.write_now(&format!("DROP INDEX IF EXISTS {}", index.name), &[])?;
        }
        store.write_now("DELETE FROM list_index WHERE name = +?1", &[name.into()])?;
    }
    find_next_drop(store)
}

/// Finds the time from which on the next index may be dropped.
pub fn find_next_drop(store: &Store<'_>) -> Result<Option<i64>, Fault> {
    let oldest = store.row("SELECT MIN(used_day) FROM list_index", &[])?;
    let Some(oldest) = oldest.map_or(Ok(None), |row| sql::int_or_null(&row, 0))? else { return Ok(None) };
    // Times saturate at both ends of time.
    Ok(Some(oldest.saturating_add(KEPT_DAYS).saturating_mul(DAY_MS)))
}
