//! Tests the copies of the bundle in a KV whose calls arrive late, are not acknowledged, or outlive the process that sent them.

use super::{HOUR, SECOND, Shop};
use scrip_worker::domain::bundle::kv_copies::{CopyReport, CopyStep};
use scrip_worker::service;
use scrip_worker::store::sql::Sql;
use serde_json::json;

const MINUTE: i64 = 60 * SECOND;

impl Shop {
    fn set_price(&self, price: i64) {
        self.make("POST /v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": price }));
    }

    /// Builds what is due, without a copy.
    fn build(&self) {
        for _ in 0..4 {
            self.alarm.set(None);
            self.event(|store, context| service::alarm(store, context, 100).unwrap());
            self.at.set(self.at.get() + SECOND);
        }
    }

    /// Returns the steps of a pass up to one that fits, which KV does not acknowledge. The ones before it are carried out.
    fn give_up_at(&self, fits: impl Fn(&CopyStep) -> bool) -> CopyStep {
        let mut report = CopyReport::default();
        loop {
            let step = self.next_step(&report).expect("a step that fits");
            if fits(&step) {
                return step;
            }
            self.carry_out(&step);
            report = step.report;
        }
    }

    /// Starts the object again, as after a sudden end.
    fn restart(&self) {
        let now = self.at.get();
        self.alarm.set(None);
        self.event(|store, _| service::schedule_alarms(store, now).unwrap());
    }

    fn shown_price(&self) -> i64 {
        self.goods()["products"][0]["price"].as_i64().unwrap()
    }
}

#[test]
fn a_head_that_arrives_late_is_replaced_by_the_newest() {
    for (late_ms, restarts) in
        [0, 20 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE].map(|late_ms| (late_ms, late_ms > MINUTE))
    {
        let shop = Shop::built();
        shop.set_price(1);
        shop.build();
        let late = shop.give_up_at(|step| step.head.is_some());
        shop.set_price(2);
        shop.build();
        if restarts {
            shop.restart();
        }
        shop.copy();
        assert_eq!(shop.shown_price(), 2);
        shop.pass(late_ms);
        shop.carry_out(&late);
        assert_eq!(shop.shown_price(), 1, "KV cannot refuse it");
        shop.pass(if late_ms == 0 { 15 * SECOND } else { 17 * MINUTE });
        assert_eq!(shop.shown_price(), 2, "{late_ms}");
        let rev = shop.rev();
        shop.pass(HOUR);
        assert_eq!(shop.rev(), rev);
        assert!(shop.alarm.get().unwrap() > shop.at.get() + HOUR, "no repetition is left");
    }
}

#[test]
fn a_removal_that_arrives_late_takes_no_named_part() {
    let shop = Shop::built();
    shop.set_price(1);
    shop.pass(MINUTE);
    shop.set_price(2);
    shop.pass(MINUTE);
    // The parts with the first price are old, and the next head removes them.
    shop.run("UPDATE bundle_part SET unnamed_since = 0 WHERE unnamed_since IS NOT NULL", &[]);
    shop.set_price(3);
    shop.build();
    let late = shop.give_up_at(|step| !step.removals.is_empty());
    shop.pass(MINUTE);
    // The same bytes are named again.
    shop.set_price(1);
    shop.pass(MINUTE);
    assert_eq!(shop.shown_price(), 1);
    shop.carry_out(&late);
    let name =
        |shop: &Shop| format!("bundle-part:proj_dev:{}", shop.head().unwrap()["goods"]["root"].as_str().unwrap());
    assert!(!shop.kv.borrow().contains_key(&name(&shop)), "KV cannot refuse it");
    shop.pass(10 * MINUTE);
    shop.check_kv();
    assert_eq!(shop.shown_price(), 1);
    shop.pass(40 * MINUTE);
    let left = shop.sql.run("SELECT hash FROM bundle_removal", &[]).unwrap();
    assert!(left.is_empty(), "{left:?}");
}

/// Any call may be late or lost, and the process may end at any time: KV has the newest head and all that it names in the end.
#[test]
fn kv_has_the_newest_head_after_any_order_of_calls() {
    for seed in 1..=60_u64 {
        let shop = Shop::built();
        let mut state = seed;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut late, mut price) = (Vec::<CopyStep>::new(), 0);
        for _ in 0..25 {
            // Few prices, so that former parts are named again.
            price = i64::try_from(draw(4)).unwrap();
            shop.set_price(price);
            shop.build();
            if draw(3) == 0 {
                shop.run("UPDATE bundle_part SET unnamed_since = 0 WHERE unnamed_since IS NOT NULL", &[]);
            }
            let mut report = CopyReport::default();
            while let Some(step) = shop.next_step(&report) {
                match draw(8) {
                    0 => late.push(step.clone()),
                    1 => shop.carry_out(&step),
                    _ => {
                        shop.carry_out(&step);
                        report = step.report;
                        continue;
                    }
                }
                break;
            }
            if draw(4) == 0 {
                shop.restart();
            }
            if !late.is_empty() && draw(2) == 0 {
                shop.carry_out(&late.swap_remove(usize::try_from(draw(u64::try_from(late.len()).unwrap())).unwrap()));
            }
        }
        shop.restart();
        shop.is_late.set(true);
        shop.pass(MINUTE);
        late.iter().for_each(|step| shop.carry_out(step));
        shop.pass(40 * MINUTE);
        shop.is_late.set(false);
        shop.check_kv();
        assert_eq!(shop.shown_price(), price, "{seed}");
        let stored = shop.sql.run("SELECT rev FROM bundle_head", &[]).unwrap();
        assert_eq!(stored, [vec![shop.rev().into()]], "{seed}");
    }
}
