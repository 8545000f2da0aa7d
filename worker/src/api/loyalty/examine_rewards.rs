//! What a customer could buy with points, of all rewards of all programs. It must not know what a purchase moves: nothing is written.

use crate::api::loyalty::reward_purchases::customer_of;
use crate::document::choice;
use crate::document::merge::merge;
use crate::document::part;
use crate::document::shapes::purchases as shapes;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::Nulls;
use crate::shop::card_checks::check_open;
use crate::shop::cards::{Held, Present};
use crate::shop::hindrance::assigned_as;
use crate::shop::lives::{MEMBER, PROGRAM, REWARD, named};
use crate::shop::members::{NamedBy, customer};
use crate::shop::purchases::{Counter, read_reward};
use crate::shop::shelves;
use crate::shop::wallets::Wallet;
use crate::store::document::Document;
use scrip::decide::purchase::Denied;
use serde_json::{Map, Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] =
    &[post("/v2/loyalties/examine/rewards", "Tell what a customer could buy with points", examine)
        .scope("loyalties")
        .body(shapes::EXAMINE)
        .answers(200, shapes::EXAMINED)];

/// Who asks: the customer, and the memberships that are looked at.
fn asking(call: &Call<'_, '_>, sent: &Map<String, Json>) -> Result<(Document, Vec<Document>), CallError> {
    let named_by = sent.get("customer_identification").and_then(Json::as_object).cloned().unwrap_or_default();
    let text = |name: &str| named_by.get(name).and_then(Json::as_str).unwrap_or_default();
    let by = NamedBy::find(text("type")).unwrap_or(NamedBy::CustomerId);
    let name = text(by.word());
    if by == NamedBy::MemberId {
        let member = named(call.store, &MEMBER, name)?.ok_or_else(|| not_found(&MEMBER.resource_type(), name))?;
        return Ok((customer_of(call, &member)?, vec![member]));
    }
    let customer = customer(call, by, name)?;
    let members = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND holder = +?2 ORDER BY seq",
        &[MEMBER.stored.into(), customer.id.as_str().into()],
    )?;
    Ok((customer, members))
}

/// Puts what is sent over the custom data of a document.
fn changed(mut document: Document, sent: &Map<String, Json>, name: &str) -> Document {
    let data = sent.get(name).and_then(|sent| sent.get("metadata")).and_then(Json::as_object);
    if let Some(data) = data {
        merge(&mut document.body, part::one("metadata", Json::Object(data.clone())));
    }
    document
}

fn examine(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    choice::settle(&mut sent, shapes::EXAMINE_CHOICES)?;
    let (customer, members) = asking(call, &sent)?;
    let customer = changed(customer, &sent, "customer");
    let present = Present::of(call)?;
    let (mut rewards, mut memberships) = (Vec::new(), Vec::new());
    for member in members {
        // Members of a program that is gone are members of nothing.
        let Some(program) = named(call.store, &PROGRAM, member.parent.as_deref().unwrap_or_default())? else {
            continue;
        };
        match check_open((&program, &member), &present, "purchase reward") {
            Ok(()) => {}
            Err(CallError::Refused(_)) => continue,
            Err(CallError::Fault(fault)) => return Err(fault.into()),
        }
        let member = changed(member, &sent, "member");
        let wallet = Wallet::of(call.store, &present, &member.id)?;
        let counter = Counter { present: &present, member: &member, customer: &customer, wallet };
        memberships.push(opportunity(call, &counter, &program, &mut rewards)?);
    }
    let rewards: Vec<Json> = rewards.iter().map(|reward: &Document| reward_of(reward)).collect();
    let of = |name: &str| customer.body.get(name).cloned().unwrap_or_default();
    let customer = json!({
        "id": customer.id, "source_id": customer.key, "metadata": of("metadata"), "object": "customer",
    });
    let told = json!({
        "customer": customer, "rewards": rewards, "memberships": memberships, "object": "rewards_examine_result",
    });
    Ok(Answer::json(told))
}

/// What a member could buy, card by card; adds the rewards that are told of.
fn opportunity(
    call: &Call<'_, '_>,
    counter: &Counter<'_>,
    program: &Document,
    rewards: &mut Vec<Document>,
) -> Result<Json, CallError> {
    let mut estimations: Vec<Vec<Json>> = counter.wallet.cards.iter().map(|_| Vec::new()).collect();
    for assigned in assigned_as(call.store, &REWARD, &program.id)? {
        let Some(row) = named(call.store, &REWARD, &assigned.id)? else { continue };
        let Some(shelf) = shelves::find(call.store, &program.id, &row.id)? else { continue };
        let Some((card, estimation)) = estimate(call, counter, &row, &shelf)? else { continue };
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

/// Whether a reward could be bought, and with which card; nothing where none of the member's costs it, or nobody can have it now.
fn estimate(
    call: &Call<'_, '_>,
    counter: &Counter<'_>,
    row: &Document,
    shelf: &shelves::Shelf,
) -> Result<Option<(usize, Json)>, CallError> {
    let reason = |word: &str, details: Json| json!([{ "reason": word, "details": details, "object": "reward_unavailability_reason" }]);
    let (asked, why) = counter.estimate(call, &read_reward(row)?, shelf)?;
    let Some((card, points)) = asked else { return Ok(None) };
    let why = match why {
        None => None,
        Some(Denied::Short { required, available }) => {
            let missing = required.saturating_sub(available);
            let details = json!({ "required": required, "available": available, "missing": missing });
            Some(reason("insufficient_balance", details))
        }
        Some(Denied::NoTarget { card_definition_id }) => {
            Some(reason("no_target_card", json!({ "card_definition_id": card_definition_id.as_str() })))
        }
        Some(
            Denied::Inactive
            | Denied::OutOfTime
            | Denied::OutOfStock
            | Denied::NoCost
            | Denied::Unreadable
            | Denied::NoCard { .. },
        ) => return Ok(None),
    };
    let mut told = json!({
        "reward": { "id": row.id, "object": "reward" }, "status": if why.is_none() { "AVAILABLE" } else { "UNAVAILABLE" },
        "cost": { "points": points, "object": "reward_cost" }, "object": "reward_estimation",
    });
    if let (Some(told), Some(why)) = (told.as_object_mut(), why) {
        told.insert("unavailability_reasons".into(), why);
    }
    Ok(Some((card, told)))
}

fn plain(document: &Document, names: &[&str]) -> Json {
    Json::Object(part::known(&document.body, names))
}

fn reward_of(reward: &Document) -> Json {
    plain(reward, &["id", "name", "type", "metadata", "purchase_limits", "object"])
}

fn card(held: &Held, rewards: Vec<Json>) -> Json {
    let card = plain(&held.row, &["id", "card_definition_id", "card_type", "code", "object"]);
    json!({ "card": card, "rewards": rewards, "object": "card_estimation" })
}
