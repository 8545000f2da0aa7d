//! Returns of part of an order, and of the order of a redemption.

use crate::api::orders::ORDER;
use crate::commit;
use crate::domain::customers::summary;
use crate::domain::decisions::{facts, order_returns};
use crate::domain::point_spending::moved_points::MovedPoints;
use crate::domain::point_spending::order_payments;
use crate::http::reply::{CallError, invalid_payload, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::{Field, FieldType, must};
use crate::store::documents::orders;
use crate::store::sql::Fault;
use scrip::decide;
use scrip::decide::ReturnRequest;
use scrip::decide::order_return::answer::ReturnOutcome;
use scrip::facts::{Fact, Facts};
use scrip::json::Node;
use scrip::money::Money;
use scrip::pricing::Cart;
use scrip::wire::order::stored_return::STORED_RETURN;
use scrip::wire::redemptions::order_return::{order_record, read_return_request};
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = scrip::wire::redemptions::order_return::RETURN.fields();

/// Response of a return.
const RETURNED: FieldType = FieldType::Object(&[
    must("return", STORED_RETURN).description("Return with the refund, as stored in the order."),
    must("order", scrip::wire::order::view::STORED).description("Order that remains after the return."),
    must("dry_run", FieldType::Bool).description("`true` if nothing was stored."),
]);

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/orders/{orderId}/returns", "Return items of an order", return_of_order)
        .describe(
            "returnOrderItems",
            "Returns units of a stored order and computes the refund. Discounts, gift credits and points of the returned units are settled in the same transaction. With `dry_run` the answer is computed and nothing is stored. The webhook event `order.updated` follows. An unknown order is refused with `not_found`, units that the order does not have with `invalid_payload`.",
        )
        .returns("The return, the remaining order, and `true` in `dry_run` if nothing was stored.")
        .scope("orders")
        .body(BODY)
        .answers(200, RETURNED),
    post("/v1/redemptions/{redemptionId}/returns", "Return items of the order of a redemption", return_of_redemption)
        .describe(
            "returnRedemptionItems",
            "Returns units of the order on which a redemption was made and computes the refund. Discounts, gift credits and points of the returned units are settled in the same transaction. With `dry_run` the answer is computed and nothing is stored. The webhook event `order.updated` follows. An unknown redemption is refused with `not_found`, a redemption without an order with `invalid_payload`.",
        )
        .returns("The return, the remaining order, and `true` in `dry_run` if nothing was stored.")
        .scope("redemptions")
        .body(BODY)
        .answers(200, RETURNED),
];

fn return_of_order(call: &mut Call<'_, '_>) -> HandlerResult {
    let order = ORDER.find(call)?;
    return_items(call, &order.id)
}

fn return_of_redemption(call: &mut Call<'_, '_>) -> HandlerResult {
    let id = call.param("redemptionId").to_owned();
    let facts = facts::facts(call)?;
    let redemption = facts.redemption(&id).found().map(Fact::into_owned);
    facts.end()?;
    let redemption = redemption.ok_or_else(|| not_found("redemption", &id))?;
    let order = redemption.order.and_then(|order| order.id);
    let order = order.ok_or_else(|| invalid_payload(format!("Redemption `{id}` has no order to return")))?;
    return_items(call, &order)
}

fn return_items(call: &mut Call<'_, '_>, order_id: &str) -> HandlerResult {
    let body = call.source()?;
    let (request, is_dry) = Node::of(&body, usize::MAX).and_then(|body| read_return_request(order_id, &body))?;
    let paid_before = order_payments::find_paid_amount(call.store, order_id)?;
    let still_paid = write(call, &request)?;
    // The effects on points cards and tiers belong to the response. They are written now, so no later step may refuse.
    call.store.remove_read_limit();
    let moved_points = commit::run_consequences(call)?;
    let paid = [paid_before, order_payments::find_paid_amount(call.store, order_id)?];
    complete(call, order_id, &moved_points, still_paid, paid)?;
    let document = call.store.document(ORDER.object, order_id)?;
    let document = document.ok_or_else(|| not_found("order", order_id))?;
    let returned = document.as_order().returns().last().cloned();
    let order = ORDER.one_to_json(call, document)?;
    if is_dry {
        call.store.undo_at_end();
    }
    Ok(Response::json(json!({ "return": returned, "order": order, "dry_run": is_dry })))
}

/// Decides a return and queues its writes; returns the amounts still paid before and after it, regardless of payments in points.
fn write(call: &mut Call<'_, '_>, request: &ReturnRequest) -> Result<[Money; 2], CallError> {
    let facts = facts::facts(call)?;
    let decided = decide::return_items(&facts, request, call.context);
    call.store.count_decision("return", decided.as_ref().err().map(|refusal| refusal.reason.key()));
    let read_documents = facts.finish()?;
    let outcome = decided?;
    order_returns::write_refunds(call, &outcome, &read_documents)?;
    let ReturnOutcome { returned, orders, .. } = outcome;
    // An order without an amount costs nothing.
    let cost = Cart::stored(&returned.order).total().unwrap_or_default();
    let after = cost.remaining_after(returned.uncovered);
    let before = after.checked_add(returned.refund).ok_or_else(|| Fault::new("a refund is out of bounds"))?;
    facts::write_records(call, Vec::new(), order_record(&returned).into_iter().collect());
    facts::count_orders(call, &read_documents, None, &orders)?;
    summary::find_last_orders(call.store, &orders, call.context.now.millis());
    Ok([before, after])
}

/// Adds the points that moved to the return, in the order that stores it; an amount paid with points is not refunded in money.
fn complete(
    call: &mut Call<'_, '_>,
    order_id: &str,
    moved_points: &MovedPoints,
    still_paid: [Money; 2],
    paid: [Money; 2],
) -> Result<(), CallError> {
    let ([before, after], [points_before, points_after]) = (still_paid, paid);
    let (before, after) = (before.remaining_after(points_before), after.remaining_after(points_after));
    let mut details = Map::new();
    for (name, points) in [("earned_points", &moved_points.earned), ("spent_points", &moved_points.spent)] {
        if !points.is_empty() {
            details.insert(name.into(), Json::Array(points.clone()));
        }
    }
    if paid.iter().any(|paid| !paid.is_zero()) {
        details.insert("refund_amount".into(), before.remaining_after(after).minor().into());
    }
    if details.is_empty() {
        return Ok(());
    }
    orders::update_last_return(call.store, order_id, details);
    commit::settle_first(call)
}
