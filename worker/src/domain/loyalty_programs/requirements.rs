//! Tests the preconditions of state transitions against the stored documents.

use crate::domain::loyalty_programs::kinds::{
    ASSIGNABLE, CARD_DEFINITION, EARNING_RULE, INCENTIVE, PROGRAM, REFERRING, TIER,
};
use crate::http::entity_names::EntityNames;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::documents::loyalty_programs::{self, DocumentStatus};
use crate::store::records::{EarningRecord, ObjectReference, TierRequirementRecord};
use crate::store::sql::Fault;
use scrip::lifecycle::{Entity, EntityState, Precondition};
use serde_json::Value as Json;

/// Document to be tested.
pub struct PreconditionSubject<'a> {
    /// Kind of the document.
    pub entity: &'a EntityNames,
    /// The document as it will be.
    pub document: &'a Document,
    /// Documents assigned to it that are not stored yet.
    pub assigned: Option<&'a [AssignedDocument]>,
}

/// Document with its state; `None` for a deleted one.
#[derive(Debug, Clone)]
pub struct AssignedDocument {
    /// Kind of the document.
    pub entity: &'static EntityNames,
    /// Id of the document.
    pub id: String,
    /// State of the document.
    pub state: Option<EntityState>,
}

/// Returns the kinds and ids of the documents that violate a precondition; `None` when it is satisfied. The list is empty
/// when a document is missing.
pub fn find_violations(
    store: &Store<'_>,
    subject: &PreconditionSubject<'_>,
    precondition: Precondition,
) -> Result<Option<Vec<(String, String)>>, Fault> {
    let PreconditionSubject { entity, document, .. } = subject;
    let is_active = |document: &AssignedDocument| document.state == Some(EntityState::Active);
    let is_draft = |document: &AssignedDocument| document.state == Some(EntityState::Draft);
    let violations = |found: Vec<AssignedDocument>| Ok((!found.is_empty()).then(|| as_details(found)));
    let matching = |found: Vec<AssignedDocument>, is_violating: &dyn Fn(&AssignedDocument) -> bool| {
        violations(found.into_iter().filter(|document| is_violating(document)).collect())
    };
    match precondition {
        Precondition::NamedAreActive => matching(list_referenced(store, document)?, &|document| !is_active(document)),
        Precondition::ProgramsKeepARule => violations(list_programs_without_rule(store, entity, &document.id)?),
        Precondition::ProgramsAreDraft => {
            matching(list_programs(store, entity, &document.id)?, &|document| !is_draft(document))
        }
        Precondition::NoProgram => violations(list_programs(store, entity, &document.id)?),
        Precondition::UsersAreDraft => {
            matching(list_users(store, entity, &document.id)?, &|document| !is_draft(document))
        }
        Precondition::NoUser => violations(list_users(store, entity, &document.id)?),
        Precondition::NoActiveRule | Precondition::NoActiveRuleLater => {
            matching(list_referring(store, &document.id)?, &|document| {
                document.entity.kind == Entity::EarningRule && is_active(document)
            })
        }
        Precondition::NoRule if entity.kind == Entity::TierStructure => {
            violations(list_rules_for_tier(store, &document.id)?)
        }
        Precondition::NoRule | Precondition::NoRuleLater => {
            matching(list_referring(store, &document.id)?, &|document| document.entity.kind == Entity::EarningRule)
        }
        Precondition::Tier => {
            let has_tier = loyalty_programs::has_owned(store, TIER, &document.id)?;
            Ok((!has_tier).then(Vec::new))
        }
        Precondition::ActiveCardDefinition => require_active(store, subject, Entity::CardDefinition),
        Precondition::ActiveEarningRule => require_active(store, subject, Entity::EarningRule),
        Precondition::AssignedAreActive => {
            matching(list_all_assigned(store, subject)?, &|document| !is_active(document))
        }
        Precondition::AssignedAreNoDrafts => {
            matching(list_all_assigned(store, subject)?, &|document| is_draft(document) || document.state.is_none())
        }
    }
}

fn as_details(found: Vec<AssignedDocument>) -> Vec<(String, String)> {
    found.into_iter().map(|document| (document.entity.resource_type(), document.id)).collect()
}

/// Returns an empty list when no assigned document of a kind is ACTIVE.
fn require_active(
    store: &Store<'_>,
    subject: &PreconditionSubject<'_>,
    kind: Entity,
) -> Result<Option<Vec<(String, String)>>, Fault> {
    let found = list_all_assigned(store, subject)?;
    let has = found.iter().any(|document| document.entity.kind == kind && document.state == Some(EntityState::Active));
    Ok((!has).then(Vec::new))
}

/// Returns documents of a kind with their states.
fn assigned_documents(entity: &'static EntityNames, found: Vec<DocumentStatus>) -> Vec<AssignedDocument> {
    let assigned = |DocumentStatus { id, status }| AssignedDocument {
        entity,
        id,
        state: status.as_deref().and_then(EntityState::find),
    };
    found.into_iter().map(assigned).collect()
}

/// Returns the state of a document.
pub fn find_state(store: &Store<'_>, entity: &'static EntityNames, id: String) -> Result<AssignedDocument, Fault> {
    let found = loyalty_programs::find_status(store, entity.stored, &id)?;
    let status = found.and_then(|found| found.status);
    Ok(AssignedDocument { entity, id, state: status.as_deref().and_then(EntityState::find) })
}

