//! Tests that an order earns once, and that changed orders have the points of an equal new order. Cancelled orders return their earned
//! points, and refund the points that paid them once. That must be so for every sequence of writes, payments, redemptions, rollbacks and
//! imports. Random histories run through the routes and are compared with a naive second model, which replays the list of order states
//! after each call.

use crate::in_process::Edge;
use crate::shops::random::Random;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const NOW: i64 = 1_772_366_400_000;
const HISTORIES: u64 = 70;
const STEPS: u64 = 40;
const ORDERS: usize = 5;
/// How often the second rule fires for a member, and the stock of the incentive.
const TIMES: i64 = 3;
const PIECES: i64 = 4;
/// The points that a member can pay with.
const SPENDING_CARD_POINTS: i64 = 5_000;

/// State of an order after a call, its customer, and their active membership.
#[derive(Debug, Clone)]
struct OrderState {
    order: usize,
    status: String,
    amount: i64,
    /// Number of mugs in the order.
    mugs: i64,
    is_active: bool,
    /// Points that the call paid with.
    paid: i64,
}

/// Points that paid an order, and the amount of the order then.
#[derive(Debug)]
struct PaidPoints {
    points: i64,
    of: i64,
    refunded: i64,
}

impl PaidPoints {
    fn due(&self, left: Option<i64>) -> i64 {
        match left {
            None => self.points,
            Some(left) if left >= self.of => 0,
            Some(left) => self.points * (self.of - left) / self.of,
        }
    }

    /// Refunds the points that are due at this remaining amount; returns their number.
    fn refund(&mut self, left: Option<i64>) -> i64 {
        let now = (self.due(left) - self.refunded).max(0);
        self.refunded += now;
        now
    }
}

/// The calculation of earned points.
#[derive(Debug, Clone, Copy)]
enum Calculation {
    /// One point for each whole 100 of the amount.
    Amount,
    /// Two for each mug.
    Mugs,
    /// A fixed number of points.
    Fixed(i64),
}

/// Points that an order earned, and its amount when it was paid.
#[derive(Debug)]
struct EarnedPoints {
    by: Calculation,
    of: i64,
    points: i64,
    /// True if the order was cancelled.
    is_over: bool,
}

impl EarnedPoints {
    /// Earns the points of an order in this state, none if it is unpaid; returns the number of additional points.
    fn correct(&mut self, state: &OrderState) -> i64 {
        let is_paid = ["PAID", "FULFILLED"].contains(&state.status.as_str());
        let points = match (is_paid.then_some(state), self.by) {
            _ if self.is_over => self.points,
            (None, _) => 0,
            (Some(state), Calculation::Amount) => state.amount / 100,
            (Some(state), Calculation::Mugs) => 2 * state.mugs,
            (Some(state), Calculation::Fixed(points)) => points - points * (self.of - state.amount).max(0) / self.of,
        };
        self.is_over |= state.status == "CANCELED";
        let more = points - self.points;
        self.points = points;
        more
    }
}

