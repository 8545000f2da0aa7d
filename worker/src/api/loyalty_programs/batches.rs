//! The lists of a program's assignments, and the batches that change them: unassign first, then assign, all
//! or none.

use crate::api::loyalty_programs::assignments::{
    Assignable, KINDS, assign, find_ended_assignments, find_new_assignments, row_id, row_kind, unassign,
};
use crate::api::loyalty_programs::programs::with_resource;
use crate::documents::common_fields::LIMIT;
use crate::documents::cursor_list;
use crate::documents::resource::bodies_to_json;
use crate::documents::shapes::programs as shapes;
use crate::documents::tagged_blocks;
use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::{PROGRAM, find, find_by_id, state_of};
use crate::domain::loyalty_programs::requirements::{AssignedDocument, list_assigned, list_referring};
use crate::domain::point_spending::reward_stock;
use crate::http::list_options::{BY_AGE_PARAMETER, CURSOR_PARAMETER, List};
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post, put};
use crate::http::shape::{Field, Nulls};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::sql::Fault;
use scrip::lifecycle::{Entity, EntityState, Precondition};
use serde_json::{Value as Json, json};

/// List options of assignments.
const LIST: List = List::by_cursor(&[("created_at", "seq")], &[]);
const LISTED: &[Field] = &[LIMIT, BY_AGE_PARAMETER, CURSOR_PARAMETER];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get("/v2/loyalties/programs/{programId}/card-definitions", "List card definitions of a loyalty program", list))
        .describe(
            "listLoyaltyProgramCardDefinitions",
            "Returns the assignments of card definitions to a loyalty program, newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program is refused with `not_found`.",
        )
        .returns("The assignments of this page and the cursor of the next page.")
        .pages(shapes::CARD_DEFINITION)
        .query(LISTED),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/card-definitions/batch",
        "Assign and unassign card definitions",
        batch,
    ))
    .describe(
        "assignLoyaltyProgramCardDefinitions",
        "Removes and then adds assignments of up to 10 card definitions each, all or none. Existing members get no new card. The program must be a draft (`non_draft_program`). A card definition that a rule, reward or tier structure of the program uses cannot be removed (`resource_in_use`). An unknown or unassigned ID is refused with `not_found`, one that is assigned already with `duplicate_found`.",
    )
    .returns("The assignments that were made and those that were removed; `null` for a list without any.")
    .body(shapes::BATCH)
    .answers(200, shapes::CARD_DEFINITIONS),
    with_resource(get("/v2/loyalties/programs/{programId}/earning-rules", "List earning rules of a loyalty program", list))
        .describe(
            "listLoyaltyProgramEarningRules",
            "Returns the assignments of earning rules to a loyalty program, newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program is refused with `not_found`.",
        )
        .returns("The assignments of this page and the cursor of the next page.")
        .pages(shapes::EARNING_RULE)
        .query(LISTED),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/earning-rules/batch",
        "Assign and unassign earning rules",
        batch,
    ))
    .describe(
        "assignLoyaltyProgramEarningRules",
        "Removes and then adds assignments of up to 10 earning rules each, all or none, in any status of the program. An active program must keep an active rule (`missing_active_earning_rule`). A draft rule can only be assigned to a draft program (`resource_locked`). An unknown or unassigned ID is refused with `not_found`, one that is assigned already with `duplicate_found`.",
    )
    .returns("The assignments that were made and those that were removed; `null` for a list without any.")
    .body(shapes::BATCH)
    .answers(200, shapes::EARNING_RULES),
    with_resource(get("/v2/loyalties/programs/{programId}/tier-structures", "List tier structures of a loyalty program", list))
        .describe(
            "listLoyaltyProgramTierStructures",
            "Returns the assignment of a tier structure to a loyalty program. A program has at most one tier structure. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program is refused with `not_found`.",
        )
        .returns("The assignments of this page and the cursor of the next page.")
        .pages(shapes::TIER_STRUCTURE)
        .query(LISTED),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/tier-structures/batch",
        "Assign and unassign tier structures",
        batch,
    ))
    .describe(
        "assignLoyaltyProgramTierStructures",
        "Removes the assigned tier structure, assigns another one, or does both, all or none. A program has at most one tier structure; a second one is refused with `duplicate_found`. A tier structure can only be removed while the program is a draft (`non_draft_program`). A draft structure can only be assigned to a draft program (`resource_locked`).",
    )
    .returns("The assignments that were made and those that were removed; `null` for a list without any.")
    .body(shapes::BATCH)
    .answers(200, shapes::TIER_STRUCTURES),
    with_resource(get("/v2/loyalties/programs/{programId}/rewards", "List rewards of a loyalty program", list))
        .describe(
            "listLoyaltyProgramRewards",
            "Returns the assignments of rewards to a loyalty program with stock and number of purchases, newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program is refused with `not_found`.",
        )
        .returns("The assignments of this page and the cursor of the next page.")
        .pages(shapes::REWARD)
        .query(LISTED),
    with_resource(post("/v2/loyalties/programs/{programId}/rewards/batch", "Assign and unassign rewards", batch))
        .describe(
            "assignLoyaltyProgramRewards",
            "Removes and then adds assignments of up to 10 rewards each, all or none, in any status of the program. Each new assignment has its own stock. A draft reward can only be assigned to a draft program (`resource_locked`). An unknown or unassigned ID is refused with `not_found`, one that is assigned already with `duplicate_found`.",
        )
        .returns("The assignments that were made and those that were removed; `null` for a list without any.")
        .body(shapes::REWARD_BATCH)
        .answers(200, shapes::REWARDS),
    with_resource(put(
        "/v2/loyalties/programs/{programId}/rewards/{rewardId}",
        "Update the stock of a reward in a loyalty program",
        restock,
    ))
    .describe(
        "updateLoyaltyProgramReward",
        "Replaces the total stock of an assigned reward. Purchases made so far keep counting against the new total, so the units left are the total less `redeemed`. The change is recorded as an activity of the program. A reward that is not assigned to the program is refused with `not_found`.",
    )
    .returns("The assignment of the reward with the new stock.")
    .body(shapes::RESTOCK)
    .answers(200, shapes::REWARD),
];

