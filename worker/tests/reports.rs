//! What reports of loyalty programs tell is what the transactions of their members come to: random histories in Warsaw, over the days on
//! which its clocks change, against a naive second model, which lists every transaction and adds them up by the day on its calendar.
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
use scrip::time::{Day, Instant, TimeZone};
use scrip_worker::http::request::Request;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// 27 March 2026, 10:00 UTC: two days before the clocks go ahead.
const BEGIN: i64 = 1_774_605_600_000;
const HISTORIES: u64 = 12;
const STEPS: u64 = 60;
const MEMBERS: usize = 3;
const RESOLUTIONS: [&str; 4] = ["day", "week", "month", "quarter"];

struct Shop {
    edge: Edge,
    now: i64,
    zone: TimeZone,
    program: String,
    structure: String,
    definitions: [String; 2],
    /// The rules, each with its only earning: one that always fires, one that rests, one that fires so often.
    rules: Vec<(String, String)>,
    rewards: [String; 2],
    /// The members, with their cards.
    members: Vec<(String, [String; 2])>,
    orders: u64,
    purchases: Vec<String>,
    /// When an order was paid by which every rule is asked.
    asked: Vec<i64>,
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

    fn get(&self, path: &str) -> Json {
        let (status, found) = self.call("GET", path, &Json::Null);
        assert_eq!(status, 200, "{path}: {found}");
        found
    }

    fn v2(&self, kind: &str, body: &Json) -> Json {
        self.make(&format!("/v2/loyalties/{kind}"), body)
    }

