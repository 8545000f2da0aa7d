//! Tests a customer's summary against a recount of the lists: through failed and successful redemptions, rollbacks, and orders that are
//! paid, canceled, redeemed again, changed in amount or assigned to another customer.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};
use std::sync::atomic::{AtomicI64, Ordering};

/// Every call is one instant later than the previous one.
static NOW: AtomicI64 = AtomicI64::new(1_772_323_200_000);
const CUSTOMERS: usize = 4;
const STEPS: usize = 600;
const STATUSES: [&str; 4] = ["PAID", "FULFILLED", "CREATED", "CANCELED"];

/// The status, and the answer.
fn call(edge: &Edge, method: &str, target: &str, body: &Json) -> (u16, Json) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    let body = if method == "GET" { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
    let reply = edge.send(request, NOW.fetch_add(1, Ordering::Relaxed), None);
    assert!(reply.status < 500, "{method} {target}: {}", String::from_utf8_lossy(&reply.body));
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
}

/// Returns all elements of a list, page by page.
fn list_all(edge: &Edge, path: &str, name: &str) -> Vec<Json> {
    let mut found = Vec::new();
    for page in 1.. {
        let (_, answer) = call(edge, "GET", &format!("{path}?limit=100&page={page}"), &Json::Null);
        let items = answer[name].as_array().unwrap().clone();
        let is_last = items.len() < 100;
        found.extend(items);
        if is_last {
            return found;
        }
    }
    found
}

#[test]
fn a_summary_equals_a_recount() {
    let edge = Edge::new();
    call(&edge, "POST", "/v1/vouchers/OPEN", &json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } }));
    call(
        &edge,
        "POST",
        "/v1/vouchers/FEW",
        &json!({ "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": 20 } }),
    );
    call(
        &edge,
        "POST",
        "/v1/vouchers/GIFT",
        &json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 30000, "balance": 30000 } }),
    );
    let mut state: u64 = 7;
    let mut next = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % most
    };
    let (mut redeemed, mut ordered): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        let customer = json!({ "source_id": format!("c{}", next(CUSTOMERS)) });
        let order = json!({ "amount": 200 + 10 * i64::try_from(next(50)).unwrap() });
        match next(6) {
            0 if !redeemed.is_empty() => {
                let id = redeemed[next(redeemed.len())].clone();
                call(&edge, "POST", &format!("/v1/redemptions/{id}/rollback"), &json!({}));
            }
            1 => {
                let mut order = order;
                order["customer"] = customer;
                order["status"] = ["CREATED", "PAID"][next(2)].into();
                let (_, made) = call(&edge, "POST", "/v1/orders", &order);
                ordered.push(made["id"].as_str().unwrap().to_owned());
            }
            2 if !ordered.is_empty() => {
                let id = ordered[next(ordered.len())].clone();
                let change = match next(5) {
                    0 => json!({ "customer": customer }),
                    1 => json!({ "customer": null }),
                    2 => order,
                    _ => json!({ "status": STATUSES[next(STATUSES.len())] }),
                };
                call(&edge, "PUT", &format!("/v1/orders/{id}"), &change);
            }
            _ => {
                let code = ["OPEN", "FEW", "GIFT", "OPEN"][next(4)];
                // For an existing order of any customer, in any status, with or without a customer.
                let order = match ordered.get(next(2 * ordered.len() + 1)) {
                    Some(id) => json!({ "id": id }),
                    None => order,
                };
                let customer = if next(5) == 0 { Json::Null } else { customer };
                let sent = json!({ "customer": customer, "order": order, "redeemables": [{ "object": "voucher", "id": code }] });
                let (status, made) = call(&edge, "POST", "/v1/redemptions", &sent);
                if status == 200 {
                    ordered.extend(made["order"]["id"].as_str().map(str::to_owned));
                    redeemed.push(made["redemptions"][0]["id"].as_str().unwrap().to_owned());
                }
            }
        }
        if step % 60 == 59 {
            check(&edge);
        }
    }
    assert!(redeemed.len() > 60 && ordered.len() > 20);
}

fn check(edge: &Edge) {
    let redemptions = list_all(edge, "/v1/redemptions", "redemptions");
    let orders = list_all(edge, "/v1/orders", "orders");
    for number in 0..CUSTOMERS {
        let (status, customer) = call(edge, "GET", &format!("/v1/customers/c{number}"), &Json::Null);
        if status == 404 {
            continue;
        }
        let count = |object: &str, result: &str| {
            let theirs = redemptions.iter().filter(|one| one["customer_id"] == customer["id"]);
            theirs.filter(|one| one["object"] == object && one["result"] == result).count()
        };
        let (done, undone) = (count("redemption", "SUCCESS"), count("redemption_rollback", "SUCCESS"));
        let summary = &customer["summary"]["redemptions"];
        let wanted = [done - undone, done, count("redemption", "FAILURE"), undone, undone];
        let names =
            ["total_redeemed", "total_succeeded", "total_failed", "total_rolled_back", "total_rollback_succeeded"];
        assert_eq!(
            names.map(|name| summary[name].as_u64().unwrap()),
            wanted.map(|number| u64::try_from(number).unwrap()),
            "{names:?} of {customer}"
        );
        let paid = orders.iter().filter(|order| order["customer_id"] == customer["id"]);
        let paid: Vec<&Json> =
            paid.filter(|order| order["status"] == "PAID" || order["status"] == "FULFILLED").collect();
        let total: i64 = paid.iter().map(|order| order["total_amount"].as_i64().unwrap()).sum();
        let summary = &customer["summary"]["orders"];
        assert_eq!(
            (summary["total_count"].as_u64(), summary["total_amount"].as_i64()),
            (Some(paid.len() as u64), Some(total)),
            "orders of {customer}"
        );
        let average = if paid.is_empty() { 0 } else { (2 * total + paid.len() as i64) / (2 * paid.len() as i64) };
        assert_eq!(summary["average_amount"].as_i64(), Some(average), "orders of {customer}");
        // The list begins with the newest.
        let last =
            paid.first().map_or((Some(0), &Json::Null), |last| (last["total_amount"].as_i64(), &last["created_at"]));
        assert_eq!((summary["last_order_amount"].as_i64(), &summary["last_order_date"]), last, "orders of {customer}");
    }
}
