//! Tests conditions on goods while catalogue, collections and rules change. A client decides them by the numbers of sets, the service by
//! filters, members and metadata, and both must agree. No cart of listed goods may lack a fact.

mod prices;

use crate::bundle::{Bundle, claims_of};
use crate::in_process::Edge;
use crate::shops::bundle_client::{context, without_omitted};
use crate::shops::calls;
use crate::shops::random::{Random, text};
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::Reply;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// 1 March 2026.
const BEGIN: i64 = 1_772_323_200_000;
const CARTS: usize = 600;
/// The cart before which conditions come that change with the time.
const TIMED_FROM: usize = 500;
/// Carts between two changes of the shop.
const CHANGED_AFTER: usize = 15;
const STEP_MS: i64 = 60_000;
const SCENARIOS: [&str; 4] = ["ALL", "AUDIENCE_ONLY", "PRODUCTS", "PRODUCTS_DISCOUNT"];

struct Shop {
    edge: Edge,
    now: i64,
    random: Random,
    products: Vec<Json>,
    skus: Vec<Json>,
    collections: Vec<String>,
    /// The names of goods that were deleted.
    gone: Vec<String>,
    campaign: String,
    tiers: Vec<String>,
    codes: Vec<String>,
}

impl Shop {
    fn send(&mut self, call: &str, body: &Json, credentials: [(&str, &str); 2]) -> Reply {
        calls::send(&self.edge, self.now, call, body, &credentials)
    }

    /// Makes a call of the merchant's server that must succeed.
    fn make(&mut self, call: &str, body: &Json) -> Json {
        self.now += 1;
        calls::make(&self.edge, self.now, call, body)
    }

    fn ask(&mut self, call: &str, body: &Json) -> Reply {
        self.send(call, body, [("x-client-application-id", "dev-client"), ("x-client-token", "dev-client-token")])
    }

    /// Returns the bundle with the keys of its sealed codes.
    fn bundle(&mut self) -> Bundle {
        self.ask("GET /client/v1/bundle", &Json::Null);
        self.edge.derive_box_keys("proj_dev", self.now);
        let head = self.ask("GET /client/v1/bundle", &Json::Null);
        assert_eq!(head.status, 200);
        Bundle::of(&head.body, |path| self.ask(&format!("GET {path}"), &Json::Null).body)
    }

    fn metadata(&mut self) -> Json {
        let random = &mut self.random;
        let mut metadata = json!({});
        let brands = [json!("Loom"), json!("Oak"), json!("Reef"), json!(["Loom", "Oak"]), Json::Null];
        if !random.once_in(3) {
            metadata["brand"] = random.pick(&brands).clone();
        }
        if random.once_in(2) {
            metadata["size"] = random.between(1, 9).into();
        }
        if random.once_in(2) {
            metadata["since"] =
                (*random.pick(&["2025-12-31", "2026-03-01T00:30:00Z", "2026-02-27", "2026-03-20"])).into();
        }
        metadata
    }

    fn add_product(&mut self, number: usize) {
        let mut body = json!({ "name": format!("Product {number}"), "source_id": format!("prod-{number}") });
        body["metadata"] = self.metadata();
        if !self.random.once_in(8) {
            body["price"] = self.random.price().into();
        }
        let made = self.make("POST /v1/products", &body);
        body["id"] = made["id"].clone();
        for size in ["S", "L"].iter().take(usize::try_from(self.random.below(3)).unwrap()) {
            let mut sku = json!({ "sku": format!("Size {size}"), "source_id": format!("prod-{number}-{size}") });
            sku["metadata"] = self.metadata();
            if self.random.once_in(2) {
                sku["price"] = self.random.price().into();
            }
            let path = format!("POST /v1/products/{}/skus", text(&made, "id"));
            sku["id"] = self.make(&path, &sku)["id"].clone();
            sku["product_id"] = made["id"].clone();
            self.skus.push(sku);
        }
        self.products.push(body);
    }

