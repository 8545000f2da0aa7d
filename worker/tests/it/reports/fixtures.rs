//! Creates a project in Warsaw with a loyalty program, and random activity of its members.

use crate::in_process::Edge;
use crate::shops::random::Random;
use scrip::time::{Instant, TimeZone};
use scrip_worker::http::request::Request;
use serde_json::{Map, Value as Json, json};

/// 27 March 2026, 10:00 UTC: two days before the clocks go ahead.
const BEGIN: i64 = 1_774_605_600_000;
const MEMBERS: usize = 3;

pub struct Shop {
    edge: Edge,
    now: i64,
    pub zone: TimeZone,
    pub program: String,
    pub structure: String,
    pub definitions: [String; 2],
    /// The rules, each with its only earning: one that always fires, one that rests, one with a limit of firings.
    pub rules: Vec<(String, String)>,
    rewards: [String; 2],
    /// The members, with their cards.
    pub members: Vec<(String, [String; 2])>,
    orders: u64,
    purchases: Vec<String>,
    /// The instants of orders that every rule evaluated.
    pub asked: Vec<i64>,
}

impl Shop {
    fn call(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let headers = vec![("x-app-id".into(), "warsaw-app".into()), ("x-app-token".into(), "warsaw-token".into())];
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let reply = self.edge.send(request, self.now, None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    fn make(&self, path: &str, body: &Json) -> Json {
        let (status, made) = self.call("POST", path, body);
        assert!(status < 300, "{path}: {status} {made}");
        made
    }

    pub fn get(&self, path: &str) -> Json {
        let (status, found) = self.call("GET", path, &Json::Null);
        assert_eq!(status, 200, "{path}: {found}");
        found
    }

    fn v2(&self, kind: &str, body: &Json) -> Json {
        self.make(&format!("/v2/loyalties/{kind}"), body)
    }

    pub fn open() -> Shop {
        let zone = scrip::zones::named("Europe/Warsaw").unwrap();
        let (program, structure, definitions) = (String::new(), String::new(), [String::new(), String::new()]);
        let mut shop = Shop {
            edge: Edge::new(),
            now: BEGIN,
            zone,
            program,
            structure,
            rules: Vec::new(),
            rewards: definitions.clone(),
            definitions,
            members: Vec::new(),
            orders: 0,
            purchases: Vec::new(),
            asked: Vec::new(),
        };
        let lapse = |count: u64| json!({ "type": "ROLLING_EXPIRATION", "rolling_expiration": { "period": { "value": count, "unit": "DAY" } } });
        let spent = json!({ "type": "REFUNDABLE", "methods": [{ "type": "RETURN_POINTS", "mode": "REFUND_ALL" }] });
        let earned =
            json!({ "type": "REFUNDABLE", "methods": [{ "type": "REVOKE_FROM_BALANCE", "mode": "REVOKE_TO_ZERO" }] });
        let points = shop.v2(
            "card-definitions",
            &json!({
                "name": "points", "type": "INDIVIDUAL", "status": "ACTIVE", "points_expiration": lapse(12),
                "pay_with_points": { "type": "EXCHANGE_RATIO", "exchange_ratio": { "formula": "0.5" } },
                "refunds": { "spent_points": spent, "earned_points": earned },
            }),
        );
        let waits = shop.v2(
            "card-definitions",
            &json!({
                "name": "waits", "type": "INDIVIDUAL", "status": "ACTIVE", "points_expiration": lapse(5),
                "pending_points": { "type": "PERIOD_BASED", "period_based": { "period": { "value": 2, "unit": "DAY" } } },
            }),
        );
        shop.definitions = [&points, &waits].map(id);
        shop.make_rules();
        shop.make_tiers();
        let product = id(&shop.make("/v1/products", &json!({ "name": "Mug" })));
        let costs = json!([{ "spending": [{ "points": 9, "card_definition_id": shop.definitions[0] }] }]);
        let gives = [
            json!({ "type": "MATERIAL", "material": { "type": "PRODUCT", "product": { "id": product } } }),
            json!({ "type": "DIGITAL", "digital": { "type": "LOYALTY_CARD_POINTS", "loyalty_card_points": {
                "points": 11, "card_definition_id": shop.definitions[1] } } }),
        ];
        shop.rewards = gives.map(|gives| {
            let body =
                json!({ "name": "reward", "status": "ACTIVE", "costs": costs, "refunds": { "type": "REFUNDABLE" } });
            let body: Map<String, Json> =
                body.as_object().unwrap().clone().into_iter().chain(gives.as_object().unwrap().clone()).collect();
            id(&shop.v2("rewards", &Json::Object(body)))
        });
        let named = |ids: &[String]| ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>();
        let rules: Vec<String> = shop.rules.iter().map(|(rule, _)| rule.clone()).collect();
        let rewards: Vec<Json> =
            shop.rewards.iter().map(|id| json!({ "id": id, "stock": { "type": "UNLIMITED" } })).collect();
        shop.program = id(&shop.v2(
            "programs",
            &json!({
                "name": "club", "status": "ACTIVE", "card_definitions": named(&shop.definitions), "earning_rules": named(&rules),
                "tier_structures": named(std::slice::from_ref(&shop.structure)), "rewards": rewards,
            }),
        ));
        for who in 0..MEMBERS {
            let customer = id(&shop.make("/v1/customers", &json!({ "source_id": format!("c{who}") })));
            let path = format!("/v2/loyalties/programs/{}/members", shop.program);
            let member = shop.make(&path, &json!({ "customer_id": customer }));
            let cards = [0, 1].map(|place: usize| id(&member["cards"][place]["card"]));
            shop.members.push((id(&member), cards));
        }
        shop
    }

    fn make_rules(&mut self) {
        let limits = [
            json!({}),
            json!({ "cooldown": { "type": "FIXED_COOLDOWN", "fixed_cooldown": { "period": { "value": 1, "unit": "DAY" } } } }),
            json!({ "frequency": { "type": "LIMITED", "limits": [{
                "type": "TIME_BASED", "period": { "type": "CURRENT_PERIOD", "current_period": { "unit": "WEEK" } }, "triggers": { "max": 2 } }] } }),
        ];
        let effect =
            |value: u64, definition: &String| json!({ "points": { "value": value, "card_definition_id": definition } });
        let [points, waits] = &self.definitions;
        let effects =
            [json!([effect(30, points), effect(20, waits)]), json!([effect(5, points)]), json!([effect(3, waits)])];
        for (limits, effects) in limits.into_iter().zip(effects) {
            let trigger = json!({ "event": "customer.order.paid" });
            let body = json!({
                "name": "rule", "status": "ACTIVE", "trigger": trigger, "earnings": [{ "effects": effects }], "trigger_limits": limits,
            });
            let rule = self.v2("earning-rules", &body);
            self.rules.push((id(&rule), id(&rule["earnings"][0])));
        }
    }

    fn make_tiers(&mut self) {
        let body = json!({
            "name": "levels", "type": "POINT_BALANCE", "card_definition_id": self.definitions[0], "downgrade": { "type": "MULTI_LEVEL" },
            "expiration": { "type": "FIXED_DURATION", "fixed_duration": { "period": { "value": 4, "unit": "DAY" } } },
        });
        self.structure = id(&self.v2("tier-structures", &body));
        for (name, min, max) in [("low", 10, json!(49)), ("middle", 50, json!(99)), ("high", 100, Json::Null)] {
            let mut points = json!({ "type": "POINTS", "min_value": min });
            if !max.is_null() {
                points["max_value"] = max;
            }
            self.v2(
                &format!("tier-structures/{}/tiers", self.structure),
                &json!({ "name": name, "qualification_rules": points }),
            );
        }
        self.make(&format!("/v2/loyalties/tier-structures/{}/activate", self.structure), &Json::Null);
    }

    /// Lets time pass: often to the first or last instant of a day.
    fn pass(&mut self, random: &mut Random) {
        const HOUR: i64 = 3_600_000;
        let zone = &self.zone;
        let tomorrow = zone.day(Instant::from_millis(self.now).unwrap()).unwrap().plus(1).unwrap();
        let midnight = zone.start_of(tomorrow).unwrap().millis();
        self.now = match random.below(6) {
            0 => midnight - 1,
            1 => midnight,
            2 => self.now + 30 * HOUR,
            3 => self.now + 5 * HOUR,
            _ => self.now + 600_000,
        }
        .max(self.now + 1);
    }

    /// Makes one random call.
    pub fn step(&mut self, random: &mut Random) {
        self.pass(random);
        let who = usize::try_from(random.below(MEMBERS as u64)).unwrap();
        let (member, cards) = self.members[who].clone();
        let of_member = format!("/v2/loyalties/programs/{}/members/{member}", self.program);
        match random.below(12) {
            0..=3 => {
                self.orders += 1;
                let order = json!({ "source_id": format!("o{}", self.orders), "status": "PAID", "amount": 5000, "customer": { "source_id": format!("c{who}") } });
                self.make("/v1/orders", &order);
                self.asked.push(self.now);
            }
            4 => {
                let points = i64::try_from(random.below(200)).unwrap() - 80;
                drop(self.call(
                    "POST",
                    &format!("{of_member}/cards/{}/points", cards[0]),
                    &json!({ "points": points }),
                ));
            }
            5 | 6 => {
                let reward = &self.rewards[usize::try_from(random.below(2)).unwrap()];
                let (_, made) =
                    self.call("POST", &format!("{of_member}/rewards/purchases"), &json!({ "reward_id": reward }));
                self.purchases.extend(made["transaction"]["id"].as_str().map(str::to_owned));
            }
            7 if !self.purchases.is_empty() => {
                let place = usize::try_from(random.below(self.purchases.len() as u64)).unwrap();
                let path = format!(
                    "/v2/loyalties/programs/{}/rewards/purchases/{}/refund",
                    self.program, self.purchases[place]
                );
                drop(self.call("POST", &path, &json!({})));
            }
            8 | 9 => {
                self.orders += 1;
                let source = format!("o{}", self.orders);
                let order = json!({ "source_id": source, "status": "CREATED", "amount": 40, "customer": { "source_id": format!("c{who}") } });
                self.make("/v1/orders", &order);
                let body = json!({ "card_id": cards[0], "order": { "source_id": source } });
                drop(self.call("POST", &format!("{of_member}/orders/payments"), &body));
            }
            10 if self.orders > 0 => {
                let source = format!("o{}", random.below(self.orders) + 1);
                drop(self.call("PUT", &format!("/v1/orders/{source}"), &json!({ "status": "CANCELED" })));
            }
            _ => {
                let waiting = self.get(&format!("{of_member}/cards/{}/pending-points", cards[1]));
                let waiting = waiting["data"].as_array().unwrap().iter().find(|bucket| bucket["status"] == "PENDING");
                if let Some(bucket) = waiting {
                    let verb = if random.below(2) == 0 { "activate" } else { "cancel" };
                    let path = format!("{of_member}/cards/{}/pending-points/{}/{verb}", cards[1], id(bucket));
                    self.make(&path, &Json::Null);
                }
            }
        }
    }

    /// Returns all elements of a list, the oldest first.
    pub fn all(&self, path: &str) -> Vec<Json> {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("{path}?limit=100&order=created_at{cursor}"));
            found.extend(page["data"].as_array().unwrap().iter().cloned());
            match page["cursor"]["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    }

    /// Returns the first day of the period of an event, by the local calendar of Warsaw.
    pub fn period(&self, created_at: &str, resolution: &str) -> String {
        let day = self.zone.day(Instant::parse(created_at).unwrap()).unwrap();
        let (year, month, _) = day.date();
        match resolution {
            "day" => day.text(),
            "week" => {
                let mut monday = day;
                while monday.weekday() != 1 {
                    monday = monday.plus(-1).unwrap();
                }
                monday.text()
            }
            "month" => format!("{year:04}-{month:02}-01"),
            _ => format!("{year:04}-{:02}-01", (month - 1) / 3 * 3 + 1),
        }
    }
}

fn id(made: &Json) -> String {
    made["id"].as_str().unwrap().to_owned()
}
