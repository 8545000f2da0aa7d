//! Tests the bundle with the engine against the service: a verdict about an offer that the core leaves out is provisional or right,
//! at every moment of the horizon and after it. And the bundle of a shop that is too large for one part.

use crate::bundle::{Bundle, claims_of};
use crate::in_process::Edge;
use crate::supplement_carts::SCENARIOS;
use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::{Signature, VerifyingKey};
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::text::decode_hex_array;
use scrip::time::Instant;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};

/// Noon of 1 March 2026.
const NOON: i64 = 1_772_366_400_000;
const HOUR: i64 = 3_600_000;

struct Shop {
    edge: Edge,
}

impl Shop {
    fn send(&self, now_ms: i64, method: &str, path: &str, body: &Json) -> Reply {
        let client: &[(&str, &str)] = &[
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:1"),
        ];
        let server: &[(&str, &str)] = &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let management = &[("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")];
        let headers = match path {
            _ if path.starts_with("/client/") => client,
            _ if path.starts_with("/management/") => management,
            _ => server,
        };
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: String::new(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        };
        self.edge.send(request, now_ms, None)
    }

    fn post(&self, path: &str, body: Json) -> Json {
        let reply = self.send(NOON - 24 * HOUR, "POST", path, &body);
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }

    fn get(&self, now_ms: i64, path: &str) -> Vec<u8> {
        let reply = self.send(now_ms, "GET", path, &Json::Null);
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        reply.body
    }

    /// Returns the bundle with the keys of its sealed codes.
    fn bundle(&self, now_ms: i64) -> Bundle {
        self.get(now_ms, "/client/v1/bundle");
        self.edge.derive_box_keys("proj_dev", now_ms);
        Bundle::of(&self.get(now_ms, "/client/v1/bundle"), |path| self.get(now_ms, path))
    }

    /// Makes a standalone campaign whose code is its name, with further members.
    fn code(&self, name: &str, of_campaign: Json, of_voucher: Json) {
        let discount = json!({ "type": "PERCENT", "percent_off": 10 });
        let voucher = json!({ "discount": discount, "code_config": { "pattern": name } });
        let mut campaign = json!({ "name": name, "type": "STANDALONE", "voucher": voucher });
        campaign.as_object_mut().unwrap().extend(of_campaign.as_object().unwrap().clone());
        self.post("/v1/campaigns", campaign);
        if !of_voucher.as_object().unwrap().is_empty() {
            let reply = self.send(NOON - 24 * HOUR, "PUT", &format!("/v1/vouchers/{name}"), &of_voucher);
            assert_eq!(reply.status, 200, "{name}: {}", String::from_utf8_lossy(&reply.body));
        }
    }
}

