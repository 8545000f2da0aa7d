//! Schemas of custom events: which events there are, and what is said with each. It must not know what comes of an event.

use crate::api::project::metadata_schemas::{Definitions, list, read, remove};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::event_schemas::{NAME, SCHEMA};
use crate::shop::stacking_rules::check_project;
use crate::store::document::Document;
use serde_json::{Map, Value as Json, json};

const DEFINITION: &[Field] = &[
    must("type", Kind::OneOf(&["string", "number", "date", "datetime", "boolean"])),
    may("optional", Kind::Bool),
    may("deleted", Kind::Bool),
];

const DEFINITIONS: Definitions = Definitions { path: "schema.properties", fields: DEFINITION, flags: &["optional"] };

const OF_EVENT: Kind = Kind::Object(&[must("properties", Kind::Map)]);
const CREATE: &[Field] = &[must("name", NAME), must("schema", OF_EVENT).says("What is said with each")];
const CHANGES: &[Field] = &[may("schema", OF_EVENT).says("What is said with each")];

const MANAGEMENT: &[Class] = &[Class::Management];
const PATH: &str = "/management/v1/projects/{projectId}/custom-event-schemas";
const ONE: &str = "/management/v1/projects/{projectId}/custom-event-schemas/{customEventSchemaId}";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(PATH, "List the schemas of custom events", list).of(&SCHEMA).listed(shapes::TOTAL).for_classes(MANAGEMENT),
    post(PATH, "Create a schema of custom events", create).of(&SCHEMA).for_classes(MANAGEMENT).body(CREATE),
    get(ONE, "Get a schema of custom events", read).of(&SCHEMA).for_classes(MANAGEMENT),
    put(ONE, "Update a schema of custom events", update).of(&SCHEMA).for_classes(MANAGEMENT).body(CHANGES),
    delete(ONE, "Delete a schema of custom events", remove)
        .of(&SCHEMA)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY),
];

fn create(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let mut body = call.body(Nulls::Dropped)?;
    let name = body.remove("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    let schema = settle(Map::new(), &mut body)?;
    if call.store.document_by_name(SCHEMA.object, &name, "")?.is_some() {
        return Err(duplicate(SCHEMA.object, "name", &name).into());
    }
    let id = call.ids.alphanumeric("ms_", 24).to_string();
    let whole = json!({
        "id": id, "name": name, "schema": schema, "created_at": moment::text(call.now_ms()), "updated_at": null,
        "object": "custom-event-schema",
    });
    let whole = whole.as_object().cloned().unwrap_or_default();
    let document = Document::new(id, Some(name), call.now_ms(), whole);
    call.store.insert(SCHEMA.object, &document);
    Ok(Answer::json(Json::Object(document.body)))
}

/// A definition that is sent replaces the one of its name; the others stay.
fn update(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let mut body = call.body(Nulls::Dropped)?;
    let mut document = SCHEMA.find(call)?;
    let known = document.body.get("schema").and_then(|schema| schema.get("properties"));
    let known = known.and_then(Json::as_object).cloned().unwrap_or_default();
    let schema = settle(known, &mut body)?;
    document.body.insert("schema".into(), schema);
    call.touch(&mut document);
    call.store.update(SCHEMA.object, &document);
    Ok(Answer::json(Json::Object(document.body)))
}

/// What is known of the events, with the definitions that are sent.
fn settle(mut known: Map<String, Json>, body: &mut Map<String, Json>) -> Result<Json, CallError> {
    let sent = body.get_mut("schema").and_then(Json::as_object_mut).and_then(|schema| schema.remove("properties"));
    known.extend(DEFINITIONS.read(sent)?);
    DEFINITIONS.check_count(known.len())?;
    Ok(json!({ "properties": known }))
}
