//! The copies of the bundle in KV, from which the entry answers without the project's object: which are still to be written or removed.
//!
//! Parts come first and the head last, so that a head in KV always names parts that are there. The state is stored: what a process that
//! ended has not recorded is written again.
//!
//! KV applies calls in the order in which they arrive. One that was given up may arrive after later ones, and put an older head in the
//! place of the newest. So a pass that ended without the acknowledgement of each call has the head written again, after growing waits. Times saturate, at
//! the end of time.

pub mod edge_rules;
pub mod known_revisions;

use crate::access::bundle_head::{HeadCopy, copy_name};
use crate::access::bundle_parts;
use crate::access::edge_part::{self, EdgeKey, EdgePart};
use crate::domain::bundle::head;
use crate::domain::bundle::kv_copies::edge_rules::EdgeClaims;
use crate::store::Store;
use crate::store::bundle_heads::{self as stored, CopyPass, StoredHead};
use crate::store::sql::Fault;
use serde::{Deserialize, Serialize};

/// Maximum number of parts that are written at once, of at most 512 kB each.
const PARTS_MAX: i64 = 4;
/// Maximum number of goods buckets and pages that are written at once.
const GOODS_MAX: i64 = 50;
/// Maximum number of parts that are removed at once.
const REMOVALS_MAX: i64 = 50;
/// First wait after which copies are written again because a call is uncertain; each further wait is twice as long.
const REPEAT_MS: i64 = 15_000;
/// Longest of these waits. A call that arrives later still is corrected by the next build.
const REPEAT_MAX_MS: i64 = 960_000;

/// A pair that is to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KvPair {
    /// Its name in KV.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Next writes and removals of the shell. Each step has one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CopyStep {
    /// Parts that are to be written.
    pub pairs: Vec<KvPair>,
    /// The head itself, which the shell also sends to the feed.
    pub head: Option<String>,
    /// Names that are to be removed.
    pub removals: Vec<String>,
    /// Value that the shell returns when it is done.
    pub report: CopyReport,
}

/// Report of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyReport {
    /// Hashes of written parts.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Revision of the written head.
    #[serde(default)]
    pub rev: Option<i64>,
    /// Hashes of removed parts.
    #[serde(default)]
    pub removed: Vec<String>,
}

impl CopyReport {
    /// Returns true for the report that begins a pass.
    fn is_first(&self) -> bool {
        *self == CopyReport::default()
    }
}

/// Returns the time of the next pass; `None` if nothing is to be written or removed.
pub fn find_next_time(store: &Store<'_>, now_ms: i64) -> Result<Option<i64>, Fault> {
    let CopyPass { is_open, repeat_ms, wait_ms } = stored::find_pass(store)?;
    let is_waiting = |state: stored::CopyState| !state.has_head || !state.has_parts || state.has_removed;
    if is_open || stored::find_copy_state(store)?.is_some_and(is_waiting) {
        return Ok(Some(now_ms));
    }
    // A time that is further ahead is of a clock that was set back.
    Ok(repeat_ms.map(|repeat_ms| repeat_ms.min(now_ms.saturating_add(wait_ms))))
}

/// Begins a pass, at the flush: after one that was not acknowledged, and when a repetition is due, the head is to be written again.
fn start_pass(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    let pass = stored::find_pass(store)?;
    if pass.is_open {
        // A time after the end of the type never comes.
        let repeat_ms = Some(now_ms.saturating_add(REPEAT_MS));
        stored::mark_uncertain(store);
        stored::update_pass(store, CopyPass { is_open: false, repeat_ms, wait_ms: REPEAT_MS });
    } else if let Some(repeat_ms) = pass.repeat_ms
        // Times since 1970 are positive.
        && !(repeat_ms.saturating_sub(pass.wait_ms)..repeat_ms).contains(&now_ms)
    {
        // It is bounded below.
        let wait_ms = pass.wait_ms.saturating_mul(2);
        // As above.
        let repeat_ms = (wait_ms <= REPEAT_MAX_MS).then(|| now_ms.saturating_add(wait_ms));
        stored::mark_uncertain(store);
        stored::update_pass(store, CopyPass { repeat_ms, wait_ms, ..pass });
    }
    Ok(())
}