    fn collect(&mut self, body: Json) {
        let made = self.make("POST /v1/product-collections", &body);
        self.collections.push(text(&made, "id"));
    }

    fn add_collections(&mut self) {
        let listed = |object: &str, goods: &[Json]| -> Vec<Json> {
            goods
                .iter()
                .map(|one| json!({ "id": one["id"], "product_id": one["product_id"], "object": object }))
                .collect()
        };
        let some = listed("product", &self.products[..8]);
        let mut mixed = listed("sku", &self.skus[..3]);
        mixed.extend(listed("product", &self.products[8..11]));
        let lost = listed("product", &self.products[20..24]);
        let of = |products: Vec<Json>| {
            let products: Vec<Json> = products
                .into_iter()
                .map(|mut one| {
                    one.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                    one
                })
                .collect();
            json!({ "type": "STATIC", "name": "Some", "products": products })
        };
        for products in [some, mixed, lost] {
            self.collect(of(products));
        }
        for filter in [
            json!({ "junction": "AND", "metadata.brand": { "conditions": { "$is": ["Loom"] } } }),
            json!({ "junction": "AND", "metadata.brand": { "conditions": { "$is_not": ["Oak"] } } }),
            json!({ "junction": "OR", "price": { "conditions": { "$more_than": [3_000] } }, "metadata.size": { "conditions": { "$less_than": [3] } } }),
            json!({ "junction": "AND", "name": { "conditions": { "$ends_with": ["1", "2"] } }, "metadata.since": { "conditions": { "$after": ["2026-02-28"] } } }),
        ] {
            self.collect(json!({ "type": "AUTO_UPDATE", "name": "Filter", "filter": filter }));
        }
    }

    fn rule(&mut self, rules: &Json, scope: &Json) -> String {
        let mut body = json!({ "name": "A rule", "rules": rules });
        if !scope.is_null() {
            body["applicable_to"] = scope.clone();
        }
        text(&self.make("POST /v1/validation-rules", &body), "id")
    }

    /// Adds offers whose conditions change with the time alone.
    fn add_timed_offers(&mut self) {
        let filter = json!({ "junction": "AND", "metadata.since": { "conditions": { "$more_than_ago": [10] } } });
        self.collect(json!({ "type": "AUTO_UPDATE", "name": "Filter", "filter": filter }));
        let goods =
            json!([{ "id": self.collections.last(), "object": "products_collection", "type": "products_collection" }]);
        self.add_tiers(&[
            (json!({ "1": { "name": "product.metadata", "property": "since", "conditions": { "$less_than_ago": [3] } } }), Json::Null),
            (json!({ "1": { "name": "order.items.any", "conditions": { "$is": goods } } }), Json::Null),
        ]);
    }

