//! Answers the bundle from its copies in KV, without the project's object.
//!
//! A head is read from KV once a second for each project; a part is named by its content and is cached. Where KV has no head, and where the
//! head contains other settings than the caller's or is overdue, the object is informed once in a while: it builds and copies the bundle.
//! Ages saturate: a clock that is set back makes no entry fresh.

use super::bindings::{Bindings, ObjectCall, ObjectResponse};
use super::{durable, log, object_protocol, random};
use crate::access::bundle_head::{self, HeadChoice, HeadCopy, JOSE, KvReading};
use crate::access::bundle_parts::{self, IMMUTABLE};
use crate::domain::bundle::build_job::{BundleDemand, DEMAND_PATH};
use crate::domain::bundle::project::{BundleProject, hash_settings};
use crate::http::caller::{Caller, Settings};
use crate::http::name_limits;
use crate::http::query::Query;
use crate::http::reply::{self, ErrorBody, error_reply, set_header};
use crate::http::request::{Reply, Request};
use crate::http::request_checks::{check_media, header};
use crate::http::route::Route;
use crate::http::table::MatchedRoute;
use crate::timestamp;
use js_sys::Uint8Array;
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::JsCast;
use worker::{Context, Env};

/// Paths of the head and of the parts.
const HEAD_PATH: &str = "/client/v1/bundle";
const PART_PATH: &str = "/client/v1/bundle/{projectId}/{hash}";
const GOODS_PATH: &str = "/client/v1/bundle/{projectId}/goods/{root}/{bucket}";
/// Header of a token of a customer, which only the project's object can check.
const CUSTOMER_TOKEN: &str = "x-customer-token";
/// Time for which a head is answered from memory: with it, a build and KV a change is visible within two seconds.
const MEMORY_MS: i64 = 1_000;
/// Time limit of KV.
pub(super) const KV_MS: u32 = 2_000;
/// Minimum time between two demands to one project's object.
const DEMAND_MS: i64 = 2_000;
/// Maximum number of heads in memory; above it the cache is cleared.
const HEADS_MAX: usize = 1_000;
/// Maximum number of parts in memory, of at most 512 kB each; above it the cache is cleared.
const PARTS_MAX: usize = 16;

/// Head in memory.
struct CachedHead {
    copy: Option<HeadCopy>,
    /// Time of the last reading of KV. While KV fails, memory answers and KV is read once a second.
    read_ms: i64,
    /// Time of the last demand to the project's object.
    demanded_ms: i64,
}

impl CachedHead {
    /// Returns true if KV was read recently.
    fn is_fresh(&self, now_ms: i64) -> bool {
        (0..MEMORY_MS).contains(&timestamp::elapsed(self.read_ms, now_ms))
    }
}

thread_local! {
    static HEADS: RefCell<BTreeMap<String, CachedHead>> = const { RefCell::new(BTreeMap::new()) };
    static PARTS: RefCell<BTreeMap<String, Uint8Array>> = const { RefCell::new(BTreeMap::new()) };
    /// The last settings of each project, with their hash.
    static SETTINGS: RefCell<BTreeMap<String, (Settings, String)>> = const { RefCell::new(BTreeMap::new()) };
}

/// Admitted call for a head.
pub(super) struct HeadCall<'c> {
    pub matched: &'c MatchedRoute,
    pub request: &'c Request,
    pub caller: &'c Caller,
    pub request_id: &'c str,
    /// Header lines of a demand to the project's object.
    pub lines: String,
}

/// Returns true if a request reads what KV has copies of. The runtime removes the body of a response to HEAD.
pub(super) fn is_about_copies(route: &Route, request: &Request) -> bool {
    let is_head = route.path == HEAD_PATH && header(request, CUSTOMER_TOKEN).is_none();
    let reads = matches!(request.method.as_str(), "GET" | "HEAD");
    reads && (is_head || route.path == PART_PATH || route.path == GOODS_PATH)
}

