//! Estimates the earnings of a customer: a dry run of earning with the event that the caller supposes.
//! Nothing is stored.

use crate::documents::json_members;
use crate::documents::merge::merge;
use crate::documents::shapes::estimates as shapes;
use crate::documents::tagged_blocks::{self, TaggedBlock, tagged_block};
use crate::domain::clock::LocalTime;
use crate::domain::decisions::facts;
use crate::domain::earning::follow_up::load_tiers;
use crate::domain::earning::program_facts::{EarningQuery, Memberships, StoredEarnings};
use crate::domain::loyalty_members::member::{MemberName, find_customer};
use crate::domain::loyalty_programs::kinds::{CARD, EARNING_RULE, INCENTIVE, MEMBER, PROGRAM, find_by_id};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::Nulls;
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::earn::{EarningEvent, EarningRequest, Earnings, GrantedContent, MemberEarnings, earn};
use scrip::model::order::{Metadata, Order};
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_fields;
use scrip::wire::order::read_order;
use serde_json::{Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[post(
    "/v2/loyalties/examine/earning-rules",
    "Estimate earnings of a customer",
    earning_rules,
)
.describe(
    "estimateEarnings",
    "Runs the active earning rules of a customer's memberships against a supposed event and returns the points and incentives that the event would grant. Nothing is stored and no limit is used up. Metadata that is sent is merged over stored metadata for this call. An unknown customer or member is refused with `not_found`, an identification that does not match its type with `invalid_payload`.",
)
.returns("The earning rules that would apply, and for each membership the points by card and the benefits.")
.scope("loyalties")
.body(shapes::EXAMINE_EARNINGS)
.answers(200, shapes::EARNINGS)];

/// Blocks of a request that belong together.
const CHOICES: &[TaggedBlock] = &[
    tagged_block("trigger", "type", &[("ALL", &[]), ("SPECIFIC", &["specific"])]),
    tagged_block(
        "customer_identification",
        "type",
        &[
            ("customer_id", &["customer_id"]),
            ("customer_source_id", &["customer_source_id"]),
            ("member_id", &["member_id"]),
        ],
    ),
    tagged_block("customer_custom_event", "type", &[("ALL", &[]), ("SPECIFIC", &["specific"])]),
];

/// Types of supposed events, and the member that describes each.
const EVENTS: [(&str, &str); 3] = [
    ("customer.order.paid", "customer_order_paid"),
    ("customer.segment.entered", "customer_segment_entered"),
    ("customer.custom_event", "customer_custom_event"),
];

fn text<'b>(body: &'b Json, [outer, inner]: [&str; 2]) -> Option<&'b str> {
    body.get(outer).and_then(|block| block.get(inner)).and_then(Json::as_str)
}

fn earning_rules(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    tagged_blocks::check_blocks(&mut body, CHOICES)?;
    let body = Json::Object(body);
    let by =
        text(&body, ["customer_identification", "type"]).and_then(MemberName::find).unwrap_or(MemberName::CustomerId);
    let name = text(&body, ["customer_identification", by.name()]).unwrap_or_default();
    let document = find_customer(call, by, name)?;
    let only = (by == MemberName::MemberId).then_some(name);
    let event = body.get("trigger").and_then(|trigger| text(trigger, ["specific", "event"]));
    let mut estimate = EarningEstimate::default();
    for (name, member) in EVENTS.into_iter().filter(|(name, _)| event.is_none_or(|event| event == *name)) {
        let assumed = body.get(member).cloned().unwrap_or_else(|| json!({}));
        for (of_member, earnings) in estimate_event(call, &document, only, name, &assumed)? {
            estimate.add_earnings(&of_member, &earnings)?;
        }
    }
    let estimated = estimate.to_json(call)?;
    let customer = customer_json(&document);
    let (rules, memberships) = estimated;
    Ok(Response::json(json!({
        "event": event, "customer": customer, "earning_rules": rules, "memberships": memberships,
        "object": "earnings_examine_result",
    })))
}

/// Returns a customer as an estimate contains it: names, and metadata if present.
pub fn customer_json(customer: &Document) -> Json {
    let mut json = json_members::pick(&customer.body, &["metadata"]);
    json.insert("id".into(), customer.id.as_str().into());
    json.insert("source_id".into(), customer.key.clone().into());
    json.insert("object".into(), "customer".into());
    Json::Object(json)
}

