//! Estimates the rewards that a customer could buy with points, of all programs. Nothing is written.

use crate::api::loyalty_members::earning_estimate::customer_json;
use crate::api::loyalty_members::purchases::find_customer_of_member;
use crate::documents::json_members;
use crate::documents::merge::merge;
use crate::documents::shapes::purchases as shapes;
use crate::documents::tagged_blocks;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::card_checks::check_open;
use crate::domain::loyalty_members::member::{MemberName, find_customer};
use crate::domain::loyalty_programs::kinds::{MEMBER, PROGRAM, REWARD, find_by_id};
use crate::domain::loyalty_programs::requirements::list_assigned;
use crate::domain::point_spending::purchases::{RewardPurchaser, read_reward};
use crate::domain::point_spending::reward_stock;
use crate::domain::point_spending::spendable_cards::SpendableCards;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::Nulls;
use crate::store::document::Document;
use crate::store::documents::any_kind;
use scrip::count::Countable;
use scrip::decide::purchase::PurchaseRefusal;
use serde_json::{Map, Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] =
    &[post("/v2/loyalties/examine/rewards", "Estimate rewards of a customer", examine)
        .describe(
            "estimateRewards",
            "Returns the rewards that a customer could buy with points, by membership and card. Nothing is stored, and limits on spending and purchases are not checked. Programs and members that are not active are skipped, as are rewards that are unavailable, out of stock or without a matching cost. An unknown customer or member is refused with `not_found`, an identification that does not match its type with `invalid_payload`.",
        )
        .returns("The rewards, and for each card of each membership the cost and availability of each reward.")
        .scope("loyalties")
        .body(shapes::EXAMINE)
        .answers(200, shapes::EXAMINED)];

/// Returns the customer of the query, and the memberships to estimate.
fn find_members(call: &Call<'_, '_>, sent: &Map<String, Json>) -> Result<(Document, Vec<Document>), CallError> {
    let identification = sent.get("customer_identification").and_then(Json::as_object).cloned().unwrap_or_default();
    let text = |name: &str| identification.get(name).and_then(Json::as_str).unwrap_or_default();
    let by = MemberName::find(text("type")).unwrap_or(MemberName::CustomerId);
    let name = text(by.name());
    if by == MemberName::MemberId {
        let member = find_by_id(call.store, &MEMBER, name)?.ok_or_else(|| not_found(&MEMBER.resource_type(), name))?;
        return Ok((find_customer_of_member(call, &member)?, vec![member]));
    }
    let customer = find_customer(call, by, name)?;
    let members = any_kind::list_held(call.store, MEMBER.stored, &customer.id)?;
    Ok((customer, members))
}

/// Merges sent metadata into a document.
fn with_metadata(mut document: Document, sent: &Map<String, Json>, name: &str) -> Document {
    let data = sent.get(name).and_then(|sent| sent.get("metadata")).and_then(Json::as_object);
    if let Some(data) = data {
        merge(&mut document.body, json_members::object_of("metadata", Json::Object(data.clone())));
    }
    document
}

fn examine(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    tagged_blocks::check_blocks(&mut sent, shapes::EXAMINE_CHOICES)?;
    let (customer, members) = find_members(call, &sent)?;
    let customer = with_metadata(customer, &sent, "customer");
    let present = LocalTime::of(call)?;
    let (mut rewards, mut memberships) = (Vec::new(), Vec::new());
    for member in members {
        // A membership of a deleted program is left out.
        let Some(program) = find_by_id(call.store, &PROGRAM, member.parent.as_deref().unwrap_or_default())? else {
            continue;
        };
        match check_open(&program, &member, &present, "purchase reward") {
            Ok(()) => {}
            Err(CallError::Refused(_)) => continue,
            Err(CallError::Fault(fault)) => return Err(fault.into()),
        }
        let member = with_metadata(member, &sent, "member");
        let spendable = SpendableCards::of(call.store, &present, &member.id)?;
        let purchaser = RewardPurchaser { present: &present, member: &member, customer: &customer, spendable };
        memberships.push(member_estimate(call, &purchaser, &program, &mut rewards)?);
    }
    let rewards: Vec<Json> = rewards.iter().map(|reward: &Document| reward_json(reward)).collect();
    let json = json!({
        "customer": customer_json(&customer), "rewards": rewards, "memberships": memberships, "object": "rewards_examine_result",
    });
    Ok(Response::json(json))
}