/// Returns the kind of a route, from its path.
fn assignable_of_route(route: &Route) -> Result<&'static Assignable, Fault> {
    let found = KINDS.iter().find(|kind| route.path.split('/').any(|segment| segment == kind.segment));
    found.ok_or_else(|| Fault(format!("`{}` is about nothing that is in a program", route.path)))
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let kind = assignable_of_route(call.route)?;
    let program = find(call)?;
    let mut clause = Clause::of_kind(row_kind(kind)).at(call.now_ms());
    clause.within(&program.id);
    let to_json = if kind.entity.kind == Entity::Reward { reward_stock::to_json } else { bodies_to_json };
    cursor_list::page(call, &LIST, kind.cursor, clause, to_json)
}

/// Handles the route that sets the stock of a reward for a program.
fn restock(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    tagged_blocks::check_blocks(&mut sent, shapes::RESTOCK_CHOICES)?;
    let program = find(call)?;
    let id = call.param("rewardId").to_owned();
    let kind = assignable_of_route(call.route)?;
    let row = call.store.document(row_kind(kind), &row_id(&program.id, &id))?;
    let mut row = row.ok_or_else(|| not_found(row_kind(kind), &id))?;
    row.body.extend(sent);
    call.touch(&mut row);
    call.store.update(row_kind(kind), &row);
    let reward = find_by_id(call.store, kind.entity, &id)?.map(|reward| reward.body);
    let json = reward_stock::to_json(call, vec![row])?.into_iter().next();
    let data = json!({ "program": program.body, "reward": reward, "program_reward": json });
    activities::record(call, &PROGRAM, &program.id, "reward.updated", data);
    Ok(Response::json(json.unwrap_or_default()))
}

