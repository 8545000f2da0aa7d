//! An order earns once and gives back once, whichever way and however often it is written, paid, redeemed, rolled back, imported and
//! called off: random histories through the routes against a naive second model, which is the list of how each order stood after
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
const HISTORIES: u64 = 120;
const STEPS: u64 = 40;
const ORDERS: usize = 5;
/// How often the second rule fires for a member, and how many pieces there are of the incentive.
const TIMES: i64 = 3;
const PIECES: i64 = 4;

/// How an order stood after a call, whose it is, and whether they were an active member.
#[derive(Debug, Clone)]
struct Stood {
    order: usize,
    status: String,
    amount: i64,
    is_active: bool,
}

/// What must be so after it.
#[derive(Debug, PartialEq, Eq, Default)]
struct Model {
    balance: [i64; 2],
    earned: [i64; 2],
    given_back: [i64; 2],
    pieces: i64,
}

impl Model {
    fn of(history: &[Stood]) -> Model {
        let mut model = Model { pieces: PIECES, ..Model::default() };
        let mut times = [0; 2];
        let mut statuses: BTreeMap<usize, &str> = BTreeMap::new();
        // Points of the orders that have earned; none of those that gave back.
        let mut standing: BTreeMap<usize, Option<i64>> = BTreeMap::new();
        for stood in history {
            let who = stood.order % 2;
            let was = statuses.insert(stood.order, &stood.status);
            if was == Some(&stood.status) {
                continue;
            }
            if stood.status == "PAID" && stood.is_active && !standing.contains_key(&stood.order) {
                let (mut points, mut is_any) = (stood.amount / 100, stood.amount >= 100);
                if times[who] < TIMES {
                    (points, is_any) = (points + 7, true);
                    times[who] += 1;
                }
                if model.pieces > 0 {
                    is_any = true;
                    model.pieces -= 1;
                }
                if is_any {
                    standing.insert(stood.order, Some(points));
                    model.balance[who] += points;
                    model.earned[who] += points;
                }
            }
            if stood.status == "CANCELED"
                && let Some(points) = standing.get_mut(&stood.order).and_then(Option::take)
            {
                model.balance[who] -= points;
                model.given_back[who] += points;
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
                "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": card }], "earning_rules": rules,
            }),
        );
        make(&edge, "/v1/vouchers/ONE", &json!({ "discount": { "type": "AMOUNT", "amount_off": 1 } }));
        let members = NAMES.map(|name| {
            let customer = id(&make(&edge, "/v1/customers", &json!({ "source_id": name })));
            v2(&format!("programs/{program}/members"), json!({ "customer_id": customer }))
        });
        Shop { edge, program, members, incentive, active: [true; 2], redemptions: Vec::new() }
    }

    /// One call of chance; says which order it was about.
    fn step(&mut self, chance: &mut Chance) -> Option<usize> {
        let order = usize::try_from(chance.below(ORDERS as u64)).unwrap();
        let (who, source) = (order % 2, format!("o{order}"));
        let amount = [40, 100, 999, 2500][usize::try_from(chance.below(4)).unwrap()];
        let status = ["PAID", "PAID", "CANCELED", "CREATED", "FULFILLED"][usize::try_from(chance.below(5)).unwrap()];
        let customer = json!({ "source_id": NAMES[who] });
        let whole = json!({ "source_id": source, "status": status, "amount": amount, "customer": customer });
        match chance.below(8) {
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
                return Some(source.trim_start_matches('o').parse().unwrap());
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
        Some(order)
    }

    fn stands(&self, order: usize) -> Option<Stood> {
        let (status, shown) = call(&self.edge, "GET", &format!("/v1/orders/o{order}"), &Json::Null);
        let amount = shown["amount"].as_i64().unwrap_or(0);
        let is_active = self.active[order % 2];
        let said = shown["status"].as_str().unwrap_or_default().to_owned();
        (status == 200).then_some(Stood { order, status: said, amount, is_active })
    }

    fn found(&self) -> Model {
        let cards = [0, 1].map(|who: usize| {
            let path = format!("/v2/loyalties/programs/{}/members/{}", self.program, self.members[who]);
            call(&self.edge, "GET", &path, &Json::Null).1["cards"][0]["card"].clone()
        });
        let stock = call(&self.edge, "GET", &format!("/v2/loyalties/incentives/{}", self.incentive), &Json::Null).1;
        let of = |path: &str| [0, 1].map(|who: usize| cards[who].pointer(path).and_then(Json::as_i64).unwrap());
        Model {
            balance: of("/balance/points"),
            earned: of("/lifetime_bucket/points/earned"),
            given_back: of("/lifetime_bucket/points/returned"),
            pieces: stock["stock"].as_i64().unwrap(),
        }
    }
}

#[test]
fn an_order_earns_once_and_gives_back_once_whatever_the_order_of_calls() {
    let (mut orders, mut back) = (0, 0);
    for seed in 0..HISTORIES {
        let mut chance = Chance::new(seed);
        let mut shop = Shop::open();
        let mut history = Vec::new();
        for step in 0..STEPS {
            let about = shop.step(&mut chance);
            history.extend(about.and_then(|order| shop.stands(order)));
            assert_eq!(shop.found(), Model::of(&history), "history {seed}, step {step}: {history:#?}");
        }
        let found = shop.found();
        orders += found.earned.iter().filter(|points| **points > 0).count();
        back += found.given_back.iter().filter(|points| **points > 0).count();
    }
    assert!(orders > 150 && back > 80, "too little happened: {orders} earned, {back} gave back");
}
