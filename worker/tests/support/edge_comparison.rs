//! Compares answers of the service to clients with those that the entry would give by copies of the present rules.

use crate::box_keys;
use scrip::Context;
use scrip_worker::access::edge_part::EdgeKey;
use scrip_worker::commit;
use scrip_worker::domain::bundle::box_keys::DerivationReport;
use scrip_worker::domain::bundle::goods_tree::BucketSearch;
use scrip_worker::domain::bundle::head;
use scrip_worker::domain::bundle::kv_copies::edge_part;
use scrip_worker::domain::bundle::kv_copies::edge_rules::{
    EdgeClaims, EdgeDecision, EdgeOperation, EdgeRequest, EdgeRules, accepts_head, part_hashes,
};
use scrip_worker::domain::bundle::project::BundleProject;
use scrip_worker::http::caller::Caller;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::routes::TABLE;
use scrip_worker::service;
use scrip_worker::store::bundle_heads::find_rules_revision;
use scrip_worker::store::sql::Fault;
use scrip_worker::store::sqlite::Sqlite;
use scrip_worker::store::{Store, bundle_heads};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Rounds of a request for goods: a SKU may name a product of a further bucket.
const ROUNDS: usize = 3;

/// Rules with all goods buckets, which are in no store after the comparison.
type KnownRules = (EdgeRules, BTreeMap<u32, Vec<u8>>);

