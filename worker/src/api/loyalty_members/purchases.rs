//! Purchases of rewards with points: create, dry run, list, refund.

use crate::documents::common_fields::LISTED_BY_AGE;
use crate::documents::cursor_list;
use crate::documents::resource::plain_key;
use crate::documents::shapes::purchases as shapes;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card_checks::check_open;
use crate::domain::loyalty_members::card_view;
use crate::domain::loyalty_programs::kinds::{MEMBER, PROGRAM, REWARD, find_by_id, find_within};
use crate::domain::point_spending::purchases;
use crate::domain::point_spending::purchases::{
    PurchaseTerms, RewardPurchaser, buy, preview, purchase_error, read_reward, rejection_json, result_json,
};
use crate::domain::point_spending::refunds::{RefundPolicies, refund};
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
    to_json: card_view::to_json,
    shape: shapes::REWARD_TRANSACTION.described(),
    list: List::by_cursor(&[column::AGE], &[column::ID, ("reward_id", member!("reward_id")), column::CREATED_AT]),
};

const ALL: &str = "/v2/loyalties/programs/{programId}/members/{memberId}/rewards/purchases";

const fn with_resource(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &MEMBER).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get(ALL, "List reward purchases of a member", list))
        .describe(
            "listMemberRewardPurchases",
            "Returns the rewards that a member bought with points, with refunds and rejected purchases, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program or member is refused with `not_found`.",
        )
        .returns("The reward transactions of this page and the cursor of the next page.")
        .pages(shapes::REWARD_TRANSACTION)
        .query(LISTED_BY_AGE),
    with_resource(post(ALL, "Purchase a reward with points", create))
        .describe(
            "createMemberRewardPurchase",
            "Takes the points of the first matching cost from a card and one unit from the stock, and grants the reward, all or none. A bought code is published to the customer. Each call buys again; send an `Idempotency-Key` so that a retry does not. A purchase that a limit prevents is recorded as rejected, which a later read returns. Refused with `reward_out_of_stock` without stock, and with `insufficient_card_balance` without enough points.",
        )
        .returns("The reward transaction, with status `PENDING` after a purchase and `SIMULATED` after a dry run.")
        .body(shapes::BUY)
        .answers(202, shapes::BOUGHT)
        .or_answers(200, shapes::BOUGHT),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/rewards/purchases/{rewardTransactionId}/refund",
        "Refund a reward purchase",
        refund_purchase,
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
    let member = find_within(call, &MEMBER, call.param("memberId"))?;
    let mut clause = Clause::of_kind(REWARD_TRANSACTION).at(call.now_ms());
    clause.within(&member.id);
    cursor_list::page(call, &RESOURCE.list, "lcrstrx_", clause, card_view::to_json)
}

/// Loads the customer of a member.
pub fn find_customer_of_member(call: &Call<'_, '_>, member: &Document) -> Result<Document, CallError> {
    let id = member.holder.as_deref().unwrap_or_default();
    Ok(call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?)
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let text = |name: &str| sent.get(name).and_then(Json::as_str).unwrap_or_default();
    let present = LocalTime::of(call)?;
    let program = find_within(call, &PROGRAM, call.param("programId"))?;
    let member = find_within(call, &MEMBER, call.param("memberId"))?;
    check_open(&program, &member, &present, "purchase reward")?;
    let id = text("reward_id");
    let row = find_by_id(call.store, &REWARD, id)?.ok_or_else(|| not_found(&REWARD.resource_type(), id))?;
    let stock = reward_stock::find_of_reward(call.store, &program.id, &row.id)?;
    let stock = stock.ok_or_else(|| not_found(REWARD.assigned.unwrap_or_default(), id))?;
    let (reward, customer) = (read_reward(&row)?, find_customer_of_member(call, &member)?);
    let spendable = SpendableCards::of(call.store, &present, &member.id)?;
    let mut purchaser = RewardPurchaser { present: &present, member: &member, customer: &customer, spendable };
    let terms = purchaser.decide(call, &reward, &stock)?.map_err(|refused| purchase_error(&refused))?;
    if text("mode") == "DRY_RUN" {
        return dry_run_response(&purchaser, &row, &reward, &terms);
    }
    let body = pending_json(buy(call, &mut purchaser, &row, &reward, &stock, &terms)?);
    let details = json!({ "transaction": body, "status": "TRANSACTION_CREATED", "message": "Reward purchase created" });
    Ok(Response::status(202, details))
}

/// Returns the response of a dry run of a purchase.
fn dry_run_response(
    purchaser: &RewardPurchaser<'_>,
    row: &Document,
    reward: &LoyaltyReward,
    terms: &PurchaseTerms,
) -> HandlerResult {
    let card = |index: usize| purchaser.spendable.cards.get(index).map(|loaded| loaded.row.id.as_str());
    let (rejection, result) = match &terms.blocker {
        Some(blocker) => (rejection_json(blocker), Json::Null),
        None => (Json::Null, result_json(row, preview(reward, terms.target.and_then(card)))),
    };
    let transaction = json!({
        "card_id": card(terms.card), "card_transaction_id": null, "program_id": purchaser.member.parent,
        "member_id": purchaser.member.id, "reward_id": row.id, "status": "SIMULATED", "type": "PURCHASE",
        "details": purchases::details_json("Reward purchase", terms.cost.points, rejection, result), "updated_at": null,
        "object": REWARD_TRANSACTION,
    });
    Ok(Response::json(json!({ "transaction": transaction, "status": "DRY_RUN", "message": "Nothing was bought" })))
}

fn refund_purchase(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = if call.request.body.is_empty() { Map::new() } else { call.body(Nulls::Dropped)? };
    let program = find_within(call, &PROGRAM, call.param("programId"))?;
    let id = call.param("rewardTransactionId");
    let found = call.store.document(REWARD_TRANSACTION, id)?;
    let is_of = |row: &Document| row.as_purchase().program_id() == Some(&program.id);
    let found = found.filter(is_of).ok_or_else(|| not_found("vl_reward_transaction", id))?;
    let policy = |name: &str| sent.get("policies").and_then(|policies| policies.get(name)?.as_str());
    let policies = RefundPolicies {
        is_allowed: policy("refund") == Some("ALLOW"),
        is_written_off: policy("stock") == Some("WRITE_OFF"),
    };
    let present = LocalTime::of(call)?;
    let transaction = refund(call, &present, found, policies)?;
    let details =
        json!({ "transaction": transaction.body, "status": "APPROVED", "message": "Reward purchase refunded" });
    Ok(Response::status(202, details))
}

/// Returns a new transaction as its creation answers it: PENDING and without its result, which later reads contain.
pub fn pending_json(transaction: Document) -> Json {
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
