//! Decides how a test sets the time and the seed of its request. It exists only in a build with test hooks.

use super::random;
use crate::api::test_hooks::BUNDLE_PATH;
use crate::http::request::Request;
use crate::http::request_checks::header;
use crate::store::fault_injection;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::time::Instant;
use wasm_bindgen::JsValue;

const NOW_HEADER: &str = "scrip-test-now";

/// Returns the context with the values of the headers `scrip-test-now` (ISO 8601 or milliseconds) and
/// `scrip-test-seed` (hexadecimal) in place of clock and randomness.
pub(super) fn context_of(request: &Request, mut context: Context) -> Result<Context, Fault> {
    if let Some(text) = header(request, NOW_HEADER) {
        let instant = text.parse().ok().map_or_else(|| Instant::parse(text), Instant::from_millis);
        context.now = instant.ok_or_else(|| Fault::new(format!("`{text}` is no moment")))?;
    }
    if let Some(text) = header(request, "scrip-test-seed") {
        context.seed = random::read_seed(text)?;
    }
    Ok(context)
}

/// Returns true if a request has its own seed: the same seed gives the same identifiers.
pub(super) fn has_own_seed(request: &Request) -> bool {
    header(request, "scrip-test-seed").is_some()
}

/// Returns true if a request has its own clock: then the test runs due work, and alarms of the real clock must not.
pub(super) fn has_own_clock(request: &Request) -> bool {
    header(request, NOW_HEADER).is_some()
}

/// Returns true for the request that builds the bundle.
pub(super) fn builds_bundle(request: &Request) -> bool {
    request.path == BUNDLE_PATH
}

/// Returns the alarms of a request: none of the real clock where it has its own, but for the copies of a bundle.
pub(super) fn alarms_of(request: &Request, alarms: [JsValue; 2]) -> [JsValue; 2] {
    match has_own_clock(request) {
        true if builds_bundle(request) => [JsValue::from_f64(random::clock_ms() as f64), JsValue::NULL],
        true => [JsValue::NULL, JsValue::NULL],
        false => alarms,
    }
}

/// Returns true if only the object may answer a request: the test sets more than its time.
pub(super) fn is_for_object(request: &Request) -> bool {
    request.headers.iter().any(|(name, _)| name.starts_with("scrip-test-") && name != NOW_HEADER)
}

/// Traps in the entry where a test asks for it: before the first wait of the request, or after its last one.
pub(super) fn trap_if_asked(request: &Request, has_waited: bool) {
    let name = if has_waited { "scrip-test-late-entry-fault" } else { "scrip-test-entry-fault" };
    if let Some(fault) = header(request, name) {
        fault_injection::trap(fault);
    }
}
