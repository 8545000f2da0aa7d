//! Tests returns and changes of orders with free units, with gift cards and other codes: no sequence refunds more than was paid.

use super::{ORDERS, call, create, id};
use crate::in_process::Edge;
use crate::shops::random::Random;
use serde_json::{Value as Json, json};

/// Orders with free units: on lines of their own, on lines with paid units, with other codes.
struct GiftShop(Edge);

const GIFTS: [&str; 6] = ["NEW", "MISSING", "HAD", "LINES", "AMOUNT", "CARD"];
const CREDITS: u64 = 100_000_000;

impl GiftShop {
    fn open() -> GiftShop {
        let edge = Edge::new();
        let product = |name: &str, price: u64| {
            id(&create(&edge, "/v1/products", &json!({ "name": name, "source_id": name, "price": price })))
        };
        let products = [product("a", 1_000), product("b", 333), product("c", 70)];
        let coupon = |code: &str, discount: Json| {
            create(
                &edge,
                &format!("/v1/vouchers/{code}"),
                &json!({ "type": "DISCOUNT_VOUCHER", "discount": discount }),
            );
        };
        let unit = |product: &str, units: u64, effect: &str| json!({ "type": "UNIT", "unit_off": units, "unit_type": product, "effect": effect });
        coupon("NEW", unit(&products[1], 1, "ADD_NEW_ITEMS"));
        coupon("MISSING", unit(&products[1], 3, "ADD_MISSING_ITEMS"));
        coupon("HAD", unit(&products[2], 2, "ADD_NEW_ITEMS"));
        coupon("LINES", json!({ "type": "PERCENT", "percent_off": 7, "effect": "APPLY_TO_ITEMS" }));
        coupon("AMOUNT", json!({ "type": "AMOUNT", "amount_off": 150 }));
        let gift = json!({ "amount": CREDITS, "effect": "APPLY_TO_ITEMS" });
        create(&edge, "/v1/vouchers/CARD", &json!({ "type": "GIFT_VOUCHER", "gift": gift }));
        GiftShop(edge)
    }

    fn buy(&self, random: &mut Random, number: u64) -> Json {
        let names = ["a", "b", "c", "a", "b"];
        let first = usize::try_from(random.below(3)).unwrap();
        let count = 1 + usize::try_from(random.below(3)).unwrap();
        let item =
            |name: &&str| json!({ "source_id": name, "related_object": "product", "quantity": 1 + random.below(4) });
        let items: Vec<Json> = names[first..].iter().take(count).map(item).collect();
        let mut redeemables: Vec<Json> = Vec::new();
        for code in GIFTS {
            if random.below(5) < 2 {
                let mut redeemable = json!({ "object": "voucher", "id": code });
                if code == "CARD" {
                    redeemable["gift"] = json!({ "credits": 1 + random.below(1_500) });
                }
                redeemables.push(redeemable);
            }
        }
        if redeemables.is_empty() {
            redeemables.push(json!({ "object": "voucher", "id": "NEW" }));
        }
        let body =
            json!({ "redeemables": redeemables, "order": { "source_id": format!("o{number}"), "items": items } });
        create(&self.0, "/v1/redemptions", &body)["order"].clone()
    }

    fn credits(&self) -> i64 {
        let card = call(&self.0, "GET", "/v1/vouchers/CARD", &Json::Null).1;
        card["gift"]["balance"].as_i64().unwrap()
    }

