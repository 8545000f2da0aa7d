//! Tests stored amounts that are corrupt: an operation that needs one fails as a whole, and no other amount is taken instead.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_366_400_000;
const PROJECT: &str = "proj_dev";

fn call(edge: &Edge, method: &str, path: &str, body: &Json) -> (u16, Json) {
    let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let body = body.to_string().into_bytes();
    let request = Request { method: method.into(), path: path.into(), headers, body, ..Request::default() };
    let reply = edge.send(request, NOW, None);
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
}

fn make(edge: &Edge, path: &str, body: &Json) -> Json {
    let (status, answer) = call(edge, "POST", path, body);
    assert!(status < 300, "{path}: {status} {answer}");
    answer
}

/// A member whose points have paid a part of an order.
struct PaidOrder {
    edge: Edge,
    order: String,
    payments: String,
    card: String,
}

impl PaidOrder {
    fn new() -> PaidOrder {
        let edge = Edge::new();
        let id = |answer: &Json| answer["id"].as_str().unwrap().to_owned();
        let ann = id(&make(&edge, "/v1/customers", &json!({ "source_id": "ann" })));
        let definition = json!({ "name": "Points", "type": "INDIVIDUAL", "status": "ACTIVE",
            "pay_with_points": { "type": "EXCHANGE_RATIO", "exchange_ratio": { "formula": "1" } } });
        let definition = id(&make(&edge, "/v2/loyalties/card-definitions", &definition));
        let effect = json!({ "points": { "value": 1, "card_definition_id": definition } });
        let rule = json!({ "name": "Rule", "status": "ACTIVE", "trigger": { "event": "customer.order.paid" },
            "earnings": [{ "effects": [effect] }] });
        let rule = id(&make(&edge, "/v2/loyalties/earning-rules", &rule));
        let program = json!({ "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": definition }],
            "earning_rules": [{ "id": rule }] });
        let program = id(&make(&edge, "/v2/loyalties/programs", &program));
        let members = format!("/v2/loyalties/programs/{program}/members");
        let member = make(&edge, &members, &json!({ "customer_id": ann }));
        let card = member["cards"][0]["card"]["id"].as_str().unwrap().to_owned();
        let member = format!("{members}/{}", id(&member));
        make(&edge, &format!("{member}/cards/{card}/points"), &json!({ "points": 700 }));
        let order = json!({ "source_id": "order-1", "amount": 1000, "customer": { "id": ann } });
        let order = id(&make(&edge, "/v1/orders", &order));
        let paid = PaidOrder { edge, order, payments: format!("{member}/orders/payments"), card };
        assert_eq!(paid.pay().0, 202);
        paid
    }

    /// Pays at most 100 with points.
    fn pay(&self) -> (u16, Json) {
        let limit = json!({ "type": "AMOUNT_LIMIT", "amount_limit": { "max": 100 } });
        let body = json!({ "card_id": self.card, "order": { "id": self.order }, "payment_limit": limit });
        call(&self.edge, "POST", &self.payments, &body)
    }

    fn cancel(&self) -> (u16, Json) {
        call(&self.edge, "PUT", &format!("/v1/orders/{}", self.order), &json!({ "status": "CANCELED" }))
    }

    /// Asserts that a call fails with 500 and writes nothing.
    fn assert_fails(&self, name: &str, act: impl Fn(&PaidOrder) -> (u16, Json)) {
        let before = self.edge.rows(PROJECT);
        let (status, answer) = act(self);
        assert_eq!(status, 500, "{name}: {answer}");
        assert_eq!(self.edge.rows(PROJECT), before, "{name}: nothing is written");
    }
}

#[test]
fn a_payment_whose_stored_numbers_are_corrupt_is_not_refunded() {
    // The points and the amount of the payment.
    for (member, value) in
        [("spent", "'seven'"), ("amount", "'seven'"), ("amount", "-1"), ("amount", "9007199254740993")]
    {
        let paid = PaidOrder::new();
        let statement = format!(
            "UPDATE document SET body = json_set(body, '$.kept.{member}', {value}) WHERE kind = 'order_transaction'"
        );
        paid.edge.run(PROJECT, &statement, &[]);
        paid.assert_fails(&format!("{member} {value}"), PaidOrder::cancel);
    }
    let paid = PaidOrder::new();
    assert_eq!(paid.cancel().0, 200);
}

#[test]
fn an_order_whose_paid_amount_is_corrupt_takes_no_payment() {
    for balance in ["-1", "9007199254740993"] {
        let paid = PaidOrder::new();
        let statement =
            format!("UPDATE account SET balance = {balance} WHERE id = 'order/{}/paid_with_points'", paid.order);
        paid.edge.run(PROJECT, &statement, &[]);
        paid.assert_fails(balance, PaidOrder::pay);
    }
    let paid = PaidOrder::new();
    assert_eq!(paid.pay().0, 202);
}
