//! Tests the points of orders that change, through the routes. Random orders are lowered, raised and returned in random steps, under a rule
//! for all goods and rules for some of them, in both forms of loyalty. After each step an order has the points that a naive second model
//! computes. At the end they equal the points of a new order of another customer.

use crate::in_process::Edge;
use crate::shops::random::Random;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_366_400_000;
const ORDERS: u64 = 400;
const STEPS: u64 = 6;
const NAMES: [&str; 2] = ["ann", "ben"];
const GOODS: [&str; 3] = ["tea", "mug", "cap"];

fn call(edge: &Edge, method: &str, path: &str, body: &Json) -> (u16, Json) {
    let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let reply =
        edge.send(Request { method: method.into(), path: path.into(), query: String::new(), headers, body }, NOW, None);
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
}

fn create(edge: &Edge, path: &str, body: &Json) -> Json {
    let (status, made) = call(edge, "POST", path, body);
    assert!(status < 300, "{path}: {status} {made}");
    made
}

fn id(made: &Json) -> String {
    made["id"].as_str().unwrap().to_owned()
}

/// Units of goods and their price.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    goods: usize,
    quantity: i64,
    price: i64,
}

/// Returns the points of an order: one for each whole 100 of all, three for each whole 250 of tea, and five for each two mugs.
fn points_of(lines: &[Line]) -> i64 {
    let of = |goods: usize| lines.iter().filter(move |line| line.goods == goods);
    let amount = |line: &Line| line.quantity * line.price;
    let all: i64 = lines.iter().map(amount).sum();
    let tea: i64 = of(0).map(amount).sum();
    let mugs: i64 = of(1).map(|line| line.quantity).sum();
    all / 100 + tea / 250 * 3 + mugs / 2 * 5
}

struct Shop {
    edge: Edge,
    goods: Vec<String>,
    members: Vec<String>,
}

impl Shop {
    fn open() -> Shop {
        let edge = Edge::new();
        let goods: Vec<String> =
            GOODS.iter().map(|name| id(&create(&edge, "/v1/products", &json!({ "name": name })))).collect();
        for name in NAMES {
            create(&edge, "/v1/customers", &json!({ "source_id": name }));
        }
        Shop::open_campaign(&edge, &goods);
        let members = Shop::open_program(&edge, &goods);
        Shop { edge, goods, members }
    }

    fn open_campaign(edge: &Edge, goods: &[String]) {
        create(edge, "/v1/loyalties", &json!({ "name": "Club", "voucher": { "loyalty_card": { "points": 0 } } }));
        for name in NAMES {
            create(edge, &format!("/v1/campaigns/Club/vouchers/{name}-card"), &json!({}));
            let joins = json!({ "voucher": format!("{name}-card"), "customer": { "source_id": name } });
            create(edge, "/v1/loyalties/Club/members", &joins);
        }
        let rule = |calculation: &str, outer: &str, block: Json| {
            let loyalty = json!({ "type": "PROPORTIONAL", "calculation_type": calculation, outer: block });
            json!({ "event": "order.paid", "loyalty": loyalty })
        };
        let rules = json!([
            rule("ORDER_AMOUNT", "order", json!({ "amount": { "every": 100, "points": 1 } })),
            rule(
                "ORDER_ITEMS_AMOUNT",
                "order_items",
                json!({ "amount": { "every": 250, "points": 3, "object": "product", "id": goods[0] } })
            ),
            rule(
                "ORDER_ITEMS_QUANTITY",
                "order_items",
                json!({ "quantity": { "every": 2, "points": 5, "object": "product", "id": goods[1] } })
            ),
        ]);
        create(edge, "/v1/loyalties/Club/earning-rules", &rules);
    }

    fn open_program(edge: &Edge, goods: &[String]) -> Vec<String> {
        let refunds =
            json!({ "type": "REFUNDABLE", "methods": [{ "type": "REVOKE_FROM_BALANCE", "mode": "REVOKE_TO_ZERO" }] });
        let card = json!({ "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE", "refunds": { "earned_points": refunds } });
        let card = id(&create(edge, "/v2/loyalties/card-definitions", &card));
        let effect = |calculation: &str, outer: &str, block: Json| json!({ "points_proportional": { "calculation_type": calculation, "card_definition_id": card, outer: block } });
        let of = |goods: &String| json!([{ "type": "product", "product": { "id": goods } }]);
        // Two effects of one rule, and a rule of its own.
        let effects = [
            json!([
                effect("PRE_DISCOUNT_ORDER_AMOUNT", "order", json!({ "amount": { "every": 100, "value": 1 } })),
                effect(
                    "PRE_DISCOUNT_ORDER_ITEMS_AMOUNT",
                    "order_items",
                    json!({ "amount": { "every": 250, "value": 3, "applicable_to": of(&goods[0]) } })
                ),
            ]),
            json!([effect(
                "ORDER_ITEMS_QUANTITY",
                "order_items",
                json!({ "quantity": { "every": 2, "value": 5, "applicable_to": of(&goods[1]) } })
            ),]),
        ];
        let rule = |(index, effects): (usize, &Json)| {
            let rule = json!({
                "name": format!("rule {index}"), "status": "ACTIVE", "trigger": { "event": "customer.order.paid" },
                "earnings": [{ "effects": effects }],
            });
            json!({ "id": id(&create(edge, "/v2/loyalties/earning-rules", &rule)) })
        };
        let rules: Vec<Json> = effects.iter().enumerate().map(rule).collect();
        let program = json!({ "name": "Program", "status": "ACTIVE", "card_definitions": [{ "id": card }], "earning_rules": rules });
        let members =
            format!("/v2/loyalties/programs/{}/members", id(&create(edge, "/v2/loyalties/programs", &program)));
        let join = |name: &&str| {
            let customer = id(&call(edge, "GET", &format!("/v1/customers/{name}"), &Json::Null).1);
            format!("{members}/{}", id(&create(edge, &members, &json!({ "customer_id": customer }))))
        };
        NAMES.iter().map(join).collect()
    }

