//! Estimates the points that an order would earn a customer in a loyalty campaign. Nothing is stored.

use crate::documents::common_fields::CUSTOMER_OBJECT;
use crate::documents::shapes::campaign_earning_rules::ESTIMATE;
use crate::domain::campaigns::campaign::find_program;
use crate::domain::clock::LocalTime;
use crate::domain::customers::customer;
use crate::domain::customers::customer::CUSTOMER;
use crate::domain::decisions::facts;
use crate::domain::earning::campaign_facts::{CampaignClosed, JoinedCampaign, ProgramEarnings, joined_to};
use crate::domain::loyalty_campaigns::tiers;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::{Nulls, must};
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::records::CustomerRecord;
use crate::store::sql::Fault;
use scrip::decide::earn::{EarningEvent, Event, GrantedGift, earn};
use scrip::facts::earning::EarningStatus;
use scrip::model::customer::Customer;
use scrip::model::order::Order;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_fields;
use scrip::wire::order::{ORDER, read_order};
use serde_json::{Map, Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[post(
    "/v1/loyalties/{campaignId}/qualifications",
    "Estimate the points for an order in a loyalty campaign",
    estimate,
)
.describe(
    "estimateLoyaltyCampaignPoints",
    "Returns the number of points that a customer would earn if the order were paid now, without any effect. Stored data of the customer and the order are used, with the sent data on top; the tier of the card counts, or of the card that a new member would get. An inactive campaign is refused with `campaign_not_active`, a customer without a card with `campaign_not_allow_auto_join` unless the campaign allows joining.",
)
.returns("The campaign, and the estimated number of points.")
.scope("loyalties")
.body(&[
    must("customer", CUSTOMER_OBJECT)
        .description("Customer who would earn the points. An unknown customer is treated as new and is not stored."),
    must("order", ORDER)
        .description("Order that would be paid. The fields that are sent replace those of a stored order."),
])
.answers(200, ESTIMATE)];

fn estimate(call: &mut Call<'_, '_>) -> HandlerResult {
    let program = find_program(call)?;
    let body = call.body(Nulls::Dropped)?;
    let block = |name: &str| body.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
    let (known, customer) = customer(call, &block("customer"))?;
    let order = order(call, &block("order"))?;
    let what = EarningEvent::OrderPaid(&order);
    let present = LocalTime::of(call)?;
    let facts = facts::facts(call)?;
    let known = known.as_ref().map(|known| known.id.as_str());
    let found = joined_to(call.store, &facts, &program, known, what, &present)?;
    facts.end()?;
    let now = present.now();
    if let Some(why) = found.closed(now.at, now.zone) {
        return Err(refused(why, &found).into());
    }
    let points = points(call, &found, Event { customer: &customer, what, occasion: None })?;
    let name = program.as_campaign().name();
    Ok(Response::json(json!({
        "campaign": { "id": program.id, "name": name, "object": "campaign" }, "points_estimation": points,
    })))
}

/// Returns the points of all rules, converted by the tier of the card.
fn points(call: &Call<'_, '_>, found: &JoinedCampaign, event: Event<'_>) -> Result<u64, Fault> {
    let present = LocalTime::of(call)?;
    let tier = match &found.card {
        Some(card) => tiers::of_card(call.store, &present, &found.campaign, card)?,
        None => tiers::of_next_card(call.store, &present, &found.campaign)?,
    };
    let facts = facts::facts(call)?;
    let stored = ProgramEarnings { joined: std::slice::from_ref(found), standing: EarningStatus::New };
    let earnings = earn(&facts, &stored, event, call.context);
    facts.end()?;
    let mut sum: u64 = 0;
    for (_, rule, firing) in earnings.firings() {
        for granted in firing.effects.iter().flatten() {
            let GrantedGift::Points(given) = &granted.gift else { continue };
            let points = tier.as_ref().map_or(given.points, |tier| tier.earned(&rule.rule_id, given.points));
            sum = sum.plus(points)?;
        }
    }
    Ok(sum)
}

/// Returns the stored customer with the sent fields; an unknown one has the profile that would be stored.
fn customer(call: &mut Call<'_, '_>, sent: &Map<String, Json>) -> Result<(Option<Document>, Customer), CallError> {
    let known = known(call, CUSTOMER.object, sent)?;
    let id = known.as_ref().map_or_else(|| customer::next_id(call), |known| known.id.clone());
    let stored = known.as_ref().map(|known| known.body.clone());
    let mut body = stored.unwrap_or_else(|| customer::template(&id, None, call.now_ms()));
    overlay(&mut body, sent);
    body.insert("id".into(), id.into());
    let read = read_fields(&body, read_customer).map_err(|problem| problem.within("customer"))?;
    Ok((known, read))
}

/// Returns the stored order with the sent fields; an unknown one is as it was sent.
fn order(call: &Call<'_, '_>, sent: &Map<String, Json>) -> Result<Order, CallError> {
    let mut body = known(call, "order", sent)?.map(|known| known.body).unwrap_or_default();
    overlay(&mut body, sent);
    Ok(read_fields(&body, read_order).map_err(|problem| problem.within("order"))?)
}

/// Finds the document of a kind by one of the sent names.
fn known(call: &Call<'_, '_>, kind: &str, sent: &Map<String, Json>) -> Result<Option<Document>, Fault> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str).unwrap_or_default();
    match (text("source_id"), text("id")) {
        ("", "") if kind == CUSTOMER.object => customer::find_by_email(call, CustomerRecord::of(sent)),
        ("", "") => Ok(None),
        (key, id) => call.store.document_by_name(kind, if key.is_empty() { id } else { key }, id),
    }
}

/// Overlays a stored body with the sent fields; metadata is merged.
fn overlay(body: &mut Map<String, Json>, sent: &Map<String, Json>) {
    for (name, value) in sent {
        match (body.get_mut(name), value) {
            (Some(Json::Object(known)), Json::Object(more)) if name == "metadata" => known.extend(more.clone()),
            _ => drop(body.insert(name.clone(), value.clone())),
        }
    }
}

/// Returns the refusal of a campaign in which no customer earns.
fn refused(why: CampaignClosed, found: &JoinedCampaign) -> ErrorBody {
    let id = &found.campaign.id;
    let code = found.card.as_ref().and_then(|card| card.as_voucher().code()).unwrap_or_default();
    let (key, message, details) = match why {
        CampaignClosed::Campaign => {
            ("campaign_not_active", "Campaign is not active", format!("Loyalty campaign '{id}' is not active"))
        }
        CampaignClosed::Card => (
            "loyalty_card_not_active",
            "Loyalty card is not active",
            format!("Customer's loyalty card '{code}' is not active"),
        ),
        CampaignClosed::NoMember => (
            "campaign_not_allow_auto_join",
            "Campaign does not allow auto-join",
            format!("Loyalty campaign '{id}' does not allow auto-join for non-members"),
        ),
    };
    error(400, key, message, details)
}
