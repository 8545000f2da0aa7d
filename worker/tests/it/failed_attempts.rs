//! Tests guessed codes: a client gets the same bytes for each code that it cannot use, and fewer and fewer attempts.

use crate::in_process::Edge;
use scrip_worker::access::address;
use scrip_worker::access::failed_attempts::{AttemptDecision, ClientKey, FailedAttempts, remaining_delay};
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};

/// The first day of March, when the project is created, and a day later, when the requests are made.
const BEGIN: i64 = 1_772_323_200_000;
const ASKED: i64 = BEGIN + 86_400_000;

struct Shop(Edge);

impl Shop {
    fn send(&self, caller: &str, call: &str, body: &Json, now_ms: i64) -> Reply {
        let client = [("x-client-application-id", "dev-client"), ("x-client-token", "dev-client-token")];
        let server = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let pair = if caller == "server" { server } else { client };
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = vec![("origin", "http://localhost:1"), ("content-type", "application/json")];
        headers.extend(pair);
        if !["server", "client"].contains(&caller) {
            headers.push(("x-real-ip", caller));
        }
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        };
        // Two answers to a client differ only in intended members.
        self.0.send(request, now_ms, (caller != "server").then_some([7; 32]))
    }

    fn server(&self, call: &str, body: Json) -> Json {
        let reply = self.send("server", call, &body, BEGIN);
        let answer: Json = serde_json::from_slice(&reply.body).unwrap_or_default();
        assert_eq!(reply.status, 200, "{call}: {answer}");
        answer
    }

    /// Sets the stacking rules with the management's key.
    fn stack(&self, rules: &Json) {
        let pair = [("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")];
        let all = "/management/v1/projects/proj_dev/stacking-rules";
        let send = |method: &str, path: &str, body: Vec<u8>| {
            let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
            headers.extend(pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
            let request = Request { method: method.into(), path: path.into(), headers, body, ..Request::default() };
            let reply = self.0.send(request, BEGIN, None);
            let answer: Json = serde_json::from_slice(&reply.body).unwrap_or_default();
            assert_eq!(reply.status, 200, "{answer}");
            answer
        };
        let known = send("GET", all, Vec::new());
        let id = known["data"][0]["id"].as_str().unwrap();
        send("PUT", &format!("{all}/{id}"), rules.to_string().into_bytes());
    }

    /// Returns the text of the answer to a client, without the code itself.
    fn answer_to(&self, call: &str, body: &Json, code: &str) -> String {
        let named = |text: &str| text.replace("CODE", code);
        let body: Json = serde_json::from_str(&named(&body.to_string())).unwrap();
        let reply = self.send("client", &named(call), &body, ASKED);
        let headers: Vec<String> =
            reply.headers.iter().filter(|(name, _)| name != "x-request-id").map(|pair| format!("{pair:?}")).collect();
        let body = String::from_utf8(reply.body).unwrap();
        // The entry generates the id of a request that is refused as a whole.
        let body = match serde_json::from_str::<Json>(&body).unwrap() {
            whole if whole.get("code").is_some_and(Json::is_u64) => {
                body.replace(whole["request_id"].as_str().unwrap(), "")
            }
            _ => body,
        };
        format!("{} {} {}", reply.status, headers.join(" "), body).replace(code, "CODE")
    }
}