    /// Returns the points of a customer: of the card of the campaign, and of the card of the program.
    fn points(&self, customer: usize) -> [i64; 2] {
        let get = |path: &str| call(&self.edge, "GET", path, &Json::Null).1;
        let card = get(&format!("/v1/vouchers/{}-card", NAMES[customer]));
        let member = get(&self.members[customer]);
        [
            card["loyalty_card"]["balance"].as_i64().unwrap(),
            member.pointer("/cards/0/card/balance/points").and_then(Json::as_i64).unwrap(),
        ]
    }

    fn items(&self, lines: &[Line]) -> Json {
        let item = |line: &Line| json!({ "product_id": self.goods[line.goods], "quantity": line.quantity, "price": line.price });
        lines.iter().map(item).collect()
    }

    fn pay(&self, customer: usize, source_id: &str, lines: &[Line]) {
        let customer = json!({ "source_id": NAMES[customer] });
        let order =
            json!({ "source_id": source_id, "status": "PAID", "customer": customer, "items": self.items(lines) });
        create(&self.edge, "/v1/orders", &order);
    }

    /// Changes an order at random; returns its new lines.
    fn change(&self, random: &mut Random, source_id: &str, lines: &[Line]) -> Vec<Line> {
        let path = format!("/v1/orders/{source_id}");
        if random.below(3) > 0 || lines.is_empty() {
            let lines = random_lines(random);
            let (status, order) = call(&self.edge, "PUT", &path, &json!({ "items": self.items(&lines) }));
            assert_eq!(status, 200, "{order}");
            return lines;
        }
        let index = usize::try_from(random.below(lines.len() as u64)).unwrap();
        let units = 1 + random.below(lines[index].quantity.unsigned_abs());
        let (_, order) = call(&self.edge, "GET", &path, &Json::Null);
        let refunds = json!({ "items": [{ "id": order["items"][index]["id"], "quantity": units }] });
        create(&self.edge, &format!("{path}/returns"), &refunds);
        let mut lines = lines.to_vec();
        lines[index].quantity -= i64::try_from(units).unwrap();
        lines.retain(|line| line.quantity > 0);
        lines
    }
}

/// Draws one to three lines of different goods.
fn random_lines(random: &mut Random) -> Vec<Line> {
    let mut number = |most: u64| i64::try_from(random.below(most)).unwrap();
    let mut lines: Vec<Line> =
        (0..GOODS.len()).map(|goods| Line { goods, quantity: number(4), price: 1 + number(900) }).collect();
    lines.retain(|line| line.quantity > 0);
    if lines.is_empty() {
        lines.push(Line { goods: 1, quantity: 1, price: 30 });
    }
    lines
}

#[test]
fn a_changed_order_has_the_points_of_a_new_one() {
    let shop = Shop::open();
    let mut random = Random::new(11);
    for number in 0..ORDERS {
        let before = shop.points(0);
        let source_id = format!("o{number}");
        let mut lines = random_lines(&mut random);
        shop.pay(0, &source_id, &lines);
        let check = |lines: &[Line], step: u64| {
            let points = shop.points(0).map(|points| points - points_of(lines));
            assert_eq!(points, before, "order {number}, step {step}: {lines:?}");
        };
        check(&lines, 0);
        for step in 0..random.below(STEPS) {
            lines = shop.change(&mut random, &source_id, &lines);
            check(&lines, step + 1);
        }
        if !lines.is_empty() {
            let others = shop.points(1);
            shop.pay(1, &format!("new{number}"), &lines);
            let earned = [0, 1].map(|form: usize| shop.points(1)[form] - others[form]);
            assert_eq!(earned, [points_of(&lines); 2], "a new order {number}: {lines:?}");
        }
    }
}
