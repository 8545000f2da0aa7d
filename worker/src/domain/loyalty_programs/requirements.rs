//! Tests the preconditions of state transitions against the stored documents.

use crate::domain::loyalty_programs::kinds::{
    ASSIGNABLE, CARD_DEFINITION, EARNING_RULE, INCENTIVE, NAMING, PROGRAM, TIER,
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
    pub life: &'a EntityNames,
    /// The document as it will be.
    pub document: &'a Document,
    /// Documents assigned to it that are not stored yet.
    pub assigned: Option<&'a [AssignedDocument]>,
}

/// Document with its state; `None` for a deleted one.
#[derive(Debug, Clone)]
pub struct AssignedDocument {
    /// Kind of the document.
    pub life: &'static EntityNames,
    /// Id of the document.
    pub id: String,
    /// State of the document.
    pub state: Option<EntityState>,
}

/// Returns the kinds and ids of the documents that violate a precondition; `None` when it is satisfied. The list is empty
/// when a document is missing.
pub fn of(
    store: &Store<'_>,
    asked: &PreconditionSubject<'_>,
    need: Precondition,
) -> Result<Option<Vec<(String, String)>>, Fault> {
    let PreconditionSubject { life, document, .. } = asked;
    let is_active = |one: &AssignedDocument| one.state == Some(EntityState::Active);
    let is_draft = |one: &AssignedDocument| one.state == Some(EntityState::Draft);
    let some = |found: Vec<AssignedDocument>| Ok((!found.is_empty()).then(|| as_details(found)));
    let that = |found: Vec<AssignedDocument>, stands: &dyn Fn(&AssignedDocument) -> bool| {
        some(found.into_iter().filter(|one| stands(one)).collect())
    };
    match need {
        Precondition::NamedAreActive => that(named_by(store, document)?, &|one| !is_active(one)),
        Precondition::ProgramsKeepARule => some(left_without_rule(store, life, &document.id)?),
        Precondition::ProgramsAreDraft => that(programs_of(store, life, &document.id)?, &|one| !is_draft(one)),
        Precondition::NoProgram => some(programs_of(store, life, &document.id)?),
        Precondition::UsersAreDraft => that(users_of(store, life, &document.id)?, &|one| !is_draft(one)),
        Precondition::NoUser => some(users_of(store, life, &document.id)?),
        Precondition::NoActiveRule | Precondition::NoActiveRuleLater => {
            that(naming(store, &document.id)?, &|one| one.life.kind == Entity::EarningRule && is_active(one))
        }
        Precondition::NoRule if life.kind == Entity::TierStructure => some(rules_for(store, &document.id)?),
        Precondition::NoRule | Precondition::NoRuleLater => {
            that(naming(store, &document.id)?, &|one| one.life.kind == Entity::EarningRule)
        }
        Precondition::Tier => {
            let has_tier = loyalty_programs::has_owned(store, TIER, &document.id)?;
            Ok((!has_tier).then(Vec::new))
        }
        Precondition::ActiveCardDefinition => lacks(store, asked, Entity::CardDefinition),
        Precondition::ActiveEarningRule => lacks(store, asked, Entity::EarningRule),
        Precondition::AssignedAreActive => that(assigned_to(store, asked)?, &|one| !is_active(one)),
        Precondition::AssignedAreNoDrafts => {
            that(assigned_to(store, asked)?, &|one| is_draft(one) || one.state.is_none())
        }
    }
}

fn as_details(found: Vec<AssignedDocument>) -> Vec<(String, String)> {
    found.into_iter().map(|one| (one.life.resource_type(), one.id)).collect()
}

/// Returns an empty list when no assigned document of a kind is ACTIVE.
fn lacks(
    store: &Store<'_>,
    asked: &PreconditionSubject<'_>,
    kind: Entity,
) -> Result<Option<Vec<(String, String)>>, Fault> {
    let found = assigned_to(store, asked)?;
    let has = found.iter().any(|one| one.life.kind == kind && one.state == Some(EntityState::Active));
    Ok((!has).then(Vec::new))
}

/// Returns documents of a kind with their states.
fn with_states(life: &'static EntityNames, found: Vec<DocumentStatus>) -> Vec<AssignedDocument> {
    let assigned = |DocumentStatus { id, status }| AssignedDocument {
        life,
        id,
        state: status.as_deref().and_then(EntityState::find),
    };
    found.into_iter().map(assigned).collect()
}

