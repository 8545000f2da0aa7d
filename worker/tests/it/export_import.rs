//! Tests that another project imports the export of one project: the same documents except for ids and timestamps. Also tests many rows;
//! `tests/workerd/exports.test.mjs` has a hundred thousand.

use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_323_200_000;

/// A project of the edge.
struct Project<'e> {
    edge: &'e Edge,
    name: &'static str,
}

impl Project<'_> {
    fn send(&self, call: &str, media: &str, body: Vec<u8>) -> Reply {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = vec![("content-type".into(), media.into())];
        if !query.starts_with("token=") {
            headers.push(("x-app-id".into(), format!("{}-app", self.name)));
            headers.push(("x-app-token".into(), format!("{}-token", self.name)));
        }
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let reply = self.edge.send(request, NOW, None);
        assert!(reply.status < 300, "{call}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
        reply
    }

    fn call(&self, call: &str, body: &Json) -> Json {
        let body = if call.starts_with("GET ") { Vec::new() } else { body.to_string().into_bytes() };
        serde_json::from_slice(&self.send(call, "application/json", body).body).unwrap_or_default()
    }

    /// Runs the due work; returns the number of slices.
    fn run_jobs(&self) -> u64 {
        (0..).find(|_| !self.edge.alarm(&format!("proj_{}", self.name), NOW)).unwrap()
    }

    /// Returns the exported file, from its link.
    fn export(&self, kind: &str, parameters: &Json) -> Vec<u8> {
        let started = self.call("POST /v1/exports", &json!({ "exported_object": kind, "parameters": parameters }));
        self.run_jobs();
        let done = self.call(&format!("GET /v1/exports/{}", started["id"].as_str().unwrap()), &Json::Null);
        assert_eq!(done["status"], "DONE", "{done}");
        let url = done["result"]["url"].as_str().unwrap();
        let target = url.strip_prefix("http://shop.test").unwrap();
        let reply = self.send(&format!("GET {target}"), "application/json", Vec::new());
        let length = reply.headers.iter().find(|(name, _)| name == "content-length").map(|(_, length)| length.clone());
        assert_eq!(length, Some(reply.body.len().to_string()), "the length is in a header");
        reply.body
    }

    /// Imports a file; every row must be accepted.
    fn import(&self, path: &str, file: Vec<u8>) -> Json {
        let started: Json = serde_json::from_slice(&self.send(&format!("POST {path}"), "text/csv", file).body).unwrap();
        self.run_jobs();
        let done =
            self.call(&format!("GET /v1/async-actions/{}", started["async_action_id"].as_str().unwrap()), &Json::Null);
        assert_eq!((&done["status"], &done["result"]["failed_count"]), (&json!("DONE"), &json!(0)), "{done}");
        done["result"].clone()
    }

    /// Returns all documents of a list by name, without generated values.
    fn all(&self, list: &str, of: &str) -> Vec<Json> {
        let found = self.call(&format!("GET {list}?limit=100&order=created_at"), &Json::Null);
        let mut all = found[of].as_array().unwrap().clone();
        assert_eq!(found["total"], all.len(), "one page holds them");
        all.iter_mut().for_each(remove_generated);
        all.iter_mut().for_each(|one| self.name_holder(one));
        all.sort_by_key(|one| ["code", "source_id", "name"].map(|name| one[name].to_string()).concat());
        all
    }
}

impl Project<'_> {
    /// Names the holder of a code in a form that is equal in every project.
    fn name_holder(&self, code: &mut Json) {
        for name in ["holder_id", "referrer_id"] {
            if let Some(id) = code[name].as_str() {
                let holder = self.call(&format!("GET /v1/customers/{id}"), &Json::Null);
                code[name] = holder["source_id"].clone();
            }
        }
    }
}

/// Removes the values that the service generates: ids, timestamps, and the links that contain them.
fn remove_generated(value: &mut Json) {
    const OWN: &[&str] = &["id", "created_at", "updated_at", "campaign_id", "category_id", "url", "product_id"];
    match value {
        Json::Object(fields) => {
            fields.retain(|name, _| !OWN.contains(&name.as_str()));
            fields.values_mut().for_each(remove_generated);
        }
        Json::Array(items) => items.iter_mut().for_each(remove_generated),
        _ => {}
    }
}

