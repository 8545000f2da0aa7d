//! Tests the calls for a head that reach the project's object: they answer the stored one and build nothing.

use super::{HOUR, SECOND, Shop};
use scrip_worker::http::request::Reply;
use scrip_worker::store::sql::Sql;
use serde_json::Value as Json;

fn ask_head(shop: &Shop) -> Reply {
    shop.serve("GET /client/v1/bundle", &Json::Null)
}

fn header_of<'r>(reply: &'r Reply, name: &str) -> Option<&'r str> {
    reply.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
}

fn count(shop: &Shop, table: &str) -> i64 {
    super::int(&shop.sql.run(&format!("SELECT count(*) FROM {table}"), &[]).unwrap()[0], 0).unwrap()
}

#[test]
fn the_first_call_is_refused_and_the_alarm_builds() {
    let shop = Shop::new();
    for _ in 0..3 {
        let refused = ask_head(&shop);
        assert_eq!((refused.status, header_of(&refused, "retry-after")), (503, Some("1")));
        let body: Json = serde_json::from_slice(&refused.body).unwrap();
        assert_eq!(body["key"], "bundle_not_ready");
        assert_eq!([count(&shop, "bundle_head"), count(&shop, "bundle_part")], [0; 2]);
    }
    shop.pass(0);
    let answered = ask_head(&shop);
    assert_eq!(answered.status, 200);
    assert_eq!(crate::bundle::claims_of(&answered.body).unwrap(), shop.head().unwrap());
}

#[test]
fn a_change_is_built_by_the_alarm_alone() {
    let shop = Shop::built();
    let before = ask_head(&shop);
    shop.make("POST /v1/products", serde_json::json!({ "name": "Shirt", "source_id": "shirt", "price": 900 }));
    let alarm = shop.alarm.get();
    shop.sql.statements.take();
    assert_eq!(ask_head(&shop).body, before.body);
    let statements = shop.sql.statements.take();
    let writes = ["INSERT", "UPDATE", "DELETE", "REPLACE"];
    assert!(!statements.iter().any(|sql| writes.iter().any(|word| sql.contains(word))), "{statements:#?}");
    assert_eq!(shop.alarm.get(), alarm);
    shop.pass(2 * SECOND);
    assert_ne!(ask_head(&shop).body, before.body);
}

/// A head that clients refuse is not answered: after its lifetime, and of an epoch before.
#[test]
fn a_head_that_clients_refuse_is_not_answered() {
    let shop = Shop::built();
    let signed = shop.head().unwrap()["iat"].as_i64().unwrap() * SECOND;
    shop.at.set(signed + 24 * HOUR - 1);
    assert_eq!(ask_head(&shop).status, 200);
    shop.at.set(signed + 24 * HOUR);
    assert_eq!(ask_head(&shop).status, 503);
    let shop = Shop::built();
    shop.run("UPDATE bundle_epoch SET epoch = epoch + 1", &[]);
    assert_eq!(ask_head(&shop).status, 503);
}
