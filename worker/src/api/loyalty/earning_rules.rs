//! Earning rules: what points and incentives are earned for. Created, read, listed, updated, and led from state to state. What is sent
//! in the later form is kept and answered in the older. It must not know who earns what, nor whether a test holds.

use crate::api::loyalty::checks::{self, check_expiration, settle_older_hours, settle_window};
use crate::document::choice;
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::merge::{fill, fill_top};
use crate::document::part;
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::activities::activity;
use crate::document::shapes::earnings::{CHOICES, CREATE, EARNING_RULE as SHAPE, UPDATE};
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::activities;
use crate::shop::incentives::incentive_id;
use crate::shop::lifecycle;
use crate::shop::lives::{EARNING_RULE, find};
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::earning_rule::tests_of;
use scrip::wire::rules::read_rule;
use serde_json::{Map, Value as Json, json};

const ACTIVITY: Kind = activity!("EarningRuleActivity", "earning_rule_id");

/// Earning rules as a resource.
pub const RESOURCE: Resource = Resource {
    object: EARNING_RULE.object,
    parameter: "earningRuleId",
    key: plain_key,
    show: show_body,
    shape: SHAPE.described(),
    list: List::by_cursor(
        &[column::AGE, column::NAME],
        &[column::ID, column::NAME, column::STATUS, column::CREATED_AT],
    ),
};

const ORDER: Field = orders_asked(&Kind::OneOf(&["created_at", "-created_at", "name", "-name"]));

const ALL: &str = "/v2/loyalties/earning-rules";
const ONE: &str = "/v2/loyalties/earning-rules/{earningRuleId}";
const LISTED: &[Field] = &[LIMIT, ORDER, may("filters", Kind::Map), CURSOR_ASKED];

const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &EARNING_RULE).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List earning rules", lifecycle::list)).pages(SHAPE).query(LISTED),
    ours(post(ALL, "Create an earning rule", create)).body(CREATE),
    ours(get(ONE, "Get an earning rule", lifecycle::get)),
    ours(put(ONE, "Update an earning rule", update)).body(UPDATE),
    ours(delete(ONE, "Delete an earning rule that is in no program", lifecycle::advance)),
    ours(post("/v2/loyalties/earning-rules/{earningRuleId}/activate", "Activate an earning rule", lifecycle::advance)),
    ours(post(
        "/v2/loyalties/earning-rules/{earningRuleId}/deactivate",
        "Deactivate an earning rule",
        lifecycle::advance,
    )),
    ours(post(
        "/v2/loyalties/earning-rules/{earningRuleId}/draft",
        "Return an earning rule to draft",
        lifecycle::advance,
    )),
    ours(get(
        "/v2/loyalties/earning-rules/{earningRuleId}/activities",
        "List what happened to an earning rule",
        activities::list,
    ))
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
];

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    complete(call, &mut body, &[])?;
    let mut document = lifecycle::begin(call, &EARNING_RULE, body);
    document.parent = event_of(&document.body);
    lifecycle::create(call, &EARNING_RULE, &document, None)?;
    lifecycle::answer(call, document)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let known = ids_of(&find(call)?.body);
    let mut document = lifecycle::edited(call, &["name", "trigger", "earnings"])?;
    complete(call, &mut document.body, &known)?;
    document.parent = event_of(&document.body);
    lifecycle::change(call, &EARNING_RULE, &mut document)?;
    lifecycle::answer(call, document)
}

/// What a rule waits for, as its row has it beside its text: whoever asks what an event earns finds the rules by it.
fn event_of(body: &Map<String, Json>) -> Option<String> {
    let event = body.get("trigger").and_then(|trigger| trigger.get("event"));
    event.and_then(Json::as_str).map(str::to_owned)
}

/// The ids of the earnings of a rule.
fn ids_of(body: &Map<String, Json>) -> Vec<String> {
    let earnings = body.get("earnings").and_then(Json::as_array).into_iter().flatten();
    earnings.filter_map(|earning| earning.get("id").and_then(Json::as_str).map(str::to_owned)).collect()
}

/// What a rule says where its author says nothing.
fn defaults() -> Json {
    json!({
        "error": null, "validity_hours": null, "start_date": null, "end_date": null, "metadata": {},
        "trigger_limits": { "cooldown": { "type": "NO_COOLDOWN" }, "frequency": { "type": "NO_LIMIT" } },
    })
}

