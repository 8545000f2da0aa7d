//! Tests that a client decides finally about metadata only where the service has no schema for it, because the service refuses metadata
//! that does not fit its schema.

use crate::bundle::Bundle;
use crate::shops::bundle_client::context;
use crate::shops::service_calls::{Answer, ServiceCalls};
use scrip::Context;
use scrip::bundle::PreparedRules;
use serde_json::{Value as Json, json};

/// Returns the path of a project's schemas.
fn schemas(project: &str) -> String {
    format!("/management/v1/projects/proj_{project}/metadata-schemas")
}

/// A project with one public code, and its clients.
struct Shop {
    calls: ServiceCalls,
}

impl Shop {
    fn new(project: &'static str) -> Shop {
        let mut shop = Shop { calls: ServiceCalls::new(project) };
        let voucher =
            json!({ "discount": { "type": "PERCENT", "percent_off": 10 }, "code_config": { "pattern": "TEN" } });
        shop.calls.make(
            "POST /v1/campaigns",
            &json!({ "name": "Ten", "type": "STANDALONE", "visibility": "public", "voucher": voucher }),
        );
        shop
    }

    /// Creates a schema that knows one optional key and forbids all others; returns its id.
    fn forbid(&mut self, object: &str) -> String {
        let properties = json!({ "secret_key": { "type": "boolean", "optional": true } });
        let schema = json!({ "related_object": object, "properties": properties, "allow_defined_only": true });
        let made = self.calls.make(&format!("POST {}", schemas(self.calls.project)), &schema);
        made["id"].as_str().unwrap().to_owned()
    }

    fn bundle(&mut self) -> Bundle {
        let head = self.calls.ask("GET /client/v1/bundle", &Json::Null);
        assert_eq!(head.status, 200, "{}", head.json);
        Bundle::of(&head.bytes, |path| self.calls.ask(&format!("GET {path}"), &Json::Null).bytes)
    }

    /// Returns what the verdict of a client lacks. A final one must have the bytes of the service.
    fn missing(&mut self, request: &Json) -> Vec<String> {
        let rules = self.bundle().prepare();
        let answer = self.calls.ask("POST /client/v1/validations", request);
        let (own, missing) = validate(&rules, request, &answer);
        if missing.is_empty() {
            assert_eq!(answer.status, 200, "final, and the service says {}: {request}", answer.json);
            assert_eq!(String::from_utf8_lossy(&own), String::from_utf8_lossy(&answer.bytes), "{request}");
        }
        missing
    }
}

fn validate(rules: &PreparedRules, request: &Json, answer: &Answer) -> (Vec<u8>, Vec<String>) {
    let now = scrip::time::Instant::from_millis(1_772_323_200_500).unwrap();
    let context = answer.header("scrip-context").map_or(Context { now, seed: [7; 32], first_number: None }, context);
    let own = rules.validate(request.to_string().as_bytes(), &context).body;
    let read: Json = serde_json::from_slice(&own).unwrap();
    let missing = read["missing"].as_array().into_iter().flatten();
    let missing = missing.map(|fact| fact.as_str().unwrap().to_owned()).collect();
    (own, missing)
}

/// Returns a cart with this metadata of its order, of its second item, and of the redemption.
fn cart(order: Json, item: Json, redemption: Json) -> Json {
    let items = json!([{ "price": 500 }, { "price": 700, "metadata": item }]);
    let redeemables = json!([{ "object": "voucher", "id": "TEN" }]);
    json!({ "redeemables": redeemables, "order": { "items": items, "metadata": order }, "metadata": redemption })
}

