//! An order earns once and gives back once, in parts or whole, what it brought and what it was paid with, whichever way and however often it
//! is written, paid, redeemed, rolled back, imported, made less and called off: random histories through the routes against a naive second model, which is the list of how each order stood after
//! each call, gone through from the beginning.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "shops/chance.rs"]
#[allow(dead_code, reason = "the shops draw more kinds of things")]
mod chance;
#[path = "support/edge.rs"]
mod edge;

use chance::Chance;
use edge::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const NOW: i64 = 1_772_366_400_000;
const HISTORIES: u64 = 70;
const STEPS: u64 = 40;
const ORDERS: usize = 5;
/// How often the second rule fires for a member, and how many pieces there are of the incentive.
const TIMES: i64 = 3;
const PIECES: i64 = 4;
/// What a member has to pay with.
const PURSE: i64 = 5_000;

/// How an order stood after a call, whose it is, and whether they were an active member.
#[derive(Debug, Clone)]
struct Stood {
    order: usize,
    status: String,
    amount: i64,
    is_active: bool,
    /// What the call paid with points.
    paid: i64,
}

/// Points that are given back with an order, and what the order came to when they moved.
#[derive(Debug)]
struct Moved {
    points: i64,
    of: i64,
    back: i64,
}

impl Moved {
    /// Gives back what is due when so much is left; says how many points that is.
    fn give_back(&mut self, left: Option<i64>) -> i64 {
        let due = match left {
            None => self.points,
            Some(left) if left >= self.of => 0,
            Some(left) => self.points * (self.of - left) / self.of,
        };
        let now = (due - self.back).max(0);
        self.back += now;
        now
    }
}

/// What must be so after it.
#[derive(Debug, PartialEq, Eq, Default)]
struct Model {
    balance: [i64; 2],
    earned: [i64; 2],
    given_back: [i64; 2],
    spent: [i64; 2],
    refunded: [i64; 2],
    pieces: i64,
}

impl Model {
    fn of(history: &[Stood]) -> Model {
        let mut model = Model { pieces: PIECES, ..Model::default() };
        let mut times = [0; 2];
        let mut statuses: BTreeMap<usize, &str> = BTreeMap::new();
        // Points of the orders that have earned; none of those that gave all back.
        let mut standing: BTreeMap<usize, Vec<Moved>> = BTreeMap::new();
        let mut payments: BTreeMap<usize, Vec<Moved>> = BTreeMap::new();
        for stood in history {
            let who = stood.order % 2;
            let is_new = statuses.insert(stood.order, &stood.status) != Some(&stood.status);
            if is_new && stood.status == "PAID" && stood.is_active && !standing.contains_key(&stood.order) {
                let mut earned = Vec::new();
                let is_often = times[who] < TIMES;
                times[who] += i64::from(is_often);
                for points in
                    [stood.amount / 100, if is_often { 7 } else { 0 }].into_iter().filter(|points| *points > 0)
                {
                    earned.push(Moved { points, of: stood.amount, back: 0 });
                    model.balance[who] += points;
                    model.earned[who] += points;
                }
                let has_piece = model.pieces > 0;
                model.pieces -= i64::from(has_piece);
                if has_piece || !earned.is_empty() {
                    standing.insert(stood.order, earned);
                }
            }
            let left = match stood.status.as_str() {
                "PAID" | "FULFILLED" => Some(Some(stood.amount)),
                "CANCELED" if is_new => Some(None),
                _ => None,
            };
            if let Some(left) = left {
                let sum = |of: &mut BTreeMap<usize, Vec<Moved>>| -> i64 {
                    of.get_mut(&stood.order).into_iter().flatten().map(|moved| moved.give_back(left)).sum()
                };
                let back = sum(&mut standing);
                model.balance[who] -= back;
                model.given_back[who] += back;
                model.refunded[who] += sum(&mut payments);
            }
            if stood.paid > 0 {
                let paid = payments.entry(stood.order).or_default();
                let before: i64 = paid.iter().map(|moved| moved.points - moved.back).sum();
                assert!(stood.paid <= stood.amount - before, "more was paid than was due");
                paid.push(Moved { points: stood.paid, of: stood.amount, back: 0 });
                model.spent[who] += stood.paid;
            }
        }
        model
    }
}

struct Shop {
    edge: Edge,
    program: String,
    members: [String; 2],
    incentive: String,
    active: [bool; 2],
    redemptions: Vec<String>,
    /// The cards that orders are paid with.
    purses: [String; 2],
    mug: String,
}

const NAMES: [&str; 2] = ["ann", "ben"];

fn call(edge: &Edge, method: &str, path: &str, body: &Json) -> (u16, Json) {
    let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let reply =
        edge.send(Request { method: method.into(), path: path.into(), query: String::new(), headers, body }, NOW, None);
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
}

