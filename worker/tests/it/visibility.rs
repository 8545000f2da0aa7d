//! Tests that words which the merchant has not made visible are in no head, no core and no list of a client, by default and with each
//! setting. Tests also that the qualification by a bundle is final where the bundle has all candidates.

mod customers;
mod messages;

use crate::bundle::{Bundle, claims_of};
use crate::in_process::Edge;
use crate::supplement_carts::SCENARIOS;
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};

/// Noon of 1 March 2026.
const NOON: i64 = 1_772_366_400_000;
const HOUR: i64 = 3_600_000;
const CLIENT: [(&str, &str); 3] = [
    ("x-client-application-id", "dev-client"),
    ("x-client-token", "dev-client-token"),
    ("origin", "http://localhost:1"),
];

struct Shop {
    edge: Edge,
    /// Words that no client may read.
    planted: Vec<String>,
}

impl Shop {
    fn new() -> Shop {
        Shop { edge: Edge::new(), planted: Vec::new() }
    }

    fn send(&self, now_ms: i64, call: &str, headers: &[(&str, &str)], body: &Json) -> Reply {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        self.edge.send(request, now_ms, None)
    }

    fn make(&self, path: &str, body: &Json) -> Json {
        let keys = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let reply = self.send(NOON - 24 * HOUR, &format!("POST {path}"), &keys, body);
        assert_eq!(reply.status, 200, "{path} {body}: {}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }

    fn of_client(&self, call: &str, body: &Json) -> Vec<u8> {
        self.of_customer(call, body, None)
    }

    /// Returns the answer to a client, which may have the token of a customer.
    fn of_customer(&self, call: &str, body: &Json, token: Option<&str>) -> Vec<u8> {
        let mut headers = CLIENT.to_vec();
        headers.extend(token.map(|token| ("x-customer-token", token)));
        let reply = self.send(NOON, call, &headers, body);
        assert_eq!(reply.status, 200, "{call}: {}", String::from_utf8_lossy(&reply.body));
        reply.body
    }

    /// Returns the bundle with the keys of its sealed codes.
    fn bundle(&self) -> (Vec<u8>, Bundle) {
        self.of_client("GET /client/v1/bundle", &Json::Null);
        self.edge.derive_box_keys("proj_dev", NOON);
        let head = self.of_client("GET /client/v1/bundle", &Json::Null);
        let bundle = Bundle::of(&head, |path| self.of_client(&format!("GET {path}"), &Json::Null));
        (head, bundle)
    }

    /// Returns a new word that no client may read.
    fn plant(&mut self, subject: &str) -> String {
        let word = format!("Zq{}{subject}", self.planted.len());
        self.planted.push(word.clone());
        word
    }

    /// Creates a promotion of one tier with planted names; the members are those of its tier and of the campaign.
    fn plant_promotion(&mut self, subject: &str, of_tier: &Json, of_campaign: &Json) {
        let (campaign, tier, banner, note, category) = (
            self.plant(subject),
            self.plant("tier"),
            self.plant("banner"),
            self.plant("metadata"),
            self.plant("category"),
        );
        let discount = json!({ "discount": { "type": "AMOUNT", "amount_off": 10 } });
        let mut tier = json!({ "name": tier, "banner": banner, "action": discount, "metadata": { "note": note }, "category": category });
        join(&mut tier, of_tier);
        let mut body = json!({ "name": campaign, "campaign_type": "PROMOTION", "promotion": { "tiers": [tier] } });
        join(&mut body, of_campaign);
        self.make("/v1/campaigns", &body);
    }

    /// Creates a campaign of codes with planted names.
    fn plant_codes(&mut self, subject: &str, body: &Json) {
        let (name, note) = (self.plant(subject), self.plant("metadata"));
        let mut whole = json!({ "name": name, "metadata": { "note": note }, "vouchers_count": 1 });
        join(&mut whole, body);
        self.make("/v1/campaigns", &whole);
    }
}

fn join(body: &mut Json, more: &Json) {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
}

/// Creates offers that no client may know, with planted words in all their texts.
fn plant_hidden(shop: &mut Shop) {
    let (none, hidden, shown) = (json!({}), json!({ "visibility": "server" }), json!({ "visibility": "public" }));
    let later = json!({ "start_date": "2026-03-01T20:00:00Z", "visibility": "public" });
    let over = json!({ "expiration_date": "2026-03-01T06:00:00Z", "visibility": "public" });
    for (subject, of_tier, of_campaign) in [
        ("hidden", &hidden, &none),
        ("hiddencampaign", &none, &hidden),
        ("narrower", &shown, &hidden),
        ("later", &later, &none),
        ("latercampaign", &shown, &later),
        ("over", &over, &none),
        ("overcampaign", &none, &over),
        ("draft", &json!({ "active": false, "visibility": "public" }), &none),
    ] {
        shop.plant_promotion(subject, of_tier, of_campaign);
    }
    let discount = json!({ "discount": { "type": "PERCENT", "percent_off": 10 } });
    let limited = json!({ "discount": { "type": "PERCENT", "percent_off": 10 }, "redemption": { "quantity": 5 } });
    let card = json!({ "loyalty_card": { "points": 5 } });
    for (subject, body) in [
        ("private", json!({ "voucher": discount })),
        ("static", json!({ "type": "STATIC", "voucher": discount, "visibility": "server" })),
        ("hiddencode", json!({ "type": "STANDALONE", "voucher": discount, "visibility": "server" })),
        ("limited", json!({ "type": "STANDALONE", "voucher": limited })),
        (
            "gift",
            json!({ "campaign_type": "GIFT_VOUCHERS", "type": "STANDALONE", "voucher": { "gift": { "amount": 5 } } }),
        ),
        (
            "latercode",
            json!({ "type": "STANDALONE", "voucher": discount, "visibility": "public", "start_date": "2026-03-01T20:00:00Z" }),
        ),
        (
            "overcode",
            json!({ "type": "STANDALONE", "voucher": discount, "visibility": "sealed", "expiration_date": "2026-03-01T06:00:00Z" }),
        ),
        ("club", json!({ "campaign_type": "LOYALTY_PROGRAM", "voucher": card })),
        ("friends", json!({ "campaign_type": "REFERRAL_PROGRAM", "voucher": discount })),
    ] {
        shop.plant_codes(subject, &body);
    }
    // A rule, a segment and a collection that hidden offers alone name.
    let (segment, filter) = (shop.plant("segment"), shop.plant("filter"));
    let (rule, message) = (shop.plant("rule"), shop.plant("message"));
    let segment = shop.make(
        "/v1/segments",
        &json!({ "type": "auto-update", "name": segment, "filter": { "junction": "and", "name": { "conditions": { "$is": [filter] } } } }),
    );
    let tests = json!({ "1": { "name": "customer.segment", "conditions": { "$is": [segment["id"]] } }, "logic": "1" });
    let rule =
        shop.make("/v1/validation-rules", &json!({ "name": rule, "rules": tests, "error": { "message": message } }));
    shop.plant_codes("guarded", &json!({ "voucher": discount, "validation_rules": [rule["id"]] }));
    for (code, visibility) in [("alone", None), ("alonehidden", Some("server"))] {
        let (code, note) = (shop.plant(code), shop.plant("metadata"));
        shop.make(
            &format!("/v1/vouchers/{code}"),
            &json!({ "discount": discount["discount"], "visibility": visibility, "metadata": { "note": note } }),
        );
    }
}

/// Returns all that a client can read: the head, the core, and every list of `/client/v1`; with a token also the customer's supplement.
fn read_all(shop: &Shop, token: Option<&str>) -> Vec<(String, String)> {
    let (head, bundle) = shop.bundle();
    let mut texts = vec![
        ("the claims of the head".to_owned(), bundle.claims.to_string()),
        ("the core".to_owned(), bundle.json().to_string()),
    ];
    texts.push(("the head".to_owned(), String::from_utf8(head).unwrap()));
    let buckets = bundle.buckets.iter().map(|bucket| String::from_utf8(bucket.clone()).unwrap());
    texts.extend(buckets.map(|bucket| ("a goods bucket".to_owned(), bucket)));
    let expand = json!({ "limit": 50, "expand": ["redeemable", "category", "validation_rules"] });
    let customers = [json!({}), json!({ "source_id": "guest" })];
    // A token allows no other customer.
    let customers = if token.is_some() { &customers[..1] } else { &customers };
    for scenario in SCENARIOS {
        for customer in customers {
            let body =
                json!({ "scenario": scenario, "customer": customer, "order": { "amount": 1000 }, "options": expand });
            texts.push((
                scenario.to_owned(),
                String::from_utf8(shop.of_customer("POST /client/v1/qualifications", &body, token)).unwrap(),
            ));
        }
    }
    for call in [
        "GET /client/v1/promotions/tiers?limit=100",
        "GET /client/v1/promotions/tiers?is_available=true&limit=100",
        "GET /client/v1/vouchers?limit=100",
        "GET /client/v1/consents",
        "GET /client/v1/jwks",
    ] {
        texts.push((call.to_owned(), String::from_utf8(shop.of_customer(call, &Json::Null, token)).unwrap()));
    }
    if token.is_some() {
        let supplement = shop.of_customer("GET /client/v1/bundle/me", &Json::Null, token);
        texts.push(("the supplement".to_owned(), claims_of(&supplement).unwrap().to_string()));
    }
    texts
}

/// Fails if a text that a client can read contains a planted word.
fn check_planted(shop: &Shop, texts: &[(String, String)]) {
    for (place, text) in texts {
        let found: Vec<&String> = shop.planted.iter().filter(|word| text.contains(*word)).collect();
        assert!(found.is_empty(), "{found:?} in {place}: {text}");
    }
}

#[test]
fn planted_words_of_offers_that_are_not_visible_reach_no_client() {
    let mut shop = Shop::new();
    shop.make("/v1/campaigns", &json!({ "name": "Seen", "campaign_type": "PROMOTION", "promotion": { "tiers": [{ "name": "Seentier", "action": { "discount": { "type": "AMOUNT", "amount_off": 1 } } }] } }));
    plant_hidden(&mut shop);
    assert!(shop.planted.len() > 60, "{}", shop.planted.len());
    let texts = read_all(&shop, None);
    check_planted(&shop, &texts);
    // The lists are not empty for another reason.
    let seen = |place: &str| texts.iter().any(|(name, text)| name.starts_with(place) && text.contains("Seentier"));
    assert!(seen("the core") && seen("ALL") && seen("GET /client/v1/promotions/tiers?limit"));
}

/// Creates sealed codes, by default and by settings, with planted words in all that they name; returns the codes and their promise.
fn plant_sealed(shop: &mut Shop) -> Vec<String> {
    let mut codes = Vec::new();
    for (number, visibility) in [None, Some("sealed"), None, Some("sealed")].into_iter().enumerate() {
        let [code, name, value, filter, message, category] =
            ["code", "sealedname", "value", "filter", "message", "category"].map(|subject| shop.plant(subject));
        let rule = shop.plant("rule");
        let category = shop.make("/v1/categories", &json!({ "name": category, "hierarchy": number + 1 }));
        let filter = json!({ "junction": "AND", "metadata.brand": { "conditions": { "$is": [filter] } } });
        let collection = shop.plant("collection");
        let collection = shop
            .make("/v1/product-collections", &json!({ "type": "AUTO_UPDATE", "name": collection, "filter": filter }));
        let goods = json!([{ "id": collection["id"], "object": "products_collection", "type": "products_collection" }]);
        let tests = json!({
            "1": { "name": "order.metadata", "property": "lane", "conditions": { "$is": [value] } },
            "2": { "name": "order.items.any", "conditions": { "$is": goods } },
            "logic": "1 or 2",
        });
        let rule = shop
            .make("/v1/validation-rules", &json!({ "name": rule, "rules": tests, "error": { "message": message } }));
        let discount = json!({ "type": "PERCENT", "percent_off": 10 });
        if number < 2 {
            shop.make(
                "/v1/campaigns",
                &json!({ "name": name, "type": "STANDALONE", "visibility": visibility, "category_id": category["id"], "validation_rules": [rule["id"]],
                         "voucher": { "code_config": { "pattern": code }, "discount": discount } }),
            );
        } else {
            let body = json!({ "discount": discount, "visibility": visibility, "category_id": category["id"], "metadata": { "note": name },
                               "validation_rules": [rule["id"]] });
            shop.make(&format!("/v1/vouchers/{code}"), &body);
        }
        codes.push(code);
    }
    codes
}

#[test]
fn words_of_sealed_codes_reach_only_who_types_the_code() {
    let mut shop = Shop::new();
    let codes = plant_sealed(&mut shop);
    let (note, product) = (shop.plant("goods"), json!({ "name": "Shirt", "source_id": "shirt", "price": 900 }));
    let mut private = product.clone();
    private["metadata"] = json!({ "note": note });
    shop.make("/v1/products", &private);
    assert!(shop.planted.len() >= 30, "{}", shop.planted.len());
    check_planted(&shop, &read_all(&shop, None));
    let core = shop.bundle().1.json();
    assert_eq!(core["sealed_codes"]["boxes"].as_object().unwrap().len(), codes.len());
    for code in &codes {
        let opened = crate::box_keys::open(&core, code).map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(
            opened.as_ref().is_some_and(|text| text.contains(code.as_str()) && text.contains("message")),
            "{opened:?}"
        );
        assert!(opened.is_some_and(|text| !text.contains("filter") && text.contains("\"set\":")), "{code}");
    }
    // The setting `server` is in force at the next head, and nothing is left of the box.
    for (code, path) in
        [(&codes[0], "/v1/campaigns/Zq1sealedname".to_owned()), (&codes[2], format!("/v1/vouchers/{}", codes[2]))]
    {
        let keys = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let reply = shop.send(NOON, &format!("PUT {path}"), &keys, &json!({ "visibility": "server" }));
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        assert_eq!(crate::box_keys::open(&shop.bundle().1.json(), code), None, "{code}");
    }
}

#[test]
fn words_of_conditions_on_goods_reach_no_client() {
    let mut shop = Shop::new();
    let [property, value, other, secret] = ["property", "value", "other", "secret"].map(|subject| shop.plant(subject));
    let [filter, listed, name, rule] = ["filter", "listed", "collection", "rule"].map(|subject| shop.plant(subject));
    let product = json!({ "name": "Shirt", "source_id": "shirt", "price": 900, "metadata": { &property: value, "note": secret } });
    let product = shop.make("/v1/products", &product);
    let by_filter =
        json!({ "junction": "AND", format!("metadata.{property}"): { "conditions": { "$is_not": [filter] } } });
    let by_filter = json!({ "type": "AUTO_UPDATE", "name": name, "filter": by_filter });
    let by_list =
        json!({ "type": "STATIC", "name": listed, "products": [{ "id": product["id"], "object": "product" }] });
    let named = [by_filter, by_list].map(|body| {
        let id = shop.make("/v1/product-collections", &body)["id"].clone();
        json!({ "id": id, "object": "products_collection", "type": "products_collection" })
    });
    let tests = json!({
        "1": { "name": "product.metadata", "property": property, "conditions": { "$is": [value, other] },
               "rules": { "1": { "name": "product.metadata", "property": property, "conditions": { "$is_not": [other] } } } },
        "2": { "name": "order.items.any", "conditions": { "$is": named } },
        "logic": "1 or 2",
    });
    let scope = json!({ "included": [{ "object": "products_collection", "id": named[0]["id"] }] });
    let rule = json!({ "name": rule, "rules": tests, "applicable_to": scope });
    let rule = shop.make("/v1/validation-rules", &rule)["id"].clone();
    let discount = json!({ "type": "PERCENT", "percent_off": 10 });
    let tier = json!({ "name": "Seentier", "validation_rules": [rule], "action": { "discount": discount } });
    shop.make(
        "/v1/campaigns",
        &json!({ "name": "Seen", "campaign_type": "PROMOTION", "promotion": { "tiers": [tier] } }),
    );
    shop.make("/v1/vouchers/SEALED", &json!({ "discount": discount, "validation_rules": [rule] }));
    let texts = read_all(&shop, None);
    check_planted(&shop, &texts);
    let bucket = texts.iter().find(|(place, _)| place == "a goods bucket").unwrap();
    assert!(bucket.1.contains("\"sets\":[1,2,3,4]"), "{}", bucket.1);
}

/// What a visible offer brings with it and a client should not read. A rule that goes as its compiled conditions ends this exception.
#[test]
fn words_of_visible_offers_that_still_reach_clients_are_known() {
    let mut shop = Shop::new();
    let value = shop.plant("rulevalue");
    let filter = shop.plant("segmentfilter");
    let segment = shop.make("/v1/segments", &json!({ "type": "auto-update", "name": "plain", "filter": { "junction": "and", "name": { "conditions": { "$is": [filter] } } } }));
    let tests = json!({ "1": { "name": "customer.segment", "conditions": { "$is": [segment["id"]] } }, "2": { "name": "order.metadata", "property": "lane", "conditions": { "$is": [value] } }, "logic": "1 and 2" });
    let (rule_name, sealed_name) = (shop.plant("rulename"), shop.plant("sealedname"));
    let rule = shop.make("/v1/validation-rules", &json!({ "name": rule_name, "rules": tests }));
    shop.make("/v1/campaigns", &json!({ "name": "Seen", "campaign_type": "PROMOTION", "promotion": { "tiers": [{ "name": "Seentier", "validation_rules": [rule["id"]], "action": { "discount": { "type": "AMOUNT", "amount_off": 1 } } }] } }));
    shop.make("/v1/campaigns", &json!({ "name": sealed_name, "type": "STANDALONE", "voucher": { "code_config": { "pattern": "SEALED" }, "discount": { "type": "PERCENT", "percent_off": 10 } } }));
    for (place, text) in read_all(&shop, None) {
        let found: Vec<&str> = shop.planted.iter().filter(|word| text.contains(*word)).map(String::as_str).collect();
        let known: &[&str] = match place.as_str() {
            // The conditions on the order as they are written.
            "the core" => &[&value],
            _ => &[],
        };
        assert_eq!(found, known, "{place}: {text}");
    }
}

/// Returns the instant and the seed by which the service decided.
fn decide_context(reply: &Reply) -> Context {
    let (_, context) = reply.headers.iter().find(|(name, _)| name == "scrip-context").unwrap();
    crate::shops::bundle_client::context(context)
}

/// Returns the answer of the package to a qualification and that of the service, by the same seed.
fn decide_both(shop: &Shop, body: &Json) -> (Json, Json) {
    let (_, bundle) = shop.bundle();
    let context = Context { now: Instant::from_millis(NOON).unwrap(), seed: [7; 32], first_number: None };
    let own = bundle.prepare().qualify(body.to_string().as_bytes(), &context);
    let service = shop.of_client("POST /client/v1/qualifications", body);
    (serde_json::from_slice(&own.body).unwrap(), serde_json::from_slice(&service).unwrap())
}

#[test]
fn a_qualification_by_the_bundle_is_final_where_it_has_all_candidates() {
    let mut shop = Shop::new();
    plant_hidden(&mut shop);
    let tier = |name: &str, off: u64| json!({ "name": name, "action": { "discount": { "type": "AMOUNT", "amount_off": off } } });
    let seen = shop.make("/v1/campaigns", &json!({ "name": "Seen", "campaign_type": "PROMOTION", "promotion": { "tiers": [tier("a", 1), tier("b", 2), tier("c", 3)] } }));
    let ids: Vec<&Json> = seen["promotion"]["tiers"].as_array().unwrap().iter().map(|tier| &tier["id"]).collect();
    shop.make("/v1/promotions/Seen/stacks", &json!({ "name": "ab", "tiers": { "ids": &ids[..2] } }));
    for (scenario, total) in [
        ("ALL", 3),
        ("CUSTOMER_WALLET", 0),
        ("AUDIENCE_ONLY", 3),
        ("PRODUCTS", 0),
        ("PRODUCTS_DISCOUNT", 0),
        ("PROMOTION_STACKS", 1),
        ("PRODUCTS_BY_CUSTOMER", 0),
        ("PRODUCTS_DISCOUNT_BY_CUSTOMER", 0),
    ] {
        let (own, service) = decide_both(
            &shop,
            &json!({ "scenario": scenario, "order": { "amount": 1000 }, "options": { "limit": 2 } }),
        );
        assert_eq!(own["missing"], Json::Null, "{scenario}: {own}");
        assert_eq!(own["redeemables"]["total"], total, "{scenario}: {own}");
        assert_eq!(own["redeemables"], service["redeemables"], "{scenario}");
    }
}
