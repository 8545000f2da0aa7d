//! Runs stories: steps over HTTP with expectations, as data.
//!
//! `{ "name", "project"?, "steps": [{ "at"?, "after"?, "as"?, "call", "query"?, "headers"?, "send"?, "raw"?, "form"?, "csv"?, "expect": {
//! "status", "headers"?, "body"?, "claims"?, "absent"?, "nothing_written"? } } | { "wait": true } ] }`
//!
//! `project` selects the keys `server`, `client` and `management`, as `tests/stories/setup.json` names them; by default those of the
//! development project. Bodies match as subsets; `"$name"` is bound on first use and must be equal afterwards. Arrays match element by
//! element and in full length. A step with `in_process` cannot run over HTTP, and gives the reason. `raw` is a body as text, and `$name` in
//! it may be a whole answer. `claims` are those of the head of a bundle, and match as bodies do. `csv` is the body of a CSV file, and `repeat` a body of one repeated letter. `wait` runs the work that is due;
//! over HTTP it waits for the clock.

use crate::bundle::claims_of;
use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::routes::TABLE;
use serde_json::{Map, Value as Json};
use std::path::Path;

const STEP_FIELDS: &[&str] = &[
    "why",
    "at",
    "after",
    "as",
    "call",
    "headers",
    "send",
    "raw",
    "form",
    "csv",
    "repeat",
    "expect",
    "wait",
    "in_process",
];
/// Media types of answers that are not JSON: a story sees their text.
const FILES: &[&str] = &["text/csv", "image/svg+xml", "application/jose"];
const EXPECT_FIELDS: &[&str] = &["status", "headers", "body", "claims", "absent", "nothing_written"];

pub fn read_all(only: &str) -> Vec<(String, Json)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/stories"));
    let mut stories = Vec::new();
    for area in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(&area).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.strip_prefix(folder).unwrap().display().to_string();
            if name.ends_with(".json") && name.starts_with(only) {
                let text = std::fs::read_to_string(&file).unwrap();
                stories.push((
                    name.clone(),
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")),
                ));
            }
        }
    }
    stories.sort_by(|(one, _), (other, _)| one.cmp(other));
    stories
}

/// Returns the method and path of every call of a story, with names of earlier answers replaced by a letter.
pub fn calls(story: &Json) -> Vec<(String, String)> {
    let steps = story["steps"].as_array().unwrap().iter().filter_map(|step| step["call"].as_str());
    steps
        .map(|call| {
            let (method, target) = call.split_once(' ').unwrap();
            let path = target.split('?').next().unwrap();
            (
                method.to_owned(),
                path.split('/').map(|part| if part.contains('$') { "x" } else { part }).collect::<Vec<_>>().join("/"),
            )
        })
        .collect()
}

/// Runs a story; `see` receives every request, its answer and the answer's JSON.
pub fn run(story: &Json, see: &mut dyn FnMut(&Request, &Reply, &Json) -> Result<(), String>) -> Result<(), String> {
    run_on(&Edge::new(), story, see)
}

