//! Metadata schemas: create, get, list, change, delete, and the one place where what is written is held against them.
//! It must not know what is wrong with metadata; `metadata` decides that.

use crate::document::clause::Clause;
use crate::document::definition;
use crate::document::fields::KEY;
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::listing::List;
use crate::http::reply::{CallError, ErrorBody, duplicate, invalid_payload};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{self, Field, INT_MAX, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::stacking_rules::check_project;
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Definitions of one schema.
const DEFINITIONS_MAX: usize = 100;
/// Values that a definition allows or forbids.
const VALUES_MAX: usize = 1_000;

const TYPES: &[&str] = &["string", "number", "object", "date", "datetime", "geopoint", "boolean", "image_url"];
const LIMIT: Kind = Kind::Number(-INT_MAX, INT_MAX);
const LENGTH: Kind = Kind::Int(0, INT_MAX);
const VALUES: Kind = Kind::List(&Kind::Any, 0, VALUES_MAX);

const DEFINITION: &[Field] = &[
    must("type", Kind::OneOf(TYPES)),
    may("optional", Kind::Bool),
    may("array", Kind::Bool),
    may("deleted", Kind::Bool),
    may("object_type", KEY),
    may("min_length", LENGTH),
    may("max_length", LENGTH),
    may("exact_length", LENGTH),
    may("eq", VALUES),
    may("ne", VALUES),
    may("lt", LIMIT),
    may("lte", LIMIT),
    may("gt", LIMIT),
    may("gte", LIMIT),
];

const DEFINITIONS: Definitions = Definitions { path: "properties", fields: DEFINITION, flags: &["optional", "array"] };

/// The names that the older description gives to the fields of a definition.
const OLDER: &[(&str, &str)] = &[
    ("object_type", "objectType"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("exact_length", "exactLength"),
];

const CREATE: &[Field] =
    &[must("related_object", KEY), may("allow_defined_only", Kind::Bool), must("properties", Kind::Map)];
const CHANGES: &[Field] = &[may("allow_defined_only", Kind::Bool), may("properties", Kind::Map)];

const fn schemas(parameter: &'static str, show: crate::http::route::Show, data_ref: &'static str) -> Resource {
    Resource {
        object: "metadata_schema",
        parameter,
        key: plain_key,
        shape: shapes::project::METADATA_SCHEMA.described(),
        show,
        list: List { data_ref, page_max: 100, orders: &[], filters: &[], conditions: &[] },
    }
}

/// Metadata schemas as those who use them see them.
pub const OF_RESOURCE: Resource = schemas("resource", show_older, "schemas");
/// Metadata schemas as those who manage the project see them.
pub const MANAGED: Resource = schemas("metadataSchemaId", resource::show_body, "data");

const MANAGEMENT: &[Class] = &[Class::Management];
const PATH: &str = "/management/v1/projects/{projectId}/metadata-schemas";
const ONE: &str = "/management/v1/projects/{projectId}/metadata-schemas/{metadataSchemaId}";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/metadata-schemas", "List metadata schemas", list)
        .of(&OF_RESOURCE)
        .listed(shapes::TOTAL)
        .scope("metadata-schemas"),
    get("/v1/metadata-schemas/{resource}", "Get the metadata schema of a kind of resource", resource::get)
        .of(&OF_RESOURCE)
        .scope("metadata-schemas"),
    get(PATH, "List the metadata schemas of a project", list)
        .of(&MANAGED)
        .listed(shapes::TOTAL)
        .for_classes(MANAGEMENT),
    post(PATH, "Create a metadata schema", create).of(&MANAGED).for_classes(MANAGEMENT).body(CREATE),
    get(ONE, "Get a metadata schema", read).of(&MANAGED).for_classes(MANAGEMENT),
    put(ONE, "Update a metadata schema", update).of(&MANAGED).for_classes(MANAGEMENT).body(CHANGES),
    delete(ONE, "Delete a metadata schema", remove).of(&MANAGED).for_classes(MANAGEMENT).answers(204, shapes::EMPTY),
];

/// The older description's names for the fields of definitions.
fn show_older(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let shown = documents.into_iter().map(|mut document| {
        let definitions = document.body.get_mut("properties").and_then(Json::as_object_mut);
        for definition in definitions.into_iter().flat_map(Map::values_mut).filter_map(Json::as_object_mut) {
            for (name, older) in OLDER {
                if let Some(value) = definition.remove(*name) {
                    definition.insert((*older).into(), value);
                }
            }
        }
        Json::Object(document.body)
    });
    Ok(shown.collect())
}

/// The lists of schemas have no pages: there is one schema for a kind of resource, or of event.
pub(super) fn list(call: &mut Call<'_, '_>) -> Outcome {
    let resource = call.resource()?;
    if !call.param("projectId").is_empty() {
        check_project(call)?;
    }
    let found = resource.list.select_all(call.store, Clause::of_kind(resource.object))?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let shown = (resource.show)(call, found)?;
    Ok(Answer::json(Json::Object(resource.list.envelope(shown, total))))
}

pub(super) fn read(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    resource::get(call)
}

/// What was held against a schema stays written.
pub(super) fn remove(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    resource::remove(call)
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let mut body = call.body(Nulls::Dropped)?;
    let related = body.remove("related_object").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    let properties = DEFINITIONS.read(body.remove("properties"))?;
    if call.store.document_by_name(MANAGED.object, &related, "")?.is_some() {
        let refusal = duplicate("metadata schema", "related_object", &related);
        return Err(refusal.about(MANAGED.object, &related).into());
    }
    let id = call.ids.alphanumeric("ms_", 24).to_string();
    let whole = json!({
        "id": id, "related_object": related, "properties": properties,
        "allow_defined_only": body.get("allow_defined_only").and_then(Json::as_bool).unwrap_or(false),
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": MANAGED.object,
    });
    let whole = whole.as_object().cloned().unwrap_or_default();
    let schema = Document::new(id, Some(related), call.now_ms(), whole);
    check_count(&schema)?;
    call.store.insert(MANAGED.object, &schema);
    Ok(Answer::json(Json::Object(schema.body)))
}

/// A definition that is sent replaces the one of its key; the others stay.
fn update(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let mut body = call.body(Nulls::Dropped)?;
    let mut schema = MANAGED.find(call)?;
    let changed = DEFINITIONS.read(body.remove("properties"))?;
    if let Some(known) = schema.body.get_mut("properties").and_then(Json::as_object_mut) {
        known.extend(changed);
    }
    schema.body.extend(body);
    call.touch(&mut schema);
    check_count(&schema)?;
    call.store.update(MANAGED.object, &schema);
    Ok(Answer::json(Json::Object(schema.body)))
}

/// Checks what holds of a whole schema.
fn check_count(schema: &Document) -> Result<(), ErrorBody> {
    DEFINITIONS.check_count(schema.body.get("properties").and_then(Json::as_object).map_or(0, Map::len))
}

/// What the definitions of a kind of schema may say.
pub(super) struct Definitions {
    /// Where they stand in what is sent.
    pub path: &'static str,
    /// The fields of one.
    pub fields: &'static [Field],
    /// Those that are down where they are not sent.
    pub flags: &'static [&'static str],
}

