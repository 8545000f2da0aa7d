//! Tests the bounds of the codes of a bundle: which of them take a place, and that `left_out` names `codes` beyond.

use super::{NOON, Shop, boxes, typing};
use scrip_worker::timestamp;
use serde_json::json;

const DAY: i64 = 86_400_000;

/// Returns a project whose tables are there.
fn open() -> Shop {
    let shop = Shop::new("proj_dev");
    shop.read_bundle(NOON);
    shop
}

/// Stores codes without a campaign that are newer than all others, with further members as arguments of `json_object`.
fn fill(shop: &Shop, first: i64, count: i64, members: &str) {
    let last = first + count - 1;
    let statement = format!(
        "WITH RECURSIVE n(v) AS (SELECT {first} UNION ALL SELECT v + 1 FROM n WHERE v < {last})
         INSERT INTO document (kind, id, key, created_at, body)
         SELECT 'voucher', 'v_' || v, 'CODE-' || v, {NOON}, json_object('id', 'v_' || v, 'code', 'CODE-' || v, 'type', 'DISCOUNT_VOUCHER',
           'discount', json('{{\"type\":\"AMOUNT\",\"amount_off\":1}}'), 'object', 'voucher', {members}) FROM n"
    );
    shop.edge.run("proj_dev", &statement, &[]);
}

/// Stores standalone campaigns that are newer than all others and ended before noon, with a code each.
fn fill_campaigns(shop: &Shop, first: i64, count: i64, ended_days: i64) {
    let (last, end) = (first + count - 1, timestamp::text(NOON - ended_days * DAY));
    let numbers = format!("WITH RECURSIVE n(v) AS (SELECT {first} UNION ALL SELECT v + 1 FROM n WHERE v < {last})");
    let campaigns = format!(
        "{numbers} INSERT INTO document (kind, id, key, created_at, body)
         SELECT 'campaign', 'camp_' || v, 'Campaign ' || v, {NOON}, json_object('id', 'camp_' || v, 'name', 'Campaign ' || v, 'type', 'STANDALONE',
           'campaign_type', 'DISCOUNT_COUPONS', 'expiration_date', '{end}', 'object', 'campaign') FROM n"
    );
    let vouchers = format!(
        "{numbers} INSERT INTO document (kind, id, key, parent, created_at, body)
         SELECT 'voucher', 'cv_' || v, 'OF-' || v, 'camp_' || v, {NOON}, json_object('id', 'cv_' || v, 'code', 'OF-' || v, 'campaign_id', 'camp_' || v,
           'type', 'DISCOUNT_VOUCHER', 'discount', json('{{\"type\":\"AMOUNT\",\"amount_off\":1}}'), 'object', 'voucher') FROM n"
    );
    shop.edge.run("proj_dev", &campaigns, &[]);
    shop.edge.run("proj_dev", &vouchers, &[]);
}

/// Gives each code a key at once, because the derivation of a thousand takes minutes.
fn invent_keys(shop: &Shop) {
    shop.read_bundle(NOON);
    let statement = "UPDATE box_key SET derived = (SELECT lower(hex(randomblob(32)))) WHERE derived IS NULL";
    shop.edge.run("proj_dev", statement, &[]);
}

fn count_codes(shop: &Shop) -> i64 {
    shop.read_bundle(NOON);
    shop.edge.count("proj_dev", "SELECT count(*) FROM box_key")
}

#[test]
fn disabled_and_long_ended_codes_take_the_place_of_none() {
    let shop = open();
    let discount = json!({ "type": "AMOUNT", "amount_off": 100 });
    shop.make("POST /v1/vouchers/OLD", &json!({ "discount": discount, "visibility": "sealed" }));
    fill(&shop, 1, 2_501, "'visibility', 'sealed', 'active', json('false')");
    fill(&shop, 2_502, 2_501, "'visibility', 'public', 'expiration_date', '2025-11-01T00:00:00.000Z'");
    let bundle = shop.bundle(NOON);
    assert_eq!((&bundle.claims["left_out"], boxes(&bundle).as_object().unwrap().len()), (&json!([]), 1));
    let (own, _) = shop.decide(&bundle, NOON, &typing("OLD"));
    assert_eq!((own["missing"].is_null(), &own["valid"]), (true, &json!(true)), "{own}");
}

