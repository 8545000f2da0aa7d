//! Incentives, and benefits, which are the same under a later name: what an earning rule gives beside points of its own. It must not know
//! when one is given.

use crate::api::loyalty::given;
use crate::document::choice;
use crate::document::cursors;
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::merge::reset_nulls;
use crate::document::shapes::loyalty_gifts as shapes;
use crate::http::listing::{CURSOR_ASKED, orders_asked};
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::incentives::{self, BENEFIT_ACTIVITIES, show_benefit_activities};
use crate::shop::lives::{BENEFIT, INCENTIVE};
use crate::shop::{activities, lifecycle, lives};
use serde_json::{Map, Value as Json, json};

const LIST: &str = "/v2/loyalties/incentives";
const ONE: &str = "/v2/loyalties/incentives/{incentiveId}";
const BENEFITS: &str = "/v2/loyalties/benefits";
const ONE_BENEFIT: &str = "/v2/loyalties/benefits/{benefitId}";

const ORDER: Field = orders_asked(&Kind::OneOf(&["created_at", "-created_at", "name", "-name", "type", "-type"]));
const LISTED: &[Field] = &[LIMIT, ORDER, may("filters", Kind::Map), CURSOR_ASKED];

const fn incentive(route: Route) -> Route {
    route.of_life(&incentives::INCENTIVE, &INCENTIVE).scope("loyalties")
}

const fn benefit(route: Route) -> Route {
    route.of_life(&incentives::BENEFIT, &BENEFIT).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    incentive(get(LIST, "List incentives", lifecycle::list)).pages(shapes::INCENTIVE).query(LISTED),
    incentive(post(LIST, "Create an incentive", create)).body(shapes::CREATE),
    incentive(get(ONE, "Get an incentive", lifecycle::get)),
    incentive(put(ONE, "Update an incentive", update)).body(shapes::UPDATE),
    incentive(delete(ONE, "Delete an incentive that no earning rule uses", lifecycle::advance)),
    incentive(post("/v2/loyalties/incentives/{incentiveId}/activate", "Activate an incentive", lifecycle::advance)),
    incentive(post("/v2/loyalties/incentives/{incentiveId}/draft", "Draft an incentive", lifecycle::advance)),
    incentive(get(
        "/v2/loyalties/incentives/{incentiveId}/activities",
        "List what happened to an incentive",
        activities::list,
    ))
    .pages(shapes::INCENTIVE_ACTIVITY)
    .query(LISTED_BY_AGE),
    benefit(get(BENEFITS, "List benefits", lifecycle::list)).pages(shapes::BENEFIT).query(LISTED),
    benefit(post(BENEFITS, "Create a benefit", create)).body(shapes::CREATE_BENEFIT),
    benefit(get(ONE_BENEFIT, "Get a benefit", lifecycle::get)),
    benefit(put(ONE_BENEFIT, "Update a benefit", update)).body(shapes::UPDATE_BENEFIT),
    benefit(delete(ONE_BENEFIT, "Delete a benefit that no earning rule uses", lifecycle::advance)),
    benefit(post("/v2/loyalties/benefits/{benefitId}/activate", "Activate a benefit", lifecycle::advance)),
    benefit(post("/v2/loyalties/benefits/{benefitId}/draft", "Draft a benefit", lifecycle::advance)),
    benefit(get(
        "/v2/loyalties/benefits/{benefitId}/activities",
        "List what happened to a benefit",
        benefit_activities,
    ))
    .pages(shapes::BENEFIT_ACTIVITY)
    .query(LISTED_BY_AGE),
];

fn defaults() -> Map<String, Json> {
    json!({ "stock": null }).as_object().cloned().unwrap_or_default()
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = defaults();
    body.extend(call.body(Nulls::Dropped)?);
    settle(call, "", &mut body)?;
    // What is stored is an incentive, whichever name it was sent under.
    let mut document = lifecycle::begin(call, &INCENTIVE, body);
    document.key = Some(given::text(&document.body, "name").to_owned());
    lifecycle::create(call, call.life()?, &document, None)?;
    lifecycle::answer(call, document)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = lives::find(call)?;
    lifecycle::check_edits(call, call.life()?, &document, &sent)?;
    reset_nulls(&mut sent, &defaults());
    shapes::GIVEN.release(&mut document.body, &sent);
    document.body.extend(sent);
    settle(call, &document.id, &mut document.body)?;
    document.key = Some(given::text(&document.body, "name").to_owned());
    lifecycle::change(call, call.life()?, &mut document)?;
    lifecycle::answer(call, document)
}

fn benefit_activities(call: &mut Call<'_, '_>) -> Outcome {
    let clause = activities::of(call)?;
    cursors::page(call, &BENEFIT_ACTIVITIES, BENEFIT.activities, clause, show_benefit_activities)
}
/// Checks what an incentive says, and puts it in the form in which it is stored.
fn settle(call: &Call<'_, '_>, id: &str, body: &mut Map<String, Json>) -> Result<(), CallError> {
    choice::settle(body, shapes::CHOICES)?;
    if let Some(Json::Object(stock)) = body.get("stock") {
        let left = stock.get("limited").and_then(|limited| limited.get("quantity")).cloned();
        body.insert("stock".into(), left.unwrap_or_default());
    }
    for points in ["points", "points_proportional"] {
        if let Some(points) = body.get(points).and_then(Json::as_object) {
            given::check_card(call, points)?;
        }
    }
    given::settle_material(call, body)?;
    given::settle_digital(call, body)?;
    check_name(call, id, given::text(body, "name"))
}

/// Refuses a name that another incentive has.
fn check_name(call: &Call<'_, '_>, id: &str, name: &str) -> Result<(), CallError> {
    let other = call.store.row(
        "SELECT id FROM document WHERE kind = +?1 AND key = +?2 AND id <> ?3",
        &[INCENTIVE.stored.into(), name.into(), id.into()],
    )?;
    match other {
        Some(_) => Err(duplicate(&call.life()?.resource_type(), "name", name).into()),
        None => Ok(()),
    }
}
