//! Earning rules of loyalty campaigns: create several at once, get, list, update, enable, disable and delete.

use crate::api::loyalty_programs::checks::check_formula;
use crate::documents::common_fields::{LIMIT, PAGE};
use crate::documents::merge;
use crate::documents::shapes::campaign_earning_rules::{CALCULATIONS, CAMPAIGN_RULE as SHAPE, CHANGES, CREATE, TYPES};
use crate::documents::shapes::{EMPTY, TOTAL};
use crate::documents::tagged_blocks;
use crate::domain::campaigns::campaign::find_loyalty_campaign;
use crate::domain::clock;
use crate::domain::event_schemas;
use crate::domain::event_schemas::SCHEMA;
use crate::domain::loyalty_campaigns::earning_rules::{CAMPAIGN_RULE, find, rule_to_json};
use crate::domain::metadata::schemas;
use crate::domain::validation_rules::assignments;
use crate::domain::validation_rules::rules::RULE;
use crate::domain::vouchers::definition;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{self, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::records::{EarningRuleRecord, PointsRecord};
use crate::timestamp;
use scrip::time::TimeZone;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

/// Maximum number of rules in one request.
const RULES_MAX: usize = 100;

const ORDER_PAID: &str = "order.paid";
const SEGMENT_ENTERED: &str = "customer.segment.entered";
/// Prefix of events about tiers. The tier of a campaign follows from the current points: its change causes no event.
const TIER_EVENT_PREFIX: &str = "customer.loyalty.tier.";

/// Calculation by a number of the customer's metadata.
const CUSTOMER_METADATA: &str = "CUSTOMER_METADATA";

/// Blocks of proportional points, which fixed points do not have.
const BLOCKS: [&str; 4] = ["order", "order_items", "customer", "custom_event"];

const ALL: &str = "/v1/loyalties/{campaignId}/earning-rules";
const ONE: &str = "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}";

const fn with_resource(route: Route) -> Route {
    route.of(&CAMPAIGN_RULE).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get(ALL, "List the earning rules of a loyalty campaign", list))
        .describe(
            "listLoyaltyCampaignEarningRules",
            "Returns the earning rules of a loyalty campaign, the newest first by default. A campaign of another type is refused with `not_found`, an unknown order with `invalid_query_params`.",
        )
        .returns("The earning rules of this page and the total.")
        .lists_resource(TOTAL)
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
        ]),
    with_resource(post(ALL, "Create earning rules of a loyalty campaign", create))
        .describe(
            "createLoyaltyCampaignEarningRules",
            "Creates 1 to 100 earning rules of a loyalty campaign: all of them or none. Events that happen afterwards earn points by the rules. The webhook event `campaign.earning_rule.assigned` follows for each. An inconsistent rule is refused with `invalid_payload`, an unknown validation rule, segment or event schema with `not_found`.",
        )
        .returns("The new earning rules, in the order of the request.")
        .many(CREATE)
        .answers(200, FieldType::List(&SHAPE, 0, RULES_MAX)),
    with_resource(get(ONE, "Get an earning rule of a loyalty campaign", get_one))
        .describe(
            "getLoyaltyCampaignEarningRule",
            "Returns one earning rule of a loyalty campaign. An earning rule of another campaign is refused with `not_found`.",
        )
        .returns("The earning rule."),
    with_resource(put(ONE, "Update an earning rule of a loyalty campaign", update))
        .describe(
            "updateLoyaltyCampaignEarningRule",
            "Changes the fields that are sent; `null` clears a field, and metadata is merged key by key. The event cannot be changed. Points that were already earned stay. The webhook event `campaign.earning_rule.updated` follows. An earning rule of another campaign is refused with `not_found`, an inconsistent change with `invalid_payload`.",
        )
        .returns("The earning rule after the change.")
        .body(CHANGES),
    with_resource(delete(ONE, "Delete an earning rule of a loyalty campaign", remove))
        .describe(
            "deleteLoyaltyCampaignEarningRule",
            "Deletes an earning rule with the assignment of its validation rule. Points that were already earned stay. The webhook event `campaign.earning_rule.deleted` follows. An earning rule of another campaign is refused with `not_found`.",
        )
        .returns("No content. The earning rule is deleted.")
        .answers(204, EMPTY),
    with_resource(post(
        "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}/enable",
        "Enable an earning rule of a loyalty campaign",
        enable,
    ))
    .describe(
        "enableLoyaltyCampaignEarningRule",
        "Sets `active` of the earning rule to `true`, so that later events earn points within the validity of the rule. The webhook event `campaign.earning_rule.enabled` follows. An earning rule of another campaign is refused with `not_found`.",
    )
    .returns("The earning rule, with `active` set to `true`."),
    with_resource(post(
        "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}/disable",
        "Disable an earning rule of a loyalty campaign",
        disable,
    ))
    .describe(
        "disableLoyaltyCampaignEarningRule",
        "Sets `active` of the earning rule to `false`, so that later events earn no points by the rule. Points that were already earned stay. The webhook event `campaign.earning_rule.disabled` follows. An earning rule of another campaign is refused with `not_found`.",
    )
    .returns("The earning rule, with `active` set to `false`."),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let mut clause = Clause::of_kind(CAMPAIGN_RULE.object);
    clause.within(&loyalty_campaign.id);
    let page = CAMPAIGN_RULE.list.select(call.store, &call.query, clause)?;
    let json = (CAMPAIGN_RULE.to_json)(call, page.documents)?;
    Ok(Response::json(Json::Object(CAMPAIGN_RULE.list.envelope(json, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let rule = find(call)?;
    Ok(Response::json(CAMPAIGN_RULE.one_to_json(call, rule)?))
}

/// Creates all the rules of a body, or none.
fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let sent = call.sources()?;
    if sent.is_empty() || sent.len() > RULES_MAX {
        let message = format!("must have 1 to {RULES_MAX} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", message).into());
    }
    let mut rules = Vec::new();
    for (index, item) in sent.into_iter().enumerate() {
        let path = format!("[{index}]");
        let mut body = shape::read(CREATE, item, Nulls::Dropped).map_err(|problem| problem.within(&path))?;
        normalise_event(call, &mut body, &path)?;
        rules.push(insert_rule(call, &loyalty_campaign, body, &path)?);
    }
    Ok(Response::json(Json::Array(rules)))
}

fn insert_rule(
    call: &mut Call<'_, '_>,
    loyalty_campaign: &Document,
    mut body: Map<String, Json>,
    path: &str,
) -> Result<Json, CallError> {
    let rule = take_validation_rule(call, &mut body)?.unwrap_or_default();
    let id = call.ids.alphanumeric("ern_", 24).to_string();
    let defaults = json!({
        "id": id, "automation_id": call.ids.alphanumeric("auto_", 24).to_string(), "active": true, "metadata": {},
        "source": {}, "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": CAMPAIGN_RULE.object,
    });
    merge::fill(&mut body, &defaults);
    let zone = clock::zone(call)?;
    normalise(&mut body, &loyalty_campaign.id, &zone).map_err(|problem| problem.within(path))?;
    schemas::check_body(call.store, CAMPAIGN_RULE.object, &body)?;
    let mut document = Document::new(id, None, call.now_ms(), body);
    document.parent = Some(loyalty_campaign.id.clone());
    call.store.insert(CAMPAIGN_RULE.object, &document);
    assignments::assign(call, rule.clone(), &document.id, CAMPAIGN_RULE.object);
    Ok(rule_to_json(document, rule.into_iter().next().into()))
}

/// Updates a rule; a null clears an optional member.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::KeptOnTop)?;
    let mut document = find(call)?;
    let rule = take_validation_rule(call, &mut sent)?;
    let has_metadata = sent.contains_key("metadata");
    sent.retain(|name, value| !value.is_null() || !["loyalty", "active"].contains(&name.as_str()));
    // The official client changes the number of points without their type.
    let kind = document.as_earning_rule().points_member("type").cloned();
    if let (Some(points), Some(kind)) = (sent.get_mut("loyalty").and_then(Json::as_object_mut), kind) {
        points.entry("type").or_insert(kind);
    }
    merge::merge(&mut document.body, sent);
    let campaign_id = document.parent.clone().unwrap_or_default();
    document.body.retain(|name, value| !value.is_null() || name == "updated_at");
    normalise(&mut document.body, &campaign_id, &*clock::zone(call)?)?;
    if has_metadata {
        schemas::check_body(call.store, CAMPAIGN_RULE.object, &document.body)?;
    }
    call.touch(&mut document);
    call.store.update(CAMPAIGN_RULE.object, &document);
    let Some(rules) = rule else { return Ok(Response::json(CAMPAIGN_RULE.one_to_json(call, document)?)) };
    let first = rules.first().cloned();
    assignments::replace(call, rules, &document.id, CAMPAIGN_RULE.object)?;
    Ok(Response::json(rule_to_json(document, first.into())))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let rule = find(call)?;
    assignments::delete_all(call, &rule.id);
    call.store.delete(CAMPAIGN_RULE.object, &rule.id);
    Ok(Response::empty(204))
}

