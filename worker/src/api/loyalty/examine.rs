//! What a customer would earn: a dry run of earning by what the caller supposes, of which nothing is stored. It must not know why a rule
//! fires.

use crate::document::choice::{self, Choice, choice};
use crate::document::part;
use crate::document::shapes::examination as shapes;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::Nulls;
use crate::shop::cards::Present;
use crate::shop::decision;
use crate::shop::earning_facts::{Asked, Memberships, StoredEarnings};
use crate::shop::earnings::find_tiers;
use crate::shop::lives::{CARD, EARNING_RULE, INCENTIVE, MEMBER, PROGRAM, named};
use crate::shop::members::{NamedBy, customer};
use crate::store::document::Document;
use scrip::decide::earn::{Earnings, Event, Gift, MemberEarnings, What, earn};
use scrip::model::order::{Metadata, Order};
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_fields;
use scrip::wire::order::read_order;
use serde_json::{Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[post(
    "/v2/loyalties/examine/earning-rules",
    "Find out what a customer would earn, without earning it",
    earning_rules,
)
.scope("loyalties")
.body(shapes::EXAMINE_EARNINGS)
.answers(200, shapes::EARNINGS)];

/// Which blocks of a request belong together.
const CHOICES: &[Choice] = &[
    choice("trigger", "type", &[("ALL", &[]), ("SPECIFIC", &["specific"])]),
    choice(
        "customer_identification",
        "type",
        &[
            ("customer_id", &["customer_id"]),
            ("customer_source_id", &["customer_source_id"]),
            ("member_id", &["member_id"]),
        ],
    ),
    choice("customer_custom_event", "type", &[("ALL", &[]), ("SPECIFIC", &["specific"])]),
];

/// What may happen, by its word, and the member that supposes how.
const EVENTS: [(&str, &str); 3] = [
    ("customer.order.paid", "customer_order_paid"),
    ("customer.segment.entered", "customer_segment_entered"),
    ("customer.custom_event", "customer_custom_event"),
];

fn text<'b>(body: &'b Json, [outer, inner]: [&str; 2]) -> Option<&'b str> {
    body.get(outer).and_then(|block| block.get(inner)).and_then(Json::as_str)
}

fn earning_rules(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    choice::settle(&mut body, CHOICES)?;
    let body = Json::Object(body);
    let by = text(&body, ["customer_identification", "type"]).and_then(NamedBy::find).unwrap_or(NamedBy::CustomerId);
    let name = text(&body, ["customer_identification", by.word()]).unwrap_or_default();
    let document = customer(call, by, name)?;
    let only = (by == NamedBy::MemberId).then_some(name);
    let event = body.get("trigger").and_then(|trigger| text(trigger, ["specific", "event"]));
    let mut estimate = Estimate::default();
    for (word, member) in EVENTS.into_iter().filter(|(word, _)| event.is_none_or(|event| event == *word)) {
        let supposed = body.get(member).cloned().unwrap_or_else(|| json!({}));
        for (of_member, earnings) in suppose(call, &document, only, (word, &supposed))? {
            estimate.add(&of_member, &earnings);
        }
    }
    let told = estimate.tell(call)?;
    let of = |name: &str| document.body.get(name).cloned().unwrap_or_default();
    let customer =
        json!({ "id": document.id, "source_id": document.key, "metadata": of("metadata"), "object": "customer" });
    let (rules, memberships) = told;
    Ok(Answer::json(json!({
        "event": event, "customer": customer, "earning_rules": rules, "memberships": memberships,
        "object": "earnings_examine_result",
    })))
}

