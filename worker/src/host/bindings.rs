//! Decides how Rust sees what the runtime gives the Worker: its objects, its files, requests and responses.
//! It must not know what any of them is asked for.

use super::{durable, wire};
use crate::access::address::VOUCHED;
use crate::http::intake::header;
use crate::http::request::{Reply, Request};
use crate::store::sql::Fault;
use js_sys::futures::JsFuture;
use js_sys::{Array, Promise, Uint8Array};
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

    #[wasm_bindgen(js_name = takesWrites)]
    fn takes_writes(disk: &Fetcher) -> Promise;

    #[wasm_bindgen(catch, js_name = respondInParts)]
    fn respond_with_parts(
        answer: &Array,
        next: &str,
        stub: &Stub,
        target: &str,
        lines: &str,
    ) -> Result<web_sys::Response, JsValue>;

    #[wasm_bindgen(catch, js_name = respond)]
    fn respond_with(status: u16, lines: &str, bytes: &Uint8Array) -> Result<web_sys::Response, JsValue>;
}

#[wasm_bindgen]
extern "C" {
    /// The bindings of the Worker, as far as they are used from Rust.
    pub(super) type Bindings;

    #[wasm_bindgen(method, getter, js_name = PROJECT)]
    fn project(this: &Bindings) -> Namespace;

    #[wasm_bindgen(method, getter, js_name = DIRECTORY)]
    fn directory(this: &Bindings) -> Namespace;

    #[wasm_bindgen(method, getter, js_name = GATE)]
    fn gate(this: &Bindings) -> Option<Namespace>;

    #[wasm_bindgen(method, getter, js_name = ASSETS)]
    fn assets(this: &Bindings) -> Option<Fetcher>;

    #[wasm_bindgen(method, getter, js_name = DISK)]
    fn disk(this: &Bindings) -> Option<Fetcher>;

    /// The token of whoever runs the service; where there is none plain workerd has `null` and Cloudflare nothing.
    #[wasm_bindgen(method, getter, js_name = SCRIP_METRICS_TOKEN)]
    fn metrics_token_bound(this: &Bindings) -> JsValue;

    type Namespace;

    #[wasm_bindgen(method, catch, js_name = getByName)]
    fn get_by_name(this: &Namespace, name: &str) -> Result<Stub, JsValue>;

    /// An object of ours; `serve` is the method of its shell, `empty` one of a project's, `ask` and `settle` are those of a gate.
    pub(super) type Stub;

    #[wasm_bindgen(method, catch)]
    fn serve(
        this: &Stub,
        method: &str,
        target: &str,
        lines: &str,
        body: Option<&Uint8Array>,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn empty(this: &Stub) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub(super) fn ask(
        this: &Stub,
        project: &str,
        key: &str,
        address: Option<String>,
        lines: &str,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub(super) fn settle(
        this: &Stub,
        project: &str,
        key: &str,
        address: Option<String>,
        wrong: u32,
        lines: &str,
    ) -> Result<Promise, JsValue>;

    /// What an object counted of itself, and how much waits in it, as JSON.
    #[wasm_bindgen(method, catch)]
    fn figures(this: &Stub) -> Result<Promise, JsValue>;

    type Fetcher;

    #[wasm_bindgen(method, catch)]
    fn fetch(this: &Fetcher, url: &str) -> Result<Promise, JsValue>;

    /// What came of a promise.
    type Settled;

    #[wasm_bindgen(method, getter)]
    fn value(this: &Settled) -> JsValue;

    /// What the runtime throws when an object cannot take more.
    type Thrown;

    #[wasm_bindgen(method, getter)]
    fn overloaded(this: &Thrown) -> Option<bool>;
}

/// Why there is no answer.
pub(super) enum Failure {
    /// The object has too much to do; a retry at once would make it worse.
    Overloaded,
    /// Something of ours failed.
    Fault(Fault),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Fault(fault)
    }
}

impl From<JsValue> for Failure {
    fn from(error: JsValue) -> Failure {
        Failure::Fault(Fault::new(durable::describe(&error)))
    }
}

impl From<worker::Error> for Failure {
    fn from(error: worker::Error) -> Failure {
        Failure::Fault(Fault::new(error.to_string()))
    }
}

impl From<worker::KvError> for Failure {
    fn from(error: worker::KvError) -> Failure {
        Failure::Fault(Fault::new(format!("KV: {error:?}")))
    }
}

/// A call for an object: a method, a target (path and query), header lines, perhaps a body.
pub(super) struct Call<'a> {
    pub method: &'a str,
    pub target: &'a str,
    pub lines: &'a str,
    pub body: Option<&'a Uint8Array>,
}