/// Estimates the earnings of a customer by one event, by membership.
fn estimate_event(
    call: &mut Call<'_, '_>,
    document: &Document,
    only: Option<&str>,
    event: &str,
    assumed: &Json,
) -> Result<Vec<(String, MemberEarnings)>, CallError> {
    let specific = assumed.get("specific");
    let block = specific.or_else(|| assumed.get("all")).unwrap_or(assumed);
    let data = |object: &str| block.get(object).and_then(|object| object.get("metadata")).and_then(Json::as_object);
    let mut body = document.body.clone();
    if let Some(sent) = data("customer") {
        merge(&mut body, json_members::object_of("metadata", Json::Object(sent.clone())));
    }
    let customer = read_fields(&body, read_customer)?;
    let order = match block.get("order").and_then(Json::as_object) {
        Some(order) => read_fields(order, read_order).map_err(|problem| problem.within("customer_order_paid.order"))?,
        None => Order::default(),
    };
    let event_data = block.get("custom_event").and_then(Json::as_object);
    let metadata: Option<Metadata> =
        event_data.map(|event| read_fields(event, |at| at.option("metadata", read::metadata))).transpose()?.flatten();
    let metadata = metadata.unwrap_or_default();
    let schema_id = event_data.and_then(|event| event.get("schema_id")).and_then(Json::as_str);
    let earning_event = match event {
        "customer.order.paid" => EarningEvent::OrderPaid(&order),
        "customer.segment.entered" => EarningEvent::SegmentEntered(None),
        _ => EarningEvent::CustomEvent { schema_id, metadata: &metadata },
    };
    let present = LocalTime::of(call)?;
    let query =
        EarningQuery { customer_id: &document.id, event, only, metadata: data("member").map(Metadata::of_fields) };
    let mut memberships = Memberships::load(call.store, &query)?;
    load_tiers(call, &present, &mut memberships)?;
    let facts = facts::facts(call)?;
    let stored = StoredEarnings::new(call.store, &facts, &present, &memberships);
    let Earnings { memberships, .. } =
        earn(&facts, &stored, EarningRequest { customer: &customer, event: earning_event, key: None }, call.context);
    stored.finish()?;
    facts.end()?;
    Ok(memberships.into_iter().map(|member| (member.member_id.to_string(), member)).collect())
}

/// Points of a card, or an incentive, with the rules that grant it.
struct PointsEstimate {
    id: String,
    points: u64,
    rules: Vec<(String, u64)>,
}

/// Estimate for one membership.
struct MembershipEstimate {
    member_id: String,
    cards: Vec<PointsEstimate>,
    benefits: Vec<PointsEstimate>,
}

/// Estimated earnings, in the order of earning.
#[derive(Default)]
struct EarningEstimate {
    rules: Vec<String>,
    memberships: Vec<MembershipEstimate>,
}

impl EarningEstimate {
    fn add_earnings(&mut self, member_id: &str, earnings: &MemberEarnings) -> Result<(), Fault> {
        let index = self.memberships.iter().position(|known| known.member_id == member_id);
        let index = index.unwrap_or_else(|| {
            let member_id = member_id.to_owned();
            self.memberships.push(MembershipEstimate { member_id, cards: Vec::new(), benefits: Vec::new() });
            // Without a membership there is no other one.
            self.memberships.len().saturating_sub(1)
        });
        let Some(membership) = self.memberships.get_mut(index) else { return Ok(()) };
        for rule in &earnings.rules {
            let Some(fired) = rule.outcome.as_ref().ok().filter(|fired| fired.counts()) else { continue };
            let rule_id = rule.rule_id.as_str();
            if !self.rules.iter().any(|known| known == rule_id) {
                self.rules.push(rule_id.to_owned());
            }
            for granted in fired.effects.iter().flatten() {
                if let GrantedContent::Points(points) = &granted.content {
                    add_points(&mut membership.cards, &points.card_id, rule_id, points.points)?;
                }
                if let Some(id) = &granted.incentive_id {
                    add_points(&mut membership.benefits, id, rule_id, 0)?;
                }
            }
        }
        Ok(())
    }

