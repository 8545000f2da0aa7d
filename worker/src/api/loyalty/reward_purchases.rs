//! Rewards that members buy with points: bought, tried, listed, given back. It must not know what moves when one is.

use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::LISTED_BY_AGE;
use crate::document::resource::plain_key;
use crate::document::shapes::purchases as shapes;
use crate::http::listing::{List, column};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, get, post};
use crate::http::shape::Nulls;
use crate::shop::card_checks::check_open;
use crate::shop::card_rows;
use crate::shop::cards::Present;
use crate::shop::lives::{MEMBER, PROGRAM, REWARD, find_as, named};
use crate::shop::purchase_refunds::{Policies, refund};
use crate::shop::purchases::{self, Counter, Deal, buy, denial, promised, read_reward, rejection, result};
use crate::shop::shelves;
use crate::shop::wallets::{REWARD_TRANSACTION, Wallet, undecided};
use crate::store::document::Document;
use scrip::facts::purchase::LoyaltyReward;
use serde_json::{Map, Value as Json, json};

/// Purchases as a resource.
pub const RESOURCE: Resource = Resource {
    object: REWARD_TRANSACTION,
    parameter: "rewardTransactionId",
    key: plain_key,
    show: card_rows::show,
    shape: shapes::REWARD_TRANSACTION.described(),
    list: List::by_cursor(
        &[column::AGE],
        &[column::ID, ("reward_id", "json_extract(body, '$.reward_id')"), column::CREATED_AT],
    ),
};

const ALL: &str = "/v2/loyalties/programs/{programId}/members/{memberId}/rewards/purchases";

const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &MEMBER).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List the purchases of a member", list)).pages(shapes::REWARD_TRANSACTION).query(LISTED_BY_AGE),
    ours(post(ALL, "Buy a reward with points", create))
        .body(shapes::BUY)
        .answers(202, shapes::BOUGHT)
        .or_answers(200, shapes::BOUGHT),
    ours(post(
        "/v2/loyalties/programs/{programId}/rewards/purchases/{rewardTransactionId}/refund",
        "Give a reward back",
        give_back,
    ))
    .body(shapes::REFUND)
    .answers(202, shapes::REFUNDED),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    let mut clause = Clause::of_kind(REWARD_TRANSACTION).at(call.now_ms());
    clause.and("parent = {}", member.id);
    cursors::page(call, &RESOURCE.list, "lcrstrx_", clause, card_rows::show)
}

/// The customer of a member.
pub fn customer_of(call: &Call<'_, '_>, member: &Document) -> Result<Document, CallError> {
    let id = member.holder.as_deref().unwrap_or_default();
    Ok(call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?)
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let text = |name: &str| sent.get(name).and_then(Json::as_str).unwrap_or_default();
    let present = Present::of(call)?;
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    check_open((&program, &member), &present, "purchase reward")?;
    let id = text("reward_id");
    let row = named(call.store, &REWARD, id)?.ok_or_else(|| not_found(&REWARD.resource_type(), id))?;
    let shelf = shelves::find(call.store, &program.id, &row.id)?;
    let shelf = shelf.ok_or_else(|| not_found(REWARD.assigned.unwrap_or_default(), id))?;
    let (reward, customer) = (read_reward(&row)?, customer_of(call, &member)?);
    let wallet = Wallet::of(call.store, &present, &member.id)?;
    let mut counter = Counter { present: &present, member: &member, customer: &customer, wallet };
    let deal = counter.ask(call, &reward, &shelf)?.map_err(|denied| denial(&denied))?;
    if text("mode") == "DRY_RUN" {
        return tried(&counter, (&row, &reward), &deal);
    }
    let body = undecided(buy(call, &mut counter, (&row, &reward), (&shelf, &deal))?);
    let told = json!({ "transaction": body, "status": "TRANSACTION_CREATED", "message": "Reward purchase created" });
    Ok(Answer::status(202, told))
}

/// What a purchase that is only tried answers.
fn tried(counter: &Counter<'_>, (row, reward): (&Document, &LoyaltyReward), deal: &Deal) -> Outcome {
    let card = |place: usize| counter.wallet.cards.get(place).map(|held| held.row.id.as_str());
    let outcome = match &deal.hindrance {
        Some(hindrance) => (rejection(hindrance), Json::Null),
        None => (Json::Null, result(row, promised(reward, deal.target.and_then(card)))),
    };
    let transaction = json!({
        "card_id": card(deal.card), "card_transaction_id": null, "program_id": counter.member.parent,
        "member_id": counter.member.id, "reward_id": row.id, "status": "SIMULATED", "type": "PURCHASE",
        "details": purchases::details("Reward purchase", deal.cost.points, outcome), "updated_at": null,
        "object": REWARD_TRANSACTION,
    });
    Ok(Answer::json(json!({ "transaction": transaction, "status": "DRY_RUN", "message": "Nothing was bought" })))
}

fn give_back(call: &mut Call<'_, '_>) -> Outcome {
    let sent = if call.request.body.is_empty() { Map::new() } else { call.body(Nulls::Dropped)? };
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let id = call.param("rewardTransactionId");
    let found = call.store.document(REWARD_TRANSACTION, id)?;
    let is_of = |row: &Document| row.body.get("program_id").and_then(Json::as_str) == Some(&program.id);
    let found = found.filter(is_of).ok_or_else(|| not_found("vl_reward_transaction", id))?;
    let policy = |name: &str| sent.get("policies").and_then(|policies| policies.get(name)?.as_str());
    let policies = Policies {
        is_allowed: policy("refund") == Some("ALLOW"),
        is_written_off: policy("stock") == Some("WRITE_OFF"),
    };
    let present = Present::of(call)?;
    let made = refund(call, &present, found, policies)?;
    let told = json!({ "transaction": made.body, "status": "APPROVED", "message": "Reward purchase refunded" });
    Ok(Answer::status(202, told))
}
