//! Tests the replay of redemptions: the same bytes from kept facts, differences under today's rules, and the keeping of inputs.

mod days;
mod shop;

use scrip_worker::http::request::Reply;
use scrip_worker::store::configuration;
use scrip_worker::store::redemption_inputs::{ROW_BYTES_MAX, decompress};
use scrip_worker::store::sql::SqlValue;
use serde_json::{Value as Json, json};
use shop::{DAY, Shop, id_of, json_of};

/// A campaign with a code that may be used once, for orders of at least 20, and a product.
fn fill(shop: &Shop) -> String {
    let rules = json!({ "name": "Large", "type": "basic", "context_type": "campaign.discount_coupons.discount.apply_to_order",
        "rules": { "1": { "name": "order.amount", "conditions": { "$more_than_or_equal": [2000] } }, "logic": "1" } });
    let rule = shop.call("POST /v1/validation-rules", &rules)["id"].as_str().unwrap().to_owned();
    let campaign = json!({ "name": "Spring", "campaign_type": "DISCOUNT_COUPONS", "type": "STATIC",
        "validation_rules": [rule], "metadata": { "season": "spring" },
        "voucher": { "discount": { "type": "PERCENT", "percent_off": 20 }, "redemption": { "quantity": 1 } } });
    let id = shop.call("POST /v1/campaigns", &campaign)["id"].as_str().unwrap().to_owned();
    shop.call(&format!("POST /v1/campaigns/{id}/vouchers/SPRING"), &json!({}));
    shop.call("POST /v1/products", &json!({ "name": "Tea", "source_id": "tea", "price": 1500 }));
    id
}

const CART: &str = r#"{ "redeemables": [{"object": "voucher", "id": "SPRING"}], "metadata": {"till": "7"},
  "customer": {"source_id": "ann@shop.example", "name": "Ann"}, "order": {"items": [{"source_id": "tea", "related_object": "product", "quantity": 2, "price": 1500}]} }"#;

#[test]
fn kept_facts_give_the_same_bytes_after_all_changes() {
    let shop = Shop::new(30);
    let campaign = fill(&shop);
    let answered = shop.send("POST /v1/redemptions", CART);
    let id = id_of(&answered);
    shop.assert_same(&id, &answered);
    let changed = json!({ "metadata": { "season": "summer" }, "voucher": { "discount": { "type": "PERCENT", "percent_off": 50 }, "redemption": { "quantity": 1 } } });
    shop.call(&format!("PUT /v1/campaigns/{campaign}"), &changed);
    shop.call("PUT /v1/vouchers/SPRING", &json!({ "discount": { "type": "PERCENT", "percent_off": 50 } }));
    shop.call("PUT /v1/customers/ann@shop.example", &json!({ "name": "Anna" }));
    shop.call("PUT /v1/products/tea", &json!({ "price": 1 }));
    shop.assert_same(&id, &answered);
    shop.now.set(shop.now.get() + 29 * DAY);
    shop.call("DELETE /v1/vouchers/SPRING?force=true", &Json::Null);
    shop.call(&format!("POST /v1/redemptions/{id}/rollback"), &Json::Null);
    shop.assert_same(&id, &answered);
}

#[test]
fn rules_of_today_give_the_differences_and_not_the_counts_since() {
    let shop = Shop::new(30);
    fill(&shop);
    let id = id_of(&shop.send("POST /v1/redemptions", CART));
    assert!(shop.differences(&id).is_empty(), "the code is used up now, and was not then");
    shop.call("PUT /v1/vouchers/SPRING", &json!({ "discount": { "type": "PERCENT", "percent_off": 50 } }));
    let found = shop.differences(&id);
    for expected in [
        "/order/total_amount 2400 1500",
        "/order/total_discount_amount 600 1500",
        "/redeemables/0/result/discount/percent_off 20 50",
        "/redeemables/0/order/total_applied_discount_amount 600 1500",
    ] {
        assert!(found.iter().any(|line| line == expected), "{expected} is not in {found:#?}");
    }
    assert!(!found.iter().any(|line| line.contains("updated_at") || line.contains("SUCCESS")), "{found:#?}");
    // A limit for each customer that did not exist then: what was redeemed since does not count against it.
    let rule = shop.call("GET /v1/validation-rules", &Json::Null)["data"][0]["id"].as_str().unwrap().to_owned();
    let change = |name: &str, condition: Json| {
        let rules = json!({ "rules": { "1": { "name": name, "conditions": condition }, "logic": "1" } });
        shop.call(&format!("PUT /v1/validation-rules/{rule}"), &rules);
    };
    change("redemption.count.per_customer", json!({ "$less_than_or_equal": [1] }));
    assert_eq!(shop.differences(&id), found);
    change("redemption.count.per_customer", json!({ "$less_than_or_equal": [0] }));
    assert!(shop.differences(&id).contains(&"/valid true false".to_owned()));
    // A rule that the order does not meet.
    change("order.amount", json!({ "$more_than": [5000] }));
    let found = shop.differences(&id);
    for expected in ["/result \"SUCCESS\" \"FAILURE\"", "/failure_code - \"order_rules_violated\"", "/valid true false"]
    {
        assert!(found.iter().any(|line| line == expected), "{expected} is not in {found:#?}");
    }
    shop.call("DELETE /v1/vouchers/SPRING?force=true", &Json::Null);
    let found = shop.differences(&id);
    assert!(found.contains(&"/failure_code - \"not_found\"".to_owned()), "{found:#?}");
}

