//! Tests the sealed boxes of codes: what opens them, what a verdict with an opened box is, and that no reader without a code finds one.

mod bounds;

use crate::box_keys;
use crate::bundle::Bundle;
use crate::in_process::Edge;
use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use scrip::Context;
use scrip::text::{decode_hex_array, fold, hex};
use scrip::time::Instant;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

/// Noon of 1 March 2026.
const NOON: i64 = 1_772_366_400_000;
const HOUR: i64 = 3_600_000;

/// A project, `proj_dev` or one whose codes ignore case.
struct Shop {
    edge: Edge,
    project: &'static str,
}

impl Shop {
    fn new(project: &'static str) -> Shop {
        Shop { edge: Edge::new(), project }
    }

    fn send(&self, now_ms: i64, call: &str, body: &Json) -> Reply {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let name = if self.project == "proj_dev" { "dev" } else { "closed" };
        let headers = match path.split('/').nth(1) {
            Some("client") => vec![
                ("x-client-application-id", format!("{name}-client")),
                ("x-client-token", format!("{name}-client-token")),
                ("origin", if name == "dev" { "http://localhost:1" } else { "https://shop.example" }.into()),
            ],
            Some("management") => vec![
                ("x-management-id", "dev-management".into()),
                ("x-management-token", "dev-management-token".into()),
            ],
            _ => vec![("x-app-id", format!("{name}-app")), ("x-app-token", format!("{name}-token"))],
        };
        let headers = headers.into_iter().map(|(key, value)| (String::from(key), value)).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        self.edge.send(request, now_ms, None)
    }

    fn make(&self, call: &str, body: &Json) -> Json {
        let reply = self.send(NOON - 24 * HOUR, call, body);
        assert_eq!(reply.status, 200, "{call} {body}: {}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }

    /// Creates a standalone campaign with a code, and further members.
    fn code(&self, code: &str, more: &Json) {
        let discount = json!({ "type": "PERCENT", "percent_off": 10 });
        let mut campaign = json!({ "name": format!("Of {code}"), "type": "STANDALONE",
            "voucher": { "discount": discount, "code_config": { "pattern": code } } });
        campaign.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.make("POST /v1/campaigns", &campaign);
    }

    /// Returns the present bundle as it is, and its head.
    fn read_bundle(&self, now_ms: i64) -> (Vec<u8>, Bundle) {
        let get = |path: &str| {
            let reply = self.send(now_ms, &format!("GET {path}"), &Json::Null);
            assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
            reply.body
        };
        let head = get("/client/v1/bundle");
        let bundle = Bundle::of(&head, get);
        (head, bundle)
    }

    /// Returns the bundle with the keys of its sealed codes.
    fn bundle(&self, now_ms: i64) -> Bundle {
        self.read_bundle(now_ms);
        self.edge.derive_box_keys(self.project, now_ms);
        self.read_bundle(now_ms).1
    }

    /// Decides a request as the service and as a client with a bundle; returns both answers.
    fn decide(&self, bundle: &Bundle, now_ms: i64, request: &Json) -> (Json, Json) {
        let reply = self.send(now_ms, "POST /client/v1/validations", request);
        let (_, context) = reply.headers.iter().find(|(name, _)| name == "scrip-context").unwrap();
        let context: Json = serde_json::from_str(context).unwrap();
        let now = Instant::parse(context["now"].as_str().unwrap()).unwrap();
        let context =
            Context { now, seed: decode_hex_array(context["seed"].as_str().unwrap()).unwrap(), first_number: None };
        let rules = bundle.prepare_for(&bundle.prepare(), request, None);
        let own = rules.validate(request.to_string().as_bytes(), &context).body;
        let verdict: Json = serde_json::from_slice(&own).unwrap();
        if verdict["missing"].is_null() {
            assert_eq!(String::from_utf8_lossy(&own), String::from_utf8_lossy(&reply.body), "{request}");
        }
        (verdict, serde_json::from_slice(&reply.body).unwrap())
    }

    fn left_out(&self, now_ms: i64) -> Json {
        self.read_bundle(now_ms).1.claims["left_out"].clone()
    }
}

fn typing(code: &str) -> Json {
    json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1000 } })
}

fn boxes(bundle: &Bundle) -> Json {
    bundle.json()["sealed_codes"]["boxes"].clone()
}

