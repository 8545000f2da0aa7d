//! Finds and applies the schemas of custom events.

use crate::documents::metadata::MetadataSchemas;
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes;
use crate::domain::metadata::schemas;
use crate::http::list_options::List;
use crate::http::reply::{CallError, invalid_payload};
use crate::http::route::{Call, Resource};
use crate::http::shape::FieldType;
use crate::store::document::Document;
use scrip::wire::problem::shortened;
use serde_json::Value as Json;

/// Type of event names.
pub const NAME: FieldType = FieldType::Name(300);

/// Schemas of custom events as a resource.
pub const SCHEMA: Resource = Resource {
    object: "custom_event_schema",
    shape: shapes::project::CUSTOM_EVENT_SCHEMA.described(),
    parameter: "customEventSchemaId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] },
};

/// Returns the schema of the events with a name.
pub fn find_of_event(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
    let found = call.store.document_by_name(SCHEMA.object, name, "")?;
    let unknown = || {
        let name = shortened(name);
        invalid_payload(format!("Property .event must be the name of a custom event schema (actual value is `{name}`)"))
    };
    Ok(found.ok_or_else(unknown)?)
}

/// Checks the custom data of an event against its schema.
pub fn check(schema: &Document, data: &Json) -> Result<(), CallError> {
    let definitions = schema.as_schema().definitions().cloned().unwrap_or_default();
    let schemas = MetadataSchemas::from([(SCHEMA.object.to_owned(), definitions)]);
    schemas::check_against(&schemas, &[(SCHEMA.object, Some(data))])
}
