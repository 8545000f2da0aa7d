//! Rewards of the newer programs: what members buy with points, and what it costs. It must not know who buys one.

use crate::api::loyalty::checks::{self, settle_window};
use crate::api::loyalty::given;
use crate::document::choice;
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::merge::{merge, reset_nulls};
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::loyalty_rewards as shapes;
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::reply::CallError;
use crate::http::route::{Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::lives::REWARD;
use crate::shop::{activities, lifecycle, lives};
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::rules::read_rule;
use serde_json::{Map, Value as Json, json};

/// What a cost may ask of who buys.
const ASKED: &[&str] = &["customer.segment", "customer.metadata", "member.metadata"];
const LIST: &str = "/v2/loyalties/rewards";
const ONE: &str = "/v2/loyalties/rewards/{rewardId}";

/// Rewards as a resource.
pub const RESOURCE: Resource = Resource {
    object: "reward",
    shape: shapes::REWARD.described(),
    parameter: "rewardId",
    key: plain_key,
    show: show_body,
    list: List::by_cursor(&[column::AGE, column::NAME], &[column::ID, column::NAME, column::TYPE, column::CREATED_AT]),
};

const ORDER: Field = orders_asked(&Kind::OneOf(&["created_at", "-created_at", "name", "-name"]));
const LISTED: &[Field] = &[LIMIT, ORDER, may("filters", Kind::Map), CURSOR_ASKED];

const fn reward(route: Route) -> Route {
    route.of_life(&RESOURCE, &REWARD).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    reward(get(LIST, "List the rewards of loyalty programs", lifecycle::list)).pages(shapes::REWARD).query(LISTED),
    reward(post(LIST, "Create a reward of loyalty programs", create)).body(shapes::CREATE),
    reward(get(ONE, "Get a reward of loyalty programs", lifecycle::get)),
    reward(put(ONE, "Update a reward of loyalty programs", update)).body(shapes::UPDATE),
    reward(delete(ONE, "Delete a reward that is in no loyalty program", lifecycle::advance)),
    reward(post("/v2/loyalties/rewards/{rewardId}/activate", "Activate a reward", lifecycle::advance)),
    reward(post("/v2/loyalties/rewards/{rewardId}/deactivate", "Deactivate a reward", lifecycle::advance)),
    reward(post("/v2/loyalties/rewards/{rewardId}/draft", "Draft a reward", lifecycle::advance)),
    reward(get("/v2/loyalties/rewards/{rewardId}/activities", "List what happened to a reward", activities::list))
        .pages(shapes::ACTIVITY)
        .query(LISTED_BY_AGE),
];

fn defaults() -> Map<String, Json> {
    let defaults = json!({
        "start_date": null, "end_date": null, "validity_hours": { "type": "ANY_TIME" }, "refunds": { "type": "NONE" },
        "purchase_limits": {}, "metadata": {},
    });
    defaults.as_object().cloned().unwrap_or_default()
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let mut body = defaults();
    merge(&mut body, sent);
    settle(call, &mut body, &[])?;
    let document = lifecycle::begin(call, &REWARD, body);
    lifecycle::create(call, &REWARD, &document, None)?;
    lifecycle::answer(call, document)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = lives::find(call)?;
    lifecycle::check_edits(call, &REWARD, &document, &sent)?;
    reset_nulls(&mut sent, &defaults());
    shapes::GIVEN.release(&mut document.body, &sent);
    let costs = document.body.get("costs").and_then(Json::as_array).cloned().unwrap_or_default();
    merge(&mut document.body, sent);
    settle(call, &mut document.body, &costs)?;
    lifecycle::change(call, &REWARD, &mut document)?;
    lifecycle::answer(call, document)
}

/// Checks what a reward says, and completes it; `before` is what it cost.
fn settle(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, before: &[Json]) -> Result<(), CallError> {
    complete(body);
    choice::settle(body, shapes::CHOICES)?;
    if let Some(Json::Object(frequency)) =
        body.get_mut("purchase_limits").and_then(|limits| limits.get_mut("frequency"))
    {
        frequency.entry("limits").or_insert(json!([]));
    }
    let hours = body.get("validity_hours").and_then(|hours| hours.get("daily")).and_then(Json::as_array);
    for (at, entry) in hours.into_iter().flatten().enumerate() {
        let days = entry.get("days_of_week").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        given::check_unique(days, &format!("validity_hours.daily[{at}].days_of_week"))?;
    }
    settle_window(body)?;
    given::settle_material(call, body)?;
    given::settle_digital(call, body)?;
    if let Some(costs) = body.get_mut("costs").and_then(Json::as_array_mut) {
        settle_costs(call, costs, before)?;
    }
    Ok(())
}

/// Puts in what need not be sent: hours say nothing of their type in the older revision, and of limits both parts are shown.
fn complete(body: &mut Map<String, Json>) {
    if let Some(hours) = body.get_mut("validity_hours").and_then(Json::as_object_mut)
        && hours.is_empty()
    {
        hours.insert("type".into(), "ANY_TIME".into());
    }
    if let Some(limits) = body.get_mut("purchase_limits").and_then(Json::as_object_mut) {
        limits.entry("cooldown").or_insert(json!({ "type": "NO_COOLDOWN" }));
        limits.entry("frequency").or_insert(json!({ "type": "NO_LIMIT" }));
    }
}

/// What it costs: what says the id of a cost, or of its points, stays what it is, and the rest is new.
fn settle_costs(call: &mut Call<'_, '_>, costs: &mut [Json], known: &[Json]) -> Result<(), CallError> {
    let mut seen: Vec<String> = Vec::new();
    for (at, cost) in costs.iter_mut().enumerate() {
        let path = format!("costs[{at}]");
        let Some(cost) = cost.as_object_mut() else { continue };
        let own = settle_id(call, cost, known, "lrcst_", &path)?;
        if seen.contains(&own) {
            let told = format!("must NOT be there twice (actual value is `{own}`)");
            return Err(Problem::at(format!("{path}.id"), told).into());
        }
        let spent = known.iter().find(|cost| cost.get("id").and_then(Json::as_str) == Some(&own));
        let spent = spent.and_then(|cost| cost.get("spending")).and_then(Json::as_array).cloned().unwrap_or_default();
        seen.push(own);
        if let Some(rules) = cost.get("rules").and_then(Json::as_object) {
            check_rules(rules, &format!("{path}.rules"))?;
        }
        let spending = cost.get_mut("spending").and_then(Json::as_array_mut);
        for (at, price) in spending.into_iter().flatten().enumerate() {
            let Some(price) = price.as_object_mut() else { continue };
            settle_id(call, price, &spent, "lrspn_", &format!("{path}.spending[{at}]"))?;
            price.entry("name").or_insert(Json::Null);
            given::check_card(call, price)?;
        }
    }
    Ok(())
}

/// The id that an object says, which one of those before must have, else a new one.
fn settle_id(
    call: &mut Call<'_, '_>,
    object: &mut Map<String, Json>,
    known: &[Json],
    prefix: &str,
    path: &str,
) -> Result<String, CallError> {
    if let Some(id) = object.get("id").and_then(Json::as_str) {
        if !known.iter().any(|known| known.get("id").and_then(Json::as_str) == Some(id)) {
            let told = format!("must be the id of one that is there (actual value is `{id}`)");
            return Err(Problem::at(format!("{path}.id"), told).into());
        }
        return Ok(id.to_owned());
    }
    let id = call.ids.hex18(prefix).to_string();
    object.insert("id".into(), id.as_str().into());
    Ok(id)
}

/// Refuses rules that do not read, and names that a cost cannot ask for.
fn check_rules(rules: &Map<String, Json>, path: &str) -> Result<(), CallError> {
    if let Some((path, name)) = checks::names(rules, path).into_iter().find(|(_, name)| !ASKED.contains(name)) {
        return Err(Problem::at(path, format!("must be one of {} (actual value is `{name}`)", ASKED.join(", "))).into());
    }
    let mut rule = Map::new();
    rule.insert("rules".into(), Json::Object(rules.clone()));
    let outer = path.strip_suffix(".rules").unwrap_or(path);
    read_fields(&rule, read_rule).map_err(|problem| problem.within(outer))?;
    Ok(())
}