/// Keys of the project are read from the database by a replay; a code of the name of their kind is none.
#[test]
fn a_code_named_as_a_kind_of_documents_is_replayed() {
    let shop = Shop::new(30);
    shop.voucher("secret", 10);
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "secret" }], "order": { "amount": 1000 } });
    let answered = shop.send("POST /v1/redemptions", &body.to_string());
    shop.call("PUT /v1/vouchers/secret", &json!({ "active": false }));
    shop.assert_same(&id_of(&answered), &answered);
}

/// Stacking rules and absent schemas of metadata are in memory after the first call. A redemption that is kept reads them all the same.
#[test]
fn a_redemption_whose_configuration_was_in_memory_is_replayed() {
    let shop = Shop::new(30);
    let voucher = json!({ "discount": { "type": "PERCENT", "percent_off": 10 }, "redemption": { "quantity": null } });
    shop.call("POST /v1/vouchers/TEN", &voucher);
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "TEN" }], "metadata": { "till": "7" }, "order": { "amount": 1000 } });
    let answers = [(); 3].map(|()| shop.send("POST /v1/redemptions", &body.to_string()));
    let schema =
        json!({ "related_object": "redemption", "properties": { "till": { "type": "number", "optional": true } } });
    shop.call(&format!("POST /management/v1/projects/{}/metadata-schemas", shop.project), &schema);
    assert_eq!(shop.send("POST /v1/redemptions", &body.to_string()).status, 400, "a new schema counts at once");
    for answered in &answers {
        // A replay reads, too.
        configuration::forget();
        shop.assert_same(&id_of(answered), answered);
    }
}

/// The structure of tiers is in memory after the first call. A redemption that is kept reads it all the same: its replay may be in another
/// process.
#[test]
fn a_tier_whose_structure_was_in_memory_is_replayed() {
    let shop = Shop::new(30);
    let make = |path: &str, body: Json| shop.call(&format!("POST {path}"), &body);
    let id = |answer: Json| answer["id"].as_str().unwrap().to_owned();
    let customer = id(make("/v1/customers", json!({ "source_id": "ann" })));
    let definition = json!({ "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE" });
    let definition = id(make("/v2/loyalties/card-definitions", definition));
    let levels = json!({ "name": "Levels", "type": "POINT_BALANCE", "card_definition_id": definition });
    let levels = id(make("/v2/loyalties/tier-structures", levels));
    let gold = json!({ "name": "Gold", "qualification_rules": { "type": "POINTS", "min_value": 10 } });
    let gold = id(make(&format!("/v2/loyalties/tier-structures/{levels}/tiers"), gold));
    make(&format!("/v2/loyalties/tier-structures/{levels}/activate"), Json::Null);
    let earning = json!({ "name": "Rule", "status": "ACTIVE", "trigger": { "event": "customer.order.paid" },
        "earnings": [{ "effects": [{ "points": { "value": 1, "card_definition_id": definition } }] }] });
    let earning = id(make("/v2/loyalties/earning-rules", earning));
    let club = json!({ "name": "Club", "card_definitions": [{ "id": definition }], "earning_rules": [{ "id": earning }],
        "tier_structures": [{ "id": levels }] });
    let club = id(make("/v2/loyalties/programs", club));
    make(&format!("/v2/loyalties/programs/{club}/activate"), Json::Null);
    let member = json!({ "customer_identification": { "type": "customer_id", "customer_id": customer } });
    let member = make(&format!("/v2/loyalties/programs/{club}/members"), member);
    let card = member["cards"][0]["card"]["id"].as_str().unwrap();
    let member = member["id"].as_str().unwrap();
    let points = format!("/v2/loyalties/programs/{club}/members/{member}/cards/{card}/points");
    make(&points, json!({ "points": 20 }));
    let rule = json!({ "name": "Gold", "rules": { "1": { "name": "customer.loyalty.tier", "conditions": { "$is": [gold] } } } });
    let rule = id(make("/v1/validation-rules", rule));
    let voucher = json!({ "discount": { "type": "PERCENT", "percent_off": 10 }, "validation_rules": [rule] });
    make("/v1/vouchers/GOLD", voucher);
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "GOLD" }], "customer": { "source_id": "ann" }, "order": { "amount": 1000 } });
    assert_eq!(make("/v1/validations", body.clone())["valid"], true);
    let answered = shop.send("POST /v1/redemptions", &body.to_string());
    let kept = shop.edge.run(&shop.project, "SELECT body FROM redemption_input", &[]);
    let SqlValue::Text(kept) = &kept[0][0] else { panic!("{kept:?}") };
    let kept = String::from_utf8(decompress(kept).unwrap()).unwrap();
    assert!(kept.contains("Levels"), "{kept}");
    shop.assert_same(&id_of(&answered), &answered);
}

