//! Tests how often a client can publish and send events: its key is public, and without a limit it could create gift cards in a loop.

use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};

const MORNING: &str = "2026-03-01T10:00:00Z";

struct Shop {
    edge: Edge,
    now_ms: i64,
}

impl Shop {
    /// Opens a project with two gift card campaigns.
    fn open() -> Shop {
        let shop = Shop { edge: Edge::new(), now_ms: scrip_worker::timestamp::parse(MORNING).unwrap() };
        for name in ["Cards", "More cards"] {
            let gift = json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 5000, "effect": "APPLY_TO_ORDER" } });
            let campaign = json!({ "name": name, "campaign_type": "GIFT_VOUCHERS", "voucher": gift });
            let keys = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
            assert_eq!(shop.post("/v1/campaigns", &keys, &campaign).status, 200);
        }
        shop
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Json) -> Reply {
        let headers = headers.iter().chain(&[("content-type", "application/json")]);
        let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = body.to_string().into_bytes();
        let request = Request { method: "POST".into(), path: path.into(), headers, body, ..Request::default() };
        self.edge.send(request, self.now_ms, None)
    }

    /// Publishes a card from a client to an unknown customer.
    fn publish(&self, campaign: &str, address: &str, receiver: &str) -> Reply {
        let mut headers = vec![
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:3000"),
        ];
        if !address.is_empty() {
            headers.push(("x-real-ip", address));
        }
        self.post(
            "/client/v1/publish",
            &headers,
            &json!({ "campaign": { "name": campaign }, "customer": { "source_id": receiver } }),
        )
    }
}

fn retry_after(reply: &Reply) -> &str {
    reply.headers.iter().find(|(name, _)| name == "retry-after").map_or("", |(_, value)| value)
}

#[test]
fn publications_without_an_address_are_limited_by_the_minute() {
    let mut shop = Shop::open();
    let replies: Vec<Reply> = (0..500).map(|number| shop.publish("Cards", "", &format!("customer {number}"))).collect();
    let published = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(published, 120, "gift cards to 500 made-up customers in a minute");
    let refused = replies.last().unwrap();
    let body: Json = serde_json::from_slice(&refused.body).unwrap();
    assert_eq!((refused.status, &body["key"]), (429, &json!("too_many_publications")));
    assert_eq!(body["details"], "more has been published from pages than is handed out; try again later");
    assert_eq!(retry_after(refused), "60");
    let before = shop.edge.rows("proj_dev");
    assert_eq!(shop.publish("Cards", "", "new customer").status, 429);
    assert_eq!(shop.edge.rows("proj_dev"), before, "a refused publication writes nothing");
    assert_eq!(shop.publish("Cards", "192.0.2.7", "known").status, 200, "an address has a count of its own");
    shop.now_ms += 60_000;
    assert_eq!(shop.publish("Cards", "", "new customer").status, 200, "the next minute has another share");
}

#[test]
fn a_name_without_an_address_gets_one_code_of_a_campaign_a_day() {
    let mut shop = Shop::open();
    assert_eq!(shop.publish("Cards", "", "anna").status, 200);
    let refused = shop.publish("Cards", "", "anna");
    let body: Json = serde_json::from_slice(&refused.body).unwrap();
    assert_eq!((refused.status, &body["key"]), (429, &json!("too_many_publications")));
    let details =
        "at most 1 of a campaign can be published from here on one day; the next from 2026-03-02T00:00:00.000Z";
    assert_eq!(body["details"], details);
    assert_eq!(retry_after(&refused), "50400");
    assert_eq!(shop.publish("Cards", "", "bert").status, 200, "another name");
    assert_eq!(shop.publish("More cards", "", "anna").status, 200, "another campaign has a count of its own");
    shop.now_ms += 14 * 3_600_000;
    assert_eq!(shop.publish("Cards", "", "anna").status, 200, "and so has another day");
}

#[test]
fn an_address_gets_one_code_of_a_campaign_a_day() {
    let mut shop = Shop::open();
    let status = |shop: &Shop, campaign: &str, address: &str| shop.publish(campaign, address, address).status;
    assert_eq!(status(&shop, "Cards", "192.0.2.7"), 200);
    assert_eq!(status(&shop, "Cards", "192.0.2.7"), 429, "once more");
    assert_eq!(status(&shop, "Cards", "::ffff:192.0.2.7"), 429, "the same address in other words");
    assert_eq!(status(&shop, "More cards", "192.0.2.7"), 200);
    assert_eq!(status(&shop, "Cards", "192.0.2.8"), 200);
    assert_eq!(status(&shop, "Cards", "2001:db8::1"), 200);
    assert_eq!(status(&shop, "Cards", "2001:db8::2"), 429, "an address of the same connection");
    assert_eq!(status(&shop, "Cards", "2001:db8:0:1::1"), 200);
    shop.now_ms += 14 * 3_600_000;
    assert_eq!(status(&shop, "Cards", "192.0.2.7"), 200, "the next day");
}

