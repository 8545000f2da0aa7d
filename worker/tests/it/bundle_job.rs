//! Tests the job that builds the bundle: which writes make it due, when it builds, and the order of the copies in KV.

mod calls;
mod constant_writes;
mod copies;
mod kept_documents;
mod late_calls;
mod marks;
mod settings;
mod slices;

use crate::bundle::claims_of;
use crate::statement_counter::Counting;
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::domain::bundle::build_job::DEMAND_PATH;
use scrip_worker::domain::bundle::kv_copies::{CopyReport, CopyStep};
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::service;
use scrip_worker::store::Store;
use scrip_worker::store::sql::{Sql, SqlValue, int, text};
use serde_json::{Value as Json, json};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

const NOW: i64 = 1_772_323_200_000;
const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600_000;

/// A project, its clock, its alarm, the settings of its callers, and KV.
struct Shop {
    sql: Counting,
    at: Cell<i64>,
    seed: Cell<u64>,
    alarm: Cell<Option<i64>>,
    settings: RefCell<Json>,
    kv: RefCell<BTreeMap<String, String>>,
    /// Rows of a slice.
    rows: Cell<u64>,
    /// True if KV may have a former head meanwhile, because calls arrive late.
    is_late: Cell<bool>,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop {
            sql: Counting::new(),
            at: Cell::new(NOW),
            seed: Cell::new(0),
            alarm: Cell::new(None),
            settings: RefCell::new(json!({})),
            kv: RefCell::default(),
            rows: Cell::new(100),
            is_late: Cell::new(false),
        };
        let mut store = Store::open(&shop.sql, NOW).unwrap();
        service::queue_metrics(&mut store, &shop.context()).unwrap();
        shop
    }

    /// A project with an offer of each kind, whose bundle was built and copied, and that has been quiet for a minute.
    fn built() -> Shop {
        let shop = Shop::new();
        let open = json!({ "name": "Open", "type": "STANDALONE", "visibility": "public", "campaign_type": "DISCOUNT_COUPONS",
            "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 }, "code_config": { "pattern": "OPEN" } } });
        shop.make("POST /v1/campaigns", open);
        shop.ask(true);
        shop.pass(60 * SECOND);
        assert!(shop.head().is_some());
        shop
    }

    fn context(&self) -> Context {
        self.seed.set(self.seed.get() + 1);
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&self.seed.get().to_be_bytes());
        Context { now: Instant::from_millis(self.at.get()).unwrap(), seed, first_number: None }
    }

    /// Runs an event in a transaction, and takes its alarm.
    fn event<T>(&self, act: impl FnOnce(&mut Store<'_>, &Context) -> T) -> T {
        let context = self.context();
        let mut store = Store::new(&self.sql);
        let result = act(&mut store, &context);
        if let Some(at) = store.alarm() {
            self.alarm.set(Some(self.alarm.get().map_or(at, |earlier| earlier.min(at))));
        }
        result
    }

    fn serve(&self, call: &str, body: &Json) -> Reply {
        let (method, path) = call.split_once(' ').unwrap();
        let (name, caller) = crate::caller::server();
        let mut caller: Json = serde_json::from_str(&caller).unwrap();
        if let Some(class @ ("management" | "client")) = path.split('/').nth(1) {
            caller["class"] = class.into();
        }
        for (name, value) in self.settings.borrow().as_object().unwrap() {
            caller["settings"][name] = value.clone();
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let headers = vec![(name, caller.to_string())];
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        self.event(|store, context| service::serve(&request, store, context).unwrap())
    }

    fn make(&self, call: &str, body: Json) -> Json {
        let reply = self.serve(call, &body);
        let answer = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
        assert!(reply.status < 300, "{call}: {} {answer}", reply.status);
        answer
    }

    /// Informs the object as the entry does for a request of a client.
    fn ask(&self, is_missing: bool) {
        assert_eq!(self.serve(&format!("PUT {DEMAND_PATH}"), &json!({ "is_missing": is_missing })).status, 204);
    }

    /// Lets time pass, and runs each alarm at its moment, with all copies that follow.
    fn pass(&self, millis: i64) {
        let until = self.at.get() + millis;
        for events in 0.. {
            assert!(events < 5_000, "the alarm does not come to rest");
            let Some(at) = self.alarm.get().filter(|at| *at <= until) else { break };
            self.at.set(self.at.get().max(at));
            self.alarm.set(None);
            self.event(|store, context| service::alarm(store, context, self.rows.get()).unwrap());
            self.copy();
        }
        self.at.set(until);
    }

    fn next_step(&self, report: &CopyReport) -> Option<CopyStep> {
        self.event(|store, context| service::copy_bundle(store, context, report, None).unwrap())
    }

    /// Writes to KV what a step says.
    fn carry_out(&self, step: &CopyStep) {
        let mut kv = self.kv.borrow_mut();
        step.pairs.iter().for_each(|pair| drop(kv.insert(pair.name.clone(), pair.value.clone())));
        step.removals.iter().for_each(|name| drop(kv.remove(name)));
    }

    fn copy(&self) {
        let mut report = CopyReport::default();
        while let Some(step) = self.next_step(&report) {
            self.carry_out(&step);
            self.check_kv();
            report = step.report;
        }
    }

    /// Returns the head in KV, with the moment of its signature.
    fn head(&self) -> Option<Json> {
        let kv = self.kv.borrow();
        let copy: Json = serde_json::from_str(kv.get("bundle-head:proj_dev")?).unwrap();
        Some(claims_of(copy["jws"].as_str().unwrap().as_bytes()).unwrap())
    }

    /// Returns the goods in KV: these shops have one bucket, whose hash is the root.
    fn goods(&self) -> Json {
        let goods = self.head().unwrap()["goods"].clone();
        assert_eq!(goods["buckets"], 1);
        serde_json::from_str(&self.kv.borrow()[&format!("bundle-part:proj_dev:{}", goods["root"].as_str().unwrap())])
            .unwrap()
    }

    fn core(&self) -> Json {
        let name = format!("bundle-part:proj_dev:{}", self.head().unwrap()["core"].as_str().unwrap());
        serde_json::from_str(&self.kv.borrow()[&name]).unwrap()
    }

    fn rev(&self) -> i64 {
        self.head().unwrap()["rev"].as_i64().unwrap()
    }

    /// Fails if the head in KV names a part that is not there.
    fn check_kv(&self) {
        let Some(head) = self.head().filter(|_| !self.is_late.get()) else { return };
        let kv = self.kv.borrow();
        let part =
            |hash: &Json| kv.get(&format!("bundle-part:proj_dev:{}", hash.as_str().unwrap())).expect("a named part");
        let core: Json = serde_json::from_str(part(&head["core"])).unwrap();
        core["parts"].as_array().into_iter().flatten().for_each(|hash| assert!(!part(hash).is_empty()));
        // Pages name pages and buckets.
        let mut below = vec![head["goods"]["root"].clone()];
        while let Some(hash) = below.pop().filter(|hash| !hash.is_null()) {
            let page: Json = serde_json::from_str(part(&hash)).unwrap();
            below.extend(page["hashes"].as_array().into_iter().flatten().cloned());
        }
    }

    /// Returns whether the job is due at once.
    fn is_marked(&self) -> bool {
        let rows = self.sql.run("SELECT at FROM due WHERE id = 'BUNDLE'", &[]).unwrap();
        rows.first().is_some_and(|row| int(row, 0).unwrap() == 0)
    }

    fn run(&self, statement: &str, params: &[SqlValue]) {
        self.sql.run(statement, params).unwrap();
    }
}

fn tier(name: &str) -> Json {
    json!({ "name": name, "action": { "discount": { "type": "PERCENT", "percent_off": 5 } } })
}

/// A job that writes marks the bundle too: an import, and one that generates the code of a public campaign.
#[test]
fn jobs_mark_the_bundle() {
    let shop = Shop::built();
    let rev = shop.rev();
    shop.make("POST /v1/products/bulk/async", json!([{ "source_id": "mug", "name": "Mug", "price": 500 }]));
    shop.pass(5 * SECOND);
    assert!(shop.rev() > rev);
    assert_eq!(shop.goods()["products"][0]["source_id"], "mug");
}

/// Redemptions, counts, generated codes and customers do not mark the bundle, and pay no statement for it.
#[test]
fn other_writes_cost_nothing() {
    let shop = Shop::built();
    let private = json!({ "name": "Private", "type": "AUTO_UPDATE", "campaign_type": "DISCOUNT_COUPONS", "vouchers_count": 3,
        "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 }, "code_config": { "pattern": "P-####" } } });
    let private = shop.make("POST /v1/campaigns", private);
    let private = private["id"].as_str().unwrap();
    shop.pass(60 * SECOND);
    let rev = shop.rev();
    let redeem =
        |code: &str| json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1000 } });
    let calls = [
        ("POST /v1/redemptions".to_owned(), redeem("OPEN")),
        (format!("POST /v1/campaigns/{private}/vouchers"), json!({})),
        (
            "POST /v1/vouchers/ALONE".to_owned(),
            json!({ "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": 9 } }),
        ),
        ("POST /v1/redemptions".to_owned(), redeem("ALONE")),
        ("POST /v1/customers".to_owned(), json!({ "source_id": "anna", "name": "Anna" })),
        ("POST /v1/orders".to_owned(), json!({ "amount": 100, "status": "PAID", "customer": { "source_id": "anna" } })),
        ("POST /v1/validations".to_owned(), redeem("OPEN")),
    ];
    for (call, body) in calls {
        shop.sql.statements.take();
        shop.make(&call, body);
        let looks: Vec<String> = shop
            .sql
            .statements
            .take()
            .into_iter()
            .filter(|statement| statement.contains("FROM due WHERE id"))
            .collect();
        assert!(looks.is_empty(), "{call}: {looks:#?}");
        assert!(!shop.is_marked(), "{call}");
    }
    shop.make(&format!("POST /v1/campaigns/{private}/vouchers?vouchers_count=50"), json!({}));
    shop.pass(60 * SECOND);
    assert_eq!(shop.rev(), rev, "generated codes build nothing");
}

