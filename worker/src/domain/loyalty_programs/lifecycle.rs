//! Handlers and writes of all loyalty documents with states: create, find, list, edit, change the state, delete. The
//! transition tables are in the engine.

use crate::documents::clause::Clause;
use crate::documents::cursor_list;
use crate::documents::merge::merge;
use crate::documents::tagged_blocks::remove_nulls;
use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::{ASSIGNABLE, PARTS, find, find_by_id, state_of};
use crate::domain::loyalty_programs::requirements;
use crate::domain::loyalty_programs::requirements::{AssignedDocument, PreconditionSubject};
use crate::domain::metadata::schemas;
use crate::http::entity_names::EntityNames;
use crate::http::reply::{CallError, ErrorBody};
use crate::http::route::{Call, HandlerResult, RequestBody, Response, Route};
use crate::http::shape::Nulls;
use crate::store::document::{Document, DocumentBody};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::lifecycle::{Edit, EntityState, Precondition, TransitionAction, edit, transition};
use scrip::wire::Problem;
use serde_json::{Value as Json, json};

/// Returns the response with a document as its route returns it.
pub fn respond(call: &mut Call<'_, '_>, document: Document) -> HandlerResult {
    Ok(Response::json(call.resource()?.one_to_json(call, document)?))
}

/// Handles the routes that read one document.
pub fn get(call: &mut Call<'_, '_>) -> HandlerResult {
    let document = find(call)?;
    respond(call, document)
}

/// Handles the routes that list documents by cursors.
pub fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let (resource, entity) = (call.resource()?, call.entity_names()?);
    let clause = Clause::of_kind(entity.stored).at(call.now_ms());
    cursor_list::page(call, &resource.list, entity.cursor, clause, resource.to_json)
}

/// Returns the state transition of a route, from its method and path.
fn action_of_route(route: &Route) -> Result<TransitionAction, Fault> {
    let last = route.path.rsplit('/').next().unwrap_or_default();
    let name = if route.method == "DELETE" { "delete" } else { last };
    TransitionAction::ALL
        .into_iter()
        .find(|action| action.name() == name)
        .ok_or_else(|| Fault(format!("the route `{}` is of no state transition", route.path)))
}

/// Handles the routes that change the state of a document.
pub fn advance(call: &mut Call<'_, '_>) -> HandlerResult {
    let (entity, action) = (call.entity_names()?, action_of_route(call.route)?);
    let mut document = find(call)?;
    let rule = transition(entity.kind, action, state_of(&document)?).map_err(ErrorBody::from)?;
    check_preconditions(
        call,
        &PreconditionSubject { entity, document: &document, assigned: None },
        rule.needs,
        action.name(),
    )?;
    document.body.insert("status".into(), rule.to.name().into());
    call.touch(&mut document);
    match rule.to {
        EntityState::Deleted => delete_with_owned(call, entity, &mut document)?,
        EntityState::Draft | EntityState::Active | EntityState::Inactive => call.store.update(entity.stored, &document),
    }
    activities::record_change(call, entity, &document, action.past_participle());
    respond(call, document)
}

/// Refuses the call for the first precondition that is violated.
fn check_preconditions(
    call: &Call<'_, '_>,
    subject: &PreconditionSubject<'_>,
    needs: &[Precondition],
    action_text: &str,
) -> Result<(), CallError> {
    for precondition in needs {
        if let Some(violating) = requirements::find_violations(call.store, subject, *precondition)? {
            return Err(precondition_error(subject, *precondition, action_text, violating).into());
        }
    }
    Ok(())
}

/// Returns the error of a violated precondition, with the documents that violate it.
fn precondition_error(
    subject: &PreconditionSubject<'_>,
    precondition: Precondition,
    action_text: &str,
    violating: Vec<(String, String)>,
) -> ErrorBody {
    let ids: Vec<String> = violating.iter().map(|(_, id)| id.clone()).collect();
    let action_text = format!("{action_text} {}", subject.entity.kind.noun());
    let body = ErrorBody::from(precondition.refusal_if_unmet(&action_text, &ids));
    let mut body = body.about(&subject.entity.resource_type(), &subject.document.id);
    if let Some((kind, _)) = violating.into_iter().next() {
        body.related_object_total = i64::try_from(ids.len()).ok();
        body.related_object_ids = ids.into_iter().take(10).collect();
        body.related_object_type = Some(kind);
    }
    body
}

/// Queues the deletion of a document and of its rows. Earlier activities still contain its id, but no read finds it.
fn delete_with_owned(call: &mut Call<'_, '_>, entity: &EntityNames, document: &mut Document) -> Result<(), Fault> {
    document.key = None;
    call.store.archive(entity.stored, document);
    for kind in entity.owned {
        if let Some(assigned) = ASSIGNABLE.iter().find(|other| other.assigned == Some(*kind)) {
            record_unassigned(call, assigned, document)?;
        }
        if let Some((part, name)) = PARTS.iter().find(|(stored, _)| stored == kind) {
            record_deleted_parts(call, entity, part, name, document)?;
        }
        call.store.archive_owned(kind, &document.id);
    }
    Ok(())
}

