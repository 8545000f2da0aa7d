//! Tests the effect of one redemption on the next: discounted units of a campaign, and free units of a stored order, counted and returned
//! through the whole service in process.
#![cfg(feature = "test-hooks")]

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_366_400_000;

fn post(edge: &Edge, path: &str, body: &Json) -> Json {
    let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    let body = body.to_string().into_bytes();
    let request = Request { method: "POST".into(), path: path.into(), headers, body, ..Request::default() };
    let reply = edge.send(request, NOW, None);
    assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
    serde_json::from_slice(&reply.body).unwrap()
}

/// Returns a set of rules with one scope for all codes of a campaign.
fn setup(discount: Json, entry: Json) -> Json {
    let mut entry = entry;
    entry["object"] = "product".into();
    entry["id"] = "prod_a".into();
    entry["effect"] = "APPLY_TO_EVERY".into();
    json!({
        "complete": true,
        "campaigns": [{ "id": "camp_1", "name": "Spring" }],
        "vouchers": [{ "id": "v_A", "code": "A", "type": "DISCOUNT_VOUCHER", "campaign_id": "camp_1", "discount": discount }],
        "customers": [{ "id": "cust_ann", "source_id": "ann" }, { "id": "cust_bob", "source_id": "bob" }],
        "products": [{ "id": "prod_a", "name": "A", "price": 1000 }],
        "validation_rules": [{ "id": "val_1", "name": "one", "rules": {}, "applicable_to": { "included": [entry] } }],
        "validation_rules_assignments":
            [{ "id": "asgm_1", "rule_id": "val_1", "related_object_id": "camp_1", "related_object_type": "campaign" }],
    })
}

fn by_quantity() -> Json {
    json!({ "type": "AMOUNT", "amount_off": 100, "effect": "APPLY_TO_ITEMS_BY_QUANTITY" })
}

fn redemption_body(customer: &str, quantity: u64) -> Json {
    json!({
        "redeemables": [{ "object": "voucher", "id": "A" }],
        "customer": { "source_id": customer },
        "order": { "items": [{ "product_id": "prod_a", "quantity": quantity, "price": 1000 }] },
    })
}

/// Redeems; returns the discount and the id.
fn redeem(edge: &Edge, customer: &str, quantity: u64) -> (u64, String) {
    let answer = post(edge, "/v1/redemptions", &redemption_body(customer, quantity));
    let off = answer["order"]["items_discount_amount"].as_u64().unwrap_or(0);
    (off, answer["redemptions"][0]["id"].as_str().unwrap().to_owned())
}

#[test]
fn a_campaign_cap_is_used_and_restored() {
    let edge = Edge::new();
    post(&edge, "/test-hooks/given", &setup(by_quantity(), json!({ "product_campaign_quantity_limit": 5 })));
    assert_eq!(redeem(&edge, "ann", 2).0, 200);
    let (off, id) = redeem(&edge, "bob", 2);
    assert_eq!(off, 200);
    // One unit of five is left for all customers together.
    let validated = post(&edge, "/v1/validations", &redemption_body("bob", 3));
    assert_eq!(validated["order"]["items_discount_amount"], 100);
    post(&edge, &format!("/v1/redemptions/{id}/rollback"), &json!({}));
    assert_eq!(redeem(&edge, "ann", 9).0, 300);
    assert_eq!(redeem(&edge, "ann", 9).0, 0);
}

#[test]
fn a_customer_cap_is_counted_for_each_customer() {
    let edge = Edge::new();
    let limit = json!({ "product_customer_campaign_quantity_limit": 3 });
    post(&edge, "/test-hooks/given", &setup(by_quantity(), limit));
    assert_eq!(redeem(&edge, "ann", 2).0, 200);
    assert_eq!(redeem(&edge, "ann", 2).0, 100);
    assert_eq!(redeem(&edge, "bob", 4).0, 300);
    assert_eq!(redeem(&edge, "bob", 4).0, 0);
    // A customer who is new to the project is counted from the first redemption on.
    assert_eq!(redeem(&edge, "eve", 2).0, 200);
    assert_eq!(redeem(&edge, "eve", 2).0, 100);
}

#[test]
fn a_rollback_removes_free_units_of_a_stored_order() {
    let edge = Edge::new();
    let discount = json!({ "type": "UNIT", "unit_off": 2, "unit_type": "prod_a", "effect": "ADD_NEW_ITEMS" });
    post(&edge, "/test-hooks/given", &setup(discount, json!({})));
    let first = post(&edge, "/v1/redemptions", &redemption_body("ann", 1));
    let order = &first["order"];
    assert_eq!(
        (&order["amount"], &order["initial_amount"], &order["total_amount"]),
        (&json!(3000), &json!(1000), &json!(1000))
    );
    // The same order by its id: free units stay free, and two more follow.
    let again = json!({ "redeemables": [{ "object": "voucher", "id": "A" }], "order": { "id": order["id"] } });
    let second = post(&edge, "/v1/redemptions", &again);
    let item = &second["order"]["items"][0];
    assert_eq!(
        (&item["quantity"], &item["discount_quantity"], &item["initial_quantity"]),
        (&json!(5), &json!(4), &json!(1))
    );
    assert_eq!((&item["applied_discount_quantity"], &item["initial_amount"]), (&json!(2), &json!(1000)));
    assert_eq!((&second["order"]["initial_amount"], &second["order"]["total_amount"]), (&json!(1000), &json!(1000)));
    let id = second["redemptions"][0]["id"].as_str().unwrap();
    let rolled_back = post(&edge, &format!("/v1/redemptions/{id}/rollback"), &json!({}));
    let item = &rolled_back["order"]["items"][0];
    assert_eq!((&item["quantity"], &item["amount"]), (&json!(3), &json!(3000)), "{rolled_back}");
    assert_eq!(rolled_back["order"]["total_amount"], 1000);
}

#[test]
fn a_rollback_restores_replaced_items() {
    let edge = Edge::new();
    let discount = json!({ "type": "UNIT", "unit_off": 2, "unit_type": "prod_b", "effect": "REPLACE_ITEMS" });
    let mut rules = setup(discount, json!({ "quantity_limit": 1 }));
    rules["products"] = json!([{ "id": "prod_b", "name": "B", "price": 700 }]);
    post(&edge, "/test-hooks/given", &rules);
    let redeemed = post(&edge, "/v1/redemptions", &redemption_body("ann", 3));
    let order = &redeemed["order"];
    assert_eq!((&order["amount"], &order["total_amount"]), (&json!(3400), &json!(3000)));
    assert_eq!((&order["items"][0]["quantity"], &order["items"][1]["quantity"]), (&json!(2), &json!(2)));
    assert_eq!(order["items"][1]["discount_amount"], 400);
    let id = redeemed["redemptions"][0]["id"].as_str().unwrap();
    let order = &post(&edge, &format!("/v1/redemptions/{id}/rollback"), &json!({}))["order"];
    assert_eq!((&order["items"][0]["quantity"], &order["items"][0]["amount"]), (&json!(3), &json!(3000)), "{order}");
    assert_eq!(order["items"].as_array().map(Vec::len), Some(1), "{order}");
    assert_eq!((&order["amount"], &order["total_amount"]), (&json!(3000), &json!(3000)));
}