    fn to_json(&self, call: &Call<'_, '_>) -> Result<(Vec<Json>, Vec<Json>), CallError> {
        let mut rules = Vec::new();
        for id in &self.rules {
            rules.extend(
                find_by_id(call.store, &EARNING_RULE, id)?
                    .map(|rule| pick(&rule, &["id", "name", "metadata", "object"])),
            );
        }
        let mut memberships = Vec::new();
        for estimate in &self.memberships {
            let member = find_by_id(call.store, &MEMBER, &estimate.member_id)?;
            let member = member.ok_or_else(|| not_found(&MEMBER.resource_type(), &estimate.member_id))?;
            let program = find_by_id(call.store, &PROGRAM, member.parent.as_deref().unwrap_or_default())?;
            let program = program.map(|program| pick(&program, &["id", "name", "metadata", "object"]));
            memberships.push(json!({
                "member": pick(&member, &["id", "customer_id", "program_id", "metadata", "object"]),
                "program": program, "cards": cards_json(call, estimate)?, "benefits": benefits_json(call, estimate)?,
                 "object": "member_earnings_opportunity",
            }));
        }
        Ok((rules, memberships))
    }
}

/// Returns the reference to a rule.
fn rule_reference(id: &str) -> Json {
    json!({ "id": id, "object": EARNING_RULE.object })
}

fn cards_json(call: &Call<'_, '_>, estimate: &MembershipEstimate) -> Result<Vec<Json>, CallError> {
    let mut cards = Vec::new();
    for card_estimate in &estimate.cards {
        let card = find_by_id(call.store, &CARD, &card_estimate.id)?;
        let card = card.map(|card| pick(&card, &["id", "card_definition_id", "card_type", "code", "object"]));
        let rules = card_estimate.rules.iter().map(|(id, points)| json!({ "earning_rule": rule_reference(id), "points_estimation": points, "object": "earning_rule_estimation" }));
        let rules: Vec<Json> = rules.collect();
        let points = card_estimate.points;
        cards.push(json!({
            "card": card, "points_estimation": points, "earning_rules": rules, "object": "card_estimation",
        }));
    }
    Ok(cards)
}

fn benefits_json(call: &Call<'_, '_>, estimate: &MembershipEstimate) -> Result<Vec<Json>, CallError> {
    let mut benefits = Vec::new();
    for benefit_estimate in &estimate.benefits {
        let incentive = find_by_id(call.store, &INCENTIVE, &benefit_estimate.id)?;
        let incentive_member = |name: &str| incentive.as_ref().and_then(|incentive| incentive.body.get(name));
        let id = benefit_estimate.id.replacen("linc_", "lben_", 1);
        let benefit = json!({ "id": id, "name": incentive_member("name"), "type": incentive_member("type"), "object": "benefit" });
        let rules = benefit_estimate.rules.iter().map(|(id, _)| rule_reference(id));
        let rules = rules.map(|rule| json!({ "earning_rule": rule, "object": "earning_rule_estimation" }));
        let rules: Vec<Json> = rules.collect();
        benefits.push(json!({ "benefit": benefit, "earning_rules": rules, "object": "benefit_estimation" }));
    }
    Ok(benefits)
}

/// Adds points of a rule to the estimate with an id, which is created if needed.
fn add_points(estimates: &mut Vec<PointsEstimate>, id: &str, rule_id: &str, points: u64) -> Result<(), Fault> {
    if !estimates.iter().any(|estimate| estimate.id == id) {
        estimates.push(PointsEstimate { id: id.to_owned(), points: 0, rules: Vec::new() });
    }
    let Some(estimate) = estimates.iter_mut().find(|estimate| estimate.id == id) else { return Ok(()) };
    estimate.points = estimate.points.plus(points)?;
    match estimate.rules.iter_mut().find(|(known, _)| known == rule_id) {
        Some((_, sum)) => *sum = sum.plus(points)?,
        None => estimate.rules.push((rule_id.to_owned(), points)),
    }
    Ok(())
}

/// Returns the members of a document that responses contain.
fn pick(document: &Document, names: &[&str]) -> Json {
    Json::Object(json_members::pick_or_null(&document.body, names))
}
