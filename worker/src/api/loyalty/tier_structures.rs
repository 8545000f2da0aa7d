//! Tier structures: what a member's tier follows from. Both revisions of the interface are taken; what is stored and shown has the form of
//! the older one. It must not know who is in a tier.

use crate::api::loyalty::checks::check_dates;
use crate::api::loyalty::given;
use crate::document::choice::{self, Choice, choice};
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::merge::{merge, reset_nulls};
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::tiers as shapes;
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::reply::CallError;
use crate::http::route::{Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, below, may, shown};
use crate::shop::lives::TIER_STRUCTURE;
use crate::shop::{activities, lifecycle, lives};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// What is sent, in either form.
const EXPIRATIONS: &[Choice] = &[choice(
    "expiration",
    "type",
    &[
        ("NO_EXPIRATION", &[]),
        ("NO_RETENTION", &[]),
        ("ROLLING_EXPIRATION", &["rolling_expiration"]),
        ("FIXED_DURATION", &["fixed_duration"]),
        ("CALENDAR_EXPIRATION", &["calendar_expiration"]),
        ("SLIDING_EXPIRATION", &["sliding_expiration"]),
    ],
)];
/// What is measured, in the older form.
const MEASURES: Choice = choice("", "type", &[("POINT_BALANCE", &[]), ("POINT_EARNED", &["point_earned"])]);
const CARD: &str = "card_definition_id";

const LIST: &str = "/v2/loyalties/tier-structures";
const ONE: &str = "/v2/loyalties/tier-structures/{tierStructureId}";

/// Tier structures as a resource.
pub const STRUCTURE: Resource = Resource {
    object: "tier_structure",
    shape: shapes::TIER_STRUCTURE.described(),
    parameter: "tierStructureId",
    key: plain_key,
    show: show_body,
    list: List::by_cursor(
        &[column::AGE, column::NAME, column::TYPE, column::STATUS],
        &[column::ID, column::NAME, column::TYPE, column::STATUS, column::CREATED_AT],
    ),
};

const ORDER: Field =
    orders_asked(&Kind::OneOf(&["created_at", "-created_at", "name", "-name", "type", "-type", "status", "-status"]));
const LISTED: &[Field] = &[LIMIT, ORDER, may("filters", Kind::Map), CURSOR_ASKED];

const fn structure(route: Route) -> Route {
    route.of_life(&STRUCTURE, &TIER_STRUCTURE).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    structure(get(LIST, "List tier structures", lifecycle::list)).pages(shapes::TIER_STRUCTURE).query(LISTED),
    structure(post(LIST, "Create a tier structure", create)).body(shapes::CREATED),
    structure(get(ONE, "Get a tier structure", lifecycle::get)),
    structure(put(ONE, "Update a tier structure", update)).body(shapes::CHANGED),
    structure(delete(ONE, "Delete a tier structure that is in no program, with its tiers", lifecycle::advance)),
    structure(post(
        "/v2/loyalties/tier-structures/{tierStructureId}/activate",
        "Activate a tier structure that has a tier",
        lifecycle::advance,
    )),
    structure(post(
        "/v2/loyalties/tier-structures/{tierStructureId}/deactivate",
        "Deactivate a tier structure",
        lifecycle::advance,
    )),
    structure(post(
        "/v2/loyalties/tier-structures/{tierStructureId}/draft",
        "Draft a tier structure",
        lifecycle::advance,
    )),
    structure(get(
        "/v2/loyalties/tier-structures/{tierStructureId}/activities",
        "List what happened to a tier structure and its tiers",
        activities::list,
    ))
    .pages(shapes::ACTIVITY)
    .query(LISTED_BY_AGE),
];

/// What a structure says where nobody says anything.
fn defaults() -> Map<String, Json> {
    let defaults = json!({
        "expiration": { "type": "NO_EXPIRATION" }, "downgrade": { "type": "NO_DOWNGRADE", "grace_period": null },
        "metadata": {},
    });
    defaults.as_object().cloned().unwrap_or_default()
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let mut body = defaults();
    settle(call, &mut body, sent)?;
    let document = lifecycle::begin(call, &TIER_STRUCTURE, body);
    lifecycle::create(call, &TIER_STRUCTURE, &document, None)?;
    lifecycle::answer(call, document)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = lives::find(call)?;
    lifecycle::check_edits(call, &TIER_STRUCTURE, &document, &sent)?;
    reset_nulls(&mut sent, &defaults());
    settle(call, &mut document.body, sent)?;
    lifecycle::change(call, &TIER_STRUCTURE, &mut document)?;
    lifecycle::answer(call, document)
}

