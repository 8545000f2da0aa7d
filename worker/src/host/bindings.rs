//! Bindings of the runtime as Rust types: objects, files, requests and responses.

use super::{durable, object_protocol};
use crate::access::address::VERIFIED_ADDRESS;
use crate::access::edge_part::SECRET_BYTES_MIN;
use crate::http::request::{Reply, Request};
use crate::http::request_checks::header;
use crate::store::sql::Fault;
use js_sys::futures::JsFuture;
use js_sys::{Array, Promise, Uint8Array};
use std::cell::OnceCell;
use std::rc::Rc;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::web_sys;

#[wasm_bindgen(module = "/src/host/request.js")]
extern "C" {
    #[wasm_bindgen(js_name = headerLines)]
    fn header_lines(headers: &web_sys::Headers) -> String;

    #[wasm_bindgen(js_name = isOnCloudflare)]
    fn is_on_cloudflare(request: &web_sys::Request) -> bool;

    #[wasm_bindgen(js_name = pause)]
    fn pause_for(millis: f64) -> Promise;

    #[wasm_bindgen(js_name = readBody)]
    fn read_body_of(request: &web_sys::Request, most: f64) -> Promise;

    #[wasm_bindgen(js_name = readKv)]
    fn read_kv(kv: &JsValue, name: &str, kind: &str, millis: f64) -> Promise;

    #[wasm_bindgen(js_name = hasFolder)]
    fn has_folder_in(disk: &Fetcher) -> Promise;

    #[wasm_bindgen(catch, js_name = openFeed)]
    fn open_feed_of(
        feed: &ObjectStub,
        key: &str,
        until: Option<f64>,
        protocol: Option<&str>,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(catch, js_name = respondInParts)]
    fn respond_with_parts(
        answer: &Array,
        next: &str,
        stub: &ObjectStub,
        target: &str,
        lines: &str,
    ) -> Result<web_sys::Response, JsValue>;

    #[wasm_bindgen(catch, js_name = respond)]
    fn respond_with(status: u16, lines: &str, body: &JsValue) -> Result<web_sys::Response, JsValue>;
}