thread_local! {
    /// Derived keys by salt and code: the store that gets them is rolled back.
    static DERIVED: RefCell<BTreeMap<String, DerivationReport>> = RefCell::default();
    /// Rules of the last request, with what they follow from.
    static RULES: RefCell<Option<(String, KnownRules)>> = const { RefCell::new(None) };
    /// Number of answers that were compared in this thread; `None` if none are to be.
    static COMPARED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Has the answers of this thread compared from now on; returns how many were since the last call.
pub fn begin() -> usize {
    COMPARED.replace(Some(0)).unwrap_or(0)
}

/// Returns true if answers are to be compared.
pub fn is_on() -> bool {
    COMPARED.get().is_some()
}

/// Counts an answer, and returns it.
pub fn count(answer: Option<Reply>) -> Option<Reply> {
    COMPARED.set(COMPARED.get().map(|compared| compared + usize::from(answer.is_some())));
    answer
}

/// Returns the answer of the entry's rules, if it would give one. What this writes is undone.
pub fn answer_undone(sql: &Sqlite, context: &Context, caller: &Caller, request: &Request) -> Option<Reply> {
    let mut found = None;
    let undone = sql.transaction(|sql| {
        found = Some(answer(&mut Store::new(sql), context, caller, request));
        Err::<(), _>(Fault::new("a comparison"))
    });
    assert!(undone.is_err());
    sql.take_replanned();
    found.unwrap().unwrap()
}

fn answer(
    store: &mut Store<'_>,
    context: &Context,
    caller: &Caller,
    request: &Request,
) -> Result<Option<Reply>, Fault> {
    let Ok(matched) = TABLE.find(&request.method, &request.path) else { return Ok(None) };
    let Some(operation) = EdgeOperation::of(&matched, request, caller) else { return Ok(None) };
    if !accepts_head(&matched, request, !request.body.is_empty()) {
        return Ok(None);
    }
    let Some(edge_request) = EdgeRequest::read(operation, &request.body) else { return Ok(None) };
    let key = key_of(store, context, caller)?;
    let known = RULES.with_borrow_mut(|known| known.take_if(|(known, _)| *known == key));
    let (mut rules, buckets) = match known {
        Some((_, known)) => known,
        None => prepare(store, context, caller)?,
    };
    let mut decision = rules.decide(&edge_request, context);
    for _ in 0..ROUNDS {
        let EdgeDecision::Lacks(missing) = decision else { break };
        rules.add_buckets(&missing.into_iter().map(|number| (number, buckets[&number].clone())).collect()).unwrap();
        decision = rules.decide(&edge_request, context);
    }
    RULES.set(Some((key, (rules, buckets))));
    Ok(match decision {
        EdgeDecision::Answered(reply) => Some(reply),
        EdgeDecision::Lacks(_) | EdgeDecision::Object => None,
    })
}

/// Returns all that the rules follow from: documents, goods, settings, and the hour.
fn key_of(store: &Store<'_>, context: &Context, caller: &Caller) -> Result<String, Fault> {
    let goods = store.rows("SELECT id, key, body FROM document WHERE kind IN ('product', 'sku') ORDER BY seq", &[])?;
    let settings = serde_json::to_string(&caller.settings).unwrap();
    let hour = context.now.millis() / 3_600_000;
    let revision = find_rules_revision(store)?;
    let all = format!("{revision} {} {settings} {hour} {goods:?}", caller.project);
    Ok(scrip::text::sha256_hex(all.as_bytes()))
}

fn prepare(store: &mut Store<'_>, context: &Context, caller: &Caller) -> Result<KnownRules, Fault> {
    let time_zone = caller.settings.time_zone.clone();
    let project = BundleProject { id: &caller.project, settings: &caller.settings, time_zone };
    head::load_or_build(store, context, &project)?;
    commit::run_internal(store, context)?;
    let mut report = DerivationReport::default();
    while let Some(step) = service::derive_box_keys(store, context, &report)? {
        let name = format!("{} {}", step.salt, step.codes.join(" "));
        let known =
            DERIVED.with_borrow(|derived| derived.get(&name).map(|report| report.keys.iter().map(copy).collect()));
        report = DerivationReport { keys: known.unwrap_or_else(|| box_keys::carry_out(&step).keys) };
        let kept = DerivationReport { keys: report.keys.iter().map(copy).collect() };
        DERIVED.with_borrow_mut(|derived| derived.insert(name, kept));
    }
    let head = head::load_or_build(store, context, &project)?;
    commit::run_internal(store, context)?;
    let part = edge_part(store, &head)?;
    let key = EdgeKey::derive("a secret of the tests", &caller.project).unwrap();
    assert_eq!(key.open(&key.seal(&part)?).as_ref(), Some(&part));
    let claims = EdgeClaims::read(&head.jws).unwrap();
    let find = |hash: &str| bundle_heads::find_part(store, hash).map(|part| part.unwrap());
    let core = find(&claims.core)?;
    let core = match part_hashes(core.as_bytes()) {
        None => core,
        Some(parts) => parts.iter().map(|hash| find(hash)).collect::<Result<String, Fault>>()?,
    };
    let rules = EdgeRules::prepare(core.as_bytes(), part, claims).unwrap();
    let mut buckets = BTreeMap::new();
    if let Some(goods) = &rules.goods {
        for number in 0..goods.buckets {
            buckets.insert(number, find_bucket(store, &goods.root, number)?);
        }
    }
    Ok((rules, buckets))
}

fn copy(
    key: &scrip_worker::domain::bundle::box_keys::DerivedKey,
) -> scrip_worker::domain::bundle::box_keys::DerivedKey {
    scrip_worker::domain::bundle::box_keys::DerivedKey { code: key.code.clone(), key: key.key.clone() }
}

fn find_bucket(store: &Store<'_>, root: &str, number: u32) -> Result<Vec<u8>, Fault> {
    let mut search = BucketSearch::new(root, number);
    loop {
        let part = bundle_heads::find_part(store, search.hash())?.unwrap().into_bytes();
        if search.is_bucket(&part).unwrap() {
            return Ok(part);
        }
    }
}

/// Fails unless both answers are the same.
pub fn check_same(request: &Request, edge: &Reply, object: &Reply) {
    let of = |reply: &Reply, name: &str| {
        reply.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let text = |reply: &Reply| String::from_utf8_lossy(&reply.body).into_owned();
    let body = String::from_utf8_lossy(&request.body);
    assert_eq!((edge.status, text(edge)), (object.status, text(object)), "{} {body}", request.path);
    for name in ["scrip-context", "x-request-id", "content-type"] {
        assert_eq!(of(edge, name), of(object, name), "{name} of {} {body}", request.path);
    }
    let wrong = of(object, scrip_worker::access::failed_attempts::WRONG_CODES);
    assert_eq!(wrong, None, "a failed attempt that only the object counts: {} {body}", request.path);
    let answered = [edge, object].map(|reply| of(reply, "scrip-answered"));
    assert_eq!(answered, ["edge", "object"].map(|name| Some(name.to_owned())));
}
