//! Decides what happens to a request before an object sees it: its identifier, its size, whose it is, where it goes.
//! It must not know routes, rules or documents, and it keeps nothing but the records of keys, for a minute.
//!
//! This is the only asynchronous code of the Worker. It runs in an instance of its own, so that an instance of the
//! engine that trapped can be made anew while requests are waiting here.

use js_sys::futures::JsFuture;
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::web_sys;
use worker::{Context, Env, event};

use super::{asset, chance, durable, key, wire};
use crate::auth::{self, Wanted};
use crate::reply::BODY_BYTES_MAX;
use crate::service::{self, Reply, Request};
use crate::store::sql::Fault;

#[wasm_bindgen(module = "/src/host/request.js")]
extern "C" {
    #[wasm_bindgen(js_name = headerLines)]
    fn header_lines(headers: &web_sys::Headers) -> String;

    #[wasm_bindgen(js_name = readBody)]
    fn read_body(request: &web_sys::Request, most: f64) -> Promise;

    #[wasm_bindgen(catch)]
    fn respond(status: u16, lines: &str, bytes: &Uint8Array) -> Result<web_sys::Response, JsValue>;
}

#[wasm_bindgen]
extern "C" {
    /// The bindings of the Worker, as far as they are used here.
    pub(super) type Bindings;

    #[wasm_bindgen(method, getter, js_name = PROJECT)]
    fn project(this: &Bindings) -> Namespace;

    #[wasm_bindgen(method, getter, js_name = DIRECTORY)]
    fn directory(this: &Bindings) -> Namespace;

    #[wasm_bindgen(method, getter, js_name = ASSETS)]
    fn assets(this: &Bindings) -> Option<Fetcher>;

    type Namespace;

    #[wasm_bindgen(method, catch, js_name = getByName)]
    fn get_by_name(this: &Namespace, name: &str) -> Result<Stub, JsValue>;

    /// An object of ours; `serve` is the one method of its shell.
    type Stub;

    #[wasm_bindgen(method, catch)]
    fn serve(
        this: &Stub,
        method: &str,
        target: &str,
        lines: &str,
        body: Option<&Uint8Array>,
    ) -> Result<Promise, JsValue>;

    type Fetcher;

    #[wasm_bindgen(method, catch)]
    fn fetch(this: &Fetcher, url: &str) -> Result<Promise, JsValue>;

    /// What the runtime throws when an object cannot take more.
    type Thrown;

    #[wasm_bindgen(method, getter)]
    fn overloaded(this: &Thrown) -> Option<bool>;
}

/// Why no object answered.
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

/// What an object answered.
pub(super) struct Answer {
    pub status: u16,
    pub lines: String,
    pub bytes: Uint8Array,
}

