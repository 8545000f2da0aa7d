//! Rewards of v2 loyalty programs, which members buy with points, and their costs.

use crate::api::loyalty_programs::checks;
use crate::api::loyalty_programs::checks::normalise_window;
use crate::api::loyalty_programs::grant_checks;
use crate::documents::common_fields::{LIMIT, LISTED_BY_AGE};
use crate::documents::merge::{merge, reset_nulls};
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::loyalty_rewards as shapes;
use crate::documents::tagged_blocks;
use crate::domain::clock;
use crate::domain::loyalty_programs::kinds::REWARD;
use crate::domain::loyalty_programs::{activities, kinds, lifecycle};
use crate::http::list_options::{CURSOR_PARAMETER, List, column, order_parameter};
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::records::{CostRecord, ObjectReference, ValidityRecord};
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::rules::read_rule;
use serde_json::{Map, Value as Json, json};

/// Facts about the buyer that a cost may depend on.
const COST_FACTS: &[&str] = &["customer.segment", "customer.metadata", "member.metadata"];
const LIST: &str = "/v2/loyalties/rewards";
const ONE: &str = "/v2/loyalties/rewards/{rewardId}";

/// Rewards as a resource.
pub const RESOURCE: Resource = Resource {
    object: "reward",
    shape: shapes::REWARD.described(),
    parameter: "rewardId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List::by_cursor(&[column::AGE, column::NAME], &[column::ID, column::NAME, column::TYPE, column::CREATED_AT]),
};

const ORDER: Field = order_parameter(&FieldType::OneOf(&["created_at", "-created_at", "name", "-name"]));
const LISTED: &[Field] = &[
    LIMIT,
    ORDER,
    may("filters", FieldType::Map)
        .description("Conditions by field, joined by `junction`. Fields: `id`, `name`, `type` and `created_at`."),
    CURSOR_PARAMETER,
];

const fn reward(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &REWARD).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    reward(get(LIST, "List loyalty rewards", lifecycle::list))
        .describe(
            "listLoyaltyRewards",
            "Returns the rewards of loyalty programs except deleted ones, the newest first by default. Rewards of loyalty campaigns are separate objects under `/v1/rewards`. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The rewards of this page and the cursor of the next page.")
        .pages(shapes::REWARD)
        .query(LISTED),
    reward(post(LIST, "Create a loyalty reward", create))
        .describe(
            "createLoyaltyReward",
            "Creates a reward that members can buy with points, as a draft by default. The product, SKU, campaign or card definition that the reward names must exist, else the call is refused with `not_found`. Each cost and its points get an ID. A campaign of the wrong type, or a test that a cost cannot have, is refused with `invalid_payload`.",
        )
        .returns("The created reward, with an ID for each cost.")
        .body(shapes::CREATE),
    reward(get(ONE, "Get a loyalty reward", lifecycle::get))
        .describe(
            "getLoyaltyReward",
            "Returns one reward in any status except `DELETED`. The stock belongs to the assignment to a program and is not included. An unknown or deleted ID is refused with `not_found`.",
        )
        .returns("The reward."),
    reward(put(ONE, "Update a loyalty reward", update))
        .describe(
            "updateLoyaltyReward",
            "Changes the fields that are sent; metadata is merged. `costs` replaces all costs; one that is sent with its ID keeps that ID. After the draft, `type`, `material`, `digital` and `purchase_limits` can no longer change and are refused with `invalid_payload`. An unknown object that the reward names is refused with `not_found`.",
        )
        .returns("The reward after the change.")
        .body(shapes::UPDATE),
    reward(delete(ONE, "Delete a loyalty reward", lifecycle::advance))
        .describe(
            "deleteLoyaltyReward",
            "Sets the status of a reward to `DELETED`, which is final. Purchases of the reward stay. Refused with `resource_in_use` while a program contains the reward. An unknown ID is refused with `not_found`.",
        )
        .returns("The reward with status `DELETED`."),
    reward(post("/v2/loyalties/rewards/{rewardId}/activate", "Activate a loyalty reward", lifecycle::advance))
        .describe(
            "activateLoyaltyReward",
            "Changes the status of a draft or inactive reward to `ACTIVE`, so that members of programs that contain the reward can buy the reward. A reward that is active already is refused with `invalid_state_transition`, an unknown ID with `not_found`.",
        )
        .returns("The reward with status `ACTIVE`."),
    reward(post("/v2/loyalties/rewards/{rewardId}/deactivate", "Deactivate a loyalty reward", lifecycle::advance))
        .describe(
            "deactivateLoyaltyReward",
            "Changes the status of an active reward to `INACTIVE`, so that the reward can no longer be bought. A reward that is not active is refused with `invalid_state_transition`, an unknown ID with `not_found`.",
        )
        .returns("The reward with status `INACTIVE`."),
    reward(post("/v2/loyalties/rewards/{rewardId}/draft", "Return a loyalty reward to draft", lifecycle::advance))
        .describe(
            "draftLoyaltyReward",
            "Changes the status of an active reward to `DRAFT`, so that all its fields can be edited. Refused with `resource_in_use` while a program contains the reward, and with `invalid_state_transition` if the reward is not active.",
        )
        .returns("The reward with status `DRAFT`."),
    reward(get("/v2/loyalties/rewards/{rewardId}/activities", "List activities of a loyalty reward", activities::list))
        .describe(
            "listLoyaltyRewardActivities",
            "Returns the records of changes to a reward: creation, updates, changes of status, assignment to programs and removal from them. Purchases are not among them. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown ID is refused with `not_found`.",
        )
        .returns("The records of this page, newest first by default, and the cursor of the next page.")
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

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let mut body = defaults();
    merge(&mut body, sent);
    normalise(call, &mut body, &[])?;
    let document = lifecycle::new_document(call, &REWARD, body);
    lifecycle::create(call, &REWARD, &document, None)?;
    lifecycle::respond(call, document)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = kinds::find(call)?;
    lifecycle::check_edits(call, &REWARD, &document, &sent)?;
    reset_nulls(&mut sent, &defaults());
    shapes::GRANTED_ITEM.remove_replaced(&mut document.body, &sent);
    let costs = document.as_program_reward().costs().to_vec();
    merge(&mut document.body, sent);
    normalise(call, &mut document.body, &costs)?;
    lifecycle::update(call, &REWARD, &mut document)?;
    lifecycle::respond(call, document)
}

