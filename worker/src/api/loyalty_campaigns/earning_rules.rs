//! Earning rules of loyalty campaigns: create several at once, get, list, update, enable, disable and delete.

use crate::api::loyalty_programs::checks::check_formula;
use crate::documents::common_fields::{LIMIT, PAGE};
use crate::documents::merge;
use crate::documents::shapes::campaign_earning_rules::{CALCULATIONS, CHANGES, CREATE, PROGRAM_RULE as SHAPE, TYPES};
use crate::documents::shapes::{EMPTY, TOTAL};
use crate::documents::tagged_blocks;
use crate::domain::campaigns::campaign::find_program;
use crate::domain::clock;
use crate::domain::event_schemas;
use crate::domain::event_schemas::SCHEMA;
use crate::domain::loyalty_campaigns::earning_rules::{PROGRAM_RULE, find, show_with};
use crate::domain::metadata::schemas;
use crate::domain::validation_rules::assignments;
use crate::domain::validation_rules::rules::RULE;
use crate::domain::vouchers::definition;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{self, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::records::EarningRuleRecord;
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
const OF_TIERS: &str = "customer.loyalty.tier.";

/// Calculation by a number of the customer's metadata.
const OF_CUSTOMER: &str = "CUSTOMER_METADATA";

/// Blocks of proportional points, which fixed points do not have.
const BLOCKS: [&str; 4] = ["order", "order_items", "customer", "custom_event"];

const ALL: &str = "/v1/loyalties/{campaignId}/earning-rules";
const ONE: &str = "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}";

const fn ours(route: Route) -> Route {
    route.of(&PROGRAM_RULE).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List the earning rules of a loyalty campaign", list))
        .describe(
            "listLoyaltyCampaignEarningRules",
            "Returns the earning rules of a loyalty campaign, the newest first by default. A campaign of another type is refused with `not_found`, an unknown order with `invalid_query_params`.",
        )
        .returns("The earning rules of this page and the total.")
        .listed(TOTAL)
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
        ]),
    ours(post(ALL, "Create earning rules of a loyalty campaign", create))
        .describe(
            "createLoyaltyCampaignEarningRules",
            "Creates 1 to 100 earning rules of a loyalty campaign: all of them or none. Events that happen afterwards earn points by the rules. The webhook event `campaign.earning_rule.assigned` follows for each. An inconsistent rule is refused with `invalid_payload`, an unknown validation rule, segment or event schema with `not_found`.",
        )
        .returns("The new earning rules, in the order of the request.")
        .many(CREATE)
        .answers(200, FieldType::List(&SHAPE, 0, RULES_MAX)),
    ours(get(ONE, "Get an earning rule of a loyalty campaign", get_one))
        .describe(
            "getLoyaltyCampaignEarningRule",
            "Returns one earning rule of a loyalty campaign. An earning rule of another campaign is refused with `not_found`.",
        )
        .returns("The earning rule."),
    ours(put(ONE, "Update an earning rule of a loyalty campaign", update))
        .describe(
            "updateLoyaltyCampaignEarningRule",
            "Changes the fields that are sent; `null` clears a field, and metadata is merged key by key. The event cannot be changed. Points that were already earned stay. The webhook event `campaign.earning_rule.updated` follows. An earning rule of another campaign is refused with `not_found`, an inconsistent change with `invalid_payload`.",
        )
        .returns("The earning rule after the change.")
        .body(CHANGES),
    ours(delete(ONE, "Delete an earning rule of a loyalty campaign", remove))
        .describe(
            "deleteLoyaltyCampaignEarningRule",
            "Deletes an earning rule with the assignment of its validation rule. Points that were already earned stay. The webhook event `campaign.earning_rule.deleted` follows. An earning rule of another campaign is refused with `not_found`.",
        )
        .returns("No content. The earning rule is deleted.")
        .answers(204, EMPTY),
    ours(post(
        "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}/enable",
        "Enable an earning rule of a loyalty campaign",
        enable,
    ))
    .describe(
        "enableLoyaltyCampaignEarningRule",
        "Sets `active` of the earning rule to `true`, so that later events earn points within the validity of the rule. The webhook event `campaign.earning_rule.enabled` follows. An earning rule of another campaign is refused with `not_found`.",
    )
    .returns("The earning rule, with `active` set to `true`."),
    ours(post(
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
    let program = find_program(call)?;
    let mut clause = Clause::of_kind(PROGRAM_RULE.object);
    clause.within(&program.id);
    let page = PROGRAM_RULE.list.select(call.store, &call.query, clause)?;
    let shown = (PROGRAM_RULE.show)(call, page.documents)?;
    Ok(Response::json(Json::Object(PROGRAM_RULE.list.envelope(shown, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let rule = find(call)?;
    Ok(Response::json(PROGRAM_RULE.show_one(call, rule)?))
}

/// Creates all the rules of a body, or none.
fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let program = find_program(call)?;
    let sent = call.sources()?;
    if sent.is_empty() || sent.len() > RULES_MAX {
        let message = format!("must have 1 to {RULES_MAX} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", message).into());
    }
    let mut made = Vec::new();
    for (place, one) in sent.into_iter().enumerate() {
        let place = format!("[{place}]");
        let mut body = shape::read(CREATE, one, Nulls::Dropped).map_err(|problem| problem.within(&place))?;
        settle_event(call, &mut body, &place)?;
        made.push(make(call, &program, body, &place)?);
    }
    Ok(Response::json(Json::Array(made)))
}

fn make(
    call: &mut Call<'_, '_>,
    program: &Document,
    mut body: Map<String, Json>,
    place: &str,
) -> Result<Json, CallError> {
    let rule = take_rule(call, &mut body)?.unwrap_or_default();
    let id = call.ids.alphanumeric("ern_", 24).to_string();
    let defaults = json!({
        "id": id, "automation_id": call.ids.alphanumeric("auto_", 24).to_string(), "active": true, "metadata": {},
        "source": {}, "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": PROGRAM_RULE.object,
    });
    merge::fill(&mut body, &defaults);
    let zone = clock::zone(call)?;
    settle(&mut body, &program.id, &zone).map_err(|problem| problem.within(place))?;
    schemas::check_body(call.store, PROGRAM_RULE.object, &body)?;
    let mut document = Document::new(id, None, call.now_ms(), body);
    document.parent = Some(program.id.clone());
    call.store.insert(PROGRAM_RULE.object, &document);
    assignments::assign(call, rule.clone(), &document.id, PROGRAM_RULE.object);
    Ok(show_with(document, rule.into_iter().next().into()))
}

/// Updates a rule; a null clears an optional member.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::KeptOnTop)?;
    let mut document = find(call)?;
    let rule = take_rule(call, &mut sent)?;
    let has_metadata = sent.contains_key("metadata");
    sent.retain(|name, value| !value.is_null() || !["loyalty", "active"].contains(&name.as_str()));
    // The official client changes the number of points without their type.
    let kind = document.as_earning_rule().points_member("type").cloned();
    if let (Some(points), Some(kind)) = (sent.get_mut("loyalty").and_then(Json::as_object_mut), kind) {
        points.entry("type").or_insert(kind);
    }
    merge::merge(&mut document.body, sent);
    let program_id = document.parent.clone().unwrap_or_default();
    document.body.retain(|name, value| !value.is_null() || name == "updated_at");
    settle(&mut document.body, &program_id, &*clock::zone(call)?)?;
    if has_metadata {
        schemas::check_body(call.store, PROGRAM_RULE.object, &document.body)?;
    }
    call.touch(&mut document);
    call.store.update(PROGRAM_RULE.object, &document);
    let Some(rules) = rule else { return Ok(Response::json(PROGRAM_RULE.show_one(call, document)?)) };
    let first = rules.first().cloned();
    assignments::replace(call, rules, &document.id, PROGRAM_RULE.object)?;
    Ok(Response::json(show_with(document, first.into())))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let rule = find(call)?;
    assignments::detach(call, &rule.id);
    call.store.remove(PROGRAM_RULE.object, &rule.id);
    Ok(Response::empty(204))
}

fn enable(call: &mut Call<'_, '_>) -> HandlerResult {
    switch(call, true)
}

fn disable(call: &mut Call<'_, '_>) -> HandlerResult {
    switch(call, false)
}

fn switch(call: &mut Call<'_, '_>, active: bool) -> HandlerResult {
    let mut rule = find(call)?;
    rule.body.insert("active".into(), active.into());
    call.touch(&mut rule);
    call.store.update(PROGRAM_RULE.object, &rule);
    Ok(Response::json(PROGRAM_RULE.show_one(call, rule)?))
}

/// Removes the validation rule, which must exist, from a body and returns it; `None` if the body has none.
fn take_rule(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<Option<Vec<String>>, CallError> {
    let Some(named) = body.remove("validation_rule_id") else { return Ok(None) };
    let Some(id) = named.as_str() else { return Ok(Some(Vec::new())) };
    match call.store.document(RULE.object, id)? {
        Some(rule) => Ok(Some(vec![rule.id])),
        None => Err(not_found(RULE.object, id).into()),
    }
}

/// Finds the trigger of a rule, and refuses members of other triggers.
fn settle_event(call: &Call<'_, '_>, body: &mut Map<String, Json>, place: &str) -> Result<(), CallError> {
    let rule = EarningRuleRecord::of(body);
    let schema_id = rule.schema_id();
    let event = match (rule.event(), schema_id) {
        (None, None) => return Err(Problem::missing(place, "event").into()),
        (None, Some(id)) => schema_named(call, id)?.key.unwrap_or_default(),
        (Some(event), _) => event.to_owned(),
    };
    if event.starts_with(OF_TIERS) {
        let message = format!(
            "must NOT be about tiers: nobody is told of those of a loyalty campaign (actual value is `{event}`)"
        );
        return Err(Problem::at(format!("{place}.event"), message).into());
    }
    for (block, of) in [("segment", event == SEGMENT_ENTERED), ("custom_event", is_custom(&event))] {
        if body.contains_key(block) && !of {
            let message = format!("must NOT be present where the event is {}", shortened(&event));
            return Err(Problem::at(format!("{place}.{block}"), message).into());
        }
    }
    if event == SEGMENT_ENTERED {
        let id = rule.segment_id().ok_or_else(|| Problem::missing(place, "segment"))?;
        call.store.document("segment", id)?.ok_or_else(|| not_found("segment", id))?;
    } else if is_custom(&event) {
        let schema = match schema_id {
            Some(id) => schema_named(call, id)?,
            None => event_schemas::of_event(call, &event)?,
        };
        if schema.key.as_deref() != Some(&event) {
            let message = "must be the schema of the event";
            return Err(Problem::bound(format!("{place}.custom_event.schema_id"), message, &schema.id).into());
        }
        body.insert("custom_event".into(), json!({ "schema_id": schema.id }));
    }
    body.insert("event".into(), event.into());
    Ok(())
}

fn schema_named(call: &Call<'_, '_>, id: &str) -> Result<Document, CallError> {
    call.store.document(SCHEMA.object, id)?.ok_or_else(|| not_found(SCHEMA.object, id).into())
}

fn is_custom(event: &str) -> bool {
    event != ORDER_PAID && event != SEGMENT_ENTERED
}

/// Checks the members of a rule against each other.
fn settle(body: &mut Map<String, Json>, campaign_id: &str, zone: &TimeZone) -> Result<(), Problem> {
    definition::check_validity(body, zone)?;
    definition::settle_dates(body, zone);
    definition::check_expiration(body, "")?;
    let event = EarningRuleRecord::of(body).event().unwrap_or_default();
    if event != ORDER_PAID && body.contains_key("pending_points") {
        let message = format!("must NOT be present where the event is {}", shortened(event));
        return Err(Problem::at("pending_points", message));
    }
    if !body.contains_key("loyalty") {
        return Err(Problem::missing("", "loyalty"));
    }
    tagged_blocks::settle(body, TYPES)?;
    settle_points(body)?;
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
fn settle_points(body: &mut Map<String, Json>) -> Result<(), Problem> {
    let loyalty = |body: &Map<String, Json>, name: &str| EarningRuleRecord::of(body).points_member(name).cloned();
    if loyalty(body, "type").as_ref().and_then(Json::as_str) == Some("FIXED") {
        let stray = BLOCKS.iter().find(|block| loyalty(body, block).is_some_and(|block| !block.is_null()));
        let message = "must NOT be present where type is FIXED";
        return stray.map_or(Ok(()), |block| Err(Problem::at(format!("loyalty.{block}"), message)));
    }
    tagged_blocks::settle(body, CALCULATIONS)?;
    let event = EarningRuleRecord::of(body).event().unwrap_or_default();
    // Every event has a customer.
    let begin = match event {
        ORDER_PAID => "ORDER_",
        SEGMENT_ENTERED => OF_CUSTOMER,
        _ => "CUSTOM_EVENT_METADATA",
    };
    let kind = loyalty(body, "calculation_type").unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    if kind != OF_CUSTOMER && !kind.starts_with(begin) {
        let message = format!("must be about what there is with the event {}", shortened(event));
        return Err(Problem::bound("loyalty.calculation_type", &message, kind));
    }
    let lines = loyalty(body, "order_items").unwrap_or_default();
    for (name, block) in lines.as_object().into_iter().flatten() {
        let has = |field: &str| block.get(field).is_some_and(|value| !value.is_null());
        let place = format!("loyalty.order_items.{name}");
        let is_listed = block.get("applicable_to").and_then(Json::as_array).is_some_and(|goods| !goods.is_empty());
        match (has("object"), has("id")) {
            (true, false) => return Err(Problem::missing(&place, "id")),
            (false, true) => return Err(Problem::missing(&place, "object")),
            (false, false) if !is_listed => return Err(Problem::missing(&place, "applicable_to")),
            (true, true) | (false, false) => {}
        }
    }
    Ok(())
}