    fn open() -> Shop {
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

    /// Time goes on: often to the last or the first moment of a day.
    fn pass(&mut self, chance: &mut Chance) {
        const HOUR: i64 = 3_600_000;
        let zone = &self.zone;
        let tomorrow = zone.day(Instant::from_millis(self.now).unwrap()).unwrap().plus(1).unwrap();
        let midnight = zone.start_of(tomorrow).unwrap().millis();
        self.now = match chance.below(6) {
            0 => midnight - 1,
            1 => midnight,
            2 => self.now + 30 * HOUR,
            3 => self.now + 5 * HOUR,
            _ => self.now + 600_000,
        }
        .max(self.now + 1);
    }

    /// One call of chance.
    fn step(&mut self, chance: &mut Chance) {
        self.pass(chance);
        let who = usize::try_from(chance.below(MEMBERS as u64)).unwrap();
        let (member, cards) = self.members[who].clone();
        let of_member = format!("/v2/loyalties/programs/{}/members/{member}", self.program);
        match chance.below(12) {
            0..=3 => {
                self.orders += 1;
                let order = json!({ "source_id": format!("o{}", self.orders), "status": "PAID", "amount": 5000, "customer": { "source_id": format!("c{who}") } });
                self.make("/v1/orders", &order);
                self.asked.push(self.now);
            }
            4 => {
                let points = i64::try_from(chance.below(200)).unwrap() - 80;
                drop(self.call(
                    "POST",
                    &format!("{of_member}/cards/{}/points", cards[0]),
                    &json!({ "points": points }),
                ));
            }
            5 | 6 => {
                let reward = &self.rewards[usize::try_from(chance.below(2)).unwrap()];
                let (_, made) =
                    self.call("POST", &format!("{of_member}/rewards/purchases"), &json!({ "reward_id": reward }));
                self.purchases.extend(made["transaction"]["id"].as_str().map(str::to_owned));
            }
            7 if !self.purchases.is_empty() => {
                let place = usize::try_from(chance.below(self.purchases.len() as u64)).unwrap();
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
                let source = format!("o{}", chance.below(self.orders) + 1);
                drop(self.call("PUT", &format!("/v1/orders/{source}"), &json!({ "status": "CANCELED" })));
            }
            _ => {
                let waiting = self.get(&format!("{of_member}/cards/{}/pending-points", cards[1]));
                let waiting = waiting["data"].as_array().unwrap().iter().find(|bucket| bucket["status"] == "PENDING");
                if let Some(bucket) = waiting {
                    let verb = if chance.below(2) == 0 { "activate" } else { "cancel" };
                    let path = format!("{of_member}/cards/{}/pending-points/{}/{verb}", cards[1], id(bucket));
                    self.make(&path, &Json::Null);
                }
            }
        }
    }

    /// Everything that a list tells, the oldest first.
    fn all(&self, path: &str) -> Vec<Json> {
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

    /// The first day of the period in which something happened, by the calendar on a wall in Warsaw.
    fn period(&self, created_at: &str, resolution: &str) -> String {
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

/// What reports should tell: by the report, then by period and subject, the figures.
type Sums = BTreeMap<String, BTreeMap<String, BTreeMap<&'static str, i64>>>;

fn add(sums: &mut Sums, report: &str, entry: String, figure: &'static str, by: i64) {
    *sums.entry(report.to_owned()).or_default().entry(entry).or_default().entry(figure).or_default() += by;
}

/// The figures of a card that a transaction raises.
fn raised(kind: &str) -> &'static [&'static str] {
    match kind {
        "POINTS_EARNED" => &["points_total", "points_earned"],
        "ADMIN_CREDIT" => &["points_total", "points_added"],
        "POINTS_PURCHASED" => &["points_total", "points_purchased"],
        "PENDING_POINTS_ADDED" => &["pending_points_total"],
        "PENDING_POINTS_ACTIVATED" => &["pending_points_activated", "points_total", "points_earned"],
        "PENDING_POINTS_CANCELED" => &["pending_points_canceled"],
        "POINTS_EXPIRED" | "ADMIN_POINTS_EXPIRATION" => &["points_expired"],
        "ADMIN_DEBIT" => &["points_subtracted"],
        "POINTS_SPENT_ON_REWARD" | "POINTS_SPENT_ON_ORDER" => &["points_spent"],
        "POINTS_PURCHASE_REVERSED" => &["points_purchased_reversed"],
        "POINTS_REFUNDED" => &["points_refunded"],
        "POINTS_RETURNED" => &["points_returned"],
        other => panic!("{other} is unknown"),
    }
}

/// Lists all that happened and adds it up by periods, or in all where there is no resolution; what is told lies within some days.
fn model(shop: &Shop, resolution: Option<&str>, (first, last): (&str, &str)) -> Sums {
    let mut sums = Sums::new();
    let entry = |at: &Json, subject: &[&str]| -> Option<String> {
        let at = at.as_str().unwrap();
        let day = shop.period(at, "day");
        let period = resolution.map_or(String::new(), |resolution| shop.period(at, resolution));
        (resolution.is_none() || (first..=last).contains(&day.as_str()))
            .then(|| format!("{period} {}", subject.join(" ")))
    };
    let text = |row: &Json, path: &str| row.pointer(path).and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut fired: BTreeSet<(String, String, String)> = BTreeSet::new();
    for (member, cards) in &shop.members {
        let of_member = format!("/v2/loyalties/programs/{}/members/{member}", shop.program);
        for (card, definition) in cards.iter().zip(&shop.definitions) {
            for row in shop.all(&format!("{of_member}/cards/{card}/transactions")) {
                let (kind, points) = (text(&row, "/type"), row["details"]["points"]["total"].as_i64().unwrap());
                let at = &row["created_at"];
                if let Some(entry) = entry(at, &[]) {
                    raised(&kind)
                        .iter()
                        .for_each(|figure| add(&mut sums, &format!("card {card}"), entry.clone(), figure, points));
                }
                let on = match kind.as_str() {
                    "POINTS_SPENT_ON_REWARD" => ["success_on_reward", "points_on_rewards"],
                    "POINTS_SPENT_ON_ORDER" => ["success_on_order", "points_on_order"],
                    _ => ["", ""],
                };
                if let (Some(entry), false) = (entry(at, &[definition]), on[0].is_empty()) {
                    for (figure, by) in [(on[0], 1), ("success", 1), (on[1], points), ("points", points)] {
                        add(&mut sums, "spending", entry.clone(), figure, by);
                    }
                }
                let figure = match kind.as_str() {
                    "POINTS_EARNED" => "points",
                    "PENDING_POINTS_ADDED" => "pending_points",
                    _ => continue,
                };
                let rule = text(&row, "/details/earning_rule/id");
                let (_, earning) = shop.rules.iter().find(|(known, _)| *known == rule).unwrap();
                if let Some(entry) = entry(at, &[&rule, earning, definition]) {
                    add(&mut sums, "points-earnings", entry.clone(), "success_count", 1);
                    add(&mut sums, "points-earnings", entry, figure, points);
                }
                let order = text(&row, "/details/order/id");
                if fired.insert((member.clone(), rule.clone(), order))
                    && let (Some(of_all), Some(of_one)) = (entry(at, &[&rule]), entry(at, &[]))
                {
                    add(&mut sums, "earning-rules", of_all, "success_count", 1);
                    add(&mut sums, &format!("rule {member} {rule}"), of_one, "count", 1);
                }
            }
        }
        for row in shop.all(&format!("{of_member}/orders/payments")) {
            if let (Some(entry), Some(amount)) =
                (entry(&row["created_at"], &[&shop.definitions[0]]), row["details"]["payment"]["amount"].as_i64())
            {
                add(&mut sums, "spending", entry, "amount_on_order", amount);
            }
        }
        for row in shop.all(&format!("{of_member}/tiers/transactions")) {
            let tier = if row["tier_id"].is_null() { &row["details"]["tier_from"] } else { &row["tier_id"] };
            let figure = match text(&row, "/type").as_str() {
                "JOINED" => "joins",
                "UPGRADED" => "upgrades",
                "DOWNGRADED" => "downgrades",
                "LEFT" => "lefts",
                _ => "prolongs",
            };
            if let Some(entry) = entry(&row["created_at"], &[&shop.structure, tier.as_str().unwrap()]) {
                add(&mut sums, "tiers", entry, figure, 1);
            }
        }
    }
    // Whatever asked a rule that did not fire found it at rest.
    for (place, limit) in [(1, "cooldown"), (2, "frequency")] {
        let rule = &shop.rules[place].0;
        let mut failures: BTreeMap<String, i64> = BTreeMap::new();
        for at in &shop.asked {
            let at = Json::from(Instant::from_millis(*at).unwrap().text());
            entry(&at, &[rule]).into_iter().for_each(|entry| *failures.entry(entry).or_default() += 1);
        }
        for (entry, asked) in failures {
            let known = sums.get("earning-rules").and_then(|of| of.get(&entry)?.get("success_count").copied());
            let by = asked - known.unwrap_or(0);
            for figure in [limit, "failures_count"].into_iter().filter(|_| by > 0) {
                add(&mut sums, "earning-rules", entry.clone(), figure, by);
            }
        }
    }
    sums
}

/// A report as a model has it: without figures of nothing.
fn told(answer: &Json, subject: &[&str]) -> BTreeMap<String, BTreeMap<String, i64>> {
    assert_eq!(answer["object"], "report");
    let mut found = BTreeMap::new();
    for entry in answer["data"].as_array().unwrap() {
        let date = entry["date"].as_str().unwrap_or_default();
        let names: Vec<&str> = subject.iter().map(|name| entry[name].as_str().unwrap()).collect();
        let breakdown = entry["failures_breakdown"].as_object().cloned().unwrap_or_default();
        let figures = entry.as_object().unwrap().clone().into_iter().chain(breakdown);
        let figures = figures.filter_map(|(name, value)| Some((name, value.as_i64().filter(|value| *value != 0)?)));
        let before = found.insert(format!("{date} {}", names.join(" ")), figures.collect());
        assert!(before.is_none(), "{entry} is told twice");
    }
    found
}

const PROGRAM_REPORTS: [(&str, &[&str]); 4] = [
    ("earning-rules", &["earning_rule_id"]),
    ("points-earnings", &["earning_rule_id", "earning_item_id", "card_definition_id"]),
    ("spending", &["card_definition_id"]),
    ("tiers", &["tier_structure_id", "tier_id"]),
];

fn check(shop: &Shop, (first, last): (&str, &str), count: &mut usize) {
    let program = format!("/v2/loyalties/programs/{}", shop.program);
    let mut hold = |sums: &Sums, name: &str, path: &str, subject: &[&str]| {
        let found = told(&shop.get(path), subject);
        let expected: BTreeMap<String, BTreeMap<String, i64>> = sums
            .get(name)
            .into_iter()
            .flatten()
            .map(|(entry, figures)| {
                (entry.clone(), figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
            })
            .collect();
        assert_eq!(found, expected, "{path}");
        *count += found.len();
    };
    for resolution in RESOLUTIONS {
        let span = format!("daily?start_date={first}&end_date={last}&resolution={resolution}");
        // The program's first: they settle by themselves what the lists settle.
        let reports: Vec<(String, &str, &[&str])> = PROGRAM_REPORTS
            .iter()
            .map(|(name, subject)| (format!("{program}/reports/{name}/{span}"), *name, *subject))
            .collect();
        let early: Vec<Json> = reports.iter().map(|(path, _, _)| shop.get(path)).collect();
        let sums = model(shop, Some(resolution), (first, last));
        for ((path, name, subject), early) in reports.iter().zip(early) {
            assert_eq!(shop.get(path), early, "{path} before and after everything was read");
            hold(&sums, name, path, subject);
        }
        for (member, cards) in &shop.members {
            for card in cards {
                hold(
                    &sums,
                    &format!("card {card}"),
                    &format!("{program}/members/{member}/cards/{card}/reports/{span}"),
                    &[],
                );
            }
            for (rule, _) in &shop.rules {
                let path = format!("{program}/members/{member}/earning-rules/{rule}/reports/{span}");
                hold(&sums, &format!("rule {member} {rule}"), &path, &[]);
            }
        }
    }
    let sums = model(shop, None, (first, last));
    for (name, subject) in PROGRAM_REPORTS {
        hold(&sums, name, &format!("{program}/reports/{name}/summary"), subject);
    }
}

#[test]
fn reports_tell_what_transactions_come_to() {
    let mut count = 0;
    for seed in 0..HISTORIES {
        let mut chance = Chance::new(seed);
        let mut shop = Shop::open();
        for _ in 0..STEPS {
            shop.step(&mut chance);
        }
        let begin = Day::parse("2026-03-20").unwrap();
        let first = begin.plus(i64::try_from(chance.below(20)).unwrap()).unwrap();
        let last = first.plus(i64::try_from(chance.below(60)).unwrap()).unwrap();
        check(&shop, (&first.text(), &last.text()), &mut count);
        check(&shop, ("2026-01-01", "2026-12-31"), &mut count);
    }
    assert!(count > 2_000, "{count} entries are too few");
}
