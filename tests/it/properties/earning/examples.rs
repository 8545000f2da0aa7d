//! Tests single events with numbers that were written by hand.

use scrip::decide::earn::{
    EarningCorrection, EarningEvent, EarningMismatch, Earnings, EffectSkipped, GrantedContent, NotEarned,
    OrderTransition,
};
use scrip::facts::earning::{EarningKey, GrantedItem};
use scrip::model::order::OrderStatus;
use scrip::points::limits::{EarningLimits, GlobalLimit, LimitRefusal};
use scrip::points::{CurrentPeriod, Revocation};
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_document;
use serde_json::{Value, json};

use super::fixtures::{Shop, Terms, at, program, rule};

const NOON: &str = "2026-03-02T12:00:00Z";

fn paid() -> Value {
    json!({ "event": "customer.order.paid" })
}

fn points(value: u64) -> Value {
    json!({ "type": "POINTS", "points": { "value": value, "card_definition_id": "gold" } })
}

fn proportional(kind: &str, path: [&str; 2], block: Value) -> Value {
    json!({ "type": "POINTS_PROPORTIONAL", "points_proportional": {
        "calculation_type": kind, "card_definition_id": "gold", path[0]: { path[1]: block } } })
}

/// 60.00 for two pairs of shoes less 5.00, 25.00 for a hat, 10.00 off the whole.
fn order() -> Value {
    json!({ "id": "ord_1", "status": "PAID", "amount": 8_500, "discount_amount": 1_000, "metadata": { "stars": 7.9 },
        "items": [
            { "product_id": "shoes", "sku_id": "shoes_42", "quantity": 2, "price": 3_000, "amount": 6_000, "discount_amount": 500 },
            { "product_id": "hat", "quantity": 1, "price": 2_500, "amount": 2_500 },
        ] })
}

fn customer() -> Value {
    json!({ "id": "cust_1", "metadata": { "age": 41, "name": "Ada" } })
}

fn catalogue() -> Value {
    let listed = json!({ "id": "pc_heads", "type": "STATIC", "products": [{ "id": "hat", "object": "product" }] });
    json!({ "product_collections": [listed], "time_zone": "Europe/Warsaw" })
}

fn shop_of(rules: Vec<Value>) -> Shop {
    Shop::new(catalogue(), customer(), vec![(program("lprg_1"), rules)])
}

/// Returns the result of the first rule of the first program: its earning and the points of each effect.
fn first(earnings: &Earnings) -> Result<(String, Vec<Result<u64, EffectSkipped>>), NotEarned> {
    let points = |gift: &GrantedContent| match gift {
        GrantedContent::Points(points) => points.points,
        GrantedContent::Item(_) => 0,
    };
    earnings.memberships[0].rules[0].outcome.clone().map(|fired| {
        let effects = fired
            .effects
            .iter()
            .map(|effect| effect.as_ref().map(|granted| points(&granted.content)).map_err(|why| *why));
        (fired.earning_id.to_string(), effects.collect())
    })
}

fn gives(effect: Value, expected: Result<u64, EffectSkipped>) {
    let mut shop = shop_of(vec![rule("r", paid(), json!([{ "id": "e", "effects": [effect] }]))]);
    assert_eq!(first(&shop.pay(&order(), at(NOON))).unwrap().1, [expected], "{effect}");
}