fn enable(call: &mut Call<'_, '_>) -> HandlerResult {
    set_active(call, true)
}

fn disable(call: &mut Call<'_, '_>) -> HandlerResult {
    set_active(call, false)
}

fn set_active(call: &mut Call<'_, '_>, active: bool) -> HandlerResult {
    let mut rule = find(call)?;
    rule.body.insert("active".into(), active.into());
    call.touch(&mut rule);
    call.store.update(CAMPAIGN_RULE.object, &rule);
    Ok(Response::json(CAMPAIGN_RULE.one_to_json(call, rule)?))
}

/// Removes the validation rule, which must exist, from a body and returns it; `None` if the body has none.
fn take_validation_rule(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<Option<Vec<String>>, CallError> {
    let Some(rule_id) = body.remove("validation_rule_id") else { return Ok(None) };
    let Some(id) = rule_id.as_str() else { return Ok(Some(Vec::new())) };
    match call.store.document(RULE.object, id)? {
        Some(rule) => Ok(Some(vec![rule.id])),
        None => Err(not_found(RULE.object, id).into()),
    }
}

/// Finds the trigger of a rule, and refuses members of other triggers.
fn normalise_event(call: &Call<'_, '_>, body: &mut Map<String, Json>, path: &str) -> Result<(), CallError> {
    let rule = EarningRuleRecord::of(body);
    let schema_id = rule.schema_id();
    let event = match (rule.event(), schema_id) {
        (None, None) => return Err(Problem::missing(path, "event").into()),
        (None, Some(id)) => find_schema(call, id)?.key.unwrap_or_default(),
        (Some(event), _) => event.to_owned(),
    };
    if event.starts_with(TIER_EVENT_PREFIX) {
        let message = format!(
            "must NOT be about tiers: nobody is told of those of a loyalty campaign (actual value is `{event}`)"
        );
        return Err(Problem::at(format!("{path}.event"), message).into());
    }
    for (block, of) in [("segment", event == SEGMENT_ENTERED), ("custom_event", is_custom(&event))] {
        if body.contains_key(block) && !of {
            let message = format!("must NOT be present where the event is {}", shortened(&event));
            return Err(Problem::at(format!("{path}.{block}"), message).into());
        }
    }
    if event == SEGMENT_ENTERED {
        let id = rule.segment_id().ok_or_else(|| Problem::missing(path, "segment"))?;
        call.store.document("segment", id)?.ok_or_else(|| not_found("segment", id))?;
    } else if is_custom(&event) {
        let schema = match schema_id {
            Some(id) => find_schema(call, id)?,
            None => event_schemas::find_of_event(call, &event)?,
        };
        if schema.key.as_deref() != Some(&event) {
            let message = "must be the schema of the event";
            return Err(Problem::bound(format!("{path}.custom_event.schema_id"), message, &schema.id).into());
        }
        body.insert("custom_event".into(), json!({ "schema_id": schema.id }));
    }
    body.insert("event".into(), event.into());
    Ok(())
}

fn find_schema(call: &Call<'_, '_>, id: &str) -> Result<Document, CallError> {
    call.store.document(SCHEMA.object, id)?.ok_or_else(|| not_found(SCHEMA.object, id).into())
}

fn is_custom(event: &str) -> bool {
    event != ORDER_PAID && event != SEGMENT_ENTERED
}

/// Checks the members of a rule against each other.
fn normalise(body: &mut Map<String, Json>, campaign_id: &str, zone: &TimeZone) -> Result<(), Problem> {
    definition::check_validity(body, zone)?;
    definition::normalise_dates(body, zone);
    definition::check_expiration(PointsRecord::of(body), "")?;
    let event = EarningRuleRecord::of(body).event().unwrap_or_default();
    if event != ORDER_PAID && body.contains_key("pending_points") {
        let message = format!("must NOT be present where the event is {}", shortened(event));
        return Err(Problem::at("pending_points", message));
    }
    if !body.contains_key("loyalty") {
        return Err(Problem::missing("", "loyalty"));
    }
    tagged_blocks::check_blocks(body, TYPES)?;
    check_points(body)?;
    EarningRuleRecord::of(body).points().map_or(Ok(()), |points| check_formulas(points, "loyalty"))?;
    let source = body.entry("source").or_insert_with(|| json!({}));
    if let Some(source) = source.as_object_mut() {
        source.retain(|_, value| !value.is_null());
        source.insert("object_id".into(), campaign_id.into());
        source.insert("object_type".into(), "campaign".into());
    }
    Ok(())
}

/// Checks that every formula is valid, and that one without variables evaluates to a number.
fn check_formulas(points: &Json, path: &str) -> Result<(), Problem> {
    for (name, value) in points.as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        match value.as_str().filter(|_| name == "points_formula") {
            Some(text) => check_formula(&path, text)?,
            None => check_formulas(value, &path)?,
        }
    }
    Ok(())
}

