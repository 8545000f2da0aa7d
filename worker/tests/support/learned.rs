//! What answers look like, learned from those that were given: schemas of the description, and whether an answer fits one.
//! It must not know what any answer means.

use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Fields whose names are the caller's, or say which thing is meant.
const MAPS: &[&str] =
    &["bundle", "openapi", "metadata", "rules", "bundle_rules", "properties", "filter", "campaigns", "attributes"];
/// Fields that hold one of few words, which are told.
const WORDS: &[&str] = &["object", "data_ref", "$ref"];

/// What was seen in one place.
#[derive(Default)]
pub struct Seen {
    objects: usize,
    kinds: BTreeSet<&'static str>,
    words: BTreeSet<String>,
    members: BTreeMap<String, (usize, Seen)>,
    items: Option<Box<Seen>>,
    is_map: bool,
}

impl Seen {
    /// Sees a value in a place of this name.
    pub fn see(&mut self, name: &str, value: &Json) {
        self.kinds.insert(kind(value));
        match value {
            Json::String(word) if WORDS.contains(&name) => drop(self.words.insert(word.clone())),
            Json::Array(items) => {
                let seen = self.items.get_or_insert_default();
                items.iter().for_each(|item| seen.see("", item));
            }
            Json::Object(members) => {
                self.objects += 1;
                // What an order remembers of redemptions stands under their ids.
                self.is_map |= MAPS.contains(&name) || members.keys().any(|key| key.starts_with("r_"));
                if !self.is_map {
                    for (name, value) in members {
                        let (times, seen) = self.members.entry(name.clone()).or_default();
                        *times += 1;
                        seen.see(name, value);
                    }
                }
            }
            _ => {}
        }
    }

    /// The schema that everything seen here fits.
    pub fn schema(&self) -> Json {
        if let Some((_, named)) = self.members.get("$ref") {
            let mut named: Vec<Json> = named.words.iter().map(|name| json!({ "$ref": reference(name) })).collect();
            return if named.len() == 1 { named.remove(0) } else { json!({ "anyOf": named }) };
        }
        let mut schema = Map::new();
        // A whole number is a number.
        let kinds = self.kinds.iter().filter(|kind| **kind != "integer" || !self.kinds.contains("number"));
        let kinds: Vec<&str> = kinds.copied().collect();
        match kinds.as_slice() {
            [] => {}
            [kind] => drop(schema.insert("type".into(), (*kind).into())),
            kinds => drop(schema.insert("type".into(), kinds.to_vec().into())),
        }
        if !self.words.is_empty() {
            let null = self.kinds.contains("null").then_some(Json::Null);
            schema.insert("enum".into(), self.words.iter().map(|word| word.as_str().into()).chain(null).collect());
        }
        if let Some(items) = &self.items {
            schema.insert("items".into(), items.schema());
        }
        if self.is_map {
            schema.insert("additionalProperties".into(), true.into());
        } else if self.objects > 0 {
            let properties = self.members.iter().map(|(name, (_, seen))| (name.clone(), seen.schema()));
            schema.insert("properties".into(), Json::Object(properties.collect()));
            let always = self.members.iter().filter(|(_, (times, _))| *times == self.objects);
            let always: Vec<&str> = always.map(|(name, _)| name.as_str()).collect();
            if !always.is_empty() {
                schema.insert("required".into(), always.into());
            }
        }
        Json::Object(schema)
    }
}

/// Where the description has the schema of this name.
fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// Where a value does not fit a schema of this description, and why. A member that the schema does not name does not fit.
pub fn misfit(document: &Json, schema: &Json, value: &Json, path: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let named = document.pointer(name.trim_start_matches('#'));
        return named.map_or(Some(format!("{name} is missing")), |named| misfit(document, named, value, path));
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let told: Option<Vec<String>> = any.iter().map(|schema| misfit(document, schema, value, path)).collect();
        return told.map(|told| told.join("; or "));
    }
    let found = kind(value);
    let is = |wanted: &Json| wanted == found || wanted == "number" && found == "integer";
    let fits = match &schema["type"] {
        Json::Null => true,
        Json::Array(kinds) => kinds.iter().any(is),
        one => is(one),
    };
    if !fits {
        return Some(format!("{path} is {value}, which is not of the type {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return Some(format!("{path} is {value}, which is none of {}", schema["enum"]));
    }
    if let (Json::Array(items), Some(wanted)) = (value, schema.get("items")) {
        let mut items = items.iter().enumerate();
        return items.find_map(|(place, item)| misfit(document, wanted, item, &format!("{path}/{place}")));
    }
    let (Json::Object(members), Some(properties)) = (value, schema["properties"].as_object()) else { return None };
    let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
    if let Some(name) = required.find(|name| !members.contains_key(*name)) {
        return Some(format!("{path} lacks {name}"));
    }
    members.iter().find_map(|(name, value)| match properties.get(name) {
        Some(wanted) => misfit(document, wanted, value, &format!("{path}/{name}")),
        None => Some(format!("{path}/{name} is not described: {value}")),
    })
}

/// The answers of a whole run, by what they are.
#[derive(Default)]
pub struct Learned {
    answers: BTreeMap<String, Seen>,
    lists: BTreeMap<String, Seen>,
}

impl Learned {
    /// Sees an answer: one thing under the name of what the route answers, a list under the route's own.
    pub fn see(&mut self, operation: &str, answers: &str, body: &Json) {
        let data = body["data_ref"].as_str().filter(|_| body["object"] == "list");
        let Some(data) = data.filter(|data| body[*data].is_array()) else {
            return self.answers.entry(answers.to_owned()).or_default().see(answers, body);
        };
        let mut bare = body.clone();
        for item in bare[data].as_array_mut().into_iter().flatten() {
            let name = match item["object"].as_str().filter(|_| item["id"].is_string()) {
                Some(object) => object.to_owned(),
                None => format!("{answers}_entry"),
            };
            self.answers.entry(name.clone()).or_default().see("", item);
            *item = json!({ "$ref": name });
        }
        self.lists.entry(operation.to_owned()).or_default().see("", &bare);
    }

    /// What the description is generated from: schemas by name, and the lists by operation.
    pub fn written(&self) -> Json {
        let schemas: Map<String, Json> =
            self.answers.iter().map(|(name, seen)| (name.clone(), seen.schema())).collect();
        json!({ "schemas": schemas, "lists": Json::Object(self.lists.iter().map(|(name, seen)| (name.clone(), seen.schema())).collect()) })
    }
}
