//! Loyalty programs: create with assignments, get, list, update, and changes of their state.

use crate::api::loyalty_programs::assignments;
use crate::api::loyalty_programs::assignments::{KINDS, NewAssignment};
use crate::api::loyalty_programs::checks::normalise_window;
use crate::documents::common_fields::{LIMIT, LISTED_BY_AGE};
use crate::documents::merge::fill_top;
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::programs::{CHOICES, CREATE, NEW_PROGRAM, PROGRAM as SHAPE, UPDATE};
use crate::documents::tagged_blocks;
use crate::domain::clock;
use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::PROGRAM;
use crate::domain::loyalty_programs::lifecycle;
use crate::domain::loyalty_programs::requirements::AssignedDocument;
use crate::http::list_options::{CURSOR_PARAMETER, List, column, order_parameter};
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may};
use serde_json::{Map, Value as Json, json};

const ACTIVITY: FieldType = activity!("ProgramActivity", "program_id");

/// List of documents that are found by name.
pub const LIST_BY_NAME: List =
    List::by_cursor(&[column::AGE, column::NAME], &[column::ID, column::NAME, column::STATUS, column::CREATED_AT]);

/// Parameters of [`LIST_BY_NAME`].
pub const LISTED_BY_NAME: &[Field] = &[
    LIMIT,
    order_parameter(&FieldType::OneOf(&["created_at", "-created_at", "name", "-name"])),
    may("filters", FieldType::Map)
        .description("Conditions by field, joined by `junction`. Fields: `id`, `name`, `status` and `created_at`."),
    CURSOR_PARAMETER,
];

/// Programs as a resource.
pub const RESOURCE: Resource = Resource {
    object: PROGRAM.object,
    parameter: "programId",
    key: plain_key,
    to_json: bodies_to_json,
    shape: SHAPE.described(),
    list: LIST_BY_NAME,
};

const ALL: &str = "/v2/loyalties/programs";
const ONE: &str = "/v2/loyalties/programs/{programId}";

/// Declares a route of the program resource.
pub const fn with_resource(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &PROGRAM).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get(ALL, "List loyalty programs", lifecycle::list))
        .describe(
            "listLoyaltyPrograms",
            "Returns the loyalty programs of the project except deleted ones, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The loyalty programs of this page and the cursor of the next page.")
        .pages(SHAPE)
        .query(LISTED_BY_NAME),
    with_resource(post(ALL, "Create a loyalty program", create))
        .describe(
            "createLoyaltyProgram",
            "Creates a loyalty program, as a draft by default, and assigns card definitions, earning rules, a tier structure and rewards, all or none. A program that is created `ACTIVE` needs an active card definition (`missing_active_card_definition`) and an active earning rule (`missing_active_earning_rule`). An unknown ID among the assignments is refused with `not_found`, a repeated one with `duplicate_found`.",
        )
        .returns("The created loyalty program with the assignments as sent. Later reads omit the assignments.")
        .body(CREATE)
        .answers(200, NEW_PROGRAM),
    with_resource(get(ONE, "Get a loyalty program", lifecycle::get))
        .describe(
            "getLoyaltyProgram",
            "Returns one loyalty program in any status except `DELETED`, without its assignments. An unknown or deleted ID is refused with `not_found`.",
        )
        .returns("The loyalty program."),
    with_resource(put(ONE, "Update a loyalty program", update))
        .describe(
            "updateLoyaltyProgram",
            "Changes the fields that are sent; `null` resets an optional field to its default and metadata is merged. After the draft, only `name` and `metadata` can change, other fields are refused with `invalid_payload`. An unknown ID is refused with `not_found`.",
        )
        .returns("The loyalty program after the change.")
        .body(UPDATE),
    with_resource(delete(ONE, "Delete a loyalty program", lifecycle::advance))
        .describe(
            "deleteLoyaltyProgram",
            "Sets the status of a loyalty program to `DELETED`, which is final, and removes all its assignments. The assigned objects themselves stay. Members and their cards can no longer be read through the program. An unknown ID is refused with `not_found`.",
        )
        .returns("The loyalty program with status `DELETED`."),
    with_resource(post("/v2/loyalties/programs/{programId}/activate", "Activate a loyalty program", lifecycle::advance))
        .describe(
            "activateLoyaltyProgram",
            "Changes the status of a draft or inactive program to `ACTIVE`, so that members can join, earn and spend. Needs an active card definition (`missing_active_card_definition`) and an active earning rule (`missing_active_earning_rule`). From a draft, everything assigned must be active; from an inactive program, nothing assigned may be a draft (`resource_locked`).",
        )
        .returns("The loyalty program with status `ACTIVE`."),
    with_resource(post("/v2/loyalties/programs/{programId}/deactivate", "Deactivate a loyalty program", lifecycle::advance))
        .describe(
            "deactivateLoyaltyProgram",
            "Changes the status of an active program to `INACTIVE`. Members keep their cards and points, but cannot earn, spend or join until the program is active again. A program that is not active is refused with `invalid_state_transition`, an unknown ID with `not_found`.",
        )
        .returns("The loyalty program with status `INACTIVE`."),
    with_resource(get("/v2/loyalties/programs/{programId}/activities", "List activities of a loyalty program", activities::list))
        .describe(
            "listLoyaltyProgramActivities",
            "Returns the records of changes to a loyalty program: creation, updates, changes of status, and each assignment or removal of an assignment. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown ID is refused with `not_found`.",
        )
        .returns("The records of this page, newest first by default, and the cursor of the next page.")
        .pages(ACTIVITY)
        .query(LISTED_BY_AGE),
];

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    normalise(call, &mut body)?;
    let mut json = Map::new();
    let mut new_assignments: Vec<NewAssignment> = Vec::new();
    for kind in KINDS {
        let sent = body.remove(kind.plural).unwrap_or(Json::Null);
        new_assignments.extend(assignments::find_new_assignments(call, kind, &sent, &[])?);
        json.insert(kind.plural.into(), sent);
    }
    let program = lifecycle::new_document(call, &PROGRAM, body);
    let assigned: Vec<AssignedDocument> = new_assignments.iter().map(NewAssignment::assigned_document).collect();
    lifecycle::create(call, &PROGRAM, &program, Some(&assigned))?;
    for assignment in new_assignments {
        assignments::assign(call, &program, &assignment);
    }
    json.extend(program.body);
    Ok(Response::json(Json::Object(json)))
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut document = lifecycle::merge_request(call, &["name"])?;
    normalise(call, &mut document.body)?;
    lifecycle::update(call, &PROGRAM, &mut document)?;
    lifecycle::respond(call, document)
}

/// Checks a program and completes it with defaults.
fn normalise(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let defaults =
        json!({ "start_date": null, "end_date": null, "validity_hours": { "type": "ANY_TIME" }, "metadata": {} });
    fill_top(body, &defaults);
    tagged_blocks::check_blocks(body, CHOICES)?;
    Ok(normalise_window(body, &*clock::zone(call)?)?)
}
