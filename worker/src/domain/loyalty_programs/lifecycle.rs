//! Handlers and writes of all loyalty documents with states: create, find, list, edit, change the state, delete. The
//! transition tables are in the engine.

use crate::documents::clause::Clause;
use crate::documents::cursor_list;
use crate::documents::merge::merge;
use crate::documents::tagged_blocks::prune;
use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::{ASSIGNABLE, PARTS, find, named, state_of};
use crate::domain::loyalty_programs::requirements;
use crate::domain::loyalty_programs::requirements::{AssignedDocument, PreconditionSubject};
use crate::domain::metadata::schemas;
use crate::http::entity_names::EntityNames;
use crate::http::reply::{CallError, ErrorBody};
use crate::http::route::{Call, HandlerResult, Response, Route};
use crate::http::shape::Nulls;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::lifecycle::{Edit, EntityState, Precondition, Verb, edit, transition};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Returns the response with a document as its route shows it.
pub fn answer(call: &mut Call<'_, '_>, document: Document) -> HandlerResult {
    Ok(Response::json(call.resource()?.show_one(call, document)?))
}

/// Handles the routes that read one document.
pub fn get(call: &mut Call<'_, '_>) -> HandlerResult {
    let document = find(call)?;
    answer(call, document)
}

/// Handles the routes that list documents by cursors.
pub fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let (resource, life) = (call.resource()?, call.life()?);
    let clause = Clause::of_kind(life.stored).at(call.now_ms());
    cursor_list::page(call, &resource.list, life.cursor, clause, resource.show)
}

/// Returns the state transition of a route, from its method and path.
fn verb_of(route: &Route) -> Result<Verb, Fault> {
    let last = route.path.rsplit('/').next().unwrap_or_default();
    let word = if route.method == "DELETE" { "delete" } else { last };
    Verb::ALL
        .into_iter()
        .find(|verb| verb.word() == word)
        .ok_or_else(|| Fault(format!("`{}` leads nowhere", route.path)))
}

/// Handles the routes that change the state of a document.
pub fn advance(call: &mut Call<'_, '_>) -> HandlerResult {
    let (life, verb) = (call.life()?, verb_of(call.route)?);
    let mut document = find(call)?;
    let row = transition(life.kind, verb, state_of(&document)?).map_err(ErrorBody::from)?;
    check(call, &PreconditionSubject { life, document: &document, assigned: None }, row.needs, verb.word())?;
    document.body.insert("status".into(), row.to.word().into());
    call.touch(&mut document);
    match row.to {
        EntityState::Deleted => retire(call, life, &mut document)?,
        EntityState::Draft | EntityState::Active | EntityState::Inactive => call.store.update(life.stored, &document),
    }
    activities::note_change(call, life, &document, verb.past());
    answer(call, document)
}

/// Refuses the call for the first precondition that is violated.
fn check(
    call: &Call<'_, '_>,
    asked: &PreconditionSubject<'_>,
    needs: &[Precondition],
    doing: &str,
) -> Result<(), CallError> {
    for need in needs {
        if let Some(by) = requirements::of(call.store, asked, *need)? {
            return Err(denied(asked, *need, doing, by).into());
        }
    }
    Ok(())
}

/// Returns the error of a violated precondition, with the documents that violate it.
fn denied(asked: &PreconditionSubject<'_>, need: Precondition, doing: &str, by: Vec<(String, String)>) -> ErrorBody {
    let ids: Vec<String> = by.iter().map(|(_, id)| id.clone()).collect();
    let doing = format!("{doing} {}", asked.life.kind.thing());
    let body = ErrorBody::from(need.denial(&doing, &ids));
    let mut body = body.about(&asked.life.resource_type(), &asked.document.id);
    if let Some((kind, _)) = by.into_iter().next() {
        body.related_object_total = i64::try_from(ids.len()).ok();
        body.related_object_ids = ids.into_iter().take(10).collect();
        body.related_object_type = Some(kind);
    }
    body
}

/// Queues the deletion of a document and of its rows. Earlier activities still contain its id, but no read finds it.
fn retire(call: &mut Call<'_, '_>, life: &EntityNames, document: &mut Document) -> Result<(), Fault> {
    document.key = None;
    call.store.retire(life.stored, document);
    for kind in life.owned {
        if let Some(assigned) = ASSIGNABLE.iter().find(|other| other.assigned == Some(*kind)) {
            note_left(call, assigned, document)?;
        }
        if let Some((part, word)) = PARTS.iter().find(|(stored, _)| stored == kind) {
            note_parts(call, life, part, word, document)?;
        }
        call.store.retire_owned(kind, &document.id);
    }
    Ok(())
}