/// Records the report of the last step, at the flush. One without content begins a pass.
pub fn record(store: &mut Store<'_>, report: &CopyReport, now_ms: i64) -> Result<(), Fault> {
    if report.is_first() {
        return start_pass(store, now_ms);
    }
    if !report.parts.is_empty() {
        stored::mark_parts_copied(store, &report.parts);
    }
    if let Some(rev) = report.rev {
        stored::mark_head_copied(store, rev);
    }
    if !report.removed.is_empty() {
        stored::settle_removals(store, &report.removed);
    }
    Ok(())
}

/// Returns the next step; `None` when KV is up to date. With a secret, KV also gets the part of the entry. It is stored before, at the flush, that its calls are under way.
pub fn next(store: &mut Store<'_>, edge_secret: Option<&str>) -> Result<Option<CopyStep>, Fault> {
    let step = find_step(store, edge_secret)?;
    let pass = stored::find_pass(store)?;
    if pass.is_open != step.is_some() {
        stored::update_pass(store, CopyPass { is_open: step.is_some(), ..pass });
    }
    if let Some(step) = step.as_ref().filter(|step| !step.report.removed.is_empty()) {
        stored::mark_removals_sent(store, &step.report.removed);
    }
    Ok(step)
}

fn find_step(store: &Store<'_>, edge_secret: Option<&str>) -> Result<Option<CopyStep>, Fault> {
    let (Some(state), Some(project)) = (stored::find_copy_state(store)?, stored::find_project(store)?) else {
        return Ok(None);
    };
    let name = |hash: &str| bundle_parts::copy_name(&project.id, hash);
    if !state.has_parts {
        let mut parts = stored::list_uncopied(store, true, GOODS_MAX)?;
        if parts.is_empty() {
            parts = stored::list_uncopied(store, false, PARTS_MAX)?;
        }
        let hashes = parts.iter().map(|part| part.hash.clone()).collect();
        let pairs = parts.into_iter().map(|part| KvPair { name: name(&part.hash), value: part.body });
        let report = CopyReport { parts: hashes, ..CopyReport::default() };
        return Ok(Some(CopyStep { pairs: pairs.collect(), report, ..CopyStep::default() }));
    }
    if !state.has_head {
        let head = stored::find_state(store)?.head.ok_or_else(|| Fault::new("the bundle has no head"))?;
        let mut pairs = vec![KvPair { name: copy_name(&project.id), value: copy_of(&head)?.write()? }];
        // One that KV gets later than the head, or an older one, is of another head and counts as absent.
        if let Some(key) = edge_secret.and_then(|secret| EdgeKey::derive(secret, &project.id)) {
            let part = edge_part(store, &head)?;
            pairs.push(KvPair { name: edge_part::copy_name(&project.id), value: key.seal(&part)? });
        }
        let report = CopyReport { rev: Some(head.rev), ..CopyReport::default() };
        return Ok(Some(CopyStep { pairs, head: Some(head.jws), report, ..CopyStep::default() }));
    }
    if !state.has_removed {
        return Ok(None);
    }
    // The head in KV is the last one, which names none of them.
    let removed = stored::list_removals(store, REMOVALS_MAX)?;
    let removals = removed.iter().map(|hash| name(hash)).collect();
    Ok(Some(CopyStep { removals, report: CopyReport { removed, ..CopyReport::default() }, ..CopyStep::default() }))
}

/// Returns the part of a head for the entry. Keys of codes without a box open nothing.
pub fn edge_part(store: &Store<'_>, head: &StoredHead) -> Result<EdgePart, Fault> {
    let claims = EdgeClaims::read(&head.jws);
    let root = claims.as_ref().and_then(|claims| claims.goods.as_ref()).map(|goods| goods.root.as_str());
    let keys = stored::list_box_keys(store)?;
    let keys = keys.into_iter().filter_map(|(code, key)| key.map(|key| (code, key)));
    let revision = stored::rules_revision(&head.revision, root);
    let is_present = revision == stored::find_rules_revision(store)?;
    Ok(EdgePart { head: head.jws.clone(), revision, is_present, keys: keys.collect() })
}

fn copy_of(head: &StoredHead) -> Result<HeadCopy, Fault> {
    Ok(HeadCopy {
        jws: head.jws.clone(),
        epoch: head.epoch,
        rev: head.rev,
        exp_ms: head::end_ms(head),
        due_ms: head::latest_build_ms(head),
        settings: head.settings.clone(),
    })
}