/// The expected state after it.
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
    fn of(history: &[OrderState]) -> Model {
        let mut model = Model { pieces: PIECES, ..Model::default() };
        let mut times = [0; 2];
        let mut statuses: BTreeMap<usize, &str> = BTreeMap::new();
        // Points of the orders that have earned.
        let mut earned_by_order: BTreeMap<usize, Vec<EarnedPoints>> = BTreeMap::new();
        let mut payments: BTreeMap<usize, Vec<PaidPoints>> = BTreeMap::new();
        for state in history {
            let member = state.order % 2;
            let is_new = statuses.insert(state.order, &state.status) != Some(&state.status);
            if is_new && state.status == "PAID" && state.is_active && !earned_by_order.contains_key(&state.order) {
                let is_often = times[member] < TIMES;
                times[member] += i64::from(is_often);
                let rules = [Calculation::Amount, Calculation::Mugs, Calculation::Fixed(if is_often { 7 } else { 0 })];
                let earned = rules.map(|by| EarnedPoints { by, of: state.amount, points: 0, is_over: false });
                model.pieces -= i64::from(model.pieces > 0);
                earned_by_order.insert(state.order, earned.into());
            }
            for earned in earned_by_order.get_mut(&state.order).into_iter().flatten() {
                let more = earned.correct(state);
                model.balance[member] += more;
                model.given_back[member] += (-more).max(0);
                model.earned[member] += more.max(0);
            }
            let left = match state.status.as_str() {
                "PAID" | "FULFILLED" => Some(Some(state)),
                "CANCELED" if is_new => Some(None),
                _ => None,
            };
            if let Some(left) = left {
                let payments = payments.get_mut(&state.order).into_iter().flatten();
                model.refunded[member] +=
                    payments.map(|moved| moved.refund(left.map(|state| state.amount))).sum::<i64>();
            }
            if state.paid > 0 {
                let paid = payments.entry(state.order).or_default();
                let before: i64 = paid.iter().map(|moved| moved.points - moved.refunded).sum();
                assert!(state.paid <= state.amount - before, "more was paid than was due");
                paid.push(PaidPoints { points: state.paid, of: state.amount, refunded: 0 });
                model.spent[member] += state.paid;
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
    spending_cards: [String; 2],
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

fn create(edge: &Edge, path: &str, body: &Json) -> Json {
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
        let v2 = |kind: &str, body: Json| id(&create(&edge, &format!("/v2/loyalties/{kind}"), &body));
        let refunds = json!({ "type": "REFUNDABLE", "methods": [{ "type": "REVOKE_FROM_BALANCE", "mode": "REVOKE_BELOW_ZERO" }] });
        let card = v2(
            "card-definitions",
            json!({
                "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE", "balance_settings": { "allow_negative": true },
                "refunds": { "earned_points": refunds },
            }),
        );
        let refunds =
            json!({ "type": "REFUNDABLE", "methods": [{ "type": "RETURN_POINTS", "mode": "REFUND_AMOUNT" }] });
        let spending_card = v2(
            "card-definitions",
            json!({
                "name": "Points", "type": "INDIVIDUAL", "status": "ACTIVE", "refunds": { "spent_points": refunds },
                "pay_with_points": { "type": "EXCHANGE_RATIO", "exchange_ratio": { "formula": "1" } },
            }),
        );
        let product = id(&create(&edge, "/v1/products", &json!({ "name": "Mug" })));
        let incentive = v2(
            "incentives",
            json!({
                "name": "Mugs", "type": "MATERIAL", "status": "ACTIVE", "stock": PIECES,
                "material": { "type": "PRODUCT", "product": { "id": product } },
            }),
        );
        let amount = json!({ "points_proportional": {
            "calculation_type": "PRE_DISCOUNT_ORDER_AMOUNT", "card_definition_id": card, "order": { "amount": { "every": 100, "value": 1 } } } });
        let goods = json!([{ "type": "product", "product": { "id": product } }]);
        let units = json!({ "points_proportional": {
            "calculation_type": "ORDER_ITEMS_QUANTITY", "card_definition_id": card,
            "order_items": { "quantity": { "every": 1, "value": 2, "applicable_to": goods } } } });
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
            rule("units", units, json!({})),
            rule("often", json!({ "points": { "value": 7, "card_definition_id": card } }), frequency),
            rule("mugs", json!({ "incentive": { "id": incentive } }), json!({})),
        ];
        let rules: Vec<Json> = rules.iter().map(|id| json!({ "id": id })).collect();
        let program = v2(
            "programs",
            json!({
                "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": card }, { "id": spending_card }], "earning_rules": rules,
            }),
        );
        create(&edge, "/v1/vouchers/ONE", &json!({ "discount": { "type": "AMOUNT", "amount_off": 1 } }));
        let members = NAMES.map(|name| {
            let customer = id(&create(&edge, "/v1/customers", &json!({ "source_id": name })));
            create(&edge, &format!("/v2/loyalties/programs/{program}/members"), &json!({ "customer_id": customer }))
        });
        let spending_cards = members.each_ref().map(|member| id(&member["cards"][1]["card"]));
        let members = members.each_ref().map(id);
        for (member, spending_card) in members.iter().zip(&spending_cards) {
            let path = format!("/v2/loyalties/programs/{program}/members/{member}/cards/{spending_card}/points");
            create(&edge, &path, &json!({ "points": SPENDING_CARD_POINTS }));
        }
        let (redemptions, mug) = (Vec::new(), product);
        Shop { edge, program, members, incentive, active: [true; 2], redemptions, spending_cards, mug }
    }

    /// Makes one random call; returns the order and the points that paid for it.
    fn step(&mut self, random: &mut Random) -> Option<(usize, i64)> {
        let order = usize::try_from(random.below(ORDERS as u64)).unwrap();
        let (member, source) = (order % 2, format!("o{order}"));
        let amount = [40, 100, 999, 2500][usize::try_from(random.below(4)).unwrap()];
        let status = ["PAID", "PAID", "CANCELED", "CREATED", "FULFILLED"][usize::try_from(random.below(5)).unwrap()];
        let customer = json!({ "source_id": NAMES[member] });
        let order_body = json!({ "source_id": source, "status": status, "amount": amount, "customer": customer });
        match random.below(14) {
            0 | 1 => drop(create(&self.edge, "/v1/orders", &order_body)),
            2 => drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "status": status }))),
            3 => {
                drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "metadata": { "a": amount } })))
            }
            4 => {
                create(&self.edge, "/v1/orders/import", &json!([order_body, order_body]));
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
                let index = usize::try_from(random.below(self.redemptions.len() as u64)).unwrap();
                let path = format!("/v1/redemptions/{}/rollback", self.redemptions[index]);
                let (_, made) = call(&self.edge, "POST", &path, &json!({}));
                let source = made["order"]["source_id"].as_str()?;
                return Some((source.trim_start_matches('o').parse().unwrap(), 0));
            }
            8 => drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "amount": amount }))),
            9 => {
                let items = json!([{ "product_id": self.mug, "quantity": random.below(9) + 1, "price": 150 }]);
                drop(call(&self.edge, "PUT", &format!("/v1/orders/{source}"), &json!({ "items": items })));
            }
            10..=12 => {
                let path =
                    format!("/v2/loyalties/programs/{}/members/{}/orders/payments", self.program, self.members[member]);
                let limit = json!({ "type": "POINTS_LIMIT", "points_limit": { "max": random.below(200) + 1 } });
                let body = json!({ "card_id": self.spending_cards[member], "order": { "source_id": source }, "payment_limit": limit });
                let (_, made) = call(&self.edge, "POST", &path, &body);
                let paid = made.pointer("/transaction/details/payment/points_spent").and_then(Json::as_i64);
                return Some((order, paid.unwrap_or(0)));
            }
            _ => {
                let verb = if self.active[member] { "deactivate" } else { "activate" };
                create(
                    &self.edge,
                    &format!("/v2/loyalties/programs/{}/members/{}/{verb}", self.program, self.members[member]),
                    &Json::Null,
                );
                self.active[member] = !self.active[member];
                return None;
            }
        }
        Some((order, 0))
    }

    fn read_order_state(&self, order: usize, paid: i64) -> Option<OrderState> {
        let (status, order_json) = call(&self.edge, "GET", &format!("/v1/orders/o{order}"), &Json::Null);
        let amount = order_json["amount"].as_i64().unwrap_or(0);
        let is_active = self.active[order % 2];
        let order_status = order_json["status"].as_str().unwrap_or_default().to_owned();
        let items = order_json["items"].as_array().into_iter().flatten();
        let mugs =
            items.filter(|item| item["product_id"] == json!(self.mug)).filter_map(|item| item["quantity"].as_i64());
        (status == 200).then_some(OrderState { order, status: order_status, amount, mugs: mugs.sum(), is_active, paid })
    }

    fn read_model(&self) -> Model {
        let cards = [0, 1].map(|member: usize| {
            let path = format!("/v2/loyalties/programs/{}/members/{}", self.program, self.members[member]);
            call(&self.edge, "GET", &path, &Json::Null).1["cards"].clone()
        });
        let stock = call(&self.edge, "GET", &format!("/v2/loyalties/incentives/{}", self.incentive), &Json::Null).1;
        let of = |path: &str| [0, 1].map(|member: usize| cards[member].pointer(path).and_then(Json::as_i64).unwrap());
        let (spent, refunded) =
            (of("/1/card/lifetime_bucket/points/spent"), of("/1/card/lifetime_bucket/points/refunded"));
        let spending_cards = of("/1/card/balance/points");
        assert_eq!(spending_cards, [0, 1].map(|member: usize| SPENDING_CARD_POINTS - spent[member] + refunded[member]));
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
fn an_order_earns_and_refunds_once_in_every_history() {
    let (mut orders, mut revoked, mut refunds) = (0, 0, 0);
    for seed in 0..HISTORIES {
        let mut random = Random::new(seed);
        let mut shop = Shop::open();
        let mut history = Vec::new();
        for step in 0..STEPS {
            let about = shop.step(&mut random);
            history.extend(about.and_then(|(order, paid)| shop.read_order_state(order, paid)));
            assert_eq!(shop.read_model(), Model::of(&history), "history {seed}, step {step}: {history:#?}");
        }
        let model = shop.read_model();
        orders += model.earned.iter().filter(|points| **points > 0).count();
        revoked += model.given_back.iter().filter(|points| **points > 0).count();
        refunds += model.refunded.iter().filter(|points| **points > 0).count();
    }
    assert!(orders > 70 && revoked > 35, "too little happened: {orders} earned, {revoked} revoked");
    assert!(refunds > 30, "too little was paid with points: {refunds} were given back to");
}