/// A shop with offers that begin, end, recur or are switched off; returns the redeemables, each with its name.
fn open() -> (Shop, Vec<(String, Json)>) {
    let shop = Shop { edge: Edge::new() };
    let mut redeemables = Vec::new();
    let windows = [
        ("PLAIN", json!({})),
        ("LATER", json!({ "start_date": "2026-03-01T20:00:00Z" })),
        ("SOON", json!({ "start_date": "2026-03-01T16:00:00Z", "expiration_date": "2026-03-01T17:00:00Z" })),
        ("OVER", json!({ "expiration_date": "2026-03-01T11:59:59Z" })),
        ("ENDING", json!({ "expiration_date": "2026-03-01T14:00:00Z" })),
        ("NOON", json!({ "start_date": "2026-03-01T12:00:00Z" })),
        ("SUNDAYS", json!({ "validity_day_of_week": [0] })),
        ("MONDAYS", json!({ "validity_day_of_week": [1] })),
        (
            "FIFTEEN",
            json!({ "validity_hours": { "daily": [{ "start_time": "15:00", "expiration_time": "16:30", "days_of_week": [0, 1] }] } }),
        ),
    ];
    for (name, window) in &windows {
        shop.code(&format!("C-{name}"), window.clone(), json!({}));
        shop.code(&format!("V-{name}"), json!({}), window.clone());
        redeemables.extend(
            ["C", "V"]
                .map(|kind| format!("{kind}-{name}"))
                .map(|code| (code.clone(), json!({ "object": "voucher", "id": code }))),
        );
    }
    shop.code("OFF", json!({}), json!({ "active": false }));
    shop.code("C-OFF", json!({}), json!({}));
    shop.post("/v1/campaigns/C-OFF/disable", Json::Null);
    redeemables
        .extend(["OFF", "C-OFF", "NONE"].map(|code| (code.to_owned(), json!({ "object": "voucher", "id": code }))));
    let tier = |(name, window): &(&str, Json)| {
        let mut tier = json!({ "name": name, "action": { "discount": { "type": "AMOUNT", "amount_off": 100 } } });
        tier.as_object_mut().unwrap().extend(window.as_object().unwrap().clone());
        tier
    };
    let all: Vec<Json> = windows.iter().chain(&[("OFF", json!({ "active": false }))]).map(tier).collect();
    let promotion = |name: &str, window: Json, tiers: &[Json]| {
        let mut campaign = json!({ "name": name, "campaign_type": "PROMOTION", "promotion": { "tiers": tiers } });
        campaign.as_object_mut().unwrap().extend(window.as_object().unwrap().clone());
        shop.post("/v1/campaigns", campaign)
    };
    let mut made = vec![promotion("Deals", json!({}), &all)];
    for (name, window) in &windows {
        // A window of the campaign, for a tier without one.
        made.push(promotion(&format!("P-{name}"), window.clone(), &all[..1]));
    }
    for campaign in made {
        let tiers = campaign["promotion"]["tiers"].as_array().unwrap();
        for tier in tiers {
            let name = format!("{} {}", campaign["name"], tier["name"]);
            redeemables.push((name, json!({ "object": "promotion_tier", "id": tier["id"] })));
        }
        let path = format!("/v1/promotions/{}/stacks", campaign["id"].as_str().unwrap());
        for pair in tiers.windows(2) {
            let ids = [&pair[0]["id"], &pair[1]["id"]];
            let stack = shop.post(&path, json!({ "name": format!("{} {}", ids[0], ids[1]), "tiers": { "ids": ids } }));
            let name = format!("stack {} {}", pair[0]["name"], pair[1]["name"]);
            redeemables.push((name, json!({ "object": "promotion_stack", "id": stack["id"] })));
        }
    }
    (shop, redeemables)
}

fn with_rules(bundle: Bundle) -> (Bundle, PreparedRules) {
    let plain = bundle.prepare();
    (bundle, plain)
}

/// Returns the verdict of the rules if it is final, after a check that the service gives the same bytes.
fn final_verdict(
    shop: &Shop,
    rules: &(Bundle, PreparedRules),
    now_ms: i64,
    name: &str,
    redeemable: &Json,
) -> Option<Json> {
    let request = json!({ "redeemables": [redeemable], "order": { "amount": 10_000 } });
    let rules = rules.0.prepare_for(&rules.1, &request, None);
    let reply = shop.send(now_ms, "POST", "/client/v1/validations", &request);
    assert_eq!(reply.status, 200, "{name}");
    let context: &str = &reply.headers.iter().find(|(header, _)| header == "scrip-context").unwrap().1;
    let context: Json = serde_json::from_str(context).unwrap();
    let now = Instant::parse(context["now"].as_str().unwrap()).unwrap();
    let context =
        Context { now, seed: decode_hex_array(context["seed"].as_str().unwrap()).unwrap(), first_number: None };
    let own = rules.validate(request.to_string().as_bytes(), &context);
    let verdict: Json = serde_json::from_slice(&own.body).unwrap();
    if !verdict["missing"].is_null() {
        return None;
    }
    assert_eq!(String::from_utf8_lossy(&own.body), String::from_utf8_lossy(&reply.body), "{name} at {now_ms}");
    Some(verdict)
}

