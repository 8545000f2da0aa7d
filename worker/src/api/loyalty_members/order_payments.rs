//! Payments of orders with points: create, dry run, list.

use crate::api::loyalty_members::purchases::{find_customer_of_member, pending_json};
use crate::documents::common_fields::LISTED_BY_AGE;
use crate::documents::cursor_list;
use crate::documents::resource::plain_key;
use crate::documents::shapes::purchases as shapes;
use crate::documents::tagged_blocks;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::load;
use crate::domain::loyalty_members::card_checks::check_open;
use crate::domain::loyalty_members::card_view;
use crate::domain::loyalty_programs::kinds::{CARD, MEMBER, PROGRAM, find_within};
use crate::domain::point_spending::order_payments::{
    DecidedPayment, PaymentDecision, PaymentOrder, load_payment_order, pay, payment_details,
};
use crate::domain::point_spending::purchases::spending_limit_json;
use crate::domain::point_spending::spendable_cards::{ORDER_TRANSACTION, SpendableCards, read_member_customer};
use crate::http::list_options::{List, column};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, get, post};
use crate::http::shape::Nulls;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use crate::store::records::PaymentRequestRecord;
use scrip::decide::payment::{self, PaymentBlocker, PaymentRequest};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Payments as a resource.
pub const RESOURCE: Resource = Resource {
    object: ORDER_TRANSACTION,
    parameter: "orderTransactionId",
    key: plain_key,
    to_json: card_view::to_json,
    shape: shapes::ORDER_TRANSACTION.described(),
    list: List::by_cursor(&[column::AGE], &[column::ID, ("order_id", member!("order_id")), column::CREATED_AT]),
};

const ALL: &str = "/v2/loyalties/programs/{programId}/members/{memberId}/orders/payments";

const fn with_resource(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &MEMBER).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get(ALL, "List order payments of a member", list))
        .describe(
            "listMemberOrderPayments",
            "Returns the orders that a member paid with points, rejected payments included, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program or member is refused with `not_found`.",
        )
        .returns("The order transactions of this page and the cursor of the next page.")
        .pages(shapes::ORDER_TRANSACTION)
        .query(LISTED_BY_AGE),
    with_resource(post(ALL, "Pay an order with points", create))
        .describe(
            "createMemberOrderPayment",
            "Pays as much of an order of the member as balance, limits and exchange ratio allow, with points of one card. Each call makes another payment; send an `Idempotency-Key` so that a retry does not. A payment that a spending limit prevents is recorded as rejected, which a later read returns. `DRY_RUN` calculates only. Refused with `insufficient_card_balance` without enough points, and with `order_already_paid` if nothing is due.",
        )
        .returns("The order transaction, with status `PENDING` after a payment and `SIMULATED` after a dry run.")
        .body(shapes::PAY)
        .answers(202, shapes::PAID)
        .or_answers(200, shapes::PAID),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let member = find_within(call, &MEMBER, call.param("memberId"))?;
    let mut clause = Clause::of_kind(ORDER_TRANSACTION).at(call.now_ms());
    clause.within(&member.id);
    cursor_list::page(call, &RESOURCE.list, "lcrsotx_", clause, card_view::to_json)
}