#[test]
fn a_project_that_no_client_asks_for_builds_nothing() {
    let shop = Shop::new();
    shop.make("POST /v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": 900 }));
    shop.pass(24 * HOUR);
    let count = |table: &str| int(&shop.sql.run(&format!("SELECT count(*) FROM {table}"), &[]).unwrap()[0], 0).unwrap();
    assert_eq!([count("bundle_head"), count("bundle_part"), count("bundle_key")], [0; 3]);
    assert!(shop.kv.borrow().is_empty());
    shop.ask(true);
    shop.pass(0);
    assert_eq!(shop.goods()["products"][0]["source_id"], "shirt");
}

/// The first change is built at once, those after it after a quiet second, and constant ones after ten seconds.
#[test]
fn changes_are_built_together() {
    let shop = Shop::built();
    let price = Cell::new(0);
    let change = || {
        price.set(price.get() + 1);
        shop.make("POST /v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": price.get() }));
    };
    let shown = || shop.goods()["products"][0]["price"].as_i64().unwrap_or_default();
    change();
    shop.pass(0);
    assert_eq!(shown(), 1, "the first change is built at once");
    shop.pass(100);
    change();
    shop.pass(500);
    change();
    shop.pass(400);
    assert_eq!(shown(), 1);
    shop.pass(1_600);
    assert_eq!(shown(), 3, "a quiet second");
    // A change every 300 ms for a minute.
    shop.pass(20 * SECOND);
    let (mut revisions, mut latest) = (vec![shop.rev()], 0);
    for _ in 0..200 {
        change();
        shop.pass(300);
        if *revisions.last().unwrap() != shop.rev() {
            revisions.push(shop.rev());
        }
        latest = latest.max(price.get() - shown());
    }
    assert!((6..=9).contains(&revisions.len()), "{revisions:?}");
    assert!(latest <= 10 * 1_000 / 300 + 1, "{latest} changes behind");
    shop.pass(2 * SECOND);
    assert_eq!(shown(), price.get());
}