#[test]
fn a_typed_code_opens_its_box_and_decides_finally() {
    let shop = Shop::new("proj_dev");
    let large = json!({ "1": { "name": "order.amount", "conditions": { "$more_than": [500] } }, "logic": "1" });
    let rule = shop.make(
        "POST /v1/validation-rules",
        &json!({ "name": "large", "rules": large, "error": { "message": "Only large orders" } }),
    );
    let category = shop.make("POST /v1/categories", &json!({ "name": "Sale", "hierarchy": 1 }));
    shop.code("SEALED", &json!({ "validation_rules": [rule["id"]], "category_id": category["id"] }));
    shop.code("POSTER", &json!({ "visibility": "public" }));
    shop.code("HIDDEN", &json!({ "visibility": "server" }));
    let amount = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } });
    shop.make("POST /v1/vouchers/ALONE", &amount);
    shop.make("POST /v1/vouchers/FIVE", &json!({ "discount": amount["discount"], "redemption": { "quantity": 5 } }));
    // A build does not wait for keys: until they are there, typed codes are provisional.
    let (_, early) = shop.read_bundle(NOON);
    assert_eq!((&early.claims["left_out"], boxes(&early)), (&json!(["codes"]), json!({})));
    assert_eq!(shop.decide(&early, NOON, &typing("SEALED")).0["missing"], json!(["voucher/SEALED"]));
    assert_eq!(shop.decide(&early, NOON, &typing("POSTER")).0["valid"], true);
    let bundle = shop.bundle(NOON);
    assert_eq!(bundle.claims["left_out"], json!([]));
    assert_eq!(boxes(&bundle).as_object().unwrap().len(), 2);
    for (code, valid) in [
        ("SEALED", json!(true)),
        ("ALONE", json!(true)),
        ("POSTER", json!(true)),
        ("HIDDEN", Json::Null),
        ("FIVE", Json::Null),
        ("NONE", Json::Null),
    ] {
        for expand in [json!([]), json!(["order", "redeemable", "category", "trace"])] {
            let mut request = typing(code);
            request["options"] = json!({ "expand": expand });
            let (own, service) = shop.decide(&bundle, NOON, &request);
            let expected = if valid.is_null() { json!([format!("voucher/{code}")]) } else { Json::Null };
            assert_eq!(own["missing"], expected, "{code}: {own}");
            assert!(valid.is_null() || own["valid"] == service["valid"] && own["valid"] == valid, "{code}: {own}");
        }
    }
    // The message of the rule is in the box, because the service returns it.
    let mut small = typing("SEALED");
    small["order"]["amount"] = 100.into();
    let (own, _) = shop.decide(&bundle, NOON, &small);
    assert_eq!((&own["valid"], own["missing"].is_null()), (&json!(false), true));
    assert!(own.to_string().contains("Only large orders"), "{own}");
    assert!(!bundle.json().to_string().contains("Only large orders"));
    let mut two = typing("SEALED");
    two["redeemables"].as_array_mut().unwrap().push(json!({ "object": "voucher", "id": "ALONE" }));
    let (own, _) = shop.decide(&bundle, NOON, &two);
    assert_eq!((&own["valid"], own["missing"].is_null()), (&json!(true), true));
}

#[test]
fn a_code_that_has_ended_is_refused_finally_and_its_effect_is_gone() {
    let shop = Shop::new("proj_dev");
    let category = shop.make("POST /v1/categories", &json!({ "name": "Sale", "hierarchy": 1 }));
    let effect = json!({ "type": "PERCENT", "percent_off": 77 });
    let free = json!({ "type": "UNIT", "unit_off": 1, "effect": "ADD_MISSING_ITEMS", "unit_type": "shirt" });
    shop.make("POST /v1/products", &json!({ "name": "Shirt", "source_id": "shirt", "price": 900 }));
    for (code, date, effect) in [
        ("OVER", "2026-02-20T00:00:00Z", &effect),
        ("LONGOVER", "2025-11-01T00:00:00Z", &effect),
        ("OVERFREE", "2026-02-20T00:00:00Z", &free),
    ] {
        let voucher = json!({ "discount": effect, "code_config": { "pattern": code } });
        shop.code(code, &json!({ "expiration_date": date, "category_id": category["id"], "voucher": voucher }));
    }
    shop.make("POST /v1/vouchers/OVERALONE", &json!({ "discount": effect, "expiration_date": "2026-02-27T00:00:00Z" }));
    shop.make("POST /v1/vouchers/OFF", &json!({ "discount": effect, "active": false }));
    let bundle = shop.bundle(NOON);
    for (code, is_final) in
        [("OVER", true), ("OVERALONE", true), ("LONGOVER", false), ("OVERFREE", false), ("OFF", false)]
    {
        for expand in [json!([]), json!(["order", "redeemable", "category", "trace"])] {
            let mut request = typing(code);
            request["options"] = json!({ "expand": expand });
            let (own, service) = shop.decide(&bundle, NOON, &request);
            assert_eq!(own["missing"].is_null(), is_final, "{code}: {own}");
            assert_eq!(service["valid"], false, "{code}");
        }
    }
    let content = box_keys::open(&bundle.json(), "OVER").map(|bytes| String::from_utf8(bytes).unwrap()).unwrap();
    assert!(!content.contains("77") && !content.contains("PERCENT"), "{content}");
    // A further offer beside it, and one after it.
    shop.code("GOOD", &json!({}));
    let bundle = shop.bundle(NOON);
    let both = json!({ "redeemables": [{ "object": "voucher", "id": "OVER" }, { "object": "voucher", "id": "GOOD" }], "order": { "amount": 1000 } });
    let (own, _) = shop.decide(&bundle, NOON, &both);
    assert!(own["missing"].is_null(), "{own}");
}

