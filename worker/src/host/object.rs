//! Decides how one event of a Durable Object becomes one call of the service, and what goes back to its shell.
//! It must not await: everything between the first read and the shell's commit happens inside one call.

use super::durable::ObjectSql;
use super::{chance, log, wire};
use crate::http::intake::header;
use crate::http::reply;
use crate::http::request::Request;
use crate::store::Store;
use crate::store::sql::Fault;
use crate::{directory, service};
use js_sys::Array;
use scrip::Context;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

/// Serves one request of an object; the shell calls it inside `transactionSync`, so that an error undoes every write.
///
/// `setup` is the text of the `SCRIP_SETUP` binding for the directory, and absent for a project. `fresh` says that this
/// object has not opened its store yet. Gives `[status, header lines, bytes, when work is due or null, when letters are or null, what was
/// decided or null]`, the last as lines of operation and reason.
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
    let request = wire::read_request(method, target, lines, body);
    let serve = || {
        let context = context_of(&request)?;
        let mut store = open(sql, fresh, &context)?;
        let reply = match &setup {
            Some(setup) => directory::serve_directory(&request, &mut store, &context, setup),
            None => service::serve(&request, &mut store, &context),
        }?;
        note(&store, &context.request_id());
        let answer = wire::write_reply(&reply);
        let alarms = alarms_of(&store);
        #[cfg(feature = "rehearsal")]
        let alarms = if super::rehearsal::has_own_clock(&request) { [JsValue::NULL, JsValue::NULL] } else { alarms };
        alarms.iter().for_each(|moment| _ = answer.push(moment));
        answer.push(&decided_of(&store));
        Ok(answer)
    };
    serve().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Runs one piece of the work that is due, of `rows` rows at most, inside `transactionSync` too. Gives when more is due, and
/// when letters are, or null.
#[wasm_bindgen(js_name = runAlarm)]
pub fn run_alarm(fresh: bool, rows: u32, sql: &ObjectSql) -> Result<Array, JsError> {
    let run = || {
        let context = chance::context(chance::seed()?)?;
        let mut store = open(sql, fresh, &context)?;
        service::alarm(&mut store, &context, rows.into())?;
        note(&store, "alarm");
        let [work, letters] = alarms_of(&store);
        Ok(Array::of2(&work, &letters))
    };
    run().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Settles what came of letters to webhooks, and gives what is to be sent next, inside a transaction too. Both are the JSON of
/// `outbox::Carried` and `outbox::Round`; beside the latter stands the moment for which the sweep asks, or null.
#[wasm_bindgen(js_name = runLetters)]
pub fn run_letters(fresh: bool, carried: &str, sql: &ObjectSql) -> Result<Array, JsError> {
    let run = || {
        let context = chance::context(chance::seed()?)?;
        let mut store = open(sql, fresh, &context)?;
        let carried = serde_json::from_str(carried).map_err(|error| Fault::new(error.to_string()))?;
        let round = service::letters(&mut store, &context, &carried)?;
        note(&store, "letters");
        let round = serde_json::to_string(&round).map_err(|error| Fault::new(error.to_string()))?;
        let [work, _] = alarms_of(&store);
        Ok(Array::of2(&JsValue::from_str(&round), &work))
    };
    run().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// Notes that the work which was due failed with `what`, inside a transaction of its own: the failed one wrote nothing.
/// Gives when work is due or null.
#[wasm_bindgen(js_name = noteFailedAlarm)]
pub fn note_failed_alarm(fresh: bool, what: &str, sql: &ObjectSql) -> Result<JsValue, JsError> {
    let note = || {
        let context = chance::context(chance::seed()?)?;
        let mut store = open(sql, fresh, &context)?;
        service::alarm_failed(&mut store, &context, what)?;
        note(&store, "alarm");
        let [work, _] = alarms_of(&store);
        Ok(work)
    };
    note().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// The answer after a failure: `[500, header lines, bytes]`.
#[wasm_bindgen(js_name = failedReply)]
pub fn failed_reply(request_id: &str) -> Array {
    wire::write_reply(&reply::failed(request_id))
}

/// The answer of a project that was deleted, to whoever is believed by an entry that has not heard of it: what their keys open now.
#[wasm_bindgen(js_name = goneReply)]
pub fn gone_reply(request_id: &str) -> Array {
    wire::write_reply(&reply::error_reply(&reply::unauthorized(), request_id))
}

/// Does nothing. After a trap the shell calls it: the glue makes the instance anew at the next call, and this one has
/// no arguments that could still be lying in the memory of the old instance.
#[wasm_bindgen]
pub fn ready() {}

/// How much waits in this object, as JSON.
#[wasm_bindgen(js_name = waitingIn)]
pub fn waiting_in(fresh: bool, sql: &ObjectSql) -> Result<String, JsError> {
    let look = || {
        let context = chance::context(chance::seed()?)?;
        let mut store = open(sql, fresh, &context)?;
        let waiting = service::waiting(&mut store, &context)?;
        serde_json::to_string(&waiting).map_err(|error| Fault(error.to_string()))
    };
    look().map_err(|fault: Fault| JsError::new(&fault.0))
}

/// What was decided, as JavaScript sees it.
fn decided_of(store: &Store<'_>) -> JsValue {
    let decided = store.take_decided();
    if decided.is_empty() {
        return JsValue::NULL;
    }
    let lines: String = decided.iter().flat_map(|(operation, reason)| [*operation, "\n", *reason, "\n"]).collect();
    JsValue::from_str(&lines)
}

/// Logs what was noted while a request or an alarm was served.
fn note(store: &Store<'_>, request_id: &str) {
    for note in store.take_notes() {
        log::write("warning", "noted", request_id, &note);
    }
}

/// The store of this object; its tables are looked after once, when the object has just come to life.
fn open<'a>(sql: &'a ObjectSql, fresh: bool, context: &Context) -> Result<Store<'a>, Fault> {
    log::tell_panics();
    if fresh { Store::open(sql, context.now.millis()) } else { Ok(Store::new(sql)) }
}

/// When work is due, and when letters are, as JavaScript sees it.
fn alarms_of(store: &Store<'_>) -> [JsValue; 2] {
    store.alarms().map(|at| at.map_or(JsValue::NULL, |moment| JsValue::from_f64(moment as f64)))
}

/// The moment of a request, and the seed that came with it.
fn context_of(request: &Request) -> Result<Context, Fault> {
    let seed = header(request, chance::SEED_HEADER).map_or_else(chance::seed, chance::read_seed)?;
    let context = chance::context(seed)?;
    #[cfg(feature = "rehearsal")]
    let context = super::rehearsal::context_of(request, context)?;
    Ok(context)
}
