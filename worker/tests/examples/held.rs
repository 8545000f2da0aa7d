//! Holds an answer to what is published of it, and to what was sent. It must not know what any member means.

use serde_json::{Map, Value as Json};

/// What is otherwise than it is published.
pub struct Problem {
    pub what: &'static str,
    pub operation: String,
    pub place: String,
    pub label: String,
    told: String,
}

impl Problem {
    pub fn written(&self) -> String {
        let Problem { what, operation, place, label, told } = self;
        format!("{what} {operation} {place} {label} {told}")
    }
}

/// One answer to one example.
pub struct Held<'h> {
    pub shapes: &'h Map<String, Json>,
    pub operation: &'h str,
    pub label: &'h str,
    pub problems: &'h mut Vec<Problem>,
}

impl<'h> Held<'h> {
    pub fn wrong(&mut self, what: &'static str, place: &str, told: String) {
        let (operation, place) = (self.operation.to_owned(), if place.is_empty() { "." } else { place }.to_owned());
        self.problems.push(Problem { what, operation, place, label: self.label.to_owned(), told });
    }

    /// Every member that is published as always there is there, and whatever is there is of the published kind and word.
    pub fn fits(&mut self, shape: &Json, value: &Json, place: &str) {
        let found = misfits(self.shapes, shape, value, place);
        found.into_iter().for_each(|(what, place, told)| self.wrong(what, &place, told));
    }

    /// Whatever was sent and is published of the answer comes back as it was sent.
    pub fn told_back(&mut self, shape: &Json, sent: &Json, told: &Json, place: &str) {
        match (sent, told) {
            (Json::Null, _) => {}
            (Json::Object(members), Json::Object(found)) => {
                for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    let place = format!("{place}.{name}");
                    let shape = member(self.shapes, shape, name);
                    match (found.get(name), shape) {
                        (Some(back), Some(shape)) => self.told_back(shape, value, back, &place),
                        (None, Some(_)) => self.wrong("absent", &place, format!("of {value}")),
                        (_, None) => {}
                    }
                }
            }
            (Json::Array(sent), Json::Array(found)) if sent.len() == found.len() => {
                let shape = items(self.shapes, shape).unwrap_or(&Json::Null);
                let pairs = sent.iter().zip(found);
                pairs.for_each(|(sent, found)| self.told_back(shape, sent, found, &format!("{place}[]")));
            }
            // What answers a list is not always a list.
            (Json::Array(_), Json::Object(_)) => {}
            (Json::Number(one), Json::Number(other)) if one.as_f64() == other.as_f64() => {}
            _ if sent == told => {}
            _ => self.wrong("differs", place, format!("{told} where {sent} was sent")),
        }
    }
}

/// The shape behind a name, and the shapes that it may be.
fn alternatives<'h>(shapes: &'h Map<String, Json>, shape: &'h Json) -> Vec<&'h Json> {
    if let Some(name) = shape["$ref"].as_str() {
        return alternatives(shapes, &shapes[name.rsplit('/').next().unwrap()]);
    }
    match shape["anyOf"].as_array() {
        Some(any) => any.iter().flat_map(|one| alternatives(shapes, one)).collect(),
        None => vec![shape],
    }
}

fn member<'h>(shapes: &'h Map<String, Json>, shape: &'h Json, name: &str) -> Option<&'h Json> {
    alternatives(shapes, shape).into_iter().find_map(|one| one["properties"].get(name))
}

fn items<'h>(shapes: &'h Map<String, Json>, shape: &'h Json) -> Option<&'h Json> {
    alternatives(shapes, shape).into_iter().find_map(|one| one.get("items"))
}

type Misfit = (&'static str, String, String);

fn misfits(shapes: &Map<String, Json>, shape: &Json, value: &Json, place: &str) -> Vec<Misfit> {
    let each = alternatives(shapes, shape).into_iter().map(|one| misfits_of_one(shapes, one, value, place));
    // The one that says what type it is of, and then the one that fits best.
    let word = format!("{place}.type");
    let is_other = |found: &[Misfit]| found.iter().any(|(what, place, _)| *what == "word" && *place == word);
    each.min_by_key(|found| (is_other(found), found.len())).unwrap_or_default()
}

fn misfits_of_one(shapes: &Map<String, Json>, shape: &Json, value: &Json, place: &str) -> Vec<Misfit> {
    let is = |wanted: &Json| wanted == kind(value) || wanted == "number" && kind(value) == "integer";
    let of_kind = match &shape["type"] {
        Json::Null => true,
        Json::Array(kinds) => kinds.iter().any(is),
        one => is(one),
    };
    let here = |what: &'static str, told: String| vec![(what, place.to_owned(), told)];
    if !of_kind {
        return here(if value.is_null() { "null" } else { "kind" }, format!("{value} is no {}", shape["type"]));
    }
    if shape["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return here("word", format!("{value} is none of {}", shape["enum"]));
    }
    match value {
        Json::Array(values) => {
            let Some(shape) = shape.get("items") else { return Vec::new() };
            values.iter().flat_map(|value| misfits(shapes, shape, value, &format!("{place}[]"))).collect()
        }
        Json::Object(members) => {
            let required = shape["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
            let lacking = required.filter(|name| !members.contains_key(*name));
            let mut found: Vec<Misfit> =
                lacking.map(|name| ("lacks", format!("{place}.{name}"), String::new())).collect();
            for (name, value) in members {
                if let Some(shape) = shape["properties"].get(name) {
                    found.extend(misfits(shapes, shape, value, &format!("{place}.{name}")));
                }
            }
            found
        }
        _ => Vec::new(),
    }
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
