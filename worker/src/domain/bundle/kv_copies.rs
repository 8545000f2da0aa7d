//! The copies of the bundle in KV, from which the entry answers without the project's object: which are still to be written or removed.
//!
//! Parts come first and the head last, so that a head in KV always names parts that are there. The state is stored: what a process that
//! ended has not recorded is written again.

use crate::access::bundle_head::{self, HeadCopy};
use crate::access::bundle_parts;
use crate::domain::bundle::head;
use crate::store::Store;
use crate::store::bundle_heads::{self as stored, StoredHead};
use crate::store::sql::Fault;
use serde::{Deserialize, Serialize};

/// Maximum number of parts that are written at once, of at most 512 kB each.
const PARTS_MAX: i64 = 4;
/// Maximum number of goods buckets and pages that are written at once.
const GOODS_MAX: i64 = 50;
/// Maximum number of parts that are removed at once.
const REMOVALS_MAX: i64 = 50;

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

/// Returns true if something is to be written or removed.
pub fn is_waiting(store: &Store<'_>) -> Result<bool, Fault> {
    let state = stored::find_copy_state(store)?;
    Ok(state.is_some_and(|state| !state.has_head || !state.has_parts || state.has_removed))
}

/// Records the report of the last step, at the flush.
pub fn record(store: &mut Store<'_>, report: &CopyReport) {
    if !report.parts.is_empty() {
        stored::mark_parts_copied(store, &report.parts);
    }
    if let Some(rev) = report.rev {
        stored::mark_head_copied(store, rev);
    }
    if !report.removed.is_empty() {
        stored::delete_removals(store, &report.removed);
    }
}

/// Returns the next step; `None` when KV is up to date.
pub fn next(store: &Store<'_>) -> Result<Option<CopyStep>, Fault> {
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
        let pair = KvPair { name: bundle_head::copy_name(&project.id), value: copy_of(&head)?.write()? };
        let report = CopyReport { rev: Some(head.rev), ..CopyReport::default() };
        return Ok(Some(CopyStep { pairs: vec![pair], head: Some(head.jws), report, ..CopyStep::default() }));
    }
    if !state.has_removed {
        return Ok(None);
    }
    // The head in KV is the last one, which names none of them.
    let removed = stored::list_removals(store, REMOVALS_MAX)?;
    let removals = removed.iter().map(|hash| name(hash)).collect();
    Ok(Some(CopyStep { removals, report: CopyReport { removed, ..CopyReport::default() }, ..CopyStep::default() }))
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
