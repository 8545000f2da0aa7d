//! The job that builds the bundle: after a change, at the end of its horizon, when another key signs, and before the head gets old.
//!
//! The first change is built at once. Changes that follow within a second wait until a second passes without one, and for ten seconds
//! at most. Only a project whose clients have asked for the bundle has the job.

use crate::domain::bundle::core::BundleProject;
use crate::domain::bundle::head::{self, HeadState};
use crate::http::caller::{Caller, Settings};
use crate::jobs::async_actions::JobSlice;
use crate::jobs::queue::BUILD_BUNDLE;
use crate::store::Store;
use crate::store::bundle_heads::{self, StoredHead, StoredProject};
use crate::store::jobs;
use crate::store::sql::Fault;
use scrip::Context;
use serde::{Deserialize, Serialize};

/// Path under which the entry informs a project's object that a client asks for the bundle; no route uses it.
pub const ASKED: &str = "/internal/bundle";
/// Time without a change after which a build begins, and between two builds.
const QUIET_MS: i64 = 1_000;
/// Maximum time from a change to its build.
const LATEST_MS: i64 = 10_000;

/// What the entry knows of the head that a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleDemand {
    /// True if KV has no head of the project.
    pub is_missing: bool,
}

/// State of a job that waits for the end of changes.
#[derive(Debug, Serialize, Deserialize)]
struct AwaitedQuiet {
    /// Revision at the last look.
    revision: String,
    /// Moment of the first look after the last build.
    since_ms: i64,
}

/// Has the bundle built and copied to KV where it is not current: with the settings that a call brings, from now on.
pub fn demand(store: &mut Store<'_>, context: &Context, caller: &Caller, demand: BundleDemand) -> Result<(), Fault> {
    let settings = serde_json::to_string(&caller.settings).map_err(|error| Fault(error.to_string()))?;
    let project = StoredProject { id: caller.project.clone(), settings };
    if bundle_heads::find_project(store)?.as_ref() != Some(&project) {
        bundle_heads::update_project(store, &project);
    }
    if demand.is_missing {
        bundle_heads::mark_lost(store);
    }
    let now_ms = context.now.millis();
    jobs::insert_or_hasten(store, BUILD_BUNDLE, now_ms);
    store.wake_at(now_ms);
    Ok(())
}

/// Requests the alarm if the writes of this transaction have changed the bundle.
pub fn wake_if_marked(store: &mut Store<'_>) -> Result<(), Fault> {
    if jobs::is_marked(store, BUILD_BUNDLE)? {
        store.wake_at(0);
    }
    Ok(())
}

/// Builds the bundle if it is time to, and plans the next look.
pub fn run(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let Some(stored) = bundle_heads::find_project(store)? else {
        jobs::delete(store, slice.id);
        return Ok(());
    };
    let settings: Settings = serde_json::from_str(&stored.settings)
        .map_err(|error| Fault(format!("the settings of the bundle do not read: {error}")))?;
    let project = BundleProject { id: &stored.id, settings: &settings, time_zone: settings.time_zone.clone() };
    let now_ms = context.now.millis();
    let awaited: Option<AwaitedQuiet> = if slice.cursor.is_empty() { None } else { Some(slice.read()?) };
    let head = match head::look(store, context, &project)? {
        HeadState::Current(head) => head,
        HeadState::Changed { head, revision } => {
            if let Some((awaited, at_ms)) = next_look(&head, revision, awaited, now_ms) {
                let cursor = serde_json::to_string(&awaited).map_err(|error| Fault(error.to_string()))?;
                jobs::update_cursor(store, slice.id, &cursor, at_ms);
                return Ok(());
            }
            build(store, context, &project)?
        }
        HeadState::Outdated => build(store, context, &project)?,
    };
    let at_ms = head::next_build_ms(store, &head, now_ms)?;
    jobs::update_cursor(store, slice.id, "", at_ms);
    Ok(())
}

fn build(store: &mut Store<'_>, context: &Context, project: &BundleProject<'_>) -> Result<StoredHead, Fault> {
    store.has_built_bundle = true;
    head::build(store, context, project)
}

/// Returns what the job waits for and when it looks again; `None` if it is to build now. After a clock that was set back it builds.
fn next_look(
    head: &StoredHead,
    revision: String,
    awaited: Option<AwaitedQuiet>,
    now_ms: i64,
) -> Option<(AwaitedQuiet, i64)> {
    let since_ms = match &awaited {
        None if !(head.issued_ms..head.issued_ms.saturating_add(QUIET_MS)).contains(&now_ms) => return None,
        None => now_ms,
        Some(awaited) => awaited.since_ms,
    };
    let latest_ms = since_ms.saturating_add(LATEST_MS);
    let is_quiet = awaited.is_some_and(|awaited| awaited.revision == revision);
    if is_quiet || !(since_ms..latest_ms).contains(&now_ms) {
        return None;
    }
    Some((AwaitedQuiet { revision, since_ms }, now_ms.saturating_add(QUIET_MS).min(latest_ms)))
}