#[test]
fn every_way_to_redeem_is_replayed() {
    let shop = Shop::new(30);
    fill(&shop);
    for code in ["LEGACY", "AT-URL", "PAGE", "OLD-PAGE"] {
        shop.voucher(code, 10);
    }
    shop.call("POST /v1/vouchers/GIFT", &json!({ "gift": { "amount": 5000 } }));
    let tiers = json!({ "name": "Tiers", "campaign_type": "PROMOTION", "promotion": { "tiers": [
        { "name": "First", "banner": "B", "action": { "discount": { "type": "AMOUNT", "amount_off": 100 } } },
        { "name": "Second", "action": { "discount": { "type": "UNIT", "unit_off": 1, "unit_type": "tea", "effect": "ADD_NEW_ITEMS" } } } ] } });
    let tiers = shop.call("POST /v1/campaigns", &json!(tiers))["promotion"]["tiers"].clone();
    let tier = |place: usize| tiers[place]["id"].as_str().unwrap().to_owned();
    let club =
        json!({ "name": "Club", "campaign_type": "LOYALTY_PROGRAM", "voucher": { "loyalty_card": { "points": 100 } } });
    let club = shop.call("POST /v1/loyalties", &club)["id"].as_str().unwrap().to_owned();
    let card = shop.call(
        &format!("POST /v1/loyalties/{club}/members"),
        &json!({ "customer": { "source_id": "ann@shop.example" } }),
    );
    let card = card["code"].as_str().unwrap().to_owned();
    let coupons = json!({ "name": "Coupons", "campaign_type": "DISCOUNT_COUPONS", "type": "AUTO_UPDATE",
        "voucher": { "discount": { "type": "AMOUNT", "amount_off": 300 } } });
    let coupons = shop.call("POST /v1/campaigns", &coupons)["id"].as_str().unwrap().to_owned();
    let reward = json!({ "name": "A coupon", "type": "CAMPAIGN", "parameters": { "campaign": { "id": coupons } } });
    let reward = shop.call("POST /v1/rewards", &reward)["id"].as_str().unwrap().to_owned();
    let assigned = json!([{ "reward": reward, "parameters": { "loyalty": { "points": 40 } } }]);
    shop.call(&format!("POST /v1/loyalties/{club}/rewards"), &assigned);
    let friends = json!({ "name": "Friends", "campaign_type": "REFERRAL_PROGRAM", "vouchers_count": 1,
        "voucher": { "discount": { "type": "PERCENT", "percent_off": 5 } } });
    let friends = shop.call("POST /v1/campaigns", &friends)["id"].as_str().unwrap().to_owned();
    shop.call(&format!("POST /v1/campaigns/{friends}/vouchers/FRIEND"), &json!({}));
    let publication = json!({ "voucher": "FRIEND", "customer": { "source_id": "bob@shop.example" } });
    shop.call("POST /v1/publications", &publication);
    let order = json!({ "amount": 4000 });
    let full = |kind: &str, id: &str| json!({ "redeemables": [{ "object": kind, "id": id }], "order": order });
    let stack = json!({ "redeemables": [{ "object": "voucher", "id": "SPRING" }, { "object": "promotion_tier", "id": tier(1) },
        { "object": "voucher", "id": "GIFT", "gift": { "credits": 700 } }], "customer": { "source_id": "ann@shop.example" },
        "order": { "source_id": "o-1", "items": [{ "source_id": "tea", "related_object": "product", "quantity": 3, "price": 1500 }] } });
    let mut answers: Vec<(String, Reply)> = Vec::new();
    for (call, body) in [
        ("POST /v1/redemptions".to_owned(), stack),
        ("POST /v1/redemptions".into(), full("promotion_tier", &tier(0))),
        (
            "POST /v1/redemptions".into(),
            json!({ "redeemables": [{ "object": "voucher", "id": "FRIEND" }], "order": order,
            "customer": { "source_id": "ann@shop.example" }, "options": { "expand": ["redeemable", "category"] } }),
        ),
        ("POST /v1/vouchers/LEGACY/redemption?tracking_id=carl".into(), json!({ "order": order })),
        ("POST /v1/vouchers/AT-URL/redemptions".into(), json!({ "order": order })),
        (format!("POST /v1/promotions/tiers/{}/redemption", tier(0)), json!({ "order": order })),
        (format!("POST /v1/loyalties/{club}/members/{card}/redemption"), json!({ "reward": { "id": reward } })),
        (format!("POST /v1/loyalties/members/{card}/redemption"), json!({ "reward": { "id": reward } })),
        ("POST /client/v1/redemptions".into(), full("voucher", "PAGE")),
        ("POST /client/v1/redeem?code=OLD-PAGE".into(), json!({ "order": order })),
    ] {
        let reply = shop.send(&call, &body.to_string());
        answers.push((id_of(&reply), reply));
    }
    assert_eq!(shop.inputs(), 10, "one row for each request");
    for (id, answered) in &answers {
        shop.assert_same(id, answered);
        assert_eq!(shop.differences(id), [""; 0], "{id}");
    }
    // Each redemption of a stack, and its parent, is replayed from the one row.
    let (_, answered) = &answers[0];
    let body = json_of(answered);
    for id in [&body["redemptions"][1]["id"], &body["redemptions"][2]["id"], &body["parent_redemption"]["id"]] {
        shop.assert_same(id.as_str().unwrap(), answered);
    }
    let sizes = shop.edge.run(&shop.project, "SELECT bytes FROM redemption_input ORDER BY seq", &[]);
    eprintln!("bytes of the rows: {sizes:?}");
}