/// Checks that proportional points depend on a value that exists when the event happens.
fn check_points(body: &mut Map<String, Json>) -> Result<(), Problem> {
    let loyalty = |body: &Map<String, Json>, name: &str| EarningRuleRecord::of(body).points_member(name).cloned();
    if loyalty(body, "type").as_ref().and_then(Json::as_str) == Some("FIXED") {
        let stray = BLOCKS.iter().find(|block| loyalty(body, block).is_some_and(|block| !block.is_null()));
        let message = "must NOT be present where type is FIXED";
        return stray.map_or(Ok(()), |block| Err(Problem::at(format!("loyalty.{block}"), message)));
    }
    tagged_blocks::check_blocks(body, CALCULATIONS)?;
    let event = EarningRuleRecord::of(body).event().unwrap_or_default();
    // Every event has a customer.
    let prefix = match event {
        ORDER_PAID => "ORDER_",
        SEGMENT_ENTERED => CUSTOMER_METADATA,
        _ => "CUSTOM_EVENT_METADATA",
    };
    let kind = loyalty(body, "calculation_type").unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    if kind != CUSTOMER_METADATA && !kind.starts_with(prefix) {
        let message = format!("must be about what there is with the event {}", shortened(event));
        return Err(Problem::bound("loyalty.calculation_type", &message, kind));
    }
    let lines = loyalty(body, "order_items").unwrap_or_default();
    for (name, block) in lines.as_object().into_iter().flatten() {
        let has = |field: &str| block.get(field).is_some_and(|value| !value.is_null());
        let path = format!("loyalty.order_items.{name}");
        let is_listed = block.get("applicable_to").and_then(Json::as_array).is_some_and(|goods| !goods.is_empty());
        match (has("object"), has("id")) {
            (true, false) => return Err(Problem::missing(&path, "id")),
            (false, true) => return Err(Problem::missing(&path, "object")),
            (false, false) if !is_listed => return Err(Problem::missing(&path, "applicable_to")),
            (true, true) | (false, false) => {}
        }
    }
    Ok(())
}
