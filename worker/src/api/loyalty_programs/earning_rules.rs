//! Earning rules of loyalty programs: create, get, list, update, and changes of their state. Requests in the later form are stored
//! and returned in the older one.

use crate::api::loyalty_programs::checks;
use crate::api::loyalty_programs::checks::{check_expiration, normalise_hours, normalise_window};
use crate::api::loyalty_programs::programs::{LIST_BY_NAME, LISTED_BY_NAME};
use crate::documents::common_fields::LISTED_BY_AGE;
use crate::documents::json_members;
use crate::documents::merge::{fill, fill_top};
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::earnings::{CHOICES, CREATE, EARNING_RULE as SHAPE, UPDATE};
use crate::documents::tagged_blocks;
use crate::domain::clock;
use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::incentives::incentive_id;
use crate::domain::loyalty_programs::kinds::{EARNING_RULE, find};
use crate::domain::loyalty_programs::lifecycle;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, HandlerResult, Resource, Route, delete, get, post, put};
use crate::http::shape::{FieldType, Nulls};
use crate::store::records::{EarningRecord, ObjectReference, ProgramRuleRecord};
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::earning_rule::tests_of;
use scrip::wire::rules::read_rule;
use serde_json::{Map, Value as Json, json};

const ACTIVITY: FieldType = activity!("EarningRuleActivity", "earning_rule_id");

/// Earning rules as a resource.
pub const RESOURCE: Resource = Resource {
    object: EARNING_RULE.object,
    parameter: "earningRuleId",
    key: plain_key,
    to_json: bodies_to_json,
    shape: SHAPE.described(),
    list: LIST_BY_NAME,
};

const ALL: &str = "/v2/loyalties/earning-rules";
const ONE: &str = "/v2/loyalties/earning-rules/{earningRuleId}";