/// Checks a rule and completes it; `known` are the ids of earnings that keep who they are.
fn complete(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, known: &[String]) -> Result<(), CallError> {
    let defaults = defaults();
    fill_top(body, &defaults);
    for (place, effect) in effects_of(body) {
        settle_names(effect, &place)?;
    }
    choice::settle(body, CHOICES)?;
    fill(body, &defaults);
    settle_older_hours(body);
    settle_window(body)?;
    settle_earnings(call, body, known)?;
    for (place, effect) in effects_of(body) {
        for name in ["points", "points_proportional"] {
            let expiration = effect.get(name).and_then(|points| points.get("points_expiration"));
            check_expiration(expiration, &format!("{place}.{name}.points_expiration"))?;
        }
    }
    let event = body.get("trigger").and_then(|trigger| trigger.get("event")).and_then(Json::as_str).unwrap_or_default();
    for (place, earning) in earnings_of(body).enumerate() {
        check_tests(earning, place, event)?;
    }
    Ok(())
}

fn earnings_of(body: &Map<String, Json>) -> impl Iterator<Item = &Json> {
    body.get("earnings").and_then(Json::as_array).into_iter().flatten()
}

/// The effects of a rule, with their paths.
fn effects_of(body: &mut Map<String, Json>) -> Vec<(String, &mut Map<String, Json>)> {
    let earnings = body.get_mut("earnings").and_then(Json::as_array_mut).into_iter().flatten().enumerate();
    let effects = earnings.flat_map(|(place, earning)| {
        let effects = earning.get_mut("effects").and_then(Json::as_array_mut).into_iter().flatten().enumerate();
        effects
            .filter_map(move |(at, effect)| Some((format!("earnings[{place}].effects[{at}]"), effect.as_object_mut()?)))
    });
    effects.collect()
}

/// Puts the later name of what is handed out into the older.
fn settle_names(effect: &mut Map<String, Json>, place: &str) -> Result<(), Problem> {
    if let Some(benefit) = effect.remove("benefit").filter(|benefit| !benefit.is_null()) {
        if effect.contains_key("incentive") {
            return Err(Problem::at(format!("{place}.benefit"), "must NOT be present together with incentive"));
        }
        effect.insert("incentive".into(), benefit);
    }
    if effect.get("type").and_then(Json::as_str) == Some("BENEFIT") {
        effect.insert("type".into(), "INCENTIVE".into());
    }
    if let Some(id) = effect.get_mut("incentive").and_then(|incentive| incentive.get_mut("id")) {
        *id = incentive_id(id.as_str().unwrap_or_default()).into();
    }
    Ok(())
}

/// Gives every earning an id and what it says by default; one that is sent with an id keeps it.
fn settle_earnings(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, known: &[String]) -> Result<(), Problem> {
    let mut left: Vec<&String> = known.iter().collect();
    let earnings = body.get_mut("earnings").and_then(Json::as_array_mut).into_iter().flatten();
    for (place, earning) in earnings.filter_map(Json::as_object_mut).enumerate() {
        let sent = earning.get("id").and_then(Json::as_str).map(str::to_owned);
        let id = match sent {
            Some(id) => {
                let at = left.iter().position(|known| **known == id);
                let at = at.ok_or_else(|| {
                    Problem::bound(
                        format!("earnings[{place}].id"),
                        "must be the id of an earning of this rule, once",
                        &id,
                    )
                })?;
                left.remove(at);
                id
            }
            None => call.ids.hex18("lernei_").to_string(),
        };
        earning.insert("id".into(), id.into());
        fill_top(earning, &json!({ "name": null, "rules": null, "tier_rules": { "type": "NO_REQUIREMENTS" } }));
    }
    Ok(())
}

/// Reads the tests of an earning as a decision reads them, and refuses one that looks at what there is not when it is asked.
fn check_tests(earning: &Json, place: usize, event: &str) -> Result<(), CallError> {
    let Some(rules) = earning.get("rules").filter(|rules| !rules.is_null()) else { return Ok(()) };
    let whole = part::one("rules", rules.clone());
    let read = read_fields(&whole, read_rule);
    read.map_err(|problem| invalid(&problem.within(&format!("earnings[{place}]"))))?;
    let begins = tests_of(event);
    for (path, name) in
        rules.as_object().into_iter().flat_map(|rules| checks::names(rules, &format!("earnings[{place}].rules")))
    {
        if !begins.iter().any(|begin| name.starts_with(begin)) {
            let told = format!("must look at what there is with the trigger {event}");
            return Err(invalid(&Problem::bound(path, &told, name)).into());
        }
    }
    Ok(())
}

fn invalid(problem: &Problem) -> ErrorBody {
    error(400, "invalid_validation_rules", "Invalid Validation Rule Definition", problem.to_string())
}
