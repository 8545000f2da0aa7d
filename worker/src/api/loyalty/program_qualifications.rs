//! How many points a customer would earn in a loyalty campaign by an order, without earning them. It must not know why a rule fires.

use crate::document::fields::BUYER;
use crate::document::shapes::program_rules::ESTIMATE;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::{Nulls, must};
use crate::shop::campaigns::find_program;
use crate::shop::cards::Present;
use crate::shop::customers::CUSTOMER;
use crate::shop::program_earning_facts::{Closed, Joined, ProgramEarnings, joined_to};
use crate::shop::{decision, program_tiers, zone};
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::earn::{Event, Gift, What, earn};
use scrip::facts::earning::Standing;
use scrip::model::customer::Customer;
use scrip::model::order::Order;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_fields;
use scrip::wire::order::{ORDER, read_order};
use serde_json::{Map, Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[post(
    "/v1/loyalties/{campaignId}/qualifications",
    "Find out how many points an order would bring in a loyalty campaign",
    estimate,
)
.scope("loyalties")
.body(&[must("customer", BUYER), must("order", ORDER)])
.answers(200, ESTIMATE)];

fn estimate(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    let body = call.body(Nulls::Dropped)?;
    let block = |name: &str| body.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
    let (known, customer) = customer(call, &block("customer"))?;
    let order = order(call, &block("order"))?;
    let what = What::OrderPaid(&order);
    let at = (call.context.now, zone::of(call)?);
    let facts = decision::facts(call)?;
    let known = known.as_ref().map(|known| known.id.as_str());
    let found = joined_to(call.store, &facts, &program, (known, what), (at.0, &at.1))?;
    facts.end()?;
    if let Some(why) = found.closed(at.0, &at.1) {
        return Err(refused(why, &found).into());
    }
    let points = points(call, &found, Event { customer: &customer, what, occasion: None })?;
    let name = program.body.get("name").cloned().unwrap_or_default();
    Ok(Answer::json(json!({
        "campaign": { "id": program.id, "name": name, "object": "campaign" }, "points_estimation": points,
    })))
}

/// What all rules would bring, as the tier of the card makes it.
fn points(call: &Call<'_, '_>, found: &Joined, event: Event<'_>) -> Result<u64, Fault> {
    let tier = match &found.card {
        Some(card) => program_tiers::of_card(call.store, &Present::of(call)?, (&found.campaign, card))?,
        None => None,
    };
    let facts = decision::facts(call)?;
    let stored = ProgramEarnings { joined: std::slice::from_ref(found), standing: Standing::New };
    let earnings = earn(&facts, &stored, event, call.context);
    facts.end()?;
    let mut sum: u64 = 0;
    for (_, rule, firing) in earnings.firings() {
        for granted in firing.effects.iter().flatten() {
            let Gift::Points(given) = &granted.gift else { continue };
            let points = tier.as_ref().map_or(given.points, |tier| tier.earned(&rule.rule_id, given.points));
            sum = sum.saturating_add(points);
        }
    }
    Ok(sum)
}

/// The customer who is stored, with what was sent of them; somebody unknown is as they were sent.
fn customer(call: &mut Call<'_, '_>, sent: &Map<String, Json>) -> Result<(Option<Document>, Customer), CallError> {
    let known = known(call, CUSTOMER.object, sent)?;
    let mut body = known.as_ref().map(|known| known.body.clone()).unwrap_or_default();
    overlay(&mut body, sent);
    if known.is_none() {
        // Somebody who would be stored by then.
        body.insert("id".into(), call.ids.alphanumeric("cust_", 24).as_str().into());
    }
    let read = read_fields(&body, read_customer).map_err(|problem| problem.within("customer"))?;
    Ok((known, read))
}

/// The order that is stored, with what was sent of it; one that is not is as it was sent.
fn order(call: &Call<'_, '_>, sent: &Map<String, Json>) -> Result<Order, CallError> {
    let mut body = known(call, "order", sent)?.map(|known| known.body).unwrap_or_default();
    overlay(&mut body, sent);
    Ok(read_fields(&body, read_order).map_err(|problem| problem.within("order"))?)
}

/// What is stored of a kind under one of the names that were sent.
fn known(call: &Call<'_, '_>, kind: &str, sent: &Map<String, Json>) -> Result<Option<Document>, Fault> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str).unwrap_or_default();
    match (text("source_id"), text("id")) {
        ("", "") => Ok(None),
        (key, id) => call.store.document_by_name(kind, if key.is_empty() { id } else { key }, id),
    }
}

/// What was sent, over what is known; custom data are added to.
fn overlay(body: &mut Map<String, Json>, sent: &Map<String, Json>) {
    for (name, value) in sent {
        match (body.get_mut(name), value) {
            (Some(Json::Object(known)), Json::Object(more)) if name == "metadata" => known.extend(more.clone()),
            _ => drop(body.insert(name.clone(), value.clone())),
        }
    }
}

/// Why nobody earns there.
fn refused(why: Closed, found: &Joined) -> ErrorBody {
    let id = &found.campaign.id;
    let code = found.card.as_ref().and_then(|card| card.body.get("code")).and_then(Json::as_str).unwrap_or_default();
    let (key, message, told) = match why {
        Closed::Campaign => {
            ("campaign_not_active", "Campaign is not active", format!("Loyalty campaign '{id}' is not active"))
        }
        Closed::Card => (
            "loyalty_card_not_active",
            "Loyalty card is not active",
            format!("Customer's loyalty card '{code}' is not active"),
        ),
        Closed::NoMember => (
            "campaign_not_allow_auto_join",
            "Campaign does not allow auto-join",
            format!("Loyalty campaign '{id}' does not allow auto-join for non-members"),
        ),
    };
    error(400, key, message, told)
}
