//! The head of a bundle: signed claims that name the core and bind it to a project, to a revision and to a time. It is stored, and
//! built again by the job (`build_job.rs`) when it is out of date. Times saturate, at the end of time.

use crate::domain::bundle::content::BundleContent;
#[cfg(feature = "test-hooks")]
use crate::domain::bundle::content::ContentBuild;
use crate::domain::bundle::core::Core;
#[cfg(feature = "test-hooks")]
use crate::domain::bundle::core::SliceBudget;
use crate::domain::bundle::core_summary::CoreSummary;
use crate::domain::bundle::goods_build::GoodsRoot;
use crate::domain::bundle::parts::CoreParts;
use crate::domain::bundle::project::{BundleProject, FORMAT, hash_settings};
use crate::domain::bundle::signing_keys;
use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::bundle_heads::{self as stored, BundleOffers, BundleState, StoredHead};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;
use scrip::bundle::{DECIDES, WRITES};
use serde::Serialize;
use std::collections::BTreeSet;

/// Type of a head, in its header.
const TYPE: &str = "scrip-bundle+jwt";
/// Lifetime of a head in seconds.
const LIFE_SECONDS: i64 = 24 * 60 * 60;
/// Maximum age of a head that is answered, so that a client can use it for as long again.
const SIGNED_ANEW_MS: i64 = 12 * 60 * 60 * 1_000;
/// Time for which the bytes that a head named are retained after that head.
const UNNAMED_RETAINED_MS: i64 = 48 * 60 * 60 * 1_000;
/// Maximum number of these, so that constant changes do not fill the project's database.
const UNNAMED_MAX: i64 = 200;
/// Maximum number of goods buckets and pages of these.
const UNNAMED_GOODS_MAX: i64 = 10_000;
/// Time for which they are retained beyond that number: a client reads the core soon after its head.
const UNNAMED_LEAST_MS: i64 = 60_000;

/// Rows of goods that a call of a test builds at once; more are built by the job, and the head is without goods meanwhile.
#[cfg(feature = "test-hooks")]
const GOODS_ROWS: u64 = 1_500;

/// Claims of a head, in their order.
#[derive(Serialize)]
struct HeadClaims<'h> {
    iss: &'h str,
    fmt: u32,
    decides: u32,
    writes: u32,
    epoch: i64,
    rev: i64,
    core: &'h str,
    #[serde(skip_serializing_if = "Option::is_none")]
    goods: Option<GoodsRoot>,
    from: i64,
    to: i64,
    iat: i64,
    exp: i64,
    left_out: &'h BTreeSet<&'static str>,
}

/// State of the stored head.
#[derive(Debug)]
pub enum HeadState {
    /// It contains the present documents and settings, and its times include now.
    Current(StoredHead),
    /// Only documents have changed since; they have this revision.
    Changed {
        /// The stored head.
        head: StoredHead,
        /// Present revision of the documents.
        revision: String,
    },
    /// There is none, or one with other settings or times or of another key.
    Outdated {
        /// Present revision of the documents.
        revision: String,
    },
}

/// Returns the stored head if clients accept it at a time; it may be out of date.
pub fn find_valid(store: &Store<'_>, now_ms: i64) -> Result<Option<StoredHead>, Fault> {
    let BundleState { epoch, head, .. } = stored::find_state(store)?;
    Ok(head.filter(|head| head.epoch == epoch && now_ms < end_ms(head)))
}

/// Returns the head of the project's bundle: the stored one while it is current, else a new one, which is stored with its core.
#[cfg(feature = "test-hooks")]
pub fn load_or_build(
    store: &mut Store<'_>,
    context: &Context,
    project: &BundleProject<'_>,
) -> Result<StoredHead, Fault> {
    match check_current(store, context, project)? {
        HeadState::Current(head) => Ok(head),
        HeadState::Changed { .. } | HeadState::Outdated { .. } => {
            let budget = SliceBudget { rows: u64::MAX, goods_rows: GOODS_ROWS, is_urgent: true };
            let content = ContentBuild::refresh(store, project, context.now, budget)?;
            let content = content.finish(store, project)?;
            build(store, context, project, content.ok_or_else(|| Fault::new("a core is not complete"))?)
        }
    }
}

