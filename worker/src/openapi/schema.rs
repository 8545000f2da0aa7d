//! The schemas of shapes: tables of fields as JSON schemas.

use crate::access::client::response_filter::disclosure::Disclosure;
use scrip::shape::{Field, FieldType, Shape};
use scrip::text::LONGEST_TEXT;
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Direction of a value. A sent value may be null where it may be absent; an answered one only if its shape allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the caller.
    Request,
    /// To the caller.
    Response,
}

/// Named schemas so far, by name.
#[derive(Debug, Default)]
pub struct SchemaRegistry(pub Map<String, Json>);

impl SchemaRegistry {
    /// Returns the schemas that these documents name, directly or through other schemas: some shapes appear only in their
    /// disclosed form.
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

    /// Returns the schema of a type.
    pub fn of(&mut self, kind: &FieldType, direction: Direction) -> Json {
        match kind {
            FieldType::Text => json!({ "type": "string", "maxLength": LONGEST_TEXT }),
            FieldType::Name(most) => json!({ "type": "string", "minLength": 1, "maxLength": most }),
            FieldType::Int(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            FieldType::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
            FieldType::Bool => json!({ "type": "boolean" }),
            FieldType::Date => json!({ "type": "string", "format": "date" }),
            FieldType::DateTime => json!({ "type": "string", "format": "date-time" }),
            FieldType::Duration => json!({ "type": "string", "format": "duration" }),
            FieldType::Clock => json!({ "type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$" }),
            FieldType::HttpsUrl => {
                json!({ "type": "string", "format": "uri", "pattern": "^[Hh][Tt][Tt][Pp][Ss]://[^/]" })
            }
            FieldType::OneOf(values) => json!({ "type": "string", "enum": values }),
            FieldType::Object(fields) => self.object(fields, direction),
            FieldType::Map => json!({ "type": "object", "additionalProperties": true }),
            FieldType::MapOf(kind) => json!({ "type": "object", "additionalProperties": self.of(kind, direction) }),
            // Its members pass unchanged, so it is identical in both directions.
            FieldType::Open(fields, kind) => {
                let mut schema = self.object(fields, Direction::Response);
                let each = self.of(kind, Direction::Response);
                if let Some(schema) = schema.as_object_mut() {
                    schema.insert("additionalProperties".into(), each);
                }
                schema
            }
            FieldType::List(item, least, most) => list(self.of(item, direction), *least, *most),
            FieldType::Named(shape) => self.register(shape, direction),
            FieldType::Either(kinds) => {
                json!({ "anyOf": kinds.iter().map(|kind| self.of(kind, direction)).collect::<Vec<_>>() })
            }
            FieldType::Any => json!({}),
        }
    }

    /// Returns the schema of an object of these fields.
    pub fn object(&mut self, fields: &[Field], direction: Direction) -> Json {
        let properties = fields.iter().map(|field| (field.name.to_owned(), self.property(field, direction))).collect();
        let required = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
        object(properties, required)
    }

    fn property(&mut self, field: &Field, direction: Direction) -> Json {
        let schema = self.of(&field.kind, direction);
        let is_null = field.null || (direction == Direction::Request && !field.required);
        with_description(if is_null { nullable(schema) } else { schema }, &text_of(field))
    }

    /// Registers a schema under its name. Sent objects have a separate one, because more of their members may be null.
    fn register(&mut self, shape: &Shape, direction: Direction) -> Json {
        let is_own = direction == Direction::Response || shape.fields().is_empty() || shape.name.ends_with("Request");
        let name = if is_own { shape.name.to_owned() } else { format!("{}Request", shape.name) };
        if !self.0.contains_key(&name) {
            // The name is registered before its members, which may refer to it.
            self.0.insert(name.clone(), Json::Null);
            let schema = with_description(self.of(&shape.kind, direction), shape.description);
            self.0.insert(name.clone(), schema);
        }
        reference(&name)
    }

    /// Returns the schema of the part of a type that a client receives.
    pub fn of_disclosed(&mut self, kind: &FieldType, details: &Disclosure) -> Json {
        match (details, kind) {
            (Disclosure::All | Disclosure::Metadata(_), kind) => self.of(kind, Direction::Response),
            (Disclosure::Person(details), kind) => nullable(self.of_disclosed(kind, details)),
            (details, FieldType::List(item, least, most)) => list(self.of_disclosed(item, details), *least, *most),
            (details, FieldType::Either(kinds)) => {
                json!({ "anyOf": kinds.iter().map(|kind| self.of_disclosed(kind, details)).collect::<Vec<_>>() })
            }
            (Disclosure::Each(details), FieldType::MapOf(kind)) => {
                json!({ "type": "object", "additionalProperties": self.of_disclosed(kind, details) })
            }
            (Disclosure::These(members), FieldType::Object(fields)) => self.disclosed_members(fields, members, false),
            (Disclosure::NonNull(members), FieldType::Object(fields)) => self.disclosed_members(fields, members, true),
            (details, FieldType::Named(shape)) => {
                let schema = with_description(self.of_disclosed(&shape.kind, details), shape.description);
                if schema.get("anyOf").is_some() {
                    return schema;
                }
                // A shape that a client receives whole has no separate schema.
                let whole = self.register(shape, Direction::Response);
                if self.0.get(shape.name) == Some(&schema) {
                    return whole;
                }
                let name = format!("Client{}", shape.name);
                let known = self.0.entry(&name).or_insert_with(|| schema.clone());
                if *known == schema { reference(&name) } else { schema }
            }
            (_, kind) => self.of(kind, Direction::Response),
        }
    }

    fn disclosed_members(&mut self, fields: &[Field], members: &[(&str, Disclosure)], may_lack: bool) -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in fields {
            let Some((_, details)) = members.iter().find(|(name, _)| *name == field.name) else { continue };
            let schema = self.of_disclosed(&field.kind, details);
            let schema = if field.null { nullable(schema) } else { schema };
            properties.insert(field.name.into(), with_description(schema, &text_of(field)));
            if field.required && !may_lack && !matches!(details, Disclosure::Person(_)) {
                required.push(field.name);
            }
        }
        object(properties, required)
    }
}

/// Returns the text of a field; that of `object` ends with its only value, if there is one.
fn text_of(field: &Field) -> Cow<'static, str> {
    let text = field.description_text();
    match field.kind {
        FieldType::OneOf([value]) if field.name == "object" && !text.contains('`') => {
            format!("{text} Always `{value}`.").into()
        }
        _ => text.into(),
    }
}

/// Path of the schemas in the description.
const PLACE: &str = "#/components/schemas/";

/// Returns a reference to the schema of this name.
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

fn with_description(mut schema: Json, meaning: &str) -> Json {
    if let Some(schema) = schema.as_object_mut()
        && !meaning.is_empty()
    {
        schema.insert("description".into(), meaning.into());
    }
    schema
}

/// Returns a schema that also allows null.
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
        if let Some(values) = members.get_mut("enum").and_then(Json::as_array_mut) {
            values.push(Json::Null);
        }
    }
    Json::Object(members)
}
