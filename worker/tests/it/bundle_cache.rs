//! Tests that the core of the stored head equals a newly built one after every kind of change, and that a 304 builds nothing.

mod changes;

use crate::bundle::{Bundle, claims_of};
use crate::statement_counter::Counting;
use changes::{Changes, Numbers};
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::service;
use scrip_worker::store::Store;
use scrip_worker::store::sql::Sql;
use serde_json::{Value as Json, json};
use std::cell::{Cell, RefCell};

const NOW: i64 = 1_772_323_200_000;

/// A project, its clock, and the settings of its clients.
struct Shop {
    sql: Counting,
    /// Instant of the last call, and the number of calls.
    at: Cell<i64>,
    settings: RefCell<Json>,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop { sql: Counting::new(), at: Cell::new(NOW), settings: RefCell::new(json!({})) };
        // The first request of a project creates its data.
        let mut store = Store::open(&shop.sql, NOW).unwrap();
        service::queue_metrics(&mut store, &shop.context()).unwrap();
        shop
    }

    fn context(&self) -> Context {
        self.at.set(self.at.get() + 1_000);
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&self.at.get().to_be_bytes());
        Context { now: Instant::from_millis(self.at.get()).unwrap(), seed, first_number: None }
    }

    fn serve(&self, method: &str, path: &str, headers: Vec<(String, String)>, body: &Json) -> Reply {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), headers, body, ..Request::default() };
        let context = self.context();
        service::serve(&request, &mut Store::new(&self.sql), &context).unwrap()
    }

    /// Calls a route with a server's key; then runs the work that is due.
    fn call(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let reply = self.serve(method, path, vec![crate::caller::server()], body);
        self.work();
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    fn work(&self) {
        for _ in 0..20 {
            let context = self.context();
            service::alarm(&mut Store::new(&self.sql), &context, 100).unwrap();
        }
    }

    /// Creates an object and returns its id.
    fn make(&self, path: &str, body: Json) -> String {
        let (status, answer) = self.call("POST", path, &body);
        assert_eq!(status, 200, "{path}: {answer}");
        answer["id"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the head as a client gets it.
    fn head(&self, known: Option<&str>) -> Reply {
        let known = known.map(|known| ("if-none-match".to_owned(), known.to_owned()));
        self.ask_as("client", "/client/v1/bundle", known.into_iter().collect())
    }

    fn ask_as(&self, class: &str, path: &str, mut headers: Vec<(String, String)>) -> Reply {
        let (name, text) = crate::caller::server();
        let mut caller: Json = serde_json::from_str(&text).unwrap();
        caller["class"] = class.into();
        for (name, value) in self.settings.borrow().as_object().unwrap() {
            caller["settings"][name] = value.clone();
        }
        headers.push((name, caller.to_string()));
        headers.push(("scrip-test-now".into(), self.at.get().to_string()));
        self.serve("GET", path, headers, &Json::Null)
    }

    /// Returns the bundle of the stored head.
    fn bundle(&self) -> Bundle {
        Bundle::of(&self.head(None).body, |path| {
            let part = self.ask_as("bundle", path, Vec::new());
            assert_eq!(part.status, 200, "{path}");
            part.body
        })
    }

    /// Returns the hash of the core and the root of the goods. Checks that the stored head and a new one have the same values, and that the
    /// new head has the higher revision.
    fn core(&self, what: &str) -> String {
        let kept = self.head(None);
        assert_eq!(kept.status, 200, "{what}: {}", String::from_utf8_lossy(&kept.body));
        let tag = tag_of(&kept);
        assert_eq!(self.head(Some(&tag)).status, 304, "{what}");
        self.sql.run("UPDATE bundle_head SET revision = 'another'", &[]).unwrap();
        self.sql.run("UPDATE goods_tree SET shown = 'another'", &[]).unwrap();
        let made = self.head(Some(&tag));
        assert_eq!(made.status, 200, "{what}");
        let [kept, made] = [kept, made].map(|head| claims_of(&head.body).unwrap());
        assert_eq!(kept["core"], made["core"], "{what}");
        assert_eq!(kept["left_out"], made["left_out"], "{what}");
        assert_eq!(kept["goods"], made["goods"], "{what}");
        assert!(made["rev"].as_i64() > kept["rev"].as_i64(), "{what}");
        assert_eq!(made["core"], self.bundle().claims["core"], "{what}");
        format!("{} {}", made["core"], made["goods"]["root"])
    }
}

fn tag_of(reply: &Reply) -> String {
    reply.headers.iter().find(|(name, _)| name == "etag").unwrap().1.clone()
}

fn campaign(name: &str, kind: &str) -> Json {
    json!({ "name": name, "type": kind, "campaign_type": "DISCOUNT_COUPONS",
            "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 }, "code_config": { "pattern": format!("{name}-####") } } })
}

/// Ids of the created objects of each kind, by the paths under which they are changed.
struct CreatedIds {
    open: String,
    promotion: String,
    tiers: [String; 2],
    rule: String,
    product: String,
}

fn fill(shop: &Shop) -> CreatedIds {
    let mut open = campaign("Open", "STANDALONE");
    open["voucher"]["code_config"]["pattern"] = "OPEN-CODE".into();
    open["visibility"] = "public".into();
    let open = shop.make("/v1/campaigns", open);
    shop.make("/v1/campaigns", campaign("Private", "AUTO_UPDATE"));
    let promotion = shop.make("/v1/campaigns", json!({ "name": "Tiers", "campaign_type": "PROMOTION" }));
    let tier = |name: &str| {
        let action = json!({ "discount": { "type": "PERCENT", "percent_off": 5 } });
        shop.make(&format!("/v1/promotions/{promotion}/tiers"), json!({ "name": name, "action": action }))
    };
    let tiers = [tier("one"), tier("two")];
    let rule = shop.make(
        "/v1/validation-rules",
        json!({ "name": "r", "rules": { "1": { "name": "order.amount", "conditions": { "$more_than": [100] } } } }),
    );
    let product = shop.make("/v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": 900 }));
    CreatedIds { open, promotion, tiers, rule, product }
}

#[test]
fn a_change_of_the_content_changes_the_core() {
    let shop = Shop::new();
    let CreatedIds { open, promotion, tiers: [first, second], rule, product } = fill(&shop);
    let mut core = shop.core("filled");
    let discount = json!({ "discount": { "type": "AMOUNT", "amount_off": 300 } });
    let changes = [
        ("PUT", "/v1/vouchers/OPEN-CODE".into(), discount),
        ("POST", "/v1/vouchers/OPEN-CODE/disable".into(), Json::Null),
        ("POST", "/v1/vouchers/OPEN-CODE/enable".into(), Json::Null),
        ("PUT", format!("/v1/campaigns/{open}"), json!({ "expiration_date": "2027-01-01T00:00:00Z" })),
        ("POST", format!("/v1/campaigns/{open}/disable"), Json::Null),
        ("POST", format!("/v1/campaigns/{open}/enable"), Json::Null),
        ("PUT", format!("/v1/promotions/tiers/{first}"), json!({ "name": "uno" })),
        ("POST", format!("/v1/promotions/tiers/{second}/disable"), Json::Null),
        ("POST", format!("/v1/promotions/{promotion}/stacks"), json!({ "name": "s", "tiers": { "ids": [first] } })),
        ("POST", "/v1/categories".into(), json!({ "name": "Sale", "hierarchy": 1 })),
        (
            "POST",
            "/v1/product-collections".into(),
            json!({ "type": "STATIC", "name": "c", "products": [{ "id": product, "object": "product" }] }),
        ),
        (
            "POST",
            "/v1/segments".into(),
            json!({ "name": "s", "type": "auto-update", "filter": { "junction": "and", "name": { "conditions": { "$is": ["Anna"] } } } }),
        ),
        (
            "POST",
            format!("/v1/validation-rules/{rule}/assignments"),
            json!({ "related_object_id": first, "related_object_type": "promotion_tier" }),
        ),
        (
            "PUT",
            format!("/v1/validation-rules/{rule}"),
            json!({ "name": "r", "rules": { "1": { "name": "order.amount", "conditions": { "$more_than": [200] } } } }),
        ),
        ("PUT", format!("/v1/products/{product}"), json!({ "price": 800 })),
        ("POST", format!("/v1/products/{product}/skus"), json!({ "sku": "Blue", "source_id": "blue", "price": 700 })),
        ("POST", "/v1/products/bulk/async".into(), json!([{ "source_id": "mug", "name": "Mug", "price": 500 }])),
        ("DELETE", format!("/v1/products/{product}"), Json::Null),
        ("DELETE", format!("/v1/campaigns/{promotion}"), Json::Null),
        ("DELETE", "/v1/vouchers/OPEN-CODE".into(), Json::Null),
        ("DELETE", format!("/v1/campaigns/{open}"), Json::Null),
    ];
    for (method, path, body) in changes {
        let what = format!("{method} {path} {body}");
        let (status, answer) = shop.call(method, &path, &body);
        assert!((200..300).contains(&status), "{what}: {status} {answer}");
        let changed = shop.core(&what);
        // No offer names them yet, and a campaign without a code is no offer.
        let is_unnamed = ["/v1/categories", "/v1/product-collections", "/v1/segments"].contains(&path.as_str())
            || (method, path.as_str()) == ("DELETE", format!("/v1/campaigns/{open}").as_str());
        assert_eq!(changed == core, is_unnamed, "{what}");
        core = changed;
    }
    for (name, value) in [("time_zone", json!("Europe/Berlin")), ("client", json!({ "customers": "proven" }))] {
        shop.settings.borrow_mut()[name] = value;
        let changed = shop.core(name);
        assert_ne!(changed, core, "{name}");
        core = changed;
    }
}

#[test]
fn what_an_offer_names_is_in_the_core() {
    let shop = Shop::new();
    let CreatedIds { open, promotion, product, .. } = fill(&shop);
    let filter = json!({ "junction": "and", "name": { "conditions": { "$is": ["Anna"] } } });
    let segment = shop.make("/v1/segments", json!({ "name": "s", "type": "auto-update", "filter": filter }));
    let goods = json!([{ "id": product, "object": "product" }]);
    let collection = shop.make("/v1/product-collections", json!({ "type": "STATIC", "name": "c", "products": goods }));
    let category = shop.make("/v1/categories", json!({ "name": "Sale", "hierarchy": 1 }));
    let lists = ["product_collections", "categories"];
    let ids = |core: &Json| {
        lists.map(|list| core[list].as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<Json>>())
    };
    assert_eq!(ids(&shop.bundle().json()), [const { Vec::<Json>::new() }; 2]);
    let rules = json!({ "1": { "name": "customer.segment", "conditions": { "$is": [segment] } } });
    let scope = json!({ "included": [{ "object": "products_collection", "id": collection }], "included_all": false });
    let rule = shop.make("/v1/validation-rules", json!({ "name": "r", "rules": rules, "applicable_to": scope }));
    let assigned = json!({ "related_object_id": promotion, "related_object_type": "campaign" });
    shop.make(&format!("/v1/validation-rules/{rule}/assignments"), assigned);
    let (status, answer) = shop.call("PUT", &format!("/v1/campaigns/{open}"), &json!({ "category_id": category }));
    assert_eq!(status, 200, "{answer}");
    let named: [Vec<Json>; 2] = [collection, category].map(|id| vec![id.into()]);
    let core = shop.bundle().json();
    assert_eq!(ids(&core), named);
    // A condition about the customer is a number, and its segment is not in the core.
    assert!(!core.to_string().contains(&segment), "{core}");
    assert_eq!(core["validation_rules"][0]["rules"]["1"], json!({ "name": "customer.condition", "property": "1" }));
    // A disabled campaign names nothing.
    shop.call("POST", &format!("/v1/campaigns/{promotion}/disable"), &Json::Null);
    assert_eq!(ids(&shop.bundle().json()), [vec![], named[1].clone()]);
}

#[test]
fn other_changes_and_time_keep_the_core() {
    let shop = Shop::new();
    fill(&shop);
    let core = shop.core("filled");
    let redemption =
        |code: &str| json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1000 } });
    let calls = [
        (
            "POST",
            "/v1/vouchers/ONE",
            json!({ "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": 9 } }),
        ),
        ("POST", "/v1/redemptions", redemption("ONE")),
        ("POST", "/v1/redemptions", redemption("OPEN-CODE")),
        ("POST", "/v1/customers", json!({ "source_id": "anna", "name": "Anna" })),
        ("POST", "/v1/orders", json!({ "amount": 100, "status": "PAID", "customer": { "source_id": "anna" } })),
    ];
    for (method, path, body) in calls {
        let tag = tag_of(&shop.head(None));
        let (status, answer) = shop.call(method, path, &body);
        assert_eq!(status, 200, "{path}: {answer}");
        assert_eq!(shop.head(Some(&tag)).status, 304, "{path}");
        assert_eq!(shop.core(path), core);
    }
    for days in [1, 400, 20_000] {
        let tag = tag_of(&shop.head(None));
        shop.at.set(shop.at.get() + days * 86_400_000);
        assert_eq!(shop.head(Some(&tag)).status, 200, "it is signed anew");
        assert_eq!(shop.core("later"), core);
    }
    // A tag that was weakened on its way, one of several, and any.
    let tag = tag_of(&shop.head(None));
    for known in [format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        assert_eq!(shop.head(Some(&known)).status, 304, "{known}");
    }
    assert_eq!(shop.head(Some("\"other\"")).status, 200);
}