    /// Returns the tests of rules, and their scopes.
    fn conditions(&self) -> Vec<(Json, Json)> {
        let data = |property: &str, conditions: Json| json!({ "name": "product.metadata", "property": property, "conditions": conditions });
        let nested = |mut test: Json, name: &str, conditions: Json| {
            test["rules"] = json!({ "1": { "name": name, "conditions": conditions } });
            test
        };
        let is = json!({ "$is": ["Loom"] });
        let mut tests = vec![
            data("brand", is.clone()),
            data("brand", json!({ "$is_not": ["Loom"] })),
            data("brand", json!({ "$has_value": [true] })),
            data("brand", json!({ "$is_unknown": [true] })),
            data("brand", json!({ "$not_contain": ["Reef"] })),
            data("brand", json!({ "$count": [0] })),
            data("size", json!({ "$more_than": [4], "$less_than": [8] })),
            data("since", json!({ "$before": ["2026-03-01"] })),
            data("since", json!({ "$dow": [0, 2] })),
            nested(data("brand", is.clone()), "product.metadata.match_all", json!({ "$is": [true] })),
            nested(data("brand", is.clone()), "product.metadata.aggregated_quantity", json!({ "$more_than": [2] })),
            nested(
                data("size", json!({ "$more_than": [4] })),
                "product.metadata.discount_applicable",
                json!({ "$is": [true] }),
            ),
            nested(
                data("brand", json!({ "$is_not": ["Oak"] })),
                "product.metadata.discount_applicable",
                json!({ "$is": [false] }),
            ),
        ];
        let goods = |id: &String| json!([{ "id": id, "object": "products_collection", "type": "products_collection" }]);
        for id in &self.collections {
            for kind in ["any", "every", "none", "cheapest"] {
                tests.push(json!({ "name": format!("order.items.{kind}"), "conditions": { "$is": goods(id) } }));
            }
        }
        let mut all: Vec<(Json, Json)> = tests.into_iter().map(|test| (json!({ "1": test }), Json::Null)).collect();
        for id in &self.collections {
            let entry = json!({ "object": "products_collection", "id": id, "effect": "APPLY_TO_EVERY" });
            all.push((json!({}), json!({ "included": [entry] })));
            all.push((json!({}), json!({ "included_all": true, "excluded": [entry] })));
        }
        all
    }

    /// Creates a tier for each condition, and sealed codes for some.
    fn add_tiers(&mut self, conditions: &[(Json, Json)]) {
        let path = format!("POST /v1/promotions/{}/tiers", self.campaign);
        for (number, (rules, scope)) in conditions.iter().enumerate() {
            let rule = self.rule(rules, scope);
            let effect = if rules == &json!({}) || number % 3 == 0 { "APPLY_TO_ITEMS" } else { "APPLY_TO_ORDER" };
            let discount = json!({ "type": "PERCENT", "percent_off": number % 20 + 1, "effect": effect });
            let tier = json!({ "name": format!("Tier {number}"), "action": { "discount": discount }, "validation_rules": [rule] });
            let made = self.make(&path, &tier);
            self.tiers.push(text(&made, "id"));
            if number % 5 == 0 {
                let code = format!("CODE{}", self.codes.len());
                let body = json!({ "type": "DISCOUNT_VOUCHER", "discount": discount, "redemption": { "quantity": null }, "validation_rules": [rule] });
                self.make(&format!("POST /v1/vouchers/{code}"), &body);
                self.codes.push(code);
            }
        }
    }

    fn add_offers(&mut self) {
        let sale = self.make("POST /v1/campaigns", &json!({ "name": "Sale", "campaign_type": "PROMOTION" }));
        self.campaign = text(&sale, "id");
        self.add_tiers(&self.conditions());
        let path = format!("POST /v1/promotions/{}/tiers", self.campaign);
        let free =
            json!({ "type": "UNIT", "unit_off": 1, "unit_type": self.products[1]["id"], "effect": "ADD_NEW_ITEMS" });
        let same =
            json!({ "type": "UNIT", "unit_off": 1, "unit_type": self.collections[3], "effect": "ADD_SAME_ITEMS" });
        for (name, discount) in [("Free", free), ("Same", same)] {
            let made = self.make(&path, &json!({ "name": name, "action": { "discount": discount } }));
            // Often: it changes the lines that the others see.
            self.tiers.extend(std::iter::repeat_n(text(&made, "id"), 6));
        }
    }

