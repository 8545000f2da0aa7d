//! Tests that the rules of a client with a customer's supplement answer the bytes of the service: a thousand carts of fifty customers,
//! who redeem between them. A verdict that is not final says so.

use crate::bundle::{Bundle, claims_of};
use crate::in_process::Edge;
use crate::shops::bundle_client::without_omitted;
use crate::shops::calls;
use crate::shops::random::Random;
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use scrip_worker::http::request::Reply;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// 1 March 2026.
const BEGIN: i64 = 1_772_323_200_000;
const CUSTOMERS: usize = 50;
const CARTS: usize = 1_000;
/// Time between two carts: all of them take a day and a half, with a midnight.
const STEP_MS: i64 = 120_000;
/// All scenarios of a qualification.
pub const SCENARIOS: [&str; 8] = [
    "ALL",
    "CUSTOMER_WALLET",
    "AUDIENCE_ONLY",
    "PRODUCTS",
    "PRODUCTS_DISCOUNT",
    "PROMOTION_STACKS",
    "PRODUCTS_BY_CUSTOMER",
    "PRODUCTS_DISCOUNT_BY_CUSTOMER",
];

struct Merchant {
    edge: Edge,
    now: i64,
}

impl Merchant {
    fn send(&mut self, call: &str, body: &Json, credentials: &[(&str, &str)]) -> Reply {
        calls::send(&self.edge, self.now, call, body, credentials)
    }

    /// Makes a call of the merchant's server that must succeed.
    fn make(&mut self, call: &str, body: &Json) -> Json {
        self.now += 1;
        calls::make(&self.edge, self.now, call, body)
    }

    /// Makes a call of a client with the token of a customer.
    fn ask(&mut self, call: &str, body: &Json, token: &str) -> Reply {
        let key = [("x-client-application-id", "dev-client"), ("x-client-token", "dev-client-token")];
        let token = (!token.is_empty()).then_some(("x-customer-token", token));
        self.send(call, body, &key.into_iter().chain(token).collect::<Vec<_>>())
    }

    fn token(&mut self, customer: &str) -> String {
        let wanted = json!({ "customer": { "source_id": customer }, "ttl": 600 });
        self.make("POST /v1/customer-tokens", &wanted)["token"].as_str().unwrap().to_owned()
    }

    fn rule(&mut self, name: &str, rules: &Json) -> String {
        let made = self.make("POST /v1/validation-rules", &json!({ "name": name, "rules": rules }));
        made["id"].as_str().unwrap().to_owned()
    }

    fn segment(&mut self, name: &str, filter: &Json) -> String {
        let body = json!({ "name": name, "type": "auto-update", "filter": filter });
        self.make("POST /v1/segments", &body)["id"].as_str().unwrap().to_owned()
    }

    /// Creates promotions and a public code about customers, and campaigns of which some customers get codes.
    fn open_shop(&mut self) -> Vec<String> {
        let ordered = json!({ "junction": "and", "summary.orders.total_count": { "conditions": { "$is": [0] } } });
        let [newcomers, north] = [
            self.segment("Newcomers", &ordered),
            self.segment("North", &json!({ "junction": "and", "address.city": { "conditions": { "$in": ["Oslo"] } } })),
        ];
        let is = |segment: &str| json!({ "1": { "name": "customer.segment", "conditions": { "$is": [segment] } } });
        let below =
            |name: &str, most: u64| json!({ "1": { "name": name, "conditions": { "$less_than_or_equal": [most] } } });
        let gold = json!({ "name": "customer.metadata", "property": "level", "conditions": { "$is": ["gold"] } });
        let large = json!({ "name": "order.amount", "conditions": { "$more_than": [5_000] } });
        let rules = [
            ("first", is(&newcomers)),
            ("north", is(&north)),
            ("once", below("redemption.count.per_customer", 1)),
            ("daily", below("redemption.count.per_customer.daily", 2)),
            ("gold or large", json!({ "1": gold, "2": large, "logic": "1 or 2" })),
            ("of the campaign", below("campaign.redemptions.customers_count", 4)),
        ];
        let rules: Vec<String> = rules.iter().map(|(name, rules)| self.rule(name, rules)).collect();
        let mut tiers: Vec<Json> = (1..)
            .zip(&rules)
            .map(|(number, rule)| {
                let discount = json!({ "type": "AMOUNT", "amount_off": 100 * number });
                json!({ "name": format!("Tier {number}"), "action": { "discount": discount }, "validation_rules": [rule] })
            })
            .collect();
        tiers.push(json!({ "name": "For all", "action": { "discount": { "type": "PERCENT", "percent_off": 3 } } }));
        let sale = json!({ "name": "Sale", "campaign_type": "PROMOTION", "promotion": { "tiers": tiers } });
        let listed = self.make("POST /v1/campaigns", &sale)["promotion"].clone();
        let off = json!({ "type": "AMOUNT", "amount_off": 250 });
        let voucher = |what: Json| json!({ "type": "DISCOUNT_VOUCHER", "discount": off, "redemption": what });
        for (name, kind, voucher, rule) in [
            ("News", "DISCOUNT_COUPONS", voucher(json!({ "quantity": 2 })), Some(&rules[4])),
            ("Often", "DISCOUNT_COUPONS", voucher(json!({ "quantity": null })), Some(&rules[3])),
            (
                "Cards",
                "GIFT_VOUCHERS",
                json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 3_000, "effect": "APPLY_TO_ORDER" }, "redemption": { "quantity": null } }),
                None,
            ),
            (
                "Club",
                "LOYALTY_PROGRAM",
                json!({ "type": "LOYALTY_CARD", "loyalty_card": { "points": 200 }, "redemption": { "quantity": null } }),
                None,
            ),
            ("Friends", "REFERRAL_PROGRAM", voucher(json!({ "quantity": null })), None),
        ] {
            let mut body = json!({ "name": name, "type": "AUTO_UPDATE", "campaign_type": kind, "voucher": voucher });
            if let Some(rule) = rule {
                body["validation_rules"] = json!([rule]);
            }
            if kind == "REFERRAL_PROGRAM" {
                body["referral_program"] = json!({ "conversion_event_type": "redemption" });
            }
            self.make("POST /v1/campaigns", &body);
        }
        let open = json!({ "name": "Open", "type": "STANDALONE", "visibility": "public", "campaign_type": "DISCOUNT_COUPONS", "validation_rules": [rules[2]],
            "voucher": { "type": "DISCOUNT_VOUCHER", "discount": off, "redemption": { "quantity": null }, "code_config": { "pattern": "OPEN" } } });
        self.make("POST /v1/campaigns", &open);
        listed["tiers"].as_array().unwrap().iter().map(|tier| tier["id"].as_str().unwrap().to_owned()).collect()
    }
}

