//! The schemas of shapes: what a table of fields says, in the words of JSON schema. It must not know operations.

use crate::access::page::shown::disclosure::Disclosure;
use scrip::shape::{Field, Kind, Shape};
use scrip::text::LONGEST_TEXT;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// Which way a value goes. What is sent may be null wherever it may be left out; what is answered only where its shape says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the caller.
    Sent,
    /// To the caller.
    Answered,
}

/// The schemas that were named so far, by their names.
#[derive(Debug, Default)]
pub struct Schemas(pub Map<String, Json>);

impl Schemas {
    /// Those that these documents name, and those that they name themselves: what a page is told of a shape may be all that is ever
    /// told of it.
    pub fn named_from(self, documents: &[&Json]) -> Map<String, Json> {
        let mut named = BTreeSet::new();
        let mut left: Vec<&Json> = documents.to_vec();
        while let Some(value) = left.pop() {
            match value {
                Json::Object(members) => left.extend(members.values()),
                Json::Array(items) => left.extend(items),
                Json::String(text) => {
                    let name = text.strip_prefix(PLACE).filter(|name| !named.contains(*name));
                    if let Some((name, schema)) = name.and_then(|name| self.0.get_key_value(name)) {
                        named.insert(name.as_str());
                        left.push(schema);
                    }
                }
                Json::Null | Json::Bool(_) | Json::Number(_) => {}
            }
        }
        let is_named: Vec<String> = named.into_iter().map(str::to_owned).collect();
        self.0.into_iter().filter(|(name, _)| is_named.contains(name)).collect()
    }

    /// The schema of a kind.
    pub fn of(&mut self, kind: &Kind, way: Way) -> Json {
        match kind {
            Kind::Text => json!({ "type": "string", "maxLength": LONGEST_TEXT }),
            Kind::Name(most) => json!({ "type": "string", "minLength": 1, "maxLength": most }),
            Kind::Int(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Kind::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
            Kind::Bool => json!({ "type": "boolean" }),
            Kind::Date => json!({ "type": "string", "format": "date" }),
            Kind::DateTime => json!({ "type": "string", "format": "date-time" }),
            Kind::Duration => json!({ "type": "string", "format": "duration" }),
            Kind::Clock => json!({ "type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$" }),
            Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
            Kind::Object(fields) => self.object(fields, way),
            Kind::Map => json!({ "type": "object", "additionalProperties": true }),
            Kind::MapOf(kind) => json!({ "type": "object", "additionalProperties": self.of(kind, way) }),
            // It passes as it is sent, so that it is the same both ways.
            Kind::Open(fields, kind) => {
                let mut schema = self.object(fields, Way::Answered);
                let each = self.of(kind, Way::Answered);
                if let Some(schema) = schema.as_object_mut() {
                    schema.insert("additionalProperties".into(), each);
                }
                schema
            }
            Kind::List(item, least, most) => list(self.of(item, way), *least, *most),
            Kind::Named(shape) => self.named(shape, way),
            Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(|kind| self.of(kind, way)).collect::<Vec<_>>() }),
            Kind::Any => json!({}),
        }
    }

    /// The schema of an object of these fields.
    pub fn object(&mut self, fields: &[Field], way: Way) -> Json {
        let properties = fields.iter().map(|field| (field.name.to_owned(), self.property(field, way))).collect();
        let required = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
        object(properties, required)
    }

    fn property(&mut self, field: &Field, way: Way) -> Json {
        let schema = self.of(&field.kind, way);
        let is_null = field.null || (way == Way::Sent && !field.required);
        described(if is_null { nullable(schema) } else { schema }, field.meaning())
    }

    /// A schema under its name. Objects that are sent have one of their own, because more of them may be null.
    fn named(&mut self, shape: &Shape, way: Way) -> Json {
        let is_own = way == Way::Answered || shape.fields().is_empty() || shape.name.ends_with("Request");
        let name = if is_own { shape.name.to_owned() } else { format!("{}Request", shape.name) };
        if !self.0.contains_key(&name) {
            // It is known by its name before what it holds is looked at.
            self.0.insert(name.clone(), Json::Null);
            let schema = described(self.of(&shape.kind, way), shape.meaning);
            self.0.insert(name.clone(), schema);
        }
        reference(&name)
    }

    /// The schema of what a page is told of a kind.
    pub fn told(&mut self, kind: &Kind, told: &Disclosure) -> Json {
        match (told, kind) {
            (Disclosure::All | Disclosure::Metadata(_), kind) => self.of(kind, Way::Answered),
            (Disclosure::Person(told), kind) => nullable(self.told(kind, told)),
            (told, Kind::List(item, least, most)) => list(self.told(item, told), *least, *most),
            (told, Kind::Either(kinds)) => {
                json!({ "anyOf": kinds.iter().map(|kind| self.told(kind, told)).collect::<Vec<_>>() })
            }
            (Disclosure::Each(told), Kind::MapOf(kind)) => {
                json!({ "type": "object", "additionalProperties": self.told(kind, told) })
            }
            (Disclosure::These(members), Kind::Object(fields)) => self.told_members(fields, members, false),
            (Disclosure::Said(members), Kind::Object(fields)) => self.told_members(fields, members, true),
            (told, Kind::Named(shape)) => {
                let schema = described(self.told(&shape.kind, told), shape.meaning);
                if schema.get("anyOf").is_some() {
                    return schema;
                }
                // Where a page is told all of it, it has no schema of its own.
                let whole = self.named(shape, Way::Answered);
                if self.0.get(shape.name) == Some(&schema) {
                    return whole;
                }
                let name = format!("Page{}", shape.name);
                let known = self.0.entry(&name).or_insert_with(|| schema.clone());
                if *known == schema { reference(&name) } else { schema }
            }
            (_, kind) => self.of(kind, Way::Answered),
        }
    }

    fn told_members(&mut self, fields: &[Field], members: &[(&str, Disclosure)], may_lack: bool) -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in fields {
            let Some((_, told)) = members.iter().find(|(name, _)| *name == field.name) else { continue };
            let schema = self.told(&field.kind, told);
            let schema = if field.null { nullable(schema) } else { schema };
            properties.insert(field.name.into(), described(schema, field.meaning()));
            if field.required && !may_lack && !matches!(told, Disclosure::Person(_)) {
                required.push(field.name);
            }
        }
        object(properties, required)
    }
}

