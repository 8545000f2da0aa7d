//! Tests histories of orders, events and segment entries: each step earns what the second model finds, in the same order, and nothing is
//! granted twice.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::select;
use scrip::decide::earn::{EarningEvent, Earnings, EffectSkipped, GrantedContent, NotEarned};
use scrip::facts::earning::EarningKey;
use scrip::points::CurrentPeriod;
use scrip::points::limits::{EarningLimits, GlobalLimit};
use scrip::time::Instant;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_document;
use serde_json::{Value, json};

use super::fixtures::{Shop, Terms};
use super::model::{EarningModel, Fired, GrantRecord, limit};
use crate::properties::holds;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Paid,
    CustomEvent,
    Entered,
}

impl Kind {
    fn trigger(self) -> Value {
        match self {
            Kind::Paid => json!({ "event": "customer.order.paid" }),
            Kind::CustomEvent => json!({ "event": "customer.custom_event", "custom_event": { "schema_id": "ms_1" } }),
            Kind::Entered => json!({ "event": "customer.segment.entered", "segment": { "id": "seg_1" } }),
        }
    }
}

fn test(kind: Kind) -> BoxedStrategy<Value> {
    let one = |name: &str, operator: &str, value: Value| {
        let mut test = json!({ "name": name, "conditions": { operator: [value] } });
        match name {
            "member.metadata" => test["property"] = json!("band"),
            "custom_event.metadata" => test["property"] = json!("km"),
            _ => {}
        }
        json!({ "1": test, "logic": "1" })
    };
    let is = || select(vec!["$is", "$is_not"]);
    let band = (is(), select(vec!["a", "b"])).prop_map(move |(is, band)| one("member.metadata", is, json!(band)));
    let tier =
        (is(), select(vec!["lt_1", "lt_2"])).prop_map(move |(is, tier)| one("customer.loyalty.tier", is, json!(tier)));
    let own = match kind {
        Kind::Paid => (select(vec!["order.amount", "order.total_amount"]), 0..400_u64)
            .prop_map(move |(name, least)| one(name, "$more_than", json!(least)))
            .boxed(),
        Kind::CustomEvent => {
            (-5..30_i64).prop_map(move |most| one("custom_event.metadata", "$less_than", json!(most))).boxed()
        }
        Kind::Entered => Just(Value::Null).boxed(),
    };
    prop_oneof![3 => Just(Value::Null), 1 => band, 1 => tier, 2 => own].boxed()
}

fn points(kind: Kind) -> BoxedStrategy<Value> {
    let definition = || select(vec!["gold", "gold", "blue", "silver"]);
    let fixed = (0..40_u64, definition()).prop_map(|(value, definition)| {
        json!({ "type": "POINTS", "points": { "value": value, "card_definition_id": definition } })
    });
    let numbers = vec![("CUSTOMER_METADATA_VALUE", "customer", "metadata", "age")];
    let own = match kind {
        Kind::Paid => vec![
            ("PRE_DISCOUNT_ORDER_AMOUNT", "order", "amount", ""),
            ("POST_DISCOUNT_ORDER_AMOUNT", "order", "total_amount", ""),
            ("ORDER_METADATA_VALUE", "order", "metadata", "stars"),
            ("PRE_DISCOUNT_ORDER_ITEMS_AMOUNT", "order_items", "amount", "goods"),
            ("POST_DISCOUNT_ORDER_ITEMS_AMOUNT", "order_items", "subtotal_amount", "goods"),
            ("ORDER_ITEMS_QUANTITY", "order_items", "quantity", "goods"),
        ],
        Kind::CustomEvent => vec![("CUSTOM_EVENT_METADATA_VALUE", "custom_event", "metadata", "km")],
        Kind::Entered => Vec::new(),
    };
    let bases = select([numbers, own].concat());
    let proportional = (bases, 1..60_u64, 0..8_u64, definition(), 1..4_usize).prop_map(
        |((kind, outer, inner, more), every, value, definition, goods)| {
            let mut block = json!({ "every": every, "value": value });
            match more {
                "" => {}
                "goods" => {
                    let named = ["shoes", "hat", "shoes"].iter().take(goods);
                    let named = named.map(|id| json!({ "type": "product", "product": { "id": id } }));
                    block["applicable_to"] = named.collect();
                }
                property => block["property"] = json!(property),
            }
            json!({ "type": "POINTS_PROPORTIONAL", "points_proportional": { "calculation_type": kind,
                "card_definition_id": definition, outer: { inner: block } } })
        },
    );
    prop_oneof![fixed, proportional].boxed()
}

