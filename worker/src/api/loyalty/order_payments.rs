//! Orders that members pay with points: paid, tried, listed. It must not know what moves when one is.

use crate::api::loyalty::reward_purchases::customer_of;
use crate::document::choice;
use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::LISTED_BY_AGE;
use crate::document::resource::plain_key;
use crate::document::shapes::purchases as shapes;
use crate::http::listing::{List, column};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, get, post};
use crate::http::shape::Nulls;
use crate::shop::card_checks::check_open;
use crate::shop::card_rows;
use crate::shop::cards::{Present, load};
use crate::shop::lives::{CARD, MEMBER, PROGRAM, find_as};
use crate::shop::payments::{Bill, Verdict, bill, pay, told};
use crate::shop::purchases::limited;
use crate::shop::wallets::{ORDER_TRANSACTION, Wallet, people, undecided};
use crate::store::document::Document;
use scrip::decide::payment::{self, Paying, Unpaid};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Payments as a resource.
pub const RESOURCE: Resource = Resource {
    object: ORDER_TRANSACTION,
    parameter: "orderTransactionId",
    key: plain_key,
    show: card_rows::show,
    shape: shapes::ORDER_TRANSACTION.described(),
    list: List::by_cursor(
        &[column::AGE],
        &[column::ID, ("order_id", "json_extract(body, '$.order_id')"), column::CREATED_AT],
    ),
};

const ALL: &str = "/v2/loyalties/programs/{programId}/members/{memberId}/orders/payments";

const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &MEMBER).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List the payments of a member", list)).pages(shapes::ORDER_TRANSACTION).query(LISTED_BY_AGE),
    ours(post(ALL, "Pay an order with points", create))
        .body(shapes::PAY)
        .answers(202, shapes::PAID)
        .or_answers(200, shapes::PAID),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    let mut clause = Clause::of_kind(ORDER_TRANSACTION).at(call.now_ms());
    clause.and("parent = {}", member.id);
    cursors::page(call, &RESOURCE.list, "lcrsotx_", clause, card_rows::show)
}

/// The order that a payment names, which is nobody's but the member's.
fn order_of(call: &Call<'_, '_>, sent: &Map<String, Json>, member: &Document) -> Result<Document, CallError> {
    let named = |name: &str| sent.get("order").and_then(|order| order.get(name)?.as_str());
    let (id, found) = match (named("id"), named("source_id")) {
        (Some(id), _) => (id, call.store.document("order", id)?),
        (None, Some(source_id)) => (source_id, call.store.document_by_name("order", source_id, "")?),
        (None, None) => return Err(Problem::missing("order", "id").into()),
    };
    let is_own = |order: &Document| order.body.get("customer_id").and_then(Json::as_str) == member.holder.as_deref();
    found.filter(is_own).ok_or_else(|| not_found("order", id).into())
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    choice::settle(&mut sent, shapes::PAY_CHOICES)?;
    let present = Present::of(call)?;
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    let id = sent.get("card_id").and_then(Json::as_str).unwrap_or_default();
    let card = call.store.document(CARD.stored, id)?.filter(|card| card.parent.as_ref() == Some(&member.id));
    let card = card.ok_or_else(|| not_found(&CARD.resource_type(), id))?;
    let order = order_of(call, &sent, &member)?;
    check_open((&program, &member), &present, "pay with points")?;
    let mut wallet = Wallet::with(call.store, &present, load(call.store, card, &[])?)?;
    let bill = bill(call.store, order)?;
    let limit = |block: &str| sent.get("payment_limit").and_then(|limit| limit.get(block)?.get("max")?.as_u64());
    let limits = [("points_limit", limit("points_limit")), ("amount_limit", limit("amount_limit"))];
    let verdict = decide(call, &present, (&member, &wallet, &bill), [limits[0].1, limits[1].1])?;
    let mut said = Map::new();
    for (name, most) in limits {
        said.extend(most.map(|most| (name.to_owned(), most.into())));
    }
    let mut body = told(&member, &wallet, &bill, &Json::Object(said), &verdict);
    if sent.get("mode").and_then(Json::as_str) == Some("DRY_RUN") {
        body.insert("status".into(), "SIMULATED".into());
        let told = json!({ "transaction": body, "status": "DRY_RUN", "message": "Nothing was paid" });
        return Ok(Answer::json(told));
    }
    let body = undecided(pay(call, &present, (&member, &mut wallet, &bill), (&verdict, body))?);
    let told = json!({ "transaction": body, "status": "TRANSACTION_CREATED", "message": "Order payment created" });
    Ok(Answer::status(202, told))
}

/// How much is paid, or why nothing is; what could not be paid at any other time is refused.
fn decide(
    call: &Call<'_, '_>,
    present: &Present,
    (member, wallet, bill): (&Document, &Wallet, &Bill),
    [most_points, most_amount]: [Option<u64>; 2],
) -> Result<Verdict, CallError> {
    let locked = |key: &str, message: &str, told: &str| CallError::from(error(423, key, message, told));
    let short = || {
        let told = "Operation exceeds the available card balance";
        locked("insufficient_card_balance", "Insufficient card balance", told)
    };
    let (Some(definition), Some(card)) = (wallet.definitions.first(), wallet.paying.first()) else {
        return Err(short());
    };
    let formula = definition.payment.as_ref().ok_or_else(|| {
        let told = "Card definition does not have pay with points enabled";
        locked("pay_with_points_not_enabled", "Pay with points is not enabled", told)
    })?;
    let (customer, _) = people(&customer_of(call, member)?, member)?;
    let now = present.now();
    let paying = Paying {
        formula,
        card,
        due: bill.due,
        most_points,
        most_amount,
        order: &bill.order,
        customer: &customer,
        now: now.at,
        zone: now.zone,
    };
    match payment::pay(&paying) {
        Ok(payment) => Ok(Verdict::Paid(payment)),
        Err(Unpaid::Limited(exceeded)) => Ok(Verdict::Rejected(limited(&exceeded))),
        Err(Unpaid::NoRatio) => Err(locked(
            "invalid_exchange_ratio",
            "Exchange ratio cannot be evaluated",
            "Property .pay_with_points.exchange_ratio.formula of the card definition must be a number above 0 for this order",
        )),
        Err(Unpaid::NothingDue) => {
            Err(locked("order_already_paid", "Order is already paid", "There is nothing left of the order to pay"))
        }
        Err(Unpaid::NoPoints) => {
            let told = "Operation requires a positive card balance";
            Err(locked("zero_card_balance", "Card balance is zero", told))
        }
        Err(Unpaid::TooFew) => Err(short()),
    }
}
