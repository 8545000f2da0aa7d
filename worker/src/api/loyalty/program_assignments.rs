//! What is in a program: card definitions, earning rules, a tier structure, rewards. How each enters, how it leaves, and what is written
//! down of that. It must not know routes, nor when something may enter or leave.

use crate::http::life::Life;
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::Call;
use crate::moment;
use crate::shop::activities;
use crate::shop::hindrance::Assigned;
use crate::shop::lives::{CARD_DEFINITION, EARNING_RULE, REWARD, TIER_STRUCTURE, named, state_of};
use crate::store::document::Document;
use scrip::lifecycle::{Kind, State};
use serde_json::{Map, Value as Json};

/// A kind of document that may be in a program.
pub struct Assignable {
    /// The kind.
    pub life: &'static Life,
    /// What several of them are called in a body.
    pub plural: &'static str,
    /// What they are called in a path.
    pub segment: &'static str,
    /// What the cursors of their list begin with.
    pub cursor: &'static str,
}

/// The kinds.
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

/// The kind of the rows of a kind.
pub fn row_kind(kind: &Assignable) -> &'static str {
    kind.life.assigned.unwrap_or_default()
}

/// What enters a program.
pub struct Entering {
    kind: &'static Assignable,
    /// Itself.
    pub document: Document,
    /// How it stands.
    pub state: State,
    /// How many there are for the program, of a reward.
    stock: Json,
}

impl Entering {
    /// How it stands.
    pub fn standing(&self) -> Assigned {
        Assigned { life: self.kind.life, id: self.document.id.clone(), state: Some(self.state) }
    }
}

/// What a list of names would put into a program that has these already: all of it is there, and nothing is there twice.
pub fn entering(
    call: &Call<'_, '_>,
    kind: &'static Assignable,
    sent: &Json,
    present: &[Assigned],
) -> Result<Vec<Entering>, CallError> {
    let mut entering: Vec<Entering> = Vec::new();
    for one in sent.as_array().into_iter().flatten() {
        let id = one.get("id").and_then(Json::as_str).unwrap_or_default();
        let found = named(call.store, kind.life, id)?;
        let document = found.ok_or_else(|| not_found(&kind.life.resource_type(), id))?;
        let is_there = present.iter().any(|known| known.id == id);
        if is_there || entering.iter().any(|known| known.document.id == id) {
            return Err(duplicate(row_kind(kind), &format!("{}_id", kind.life.object), id).into());
        }
        let state = state_of(&document)?;
        let stock = one.get("stock").cloned().unwrap_or(Json::Null);
        entering.push(Entering { kind, document, state, stock });
    }
    let is_second = entering.len().saturating_add(present.len()) > 1;
    match entering.last() {
        Some(last) if kind.life.kind == Kind::TierStructure && is_second => {
            Err(duplicate(row_kind(kind), "tier_structure_id", &last.document.id).into())
        }
        _ => Ok(entering),
    }
}

/// The assignments that a list of names would end.
pub fn leaving(
    call: &Call<'_, '_>,
    kind: &Assignable,
    program: &Document,
    sent: &Json,
) -> Result<Vec<Document>, CallError> {
    let mut leaving: Vec<Document> = Vec::new();
    for one in sent.as_array().into_iter().flatten() {
        let id = one.get("id").and_then(Json::as_str).unwrap_or_default();
        let row = call.store.document(row_kind(kind), &row_id(&program.id, id))?;
        let row = row.filter(|row| !leaving.iter().any(|known| known.id == row.id));
        leaving.push(row.ok_or_else(|| not_found(row_kind(kind), id))?);
    }
    Ok(leaving)
}

/// The id of an assignment's row.
pub fn row_id(program: &str, id: &str) -> String {
    format!("{program}/{id}")
}

/// Puts a document into a program at the commit, and gives the assignment as it is shown.
pub fn assign(call: &mut Call<'_, '_>, program: &Document, entering: &Entering) -> Json {
    let Entering { kind, document, stock, .. } = entering;
    let mut body = Map::new();
    body.insert(format!("{}_id", kind.life.object), document.id.as_str().into());
    match kind.life.kind {
        Kind::CardDefinition => {
            let card_type = document.body.get("type").cloned().unwrap_or(Json::Null);
            body.insert("card_type".into(), card_type);
        }
        Kind::Reward => {
            body.insert("stock".into(), stock.clone());
            body.insert("redeemed".into(), 0.into());
            body.insert("updated_at".into(), Json::Null);
        }
        Kind::Program | Kind::EarningRule | Kind::Incentive | Kind::Benefit | Kind::TierStructure | Kind::Member => {}
    }
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    body.insert("object".into(), row_kind(kind).into());
    let mut row = Document::new(row_id(&program.id, &document.id), None, call.now_ms(), body);
    row.parent = Some(program.id.clone());
    row.holder = Some(document.id.clone());
    call.store.insert(row_kind(kind), &row);
    activities::note_assignment(call, kind.life, program, document, &row, "assigned");
    Json::Object(row.body)
}

/// Takes an assignment away at the commit, and gives it as it was shown.
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