/// Where the description has schemas.
const PLACE: &str = "#/components/schemas/";

/// Where the description has the schema of this name.
pub fn reference(name: &str) -> Json {
    json!({ "$ref": format!("{PLACE}{name}") })
}

fn object(properties: Map<String, Json>, required: Vec<&str>) -> Json {
    let mut object = json!({ "type": "object", "properties": properties });
    if let Some(object) = object.as_object_mut()
        && !required.is_empty()
    {
        object.insert("required".into(), json!(required));
    }
    object
}

fn list(items: Json, least: usize, most: usize) -> Json {
    let mut list = json!({ "type": "array", "items": items });
    if let Some(list) = list.as_object_mut() {
        if least > 0 {
            list.insert("minItems".into(), least.into());
        }
        if most < usize::MAX {
            list.insert("maxItems".into(), most.into());
        }
    }
    list
}

fn described(mut schema: Json, meaning: &str) -> Json {
    if let Some(schema) = schema.as_object_mut()
        && !meaning.is_empty()
    {
        schema.insert("description".into(), meaning.into());
    }
    schema
}

/// The same, or null.
fn nullable(schema: Json) -> Json {
    let Json::Object(mut members) = schema else { return schema };
    if let Some(any) = members.get_mut("anyOf").and_then(Json::as_array_mut) {
        let null = json!({ "type": "null" });
        if !any.contains(&null) {
            any.push(null);
        }
    } else if members.contains_key("$ref") {
        return json!({ "anyOf": [members, { "type": "null" }] });
    } else if let Some(kind) = members.get("type").filter(|kind| kind.is_string()).cloned() {
        members.insert("type".into(), json!([kind, "null"]));
        if let Some(words) = members.get_mut("enum").and_then(Json::as_array_mut) {
            words.push(Json::Null);
        }
    }
    Json::Object(members)
}