const fn with_resource(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &EARNING_RULE).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get(ALL, "List earning rules", lifecycle::list))
        .describe(
            "listEarningRules",
            "Returns the earning rules of loyalty programs except deleted ones, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The earning rules of this page and the cursor of the next page.")
        .pages(SHAPE)
        .query(LISTED_BY_NAME),
    with_resource(post(ALL, "Create an earning rule", create))
        .describe(
            "createEarningRule",
            "Creates an earning rule, as a draft by default. A rule grants nothing until an active program contains the rule. A rule that is created `ACTIVE` must name active card definitions and incentives only, else the call is refused with `resource_locked`. A test on a fact that the trigger does not provide is refused with `invalid_validation_rules`.",
        )
        .returns("The created earning rule, with an ID for each earning.")
        .body(CREATE),
    with_resource(get(ONE, "Get an earning rule", lifecycle::get))
        .describe(
            "getEarningRule",
            "Returns one earning rule in any status except `DELETED`. An unknown or deleted ID is refused with `not_found`.",
        )
        .returns("The earning rule."),
    with_resource(put(ONE, "Update an earning rule", update))
        .describe(
            "updateEarningRule",
            "Changes the fields that are sent; `null` resets an optional field to its default and metadata is merged. `earnings` replaces all earnings; one that is sent with its ID keeps that ID. After the draft, `trigger` can no longer change and is refused with `invalid_payload`. An active rule that names an inactive card definition or incentive is refused with `resource_locked`.",
        )
        .returns("The earning rule after the change.")
        .body(UPDATE),
    with_resource(delete(ONE, "Delete an earning rule", lifecycle::advance))
        .describe(
            "deleteEarningRule",
            "Sets the status of an earning rule to `DELETED`, which is final. Points that the rule granted stay. A rule that is assigned to a program is refused with `resource_in_use`, an unknown ID with `not_found`.",
        )
        .returns("The earning rule with status `DELETED`."),
    with_resource(post("/v2/loyalties/earning-rules/{earningRuleId}/activate", "Activate an earning rule", lifecycle::advance))
        .describe(
            "activateEarningRule",
            "Changes the status of a draft or inactive earning rule to `ACTIVE`, so that the rule grants points and incentives in active programs. A missing or inactive card definition or incentive is refused with `resource_locked`, a rule that is active already with `invalid_state_transition`.",
        )
        .returns("The earning rule with status `ACTIVE`."),
    with_resource(post(
        "/v2/loyalties/earning-rules/{earningRuleId}/deactivate",
        "Deactivate an earning rule",
        lifecycle::advance,
    ))
    .describe(
        "deactivateEarningRule",
        "Changes the status of an active earning rule to `INACTIVE`, so that the rule grants nothing more. Refused with `missing_active_earning_rule` if an active program would keep no active rule. A rule that is not active is refused with `invalid_state_transition`.",
    )
    .returns("The earning rule with status `INACTIVE`."),
    with_resource(post(
        "/v2/loyalties/earning-rules/{earningRuleId}/draft",
        "Return an earning rule to draft",
        lifecycle::advance,
    ))
    .describe(
        "draftEarningRule",
        "Changes the status of an active earning rule to `DRAFT`, so that all its fields can be edited. Refused with `resource_in_use` while a program that is not a draft contains the rule. A rule that is not active is refused with `invalid_state_transition`.",
    )
    .returns("The earning rule with status `DRAFT`."),
    with_resource(get(
        "/v2/loyalties/earning-rules/{earningRuleId}/activities",
        "List activities of an earning rule",
        activities::list,
    ))
    .describe(
        "listEarningRuleActivities",
        "Returns the records of changes to an earning rule: creation, updates, changes of status, assignment to programs and removal from them. Grants are not among them. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown ID is refused with `not_found`.",
    )
    .returns("The records of this page, newest first by default, and the cursor of the next page.")
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
];

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    normalise(call, &mut body, &[])?;
    let mut document = lifecycle::new_document(call, &EARNING_RULE, body);
    document.parent = event_of(&document.body);
    lifecycle::create(call, &EARNING_RULE, &document, None)?;
    lifecycle::respond(call, document)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let known = ids_of(&find(call)?.body);
    let mut document = lifecycle::merge_request(call, &["name", "trigger", "earnings"])?;
    normalise(call, &mut document.body, &known)?;
    document.parent = event_of(&document.body);
    lifecycle::update(call, &EARNING_RULE, &mut document)?;
    lifecycle::respond(call, document)
}

/// Returns the trigger of a rule for the column of its row, by which an event finds the rules.
fn event_of(body: &Map<String, Json>) -> Option<String> {
    ProgramRuleRecord::of(body).event().map(str::to_owned)
}

/// Returns the ids of the earnings of a rule.
fn ids_of(body: &Map<String, Json>) -> Vec<String> {
    earnings_of(body).filter_map(|earning| ObjectReference::of_value(earning).id().map(str::to_owned)).collect()
}

/// Returns the defaults of a rule.
fn defaults() -> Json {
    json!({
        "error": null, "validity_hours": null, "start_date": null, "end_date": null, "metadata": {},
        "trigger_limits": { "cooldown": { "type": "NO_COOLDOWN" }, "frequency": { "type": "NO_LIMIT" } },
    })
}

/// Checks a rule and completes it; earnings with an id of `known` keep it.
fn normalise(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, known: &[String]) -> Result<(), CallError> {
    let defaults = defaults();
    fill_top(body, &defaults);
    for (path, effect) in effects_of(body) {
        normalise_incentive(effect, &path)?;
    }
    tagged_blocks::check_blocks(body, CHOICES)?;
    fill(body, &defaults);
    normalise_hours(body);
    normalise_window(body, &*clock::zone(call)?)?;
    complete_earnings(call, body, known)?;
    for (path, effect) in effects_of(body) {
        for name in ["points", "points_proportional"] {
            let expiration = EarningRecord::of(effect).expiration(name);
            check_expiration(expiration, &format!("{path}.{name}.points_expiration"))?;
        }
    }
    let event = ProgramRuleRecord::of(body).event().unwrap_or_default();
    for (index, earning) in earnings_of(body).enumerate() {
        check_tests(earning, index, event)?;
    }
    Ok(())
}