/// Runs a story on an existing service.
pub fn run_on(
    edge: &Edge,
    story: &Json,
    see: &mut dyn FnMut(&Request, &Reply, &Json) -> Result<(), String>,
) -> Result<(), String> {
    let project = story["project"].as_str().unwrap_or("dev");
    let project_id = format!("proj_{project}");
    let mut bound: Map<String, Json> = Map::new();
    let mut now_ms = scrip_worker::timestamp::parse("2026-03-01T00:00:00Z").unwrap();
    // The first call of a project writes its initial rows; no story tests that.
    let first = Request {
        method: "GET".into(),
        path: "/v1/campaigns".into(),
        headers: credentials("server", project, &bound)?,
        ..Request::default()
    };
    edge.send(first, now_ms, None);
    for (index, step) in story["steps"].as_array().ok_or("a story has steps")?.iter().enumerate() {
        let fault =
            |problem: String| format!("step {} ({}): {problem}", index + 1, step["call"].as_str().unwrap_or("wait"));
        check_fields(step, STEP_FIELDS).map_err(&fault)?;
        now_ms = moment(step, now_ms).map_err(&fault)?;
        if step["wait"] == true {
            while edge.alarm(&project_id, now_ms) {}
            continue;
        }
        let expect = &step["expect"];
        check_fields(expect, EXPECT_FIELDS).map_err(&fault)?;
        let sent = request(step, project, &bound)?;
        let (reads, settles) = (only_reads(&sent), settles(&sent));
        let mut before = (expect["nothing_written"] == true || (reads && !settles)).then(|| edge.rows(&project_id));
        let reply = edge.send(sent.clone(), now_ms, None);
        if reads && settles {
            before.get_or_insert_with(|| edge.rows(&project_id));
            edge.send(sent.clone(), now_ms, None);
        }
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        if expect["status"] != reply.status {
            return Err(fault(format!("status {} where {} was expected: {text}", reply.status, expect["status"])));
        }
        let is_file = reply
            .headers
            .iter()
            .any(|(name, value)| name == "content-type" && FILES.iter().any(|media| value.starts_with(media)));
        let body: Json = if text.is_empty() {
            Json::Null
        } else if is_file {
            text.clone().into()
        } else {
            serde_json::from_str(&text).map_err(|error| fault(format!("{error}: {text}")))?
        };
        see(&sent, &reply, &body).map_err(&fault)?;
        for (name, expected) in expect["headers"].as_object().into_iter().flatten() {
            let found = reply
                .headers
                .iter()
                .find(|(known, _)| known == name)
                .map_or(Json::Null, |(_, value)| value.clone().into());
            fits(expected, &found, &mut bound, name).map_err(&fault)?;
        }
        if let Some(expected) = expect.get("body") {
            fits(expected, &body, &mut bound, "").map_err(|problem| fault(format!("{problem}\n  in {text}")))?;
        }
        fit_claims(expect, &reply, &mut bound).map_err(&fault)?;
        for path in expect["absent"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            // An invalid path would be absent from everything.
            if !path.starts_with('/') {
                return Err(fault(format!("`{path}` in `absent` does not begin with `/`")));
            }
            if body.pointer(path).is_some() {
                return Err(fault(format!("{path} should be absent in {text}")));
            }
        }
        if let Some(before) = before.filter(|before| *before != edge.rows(&project_id)) {
            return Err(fault(format!("something was written: {before} became {}", edge.rows(&project_id))));
        }
    }
    Ok(())
}

/// Compares the claims of a head, if the step expects some.
fn fit_claims(expect: &Json, reply: &Reply, bound: &mut Map<String, Json>) -> Result<(), String> {
    let Some(expected) = expect.get("claims") else { return Ok(()) };
    let claims = claims_of(&reply.body)?;
    fits(expected, &claims, bound, "").map_err(|problem| format!("{problem}\n  in {claims}"))
}

/// Returns true if the route is declared as one that never writes.
fn only_reads(sent: &Request) -> bool {
    TABLE.find(&sent.method, &sent.path).is_ok_and(|matched| matched.route.is_read())
}

/// Returns true if a read settles due work of cards and tiers as the alarm would have, or makes the first key of bundles; a repeated
/// read writes nothing.
fn settles(sent: &Request) -> bool {
    let (starts, ends) =
        (["/v2/loyalties/programs/", "/v2/loyalties/memberships"], ["/client/v1/jwks", "/bundle-keys"]);
    starts.iter().any(|start| sent.path.starts_with(start)) || ends.iter().any(|end| sent.path.ends_with(end))
}

fn check_fields(object: &Json, known: &[&str]) -> Result<(), String> {
    match object.as_object().into_iter().flatten().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((name, _)) => Err(format!("the field `{name}` is unknown")),
        None => Ok(()),
    }
}

fn moment(step: &Json, now_ms: i64) -> Result<i64, String> {
    use scrip::time::{Duration, Instant, TimeZone};
    if let Some(at) = step["at"].as_str() {
        return scrip_worker::timestamp::parse(at).ok_or(format!("`{at}` is no moment"));
    }
    let Some(after) = step["after"].as_str() else { return Ok(now_ms + 1) };
    let now = Instant::from_millis(now_ms).ok_or("the clock left the calendar")?;
    let later = Duration::parse(after).and_then(|duration| now.after(&duration, &TimeZone::default()));
    later.map(Instant::millis).ok_or(format!("`{after}` is no duration"))
}

