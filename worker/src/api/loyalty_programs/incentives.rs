//! Incentives, and benefits, which is their later name: the grants of an earning rule in addition to its own points.

use crate::api::loyalty_programs::grant_checks;
use crate::documents::common_fields::{LIMIT, LISTED_BY_AGE};
use crate::documents::cursor_list;
use crate::documents::merge::reset_nulls;
use crate::documents::shapes::loyalty_gifts as shapes;
use crate::documents::tagged_blocks;
use crate::domain::loyalty_programs::incentives;
use crate::domain::loyalty_programs::incentives::{BENEFIT_ACTIVITIES, benefit_activities_to_json};
use crate::domain::loyalty_programs::kinds::{BENEFIT, INCENTIVE};
use crate::domain::loyalty_programs::{activities, kinds, lifecycle};
use crate::http::list_options::{CURSOR_PARAMETER, order_parameter};
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Call, HandlerResult, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::documents::loyalty_campaigns;
use serde_json::{Map, Value as Json, json};

const LIST: &str = "/v2/loyalties/incentives";
const ONE: &str = "/v2/loyalties/incentives/{incentiveId}";
const BENEFITS: &str = "/v2/loyalties/benefits";
const ONE_BENEFIT: &str = "/v2/loyalties/benefits/{benefitId}";

const ORDER: Field =
    order_parameter(&FieldType::OneOf(&["created_at", "-created_at", "name", "-name", "type", "-type"]));
const LISTED: &[Field] = &[
    LIMIT,
    ORDER,
    may("filters", FieldType::Map).description(
        "Conditions by field, joined by `junction`. Fields: `id`, `name`, `status`, `type` and `created_at`.",
    ),
    CURSOR_PARAMETER,
];

const fn incentive(route: Route) -> Route {
    route.with_lifecycle(&incentives::INCENTIVE, &INCENTIVE).scope("loyalties")
}

const fn benefit(route: Route) -> Route {
    route.with_lifecycle(&incentives::BENEFIT, &BENEFIT).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    incentive(get(LIST, "List incentives", lifecycle::list))
        .describe(
            "listIncentives",
            "Returns the incentives of the project except deleted ones, the newest first by default. The same objects are listed as benefits under `/v2/loyalties/benefits`. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The incentives of this page and the cursor of the next page.")
        .pages(shapes::INCENTIVE)
        .query(LISTED),
    incentive(post(LIST, "Create an incentive", create))
        .describe(
            "createIncentive",
            "Creates an incentive, as a draft by default, that earning rules grant to members. The card definition, product, SKU or campaign that the incentive names must exist, else the call is refused with `not_found`. A name that another incentive or benefit has is refused with `duplicate_found`. An incentive of points that is created `ACTIVE` needs an active card definition (`resource_locked`).",
        )
        .returns("The created incentive.")
        .body(shapes::CREATE),
    incentive(get(ONE, "Get an incentive", lifecycle::get))
        .describe(
            "getIncentive",
            "Returns one incentive in any status except `DELETED`, with the units left in its stock. IDs of both forms, `linc_` and `lben_`, are accepted. An unknown or deleted ID is refused with `not_found`.",
        )
        .returns("The incentive."),
    incentive(put(ONE, "Update an incentive", update))
        .describe(
            "updateIncentive",
            "Changes the fields that are sent. In a draft, every field can change; afterwards only `name` and `stock` can, and other fields are refused with `invalid_payload`. A name that another incentive or benefit has is refused with `duplicate_found`.",
        )
        .returns("The incentive after the change.")
        .body(shapes::UPDATE),
    incentive(delete(ONE, "Delete an incentive", lifecycle::advance))
        .describe(
            "deleteIncentive",
            "Sets the status of an incentive to `DELETED`, which is final, and frees its name. Refused with `resource_in_use` while an earning rule names the incentive. An unknown ID is refused with `not_found`.",
        )
        .returns("The incentive with status `DELETED`."),
    incentive(post("/v2/loyalties/incentives/{incentiveId}/activate", "Activate an incentive", lifecycle::advance))
        .describe(
            "activateIncentive",
            "Changes the status of a draft to `ACTIVE`, so that earning rules that name the incentive can be activated. Refused with `resource_locked` if the card definition of its points is missing or not active. An incentive that is active already is refused with `invalid_state_transition`.",
        )
        .returns("The incentive with status `ACTIVE`."),
    incentive(post("/v2/loyalties/incentives/{incentiveId}/draft", "Return an incentive to draft", lifecycle::advance))
        .describe(
            "draftIncentive",
            "Changes the status of an active incentive to `DRAFT`, so that all its fields can be edited. Refused with `resource_in_use` while an active earning rule names the incentive. An incentive that is not active is refused with `invalid_state_transition`.",
        )
        .returns("The incentive with status `DRAFT`."),
    incentive(get(
        "/v2/loyalties/incentives/{incentiveId}/activities",
        "List activities of an incentive",
        activities::list,
    ))
    .describe(
        "listIncentiveActivities",
        "Returns the records of changes to an incentive: creation, updates and changes of status. Grants to members are benefit transactions and not among them. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown ID is refused with `not_found`.",
    )
    .returns("The records of this page, newest first by default, and the cursor of the next page.")
    .pages(shapes::INCENTIVE_ACTIVITY)
    .query(LISTED_BY_AGE),
    benefit(get(BENEFITS, "List benefits", lifecycle::list))
        .describe(
            "listBenefits",
            "Returns the benefits of the project except deleted ones, the newest first by default. A benefit is the later name of an incentive; the same objects are listed under `/v2/loyalties/incentives`. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The benefits of this page and the cursor of the next page.")
        .pages(shapes::BENEFIT)
        .query(LISTED),
    benefit(post(BENEFITS, "Create a benefit", create))
        .describe(
            "createBenefit",
            "Creates a benefit, as a draft by default, that earning rules grant to members. The card definition, product, SKU or campaign that the benefit names must exist, else the call is refused with `not_found`. A name that another incentive or benefit has is refused with `duplicate_found`. A benefit of points that is created `ACTIVE` needs an active card definition (`resource_locked`).",
        )
        .returns("The created benefit.")
        .body(shapes::CREATE_BENEFIT),
    benefit(get(ONE_BENEFIT, "Get a benefit", lifecycle::get))
        .describe(
            "getBenefit",
            "Returns one benefit in any status except `DELETED`, with the units left in its stock. IDs of both forms, `linc_` and `lben_`, are accepted. An unknown or deleted ID is refused with `not_found`.",
        )
        .returns("The benefit."),
    benefit(put(ONE_BENEFIT, "Update a benefit", update))
        .describe(
            "updateBenefit",
            "Changes the fields that are sent. In a draft, every field can change; afterwards only `name` and `stock` can, and other fields are refused with `invalid_payload`. A name that another incentive or benefit has is refused with `duplicate_found`.",
        )
        .returns("The benefit after the change.")
        .body(shapes::UPDATE_BENEFIT),
    benefit(delete(ONE_BENEFIT, "Delete a benefit", lifecycle::advance))
        .describe(
            "deleteBenefit",
            "Sets the status of a benefit to `DELETED`, which is final, and frees its name. Refused with `resource_in_use` while an earning rule names the benefit. An unknown ID is refused with `not_found`.",
        )
        .returns("The benefit with status `DELETED`."),
    benefit(post("/v2/loyalties/benefits/{benefitId}/activate", "Activate a benefit", lifecycle::advance))
        .describe(
            "activateBenefit",
            "Changes the status of a draft to `ACTIVE`, so that earning rules that name the benefit can be activated. Refused with `resource_locked` if the card definition of its points is missing or not active. A benefit that is active already is refused with `invalid_state_transition`.",
        )
        .returns("The benefit with status `ACTIVE`."),
    benefit(post("/v2/loyalties/benefits/{benefitId}/draft", "Return a benefit to draft", lifecycle::advance))
        .describe(
            "draftBenefit",
            "Changes the status of an active benefit to `DRAFT`, so that all its fields can be edited. Refused with `connected_active_earning_rule` while an active earning rule names the benefit. A benefit that is not active is refused with `invalid_state_transition`.",
        )
        .returns("The benefit with status `DRAFT`."),
    benefit(get(
        "/v2/loyalties/benefits/{benefitId}/activities",
        "List activities of a benefit",
        benefit_activities,
    ))
    .describe(
        "listBenefitActivities",
        "Returns the records of changes to a benefit: creation, updates and changes of status. Grants to members are benefit transactions and not among them. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown ID is refused with `not_found`.",
    )
    .returns("The records of this page, newest first by default, and the cursor of the next page.")
    .pages(shapes::BENEFIT_ACTIVITY)
    .query(LISTED_BY_AGE),
];

