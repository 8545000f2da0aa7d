//! Assignments of a program: card definitions, earning rules, a tier structure, rewards. Assigning, unassigning, and
//! the stored rows of both.

use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::{CARD_DEFINITION, EARNING_RULE, REWARD, TIER_STRUCTURE, named, state_of};
use crate::domain::loyalty_programs::requirements::AssignedDocument;
use crate::http::entity_names::EntityNames;
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::records::ObjectReference;
use crate::timestamp;
use scrip::lifecycle::{Entity, EntityState};
use serde_json::{Map, Value as Json};

/// Kind of document that can be assigned to a program.
pub struct Assignable {
    /// Names of the kind.
    pub life: &'static EntityNames,
    /// Plural name in a body.
    pub plural: &'static str,
    /// Name in a path.
    pub segment: &'static str,
    /// Prefix of the cursors of their list.
    pub cursor: &'static str,
}

/// All assignable kinds.
pub static KINDS: &[Assignable] = &[
    Assignable {
        life: &CARD_DEFINITION,
        plural: "card_definitions",
        segment: "card-definitions",
        cursor: "lcrscdefa_",
    },
    Assignable { life: &EARNING_RULE, plural: "earning_rules", segment: "earning-rules", cursor: "lcrserna_" },
    Assignable { life: &TIER_STRUCTURE, plural: "tier_structures", segment: "tier-structures", cursor: "lcrstsa_" },
    Assignable { life: &REWARD, plural: "rewards", segment: "rewards", cursor: "lcrsrewa_" },
];

/// Returns the kind of the assignment rows of an assignable kind.
pub fn row_kind(kind: &Assignable) -> &'static str {
    kind.life.assigned.unwrap_or_default()
}

/// A document to assign to a program.
pub struct NewAssignment {
    kind: &'static Assignable,
    /// Document to assign.
    pub document: Document,
    /// State of the document.
    pub state: EntityState,
    /// Stock of a reward for the program.
    stock: Json,
}

impl NewAssignment {
    /// Returns its id and state.
    pub fn standing(&self) -> AssignedDocument {
        AssignedDocument { life: self.kind.life, id: self.document.id.clone(), state: Some(self.state) }
    }
}

/// Returns the documents that a list of names would assign to a program with these assignments. All exist, without duplicates.
pub fn entering(
    call: &Call<'_, '_>,
    kind: &'static Assignable,
    sent: &Json,
    present: &[AssignedDocument],
) -> Result<Vec<NewAssignment>, CallError> {
    let mut entering: Vec<NewAssignment> = Vec::new();
    for one in sent.as_array().into_iter().flatten() {
        let id = ObjectReference::of_value(one).id().unwrap_or_default();
        let found = named(call.store, kind.life, id)?;
        let document = found.ok_or_else(|| not_found(&kind.life.resource_type(), id))?;
        let is_there = present.iter().any(|known| known.id == id);
        if is_there || entering.iter().any(|known| known.document.id == id) {
            return Err(duplicate(row_kind(kind), &format!("{}_id", kind.life.object), id).into());
        }
        let state = state_of(&document)?;
        let stock = one.get("stock").cloned().unwrap_or(Json::Null);
        entering.push(NewAssignment { kind, document, state, stock });
    }
    // Memory bounds both lists.
    let is_second = entering.len().saturating_add(present.len()) > 1;
    match entering.last() {
        Some(last) if kind.life.kind == Entity::TierStructure && is_second => {
            Err(duplicate(row_kind(kind), "tier_structure_id", &last.document.id).into())
        }
        _ => Ok(entering),
    }
}

/// Returns the assignments that a list of names would end.
pub fn leaving(
    call: &Call<'_, '_>,
    kind: &Assignable,
    program: &Document,
    sent: &Json,
) -> Result<Vec<Document>, CallError> {
    let mut leaving: Vec<Document> = Vec::new();
    for one in sent.as_array().into_iter().flatten() {
        let id = ObjectReference::of_value(one).id().unwrap_or_default();
        let row = call.store.document(row_kind(kind), &row_id(&program.id, id))?;
        let row = row.filter(|row| !leaving.iter().any(|known| known.id == row.id));
        leaving.push(row.ok_or_else(|| not_found(row_kind(kind), id))?);
    }
    Ok(leaving)
}

/// Returns the id of an assignment's row.
pub fn row_id(program: &str, id: &str) -> String {
    format!("{program}/{id}")
}

/// Queues an assignment, and returns its JSON.
pub fn assign(call: &mut Call<'_, '_>, program: &Document, entering: &NewAssignment) -> Json {
    let NewAssignment { kind, document, stock, .. } = entering;
    let mut body = Map::new();
    body.insert(format!("{}_id", kind.life.object), document.id.as_str().into());
    match kind.life.kind {
        Entity::CardDefinition => {
            let card_type = document.as_card().card_type().cloned().unwrap_or_default();
            body.insert("card_type".into(), card_type);
        }
        Entity::Reward => {
            body.insert("stock".into(), stock.clone());
            body.insert("redeemed".into(), 0.into());
            body.insert("updated_at".into(), Json::Null);
        }
        Entity::Program
        | Entity::EarningRule
        | Entity::Incentive
        | Entity::Benefit
        | Entity::TierStructure
        | Entity::Member => {}
    }
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("object".into(), row_kind(kind).into());
    let mut row = Document::new(row_id(&program.id, &document.id), None, call.now_ms(), body);
    row.parent = Some(program.id.clone());
    row.holder = Some(document.id.clone());
    call.store.insert(row_kind(kind), &row);
    activities::note_assignment(call, kind.life, program, document, &row, "assigned");
    Json::Object(row.body)
}

/// Queues the removal of an assignment, and returns its former JSON.
pub fn unassign(
    call: &mut Call<'_, '_>,
    kind: &Assignable,
    program: &Document,
    row: Document,
) -> Result<Json, CallError> {
    call.store.remove(row_kind(kind), &row.id);
    let id = row.holder.clone().unwrap_or_default();
    if let Some(document) = named(call.store, kind.life, &id)? {
        activities::note_assignment(call, kind.life, program, &document, &row, "unassigned");
    }
    Ok(Json::Object(row.body))
}
