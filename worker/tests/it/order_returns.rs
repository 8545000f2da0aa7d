//! Tests partial returns through the routes. Random orders with codes, gift cards and points of both forms of loyalty are returned in
//! random steps, and compared with the sum of the answers. All refunds equal the paid amount, and every card has its state before the
//! order.

mod free_units;
mod rollbacks;

use crate::in_process::Edge;
use crate::shops::random::Random;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_366_400_000;
const ORDERS: u64 = 300;

fn call(edge: &Edge, method: &str, path: &str, body: &Json) -> (u16, Json) {
    let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let reply =
        edge.send(Request { method: method.into(), path: path.into(), query: String::new(), headers, body }, NOW, None);
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
}

fn create(edge: &Edge, path: &str, body: &Json) -> Json {
    let (status, created) = call(edge, "POST", path, body);
    assert!(status < 300, "{path}: {status} {created}");
    created
}

fn id(created: &Json) -> String {
    created["id"].as_str().unwrap().to_owned()
}

struct Shop {
    edge: Edge,
    member: String,
}

const CODES: [&str; 5] = ["AMOUNT", "PERCENT", "LINES", "GIFT", "SPREAD"];

impl Shop {
    fn open() -> Shop {
        let edge = Edge::new();
        let coupon = |code: &str, discount: Json| {
            create(
                &edge,
                &format!("/v1/vouchers/{code}"),
                &json!({ "type": "DISCOUNT_VOUCHER", "discount": discount }),
            );
        };
        coupon("AMOUNT", json!({ "type": "AMOUNT", "amount_off": 333 }));
        coupon("PERCENT", json!({ "type": "PERCENT", "percent_off": 12.5 }));
        coupon("LINES", json!({ "type": "PERCENT", "percent_off": 7, "effect": "APPLY_TO_ITEMS" }));
        coupon("SPREAD", json!({ "type": "AMOUNT", "amount_off": 101, "effect": "APPLY_TO_ITEMS_PROPORTIONALLY" }));
        create(&edge, "/v1/vouchers/GIFT", &json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 1_000_000 } }));
        create(&edge, "/v1/loyalties", &json!({ "name": "Club", "voucher": { "loyalty_card": { "points": 0 } } }));
        create(&edge, "/v1/campaigns/Club/vouchers/CARD", &json!({}));
        let joins = json!({ "voucher": "CARD", "customer": { "source_id": "ann" } });
        create(&edge, "/v1/loyalties/Club/members", &joins);
        let amount = json!({ "amount": { "every": 100, "points": 3 } });
        let loyalty = json!({ "type": "PROPORTIONAL", "calculation_type": "ORDER_AMOUNT", "order": amount });
        create(&edge, "/v1/loyalties/Club/earning-rules", &json!([{ "event": "order.paid", "loyalty": loyalty }]));
        let back =
            json!({ "type": "REFUNDABLE", "methods": [{ "type": "REVOKE_FROM_BALANCE", "mode": "REVOKE_TO_ZERO" }] });
        let refunds = json!({ "earned_points": back });
        let card = json!({ "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE", "refunds": refunds });
        let card = id(&create(&edge, "/v2/loyalties/card-definitions", &card));
        let earnings = json!([{ "effects": [{ "points_proportional": {
            "calculation_type": "PRE_DISCOUNT_ORDER_AMOUNT", "card_definition_id": card, "order": { "amount": { "every": 100, "value": 1 } } } }] }]);
        let rule = json!({ "name": "rule", "status": "ACTIVE", "trigger": { "event": "customer.order.paid" }, "earnings": earnings });
        let rule = id(&create(&edge, "/v2/loyalties/earning-rules", &rule));
        let program = json!({
            "name": "Program", "status": "ACTIVE", "card_definitions": [{ "id": card }], "earning_rules": [{ "id": rule }],
        });
        let program = id(&create(&edge, "/v2/loyalties/programs", &program));
        let customer = id(&call(&edge, "GET", "/v1/customers/ann", &Json::Null).1);
        let members = format!("/v2/loyalties/programs/{program}/members");
        let member = id(&create(&edge, &members, &json!({ "customer_id": customer })));
        Shop { edge, member: format!("{members}/{member}") }
    }

    /// Returns the balances of the cards: credits, v1 points, v2 points, and the redemptions of codes.
    fn found(&self) -> Vec<i64> {
        let get = |path: &str| call(&self.edge, "GET", path, &Json::Null).1;
        let mut found = vec![
            get("/v1/vouchers/GIFT")["gift"]["balance"].as_i64().unwrap(),
            get("/v1/vouchers/CARD")["loyalty_card"]["balance"].as_i64().unwrap(),
            get(&self.member).pointer("/cards/0/card/balance/points").and_then(Json::as_i64).unwrap(),
        ];
        for code in CODES {
            let voucher = get(&format!("/v1/vouchers/{code}"));
            found.push(voucher["redemption"]["redeemed_quantity"].as_i64().unwrap());
        }
        found
    }

    /// Redeems random codes on a random order; returns the order.
    fn buy(&self, random: &mut Random, number: u64) -> Json {
        let lines = 1 + random.below(4);
        let item = |place: u64, random: &mut Random| json!({ "source_id": format!("g{place}"), "related_object": "product", "quantity": 1 + random.below(4), "price": random.below(900) });
        let items: Vec<Json> = (0..lines).map(|place| item(place, random)).collect();
        let mut redeemables = Vec::new();
        for code in CODES.iter().filter(|_| random.below(2) == 0).collect::<Vec<_>>() {
            let mut redeemable = json!({ "object": "voucher", "id": code });
            if *code == "GIFT" {
                redeemable["gift"] = json!({ "credits": 1 + random.below(700) });
            }
            redeemables.push(redeemable);
        }
        if redeemables.is_empty() {
            redeemables.push(json!({ "object": "voucher", "id": "PERCENT" }));
        }
        let body = json!({
            "redeemables": redeemables, "customer": { "source_id": "ann" },
            "order": { "source_id": format!("o{number}"), "items": items },
        });
        create(&self.edge, "/v1/redemptions", &body)["order"].clone()
    }

    /// Returns random units, by the route or by changing the order; returns the new order.
    fn give_back(&self, random: &mut Random, order: &Json) -> Json {
        let items = order["items"].as_array().unwrap();
        let place = usize::try_from(random.below(items.len() as u64)).unwrap();
        let quantity = items[place]["quantity"].as_u64().unwrap();
        let units = 1 + random.below(quantity);
        let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
        let by_change = random.below(3) == 0;
        if !by_change {
            let body = json!({ "items": [{ "id": items[place]["id"], "quantity": units }] });
            return create(&self.edge, &format!("{path}/returns"), &body)["order"].clone();
        }
        let kept = |(at, item): (usize, &Json)| {
            let left = item["quantity"].as_u64().unwrap() - if at == place { units } else { 0 };
            let sent = json!({ "source_id": item["source_id"], "related_object": "product", "quantity": left, "price": item["price"] });
            (left > 0).then_some(sent)
        };
        let items: Vec<Json> = items.iter().enumerate().filter_map(kept).collect();
        let (status, order) = call(&self.edge, "PUT", &path, &json!({ "items": items }));
        assert_eq!(status, 200, "{order}");
        order
    }
}

