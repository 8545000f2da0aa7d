//! The one way of every document with states through its life: made, found, listed, edited, led from state to state, and gone. It must
//! not know any kind, nor which state leads where; the engine's tables say that.

use crate::document::choice::prune;
use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::merge::merge;
use crate::http::life::Life;
use crate::http::reply::{CallError, ErrorBody};
use crate::http::route::{Answer, Call, Outcome, Route};
use crate::http::shape::Nulls;
use crate::moment;
use crate::shop::activities;
use crate::shop::hindrance::{self, Asked, Assigned};
use crate::shop::lives::{ASSIGNABLE, PARTS, find, named, state_of};
use crate::shop::metadata_schemas;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::lifecycle::{Edit, Need, State, Verb, edit, transition};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Answers a document as its route shows it.
pub fn answer(call: &mut Call<'_, '_>, document: Document) -> Outcome {
    Ok(Answer::json(call.resource()?.show_one(call, document)?))
}

/// The verb of a route that reads one document.
pub fn get(call: &mut Call<'_, '_>) -> Outcome {
    let document = find(call)?;
    answer(call, document)
}

/// The verb of a route that lists documents by cursors.
pub fn list(call: &mut Call<'_, '_>) -> Outcome {
    let (resource, life) = (call.resource()?, call.life()?);
    let clause = Clause::of_kind(life.stored).at(call.now_ms());
    cursors::page(call, &resource.list, life.cursor, clause, resource.show)
}

/// What a route does to a state, as its path says it.
fn verb_of(route: &Route) -> Result<Verb, Fault> {
    let last = route.path.rsplit('/').next().unwrap_or_default();
    let word = if route.method == "DELETE" { "delete" } else { last };
    Verb::ALL
        .into_iter()
        .find(|verb| verb.word() == word)
        .ok_or_else(|| Fault(format!("`{}` leads nowhere", route.path)))
}

/// The verb of every route that leads a document from state to state.
pub fn advance(call: &mut Call<'_, '_>) -> Outcome {
    let (life, verb) = (call.life()?, verb_of(call.route)?);
    let mut document = find(call)?;
    let row = transition(life.kind, verb, state_of(&document)?).map_err(ErrorBody::from)?;
    check(call, &Asked { life, document: &document, assigned: None }, row.needs, verb.word())?;
    document.body.insert("status".into(), row.to.word().into());
    call.touch(&mut document);
    match row.to {
        State::Deleted => retire(call, life, &mut document)?,
        State::Draft | State::Active | State::Inactive => call.store.update(life.stored, &document),
    }
    activities::note_change(call, life, &document, verb.past());
    answer(call, document)
}

/// Refuses what does not hold, the first of it.
fn check(call: &Call<'_, '_>, asked: &Asked<'_>, needs: &[Need], doing: &str) -> Result<(), CallError> {
    for need in needs {
        if let Some(by) = hindrance::of(call.store, asked, *need)? {
            return Err(denied(asked, *need, doing, by).into());
        }
    }
    Ok(())
}

/// The refusal of something that does not hold, by these.
fn denied(asked: &Asked<'_>, need: Need, doing: &str, by: Vec<(String, String)>) -> ErrorBody {
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

/// Takes a document away at the commit, with what belongs to it: what happened before still names its rows, and nothing finds them.
fn retire(call: &mut Call<'_, '_>, life: &Life, document: &mut Document) -> Result<(), Fault> {
    document.key = None;
    call.store.retire(life.stored, document);
    for kind in life.owned {
        if let Some(assigned) = ASSIGNABLE.iter().find(|other| other.assigned == Some(*kind)) {
            note_left(call, assigned, document)?;
        }
        if let Some(part) = PARTS.iter().find(|(stored, _)| stored == kind) {
            note_parts(call, life, *part, document)?;
        }
        call.store.retire_owned(kind, &document.id);
    }
    Ok(())
}

/// Writes down what leaves a program that is gone.
fn note_left(call: &mut Call<'_, '_>, life: &Life, program: &Document) -> Result<(), Fault> {
    for row in owned(call, life.assigned.unwrap_or_default(), program)? {
        if let Some(document) = named(call.store, life, row.holder.as_deref().unwrap_or_default())? {
            activities::note_assignment(call, life, program, &document, &row, "unassigned");
        }
    }
    Ok(())
}

/// Writes down which parts go with a document.
fn note_parts(
    call: &mut Call<'_, '_>,
    life: &Life,
    (kind, word): (&str, &str),
    document: &Document,
) -> Result<(), Fault> {
    for part in owned(call, kind, document)? {
        let data = json!({ life.object: document.body, word: part.body });
        activities::note(call, life, &document.id, &format!("{word}.deleted"), data);
    }
    Ok(())
}

/// The rows of a kind that belong to a document.
fn owned(call: &Call<'_, '_>, kind: &str, document: &Document) -> Result<Vec<Document>, Fault> {
    call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND parent = +?2 ORDER BY seq",
        &[kind.into(), document.id.as_str().into()],
    )
}