#[wasm_bindgen]
extern "C" {
    /// Bindings of the Worker that the Rust code uses.
    pub(super) type Bindings;

    #[wasm_bindgen(method, getter, js_name = PROJECT)]
    fn project(this: &Bindings) -> Namespace;

    #[wasm_bindgen(method, getter, js_name = DIRECTORY)]
    fn directory(this: &Bindings) -> Namespace;

    #[wasm_bindgen(method, getter, js_name = GATE)]
    fn attempt_limiter(this: &Bindings) -> Option<Namespace>;

    #[wasm_bindgen(method, getter, js_name = FEED)]
    fn feed(this: &Bindings) -> Option<Namespace>;

    #[wasm_bindgen(method, getter, js_name = KV)]
    fn kv(this: &Bindings) -> JsValue;

    #[wasm_bindgen(method, getter, js_name = ASSETS)]
    fn assets(this: &Bindings) -> Option<Fetcher>;

    #[wasm_bindgen(method, getter, js_name = DISK)]
    fn disk(this: &Bindings) -> Option<Fetcher>;

    /// Returns the operator's token; without one, plain workerd has `null` and Cloudflare `undefined`.
    #[wasm_bindgen(method, getter, js_name = SCRIP_METRICS_TOKEN)]
    fn metrics_token_bound(this: &Bindings) -> JsValue;

    /// Returns the secret of the parts for the entry; without one as above.
    #[wasm_bindgen(method, getter, js_name = SCRIP_EDGE_SECRET)]
    fn edge_secret_bound(this: &Bindings) -> JsValue;

    #[wasm_bindgen(method, getter, js_name = SCRIP_LOCAL)]
    fn local_bound(this: &Bindings) -> JsValue;

    type Namespace;

    #[wasm_bindgen(method, catch, js_name = getByName)]
    fn get_by_name(this: &Namespace, name: &str) -> Result<ObjectStub, JsValue>;

    /// Durable Object of this service. Each has `serve`, that of a project also `empty`, an attempt limiter `check` and `settle`, a feed
    /// `close` and `empty`.
    pub(super) type ObjectStub;

    #[wasm_bindgen(method, catch)]
    fn serve(
        this: &ObjectStub,
        method: &str,
        target: &str,
        lines: &str,
        body: Option<&Uint8Array>,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn empty(this: &ObjectStub) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub(super) fn check(
        this: &ObjectStub,
        project: &str,
        key: &str,
        address: Option<String>,
        lines: &str,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub(super) fn settle(
        this: &ObjectStub,
        project: &str,
        key: &str,
        address: Option<String>,
        wrong: u32,
        lines: &str,
    ) -> Result<Promise, JsValue>;

    /// Closes the connections of a feed that were opened with these keys, separated by commas.
    #[wasm_bindgen(method, catch)]
    fn close(this: &ObjectStub, keys: &str) -> Result<Promise, JsValue>;

    /// Returns the metrics of an object and the size of its queues, as JSON.
    #[wasm_bindgen(method, catch)]
    fn metrics(this: &ObjectStub) -> Result<Promise, JsValue>;

    type Fetcher;

    #[wasm_bindgen(method, catch)]
    fn fetch(this: &Fetcher, url: &str) -> Result<Promise, JsValue>;

    /// The settled result of a promise.
    type PromiseResult;

    #[wasm_bindgen(method, getter)]
    fn value(this: &PromiseResult) -> JsValue;

    /// The exception of the runtime for an overloaded object.
    type ObjectException;

    #[wasm_bindgen(method, getter)]
    fn overloaded(this: &ObjectException) -> Option<bool>;
}

/// Reason for a missing answer.
pub(super) enum ObjectCallFailure {
    /// The object has too much to do; a retry at once would make it worse.
    Overloaded,
    /// Failure of this service.
    Fault(Fault),
}

impl From<Fault> for ObjectCallFailure {
    fn from(fault: Fault) -> ObjectCallFailure {
        ObjectCallFailure::Fault(fault)
    }
}

impl From<JsValue> for ObjectCallFailure {
    fn from(error: JsValue) -> ObjectCallFailure {
        ObjectCallFailure::Fault(Fault::new(durable::describe(&error)))
    }
}

impl From<worker::Error> for ObjectCallFailure {
    fn from(error: worker::Error) -> ObjectCallFailure {
        ObjectCallFailure::Fault(Fault::new(error.to_string()))
    }
}

impl From<worker::KvError> for ObjectCallFailure {
    fn from(error: worker::KvError) -> ObjectCallFailure {
        ObjectCallFailure::Fault(Fault::new(format!("KV: {error:?}")))
    }
}

/// Call of an object: a method, a target (path and query), header lines, perhaps a body.
pub(super) struct ObjectCall<'a> {
    pub method: &'a str,
    pub target: &'a str,
    pub lines: &'a str,
    pub body: Option<&'a Uint8Array>,
}

/// Response of an object or a file.
pub(super) struct ObjectResponse {
    pub status: u16,
    pub lines: String,
    pub bytes: Uint8Array,
}

/// Reads a response: `[status, header lines, bytes]`.
pub(super) fn object_response(answer: &Array) -> ObjectResponse {
    ObjectResponse {
        status: answer.get(0).as_f64().map_or(500, |status| status as u16),
        lines: answer.get(1).as_string().unwrap_or_default(),
        bytes: answer.get(2).unchecked_into(),
    }
}

/// Response in parts: the first part, the position of the next, and the call that requests it.
pub(super) struct ResponseParts {
    pub answer: ObjectResponse,
    pub next: String,
    pub stub: ObjectStub,
    pub target: String,
    pub lines: String,
}

thread_local! {
    /// Values of bindings that each request needs; a process has the same for all its life.
    static HAS_OBJECTS: OnceCell<bool> = const { OnceCell::new() };
    static IS_LOCAL: OnceCell<bool> = const { OnceCell::new() };
    static EDGE_SECRET: OnceCell<Option<Rc<str>>> = const { OnceCell::new() };
}

impl Bindings {
    /// Returns the object with a name: `directory` or `project:{id}`.
    pub(super) fn stub(&self, object: &str) -> Result<ObjectStub, JsValue> {
        match object.strip_prefix("project:") {
            Some(project) => self.project().get_by_name(project),
            None => self.directory().get_by_name(object),
        }
    }

    /// Calls an object.
    pub(super) async fn call(&self, object: &str, call: ObjectCall<'_>) -> Result<ObjectResponse, ObjectCallFailure> {
        let stub = self.stub(object)?;
        match JsFuture::from(stub.serve(call.method, call.target, call.lines, call.body)?).await {
            Ok(answer) => Ok(object_response(&Array::from(&answer))),
            Err(error) if error.is_object() && error.unchecked_ref::<ObjectException>().overloaded() == Some(true) => {
                Err(ObjectCallFailure::Overloaded)
            }
            Err(error) => Err(Fault::new(format!("object `{object}`: {}", durable::describe(&error))).into()),
        }
    }

    /// Returns the text of a name in KV, or `None` without one.
    pub(super) async fn kv_text(&self, name: &str, most_ms: u32) -> Result<Option<String>, JsValue> {
        let read = JsFuture::from(read_kv(&self.kv(), name, "text", most_ms.into())).await?;
        Ok(read.as_string())
    }

    /// Returns the bytes of a name in KV, or `None` without one.
    pub(super) async fn kv_bytes(&self, name: &str, most_ms: u32) -> Result<Option<Uint8Array>, JsValue> {
        let read = JsFuture::from(read_kv(&self.kv(), name, "arrayBuffer", most_ms.into())).await?;
        Ok(read.dyn_into().ok())
    }

    /// Empties the object of a project for good.
    pub(super) async fn empty(&self, project: &str) -> Result<(), ObjectCallFailure> {
        JsFuture::from(self.project().get_by_name(project)?.empty()?).await?;
        JsFuture::from(self.feed_of(project)?.empty()?).await?;
        Ok(())
    }

    /// Opens a connection to the feed of a project; returns its response, 101 or 503. `until` ends the validity of the key.
    pub(super) async fn open_feed(
        &self,
        project: &str,
        key: &str,
        until: Option<i64>,
        protocol: Option<&str>,
    ) -> Result<web_sys::Response, JsValue> {
        let until = until.map(|at_ms| at_ms as f64);
        let answer = JsFuture::from(open_feed_of(&self.feed_of(project)?, key, until, protocol)?).await?;
        Ok(answer.unchecked_into())
    }

    /// Closes the connections to the feed of a project that were opened with these keys, separated by commas.
    pub(super) async fn close_feed(&self, project: &str, keys: &str) -> Result<(), JsValue> {
        JsFuture::from(self.feed_of(project)?.close(keys)?).await?;
        Ok(())
    }

    fn feed_of(&self, project: &str) -> Result<ObjectStub, JsValue> {
        self.feed().ok_or_else(|| JsValue::from_str("there is no binding FEED"))?.get_by_name(project)
    }

    /// Returns the operator's token, if there is one.
    pub(super) fn metrics_token(&self) -> Option<String> {
        self.metrics_token_bound().as_string().filter(|token| !token.is_empty())
    }

    /// Returns the secret under which the parts for the entry are encrypted, if there is one that is long enough.
    pub(super) fn edge_secret(&self) -> Option<Rc<str>> {
        let read = || self.edge_secret_bound().as_string().filter(|secret| secret.len() >= SECRET_BYTES_MIN);
        EDGE_SECRET.with(|known| known.get_or_init(|| read().map(Rc::from)).clone())
    }

    /// Returns the metrics of the objects of projects, all requested at once; `None` for one that fails.
    pub(super) async fn metrics_of(&self, projects: &[String]) -> Result<Vec<Option<String>>, ObjectCallFailure> {
        let namespace = self.project();
        let promises = Array::new();
        for project in projects {
            let details: Promise = namespace.get_by_name(project)?.metrics()?;
            promises.push(&details);
        }
        let settled = JsFuture::from(Promise::all_settled(&promises)).await?;
        Ok(Array::from(&settled).iter().map(|one| one.unchecked_into::<PromiseResult>().value().as_string()).collect())
    }

    /// Returns true if the objects are in the process of the entry. Only the configuration of plain workerd binds their folder.
    pub(super) fn has_objects_here(&self) -> bool {
        HAS_OBJECTS.with(|known| *known.get_or_init(|| self.disk().is_some()))
    }

    /// Returns true if the service runs for local development. A deployed service has no such binding.
    pub(super) fn is_local(&self) -> bool {
        IS_LOCAL.with(|known| *known.get_or_init(|| self.local_bound().as_string().as_deref() == Some("true")))
    }

    /// Returns true if the folder of the objects exists. Cloudflare has no folder, and the result is always true.
    pub(super) async fn has_folder(&self) -> bool {
        match self.disk() {
            None => true,
            Some(disk) => JsFuture::from(has_folder_in(&disk)).await.is_ok_and(|found| found.is_truthy()),
        }
    }

    /// Returns the attempt limiter of a project.
    pub(super) fn attempt_limiter_of(&self, project: &str) -> Result<ObjectStub, JsValue> {
        self.attempt_limiter().ok_or_else(|| JsValue::from_str("there is no binding GATE"))?.get_by_name(project)
    }

    /// Returns a file at a path as its stream, which is read as fast as the caller reads; `None` without one. A file in memory for each
    /// caller who reads nothing would fill it.
    pub(super) async fn file(&self, path: &str) -> Result<Option<JsValue>, ObjectCallFailure> {
        let Some(assets) = self.assets() else { return Ok(None) };
        let response = JsFuture::from(assets.fetch(&format!("http://assets{path}"))?).await?;
        let response: web_sys::Response = response.unchecked_into();
        if response.status() != 200 {
            return Ok(None);
        }
        Ok(Some(response.body().map_or(JsValue::NULL, JsValue::from)))
    }
}

/// Reads a request without its body. Where the objects are in this process, Cloudflare's network delivers nothing.
pub(super) fn read_head(raw: &web_sys::Request, has_objects_here: bool) -> Request {
    let url = raw.url();
    // `scheme://host/path?query`: the target follows the third slash.
    let mut parts = url.splitn(4, '/');
    let (scheme, _, host) = (parts.next(), parts.next(), parts.next());
    let target = parts.next().unwrap_or_default().split('#').next().unwrap_or_default();
    let mut request =
        object_protocol::read_request(&raw.method(), &format!("/{target}"), &header_lines(&raw.headers()), Vec::new());
    request.headers.retain(|(name, _)| name != VERIFIED_ADDRESS);
    if !has_objects_here
        && is_on_cloudflare(raw)
        && let Some(address) = header(&request, "cf-connecting-ip").map(str::to_owned)
    {
        request.headers.push((VERIFIED_ADDRESS.to_owned(), address));
    }
    // A browser sends no origin for reads of the page's own origin; a separate header marks such requests.
    let same = header(&request, "sec-fetch-site") == Some("same-origin") && header(&request, "origin").is_none();
    if let (true, Some(scheme), Some(host)) = (same, scheme, host) {
        request.headers.push(("origin".to_owned(), format!("{scheme}//{host}")));
    }
    request
}

/// Waits for `millis` milliseconds.
pub(super) async fn pause(millis: u64) {
    // The promise is never rejected.
    let _ = JsFuture::from(pause_for(millis as f64)).await;
}

/// Result of reading a body.
pub(super) enum Body {
    /// The whole body. It stays in JavaScript: the entry does not read it.
    Whole(Uint8Array),
    /// It is longer than allowed.
    TooLong,
    /// It does not match its headers: a chunk without a length, or an early end.
    Broken,
    /// It did not arrive in time.
    Late,
}

/// Reads the body of a request, of at most `most` bytes, unless the shell has read it.
pub(super) async fn read_body(raw: &web_sys::Request, known: &JsValue, most: usize) -> Result<Body, ObjectCallFailure> {
    let body = match known.is_undefined() {
        true => JsFuture::from(read_body_of(raw, most as f64)).await?,
        false => known.clone(),
    };
    match body.as_string().as_deref() {
        None => Ok(Body::Whole(body.unchecked_into())),
        Some("too long") => Ok(Body::TooLong),
        Some("late") => Ok(Body::Late),
        Some(_) => Ok(Body::Broken),
    }
}

/// Converts an object's answer to a response.
pub(super) fn respond(answer: &ObjectResponse) -> Result<web_sys::Response, worker::Error> {
    Ok(respond_with(answer.status, &answer.lines, &answer.bytes)?)
}

/// Converts a file to a response; to a caller that requests only the head, without its stream.
pub(super) fn respond_file(
    status: u16,
    lines: &str,
    file: &JsValue,
    method: &str,
) -> Result<web_sys::Response, ObjectCallFailure> {
    let body = if method == "HEAD" { &JsValue::NULL } else { file };
    Ok(respond_with(status, lines, body)?)
}

/// Converts a reply to a response.
pub(super) fn respond_reply(reply: &Reply) -> Result<web_sys::Response, worker::Error> {
    let lines = object_protocol::write_reply_lines(reply);
    Ok(respond_with(reply.status, &lines, &Uint8Array::from(reply.body.as_slice()))?)
}

/// Converts an answer in parts to a response. Its body is read from its object as fast as the caller reads it.
pub(super) fn respond_in_parts(parts: &ResponseParts) -> Result<web_sys::Response, worker::Error> {
    let ResponseParts { answer, next, stub, target, lines } = parts;
    let first = Array::of3(&JsValue::from(answer.status), &JsValue::from_str(&answer.lines), &answer.bytes);
    Ok(respond_with_parts(&first, next, stub, target, lines)?)
}

/// Returns the address that a request came to, as its caller sees it: a proxy may have used another scheme with the caller.
pub(super) fn origin_of(raw: &web_sys::Request, request: &Request) -> String {
    let url = raw.url();
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", ""));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let spoken = header(request, "x-forwarded-proto").filter(|spoken| matches!(*spoken, "http" | "https"));
    format!("{}://{host}", spoken.unwrap_or(scheme))
}
