//! Tests where the message of a rule is disclosed: with the offer that it refuses, because the service shows it for that offer, and nowhere
//! else. `reasons` is about private codes and changes none of it.

use super::{CLIENT, NOON, Shop, decide_context};
use crate::bundle::Bundle;
use serde_json::{Value as Json, json};

const OPEN_CLIENT: [(&str, &str); 3] = [
    ("x-client-application-id", "open-client"),
    ("x-client-token", "open-client-token"),
    ("origin", "http://localhost:1"),
];

/// Keys of a server and of a client.
type Keys = ([(&'static str, &'static str); 2], [(&'static str, &'static str); 3]);

/// Keys of a project whose setting `reasons` is off, and of one whose setting is on.
const PROJECTS: [Keys; 2] = [
    ([("x-app-id", "dev-app"), ("x-app-token", "dev-token")], CLIENT),
    ([("x-app-id", "open-app"), ("x-app-token", "open-token")], OPEN_CLIENT),
];

#[test]
fn a_message_is_disclosed_with_its_offer_alone() {
    for (server, client) in PROJECTS {
        let shop = Shop::new();
        let send = |call: &str, keys: &[(&str, &str)], body: &Json| {
            let reply = shop.send(NOON, call, keys, body);
            assert_eq!(reply.status, 200, "{call} {body}: {}", String::from_utf8_lossy(&reply.body));
            reply.body
        };
        let make = |call: &str, body: &Json| -> Json { serde_json::from_slice(&send(call, &server, body)).unwrap() };
        let rule = |message: &str| {
            let tests = json!({ "1": { "name": "order.amount", "conditions": { "$more_than": [5_000] } } });
            let rule = json!({ "name": message, "rules": tests, "error": { "message": message } });
            make("POST /v1/validation-rules", &rule)["id"].clone()
        };
        let discount = json!({ "discount": { "type": "AMOUNT", "amount_off": 1 } });
        let promotion = |name: &str, message: &str, visibility: &str| {
            let tier = json!({ "name": name, "action": discount, "visibility": visibility, "validation_rules": [rule(message)] });
            let body = json!({ "name": name, "campaign_type": "PROMOTION", "promotion": { "tiers": [tier] } });
            make("POST /v1/campaigns", &body)["promotion"]["tiers"][0]["id"].clone()
        };
        let seen = promotion("Seen", "Zqshown", "public");
        promotion("Hidden", "Zqhidden", "server");
        let get = |path: &str| send(&format!("GET {path}"), &client, &Json::Null);
        let bundle = Bundle::of(&get("/client/v1/bundle"), get);
        let core = bundle.json().to_string();
        assert_eq!([core.contains("Zqshown"), core.contains("Zqhidden")], [true, false], "{core}");
        let request =
            json!({ "redeemables": [{ "object": "promotion_tier", "id": seen }], "order": { "amount": 1_000 } });
        let reply = shop.send(NOON, "POST /client/v1/validations", &client, &request);
        let own = bundle.prepare().validate(request.to_string().as_bytes(), &decide_context(&reply));
        let [own, service] = [own.body, reply.body].map(|body| String::from_utf8(body).unwrap());
        assert_eq!(own, service);
        assert!(service.contains("Zqshown"), "{service}");
    }
}