/// Records the documents that are unassigned because their program is deleted.
fn record_unassigned(call: &mut Call<'_, '_>, entity: &EntityNames, program: &Document) -> Result<(), Fault> {
    for row in list_owned(call, entity.assigned.unwrap_or_default(), program)? {
        if let Some(document) = find_by_id(call.store, entity, row.holder.as_deref().unwrap_or_default())? {
            activities::record_assignment(call, entity, program, &document, &row, "unassigned");
        }
    }
    Ok(())
}

/// Records the parts that are deleted with a document.
fn record_deleted_parts(
    call: &mut Call<'_, '_>,
    entity: &EntityNames,
    kind: &str,
    name: &str,
    document: &Document,
) -> Result<(), Fault> {
    for part in list_owned(call, kind, document)? {
        let data = json!({ entity.object: document.body, name: part.body });
        activities::record(call, entity, &document.id, &format!("{name}.deleted"), data);
    }
    Ok(())
}

/// Returns the rows of a kind that belong to a document.
fn list_owned(call: &Call<'_, '_>, kind: &str, document: &Document) -> Result<Vec<Document>, Fault> {
    call.store.list_children(kind, &document.id)
}

/// Creates a document from its own members, and adds the members that all documents with states have.
pub fn new_document(call: &mut Call<'_, '_>, entity: &EntityNames, mut body: DocumentBody) -> Document {
    let id = call.ids.hex18(entity.id).to_string();
    body.insert("id".into(), id.clone().into());
    body.entry("status").or_insert_with(|| EntityState::Draft.name().into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), entity.object.into());
    Document::new(id, None, call.now_ms(), body)
}

/// Queues the creation of a document. One that is created ACTIVE must satisfy the preconditions of the activation; `assigned`
/// are the documents that the same call assigns to it.
pub fn create(
    call: &mut Call<'_, '_>,
    entity: &EntityNames,
    document: &Document,
    assigned: Option<&[AssignedDocument]>,
) -> Result<(), CallError> {
    if state_of(document)? == EntityState::Active
        && let Ok(rule) = transition(entity.kind, TransitionAction::Activate, EntityState::Draft)
    {
        check_preconditions(
            call,
            &PreconditionSubject { entity, document, assigned },
            rule.needs,
            TransitionAction::Activate.name(),
        )?;
    }
    schemas::check_body(call.store, entity.object, &document.body)?;
    call.store.insert(entity.stored, document);
    activities::record_change(call, entity, document, "created");
    Ok(())
}

/// Refuses fields that cannot be edited in the document's state.
pub fn check_edits(
    call: &Call<'_, '_>,
    entity: &'static EntityNames,
    document: &Document,
    request: &RequestBody,
) -> Result<(), CallError> {
    let state = state_of(document)?;
    for field in request.keys() {
        match edit(entity.kind, state, field) {
            Edit::Free => {}
            Edit::Never => {
                let message = format!(
                    "must NOT be edited on {} {} (actual status is `{}`)",
                    article(entity),
                    entity.kind.noun(),
                    state.name()
                );
                return Err(Problem::at(field.as_str(), message).into());
            }
            Edit::While(precondition) => {
                let subject = PreconditionSubject { entity, document, assigned: None };
                if let Some(violating) = requirements::find_violations(call.store, &subject, precondition)? {
                    let mut body = precondition_error(&subject, precondition, &format!("edit '{field}' of"), violating);
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
fn article(entity: &EntityNames) -> &'static str {
    if entity.kind.noun().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Merges the request into the document that the path names. A null resets a member to its default. For required members null
/// is ignored; in metadata and rules it has its own meaning.
pub fn merge_request(call: &mut Call<'_, '_>, required: &[&str]) -> Result<Document, CallError> {
    let entity = call.entity_names()?;
    let mut request = call.body(Nulls::KeptOnTop)?;
    let mut document = find(call)?;
    request.retain(|name, value| !value.is_null() || !required.contains(&name.as_str()));
    check_edits(call, entity, &document, &request)?;
    remove_nulls(&mut request, &["metadata", "rules"]);
    merge(&mut document.body, request);
    Ok(document)
}

/// Queues the write of an edited document. One that is ACTIVE must still satisfy the preconditions of the activation.
pub fn update(call: &mut Call<'_, '_>, entity: &'static EntityNames, document: &mut Document) -> Result<(), CallError> {
    call.touch(document);
    if state_of(document)? == EntityState::Active
        && let Ok(rule) = transition(entity.kind, TransitionAction::Activate, EntityState::Draft)
        && rule.needs.contains(&Precondition::NamedAreActive)
    {
        check_preconditions(
            call,
            &PreconditionSubject { entity, document, assigned: None },
            &[Precondition::NamedAreActive],
            "update",
        )?;
    }
    schemas::check_body(call.store, entity.object, &document.body)?;
    call.store.update(entity.stored, document);
    activities::record_change(call, entity, document, "updated");
    Ok(())
}