#[test]
fn a_publication_that_fails_is_not_counted() {
    let shop = Shop::open();
    let campaign = json!({ "name": "Two", "type": "STATIC", "vouchers_count": 0, "voucher": { "discount": { "type": "AMOUNT", "amount_off": 1 } } });
    let keys = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    assert_eq!(shop.post("/v1/campaigns", &keys, &campaign).status, 200);
    assert_eq!(shop.publish("Two", "192.0.2.7", "anna").status, 400, "there is no code");
    let more = json!({ "code_config": { "pattern": "ONE" } });
    assert_eq!(shop.post("/v1/campaigns/Two/vouchers/ONE", &keys, &more).status, 200);
    assert_eq!(shop.publish("Two", "192.0.2.7", "anna").status, 200);
    assert_eq!(shop.publish("Two", "192.0.2.7", "anna").status, 429);
}

#[test]
fn client_events_have_a_quota() {
    let mut shop = Shop::open();
    let management = [("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")];
    let schema = json!({ "name": "looked", "schema": { "properties": {} } });
    let path = "/management/v1/projects/proj_dev/custom-event-schemas";
    assert_eq!(shop.post(path, &management, &schema).status, 200);
    let server = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    let proof = json!({ "customer": { "source_id": "anna" }, "ttl": 3600 });
    let proof: Json = serde_json::from_slice(&shop.post("/v1/customer-tokens", &server, &proof).body).unwrap();
    let page = [
        ("x-client-application-id", "dev-client"),
        ("x-client-token", "dev-client-token"),
        ("origin", "http://localhost:3000"),
    ];
    let proven = [page.as_slice(), &[("x-customer-token", proof["token"].as_str().unwrap())]].concat();
    let event = json!({ "event": "looked", "customer": { "source_id": "anna" } });
    let send_event = |shop: &Shop| shop.post("/client/v1/events", &page, &event);
    let wrong = json!({ "event": "unknown", "customer": { "source_id": "anna" } });
    assert_eq!(shop.post("/client/v1/events", &page, &wrong).status, 400, "what is refused takes nothing");
    let accepted = (0..601).filter(|_| send_event(&shop).status == 200).count();
    assert_eq!(accepted, 600, "events of one minute");
    let before = shop.edge.rows("proj_dev");
    let refused = send_event(&shop);
    let body: Json = serde_json::from_slice(&refused.body).unwrap();
    assert_eq!((refused.status, &body["key"]), (429, &json!("too_many_events")));
    assert_eq!(retry_after(&refused), "60");
    assert_eq!(shop.edge.rows("proj_dev"), before, "a refused event writes nothing");
    assert_eq!(shop.post("/client/v1/events", &proven, &event).status, 200, "a proven customer has another share");
    assert_eq!(shop.post("/v1/events", &server, &event).status, 200, "a server has none");
    shop.now_ms += 60_000;
    assert_eq!(send_event(&shop).status, 200, "and so has the next minute");
}

#[test]
fn client_customers_have_a_quota() {
    let mut shop = Shop::open();
    let page = [
        ("x-client-application-id", "dev-client"),
        ("x-client-token", "dev-client-token"),
        ("origin", "http://localhost:3000"),
    ];
    let make = |shop: &Shop, name: String| shop.post("/client/v1/customers", &page, &json!({ "source_id": name }));
    assert_eq!(make(&shop, String::new()).status, 400, "what is refused takes nothing");
    assert_eq!((0..121).filter(|at| make(&shop, format!("guest-{at}")).status == 200).count(), 120);
    for name in ["guest-0", "guest-new"] {
        let before = shop.edge.rows("proj_dev");
        let refused = make(&shop, name.to_owned());
        let body: Json = serde_json::from_slice(&refused.body).unwrap();
        assert_eq!((refused.status, &body["key"]), (429, &json!("too_many_customers")), "{name}");
        assert_eq!(retry_after(&refused), "60");
        assert_eq!(shop.edge.rows("proj_dev"), before, "one too many writes nothing");
    }
    shop.now_ms += 60_000;
    assert_eq!(make(&shop, "guest-0".to_owned()).status, 200, "the next minute has another share");
}
