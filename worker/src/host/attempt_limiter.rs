//! Counts the failed attempts of clients on the runtime: the calls of the entry to the limiter of a project, and the replies of
//! the limiter's object.
//!
//! The limiter is a separate object, because the project's object makes redemptions: only callers that guess codes wait here. Its
//! counts are only in the memory of the objects' instance. A restart loses them, which allows a few more attempts. A limiter that
//! fails admits every caller, because the merchant must be able to sell, and logs the failure.

use super::bindings::{Bindings, ObjectResponse, ObjectStub, pause};
use super::{durable, log, object_protocol, random};
use crate::access::failed_attempts::{AttemptDecision, ClientKey, FailedAttempts, WRONG_CODES, remaining_delay};
use crate::store::sql::Fault;
use js_sys::futures::JsFuture;
use js_sys::{Array, Promise};
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

/// Attempt limiter of a project, for one request.
pub(super) struct AttemptLimiter<'a> {
    /// Object of the limiter; `None` without a binding.
    stub: Option<ObjectStub>,
    client_key: ClientKey,
    /// Header lines that configure a test.
    lines: String,
    request_id: &'a str,
}

impl<'a> AttemptLimiter<'a> {
    /// Returns the limiter that counts a client.
    pub(super) fn of(
        bindings: &Bindings,
        client_key: ClientKey,
        lines: String,
        request_id: &'a str,
    ) -> AttemptLimiter<'a> {
        let mut limiter = AttemptLimiter { stub: None, client_key, lines, request_id };
        match bindings.attempt_limiter_of(&limiter.client_key.project) {
            Ok(stub) => limiter.stub = Some(stub),
            Err(error) => limiter.log(&error),
        }
        limiter
    }

    /// Admits the request, after a wait if necessary; otherwise returns the seconds after which it may be repeated.
    pub(super) async fn enter(&self) -> Option<u64> {
        let Some(stub) = &self.stub else { return None };
        let ClientKey { project, key, address } = &self.client_key;
        let decision = stub.check(project, key, address.clone(), &self.lines);
        let answer = match decision {
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

    /// Reports the number of wrong names, which the caller does not see. Such an answer is sent when it is settled, at a
    /// time that does not reveal the duration of the lookup; every other answer at once.
    /// An unanswered guess counts as one.
    pub(super) async fn leave(
        &self,
        answer: Option<&mut ObjectResponse>,
        is_guess: bool,
        begun_ms: i64,
        runtime: &worker::Context,
    ) {
        let wrong = answer.and_then(|answer| object_protocol::take_line(&mut answer.lines, WRONG_CODES));
        let wrong: u32 = wrong.and_then(|count| count.parse().ok()).unwrap_or(0).max(u32::from(is_guess));
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
        // A clock that was set back measures no time.
        let elapsed = random::clock_ms().saturating_sub(begun_ms);
        pause(remaining_delay(u64::try_from(elapsed).unwrap_or(0))).await;
    }

    fn settle(&self, wrong: u32) -> Option<Promise> {
        let ClientKey { project, key, address } = &self.client_key;
        let settled = self.stub.as_ref()?.settle(project, key, address.clone(), wrong, &self.lines);
        settled.map_err(|error| self.log(&error)).ok()
    }

    fn log(&self, error: &JsValue) {
        log::write("warning", "gate_failed", self.request_id, &durable::describe(error));
    }
}

thread_local! {
    static ATTEMPTS: RefCell<BTreeMap<String, FailedAttempts>> = const { RefCell::new(BTreeMap::new()) };
}

fn with<T>(project: String, act: impl FnOnce(&mut FailedAttempts) -> T) -> T {
    ATTEMPTS.with_borrow_mut(|attempts| act(attempts.entry(project).or_default()))
}

/// Queries a limiter. Returns `[milliseconds to wait]`, or `[0, seconds]` if the caller is refused for that time.
#[wasm_bindgen(js_name = checkAttempt)]
pub fn check_attempt(project: String, key: String, address: Option<String>, lines: &str) -> Result<Array, JsError> {
    let now_ms = now_of(lines).map_err(|fault| JsError::new(&fault.0))?;
    let client_key = ClientKey { project, key, address };
    let number = |number: u64| JsValue::from_f64(number as f64);
    Ok(match with(client_key.project.clone(), |attempts| attempts.check(&client_key, now_ms)) {
        AttemptDecision::After(wait) => Array::of1(&number(wait)),
        AttemptDecision::Later(seconds) => Array::of2(&number(0), &number(seconds)),
    })
}

/// Reports to a limiter the number of wrong names in a request that it admitted.
#[wasm_bindgen(js_name = recordAttempt)]
pub fn record_attempt(
    project: String,
    key: String,
    address: Option<String>,
    wrong: u32,
    lines: &str,
) -> Result<(), JsError> {
    let now_ms = now_of(lines).map_err(|fault| JsError::new(&fault.0))?;
    let client_key = ClientKey { project, key, address };
    with(client_key.project.clone(), |attempts| attempts.record_result(&client_key, wrong.into(), now_ms));
    Ok(())
}

/// Returns the time by the limiter's own clock.
fn now_of(lines: &str) -> Result<i64, Fault> {
    log::record_panics();
    let context = random::context([0; 32])?;
    #[cfg(feature = "test-hooks")]
    let context =
        super::test_hooks::context_of(&object_protocol::read_request("GET", "/", lines, Vec::new()), context)?;
    let _ = lines;
    Ok(context.now.millis())
}
