//! Tests which calls make the job of the bundle due.

use super::{SECOND, Shop, tier};
use serde_json::{Value as Json, json};

/// Each write that a core contains makes the job due in its own transaction, and requests the alarm.
#[test]
fn what_a_bundle_shows_marks_it() {
    let shop = Shop::built();
    let marks = |call: &str, body: Json| -> Json {
        shop.pass(60 * SECOND);
        assert!(!shop.is_marked(), "{call}");
        shop.alarm.set(None);
        let answer = shop.make(call, body);
        assert!(shop.is_marked(), "{call} {answer}");
        assert!(shop.alarm.get().is_some_and(|at| at <= shop.at.get()), "{call} asks for no alarm");
        answer
    };
    let id = |answer: &Json| answer["id"].as_str().unwrap().to_owned();
    let promotion = id(&marks("POST /v1/campaigns", json!({ "name": "Tiers", "campaign_type": "PROMOTION" })));
    let first = id(&marks(&format!("POST /v1/promotions/{promotion}/tiers"), tier("one")));
    let second = id(&marks(&format!("POST /v1/promotions/{promotion}/tiers"), tier("two")));
    marks(&format!("PUT /v1/promotions/tiers/{first}"), json!({ "name": "uno" }));
    let stack = json!({ "name": "s", "tiers": { "ids": [first, second] } });
    marks(&format!("POST /v1/promotions/{promotion}/stacks"), stack);
    let rules = json!({ "1": { "name": "order.amount", "conditions": { "$more_than": [100] } } });
    let rule = id(&marks("POST /v1/validation-rules", json!({ "name": "r", "rules": rules })));
    let assigned = json!({ "related_object_id": first, "related_object_type": "promotion_tier" });
    marks(&format!("POST /v1/validation-rules/{rule}/assignments"), assigned);
    let product = id(&marks("POST /v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": 900 })));
    marks(&format!("POST /v1/products/{product}/skus"), json!({ "sku": "Blue", "source_id": "blue", "price": 700 }));
    marks(&format!("PUT /v1/products/{product}"), json!({ "price": 800 }));
    let goods = json!([{ "id": product, "object": "product" }]);
    marks("POST /v1/product-collections", json!({ "type": "STATIC", "name": "c", "products": goods }));
    let filter = json!({ "junction": "and", "name": { "conditions": { "$is": ["Anna"] } } });
    marks("POST /v1/segments", json!({ "name": "s", "type": "auto-update", "filter": filter }));
    marks("POST /v1/categories", json!({ "name": "Sale", "hierarchy": 1 }));
    let properties = json!({ "gift": { "type": "boolean", "optional": true } });
    let schema = json!({ "related_object": "order", "properties": properties });
    marks("POST /management/v1/projects/proj_dev/metadata-schemas", schema);
    let stacking = json!({ "redeemables_limit": 20 });
    let list = shop.serve("GET /management/v1/projects/proj_dev/stacking-rules", &Json::Null);
    let list: Json = serde_json::from_slice(&list.body).unwrap();
    let stacking_id = list["data"][0]["id"].as_str().unwrap_or_default();
    marks(&format!("PUT /management/v1/projects/proj_dev/stacking-rules/{stacking_id}"), stacking);
    marks("PUT /v1/vouchers/OPEN", json!({ "discount": { "type": "AMOUNT", "amount_off": 300 } }));
    marks("POST /v1/vouchers/OPEN/disable", Json::Null);
    marks("POST /management/v1/projects/proj_dev/bundle-keys/rotate", Json::Null);
    let keys = shop.serve("GET /management/v1/projects/proj_dev/bundle-keys", &Json::Null);
    let keys: Json = serde_json::from_slice(&keys.body).unwrap();
    let kid = keys["data"][0]["kid"].as_str().unwrap_or_default();
    marks(&format!("POST /management/v1/projects/proj_dev/bundle-keys/{kid}/retire"), Json::Null);
    marks("DELETE /v1/vouchers/OPEN", Json::Null);
    marks(&format!("DELETE /v1/products/{product}"), Json::Null);
    marks(&format!("DELETE /v1/campaigns/{promotion}"), Json::Null);
}
