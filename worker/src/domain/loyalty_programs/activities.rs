//! Activities of the documents of loyalty programs: one row for each change, in the commit of the change.

use crate::documents::clause::Clause;
use crate::documents::cursor_list;
use crate::documents::resource::bodies_to_json;
use crate::domain::loyalty_programs::kinds::{INCENTIVE, PROGRAM, find};
use crate::http::caller::CredentialClass;
use crate::http::entity_names::EntityNames;
use crate::http::list_options::{List, column};
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult};
use crate::store::document::Document;
use crate::timestamp;
use scrip::lifecycle::Entity;
use serde_json::{Map, Value as Json, json};

/// Kind of the rows; their parent is the changed document.
pub const KIND: &str = "activity";

/// List of activities.
const LIST: List = List::by_cursor(&[("created_at", "seq")], &[column::ID, column::TYPE, column::CREATED_AT]);

/// Records an activity of a document (`created`, `card_definition.assigned`, ...) with its data.
pub fn record(call: &mut Call<'_, '_>, entity: &EntityNames, id: &str, activity: &str, data: Json) {
    let entity = stored_names(entity);
    let activity_id = call.ids.hex18(entity.activity).to_string();
    let mut body = Map::new();
    body.insert("id".into(), activity_id.clone().into());
    body.insert(format!("{}_id", entity.object), id.into());
    body.insert("type".into(), format!("vl.{}.{activity}", entity.object).into());
    body.insert("data".into(), data);
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("group_id".into(), call.request_id.into());
    body.insert("source".into(), channel_json(call));
    let mut row = Document::new(activity_id, None, call.now_ms(), body);
    row.parent = Some(id.to_owned());
    call.store.insert(KIND, &row);
}

/// Returns the names for the stored activity: an activity of a benefit is stored as one of its incentive.
fn stored_names(entity: &EntityNames) -> &EntityNames {
    if entity.kind == Entity::Benefit { &INCENTIVE } else { entity }
}

/// Records an activity with the document itself as data.
pub fn record_change(call: &mut Call<'_, '_>, entity: &EntityNames, document: &Document, activity: &str) {
    let mut data = Map::new();
    data.insert(stored_names(entity).object.into(), Json::Object(document.body.clone()));
    record(call, entity, &document.id, activity, Json::Object(data));
}

/// Records the assignment of a document to a program, or its end, for both.
pub fn record_assignment(
    call: &mut Call<'_, '_>,
    entity: &EntityNames,
    program: &Document,
    document: &Document,
    row: &Document,
    activity: &str,
) {
    let mut data = Map::new();
    data.insert(PROGRAM.object.into(), Json::Object(program.body.clone()));
    data.insert(entity.object.into(), Json::Object(document.body.clone()));
    data.insert(entity.assigned.unwrap_or_default().into(), Json::Object(row.body.clone()));
    let data = Json::Object(data);
    record(call, &PROGRAM, &program.id, &format!("{}.{activity}", entity.object), data.clone());
    record(call, entity, &document.id, activity, data);
}

/// Returns the channel of the call.
fn channel_json(call: &Call<'_, '_>) -> Json {
    let channel = if call.caller.class == CredentialClass::Client { "CLIENT_API" } else { "API" };
    let mut source = json!({ "channel": channel, "api_key": { "app_id": call.caller.key_id } });
    if let (Some(source), Some(login)) = (source.as_object_mut(), &call.caller.user) {
        source.insert("user".into(), json!({ "id": login }));
    }
    source
}

/// Handles the routes that list the activities of one document.
pub fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let entity = call.entity_names()?;
    let clause = select_of_path(call)?;
    cursor_list::page(call, &LIST, entity.activities, clause, bodies_to_json)
}

/// Selects the activities of the document that the path names.
pub fn select_of_path(call: &Call<'_, '_>) -> Result<Clause, CallError> {
    let document = find(call)?;
    let mut clause = Clause::of_kind(KIND).at(call.now_ms());
    clause.within(&document.id);
    Ok(clause)
}