#[test]
fn each_calculation_uses_its_own_number() {
    let every = |every: u64, value: u64| json!({ "every": every, "value": value });
    let of = |property: &str| json!({ "property": property, "every": 2, "value": 3 });
    let goods = |kind: &str, id: &str| json!({ "every": 1_000, "value": 1, "applicable_to": [{ "type": kind, kind: { "id": id } }] });
    gives(points(12), Ok(12));
    gives(points(0), Err(EffectSkipped::NoPoints));
    gives(proportional("PRE_DISCOUNT_ORDER_AMOUNT", ["order", "amount"], every(1_000, 2)), Ok(16));
    gives(proportional("POST_DISCOUNT_ORDER_AMOUNT", ["order", "total_amount"], every(1_000, 2)), Ok(14));
    gives(
        proportional("POST_DISCOUNT_ORDER_AMOUNT", ["order", "total_amount"], every(7_001, 2)),
        Err(EffectSkipped::NoPoints),
    );
    gives(
        proportional("POST_DISCOUNT_ORDER_AMOUNT", ["order", "total_amount"], json!({ "every": 1_000, "value": 1.5 })),
        Ok(10),
    );
    gives(proportional("ORDER_METADATA_VALUE", ["order", "metadata"], of("stars")), Ok(9));
    gives(proportional("CUSTOMER_METADATA_VALUE", ["customer", "metadata"], of("age")), Ok(60));
    gives(proportional("CUSTOMER_METADATA_VALUE", ["customer", "metadata"], of("name")), Err(EffectSkipped::NoNumber));
    gives(proportional("CUSTOMER_METADATA_VALUE", ["customer", "metadata"], of("shoes")), Err(EffectSkipped::NoNumber));
    gives(proportional("PRE_DISCOUNT_ORDER_ITEMS_AMOUNT", ["order_items", "amount"], goods("product", "shoes")), Ok(6));
    gives(
        proportional("POST_DISCOUNT_ORDER_ITEMS_AMOUNT", ["order_items", "subtotal_amount"], goods("sku", "shoes_42")),
        Ok(5),
    );
    gives(
        proportional(
            "PRE_DISCOUNT_ORDER_ITEMS_AMOUNT",
            ["order_items", "amount"],
            goods("products_collection", "pc_heads"),
        ),
        Ok(2),
    );
    let both = json!({ "every": 1, "value": 10, "applicable_to": [
        { "type": "product", "product": { "id": "shoes" } }, { "type": "sku", "sku": { "id": "shoes_42" } } ] });
    gives(proportional("ORDER_ITEMS_QUANTITY", ["order_items", "quantity"], both), Ok(20));
    let huge = json!({ "every": 1, "value": 9_007_199_254_740_991_u64 });
    gives(proportional("PRE_DISCOUNT_ORDER_AMOUNT", ["order", "amount"], huge), Err(EffectSkipped::TooMany));
}

#[test]
fn a_number_of_an_event_counts_and_so_do_tests_of_it() {
    let trigger = json!({ "event": "customer.custom_event", "custom_event": { "schema_id": "ms_1" } });
    let tests = json!({ "1": { "name": "custom_event.metadata", "property": "kind",
        "conditions": { "$is": ["run"] } }, "logic": "1" });
    let effect = proportional(
        "CUSTOM_EVENT_METADATA_VALUE",
        ["custom_event", "metadata"],
        json!({ "property": "km", "every": 5, "value": 1 }),
    );
    let shop = shop_of(vec![rule("r", trigger, json!([{ "id": "e", "rules": tests, "effects": [effect] }]))]);
    let event = |metadata: Value| {
        read_document(&json!({ "id": "x", "metadata": metadata }).to_string(), read_customer).unwrap()
    };
    let (run, swim) = (event(json!({ "kind": "run", "km": 42.195 })), event(json!({ "kind": "swim", "km": 2 })));
    let event =
        |schema_id: &'static str| EarningEvent::CustomEvent { schema_id: Some(schema_id), metadata: &run.metadata };
    assert_eq!(first(&shop.estimate(event("ms_1"), at(NOON))), Ok(("e".to_owned(), vec![Ok(8)])));
    assert_eq!(first(&shop.estimate(event("ms_2"), at(NOON))), Err(NotEarned::OtherTrigger));
    let other = EarningEvent::CustomEvent { schema_id: None, metadata: &swim.metadata };
    let failed = EarningMismatch::Rule(Some("1".into()));
    assert_eq!(first(&shop.estimate(other, at(NOON))), Err(NotEarned::NoMatch(vec![failed])));
}

