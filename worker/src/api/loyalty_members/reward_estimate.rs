//! Estimates the rewards that a customer could buy with points, of all programs. Nothing is written.

use crate::api::loyalty_members::earning_estimate::examined;
use crate::api::loyalty_members::purchases::customer_of;
use crate::documents::json_members;
use crate::documents::merge::merge;
use crate::documents::shapes::purchases as shapes;
use crate::documents::tagged_blocks;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::card_checks::check_open;
use crate::domain::loyalty_members::member::{MemberName, customer};
use crate::domain::loyalty_programs::kinds::{MEMBER, PROGRAM, REWARD, named};
use crate::domain::loyalty_programs::requirements::assigned_as;
use crate::domain::point_spending::purchases::{Counter, read_reward};
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
fn client_context(call: &Call<'_, '_>, sent: &Map<String, Json>) -> Result<(Document, Vec<Document>), CallError> {
    let named_by = sent.get("customer_identification").and_then(Json::as_object).cloned().unwrap_or_default();
    let text = |name: &str| named_by.get(name).and_then(Json::as_str).unwrap_or_default();
    let by = MemberName::find(text("type")).unwrap_or(MemberName::CustomerId);
    let name = text(by.word());
    if by == MemberName::MemberId {
        let member = named(call.store, &MEMBER, name)?.ok_or_else(|| not_found(&MEMBER.resource_type(), name))?;
        return Ok((customer_of(call, &member)?, vec![member]));
    }
    let customer = customer(call, by, name)?;
    let members = any_kind::list_held(call.store, MEMBER.stored, &customer.id)?;
    Ok((customer, members))
}

/// Merges sent metadata into a document.
fn changed(mut document: Document, sent: &Map<String, Json>, name: &str) -> Document {
    let data = sent.get(name).and_then(|sent| sent.get("metadata")).and_then(Json::as_object);
    if let Some(data) = data {
        merge(&mut document.body, json_members::object_of("metadata", Json::Object(data.clone())));
    }
    document
}

fn examine(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    tagged_blocks::check_blocks(&mut sent, shapes::EXAMINE_CHOICES)?;
    let (customer, members) = client_context(call, &sent)?;
    let customer = changed(customer, &sent, "customer");
    let present = LocalTime::of(call)?;
    let (mut rewards, mut memberships) = (Vec::new(), Vec::new());
    for member in members {
        // A membership of a deleted program is left out.
        let Some(program) = named(call.store, &PROGRAM, member.parent.as_deref().unwrap_or_default())? else {
            continue;
        };
        match check_open(&program, &member, &present, "purchase reward") {
            Ok(()) => {}
            Err(CallError::Refused(_)) => continue,
            Err(CallError::Fault(fault)) => return Err(fault.into()),
        }
        let member = changed(member, &sent, "member");
        let wallet = SpendableCards::of(call.store, &present, &member.id)?;
        let counter = Counter { present: &present, member: &member, customer: &customer, wallet };
        memberships.push(opportunity(call, &counter, &program, &mut rewards)?);
    }
    let rewards: Vec<Json> = rewards.iter().map(|reward: &Document| reward_of(reward)).collect();
    let shown = json!({
        "customer": examined(&customer), "rewards": rewards, "memberships": memberships, "object": "rewards_examine_result",
    });
    Ok(Response::json(shown))
}

/// Returns the rewards that a member could buy, by card; adds the rewards that the response contains.
fn opportunity(
    call: &Call<'_, '_>,
    counter: &Counter<'_>,
    program: &Document,
    rewards: &mut Vec<Document>,
) -> Result<Json, CallError> {
    let mut estimations: Vec<Vec<Json>> = counter.wallet.cards.iter().map(|_| Vec::new()).collect();
    for assigned in assigned_as(call.store, &REWARD, &program.id)? {
        let Some(row) = named(call.store, &REWARD, &assigned.id)? else { continue };
        let Some(stock) = reward_stock::find(call.store, &program.id, &row.id)? else { continue };
        let Some((card, estimation)) = estimate(call, counter, &row, &stock)? else { continue };
        if let Some(estimations) = estimations.get_mut(card) {
            estimations.push(estimation);
        }
        if !rewards.iter().any(|known| known.id == row.id) {
            rewards.push(row);
        }
    }
    let cards: Vec<Json> =
        counter.wallet.cards.iter().zip(estimations).map(|(held, rewards)| card(held, rewards)).collect();
    let member = plain(counter.member, &["id", "customer_id", "program_id", "metadata", "object"]);
    let program = plain(program, &["id", "name", "metadata", "object"]);
    Ok(json!({ "member": member, "program": program, "cards": cards, "object": "member_rewards_opportunity" }))
}

/// Estimates a purchase of a reward and its card; `None` if no cost of it fits a card of the member, or if it is not available now.
fn estimate(
    call: &Call<'_, '_>,
    counter: &Counter<'_>,
    row: &Document,
    stock: &reward_stock::Stock,
) -> Result<Option<(usize, Json)>, CallError> {
    let reason = |word: &str, details: Json| json!([{ "reason": word, "details": details, "object": "reward_unavailability_reason" }]);
    let (asked, why) = counter.estimate(call, &read_reward(row)?, stock)?;
    let Some((card, points)) = asked else { return Ok(None) };
    let why = match why {
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
    let mut shown = json!({
        "reward": { "id": row.id, "object": "reward" }, "status": if why.is_none() { "AVAILABLE" } else { "UNAVAILABLE" },
        "cost": { "points": points, "object": "reward_cost" }, "object": "reward_estimation",
    });
    if let (Some(shown), Some(why)) = (shown.as_object_mut(), why) {
        shown.insert("unavailability_reasons".into(), why);
    }
    Ok(Some((card, shown)))
}

fn plain(document: &Document, names: &[&str]) -> Json {
    Json::Object(json_members::pick(&document.body, names))
}

fn reward_of(reward: &Document) -> Json {
    plain(reward, &["id", "name", "type", "metadata", "purchase_limits", "object"])
}

fn card(held: &LoadedCard, rewards: Vec<Json>) -> Json {
    let card = plain(&held.row, &["id", "card_definition_id", "card_type", "code", "object"]);
    json!({ "card": card, "rewards": rewards, "object": "card_estimation" })
}
