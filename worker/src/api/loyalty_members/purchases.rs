//! Purchases of rewards with points: create, dry run, list, refund.

use crate::documents::common_fields::LISTED_BY_AGE;
use crate::documents::cursor_list;
use crate::documents::resource::plain_key;
use crate::documents::shapes::purchases as shapes;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card_checks::check_open;
use crate::domain::loyalty_members::card_view;
use crate::domain::loyalty_programs::kinds::{MEMBER, PROGRAM, REWARD, find_as, named};
use crate::domain::point_spending::purchases;
use crate::domain::point_spending::purchases::{Counter, Deal, buy, denial, promised, read_reward, rejection, result};
use crate::domain::point_spending::refunds::{Policies, refund};
use crate::domain::point_spending::reward_stock;
use crate::domain::point_spending::spendable_cards::{REWARD_TRANSACTION, SpendableCards};
use crate::http::list_options::{List, column};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, get, post};
use crate::http::shape::Nulls;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use scrip::facts::purchase::LoyaltyReward;
use serde_json::{Map, Value as Json, json};

/// Purchases as a resource.
pub const RESOURCE: Resource = Resource {
    object: REWARD_TRANSACTION,
    parameter: "rewardTransactionId",
    key: plain_key,
    show: card_view::show,
    shape: shapes::REWARD_TRANSACTION.described(),
    list: List::by_cursor(&[column::AGE], &[column::ID, ("reward_id", member!("reward_id")), column::CREATED_AT]),
};

const ALL: &str = "/v2/loyalties/programs/{programId}/members/{memberId}/rewards/purchases";

const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &MEMBER).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List reward purchases of a member", list))
        .describe(
            "listMemberRewardPurchases",
            "Returns the rewards that a member bought with points, with refunds and rejected purchases, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program or member is refused with `not_found`.",
        )
        .returns("The reward transactions of this page and the cursor of the next page.")
        .pages(shapes::REWARD_TRANSACTION)
        .query(LISTED_BY_AGE),
    ours(post(ALL, "Purchase a reward with points", create))
        .describe(
            "createMemberRewardPurchase",
            "Takes the points of the first matching cost from a card and one unit from the stock, and grants the reward, all or none. A bought code is published to the customer. Each call buys again; send an `Idempotency-Key` so that a retry does not. A purchase that a limit prevents is recorded as rejected, which a later read returns. Refused with `reward_out_of_stock` without stock, and with `insufficient_card_balance` without enough points.",
        )
        .returns("The reward transaction, with status `PENDING` after a purchase and `SIMULATED` after a dry run.")
        .body(shapes::BUY)
        .answers(202, shapes::BOUGHT)
        .or_answers(200, shapes::BOUGHT),
    ours(post(
        "/v2/loyalties/programs/{programId}/rewards/purchases/{rewardTransactionId}/refund",
        "Refund a reward purchase",
        give_back,
    ))
    .describe(
        "refundRewardPurchase",
        "Revokes a purchased code or points, returns the price to the card and one unit to the stock, all in one transaction. Points return in proportion to the part of a gift card or of purchased points that is unused. A used reward is refused with `reward_already_used`, a reward without refunds with `non_refundable_reward`, unless the policy `ALLOW` is sent. A purchase can be refunded once (`invalid_reward_transaction_status`).",
    )
    .returns("The reward transaction of the refund.")
    .body(shapes::REFUND)
    .answers(202, shapes::REFUNDED),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    let mut clause = Clause::of_kind(REWARD_TRANSACTION).at(call.now_ms());
    clause.within(&member.id);
    cursor_list::page(call, &RESOURCE.list, "lcrstrx_", clause, card_view::show)
}

/// Loads the customer of a member.
pub fn customer_of(call: &Call<'_, '_>, member: &Document) -> Result<Document, CallError> {
    let id = member.holder.as_deref().unwrap_or_default();
    Ok(call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?)
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let text = |name: &str| sent.get(name).and_then(Json::as_str).unwrap_or_default();
    let present = LocalTime::of(call)?;
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    check_open(&program, &member, &present, "purchase reward")?;
    let id = text("reward_id");
    let row = named(call.store, &REWARD, id)?.ok_or_else(|| not_found(&REWARD.resource_type(), id))?;
    let stock = reward_stock::find(call.store, &program.id, &row.id)?;
    let stock = stock.ok_or_else(|| not_found(REWARD.assigned.unwrap_or_default(), id))?;
    let (reward, customer) = (read_reward(&row)?, customer_of(call, &member)?);
    let wallet = SpendableCards::of(call.store, &present, &member.id)?;
    let mut counter = Counter { present: &present, member: &member, customer: &customer, wallet };
    let deal = counter.ask(call, &reward, &stock)?.map_err(|denied| denial(&denied))?;
    if text("mode") == "DRY_RUN" {
        return tried(&counter, &row, &reward, &deal);
    }
    let body = undecided(buy(call, &mut counter, &row, &reward, &stock, &deal)?);
    let details = json!({ "transaction": body, "status": "TRANSACTION_CREATED", "message": "Reward purchase created" });
    Ok(Response::status(202, details))
}

/// Returns the response of a dry run of a purchase.
fn tried(counter: &Counter<'_>, row: &Document, reward: &LoyaltyReward, deal: &Deal) -> HandlerResult {
    let card = |place: usize| counter.wallet.cards.get(place).map(|held| held.row.id.as_str());
    let (rejection, result) = match &deal.blocker {
        Some(blocker) => (rejection(blocker), Json::Null),
        None => (Json::Null, result(row, promised(reward, deal.target.and_then(card)))),
    };
    let transaction = json!({
        "card_id": card(deal.card), "card_transaction_id": null, "program_id": counter.member.parent,
        "member_id": counter.member.id, "reward_id": row.id, "status": "SIMULATED", "type": "PURCHASE",
        "details": purchases::details("Reward purchase", deal.cost.points, rejection, result), "updated_at": null,
        "object": REWARD_TRANSACTION,
    });
    Ok(Response::json(json!({ "transaction": transaction, "status": "DRY_RUN", "message": "Nothing was bought" })))
}

fn give_back(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = if call.request.body.is_empty() { Map::new() } else { call.body(Nulls::Dropped)? };
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let id = call.param("rewardTransactionId");
    let found = call.store.document(REWARD_TRANSACTION, id)?;
    let is_of = |row: &Document| row.as_purchase().program_id() == Some(&program.id);
    let found = found.filter(is_of).ok_or_else(|| not_found("vl_reward_transaction", id))?;
    let policy = |name: &str| sent.get("policies").and_then(|policies| policies.get(name)?.as_str());
    let policies = Policies {
        is_allowed: policy("refund") == Some("ALLOW"),
        is_written_off: policy("stock") == Some("WRITE_OFF"),
    };
    let present = LocalTime::of(call)?;
    let made = refund(call, &present, found, policies)?;
    let details = json!({ "transaction": made.body, "status": "APPROVED", "message": "Reward purchase refunded" });
    Ok(Response::status(202, details))
}

/// Returns a new transaction as it is shown first: PENDING and without its result, which later reads show.
pub fn undecided(transaction: Document) -> Json {
    let mut body = transaction.body;
    body.remove("kept");
    body.insert("status".into(), "PENDING".into());
    for details in body.get_mut("details").and_then(Json::as_object_mut).into_iter().flatten() {
        if matches!(details.0.as_str(), "rejection" | "result") {
            *details.1 = Json::Null;
        }
    }
    Json::Object(body)
}
