//! Loyalty programs: created with what is assigned to them, read, listed, updated, and led from state to state. It must not know who
//! is a member, nor what an assignment does.

use crate::api::loyalty::checks::settle_window;
use crate::api::loyalty::program_assignments::{self, Entering, KINDS};
use crate::document::choice;
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::merge::fill_top;
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::activities::activity;
use crate::document::shapes::programs::{CHOICES, CREATE, NEW_PROGRAM, PROGRAM as SHAPE, UPDATE};
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::activities;
use crate::shop::hindrance::Assigned;
use crate::shop::lifecycle;
use crate::shop::lives::PROGRAM;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const ACTIVITY: Kind = activity!("ProgramActivity", "program_id");

/// Programs as a resource.
pub const RESOURCE: Resource = Resource {
    object: PROGRAM.object,
    parameter: "programId",
    key: plain_key,
    show: show_body,
    shape: SHAPE.described(),
    list: List::by_cursor(
        &[column::AGE, column::NAME],
        &[column::ID, column::NAME, column::STATUS, column::CREATED_AT],
    ),
};

const ORDER: Field = orders_asked(&Kind::OneOf(&["created_at", "-created_at", "name", "-name"]));

const ALL: &str = "/v2/loyalties/programs";
const ONE: &str = "/v2/loyalties/programs/{programId}";
const LISTED: &[Field] = &[LIMIT, ORDER, may("filters", Kind::Map), CURSOR_ASKED];

/// A route about programs.
pub const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &PROGRAM).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List programs", lifecycle::list)).pages(SHAPE).query(LISTED),
    ours(post(ALL, "Create a program", create)).body(CREATE).answers(200, NEW_PROGRAM),
    ours(get(ONE, "Get a program", lifecycle::get)),
    ours(put(ONE, "Update a program", update)).body(UPDATE),
    ours(delete(ONE, "Delete a program, which leaves what was assigned to it", lifecycle::advance)),
    ours(post("/v2/loyalties/programs/{programId}/activate", "Activate a program", lifecycle::advance)),
    ours(post("/v2/loyalties/programs/{programId}/deactivate", "Deactivate a program", lifecycle::advance)),
    ours(get("/v2/loyalties/programs/{programId}/activities", "List what happened to a program", activities::list))
        .pages(ACTIVITY)
        .query(LISTED_BY_AGE),
];

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    complete(&mut body)?;
    let mut shown = Map::new();
    let mut entering: Vec<Entering> = Vec::new();
    for kind in KINDS {
        let sent = body.remove(kind.plural).unwrap_or(Json::Null);
        entering.extend(program_assignments::entering(call, kind, &sent, &[])?);
        shown.insert(kind.plural.into(), sent);
    }
    let program = lifecycle::begin(call, &PROGRAM, body);
    let assigned: Vec<Assigned> = entering.iter().map(Entering::standing).collect();
    lifecycle::create(call, &PROGRAM, &program, Some(&assigned))?;
    for one in entering {
        program_assignments::assign(call, &program, &one);
    }
    shown.extend(program.body);
    Ok(Answer::json(Json::Object(shown)))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut document = lifecycle::edited(call, &["name"])?;
    complete(&mut document.body)?;
    lifecycle::change(call, &PROGRAM, &mut document)?;
    lifecycle::answer(call, document)
}

/// Checks a program and completes it with what is said by default.
fn complete(body: &mut Map<String, Json>) -> Result<(), Problem> {
    let defaults =
        json!({ "start_date": null, "end_date": null, "validity_hours": { "type": "ANY_TIME" }, "metadata": {} });
    fill_top(body, &defaults);
    choice::settle(body, CHOICES)?;
    settle_window(body)
}