#[test]
fn a_customer_named_by_a_tracking_id_is_the_one_of_then() {
    let shop = Shop::new(30);
    let customer = shop.call("POST /v1/customers", &json!({ "source_id": "eva", "metadata": { "level": "gold" } }));
    let rules = json!({ "name": "Gold", "rules": { "logic": "1",
        "1": { "name": "customer.metadata", "property": "level", "conditions": { "$is": ["gold"] } } } });
    let rule = shop.call("POST /v1/validation-rules", &rules)["id"].as_str().unwrap().to_owned();
    let campaign = json!({ "name": "Gold", "campaign_type": "DISCOUNT_COUPONS", "validation_rules": [rule],
        "voucher": { "discount": { "type": "PERCENT", "percent_off": 20 }, "redemption": { "quantity": null } } });
    let campaign = shop.call("POST /v1/campaigns", &campaign)["id"].as_str().unwrap().to_owned();
    shop.call(&format!("POST /v1/campaigns/{campaign}/vouchers/GOLD"), &json!({}));
    let redemption = |customer: Json| json!({ "redeemables": [{ "object": "voucher", "id": "GOLD" }], "customer": customer, "order": { "amount": 1000 } });
    let named = json_of(&shop.send("POST /v1/redemptions", &redemption(json!({ "id": customer["id"] })).to_string()));
    let tracking_id = named["redemptions"][0]["tracking_id"].as_str().unwrap();
    assert!(tracking_id.starts_with("track_"), "{named}");
    let id = id_of(&shop.send("POST /v1/redemptions", &redemption(json!({ "id": tracking_id })).to_string()));
    shop.call("PUT /v1/customers/eva", &json!({ "metadata": { "level": "silver" } }));
    assert_eq!(shop.differences(&id), [""; 0], "the customer had the level then");
}