/// Unassigns and then assigns, all or none.
fn batch(call: &mut Call<'_, '_>) -> HandlerResult {
    let kind = assignable_of_route(call.route)?;
    let mut sent = call.body(Nulls::Dropped)?;
    tagged_blocks::check_blocks(&mut sent, shapes::BATCH_CHOICES)?;
    let program = find(call)?;
    let state = state_of(&program)?;
    let part = |name: &str| sent.get(name).cloned().unwrap_or(Json::Null);
    let ended_assignments = find_ended_assignments(call, kind, &program, &part("unassign"))?;
    let mut present = list_assigned(call.store, kind.entity, &program.id)?;
    present.retain(|assignment| !ended_assignments.iter().any(|row| row.holder.as_ref() == Some(&assignment.id)));
    let new_assignments = find_new_assignments(call, kind, &part("assign"), &present)?;
    present.extend(new_assignments.iter().map(|assignment| assignment.assigned_document()));
    check_state(kind, state, &ended_assignments)?;
    if let Some(draft) =
        new_assignments.iter().find(|assignment| state != EntityState::Draft && assignment.state == EntityState::Draft)
    {
        let (kind_name, id, state) = (kind.entity.kind.noun(), &draft.document.id, state.name());
        let message = format!("Cannot assign {kind_name} '{id}' in state 'DRAFT' to a program in state '{state}'");
        return Err(error(423, "resource_locked", "Resource locked", message)
            .about(&kind.entity.resource_type(), id)
            .into());
    }
    check_unused(call, kind, &program, &ended_assignments)?;
    let is_active = |assignment: &AssignedDocument| assignment.state == Some(EntityState::Active);
    if kind.entity.kind == Entity::EarningRule && state == EntityState::Active && !present.iter().any(is_active) {
        let denial = Precondition::ProgramsKeepARule
            .refusal_if_unmet("unassign earning rule", std::slice::from_ref(&program.id));
        return Err(ErrorBody::from(denial).about(&PROGRAM.resource_type(), &program.id).into());
    }
    let mut unassigned = Vec::new();
    for row in ended_assignments {
        unassigned.push(unassign(call, kind, &program, row)?);
    }
    let assigned: Vec<Json> = new_assignments.iter().map(|assignment| assign(call, &program, assignment)).collect();
    let message = |rows: Vec<Json>| if rows.is_empty() { Json::Null } else { Json::Array(rows) };
    Ok(Response::json(json!({ "assigned": message(assigned), "unassigned": message(unassigned) })))
}

/// Checks the state: card definitions are assigned and unassigned only in DRAFT, and a tier structure is unassigned only in DRAFT.
fn check_state(kind: &Assignable, state: EntityState, ended_assignments: &[Document]) -> Result<(), ErrorBody> {
    let is_closed = match kind.entity.kind {
        Entity::CardDefinition => true,
        Entity::TierStructure => !ended_assignments.is_empty(),
        Entity::Program
        | Entity::EarningRule
        | Entity::Incentive
        | Entity::Benefit
        | Entity::Reward
        | Entity::Member => false,
    };
    if !is_closed || state == EntityState::Draft {
        return Ok(());
    }
    let message = format!("Cannot modify {} assignment when program status is not DRAFT", kind.entity.kind.noun());
    Err(error(423, "non_draft_program", "Invalid vl_program status", message))
}

/// Refuses to unassign a card definition to which another document of the program refers.
fn check_unused(
    call: &Call<'_, '_>,
    kind: &Assignable,
    program: &Document,
    ended_assignments: &[Document],
) -> Result<(), CallError> {
    if kind.entity.kind != Entity::CardDefinition {
        return Ok(());
    }
    for row in ended_assignments {
        let id = row.holder.clone().unwrap_or_default();
        let mut users = Vec::new();
        for user in list_referring(call.store, &id)? {
            let Some(assigned) = user.entity.assigned else { continue };
            if call.store.document(assigned, &row_id(&program.id, &user.id))?.is_some() {
                users.push(user.id);
            }
        }
        if !users.is_empty() {
            let denial = Precondition::NoUser.refusal_if_unmet("unassign card definition", &users);
            return Err(ErrorBody::from(denial).about(&kind.entity.resource_type(), &id).into());
        }
    }
    Ok(())
}
