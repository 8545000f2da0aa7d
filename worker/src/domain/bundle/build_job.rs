//! The job that builds the bundle: after a change, at the end of its horizon, when another key signs, and before the head gets old.
//!
//! The core is built in slices, and then the goods. Meanwhile the previous head stays, for ten seconds at most. A head that cannot wait
//! longer has no goods until they are complete.
//!
//! The first change is built at once. Changes that follow within a second wait until a second passes without one, and for nine seconds
//! at most: then a core that has read its documents is completed, also where they have changed since. Only a project whose clients have
//! requested the bundle has the job. Times saturate, at the end of time.

use crate::domain::bundle::content::ContentBuild;
use crate::domain::bundle::core::SliceBudget;
use crate::domain::bundle::goods_build;
use crate::domain::bundle::head::{self, HeadState};
use crate::domain::bundle::project::BundleProject;
use crate::http::caller::{Caller, Settings};
use crate::jobs::async_actions::JobSlice;
use crate::jobs::queue::BUILD_BUNDLE;
use crate::store::Store;
use crate::store::bundle_heads::{self, StoredHead, StoredProject};
use crate::store::bundle_work::BundleWork;
use crate::store::jobs;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;
use serde::{Deserialize, Serialize};

/// Path under which the entry informs a project's object that a client requests the bundle; no route uses it.
pub const DEMAND_PATH: &str = "/internal/bundle";
/// Time without a change after which a build begins, and between two builds.
const QUIET_MS: i64 = 1_000;
/// Maximum time from a change to the begin of its build.
const BEGIN_MS: i64 = 9_000;
/// Time after which a change is not without a head any longer.
const LATEST_MS: i64 = 10_000;

/// State of the head that a client requests, as the entry knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleDemand {
    /// True if KV has no head of the project.
    #[serde(default)]
    pub is_missing: bool,
    /// True if KV has no part of the entry that fits the head.
    #[serde(default)]
    pub lacks_edge_part: bool,
    /// True if the settings have changed, and no client requests the bundle.
    #[serde(default)]
    pub is_of_change: bool,
}

/// State of a job that waits for the end of changes, and then for the goods.
#[derive(Debug, Serialize, Deserialize)]
struct BuildWait {
    /// Revision at the last check.
    revision: String,
    /// Time of the first check after the last build.
    since_ms: i64,
    /// True if the wait is over and the core or the goods are being built.
    #[serde(default, rename = "is_begun")]
    is_building: bool,
}

/// Has the bundle built and copied to KV where it is not current: with the settings that a call brings, from now on, unless these are
/// former ones. A change of settings builds no bundle that no client has requested.
pub fn demand(store: &mut Store<'_>, context: &Context, caller: &Caller, demand: BundleDemand) -> Result<(), Fault> {
    let stored = bundle_heads::find_project(store)?;
    if demand.is_of_change && stored.is_none() {
        return Ok(());
    }
    let latest = find_latest_settings(store, context, caller)?;
    let settings = serde_json::to_string(&latest).map_err(|error| Fault(error.to_string()))?;
    let project = StoredProject { id: caller.project.clone(), settings };
    if stored.as_ref() != Some(&project) {
        bundle_heads::update_project(store, &project);
    }
    if demand.is_missing {
        bundle_heads::mark_lost(store);
    } else if demand.lacks_edge_part {
        bundle_heads::mark_part_lost(store);
    }
    let now_ms = context.now.millis();
    jobs::insert_or_reschedule_earlier(store, BUILD_BUNDLE, now_ms);
    store.schedule_jobs_at(now_ms);
    Ok(())
}

/// Has the first bundle of a project built. Later ones are built by the job itself, which is repeated also when it fails.
pub fn demand_first(store: &mut Store<'_>, context: &Context, caller: &Caller) -> Result<(), Fault> {
    if bundle_heads::find_project(store)?.is_some() {
        return Ok(());
    }
    demand(store, context, caller, BundleDemand::default())
}

/// Returns the settings of a caller, or the later ones that another caller has brought: for a minute after a change, entries have records
/// with the former settings.
pub fn find_latest_settings(store: &Store<'_>, context: &Context, caller: &Caller) -> Result<Settings, Fault> {
    let own = &caller.settings;
    let Some(stored) = bundle_heads::find_project(store)? else { return Ok(own.clone()) };
    // Settings of another version of the service may not read; then those of the caller count.
    let stored: Option<Settings> = serde_json::from_str(&stored.settings).ok();
    let is_later = |stored: &Settings| own.is_former(stored.changed_ms, context.now.millis());
    Ok(stored.filter(is_later).unwrap_or_else(|| own.clone()))
}

/// Requests the alarm if the writes of this transaction have changed the bundle.
pub fn wake_if_marked(store: &mut Store<'_>) -> Result<(), Fault> {
    if jobs::is_marked(store, BUILD_BUNDLE)? {
        store.schedule_jobs_at(0);
    }
    Ok(())
}