    fn change(&mut self) {
        let product = self.random.pick(&self.products).clone();
        let path = format!("/v1/products/{}", text(&product, "id"));
        match self.random.below(6) {
            0 | 1 => {
                let metadata = self.metadata();
                self.make(&format!("PUT {path}"), &json!({ "metadata": metadata }));
            }
            2 => {
                let price = self.random.price();
                self.make(&format!("PUT {path}"), &json!({ "price": price }));
            }
            3 if !self.skus.is_empty() => {
                let sku = self.random.pick(&self.skus).clone();
                let metadata = self.metadata();
                let path = format!("PUT /v1/products/{}/skus/{}", text(&sku, "product_id"), text(&sku, "id"));
                self.make(&path, &json!({ "metadata": metadata }));
            }
            4 => {
                let collection = self.collections[3 + usize::try_from(self.random.below(2)).unwrap()].clone();
                let brand = *self.random.pick(&["Loom", "Oak", "Reef"]);
                let filter = json!({ "junction": "AND", "metadata.brand": { "conditions": { "$is": [brand] } } });
                self.make(
                    &format!("PUT /v1/product-collections/{collection}"),
                    &json!({ "type": "AUTO_UPDATE", "name": "Filter", "filter": filter }),
                );
            }
            _ => {
                let tier = self.random.pick(&self.tiers).clone();
                let act = *self.random.pick(&["disable", "enable", "enable"]);
                self.make(&format!("POST /v1/promotions/tiers/{tier}/{act}"), &Json::Null);
            }
        }
    }

    /// Deletes products that a collection lists.
    fn lose(&mut self) {
        for place in [23, 21] {
            let product = self.products.remove(place);
            self.make(&format!("DELETE /v1/products/{}", text(&product, "id")), &Json::Null);
            self.skus.retain(|sku| sku["product_id"] != product["id"]);
            self.gone.extend(["id", "source_id"].map(|name| text(&product, name)));
        }
    }

    /// Returns a line of goods of the catalogue, or, if `strange`, of others.
    fn line(&mut self, strange: bool) -> Json {
        let random = &mut self.random;
        let (product, sku) = (random.pick(&self.products).clone(), random.pick(&self.skus).clone());
        let mut line = match (strange, random.below(5)) {
            (false, 0) => {
                json!({ "product_id": product["id"], "product": { "metadata": { "brand": "Loom" }, "name": "x" } })
            }
            (false, 1 | 2) => json!({ "source_id": product["source_id"], "related_object": "product" }),
            (false, 3) => json!({ "sku_id": sku["id"] }),
            (false, _) => json!({ "source_id": sku["source_id"], "related_object": "sku" }),
            (true, 0) => {
                json!({ "product": { "source_id": "other", "name": "Other 1", "metadata": { "brand": "Loom" } }, "price": 700 })
            }
            (true, 1) => {
                json!({ "product_id": product["id"], "sku": { "source_id": "unlisted", "metadata": { "brand": "Oak" } } })
            }
            (true, 2) => json!({ "product_id": random.pick(&self.gone), "price": 900 }),
            (true, 3) => json!({ "source_id": random.pick(&self.gone), "related_object": "product", "price": 800 }),
            (true, _) => json!({ "source_id": "nothing", "related_object": "product", "price": 600 }),
        };
        line["quantity"] = random.between(1, 3).into();
        line
    }

    fn calls(&mut self) -> Vec<(&'static str, Json)> {
        let strange = self.random.once_in(4);
        let items: Vec<Json> = (0..self.random.between(1, 5)).map(|_| self.line(strange)).collect();
        let order = json!({ "items": items });
        let random = &mut self.random;
        let tiers = random.some(&self.tiers, 3);
        let mut redeemables: Vec<Json> = Vec::new();
        for id in tiers {
            let one = json!({ "object": "promotion_tier", "id": id });
            if !redeemables.contains(&one) {
                redeemables.push(one);
            }
        }
        let code = json!({ "object": "voucher", "id": random.pick(&self.codes) });
        let scenario = json!({ "order": order, "scenario": random.pick(&SCENARIOS), "options": { "limit": 50 } });
        let kind = |name| if strange { name } else { "listed" };
        vec![
            (
                kind("strange"),
                json!({ "redeemables": redeemables, "order": order, "options": { "expand": ["trace"] } }),
            ),
            (kind("strange"), json!({ "redeemables": [code], "order": order })),
            ("qualified", scenario),
        ]
    }
}

