//! Card definitions: what the cards of a loyalty program are like. Created, read, listed, updated, and led from state to state. It must
//! not know what any section does to points.

use crate::api::loyalty::checks::{check_dates, check_expiration, check_formula};
use crate::document::choice;
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::merge::{fill, fill_top};
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::activities::activity;
use crate::document::shapes::cards::{CARD_DEFINITION as SHAPE, CHOICES, SECTIONS, defaults};
use crate::document::shapes::points::NAME;
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::reply::CallError;
use crate::http::route::{Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::activities;
use crate::shop::codes::CodeShape;
use crate::shop::lifecycle;
use crate::shop::lives::CARD_DEFINITION;
use scrip::fields_of;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

const CREATE: &[Field] = fields_of!(
    &[must("name", NAME), must("type", Kind::OneOf(&["INDIVIDUAL"])), may("status", Kind::OneOf(&["DRAFT", "ACTIVE"])),],
    SECTIONS
);
const UPDATE: &[Field] = fields_of!(&[may("name", NAME)], SECTIONS);

const ACTIVITY: Kind = activity!("CardDefinitionActivity", "card_definition_id");

/// Letters of a card's code where nobody says how many.
const CODE_LENGTH: usize = 10;

/// Card definitions as a resource.
pub const RESOURCE: Resource = Resource {
    object: CARD_DEFINITION.object,
    parameter: "cardDefinitionId",
    key: plain_key,
    show: show_body,
    shape: SHAPE.described(),
    list: List::by_cursor(
        &[column::NAME, column::TYPE, column::STATUS, column::AGE],
        &[column::ID, column::NAME, column::TYPE, column::STATUS, column::CREATED_AT, column::UPDATED_AT],
    ),
};

const ORDER: Field =
    orders_asked(&Kind::OneOf(&["name", "-name", "type", "-type", "status", "-status", "created_at", "-created_at"]));

const ALL: &str = "/v2/loyalties/card-definitions";
const ONE: &str = "/v2/loyalties/card-definitions/{cardDefinitionId}";
const LISTED: &[Field] = &[LIMIT, ORDER, may("filters", Kind::Map), CURSOR_ASKED];

const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &CARD_DEFINITION).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List card definitions", lifecycle::list)).pages(SHAPE).query(LISTED),
    ours(post(ALL, "Create a card definition", create)).body(CREATE),
    ours(get(ONE, "Get a card definition", lifecycle::get)),
    ours(put(ONE, "Update a card definition", update)).body(UPDATE),
    ours(delete(ONE, "Delete a card definition that nothing uses", lifecycle::advance)),
    ours(post(
        "/v2/loyalties/card-definitions/{cardDefinitionId}/activate",
        "Activate a card definition",
        lifecycle::advance,
    )),
    ours(post(
        "/v2/loyalties/card-definitions/{cardDefinitionId}/draft",
        "Return a card definition to draft",
        lifecycle::advance,
    )),
    ours(get(
        "/v2/loyalties/card-definitions/{cardDefinitionId}/activities",
        "List what happened to a card definition",
        activities::list,
    ))
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
];

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    complete(call, &mut body)?;
    let document = lifecycle::begin(call, &CARD_DEFINITION, body);
    lifecycle::create(call, &CARD_DEFINITION, &document, None)?;
    lifecycle::answer(call, document)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut document = lifecycle::edited(call, &["name"])?;
    complete(call, &mut document.body)?;
    lifecycle::change(call, &CARD_DEFINITION, &mut document)?;
    lifecycle::answer(call, document)
}

/// Checks the sections of a card definition, and completes them with what is said by default.
fn complete(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let defaults = defaults();
    fill_top(body, &defaults);
    choice::settle(body, CHOICES)?;
    fill(body, &defaults);
    check_expiration(body.get("points_expiration"), "points_expiration")?;
    let sliding = body.get_mut("points_expiration").and_then(|expiration| expiration.get_mut("sliding_expiration"));
    if let Some(sliding) = sliding.and_then(Json::as_object_mut) {
        // Where no event counts, that is said.
        sliding.entry("custom_activity_types").or_insert_with(|| Json::Array(Vec::new()));
    }
    let whole = Json::Object(std::mem::take(body));
    let checked = check_dates(whole.pointer("/pending_points/fixed_dates/dates"), "pending_points.fixed_dates.dates")
        .and_then(|()| check_sections(&whole));
    if let Json::Object(whole) = whole {
        *body = whole;
    }
    checked?;
    complete_codes(call, body)?;
    Ok(complete_formula(body)?)
}

/// What one section asks of another.
fn check_sections(body: &Json) -> Result<(), Problem> {
    let text = |pointer: &str| body.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    let lapse = text("/points_expiration/type");
    let is_negative = body.pointer("/balance_settings/allow_negative").and_then(Json::as_bool) == Some(true);
    if is_negative && lapse != "NO_EXPIRATION" {
        let told = format!("must be false where points lapse (points_expiration.type is `{lapse}`)");
        return Err(Problem::at("balance_settings.allow_negative", told));
    }
    if text("/refunds/earned_points/methods/0/mode") == "REVOKE_BELOW_ZERO" && !is_negative {
        let told = "must NOT be REVOKE_BELOW_ZERO where balance_settings.allow_negative is false";
        return Err(Problem::at("refunds.earned_points.methods[0].mode", told));
    }
    let is_immediate = text("/pending_points/type") == "IMMEDIATE";
    if text("/refunds/earned_points/methods/0/type") == "REVOKE_FROM_PENDING" && is_immediate {
        let told = "must NOT be REVOKE_FROM_PENDING where pending_points.type is IMMEDIATE";
        return Err(Problem::at("refunds.earned_points.methods[0].type", told));
    }
    Ok(())
}

/// Writes out how codes are made.
fn complete_codes(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(config) = body.get_mut("code_config").and_then(Json::as_object_mut) else { return Ok(()) };
    config.retain(|_, value| !value.is_null());
    if !config.contains_key("pattern") {
        config.entry("length").or_insert(CODE_LENGTH.into());
    }
    let shape = CodeShape::of(Some(config), &call.caller.settings)?;
    let Json::Object(mut whole) = shape.document() else { return Ok(()) };
    for name in ["prefix", "postfix"] {
        whole.entry(name).or_insert_with(|| "".into());
    }
    // A pattern without blanks is one code, of which no letter is drawn.
    whole.retain(|name, value| name != "length" || value.as_u64() != Some(0));
    *config = whole;
    Ok(())
}

/// Reads the formula of a payment, and keeps it as text.
fn complete_formula(body: &mut Map<String, Json>) -> Result<(), Problem> {
    let ratio = body.get_mut("pay_with_points").and_then(|pay| pay.get_mut("exchange_ratio"));
    let Some(formula) = ratio.and_then(|ratio| ratio.get_mut("formula")) else { return Ok(()) };
    let text = formula.as_str().map_or_else(|| formula.to_string(), str::to_owned);
    let path = "pay_with_points.exchange_ratio.formula";
    check_formula(path, &text)?;
    *formula = text.into();
    Ok(())
}
