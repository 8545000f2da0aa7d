//! Schemas of custom events: the declared events and their fields.

use crate::api::metadata_schemas::{SchemaDefinitions, list, read, remove};
use crate::documents::shapes;
use crate::domain::event_schemas::{NAME, SCHEMA};
use crate::domain::stacking_rules::check_project;
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::timestamp;
use serde_json::{Map, Value as Json, json};

const DEFINITION: &[Field] = &[
    must("type", FieldType::OneOf(&["string", "number", "date", "datetime", "boolean"]))
        .description("Type of the values of the property."),
    may("optional", FieldType::Bool).description("`true` if an event may leave the property out. Default `false`."),
    may("deleted", FieldType::Bool).description("`true` if the property is no longer used."),
];

const DEFINITIONS: SchemaDefinitions =
    SchemaDefinitions { path: "schema.properties", fields: DEFINITION, flags: &["optional"] };

const OF_EVENT: FieldType = FieldType::Object(&[
    must("properties", FieldType::Map).description("Definitions by name of the property, at most 100.")
]);
const CREATE: &[Field] = &[
    must("name", NAME).description("Name of the event, unique in the project."),
    must("schema", OF_EVENT).description("Properties that an event of this name has."),
];
const CHANGES: &[Field] =
    &[may("schema", OF_EVENT).description("Properties to add or replace. Absent leaves the schema as it is.")];

const MANAGEMENT: &[CredentialClass] = &[CredentialClass::Management];
const PATH: &str = "/management/v1/projects/{projectId}/custom-event-schemas";
const ONE: &str = "/management/v1/projects/{projectId}/custom-event-schemas/{customEventSchemaId}";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(PATH, "List event schemas", list)
        .describe(
            "listCustomEventSchemas",
            "Returns the schemas of all custom events of the project, on one page. An unknown project is refused with `not_found`.",
        )
        .returns("The event schemas and their total.")
        .of(&SCHEMA)
        .lists_resource(shapes::TOTAL)
        .for_classes(MANAGEMENT),
    post(PATH, "Create an event schema", create)
        .describe(
            "createCustomEventSchema",
            "Declares a custom event, so that events of this name can be tracked. A name in use is refused with `duplicate_found`, an invalid definition with `invalid_payload`.",
        )
        .returns("The new event schema.")
        .of(&SCHEMA)
        .for_classes(MANAGEMENT)
        .body(CREATE),
    get(ONE, "Get an event schema", read)
        .describe(
            "getCustomEventSchema",
            "Returns the schema of one custom event. An unknown ID is refused with `not_found`.",
        )
        .returns("The event schema.")
        .of(&SCHEMA)
        .for_classes(MANAGEMENT),
    put(ONE, "Update an event schema", update)
        .describe(
            "updateCustomEventSchema",
            "Replaces the definitions of the properties that are sent; other properties stay. Events that are already recorded are not checked again. An unknown ID is refused with `not_found`, an invalid definition with `invalid_payload`.",
        )
        .returns("The event schema after the change.")
        .of(&SCHEMA)
        .for_classes(MANAGEMENT)
        .body(CHANGES),
    delete(ONE, "Delete an event schema", remove)
        .describe(
            "deleteCustomEventSchema",
            "Deletes the schema of a custom event; events of this name are refused from then on. An unknown ID is refused with `not_found`.",
        )
        .returns("No content. The event schema is deleted.")
        .of(&SCHEMA)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY),
];

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let mut body = call.body(Nulls::Dropped)?;
    let name = body.remove("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    let schema = merge_schema(Map::new(), &mut body)?;
    if call.store.document_by_name(SCHEMA.object, &name, "")?.is_some() {
        return Err(duplicate(SCHEMA.object, "name", &name).into());
    }
    let id = call.ids.alphanumeric("ms_", 24).to_string();
    let document_json = json!({
        "id": id, "name": name, "schema": schema, "created_at": timestamp::text(call.now_ms()), "updated_at": null,
        "object": "custom-event-schema",
    });
    let document_json = document_json.as_object().cloned().unwrap_or_default();
    let document = Document::new(id, Some(name), call.now_ms(), document_json);
    call.store.insert(SCHEMA.object, &document);
    Ok(Response::json(Json::Object(document.body)))
}

/// Updates a schema: a sent definition replaces the one of its name; the others stay.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let mut body = call.body(Nulls::Dropped)?;
    let mut document = SCHEMA.find(call)?;
    let properties = document.as_schema().event_properties();
    let properties = properties.and_then(Json::as_object).cloned().unwrap_or_default();
    let schema = merge_schema(properties, &mut body)?;
    document.body.insert("schema".into(), schema);
    call.touch(&mut document);
    call.store.update(SCHEMA.object, &document);
    Ok(Response::json(Json::Object(document.body)))
}

/// Adds the sent definitions to the existing ones.
fn merge_schema(mut properties: Map<String, Json>, body: &mut Map<String, Json>) -> Result<Json, CallError> {
    let sent = body.get_mut("schema").and_then(Json::as_object_mut).and_then(|schema| schema.remove("properties"));
    properties.extend(DEFINITIONS.read(sent)?);
    DEFINITIONS.check_count(properties.len())?;
    Ok(json!({ "properties": properties }))
}