/// Opens a project with every kind of code that a client cannot use, each with a name of four letters.
fn shop() -> Shop {
    let shop = Shop(Edge::new());
    let ten = json!({ "type": "PERCENT", "percent_off": 10 });
    let make = |code: &str, more: Json| {
        let mut body = json!({ "type": "DISCOUNT_VOUCHER", "discount": ten, "redemption": { "quantity": 1 }, "metadata": { "who": "VIP" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if more["gift"].is_object() {
            body.as_object_mut().unwrap().remove("discount");
        }
        shop.server(&format!("POST /v1/vouchers/{code}"), body)["id"].as_str().unwrap().to_owned()
    };
    let gold = shop.server("POST /v1/categories", json!({ "name": "Gold", "hierarchy": 0 }))["id"].clone();
    let set = json!({ "exclusive_categories": [gold], "redeemables_application_mode": "PARTIAL",
        "redeemables_sorting_rule": "CATEGORY_HIERARCHY" });
    shop.stack(&set);
    make("PAST", json!({ "expiration_date": "2026-03-01T12:00:00Z" }));
    make("SOON", json!({ "start_date": "2026-04-01T00:00:00Z" }));
    make("DEAD", json!({ "active": false }));
    make("GOLD", json!({ "active": false, "category_id": gold }));
    make("GONE", json!({}));
    make("LOCK", json!({}));
    make("ONCE", json!({ "redemption": { "quantity": null } }));
    make("OWNS", json!({}));
    make("CARD", json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 100 } }));
    let order = json!({ "amount": 1000 });
    let named = |code: &str| json!([{ "object": "voucher", "id": code }]);
    for code in ["GONE", "CARD", "ONCE"] {
        let body = json!({ "redeemables": named(code), "order": order, "customer": { "source_id": "anna" } });
        shop.server("POST /v1/redemptions", body);
    }
    let held = json!({ "type": "LOCK", "key": "s", "ttl": 7, "ttl_unit": "DAYS" });
    shop.server("POST /v1/validations", json!({ "redeemables": named("LOCK"), "order": order, "session": held }));
    for (name, rule, code) in [
        (
            "Once each",
            json!({ "name": "redemption.count.per_customer", "conditions": { "$less_than_or_equal": [1] } }),
            "ONCE",
        ),
        (
            "Its holder",
            json!({ "name": "publication.redeemable_by_linked_customer", "conditions": { "$is": [true] } }),
            "OWNS",
        ),
    ] {
        let rule = shop.server("POST /v1/validation-rules", json!({ "name": name, "rules": { "1": rule } }));
        let call = format!("POST /v1/validation-rules/{}/assignments", rule["id"].as_str().unwrap());
        shop.server(&call, json!({ "voucher": code }));
    }
    make("FINE", json!({ "redemption": { "quantity": null } }));
    shop
}

const UNUSABLE: [&str; 9] = ["PAST", "SOON", "DEAD", "GOLD", "GONE", "LOCK", "ONCE", "OWNS", "CARD"];