#[test]
fn the_first_earning_that_matches_wins_with_all_its_effects() {
    let above = |amount: u64| {
        json!({ "1": { "name": "order.total_amount",
        "conditions": { "$more_than": [amount] } }, "logic": "1" })
    };
    let tiers =
        |tier: &str| json!({ "type": "ANY_OF", "any_of": [{ "tier_structure_id": "lts_1", "tier_ids": [tier] }] });
    let earnings = json!([
        { "id": "gold", "tier_rules": tiers("lt_gold"), "effects": [points(100)] },
        { "id": "high", "rules": above(6_000), "effects": [points(70), points(7)] },
        { "id": "any", "effects": [points(1)] },
    ]);
    let mut shop = shop_of(vec![rule("r", paid(), earnings)]);
    let mut small = order();
    small["discount_amount"] = json!(3_000);
    small["id"] = json!("ord_2");
    assert_eq!(first(&shop.pay(&order(), at(NOON))), Ok(("high".to_owned(), vec![Ok(70), Ok(7)])));
    assert_eq!(first(&shop.pay(&small, at(NOON))), Ok(("any".to_owned(), vec![Ok(1)])));
    shop.tiers.push((0, "lts_1", "lt_gold"));
    small["id"] = json!("ord_3");
    assert_eq!(first(&shop.pay(&small, at(NOON))), Ok(("gold".to_owned(), vec![Ok(100)])));
}

#[test]
fn rules_require_members_and_tiers() {
    let holds_test = |name: &str, operator: &str, value: &str| {
        let mut test = json!({ "name": name, "conditions": { operator: [value] } });
        if name == "member.metadata" {
            test["property"] = json!("band");
        }
        let tests = json!({ "1": test, "logic": "1" });
        let mut own = program("lprg_1");
        own["member"] = json!({ "band": "a" });
        let rules = vec![rule("r", paid(), json!([{ "id": "e", "rules": tests, "effects": [points(1)] }]))];
        let mut shop = Shop::new(catalogue(), customer(), vec![(own, rules)]);
        shop.tiers.push((0, "lts_1", "lt_1"));
        first(&shop.pay(&order(), at(NOON))).is_ok()
    };
    assert!(holds_test("member.metadata", "$is", "a") && !holds_test("member.metadata", "$is", "b"));
    assert!(holds_test("customer.loyalty.tier", "$is", "lt_1") && !holds_test("customer.loyalty.tier", "$is", "lt_2"));
    assert!(
        holds_test("customer.loyalty.tier", "$is_not", "lt_2")
            && !holds_test("customer.loyalty.tier", "$is_not", "lt_1")
    );
}

#[test]
fn an_order_earns_once_and_is_revoked_once() {
    let mut shop = shop_of(vec![rule("r", paid(), json!([{ "id": "e", "effects": [points(5)] }]))]);
    shop.terms.insert("gold", Terms { revocation: Some(Revocation::ToZero), ..Terms::default() });
    assert_eq!(shop.cancel_order("ord_1"), []);
    assert_eq!(shop.pay(&order(), at(NOON)).fired_rules().count(), 1);
    assert_eq!(shop.pay(&order(), at(NOON)).not_earned, Some(NotEarned::Repeated));
    let back = shop.cancel_order("ord_1");
    let method = EarningCorrection::Revoke(Revocation::ToZero);
    assert_eq!((back.len(), back[0].movement, back[0].stored_earning.earned.points), (1, method, 5));
    assert_eq!(shop.cancel_order("ord_1"), []);
    assert_eq!(shop.pay(&order(), at(NOON)).not_earned, Some(NotEarned::Repeated));
}

#[test]
fn a_definition_without_revocation_keeps_earned_points() {
    let mut shop = shop_of(vec![rule("r", paid(), json!([{ "id": "e", "effects": [points(5)] }]))]);
    shop.pay(&order(), at(NOON));
    assert_eq!(shop.cancel_order("ord_1"), []);
    assert_eq!(shop.pay(&order(), at(NOON)).not_earned, Some(NotEarned::Repeated));
}

#[test]
fn an_order_status_changes_once() {
    use OrderStatus::{Canceled, Created, Fulfilled, Paid};
    assert_eq!(OrderTransition::of(None, Paid), Some(OrderTransition::Paid));
    assert_eq!(OrderTransition::of(Some(Created), Paid), Some(OrderTransition::Paid));
    assert_eq!(OrderTransition::of(Some(Paid), Paid), None);
    assert_eq!(OrderTransition::of(Some(Paid), Fulfilled), None);
    assert_eq!(OrderTransition::of(Some(Fulfilled), Canceled), Some(OrderTransition::Canceled));
    assert_eq!(OrderTransition::of(Some(Canceled), Canceled), None);
}

