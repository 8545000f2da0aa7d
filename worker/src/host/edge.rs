//! Answers validations and qualifications of clients from the copies of the bundle in KV, without the project's object.
//!
//! Rules are prepared once for each head, from the core, the part of the entry and the goods buckets that requests need. They decide in the
//! instance of the objects (`edge_engine.rs`). Where the objects are in its process, the entry answers by the present rules only: the shell
//! reports their revision after each commit, before the caller gets its answer. Elsewhere it answers by rules that the object has confirmed
//! within the seconds that the project allows.

use super::bindings::{Bindings, ObjectResponse, object_response};
use super::bundle::{self, KV_MS};
use super::edge_engine::PROJECTS_MAX;
use super::object_protocol::find_line;
use super::{bundle_goods, log, random};
use crate::access::bundle_parts;
use crate::access::edge_part::{self, EdgeKey};
use crate::access::idempotency::REPLAYED;
use crate::domain::bundle::build_job::BundleDemand;
use crate::domain::bundle::kv_copies::edge_rules::{EdgeClaims, part_hashes};
use crate::domain::bundle::kv_copies::known_revisions::{KnownRevisions, RulesInQuestion};
use crate::http::caller::Caller;
use crate::http::decision_headers::REVISION;
use crate::http::edge_policy::RulesBound;
use crate::timestamp;
use js_sys::{Array, Uint8Array, Uint32Array};
use scrip::Context;
use scrip::text::sha256_hex;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;

/// Time after which rules that could not be loaded are tried again, and after which another request takes over a load without an end.
const RETRY_MS: i64 = 1_000;
const LOAD_MS: i64 = 10_000;
/// Minimum time between two demands for the part of the entry.
const DEMAND_MS: i64 = 10_000;
/// Rounds of a request for goods: a SKU may name a product of a further bucket.
const ROUNDS: usize = 3;
/// Maximum number of goods buckets that one request has read.
const BUCKETS_MAX: usize = 16;
/// Time for which rules are kept in memory beside more projects than fit.
const KEPT_MS: i64 = 60_000;

#[wasm_bindgen]
extern "C" {
    /// Rules in the other instance (`worker/shell/edge_rules.mjs`). Each call returns undefined where it fails; the shell logs that.
    pub(super) type EdgeEngine;

    #[wasm_bindgen(method)]
    fn prepare(
        this: &EdgeEngine,
        request_id: &str,
        project: &str,
        number: u32,
        head: &str,
        part: &str,
        secret: &str,
        core: Uint8Array,
    ) -> JsValue;

    #[wasm_bindgen(method)]
    fn forget(this: &EdgeEngine, request_id: &str, project: &str);

    #[wasm_bindgen(method, js_name = addGoods)]
    fn add_goods(
        this: &EdgeEngine,
        request_id: &str,
        project: &str,
        number: u32,
        numbers: Uint32Array,
        buckets: Array,
    ) -> Option<bool>;

    #[wasm_bindgen(method)]
    fn decide(
        this: &EdgeEngine,
        request_id: &str,
        project: &str,
        number: u32,
        path: &str,
        body: &Uint8Array,
        now_ms: f64,
        seed: &str,
        origin: Option<&str>,
        has_entered: bool,
        is_last: bool,
    ) -> JsValue;
}

/// Rules that are prepared.
struct RulesState {
    /// Their number in the other instance. This one never gives it again, and begins with new rules where it is replaced.
    number: u32,
    /// Their revision.
    revision: String,
    /// Time at which the object signed the head, if their revision was the present one then.
    present_ms: Option<i64>,
    /// Root of their goods.
    root: Option<String>,
}

/// Decision by the rules.
enum RulesAnswer {
    Given(EdgeAnswer),
    /// The rules lack goods buckets with these numbers.
    Lacks(Vec<u32>),
}

/// Answer by the rules to a request that they know enough for.
pub(super) enum EdgeAnswer {
    Final(ObjectResponse),
    /// The request names codes: it is decided once the attempt limiter has let it pass.
    NamesCodes,
}

/// Rules of a project, for one head.
struct CachedRules {
    head: String,
    /// `None` while they are being loaded, and where they could not be.
    rules: Option<RulesState>,
    /// Time of the begin of the load, and of its failure.
    begun_ms: i64,
    failed_ms: Option<i64>,
    demanded_ms: i64,
}

