//! Tests documents of an older version that this one cannot read. Each makes only the objects that need it inapplicable, in decisions,
//! lists, the bundle and the client that uses it.

use crate::bundle::Bundle;
use crate::in_process::Edge;
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use scrip_worker::http::request::Request;
use scrip_worker::store::record_tables::record_table;
use serde_json::{Value as Json, json};
use std::cell::Cell;

const NOW: i64 = 1_772_323_200_000;

/// A project with one redeemable that needs the document to be spoilt, and one that does not.
struct Shop {
    edge: Edge,
    at: Cell<i64>,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop { edge: Edge::new(), at: Cell::new(NOW) };
        shop.post("/v1/vouchers/PLAIN", json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } }));
        shop.post("/v1/vouchers/BAD", json!({ "discount": { "type": "PERCENT", "percent_off": 10 } }));
        shop
    }

    fn call(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let (status, bytes) = self.send(method, path, body);
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    fn send(&self, method: &str, path: &str, body: &Json) -> (u16, Vec<u8>) {
        self.at.set(self.at.get() + 1);
        let client: &[(&str, &str)] = &[
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:1"),
        ];
        let server: &[(&str, &str)] = &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let headers = if path.starts_with("/client/") { client } else { server };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        };
        let reply = self.edge.send(request, self.at.get(), None);
        (reply.status, reply.body)
    }

    fn post(&self, path: &str, body: Json) -> Json {
        let (status, answer) = self.call("POST", path, &body);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn get(&self, path: &str) -> Json {
        let (status, answer) = self.call("GET", path, &Json::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// The core of the bundle.
    fn bundle(&self) -> Json {
        self.whole_bundle().json()
    }

    fn whole_bundle(&self) -> Bundle {
        let get = |path: &str| match self.send("GET", path, &Json::Null) {
            (200, body) => body,
            (status, body) => panic!("{path}: {status} {}", String::from_utf8_lossy(&body)),
        };
        Bundle::of(&get("/client/v1/bundle"), get)
    }

    /// A rule for `BAD`.
    fn rule(&self, rules: Json, scope: Json) -> String {
        let rule = self.post("/v1/validation-rules", json!({ "name": "r", "rules": rules, "applicable_to": scope }));
        let id = rule["id"].as_str().unwrap();
        self.post(&format!("/v1/validation-rules/{id}/assignments"), json!({ "voucher": "BAD" }));
        id.to_owned()
    }

    /// Replaces a part of a stored document.
    fn spoil(&self, kind: &str, id: &str, path: &str, value: Json) {
        let params = [value.to_string().into(), kind.into(), id.into(), path.into()];
        let (table, of_kind) = match record_table(kind) {
            Some(table) => (table.name, "?2 IS NOT NULL"),
            None => ("document", "kind = +?2"),
        };
        let statement = format!(
            "UPDATE {table} SET body = json_set(body, ?4, json(?1)) WHERE {of_kind} AND (id = +?3 OR key = +?3 OR json_extract(body, '$.source_id') = +?3)"
        );
        self.edge.run("proj_dev", &statement, &params);
        self.edge.notes("proj_dev");
    }
}

fn ask(code: &str) -> Json {
    json!({ "redeemables": [{ "object": "voucher", "id": code }], "options": { "expand": ["trace"] },
            "customer": { "source_id": "anna" },
            "order": { "items": [{ "product_id": "prod_1", "price": 1000, "quantity": 1 }] } })
}

/// Checks that `BAD` is refused as unreadable, that `PLAIN` works, and that no call answers 5xx.
fn assert_only_bad_is_hurt(shop: &Shop, what: &str) {
    for path in ["/v1/validations", "/client/v1/validations"] {
        let (status, bad) = shop.call("POST", path, &ask("BAD"));
        assert_eq!(status, 200, "{what}: {bad}");
        assert_eq!(bad["valid"], false, "{what}: {bad}");
        assert_eq!(bad["trace"][0]["verdict"], "REFUSED", "{what}: {bad}");
        // For a client, a private code that it cannot use looks like a missing one.
        let server = ("unreadable_document", "unreadable_document");
        let (key, traced) = if path == "/v1/validations" { server } else { ("not_found", "not_usable") };
        assert_eq!(bad["redeemables"][0]["result"]["error"]["key"], key, "{what}: {bad}");
        assert_eq!(bad["trace"][0]["key"], traced, "{what}: {bad}");
        let plain = shop.post(path, ask("PLAIN"));
        assert_eq!(plain["valid"], true, "{what}: {plain}");
        assert_eq!(plain["order"]["total_discount_amount"], 100, "{what}: {plain}");
    }
    let (status, refused) = shop.call("POST", "/v1/redemptions", &ask("BAD"));
    assert_eq!(status, 400, "{what}: {refused}");
    assert_eq!(refused["key"], "unreadable_document", "{what}: {refused}");
    let notes = shop.edge.notes("proj_dev");
    assert!(notes.iter().any(|note| note.contains("cannot be read")), "{what} was not logged: {notes:?}");
    for scenario in ["ALL", "AUDIENCE_ONLY", "CUSTOMER_WALLET", "PROMOTION_STACKS"] {
        let request = json!({ "scenario": scenario, "order": ask("")["order"], "customer": ask("")["customer"] });
        let found = shop.post("/v1/qualifications", request);
        assert!(!found.to_string().contains("BAD"), "{what}: {found}");
        if scenario == "ALL" {
            assert_eq!(found["redeemables"]["total"], 1, "{what}: {found}");
        }
    }
    for list in
        ["vouchers", "validation-rules", "segments", "product-collections", "campaigns", "categories", "customers"]
    {
        shop.get(&format!("/v1/{list}"));
    }
    shop.get("/v1/customers/anna/segments");
    let bundle = shop.bundle();
    PreparedRules::new(bundle.to_string().as_bytes()).unwrap_or_else(|problem| panic!("{what}: {problem}"));
}

#[test]
fn a_voucher() {
    let shop = Shop::new();
    shop.spoil("voucher", "BAD", "$.discount", json!({ "type": "PERCENT", "percent_off": "many" }));
    assert_only_bad_is_hurt(&shop, "a voucher");
    let (status, answer) = shop.call("PUT", "/v1/vouchers/BAD", &json!({ "active": true }));
    assert_eq!((status, &answer["key"]), (400, &json!("invalid_payload")), "{answer}");
}

#[test]
fn a_category_of_a_voucher() {
    let shop = Shop::new();
    let category = shop.post("/v1/categories", json!({ "name": "A", "hierarchy": 1 }));
    shop.spoil("voucher", "BAD", "$.category_id", category["id"].clone());
    shop.spoil("category", category["id"].as_str().unwrap(), "$.hierarchy", json!("first"));
    assert_only_bad_is_hurt(&shop, "a category");
}

#[test]
fn an_unreadable_segment_in_every_use() {
    for operator in ["$is", "$is_not"] {
        let shop = Shop::new();
        let filter = json!({ "junction": "and", "name": { "conditions": { "$is": ["Anna"] } } });
        let segment = shop.post("/v1/segments", json!({ "name": "s", "type": "auto-update", "filter": filter }));
        let id = segment["id"].as_str().unwrap();
        shop.rule(json!({ "1": { "name": "customer.segment", "conditions": { operator: [id] } } }), Json::Null);
        shop.spoil("segment", id, "$.filter.created_at", json!({ "conditions": { "$before": ["yesterday"] } }));
        assert_only_bad_is_hurt(&shop, operator);
    }
}

#[test]
fn an_unreadable_collection_in_every_use() {
    let named = |id: &str| json!([{ "object": "products_collection", "id": id }]);
    let any = |name: &str, id: &str| json!({ "1": { "name": name, "conditions": { "$is": named(id) } } });
    type Make<'m> = &'m dyn Fn(&str) -> (Json, Json);
    let cases: [(&str, Make<'_>); 4] = [
        ("any of it", &|id| (any("order.items.any", id), Json::Null)),
        ("none of it", &|id| (any("order.items.none", id), Json::Null)),
        ("in the scope", &|id| (Json::Null, json!({ "included": named(id) }))),
        ("out of the scope", &|id| (Json::Null, json!({ "included_all": true, "excluded": named(id) }))),
    ];
    for (what, make) in cases {
        let shop = Shop::new();
        let filter = json!({ "junction": "and", "price": { "conditions": { "$more_than": [1] } } });
        let made = json!({ "name": "c", "type": "AUTO_UPDATE", "filter": filter });
        let collection = shop.post("/v1/product-collections", made);
        let id = collection["id"].as_str().unwrap();
        let (rules, scope) = make(id);
        shop.rule(rules, scope);
        shop.spoil("products_collection", id, "$.filter.price.conditions", json!({ "$more_than": ["abc"] }));
        assert_only_bad_is_hurt(&shop, what);
        shop.get(&format!("/v1/product-collections/{id}/products"));
    }
}

#[test]
fn an_unreadable_rule_and_its_assignment() {
    let rules = || json!({ "1": { "name": "order.amount", "conditions": { "$more_than": [1] } } });
    let shop = Shop::new();
    let id = shop.rule(rules(), Json::Null);
    shop.spoil("validation_rules", &id, "$.rules", json!({ "1": { "name": "order.weather" } }));
    assert_only_bad_is_hurt(&shop, "a rule");
    let shop = Shop::new();
    shop.rule(rules(), Json::Null);
    let statement =
        "UPDATE document SET body = json_set(body, '$.rule_id', 5) WHERE kind = 'validation_rules_assignment'";
    shop.edge.run("proj_dev", statement, &[]);
    assert_only_bad_is_hurt(&shop, "an assignment");
}

#[test]
fn an_unreadable_campaign_affects_its_own_codes_and_tiers() {
    let shop = Shop::new();
    let discount = json!({ "type": "AMOUNT", "amount_off": 100 });
    let made = json!({ "name": "Sale", "campaign_type": "DISCOUNT_COUPONS", "type": "STANDALONE",
                       "voucher": { "type": "DISCOUNT_VOUCHER", "discount": discount, "code_config": { "pattern": "SALE" } } });
    let campaign = shop.post("/v1/campaigns", made);
    let id = campaign["id"].as_str().unwrap();
    shop.edge.run("proj_dev", "UPDATE document SET parent = ?1, body = json_set(body, '$.campaign_id', ?1) WHERE kind = 'voucher' AND key = 'BAD'", &[id.into()]);
    shop.spoil("campaign", id, "$.start_date", json!("soon"));
    assert_only_bad_is_hurt(&shop, "a campaign");
    shop.spoil("campaign", id, "$.start_date", Json::Null);
    shop.spoil("campaign", id, "$.category_id", json!(5));
    assert_only_bad_is_hurt(&shop, "a campaign with a number as category");
}

#[test]
fn unreadable_stacking_rules_allow_one_redeemable_at_a_time() {
    let shop = Shop::new();
    shop.edge.run(
        "proj_dev",
        "UPDATE document SET body = json_set(body, '$.redeemables_sorting_rule', 'ANY') WHERE kind = 'stacking_rules'",
        &[],
    );
    assert_eq!(shop.post("/v1/validations", ask("PLAIN"))["valid"], true);
    let mut two = ask("PLAIN");
    two["redeemables"] = json!([{ "object": "voucher", "id": "PLAIN" }, { "object": "voucher", "id": "BAD" }]);
    let (status, answer) = shop.call("POST", "/v1/validations", &two);
    assert_eq!((status, &answer["key"]), (400, &json!("invalid_redeemables")), "{answer}");
    shop.post("/v1/qualifications", json!({ "order": { "amount": 1000 } }));
    shop.bundle();
}

/// A code with an unreadable end is not published, and the next one is published instead.
#[test]
fn a_code_with_an_unreadable_end_is_not_published() {
    let shop = Shop::new();
    let voucher = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 }, "code_config": { "pattern": "TWO-#" } });
    let two = json!({ "name": "Two", "type": "STATIC", "campaign_type": "DISCOUNT_COUPONS", "vouchers_count": 2, "voucher": voucher });
    shop.post("/v1/campaigns", two);
    while shop.edge.alarm("proj_dev", shop.at.get()) {}
    let oldest = "UPDATE document SET body = json_set(body, '$.expiration_date', 'some day') WHERE seq =
                  (SELECT MIN(seq) FROM document WHERE kind = 'voucher' AND json_extract(body, '$.code') LIKE 'TWO-%')";
    shop.edge.run("proj_dev", oldest, &[]);
    let wanted = json!({ "campaign": { "name": "Two" }, "customer": { "source_id": "anna" } });
    let published = shop.post("/v1/publications", wanted.clone());
    assert_eq!(published["voucher"]["expiration_date"], Json::Null, "{published}");
    let (status, refused) = shop.call("POST", "/v1/publications", &wanted);
    assert_eq!((status, &refused["key"]), (400, &json!("no_voucher_suitable_for_publication")), "{refused}");
}