#[test]
fn codes_that_differ_in_case_open_one_box_where_case_is_ignored() {
    let shop = Shop::new("proj_closed");
    shop.code("Straße", &json!({}));
    let bundle = shop.bundle(NOON);
    assert_eq!(boxes(&bundle).as_object().unwrap().len(), 1);
    for code in ["Straße", "STRASSE", "strasse"] {
        let plain = bundle.prepare();
        assert_eq!(plain.typed_codes(typing(code).to_string().as_bytes()), ["strasse"]);
        let (own, _) = shop.decide(&bundle, NOON, &typing(code));
        assert_eq!((&own["valid"], own["missing"].is_null()), (&json!(true), true), "{code}: {own}");
    }
}

#[test]
fn no_head_and_no_core_has_a_plain_or_fast_hash_of_a_code() {
    let shop = Shop::new("proj_dev");
    let codes: Vec<String> = (0..50_u32).map(code_of).collect();
    for (number, code) in codes.iter().enumerate() {
        match number % 3 {
            0 => shop.code(code, &json!({ "name": format!("Campaign {number}") })),
            1 => drop(shop.make(
                &format!("POST /v1/vouchers/{code}"),
                &json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } }),
            )),
            _ => shop.code(
                code,
                &json!({ "name": format!("Campaign {number}"), "expiration_date": "2026-02-27T00:00:00Z" }),
            ),
        }
    }
    shop.read_bundle(NOON);
    shop.edge.derive_box_keys("proj_dev", NOON);
    let (head, bundle) = shop.read_bundle(NOON);
    let core = bundle.json();
    assert_eq!(core["sealed_codes"]["boxes"].as_object().unwrap().len(), 50);
    let salt = Base64UrlUnpadded::decode_vec(core["sealed_codes"]["salt"].as_str().unwrap()).unwrap();
    let text = format!("{}{}{}", String::from_utf8(head).unwrap(), bundle.claims, core);
    let folded = text.to_lowercase();
    for code in &codes {
        for form in [code.clone(), code.to_uppercase(), code.to_lowercase(), fold(code).into_owned()] {
            assert!(!folded.contains(&form.to_lowercase()), "{form}");
            let salted = [form.as_bytes(), &salt].concat();
            let prefixed = [&salt, form.as_bytes()].concat();
            let texted = format!("{}{form}", hex(&salt)).into_bytes();
            for bytes in [form.into_bytes(), salted, prefixed, texted] {
                for digest in digests(&bytes) {
                    let base64 = Base64::encode_string(&digest).trim_end_matches('=').to_owned();
                    for printed in
                        [hex(&digest), hex(&digest[..16]), base64.clone(), Base64UrlUnpadded::encode_string(&digest)]
                    {
                        assert!(!text.contains(&printed) && !folded.contains(&printed), "{code}: {printed}");
                    }
                    assert!(!text.contains(&base64[..20]), "{code}: the start of {base64}");
                }
            }
        }
    }
    let sizes = boxes(&bundle).as_object().unwrap().values().map(|one| one.as_str().unwrap().len()).collect::<Vec<_>>();
    // With the names of the boxes, and their punctuation.
    let average = sizes.iter().sum::<usize>() / sizes.len() + 22 + 6;
    assert!(average <= 466, "boxes have {average} bytes on average: {sizes:?}");
}

/// Returns a code of mixed case, each another.
fn code_of(number: u32) -> String {
    let digest = hex(&Sha256::digest(number.to_be_bytes()));
    format!("Code{}-{}", &digest[..6].to_uppercase(), &digest[6..12])
}

fn digests(bytes: &[u8]) -> [Vec<u8>; 3] {
    [Sha256::digest(bytes).to_vec(), sha1::Sha1::digest(bytes).to_vec(), md5::Md5::digest(bytes).to_vec()]
}

