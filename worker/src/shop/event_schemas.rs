//! Schemas of custom events, as whoever tells of an event finds them. It must not know what comes of an event.

use crate::document::metadata::Schemas;
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, invalid_payload};
use crate::http::route::{Call, Resource};
use crate::http::shape::Kind;
use crate::shop::metadata_schemas;
use crate::store::document::Document;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

/// The name of a kind of events.
pub const NAME: Kind = Kind::Name(300);

/// Schemas of custom events as a resource.
pub const SCHEMA: Resource = Resource {
    object: "custom_event_schema",
    shape: shapes::project::CUSTOM_EVENT_SCHEMA.described(),
    parameter: "customEventSchemaId",
    key: plain_key,
    show: show_body,
    list: List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] },
};

/// The schema of the events of a name.
pub fn of_event(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
    let found = call.store.document_by_name(SCHEMA.object, name, "")?;
    let unknown = || {
        let name = shortened(name);
        invalid_payload(format!("Property .event must be the name of a custom event schema (actual value is `{name}`)"))
    };
    Ok(found.ok_or_else(unknown)?)
}

/// Holds the custom data of an event against its schema.
pub fn check(schema: &Document, data: &Json) -> Result<(), CallError> {
    let definitions: Map<String, Json> =
        schema.body.get("schema").and_then(Json::as_object).cloned().unwrap_or_default();
    let schemas = Schemas::from([(SCHEMA.object.to_owned(), definitions)]);
    metadata_schemas::hold(&schemas, &[(SCHEMA.object, Some(data))])
}