/// An unreadable customer, product or order of the request: nothing can be decided for it, and all other requests can.
#[test]
fn an_unreadable_customer_product_or_order() {
    let shop = Shop::new();
    shop.post("/v1/customers", json!({ "source_id": "anna" }));
    shop.post("/v1/products", json!({ "source_id": "sh", "name": "Shirt", "price": 1000 }));
    shop.post("/v1/orders", json!({ "source_id": "o-1", "amount": 1000 }));
    shop.spoil("customer", "anna", "$.metadata", json!("gold"));
    shop.spoil("product", "sh", "$.price", json!("cheap"));
    shop.spoil("order", "o-1", "$.amount", json!("little"));
    let of = |customer: Json, order: Json| json!({ "redeemables": [{ "object": "voucher", "id": "PLAIN" }], "customer": customer, "order": order });
    let shirt = json!({ "items": [{ "source_id": "sh", "related_object": "product", "quantity": 1 }] });
    let cases = [
        of(json!({ "source_id": "anna" }), json!({ "amount": 1000 })),
        of(json!({ "source_id": "bert" }), shirt),
        of(json!({ "source_id": "bert" }), json!({ "source_id": "o-1" })),
    ];
    for request in cases {
        let (status, answer) = shop.call("POST", "/v1/validations", &request);
        assert_eq!((status, &answer["valid"]), (200, &json!(false)), "{answer}");
        assert_eq!(answer["redeemables"][0]["result"]["error"]["key"], "unreadable_document", "{answer}");
        let (status, answer) = shop.call("POST", "/v1/redemptions", &request);
        assert_eq!((status, &answer["key"]), (400, &json!("unreadable_document")), "{answer}");
        let found =
            shop.post("/v1/qualifications", json!({ "customer": request["customer"], "order": request["order"] }));
        assert_eq!(found["redeemables"]["total"], 0, "{found}");
    }
    let fine = of(json!({ "source_id": "bert" }), json!({ "amount": 1000 }));
    assert_eq!(shop.post("/v1/validations", fine)["valid"], true);
    for list in ["customers", "products", "orders", "skus"] {
        shop.call("GET", &format!("/v1/{list}"), &Json::Null);
    }
    let bucket: Json = serde_json::from_slice(&shop.whole_bundle().buckets[0]).unwrap();
    let names = &bucket["unreadable"][0];
    assert_eq!((&names["object"], &names["source_id"]), (&json!("product"), &json!("sh")), "{bucket}");
}