#[test]
fn unchanged_offers_keep_the_bytes_of_their_boxes() {
    let shop = Shop::new("proj_dev");
    shop.code("FIRST", &json!({}));
    shop.code("SECOND", &json!({}));
    let before = shop.bundle(NOON);
    shop.make("PUT /v1/vouchers/FIRST", &json!({ "discount": { "type": "PERCENT", "percent_off": 20 } }));
    let after = shop.bundle(NOON + HOUR);
    let names = |bundle: &Bundle| boxes(bundle).as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after), "a name depends on code and salt alone");
    let same = names(&before).into_iter().filter(|name| boxes(&before)[name] == boxes(&after)[name]).count();
    assert_eq!(same, 1);
    assert_eq!(before.json()["sealed_codes"]["salt"], after.json()["sealed_codes"]["salt"]);
    let of = |bundle: &Bundle| {
        shop.decide(bundle, NOON + HOUR, &typing("FIRST")).0["order"]["total_discount_amount"].clone()
    };
    assert_eq!(of(&after), 200);
}

#[test]
fn too_many_codes_without_a_campaign_are_left_out_and_generated_ones_change_nothing() {
    let shop = Shop::new("proj_dev");
    shop.code("SEALED", &json!({}));
    let insert = |from: i64, to: i64| {
        let statement = format!(
            "WITH RECURSIVE n(v) AS (SELECT {from} UNION ALL SELECT v + 1 FROM n WHERE v < {to})
             INSERT INTO document (kind, id, key, created_at, body)
             SELECT 'voucher', 'v_' || v, 'CODE-' || v, 0,
               json_object('id', 'v_' || v, 'code', 'CODE-' || v, 'type', 'DISCOUNT_VOUCHER', 'discount', json('{{\"type\":\"AMOUNT\",\"amount_off\":1}}'), 'object', 'voucher') FROM n"
        );
        shop.edge.run("proj_dev", &statement, &[]);
    };
    let drawn = || {
        scrip_worker::store::sql::text(
            &shop.edge.run("proj_dev", "SELECT drawn FROM edition WHERE subject = 'bundle'", &[])[0],
            0,
        )
        .unwrap()
        .to_owned()
    };
    let awaited = || shop.edge.count("proj_dev", "SELECT count(*) FROM box_key WHERE derived IS NULL");
    insert(1, 1_000);
    assert_eq!((shop.left_out(NOON), awaited()), (json!(["codes"]), 1_001));
    insert(1_001, 1_001);
    assert_eq!((shop.left_out(NOON), awaited()), (json!(["codes"]), 1));
    // Beyond the bound, further ones change no revision, and a deleted one does.
    let before = drawn();
    insert(1_002, 1_100);
    assert_eq!(drawn(), before);
    shop.edge.derive_box_keys("proj_dev", NOON);
    assert_eq!(shop.left_out(NOON), json!(["codes"]));
    let line = shop.send(NOON, "GET /management/v1/projects/proj_dev/bundle?limit=100&page=12", &Json::Null);
    let line: Json = serde_json::from_slice(&line.body).unwrap();
    assert_eq!(line["data"][0]["received"], "NOTHING", "{line}");
    shop.edge.run(
        "proj_dev",
        "DELETE FROM document WHERE kind = 'voucher' AND key GLOB 'CODE-*' AND key > 'CODE-1'",
        &[],
    );
    assert_ne!(drawn(), before);
    shop.bundle(NOON);
    assert_eq!(shop.left_out(NOON), json!([]));
    let before = drawn();
    let private = json!({ "name": "Private", "type": "AUTO_UPDATE", "campaign_type": "DISCOUNT_COUPONS", "vouchers_count": 3,
        "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 } } });
    shop.make("POST /v1/campaigns", &private);
    let of_campaign = drawn();
    assert_ne!(of_campaign, before);
    while shop.edge.alarm("proj_dev", NOON + HOUR) {}
    assert_eq!(drawn(), of_campaign, "generated codes");
}

#[test]
fn weak_codes_that_are_sealed_get_a_warning() {
    let shop = Shop::new("proj_dev");
    shop.code("SUMMER", &json!({}));
    shop.code("q7Gd-x2Rp-0vLm", &json!({}));
    shop.code("POSTER", &json!({ "visibility": "public" }));
    shop.code("HIDE", &json!({ "visibility": "server" }));
    let reply = shop.send(NOON, "GET /management/v1/projects/proj_dev/bundle?limit=100", &Json::Null);
    let list: Json = serde_json::from_slice(&reply.body).unwrap();
    let shown = |code: &str| {
        let line = list["data"].as_array().unwrap().iter().find(|line| line["name"] == code).unwrap();
        [line["received"].clone(), line["warning"].clone()]
    };
    assert_eq!(shown("SUMMER"), [json!("SEALED_BOX"), json!("WEAK_CODE")]);
    assert_eq!(shown("q7Gd-x2Rp-0vLm"), [json!("SEALED_BOX"), Json::Null]);
    assert_eq!(shown("POSTER"), [json!("TERMS"), Json::Null]);
    assert_eq!(shown("HIDE"), [json!("NOTHING"), Json::Null]);
}
