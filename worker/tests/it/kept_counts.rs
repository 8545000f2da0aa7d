//! Tests that counts of redemptions are the same whether a rule asks for them before or after the redemptions: the balances, and
//! the verdicts that follow from them. Two shops get the same calls with the same seeds; one has the rules from
//! the start.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};
use std::cell::Cell;

const NOW: i64 = 1_772_323_200_000;
const HOUR_MS: i64 = 3_600_000;
const PROJECT: &str = "proj_dev";
const CALLS: u64 = 160;
/// Names that ask for counts of every kind, in all times and in a period.
const NAMES: &[&str] = &[
    "redemption.count.daily",
    "redemption.count.per_customer",
    "redemption.count.per_customer.monthly",
    "redemption.count.per_api_key",
    "redemption.count.per_user",
    "redemption.gift.amount",
    "campaign.orders.amount",
    "campaign.orders.amount_discounted",
    "campaign.redemptions.count",
    "campaign.redemptions.count.weekly",
    "campaign.redemptions.customers_count",
    "campaign.redemptions.customers_count.daily",
];

/// A shop that repeats the same calls with the same seeds.
struct Shop {
    edge: Edge,
    calls: Cell<u64>,
    /// Calls that only this shop gets.
    own_calls: Cell<u64>,
    now_ms: Cell<i64>,
    /// `Idempotency-Key` of the calls.
    key: Cell<Option<&'static str>>,
}

impl Shop {
    fn open() -> Shop {
        Shop {
            edge: Edge::new(),
            calls: Cell::new(0),
            own_calls: Cell::new(0),
            now_ms: Cell::new(NOW),
            key: Cell::new(None),
        }
    }

    fn send(&self, seed: u64, [method, path]: [&str; 2], body: &Json) -> (u16, Json) {
        let mut headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
        headers.extend(self.key.get().map(|key| ("idempotency-key".to_owned(), key.to_owned())));
        let body = if method == "GET" { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: String::new(), headers, body };
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_be_bytes());
        let reply = self.edge.send(request, self.now_ms.get(), Some(bytes));
        assert!(reply.status < 500, "{method} {path}: {}", String::from_utf8_lossy(&reply.body));
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    /// Sends a call of both shops.
    fn call(&self, place: [&str; 2], body: &Json) -> (u16, Json) {
        self.calls.set(self.calls.get() + 1);
        self.send(self.calls.get(), place, body)
    }

    fn send_own(&self, place: [&str; 2], body: &Json) -> (u16, Json) {
        self.own_calls.set(self.own_calls.get() + 1);
        self.send(1_000_000_000 + self.own_calls.get(), place, body)
    }

    /// Creates a rule that passes while a count is at most a number.
    fn create_rule(&self, name: &str, most: i64) -> (u16, Json) {
        let test = json!({ "name": name, "error": null, "conditions": { "$less_than_or_equal": [most] } });
        self.send_own(["POST", "/v1/validation-rules"], &json!({ "name": name, "rules": { "1": test, "logic": "1" } }))
    }

    fn fill(&self) {
        let amount = |off: i64| json!({ "type": "AMOUNT", "amount_off": off });
        self.call(["POST", "/v1/vouchers/OPEN"], &json!({ "discount": amount(100) }));
        self.call(
            ["POST", "/v1/vouchers/GIFT"],
            &json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 900_000, "balance": 900_000 } }),
        );
        let campaign = json!({ "name": "Spring", "type": "AUTO_UPDATE", "voucher": { "discount": amount(50), "redemption": { "quantity": 1_000 } } });
        self.call(["POST", "/v1/campaigns"], &campaign);
        for code in ["S-1", "S-2"] {
            self.call(["POST", &format!("/v1/campaigns/Spring/vouchers/{code}")], &json!({}));
        }
    }

    /// Redeems and rolls back, a number of calls.
    fn trade(&self, calls: u64) {
        let mut redeemed: Vec<String> = Vec::new();
        for _ in 0..calls {
            let draw = (self.calls.get() + 11).wrapping_mul(6_364_136_223_846_793_005) >> 33;
            self.now_ms.set(self.now_ms.get() + i64::try_from(draw % 7).unwrap() * HOUR_MS);
            if draw.is_multiple_of(5) && !redeemed.is_empty() {
                let place = usize::try_from(draw).unwrap() % redeemed.len();
                self.call(["POST", &format!("/v1/redemptions/{}/rollback", redeemed.remove(place))], &json!({}));
                continue;
            }
            let code = ["OPEN", "GIFT", "S-1", "S-2"][usize::try_from(draw >> 3).unwrap() % 4];
            let mut request = json!({
                "redeemables": [{ "object": "voucher", "id": code, "gift": { "credits": 100 + draw % 50 } }],
                "order": { "amount": 1_000 + draw % 900 },
            });
            if code != "GIFT" {
                request["redeemables"][0].as_object_mut().unwrap().remove("gift");
            }
            if !draw.is_multiple_of(3) {
                request["customer"] = json!({ "source_id": format!("c{}", draw % 4) });
            }
            let (status, answer) = self.call(["POST", "/v1/redemptions"], &request);
            assert_eq!(status, 200, "{request}: {answer}");
            redeemed.push(answer["redemptions"][0]["id"].as_str().unwrap().to_owned());
        }
    }

    /// Returns the balances, the ways by which transfers are found, and the kept counts.
    fn ledger(&self) -> String {
        let tables = [
            "SELECT json_group_array(json_array(id, balance)) FROM (SELECT * FROM account WHERE balance <> 0 ORDER BY id)",
            "SELECT json_group_array(json_array(chain, id, debit, by_debit, credit, by_credit, amount)) FROM (SELECT * FROM transfer WHERE chain NOT GLOB 'many*' ORDER BY chain, id)",
            "SELECT json_group_array(json_array(name, is_complete)) FROM (SELECT * FROM kept_count ORDER BY name)",
        ];
        tables.map(|table| format!("{:?}", self.edge.run(PROJECT, table, &[]))).join("\n").replace("],[", "],\n[")
    }

    fn count_accounts(&self) -> i64 {
        self.edge.count(PROJECT, "SELECT COUNT(*) FROM account")
    }

    /// Returns the smallest limit of a count with which the customer may use a code.
    fn find_limit(&self, name: &str, code: &str, limits: &[i64]) -> Option<i64> {
        let request = json!({
            "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1_500 }, "customer": { "source_id": "c1" },
        });
        limits.iter().copied().find(|limit| {
            let (status, rule) = self.create_rule(name, *limit);
            assert_eq!(status, 200, "{rule}");
            let path = format!("/v1/validation-rules/{}/assignments", rule["id"].as_str().unwrap());
            let assigned = json!({ "voucher": code });
            let (status, assignment) = self.send_own(["POST", &path], &assigned);
            assert_eq!(status, 200, "{assignment}");
            let (_, verdict) = self.send_own(["POST", "/v1/validations"], &request);
            let path = format!("{path}/{}", assignment["id"].as_str().unwrap());
            assert_eq!(self.send_own(["DELETE", &path], &json!({})).0, 204);
            verdict["valid"] == true
        })
    }
}