impl Definitions {
    /// Bounds how many a schema has.
    pub fn check_count(&self, count: usize) -> Result<(), ErrorBody> {
        if count > DEFINITIONS_MAX {
            let path = self.path;
            let told = format!(
                "Property .{path} must NOT have more than {DEFINITIONS_MAX} definitions (actual number is `{count}`)"
            );
            return Err(invalid_payload(told));
        }
        Ok(())
    }

    /// Reads those that are sent.
    pub fn read(&self, sent: Option<Json>) -> Result<Map<String, Json>, ErrorBody> {
        let mut definitions = Map::new();
        let Some(Json::Object(sent)) = sent else { return Ok(definitions) };
        for (key, definition) in sent {
            let place = shape::below(self.path, &key);
            let Json::Object(mut definition) = definition else {
                let told = format!("must be an object (actual value is `{}`)", shape::shown(&definition));
                return Err(Problem::at(place, told).into());
            };
            for (name, older) in OLDER {
                if let Some(value) = definition.remove(*older) {
                    definition.entry(*name).or_insert(value);
                }
            }
            let read = shape::read(self.fields, definition, Nulls::Dropped);
            let read = read.and_then(|read| definition::check(&read).map(|()| read));
            let mut read = read.map_err(|problem| problem.within(&place))?;
            for flag in self.flags {
                read.entry(*flag).or_insert(Json::Bool(false));
            }
            definitions.insert(key, Json::Object(read));
        }
        Ok(definitions)
    }
}
