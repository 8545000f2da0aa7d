//! Tier structures, which determine a member's tier. Both revisions of the API are accepted; documents and responses have the form of
//! the older one.

use crate::api::loyalty_programs::checks::check_dates;
use crate::api::loyalty_programs::grant_checks;
use crate::documents::common_fields::{LIMIT, LISTED_BY_AGE};
use crate::documents::merge::{merge, reset_nulls};
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::tiers as shapes;
use crate::documents::tagged_blocks::{self, TaggedBlock, tagged_block};
use crate::domain::loyalty_programs::kinds::TIER_STRUCTURE;
use crate::domain::loyalty_programs::{activities, kinds, lifecycle};
use crate::http::list_options::{CURSOR_PARAMETER, List, column, order_parameter};
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, below, may, value_text};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Blocks of a request, in either form.
const EXPIRATIONS: &[TaggedBlock] = &[tagged_block(
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
/// Measures, in the older form.
const MEASURES: TaggedBlock = tagged_block("", "type", &[("POINT_BALANCE", &[]), ("POINT_EARNED", &["point_earned"])]);
const CARD: &str = "card_definition_id";

const LIST: &str = "/v2/loyalties/tier-structures";
const ONE: &str = "/v2/loyalties/tier-structures/{tierStructureId}";

/// Tier structures as a resource.
pub const STRUCTURE: Resource = Resource {
    object: "tier_structure",
    shape: shapes::TIER_STRUCTURE.described(),
    parameter: "tierStructureId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List::by_cursor(
        &[column::AGE, column::NAME, column::TYPE, column::STATUS],
        &[column::ID, column::NAME, column::TYPE, column::STATUS, column::CREATED_AT],
    ),
};

const ORDER: Field = order_parameter(&FieldType::OneOf(&[
    "created_at",
    "-created_at",
    "name",
    "-name",
    "type",
    "-type",
    "status",
    "-status",
]));
const LISTED: &[Field] = &[
    LIMIT,
    ORDER,
    may("filters", FieldType::Map).description(
        "Conditions by field, joined by `junction`. Fields: `id`, `name`, `type`, `status` and `created_at`.",
    ),
    CURSOR_PARAMETER,
];

const fn structure(route: Route) -> Route {
    route.with_lifecycle(&STRUCTURE, &TIER_STRUCTURE).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    structure(get(LIST, "List tier structures", lifecycle::list))
        .describe(
            "listTierStructures",
            "Returns the tier structures of the project except deleted ones, without their tiers, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The tier structures of this page and the cursor of the next page.")
        .pages(shapes::TIER_STRUCTURE)
        .query(LISTED),
    structure(post(LIST, "Create a tier structure", create))
        .describe(
            "createTierStructure",
            "Creates a tier structure without tiers, as a draft. Because an active structure needs a tier, `status` `ACTIVE` is refused with `resource_locked`. Older and later names of fields are accepted; the answer has the older ones. An unknown card definition is refused with `not_found`.",
        )
        .returns("The created tier structure with all defaults.")
        .body(shapes::CREATED),
    structure(get(ONE, "Get a tier structure", lifecycle::get))
        .describe(
            "getTierStructure",
            "Returns one tier structure in any status except `DELETED`, without its tiers. An unknown or deleted ID is refused with `not_found`.",
        )
        .returns("The tier structure."),
    structure(put(ONE, "Update a tier structure", update))
        .describe(
            "updateTierStructure",
            "Changes the fields that are sent; `null` resets an optional field to its default and metadata is merged. After the draft, only `name` and `metadata` can change, other fields are refused with `invalid_payload`. An unknown card definition is refused with `not_found`.",
        )
        .returns("The tier structure after the change.")
        .body(shapes::CHANGED),
    structure(delete(ONE, "Delete a tier structure", lifecycle::advance))
        .describe(
            "deleteTierStructure",
            "Sets the status of a tier structure to `DELETED`, which is final, and deletes its tiers. Refused with `resource_in_use` while a program contains the structure or an earning rule names one of its tiers. An unknown ID is refused with `not_found`.",
        )
        .returns("The tier structure with status `DELETED`."),
    structure(post(
        "/v2/loyalties/tier-structures/{tierStructureId}/activate",
        "Activate a tier structure",
        lifecycle::advance,
    ))
    .describe(
        "activateTierStructure",
        "Changes the status of a draft or inactive tier structure to `ACTIVE`. A structure without tiers is refused with `resource_locked`, one that is active already with `invalid_state_transition`. Tiers can be added and deleted in a draft only.",
    )
    .returns("The tier structure with status `ACTIVE`."),
    structure(post(
        "/v2/loyalties/tier-structures/{tierStructureId}/deactivate",
        "Deactivate a tier structure",
        lifecycle::advance,
    ))
    .describe(
        "deactivateTierStructure",
        "Changes the status of an active tier structure to `INACTIVE`. A structure that is not active is refused with `invalid_state_transition`, an unknown ID with `not_found`.",
    )
    .returns("The tier structure with status `INACTIVE`."),
    structure(post(
        "/v2/loyalties/tier-structures/{tierStructureId}/draft",
        "Return a tier structure to draft",
        lifecycle::advance,
    ))
    .describe(
        "draftTierStructure",
        "Changes the status of an active tier structure to `DRAFT`, so that its settings and tiers can be edited. Refused with `resource_in_use` while a program that is not a draft contains the structure. A structure that is not active is refused with `invalid_state_transition`.",
    )
    .returns("The tier structure with status `DRAFT`."),
    structure(get(
        "/v2/loyalties/tier-structures/{tierStructureId}/activities",
        "List activities of a tier structure",
        activities::list,
    ))
    .describe(
        "listTierStructureActivities",
        "Returns the records of changes to a tier structure and its tiers: creation, updates, deletions, changes of status and assignment to programs. Movements of members are tier transactions and not among them. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown ID is refused with `not_found`.",
    )
    .returns("The records of this page, newest first by default, and the cursor of the next page.")
    .pages(shapes::ACTIVITY)
    .query(LISTED_BY_AGE),
];

/// Returns the defaults of a structure.
fn defaults() -> Map<String, Json> {
    let defaults = json!({
        "expiration": { "type": "NO_EXPIRATION" }, "downgrade": { "type": "NO_DOWNGRADE", "grace_period": null },
        "metadata": {},
    });
    defaults.as_object().cloned().unwrap_or_default()
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let mut body = defaults();
    normalise(call, &mut body, sent)?;
    let document = lifecycle::new_document(call, &TIER_STRUCTURE, body);
    lifecycle::create(call, &TIER_STRUCTURE, &document, None)?;
    lifecycle::respond(call, document)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = kinds::find(call)?;
    lifecycle::check_edits(call, &TIER_STRUCTURE, &document, &sent)?;
    reset_nulls(&mut sent, &defaults());
    normalise(call, &mut document.body, sent)?;
    lifecycle::update(call, &TIER_STRUCTURE, &mut document)?;
    lifecycle::respond(call, document)
}

/// Checks the sent members, and merges them into a structure.
fn normalise(call: &Call<'_, '_>, body: &mut Map<String, Json>, mut sent: Map<String, Json>) -> Result<(), CallError> {
    to_stored_form(&mut sent)?;
    let is_balance = sent.remove("point_balance").is_some();
    MEASURES.remove_replaced(body, &sent);
    merge(body, sent);
    if is_balance && grant_checks::text(body, "type") != "POINT_BALANCE" {
        return Err(Problem::at("point_balance", "must NOT be present where type is POINT_EARNED").into());
    }
    tagged_blocks::check_blocks(body, &[MEASURES])?;
    if !body.contains_key(CARD) {
        return Err(Problem::missing("", CARD).into());
    }
    grant_checks::check_card(call, body)
}

/// Converts sent members to the older form.
fn to_stored_form(sent: &mut Map<String, Json>) -> Result<(), Problem> {
    tagged_blocks::check_blocks(sent, EXPIRATIONS)?;
    move_card_up(sent)?;
    if let Some(expiration) = sent.get_mut("expiration").and_then(Json::as_object_mut) {
        normalise_expiration(expiration)?;
    }
    match sent.get_mut("downgrade").and_then(Json::as_object_mut) {
        Some(downgrade) => normalise_downgrade(downgrade),
        None => Ok(()),
    }
}

/// Moves the card to the top level from the block in which the later revision names it.
fn move_card_up(sent: &mut Map<String, Json>) -> Result<(), Problem> {
    for block in ["point_balance", "point_earned"] {
        let card_definition = sent.get_mut(block).and_then(Json::as_object_mut).and_then(|block| block.remove(CARD));
        let Some(id) = card_definition else { continue };
        if sent.get(CARD).is_some_and(|other| *other != id) {
            let message = format!("must be the same as {CARD} (actual value is `{}`)", value_text(&id));
            return Err(Problem::at(below(block, CARD), message));
        }
        sent.insert(CARD.into(), id);
    }
    Ok(())
}

/// Converts an expiration to the older form: a fixed duration is a rolling one, and one by inactivity needs a counting activity.
fn normalise_expiration(expiration: &mut Map<String, Json>) -> Result<(), Problem> {
    let dates = expiration.get("calendar_expiration").and_then(|calendar| calendar.get("calendar_dates"));
    check_dates(dates, "expiration.calendar_expiration.calendar_dates")?;
    if let Some(block) = expiration.remove("fixed_duration") {
        expiration.insert("rolling_expiration".into(), block);
    }
    let older = match grant_checks::text(expiration, "type") {
        "NO_RETENTION" => Some("NO_EXPIRATION"),
        "FIXED_DURATION" => Some("ROLLING_EXPIRATION"),
        _ => None,
    };
    if let Some(older) = older {
        expiration.insert("type".into(), older.into());
    }
    match expiration.get_mut("sliding_expiration").and_then(Json::as_object_mut) {
        Some(sliding) => normalise_activities(sliding, "expiration.sliding_expiration"),
        None => Ok(()),
    }
}

/// Normalises the counting activities: at least one, with names if custom events count.
fn normalise_activities(sliding: &mut Map<String, Json>, path: &str) -> Result<(), Problem> {
    const EACH: [&str; 3] = ["earning_activity", "spending_activity", "custom_activity"];
    for name in EACH {
        sliding.entry(name).or_insert(Json::Bool(false));
    }
    let counts = |name: &str| sliding.get(name) == Some(&Json::Bool(true));
    if !EACH.into_iter().any(counts) {
        return Err(Problem::at(path, format!("must have one of {} that is true", EACH.join(", "))));
    }
    let events = sliding.get("custom_activity_types").and_then(Json::as_array).cloned().unwrap_or_default();
    let types_path = below(path, "custom_activity_types");
    match (counts("custom_activity"), events.is_empty()) {
        (true, true) => return Err(Problem::at(types_path, "must NOT have fewer than 1 items")),
        (false, false) => return Err(Problem::at(types_path, "must NOT be present where custom_activity is false")),
        _ => {}
    }
    grant_checks::check_unique(&events, &types_path)?;
    sliding.insert("custom_activity_types".into(), events.into());
    Ok(())
}

/// Normalises the downgrade; without downgrades no grace period is needed.
fn normalise_downgrade(downgrade: &mut Map<String, Json>) -> Result<(), Problem> {
    let never = grant_checks::text(downgrade, "type") == "NO_DOWNGRADE";
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