thread_local! {
    static RULES: RefCell<BTreeMap<String, CachedRules>> = const { RefCell::new(BTreeMap::new()) };
    /// Number of the last rules.
    static LAST_NUMBER: Cell<u32> = const { Cell::new(0) };
    static REVISIONS: RefCell<KnownRevisions> = const { RefCell::new(KnownRevisions::new()) };
}

/// Takes the revision of a project's rules after a commit of its object. The shell reports it before the caller gets the answer.
#[wasm_bindgen(js_name = reportRulesRevision)]
pub fn report_rules_revision(project: String, revision: String) {
    REVISIONS.with_borrow_mut(|revisions| revisions.report(project, revision));
}

/// Takes note that reports were lost, with the instance that trapped.
#[wasm_bindgen(js_name = loseRulesRevisions)]
pub fn lose_rules_revisions() {
    REVISIONS.with_borrow_mut(KnownRevisions::lose_reports);
}

/// Takes the revision of a project's rules from an answer of its object, where the age of answers is bounded by it.
pub(super) fn confirm_revision(caller: &Caller, answer: &ObjectResponse, context: &Context, host: &EdgeHost<'_>) {
    let bindings: &Bindings = host.env.unchecked_ref();
    let bound = caller.settings.client_edge.bound(bindings.has_objects_here());
    // The stored answer of a repeated Idempotency-Key has the revision of its first time.
    if find_line(&answer.lines, REPLAYED).is_some() {
        return;
    }
    if let (Some(RulesBound::Within(_)), Some(revision)) = (bound, find_line(&answer.lines, REVISION)) {
        let now_ms = random::present_ms(context, host.begun_ms);
        // The object was asked after that.
        let asked_ms = context.now.millis();
        REVISIONS.with_borrow_mut(|revisions| revisions.confirm(&caller.project, revision, asked_ms, now_ms));
    }
}

/// Call that the entry may answer.
pub(super) struct EdgeCall<'c> {
    caller: &'c Caller,
    context: &'c Context,
    pub request_id: &'c str,
    secret: Rc<str>,
    bound: RulesBound,
    host: EdgeHost<'c>,
}

/// Request as it was sent, whose head was checked.
#[derive(Clone, Copy)]
pub(super) struct SentRequest<'r> {
    pub path: &'r str,
    pub body: &'r Uint8Array,
    /// True if the attempt limiter has let it pass, or has none to count.
    pub has_entered: bool,
    /// True if the object does not answer: rules without a reported revision count too, within the bound of the project.
    pub is_fallback: bool,
}

/// Interfaces of the runtime that a call uses.
#[derive(Clone, Copy)]
pub(super) struct EdgeHost<'c> {
    pub env: &'c Env,
    pub rules: &'c EdgeEngine,
    pub runtime: &'c worker::Context,
    /// The runtime's clock at the time of the context.
    pub begun_ms: i64,
}