/// The client refuses with the same bytes as the service: left-out documents are named.
#[test]
fn the_bundle_names_left_out_documents() {
    let shop = Shop::new();
    let discount = json!({ "type": "AMOUNT", "amount_off": 100 });
    let made = |name: &str| {
        json!({ "name": name, "campaign_type": "DISCOUNT_COUPONS", "type": "STANDALONE", "visibility": "public",
                "voucher": { "type": "DISCOUNT_VOUCHER", "discount": discount, "code_config": { "pattern": name } } })
    };
    for name in ["WELL", "ILL", "GUARDED"] {
        shop.post("/v1/campaigns", made(name));
    }
    let filter = json!({ "junction": "and", "price": { "conditions": { "$more_than": [1] } } });
    let made = json!({ "name": "c", "type": "AUTO_UPDATE", "filter": filter });
    let collection = shop.post("/v1/product-collections", made);
    let id = collection["id"].as_str().unwrap();
    let goods = json!([{ "object": "products_collection", "id": id }]);
    let rules = json!({ "1": { "name": "order.items.none", "conditions": { "$is": goods } } });
    let rule = shop.post("/v1/validation-rules", json!({ "name": "r", "rules": rules }));
    let path = format!("/v1/validation-rules/{}/assignments", rule["id"].as_str().unwrap());
    shop.post(&path, json!({ "voucher": "GUARDED" }));
    shop.spoil("products_collection", id, "$.filter.price.conditions", json!({ "$more_than": ["abc"] }));
    shop.spoil("voucher", "ILL", "$.discount.amount_off", json!("some"));
    let bundle = shop.bundle();
    assert_eq!(bundle["unreadable"].as_array().unwrap().len(), 2, "{bundle}");
    let context = Context { now: Instant::from_millis(shop.at.get()).unwrap(), seed: [7; 32], first_number: None };
    let key = |prepared: &PreparedRules, code: &str| {
        let order = json!({ "items": [{ "price": 1000, "quantity": 1 }] });
        let request = json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": order });
        let answer: Json =
            serde_json::from_slice(&prepared.validate(request.to_string().as_bytes(), &context).body).unwrap();
        let key = answer["redeemables"][0]["result"]["error"]["key"].clone();
        (answer["valid"] == true, if answer["missing"].is_null() { key } else { answer["missing"].clone() })
    };
    let prepared = PreparedRules::new(bundle.to_string().as_bytes()).unwrap();
    assert_eq!(key(&prepared, "WELL"), (true, Json::Null));
    // It is unknown whether the code itself was public, so it is not named.
    assert_eq!(key(&prepared, "ILL").1, json!(["voucher/ILL"]));
    assert_eq!(key(&prepared, "GUARDED"), (false, json!("unreadable_document")));
    // A client of an older version finds unreadable documents in it, and sets them aside itself.
    let mut newer = bundle.clone();
    newer.as_object_mut().unwrap().remove("unreadable");
    newer["product_collections"] = json!([{ "id": id, "type": "AUTO_UPDATE", "filter": { "junction": "and", "price": { "conditions": { "$near": ["x"] } } } }]);
    newer["promotion_tiers"] = json!([{ "id": "promo_new", "action": { "discount": { "type": "GIFT_WRAP" } } }]);
    let prepared = PreparedRules::new(newer.to_string().as_bytes()).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(key(&prepared, "WELL"), (true, Json::Null));
    assert_eq!(key(&prepared, "GUARDED"), (false, json!("unreadable_document")));
    let by_hand = json!({ "vouchers": [{ "code": "A", "discount": { "type": "GIFT_WRAP" } }] });
    assert!(
        PreparedRules::new(by_hand.to_string().as_bytes()).is_err(),
        "rules written by hand are refused with the fault"
    );
}