/// Returns the rewards that a member could buy, by card; adds the rewards that the response contains.
fn member_estimate(
    call: &Call<'_, '_>,
    purchaser: &RewardPurchaser<'_>,
    program: &Document,
    rewards: &mut Vec<Document>,
) -> Result<Json, CallError> {
    let mut estimations: Vec<Vec<Json>> = purchaser.spendable.cards.iter().map(|_| Vec::new()).collect();
    for assigned in list_assigned(call.store, &REWARD, &program.id)? {
        let Some(row) = find_by_id(call.store, &REWARD, &assigned.id)? else { continue };
        let Some(stock) = reward_stock::find_of_reward(call.store, &program.id, &row.id)? else { continue };
        let Some((card, estimation)) = estimate(call, purchaser, &row, &stock)? else { continue };
        if let Some(estimations) = estimations.get_mut(card) {
            estimations.push(estimation);
        }
        if !rewards.iter().any(|known| known.id == row.id) {
            rewards.push(row);
        }
    }
    let cards: Vec<Json> =
        purchaser.spendable.cards.iter().zip(estimations).map(|(loaded, rewards)| card_json(loaded, rewards)).collect();
    let member = pick(purchaser.member, &["id", "customer_id", "program_id", "metadata", "object"]);
    let program = pick(program, &["id", "name", "metadata", "object"]);
    Ok(json!({ "member": member, "program": program, "cards": cards, "object": "member_rewards_opportunity" }))
}

/// Estimates a purchase of a reward and its card; `None` if no cost of it fits a card of the member, or if it is not available now.
fn estimate(
    call: &Call<'_, '_>,
    purchaser: &RewardPurchaser<'_>,
    row: &Document,
    stock: &reward_stock::Stock,
) -> Result<Option<(usize, Json)>, CallError> {
    let reason = |name: &str, details: Json| json!([{ "reason": name, "details": details, "object": "reward_unavailability_reason" }]);
    let (price, refusal) = purchaser.estimate(call, &read_reward(row)?, stock)?;
    let Some((card, points)) = price else { return Ok(None) };
    let refusal = match refusal {
        None => None,
        Some(PurchaseRefusal::Short { required, available }) => {
            let missing = required.remaining_after(available);
            let details = json!({ "required": required, "available": available, "missing": missing });
            Some(reason("insufficient_balance", details))
        }
        Some(PurchaseRefusal::NoTarget { card_definition_id }) => {
            Some(reason("no_target_card", json!({ "card_definition_id": card_definition_id.as_str() })))
        }
        Some(
            PurchaseRefusal::Inactive
            | PurchaseRefusal::OutOfTime
            | PurchaseRefusal::OutOfStock
            | PurchaseRefusal::NoCost
            | PurchaseRefusal::Unreadable
            | PurchaseRefusal::NoCard { .. },
        ) => return Ok(None),
    };
    let mut json = json!({
        "reward": { "id": row.id, "object": "reward" }, "status": if refusal.is_none() { "AVAILABLE" } else { "UNAVAILABLE" },
        "cost": { "points": points, "object": "reward_cost" }, "object": "reward_estimation",
    });
    if let (Some(json), Some(refusal)) = (json.as_object_mut(), refusal) {
        json.insert("unavailability_reasons".into(), refusal);
    }
    Ok(Some((card, json)))
}

fn pick(document: &Document, names: &[&str]) -> Json {
    Json::Object(json_members::pick(&document.body, names))
}

fn reward_json(reward: &Document) -> Json {
    pick(reward, &["id", "name", "type", "metadata", "purchase_limits", "object"])
}

fn card_json(loaded: &LoadedCard, rewards: Vec<Json>) -> Json {
    let card = pick(&loaded.row, &["id", "card_definition_id", "card_type", "code", "object"]);
    json!({ "card": card, "rewards": rewards, "object": "card_estimation" })
}