fn fill(shop: &Project<'_>) {
    let customers = [
        json!({ "source_id": "anna", "name": "Anna, \"A\"\nB", "email": "a@x.test", "phone": "+47 123", "birthdate": "1990-02-03",
            "address": { "city": "Oslo", "line_1": "Street 1", "country": "NO" },
            "metadata": { "age": 30, "vip": true, "tags": ["a", "b"], "note": "'=1+1", "deep": { "x": 1.5 } } }),
        json!({ "source_id": "=HYPERLINK(1)", "name": "-5-3", "description": "@home", "metadata": { "Überschrift": "日本" } }),
        json!({ "source_id": "-7", "name": "'tis" }),
        json!({ "source_id": "empty", "name": "", "description": "'", "address": { "city": "", "state": "''" }, "metadata": { "none": "" } }),
    ];
    customers.iter().for_each(|one| drop(shop.call("POST /v1/customers", one)));
    let products = [
        json!({ "source_id": "shirt", "name": "Shirt", "price": 1900, "attributes": ["size", "a,b"], "image_url": "https://x.test/a.png",
            "metadata": { "brand": "Loom", "weight": 0.25 } }),
        json!({ "source_id": "cap", "name": "+Cap", "attributes": [], "metadata": { "none": "", "list": [] } }),
    ];
    products.iter().for_each(|one| drop(shop.call("POST /v1/products", one)));
    let sku = json!({ "source_id": "shirt-m", "sku": "Shirt M", "price": 1700, "currency": "NOK", "attributes": { "size": "M" }, "metadata": { "bin": 7 } });
    shop.call("POST /v1/products/shirt/skus", &sku);
    shop.call(
        "POST /v1/products/shirt/skus",
        &json!({ "source_id": "shirt-l", "sku": "", "attributes": { "size": "" } }),
    );
    let vouchers = [
        json!({ "code": "AMOUNT", "discount": { "type": "AMOUNT", "amount_off": 500 }, "metadata": { "shop": "north", "lot": 3 }, "additional_info": "=x" }),
        json!({ "code": "PERCENT", "discount": { "type": "PERCENT", "percent_off": 12.5, "amount_limit": 900 }, "active": false,
            "start_date": "2026-01-01T00:00:00Z", "expiration_date": "2027-01-01T00:00:00Z", "redemption": { "quantity": 5 } }),
        json!({ "code": "FIXED", "discount": { "type": "FIXED", "fixed_amount": 700 }, "validity_day_of_week": [1, 5],
            "start_date": "2026-01-01T00:00:00Z", "validity_timeframe": { "interval": "P7D", "duration": "P1D" } }),
        json!({ "code": "FORMULA", "discount": { "type": "AMOUNT", "amount_off": 1, "amount_off_formula": "ORDER_AMOUNT * 0.1" } }),
        json!({ "code": "EMPTY", "discount": { "type": "AMOUNT", "amount_off": 500 }, "additional_info": "", "validity_day_of_week": [] }),
        json!({ "code": "GIFT", "gift": { "amount": 2000, "balance": 1500 } }),
    ];
    vouchers.iter().for_each(|one| drop(shop.call("POST /v1/vouchers", one)));
    shop.call("POST /v1/vouchers", &json!({ "code": "UNIT", "discount": { "type": "UNIT", "unit_off": 2, "unit_type": "shirt", "effect": "ADD_NEW_ITEMS" } }));
}

