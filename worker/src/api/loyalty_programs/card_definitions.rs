//! Card definitions: create, get, list, update, and changes of their state.

use crate::api::loyalty_programs::checks::{check_dates, check_expiration, check_formula};
use crate::documents::common_fields::{LIMIT, LISTED_BY_AGE};
use crate::documents::merge::{fill, fill_top};
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::cards::{CARD_DEFINITION as SHAPE, CHOICES, SECTIONS, defaults};
use crate::documents::shapes::points::NAME;
use crate::documents::tagged_blocks;
use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::CARD_DEFINITION;
use crate::domain::loyalty_programs::lifecycle;
use crate::domain::vouchers::code_generator::CodeShape;
use crate::http::list_options::{CURSOR_PARAMETER, List, column, order_parameter};
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::records::CodeConfig;
use scrip::fields_of;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

const CREATE: &[Field] = fields_of!(
    &[
        must("name", NAME).description("Name of the card definition."),
        must("type", FieldType::OneOf(&["INDIVIDUAL"]))
            .description("Type of the cards. Always `INDIVIDUAL`: each card belongs to one member."),
        may("status", FieldType::OneOf(&["DRAFT", "ACTIVE"]))
            .description("Initial status of the card definition. Default `DRAFT`."),
    ],
    SECTIONS
);
const UPDATE: &[Field] = fields_of!(&[may("name", NAME).description("Name of the card definition.")], SECTIONS);

const ACTIVITY: FieldType = activity!("CardDefinitionActivity", "card_definition_id");

/// Default length of a card's code.
const CODE_LENGTH: usize = 10;

/// Card definitions as a resource.
pub const RESOURCE: Resource = Resource {
    object: CARD_DEFINITION.object,
    parameter: "cardDefinitionId",
    key: plain_key,
    to_json: bodies_to_json,
    shape: SHAPE.described(),
    list: List::by_cursor(
        &[column::NAME, column::TYPE, column::STATUS, column::AGE],
        &[column::ID, column::NAME, column::TYPE, column::STATUS, column::CREATED_AT, column::UPDATED_AT],
    ),
};

const ORDER: Field = order_parameter(&FieldType::OneOf(&[
    "name",
    "-name",
    "type",
    "-type",
    "status",
    "-status",
    "created_at",
    "-created_at",
]));

const ALL: &str = "/v2/loyalties/card-definitions";
const ONE: &str = "/v2/loyalties/card-definitions/{cardDefinitionId}";
const LISTED: &[Field] = &[
    LIMIT,
    ORDER,
    may("filters", FieldType::Map).description("Conditions by field, joined by `junction`. Fields: `id`, `name`, `type`, `status`, `created_at` and `updated_at`."),
    CURSOR_PARAMETER,
];

const fn with_resource(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &CARD_DEFINITION).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get(ALL, "List card definitions", lifecycle::list))
        .describe(
            "listCardDefinitions",
            "Returns the card definitions of the project except deleted ones, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The card definitions of this page and the cursor of the next page.")
        .pages(SHAPE)
        .query(LISTED),
    with_resource(post(ALL, "Create a card definition", create))
        .describe(
            "createCardDefinition",
            "Creates the template for points cards of loyalty programs, as a draft by default. Sections that are absent get their defaults: no expiration, no limits, no refunds, codes of 10 characters. Contradictory sections, which include a negative balance with expiring points, are refused with `invalid_payload`.",
        )
        .returns("The created card definition with all defaults.")
        .body(CREATE),
    with_resource(get(ONE, "Get a card definition", lifecycle::get))
        .describe(
            "getCardDefinition",
            "Returns one card definition in any status except `DELETED`. An unknown or deleted ID is refused with `not_found`.",
        )
        .returns("The card definition."),
    with_resource(put(ONE, "Update a card definition", update))
        .describe(
            "updateCardDefinition",
            "Changes the fields that are sent; `null` resets a section to its default and metadata is merged. In a draft, every field can change. Afterwards `name`, `metadata` and `pay_with_points` can always change, other sections only while no object uses the card definition (`resource_locked`). Contradictory sections are refused with `invalid_payload`.",
        )
        .returns("The card definition after the change.")
        .body(UPDATE),
    with_resource(delete(ONE, "Delete a card definition", lifecycle::advance))
        .describe(
            "deleteCardDefinition",
            "Sets the status of an unused card definition to `DELETED`, which is final. A card definition that a program, reward, earning rule, incentive or tier structure uses is refused with `resource_in_use`. An unknown ID is refused with `not_found`.",
        )
        .returns("The card definition with status `DELETED`."),
    with_resource(post(
        "/v2/loyalties/card-definitions/{cardDefinitionId}/activate",
        "Activate a card definition",
        lifecycle::advance,
    ))
    .describe(
        "activateCardDefinition",
        "Changes the status of a draft to `ACTIVE`, so that programs, earning rules and rewards that use the card definition can be activated. Any other status is refused with `invalid_state_transition`, an unknown ID with `not_found`.",
    )
    .returns("The card definition with status `ACTIVE`."),
    with_resource(post(
        "/v2/loyalties/card-definitions/{cardDefinitionId}/draft",
        "Return a card definition to draft",
        lifecycle::advance,
    ))
    .describe(
        "draftCardDefinition",
        "Changes the status of an active card definition to `DRAFT`, so that all its sections can be edited. Refused with `resource_in_use` while a program, reward, earning rule, incentive or tier structure that is not a draft uses the card definition. A card definition that is not active is refused with `invalid_state_transition`.",
    )
    .returns("The card definition with status `DRAFT`."),
    with_resource(get(
        "/v2/loyalties/card-definitions/{cardDefinitionId}/activities",
        "List activities of a card definition",
        activities::list,
    ))
    .describe(
        "listCardDefinitionActivities",
        "Returns the records of changes to a card definition: creation, updates, changes of status, assignment to programs and removal from them. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown ID is refused with `not_found`.",
    )
    .returns("The records of this page, newest first by default, and the cursor of the next page.")
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
];

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    normalise(call, &mut body)?;
    let document = lifecycle::new_document(call, &CARD_DEFINITION, body);
    lifecycle::create(call, &CARD_DEFINITION, &document, None)?;
    lifecycle::respond(call, document)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut document = lifecycle::merge_request(call, &["name"])?;
    normalise(call, &mut document.body)?;
    lifecycle::update(call, &CARD_DEFINITION, &mut document)?;
    lifecycle::respond(call, document)
}