#[test]
fn codes_beyond_the_newest_that_are_set_to_be_known_are_named_as_left_out() {
    let shop = open();
    let later = "'visibility', 'public', 'start_date', '2026-04-01T00:00:00.000Z'";
    fill(&shop, 1, 5_000, later);
    assert_eq!(shop.left_out(NOON), json!([]));
    shop.make(
        "POST /v1/vouchers/OLD",
        &json!({ "discount": { "type": "AMOUNT", "amount_off": 100 }, "visibility": "public" }),
    );
    assert_eq!(shop.left_out(NOON), json!(["codes"]));
    let (own, service) = shop.decide(&shop.bundle(NOON), NOON, &typing("OLD"));
    assert_eq!((&own["missing"], &service["valid"]), (&json!(["voucher/OLD"]), &json!(true)));
}

#[test]
fn ended_codes_beyond_the_newest_are_named_as_left_out() {
    let shop = open();
    let ended = "'visibility', 'sealed', 'expiration_date', '2026-02-20T00:00:00.000Z'";
    fill(&shop, 1, 1_000, ended);
    assert_eq!(count_codes(&shop), 1_000);
    invent_keys(&shop);
    assert_eq!(shop.left_out(NOON), json!([]));
    fill(&shop, 1_001, 1, ended);
    assert_eq!(count_codes(&shop), 1_000);
    invent_keys(&shop);
    assert_eq!(shop.left_out(NOON), json!(["codes"]));
}

#[test]
fn ended_campaigns_beyond_the_newest_are_named_as_left_out() {
    let shop = open();
    fill_campaigns(&shop, 1, 1_000, 1);
    assert_eq!(count_codes(&shop), 1_000);
    invent_keys(&shop);
    assert_eq!(shop.left_out(NOON), json!([]));
    fill_campaigns(&shop, 1_001, 1, 1);
    assert_eq!(count_codes(&shop), 1_000);
    invent_keys(&shop);
    assert_eq!(shop.left_out(NOON), json!(["codes"]));
}

/// Campaigns that ended long ago are not read, except where their codes may have later ends of their own.
#[test]
fn long_ended_campaigns_take_the_place_of_none() {
    let shop = open();
    shop.code("OVER", &json!({ "expiration_date": "2026-02-20T00:00:00Z" }));
    shop.code("OWNEND", &json!({ "expiration_date": "2025-11-01T00:00:00Z" }));
    fill_campaigns(&shop, 1, 1_100, 91);
    let mut bundle = shop.bundle(NOON);
    assert_eq!((&bundle.claims["left_out"], boxes(&bundle).as_object().unwrap().len()), (&json!([]), 1));
    let (own, _) = shop.decide(&bundle, NOON, &typing("OVER"));
    assert_eq!((own["missing"].is_null(), &own["valid"]), (true, &json!(false)), "{own}");
    for statement in [
        "UPDATE document SET body = json_set(body, '$.activity_duration_after_publishing', 'P90D')
         WHERE kind = 'campaign' AND json_extract(body, '$.name') = 'Of OWNEND'",
        "UPDATE document SET body = json_set(body, '$.expiration_date', '2026-04-01T00:00:00.000Z')
         WHERE kind = 'voucher' AND json_extract(body, '$.code') = 'OWNEND'",
    ] {
        shop.edge.run("proj_dev", statement, &[]);
    }
    bundle = shop.bundle(NOON);
    let (own, _) = shop.decide(&bundle, NOON, &typing("OWNEND"));
    assert_eq!((own["missing"].is_null(), &own["valid"]), (true, &json!(true)), "{own}");
}
