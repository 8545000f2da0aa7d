//! Compares an answer with its published form and with the sent request.

use serde_json::{Map, Value as Json};

/// A difference from the published form.
pub struct Problem {
    pub what: &'static str,
    pub operation: String,
    pub place: String,
    pub label: String,
    message: String,
}

impl Problem {
    pub fn written(&self) -> String {
        let Problem { what, operation, place, label, message } = self;
        format!("{what} {operation} {place} {label} {message}")
    }
}

/// One answer to one example.
pub struct AnswerCheck<'h> {
    pub shapes: &'h Map<String, Json>,
    pub operation: &'h str,
    pub label: &'h str,
    pub problems: &'h mut Vec<Problem>,
}

impl<'h> AnswerCheck<'h> {
    pub fn wrong(&mut self, what: &'static str, place: &str, message: String) {
        let (operation, place) = (self.operation.to_owned(), if place.is_empty() { "." } else { place }.to_owned());
        self.problems.push(Problem { what, operation, place, label: self.label.to_owned(), message });
    }

    /// Checks that all required members are present, and that every member has the published type and value.
    pub fn fits(&mut self, shape: &Json, value: &Json, place: &str) {
        let found = misfits(self.shapes, shape, value, place);
        found.into_iter().for_each(|(what, place, message)| self.wrong(what, &place, message));
    }

    /// Checks that every sent member which the answer has by its published form is returned unchanged.
    pub fn returns_what_was_sent(&mut self, shape: &Json, sent: &Json, returned: &Json, place: &str) {
        match (sent, returned) {
            (Json::Null, _) => {}
            (Json::Object(members), Json::Object(found)) => {
                for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                    let place = format!("{place}.{name}");
                    let shape = member(self.shapes, shape, name);
                    match (found.get(name), shape) {
                        (Some(back), Some(shape)) => self.returns_what_was_sent(shape, value, back, &place),
                        (None, Some(_)) => self.wrong("absent", &place, format!("of {value}")),
                        (_, None) => {}
                    }
                }
            }
            (Json::Array(sent), Json::Array(found)) if sent.len() == found.len() => {
                let shape = items(self.shapes, shape).unwrap_or(&Json::Null);
                let pairs = sent.iter().zip(found);
                pairs.for_each(|(sent, found)| self.returns_what_was_sent(shape, sent, found, &format!("{place}[]")));
            }
            // The answer to a list request is not always a list.
            (Json::Array(_), Json::Object(_)) => {}
            (Json::Number(one), Json::Number(other)) if one.as_f64() == other.as_f64() => {}
            _ if sent == returned => {}
            _ => self.wrong("differs", place, format!("{returned} where {sent} was sent")),
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
    // The shape with the discriminator first, and then the one that fits best.
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
    let here = |what: &'static str, message: String| vec![(what, place.to_owned(), message)];
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