#[test]
fn rules_share_the_limit_of_a_card_and_the_stock_of_an_incentive() {
    let gift = json!({ "type": "INCENTIVE", "incentive": { "id": "linc_1" } });
    let earnings = |id: &str| json!([{ "id": id, "effects": [points(30), gift] }]);
    let rules = vec![rule("r1", paid(), earnings("e1")), rule("r2", paid(), earnings("e2"))];
    let mut shop = shop_of(rules);
    let limits = EarningLimits { global: GlobalLimit::Total(40), ..EarningLimits::default() };
    shop.terms.insert("gold", Terms { limits, ..Terms::default() });
    shop.stock(json!({ "id": "linc_1", "type": "MATERIAL", "status": "ACTIVE", "stock": 1,
        "material": { "type": "PRODUCT", "product": { "id": "mug" } } }));
    let earnings = shop.pay(&order(), at(NOON));
    let effects = |position: usize| earnings.memberships[0].rules[position].outcome.clone().unwrap().effects;
    let gifts: Vec<GrantedContent> = effects(0).into_iter().map(|effect| effect.unwrap().content).collect();
    assert_eq!(gifts[1], GrantedContent::Item(GrantedItem::Product("mug".into())));
    let second = effects(1);
    let GrantedContent::Points(rest) = &second[0].as_ref().unwrap().content else { panic!("points") };
    assert_eq!((rest.points, rest.uncapped, &second[1]), (10, 30, &Err(EffectSkipped::OutOfStock)));
    let mut more = order();
    more["id"] = json!("ord_2");
    let nothing = shop.pay(&more, at(NOON));
    assert_eq!(first(&nothing).unwrap().1, [Err(EffectSkipped::Limited), Err(EffectSkipped::OutOfStock)]);
    assert_eq!(nothing.fired_rules().count(), 0);
}

#[test]
fn an_effect_that_cannot_apply_has_a_reason() {
    let mut shop = shop_of(vec![rule(
        "r",
        paid(),
        json!([{ "id": "e", "effects": [
        { "type": "POINTS", "points": { "value": 1, "card_definition_id": "silver" } },
        { "type": "INCENTIVE", "incentive": { "id": "linc_none" } },
        { "type": "INCENTIVE", "incentive": { "id": "linc_draft" } },
        { "type": "INCENTIVE", "incentive": { "id": "linc_points" } },
    ] }]),
    )]);
    let incentive = |id: &str, status: &str| {
        json!({ "id": id, "type": "POINTS", "status": status, "stock": 3,
        "points": { "value": 9, "card_definition_id": "blue" } })
    };
    shop.stock(incentive("linc_draft", "DRAFT"));
    shop.stock(incentive("linc_points", "ACTIVE"));
    let expected =
        [Err(EffectSkipped::NoCard), Err(EffectSkipped::NoIncentive), Err(EffectSkipped::InactiveIncentive), Ok(9)];
    assert_eq!(first(&shop.pay(&order(), at(NOON))).unwrap().1, expected);
    assert_eq!(shop.taken.get("linc_points"), Some(&1));
}

#[test]
fn a_cooldown_follows_the_time_zone_of_the_project() {
    let mut once = rule("r", paid(), json!([{ "id": "e", "effects": [points(1)] }]));
    once["trigger_limits"] = json!({ "cooldown": { "type": "NO_COOLDOWN" }, "frequency": { "type": "LIMITED", "limits": [
        { "type": "TIME_BASED", "period": { "type": "CURRENT_PERIOD", "current_period": { "unit": "DAY" } },
          "triggers": { "max": 1 } }] } });
    let mut shop = shop_of(vec![once]);
    let mut pay = |id: &str, now: &str| {
        let mut own = order();
        own["id"] = json!(id);
        first(&shop.pay(&own, at(now))).map(|(_, effects)| effects.len())
    };
    // Midnight in Warsaw is 23:00 in Greenwich.
    assert_eq!(pay("a", "2026-03-02T12:00:00Z"), Ok(1));
    assert_eq!(pay("b", "2026-03-02T22:59:59Z"), Err(NotEarned::LimitRefusal(LimitRefusal::Exhausted)));
    assert_eq!(pay("c", "2026-03-02T23:00:00Z"), Ok(1));
}

