//! Records the fields that the stories send, and finds those that an answer returns.

use crate::published_operations::{ListedField, Operation, shape_of};
use crate::story;
use scrip_worker::routes::TABLE;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// A call of a story with its answer.
struct ObservedCall<'s> {
    method: &'s str,
    path: &'s str,
    query: &'s str,
    sent: &'s Json,
    status: u16,
    answer: &'s Json,
}

/// Converts a form to an object.
fn form_of(body: &[u8]) -> Json {
    let text = String::from_utf8_lossy(body);
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), Json::from(value))).collect()
}

/// The fields of accepted calls, by `METHOD /path`; keys of free objects are as sent.
#[derive(Default)]
pub struct FieldCoverage {
    echoed: BTreeMap<String, BTreeSet<String>>,
    /// By story, then by call.
    sent: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

type Leaf = (Vec<String>, Json);

impl FieldCoverage {
    pub fn of_all_stories() -> FieldCoverage {
        let mut coverage = FieldCoverage::default();
        for (name, story) in story::read_all("") {
            let mut pending: Vec<(String, Leaf)> = Vec::new();
            let outcome = story::run(&story, &mut |request, reply, answer| {
                let is_file = request.headers.iter().any(|(name, value)| {
                    name == "content-type" && (value.starts_with("text/csv") || value.starts_with("multipart/"))
                });
                let sent = match is_file {
                    true => serde_json::json!({ "file": "as it came" }),
                    false => serde_json::from_slice(&request.body).unwrap_or_else(|_| form_of(&request.body)),
                };
                let (method, path, query) = (&request.method, &request.path, &request.query);
                let seen = ObservedCall { method, path, query, sent: &sent, status: reply.status, answer };
                coverage.look(&name, &seen, &mut pending);
                Ok(())
            });
            outcome.unwrap_or_else(|problem| panic!("{name}: {problem}"));
        }
        coverage
    }

    fn look(&mut self, story: &str, seen: &ObservedCall<'_>, pending: &mut Vec<(String, Leaf)>) {
        let Ok(found) = TABLE.find(seen.method, seen.path) else { return };
        if !(200..300).contains(&seen.status) {
            return;
        }
        let call = shape_of(&format!("{} {}", seen.method, found.route.path));
        let mut sent = Vec::new();
        leaves(seen.sent, &mut Vec::new(), &mut sent);
        let mut shown = Vec::new();
        // Listed objects are searched independently of the name of their list.
        let listed = seen.answer["data_ref"].as_str().and_then(|name| seen.answer.get(name));
        leaves(listed.unwrap_or(seen.answer), &mut Vec::new(), &mut shown);
        let mut answered: BTreeMap<String, Vec<Leaf>> = BTreeMap::new();
        shown.into_iter().for_each(|leaf| answered.entry(last(&leaf.0).to_owned()).or_default().push(leaf));
        let of = |(path, _): &Leaf| answered.get(last(path)).map_or(&[][..], Vec::as_slice);
        let known = self.sent.entry(story.to_owned()).or_default().entry(call.clone()).or_default();
        known.extend(sent.iter().map(|(path, _)| written(path)));
        known.extend(seen.query.split('&').filter(|pair| !pair.is_empty()).map(parameter));
        // The values of a call are searched for in its own answer, and then in every later one of the story.
        pending.retain(|(call, leaf)| {
            let back = of(leaf).iter().any(|shown| is_same(leaf, shown, false));
            if back {
                self.echoed.entry(call.clone()).or_default().insert(written(&leaf.0));
            }
            !back
        });
        for leaf in sent {
            if of(&leaf).iter().any(|shown| is_same(&leaf, shown, true)) {
                self.echoed.entry(call.clone()).or_default().insert(written(&leaf.0));
            } else if !self.echoed.get(&call).is_some_and(|known| known.contains(&written(&leaf.0))) {
                pending.push((call.clone(), leaf));
            }
        }
    }

    pub fn has_echoed(&self, call: &str, field: &str) -> bool {
        self.echoed.get(call).is_some_and(|paths| paths.iter().any(|path| is_field(path, field)))
    }

