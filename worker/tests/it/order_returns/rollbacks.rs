//! Tests that the rollback of all redemptions of an order, in any order, restores it: codes that add, claim or replace
//! units, percentages, and discounts that were sent with the lines. Returns in between refund what was paid.

use super::{ORDERS, call, create, id};
use crate::in_process::Edge;
use crate::shops::random::Random;
use serde_json::{Value as Json, json};

const CODES: [&str; 10] = ["NEW", "NEWB", "MISSING", "MISSINGB", "AB", "BC", "CA", "TENTH", "FIFTH", "LINES"];

fn open() -> Edge {
    let edge = Edge::new();
    let product = |name: &str, price: u64| {
        id(&create(&edge, "/v1/products", &json!({ "name": name, "source_id": name, "price": price })))
    };
    let [a, b, c] = [product("a", 1_000), product("b", 2_500), product("c", 333)];
    let coupon = |code: &str, discount: Json, scope: Option<&str>| {
        let rules: Vec<String> = scope
            .into_iter()
            .map(|product| {
                let included = json!([{ "object": "product", "id": product, "aggregated_quantity_limit": 2 }]);
                let rule = json!({ "name": code, "rules": {}, "applicable_to": { "included": included } });
                id(&create(&edge, "/v1/validation-rules", &rule))
            })
            .collect();
        let voucher = json!({
            "type": "DISCOUNT_VOUCHER", "discount": discount, "redemption": { "quantity": null }, "validation_rules": rules,
        });
        create(&edge, &format!("/v1/vouchers/{code}"), &voucher);
    };
    let unit = |product: &str, units: u64, effect: &str| json!({ "type": "UNIT", "unit_off": units, "unit_type": product, "effect": effect });
    coupon("NEW", unit(&a, 1, "ADD_NEW_ITEMS"), None);
    coupon("NEWB", unit(&b, 2, "ADD_NEW_ITEMS"), None);
    coupon("MISSING", unit(&a, 2, "ADD_MISSING_ITEMS"), None);
    coupon("MISSINGB", unit(&b, 1, "ADD_MISSING_ITEMS"), None);
    coupon("AB", unit(&b, 1, "REPLACE_ITEMS"), Some(&a));
    coupon("BC", unit(&c, 2, "REPLACE_ITEMS"), Some(&b));
    coupon("CA", unit(&a, 1, "REPLACE_ITEMS"), Some(&c));
    coupon("TENTH", json!({ "type": "PERCENT", "percent_off": 10, "effect": "APPLY_TO_ITEMS" }), None);
    coupon("FIFTH", json!({ "type": "PERCENT", "percent_off": 20, "effect": "APPLY_TO_ORDER" }), None);
    coupon("LINES", json!({ "type": "AMOUNT", "amount_off": 401, "effect": "APPLY_TO_ITEMS" }), None);
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

/// An order with redemptions.
struct RedeemedOrder {
    path: String,
    /// The order as it was sent.
    sent: Json,
    /// The redemptions that were not rolled back.
    redemptions: Vec<GrantedDiscount>,
    /// The redemptions and rollbacks so far, for a failed test.
    steps: Vec<String>,
}

struct GrantedDiscount {
    id: String,
    amount: i64,
}

impl RedeemedOrder {
    /// Stores a random order with one line of each product, some with a discount, and redeems codes for it.
    fn redeem(edge: &Edge, random: &mut Random, source_id: &str) -> RedeemedOrder {
        let item = |random: &mut Random, name: &str| {
            let quantity = 1 + random.below(4);
            let mut item = json!({ "source_id": name, "related_object": "product", "quantity": quantity });
            if random.below(2) == 0 {
                item["discount_amount"] = json!(1 + random.below(300));
            }
            item
        };
        let count = 1 + random.index(3);
        let names = random.some(&["a", "b", "c"], count);
        let items: Vec<Json> = names.iter().map(|name| item(random, name)).collect();
        let sent = create(edge, "/v1/orders", &json!({ "source_id": source_id, "items": items }));
        let steps = vec![costs(&sent).to_string()];
        let path = format!("/v1/orders/{source_id}");
        let mut redeemed = RedeemedOrder { path, sent, redemptions: Vec::new(), steps };
        for _ in 0..1 + random.below(4) {
            let count = 1 + random.index(2);
            let codes = random.some(&CODES, count);
            let redeemables: Vec<Json> = codes.iter().map(|code| json!({ "object": "voucher", "id": code })).collect();
            let body = json!({ "redeemables": redeemables, "order": { "source_id": source_id } });
            let (status, answer) = call(edge, "POST", "/v1/redemptions", &body);
            // A code may have no effect any more.
            assert!(status == 200 || status == 400, "{answer}");
            if status == 400 {
                continue;
            }
            redeemed.steps.push(format!("{codes:?} -> {}", costs(&answer["order"])));
            let parent = Some(&answer["parent_redemption"]).filter(|parent| !parent.is_null());
            let whole = parent.unwrap_or(&answer["redemptions"][0]);
            let amount = answer["order"]["total_applied_discount_amount"].as_i64().unwrap_or(0);
            redeemed.redemptions.push(GrantedDiscount { id: id(whole), amount });
        }
        redeemed
    }

    fn roll_back(&mut self, edge: &Edge, random: &mut Random, body: &Json) -> Json {
        let place = random.index(self.redemptions.len());
        let undone = self.redemptions.remove(place);
        let (status, answer) = call(edge, "POST", &format!("/v1/redemptions/{}/rollbacks", undone.id), body);
        assert_eq!(status, 200, "{answer}");
        let order = self.find(edge);
        self.steps.push(format!("back {place} -> {}", costs(&order)));
        order
    }

    fn find(&self, edge: &Edge) -> Json {
        call(edge, "GET", &self.path, &Json::Null).1
    }

    /// Checks that an order costs its amount less its discounts, and that these are no more than was sent and than the
    /// remaining redemptions grant.
    fn check(&self, order: &Json) {
        let number_of = |of: &Json, name: &str| of[name].as_i64().unwrap_or(0);
        let lines = || order["items"].as_array().into_iter().flatten();
        let story = || format!("{}\n{}", costs(order), self.steps.join("\n"));
        let discount = number_of(order, "total_discount_amount");
        assert_eq!(number_of(order, "total_amount"), (number_of(order, "amount") - discount).max(0), "{}", story());
        assert_eq!(
            lines().map(|line| number_of(line, "amount")).sum::<i64>(),
            number_of(order, "amount"),
            "{}",
            story()
        );
        let granted: i64 = self.redemptions.iter().map(|redemption| redemption.amount).sum();
        let sent = number_of(&self.sent, "total_discount_amount");
        assert!(discount <= sent + granted, "{discount} > {sent} + {granted}: {}", story());
        for line in lines() {
            let of_sent =
                |known: &Json| (known["product_id"] == line["product_id"]).then(|| number_of(known, "discount_amount"));
            let sent = self.sent["items"].as_array().unwrap().iter().find_map(of_sent).unwrap_or(0);
            assert!(number_of(line, "discount_amount") <= number_of(line, "amount").max(sent), "{}", story());
            assert!(number_of(line, "discount_quantity") <= number_of(line, "quantity"), "{}", story());
        }
    }
}

#[test]
fn rollbacks_in_any_order_restore_the_order() {
    let edge = open();
    let mut random = Random::new(11);
    for number in 0..2 * ORDERS {
        let mut redeemed = RedeemedOrder::redeem(&edge, &mut random, &format!("undone-{number}"));
        while !redeemed.redemptions.is_empty() {
            let order = redeemed.roll_back(&edge, &mut random, &json!({}));
            redeemed.check(&order);
        }
        let after = costs(&redeemed.find(&edge));
        assert_eq!(after, costs(&redeemed.sent), "order {number}\n{}", redeemed.steps.join("\n"));
    }
}

#[test]
fn returns_between_rollbacks_refund_what_was_paid() {
    let edge = open();
    let mut random = Random::new(12);
    let number_of = |of: &Json, name: &str| of[name].as_i64().unwrap_or(0);
    for number in 0..2 * ORDERS {
        let mut redeemed = RedeemedOrder::redeem(&edge, &mut random, &format!("returned-{number}"));
        if redeemed.redemptions.is_empty() {
            continue;
        }
        let mut order = redeemed.find(&edge);
        let mut paid = number_of(&order, "total_amount");
        let mut is_undone = false;
        loop {
            let story = || format!("order {number}: {}\n{}", costs(&order), redeemed.steps.join("\n"));
            let returns = order["returns"].as_array().into_iter().flatten();
            let refunded: i64 = returns.map(|one| number_of(one, "refund_amount")).sum();
            let kept = number_of(&order, "total_amount") - number_of(&order, "uncovered_amount");
            // Returned units took a share of the discount of units that replaced others: then its rollback makes the
            // rest cheaper.
            let is_right = if is_undone { refunded + kept <= paid } else { refunded + kept == paid };
            assert!(is_right, "{refunded} + {kept} of {paid}: {}", story());
            paid = refunded + kept;
            let units = |item: &&Json| number_of(item, "quantity") > number_of(item, "discount_quantity");
            let items: Vec<&Json> = order["items"].as_array().into_iter().flatten().filter(units).collect();
            if redeemed.redemptions.is_empty() && items.is_empty() {
                assert_eq!(kept, 0, "{}", story());
                break;
            }
            is_undone = !redeemed.redemptions.is_empty() && (items.is_empty() || random.below(2) == 0);
            if is_undone {
                order = redeemed.roll_back(&edge, &mut random, &json!({ "order": { "status": "PAID" } }));
                continue;
            }
            let item = random.pick(&items);
            let units = number_of(item, "quantity") - number_of(item, "discount_quantity");
            let back = 1 + random.below(units.unsigned_abs());
            let body = json!({ "items": [{ "id": item["id"], "quantity": back }] });
            let returned = create(&edge, &format!("{}/returns", redeemed.path), &body);
            redeemed.steps.push(format!("return {back} of {} -> {}", item["product_id"], costs(&returned["order"])));
            order = returned["order"].clone();
        }
    }
}
