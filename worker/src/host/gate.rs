//! Decides how a page's guesses are counted on the runtime: what the entry asks and tells the gate of a project, and what the
//! gate's object answers. It must not know how many are too many.
//!
//! The gate is an object of its own, because the project's has redemptions to make: whoever guesses waits here, and nobody else
//! does. Its counts are in the memory of the objects' instance alone. They are gone when that is made anew, which gives
//! somebody who guesses a few guesses more. A gate that fails lets everybody through, because a shop must be able to sell, and
//! says so in the log.

use super::bindings::{Answer, Bindings, Stub, pause};
use super::{chance, durable, log, wire};
use crate::access::guesses::{Asker, GUESSES, Guesses, Verdict, hold_back};
use crate::store::sql::Fault;
use js_sys::futures::JsFuture;
use js_sys::{Array, Promise};
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

/// The gate of a project, as the entry has it for one request.
pub(super) struct Gate<'a> {
    /// The gate's object; none where there is no such binding.
    stub: Option<Stub>,
    asker: Asker,
    /// The header lines that set the scene of a test.
    lines: String,
    request_id: &'a str,
}

impl<'a> Gate<'a> {
    /// The gate that counts somebody.
    pub(super) fn of(bindings: &Bindings, asker: Asker, lines: String, request_id: &'a str) -> Gate<'a> {
        let mut gate = Gate { stub: None, asker, lines, request_id };
        match bindings.gate_of(&gate.asker.project) {
            Ok(stub) => gate.stub = Some(stub),
            Err(error) => gate.log(&error),
        }
        gate
    }

    /// Lets the request go on, after a wait if it must; otherwise says in how many seconds it may be asked again.
    pub(super) async fn enter(&self) -> Option<u64> {
        let Some(stub) = &self.stub else { return None };
        let Asker { project, key, address } = &self.asker;
        let asked = stub.ask(project, key, address.clone(), &self.lines);
        let answer = match asked {
            Ok(promise) => JsFuture::from(promise).await,
            Err(error) => Err(error),
        };
        match answer.map(|answer| Array::from(&answer)) {
            Ok(answer) => {
                let number = |place| answer.get(place).as_f64().map(|number| number as u64);
                if let Some(wait) = number(0).filter(|wait| *wait > 0) {
                    pause(wait).await;
                }
                number(1)
            }
            Err(error) => {
                self.log(&error);
                None
            }
        }
    }

    /// Tells how many names were wrong, of which the caller learns nothing. Such an answer leaves when it is settled, and at a
    /// moment that does not tell how long looking up took; every other one at once.
    pub(super) async fn leave(&self, answer: Option<&mut Answer>, arrived_ms: i64, runtime: &worker::Context) {
        let wrong = answer.and_then(|answer| wire::take_line(&mut answer.lines, GUESSES));
        let wrong: u32 = wrong.and_then(|count| count.parse().ok()).unwrap_or(0);
        let settled = self.settle(wrong);
        if wrong == 0 {
            runtime.wait_until(async move {
                if let Some(promise) = settled
                    && let Err(error) = JsFuture::from(promise).await
                {
                    log::write("warning", "gate_failed", "", &durable::describe(&error));
                }
            });
            return;
        }
        if let Some(promise) = settled
            && let Err(error) = JsFuture::from(promise).await
        {
            self.log(&error);
        }
        let elapsed = chance::clock_ms().saturating_sub(arrived_ms);
        pause(hold_back(u64::try_from(elapsed).unwrap_or(0))).await;
    }

    fn settle(&self, wrong: u32) -> Option<Promise> {
        let Asker { project, key, address } = &self.asker;
        let settled = self.stub.as_ref()?.settle(project, key, address.clone(), wrong, &self.lines);
        settled.map_err(|error| self.log(&error)).ok()
    }

    fn log(&self, error: &JsValue) {
        log::write("warning", "gate_failed", self.request_id, &durable::describe(error));
    }
}

thread_local! {
    static GATES: RefCell<BTreeMap<String, Guesses>> = const { RefCell::new(BTreeMap::new()) };
}

fn with<T>(project: String, act: impl FnOnce(&mut Guesses) -> T) -> T {
    GATES.with_borrow_mut(|gates| act(gates.entry(project).or_default()))
}

/// Asks a gate. Gives `[milliseconds to wait]`, or `[0, seconds]` where the caller is sent away for so long.
#[wasm_bindgen(js_name = askGate)]
pub fn ask_gate(project: String, key: String, address: Option<String>, lines: &str) -> Result<Array, JsError> {
    let now_ms = now_of(lines).map_err(|fault| JsError::new(&fault.0))?;
    let asker = Asker { project, key, address };
    let number = |number: u64| JsValue::from_f64(number as f64);
    Ok(match with(asker.project.clone(), |gate| gate.ask(&asker, now_ms)) {
        Verdict::After(wait) => Array::of1(&number(wait)),
        Verdict::Later(seconds) => Array::of2(&number(0), &number(seconds)),
    })
}

/// Tells a gate how many names were wrong in a request that it let through.
#[wasm_bindgen(js_name = settleGate)]
pub fn settle_gate(
    project: String,
    key: String,
    address: Option<String>,
    wrong: u32,
    lines: &str,
) -> Result<(), JsError> {
    let now_ms = now_of(lines).map_err(|fault| JsError::new(&fault.0))?;
    let asker = Asker { project, key, address };
    with(asker.project.clone(), |gate| gate.settle(&asker, wrong.into(), now_ms));
    Ok(())
}

/// The moment by the gate's own clock.
fn now_of(lines: &str) -> Result<i64, Fault> {
    log::tell_panics();
    let context = chance::context([0; 32])?;
    #[cfg(feature = "rehearsal")]
    let context = super::rehearsal::context_of(&wire::read_request("GET", "/", lines, Vec::new()), context)?;
    let _ = lines;
    Ok(context.now.millis())
}