/// Answers a head.
pub(super) async fn answer_head(call: HeadCall<'_>, now_ms: i64, env: &Env, runtime: &Context) -> Reply {
    if let Err(refused) = check(&call) {
        return error_reply(&refused, call.request_id);
    }
    let HeadCall { caller, request, request_id, lines, .. } = call;
    let choice = choose_head(caller, request_id, &|| lines.clone(), now_ms, env, runtime).await;
    match choice.head {
        Some(head) => bundle_head::reply(&head.jws, request, request_id),
        None => error_reply(&bundle_head::not_ready(), request_id),
    }
}

/// Returns the head of a project with the present settings, if it is valid; `None` also if clients have requested none so far.
pub(super) async fn find_head(
    caller: &Caller,
    request_id: &str,
    lines: &dyn Fn() -> String,
    now_ms: i64,
    env: &Env,
    runtime: &Context,
) -> Option<String> {
    if is_known_missing(&caller.project, random::clock_ms()) {
        return None;
    }
    let head = choose_head(caller, request_id, lines, now_ms, env, runtime).await.head?;
    (head.settings == settings_of(caller)).then_some(head.jws)
}

/// Returns the hash of the settings of a caller's project. Equal settings are hashed once.
fn settings_of(caller: &Caller) -> String {
    let Caller { project, settings, .. } = caller;
    let is_same = |known: &&(Settings, String)| known.0 == *settings;
    let known = SETTINGS.with_borrow(|all| all.get(project).filter(is_same).map(|(_, hash)| hash.clone()));
    known.unwrap_or_else(|| {
        let time_zone = settings.time_zone.clone();
        let hash = hash_settings(&BundleProject { id: project, settings, time_zone });
        SETTINGS.with_borrow_mut(|all| {
            if all.len() >= HEADS_MAX && !all.contains_key(project) {
                all.clear();
            }
            all.insert(project.clone(), (settings.clone(), hash.clone()));
        });
        hash
    })
}

/// Chooses the head of a project, and informs its object where it has something to do.
async fn choose_head(
    caller: &Caller,
    request_id: &str,
    lines: &dyn Fn() -> String,
    now_ms: i64,
    env: &Env,
    runtime: &Context,
) -> HeadChoice {
    let settings = settings_of(caller);
    // The age in memory is by the real clock, also where a test sets the time of its request.
    let clock_ms = random::clock_ms();
    let choice = match find_cached_head(&caller.project, clock_ms) {
        Some(cached) => bundle_head::choose(None, KvReading::Found(cached), &settings, now_ms),
        None => {
            let read = read_copy(env.unchecked_ref(), &caller.project, request_id).await;
            // Read after KV has answered: another call may have read it meanwhile.
            let cached = HEADS.with_borrow(|heads| heads.get(&caller.project).and_then(|cached| cached.copy.clone()));
            let choice = bundle_head::choose(cached.as_ref(), read, &settings, now_ms);
            cache_head(&caller.project, choice.head.clone(), clock_ms);
            choice
        }
    };
    if let Some(is_missing) = choice.demand
        && take_demand(&caller.project, clock_ms)
    {
        demand(&caller.project, BundleDemand { is_missing, ..BundleDemand::default() }, lines(), env, runtime);
    }
    choice
}

/// Refuses what the object refuses of a request without a body.
fn check(call: &HeadCall<'_>) -> Result<(), ErrorBody> {
    check_media(call.request, call.matched.route.media_kind(), Some(JOSE))?;
    name_limits::check_names(call.request, call.matched, &Query::read(&call.request.query))
}

/// Reads the copy of a head; a failure is logged.
async fn read_copy(bindings: &Bindings, project: &str, request_id: &str) -> KvReading {
    match bindings.kv_text(&bundle_head::copy_name(project), KV_MS).await {
        Ok(text) => text.as_deref().and_then(HeadCopy::read).map_or(KvReading::Missing, KvReading::Found),
        Err(error) => {
            log::write("warning", "bundle_not_read", request_id, &durable::describe(&error));
            KvReading::Failed
        }
    }
}

/// Returns the head in memory if it was read recently.
fn find_cached_head(project: &str, now_ms: i64) -> Option<HeadCopy> {
    let is_fresh = |cached: &&CachedHead| cached.is_fresh(now_ms);
    HEADS.with_borrow(|heads| heads.get(project).filter(is_fresh).and_then(|cached| cached.copy.clone()))
}

