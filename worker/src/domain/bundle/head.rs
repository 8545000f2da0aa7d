//! The head of a bundle: signed claims that name the core and bind it to a project, to a revision and to a time. It is stored, and
//! made anew when it is out of date.

use crate::domain::bundle::core::{BundleProject, Core};
use crate::domain::bundle::parts::CoreParts;
use crate::domain::bundle::signing_keys;
use crate::store::Store;
use crate::store::bundle_heads::{self as stored, BundleState, StoredHead};
use crate::store::bundle_offers::{self, BundleOffers};
use crate::store::sql::Fault;
use scrip::Context;
use scrip::bundle::{DECIDES, WRITES};
use scrip::text::sha256_hex;
use serde::Serialize;
use serde_json::json;

/// Type of a head, in its header.
const TYPE: &str = "scrip-bundle+jwt";
/// Format of the bundle.
const FORMAT: u32 = 2;
/// Lifetime of a head in seconds.
const LIFE_SECONDS: i64 = 24 * 60 * 60;
/// Maximum age of a head that is answered, so that a client can use it for as long again.
const SIGNED_ANEW_MS: i64 = 12 * 60 * 60 * 1_000;
/// Time for which the bytes that a head named are kept after that head.
const UNNAMED_KEPT_MS: i64 = 48 * 60 * 60 * 1_000;
/// Maximum number of these, so that constant changes do not fill the project's database.
const UNNAMED_MAX: i64 = 200;
/// Time for which they are kept beyond that number: a client reads the core soon after its head.
const UNNAMED_LEAST_MS: i64 = 60_000;

/// Claims of a head, in their order.
#[derive(Serialize)]
struct Claims<'h> {
    iss: &'h str,
    fmt: u32,
    decides: u32,
    writes: u32,
    epoch: i64,
    rev: i64,
    core: &'h str,
    from: i64,
    to: i64,
    iat: i64,
    exp: i64,
    left_out: &'h [&'static str],
}

/// Returns the head of the project's bundle: the stored one while it is current, else a new one, which is stored with its core.
pub fn current(store: &mut Store<'_>, context: &Context, project: &BundleProject<'_>) -> Result<StoredHead, Fault> {
    let now_ms = context.now.millis();
    let (state, settings) = (stored::find_state(store)?, hash_settings(project));
    if let Some(head) = state.head.as_ref().filter(|head| is_current(head, &state, &settings, now_ms))
        && signing_keys::signing_kid(store, now_ms)?.as_ref() == Some(&head.kid)
    {
        return Ok(head.clone());
    }
    make(store, context, project, state, settings)
}

/// Returns true if a head shows the present documents and settings, and its times include this moment.
fn is_current(head: &StoredHead, state: &BundleState, settings: &str, now_ms: i64) -> bool {
    let is_same = (&*head.revision, &*head.settings, head.epoch) == (&*state.revision, settings, state.epoch);
    // A clock that was set back is before the horizon.
    is_same && (head.from_ms..head.to_ms).contains(&now_ms) && now_ms < head.issued_ms.saturating_add(SIGNED_ANEW_MS)
}

/// Builds the core and signs a head for it. Where the bytes of the core are those of before, only the head is new.
fn make(
    store: &mut Store<'_>,
    context: &Context,
    project: &BundleProject<'_>,
    state: BundleState,
    settings: String,
) -> Result<StoredHead, Fault> {
    let now_ms = context.now.millis();
    let Core { text, horizon, left_out, offers, conditions } = Core::build(store, project, context.now)?;
    let CoreParts { core, parts } = CoreParts::cut(text);
    let last_rev = state.head.as_ref().map_or(0, |head| head.rev);
    let rev = last_rev.saturating_add(1).max(now_ms);
    let iat = now_ms.div_euclid(1_000);
    let (from_ms, to_ms) = (horizon.from.millis(), horizon.to.millis());
    let claims = Claims {
        iss: project.id,
        fmt: FORMAT,
        decides: DECIDES,
        writes: WRITES,
        epoch: state.epoch,
        rev,
        core: &core,
        from: from_ms,
        to: to_ms,
        iat,
        exp: iat.saturating_add(LIFE_SECONDS),
        left_out: &left_out,
    };
    signing_keys::forget_former(store, now_ms)?;
    let jws = signing_keys::sign(store, context, TYPE, &claims)?;
    let kid = signing_keys::signing_kid(store, now_ms)?.ok_or_else(|| Fault::new("no key signs the bundle"))?;
    let (revision, epoch) = (state.revision, state.epoch);
    let head = StoredHead { jws, kid, epoch, rev, core, issued_ms: now_ms, from_ms, to_ms, revision, settings };
    stored::insert_parts(store, &parts, now_ms);
    let before = |millis| now_ms.saturating_sub(millis);
    stored::delete_unnamed(store, before(UNNAMED_KEPT_MS), UNNAMED_MAX, before(UNNAMED_LEAST_MS));
    stored::update(store, &head);
    bundle_offers::update(store, &BundleOffers { core: head.core.clone(), offers, conditions });
    Ok(head)
}

/// Returns the hash of all that a head depends on in addition to documents and time: another version of the service may write another core.
fn hash_settings(project: &BundleProject<'_>) -> String {
    let version = json!([env!("CARGO_PKG_VERSION"), FORMAT, DECIDES, WRITES]);
    let shown = json!([version, project.id, project.settings, project.time_zone]);
    sha256_hex(shown.to_string().as_bytes())
}