#[test]
fn counts_that_a_late_rule_asks_for_are_those_that_were_kept_from_the_start() {
    let [early, late] = [Shop::open(), Shop::open()];
    for name in NAMES {
        assert_eq!(early.create_rule(name, 5).0, 200);
    }
    for shop in [&early, &late] {
        shop.fill();
        shop.trade(CALLS);
    }
    assert!(late.count_accounts() * 2 < early.count_accounts(), "counts are kept though no rule asks for them");
    for name in NAMES {
        assert_eq!(late.create_rule(name, 5).0, 200);
    }
    pretty_equal(&early.ledger(), &late.ledger());
    for shop in [&early, &late] {
        shop.trade(CALLS / 4);
    }
    pretty_equal(&early.ledger(), &late.ledger());
    let limits: Vec<i64> = (0..60).chain([1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000]).collect();
    for (name, code) in [
        ("redemption.count.per_customer", "OPEN"),
        ("redemption.count.per_api_key", "OPEN"),
        ("campaign.redemptions.count", "S-1"),
    ] {
        let found = early.find_limit(name, code, &limits);
        assert!(found > Some(1), "{name} counts nothing");
        assert_eq!(found, late.find_limit(name, code, &limits), "{name}");
    }
}

#[test]
fn counts_of_many_transfers_are_made_by_a_job_and_the_rule_is_refused_until_then() {
    const MANY: &str = "INSERT INTO transfer (chain, id, debit, credit, amount, at)
         WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 50001)
         SELECT 'many' || n, 'many' || n, 'card/m/lot/a', 'card/m/lot/b', 1, 0 FROM number";
    let [early, late] = [Shop::open(), Shop::open()];
    let name = "redemption.count.per_customer.monthly";
    assert_eq!(early.create_rule(name, 5).0, 200);
    for shop in [&early, &late] {
        shop.fill();
        shop.trade(CALLS / 2);
        shop.edge.run(PROJECT, MANY, &[]);
    }
    let (status, refusal) = late.create_rule(name, 5);
    assert_eq!((status, &refusal["key"]), (409, &json!("counts_not_ready")));
    assert_eq!(late.edge.count(PROJECT, "SELECT COUNT(*) FROM document WHERE kind = 'validation_rules'"), 0);
    let mut slices = 0;
    while late.edge.alarm_of(PROJECT, late.now_ms.get(), 20_000) {
        slices += 1;
        for shop in [&early, &late] {
            shop.trade(2);
        }
        // The refusal is not stored under the key.
        late.key.set(Some("repeated"));
        let (status, _) = late.create_rule(name, 5);
        late.key.set(None);
        assert!(status == 409 || slices > 5, "the rule takes effect after {slices} slices");
        if status == 200 {
            break;
        }
    }
    assert!(slices > 5, "{slices} slices");
    for shop in [&early, &late] {
        while shop.edge.alarm_of(PROJECT, shop.now_ms.get(), 20_000) {}
    }
    pretty_equal(&early.ledger(), &late.ledger());
}

/// Fails with the first line that differs.
fn pretty_equal(left: &str, right: &str) {
    let differs = left.lines().zip(right.lines()).find(|(left, right)| left != right);
    assert!(differs.is_none() && left.lines().count() == right.lines().count(), "{differs:?}");
}