/// A document that begins now, from what it says of itself: what every document with states says is added.
pub fn begin(call: &mut Call<'_, '_>, life: &Life, mut body: Map<String, Json>) -> Document {
    let id = call.ids.hex18(life.id).to_string();
    body.insert("id".into(), id.clone().into());
    body.entry("status").or_insert_with(|| State::Draft.word().into());
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), life.object.into());
    Document::new(id, None, call.now_ms(), body)
}

/// Adds a document at the commit. One that begins ACTIVE must hold what activating it asks for; `assigned` is what is assigned to it in
/// the same call.
pub fn create(
    call: &mut Call<'_, '_>,
    life: &Life,
    document: &Document,
    assigned: Option<&[Assigned]>,
) -> Result<(), CallError> {
    if state_of(document)? == State::Active
        && let Ok(row) = transition(life.kind, Verb::Activate, State::Draft)
    {
        check(call, &Asked { life, document, assigned }, row.needs, Verb::Activate.word())?;
    }
    metadata_schemas::check(call.store, &[(life.object, document.body.get("metadata"))])?;
    call.store.insert(life.stored, document);
    activities::note_change(call, life, document, "created");
    Ok(())
}

/// Refuses fields that may not be edited as the document stands.
pub fn check_edits(
    call: &Call<'_, '_>,
    life: &'static Life,
    document: &Document,
    sent: &Map<String, Json>,
) -> Result<(), CallError> {
    let state = state_of(document)?;
    for field in sent.keys() {
        match edit(life.kind, state, field) {
            Edit::Free => {}
            Edit::Never => {
                let told = format!(
                    "must NOT be edited on {} {} (actual status is `{}`)",
                    article(life),
                    life.kind.thing(),
                    state.word()
                );
                return Err(Problem::at(field.as_str(), told).into());
            }
            Edit::While(need) => {
                let asked = Asked { life, document, assigned: None };
                if let Some(by) = hindrance::of(call.store, &asked, need)? {
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

/// The article of what refusals call it.
fn article(life: &Life) -> &'static str {
    if life.kind.thing().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// The document that the path names, with what the request sends over it. What is null goes back to its default, but for members that
/// must be there, where it says nothing; in custom data and tests it says something of its own.
pub fn edited(call: &mut Call<'_, '_>, required: &[&str]) -> Result<Document, CallError> {
    let life = call.life()?;
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = find(call)?;
    sent.retain(|name, value| !value.is_null() || !required.contains(&name.as_str()));
    check_edits(call, life, &document, &sent)?;
    prune(&mut sent, &["metadata", "rules"]);
    merge(&mut document.body, sent);
    Ok(document)
}

/// Writes an edited document at the commit. One that is ACTIVE must still hold what activating it asks for.
pub fn change(call: &mut Call<'_, '_>, life: &'static Life, document: &mut Document) -> Result<(), CallError> {
    call.touch(document);
    if state_of(document)? == State::Active
        && let Ok(row) = transition(life.kind, Verb::Activate, State::Draft)
        && row.needs.contains(&Need::NamedAreActive)
    {
        check(call, &Asked { life, document, assigned: None }, &[Need::NamedAreActive], "update")?;
    }
    metadata_schemas::check(call.store, &[(life.object, document.body.get("metadata"))])?;
    call.store.update(life.stored, document);
    activities::note_change(call, life, document, "updated");
    Ok(())
}
