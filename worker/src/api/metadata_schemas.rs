//! Metadata schemas: create, get, list, change, delete, and the check of written metadata against them.
//! `documents::metadata` implements the check.

use crate::documents::common_fields::KEY;
use crate::documents::definition;
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::domain::stacking_rules::check_project;
use crate::http::caller::CredentialClass;
use crate::http::list_options::List;
use crate::http::reply::{CallError, ErrorBody, duplicate, invalid_payload};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{self, Field, FieldType, INT_MAX, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::timestamp;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Maximum number of definitions of one schema.
const DEFINITIONS_MAX: usize = 100;
/// Maximum number of values that a definition allows or forbids.
const VALUES_MAX: usize = 1_000;

const TYPES: &[&str] = &["string", "number", "object", "date", "datetime", "geopoint", "boolean", "image_url"];
const LIMIT: FieldType = FieldType::Number(-INT_MAX, INT_MAX);
const LENGTH: FieldType = FieldType::Int(0, INT_MAX);
const VALUES: FieldType = FieldType::List(&FieldType::Any, 0, VALUES_MAX);

const DEFINITION: &[Field] = &[
    must("type", FieldType::OneOf(TYPES)),
    may("optional", FieldType::Bool),
    may("array", FieldType::Bool),
    may("deleted", FieldType::Bool),
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

const DEFINITIONS: SchemaDefinitions =
    SchemaDefinitions { path: "properties", fields: DEFINITION, flags: &["optional", "array"] };

/// Names of the fields of a definition in the older description.
const OLDER: &[(&str, &str)] = &[
    ("object_type", "objectType"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("exact_length", "exactLength"),
];

const CREATE: &[Field] = &[
    must("related_object", KEY).description(
        "Type of the resource whose metadata is checked, or a name of choice for a schema of nested objects.",
    ),
    may("allow_defined_only", FieldType::Bool)
        .description("`true` to refuse metadata keys without a definition. Default `false`."),
    must("properties", FieldType::Map).description(PROPERTIES),
];
const CHANGES: &[Field] = &[
    may("allow_defined_only", FieldType::Bool)
        .description("`true` to refuse metadata keys without a definition. Absent means no change."),
    may("properties", FieldType::Map).description(PROPERTIES),
];

/// Text of the definitions in a body.
const PROPERTIES: &str = "Definitions by metadata key, up to 100. Each has a `type`, and optionally `optional`, `array`, `deleted`, `object_type`, `min_length`, `max_length`, `exact_length`, `eq`, `ne`, `lt`, `lte`, `gt` and `gte`.";

const fn schemas(
    parameter: &'static str,
    to_json: crate::http::route::DocumentsToJson,
    data_ref: &'static str,
) -> Resource {
    Resource {
        object: "metadata_schema",
        parameter,
        key: plain_key,
        shape: shapes::project::METADATA_SCHEMA.described(),
        to_json,
        list: List { data_ref, page_max: 100, orders: &[], filters: &[], conditions: &[] },
    }
}

/// Metadata schemas as API callers see them.
pub const OF_RESOURCE: Resource = schemas("resource", older_to_json, "schemas");
/// Metadata schemas as the management API returns them.
pub const MANAGED: Resource = schemas("metadataSchemaId", resource::bodies_to_json, "data");

const MANAGEMENT: &[CredentialClass] = &[CredentialClass::Management];
const PATH: &str = "/management/v1/projects/{projectId}/metadata-schemas";
const ONE: &str = "/management/v1/projects/{projectId}/metadata-schemas/{metadataSchemaId}";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/metadata-schemas", "List metadata schemas", list)
        .of(&OF_RESOURCE)
        .lists_resource(shapes::TOTAL)
        .scope("metadata-schemas")
        .describe(
            "listMetadataSchemas",
            "Returns all metadata schemas of the project, newest first, without pages. Compound names in definitions are in camel case here. Schemas are created and changed by the management API.",
        )
        .returns("The metadata schemas, and the total."),
    get("/v1/metadata-schemas/{resource}", "Get a metadata schema", resource::get)
        .of(&OF_RESOURCE)
        .scope("metadata-schemas")
        .describe(
            "getMetadataSchema",
            "Returns the metadata schema of a type of resource. Compound names in definitions are in camel case here. A type without a schema is refused with `not_found`.",
        )
        .returns("The metadata schema."),
    get(PATH, "List the metadata schemas of a project", list)
        .of(&MANAGED)
        .lists_resource(shapes::TOTAL)
        .for_classes(MANAGEMENT)
        .describe(
            "listProjectMetadataSchemas",
            "Returns all metadata schemas of a project, newest first, without pages. An unknown project is refused with `not_found`.",
        )
        .returns("The metadata schemas of the project, and the total."),
    post(PATH, "Create a metadata schema", create)
        .of(&MANAGED)
        .for_classes(MANAGEMENT)
        .body(CREATE)
        .describe(
            "createMetadataSchema",
            "Creates the metadata schema of a type of resource. Metadata that is sent from now on must fit (`metadata_validation_failed`); stored metadata stays as it is. A type has at most one schema (`duplicate_found`), with up to 100 definitions (`invalid_payload`).",
        )
        .returns("The new metadata schema."),
    get(ONE, "Get a metadata schema of a project", read)
        .of(&MANAGED)
        .for_classes(MANAGEMENT)
        .describe(
            "getProjectMetadataSchema",
            "Returns a metadata schema of a project. An unknown project or schema is refused with `not_found`.",
        )
        .returns("The metadata schema."),
    put(ONE, "Update a metadata schema", update)
        .of(&MANAGED)
        .for_classes(MANAGEMENT)
        .body(CHANGES)
        .describe(
            "updateMetadataSchema",
            "Replaces the sent definitions of a metadata schema and adds new ones; definitions that are not sent stay. Metadata that is sent from now on must fit; stored metadata stays as it is. An unknown schema is refused with `not_found`, a definition that no value can fulfil with `invalid_payload`.",
        )
        .returns("The metadata schema after the change."),
    delete(ONE, "Delete a metadata schema", remove)
        .of(&MANAGED)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY)
        .describe(
            "deleteMetadataSchema",
            "Deletes a metadata schema; metadata of the type is no longer checked, and stored metadata stays. An unknown project or schema is refused with `not_found`.",
        )
        .returns("No content: the metadata schema is deleted."),
];

/// Converts schemas to JSON with the names that the older description uses for the fields of definitions.
fn older_to_json(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let schemas_json = documents.into_iter().map(|mut document| {
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
    Ok(schemas_json.collect())
}

/// Lists schemas without pages: there is one schema for a kind of resource, or of event.
pub fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let resource = call.resource()?;
    if !call.param("projectId").is_empty() {
        check_project(call)?;
    }
    let found = resource.list.select_all(call.store, Clause::of_kind(resource.object))?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let schemas_json = (resource.to_json)(call, found)?;
    Ok(Response::json(Json::Object(resource.list.envelope(schemas_json, total))))
}

/// Returns one schema.
pub fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    resource::get(call)
}

/// Deletes a schema. Metadata that was checked against it stays stored.
pub fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    resource::remove(call)
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let mut body = call.body(Nulls::Dropped)?;
    let related = body.remove("related_object").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    let properties = DEFINITIONS.read(body.remove("properties"))?;
    if call.store.document_by_name(MANAGED.object, &related, "")?.is_some() {
        let refusal = duplicate("metadata schema", "related_object", &related);
        return Err(refusal.about(MANAGED.object, &related).into());
    }
    let id = call.ids.alphanumeric("ms_", 24).to_string();
    let body = json!({
        "id": id, "related_object": related, "properties": properties,
        "allow_defined_only": body.get("allow_defined_only").and_then(Json::as_bool).unwrap_or(false),
        "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": MANAGED.object,
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let schema = Document::new(id, Some(related), call.now_ms(), body);
    check_count(&schema)?;
    call.store.insert(MANAGED.object, &schema);
    Ok(Response::json(Json::Object(schema.body)))
}

/// Updates a schema: a sent definition replaces the one of its key; the others stay.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
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
    Ok(Response::json(Json::Object(schema.body)))
}

/// Checks a whole schema.
fn check_count(schema: &Document) -> Result<(), ErrorBody> {
    DEFINITIONS.check_count(schema.as_schema().properties().map_or(0, Map::len))
}

/// Fields of the definitions of a kind of schema.
pub struct SchemaDefinitions {
    /// Path of the definitions in a request.
    pub path: &'static str,
    /// The fields of one.
    pub fields: &'static [Field],
    /// Flags that are false unless they are sent.
    pub flags: &'static [&'static str],
}

impl SchemaDefinitions {
    /// Checks the number of definitions.
    pub fn check_count(&self, count: usize) -> Result<(), ErrorBody> {
        if count > DEFINITIONS_MAX {
            let path = self.path;
            let message = format!(
                "Property .{path} must NOT have more than {DEFINITIONS_MAX} definitions (actual number is `{count}`)"
            );
            return Err(invalid_payload(message));
        }
        Ok(())
    }

    /// Reads the sent definitions.
    pub fn read(&self, sent: Option<Json>) -> Result<Map<String, Json>, ErrorBody> {
        let mut definitions = Map::new();
        let Some(Json::Object(sent)) = sent else { return Ok(definitions) };
        for (key, definition) in sent {
            let place = shape::below(self.path, &key);
            let Json::Object(mut definition) = definition else {
                let message = format!("must be an object (actual value is `{}`)", shape::value_text(&definition));
                return Err(Problem::at(place, message).into());
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
