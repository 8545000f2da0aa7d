//! Earning rules of loyalty campaigns: created several at once, read, listed, changed, switched and deleted. It must not know who earns
//! what, nor whether a validation rule holds.

use crate::api::loyalty::checks::check_formula;
use crate::document::choice;
use crate::document::clause::Clause;
use crate::document::fields::{LIMIT, PAGE};
use crate::document::merge;
use crate::document::shapes::program_rules::{CALCULATIONS, CHANGES, CREATE, PROGRAM_RULE as SHAPE, TYPES};
use crate::document::shapes::{EMPTY, TOTAL};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{self, Kind, Nulls, may};
use crate::moment;
use crate::shop::campaigns::find_program;
use crate::shop::event_schemas::{self, SCHEMA};
use crate::shop::program_rules::{PROGRAM_RULE, find, show_with};
use crate::shop::validation_rules::RULE;
use crate::shop::{assignments, metadata_schemas, voucher_grant};
use crate::store::document::Document;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

/// Rules that one request may create.
const RULES_MAX: usize = 100;

const ORDER_PAID: &str = "order.paid";
const SEGMENT_ENTERED: &str = "customer.segment.entered";
/// The tier of a campaign is what its points say at a moment: nothing happens when it becomes another.
const OF_TIERS: &str = "customer.loyalty.tier.";

/// The blocks of what is proportional, which fixed points do not have.
const BLOCKS: [&str; 4] = ["order", "order_items", "customer", "custom_event"];

const ALL: &str = "/v1/loyalties/{campaignId}/earning-rules";
const ONE: &str = "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}";

const fn ours(route: Route) -> Route {
    route.of(&PROGRAM_RULE).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List the earning rules of a loyalty campaign", list)).listed(TOTAL).query(&[
        LIMIT,
        PAGE,
        may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"])),
    ]),
    ours(post(ALL, "Create earning rules of a loyalty campaign", create))
        .many(CREATE)
        .answers(200, Kind::List(&SHAPE, 0, RULES_MAX)),
    ours(get(ONE, "Get an earning rule of a loyalty campaign", get_one)),
    ours(put(ONE, "Update an earning rule of a loyalty campaign", update)).body(CHANGES),
    ours(delete(ONE, "Delete an earning rule of a loyalty campaign", remove)).answers(204, EMPTY),
    ours(post(
        "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}/enable",
        "Enable an earning rule of a loyalty campaign",
        enable,
    )),
    ours(post(
        "/v1/loyalties/{campaignId}/earning-rules/{earningRuleId}/disable",
        "Disable an earning rule of a loyalty campaign",
        disable,
    )),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    let mut clause = Clause::of_kind(PROGRAM_RULE.object);
    clause.and("parent = {}", program.id);
    let page = PROGRAM_RULE.list.select(call.store, &call.query, clause)?;
    let shown = (PROGRAM_RULE.show)(call, page.documents)?;
    Ok(Answer::json(Json::Object(PROGRAM_RULE.list.envelope(shown, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let rule = find(call)?;
    Ok(Answer::json(PROGRAM_RULE.show_one(call, rule)?))
}

/// All the rules of a body, or none.
fn create(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    let sent = call.sources()?;
    if sent.is_empty() || sent.len() > RULES_MAX {
        let told = format!("must have 1 to {RULES_MAX} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", told).into());
    }
    let mut made = Vec::new();
    for (place, one) in sent.into_iter().enumerate() {
        let place = format!("[{place}]");
        let mut body = shape::read(CREATE, one, Nulls::Dropped).map_err(|problem| problem.within(&place))?;
        settle_event(call, &mut body, &place)?;
        made.push(make(call, &program, body, &place)?);
    }
    Ok(Answer::json(Json::Array(made)))
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
        "source": {}, "created_at": moment::text(call.now_ms()), "updated_at": null, "object": PROGRAM_RULE.object,
    });
    merge::fill(&mut body, &defaults);
    settle(&mut body, &program.id).map_err(|problem| problem.within(place))?;
    metadata_schemas::check(call.store, &[(PROGRAM_RULE.object, body.get("metadata"))])?;
    let mut document = Document::new(id, None, call.now_ms(), body);
    document.parent = Some(program.id.clone());
    call.store.insert(PROGRAM_RULE.object, &document);
    assignments::assign(call, rule.clone(), &document.id, PROGRAM_RULE.object);
    Ok(show_with(document, rule.into_iter().next().into()))
}

/// A null clears what may be left out.
fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = find(call)?;
    let rule = take_rule(call, &mut sent)?;
    let has_metadata = sent.contains_key("metadata");
    sent.retain(|name, value| !value.is_null() || !["loyalty", "active"].contains(&name.as_str()));
    // The official client changes how many points there are without saying again of what kind they are.
    let kind = document.body.get("loyalty").and_then(|points| points.get("type")).cloned();
    if let (Some(points), Some(kind)) = (sent.get_mut("loyalty").and_then(Json::as_object_mut), kind) {
        points.entry("type").or_insert(kind);
    }
    merge::merge(&mut document.body, sent);
    let program_id = document.parent.clone().unwrap_or_default();
    document.body.retain(|name, value| !value.is_null() || name == "updated_at");
    settle(&mut document.body, &program_id)?;
    if has_metadata {
        metadata_schemas::check(call.store, &[(PROGRAM_RULE.object, document.body.get("metadata"))])?;
    }
    call.touch(&mut document);
    call.store.update(PROGRAM_RULE.object, &document);
    let Some(rules) = rule else { return Ok(Answer::json(PROGRAM_RULE.show_one(call, document)?)) };
    let first = rules.first().cloned();
    assignments::replace(call, rules, &document.id, PROGRAM_RULE.object)?;
    Ok(Answer::json(show_with(document, first.into())))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let rule = find(call)?;
    assignments::detach(call, &rule.id);
    call.store.remove(PROGRAM_RULE.object, &rule.id);
    Ok(Answer::empty(204))
}