/// Builds the bundle if it is time to, and schedules the next check.
pub fn run(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let Some(stored) = bundle_heads::find_project(store)? else {
        jobs::delete(store, slice.id);
        return Ok(());
    };
    let settings: Settings = serde_json::from_str(&stored.settings)
        .map_err(|error| Fault(format!("the settings of the bundle cannot be read: {error}")))?;
    let project = BundleProject { id: &stored.id, settings: &settings, time_zone: settings.time_zone.clone() };
    let now_ms = context.now.millis();
    let wait_state: Option<BuildWait> = if slice.cursor.is_empty() { None } else { Some(slice.read()?) };
    let since_ms = wait_state.as_ref().map_or(now_ms, |wait_state| wait_state.since_ms);
    let former = match head::check_current(store, context, &project)? {
        HeadState::Current(head) if !goods_build::is_waiting(store)? => {
            let at_ms = head::next_build_ms(store, &head, now_ms)?;
            jobs::update_cursor(store, slice.id, "", at_ms);
            return Ok(());
        }
        // It is without goods: the next one has them.
        HeadState::Current(_) => FormerHead::WithoutGoods,
        HeadState::Changed { head, revision } => {
            if let Some((wait_state, at_ms)) = plan_wait(&head, revision.clone(), wait_state, now_ms) {
                return write_wait(store, slice, &wait_state, at_ms);
            }
            FormerHead::Usable { revision }
        }
        HeadState::Outdated { revision } => FormerHead::Unusable { revision },
    };
    #[cfg(feature = "test-hooks")]
    crate::store::test_hooks::check_build(store)?;
    // A time before the first check is one of a clock that was set back.
    let is_after = |wait_ms| !(since_ms..timestamp::later(since_ms, wait_ms)).contains(&now_ms);
    let budget = SliceBudget { rows: slice.rows, goods_rows: slice.rows, is_urgent: is_after(BEGIN_MS) };
    let is_late = is_after(LATEST_MS);
    store.bundle_work = BundleWork::Continued;
    let content = ContentBuild::refresh(store, &project, context.now, budget)?;
    if !content.has_goods() && former.stays(is_late) {
        content.keep();
        return continue_later(store, slice, former, since_ms, now_ms);
    }
    let content = match content.finish(store, &project)? {
        Some(content) if content.goods.is_some() || !former.stays(is_late) => content,
        _ => return continue_later(store, slice, former, since_ms, now_ms),
    };
    store.bundle_work = BundleWork::Built;
    // Documents may have changed since an urgent build read them. Their mark is this row, so the next check is now.
    let is_newest = content.goods.is_some() && content.revision == bundle_heads::find_state(store)?.revision;
    let head = head::build(store, context, &project, content)?;
    let at_ms = if is_newest { head::next_build_ms(store, &head, now_ms)? } else { now_ms };
    jobs::update_cursor(store, slice.id, "", at_ms);
    Ok(())
}

/// Head so far, while the next one is being built.
enum FormerHead {
    /// Clients decide by it meanwhile.
    Usable {
        /// Present revision of the documents.
        revision: String,
    },
    /// It contains the present offers, without goods.
    WithoutGoods,
    /// There is none, or a wrong one.
    Unusable {
        /// Present revision of the documents.
        revision: String,
    },
}

impl FormerHead {
    /// Returns true if no other head without goods takes its place.
    fn stays(&self, is_late: bool) -> bool {
        match self {
            FormerHead::WithoutGoods => true,
            FormerHead::Usable { .. } => !is_late,
            FormerHead::Unusable { .. } => false,
        }
    }
}

/// Plans the next slice.
fn continue_later(
    store: &mut Store<'_>,
    slice: &JobSlice<'_>,
    former: FormerHead,
    since_ms: i64,
    now_ms: i64,
) -> Result<(), Fault> {
    if let FormerHead::Usable { revision } | FormerHead::Unusable { revision } = former {
        return write_wait(store, slice, &BuildWait { revision, since_ms, is_building: true }, now_ms);
    }
    jobs::update_cursor(store, slice.id, "", now_ms);
    Ok(())
}

fn write_wait(store: &mut Store<'_>, slice: &JobSlice<'_>, wait_state: &BuildWait, at_ms: i64) -> Result<(), Fault> {
    let cursor = serde_json::to_string(wait_state).map_err(|error| Fault(error.to_string()))?;
    jobs::update_cursor(store, slice.id, &cursor, at_ms);
    Ok(())
}

/// Returns the state of the wait and the time of the next check; `None` if the job is to build now, as after a clock that was set back.
fn plan_wait(
    head: &StoredHead,
    revision: String,
    wait_state: Option<BuildWait>,
    now_ms: i64,
) -> Option<(BuildWait, i64)> {
    let since_ms = match &wait_state {
        Some(wait_state) if wait_state.is_building => return None,
        None if !(head.issued_ms..timestamp::later(head.issued_ms, QUIET_MS)).contains(&now_ms) => return None,
        None => now_ms,
        Some(wait_state) => wait_state.since_ms,
    };
    let latest_ms = timestamp::later(since_ms, BEGIN_MS);
    let is_quiet = wait_state.is_some_and(|wait_state| wait_state.revision == revision);
    if is_quiet || !(since_ms..latest_ms).contains(&now_ms) {
        return None;
    }
    Some((BuildWait { revision, since_ms, is_building: false }, timestamp::later(now_ms, QUIET_MS).min(latest_ms)))
}
