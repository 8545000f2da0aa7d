//! What stands in the way of a transition: the facts behind each need, from the rows. It must not know which transition needs what,
//! nor how it is told.

use crate::http::life::Life;
use crate::shop::lives::{ASSIGNABLE, CARD_DEFINITION, EARNING_RULE, INCENTIVE, NAMING, PROGRAM, TIER};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault, Row};
use scrip::lifecycle::{Kind, Need, State};
use serde_json::{Map, Value as Json};

/// What is asked about.
pub struct Asked<'a> {
    /// Its kind.
    pub life: &'a Life,
    /// As it will be.
    pub document: &'a Document,
    /// What is assigned to it, where the rows do not say so yet.
    pub assigned: Option<&'a [Assigned]>,
}

/// A document by its kind, with how it stands; nothing where it is gone.
#[derive(Debug, Clone)]
pub struct Assigned {
    /// Its kind.
    pub life: &'static Life,
    /// Its id.
    pub id: String,
    /// How it stands.
    pub state: Option<State>,
}

/// What stands in the way of a need, by kind and id; nothing where it holds. What lacks altogether is named by nobody.
pub fn of(store: &Store<'_>, asked: &Asked<'_>, need: Need) -> Result<Option<Vec<(String, String)>>, Fault> {
    let Asked { life, document, .. } = asked;
    let is_active = |one: &Assigned| one.state == Some(State::Active);
    let is_draft = |one: &Assigned| one.state == Some(State::Draft);
    let some = |found: Vec<Assigned>| Ok((!found.is_empty()).then(|| told(found)));
    let that = |found: Vec<Assigned>, stands: &dyn Fn(&Assigned) -> bool| {
        some(found.into_iter().filter(|one| stands(one)).collect())
    };
    match need {
        Need::NamedAreActive => that(named_by(store, &document.body)?, &|one| !is_active(one)),
        Need::ProgramsKeepARule => some(left_without_rule(store, life, &document.id)?),
        Need::ProgramsAreDraft => that(programs_of(store, life, &document.id)?, &|one| !is_draft(one)),
        Need::NoProgram => some(programs_of(store, life, &document.id)?),
        Need::UsersAreDraft => that(users_of(store, life, &document.id)?, &|one| !is_draft(one)),
        Need::NoUser => some(users_of(store, life, &document.id)?),
        Need::NoActiveRule | Need::NoActiveRuleLater => {
            that(naming(store, &document.id)?, &|one| one.life.kind == Kind::EarningRule && is_active(one))
        }
        Need::NoRule if life.kind == Kind::TierStructure => some(rules_for(store, &document.id)?),
        Need::NoRule | Need::NoRuleLater => {
            that(naming(store, &document.id)?, &|one| one.life.kind == Kind::EarningRule)
        }
        Need::Tier => {
            let row = store.row(
                "SELECT 1 FROM document WHERE kind = +?1 AND parent = +?2 LIMIT 1",
                &[TIER.into(), document.id.as_str().into()],
            )?;
            Ok(row.is_none().then(Vec::new))
        }
        Need::ActiveCardDefinition => lacks(store, asked, Kind::CardDefinition),
        Need::ActiveEarningRule => lacks(store, asked, Kind::EarningRule),
        Need::AssignedAreActive => that(assigned_to(store, asked)?, &|one| !is_active(one)),
        Need::AssignedAreNoDrafts => that(assigned_to(store, asked)?, &|one| is_draft(one) || one.state.is_none()),
    }
}

fn told(found: Vec<Assigned>) -> Vec<(String, String)> {
    found.into_iter().map(|one| (one.life.resource_type(), one.id)).collect()
}

/// An empty answer where nothing of a kind that is assigned is ACTIVE.
fn lacks(store: &Store<'_>, asked: &Asked<'_>, kind: Kind) -> Result<Option<Vec<(String, String)>>, Fault> {
    let found = assigned_to(store, asked)?;
    let has = found.iter().any(|one| one.life.kind == kind && one.state == Some(State::Active));
    Ok((!has).then(Vec::new))
}

/// A document of a kind from a row of its id and its status.
fn standing(life: &'static Life, row: &Row) -> Result<Assigned, Fault> {
    let state = sql::text_or_null(row, 1)?.and_then(State::find);
    Ok(Assigned { life, id: sql::text(row, 0)?.to_owned(), state })
}

/// How a document of a kind stands.
pub fn stands(store: &Store<'_>, life: &'static Life, id: String) -> Result<Assigned, Fault> {
    let row = store.row(
        "SELECT id, json_extract(body, '$.status') FROM document WHERE kind = +?1 AND id = +?2",
        &[life.stored.into(), id.as_str().into()],
    )?;
    row.map_or(Ok(Assigned { life, id, state: None }), |row| standing(life, &row))
}

/// The members that name another document, and what they name: an id, or an object that has one.
const NAMES: &[(&str, &Life)] = &[("card_definition_id", &CARD_DEFINITION), ("incentive", &INCENTIVE)];