impl Bindings {
    /// Asks an object: `directory` or `project:{id}`.
    pub(super) async fn ask(
        &self,
        object: &str,
        method: &str,
        target: &str,
        lines: &str,
        body: Option<&Uint8Array>,
    ) -> Result<Answer, Failure> {
        let stub = match object.strip_prefix("project:") {
            Some(project) => self.project().get_by_name(project)?,
            None => self.directory().get_by_name(object)?,
        };
        match JsFuture::from(stub.serve(method, target, lines, body)?).await {
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
}

/// Answers one HTTP request.
#[event(fetch)]
async fn fetch(raw: web_sys::Request, env: Env, context: Context) -> Result<web_sys::Response, worker::Error> {
    let request_id = chance::request_id().map_err(|fault| worker::Error::RustError(fault.0))?;
    let request = read_head(&raw);
    let outcome = answer(&raw, &request, &env, &context, &request_id).await;
    let reply = match outcome {
        Ok(Outcome::Answer(answer)) => return Ok(respond(answer.status, &answer.lines, &answer.bytes)?),
        Ok(Outcome::Reply(reply)) => reply,
        Err(Failure::Overloaded) => overloaded(&request_id),
        Err(Failure::Fault(fault)) => {
            worker::console_error!("{request_id} failed in the entry: {fault}");
            service::failed(&request_id)
        }
    };
    let lines = wire::write_lines(&reply.headers);
    Ok(respond(reply.status, &lines, &Uint8Array::from(reply.body.as_slice()))?)
}

/// What the caller gets.
enum Outcome {
    /// An object's answer, passed on untouched.
    Answer(Answer),
    /// A reply made here.
    Reply(Reply),
}

/// Finds out who asks, and lets the right object answer.
async fn answer(
    raw: &web_sys::Request,
    request: &Request,
    env: &Env,
    context: &Context,
    request_id: &str,
) -> Result<Outcome, Failure> {
    let bindings: &Bindings = env.unchecked_ref();
    if let Some(path) = asset::path_of(request) {
        if let Some(answer) = file(&path, raw, bindings).await? {
            return Ok(Outcome::Answer(answer));
        }
    }
    let wanted = match auth::lookup_key(request, request_id) {
        Ok(wanted) => wanted,
        Err(reply) => return Ok(Outcome::Reply(reply)),
    };
    let (kv_key, object, path) = match wanted {
        Wanted::Answered(reply) => return Ok(Outcome::Reply(reply)),
        Wanted::Key { kv_key, object, path } => (kv_key, object, path),
    };
    let place = key::Place { kv_key: &kv_key, object: &object, path: &path };
    let record = key::find(&place, env, bindings, context, request_id).await?;
    let caller = match auth::admit(request, record.as_deref(), chance::now()?.millis(), request_id) {
        Ok(caller) => caller,
        Err(reply) => return Ok(Outcome::Reply(reply)),
    };
    let body = JsFuture::from(read_body(raw, BODY_BYTES_MAX as f64)).await?;
    let Some(body) = body.dyn_ref::<Uint8Array>() else {
        return Ok(Outcome::Reply(service::too_large(request_id)));
    };
    let lines = lines_for_object(request, &caller.header(), request_id);
    let target =
        if request.query.is_empty() { request.path.clone() } else { format!("{}?{}", request.path, request.query) };
    let object = caller.object(&request.path);
    bindings.ask(&object, &request.method, &target, &lines, Some(body)).await.map(Outcome::Answer)
}

/// The request without its body.
fn read_head(raw: &web_sys::Request) -> Request {
    let url = raw.url();
    // `scheme://host/path?query`: what follows the third slash.
    let target = url.splitn(4, '/').nth(3).unwrap_or_default();
    let target = target.split('#').next().unwrap_or_default();
    wire::read_request(&raw.method(), &format!("/{target}"), &header_lines(&raw.headers()), Vec::new())
}

/// The headers that an object sees: never a credential, and none of ours that the caller made up.
fn lines_for_object(request: &Request, caller: &str, request_id: &str) -> String {
    const CREDENTIALS: [&str; 9] = [
        "authorization",
        "cookie",
        "x-app-id",
        "x-app-token",
        "x-client-application-id",
        "x-client-token",
        "x-management-id",
        "x-management-token",
        "x-forwarded-for",
    ];
    let rehearsed = |name: &str| cfg!(feature = "rehearsal") && name.starts_with("scrip-rehearsal-");
    let mut headers: Vec<(String, String)> = request
        .headers
        .iter()
        .filter(|(name, _)| !CREDENTIALS.contains(&name.as_str()) && (!name.starts_with("scrip-") || rehearsed(name)))
        .cloned()
        .collect();
    headers.push(("scrip-caller".to_owned(), caller.to_owned()));
    headers.push(("scrip-request-id".to_owned(), request_id.to_owned()));
    wire::write_lines(&headers)
}

/// The file at a path, or nothing when there is none.
async fn file(path: &str, raw: &web_sys::Request, bindings: &Bindings) -> Result<Option<Answer>, Failure> {
    let Some(assets) = bindings.assets() else {
        return Ok(None);
    };
    let response: web_sys::Response =
        JsFuture::from(assets.fetch(&format!("http://assets{path}"))?).await?.unchecked_into();
    if response.status() != 200 {
        return Ok(None);
    }
    let bytes = JsFuture::from(response.array_buffer()?).await?;
    let bytes = if raw.method() == "HEAD" { Uint8Array::new_with_length(0) } else { Uint8Array::new(&bytes) };
    let lines =
        format!("content-type\n{}\ncache-control\nno-cache\nx-content-type-options\nnosniff\n", asset::type_of(path));
    Ok(Some(Answer { status: 200, lines, bytes }))
}

/// 429: the caller may try again in a second, we do not.
fn overloaded(request_id: &str) -> Reply {
    Reply {
        status: 429,
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("retry-after".to_owned(), "1".to_owned()),
            ("x-request-id".to_owned(), request_id.to_owned()),
        ],
        body: br#"{"code":429,"message":"Too many requests hit the API too quickly."}"#.to_vec(),
    }
}