    /// Changes lines at random: fewer units, another order, lines of the same goods merged, a line split.
    fn lines(&self, random: &mut Random, order: &Json, grows: bool) -> Vec<Json> {
        let mut lines: Vec<Json> = Vec::new();
        let merges = random.below(2) == 0;
        for item in order["items"].as_array().unwrap() {
            let units = item["quantity"].as_u64().unwrap();
            let left = match random.below(6) {
                0 | 1 => random.below(units + 1),
                2 if grows => units + 1 + random.below(2),
                _ => units,
            };
            let same = lines.iter_mut().find(|line| merges && line["source_id"] == item["product"]["source_id"]);
            match same {
                _ if left == 0 => {}
                None if left > 1 && random.below(4) == 0 => {
                    let part = 1 + random.below(left - 1);
                    let line = |units: u64| json!({ "source_id": item["product"]["source_id"], "related_object": "product", "quantity": units });
                    lines.extend([line(part), line(left - part)]);
                }
                Some(line) => line["quantity"] = json!(line["quantity"].as_u64().unwrap() + left),
                None => lines.push(
                    json!({ "source_id": item["product"]["source_id"], "related_object": "product", "quantity": left }),
                ),
            }
        }
        if random.below(2) == 0 {
            lines.reverse();
        }
        lines
    }

    fn return_units(&self, random: &mut Random, order: &Json, policy: &str) -> Json {
        let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
        let items = order["items"].as_array().unwrap();
        let item = &items[usize::try_from(random.below(items.len() as u64)).unwrap()];
        let units = 1 + random.below(item["quantity"].as_u64().unwrap());
        let body = json!({ "items": [{ "id": item["id"], "quantity": units }], "policy": policy });
        let (status, answer) = call(&self.0, "POST", &format!("{path}/returns"), &body);
        assert!(status == 200 || status == 400, "{answer}");
        call(&self.0, "GET", &path, &Json::Null).1
    }

    fn change(&self, random: &mut Random, order: &Json) -> Json {
        let lines = self.lines(random, order, true);
        let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
        if lines.is_empty() {
            return self.return_units(random, order, "SHARE");
        }
        let (status, order) = call(&self.0, "PUT", &path, &json!({ "items": lines }));
        assert_eq!(status, 200, "{order}");
        order
    }

    /// Cancels an order, with items or without, and makes it paid again.
    fn cancel(&self, random: &mut Random, order: &Json) -> Json {
        let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
        for status in ["CANCELED", "PAID"] {
            let mut body = json!({ "status": status });
            if random.below(2) == 0 {
                body["items"] = json!(self.lines(random, &call(&self.0, "GET", &path, &Json::Null).1, false));
            }
            if body["items"].as_array().is_some_and(Vec::is_empty) {
                body.as_object_mut().unwrap().remove("items");
            }
            let (code, answer) = call(&self.0, "PUT", &path, &body);
            assert_eq!(code, 200, "{answer}");
        }
        call(&self.0, "GET", &path, &Json::Null).1
    }

    /// Sends another discount of the order.
    fn say_discount(&self, random: &mut Random, order: &Json) -> Json {
        let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
        let less = random.below(1 + order["discount_amount"].as_u64().unwrap_or(0));
        call(&self.0, "PUT", &path, &json!({ "discount_amount": less })).1
    }

    /// Rolls a redemption back; the order stays paid.
    fn roll_back(&self, order: &Json) -> Json {
        let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
        let standing = order["redemptions"].as_object().unwrap().iter().find(|(_, one)| one["rollback_id"].is_null());
        let Some((id, one)) = standing else { return order.clone() };
        let route = if one["stacked"].is_array() { "rollbacks" } else { "rollback" };
        create(&self.0, &format!("/v1/redemptions/{id}/{route}"), &json!({ "order": { "status": "PAID" } }));
        call(&self.0, "GET", &path, &Json::Null).1
    }

    fn redeem_again(&self, random: &mut Random, order: &Json) -> Json {
        let path = format!("/v1/orders/{}", order["source_id"].as_str().unwrap());
        let lines = self.lines(random, order, false);
        if lines.is_empty() {
            return order.clone();
        }
        let code = GIFTS[usize::try_from(random.below(6)).unwrap()];
        let order = json!({ "id": order["id"], "items": lines });
        let body = json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": order });
        let (status, answer) = call(&self.0, "POST", "/v1/redemptions", &body);
        assert!(status == 200 || status == 400, "{answer}");
        call(&self.0, "GET", &path, &Json::Null).1
    }
}