/// Checks if the stored head is current.
pub fn check_current(store: &Store<'_>, context: &Context, project: &BundleProject<'_>) -> Result<HeadState, Fault> {
    let now_ms = context.now.millis();
    let BundleState { revision, epoch, head } = stored::find_state(store)?;
    let is_valid = |head: &StoredHead| {
        // A clock that was set back is before the horizon.
        (head.epoch, &*head.settings) == (epoch, &*hash_settings(project))
            && (head.from_ms..head.to_ms).contains(&now_ms)
            && now_ms < timestamp::later(head.issued_ms, SIGNED_ANEW_MS)
    };
    let Some(head) = head.filter(is_valid) else { return Ok(HeadState::Outdated { revision }) };
    if signing_keys::find_signing_kid(store, now_ms)?.as_ref() != Some(&head.kid) {
        return Ok(HeadState::Outdated { revision });
    }
    Ok(if head.revision == revision { HeadState::Current(head) } else { HeadState::Changed { head, revision } })
}

/// Returns the time at which a head is to be built again without a change: the end of its horizon, or before it gets old.
pub fn latest_build_ms(head: &StoredHead) -> i64 {
    head.to_ms.min(timestamp::later(head.issued_ms, SIGNED_ANEW_MS))
}

/// Returns the time at which the job checks the head again: also when another key begins to sign.
pub fn next_build_ms(store: &Store<'_>, head: &StoredHead, now_ms: i64) -> Result<i64, Fault> {
    let latest_ms = latest_build_ms(head);
    Ok(signing_keys::find_next_start_ms(store, now_ms)?.map_or(latest_ms, |start_ms| start_ms.min(latest_ms)))
}

/// Returns the time from which clients refuse a head.
pub fn end_ms(head: &StoredHead) -> i64 {
    // No head ends beyond the end of time.
    head.issued_ms.div_euclid(1_000).saturating_add(LIFE_SECONDS).saturating_mul(1_000)
}

/// Signs a head for a core and its goods, and stores the core. Where the bytes of the core are those of before, only the head is new.
/// Without goods, because their buckets are not up to date, `left_out` names them.
pub fn build(
    store: &mut Store<'_>,
    context: &Context,
    project: &BundleProject<'_>,
    content: BundleContent,
) -> Result<StoredHead, Fault> {
    let (state, settings) = (stored::find_state(store)?, hash_settings(project));
    let now_ms = context.now.millis();
    let BundleContent { core, revision, goods } = content;
    let Core { parts: CoreParts { core, parts }, summary } = core;
    let CoreSummary { horizon, mut left_out, offers, conditions, boxed, .. } = summary;
    if goods.is_none() {
        left_out.insert("goods");
    }
    let last_rev = state.head.as_ref().map_or(0, |head| head.rev);
    let rev = last_rev.plus(1)?.max(now_ms);
    let iat = now_ms.div_euclid(1_000);
    let (from_ms, to_ms) = (horizon.from.millis(), horizon.to.millis());
    let claims = HeadClaims {
        iss: project.id,
        fmt: FORMAT,
        decides: DECIDES,
        writes: WRITES,
        epoch: state.epoch,
        rev,
        core: &core,
        goods,
        from: from_ms,
        to: to_ms,
        iat,
        exp: timestamp::later(iat, LIFE_SECONDS),
        left_out: &left_out,
    };
    signing_keys::delete_former_private_halves(store, now_ms)?;
    let jws = signing_keys::sign(store, context, TYPE, &claims)?;
    let kid = signing_keys::find_signing_kid(store, now_ms)?.ok_or_else(|| Fault::new("no key signs the bundle"))?;
    let epoch = state.epoch;
    let head = StoredHead { jws, kid, epoch, rev, core, issued_ms: now_ms, from_ms, to_ms, revision, settings };
    stored::insert_parts(store, &parts, now_ms)?;
    let before = |millis| timestamp::earlier(now_ms, millis);
    stored::delete_unnamed(
        store,
        before(UNNAMED_RETAINED_MS),
        [UNNAMED_MAX, UNNAMED_GOODS_MAX],
        before(UNNAMED_LEAST_MS),
    );
    stored::update(store, &head);
    let codes: Vec<&str> = boxed.codes.iter().map(String::as_str).collect();
    stored::update_boxed_codes(store, &codes, boxed.has_too_many);
    stored::update_offers(store, &BundleOffers { core: head.core.clone(), offers, conditions });
    Ok(head)
}
