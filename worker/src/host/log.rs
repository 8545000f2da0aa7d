//! Format of a line of the log: one JSON object, in the format that `worker/shell/log.mjs` writes.
//!
//! A line contains the request id, the route and the failure, and no data of the request: no actual path, no body, no header.

use crate::http::request::Request;
use crate::http::route::Route;
use crate::routes::TABLE;
use js_sys::Reflect;
use serde_json::{Map, Value as Json};
use std::sync::Once;
use wasm_bindgen::prelude::wasm_bindgen;

/// Maximum length of a failure text in characters.
const LONGEST: usize = 2_000;

/// Leaves the message of every later panic for the shell, which catches the panic and knows its request. Otherwise it would be
/// separate lines that are not JSON. The shell reads it under one agreed name.
pub(super) fn record_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panicked| {
            // A failure here could only panic again, so it is ignored.
            let _ = Reflect::set(&js_sys::global(), &"scripPanicked".into(), &panicked.to_string().into());
        }));
    });
}

/// Writes a line: level, event, request or other id, and reason.
pub(super) fn write(level: &str, event: &str, request_id: &str, reason: &str) {
    line(level, event, &[("request_id", request_id.into()), ("error", shortened(reason))]);
}

/// Writes a line about a request that was not answered as expected.
pub(super) fn request(level: &str, event: &str, request_id: &str, route: &str, status: u16, reason: &str) {
    let fields = [
        ("request_id", request_id.into()),
        ("route", route.into()),
        ("status", status.into()),
        ("error", shortened(reason)),
    ];
    line(level, event, &fields);
}

fn line(level: &str, event: &str, fields: &[(&str, Json)]) {
    let at = super::random::context([0; 32]).map(|context| context.now.to_string()).unwrap_or_default();
    let mut line = Map::new();
    for (name, value) in [("at", at.into()), ("level", level.into()), ("event", event.into())] {
        line.insert(name.to_owned(), value);
    }
    for (name, value) in fields {
        line.insert((*name).to_owned(), value.clone());
    }
    worker::console_error!("{}", Json::Object(line));
}

fn shortened(reason: &str) -> Json {
    reason.chars().take(LONGEST).collect::<String>().into()
}

/// Returns the route of a request by its pattern, as the log names it.
pub(super) fn name_of(request: &Request, route: Option<&Route>) -> String {
    route.map_or_else(|| format!("{} none", request.method), |route| format!("{} {}", route.method, route.path))
}

/// Returns the route for the shell, which knows the method and the target.
#[wasm_bindgen(js_name = routeOf)]
pub fn route_of(method: &str, target: &str) -> String {
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let found = TABLE.find(method, path).ok();
    found.map_or_else(|| format!("{method} none"), |found| format!("{} {}", found.route.method, found.route.path))
}