/// Checks that every line costs at least its discount.
fn assert_lines(before: &Json, order: &Json) {
    for item in order["items"].as_array().into_iter().flatten() {
        let number_of = |name: &str| item[name].as_i64().unwrap_or(0);
        assert!(number_of("quantity") > 0, "{before} then {order}");
        assert!(number_of("discount_amount") <= number_of("amount"), "{before} then {order}");
        assert!(number_of("discount_quantity") <= number_of("quantity"), "{before} then {order}");
    }
}

fn refunded(order: &Json) -> i64 {
    order["returns"].as_array().into_iter().flatten().map(|one| one["refund_amount"].as_i64().unwrap()).sum()
}

/// Returns the price of units that the order did not have before.
fn added(before: &Json, order: &Json) -> i64 {
    let units = |order: &Json, name: &str| -> i64 {
        let items = order["items"].as_array().into_iter().flatten().filter(|item| item["product"]["source_id"] == name);
        items.map(|item| item["quantity"].as_i64().unwrap()).sum()
    };
    let more = |(name, price): (&str, i64)| price * (units(order, name) - units(before, name)).max(0);
    [("a", 1_000), ("b", 333), ("c", 70)].into_iter().map(more).sum()
}

fn owed(order: &Json) -> i64 {
    let number_of = |name: &str| order[name].as_i64().unwrap_or(0);
    number_of("total_amount") - number_of("uncovered_amount")
}

#[test]
fn orders_with_free_units_refund_exactly_the_paid_amount() {
    let shop = GiftShop::open();
    let mut random = Random::new(13);
    for number in 0..ORDERS {
        let credits = shop.credits();
        let mut order = shop.buy(&mut random, number);
        let mut paid = order["total_amount"].as_i64().unwrap();
        for _ in 0..30 {
            if order["items"].as_array().is_none_or(Vec::is_empty) {
                break;
            }
            let before = order.clone();
            order = match random.below(2) {
                0 => shop.change(&mut random, &order),
                _ => shop.return_units(&mut random, &order, "SHARE"),
            };
            paid += added(&before, &order);
            assert_lines(&before, &order);
            assert_eq!(refunded(&order) + owed(&order), paid, "order {number}: {before} then {order}");
        }
        if order["items"].as_array().is_none_or(Vec::is_empty) {
            assert_eq!(shop.credits(), credits, "order {number}: {order}");
        }
    }
}

#[test]
fn orders_with_free_units_never_refund_more_than_was_paid() {
    let shop = GiftShop::open();
    let mut random = Random::new(17);
    for number in 0..ORDERS {
        let credits = shop.credits();
        let mut order = shop.buy(&mut random, number);
        let mut paid = order["total_amount"].as_i64().unwrap();
        for _ in 0..12 {
            if order["items"].as_array().is_none_or(Vec::is_empty) {
                break;
            }
            let before = order.clone();
            order = match random.below(10) {
                0 | 1 => shop.change(&mut random, &order),
                2 | 3 => shop.return_units(&mut random, &order, "SHARE"),
                4 => shop.redeem_again(&mut random, &order),
                5 => shop.cancel(&mut random, &order),
                6 => shop.say_discount(&mut random, &order),
                7 => shop.roll_back(&order),
                _ => shop.return_units(&mut random, &order, "RECHECK"),
            };
            paid += added(&before, &order);
            assert_lines(&before, &order);
            assert!(refunded(&order) + owed(&order) <= paid, "order {number}: {before} then {order}");
            paid = refunded(&order) + owed(&order);
        }
        assert!(shop.credits() <= credits, "order {number}: {order}");
        while order["redemptions"].as_object().unwrap().values().any(|one| one["rollback_id"].is_null()) {
            order = shop.roll_back(&order);
        }
        assert_eq!(shop.credits(), credits, "order {number}: {order}");
    }
}