#[test]
fn a_final_verdict_is_right_at_every_moment_of_the_horizon() {
    let (shop, redeemables) = open();
    let bundle = shop.bundle(NOON);
    let to = bundle.claims["to"].as_i64().unwrap();
    let rules = with_rules(bundle);
    assert_eq!(to, NOON + 4 * HOUR, "the next offer begins at 16:00");
    let mut finals = [0, 0];
    for now_ms in [NOON, NOON + HOUR, NOON + 2 * HOUR - 1, NOON + 2 * HOUR, NOON + 3 * HOUR, to - 1] {
        for (name, redeemable) in &redeemables {
            if let Some(verdict) = final_verdict(&shop, &rules, now_ms, name, redeemable) {
                finals[usize::from(verdict["valid"] == true)] += 1;
            }
        }
        for name in ["C-PLAIN", "V-PLAIN", "C-NOON", "V-NOON", "C-SUNDAYS", "V-SUNDAYS"] {
            let redeemable = json!({ "object": "voucher", "id": name });
            let verdict = final_verdict(&shop, &rules, now_ms, name, &redeemable).unwrap_or_default();
            assert_eq!(verdict["valid"], true, "{name} at {now_ms}: {verdict}");
        }
    }
    assert!(finals.iter().all(|count| *count > 30), "{finals:?} are a final no and a final yes");
    // No verdict is final outside of the horizon; the next bundle decides there.
    for now_ms in [NOON - 1, to, to + HOUR] {
        for (name, redeemable) in &redeemables {
            let verdict = final_verdict(&shop, &rules, now_ms, name, redeemable);
            assert_eq!(verdict, None, "{name} at {now_ms}");
        }
    }
    let rules = with_rules(shop.bundle(to));
    for (name, is_valid) in [
        ("C-SOON", true),
        ("V-SOON", true),
        ("C-PLAIN", true),
        ("C-MONDAYS", false),
        ("C-OVER", false),
        ("V-OVER", false),
    ] {
        let redeemable = json!({ "object": "voucher", "id": name });
        let verdict = final_verdict(&shop, &rules, to, name, &redeemable).unwrap_or_default();
        assert_eq!(verdict["valid"], is_valid, "{name}: {verdict}");
    }
}

/// A redeemable that qualifies on the service and is missing from the answer of a client makes that answer provisional.
#[test]
fn a_final_qualification_is_complete() {
    let (shop, _) = open();
    let bundle = shop.bundle(NOON);
    let (rules, to) = (bundle.prepare(), bundle.claims["to"].as_i64().unwrap());
    for scenario in SCENARIOS {
        let request = json!({ "scenario": scenario, "order": { "amount": 10_000 }, "options": { "limit": 50 } });
        for now_ms in [NOON, NOON + 3 * HOUR, to - 1, to] {
            let reply = shop.send(now_ms, "POST", "/client/v1/qualifications", &request);
            // No qualification depends on the seed.
            let context = Context { now: Instant::from_millis(now_ms).unwrap(), seed: [7; 32], first_number: None };
            let own = rules.qualify(request.to_string().as_bytes(), &context).body;
            let read: Json = serde_json::from_slice(&own).unwrap();
            if now_ms >= to {
                assert_eq!(read["missing"], json!(["horizon"]), "{scenario}: {read}");
                continue;
            }
            assert_eq!(read["missing"], Json::Null, "{scenario} at {now_ms}: {read}");
            let lists_offers = ["ALL", "AUDIENCE_ONLY", "PROMOTION_STACKS"].contains(&scenario);
            assert_eq!(read["redeemables"]["total"].as_u64().unwrap() > 0, lists_offers, "{scenario}: {read}");
            let [own, service] = [own, reply.body].map(|body| String::from_utf8(body).unwrap());
            assert_eq!(own, service, "{scenario} at {now_ms}");
        }
    }
}

#[test]
fn a_large_core_is_in_parts() {
    let shop = Shop { edge: Edge::new() };
    let banner = "é".repeat(2_000);
    for number in 0..220 {
        let action = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } });
        let tier = json!({ "name": format!("tier {number}"), "banner": banner, "action": action });
        let campaign =
            json!({ "name": format!("Deal {number}"), "campaign_type": "PROMOTION", "promotion": { "tiers": [tier] } });
        shop.post("/v1/campaigns", campaign);
    }
    let bundle = shop.bundle(NOON);
    assert!(bundle.core.len() > 512 * 1024, "{} bytes", bundle.core.len());
    let path = format!("/client/v1/bundle/proj_dev/{}", bundle.claims["core"].as_str().unwrap());
    let index: Json = serde_json::from_slice(&shop.get(NOON, &path)).unwrap();
    let parts = index["parts"].as_array().unwrap();
    assert_eq!((index.as_object().unwrap().len(), parts.len()), (1, bundle.core.len().div_ceil(512 * 1024)));
    for part in parts {
        let bytes = shop.get(NOON, &format!("/client/v1/bundle/proj_dev/{}", part.as_str().unwrap()));
        assert!(bytes.len() <= 512 * 1024);
    }
    assert_eq!(bundle.json()["promotion_tiers"].as_array().unwrap().len(), 220);
    let tier = bundle.json()["promotion_tiers"][7]["id"].clone();
    let redeemable = json!({ "object": "promotion_tier", "id": tier });
    let verdict = final_verdict(&shop, &with_rules(bundle), NOON, "tier", &redeemable);
    assert_eq!(verdict.unwrap()["valid"], true);
    // After a change the former index and its parts stay for 48 hours.
    shop.post("/v1/campaigns/Deal%200/disable", Json::Null);
    assert_eq!(shop.bundle(NOON + HOUR).json()["promotion_tiers"].as_array().unwrap().len(), 219);
    for part in parts {
        shop.get(NOON + HOUR, &format!("/client/v1/bundle/proj_dev/{}", part.as_str().unwrap()));
    }
    assert_eq!(shop.bundle(NOON + 50 * HOUR).json()["promotion_tiers"].as_array().unwrap().len(), 219);
    assert_eq!(shop.send(NOON + 50 * HOUR, "GET", &path, &Json::Null).status, 404);
}

