//! Decides which requests are for a file (the demo, the package, the page of the description) and what type a file is.
//! It must not know where files lie: a binding serves them, on Cloudflare, in `wrangler dev` and in plain workerd.

use super::bindings::Answer;
use crate::http::request::Request;
use js_sys::Uint8Array;

/// First segments of paths that belong to the API.
const API: [&str; 8] = ["v1", "v2", "client", "management", "rehearsal", "openapi.json", "health", "metrics"];

/// A page that is asked for by a name of its own, as the description's is.
const DOCS: (&str, &str) = ("/docs", "/docs/index.html");

/// Types by the end of the name.
const TYPES: [(&str, &str); 12] = [
    (".html", "text/html; charset=utf-8"),
    (".mjs", "text/javascript; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"),
    (".css", "text/css; charset=utf-8"),
    (".wasm", "application/wasm"),
    (".json", "application/json"),
    (".svg", "image/svg+xml"),
    (".png", "image/png"),
    (".ico", "image/x-icon"),
    (".txt", "text/plain; charset=utf-8"),
    (".md", "text/markdown; charset=utf-8"),
    (".ts", "text/plain; charset=utf-8"),
];

/// The path of the file that a request is for, when it is for one.
pub(super) fn path_of(request: &Request) -> Option<String> {
    if request.method != "GET" && request.method != "HEAD" {
        return None;
    }
    let path = request.path.as_str();
    let first = path.trim_start_matches('/').split('/').next().unwrap_or("");
    // A segment that climbs or hides is nobody's file.
    if API.contains(&first) || path.split('/').any(|segment| segment.starts_with('.')) || path.contains('\\') {
        return None;
    }
    if path == DOCS.0 {
        return Some(DOCS.1.to_owned());
    }
    Some(if path.ends_with('/') { format!("{path}index.html") } else { path.to_owned() })
}

/// The answer that holds a file.
pub(super) fn answer(path: &str, request: &Request, bytes: Uint8Array) -> Answer {
    let bytes = if request.method == "HEAD" { Uint8Array::new_with_length(0) } else { bytes };
    let kind = type_of(path);
    let lines = format!("content-type\n{kind}\ncache-control\nno-cache\nx-content-type-options\nnosniff\n");
    Answer { status: 200, lines, bytes }
}

/// The type of a file.
fn type_of(path: &str) -> &'static str {
    TYPES.iter().find(|(end, _)| path.ends_with(end)).map_or("application/octet-stream", |(_, kind)| kind)
}
