//! Creates a project with the usual calls, and another customer in it: an order, codes, a card, a publication, a lock and a reward. Two
//! projects differ only in the names of these objects, so that a request with the names of one refers to nothing in the other.

use crate::bundle::{Bundle, claims_of};
use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};

pub const NOW: i64 = 1_772_366_400_000;

pub struct TestProject {
    edge: Edge,
    /// Names of the other customer's objects, by kind.
    pub names: Vec<(&'static str, String)>,
    /// Headers of the callers by kind.
    callers: Vec<(&'static str, Vec<(String, String)>)>,
}

fn pair(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The public part of the project: goods, a campaign of each kind, codes without a holder and the objects of their rules.
const SHOP: &[(&str, &str)] = &[
    ("/v1/products", r#"{ "source_id": "shirt", "name": "Shirt", "price": 1000 }"#),
    (
        "/v1/segments",
        r#"{ "name": "Gold", "type": "auto-update", "filter": { "junction": "and", "metadata.vip": { "conditions": { "$is": [true] } } } }"#,
    ),
    (
        "/v1/campaigns",
        r#"{ "name": "Private", "campaign_type": "DISCOUNT_COUPONS", "type": "AUTO_UPDATE", "voucher": { "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": 1 } } }"#,
    ),
    (
        "/v1/campaigns",
        r#"{ "name": "Gifts", "campaign_type": "GIFT_VOUCHERS", "type": "AUTO_UPDATE", "voucher": { "type": "GIFT_VOUCHER", "gift": { "amount": 5000 }, "redemption": { "quantity": null } } }"#,
    ),
    (
        "/v1/campaigns",
        r#"{ "name": "Club", "campaign_type": "LOYALTY_PROGRAM", "type": "AUTO_UPDATE", "voucher": { "type": "LOYALTY_CARD", "loyalty_card": { "points": 500 }, "redemption": { "quantity": null } } }"#,
    ),
    (
        "/v1/campaigns",
        r#"{ "name": "News", "campaign_type": "DISCOUNT_COUPONS", "type": "AUTO_UPDATE", "join_once": true, "voucher": { "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 50 }, "redemption": { "quantity": 1 } } }"#,
    ),
    (
        "/v1/campaigns",
        r#"{ "name": "Sale", "campaign_type": "PROMOTION", "promotion": { "tiers": [{ "name": "Ten off", "action": { "discount": { "type": "AMOUNT", "amount_off": 10 } } }] } }"#,
    ),
    (
        "/v1/vouchers/OPEN",
        r#"{ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": null } }"#,
    ),
    (
        "/v1/vouchers/GOLD",
        r#"{ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 900 }, "redemption": { "quantity": null } }"#,
    ),
    (
        "/v1/vouchers/SEGMENT",
        r#"{ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 800 }, "redemption": { "quantity": null } }"#,
    ),
    (
        "/v1/vouchers/BOUGHT",
        r#"{ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 700 }, "redemption": { "quantity": null } }"#,
    ),
    (
        "/v1/vouchers/LAST",
        r#"{ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 600 }, "redemption": { "quantity": 1 } }"#,
    ),
    ("/v1/customers", r#"{ "source_id": "me", "name": "Me" }"#),
];

/// The public codes that a client tries; the rule of each reads another part of the customer.
pub const CODES: &[&str] = &["OPEN", "GOLD", "SEGMENT", "BOUGHT", "LAST"];

impl TestProject {
    /// Creates a project in which the other customer has this name.
    pub fn new(name: &str, moved: bool) -> TestProject {
        let edge = Edge::new();
        let mut world = TestProject { edge, names: Vec::new(), callers: Vec::new() };
        let mut segment = String::new();
        for (path, body) in SHOP {
            let made = world.post(path, &serde_json::from_str(body).unwrap());
            if *path == "/v1/segments" {
                segment = made["id"].as_str().unwrap().to_owned();
            }
        }
        let vip = json!({ "1": { "name": "customer.metadata", "property": "vip", "conditions": { "$is": [true] } }, "logic": "1" });
        let gold = json!({ "1": { "name": "customer.segment", "conditions": { "$is": [segment] } }, "logic": "1" });
        let bought = json!({ "1": { "name": "customer.metadata", "property": "spent", "conditions": { "$more_than": [100] } }, "logic": "1" });
        for (code, rules) in [("GOLD", vip), ("SEGMENT", gold), ("BOUGHT", bought)] {
            let rule =
                world.post("/v1/validation-rules", &json!({ "name": code, "type": "expression", "rules": rules }));
            let path = format!("/v1/validation-rules/{}/assignments", rule["id"].as_str().unwrap());
            world.post(&path, &json!({ "voucher": code }));
        }
        world.tell_of_events();
        // The first code of a campaign starts the series of all later ones.
        for campaign in ["Private", "News"] {
            world.post(
                "/v1/publications",
                &json!({ "campaign": { "name": campaign }, "customer": { "source_id": "me" } }),
            );
        }
        world.admit();
        if moved {
            // All later objects get other ids than in the project that is not shifted.
            world.server("GET", "/v1/campaigns", "", &Json::Null);
        }
        world.settle(name);
        world
    }

    /// Declares events that a client may send.
    fn tell_of_events(&self) {
        let request = Request {
            method: "POST".into(),
            path: "/management/v1/projects/proj_dev/custom-event-schemas".into(),
            headers: pair(&[
                ("x-management-id", "dev-management"),
                ("x-management-token", "dev-management-token"),
                ("content-type", "application/json"),
            ]),
            body: json!({ "name": "looked", "schema": { "properties": {} } }).to_string().into_bytes(),
            ..Request::default()
        };
        assert_eq!(self.edge.send(request, NOW, None).status, 200);
    }

    /// Adds the callers: a client, the holder of a client token, and a client with a verified customer.
    fn admit(&mut self) {
        let page = pair(&[
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:3000"),
            ("content-type", "application/json"),
        ]);
        let form = Request {
            method: "POST".into(),
            path: "/v1/oauth/token".into(),
            headers: pair(&[
                ("x-app-id", "dev-app"),
                ("x-app-token", "dev-token"),
                ("content-type", "application/x-www-form-urlencoded"),
            ]),
            body: b"grant_type=client_credentials&scope=client_api".to_vec(),
            ..Request::default()
        };
        let token: Json = serde_json::from_slice(&self.edge.send(form, NOW, None).body).unwrap();
        let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
        let oauth = pair(&[
            ("authorization", &bearer),
            ("origin", "http://localhost:3000"),
            ("content-type", "application/json"),
        ]);
        let proof = self.post("/v1/customer-tokens", &json!({ "customer": { "source_id": "me" }, "ttl": 3600 }));
        let mut proven = page.clone();
        proven.push(("x-customer-token".into(), proof["token"].as_str().unwrap().into()));
        self.callers = vec![("page", page), ("token", oauth), ("proven", proven)];
        // A supplement needs a core.
        let head = Request { method: "GET".into(), path: "/client/v1/bundle".into(), ..Request::default() };
        assert_eq!(self.attempt("page", 0, head).status, 200);
    }

    /// Creates the other customer with all objects.
    fn settle(&mut self, name: &str) {
        let order = format!("order-{name}");
        let reward = self.post("/v1/rewards", &json!({ "name": name, "type": "COIN", "parameters": { "coin": { "exchange_ratio": 1, "points_ratio": 1 } } }));
        let reward_id = reward["id"].as_str().unwrap().to_owned();
        let assigned = self.post(&format!("/v1/rewards/{reward_id}/assignments"), &json!({ "campaign": "Club" }));
        let customer = json!({
            "source_id": name, "name": "Other Customer", "email": "other@customer.example", "phone": "+33123456789",
            "address": { "city": "Lyon", "country": "FR" }, "metadata": { "vip": true, "spent": 1000 }, "birthdate": "1990-01-01",
        });
        let customer = self.post("/v1/customers", &customer);
        let customer_id = customer["id"].as_str().unwrap().to_owned();
        let mut codes = Vec::new();
        for (campaign, what, label) in
            [("Private", "held", "code"), ("Gifts", "gift", "gift card"), ("Club", "card", "loyalty card")]
        {
            let code = format!("{what}-{name}");
            let voucher = self.post(&format!("/v1/campaigns/{campaign}/vouchers/{code}"), &json!({}));
            let published = json!({ "voucher": code, "customer": { "source_id": name }, "source_id": format!("{what}-pub-{name}") });
            let publication = self.post("/v1/publications", &published);
            codes.push((label, code, voucher, publication));
        }
        self.post("/v1/publications", &json!({ "campaign": { "name": "News" }, "customer": { "source_id": name } }));
        let stored = json!({
            "source_id": order, "status": "PAID", "customer": { "source_id": name },
            "items": [{ "source_id": "shirt", "related_object": "product", "quantity": 3, "price": 777 }], "metadata": { "gift_note": "secret" },
        });
        let stored = self.post("/v1/orders", &stored);
        let lock = json!({
            "redeemables": [{ "object": "voucher", "id": "LAST" }], "order": { "amount": 5000 },
            "session": { "type": "LOCK", "key": format!("lock-{name}"), "ttl": 1, "ttl_unit": "HOURS" },
        });
        let locked = self.post_as(name, "/client/v1/validations", &lock);
        assert_eq!(locked["valid"], true, "{locked}");
        let tracking = locked["tracking_id"].as_str().unwrap().to_owned();
        self.names = vec![
            ("customer's source_id", name.to_owned()),
            ("customer's id", customer_id),
            ("customer's tracking id", tracking),
            ("order's source_id", order),
            ("order's id", stored["id"].as_str().unwrap().to_owned()),
            ("session", format!("lock-{name}")),
            ("reward", reward_id),
            ("reward assignment", assigned["id"].as_str().unwrap().to_owned()),
        ];
        for (label, code, voucher, publication) in codes {
            self.names.push((label, code));
            self.names.push(("voucher's id", voucher["id"].as_str().unwrap().to_owned()));
            if label == "code" {
                self.names.push(("publication's source_id", publication["source_id"].as_str().unwrap().to_owned()));
                self.names.push(("publication", publication["id"].as_str().unwrap().to_owned()));
            }
        }
    }

    /// Returns the names of the callers.
    pub fn callers(&self) -> Vec<&'static str> {
        self.callers.iter().map(|(name, _)| *name).collect()
    }

    pub fn name(&self, what: &str) -> &str {
        &self.names.iter().find(|(label, _)| *label == what).unwrap().1
    }

    /// Makes an attempt in this project. Seals of tracking ids, which the database generates, are equal in all answers. The same number
    /// gives the same seed in both projects.
    pub fn attempt(&self, name: &str, number: usize, mut request: Request) -> Reply {
        let headers = &self.callers.iter().find(|(caller, _)| *caller == name).unwrap().1;
        request.headers.extend(headers.iter().cloned());
        // Each attempt has an address of its own, so that none has failed attempts before.
        let [.., two, three, four] = number.to_be_bytes();
        request.headers.push(("x-real-ip".into(), format!("10.{two}.{three}.{four}")));
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&number.to_be_bytes());
        let mut reply = self.edge.send(request, NOW + 1000, Some(seed));
        assert!(reply.status < 500, "{}", String::from_utf8_lossy(&reply.body));
        if reply.headers.iter().any(|(name, value)| name == "content-type" && value == "application/jose") {
            // Heads and supplements differ by their signature, so the core and the facts are compared.
            let part = |path: &str| Request { method: "GET".into(), path: path.into(), ..Request::default() };
            reply.body = match &claims_of(&reply.body).unwrap()["facts"] {
                Json::Null => {
                    let read = |path: &str| self.edge.send(part(path), NOW + 1000, None).body;
                    let mut core = Bundle::of(&reply.body, read).json();
                    // Each project has a salt of its own.
                    core["sealed_codes"]["salt"] = Json::Null;
                    core.to_string().into_bytes()
                }
                facts => facts.to_string().into_bytes(),
            };
            reply.headers.retain(|(name, _)| name != "etag");
        }
        reply.body = unsealed(&String::from_utf8(reply.body).unwrap()).into_bytes();
        // Each change draws another revision.
        reply.headers.retain(|(name, _)| name != "x-request-id" && name != "scrip-revision");
        reply
    }

    /// Returns all stored objects of the other customer as the server sees them. Redemptions may be attributed to a name and counted for
    /// it.
    pub fn belongings(&self) -> Vec<(String, Json)> {
        let get = |path: String| {
            let found = self.server("GET", &path, "", &Json::Null);
            (path, found)
        };
        let mut customer = get(format!("/v1/customers/{}", self.name("customer's id")));
        for counted in ["summary", "updated_at"] {
            customer.1.as_object_mut().unwrap().remove(counted);
        }
        let mut all = vec![customer, get(format!("/v1/orders/{}", self.name("order's id")))];
        for code in ["code", "gift card", "loyalty card"] {
            all.push(get(format!("/v1/vouchers/{}", self.name(code))));
        }
        all.push(get(format!("/v1/rewards/{}", self.name("reward"))));
        let mine = |key: &str| json!({ "redeemables": [{ "object": "voucher", "id": "LAST" }], "order": { "amount": 5000 }, "session": { "key": key } });
        for key in [self.name("session"), "no-such-lock"] {
            let valid = self.server("POST", "/v1/validations", "", &mine(key))["valid"].clone();
            all.push((format!("whether LAST is free under {key}"), valid));
        }
        all
    }

    /// Posts from a client with a verified customer.
    fn post_as(&self, name: &str, path: &str, body: &Json) -> Json {
        let proof = self.post("/v1/customer-tokens", &json!({ "customer": { "source_id": name }, "ttl": 3600 }));
        let mut headers = self.callers[0].1.clone();
        headers.push(("x-customer-token".into(), proof["token"].as_str().unwrap().into()));
        let body = body.to_string().into_bytes();
        let request = Request { method: "POST".into(), path: path.into(), headers, body, ..Request::default() };
        let reply = self.edge.send(request, NOW, None);
        assert!(reply.status < 300, "{path}: {}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap()
    }

    fn post(&self, path: &str, body: &Json) -> Json {
        self.server("POST", path, "", body)
    }

    fn server(&self, method: &str, path: &str, query: &str, body: &Json) -> Json {
        let headers =
            pair(&[("x-app-id", "dev-app"), ("x-app-token", "dev-token"), ("content-type", "application/json")]);
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let reply = self.edge.send(request, NOW, None);
        assert!(reply.status < 300, "{method} {path}: {}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap_or(Json::Null)
    }
}

/// Returns a text in which all seals are equal.
fn unsealed(text: &str) -> String {
    // Tracking ids, the addresses of images of the project `proj_dev`, and its drawn keys of bundles.
    ["track_", "cHJval9kZXY.", "\"kid\":\"", "\"x\":\""].into_iter().fold(text.to_owned(), |text, mark| {
        let mut parts = text.split(mark);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |whole, part| {
            let rest = part
                .trim_start_matches(|character: char| character.is_ascii_alphanumeric() || "_-".contains(character));
            format!("{whole}{mark}{rest}")
        })
    })
}
