//! The lists of what is in a program, and the batches that change it: unassigned first, then assigned, all or none. It must not know how
//! an assignment is written down.

use crate::api::loyalty::program_assignments::{
    Assignable, KINDS, assign, entering, leaving, row_id, row_kind, unassign,
};
use crate::api::loyalty::programs::ours;
use crate::document::choice;
use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::LIMIT;
use crate::document::resource::show_body;
use crate::document::shapes::programs as shapes;
use crate::http::listing::{BY_AGE_ASKED, CURSOR_ASKED, List};
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post, put};
use crate::http::shape::{Field, Nulls};
use crate::shop::hindrance::{Assigned, assigned_as, naming};
use crate::shop::lives::{PROGRAM, find, named, state_of};
use crate::shop::{activities, shelves};
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::lifecycle::{Kind, Need, State};
use serde_json::{Value as Json, json};

/// How assignments are listed.
const LIST: List = List::by_cursor(&[("created_at", "seq")], &[]);
const LISTED: &[Field] = &[LIMIT, BY_AGE_ASKED, CURSOR_ASKED];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get("/v2/loyalties/programs/{programId}/card-definitions", "List the card definitions of a program", list))
        .pages(shapes::CARD_DEFINITION)
        .query(LISTED),
    ours(post(
        "/v2/loyalties/programs/{programId}/card-definitions/batch",
        "Assign and unassign card definitions, all or none",
        batch,
    ))
    .body(shapes::BATCH)
    .answers(200, shapes::CARD_DEFINITIONS),
    ours(get("/v2/loyalties/programs/{programId}/earning-rules", "List the earning rules of a program", list))
        .pages(shapes::EARNING_RULE)
        .query(LISTED),
    ours(post(
        "/v2/loyalties/programs/{programId}/earning-rules/batch",
        "Assign and unassign earning rules, all or none",
        batch,
    ))
    .body(shapes::BATCH)
    .answers(200, shapes::EARNING_RULES),
    ours(get("/v2/loyalties/programs/{programId}/tier-structures", "List the tier structure of a program", list))
        .pages(shapes::TIER_STRUCTURE)
        .query(LISTED),
    ours(post(
        "/v2/loyalties/programs/{programId}/tier-structures/batch",
        "Assign and unassign a tier structure, all or none",
        batch,
    ))
    .body(shapes::BATCH)
    .answers(200, shapes::TIER_STRUCTURES),
    ours(get("/v2/loyalties/programs/{programId}/rewards", "List the rewards of a program", list))
        .pages(shapes::REWARD)
        .query(LISTED),
    ours(post("/v2/loyalties/programs/{programId}/rewards/batch", "Assign and unassign rewards, all or none", batch))
        .body(shapes::REWARD_BATCH)
        .answers(200, shapes::REWARDS),
    ours(put(
        "/v2/loyalties/programs/{programId}/rewards/{rewardId}",
        "Say how many there are of a reward for a program",
        restock,
    ))
    .body(shapes::RESTOCK)
    .answers(200, shapes::REWARD),
];

/// The kind that a route is about, as its path says it.
fn kind_of(route: &Route) -> Result<&'static Assignable, Fault> {
    let found = KINDS.iter().find(|kind| route.path.split('/').any(|segment| segment == kind.segment));
    found.ok_or_else(|| Fault(format!("`{}` is about nothing that is in a program", route.path)))
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let kind = kind_of(call.route)?;
    let program = find(call)?;
    let mut clause = Clause::of_kind(row_kind(kind)).at(call.now_ms());
    clause.and("parent = {}", program.id);
    let show = if kind.life.kind == Kind::Reward { shelves::show } else { show_body };
    cursors::page(call, &LIST, kind.cursor, clause, show)
}

/// Says how many there are of a reward for a program.
fn restock(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    choice::settle(&mut sent, shapes::RESTOCK_CHOICES)?;
    let program = find(call)?;
    let id = call.param("rewardId").to_owned();
    let kind = kind_of(call.route)?;
    let row = call.store.document(row_kind(kind), &row_id(&program.id, &id))?;
    let mut row = row.ok_or_else(|| not_found(row_kind(kind), &id))?;
    row.body.extend(sent);
    call.touch(&mut row);
    call.store.update(row_kind(kind), &row);
    let reward = named(call.store, kind.life, &id)?.map(|reward| reward.body);
    let shown = shelves::show(call, vec![row])?.into_iter().next();
    let data = json!({ "program": program.body, "reward": reward, "program_reward": shown });
    activities::note(call, &PROGRAM, &program.id, "reward.updated", data);
    Ok(Answer::json(shown.unwrap_or_default()))
}