#[test]
fn a_complete_return_restores_all_balances() {
    let shop = Shop::open();
    let mut random = Random::new(7);
    for number in 0..ORDERS {
        let before = shop.found();
        let mut order = shop.buy(&mut random, number);
        let paid = order["total_amount"].as_i64().unwrap();
        while order["items"].as_array().is_some_and(|items| !items.is_empty()) {
            order = shop.give_back(&mut random, &order);
            let refunds = order["returns"].as_array().unwrap().iter().map(|one| one["refund_amount"].as_i64().unwrap());
            let rest = order["total_amount"].as_i64().unwrap_or(0);
            assert_eq!(refunds.sum::<i64>() + rest, paid, "order {number}: {order}");
        }
        assert_eq!(shop.found(), before, "order {number}: {order}");
    }
}

/// Changes an order at random: units are returned, prices fall, another code is redeemed with fewer units, or a redemption is rolled back
/// while the order stays paid. Returns the new order.
fn change(shop: &Shop, random: &mut Random, order: &Json) -> Json {
    let items = order["items"].as_array().unwrap();
    let place = usize::try_from(random.below(items.len() as u64)).unwrap();
    let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
    let fewer = |units: u64, price: &dyn Fn(u64) -> u64| {
        let line = |(at, item): (usize, &Json)| {
            let left = item["quantity"].as_u64().unwrap().saturating_sub(if at == place { units } else { 0 });
            let price = price(item["price"].as_u64().unwrap());
            let sent = json!({ "source_id": item["source_id"], "related_object": "product", "quantity": left, "price": price });
            (left > 0).then_some(sent)
        };
        items.iter().enumerate().filter_map(line).collect::<Vec<Json>>()
    };
    match random.below(5) {
        0 => shop.give_back(random, order),
        1 => {
            let share = 1 + random.below(9);
            let cheaper = fewer(random.below(2), &|price| price * share / 10);
            call(&shop.edge, "PUT", &path, &json!({ "items": cheaper })).1
        }
        2 => {
            let redeemable = json!({ "object": "voucher", "id": CODES[usize::try_from(random.below(3)).unwrap()] });
            let lines = fewer(1, &|price| price);
            if lines.is_empty() {
                return order.clone();
            }
            let body = json!({ "redeemables": [redeemable], "order": { "id": order["id"], "items": lines } });
            let (status, _) = call(&shop.edge, "POST", "/v1/redemptions", &body);
            assert!(status == 200 || status == 400, "{body}");
            call(&shop.edge, "GET", &path, &Json::Null).1
        }
        _ => {
            let standing =
                order["redemptions"].as_object().unwrap().iter().find(|(_, one)| one["rollback_id"].is_null());
            let Some((id, one)) = standing.filter(|_| random.below(2) == 0) else {
                return shop.give_back(random, order);
            };
            let route = if one["stacked"].is_array() { "rollbacks" } else { "rollback" };
            create(&shop.edge, &format!("/v1/redemptions/{id}/{route}"), &json!({ "order": { "status": "PAID" } }));
            call(&shop.edge, "GET", &path, &Json::Null).1
        }
    }
}

#[test]
fn refunds_never_exceed_what_was_paid() {
    let shop = Shop::open();
    let mut random = Random::new(11);
    let cards = shop.found()[0];
    for number in 0..ORDERS {
        let mut order = shop.buy(&mut random, number);
        let paid = order["total_amount"].as_i64().unwrap();
        while order["items"].as_array().is_some_and(|items| !items.is_empty()) {
            let before = order.clone();
            order = change(&shop, &mut random, &order);
            let number_of = |name: &str| order[name].as_i64().unwrap_or(0);
            let refunds = order["returns"].as_array().into_iter().flatten();
            let refunded: i64 = refunds.map(|one| one["refund_amount"].as_i64().unwrap()).sum();
            let owed = number_of("uncovered_amount");
            assert!(refunded + number_of("total_amount") - owed <= paid, "order {number}: {before} then {order}");
        }
        assert_eq!(shop.found()[0], cards, "order {number}: {order}");
    }
}