/// What a customer would earn by one event, by membership.
fn suppose(
    call: &mut Call<'_, '_>,
    document: &Document,
    only: Option<&str>,
    (event, supposed): (&str, &Json),
) -> Result<Vec<(String, MemberEarnings)>, CallError> {
    let specific = supposed.get("specific");
    let block = specific.or_else(|| supposed.get("all")).unwrap_or(supposed);
    let data = |of: &str| block.get(of).and_then(|of| of.get("metadata")).and_then(Json::as_object);
    let mut body = document.body.clone();
    if let (Some(sent), Some(Json::Object(known))) = (data("customer"), body.get_mut("metadata")) {
        known.extend(sent.clone());
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
    let what = match event {
        "customer.order.paid" => What::OrderPaid(&order),
        "customer.segment.entered" => What::SegmentEntered(None),
        _ => What::CustomEvent { schema_id, metadata: &metadata },
    };
    let present = Present::of(call)?;
    let asked = Asked { customer_id: &document.id, event, only, metadata: data("member") };
    let mut of = Memberships::read(call.store, &asked)?;
    find_tiers(call, &present, &mut of)?;
    let facts = decision::facts(call)?;
    let stored = StoredEarnings::new(call.store, &facts, &present, &of);
    let Earnings { memberships, .. } =
        earn(&facts, &stored, Event { customer: &customer, what, occasion: None }, call.context);
    stored.end()?;
    facts.end()?;
    Ok(memberships.into_iter().map(|member| (member.member_id.to_string(), member)).collect())
}

/// Points of a card, or an incentive, with the rules that give it.
struct Share {
    id: String,
    points: u64,
    rules: Vec<(String, u64)>,
}

/// What is told of a membership.
struct Opportunity {
    member_id: String,
    cards: Vec<Share>,
    benefits: Vec<Share>,
}

/// What would be earned, in the order in which it would be.
#[derive(Default)]
struct Estimate {
    rules: Vec<String>,
    memberships: Vec<Opportunity>,
}

impl Estimate {
    fn add(&mut self, member_id: &str, earnings: &MemberEarnings) {
        let place = self.memberships.iter().position(|known| known.member_id == member_id);
        let place = place.unwrap_or_else(|| {
            let member_id = member_id.to_owned();
            self.memberships.push(Opportunity { member_id, cards: Vec::new(), benefits: Vec::new() });
            self.memberships.len().saturating_sub(1)
        });
        let Some(membership) = self.memberships.get_mut(place) else { return };
        for rule in &earnings.rules {
            let Some(firing) = rule.outcome.as_ref().ok().filter(|firing| firing.counts()) else { continue };
            let rule_id = rule.rule_id.as_str();
            if !self.rules.iter().any(|known| known == rule_id) {
                self.rules.push(rule_id.to_owned());
            }
            for granted in firing.effects.iter().flatten() {
                if let Gift::Points(given) = &granted.gift {
                    add(&mut membership.cards, &given.card_id, (rule_id, given.points));
                }
                if let Some(id) = &granted.incentive_id {
                    add(&mut membership.benefits, id, (rule_id, 0));
                }
            }
        }
    }

    fn tell(&self, call: &Call<'_, '_>) -> Result<(Vec<Json>, Vec<Json>), CallError> {
        let mut rules = Vec::new();
        for id in &self.rules {
            rules.extend(
                named(call.store, &EARNING_RULE, id)?.map(|rule| plain(&rule, &["id", "name", "metadata", "object"])),
            );
        }
        let mut memberships = Vec::new();
        for opportunity in &self.memberships {
            let member = named(call.store, &MEMBER, &opportunity.member_id)?;
            let member = member.ok_or_else(|| not_found(&MEMBER.resource_type(), &opportunity.member_id))?;
            let program = named(call.store, &PROGRAM, member.parent.as_deref().unwrap_or_default())?;
            let program = program.map(|program| plain(&program, &["id", "name", "metadata", "object"]));
            memberships.push(json!({
                "member": plain(&member, &["id", "customer_id", "program_id", "metadata", "object"]),
                "program": program, "cards": cards_of(call, opportunity)?, "benefits": benefits_of(call, opportunity)?,
                 "object": "member_earnings_opportunity",
            }));
        }
        Ok((rules, memberships))
    }
}

/// What a rule is named by.
fn rule_of(id: &str) -> Json {
    json!({ "id": id, "object": EARNING_RULE.object })
}

fn cards_of(call: &Call<'_, '_>, opportunity: &Opportunity) -> Result<Vec<Json>, CallError> {
    let mut cards = Vec::new();
    for share in &opportunity.cards {
        let card = named(call.store, &CARD, &share.id)?;
        let card = card.map(|card| plain(&card, &["id", "card_definition_id", "card_type", "code", "object"]));
        let told = |(id, points): &(String, u64)| json!({ "earning_rule": rule_of(id), "points_estimation": points, "object": "earning_rule_estimation" });
        let rules: Vec<Json> = share.rules.iter().map(told).collect();
        let points = share.points;
        cards.push(json!({
            "card": card, "points_estimation": points, "earning_rules": rules, "object": "card_estimation",
        }));
    }
    Ok(cards)
}

fn benefits_of(call: &Call<'_, '_>, opportunity: &Opportunity) -> Result<Vec<Json>, CallError> {
    let mut benefits = Vec::new();
    for share in &opportunity.benefits {
        let incentive = named(call.store, &INCENTIVE, &share.id)?;
        let of = |name: &str| incentive.as_ref().and_then(|incentive| incentive.body.get(name));
        let id = share.id.replacen("linc_", "lben_", 1);
        let benefit = json!({ "id": id, "name": of("name"), "type": of("type"), "object": "benefit" });
        let told =
            |(id, _): &(String, u64)| json!({ "earning_rule": rule_of(id), "object": "earning_rule_estimation" });
        let rules: Vec<Json> = share.rules.iter().map(told).collect();
        benefits.push(json!({ "benefit": benefit, "earning_rules": rules, "object": "benefit_estimation" }));
    }
    Ok(benefits)
}

/// Adds points of a rule to the share with an id, which is made where there is none.
fn add(shares: &mut Vec<Share>, id: &str, (rule_id, points): (&str, u64)) {
    if !shares.iter().any(|share| share.id == id) {
        shares.push(Share { id: id.to_owned(), points: 0, rules: Vec::new() });
    }
    let Some(share) = shares.iter_mut().find(|share| share.id == id) else { return };
    share.points = share.points.saturating_add(points);
    match share.rules.iter_mut().find(|(known, _)| known == rule_id) {
        Some((_, sum)) => *sum = sum.saturating_add(points),
        None => share.rules.push((rule_id.to_owned(), points)),
    }
}

/// The members of a document that are told.
fn plain(document: &Document, names: &[&str]) -> Json {
    Json::Object(part::every(&document.body, names))
}