/// Returns true if KV had no head recently.
fn is_known_missing(project: &str, now_ms: i64) -> bool {
    HEADS.with_borrow(|heads| heads.get(project).is_some_and(|cached| cached.is_fresh(now_ms) && cached.copy.is_none()))
}

/// Forgets the head of a project, so that the next request finds the one that a test has had built.
#[cfg(feature = "test-hooks")]
pub(super) fn forget_head(project: &str) {
    HEADS.with_borrow_mut(|heads| heads.remove(project));
}

fn cache_head(project: &str, copy: Option<HeadCopy>, read_ms: i64) {
    HEADS.with_borrow_mut(|heads| {
        if heads.len() >= HEADS_MAX && !heads.contains_key(project) {
            heads.clear();
        }
        let never = CachedHead { copy: None, read_ms: i64::MIN, demanded_ms: i64::MIN };
        let cached = heads.entry(project.to_owned()).or_insert(never);
        cached.copy = copy;
        cached.read_ms = read_ms;
    });
}

/// Returns true if the project's object is to be informed now, and records the time.
fn take_demand(project: &str, now_ms: i64) -> bool {
    HEADS.with_borrow_mut(|heads| {
        let Some(cached) = heads.get_mut(project) else { return true };
        let is_recent = (0..DEMAND_MS).contains(&timestamp::elapsed(cached.demanded_ms, now_ms));
        if !is_recent {
            cached.demanded_ms = now_ms;
        }
        !is_recent
    })
}

/// Has the bundle of a project with changed settings built, where clients request it. A page that listens to the feed requests no head.
pub(super) fn demand_after_change(caller: &Caller, lines: String, env: &Env, runtime: &Context) {
    demand(&caller.project, BundleDemand { is_of_change: true, ..BundleDemand::default() }, lines, env, runtime);
}

/// Informs the project's object of a demand. The answer does not wait for it.
pub(super) fn demand(project: &str, wanted: BundleDemand, lines: String, env: &Env, runtime: &Context) {
    let (env, object) = (env.clone(), format!("project:{project}"));
    runtime.wait_until(async move {
        let bindings: &Bindings = env.unchecked_ref();
        let body = serde_json::to_vec(&wanted).unwrap_or_default();
        let body = Uint8Array::from(body.as_slice());
        let call = ObjectCall { method: "PUT", target: DEMAND_PATH, lines: &lines, body: Some(&body) };
        let is_taken = bindings.call(&object, call).await.is_ok_and(|answer| answer.status == 204);
        if !is_taken {
            log::write("warning", "bundle_not_demanded", "", &object);
        }
    });
}

/// Returns the answer with the bytes of a hash; `None` where KV has none, so that the object answers: KV of another place may not have them
/// yet.
pub(super) async fn find_part(
    bindings: &Bindings,
    matched: &MatchedRoute,
    caller: &Caller,
    request_id: &str,
) -> Option<ObjectResponse> {
    let (_, hash) = bundle_parts::address_of(&matched.params).ok()?;
    let name = bundle_parts::copy_name(&caller.project, hash);
    let bytes = match PARTS.with_borrow(|parts| parts.get(&name).cloned()) {
        Some(bytes) => bytes,
        None => {
            let bytes = bindings.kv_bytes(&name, KV_MS).await.ok().flatten()?;
            PARTS.with_borrow_mut(|parts| {
                if parts.len() >= PARTS_MAX {
                    parts.clear();
                }
                parts.insert(name, bytes.clone());
            });
            bytes
        }
    };
    Some(immutable(bytes, caller, request_id))
}

/// Returns the response with bytes that caches may keep.
pub(super) fn immutable(bytes: Uint8Array, caller: &Caller, request_id: &str) -> ObjectResponse {
    let mut head = reply::bytes_reply(200, Vec::new());
    set_header(&mut head, "cache-control", IMMUTABLE);
    set_header(&mut head, "x-request-id", request_id);
    if let Some(origin) = &caller.origin {
        reply::allow_origin(&mut head, origin);
    }
    ObjectResponse { status: 200, lines: object_protocol::write_reply_lines(&head), bytes }
}

/// Returns true for the route of goods buckets.
pub(super) fn is_about_goods(route: &Route) -> bool {
    route.path == GOODS_PATH
}