fn fact_of(name: &str) -> String {
    name.split('/').next().unwrap().to_owned()
}

/// Returns a shop with goods, collections and offers.
fn filled_shop(seed: u64) -> Shop {
    let mut shop = Shop {
        edge: Edge::new(),
        now: BEGIN,
        random: Random::new(seed),
        products: Vec::new(),
        skus: Vec::new(),
        collections: Vec::new(),
        gone: Vec::new(),
        campaign: String::new(),
        tiers: Vec::new(),
        codes: Vec::new(),
    };
    (0..30).for_each(|number| shop.add_product(number));
    shop.add_collections();
    shop.add_offers();
    shop.lose();
    shop
}

#[test]
fn carts_are_decided_by_sets_as_by_conditions() {
    let mut shop = filled_shop(71);
    let mut bundle = shop.bundle();
    let (mut wrong, mut missing) = (Vec::new(), BTreeMap::<String, u32>::new());
    let mut counts = BTreeMap::<&str, [u32; 3]>::new();
    for cart in 0..CARTS {
        shop.now += STEP_MS;
        if cart == TIMED_FROM {
            shop.add_timed_offers();
        }
        if cart % CHANGED_AFTER == CHANGED_AFTER - 1 {
            shop.change();
        }
        let head = shop.ask("GET /client/v1/bundle", &Json::Null);
        if claims_of(&head.body).unwrap() != bundle.claims {
            bundle = shop.bundle();
        }
        assert!(bundle.claims["goods"].is_object(), "{}", bundle.claims);
        let plain = bundle.prepare();
        for (kind, request) in shop.calls() {
            let path = if kind == "qualified" { "qualifications" } else { "validations" };
            let reply = shop.ask(&format!("POST /client/v1/{path}"), &request);
            assert_eq!(reply.status, 200, "{request}: {}", String::from_utf8_lossy(&reply.body));
            let header = reply.headers.iter().find(|(name, _)| *name == "scrip-context");
            let at = Context { now: Instant::from_millis(shop.now).unwrap(), seed: [7; 32], first_number: None };
            let at = header.map_or(at, |(_, text)| context(text));
            let rules = bundle.prepare_for(&plain, &request, None);
            let bytes = request.to_string().into_bytes();
            let own = if path == "validations" { rules.validate(&bytes, &at) } else { rules.qualify(&bytes, &at) };
            let read: Json = serde_json::from_slice(&own.body).unwrap();
            let [decided, granted, all] = counts.entry(kind).or_default();
            *all += 1;
            if let Some(facts) = read["missing"].as_array() {
                for fact in facts {
                    *missing.entry(format!("{kind}: {}", fact_of(fact.as_str().unwrap()))).or_default() += 1;
                }
                continue;
            }
            *decided += 1;
            *granted += u32::from(read["valid"] == true || read["redeemables"]["total"].as_u64() > Some(0));
            let (own, service) = without_omitted(&read, &own.body, &reply.body);
            if own != service {
                wrong.push(format!("{kind} {request}\n  service {service}\n  client  {own}"));
            }
        }
    }
    let report = format!("{counts:?}, missing {missing:?}");
    eprintln!("{report}");
    assert!(wrong.is_empty(), "{} wrong of {report}\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
    for (kind, least) in [("listed", 90), ("strange", 30), ("qualified", 60)] {
        let [decided, granted, all] = counts[kind];
        assert!(decided * 100 >= all * least && granted > 20, "{kind}: {report}");
        // A qualification finds an offer nearly always.
        assert!(granted < decided || kind == "qualified", "{kind}: {report}");
    }
    // Conditions that change with the time alone are left to the server, and a client does not have disabled tiers.
    let known = ["listed: set", "listed: collection", "listed: promotion_tier"];
    let others: Vec<&String> =
        missing.keys().filter(|name| name.starts_with("listed") && !known.contains(&name.as_str())).collect();
    assert!(others.is_empty(), "{report}");
}