/// Unassigns and then assigns, all or none.
fn batch(call: &mut Call<'_, '_>) -> Outcome {
    let kind = kind_of(call.route)?;
    let mut sent = call.body(Nulls::Dropped)?;
    choice::settle(&mut sent, shapes::BATCH_CHOICES)?;
    let program = find(call)?;
    let state = state_of(&program)?;
    let part = |name: &str| sent.get(name).cloned().unwrap_or(Json::Null);
    let leaving = leaving(call, kind, &program, &part("unassign"))?;
    let mut present = assigned_as(call.store, kind.life, &program.id)?;
    present.retain(|one| !leaving.iter().any(|row| row.holder.as_ref() == Some(&one.id)));
    let entering = entering(call, kind, &part("assign"), &present)?;
    present.extend(entering.iter().map(|one| one.standing()));
    check_state(kind, state, &leaving)?;
    if let Some(draft) = entering.iter().find(|one| state != State::Draft && one.state == State::Draft) {
        let (thing, id, state) = (kind.life.kind.thing(), &draft.document.id, state.word());
        let told = format!("Cannot assign {thing} '{id}' in state 'DRAFT' to a program in state '{state}'");
        return Err(error(423, "resource_locked", "Resource locked", told)
            .about(&kind.life.resource_type(), id)
            .into());
    }
    check_unused(call, kind, &program, &leaving)?;
    let is_active = |one: &Assigned| one.state == Some(State::Active);
    if kind.life.kind == Kind::EarningRule && state == State::Active && !present.iter().any(is_active) {
        let denial = Need::ProgramsKeepARule.denial("unassign earning rule", std::slice::from_ref(&program.id));
        return Err(ErrorBody::from(denial).about(&PROGRAM.resource_type(), &program.id).into());
    }
    let mut left = Vec::new();
    for row in leaving {
        left.push(unassign(call, kind, &program, row)?);
    }
    let entered: Vec<Json> = entering.iter().map(|one| assign(call, &program, one)).collect();
    let told = |rows: Vec<Json>| if rows.is_empty() { Json::Null } else { Json::Array(rows) };
    Ok(Answer::json(json!({ "assigned": told(entered), "unassigned": told(left) })))
}

/// Card definitions come and go in DRAFT alone, and a tier structure leaves in DRAFT alone.
fn check_state(kind: &Assignable, state: State, leaving: &[Document]) -> Result<(), ErrorBody> {
    let is_closed = match kind.life.kind {
        Kind::CardDefinition => true,
        Kind::TierStructure => !leaving.is_empty(),
        Kind::Program | Kind::EarningRule | Kind::Incentive | Kind::Benefit | Kind::Reward | Kind::Member => false,
    };
    if !is_closed || state == State::Draft {
        return Ok(());
    }
    let told = format!("Cannot modify {} assignment when program status is not DRAFT", kind.life.kind.thing());
    Err(error(423, "non_draft_program", "Invalid vl_program status", told))
}

/// Refuses to take away a card definition that something else in the program names.
fn check_unused(
    call: &Call<'_, '_>,
    kind: &Assignable,
    program: &Document,
    leaving: &[Document],
) -> Result<(), CallError> {
    if kind.life.kind != Kind::CardDefinition {
        return Ok(());
    }
    for row in leaving {
        let id = row.holder.clone().unwrap_or_default();
        let mut users = Vec::new();
        for user in naming(call.store, &id)? {
            let Some(assigned) = user.life.assigned else { continue };
            if call.store.document(assigned, &row_id(&program.id, &user.id))?.is_some() {
                users.push(user.id);
            }
        }
        if !users.is_empty() {
            let denial = Need::NoUser.denial("unassign card definition", &users);
            return Err(ErrorBody::from(denial).about(&kind.life.resource_type(), &id).into());
        }
    }
    Ok(())
}