/// Checks a reward, and completes it; `before` contains its previous costs.
fn normalise(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, before: &[Json]) -> Result<(), CallError> {
    complete_limits(body);
    tagged_blocks::check_blocks(body, shapes::CHOICES)?;
    if let Some(Json::Object(frequency)) =
        body.get_mut("purchase_limits").and_then(|limits| limits.get_mut("frequency"))
    {
        frequency.entry("limits").or_insert(json!([]));
    }
    let hours = ValidityRecord::of(body).daily_hours().and_then(Json::as_array);
    for (at, entry) in hours.into_iter().flatten().enumerate() {
        let days = entry.get("days_of_week").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        grant_checks::check_unique(days, &format!("validity_hours.daily[{at}].days_of_week"))?;
    }
    normalise_window(body, &*clock::zone(call)?)?;
    grant_checks::normalise_material(call, body)?;
    grant_checks::normalise_digital(call, body)?;
    if let Some(costs) = body.get_mut("costs").and_then(Json::as_array_mut) {
        normalise_costs(call, costs, before)?;
    }
    Ok(())
}

/// Completes optional members: the older revision sends hours without a type, and both parts of limits are returned.
fn complete_limits(body: &mut Map<String, Json>) {
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

/// Normalises the costs: a cost, or its points, with a known id keeps that id, and the others are new.
fn normalise_costs(call: &mut Call<'_, '_>, costs: &mut [Json], known: &[Json]) -> Result<(), CallError> {
    let mut ids: Vec<String> = Vec::new();
    for (at, cost) in costs.iter_mut().enumerate() {
        let path = format!("costs[{at}]");
        let Some(cost) = cost.as_object_mut() else { continue };
        let id = normalise_id(call, cost, known, "lrcst_", &path)?;
        if ids.contains(&id) {
            let message = format!("must NOT be there twice (actual value is `{id}`)");
            return Err(Problem::at(format!("{path}.id"), message).into());
        }
        let known_spending = known.iter().find(|cost| ObjectReference::of_value(cost).id() == Some(&id));
        let known_spending =
            known_spending.map(|cost| CostRecord::of_value(cost).spending().to_vec()).unwrap_or_default();
        ids.push(id);
        if let Some(rules) = CostRecord::of(cost).rules() {
            check_rules(rules, &format!("{path}.rules"))?;
        }
        let spending = cost.get_mut("spending").and_then(Json::as_array_mut);
        for (at, price) in spending.into_iter().flatten().enumerate() {
            let Some(price) = price.as_object_mut() else { continue };
            normalise_id(call, price, &known_spending, "lrspn_", &format!("{path}.spending[{at}]"))?;
            price.entry("name").or_insert(Json::Null);
            grant_checks::check_card(call, price)?;
        }
    }
    Ok(())
}

/// Returns the id of an object, which a previous one must have, else a new id.
fn normalise_id(
    call: &mut Call<'_, '_>,
    object: &mut Map<String, Json>,
    known: &[Json],
    prefix: &str,
    path: &str,
) -> Result<String, CallError> {
    if let Some(id) = ObjectReference::of(object).id() {
        if !known.iter().any(|known| ObjectReference::of_value(known).id() == Some(id)) {
            let message = format!("must be the id of one that is there (actual value is `{id}`)");
            return Err(Problem::at(format!("{path}.id"), message).into());
        }
        return Ok(id.to_owned());
    }
    let id = call.ids.hex18(prefix).to_string();
    object.insert("id".into(), id.as_str().into());
    Ok(id)
}

/// Refuses unreadable rules, and facts that are not available for a cost.
fn check_rules(rules: &Map<String, Json>, path: &str) -> Result<(), CallError> {
    if let Some((path, name)) =
        checks::list_fact_names(rules, path).into_iter().find(|(_, name)| !COST_FACTS.contains(name))
    {
        return Err(
            Problem::at(path, format!("must be one of {} (actual value is `{name}`)", COST_FACTS.join(", "))).into()
        );
    }
    let mut rule = Map::new();
    rule.insert("rules".into(), Json::Object(rules.clone()));
    let outer = path.strip_suffix(".rules").unwrap_or(path);
    read_fields(&rule, read_rule).map_err(|problem| problem.within(outer))?;
    Ok(())
}