/// Returns the state of a document.
pub fn stands(store: &Store<'_>, life: &'static EntityNames, id: String) -> Result<AssignedDocument, Fault> {
    let found = loyalty_programs::find_status(store, life.stored, &id)?;
    let status = found.and_then(|found| found.status);
    Ok(AssignedDocument { life, id, state: status.as_deref().and_then(EntityState::find) })
}

/// Members that refer to another document, by id or by an object with an id.
const NAMES: &[(&str, &EntityNames)] = &[("card_definition_id", &CARD_DEFINITION), ("incentive", &INCENTIVE)];

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
    let known = NAMES.iter().find(|(known, _)| *known == name);
    let id = value.as_str().or_else(|| ObjectReference::of_value(value).id());
    match (known, id) {
        (Some((_, life)), Some(id)) => {
            if !into.iter().any(|(_, other)| other == id) {
                into.push((life, id.to_owned()));
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
fn named_by(store: &Store<'_>, document: &Document) -> Result<Vec<AssignedDocument>, Fault> {
    references(document).into_iter().map(|(life, id)| stands(store, life, id)).collect()
}

/// Returns the documents that refer to an id: texts with the id are searched, and the matches are parsed.
pub fn naming(store: &Store<'_>, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let mut found = Vec::new();
    for life in NAMING {
        for document in loyalty_programs::list_containing(store, life.stored, id)? {
            if references(&document).iter().any(|(_, named)| named == id) {
                let state = document.as_entity().status().and_then(EntityState::find);
                found.push(AssignedDocument { life, id: document.id, state });
            }
        }
    }
    Ok(found)
}

/// Returns the earning rules limited to members of a tier or structure.
pub fn rules_for(store: &Store<'_>, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let rules = loyalty_programs::list_containing(store, EARNING_RULE.stored, id)?;
    let asks = |earning: &Json| {
        let requirements = EarningRecord::of_value(earning).tier_requirements();
        requirements.iter().any(|one| TierRequirementRecord::of_value(one).names(id))
    };
    let found = rules.into_iter().filter(|rule| rule.as_program_rule().earnings().iter().any(asks));
    let standing = |rule: Document| AssignedDocument {
        life: &EARNING_RULE,
        state: rule.as_entity().status().and_then(EntityState::find),
        id: rule.id,
    };
    Ok(found.map(standing).collect())
}

/// Returns the programs to which a document is assigned.
pub fn programs_of(store: &Store<'_>, life: &EntityNames, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let Some(assigned) = life.assigned else { return Ok(Vec::new()) };
    Ok(with_states(&PROGRAM, loyalty_programs::list_programs_of(store, assigned, id, PROGRAM.stored)?))
}

/// Returns the programs to which a document is assigned, and the documents that refer to it.
fn users_of(store: &Store<'_>, life: &EntityNames, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let mut users = programs_of(store, life, id)?;
    users.extend(naming(store, id)?);
    Ok(users)
}

/// Returns the documents of one kind that are assigned to a program.
pub fn assigned_as(
    store: &Store<'_>,
    life: &'static EntityNames,
    program: &str,
) -> Result<Vec<AssignedDocument>, Fault> {
    let Some(assigned) = life.assigned else { return Ok(Vec::new()) };
    Ok(with_states(life, loyalty_programs::list_assigned(store, assigned, program, life.stored)?))
}

/// Returns all documents that are assigned to a program.
fn assigned_to(store: &Store<'_>, asked: &PreconditionSubject<'_>) -> Result<Vec<AssignedDocument>, Fault> {
    if let Some(assigned) = asked.assigned {
        return Ok(assigned.to_vec());
    }
    let mut found = Vec::new();
    for life in ASSIGNABLE {
        found.extend(assigned_as(store, life, &asked.document.id)?);
    }
    Ok(found)
}

/// Returns the ACTIVE programs without another ACTIVE earning rule.
fn left_without_rule(store: &Store<'_>, life: &EntityNames, id: &str) -> Result<Vec<AssignedDocument>, Fault> {
    let mut left = Vec::new();
    for program in
        programs_of(store, life, id)?.into_iter().filter(|program| program.state == Some(EntityState::Active))
    {
        let rules = assigned_as(store, &EARNING_RULE, &program.id)?;
        if !rules.iter().any(|rule| rule.id != id && rule.state == Some(EntityState::Active)) {
            left.push(program);
        }
    }
    Ok(left)
}