/// Records the documents that are unassigned because their program is deleted.
fn note_left(call: &mut Call<'_, '_>, life: &EntityNames, program: &Document) -> Result<(), Fault> {
    for row in owned(call, life.assigned.unwrap_or_default(), program)? {
        if let Some(document) = named(call.store, life, row.holder.as_deref().unwrap_or_default())? {
            activities::note_assignment(call, life, program, &document, &row, "unassigned");
        }
    }
    Ok(())
}

/// Records the parts that are deleted with a document.
fn note_parts(
    call: &mut Call<'_, '_>,
    life: &EntityNames,
    kind: &str,
    word: &str,
    document: &Document,
) -> Result<(), Fault> {
    for part in owned(call, kind, document)? {
        let data = json!({ life.object: document.body, word: part.body });
        activities::note(call, life, &document.id, &format!("{word}.deleted"), data);
    }
    Ok(())
}

/// Returns the rows of a kind that belong to a document.
fn owned(call: &Call<'_, '_>, kind: &str, document: &Document) -> Result<Vec<Document>, Fault> {
    call.store.list_children(kind, &document.id)
}

/// Creates a document from its own members, and adds the members that all documents with states have.
pub fn begin(call: &mut Call<'_, '_>, life: &EntityNames, mut body: Map<String, Json>) -> Document {
    let id = call.ids.hex18(life.id).to_string();
    body.insert("id".into(), id.clone().into());
    body.entry("status").or_insert_with(|| EntityState::Draft.word().into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), life.object.into());
    Document::new(id, None, call.now_ms(), body)
}

/// Queues the creation of a document. One that is created ACTIVE must satisfy the preconditions of the activation; `assigned`
/// are the documents that the same call assigns to it.
pub fn create(
    call: &mut Call<'_, '_>,
    life: &EntityNames,
    document: &Document,
    assigned: Option<&[AssignedDocument]>,
) -> Result<(), CallError> {
    if state_of(document)? == EntityState::Active
        && let Ok(row) = transition(life.kind, Verb::Activate, EntityState::Draft)
    {
        check(call, &PreconditionSubject { life, document, assigned }, row.needs, Verb::Activate.word())?;
    }
    schemas::check_body(call.store, life.object, &document.body)?;
    call.store.insert(life.stored, document);
    activities::note_change(call, life, document, "created");
    Ok(())
}

/// Refuses fields that cannot be edited in the document's state.
pub fn check_edits(
    call: &Call<'_, '_>,
    life: &'static EntityNames,
    document: &Document,
    sent: &Map<String, Json>,
) -> Result<(), CallError> {
    let state = state_of(document)?;
    for field in sent.keys() {
        match edit(life.kind, state, field) {
            Edit::Free => {}
            Edit::Never => {
                let message = format!(
                    "must NOT be edited on {} {} (actual status is `{}`)",
                    article(life),
                    life.kind.thing(),
                    state.word()
                );
                return Err(Problem::at(field.as_str(), message).into());
            }
            Edit::While(need) => {
                let asked = PreconditionSubject { life, document, assigned: None };
                if let Some(by) = requirements::of(call.store, &asked, need)? {
                    let mut body = denied(&asked, need, &format!("edit '{field}' of"), by);
                    (body.code, body.key) = (423, Some("resource_locked".into()));
                    body.message = "Resource locked".into();
                    return Err(body.into());
                }
            }
        }
    }
    Ok(())
}

/// Returns the article before the document's name in refusals.
fn article(life: &EntityNames) -> &'static str {
    if life.kind.thing().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Merges the request into the document that the path names. A null resets a member to its default. For required members null
/// is ignored; in metadata and rules it has its own meaning.
pub fn edited(call: &mut Call<'_, '_>, required: &[&str]) -> Result<Document, CallError> {
    let life = call.life()?;
    let mut sent = call.body(Nulls::KeptOnTop)?;
    let mut document = find(call)?;
    sent.retain(|name, value| !value.is_null() || !required.contains(&name.as_str()));
    check_edits(call, life, &document, &sent)?;
    prune(&mut sent, &["metadata", "rules"]);
    merge(&mut document.body, sent);
    Ok(document)
}

/// Queues the write of an edited document. One that is ACTIVE must still satisfy the preconditions of the activation.
pub fn change(call: &mut Call<'_, '_>, life: &'static EntityNames, document: &mut Document) -> Result<(), CallError> {
    call.touch(document);
    if state_of(document)? == EntityState::Active
        && let Ok(row) = transition(life.kind, Verb::Activate, EntityState::Draft)
        && row.needs.contains(&Precondition::NamedAreActive)
    {
        check(
            call,
            &PreconditionSubject { life, document, assigned: None },
            &[Precondition::NamedAreActive],
            "update",
        )?;
    }
    schemas::check_body(call.store, life.object, &document.body)?;
    call.store.update(life.stored, document);
    activities::note_change(call, life, document, "updated");
    Ok(())
}
