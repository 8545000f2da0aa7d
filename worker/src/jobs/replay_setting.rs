//! Days for which a project keeps inputs of redemptions, as its object has them: each call brings the settings of its key's record.

use crate::http::caller::Settings;
use crate::jobs::retention;
use crate::store::Store;
use crate::store::documents::redemptions::{self, ReplaySetting};
use crate::store::sql::Fault;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Maximum number of projects in memory; above it, all are forgotten, and their next call reads the setting again.
const PROJECTS_MAX: usize = 1_000;

thread_local! {
    /// Settings that are stored, by project, so that a call without a change reads nothing.
    static STORED: RefCell<BTreeMap<String, ReplaySetting>> = const { RefCell::new(BTreeMap::new()) };
}

/// Takes over the number of days of a caller's settings, unless the project has later ones; the retention sweep deletes older inputs at once.
/// It is called before the call writes: what a call writes may be undone, and is not remembered.
pub fn adopt(store: &mut Store<'_>, project: &str, settings: &Settings, now_ms: i64) -> Result<(), Fault> {
    let latest = latest_of(settings);
    // The database of an object that has just started may have been written by another process.
    if !store.is_opened() && is_stored(project, latest) {
        return Ok(());
    }
    STORED.with_borrow_mut(|stored| stored.remove(project));
    let stored = redemptions::find_replay_setting(store)?;
    if stored.is_some_and(|stored| settings.is_former(stored.changed_ms, now_ms)) {
        return Ok(());
    }
    if stored == Some(latest) || stored.is_none() && latest.days == 0 {
        STORED.with_borrow_mut(|stored| {
            if stored.len() >= PROJECTS_MAX {
                stored.clear();
            }
            stored.insert(project.to_owned(), latest);
        });
        return Ok(());
    }
    redemptions::update_replay_setting(store, latest);
    if stored.is_some_and(|former| former.days != latest.days) {
        retention::schedule_at_once(store, now_ms)?;
    }
    Ok(())
}

/// Returns the number of days that counts for a call whose settings were adopted: another caller may have brought later ones.
pub fn find_days(store: &Store<'_>, project: &str, settings: &Settings) -> Result<i64, Fault> {
    let latest = latest_of(settings);
    if is_stored(project, latest) {
        return Ok(latest.days);
    }
    Ok(redemptions::find_replay_setting(store)?.map_or(0, |stored| stored.days))
}

fn latest_of(settings: &Settings) -> ReplaySetting {
    ReplaySetting { days: settings.replay_days, changed_ms: settings.changed_ms }
}

fn is_stored(project: &str, setting: ReplaySetting) -> bool {
    STORED.with_borrow(|stored| stored.get(project) == Some(&setting))
}