fn earning(kind: Kind) -> impl Strategy<Value = Value> {
    let incentive = select(vec!["linc_points", "linc_mug", "linc_draft", "linc_none"])
        .prop_map(|id| json!({ "type": "INCENTIVE", "incentive": { "id": id } }));
    let effects = prop::collection::vec(prop_oneof![2 => points(kind), 1 => incentive], 1..4);
    let tiers = prop_oneof![
        3 => Just(json!({ "type": "NO_REQUIREMENTS" })),
        1 => select(vec!["lt_1", "lt_2"]).prop_map(|tier| json!({ "type": "ANY_OF", "any_of": [
            { "tier_structure_id": "lts_1", "tier_ids": [tier] }] })),
    ];
    (test(kind), tiers, effects)
        .prop_map(|(rules, tiers, effects)| json!({ "rules": rules, "tier_rules": tiers, "effects": effects }))
}

fn limits() -> impl Strategy<Value = Value> {
    let cooldown = prop_oneof![
        2 => Just(json!({ "type": "NO_COOLDOWN" })),
        1 => (1..40_u32).prop_map(|hours| json!({ "type": "FIXED_COOLDOWN",
            "fixed_cooldown": { "period": { "value": hours, "unit": "HOUR" } } })),
    ];
    let frequency = prop_oneof![
        2 => Just(json!({ "type": "NO_LIMIT" })),
        1 => (1..3_u32).prop_map(|most| json!({ "type": "LIMITED", "limits": [{ "type": "TIME_BASED",
            "period": { "type": "CURRENT_PERIOD", "current_period": { "unit": "DAY" } }, "triggers": { "max": most } }] })),
    ];
    (cooldown, frequency).prop_map(|(cooldown, frequency)| json!({ "cooldown": cooldown, "frequency": frequency }))
}

fn rule() -> impl Strategy<Value = Value> {
    let kind = select(vec![Kind::Paid, Kind::Paid, Kind::CustomEvent, Kind::Entered]);
    let status = select(vec!["ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE"]);
    kind.prop_flat_map(move |kind| {
        let trigger = kind.trigger();
        (prop::collection::vec(earning(kind), 1..4), limits(), status.clone()).prop_map(move |(earnings, limits, status)| {
            json!({ "trigger": trigger, "earnings": earnings, "trigger_limits": limits, "status": status })
        })
    })
}

/// One step: its kind, its order, and the minutes since the previous step.
#[derive(Debug, Clone)]
struct Step {
    kind: Kind,
    which: u8,
    numbers: [u64; 4],
    km: i64,
    minutes: i64,
}

fn step() -> impl Strategy<Value = Step> {
    let kind = select(vec![Kind::Paid, Kind::Paid, Kind::CustomEvent, Kind::Entered]);
    (kind, 0..6_u8, prop::array::uniform4(0..300_u64), -3..40_i64, 0..2_000_i64)
        .prop_map(|(kind, which, numbers, km, minutes)| Step { kind, which, numbers, km, minutes })
}

