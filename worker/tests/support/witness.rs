//! What the stories send, and which of it comes back.

use crate::published::{Operation, Said, shape_of};
use crate::story;
use scrip_worker::table::TABLE;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// A call of a story with its answer.
struct Seen<'s> {
    method: &'s str,
    path: &'s str,
    query: &'s str,
    sent: &'s Json,
    status: u16,
    answer: &'s Json,
}

/// A form as the object that says the same.
fn form_of(body: &[u8]) -> Json {
    let text = String::from_utf8_lossy(body);
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), Json::from(value))).collect()
}

/// The fields of accepted calls, by `METHOD /path`; keys of free objects stand as they are sent.
#[derive(Default)]
pub struct Witness {
    echoed: BTreeMap<String, BTreeSet<String>>,
    /// By story, then by call.
    sent: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

type Leaf = (Vec<String>, Json);

impl Witness {
    pub fn of_all_stories() -> Witness {
        let mut witness = Witness::default();
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
                let seen = Seen { method, path, query, sent: &sent, status: reply.status, answer };
                witness.look(&name, &seen, &mut pending);
                Ok(())
            });
            outcome.unwrap_or_else(|told| panic!("{name}: {told}"));
        }
        witness
    }

    fn look(&mut self, story: &str, seen: &Seen<'_>, pending: &mut Vec<(String, Leaf)>) {
        let Ok(found) = TABLE.find(seen.method, seen.path) else { return };
        if !(200..300).contains(&seen.status) {
            return;
        }
        let call = shape_of(&format!("{} {}", seen.method, found.route.path));
        let mut sent = Vec::new();
        leaves(seen.sent, &mut Vec::new(), &mut sent);
        let mut shown = Vec::new();
        // What is listed stands for itself, whatever the list calls it.
        let listed = seen.answer["data_ref"].as_str().and_then(|name| seen.answer.get(name));
        leaves(listed.unwrap_or(seen.answer), &mut Vec::new(), &mut shown);
        let mut answered: BTreeMap<String, Vec<Leaf>> = BTreeMap::new();
        shown.into_iter().for_each(|leaf| answered.entry(last(&leaf.0).to_owned()).or_default().push(leaf));
        let of = |(path, _): &Leaf| answered.get(last(path)).map_or(&[][..], Vec::as_slice);
        let known = self.sent.entry(story.to_owned()).or_default().entry(call.clone()).or_default();
        known.extend(sent.iter().map(|(path, _)| written(path)));
        known.extend(seen.query.split('&').filter(|pair| !pair.is_empty()).map(parameter));
        // What a call sends is looked for in its own answer, and then in every later one of the story.
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

    /// Whether any story sends it to a call.
    pub fn sent_to(&self, call: &str, field: &str) -> bool {
        self.sent
            .values()
            .any(|calls| calls.get(call).is_some_and(|paths| paths.iter().any(|path| is_field(path, field))))
    }

    /// Whether a story sends a field to the operation or, where the list speaks of several at once, to one of them.
    pub fn has_sent(&self, story: &str, operation: &Operation, said: &Said, field: &str) -> bool {
        let Some(calls) = self.sent.get(story) else { return false };
        let own = operation.shape();
        let has = |paths: &BTreeSet<String>| paths.iter().any(|path| is_field(path, field));
        calls.iter().any(|(call, paths)| (*call == own || said.is_of(call)) && has(paths))
    }
}

/// Every plain value of a document, and every empty list and object, with its path; places in lists are not told apart.
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

/// A value shown where it was sent, or below or above that place: `customer.address.city` is the customer's own `address.city`. In an
/// answer to another call a flag or a small number is no witness.
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

/// The last name of a path: a value is shown under its own name, wherever.
fn last(path: &[String]) -> &str {
    path.iter().rfind(|part| *part != "[]").map_or("", String::as_str)
}

fn named(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).filter(|part| *part != "[]").collect()
}

/// Dates are shown as moments, and numbers as numbers.
fn is_equal(sent: &Json, shown: &Json) -> bool {
    match (sent, shown) {
        (Json::Number(sent), Json::Number(shown)) => sent.as_f64() == shown.as_f64(),
        (Json::String(sent), Json::String(shown)) => {
            let moment = scrip_worker::moment::parse;
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
    let name = scrip_worker::http::query::decode(pair.split('=').next().unwrap_or_default(), true);
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

/// Whether what was sent is this field or lies within it. `*` is any key; one value of a list may be sent without its place.
fn is_field(sent: &str, field: &str) -> bool {
    let (sent, field): (Vec<&str>, Vec<&str>) = (sent.split('.').collect(), field.split('.').collect());
    let last = field.len().saturating_sub(1);
    field.len() <= sent.len()
        && field.iter().zip(&sent).enumerate().all(|(place, (field, sent))| {
            let is_value = place == last && field.trim_end_matches("[]") == sent.trim_end_matches("[]");
            *field == "*" || field == sent || is_value
        })
}
