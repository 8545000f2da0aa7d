//! Rules of the entry, and its decisions by them. They are in the instance of the objects, where nothing waits between two calls: a decision
//! that traps ends no request of the entry (`worker/shell/edge_rules.mjs`).

use super::{log, object_protocol, random};
use crate::access::edge_part::EdgeKey;
use crate::domain::bundle::kv_copies::edge_rules::{EdgeClaims, EdgeDecision, EdgeOperation, EdgeRequest, EdgeRules};
use crate::http::reply;
use crate::store::sql::Fault;
use js_sys::{Array, Uint8Array, Uint32Array};
use scrip::Context;
use scrip::time::Instant;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Maximum number of projects with prepared rules in memory; the objects answer for others until the oldest rules are a minute old.
pub(super) const PROJECTS_MAX: usize = 16;

/// Prepared rules of a project.
struct PreparedProject {
    project: String,
    /// Number that the entry gave these rules.
    number: u32,
    rules: EdgeRules,
}

thread_local! {
    /// Those that were prepared last are at the end.
    static PREPARED: RefCell<VecDeque<PreparedProject>> = const { RefCell::new(VecDeque::new()) };
}

/// Acts on the rules with a number, if they are here.
fn with_rules<T>(project: &str, number: u32, act: impl FnOnce(&mut EdgeRules) -> T) -> Option<T> {
    PREPARED.with_borrow_mut(|all| {
        let found = all.iter_mut().find(|one| one.number == number && one.project == project)?;
        Some(act(&mut found.rules))
    })
}

/// Prepares the rules of a project from the copies of a head: its part as in KV, and its core. The entry calls them by `number` from then on.
/// Returns their revision, the time at which it was the present one, or null, and the root of their goods, or null; undefined if they cannot
/// be read.
#[wasm_bindgen(js_name = prepareEdgeRules)]
pub fn prepare_edge_rules(
    project: String,
    number: u32,
    head: &str,
    part: &str,
    secret: &str,
    core: Vec<u8>,
) -> JsValue {
    log::record_panics();
    let prepare = || {
        let part = EdgeKey::derive(secret, &project)?.open(part).filter(|part| part.head == head)?;
        EdgeRules::prepare(&core, part, EdgeClaims::read(head)?)
    };
    let Some(rules) = prepare() else { return JsValue::UNDEFINED };
    let root = rules.goods.as_ref().map_or(JsValue::NULL, |goods| goods.root.as_str().into());
    let present_ms = rules.present_ms.map_or(JsValue::NULL, |at_ms| JsValue::from_f64(at_ms as f64));
    let answer = Array::of3(&rules.revision.as_str().into(), &present_ms, &root);
    PREPARED.with_borrow_mut(|all| {
        all.retain(|one| one.project != project);
        if all.len() >= PROJECTS_MAX {
            all.pop_front();
        }
        all.push_back(PreparedProject { project, number, rules });
    });
    answer.into()
}

/// Forgets the rules of a project.
#[wasm_bindgen(js_name = forgetEdgeRules)]
pub fn forget_edge_rules(project: &str) {
    PREPARED.with_borrow_mut(|all| all.retain(|one| one.project != project));
}

/// Adds goods buckets to rules; returns false if one cannot be read, or the rules are not here.
#[wasm_bindgen(js_name = addEdgeGoods)]
pub fn add_edge_goods(project: &str, number: u32, numbers: &[u32], buckets: Vec<Uint8Array>) -> bool {
    log::record_panics();
    let buckets = buckets.iter().map(Uint8Array::to_vec);
    let buckets: BTreeMap<u32, Vec<u8>> = numbers.iter().copied().zip(buckets).collect();
    with_rules(project, number, |rules| rules.add_buckets(&buckets)).flatten().is_some()
}

/// Decides about a request, whose head the entry has checked, by rules. Returns `[status, header lines, bytes]`, or the numbers of the goods
/// buckets that they lack, unless it `is_last`. Returns true, undecided, for a request that names codes, unless it `has_entered`: then the
/// attempt limiter has let it pass. Returns null where the object is to answer, and undefined if the rules are not here.
#[wasm_bindgen(js_name = decideAtEdge)]
#[allow(clippy::too_many_arguments, reason = "one call of JavaScript for a decision, of plain values")]
pub fn decide_at_edge(
    project: &str,
    number: u32,
    path: &str,
    body: Vec<u8>,
    now_ms: f64,
    seed: &str,
    origin: Option<String>,
    has_entered: bool,
    is_last: bool,
) -> Result<JsValue, wasm_bindgen::JsError> {
    log::record_panics();
    let context = context_of(now_ms, seed).map_err(|fault| wasm_bindgen::JsError::new(&fault.0))?;
    let Some(request) = EdgeOperation::of_path(path).and_then(|operation| EdgeRequest::read(operation, &body)) else {
        return Ok(JsValue::NULL);
    };
    if request.names_codes && !has_entered {
        return Ok(JsValue::TRUE);
    }
    let decided = with_rules(project, number, |rules| match rules.decide(&request, &context) {
        EdgeDecision::Lacks(missing) if !is_last => Uint32Array::from(missing.as_slice()).into(),
        EdgeDecision::Answered(mut reply) => {
            rules.forget_surplus();
            if let Some(origin) = &origin {
                reply::allow_origin(&mut reply, origin);
            }
            object_protocol::write_reply(&reply).into()
        }
        EdgeDecision::Lacks(_) | EdgeDecision::Object => {
            rules.forget_surplus();
            JsValue::NULL
        }
    });
    Ok(decided.unwrap_or(JsValue::UNDEFINED))
}

fn context_of(now_ms: f64, seed: &str) -> Result<Context, Fault> {
    let now = Instant::from_millis(now_ms as i64).ok_or_else(|| Fault::new("the time is out of bounds"))?;
    Ok(Context { now, seed: random::read_seed(seed)?, first_number: None })
}