#[test]
fn a_stored_head_costs_two_statements_and_a_part_one() {
    let shop = Shop::new();
    fill(&shop);
    let (tag, bundle) = (tag_of(&shop.head(None)), shop.bundle());
    for (known, status) in [(Some(tag.as_str()), 304), (None, 200)] {
        shop.sql.statements.take();
        assert_eq!(shop.head(known).status, status);
        let statements = shop.sql.statements.take();
        // Only a test has a time zone that is a document.
        let given = statements.iter().filter(|statement| statement.starts_with("SELECT id, key,")).count();
        assert_eq!(given, usize::from(cfg!(feature = "test-hooks")), "{statements:#?}");
        assert_eq!(statements.len() - given, 2, "{statements:#?}");
    }
    shop.sql.statements.take();
    let path = format!("/client/v1/bundle/proj_dev/{}", bundle.claims["core"].as_str().unwrap());
    assert_eq!(shop.ask_as("bundle", &path, Vec::new()).body, bundle.core);
    assert_eq!(shop.sql.statements.take().len(), 1);
}

/// Constant changes leave no more than a bounded number of former cores, and none for longer than 48 hours.
#[test]
fn former_cores_are_removed() {
    let shop = Shop::new();
    fill(&shop);
    let count = || {
        let rows =
            shop.sql.run("SELECT count(*), count(unnamed_since) FROM bundle_part WHERE is_goods = 0", &[]).unwrap();
        [0, 1].map(|column| scrip_worker::store::sql::int(&rows[0], column).unwrap())
    };
    for amount in 100..320 {
        let change = json!({ "discount": { "type": "AMOUNT", "amount_off": amount } });
        let (status, answer) = shop.call("PUT", "/v1/vouchers/OPEN-CODE", &change);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(shop.head(None).status, 200);
    }
    assert_eq!(count(), [201, 200]);
    shop.at.set(shop.at.get() + 46 * 3_600_000);
    shop.core("46 hours later");
    assert_eq!(count(), [201, 200]);
    shop.at.set(shop.at.get() + 3 * 3_600_000);
    shop.core("49 hours later");
    assert_eq!(count(), [1, 0]);
}

#[test]
fn after_random_changes_the_core_is_current() {
    let mut shown = 0;
    for beginning in 0..6 {
        let shop = Shop::new();
        fill(&shop);
        let mut changes = Changes { shop: &shop, numbers: Numbers(beginning) };
        let mut core = shop.core("filled");
        for _ in 0..120 {
            let tag = tag_of(&shop.head(None));
            let (what, status) = changes.make();
            assert!(status < 500, "{what}: {status}");
            let known = shop.head(Some(&tag)).status;
            let now = shop.core(&what);
            assert!(known == 200 || now == core, "{what}");
            shown += usize::from(now != core);
            core = now;
        }
    }
    assert!(shown > 100, "{shown} changes were seen");
}