fn earnings_of(body: &Map<String, Json>) -> impl Iterator<Item = &Json> {
    ProgramRuleRecord::of(body).earnings().iter()
}

/// Returns the effects of a rule, with their paths.
fn effects_of(body: &mut Map<String, Json>) -> Vec<(String, &mut Map<String, Json>)> {
    let earnings = body.get_mut("earnings").and_then(Json::as_array_mut).into_iter().flatten().enumerate();
    let effects = earnings.flat_map(|(index, earning)| {
        let effects = earning.get_mut("effects").and_then(Json::as_array_mut).into_iter().flatten().enumerate();
        effects.filter_map(move |(position, effect)| {
            Some((format!("earnings[{index}].effects[{position}]"), effect.as_object_mut()?))
        })
    });
    effects.collect()
}

/// Converts the later name of the granted incentive to the older one.
fn normalise_incentive(effect: &mut Map<String, Json>, path: &str) -> Result<(), Problem> {
    if let Some(benefit) = effect.remove("benefit").filter(|benefit| !benefit.is_null()) {
        if effect.contains_key("incentive") {
            return Err(Problem::at(format!("{path}.benefit"), "must NOT be present together with incentive"));
        }
        effect.insert("incentive".into(), benefit);
    }
    if EarningRecord::of(effect).effect_type() == Some("BENEFIT") {
        effect.insert("type".into(), "INCENTIVE".into());
    }
    if let Some(id) = effect.get_mut("incentive").and_then(|incentive| incentive.get_mut("id")) {
        *id = incentive_id(id.as_str().unwrap_or_default()).into();
    }
    Ok(())
}

/// Completes every earning with an id and its defaults; one that is sent with an id keeps it.
fn complete_earnings(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, known: &[String]) -> Result<(), Problem> {
    let mut remaining: Vec<&String> = known.iter().collect();
    let earnings = body.get_mut("earnings").and_then(Json::as_array_mut).into_iter().flatten();
    for (index, earning) in earnings.filter_map(Json::as_object_mut).enumerate() {
        let sent = ObjectReference::of(earning).id().map(str::to_owned);
        let id = match sent {
            Some(id) => {
                let position = remaining.iter().position(|known| **known == id);
                let position = position.ok_or_else(|| {
                    Problem::bound(
                        format!("earnings[{index}].id"),
                        "must be the id of an earning of this rule, once",
                        &id,
                    )
                })?;
                remaining.remove(position);
                id
            }
            None => call.ids.hex18("lernei_").to_string(),
        };
        earning.insert("id".into(), id.into());
        fill_top(earning, &json!({ "name": null, "rules": null, "tier_rules": { "type": "NO_REQUIREMENTS" } }));
    }
    Ok(())
}

/// Checks that the tests of an earning can be read, and that they use only facts that exist for its event.
fn check_tests(earning: &Json, index: usize, event: &str) -> Result<(), CallError> {
    let Some(rules) = EarningRecord::of_value(earning).rules() else { return Ok(()) };
    let members = json_members::object_of("rules", rules.clone());
    let read = read_fields(&members, read_rule);
    read.map_err(|problem| invalid_rule(&problem.within(&format!("earnings[{index}]"))))?;
    let prefixes = tests_of(event);
    for (path, name) in rules
        .as_object()
        .into_iter()
        .flat_map(|rules| checks::list_fact_names(rules, &format!("earnings[{index}].rules")))
    {
        if !prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            let message = format!("must look at what there is with the trigger {event}");
            return Err(invalid_rule(&Problem::bound(path, &message, name)).into());
        }
    }
    Ok(())
}

fn invalid_rule(problem: &Problem) -> ErrorBody {
    error(400, "invalid_validation_rules", "Invalid Validation Rule Definition", problem.to_string())
}