/// The ids that a document says, by what they name, each once. Custom data and tests name nothing.
fn ids_in(body: &Map<String, Json>, into: &mut Vec<(&'static Life, String)>) {
    for (name, value) in body.iter().filter(|(name, _)| !matches!(name.as_str(), "metadata" | "rules")) {
        let known = NAMES.iter().find(|(known, _)| known == name);
        let id = value.as_str().or_else(|| value.get("id").and_then(Json::as_str));
        match (known, id) {
            (Some((_, life)), Some(id)) => {
                if !into.iter().any(|(_, other)| other == id) {
                    into.push((life, id.to_owned()));
                }
            }
            _ => descend(value, into),
        }
    }
}

fn descend(value: &Json, into: &mut Vec<(&'static Life, String)>) {
    match value {
        Json::Object(members) => ids_in(members, into),
        Json::Array(items) => items.iter().for_each(|item| descend(item, into)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// What a document names, and how it stands.
fn named_by(store: &Store<'_>, body: &Map<String, Json>) -> Result<Vec<Assigned>, Fault> {
    let mut ids = Vec::new();
    ids_in(body, &mut ids);
    ids.into_iter().map(|(life, id)| stands(store, life, id)).collect()
}

/// What names a document: where its id stands in a text is looked for, and what is found is read.
pub fn naming(store: &Store<'_>, id: &str) -> Result<Vec<Assigned>, Fault> {
    let mut found = Vec::new();
    for life in NAMING {
        let statement = "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND instr(body, ?2) > 0";
        for document in store.documents(statement, &[life.stored.into(), Json::from(id).to_string().into()])? {
            let mut ids = Vec::new();
            ids_in(&document.body, &mut ids);
            if ids.iter().any(|(_, named)| named == id) {
                let state = document.body.get("status").and_then(Json::as_str).and_then(State::find);
                found.push(Assigned { life, id: document.id, state });
            }
        }
    }
    Ok(found)
}

/// The earning rules that are for members of a tier, or of a structure.
pub fn rules_for(store: &Store<'_>, id: &str) -> Result<Vec<Assigned>, Fault> {
    let statement = "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND instr(body, ?2) > 0";
    let rules = store.documents(statement, &[EARNING_RULE.stored.into(), Json::from(id).to_string().into()])?;
    let asks = |earning: &Json| {
        let any_of = earning.pointer("/tier_rules/any_of").and_then(Json::as_array);
        any_of.into_iter().flatten().any(|one| {
            let tiers = one.get("tier_ids").and_then(Json::as_array);
            let is_id = |named: &Json| named.as_str() == Some(id);
            one.get("tier_structure_id").is_some_and(is_id) || tiers.into_iter().flatten().any(is_id)
        })
    };
    let found = rules
        .into_iter()
        .filter(|rule| rule.body.get("earnings").and_then(Json::as_array).into_iter().flatten().any(asks));
    let standing = |rule: Document| Assigned {
        life: &EARNING_RULE,
        state: rule.body.get("status").and_then(Json::as_str).and_then(State::find),
        id: rule.id,
    };
    Ok(found.map(standing).collect())
}

/// The programs that a document is in.
pub fn programs_of(store: &Store<'_>, life: &Life, id: &str) -> Result<Vec<Assigned>, Fault> {
    let Some(assigned) = life.assigned else { return Ok(Vec::new()) };
    let rows = store.rows(
        "SELECT program.id, json_extract(program.body, '$.status') FROM document AS assigned
         JOIN document AS program ON program.kind = +?3 AND program.id = assigned.parent
         WHERE assigned.kind = +?1 AND assigned.holder = +?2 ORDER BY assigned.seq",
        &[assigned.into(), id.into(), PROGRAM.stored.into()],
    )?;
    rows.iter().map(|row| standing(&PROGRAM, row)).collect()
}

/// The programs that a document is in, and what names it.
fn users_of(store: &Store<'_>, life: &Life, id: &str) -> Result<Vec<Assigned>, Fault> {
    let mut users = programs_of(store, life, id)?;
    users.extend(naming(store, id)?);
    Ok(users)
}

/// What is assigned to a program of one kind, and how it stands.
pub fn assigned_as(store: &Store<'_>, life: &'static Life, program: &str) -> Result<Vec<Assigned>, Fault> {
    let Some(assigned) = life.assigned else { return Ok(Vec::new()) };
    let rows = store.rows(
        "SELECT assigned.holder, json_extract(other.body, '$.status') FROM document AS assigned
         LEFT JOIN document AS other ON other.kind = +?3 AND other.id = assigned.holder
         WHERE assigned.kind = +?1 AND assigned.parent = +?2 ORDER BY assigned.seq",
        &[assigned.into(), program.into(), life.stored.into()],
    )?;
    rows.iter().map(|row| standing(life, row)).collect()
}

/// All that is assigned to a program.
fn assigned_to(store: &Store<'_>, asked: &Asked<'_>) -> Result<Vec<Assigned>, Fault> {
    if let Some(assigned) = asked.assigned {
        return Ok(assigned.to_vec());
    }
    let mut found = Vec::new();
    for life in ASSIGNABLE {
        found.extend(assigned_as(store, life, &asked.document.id)?);
    }
    Ok(found)
}

/// The ACTIVE programs that have no other ACTIVE earning rule.
fn left_without_rule(store: &Store<'_>, life: &Life, id: &str) -> Result<Vec<Assigned>, Fault> {
    let mut left = Vec::new();
    for program in programs_of(store, life, id)?.into_iter().filter(|program| program.state == Some(State::Active)) {
        let rules = assigned_as(store, &EARNING_RULE, &program.id)?;
        if !rules.iter().any(|rule| rule.id != id && rule.state == Some(State::Active)) {
            left.push(program);
        }
    }
    Ok(left)
}