    /// Returns true if any story sends the field to a call.
    pub fn sent_to(&self, call: &str, field: &str) -> bool {
        self.sent
            .values()
            .any(|calls| calls.get(call).is_some_and(|paths| paths.iter().any(|path| is_field(path, field))))
    }

    /// Returns true if a story sends a field to the operation, or to one of several operations that the list names together.
    pub fn has_sent(&self, story: &str, operation: &Operation, said: &ListedField, field: &str) -> bool {
        let Some(calls) = self.sent.get(story) else { return false };
        let own = operation.shape();
        let has = |paths: &BTreeSet<String>| paths.iter().any(|path| is_field(path, field));
        calls.iter().any(|(call, paths)| (*call == own || said.is_of(call)) && has(paths))
    }
}

/// Collects every plain value of a document, and every empty list and object, with its path; indices of lists are dropped.
fn leaves(value: &Json, path: &mut Vec<String>, into: &mut Vec<Leaf>) {
    match value {
        Json::Object(fields) if !fields.is_empty() => {
            for (name, inner) in fields {
                path.push(name.clone());
                leaves(inner, path, into);
                path.pop();
            }
        }
        Json::Array(items) if !items.is_empty() => {
            path.push("[]".into());
            items.iter().for_each(|item| leaves(item, path, into));
            path.pop();
        }
        Json::Null if path.is_empty() => {}
        value => into.push((path.clone(), value.clone())),
    }
}

/// Returns true if a value is returned where it was sent, or below or above that path: `customer.address.city` is the customer's own
/// `address.city`. In an answer to another call, a flag or a small number proves nothing.
fn is_same((sent, value): &Leaf, (shown, found): &Leaf, own: bool) -> bool {
    if !is_equal(value, found) {
        return false;
    }
    let distinct = match value {
        Json::String(text) => text.len() > 2,
        Json::Number(number) => number.as_f64().is_some_and(|number| number.abs() > 9.0),
        _ => false,
    };
    let (sent, shown) = (named(sent), named(shown));
    let fits = sent.ends_with(&shown) || shown.ends_with(&sent);
    !shown.is_empty() && fits && (own || distinct || sent == shown)
}

/// Returns the last name of a path: a returned value has its own name, at any place.
fn last(path: &[String]) -> &str {
    path.iter().rfind(|part| *part != "[]").map_or("", String::as_str)
}

fn named(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).filter(|part| *part != "[]").collect()
}

/// Compares dates as timestamps and numbers by value.
fn is_equal(sent: &Json, shown: &Json) -> bool {
    match (sent, shown) {
        (Json::Number(sent), Json::Number(shown)) => sent.as_f64() == shown.as_f64(),
        (Json::String(sent), Json::String(shown)) => {
            let moment = scrip_worker::timestamp::parse;
            let is_date = |text: &str| text.starts_with(['1', '2']) && text.contains('-');
            sent == shown || is_date(sent) && is_date(shown) && moment(sent).is_some_and(|at| moment(shown) == Some(at))
        }
        _ => sent == shown,
    }
}

fn written(path: &[String]) -> String {
    path.iter().fold(String::new(), |mut text, part| {
        if part != "[]" && !text.is_empty() {
            text.push('.');
        }
        text.push_str(part);
        text
    })
}

/// `filters[code][conditions][$in][0]=x` is `?filters.code.conditions.$in[]`.
fn parameter(pair: &str) -> String {
    let name = scrip_worker::http::query::decode_form(pair.split('=').next().unwrap_or_default());
    let mut text = String::from("?");
    for part in name.split(['[', ']']).filter(|part| !part.is_empty()) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            text.push_str("[]");
        } else {
            if text.len() > 1 {
                text.push('.');
            }
            text.push_str(part);
        }
    }
    text
}

/// Returns true if the sent value is this field or lies within it. `*` is any key; one value of a list may be sent without its index.
fn is_field(sent: &str, field: &str) -> bool {
    let (sent, field): (Vec<&str>, Vec<&str>) = (sent.split('.').collect(), field.split('.').collect());
    let last = field.len().saturating_sub(1);
    field.len() <= sent.len()
        && field.iter().zip(&sent).enumerate().all(|(place, (field, sent))| {
            let is_value = place == last && field.trim_end_matches("[]") == sent.trim_end_matches("[]");
            *field == "*" || field == sent || is_value
        })
}