fn request(step: &Json, project: &str, bound: &Map<String, Json>) -> Result<Request, String> {
    let call = fill(step["call"].as_str().ok_or("a step has a call")?, bound);
    let (method, target) = call.split_once(' ').ok_or("a call is `METHOD /path`")?;
    // A returned link leads to the service that returned it.
    let target = target.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or(target);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers: Vec<(String, String)> = credentials(step["as"].as_str().unwrap_or("server"), project, bound)?;
    let body = if let Some(form) = step["form"].as_str() {
        headers.push(("content-type".into(), "application/x-www-form-urlencoded".into()));
        fill(form, bound).into_bytes()
    } else if let Some(csv) = step["csv"].as_str() {
        headers.push(("content-type".into(), "text/csv".into()));
        fill(csv, bound).into_bytes()
    } else if let Some(raw) = step["raw"].as_str() {
        headers.push(("content-type".into(), "application/json".into()));
        fill(raw, bound).into_bytes()
    } else if let Some(repeat) = step["repeat"].as_object() {
        headers.push(("content-type".into(), "application/json".into()));
        let times = usize::try_from(repeat["times"].as_u64().ok_or("repeat has times")?).unwrap();
        let part = |name: &str| repeat.get(name).and_then(Json::as_str).unwrap_or_default();
        format!("{}{}{}", part("before"), part("text").repeat(times), part("behind")).into_bytes()
    } else if let Some(send) = step.get("send") {
        headers.push(("content-type".into(), "application/json".into()));
        fill(&send.to_string(), bound).into_bytes()
    } else {
        Vec::new()
    };
    for (name, value) in step["headers"].as_object().into_iter().flatten() {
        headers.retain(|(known, _)| known != name);
        if let Some(value) = value.as_str() {
            headers.push((name.clone(), fill(value, bound)));
        }
    }
    Ok(Request { method: method.into(), path: path.into(), query: query.into(), headers, body })
}

fn credentials(who: &str, project: &str, bound: &Map<String, Json>) -> Result<Vec<(String, String)>, String> {
    let pair = |[id, token]: [&str; 2], name: &str, secret: &str| {
        vec![(id.to_owned(), name.to_owned()), (token.to_owned(), secret.to_owned())]
    };
    let server = |name: &str, secret: &str| pair(["x-app-id", "x-app-token"], name, secret);
    let of_project = |project: &str, kind: &str| -> Result<Vec<(String, String)>, String> {
        let (name, secret) = (format!("{project}-{kind}"), format!("{project}-{kind}-token"));
        match kind {
            "server" => Ok(server(&format!("{project}-app"), &format!("{project}-token"))),
            "management" => Ok(pair(["x-management-id", "x-management-token"], &name, &secret)),
            "client" => {
                let mut pairs = pair(["x-client-application-id", "x-client-token"], &name, &secret);
                let origin = if project == "closed" { "https://shop.example" } else { "http://localhost:3000" };
                pairs.push(("origin".into(), origin.into()));
                Ok(pairs)
            }
            other => Err(format!("`{other}` is no known caller")),
        }
    };
    match who {
        "oauth" => {
            let token = bound.get("token").and_then(Json::as_str).ok_or("as oauth: a step before binds $token")?;
            Ok(vec![("authorization".into(), format!("Bearer {token}"))])
        }
        "dora" => Ok(server("dora-app", "dora-token")),
        "dora-too" => Ok(server("dora-till", "dora-till-token")),
        "emil" => Ok(server("emil-app", "emil-token")),
        "none" => Ok(Vec::new()),
        other => match other.strip_prefix("closed-") {
            Some(kind) => of_project("closed", kind),
            None => of_project(project, other),
        },
    }
}

/// Replaces `$names` by their bound values.
fn fill(text: &str, bound: &Map<String, Json>) -> String {
    let mut names: Vec<_> = bound.iter().collect();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names.into_iter().fold(text.to_owned(), |text, (name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.replace(&format!("${name}"), &value)
    })
}

fn fits(expected: &Json, found: &Json, bound: &mut Map<String, Json>, path: &str) -> Result<(), String> {
    match (expected, found) {
        (Json::String(text), _) if text.starts_with('$') && text.len() > 1 => {
            let name = &text[1..];
            match bound.get(name) {
                None if found.is_null() => Err(format!("{path} is null and cannot be ${name}")),
                None => {
                    bound.insert(name.to_owned(), found.clone());
                    Ok(())
                }
                Some(known) if known == found => Ok(()),
                Some(known) => Err(format!("{path} is {found} where ${name} is {known}")),
            }
        }
        (Json::Object(expected), Json::Object(found)) => expected.iter().try_for_each(|(name, value)| {
            fits(value, found.get(name).unwrap_or(&Json::Null), bound, &format!("{path}/{name}"))
        }),
        (Json::Array(expected), Json::Array(found)) => {
            if expected.len() != found.len() {
                return Err(format!("{path} has {} elements where {} were expected", found.len(), expected.len()));
            }
            expected
                .iter()
                .zip(found)
                .enumerate()
                .try_for_each(|(index, (expected, found))| fits(expected, found, bound, &format!("{path}/{index}")))
        }
        _ if expected == found => Ok(()),
        (Json::String(text), Json::String(found)) if text.contains('$') && fill(text, bound) == *found => Ok(()),
        _ => Err(format!("{path} is {found} where {expected} was expected")),
    }
}