fn make(edge: &Edge, path: &str, body: &Json) -> Json {
    let (status, made) = call(edge, "POST", path, body);
    assert!(status < 300, "{path}: {status} {made}");
    made
}

fn id(made: &Json) -> String {
    made["id"].as_str().unwrap().to_owned()
}

impl Shop {
    fn open() -> Shop {
        let edge = Edge::new();
        let v2 = |kind: &str, body: Json| id(&make(&edge, &format!("/v2/loyalties/{kind}"), &body));
        let back = json!({ "type": "REFUNDABLE", "methods": [{ "type": "REVOKE_FROM_BALANCE", "mode": "REVOKE_BELOW_ZERO" }] });
        let card = v2(
            "card-definitions",
            json!({
                "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE", "balance_settings": { "allow_negative": true },
                "refunds": { "earned_points": back },
            }),
        );
        let back = json!({ "type": "REFUNDABLE", "methods": [{ "type": "RETURN_POINTS", "mode": "REFUND_AMOUNT" }] });
        let purse = v2(
            "card-definitions",
            json!({
                "name": "Purse", "type": "INDIVIDUAL", "status": "ACTIVE", "refunds": { "spent_points": back },
                "pay_with_points": { "type": "EXCHANGE_RATIO", "exchange_ratio": { "formula": "1" } },
            }),
        );
        let product = id(&make(&edge, "/v1/products", &json!({ "name": "Mug" })));
        let incentive = v2(
            "incentives",
            json!({
                "name": "Mugs", "type": "MATERIAL", "status": "ACTIVE", "stock": PIECES,
                "material": { "type": "PRODUCT", "product": { "id": product } },
            }),
        );
        let amount = json!({ "points_proportional": {
            "calculation_type": "PRE_DISCOUNT_ORDER_AMOUNT", "card_definition_id": card, "order": { "amount": { "every": 100, "value": 1 } } } });
        let frequency = json!({ "frequency": { "type": "LIMITED", "limits": [{
            "type": "TIME_BASED", "period": { "type": "CURRENT_PERIOD", "current_period": { "unit": "YEAR" } }, "triggers": { "max": TIMES } }] } });
        let rule = |name: &str, effect: Json, limits: Json| {
            let trigger = json!({ "event": "customer.order.paid" });
            v2(
                "earning-rules",
                json!({
                    "name": name, "status": "ACTIVE", "trigger": trigger, "earnings": [{ "effects": [effect] }], "trigger_limits": limits,
                }),
            )
        };
        let rules = [
            rule("amount", amount, json!({})),
            rule("often", json!({ "points": { "value": 7, "card_definition_id": card } }), frequency),
            rule("mugs", json!({ "incentive": { "id": incentive } }), json!({})),
        ];
        let rules: Vec<Json> = rules.iter().map(|id| json!({ "id": id })).collect();
        let program = v2(
            "programs",
            json!({
                "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": card }, { "id": purse }], "earning_rules": rules,
            }),
        );
        make(&edge, "/v1/vouchers/ONE", &json!({ "discount": { "type": "AMOUNT", "amount_off": 1 } }));
        let members = NAMES.map(|name| {
            let customer = id(&make(&edge, "/v1/customers", &json!({ "source_id": name })));
            make(&edge, &format!("/v2/loyalties/programs/{program}/members"), &json!({ "customer_id": customer }))
        });
        let purses = members.each_ref().map(|member| id(&member["cards"][1]["card"]));
        let members = members.each_ref().map(id);
        for (member, purse) in members.iter().zip(&purses) {
            let path = format!("/v2/loyalties/programs/{program}/members/{member}/cards/{purse}/points");
            make(&edge, &path, &json!({ "points": PURSE }));
        }
        let (redemptions, mug) = (Vec::new(), product);
        Shop { edge, program, members, incentive, active: [true; 2], redemptions, purses, mug }
    }

    /// One call of chance; says which order it was about, and what it paid of it with points.
    fn step(&mut self, chance: &mut Chance) -> Option<(usize, i64)> {
        let order = usize::try_from(chance.below(ORDERS as u64)).unwrap();
        let (who, source) = (order % 2, format!("o{order}"));
        let amount = [40, 100, 999, 2500][usize::try_from(chance.below(4)).unwrap()];
        let status = ["PAID", "PAID", "CANCELED", "CREATED", "FULFILLED"][usize::try_from(chance.below(5)).unwrap()];
        let customer = json!({ "source_id": NAMES[who] });
        let whole = json!({ "source_id": source, "status": status, "amount": amount, "customer": customer });
        match chance.below(14) {
            0 | 1 => drop(make(&self.edge, "/v1/orders", &whole)),
            2 => drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "status": status }))),
            3 => {
                drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "metadata": { "a": amount } })))
            }
            4 => {
                make(&self.edge, "/v1/orders/import", &json!([whole, whole]));
                while self.edge.alarm("proj_dev", NOW) {}
            }
            5 => {
                let redeemables = json!([{ "object": "voucher", "id": "ONE" }]);
                let body = json!({ "redeemables": redeemables, "customer": customer, "order": { "source_id": source, "amount": amount } });
                let (status, made) = call(&self.edge, "POST", "/v1/redemptions", &body);
                if status == 200 {
                    self.redemptions.push(id(&made["redemptions"][0]));
                }
            }
            6 if !self.redemptions.is_empty() => {
                let place = usize::try_from(chance.below(self.redemptions.len() as u64)).unwrap();
                let path = format!("/v1/redemptions/{}/rollback", self.redemptions[place]);
                let (_, made) = call(&self.edge, "POST", &path, &json!({}));
                let source = made["order"]["source_id"].as_str()?;
                return Some((source.trim_start_matches('o').parse().unwrap(), 0));
            }
            8 => drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "amount": amount }))),
            9 => {
                let items = json!([{ "product_id": self.mug, "quantity": chance.below(9) + 1, "price": 150 }]);
                drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "items": items })));
            }
            10..=12 => {
                let path =
                    format!("/v2/loyalties/programs/{}/members/{}/orders/payments", self.program, self.members[who]);
                let limit = json!({ "type": "POINTS_LIMIT", "points_limit": { "max": chance.below(200) + 1 } });
                let body =
                    json!({ "card_id": self.purses[who], "order": { "source_id": source }, "payment_limit": limit });
                let (_, made) = call(&self.edge, "POST", &path, &body);
                let paid = made.pointer("/transaction/details/payment/points_spent").and_then(Json::as_i64);
                return Some((order, paid.unwrap_or(0)));
            }
            _ => {
                let verb = if self.active[who] { "deactivate" } else { "activate" };
                make(
                    &self.edge,
                    &format!("/v2/loyalties/programs/{}/members/{}/{verb}", self.program, self.members[who]),
                    &Json::Null,
                );
                self.active[who] = !self.active[who];
                return None;
            }
        }
        Some((order, 0))
    }

    fn stands(&self, order: usize, paid: i64) -> Option<Stood> {
        let (status, shown) = call(&self.edge, "GET", &format!("/v1/orders/o{order}"), &Json::Null);
        let amount = shown["amount"].as_i64().unwrap_or(0);
        let is_active = self.active[order % 2];
        let said = shown["status"].as_str().unwrap_or_default().to_owned();
        (status == 200).then_some(Stood { order, status: said, amount, is_active, paid })
    }

    fn found(&self) -> Model {
        let cards = [0, 1].map(|who: usize| {
            let path = format!("/v2/loyalties/programs/{}/members/{}", self.program, self.members[who]);
            call(&self.edge, "GET", &path, &Json::Null).1["cards"].clone()
        });
        let stock = call(&self.edge, "GET", &format!("/v2/loyalties/incentives/{}", self.incentive), &Json::Null).1;
        let of = |path: &str| [0, 1].map(|who: usize| cards[who].pointer(path).and_then(Json::as_i64).unwrap());
        let (spent, refunded) =
            (of("/1/card/lifetime_bucket/points/spent"), of("/1/card/lifetime_bucket/points/refunded"));
        let purses = of("/1/card/balance/points");
        assert_eq!(purses, [0, 1].map(|who: usize| PURSE - spent[who] + refunded[who]));
        Model {
            balance: of("/0/card/balance/points"),
            earned: of("/0/card/lifetime_bucket/points/earned"),
            given_back: of("/0/card/lifetime_bucket/points/returned"),
            spent,
            refunded,
            pieces: stock["stock"].as_i64().unwrap(),
        }
    }
}

#[test]
fn an_order_earns_once_and_gives_back_once_whatever_the_order_of_calls() {
    let (mut orders, mut back, mut refunds) = (0, 0, 0);
    for seed in 0..HISTORIES {
        let mut chance = Chance::new(seed);
        let mut shop = Shop::open();
        let mut history = Vec::new();
        for step in 0..STEPS {
            let about = shop.step(&mut chance);
            history.extend(about.and_then(|(order, paid)| shop.stands(order, paid)));
            assert_eq!(shop.found(), Model::of(&history), "history {seed}, step {step}: {history:#?}");
        }
        let found = shop.found();
        orders += found.earned.iter().filter(|points| **points > 0).count();
        back += found.given_back.iter().filter(|points| **points > 0).count();
        refunds += found.refunded.iter().filter(|points| **points > 0).count();
    }
    assert!(orders > 70 && back > 35, "too little happened: {orders} earned, {back} gave back");
    assert!(refunds > 30, "too little was paid with points: {refunds} were given back to");
}
