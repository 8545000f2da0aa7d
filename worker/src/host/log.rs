//! Decides what a line of the log looks like: one JSON object, the same as `worker/shell/log.mjs` writes. It must not know what went wrong.
//!
//! A line names the request, its route and what failed, and nothing of what was sent: no path as it was called, no body, no header.

use crate::http::request::Request;
use crate::http::route::Route;
use crate::table::TABLE;
use js_sys::Reflect;
use serde_json::{Map, Value as Json};
use std::sync::Once;
use wasm_bindgen::prelude::wasm_bindgen;

/// Letters of what failed that are worth keeping.
const LONGEST: usize = 2_000;

/// From now on a panic leaves what it says for the shell, which catches it and knows what it was about; it would else be lines of its own,
/// and none of them JSON. The shell takes it from the same name.
pub(super) fn tell_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panicked| {
            // Nothing could be done about it but to panic.
            let _ = Reflect::set(&js_sys::global(), &"scripPanicked".into(), &panicked.to_string().into());
        }));
    });
}

/// Writes a line: how grave it is, what happened, in which request or other event, and why.
pub(super) fn write(level: &str, event: &str, request_id: &str, what: &str) {
    line(level, event, &[("request_id", request_id.into()), ("error", shortened(what))]);
}

/// Writes a line about a request that was answered otherwise than it should be.
pub(super) fn request(level: &str, event: &str, request_id: &str, (asked, status): (&str, u16), what: &str) {
    let fields = [
        ("request_id", request_id.into()),
        ("route", asked.into()),
        ("status", status.into()),
        ("error", shortened(what)),
    ];
    line(level, event, &fields);
}

fn line(level: &str, event: &str, fields: &[(&str, Json)]) {
    let at = super::chance::context([0; 32]).map(|context| context.now.to_string()).unwrap_or_default();
    let mut line = Map::new();
    for (name, value) in [("at", at.into()), ("level", level.into()), ("event", event.into())] {
        line.insert(name.to_owned(), value);
    }
    for (name, value) in fields {
        line.insert((*name).to_owned(), value.clone());
    }
    worker::console_error!("{}", Json::Object(line));
}

fn shortened(what: &str) -> Json {
    what.chars().take(LONGEST).collect::<String>().into()
}

/// The route that a request is for, by its pattern, as the log names it.
pub(super) fn name_of(request: &Request, route: Option<&Route>) -> String {
    route.map_or_else(|| format!("{} none", request.method), |route| format!("{} {}", route.method, route.path))
}

/// The same for the shell, which knows the method and the target.
#[wasm_bindgen(js_name = routeOf)]
pub fn route_of(method: &str, target: &str) -> String {
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let found = TABLE.find(method, path).ok();
    found.map_or_else(|| format!("{method} none"), |found| format!("{} {}", found.route.method, found.route.path))
}