/// Creates a gift campaign, a loyalty program and a referral program, whose documents no file contains.
fn campaigns(shop: &Project<'_>) {
    let gifts = json!({ "name": "Gifts", "type": "AUTO_UPDATE", "campaign_type": "GIFT_VOUCHERS", "voucher": { "type": "GIFT_VOUCHER", "gift": { "amount": 1000 } } });
    let club = json!({ "name": "Club", "type": "AUTO_UPDATE", "campaign_type": "LOYALTY_PROGRAM", "voucher": { "type": "LOYALTY_CARD", "loyalty_card": { "points": 100 } } });
    let friends = json!({ "name": "Friends", "type": "AUTO_UPDATE", "campaign_type": "REFERRAL_PROGRAM", "activity_duration_after_publishing": "P7D",
        "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 } } });
    [gifts, club, friends].iter().for_each(|one| drop(shop.call("POST /v1/campaigns", one)));
}

const VOUCHER: &[&str] = &[
    "metadata",
    "code",
    "voucher_type",
    "value",
    "formula",
    "discount_type",
    "category",
    "start_date",
    "expiration_date",
    "gift_balance",
    "loyalty_balance",
    "redemption_quantity",
    "redemption_count",
    "active",
    "validity_timeframe_interval",
    "validity_timeframe_duration",
    "validity_day_of_week",
    "discount_amount_limit",
    "additional_info",
    "discount_effect",
    "discount_unit_type",
    "discount_unit_effect",
    "id",
    "created_at",
    "is_referral_code",
    "customer_id",
    "customer_source_id",
];

#[test]
fn exported_and_imported_documents_are_equal() {
    let edge = Edge::new();
    let (from, to) = (Project { edge: &edge, name: "dev" }, Project { edge: &edge, name: "closed" });
    fill(&from);
    from.call("POST /v1/vouchers/AMOUNT/redemption", &json!({ "order": { "amount": 5_000 } }));
    campaigns(&from);
    from.call("POST /v1/campaigns/Gifts/vouchers/GG-1", &json!({ "metadata": { "lot": "a" } }));
    from.call("POST /v1/vouchers/GG-1/redemption", &json!({ "gift": { "credits": 300 }, "order": { "amount": 300 } }));
    from.call("POST /v1/campaigns/Gifts/vouchers/GG-2", &json!({}));
    let friends = json!({ "metadata": {}, "start_date": "2026-02-01T00:00:00Z" });
    from.call("POST /v1/campaigns/Friends/vouchers/FF-1", &friends);
    from.call("POST /v1/publications", &json!({ "voucher": "FF-1", "customer": { "source_id": "anna" } }));
    from.call("POST /v1/publications", &json!({ "voucher": "GG-1", "customer": { "source_id": "=HYPERLINK(1)" } }));
    from.call("POST /v1/campaigns/Club/vouchers/LL-1", &json!({ "metadata": { "lot": 2 } }));
    from.call("POST /v1/publications", &json!({ "voucher": "LL-1", "customer": { "source_id": "anna" } }));
    let customer = [
        "name",
        "id",
        "description",
        "email",
        "source_id",
        "created_at",
        "address_city",
        "address_state",
        "address_line_1",
        "address_line_2",
        "address_country",
        "address_postal_code",
        "orders_total_amount",
        "loyalty_points",
        "updated_at",
        "phone",
        "birthday",
        "metadata",
        "birthdate",
    ];
    to.import("/v1/customers/importCSV", from.export("customer", &json!({ "fields": customer })));
    let product = ["metadata", "id", "name", "price", "image_url", "source_id", "attributes", "created_at"];
    to.import("/v1/products/importCSV", from.export("product", &json!({ "fields": product, "order": "created_at" })));
    let sku = ["id", "sku", "product_id", "currency", "price", "image_url", "source_id", "attributes", "metadata"];
    to.import("/v1/skus/importCSV", from.export("sku", &json!({ "fields": sku })));
    let alone = json!({ "campaign_id": { "conditions": { "$is_unknown": [] } } });
    to.import("/v1/vouchers/importCSV", from.export("voucher", &json!({ "fields": VOUCHER, "filters": alone })));
    campaigns(&to);
    for campaign in ["Gifts", "Club", "Friends"] {
        let file = from.export("voucher", &json!({ "fields": VOUCHER, "campaign_id": campaign }));
        to.import(&format!("/v1/campaigns/{campaign}/importCSV"), file);
    }
    let held = to.all("/v1/vouchers", "vouchers");
    let holders: Vec<&Json> = held.iter().map(|code| &code["holder_id"]).filter(|holder| !holder.is_null()).collect();
    assert_eq!(holders, ["anna", "=HYPERLINK(1)", "anna"], "who holds a code holds it there as well");
    for (list, of, count) in [
        ("/v1/customers", "customers", 4),
        ("/v1/products", "products", 2),
        ("/v1/products/shirt/skus", "skus", 2),
        ("/v1/vouchers", "vouchers", 11),
    ] {
        let (sent, come) = (from.all(list, of), to.all(list, of));
        assert_eq!(sent.len(), count, "{list}");
        for (sent, come) in sent.iter().zip(&come) {
            assert_eq!(sent, come, "{list}");
        }
        assert_eq!(sent.len(), come.len());
    }
}

#[test]
fn twenty_thousand_rows_are_exported_and_imported() {
    let edge = Edge::new();
    let from = Project { edge: &edge, name: "dev" };
    let row = |number: usize| format!("c-{number:06},Customer {number},c{number}@x.test,\"{{\"\"n\"\":{number}}}\"\n");
    let file = format!("source_id,name,email,metadata\n{}", (0..20_000).map(row).collect::<String>());
    let result = from.import("/v1/customers/importCSV", file.clone().into_bytes());
    assert_eq!(result["done_count"], 20_000);
    let fields = json!({ "fields": ["source_id", "name", "email", "metadata"], "order": "source_id" });
    let exported = from.export("customer", &fields);
    assert!(exported == file.as_bytes(), "the file that came in goes out: {} and {} bytes", file.len(), exported.len());
    let downwards = from.export("customer", &json!({ "fields": ["source_id"], "order": "-source_id" }));
    let wanted: String = (0..20_000).rev().map(|number| format!("c-{number:06}\n")).collect();
    assert!(downwards == format!("source_id\n{wanted}").as_bytes());
    // Exported rows are deleted with their export, one slice after the other.
    let all = from.call("GET /v1/exports", &Json::Null);
    for export in all["exports"].as_array().unwrap() {
        from.call(&format!("DELETE /v1/exports/{}", export["id"].as_str().unwrap()), &Json::Null);
    }
    assert!(from.run_jobs() > 15);
    assert_eq!(edge.count("proj_dev", "SELECT COUNT(*) FROM export_line"), 0);
    assert_eq!(edge.count("proj_dev", "SELECT COUNT(*) FROM due WHERE kind LIKE 'EXPORT%'"), 0);
}

#[test]
fn a_long_line_is_complete_and_an_old_export_is_deleted() {
    let edge = Edge::new();
    let shop = Project { edge: &edge, name: "dev" };
    let long: Vec<String> = (0..30).map(|number| format!("{number}{}", "\"ü".repeat(9_000))).collect();
    let metadata: serde_json::Map<String, Json> =
        long.iter().enumerate().map(|(place, text)| (format!("m{place}"), text.as_str().into())).collect();
    for source_id in ["a", "b"] {
        shop.call("POST /v1/customers", &json!({ "source_id": source_id, "metadata": metadata }));
    }
    for order in ["source_id", "-source_id"] {
        let exported = shop.export("customer", &json!({ "fields": ["source_id", "metadata"], "order": order }));
        let mut reader = csv_rows(&exported);
        reader.sort();
        assert_eq!(reader.len(), 2);
        for (row, source_id) in reader.iter().zip(["a", "b"]) {
            assert_eq!(row.0, source_id);
            assert_eq!(serde_json::from_str::<Json>(&row.1).unwrap(), Json::Object(metadata.clone()));
        }
    }
    assert!(edge.count("proj_dev", "SELECT COUNT(*) FROM export_line") > 4);
    // They are deleted one after the other, with a pause between them.
    for second in 0..5 {
        while edge.alarm("proj_dev", NOW + 8 * 86_400_000 + second * 1_000) {}
    }
    assert_eq!(edge.count("proj_dev", "SELECT COUNT(*) FROM document WHERE kind = 'export'"), 0);
    assert_eq!(edge.count("proj_dev", "SELECT COUNT(*) FROM export_line"), 0);
}

/// Rows of two cells, the first line aside: the second cell in quotes, which are doubled within.
fn csv_rows(file: &[u8]) -> Vec<(String, String)> {
    let text = std::str::from_utf8(file).unwrap();
    let lines = text.lines().skip(1).map(|line| line.split_once(',').unwrap());
    lines
        .map(|(first, second)| {
            let inner = second.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
            (first.to_owned(), inner.replace("\"\"", "\""))
        })
        .collect()
}