/// What an object or a file answered.
pub(super) struct Answer {
    pub status: u16,
    pub lines: String,
    pub bytes: Uint8Array,
}

/// An answer in parts: the first of them, where the next begins, and how the object is asked for it.
pub(super) struct Parts {
    pub answer: Answer,
    pub next: String,
    pub stub: Stub,
    pub target: String,
    pub lines: String,
}

impl Bindings {
    /// The object with a name: `directory` or `project:{id}`.
    pub(super) fn stub(&self, object: &str) -> Result<Stub, JsValue> {
        match object.strip_prefix("project:") {
            Some(project) => self.project().get_by_name(project),
            None => self.directory().get_by_name(object),
        }
    }

    /// Asks an object.
    pub(super) async fn ask(&self, object: &str, call: Call<'_>) -> Result<Answer, Failure> {
        let stub = self.stub(object)?;
        match JsFuture::from(stub.serve(call.method, call.target, call.lines, call.body)?).await {
            Ok(answer) => {
                let answer = Array::from(&answer);
                Ok(Answer {
                    status: answer.get(0).as_f64().map_or(500, |status| status as u16),
                    lines: answer.get(1).as_string().unwrap_or_default(),
                    bytes: answer.get(2).unchecked_into(),
                })
            }
            Err(error) if error.is_object() && error.unchecked_ref::<Thrown>().overloaded() == Some(true) => {
                Err(Failure::Overloaded)
            }
            Err(error) => Err(Fault::new(format!("object `{object}`: {}", durable::describe(&error))).into()),
        }
    }

    /// Empties the object of a project for good.
    pub(super) async fn empty(&self, project: &str) -> Result<(), Failure> {
        JsFuture::from(self.project().get_by_name(project)?.empty()?).await?;
        Ok(())
    }

    /// The token of whoever runs the service, if there is one.
    pub(super) fn metrics_token(&self) -> Option<String> {
        self.metrics_token_bound().as_string().filter(|token| !token.is_empty())
    }

    /// What the objects of projects say of themselves, all asked at once; nothing of one that fails.
    pub(super) async fn figures_of(&self, projects: &[String]) -> Result<Vec<Option<String>>, Failure> {
        let namespace = self.project();
        let asked = Array::new();
        for project in projects {
            let told: Promise = namespace.get_by_name(project)?.figures()?;
            asked.push(&told);
        }
        let settled = JsFuture::from(Promise::all_settled(&asked)).await?;
        Ok(Array::from(&settled).iter().map(|one| one.unchecked_into::<Settled>().value().as_string()).collect())
    }

    /// Whether a file can be written beside the objects; on Cloudflare there are no files, and nothing that could say no.
    pub(super) async fn disk_takes_writes(&self) -> bool {
        match self.disk() {
            None => true,
            Some(disk) => JsFuture::from(takes_writes(&disk)).await.is_ok_and(|taken| taken.is_truthy()),
        }
    }

    /// The gate of a project.
    pub(super) fn gate_of(&self, project: &str) -> Result<Stub, JsValue> {
        self.gate().ok_or_else(|| JsValue::from_str("there is no binding GATE"))?.get_by_name(project)
    }