/// A customer, and the codes published to them.
struct Shopper {
    name: String,
    codes: Vec<String>,
}

fn customers(shop: &mut Merchant, random: &mut Random) -> Vec<Shopper> {
    (0..CUSTOMERS)
        .map(|number| {
            let name = format!("customer-{number}");
            let profile = json!({ "source_id": name, "metadata": { "level": random.pick(&["gold", "new"]) }, "address": { "city": random.pick(&["Oslo", "Rome"]) } });
            // Some are not stored yet.
            if number % 10 != 9 {
                shop.make("POST /v1/customers", &profile);
            }
            let campaigns = if number % 10 == 9 { Vec::new() } else { random.some(&["News", "Often", "Cards", "Club", "Friends"], number % 4) };
            let codes = campaigns.into_iter().map(|campaign| {
                let body = json!({ "campaign": { "name": campaign, "count": 1 }, "customer": { "source_id": name } });
                shop.make("POST /v1/publications", &body)["voucher"]["code"].as_str().unwrap().to_owned()
            });
            Shopper { codes: codes.collect(), name }
        })
        .collect()
}

/// Numbers of verdicts by kind: final ones, those among them that grant, and all.
#[derive(Debug, Default)]
struct Tally {
    counts: BTreeMap<&'static str, [u32; 3]>,
    /// The kinds of facts that provisional verdicts lack, each with one of them.
    missing: BTreeMap<String, String>,
}

impl Tally {
    fn add(&mut self, kind: &'static str, is_final: bool, grants: bool) {
        let counts = self.counts.entry(kind).or_default();
        counts[0] += u32::from(is_final);
        counts[1] += u32::from(is_final && grants);
        counts[2] += 1;
    }

    fn sum(&self, kinds: &[&str]) -> [u32; 3] {
        kinds
            .iter()
            .filter_map(|kind| self.counts.get(kind))
            .fold([0; 3], |sum, counts| [0, 1, 2].map(|place| sum[place] + counts[place]))
    }
}

/// A request of a customer's client.
struct ClientCall<'c> {
    kind: &'static str,
    path: &'static str,
    request: Json,
    token: &'c str,
}

/// Compares the verdict on a request with that of the service; returns a final one that differs.
fn compare(shop: &mut Merchant, rules: &PreparedRules, call: &ClientCall<'_>, tally: &mut Tally) -> Option<String> {
    let ClientCall { kind, path, request, token } = call;
    let reply = shop.ask(&format!("POST /client/v1/{path}"), request, token);
    if reply.status == 429 {
        // Too many codes that could not be used.
        tally.add("refused for wrong codes", false, false);
        return None;
    }
    let context = reply.headers.iter().find(|(name, _)| *name == "scrip-context");
    let context = match context {
        Some((_, text)) => crate::shops::bundle_client::context(text),
        None => Context { now: Instant::from_millis(shop.now).unwrap(), seed: [7; 32], first_number: None },
    };
    let text = request.to_string();
    let own = match *path {
        "validations" => rules.validate(text.as_bytes(), &context),
        _ => rules.qualify(text.as_bytes(), &context),
    };
    let read: Json = serde_json::from_slice(&own.body).unwrap();
    let is_final = read["missing"].is_null();
    let grants = read["valid"] == true || read["redeemables"]["total"].as_u64().is_some_and(|total| total > 0);
    tally.add(kind, is_final, grants);
    if !is_final {
        for fact in read["missing"].as_array().unwrap() {
            let fact = fact.as_str().unwrap();
            tally.missing.insert(format!("{kind}: {}", fact.split('/').next().unwrap()), fact.to_owned());
        }
        return None;
    }
    assert_eq!(reply.status, 200, "{request}");
    let (own, service) = without_omitted(&read, &own.body, &reply.body);
    (own != service).then(|| format!("{kind} {request}\n  service {service}\n  client  {own}"))
}

