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

/// Asserts that a call fails with 500 and writes nothing.
fn assert_fails(edge: &Edge, name: &str, act: impl Fn() -> (u16, Json)) {
    let before = edge.rows(PROJECT);
    let (status, answer) = act();
    assert_eq!(status, 500, "{name}: {answer}");
    assert_eq!(edge.rows(PROJECT), before, "{name}: nothing is written");
}

/// Sets a member of all stored documents of a kind to a JSON value.
fn corrupt(edge: &Edge, kind: &str, path: &str, value: &Json) {
    let statement =
        format!("UPDATE document SET body = json_set(body, '{path}', json('{value}')) WHERE kind = '{kind}'");
    edge.run(PROJECT, &statement, &[]);
}

/// A member whose points have paid a part of an order. The program has a reward.
struct PaidOrder {
    edge: Edge,
    order: String,
    program: String,
    member: String,
    card: String,
    reward: String,
}

impl PaidOrder {
    fn new() -> PaidOrder {
        let edge = Edge::new();
        let id = |answer: &Json| answer["id"].as_str().unwrap().to_owned();
        let ann = id(&make(&edge, "/v1/customers", &json!({ "source_id": "ann" })));
        let definition = json!({ "name": "Points", "type": "INDIVIDUAL", "status": "ACTIVE",
            "pay_with_points": { "type": "EXCHANGE_RATIO", "exchange_ratio": { "formula": "1" } },
            "refunds": { "spent_points": { "type": "REFUNDABLE", "methods": [{ "type": "RETURN_POINTS", "mode": "REFUND_ALL" }] } } });
        let definition = id(&make(&edge, "/v2/loyalties/card-definitions", &definition));
        let effect = json!({ "points": { "value": 1, "card_definition_id": definition } });
        let rule = json!({ "name": "Rule", "status": "ACTIVE", "trigger": { "event": "customer.order.paid" },
            "earnings": [{ "effects": [effect] }] });
        let rule = id(&make(&edge, "/v2/loyalties/earning-rules", &rule));
        let mug = id(&make(&edge, "/v1/products", &json!({ "source_id": "mug", "name": "Mug" })));
        let reward = json!({ "name": "Mug", "status": "ACTIVE", "refunds": { "type": "REFUNDABLE" }, "type": "MATERIAL",
            "costs": [{ "spending": [{ "points": 10, "card_definition_id": definition }] }],
            "material": { "type": "PRODUCT", "product": { "id": mug } } });
        let reward = id(&make(&edge, "/v2/loyalties/rewards", &reward));
        let program = json!({ "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": definition }],
            "earning_rules": [{ "id": rule }], "rewards": [{ "id": reward, "stock": { "type": "UNLIMITED" } }] });
        let program = id(&make(&edge, "/v2/loyalties/programs", &program));
        let members = format!("/v2/loyalties/programs/{program}/members");
        let member = make(&edge, &members, &json!({ "customer_id": ann }));
        let card = member["cards"][0]["card"]["id"].as_str().unwrap().to_owned();
        let member = format!("{members}/{}", id(&member));
        make(&edge, &format!("{member}/cards/{card}/points"), &json!({ "points": 700 }));
        let order = json!({ "source_id": "order-1", "amount": 1000, "customer": { "id": ann } });
        let order = id(&make(&edge, "/v1/orders", &order));
        let paid = PaidOrder { edge, order, program, member, card, reward };
        assert_eq!(paid.pay().0, 202);
        paid
    }

    /// Pays at most 100 with points.
    fn pay(&self) -> (u16, Json) {
        let limit = json!({ "type": "AMOUNT_LIMIT", "amount_limit": { "max": 100 } });
        let body = json!({ "card_id": self.card, "order": { "id": self.order }, "payment_limit": limit });
        call(&self.edge, "POST", &format!("{}/orders/payments", self.member), &body)
    }

    /// Buys the reward; returns the path of the refund.
    fn buy(&self) -> String {
        let bought =
            make(&self.edge, &format!("{}/rewards/purchases", self.member), &json!({ "reward_id": self.reward }));
        let transaction = bought["transaction"]["id"].as_str().unwrap();
        format!("/v2/loyalties/programs/{}/rewards/purchases/{transaction}/refund", self.program)
    }

    fn cancel(&self) -> (u16, Json) {
        call(&self.edge, "PUT", &format!("/v1/orders/{}", self.order), &json!({ "status": "CANCELED" }))
    }

    /// Asserts that a call fails with 500 and writes nothing.
    fn assert_fails(&self, name: &str, act: impl Fn(&PaidOrder) -> (u16, Json)) {
        assert_fails(&self.edge, name, || act(self));
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
fn a_payment_with_an_unreadable_snapshot_is_not_refunded() {
    let corrupted = [
        ("", "json('7')"),
        ("", "json('null')"),
        (".amount", "'seven'"),
        (".amount", "-1"),
        (".goods", "json('null')"),
        (".goods", "json('[[\"mug\", 1]]')"),
        (".goods", "json('[[\"mug\", 1, -1]]')"),
    ];
    for (member, value) in corrupted {
        let paid = PaidOrder::new();
        let statement = format!(
            "UPDATE document SET body = json_set(body, '$.kept.bought{member}', {value}) WHERE kind = 'order_transaction'"
        );
        paid.edge.run(PROJECT, &statement, &[]);
        paid.assert_fails(&format!("{member} {value}"), PaidOrder::cancel);
    }
    // Payments that are older than snapshots have none.
    let paid = PaidOrder::new();
    let statement = "UPDATE document SET body = json_remove(body, '$.kept.bought') WHERE kind = 'order_transaction'";
    paid.edge.run(PROJECT, statement, &[]);
    assert_eq!(paid.cancel().0, 200);
}

#[test]
fn points_whose_card_transaction_is_missing_are_not_refunded() {
    let delete = |paid: &PaidOrder| paid.edge.run(PROJECT, "DELETE FROM document WHERE kind = 'card_transaction'", &[]);
    let paid = PaidOrder::new();
    delete(&paid);
    paid.assert_fails("payment", PaidOrder::cancel);
    let paid = PaidOrder::new();
    let refund = paid.buy();
    delete(&paid);
    paid.assert_fails("purchase", |paid| call(&paid.edge, "POST", &refund, &json!({})));
    let paid = PaidOrder::new();
    let (status, answer) = call(&paid.edge, "POST", &paid.buy(), &json!({}));
    assert_eq!((status, &answer["transaction"]["details"]["points"]["total"]), (202, &json!(10)), "{answer}");
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

/// Returns a loyalty campaign with a card whose holder earns points for paid orders; `rule` is added to the earning rule.
fn club(rule: &Json) -> Edge {
    let edge = Edge::new();
    let campaign = json!({ "name": "Club", "loyalty_tiers_expiration": { "qualification_type": "BALANCE" },
        "voucher": { "loyalty_card": { "points": 20, "expiration_rules": { "period_type": "MONTH", "period_value": 2 } } } });
    make(&edge, "/v1/loyalties", &campaign);
    make(&edge, "/v1/campaigns/Club/vouchers/CARD", &json!({}));
    make(&edge, "/v1/loyalties/Club/members", &json!({ "voucher": "CARD", "customer": { "source_id": "ann" } }));
    let mut earning = json!({ "event": "order.paid", "loyalty": { "type": "FIXED", "points": 15 } });
    earning.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
    make(&edge, "/v1/loyalties/Club/earning-rules", &json!([earning]));
    edge
}

fn pay_order(edge: &Edge) -> (u16, Json) {
    let order = json!({ "source_id": "order-1", "status": "PAID", "amount": 1000, "customer": { "source_id": "ann" } });
    call(edge, "POST", "/v1/orders", &order)
}

/// Expiration rules that cannot be read.
fn unreadable_rules() -> [Json; 3] {
    [json!({ "period_type": "SOON" }), json!({ "period_type": "MONTH", "period_value": -1 }), json!("never")]
}

#[test]
fn points_of_a_campaign_with_unreadable_expiration_rules_are_not_credited() {
    let add = |edge: &Edge| call(edge, "POST", "/v1/loyalties/members/CARD/balance", &json!({ "points": 10 }));
    for rules in unreadable_rules() {
        let edge = club(&json!({}));
        corrupt(&edge, "campaign", "$.voucher.loyalty_card.expiration_rules", &rules);
        assert_fails(&edge, &format!("balance {rules}"), || add(&edge));
        assert_fails(&edge, &format!("order {rules}"), || pay_order(&edge));
    }
    // Points without rules never expire.
    let edge = club(&json!({}));
    corrupt(&edge, "campaign", "$.voucher.loyalty_card.expiration_rules", &Json::Null);
    assert_eq!((add(&edge).0, pay_order(&edge).0), (200, 200));
}

#[test]
fn points_of_an_earning_rule_with_unreadable_expiration_rules_are_not_credited() {
    for pending in [json!({}), json!({ "pending_points": { "period_type": "DAY", "period_value": 3 } })] {
        for rules in unreadable_rules() {
            let edge = club(&pending);
            corrupt(&edge, "earning_rule", "$.expiration_rules", &rules);
            assert_fails(&edge, &format!("{pending} {rules}"), || pay_order(&edge));
        }
        assert_eq!(pay_order(&club(&pending)).0, 200);
    }
}

#[test]
fn pending_points_with_unreadable_expiration_rules_are_not_activated() {
    let activate = |edge: &Edge| {
        let (_, list) = call(edge, "GET", "/v1/loyalties/members/CARD/pending-points", &Json::Null);
        let id = list["data"][0]["id"].as_str().unwrap().to_owned();
        call(edge, "POST", &format!("/v1/loyalties/members/CARD/pending-points/{id}/activate"), &json!({}))
    };
    let pending = json!({ "pending_points": { "period_type": "DAY", "period_value": 3 } });
    for rules in unreadable_rules() {
        let edge = club(&pending);
        assert_eq!(pay_order(&edge).0, 200);
        corrupt(&edge, "pending_points", "$.expiration_rules", &rules);
        assert_fails(&edge, &rules.to_string(), || activate(&edge));
    }
    let edge = club(&pending);
    assert_eq!((pay_order(&edge).0, activate(&edge).0), (200, 200));
}

/// Lowers the amount of an order, which takes a part of its points back.
fn lower_order(edge: &Edge) -> (u16, Json) {
    let (_, orders) = call(edge, "GET", "/v1/orders", &Json::Null);
    let order = format!("/v1/orders/{}", orders["orders"][0]["id"].as_str().unwrap());
    call(edge, "PUT", &order, &json!({ "amount": 500 }))
}

#[test]
fn earned_points_with_an_unreadable_basis_are_not_revoked() {
    let proportional = json!({ "loyalty": { "type": "PROPORTIONAL", "calculation_type": "ORDER_AMOUNT",
        "order": { "amount": { "every": 100, "points": 1 } } } });
    let corrupt_members = [
        ("basis", json!({ "amount": { "points": -1 } })),
        ("basis", json!({})),
        ("tier_millionths", json!("double")),
        ("tier_points", json!(-1)),
    ];
    for (member, value) in corrupt_members {
        let edge = club(&proportional);
        assert_eq!(pay_order(&edge).0, 200);
        corrupt(&edge, "program_occasion", &format!("$.points[0].{member}"), &value);
        assert_fails(&edge, &format!("{member} {value}"), || lower_order(&edge));
    }
    let edge = club(&proportional);
    assert_eq!((pay_order(&edge).0, lower_order(&edge).0), (200, 200));
}

#[test]
fn earned_points_that_expire_at_no_instant_are_not_revoked() {
    for at in [json!("never"), json!(9_007_199_254_740_993_i64), json!(1.5)] {
        let edge = club(&json!({}));
        assert_eq!(pay_order(&edge).0, 200);
        corrupt(&edge, "program_occasion", "$.points[0].lapses_at", &at);
        assert_fails(&edge, &at.to_string(), || lower_order(&edge));
    }
    let pending = json!({ "pending_points": { "period_type": "DAY", "period_value": 3 } });
    let edge = club(&pending);
    assert_eq!(pay_order(&edge).0, 200);
    corrupt(&edge, "pending_points", "$.at", &json!("soon"));
    assert_fails(&edge, "pending", || lower_order(&edge));
    for rule in [json!({}), pending] {
        let edge = club(&rule);
        assert_eq!((pay_order(&edge).0, lower_order(&edge).0), (200, 200));
    }
}

#[test]
fn a_card_of_a_campaign_with_an_unreadable_qualification_has_no_tier() {
    let tiers = |edge: &Edge| call(edge, "GET", "/v1/loyalties/members/CARD/tiers", &Json::Null);
    let silver = json!([{ "name": "Silver", "points": { "from": 1, "to": 100 } }]);
    for qualification in [json!({ "qualification_type": "LUCK" }), json!([])] {
        let edge = club(&json!({}));
        make(&edge, "/v1/loyalties/Club/tiers", &silver);
        assert_eq!(tiers(&edge).1["data"][0]["name"], "Silver");
        corrupt(&edge, "campaign", "$.loyalty_tiers_expiration", &qualification);
        assert_fails(&edge, &qualification.to_string(), || tiers(&edge));
    }
}

#[test]
fn a_redemption_whose_stored_time_is_out_of_bounds_is_not_rolled_back() {
    for at in ["-1", "9007199254740993"] {
        let edge = Edge::new();
        let voucher = json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 1000 } });
        make(&edge, "/v1/vouchers/GIFT", &voucher);
        let redemption = json!({ "redeemables": [{ "object": "voucher", "id": "GIFT", "gift": { "credits": 100 } }],
            "order": { "amount": 100 } });
        let answer = make(&edge, "/v1/redemptions", &redemption);
        let path = format!("/v1/redemptions/{}/rollback", answer["redemptions"][0]["id"].as_str().unwrap());
        let (statement, restored) =
            (format!("UPDATE transfer SET at = {at}"), format!("UPDATE transfer SET at = {NOW}"));
        edge.run(PROJECT, &statement, &[]);
        assert_fails(&edge, at, || call(&edge, "POST", &path, &json!({})));
        edge.run(PROJECT, &restored, &[]);
        assert_eq!(call(&edge, "POST", &path, &json!({})).0, 200);
    }
}

#[test]
fn metadata_with_an_unknown_stored_type_is_not_written() {
    let edge = Edge::new();
    // The first call creates the tables.
    make(&edge, "/v1/customers", &json!({ "source_id": "ben" }));
    let schema = json!({ "properties": { "size": { "type": "colour", "optional": true } } });
    let statement =
        "INSERT INTO document (kind, id, key, created_at, body) VALUES ('metadata_schema', 'ms_1', 'customer', 0, ?1)";
    edge.run(PROJECT, statement, &[schema.to_string().into()]);
    let write =
        |metadata: &Json| call(&edge, "POST", "/v1/customers", &json!({ "source_id": "ann", "metadata": metadata }));
    assert_fails(&edge, "colour", || write(&json!({ "size": 1 })));
    assert_eq!(write(&json!({})).0, 200);
}