#[test]
fn more_than_is_disclosed_is_left_out() {
    let shop = Shop { edge: Edge::new() };
    let left_out = |hours: i64| shop.bundle(NOON + hours * HOUR).claims["left_out"].clone();
    assert_eq!(left_out(0), json!([]));
    let insert = |kind: &str, body: &str| {
        let statement = format!(
            "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1001)
             INSERT INTO document (kind, id, parent, created_at, body)
             SELECT '{kind}', '{kind}_' || v, json_extract(replace('{body}', '#', v), '$.campaign_id'), 0, replace('{body}', '#', v) FROM n"
        );
        shop.edge.run("proj_dev", &statement, &[]);
    };
    insert("product", r#"{"id":"product_#","name":"P","object":"product"}"#);
    assert_eq!(left_out(1), json!([]), "goods are not");
    insert(
        "campaign",
        r#"{"id":"campaign_#","name":"C #","campaign_type":"PROMOTION","type":"AUTO_UPDATE","object":"campaign"}"#,
    );
    let discount = r#"{"discount":{"type":"AMOUNT","amount_off":1}}"#;
    let tier = format!(
        r##"{{"id":"promotion_tier_#","name":"T","campaign_id":"campaign_#","action":{discount},"object":"promotion_tier"}}"##
    );
    insert("promotion_tier", &tier);
    assert_eq!(left_out(2), json!([]), "all offers in force");
    let core = shop.bundle(NOON + 2 * HOUR).json();
    let count = |core: &Json, list: &str| core[list].as_array().unwrap().len();
    assert_eq!(
        [count(&core, "campaigns"), count(&core, "promotion_tiers"), count(&core, "unexamined_offers")],
        [1_001, 1_001, 0]
    );
    assert_eq!(core["public_offers"], true);
    // Qualifications examine the newest 2,000 tiers, and a core has 5,000 offers.
    for (hours, tiers, unexamined, left) in
        [(3, 4_000, 2_000, json!([])), (4, 5_000, 3_000, json!([])), (5, 5_000, 3_000, json!(["offers"]))]
    {
        let more = if hours == 5 {
            1
        } else if hours == 3 {
            2_999
        } else {
            1_000
        };
        let statement = format!(
            "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {more})
             INSERT INTO document (kind, id, parent, created_at, body)
             SELECT 'promotion_tier', 'more_{hours}_' || v, 'campaign_1', {hours}, json_set('{tier}', '$.id', 'more_{hours}_' || v, '$.campaign_id', 'campaign_1') FROM n"
        );
        shop.edge.run("proj_dev", &statement, &[]);
        let bundle = shop.bundle(NOON + hours * HOUR);
        assert_eq!(bundle.claims["left_out"], left, "{hours}");
        let core = bundle.json();
        assert_eq!(core["public_offers"], left == json!([]), "{hours}");
        if hours < 5 {
            assert_eq!([count(&core, "promotion_tiers"), count(&core, "unexamined_offers")], [tiers, unexamined]);
        }
    }
}

/// The head is signed by the key that the project publishes, over exactly the header of the format.
#[test]
fn the_head_is_signed() {
    let shop = Shop { edge: Edge::new() };
    let head = String::from_utf8(shop.get(NOON, "/client/v1/bundle")).unwrap();
    assert!(head.len() <= 1_024, "{} bytes", head.len());
    let row = &shop.edge.run("proj_dev", "SELECT kid, public_x FROM bundle_key", &[])[0];
    let [kid, public_x] = [0, 1].map(|column| scrip_worker::store::sql::text(row, column).unwrap().to_owned());
    let (message, signature) = head.rsplit_once('.').unwrap();
    let decoded = |text: &str| Base64UrlUnpadded::decode_vec(text).unwrap();
    let key = VerifyingKey::from_bytes(&decoded(&public_x).try_into().unwrap()).unwrap();
    let signature = Signature::from_bytes(&decoded(signature).try_into().unwrap());
    key.verify_strict(message.as_bytes(), &signature).unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let header = String::from_utf8(decoded(header)).unwrap();
    assert_eq!(header, format!(r#"{{"alg":"EdDSA","kid":"{kid}","typ":"scrip-bundle+jwt"}}"#));
    let claims = String::from_utf8(decoded(claims)).unwrap();
    let read = claims_of(head.as_bytes()).unwrap();
    let [core, root] = [&read["core"], &read["goods"]["root"]].map(|hash| hash.as_str().unwrap());
    let goods = format!(r#"{{"root":"{root}","buckets":1}}"#);
    let expected = format!(
        r#"{{"iss":"proj_dev","fmt":2,"decides":{},"writes":{},"epoch":0,"rev":{NOON},"core":"{core}","goods":{goods},"from":{NOON},"to":{},"iat":{},"exp":{},"left_out":[]}}"#,
        scrip::bundle::DECIDES,
        scrip::bundle::WRITES,
        NOON + 12 * HOUR,
        NOON / 1_000,
        NOON / 1_000 + 86_400
    );
    assert_eq!(claims, expected);
}

/// A head is signed anew at the moment at which another key signs, though nothing else has changed.
#[test]
fn the_head_follows_the_key_that_signs() {
    let shop = Shop { edge: Edge::new() };
    let head = |now_ms: i64| {
        let head = shop.get(now_ms, "/client/v1/bundle");
        let header = String::from_utf8(head.clone()).unwrap().split('.').next().unwrap().to_owned();
        let header: Json = serde_json::from_slice(&Base64UrlUnpadded::decode_vec(&header).unwrap()).unwrap();
        (header["kid"].as_str().unwrap().to_owned(), claims_of(&head).unwrap())
    };
    let change = |now_ms: i64, path: &str| {
        let reply =
            shop.send(now_ms, "POST", &format!("/management/v1/projects/proj_dev/bundle-keys/{path}"), &Json::Null);
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice::<Json>(&reply.body).unwrap()["kid"].as_str().unwrap().to_owned()
    };
    let (first, _) = head(NOON);
    let second = change(NOON, "rotate");
    let switch = NOON + 24 * HOUR;
    // The head of an hour before is of age to be answered again at the switch.
    let (before, at_last) = (head(switch - HOUR), head(switch - 1));
    assert_eq!((&before.0, &before.1), (&first, &at_last.1));
    let (kid, claims) = head(switch);
    assert_eq!((&kid, &claims["epoch"]), (&second, &json!(0)));
    assert_eq!(claims["core"], at_last.1["core"]);
    assert!(claims["rev"].as_i64() > at_last.1["rev"].as_i64());
    assert_eq!(change(switch + 1, &format!("{second}/retire")), second);
    let (third, claims) = head(switch + 1);
    assert!(third != first && third != second);
    assert_eq!(claims["epoch"], json!(switch + 1));
    // The private half of a key is stored for a day after its end, in case the clock is set back.
    let halves = || shop.edge.run("proj_dev", "SELECT kid FROM bundle_key WHERE private_seed IS NOT NULL", &[]).len();
    assert_eq!(halves(), 2);
    head(switch + 24 * HOUR);
    assert_eq!(halves(), 1);
}

/// A client knows the time of the service by whole seconds: its first verdict is within the horizon, also about an offer that began in
/// the second of the build.
#[test]
fn the_horizon_begins_with_the_second_of_the_build() {
    let shop = Shop { edge: Edge::new() };
    let begin = |millis: &str| json!({ "start_date": format!("2026-03-01T12:00:00.{millis}Z") });
    shop.code("JUST", begin("400"), json!({}));
    shop.code("SOON", begin("900"), json!({}));
    let built = NOON + 500;
    let bundle = shop.bundle(built);
    assert_eq!((&bundle.claims["from"], &bundle.claims["to"]), (&json!(NOON), &json!(NOON + 900)));
    let rules = with_rules(bundle);
    let verdict = |now_ms: i64, name: &str| {
        let redeemable = json!({ "object": "voucher", "id": name });
        final_verdict(&shop, &rules, now_ms, name, &redeemable).map(|verdict| verdict["valid"] == true)
    };
    assert_eq!([verdict(NOON, "JUST"), verdict(NOON + 400, "JUST")], [Some(false), Some(true)]);
    assert_eq!([verdict(NOON + 899, "SOON"), verdict(NOON + 900, "SOON")], [None, None]);
}
