//! Runs one event of a Durable Object as one call of the service, and returns its result to the shell.
//! It must not await: everything between the first read and the shell's commit happens inside one call.

use super::durable::ObjectSql;
use super::{log, object_protocol, random};
use crate::access::{bundle_head, bundle_parts, edge_part};
use crate::http::reply;
use crate::http::request::Request;
use crate::http::request_checks::header;
use crate::jobs::queue::BUILD_BUNDLE;
use crate::store::Store;
use crate::store::bundle_heads;
use crate::store::bundle_work::BundleWork;
use crate::store::record_tables::next_number;
use crate::store::sql::Fault;
use crate::{directory, service};
use js_sys::Array;
use scrip::Context;
use std::cell::Cell;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

/// Serves one request of an object; the shell calls it inside `transactionSync`, so that an error undoes every write.
///
/// `setup` is the text of the `SCRIP_SETUP` binding for the directory, and absent for a project. `fresh` is true if this
/// object has not opened its store yet.
///
/// Returns `[status, header lines, bytes, due time of jobs, due time of deliveries, decisions, undo]`. The times and the
/// decisions may be null; decisions are lines of operation and reason. `undo` is true if all writes are to be undone.
#[wasm_bindgen(js_name = serveObject)]
pub fn serve_object(
    setup: Option<String>,
    fresh: bool,
    method: &str,
    target: &str,
    lines: &str,
    body: Vec<u8>,
    sql: &ObjectSql,
) -> Result<Array, JsError> {
    let request = object_protocol::read_request(method, target, lines, body);
    let serve = || {
        let context = context_of(&request)?;
        let mut store = open(sql, fresh, &context)?;
        let reply = match &setup {
            Some(setup) => directory::serve_directory(&request, &mut store, &context, setup),
            None => service::serve(&request, &mut store, &context),
        }?;
        log_warnings(&store, &context.request_id());
        let answer = object_protocol::write_reply(&reply);
        let alarms = if store.is_undone() { [JsValue::NULL, JsValue::NULL] } else { alarms_of(&store) };
        #[cfg(feature = "test-hooks")]
        let alarms = super::test_hooks::alarms_of(&request, alarms);
        alarms.iter().for_each(|at_ms| _ = answer.push(at_ms));
        answer.push(&decided_of(&store));
        answer.push(&JsValue::from_bool(store.is_undone()));
        Ok(answer)
    };
    serve().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Runs one slice of due jobs, of `rows` rows at most, inside `transactionSync` too. Returns the next due times of jobs and
/// of deliveries, or null, and the work of the slice on the bundle: 0 for none, 1 for a part, 2 for the last part.
#[wasm_bindgen(js_name = runAlarm)]
pub fn run_alarm(fresh: bool, rows: u32, sql: &ObjectSql) -> Result<Array, JsError> {
    let run = || {
        let context = work_context()?;
        let mut store = open(sql, fresh, &context)?;
        #[cfg(feature = "test-hooks")]
        if crate::store::test_hooks::has_own_clock(&store)? {
            return Ok(Array::of3(&JsValue::NULL, &JsValue::NULL, &JsValue::from(0_u32)));
        }
        service::alarm(&mut store, &context, rows.into())?;
        log_warnings(&store, "alarm");
        let [work, deliveries] = alarms_of(&store);
        let bundle_work = match store.bundle_work {
            BundleWork::None => 0_u32,
            BundleWork::Continued => 1,
            BundleWork::Built => 2,
        };
        Ok(Array::of3(&work, &deliveries, &JsValue::from(bundle_work)))
    };
    run().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Makes jobs due that a clock which was set back has postponed, in a separate transaction: the failure of a slice is recorded for
/// the job that is next. Returns the due time of deliveries or null.
#[wasm_bindgen(js_name = catchUp)]
pub fn catch_up(fresh: bool, sql: &ObjectSql) -> Result<JsValue, JsError> {
    let run = || {
        let context = work_context()?;
        let mut store = open(sql, fresh, &context)?;
        service::catch_up(&mut store, &context)?;
        let [_, deliveries] = alarms_of(&store);
        Ok(deliveries)
    };
    run().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Settles the results of webhook deliveries, and returns the next deliveries, inside a transaction too. Both are the JSON of
/// `outbox::DispatchReport` and `outbox::DispatchBatch`; the latter is followed by the due time of jobs, or null.
#[wasm_bindgen(js_name = runDeliveries)]
pub fn run_deliveries(fresh: bool, report: &str, sql: &ObjectSql) -> Result<Array, JsError> {
    let run = || {
        let context = work_context()?;
        let mut store = open(sql, fresh, &context)?;
        #[cfg(feature = "test-hooks")]
        if crate::store::test_hooks::has_own_clock(&store)? {
            let none = JsValue::from_str(r#"{"deliveries":[],"next":null,"full":false}"#);
            return Ok(Array::of2(&none, &JsValue::NULL));
        }
        let report = serde_json::from_str(report).map_err(|error| Fault::new(error.to_string()))?;
        let round = service::deliveries(&mut store, &context, &report)?;
        log_warnings(&store, "deliveries");
        let round = serde_json::to_string(&round).map_err(|error| Fault::new(error.to_string()))?;
        let [work, _] = alarms_of(&store);
        Ok(Array::of2(&JsValue::from_str(&round), &work))
    };
    run().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Records what the last step of copying the bundle to KV has done, and returns the next one, inside a transaction too. Both are JSON:
/// of `kv_copies::CopyReport`, and of `kv_copies::CopyStep` or null. The step is followed by the due time of the next pass, or null.
/// `edge_secret` encrypts the part of the entry; without it there is none.
#[wasm_bindgen(js_name = copyBundle)]
pub fn copy_bundle(fresh: bool, report: &str, sql: &ObjectSql, edge_secret: Option<String>) -> Result<Array, JsError> {
    let run = || {
        let context = work_context()?;
        let mut store = open(sql, fresh, &context)?;
        let report = serde_json::from_str(report).map_err(|error| Fault::new(error.to_string()))?;
        let step = service::copy_bundle(&mut store, &context, &report, edge_secret.as_deref())?;
        let step = serde_json::to_string(&step).map_err(|error| Fault::new(error.to_string()))?;
        let [work, _] = alarms_of(&store);
        Ok(Array::of2(&JsValue::from_str(&step), &work))
    };
    run().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Stores the keys of sealed boxes that the shell has derived, and returns the next step, inside a transaction too. Both are JSON: of
/// `box_keys::DerivationReport`, and of `box_keys::DerivationStep` or null. The step is followed by the due time of jobs, or null.
#[wasm_bindgen(js_name = deriveBoxKeys)]
pub fn derive_box_keys(fresh: bool, report: &str, sql: &ObjectSql) -> Result<Array, JsError> {
    let run = || {
        let context = work_context()?;
        let mut store = open(sql, fresh, &context)?;
        let report = serde_json::from_str(report).map_err(|error| Fault::new(error.to_string()))?;
        let step = service::derive_box_keys(&mut store, &context, &report)?;
        let step = serde_json::to_string(&step).map_err(|error| Fault::new(error.to_string()))?;
        let [work, _] = alarms_of(&store);
        Ok(Array::of2(&JsValue::from_str(&step), &work))
    };
    run().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Returns the revision of the project's rules in the present transaction, which the shell reports to the entry after the commit.
#[wasm_bindgen(js_name = rulesRevision)]
pub fn rules_revision(sql: &ObjectSql) -> Result<String, JsError> {
    bundle_heads::find_rules_revision(&Store::new(sql)).map_err(|fault| JsError::new(&fault.0))
}

/// Returns the name of the part of the entry in KV.
#[wasm_bindgen(js_name = nameOfEdgePart)]
pub fn name_of_edge_part(project: &str) -> String {
    edge_part::copy_name(project)
}

/// Returns the name of the copy of a project's head in KV.
#[wasm_bindgen(js_name = nameOfCopiedHead)]
pub fn name_of_copied_head(project: &str) -> String {
    bundle_head::copy_name(project)
}

/// Returns the name of the copy of a part in KV; without a hash, what the names of all parts of a project begin with.
#[wasm_bindgen(js_name = nameOfCopiedPart)]
pub fn name_of_copied_part(project: &str, hash: &str) -> String {
    bundle_parts::copy_name(project, hash)
}

/// Records that the due jobs failed with `reason`, inside a separate transaction: the failed one wrote nothing.
/// Returns the due time of jobs or null, and whether the job that failed builds the bundle.
#[wasm_bindgen(js_name = noteFailedAlarm)]
pub fn note_failed_alarm(fresh: bool, reason: &str, sql: &ObjectSql) -> Result<Array, JsError> {
    let record = || {
        let context = work_context()?;
        let mut store = open(sql, fresh, &context)?;
        let kind = service::record_alarm_failure(&mut store, &context, reason)?;
        log_warnings(&store, "alarm");
        let [work, _] = alarms_of(&store);
        Ok(Array::of2(&work, &JsValue::from_bool(kind.as_deref() == Some(BUILD_BUNDLE))))
    };
    record().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Returns the reply after a failure: `[500, header lines, bytes]`.
#[wasm_bindgen(js_name = failedReply)]
pub fn failed_reply(request_id: &str) -> Array {
    object_protocol::write_reply(&reply::failed(request_id))
}

/// Returns the answer of a deleted project, for callers whose keys an entry still accepts: the refusal of an unknown key.
#[wasm_bindgen(js_name = goneReply)]
pub fn gone_reply(request_id: &str) -> Array {
    object_protocol::write_reply(&reply::error_reply(&reply::unauthorized(), request_id))
}

thread_local! {
    static IS_READY: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if it is called for the first time in this instance. After a trap the shell calls it: the glue creates a new instance at the
/// next call. This one has no arguments that could still be in the memory of the old instance.
#[wasm_bindgen]
pub fn ready() -> bool {
    !IS_READY.replace(true)
}

/// Returns the size of this object's queues, as JSON, and the due times of jobs and deliveries if the object has just started, or null.
#[wasm_bindgen(js_name = waitingIn)]
pub fn waiting_in(fresh: bool, sql: &ObjectSql) -> Result<Array, JsError> {
    let look = || {
        let context = work_context()?;
        let mut store = open(sql, fresh, &context)?;
        let waiting = service::queue_metrics(&mut store, &context)?;
        let waiting = serde_json::to_string(&waiting).map_err(|error| Fault(error.to_string()))?;
        let [work, deliveries] = alarms_of(&store);
        Ok(Array::of3(&JsValue::from_str(&waiting), &work, &deliveries))
    };
    look().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Converts the decision to a JavaScript value.
fn decided_of(store: &Store<'_>) -> JsValue {
    let decided = store.take_decisions();
    if decided.is_empty() {
        return JsValue::NULL;
    }
    let lines: String = decided.iter().flat_map(|(operation, reason)| [*operation, "\n", *reason, "\n"]).collect();
    JsValue::from_str(&lines)
}

/// Logs the warnings recorded during a request or an alarm.
fn log_warnings(store: &Store<'_>, request_id: &str) {
    for warning in store.take_warnings() {
        log::write("warning", "noted", request_id, &warning);
    }
}

/// Opens the store of this object. Its tables and alarms are checked once, when the object has just started.
fn open<'a>(sql: &'a ObjectSql, fresh: bool, context: &Context) -> Result<Store<'a>, Fault> {
    log::record_panics();
    if !fresh {
        return Ok(Store::new(sql));
    }
    let now_ms = context.now.millis();
    let mut store = Store::open(sql, now_ms)?;
    service::schedule_alarms(&mut store, now_ms)?;
    Ok(store)
}

/// Returns the due times of jobs and of deliveries, as JavaScript values.
fn alarms_of(store: &Store<'_>) -> [JsValue; 2] {
    store.alarms().map(|at| at.map_or(JsValue::NULL, |at_ms| JsValue::from_f64(at_ms as f64)))
}

/// Returns a context with the current time and a seed, for jobs.
fn work_context() -> Result<Context, Fault> {
    random::context(random::seed()?).map(numbered)
}

/// Adds the number of the first record that an event stores.
fn numbered(context: Context) -> Context {
    Context { first_number: Some(next_number(context.now.millis())), ..context }
}

/// Reads the time of a request, and the seed that was sent with it.
fn context_of(request: &Request) -> Result<Context, Fault> {
    let seed = header(request, random::SEED_HEADER).map_or_else(random::seed, random::read_seed)?;
    let context = random::context(seed)?;
    #[cfg(feature = "test-hooks")]
    let context = super::test_hooks::context_of(request, context)?;
    #[cfg(feature = "test-hooks")]
    if super::test_hooks::has_own_seed(request) {
        return Ok(context);
    }
    Ok(numbered(context))
}