/// Members that refer to another document, by id or by an object with an id.
const REFERENCE_MEMBERS: &[(&str, &EntityNames)] =
    &[("card_definition_id", &CARD_DEFINITION), ("incentive", &INCENTIVE)];

/// References of a document: the names of the kind, and the id.
type References = Vec<(&'static EntityNames, String)>;

/// Returns the ids to which a document refers, without duplicates.
fn references(document: &Document) -> References {
    let mut found = References::new();
    document.body.iter().for_each(|(name, value)| collect_member(name, value, &mut found));
    found
}

/// Collects the ids to which a member refers. Metadata and rules contain no references.
fn collect_member(name: &str, value: &Json, into: &mut References) {
    if matches!(name, "metadata" | "rules") {
        return;
    }
    let known = REFERENCE_MEMBERS.iter().find(|(known, _)| *known == name);
    let id = value.as_str().or_else(|| ObjectReference::of_value(value).id());
    match (known, id) {
        (Some((_, entity)), Some(id)) => {
            if !into.iter().any(|(_, other)| other == id) {
                into.push((entity, id.to_owned()));
            }
        }
        _ => collect_value(value, into),
    }
}

fn collect_value(value: &Json, into: &mut References) {
    match value {
        Json::Object(members) => members.iter().for_each(|(name, value)| collect_member(name, value, into)),
        Json::Array(items) => items.iter().for_each(|item| collect_value(item, into)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Returns the documents to which a document refers.
fn list_referenced(store: &Store<'_>, document: &Document) -> Result<Vec<AssignedDocument>, Fault> {
    references(document).into_iter().map(|(entity, id)| find_state(store, entity, id)).collect()
}

/// Returns the documents that refer to an id: texts with the id are searched, and the matches are parsed.
pub fn list_referring(store: &Store<'_>, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let mut found = Vec::new();
    for entity in REFERRING {
        for document in loyalty_programs::list_containing(store, entity.stored, id)? {
            if references(&document).iter().any(|(_, named)| named == id) {
                let state = document.as_entity().status().and_then(EntityState::find);
                found.push(AssignedDocument { entity, id: document.id, state });
            }
        }
    }
    Ok(found)
}

/// Returns the earning rules limited to members of a tier or structure.
pub fn list_rules_for_tier(store: &Store<'_>, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let rules = loyalty_programs::list_containing(store, EARNING_RULE.stored, id)?;
    let reads_tier = |earning: &Json| {
        let requirements = EarningRecord::of_value(earning).tier_requirements();
        requirements.iter().any(|requirement| TierRequirementRecord::of_value(requirement).names(id))
    };
    let found = rules.into_iter().filter(|rule| rule.as_program_rule().earnings().iter().any(reads_tier));
    let assigned = |rule: Document| AssignedDocument {
        entity: &EARNING_RULE,
        state: rule.as_entity().status().and_then(EntityState::find),
        id: rule.id,
    };
    Ok(found.map(assigned).collect())
}

/// Returns the programs to which a document is assigned.
pub fn list_programs(store: &Store<'_>, entity: &EntityNames, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let Some(assigned) = entity.assigned else { return Ok(Vec::new()) };
    Ok(assigned_documents(&PROGRAM, loyalty_programs::list_programs_of(store, assigned, id, PROGRAM.stored)?))
}

/// Returns the programs to which a document is assigned, and the documents that refer to it.
fn list_users(store: &Store<'_>, entity: &EntityNames, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let mut users = list_programs(store, entity, id)?;
    users.extend(list_referring(store, id)?);
    Ok(users)
}

/// Returns the documents of one kind that are assigned to a program.
pub fn list_assigned(
    store: &Store<'_>,
    entity: &'static EntityNames,
    program: &str,
) -> Result<Vec<AssignedDocument>, Fault> {
    let Some(assigned) = entity.assigned else { return Ok(Vec::new()) };
    Ok(assigned_documents(entity, loyalty_programs::list_assigned(store, assigned, program, entity.stored)?))
}

/// Returns all documents that are assigned to a program.
fn list_all_assigned(store: &Store<'_>, subject: &PreconditionSubject<'_>) -> Result<Vec<AssignedDocument>, Fault> {
    if let Some(assigned) = subject.assigned {
        return Ok(assigned.to_vec());
    }
    let mut found = Vec::new();
    for entity in ASSIGNABLE {
        found.extend(list_assigned(store, entity, &subject.document.id)?);
    }
    Ok(found)
}

/// Returns the ACTIVE programs without another ACTIVE earning rule.
fn list_programs_without_rule(
    store: &Store<'_>,
    entity: &EntityNames,
    id: &str,
) -> Result<Vec<AssignedDocument>, Fault> {
    let mut found = Vec::new();
    for program in
        list_programs(store, entity, id)?.into_iter().filter(|program| program.state == Some(EntityState::Active))
    {
        let rules = list_assigned(store, &EARNING_RULE, &program.id)?;
        if !rules.iter().any(|rule| rule.id != id && rule.state == Some(EntityState::Active)) {
            found.push(program);
        }
    }
    Ok(found)
}