#[test]
fn a_card_has_an_earning_limit_for_each_period() {
    let mut shop = shop_of(vec![rule("r", paid(), json!([{ "id": "e", "effects": [points(30)] }]))]);
    let limits = EarningLimits {
        global: GlobalLimit::Current(CurrentPeriod::Month, 50),
        most: Some(20),
        min_amount: Some(6_000),
    };
    shop.terms.insert("gold", Terms { limits, ..Terms::default() });
    let mut pay = |id: &str, discount: u64, now: &str| {
        let mut own = order();
        (own["id"], own["discount_amount"]) = (json!(id), json!(discount));
        first(&shop.pay(&own, at(now))).unwrap().1[0]
    };
    assert_eq!(pay("a", 2_001, NOON), Err(EffectSkipped::Limited));
    assert_eq!(pay("b", 2_000, NOON), Ok(20));
    assert_eq!(pay("c", 0, NOON), Ok(20));
    assert_eq!(pay("d", 0, NOON), Ok(10));
    assert_eq!(pay("e", 0, NOON), Err(EffectSkipped::Limited));
    assert_eq!(pay("f", 0, "2026-04-01T00:00:00Z"), Ok(20));
}

#[test]
fn inactive_members_and_programs_earn_nothing() {
    let earnings = || json!([{ "id": "e", "effects": [points(1)] }]);
    let idle = |own: Value, rules: Vec<Value>| {
        let mut shop = Shop::new(catalogue(), customer(), vec![(own, rules)]);
        let earnings = shop.pay(&order(), at(NOON));
        let member = &earnings.memberships[0];
        member.not_earned.clone().or_else(|| member.rules[0].outcome.clone().err())
    };
    let with = |mut document: Value, name: &str, value: Value| {
        document[name] = value;
        document
    };
    let plain = || vec![rule("r", paid(), earnings())];
    assert_eq!(idle(program("p"), plain()), None);
    assert_eq!(idle(with(program("p"), "status", json!("INACTIVE")), plain()), Some(NotEarned::Inactive));
    assert_eq!(idle(with(program("p"), "member_is_away", json!(true)), plain()), Some(NotEarned::Inactive));
    assert_eq!(
        idle(with(program("p"), "start_date", json!("2026-03-02T12:00:00.001Z")), plain()),
        Some(NotEarned::OutOfTime)
    );
    assert_eq!(idle(with(program("p"), "end_date", json!(NOON)), plain()), Some(NotEarned::OutOfTime));
    let changed = |name: &str, value: Value| vec![with(rule("r", paid(), earnings()), name, value)];
    assert_eq!(idle(program("p"), changed("status", json!("DRAFT"))), Some(NotEarned::Inactive));
    let hours =
        |from: &str, to: &str| json!({ "daily": [{ "days_of_week": [1], "start_time": from, "end_time": to }] });
    // Noon in Greenwich on a Monday is one o'clock in Warsaw.
    assert_eq!(idle(program("p"), changed("validity_hours", hours("13:00", "13:00"))), None);
    assert_eq!(idle(program("p"), changed("validity_hours", hours("12:00", "12:59"))), Some(NotEarned::OutOfTime));
    assert_eq!(
        idle(program("p"), changed("trigger_limits", json!({ "cooldown": { "type": "SOON" } }))),
        Some(NotEarned::Unreadable)
    );
    let entered = json!({ "event": "customer.segment.entered", "segment": { "id": "seg_1" } });
    assert_eq!(idle(program("p"), vec![rule("r", entered, earnings())]), Some(NotEarned::OtherTrigger));
}

#[test]
fn each_entry_into_a_segment_earns_once() {
    let entered = json!({ "event": "customer.segment.entered", "segment": { "id": "seg_1" } });
    let mut shop = shop_of(vec![rule("r", entered, json!([{ "id": "e", "effects": [points(3)] }]))]);
    let mut enter = |now: &str| {
        let key = EarningKey::segment("seg_1", "cust_1", at(now));
        shop.earn(EarningEvent::SegmentEntered(Some("seg_1")), &key, at(now)).fired_rules().count()
    };
    assert_eq!([enter(NOON), enter(NOON), enter("2026-03-03T12:00:00Z")], [1, 0, 1]);
}