#[test]
fn a_client_gets_equal_answers_for_every_unusable_code() {
    let shop = shop();
    let customer = json!({ "source_id": "anna" });
    let one = json!({ "redeemables": [{ "object": "voucher", "id": "CODE" }], "order": { "amount": 1000 },
        "customer": customer, "options": { "expand": ["trace", "redeemable", "category"] } });
    let beside = |codes: [&str; 3]| {
        let named: Vec<Json> = codes.iter().map(|code| json!({ "object": "voucher", "id": code })).collect();
        let mut body = one.clone();
        body["redeemables"] = Json::Array(named);
        body
    };
    let calls = [
        ("POST /client/v1/validations", one.clone()),
        ("POST /client/v1/redemptions", one.clone()),
        ("POST /client/v1/validations", beside(["FINE", "NONE", "CODE"])),
        ("POST /client/v1/validations", beside(["NONE", "CODE", "FINE"])),
        ("POST /client/v1/redemptions", beside(["NONE", "CODE", "NULL"])),
        ("GET /client/v1/validate?code=CODE&amount=1000&customer[source_id]=anna", Json::Null),
        ("POST /client/v1/redeem?code=CODE", json!({ "order": { "amount": 1000 }, "customer": customer })),
    ];
    let mut wrong = Vec::new();
    for (call, body) in &calls {
        let unknown = shop.answer_to(call, body, "ZZZZ");
        for code in UNUSABLE {
            let answer = shop.answer_to(call, body, code);
            if answer != unknown {
                wrong.push(format!("{call} {code}:\n  {answer}\nwhere of an unknown code\n  {unknown}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} disclose a code:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_published_code_looks_missing_to_a_client() {
    let shop = shop();
    let campaign = json!({ "name": "Mine", "campaign_type": "DISCOUNT_COUPONS", "type": "STATIC", "vouchers_count": 0,
        "voucher": { "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 } } });
    let id = shop.server("POST /v1/campaigns", campaign)["id"].as_str().unwrap().to_owned();
    shop.server(&format!("POST /v1/campaigns/{id}/vouchers/HELD"), json!({}));
    shop.server("POST /v1/publications", json!({ "voucher": "HELD", "customer": { "source_id": "ben" } }));
    let body = json!({ "voucher": "CODE", "customer": { "source_id": "anna" } });
    let call = "POST /client/v1/publish";
    assert_eq!(shop.answer_to(call, &body, "HELD"), shop.answer_to(call, &body, "ZZZZ"));
}

#[test]
fn failing_at_the_profile_of_a_stored_customer_is_a_failed_attempt() {
    let shop = shop();
    let segment = json!({ "name": "First order", "type": "auto-update",
        "filter": { "junction": "and", "summary.orders.total_count": { "conditions": { "$is": [0] } } } });
    let segment = shop.server("POST /v1/segments", segment)["id"].clone();
    let rules = json!({ "1": { "name": "customer.segment", "conditions": { "$is": [segment] } } });
    let rule = shop.server("POST /v1/validation-rules", json!({ "name": "First order", "rules": rules }));
    let call = format!("POST /v1/validation-rules/{}/assignments", rule["id"].as_str().unwrap());
    shop.server(&call, json!({ "voucher": "FINE" }));
    let tried = |name: &str, address: &str| {
        let body = json!({ "redeemables": [{ "object": "voucher", "id": "FINE" }], "order": { "amount": 1000 },
            "customer": { "source_id": name } });
        let status = || shop.send(address, "POST /client/v1/validations", &body, ASKED).status;
        (0..18).map(|_| status()).collect::<Vec<_>>()
    };
    assert_eq!(tried("new", "192.0.2.1"), [200; 18]);
    // Anna redeemed a code before.
    let anna = tried("anna", "192.0.2.2");
    assert_eq!((&anna[..17], anna[17]), (&[200; 17][..], 429));
}

fn client_key(address: Option<&str>) -> ClientKey {
    ClientKey { project: "proj_dev".into(), key: "dev-client".into(), address: address.map(str::to_owned) }
}

/// Makes an attempt that is answered at once; returns true if it was admitted.
fn attempt(limiter: &mut FailedAttempts, client: &ClientKey, wrong: u64, now_ms: i64) -> AttemptDecision {
    let verdict = limiter.check(client, now_ms);
    if matches!(verdict, AttemptDecision::After(_)) {
        limiter.record_result(client, wrong, now_ms);
    }
    verdict
}

#[test]
fn waits_double_after_ten_failures_until_the_caller_is_blocked() {
    let (mut limiter, anna) = (FailedAttempts::default(), client_key(Some("192.0.2.1")));
    let verdicts: Vec<AttemptDecision> = (0..18).map(|_| attempt(&mut limiter, &anna, 1, ASKED)).collect();
    assert!(verdicts[..10].iter().all(|verdict| *verdict == AttemptDecision::After(0)), "{verdicts:?}");
    let waits = [100, 200, 400, 800, 1_600, 3_200, 5_000].map(AttemptDecision::After);
    assert_eq!(verdicts[10..17], waits);
    assert_eq!(verdicts[17], AttemptDecision::Later(30));
    // An instant earlier it is still refused; then one attempt is admitted, and none after it.
    assert!(matches!(attempt(&mut limiter, &anna, 1, ASKED + 29_000), AttemptDecision::Later(1)));
    assert_eq!(attempt(&mut limiter, &anna, 1, ASKED + 30_000), AttemptDecision::After(5_000));
    assert_eq!(attempt(&mut limiter, &anna, 1, ASKED + 30_000), AttemptDecision::Later(30));
    // Another address is not affected, and after an hour all failures have decayed.
    assert_eq!(attempt(&mut limiter, &client_key(Some("192.0.2.2")), 1, ASKED + 30_000), AttemptDecision::After(0));
    assert_eq!(attempt(&mut limiter, &anna, 1, ASKED + 3_600_000), AttemptDecision::After(0));
}

#[test]
fn right_codes_cost_nothing() {
    let mut limiter = FailedAttempts::default();
    for now_ms in ASKED..ASKED + 20_000 {
        assert_eq!(attempt(&mut limiter, &client_key(Some("192.0.2.1")), 0, now_ms), AttemptDecision::After(0));
        assert_eq!(attempt(&mut limiter, &client_key(None), 0, now_ms), AttemptDecision::After(0));
    }
    assert_eq!(limiter.addresses(), 0);
}

#[test]
fn thirty_names_count_as_thirty_attempts_in_one_request_too() {
    let mut limiter = FailedAttempts::default();
    let anna = client_key(Some("192.0.2.1"));
    assert_eq!(attempt(&mut limiter, &anna, 30, ASKED), AttemptDecision::After(0));
    assert_eq!(attempt(&mut limiter, &anna, 1, ASKED), AttemptDecision::Later(420));
    let ben = client_key(Some("192.0.2.2"));
    let let_in = (0..1_000).filter(|_| matches!(limiter.check(&ben, ASKED), AttemptDecision::After(_))).count();
    assert_eq!(let_in, 16 + 10 + 7);
    (0..let_in).for_each(|_| limiter.record_result(&ben, 30, ASKED + 10));
    assert_eq!(limiter.check(&ben, ASKED + 20), AttemptDecision::Later(3_810));
}

#[test]
fn unanswered_attempts_expire() {
    let mut limiter = FailedAttempts::default();
    let anna = client_key(Some("192.0.2.1"));
    while matches!(limiter.check(&anna, ASKED), AttemptDecision::After(_)) {}
    assert_eq!(limiter.check(&anna, ASKED + 60_000), AttemptDecision::After(0));
}

#[test]
fn without_an_address_the_key_has_a_higher_limit() {
    let (mut limiter, keyed) = (FailedAttempts::default(), client_key(None));
    let let_in = (0..10_000).filter(|_| attempt(&mut limiter, &keyed, 1, ASKED) == AttemptDecision::After(0)).count();
    assert_eq!(let_in, 100);
    // One attacker does not block all other callers for long, and never those with an address.
    (0..40).for_each(|_| _ = attempt(&mut limiter, &keyed, 30, ASKED));
    let AttemptDecision::Later(seconds) = limiter.check(&keyed, ASKED) else { panic!("it is let in") };
    assert!(seconds <= 60, "{seconds}");
    assert_eq!(attempt(&mut limiter, &client_key(Some("192.0.2.1")), 0, ASKED), AttemptDecision::After(0));
}

#[test]
fn from_many_addresses_each_has_fewer_mistakes_and_memory_is_bounded() {
    let mut limiter = FailedAttempts::default();
    for number in 0..30_000_u32 {
        let address = format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
        attempt(&mut limiter, &client_key(Some(&address)), 1, ASKED);
        assert!(limiter.addresses() <= 10_000);
    }
    let anna = client_key(Some("192.0.2.1"));
    let free = (0..10).filter(|_| attempt(&mut limiter, &anna, 1, ASKED) == AttemptDecision::After(0)).count();
    assert_eq!(free, 3);
    assert_eq!(attempt(&mut limiter, &client_key(Some("192.0.2.2")), 0, ASKED), AttemptDecision::After(0));
}

#[test]
fn answers_about_wrong_names_wait_for_a_fixed_interval() {
    for (elapsed, held) in [(0, 50), (1, 49), (49, 1), (50, 50), (51, 49), (149, 1)] {
        assert_eq!(remaining_delay(elapsed), held);
    }
}

#[test]
fn an_address_is_taken_only_from_the_host_or_the_configured_header() {
    let of = |headers: &[(&str, &str)], named: Option<&str>| {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        address::of(&Request { headers, ..Request::default() }, named)
    };
    let forged = [("x-forwarded-for", "192.0.2.9"), ("cf-connecting-ip", "192.0.2.8"), ("x-real-ip", "192.0.2.7")];
    assert_eq!(of(&forged, None), None);
    assert_eq!(of(&forged, Some("x-real-ip")).as_deref(), Some("192.0.2.7"));
    assert_eq!(of(&[forged[0], ("scrip-address", "192.0.2.1")], Some("x-forwarded-for")).as_deref(), Some("192.0.2.1"));
    // The address that the proxy saw itself is the last one.
    let two = [("x-forwarded-for", "198.51.100.1, 192.0.2.3"), ("x-forwarded-for", "198.51.100.2,192.0.2.4")];
    assert_eq!(of(&two, Some("x-forwarded-for")).as_deref(), Some("192.0.2.4"));
    for (sent, read) in [
        ("2001:db8:1:2:3:4:5:6", Some("2001:db8:1:2::/64")),
        ("2001:db8:1:2:ffff::1", Some("2001:db8:1:2::/64")),
        ("::ffff:192.0.2.1", Some("192.0.2.1")),
        ("192.0.2.1:4711", Some("192.0.2.1")),
        ("[2001:db8::1]:4711", Some("2001:db8::/64")),
        ("[2001:db8::1]", Some("2001:db8::/64")),
        ("", None),
        ("anna", None),
        ("192.0.2", None),
        ("192.0.2.1 or so", None),
    ] {
        assert_eq!(of(&[("x-real-ip", sent)], Some("x-real-ip")).as_deref(), read, "`{sent}`");
    }
    assert_eq!(of(&[("x-real-ip", &"1".repeat(100_000))], Some("x-real-ip")), None);
}

/// Makes a failed attempt from an address.
fn try_code(shop: &Shop, address: &str, code: &str, now_ms: i64) -> Reply {
    let body = json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1000 } });
    shop.send(address, "POST /client/v1/validations", &body, now_ms)
}

#[test]
fn only_the_guessing_caller_is_blocked_for_all_codes() {
    let shop = shop();
    for _ in 0..17 {
        assert_eq!(try_code(&shop, "192.0.2.1", "NONE", ASKED).status, 200);
    }
    let [wrong, right] = ["NONE", "FINE"].map(|code| try_code(&shop, "192.0.2.1", code, ASKED));
    for reply in [&wrong, &right] {
        let header =
            |name: &str| reply.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(reply.status, 429);
        assert_eq!(reply.body, br#"{"code":429,"message":"Too many requests hit the API too quickly."}"#);
        assert_eq!(header("retry-after"), Some("30"));
        assert_eq!(header("access-control-allow-origin"), Some("http://localhost:1"));
        assert!(header("access-control-expose-headers").unwrap().contains("retry-after"));
    }
    assert_eq!(try_code(&shop, "192.0.2.1", "FINE", ASKED + 30_000).status, 200);
    assert_eq!(try_code(&shop, "192.0.2.2", "FINE", ASKED).status, 200);
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "NONE" }], "order": { "amount": 1000 } });
    for _ in 0..100 {
        assert_eq!(shop.send("server", "POST /v1/validations", &body, ASKED).status, 200);
    }
}

#[test]
fn every_way_to_name_a_code_counts() {
    let named = json!({ "redeemables": [{ "object": "voucher", "id": "NONE" }, { "object": "voucher", "id": "PAST" },
        { "object": "voucher", "id": "FINE" }], "order": { "amount": 1000 } });
    for (call, body, wrong) in [
        ("POST /client/v1/validations", named.clone(), 2),
        ("POST /client/v1/redemptions", named, 2),
        ("POST /client/v1/redeem?code=NONE", json!({}), 1),
        ("GET /client/v1/validate?code=PAST", Json::Null, 1),
        ("POST /client/v1/publish", json!({ "voucher": "NONE", "customer": { "source_id": "anna" } }), 1),
        ("POST /client/v1/validations", json!({ "redeemables": [{ "object": "voucher", "id": "FINE" }] }), 0),
        ("POST /client/v1/qualifications", json!({ "order": { "amount": 1000 } }), 0),
    ] {
        let shop = shop();
        for place in 0..100 {
            let reply = shop.send("192.0.2.1", call, &body, ASKED + place);
            assert!(!reply.headers.iter().any(|(name, _)| name == "scrip-wrong-codes"), "{call} shows what it counts");
            let away = wrong > 0 && wrong * place >= 17;
            assert_eq!(reply.status == 429, away, "{call} {place}: {}", String::from_utf8_lossy(&reply.body));
        }
    }
}
