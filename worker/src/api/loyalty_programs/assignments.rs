//! Assignments of a program: card definitions, earning rules, a tier structure, rewards. Assigning, unassigning, and
//! the stored rows of both.

use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::{
    CARD_DEFINITION, EARNING_RULE, REWARD, TIER_STRUCTURE, find_by_id, state_of,
};
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
    pub entity: &'static EntityNames,
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
        entity: &CARD_DEFINITION,
        plural: "card_definitions",
        segment: "card-definitions",
        cursor: "lcrscdefa_",
    },
    Assignable { entity: &EARNING_RULE, plural: "earning_rules", segment: "earning-rules", cursor: "lcrserna_" },
    Assignable { entity: &TIER_STRUCTURE, plural: "tier_structures", segment: "tier-structures", cursor: "lcrstsa_" },
    Assignable { entity: &REWARD, plural: "rewards", segment: "rewards", cursor: "lcrsrewa_" },
];

/// Returns the kind of the assignment rows of an assignable kind.
pub fn row_kind(kind: &Assignable) -> &'static str {
    kind.entity.assigned.unwrap_or_default()
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
    pub fn assigned_document(&self) -> AssignedDocument {
        AssignedDocument { entity: self.kind.entity, id: self.document.id.clone(), state: Some(self.state) }
    }
}

/// Returns the documents that a list of names would assign to a program with these assignments. All exist, without duplicates.
pub fn find_new_assignments(
    call: &Call<'_, '_>,
    kind: &'static Assignable,
    sent: &Json,
    present: &[AssignedDocument],
) -> Result<Vec<NewAssignment>, CallError> {
    let mut assignments: Vec<NewAssignment> = Vec::new();
    for reference in sent.as_array().into_iter().flatten() {
        let id = ObjectReference::of_value(reference).id().unwrap_or_default();
        let found = find_by_id(call.store, kind.entity, id)?;
        let document = found.ok_or_else(|| not_found(&kind.entity.resource_type(), id))?;
        let is_assigned = present.iter().any(|known| known.id == id);
        if is_assigned || assignments.iter().any(|known| known.document.id == id) {
            return Err(duplicate(row_kind(kind), &format!("{}_id", kind.entity.object), id).into());
        }
        let state = state_of(&document)?;
        let stock = reference.get("stock").cloned().unwrap_or(Json::Null);
        assignments.push(NewAssignment { kind, document, state, stock });
    }
    // Memory bounds both lists.
    let is_second = assignments.len().saturating_add(present.len()) > 1;
    match assignments.last() {
        Some(last) if kind.entity.kind == Entity::TierStructure && is_second => {
            Err(duplicate(row_kind(kind), "tier_structure_id", &last.document.id).into())
        }
        _ => Ok(assignments),
    }
}

/// Returns the assignments that a list of names would end.
pub fn find_ended_assignments(
    call: &Call<'_, '_>,
    kind: &Assignable,
    program: &Document,
    sent: &Json,
) -> Result<Vec<Document>, CallError> {
    let mut rows: Vec<Document> = Vec::new();
    for reference in sent.as_array().into_iter().flatten() {
        let id = ObjectReference::of_value(reference).id().unwrap_or_default();
        let row = call.store.document(row_kind(kind), &row_id(&program.id, id))?;
        let row = row.filter(|row| !rows.iter().any(|known| known.id == row.id));
        rows.push(row.ok_or_else(|| not_found(row_kind(kind), id))?);
    }
    Ok(rows)
}

/// Returns the id of an assignment's row.
pub fn row_id(program: &str, id: &str) -> String {
    format!("{program}/{id}")
}

/// Queues an assignment, and returns its JSON.
pub fn assign(call: &mut Call<'_, '_>, program: &Document, assignment: &NewAssignment) -> Json {
    let NewAssignment { kind, document, stock, .. } = assignment;
    let mut body = Map::new();
    body.insert(format!("{}_id", kind.entity.object), document.id.as_str().into());
    match kind.entity.kind {
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
    activities::record_assignment(call, kind.entity, program, document, &row, "assigned");
    Json::Object(row.body)
}

/// Queues the removal of an assignment, and returns its former JSON.
pub fn unassign(
    call: &mut Call<'_, '_>,
    kind: &Assignable,
    program: &Document,
    row: Document,
) -> Result<Json, CallError> {
    call.store.delete(row_kind(kind), &row.id);
    let id = row.holder.clone().unwrap_or_default();
    if let Some(document) = find_by_id(call.store, kind.entity, &id)? {
        activities::record_assignment(call, kind.entity, program, &document, &row, "unassigned");
    }
    Ok(Json::Object(row.body))
}
