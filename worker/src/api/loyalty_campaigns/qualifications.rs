//! Estimates the points that an order would earn a customer in a loyalty campaign. Nothing is stored.

use crate::documents::common_fields::CUSTOMER_OBJECT;
use crate::documents::shapes::campaign_earning_rules::ESTIMATE;
use crate::domain::campaigns::campaign::find_loyalty_campaign;
use crate::domain::clock::LocalTime;
use crate::domain::customers::customer;
use crate::domain::customers::customer::CUSTOMER;
use crate::domain::decisions::facts;
use crate::domain::earning::campaign_facts::{CampaignClosed, CampaignEarnings, JoinedCampaign, find_joined_campaign};
use crate::domain::loyalty_campaigns::tiers;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::{Nulls, must};
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::records::CustomerRecord;
use crate::store::sql::Fault;
use scrip::decide::earn::{EarningEvent, EarningRequest, GrantedContent, earn};
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
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let body = call.body(Nulls::Dropped)?;
    let block = |name: &str| body.get(name).and_then(Json::as_object).cloned().unwrap_or_default();
    let (known, customer) = read_sent_customer(call, &block("customer"))?;
    let order = read_sent_order(call, &block("order"))?;
    let earning_event = EarningEvent::OrderPaid(&order);
    let present = LocalTime::of(call)?;
    let facts = facts::facts(call)?;
    let known = known.as_ref().map(|known| known.id.as_str());
    let found = find_joined_campaign(call.store, &facts, &loyalty_campaign, known, earning_event, &present)?;
    facts.end()?;
    let now = present.now();
    if let Some(reason) = found.closed_reason(now.at, now.zone) {
        return Err(closed_error(reason, &found).into());
    }
    let points =
        estimate_points(call, &found, EarningRequest { customer: &customer, event: earning_event, key: None })?;
    let name = loyalty_campaign.as_campaign().name();
    Ok(Response::json(json!({
        "campaign": { "id": loyalty_campaign.id, "name": name, "object": "campaign" }, "points_estimation": points,
    })))
}

/// Returns the points of all rules, converted by the tier of the card.
fn estimate_points(call: &Call<'_, '_>, found: &JoinedCampaign, event: EarningRequest<'_>) -> Result<u64, Fault> {
    let present = LocalTime::of(call)?;
    let tier = match &found.card {
        Some(card) => tiers::find_current_tier(call.store, &present, &found.campaign, card)?,
        None => tiers::find_tier_of_next_card(call.store, &present, &found.campaign)?,
    };
    let facts = facts::facts(call)?;
    let stored = CampaignEarnings { joined: std::slice::from_ref(found), status: EarningStatus::New };
    let earnings = earn(&facts, &stored, event, call.context);
    facts.end()?;
    let mut sum: u64 = 0;
    for (_, rule, fired) in earnings.fired_rules() {
        for granted in fired.effects.iter().flatten() {
            let GrantedContent::Points(granted_points) = &granted.content else { continue };
            let points =
                tier.as_ref().map_or(granted_points.points, |tier| tier.earned(&rule.rule_id, granted_points.points));
            sum = sum.plus(points)?;
        }
    }
    Ok(sum)
}

/// Returns the stored customer with the sent fields; an unknown one has the profile that would be stored.
fn read_sent_customer(
    call: &mut Call<'_, '_>,
    sent: &Map<String, Json>,
) -> Result<(Option<Document>, Customer), CallError> {
    let known = find_by_sent_name(call, CUSTOMER.object, sent)?;
    let id = known.as_ref().map_or_else(|| customer::generate_id(call), |known| known.id.clone());
    let stored = known.as_ref().map(|known| known.body.clone());
    let mut body = stored.unwrap_or_else(|| customer::empty_body(&id, None, call.now_ms()));
    overlay_members(&mut body, sent);
    body.insert("id".into(), id.into());
    let read = read_fields(&body, read_customer).map_err(|problem| problem.within("customer"))?;
    Ok((known, read))
}

/// Returns the stored order with the sent fields; an unknown one is as it was sent.
fn read_sent_order(call: &Call<'_, '_>, sent: &Map<String, Json>) -> Result<Order, CallError> {
    let mut body = find_by_sent_name(call, "order", sent)?.map(|known| known.body).unwrap_or_default();
    overlay_members(&mut body, sent);
    Ok(read_fields(&body, read_order).map_err(|problem| problem.within("order"))?)
}

/// Finds the document of a kind by one of the sent names.
fn find_by_sent_name(call: &Call<'_, '_>, kind: &str, sent: &Map<String, Json>) -> Result<Option<Document>, Fault> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str).unwrap_or_default();
    match (text("source_id"), text("id")) {
        ("", "") if kind == CUSTOMER.object => customer::find_by_email(call, CustomerRecord::of(sent)),
        ("", "") => Ok(None),
        (key, id) => call.store.document_by_name(kind, if key.is_empty() { id } else { key }, id),
    }
}

/// Overlays a stored body with the sent fields; metadata is merged.
fn overlay_members(body: &mut Map<String, Json>, sent: &Map<String, Json>) {
    for (name, value) in sent {
        match (body.get_mut(name), value) {
            (Some(Json::Object(known)), Json::Object(more)) if name == "metadata" => known.extend(more.clone()),
            _ => drop(body.insert(name.clone(), value.clone())),
        }
    }
}

/// Returns the refusal of a campaign in which no customer earns.
fn closed_error(reason: CampaignClosed, found: &JoinedCampaign) -> ErrorBody {
    let id = &found.campaign.id;
    let code = found.card.as_ref().and_then(|card| card.as_voucher().code()).unwrap_or_default();
    let (key, message, details) = match reason {
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