/// Returns what a client sends of its customer's profile, which counts before the stored one: mostly nothing.
fn sent_profile(random: &mut Random, name: &str) -> Json {
    let mut profile = json!({ "source_id": name });
    match random.below(24) {
        0 => profile["metadata"] = json!({ "level": random.pick(&["gold", "new"]) }),
        1 => profile["address"] = json!({ "city": random.pick(&["Oslo", "Rome"]) }),
        _ => {}
    }
    profile
}

fn cart(random: &mut Random) -> Json {
    match random.below(4) {
        0 => json!({ "amount": random.between(100, 9_000) }),
        _ => {
            json!({ "items": [{ "source_id": "thing", "related_object": "product", "quantity": random.between(1, 4), "price": random.between(100, 3_000) }] })
        }
    }
}

#[test]
fn a_thousand_carts_of_customers_who_redeem_get_the_bytes_of_the_service() {
    let mut shop = Merchant { edge: Edge::new(), now: BEGIN };
    let mut random = Random::new(35);
    let tiers = shop.open_shop();
    let shoppers = customers(&mut shop, &mut random);
    let head = shop.ask("GET /client/v1/bundle", &Json::Null, "");
    let mut bundle = Bundle::of(&head.body, |path| shop.ask(&format!("GET {path}"), &Json::Null, "").body);
    let mut tally = Tally::default();
    let (mut redeemed, mut wrong) = (0, Vec::new());
    for _ in 0..CARTS {
        shop.now += STEP_MS;
        let shopper = random.pick(&shoppers);
        let head = shop.ask("GET /client/v1/bundle", &Json::Null, "");
        if claims_of(&head.body).unwrap() != bundle.claims {
            bundle = Bundle::of(&head.body, |path| shop.ask(&format!("GET {path}"), &Json::Null, "").body);
        }
        let token = shop.token(&shopper.name);
        let supplement = shop.ask("GET /client/v1/bundle/me", &Json::Null, &token);
        assert_eq!(supplement.status, 200, "{}", String::from_utf8_lossy(&supplement.body));
        assert!(supplement.body.len() <= 8_192, "{} bytes", supplement.body.len());
        let claims = claims_of(&supplement.body).unwrap();
        assert_eq!(claims["core"], bundle.claims["core"]);
        shop.now += random.between(0, 240_000);
        // After its end a client does not use it.
        let is_over = shop.now >= claims["exp"].as_i64().unwrap() * 1_000;
        let facts = (!is_over).then(|| &claims["facts"]);
        let plain = bundle.prepare();
        let order = cart(&mut random);
        let profile = sent_profile(&mut random, &shopper.name);
        let tier = json!({ "object": "promotion_tier", "id": random.pick(&tiers) });
        let validate = |redeemable: &Json| json!({ "redeemables": [redeemable], "order": order, "customer": profile });
        let scenario = *random.pick(&SCENARIOS);
        let qualification =
            json!({ "order": order, "scenario": scenario, "customer": profile, "options": { "limit": 50 } });
        let code = shopper.codes.get(random.index(shopper.codes.len().max(1))).map_or("OPEN", String::as_str);
        let code = json!({ "object": "voucher", "id": code });
        let calls = [
            ("a promotion", "validations", validate(&tier)),
            ("a code", "validations", validate(&code)),
            (scenario, "qualifications", qualification),
        ];
        for (kind, path, request) in calls {
            let rules = bundle.prepare_for(&plain, &request, facts).with_customer(&shopper.name);
            wrong.extend(compare(&mut shop, &rules, &ClientCall { kind, path, request, token: &token }, &mut tally));
        }
        if random.once_in(3) {
            let redeemable = random.pick(&[tier, code]).clone();
            let body =
                json!({ "redeemables": [redeemable], "order": order, "customer": { "source_id": shopper.name } });
            let key = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
            redeemed += u32::from(shop.send("POST /v1/redemptions", &body, &key).status == 200);
        }
    }
    let report = format!("{:?}, {redeemed} redeemed", tally);
    eprintln!("{report}");
    assert!(
        wrong.is_empty(),
        "{} of {report}\n{}",
        wrong.len(),
        wrong.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("\n")
    );
    assert!(redeemed > 100, "{report}");
    let [decided, granted, all] = tally.sum(&["a promotion", "a code"]);
    assert!(decided * 10 >= all * 9 && granted > 100 && granted < decided, "{report}");
    let [decided, granted, _] = tally.sum(&SCENARIOS);
    assert!(granted > 100 && granted < decided, "{report}");
    for scenario in SCENARIOS {
        let [decided, _, all] = tally.sum(&[scenario]);
        assert!(all > 50 && decided * 10 >= all * 9, "{scenario}: {report}");
    }
}