#[test]
fn metadata_with_a_schema_is_decided_by_the_service() {
    let mut shop = Shop::new("dev");
    let (some, none) = (json!({ "gift": "yes" }), json!({}));
    let carts = [
        cart(none.clone(), none.clone(), none.clone()),
        cart(some.clone(), none.clone(), none.clone()),
        cart(none.clone(), some.clone(), none.clone()),
        cart(none.clone(), none.clone(), some.clone()),
        cart(some.clone(), some.clone(), some),
    ];
    let each = |shop: &mut Shop| carts.clone().map(|cart| shop.missing(&cart).join(" "));
    assert_eq!(each(&mut shop), [""; 5]);
    // A schema for parts of metadata, and of objects that a cart of a client does not write.
    for other in ["place", "product", "sku", "voucher"] {
        shop.forbid(other);
    }
    assert_eq!(each(&mut shop), [""; 5]);
    let of_items = shop.forbid("order_item");
    let [items, order, redemption] =
        ["order_item", "order", "redemption"].map(|name| format!("metadata_schema/{name}"));
    assert_eq!(each(&mut shop), ["", "", &*items, "", &*items]);
    shop.forbid("order");
    let both = format!("{order} {items}");
    assert_eq!(each(&mut shop), ["", &*order, &*items, "", &*both]);
    let deleted = shop.calls.ask(&format!("DELETE {}/{of_items}", schemas("dev")), &Json::Null);
    assert_eq!(deleted.status, 204, "{}", deleted.json);
    assert_eq!(each(&mut shop), ["", &*order, "", "", &*order]);
    // It may require a key, so that absent metadata is refused too.
    shop.forbid("redemption");
    let both = format!("{order} {redemption}");
    assert_eq!(each(&mut shop), [&*redemption, &*both, &*redemption, &*redemption, &*both]);
}

#[test]
fn a_core_names_the_objects_and_nothing_of_their_schemas() {
    let mut shop = Shop::new("dev");
    assert_eq!(shop.bundle().json()["metadata_schemas"], json!([]));
    for object in ["order_item", "place", "order", "customer", "product"] {
        shop.forbid(object);
    }
    let bundle = shop.bundle();
    assert_eq!(bundle.json()["metadata_schemas"], json!(["customer", "order", "order_item"]));
    let text = String::from_utf8(bundle.core).unwrap();
    for word in ["secret_key", "place", "allow_defined_only"] {
        assert!(!text.contains(word), "{word}");
    }
}

/// The service stores the customer of a client, and checks its metadata before, only where the project trusts clients.
#[test]
fn metadata_of_a_customer_is_checked_where_clients_are_trusted() {
    let mut cart = cart(json!({}), json!({}), json!({}));
    cart["customer"] = json!({ "metadata": { "gift": "yes" } });
    let mut shop = Shop::new("dev");
    shop.forbid("customer");
    assert_eq!(shop.missing(&cart), [""; 0]);
    let mut open = Shop::new("open");
    assert_eq!(open.missing(&cart), [""; 0]);
    open.forbid("customer");
    assert_eq!(open.missing(&cart), ["metadata_schema/customer"]);
    let answer = open.calls.ask("POST /client/v1/validations", &cart);
    assert_eq!(answer.json["key"], "metadata_validation_failed", "{}", answer.json);
}

/// The service does not check the metadata of a qualification.
#[test]
fn a_qualification_stays_final() {
    let mut shop = Shop::new("dev");
    for object in ["order", "order_item", "redemption"] {
        shop.forbid(object);
    }
    let order = json!({ "amount": 1000, "metadata": { "gift": "yes" } });
    let request = json!({ "scenario": "ALL", "order": order });
    let answer = shop.calls.ask("POST /client/v1/qualifications", &request);
    assert_eq!(answer.status, 200, "{}", answer.json);
    let now = scrip::time::Instant::from_millis(1_772_323_200_500).unwrap();
    let own = shop
        .bundle()
        .prepare()
        .qualify(request.to_string().as_bytes(), &Context { now, seed: [7; 32], first_number: None });
    let own: Json = serde_json::from_slice(&own.body).unwrap();
    let missing = own["missing"].as_array().into_iter().flatten();
    assert!(!missing.clone().any(|fact| fact.as_str().unwrap().starts_with("metadata_schema/")), "{own}");
    assert_eq!(own["redeemables"]["total"], answer.json["redeemables"]["total"], "{own}\n{}", answer.json);
}