fn defaults() -> Map<String, Json> {
    json!({ "stock": null }).as_object().cloned().unwrap_or_default()
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = defaults();
    body.extend(call.body(Nulls::Dropped)?);
    normalise(call, "", &mut body)?;
    // The stored document is an incentive, under either name.
    let mut document = lifecycle::new_document(call, &INCENTIVE, body);
    document.key = Some(grant_checks::text(&document.body, "name").to_owned());
    lifecycle::create(call, call.entity_names()?, &document, None)?;
    lifecycle::respond(call, document)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = kinds::find(call)?;
    lifecycle::check_edits(call, call.entity_names()?, &document, &sent)?;
    reset_nulls(&mut sent, &defaults());
    shapes::GRANTED_ITEM.remove_replaced(&mut document.body, &sent);
    document.body.extend(sent);
    normalise(call, &document.id, &mut document.body)?;
    document.key = Some(grant_checks::text(&document.body, "name").to_owned());
    lifecycle::update(call, call.entity_names()?, &mut document)?;
    lifecycle::respond(call, document)
}

fn benefit_activities(call: &mut Call<'_, '_>) -> HandlerResult {
    let clause = activities::select_of_path(call)?;
    cursor_list::page(call, &BENEFIT_ACTIVITIES, BENEFIT.activities, clause, benefit_activities_to_json)
}
/// Checks an incentive, and converts it to its stored form.
fn normalise(call: &Call<'_, '_>, id: &str, body: &mut Map<String, Json>) -> Result<(), CallError> {
    tagged_blocks::check_blocks(body, shapes::CHOICES)?;
    if let Some(Json::Object(stock)) = body.get("stock") {
        let quantity = stock.get("limited").and_then(|limited| limited.get("quantity")).cloned();
        body.insert("stock".into(), quantity.unwrap_or_default());
    }
    for points in ["points", "points_proportional"] {
        if let Some(points) = body.get(points).and_then(Json::as_object) {
            grant_checks::check_card(call, points)?;
        }
    }
    grant_checks::normalise_material(call, body)?;
    grant_checks::normalise_digital(call, body)?;
    check_name(call, id, grant_checks::text(body, "name"))
}

/// Refuses a name that another incentive has.
fn check_name(call: &Call<'_, '_>, id: &str, name: &str) -> Result<(), CallError> {
    match loyalty_campaigns::is_name_taken(call.store, INCENTIVE.stored, name, id)? {
        true => Err(duplicate(&call.entity_names()?.resource_type(), "name", name).into()),
        false => Ok(()),
    }
}