/// Checks the sections of a card definition, and completes them with defaults.
fn normalise(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let defaults = defaults();
    fill_top(body, &defaults);
    tagged_blocks::check_blocks(body, CHOICES)?;
    fill(body, &defaults);
    check_expiration(body.get("points_expiration"), "points_expiration")?;
    let sliding = body.get_mut("points_expiration").and_then(|expiration| expiration.get_mut("sliding_expiration"));
    if let Some(sliding) = sliding.and_then(Json::as_object_mut) {
        // An empty list states that no event counts.
        sliding.entry("custom_activity_types").or_insert_with(|| Json::Array(Vec::new()));
    }
    let document = Json::Object(std::mem::take(body));
    let checked =
        check_dates(document.pointer("/pending_points/fixed_dates/dates"), "pending_points.fixed_dates.dates")
            .and_then(|()| check_sections(&document));
    if let Json::Object(document) = document {
        *body = document;
    }
    checked?;
    complete_codes(call, body)?;
    Ok(complete_formula(body)?)
}

/// Checks the requirements between sections.
fn check_sections(body: &Json) -> Result<(), Problem> {
    let text = |pointer: &str| body.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    let expiration_type = text("/points_expiration/type");
    let is_negative = body.pointer("/balance_settings/allow_negative").and_then(Json::as_bool) == Some(true);
    if is_negative && expiration_type != "NO_EXPIRATION" {
        let message = format!("must be false where points lapse (points_expiration.type is `{expiration_type}`)");
        return Err(Problem::at("balance_settings.allow_negative", message));
    }
    if text("/refunds/earned_points/methods/0/mode") == "REVOKE_BELOW_ZERO" && !is_negative {
        let message = "must NOT be REVOKE_BELOW_ZERO where balance_settings.allow_negative is false";
        return Err(Problem::at("refunds.earned_points.methods[0].mode", message));
    }
    let is_immediate = text("/pending_points/type") == "IMMEDIATE";
    if text("/refunds/earned_points/methods/0/type") == "REVOKE_FROM_PENDING" && is_immediate {
        let message = "must NOT be REVOKE_FROM_PENDING where pending_points.type is IMMEDIATE";
        return Err(Problem::at("refunds.earned_points.methods[0].type", message));
    }
    Ok(())
}

/// Completes the code configuration.
fn complete_codes(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(config) = body.get_mut("code_config").and_then(Json::as_object_mut) else { return Ok(()) };
    config.retain(|_, value| !value.is_null());
    if !config.contains_key("pattern") {
        config.entry("length").or_insert(CODE_LENGTH.into());
    }
    let shape = CodeShape::of(CodeConfig::of(config), &call.caller.settings)?;
    let Json::Object(mut configuration) = shape.document() else { return Ok(()) };
    for name in ["prefix", "postfix"] {
        configuration.entry(name).or_insert_with(|| "".into());
    }
    // A pattern without blanks is one code without random characters.
    configuration.retain(|name, value| name != "length" || value.as_u64() != Some(0));
    *config = configuration;
    Ok(())
}

/// Parses the formula of a payment, and stores it as text.
fn complete_formula(body: &mut Map<String, Json>) -> Result<(), Problem> {
    let ratio = body.get_mut("pay_with_points").and_then(|pay| pay.get_mut("exchange_ratio"));
    let Some(formula) = ratio.and_then(|ratio| ratio.get_mut("formula")) else { return Ok(()) };
    let text = formula.as_str().map_or_else(|| formula.to_string(), str::to_owned);
    let path = "pay_with_points.exchange_ratio.formula";
    check_formula(path, &text)?;
    *formula = text.into();
    Ok(())
}