/// Returns the order that a payment names, which must belong to the member's customer.
fn find_order(call: &Call<'_, '_>, sent: &Map<String, Json>, member: &Document) -> Result<Document, CallError> {
    let sent = PaymentRequestRecord::of(sent);
    let (id, found) = match (sent.order_id(), sent.order_source_id()) {
        (Some(id), _) => (id, call.store.document("order", id)?),
        (None, Some(source_id)) => (source_id, call.store.document_by_name("order", source_id, "")?),
        (None, None) => return Err(Problem::missing("order", "id").into()),
    };
    let is_own = |order: &Document| order.as_order().customer_id() == member.holder.as_deref();
    found.filter(is_own).ok_or_else(|| not_found("order", id).into())
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    tagged_blocks::check_blocks(&mut sent, shapes::PAY_CHOICES)?;
    let present = LocalTime::of(call)?;
    let program = find_within(call, &PROGRAM, call.param("programId"))?;
    let member = find_within(call, &MEMBER, call.param("memberId"))?;
    let id = PaymentRequestRecord::of(&sent).card_id();
    let card = call.store.document(CARD.stored, id)?.filter(|card| card.parent.as_ref() == Some(&member.id));
    let card = card.ok_or_else(|| not_found(&CARD.resource_type(), id))?;
    let order = find_order(call, &sent, &member)?;
    check_open(&program, &member, &present, "pay with points")?;
    let mut spendable = SpendableCards::with(call.store, &present, load(call.store, card, &[])?)?;
    let payment_order = load_payment_order(call.store, order)?;
    let limit = |block: &str| PaymentRequestRecord::of(&sent).limit(block);
    let limits = [("points_limit", limit("points_limit")), ("amount_limit", limit("amount_limit"))];
    let decision = decide_payment(call, &present, &member, &spendable, &payment_order, [limits[0].1, limits[1].1])?;
    let mut limit_members = Map::new();
    for (name, limit) in limits {
        limit_members.extend(limit.map(|limit| (name.to_owned(), limit.into())));
    }
    let mut body = payment_details(&member, &spendable, &payment_order, &Json::Object(limit_members), &decision);
    if PaymentRequestRecord::of(&sent).is_dry_run() {
        body.insert("status".into(), "SIMULATED".into());
        let details = json!({ "transaction": body, "status": "DRY_RUN", "message": "Nothing was paid" });
        return Ok(Response::json(details));
    }
    let decided = DecidedPayment { member: &member, payment_order: &payment_order, decision: &decision, body };
    let body = pending_json(pay(call, &present, &mut spendable, decided)?);
    let details = json!({ "transaction": body, "status": "TRANSACTION_CREATED", "message": "Order payment created" });
    Ok(Response::status(202, details))
}

/// Returns the paid amount, or the reason for none; a payment that could never succeed is refused.
fn decide_payment(
    call: &Call<'_, '_>,
    present: &LocalTime,
    member: &Document,
    spendable: &SpendableCards,
    payment_order: &PaymentOrder,
    [most_points, most_amount]: [Option<u64>; 2],
) -> Result<PaymentDecision, CallError> {
    let locked = |key: &str, message: &str, details: &str| CallError::from(error(423, key, message, details));
    let short = || {
        let details = "Operation exceeds the available card balance";
        locked("insufficient_card_balance", "Insufficient card balance", details)
    };
    let (Some(definition), Some(card)) = (spendable.definitions.first(), spendable.paying.first()) else {
        return Err(short());
    };
    let formula = definition.payment.as_ref().ok_or_else(|| {
        let details = "Card definition does not have pay with points enabled";
        locked("pay_with_points_not_enabled", "Pay with points is not enabled", details)
    })?;
    let (customer, _) = read_member_customer(&find_customer_of_member(call, member)?, member)?;
    let now = present.now();
    let request = PaymentRequest {
        formula,
        card,
        due: payment_order.due,
        most_points,
        most_amount,
        order: &payment_order.order,
        customer: &customer,
        now: now.at,
        zone: now.zone,
    };
    match payment::pay(&request) {
        Ok(payment) => Ok(PaymentDecision::Paid(payment)),
        Err(PaymentBlocker::Limited(exceeded)) => Ok(PaymentDecision::Rejected(spending_limit_json(&exceeded))),
        Err(PaymentBlocker::NoRatio) => Err(locked(
            "invalid_exchange_ratio",
            "Exchange ratio cannot be evaluated",
            "Property .pay_with_points.exchange_ratio.formula of the card definition must be a number above 0 for this order",
        )),
        Err(PaymentBlocker::NothingDue) => {
            Err(locked("order_already_paid", "Order is already paid", "There is nothing left of the order to pay"))
        }
        Err(PaymentBlocker::NoPoints) => {
            let details = "Operation requires a positive card balance";
            Err(locked("zero_card_balance", "Card balance is zero", details))
        }
        Err(PaymentBlocker::TooFew) => Err(short()),
    }
}