#[test]
fn the_horizon_and_the_age_of_the_head_rebuild_it() {
    let shop = Shop::built();
    let later = json!({ "name": "Later", "type": "STANDALONE", "visibility": "public", "campaign_type": "DISCOUNT_COUPONS", "start_date": "2026-03-01T03:00:00Z",
        "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 }, "code_config": { "pattern": "LATER" } } });
    shop.make("POST /v1/campaigns", later);
    shop.pass(SECOND);
    let begins = scrip_worker::timestamp::parse("2026-03-01T03:00:00Z").unwrap();
    assert_eq!(
        (shop.head().unwrap()["to"].as_i64(), shop.core()["campaigns"].as_array().unwrap().len()),
        (Some(begins), 1)
    );
    shop.pass(begins - 1 - shop.at.get());
    assert_eq!(shop.core()["campaigns"].as_array().unwrap().len(), 1);
    shop.pass(1);
    assert_eq!(shop.core()["campaigns"].as_array().unwrap().len(), 2, "the campaign begins");
    let (rev, core) = (shop.rev(), shop.core());
    shop.pass(12 * HOUR - 1);
    assert_eq!(shop.rev(), rev);
    shop.pass(1);
    assert!(shop.rev() > rev, "signed anew after twelve hours");
    assert_eq!(shop.core(), core);
}

#[test]
fn another_key_epoch_or_setting_rebuilds_the_head() {
    let shop = Shop::built();
    let kid = || {
        let copy: Json = serde_json::from_str(&shop.kv.borrow()["bundle-head:proj_dev"]).unwrap();
        copy["jws"].as_str().unwrap().split('.').next().unwrap().to_owned()
    };
    let before = kid();
    shop.make("POST /management/v1/projects/proj_dev/bundle-keys/rotate", Json::Null);
    shop.pass(24 * HOUR - 1);
    assert_eq!(kid(), before);
    shop.pass(1);
    assert_ne!(kid(), before, "the next key signs at its moment");
    // As `npm run restore` does it. Nothing of the service runs then: the object starts again, and looks.
    let rev = shop.rev();
    shop.run("UPDATE bundle_epoch SET epoch = MAX(epoch + 1, ?1)", &[shop.at.get().into()]);
    let raised = shop.at.get();
    shop.event(|store, _| service::schedule_alarms(store, raised).unwrap());
    shop.pass(0);
    assert!(shop.rev() > rev);
    assert_eq!(shop.head().unwrap()["epoch"].as_i64(), Some(raised));
    // The entry sees that the settings are others, and informs the object.
    let rev = shop.rev();
    shop.settings.borrow_mut()["time_zone"] = "Europe/Berlin".into();
    shop.ask(false);
    shop.pass(0);
    assert!(shop.rev() > rev);
    assert_eq!(shop.core()["time_zone"]["name"], "Europe/Berlin");
    let rev = shop.rev();
    shop.ask(false);
    shop.pass(SECOND);
    assert_eq!(shop.rev(), rev, "what is current is not built");
}

#[test]
fn a_clock_that_was_set_back_rebuilds_the_head() {
    let shop = Shop::built();
    let rev = shop.rev();
    shop.at.set(NOW - 48 * HOUR);
    let now = shop.at.get();
    shop.event(|store, context| service::catch_up(store, context).unwrap());
    shop.event(|store, _| service::schedule_alarms(store, now).unwrap());
    shop.pass(0);
    assert!(shop.rev() > rev);
    assert_eq!(shop.head().unwrap()["from"].as_i64(), Some(now));
}

/// A failed build leaves the former head, and is tried again as long as it fails.
#[test]
fn a_failing_build_is_never_given_up() {
    let shop = Shop::built();
    let rev = shop.rev();
    let settings = shop.sql.run("SELECT settings FROM bundle_project", &[]).unwrap();
    shop.run("UPDATE bundle_project SET settings = 'none'", &[]);
    shop.make("POST /v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": 900 }));
    for _ in 0..10 {
        let at = shop.alarm.take().unwrap();
        assert!(at <= shop.at.get() + 32 * SECOND, "the next attempt is soon");
        shop.at.set(shop.at.get().max(at));
        let fault = shop.event(|store, context| service::alarm(store, context, 100)).unwrap_err();
        let kind = shop.event(|store, context| service::record_alarm_failure(store, context, &fault.0).unwrap());
        assert_eq!(kind.as_deref(), Some("BUNDLE"));
    }
    assert_eq!(shop.rev(), rev);
    let settings = text(&settings[0], 0).unwrap();
    shop.run("UPDATE bundle_project SET settings = ?1", &[settings.into()]);
    shop.pass(60 * SECOND);
    assert!(shop.rev() > rev);
}