    /// The bytes of the file at a path, or nothing when there is none.
    pub(super) async fn file(&self, path: &str) -> Result<Option<Uint8Array>, Failure> {
        let Some(assets) = self.assets() else { return Ok(None) };
        let response = JsFuture::from(assets.fetch(&format!("http://assets{path}"))?).await?;
        let response: web_sys::Response = response.unchecked_into();
        if response.status() != 200 {
            return Ok(None);
        }
        let bytes = JsFuture::from(response.array_buffer()?).await?;
        Ok(Some(Uint8Array::new(&bytes)))
    }
}

/// A request without its body.
pub(super) fn read_head(raw: &web_sys::Request) -> Request {
    let url = raw.url();
    // `scheme://host/path?query`: what follows the third slash.
    let mut parts = url.splitn(4, '/');
    let (scheme, _, host) = (parts.next(), parts.next(), parts.next());
    let target = parts.next().unwrap_or_default().split('#').next().unwrap_or_default();
    let mut request =
        wire::read_request(&raw.method(), &format!("/{target}"), &header_lines(&raw.headers()), Vec::new());
    request.headers.retain(|(name, _)| name != VOUCHED);
    if is_on_cloudflare(raw)
        && let Some(address) = header(&request, "cf-connecting-ip").map(str::to_owned)
    {
        request.headers.push((VOUCHED.to_owned(), address));
    }
    // A browser names no origin when a page reads from where it came; that it is so, it says in a header of its own.
    let same = header(&request, "sec-fetch-site") == Some("same-origin") && header(&request, "origin").is_none();
    if let (true, Some(scheme), Some(host)) = (same, scheme, host) {
        request.headers.push(("origin".to_owned(), format!("{scheme}//{host}")));
    }
    request
}

/// Waits.
pub(super) async fn pause(millis: u64) {
    // Nothing refuses it.
    let _ = JsFuture::from(pause_for(millis as f64)).await;
}

/// What came of reading a body.
pub(super) enum Body {
    /// All of it. It stays in JavaScript: the entry does not look at it.
    Whole(Uint8Array),
    /// It is longer than was asked for.
    TooLong,
    /// It is not what its head promised: a chunk without a length, an end too early.
    Broken,
    /// It did not come in time.
    Late,
}

/// The body of a request, of at most `most` bytes.
pub(super) async fn read_body(raw: &web_sys::Request, most: usize) -> Result<Body, Failure> {
    let body = JsFuture::from(read_body_of(raw, most as f64)).await?;
    match body.as_string().as_deref() {
        None => Ok(Body::Whole(body.unchecked_into())),
        Some("too long") => Ok(Body::TooLong),
        Some("late") => Ok(Body::Late),
        Some(_) => Ok(Body::Broken),
    }
}

/// An object's answer as a response.
pub(super) fn respond(answer: &Answer) -> Result<web_sys::Response, worker::Error> {
    Ok(respond_with(answer.status, &answer.lines, &answer.bytes)?)
}

/// A reply as a response.
pub(super) fn respond_reply(reply: &Reply) -> Result<web_sys::Response, worker::Error> {
    let lines = wire::write_reply_lines(reply);
    Ok(respond_with(reply.status, &lines, &Uint8Array::from(reply.body.as_slice()))?)
}

/// An answer in parts as a response, whose body is read from its object as fast as the caller reads it.
pub(super) fn respond_in_parts(parts: &Parts) -> Result<web_sys::Response, worker::Error> {
    let Parts { answer, next, stub, target, lines } = parts;
    let first = Array::of3(&JsValue::from(answer.status), &JsValue::from_str(&answer.lines), &answer.bytes);
    Ok(respond_with_parts(&first, next, stub, target, lines)?)
}

/// The address that a request came to, as its caller sees it: a proxy before us may have spoken another scheme with them.
pub(super) fn origin_of(raw: &web_sys::Request, request: &Request) -> String {
    let url = raw.url();
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", ""));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let spoken = header(request, "x-forwarded-proto").filter(|spoken| matches!(*spoken, "http" | "https"));
    format!("{}://{host}", spoken.unwrap_or(scheme))
}
