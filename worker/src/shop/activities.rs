//! What happened to the documents of a loyalty program: a row for each change, in the commit of the change. It must not know why
//! anything changed.

use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::resource::show_body;
use crate::http::caller::Class;
use crate::http::life::Life;
use crate::http::listing::{List, column};
use crate::http::reply::CallError;
use crate::http::route::{Call, Outcome};
use crate::moment;
use crate::shop::lives::{INCENTIVE, PROGRAM, find};
use crate::store::document::Document;
use scrip::lifecycle::Kind;
use serde_json::{Map, Value as Json, json};

/// The kind of its rows, whose parent is what it is about.
pub const KIND: &str = "activity";

/// How activities are listed.
const LIST: List = List::by_cursor(&[("created_at", "seq")], &[column::ID, column::TYPE, column::CREATED_AT]);

/// Writes down at the commit what happened to a document: `created`, `card_definition.assigned`; `data` says with what.
pub fn note(call: &mut Call<'_, '_>, life: &Life, id: &str, what: &str, data: Json) {
    let life = written(life);
    let own = call.ids.hex18(life.activity).to_string();
    let mut body = Map::new();
    body.insert("id".into(), own.clone().into());
    body.insert(format!("{}_id", life.object), id.into());
    body.insert("type".into(), format!("vl.{}.{what}", life.object).into());
    body.insert("data".into(), data);
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    body.insert("group_id".into(), call.request_id.into());
    body.insert("source".into(), source(call));
    let mut row = Document::new(own, None, call.now_ms(), body);
    row.parent = Some(id.to_owned());
    call.store.insert(KIND, &row);
}

/// What happened to a benefit is written down as what happened to the incentive that it is.
fn written(life: &Life) -> &Life {
    if life.kind == Kind::Benefit { &INCENTIVE } else { life }
}

/// The same of a document that changed itself.
pub fn note_change(call: &mut Call<'_, '_>, life: &Life, document: &Document, what: &str) {
    let mut data = Map::new();
    data.insert(written(life).object.into(), Json::Object(document.body.clone()));
    note(call, life, &document.id, what, Json::Object(data));
}

/// Writes down on both sides that a document entered a program or left it.
pub fn note_assignment(
    call: &mut Call<'_, '_>,
    life: &Life,
    program: &Document,
    document: &Document,
    row: &Document,
    what: &str,
) {
    let mut data = Map::new();
    data.insert(PROGRAM.object.into(), Json::Object(program.body.clone()));
    data.insert(life.object.into(), Json::Object(document.body.clone()));
    data.insert(life.assigned.unwrap_or_default().into(), Json::Object(row.body.clone()));
    let data = Json::Object(data);
    note(call, &PROGRAM, &program.id, &format!("{}.{what}", life.object), data.clone());
    note(call, life, &document.id, what, data);
}

/// Through whom it happened.
fn source(call: &Call<'_, '_>) -> Json {
    let channel = if call.caller.class == Class::Client { "CLIENT_API" } else { "API" };
    let mut source = json!({ "channel": channel, "api_key": { "app_id": call.caller.key_id } });
    if let (Some(source), Some(login)) = (source.as_object_mut(), &call.caller.user) {
        source.insert("user".into(), json!({ "id": login }));
    }
    source
}

/// The verb of a route that lists what happened to one document.
pub fn list(call: &mut Call<'_, '_>) -> Outcome {
    let life = call.life()?;
    let clause = of(call)?;
    cursors::page(call, &LIST, life.activities, clause, show_body)
}

/// What happened to the document that the path names.
pub fn of(call: &Call<'_, '_>) -> Result<Clause, CallError> {
    let document = find(call)?;
    let mut clause = Clause::of_kind(KIND).at(call.now_ms());
    clause.and("parent = {}", document.id);
    Ok(clause)
}