fn enable(call: &mut Call<'_, '_>) -> Outcome {
    switch(call, true)
}

fn disable(call: &mut Call<'_, '_>) -> Outcome {
    switch(call, false)
}

fn switch(call: &mut Call<'_, '_>, active: bool) -> Outcome {
    let mut rule = find(call)?;
    rule.body.insert("active".into(), active.into());
    call.touch(&mut rule);
    call.store.update(PROGRAM_RULE.object, &rule);
    Ok(Answer::json(PROGRAM_RULE.show_one(call, rule)?))
}

/// Takes the validation rule out of a body, which must exist; nothing where the body says nothing of it.
fn take_rule(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<Option<Vec<String>>, CallError> {
    let Some(named) = body.remove("validation_rule_id") else { return Ok(None) };
    let Some(id) = named.as_str() else { return Ok(Some(Vec::new())) };
    match call.store.document(RULE.object, id)? {
        Some(rule) => Ok(Some(vec![rule.id])),
        None => Err(not_found(RULE.object, id).into()),
    }
}

/// Finds what a rule waits for, and refuses what belongs to something else.
fn settle_event(call: &Call<'_, '_>, body: &mut Map<String, Json>, place: &str) -> Result<(), CallError> {
    let schema_id = body.get("custom_event").and_then(|event| event.get("schema_id")).and_then(Json::as_str);
    let event = match (body.get("event").and_then(Json::as_str), schema_id) {
        (None, None) => return Err(Problem::missing(place, "event").into()),
        (None, Some(id)) => schema_named(call, id)?.key.unwrap_or_default(),
        (Some(event), _) => event.to_owned(),
    };
    if event.starts_with(OF_TIERS) {
        let told = format!(
            "must NOT be about tiers: nobody is told of those of a loyalty campaign (actual value is `{event}`)"
        );
        return Err(Problem::at(format!("{place}.event"), told).into());
    }
    for (block, of) in [("segment", event == SEGMENT_ENTERED), ("custom_event", is_custom(&event))] {
        if body.contains_key(block) && !of {
            let told = format!("must NOT be present where the event is {}", shortened(&event));
            return Err(Problem::at(format!("{place}.{block}"), told).into());
        }
    }
    if event == SEGMENT_ENTERED {
        let id = body.get("segment").and_then(|segment| segment.get("id")).and_then(Json::as_str);
        let id = id.ok_or_else(|| Problem::missing(place, "segment"))?;
        call.store.document("segment", id)?.ok_or_else(|| not_found("segment", id))?;
    } else if is_custom(&event) {
        let schema = match schema_id {
            Some(id) => schema_named(call, id)?,
            None => event_schemas::of_event(call, &event)?,
        };
        if schema.key.as_deref() != Some(&event) {
            let told = "must be the schema of the event";
            return Err(Problem::bound(format!("{place}.custom_event.schema_id"), told, &schema.id).into());
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

/// Holds the parts of a rule against one another.
fn settle(body: &mut Map<String, Json>, campaign_id: &str) -> Result<(), Problem> {
    voucher_grant::check_validity(body)?;
    voucher_grant::settle_dates(body);
    voucher_grant::check_expiration(body, "")?;
    let event = body.get("event").and_then(Json::as_str).unwrap_or_default();
    if event != ORDER_PAID && body.contains_key("pending_points") {
        let told = format!("must NOT be present where the event is {}", shortened(event));
        return Err(Problem::at("pending_points", told));
    }
    if !body.contains_key("loyalty") {
        return Err(Problem::missing("", "loyalty"));
    }
    choice::settle(body, TYPES)?;
    settle_points(body)?;
    body.get("loyalty").map_or(Ok(()), |points| check_formulas(points, "loyalty"))?;
    let source = body.entry("source").or_insert_with(|| json!({}));
    if let Some(source) = source.as_object_mut() {
        source.retain(|_, value| !value.is_null());
        source.insert("object_id".into(), campaign_id.into());
        source.insert("object_type".into(), "campaign".into());
    }
    Ok(())
}

/// Every formula is one, and one that asks for nothing comes to a number.
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

/// What is proportional is so to something that there is when the event happens.
fn settle_points(body: &mut Map<String, Json>) -> Result<(), Problem> {
    let loyalty =
        |body: &Map<String, Json>, name: &str| body.get("loyalty").and_then(|points| points.get(name)).cloned();
    if loyalty(body, "type").as_ref().and_then(Json::as_str) == Some("FIXED") {
        let stray = BLOCKS.iter().find(|block| loyalty(body, block).is_some_and(|block| !block.is_null()));
        let told = "must NOT be present where type is FIXED";
        return stray.map_or(Ok(()), |block| Err(Problem::at(format!("loyalty.{block}"), told)));
    }
    choice::settle(body, CALCULATIONS)?;
    let event = body.get("event").and_then(Json::as_str).unwrap_or_default();
    let begin = match event {
        ORDER_PAID => "ORDER_",
        SEGMENT_ENTERED => "CUSTOMER_METADATA",
        _ => "CUSTOM_EVENT_METADATA",
    };
    let kind = loyalty(body, "calculation_type").unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    if !kind.starts_with(begin) {
        let told = format!("must be about what there is with the event {}", shortened(event));
        return Err(Problem::bound("loyalty.calculation_type", &told, kind));
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