impl<'c> EdgeCall<'c> {
    /// Returns the call if the Worker has a secret and the project allows it.
    pub fn of(
        caller: &'c Caller,
        context: &'c Context,
        request_id: &'c str,
        host: EdgeHost<'c>,
    ) -> Option<EdgeCall<'c>> {
        let bindings: &Bindings = host.env.unchecked_ref();
        let bound = caller.settings.client_edge.bound(bindings.has_objects_here())?;
        let secret = bindings.edge_secret()?;
        Some(EdgeCall { caller, context, request_id, secret, bound, host })
    }

    /// Returns the answer by the copies to a request whose head was checked; `None` where the object is to answer. `lines` writes the header
    /// lines of a demand.
    pub async fn answer(&self, request: SentRequest<'_>, lines: &dyn Fn() -> String) -> Option<EdgeAnswer> {
        let SentRequest { is_fallback, .. } = request;
        let now_ms = random::present_ms(self.context, self.host.begun_ms);
        let EdgeHost { env, runtime, .. } = self.host;
        let head = bundle::find_head(self.caller, self.request_id, lines, now_ms, env, runtime).await?;
        if !self.has_rules(&head) {
            self.load(&head, lines).await?;
        }
        self.check_revision(&head, is_fallback)?;
        let mut requested = 0_usize;
        for round in 0..=ROUNDS {
            let missing = match self.decide(&head, request, round == ROUNDS)? {
                RulesAnswer::Lacks(missing) => missing,
                RulesAnswer::Given(answer) => {
                    // The rules may have changed while a bucket was read.
                    self.check_revision(&head, is_fallback)?;
                    return Some(answer);
                }
            };
            // The object finds many goods faster than KV. The count is in memory.
            requested = requested.saturating_add(missing.len());
            if requested > BUCKETS_MAX {
                return None;
            }
            self.add_goods(&head, &missing).await?;
        }
        None
    }

    /// Decides by the rules; `None` where the object is to answer. Rules that are lost are loaded again by the next request.
    fn decide(&self, head: &str, request: SentRequest<'_>, is_last: bool) -> Option<RulesAnswer> {
        let number = self.with_rules(head, |rules| rules.number)?;
        let (project, seed) = (&self.caller.project, random::write_seed(&self.context.seed));
        let now_ms = self.context.now.millis() as f64;
        let origin = self.caller.origin.as_deref();
        let SentRequest { path, body, has_entered, .. } = request;
        let rules = self.host.rules;
        let decided =
            rules.decide(self.request_id, project, number, path, body, now_ms, &seed, origin, has_entered, is_last);
        if decided.is_undefined() {
            RULES.with_borrow_mut(|all| all.remove(project));
        }
        if let Some(answer) = decided.dyn_ref::<Array>() {
            return Some(RulesAnswer::Given(EdgeAnswer::Final(object_response(answer))));
        }
        if let Some(numbers) = decided.dyn_ref::<Uint32Array>() {
            return Some(RulesAnswer::Lacks(numbers.to_vec()));
        }
        (decided.as_bool() == Some(true)).then_some(RulesAnswer::Given(EdgeAnswer::NamesCodes))
    }

    /// Adds goods buckets to the rules; `None` if one cannot be read.
    async fn add_goods(&self, head: &str, numbers: &[u32]) -> Option<()> {
        let (number, root) = self.with_rules(head, |rules| (rules.number, rules.root.clone()))?;
        let root = root?;
        let buckets = Array::new();
        for number in numbers {
            let bytes = bundle_goods::find_bytes(self.bindings(), &self.caller.project, &root, *number).await?;
            buckets.push(&Uint8Array::from(bytes.as_slice()));
        }
        let (project, numbers) = (&self.caller.project, Uint32Array::from(numbers));
        let is_added = self.host.rules.add_goods(self.request_id, project, number, numbers, buckets);
        (is_added == Some(true)).then_some(())
    }

    /// Returns `None` if the entry may not answer by the rules now: they are not known to be the present ones, or are too old.
    fn check_revision(&self, head: &str, is_fallback: bool) -> Option<()> {
        let now_ms = random::present_ms(self.context, self.host.begun_ms);
        let is_allowed = self.with_rules(head, |rules| {
            let RulesState { revision, present_ms, .. } = rules;
            let project = &self.caller.project;
            let question = RulesInQuestion { project, revision, present_ms: *present_ms, is_fallback };
            REVISIONS.with_borrow_mut(|revisions| revisions.allow(question, self.bound, now_ms))
        })?;
        is_allowed.then_some(())
    }

    fn has_rules(&self, head: &str) -> bool {
        self.with_rules(head, |_| ()).is_some()
    }

    /// Acts on the rules of a head, if they are prepared.
    fn with_rules<T>(&self, head: &str, act: impl FnOnce(&RulesState) -> T) -> Option<T> {
        RULES.with_borrow(|all| {
            let cached = all.get(&self.caller.project).filter(|cached| cached.head == head)?;
            cached.rules.as_ref().map(act)
        })
    }

    /// Loads the rules of a head; `None` if they cannot be loaded, or another request loads them.
    async fn load(&self, head: &str, lines: &dyn Fn() -> String) -> Option<()> {
        let now_ms = self.context.now.millis();
        let was_missing = self.begin_load(head, now_ms)?;
        let loaded = self.read_rules(head).await;
        let is_loaded = loaded.is_some();
        RULES.with_borrow_mut(|all| {
            let cached = all.get_mut(&self.caller.project).filter(|cached| cached.head == head)?;
            cached.rules = loaded;
            cached.failed_ms = (!is_loaded).then_some(now_ms);
            Some(())
        })?;
        // A part that KV gets with its head may come a moment later.
        if !is_loaded && was_missing && self.take_demand(now_ms) {
            let demand = BundleDemand { lacks_edge_part: true, ..BundleDemand::default() };
            bundle::demand(&self.caller.project, demand, lines(), self.host.env, self.host.runtime);
        }
        is_loaded.then_some(())
    }

    /// Marks a load as begun; `None` if it is to wait. Returns true if an earlier load of this head has failed.
    fn begin_load(&self, head: &str, now_ms: i64) -> Option<bool> {
        RULES.with_borrow_mut(|all| {
            if all.len() >= PROJECTS_MAX && !all.contains_key(&self.caller.project) {
                let is_old = |cached: &CachedRules| {
                    let is_loading = cached.rules.is_none() && cached.failed_ms.is_none();
                    !is_loading && !(0..KEPT_MS).contains(&timestamp::elapsed(cached.begun_ms, now_ms))
                };
                let old = all.iter().filter(|(_, cached)| is_old(cached)).min_by_key(|(_, cached)| cached.begun_ms);
                let old = old.map(|(project, _)| project.clone())?;
                all.remove(&old);
                self.host.rules.forget(self.request_id, &old);
            }
            let never = CachedRules {
                head: String::new(),
                rules: None,
                begun_ms: i64::MIN,
                failed_ms: None,
                demanded_ms: i64::MIN,
            };
            let cached = all.entry(self.caller.project.clone()).or_insert(never);
            let is_same = cached.head == head;
            let (since_ms, wait_ms) = match cached.failed_ms {
                Some(failed_ms) => (failed_ms, RETRY_MS),
                None => (cached.begun_ms, LOAD_MS),
            };
            // A clock that was set back waits for nothing.
            if is_same && (0..wait_ms).contains(&timestamp::elapsed(since_ms, now_ms)) {
                return None;
            }
            let was_missing = is_same && cached.failed_ms.is_some();
            let demanded_ms = cached.demanded_ms;
            *cached =
                CachedRules { head: head.to_owned(), rules: None, begun_ms: now_ms, failed_ms: None, demanded_ms };
            Some(was_missing)
        })
    }

    fn take_demand(&self, now_ms: i64) -> bool {
        RULES.with_borrow_mut(|all| {
            let Some(cached) = all.get_mut(&self.caller.project) else { return false };
            let is_recent = (0..DEMAND_MS).contains(&timestamp::elapsed(cached.demanded_ms, now_ms));
            if !is_recent {
                cached.demanded_ms = now_ms;
            }
            !is_recent
        })
    }

    /// Reads the part of the entry and the core of a head, and prepares the rules.
    async fn read_rules(&self, head: &str) -> Option<RulesState> {
        let claims = EdgeClaims::read(head)?;
        let project = &self.caller.project;
        let part = self.bindings().kv_text(&edge_part::copy_name(project), KV_MS).await.ok()??;
        // A part of another head is not worth a read of the core.
        EdgeKey::derive(&self.secret, project)?.open(&part).filter(|part| part.head == head)?;
        let core = self.read_core(&claims.core).await?;
        let core = Uint8Array::from(core.as_slice());
        // Four thousand millions of loads are more than a process has.
        let number = LAST_NUMBER.get().wrapping_add(1);
        LAST_NUMBER.set(number);
        let prepared = self.host.rules.prepare(self.request_id, project, number, head, &part, &self.secret, core);
        let Some(prepared) = prepared.dyn_ref::<Array>() else {
            log::write("warning", "edge_rules_not_read", self.request_id, project);
            return None;
        };
        Some(RulesState {
            number,
            revision: prepared.get(0).as_string()?,
            present_ms: prepared.get(1).as_f64().map(|at_ms| at_ms as i64),
            root: prepared.get(2).as_string(),
        })
    }

    async fn read_core(&self, hash: &str) -> Option<Vec<u8>> {
        let first = self.read_named(hash).await?;
        let Some(hashes) = part_hashes(&first) else { return Some(first) };
        let mut core = Vec::new();
        for hash in hashes {
            core.append(&mut self.read_named(&hash).await?);
        }
        Some(core)
    }

    /// Reads the bytes of a hash from KV.
    async fn read_named(&self, hash: &str) -> Option<Vec<u8>> {
        let name = bundle_parts::copy_name(&self.caller.project, hash);
        let bytes = self.bindings().kv_bytes(&name, KV_MS).await.ok()??.to_vec();
        (sha256_hex(&bytes) == hash).then_some(bytes)
    }

    fn bindings(&self) -> &Bindings {
        self.host.env.unchecked_ref()
    }
}