/// Checks what was sent, and puts it over what a structure says.
fn settle(call: &Call<'_, '_>, body: &mut Map<String, Json>, mut sent: Map<String, Json>) -> Result<(), CallError> {
    older(&mut sent)?;
    let is_balance = sent.remove("point_balance").is_some();
    MEASURES.release(body, &sent);
    merge(body, sent);
    if is_balance && given::text(body, "type") != "POINT_BALANCE" {
        return Err(Problem::at("point_balance", "must NOT be present where type is POINT_EARNED").into());
    }
    choice::settle(body, &[MEASURES])?;
    if !body.contains_key(CARD) {
        return Err(Problem::missing("", CARD).into());
    }
    given::check_card(call, body)
}

/// Puts what was sent in the older form.
fn older(sent: &mut Map<String, Json>) -> Result<(), Problem> {
    choice::settle(sent, EXPIRATIONS)?;
    hoist_card(sent)?;
    if let Some(expiration) = sent.get_mut("expiration").and_then(Json::as_object_mut) {
        older_expiration(expiration)?;
    }
    match sent.get_mut("downgrade").and_then(Json::as_object_mut) {
        Some(downgrade) => settle_downgrade(downgrade),
        None => Ok(()),
    }
}

/// The card is named at the top, or in the block in which the later revision names it.
fn hoist_card(sent: &mut Map<String, Json>) -> Result<(), Problem> {
    for block in ["point_balance", "point_earned"] {
        let named = sent.get_mut(block).and_then(Json::as_object_mut).and_then(|block| block.remove(CARD));
        let Some(id) = named else { continue };
        if sent.get(CARD).is_some_and(|other| *other != id) {
            let told = format!("must be the same as {CARD} (actual value is `{}`)", shown(&id));
            return Err(Problem::at(below(block, CARD), told));
        }
        sent.insert(CARD.into(), id);
    }
    Ok(())
}

/// A fixed duration is a rolling one, and what ends without activity needs one that counts.
fn older_expiration(expiration: &mut Map<String, Json>) -> Result<(), Problem> {
    let dates = expiration.get("calendar_expiration").and_then(|calendar| calendar.get("calendar_dates"));
    check_dates(dates, "expiration.calendar_expiration.calendar_dates")?;
    if let Some(block) = expiration.remove("fixed_duration") {
        expiration.insert("rolling_expiration".into(), block);
    }
    let older = match given::text(expiration, "type") {
        "NO_RETENTION" => Some("NO_EXPIRATION"),
        "FIXED_DURATION" => Some("ROLLING_EXPIRATION"),
        _ => None,
    };
    if let Some(older) = older {
        expiration.insert("type".into(), older.into());
    }
    match expiration.get_mut("sliding_expiration").and_then(Json::as_object_mut) {
        Some(sliding) => settle_activities(sliding, "expiration.sliding_expiration"),
        None => Ok(()),
    }
}

/// Which activities count: one at least, and events of the shop's own are named where they do.
fn settle_activities(sliding: &mut Map<String, Json>, path: &str) -> Result<(), Problem> {
    const EACH: [&str; 3] = ["earning_activity", "spending_activity", "custom_activity"];
    for name in EACH {
        sliding.entry(name).or_insert(Json::Bool(false));
    }
    let counts = |name: &str| sliding.get(name) == Some(&Json::Bool(true));
    if !EACH.into_iter().any(counts) {
        return Err(Problem::at(path, format!("must have one of {} that is true", EACH.join(", "))));
    }
    let events = sliding.get("custom_activity_types").and_then(Json::as_array).cloned().unwrap_or_default();
    let place = below(path, "custom_activity_types");
    match (counts("custom_activity"), events.is_empty()) {
        (true, true) => return Err(Problem::at(place, "must NOT have fewer than 1 items")),
        (false, false) => return Err(Problem::at(place, "must NOT be present where custom_activity is false")),
        _ => {}
    }
    given::check_unique(&events, &place)?;
    sliding.insert("custom_activity_types".into(), events.into());
    Ok(())
}

/// Who is never downgraded needs no grace.
fn settle_downgrade(downgrade: &mut Map<String, Json>) -> Result<(), Problem> {
    let never = given::text(downgrade, "type") == "NO_DOWNGRADE";
    match downgrade.entry("grace_period").or_insert(Json::Null) {
        Json::Object(_) if never => {
            Err(Problem::at("downgrade.grace_period", "must NOT be present where type is NO_DOWNGRADE"))
        }
        Json::Object(grace) => {
            grace.entry("round_up").or_insert(Json::Bool(false));
            Ok(())
        }
        _ => Ok(()),
    }
}