#[test]
fn a_failed_redemption_is_replayed() {
    let shop = Shop::new(30);
    fill(&shop);
    let small = CART.replace("\"quantity\": 2", "\"quantity\": 1");
    let answered = shop.send("POST /v1/redemptions", &small);
    let body = json_of(&answered);
    assert_eq!((answered.status, &body["key"]), (400, &json!("order_rules_violated")));
    let id = body["resource_id"].as_str().unwrap();
    shop.assert_same(id, &answered);
    assert_eq!(shop.differences(id), [""; 0]);
}

#[test]
fn a_redemption_writes_one_row_more_and_none_where_inputs_are_not_kept() {
    let grown = |days: i64| {
        let shop = Shop::new(days);
        for code in ["A", "B"] {
            shop.voucher(code, 10);
        }
        let redeem = |code: &str| {
            let body = json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1000 } });
            shop.call("POST /v1/redemptions", &body);
        };
        // The first one schedules the retention sweep.
        redeem("A");
        let before = shop.rows_by_table();
        redeem("B");
        let after = shop.rows_by_table();
        let grown = before.into_iter().zip(after).map(|((name, before), (_, after))| (name, after - before));
        grown.filter(|(_, count)| *count != 0).collect::<Vec<_>>()
    };
    let (mut on, off) = (grown(30), grown(0));
    let row = ("redemption_input".to_owned(), 1);
    assert!(on.contains(&row) && !off.iter().any(|(name, _)| *name == row.0), "{on:?} {off:?}");
    on.retain(|(name, _)| *name != row.0);
    assert_eq!(on, off, "all other tables grow alike");
}

#[test]
fn an_input_that_is_too_large_is_not_kept() {
    let shop = Shop::new(30);
    shop.voucher("BIG", 10);
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{seed:016x}")
    };
    let metadata: Json =
        (0..300).map(|number| (format!("m{number}"), Json::from(random()))).collect::<serde_json::Map<_, _>>().into();
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "BIG" }], "order": { "amount": 1000, "metadata": metadata } });
    let id = id_of(&shop.send("POST /v1/redemptions", &body.to_string()));
    assert_eq!(shop.inputs(), 1);
    let size = shop.count("SELECT bytes FROM redemption_input");
    assert!(size > i64::try_from(ROW_BYTES_MAX).unwrap());
    assert_eq!(shop.count("SELECT LENGTH(body) FROM redemption_input"), 0);
    let expected = format!(
        "409 replay_not_kept: the redemption `{id}` is too large: its data needs `{size}` bytes, and at most 4096 are kept"
    );
    assert_eq!(shop.refused(&format!("POST /v1/redemptions/{id}/replay"), &json!({})), expected);
    let counted = || shop.edge.decided(&shop.project);
    assert_eq!(counted(), [("redemption", ""), ("redemption_input", "too_large")]);
    let logged = shop.edge.notes(&shop.project);
    assert!(logged.iter().any(|line| line.contains(&id) && line.contains("is not kept for a replay")), "{logged:?}");
    shop.voucher("SMALL", 10);
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "SMALL" }], "order": { "amount": 1000 } });
    shop.call("POST /v1/redemptions", &body);
    assert_eq!(counted(), [("redemption", ""), ("redemption_input", "")]);
}

#[test]
fn no_row_is_larger_than_its_bound() {
    let shop = Shop::new(30);
    shop.voucher("SIZE", 10);
    shop.call("PUT /v1/vouchers/SIZE", &json!({ "redemption": { "quantity": null } }));
    let mut seed = 7_u64;
    let mut text = String::new();
    let mut largest = 0;
    for _ in 0..100 {
        for _ in 0..4 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(&format!("{:016x}", seed ^ (seed >> 33)));
        }
        let body = json!({ "redeemables": [{ "object": "voucher", "id": "SIZE" }], "order": { "amount": 10, "metadata": { "text": text } } });
        shop.call("POST /v1/redemptions", &body);
        let of_row = "octet_length(body) + octet_length(redemption) + 8 * 4 + 16";
        largest = largest.max(shop.count(&format!("SELECT MAX({of_row}) FROM redemption_input")));
    }
    let bound = i64::try_from(ROW_BYTES_MAX).unwrap();
    assert!(largest <= bound && largest > bound - 200, "{largest}");
    assert!(shop.count("SELECT COUNT(*) FROM redemption_input WHERE body = ''") > 0);
}

