//! Tests that the rollback of all redemptions of an order, in any order, restores it: codes that add or replace units, and
//! percentages.

use super::{ORDERS, call, id, make};
use crate::in_process::Edge;
use crate::shops::random::Random;
use serde_json::{Value as Json, json};

const CODES: [&str; 7] = ["NEW", "NEWB", "AB", "BC", "CA", "TENTH", "FIFTH"];

fn open() -> Edge {
    let edge = Edge::new();
    let product = |name: &str, price: u64| {
        id(&make(&edge, "/v1/products", &json!({ "name": name, "source_id": name, "price": price })))
    };
    let [a, b, c] = [product("a", 1_000), product("b", 2_500), product("c", 333)];
    let coupon = |code: &str, discount: Json, scope: Option<&str>| {
        let rules: Vec<String> = scope
            .into_iter()
            .map(|product| {
                let included = json!([{ "object": "product", "id": product, "aggregated_quantity_limit": 2 }]);
                let rule = json!({ "name": code, "rules": {}, "applicable_to": { "included": included } });
                id(&make(&edge, "/v1/validation-rules", &rule))
            })
            .collect();
        let voucher = json!({
            "type": "DISCOUNT_VOUCHER", "discount": discount, "redemption": { "quantity": null }, "validation_rules": rules,
        });
        make(&edge, &format!("/v1/vouchers/{code}"), &voucher);
    };
    let unit = |product: &str, units: u64, effect: &str| json!({ "type": "UNIT", "unit_off": units, "unit_type": product, "effect": effect });
    coupon("NEW", unit(&a, 1, "ADD_NEW_ITEMS"), None);
    coupon("NEWB", unit(&b, 2, "ADD_NEW_ITEMS"), None);
    coupon("AB", unit(&b, 1, "REPLACE_ITEMS"), Some(&a));
    coupon("BC", unit(&c, 2, "REPLACE_ITEMS"), Some(&b));
    coupon("CA", unit(&a, 1, "REPLACE_ITEMS"), Some(&c));
    coupon("TENTH", json!({ "type": "PERCENT", "percent_off": 10, "effect": "APPLY_TO_ITEMS" }), None);
    coupon("FIFTH", json!({ "type": "PERCENT", "percent_off": 20, "effect": "APPLY_TO_ORDER" }), None);
    edge
}

/// Returns what an order costs: its amounts, and the units and amounts of its lines.
fn costs(order: &Json) -> Json {
    let some = |of: &Json, names: &[&str]| -> Json {
        names.iter().filter(|name| !of[**name].is_null()).map(|name| ((*name).to_owned(), of[*name].clone())).collect()
    };
    let line = |item: &Json| {
        some(item, &["product_id", "quantity", "discount_quantity", "price", "amount", "discount_amount"])
    };
    let lines: Vec<Json> = order["items"].as_array().into_iter().flatten().map(line).collect();
    json!([some(order, &["amount", "discount_amount", "items_discount_amount", "total_amount"]), lines])
}

#[test]
fn rollbacks_in_any_order_restore_the_order() {
    let edge = open();
    let mut random = Random::new(11);
    for number in 0..ORDERS {
        let item = |random: &mut Random, name: &str| json!({ "source_id": name, "related_object": "product", "quantity": 1 + random.below(4) });
        let count = 1 + random.index(3);
        let names = random.some(&["a", "b", "c"], count);
        let items: Vec<Json> = names.iter().map(|name| item(&mut random, name)).collect();
        let source_id = format!("undone-{number}");
        let before = costs(&make(&edge, "/v1/orders", &json!({ "source_id": source_id, "items": items })));
        let (mut made, mut steps) = (Vec::new(), Vec::new());
        for _ in 0..1 + random.below(4) {
            let count = 1 + random.index(2);
            let codes = random.some(&CODES, count);
            let redeemables: Vec<Json> = codes.iter().map(|code| json!({ "object": "voucher", "id": code })).collect();
            let body = json!({ "redeemables": redeemables, "order": { "source_id": source_id } });
            let answer = make(&edge, "/v1/redemptions", &body);
            steps.push(format!("{codes:?} -> {}", costs(&answer["order"])));
            let whole = if codes.len() > 1 { &answer["parent_redemption"] } else { &answer["redemptions"][0] };
            made.push(id(whole));
        }
        while !made.is_empty() {
            let place = random.index(made.len());
            let (status, answer) =
                call(&edge, "POST", &format!("/v1/redemptions/{}/rollbacks", made.remove(place)), &json!({}));
            assert_eq!(status, 200, "{answer}");
            let order = call(&edge, "GET", &format!("/v1/orders/{source_id}"), &Json::Null).1;
            steps.push(format!("back {place} -> {}", costs(&order)));
        }
        let after = costs(&call(&edge, "GET", &format!("/v1/orders/{source_id}"), &Json::Null).1);
        assert_eq!(after, before, "order {number} of {items:?}\n{}", steps.join("\n"));
    }
}