#[derive(Debug, Clone)]
struct History {
    programs: Vec<(Value, Vec<Value>)>,
    limits: [(u8, u64, Option<u64>, Option<u64>); 2],
    stock: [Option<u64>; 2],
    tiers: Vec<(usize, &'static str)>,
    start: i64,
    steps: Vec<Step>,
}

fn history() -> impl Strategy<Value = History> {
    let status = select(vec!["ACTIVE", "ACTIVE", "ACTIVE", "INACTIVE"]);
    let program = (status, select(vec!["a", "b", "c"]), prop::collection::vec(rule(), 1..4));
    let most = |most: u64| prop_oneof![2 => Just(None), 1 => (1..most).prop_map(Some)];
    let limit = || (0..3_u8, 1..80_u64, most(30), most(300));
    let stock = || prop_oneof![1 => Just(None), 1 => (0..3_u64).prop_map(Some)];
    let tiers = prop::collection::vec((0..3_usize, select(vec!["lt_1", "lt_2"])), 0..3);
    // Two days before clocks change, or a year ends.
    let start = select(vec![1_774_569_600_000_i64, 1_792_972_800_000, 1_798_581_600_000]);
    (
        prop::collection::vec(program, 1..4),
        [limit(), limit()],
        [stock(), stock()],
        tiers,
        start,
        prop::collection::vec(step(), 1..14),
    )
        .prop_map(|(programs, limits, stock, tiers, start, steps)| {
            let numbered = |(position, (status, band, mut rules)): (usize, (&str, &str, Vec<Value>))| {
                for (at, rule) in rules.iter_mut().enumerate() {
                    rule["id"] = json!(format!("lern_{position}_{at}"));
                    for (of, earning) in rule["earnings"].as_array_mut().unwrap().iter_mut().enumerate() {
                        earning["id"] = json!(format!("lernei_{position}_{at}_{of}"));
                    }
                }
                (json!({ "id": format!("lprg_{position}"), "status": status, "member": { "band": band } }), rules)
            };
            let programs = programs.into_iter().enumerate().map(numbered).collect();
            History { programs, limits, stock, tiers, start, steps }
        })
}

fn order(step: &Step) -> Value {
    let [shoes, hats, off, off_line] = step.numbers;
    let line = |product: &str, amount: u64, off: u64| json!({ "product_id": product, "quantity": amount % 5, "amount": amount, "discount_amount": off });
    json!({ "id": format!("ord_{}", step.which), "status": "PAID", "amount": shoes + hats, "discount_amount": off,
        "metadata": { "stars": step.km }, "items": [line("shoes", shoes, off_line), line("hat", hats, 0)] })
}

fn fired(earnings: &Earnings) -> Vec<Fired> {
    let fired = earnings.fired_rules().map(|(member, rule, fired)| {
        let position = member.member_id.strip_prefix("member_").unwrap().parse().unwrap();
        let effect = |effect: &Result<scrip::decide::earn::GrantedEffect, _>| {
            let granted = effect.as_ref().ok()?;
            let card = match &granted.content {
                GrantedContent::Points(points) => Some((points.card_id.to_string(), points.points)),
                GrantedContent::Item(_) => None,
            };
            Some(GrantRecord { incentive: granted.incentive_id.as_ref().map(ToString::to_string), card })
        };
        let effects = fired.effects.iter().map(effect).collect();
        Fired { member: position, rule: rule.rule_id.to_string(), earning: fired.earning_id.to_string(), effects }
    });
    fired.collect()
}

/// Incentives with this stock.
fn incentives(stock: [Option<u64>; 2]) -> Value {
    json!({
        "linc_points": { "id": "linc_points", "type": "POINTS", "status": "ACTIVE", "stock": stock[0],
            "points": { "value": 9, "card_definition_id": "blue" } },
        "linc_mug": { "id": "linc_mug", "type": "MATERIAL", "status": "ACTIVE", "stock": stock[1],
            "material": { "type": "PRODUCT", "product": { "id": "mug" } } },
        "linc_draft": { "id": "linc_draft", "type": "MATERIAL", "status": "DRAFT", "stock": 5,
            "material": { "type": "PRODUCT", "product": { "id": "mug" } } },
    })
}

#[test]
fn a_history_earns_as_in_the_second_model() {
    let counts = [const { Cell::new(0_u64) }; 5];
    let count = |position: usize, is: bool| counts[position].set(counts[position].get() + u64::from(is));
    holds(3_000, history(), |history| {
        let customer = json!({ "id": "cust_1", "metadata": { "age": 41 } });
        let tiers: Vec<(usize, &str, &str)> =
            history.tiers.iter().map(|(position, tier)| (*position, "lts_1", *tier)).collect();
        // A customer outside of these programs has none of their tiers.
        let tiers: Vec<_> = tiers.into_iter().filter(|(position, ..)| *position < history.programs.len()).collect();
        let mut shop = Shop::new(json!({ "time_zone": "Europe/Warsaw" }), customer.clone(), history.programs.clone());
        shop.tiers.clone_from(&tiers);
        let mut cards = json!({});
        for (name, (kind, size, most, least)) in ["gold", "blue"].into_iter().zip(history.limits) {
            let global = match kind {
                0 => GlobalLimit::None,
                1 => GlobalLimit::Total(size),
                _ => GlobalLimit::Current(CurrentPeriod::Day, size),
            };
            let limits = EarningLimits { global, most, min_amount: least };
            shop.terms.insert(name, Terms { limits, ..Terms::default() });
            cards[name] = limit((kind == 1).then_some(size), (kind == 2).then_some(size), most, least);
        }
        let incentives = incentives(history.stock);
        incentives.as_object().unwrap().values().for_each(|incentive| shop.stock(incentive.clone()));
        let mut model = EarningModel {
            programs: &history.programs,
            incentives: &incentives,
            cards: &cards,
            customer: &customer,
            tiers: &tiers,
            log: Vec::new(),
            earned_names: Vec::new(),
        };
        let mut now = history.start;
        for step in &history.steps {
            now += step.minutes * 60_000;
            let instant = Instant::from_millis(now).unwrap();
            let trigger = step.kind.trigger();
            let (found, expected) = match step.kind {
                Kind::Paid => {
                    let order = order(step);
                    let event = json!({ "trigger": trigger, "order": order });
                    (shop.pay(&order, instant), model.happens(order["id"].as_str().unwrap(), &event, now))
                }
                Kind::CustomEvent => {
                    let name = format!("ev_{}", step.which);
                    let metadata = json!({ "km": step.km });
                    let read = json!({ "id": "e", "metadata": metadata }).to_string();
                    let read = read_document(&read, read_customer).unwrap();
                    let earned = EarningEvent::CustomEvent { schema_id: Some("ms_1"), metadata: &read.metadata };
                    let event = json!({ "trigger": trigger, "metadata": metadata });
                    (shop.earn(earned, &EarningKey::custom_event(&name), instant), model.happens(&name, &event, now))
                }
                Kind::Entered => {
                    let key = EarningKey::segment("seg_1", "cust_1", instant);
                    let earned = EarningEvent::SegmentEntered(Some("seg_1"));
                    let event = json!({ "trigger": trigger });
                    (shop.earn(earned, &key, instant), model.happens(&format!("seg {now}"), &event, now))
                }
            };
            count(0, !expected.is_empty());
            count(1, found.not_earned.is_some());
            for outcome in found.memberships.iter().flat_map(|member| &member.rules).map(|rule| &rule.outcome) {
                let effects = outcome.iter().flat_map(|fired| &fired.effects);
                effects.for_each(|effect| {
                    count(2, matches!(effect, Err(EffectSkipped::Limited | EffectSkipped::OutOfStock)))
                });
                count(3, matches!(outcome, Err(NotEarned::LimitRefusal(_))));
                count(4, matches!(outcome, Err(NotEarned::NoMatch(_))));
            }
            prop_assert_eq!(fired(&found), expected);
        }
        Ok(())
    });
    // Counts of steps that earned, repeated steps, effects without room or stock, resting rules, and rules that did not match.
    let counts = counts.map(Cell::into_inner);
    assert!(counts.iter().all(|often| *often > 500), "{counts:?}");
}