#[test]
fn what_cannot_be_replayed_is_refused_by_name() {
    let shop = Shop::new(0);
    shop.voucher("ONE", 10);
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "ONE" }], "order": { "amount": 1000 } });
    let id = id_of(&shop.send("POST /v1/redemptions", &body.to_string()));
    let call = format!("POST /v1/redemptions/{id}/replay");
    assert_eq!(shop.inputs(), 0);
    assert_eq!(
        shop.refused(&call, &json!({})),
        "409 replay_not_kept: the project keeps no data of redemptions: `replay_days` is `0`"
    );
    assert_eq!(
        shop.refused("POST /v1/redemptions/r_none/replay", &json!({})),
        "404 not_found: Cannot find redemption with id r_none"
    );
    let rules = shop.refused(&call, &json!({ "rules": "tomorrow" }));
    assert_eq!(rules, "400 invalid_payload: Property .rules must be one of kept, today (actual value is `tomorrow`)");
    let project = format!("PUT /management/v1/projects/{}", shop.project);
    let bound = shop.refused(&project, &json!({ "replay_days": 367 }));
    assert_eq!(bound, "400 invalid_payload: Property .replay_days must be <= 366 (actual value is `367`)");
    shop.call(&project, &json!({ "replay_days": 1 }));
    shop.now.set(shop.now.get() + 61_000);
    let expected = format!("409 replay_not_kept: no data of the redemption `{id}` is kept");
    assert_eq!(shop.refused(&call, &json!({})), expected, "the setting begins with the next redemption");
    let rollback = shop.call(&format!("POST /v1/redemptions/{id}/rollback"), &Json::Null)["id"].clone();
    let rollback = rollback.as_str().unwrap();
    assert_eq!(
        shop.refused(&format!("POST /v1/redemptions/{rollback}/replay"), &json!({})),
        format!("409 replay_not_kept: `{rollback}` is a rollback; a replay needs a redemption")
    );
    let again = shop.send("POST /v1/redemptions", &body.to_string());
    let again_id = id_of(&again);
    shop.assert_same(&again_id, &again);
    shop.now.set(shop.now.get() + DAY);
    assert_eq!(
        shop.refused(&format!("POST /v1/redemptions/{again_id}/replay"), &json!({})),
        format!("409 replay_not_kept: the redemption `{again_id}` is older than `1` days (`replay_days`)")
    );
}

#[test]
fn an_erased_customer_is_in_no_input() {
    let shop = Shop::new(30);
    for code in ["A", "B", "C", "D", "E"] {
        shop.voucher(code, 10);
    }
    let redeem = |code: &str, customer: &Json| {
        let body = json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1000 }, "customer": customer });
        id_of(&shop.send("POST /v1/redemptions", &body.to_string()))
    };
    let (ann, bob) = (json!({ "source_id": "ann", "email": "ann@shop.example" }), json!({ "source_id": "bob" }));
    let (of_ann, of_bob) = (redeem("A", &ann), redeem("B", &bob));
    redeem("C", &json!({ "source_id": "ann" }));
    shop.send("POST /v1/vouchers/D/redemption?tracking_id=ann", &json!({ "order": { "amount": 1000 } }).to_string());
    assert_eq!(shop.inputs(), 4);
    let id = shop.call("GET /v1/customers/ann", &Json::Null)["id"].as_str().unwrap().to_owned();
    shop.call(&format!("POST /v1/customers/{id}/permanent-deletion"), &Json::Null);
    shop.sweep(shop.now.get() + 1_000);
    assert_eq!(shop.inputs(), 1, "only the other customer's is left");
    assert_eq!(shop.replay(&of_bob, "kept").status, 200);
    let expected = format!("409 replay_not_kept: no data of the redemption `{of_ann}` is kept");
    assert_eq!(shop.refused(&format!("POST /v1/redemptions/{of_ann}/replay"), &json!({})), expected);
    // A new customer is only in the request, here with other escapes than those of the service.
    let escaped = r#"{"redeemables":[{"object":"voucher","id":"E"}],"order":{"amount":1000},"customer":{"source_id":"\u007aoe","email":"zo\u0065@shop.example"}}"#;
    shop.send("POST /v1/redemptions", escaped);
    assert_eq!(shop.inputs(), 2);
    let id = shop.call("GET /v1/customers/zoe", &Json::Null)["id"].as_str().unwrap().to_owned();
    shop.call(&format!("POST /v1/customers/{id}/permanent-deletion"), &Json::Null);
    shop.sweep(shop.now.get() + 1_000);
    assert_eq!(shop.inputs(), 1);
}
