//! Generates random projects, carts and requests of every kind, in the API's own JSON: all discounts, scopes with limits, formulas, nested
//! rules, segments, collections, tiers, stacks, cards and sessions. Numbers are small so that cases collide. Most cases are sensible, but
//! not all.

use serde_json::{Map, Value, json};

/// Reproducible random numbers: a 64-bit linear congruential generator of which the high bits are used.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5c21);
        random.below(2);
        random
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Returns true once in `in_how_many` calls on average.
    pub fn once_in(&mut self, in_how_many: u64) -> bool {
        self.below(in_how_many) == 0
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

const PRODUCTS: [&str; 5] = ["prod_a", "prod_b", "prod_c", "prod_d", "prod_free"];
const SKUS: [(&str, &str); 3] = [("sku_a1", "prod_a"), ("sku_a2", "prod_a"), ("sku_b1", "prod_b")];
const COLLECTIONS: [&str; 4] = ["pc_static", "pc_brand", "pc_price", "pc_a11pr0dUc75"];
const SEGMENTS: [&str; 2] = ["seg_vip", "seg_static"];
const CATEGORIES: [&str; 4] = ["cat_a", "cat_b", "cat_x", "cat_j"];
const FORMULAS: [&str; 6] = [
    "IF(ORDER_AMOUNT > 20;15;10)",
    "ROUND(ORDER_AMOUNT * 0.1;1)",
    "MIN(ORDER_UNITS_QUANTITY;7)",
    "CUSTOMER_METADATA(\"age\") / 3",
    "10 / (ORDER_AMOUNT - ORDER_AMOUNT)",
    "DEFAULT_TO(ORDER_METADATA(\"bonus\");2)",
];

/// One case: the known facts, the request, and the verb.
pub struct Case {
    pub given: Value,
    pub request: Value,
    pub verb: &'static str,
}

/// The case of this number.
pub fn case(number: u64) -> Case {
    let mut random = Random::new(number);
    let random = &mut random;
    let rules: Vec<Value> = (0..4).map(|position| rule(random, position)).collect();
    let vouchers: Vec<Value> = (0..6).map(|position| voucher(random, position)).collect();
    let tiers: Vec<Value> = (0..3).map(|position| tier(random, position)).collect();
    let targets = ["v_0", "v_1", "v_2", "promo_0", "promo_1", "camp_coupons"];
    let assignments: Vec<Value> = rules
        .iter()
        .map(|rule| json!({ "id": format!("asgm_{}", rule["id"]), "rule_id": rule["id"], "related_object_id": random.pick(&targets) }))
        .collect();
    let given = json!({
        "complete": !random.once_in(8), "counted": !random.once_in(8),
        "time_zone": { "name": "Europe/Warsaw", "offset": 3600, "transitions": [
            { "at": "2026-03-29T01:00:00Z", "offset": 7200 }, { "at": "2026-10-25T01:00:00Z", "offset": 3600 } ] },
        "stacking_rules": stacking_rules(random),
        "categories": CATEGORIES.iter().zip([1, 0, 2, 1]).map(|(id, hierarchy)| json!({ "id": id, "name": id, "hierarchy": hierarchy })).collect::<Vec<_>>(),
        "campaigns": [
            { "id": "camp_coupons", "name": "Coupons", "campaign_type": "DISCOUNT_COUPONS", "active": true, "category_id": random.pick(&CATEGORIES) },
            { "id": "camp_promo", "name": "Promotion", "campaign_type": "PROMOTION", "active": !random.once_in(9) },
            { "id": "camp_loyalty", "name": "Loyalty", "campaign_type": "LOYALTY_PROGRAM", "active": true },
        ],
        "products": PRODUCTS.iter().map(|id| product(random, id)).collect::<Vec<_>>(),
        "skus": SKUS.iter().map(|(id, product)| json!({ "id": id, "source_id": format!("{id}_s"), "product_id": product, "sku": id, "price": price(random) })).map(without_nulls).collect::<Vec<_>>(),
        "product_collections": collections(),
        "segments": [
            { "id": "seg_vip", "name": "vip", "type": "auto-update", "filter": { "junction": "and", "metadata.vip": { "conditions": { "$is": [true] } } } },
            { "id": "seg_static", "name": "static", "type": "static", "customers": ["cust_1"] },
        ],
        "customers": [{ "id": "cust_1", "source_id": "ann", "metadata": { "vip": true, "age": 41, "tags": ["a", "b"] } }],
        "rewards": rewards(),
        "reward_assignments": [
            { "id": "rewa_1", "reward_id": "rew_coin", "related_object_id": "camp_loyalty", "related_object_type": "campaign", "parameters": {} },
            { "id": "rewa_2", "reward_id": "rew_mug", "related_object_id": "camp_loyalty", "related_object_type": "campaign", "parameters": { "loyalty": { "points": 40 } } },
        ],
        "vouchers": vouchers, "promotion_tiers": tiers,
        "promotion_stacks": [{ "id": "stack_1", "name": "both", "campaign_id": "camp_promo", "tiers": { "ids": ["promo_1", "promo_0"], "hierarchy_mode": "MANUAL" } }],
        "validation_rules": rules, "validation_rules_assignments": assignments,
    });
    let verb = if random.once_in(5) { "qualify" } else { "validate" };
    let request = if verb == "qualify" { qualification(random) } else { request(random) };
    Case { given, request, verb }
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, field| !field.is_null());
    }
    value
}

/// Returns `value` rarely, otherwise nothing.
fn rarely(random: &mut Random, in_how_many: u64, value: impl FnOnce(&mut Random) -> Value) -> Value {
    if random.once_in(in_how_many) { value(random) } else { Value::Null }
}

fn price(random: &mut Random) -> Value {
    if random.once_in(6) { Value::Null } else { json!(random.below(3_000)) }
}

fn limit(random: &mut Random) -> Value {
    rarely(random, 4, |random| json!(random.below(900)))
}

fn formula(random: &mut Random) -> Value {
    rarely(random, 5, |random| json!(random.pick(&FORMULAS)))
}

fn product(random: &mut Random, id: &str) -> Value {
    without_nulls(json!({ "id": id, "source_id": format!("{id}_s"), "name": id, "price": price(random),
        "metadata": { "brand": random.pick(&["acme", "zeta"]), "weight": random.below(9) } }))
}

fn collections() -> Value {
    json!([
        { "id": "pc_static", "name": "static", "type": "STATIC", "products": [{ "id": "prod_a", "object": "product" }, { "id": "sku_b1", "product_id": "prod_b", "object": "sku" }] },
        { "id": "pc_brand", "name": "brand", "type": "AUTO_UPDATE", "filter": { "junction": "AND", "metadata.brand": { "conditions": { "$is": ["acme"] } } } },
        { "id": "pc_price", "name": "price", "type": "AUTO_UPDATE", "filter": { "junction": "or", "price": { "conditions": { "$more_than": [1000] } }, "name": { "conditions": { "$starts_with": ["prod_c"] } } } },
    ])
}

fn rewards() -> Value {
    json!([
        { "id": "rew_coin", "name": "Pay", "type": "COIN", "parameters": { "coin": { "exchange_ratio": 5, "points_ratio": 20 } } },
        { "id": "rew_mug", "name": "Mug", "type": "MATERIAL", "parameters": { "product": { "id": "prod_a" } } },
    ])
}

fn unit(random: &mut Random) -> Value {
    without_nulls(
        json!({ "unit_off": 1 + random.below(4), "unit_type": random.pick(&["prod_a", "prod_d", "prod_free", "sku_a1", "prod_5h1pp1ng"]),
        "effect": random.pick(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"]), "unit_off_formula": formula(random) }),
    )
}

fn discount(random: &mut Random) -> Value {
    const AMOUNT: [&str; 5] = [
        "APPLY_TO_ORDER",
        "APPLY_TO_ITEMS",
        "APPLY_TO_ITEMS_BY_QUANTITY",
        "APPLY_TO_ITEMS_PROPORTIONALLY",
        "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
    ];
    let whole =
        |random: &mut Random| rarely(random, 2, |random| json!(random.pick(&["APPLY_TO_ORDER", "APPLY_TO_ITEMS"])));
    let made = match random.below(9) {
        0..=2 => {
            let percent: Value =
                serde_json::from_str::<Value>(random.pick::<&str>(&["5", "10", "12.5", "33.3333", "100"])).unwrap();
            json!({ "type": "PERCENT", "percent_off": percent, "percent_off_formula": formula(random), "effect": whole(random),
                    "amount_limit": limit(random), "aggregated_amount_limit": limit(random) })
        }
        3..=5 => json!({ "type": "AMOUNT", "amount_off": random.below(1_500), "amount_off_formula": formula(random),
            "effect": rarely(random, 1, |random| json!(random.pick(&AMOUNT))), "aggregated_amount_limit": limit(random) }),
        6 => {
            json!({ "type": "FIXED", "fixed_amount": random.below(2_000), "fixed_amount_formula": formula(random), "effect": whole(random) })
        }
        7 => {
            let mut single = unit(random);
            single["type"] = json!("UNIT");
            single
        }
        _ => json!({ "type": "UNIT", "effect": "ADD_MANY_ITEMS", "units": [unit(random), unit(random)] }),
    };
    without_nulls(made)
}

/// Generates defects of a redeemable as fields of its document.
fn flaw(random: &mut Random) -> Value {
    match random.below(16) {
        0 => json!({ "active": false }),
        1 => json!({ "start_date": "2026-03-29T00:30:00.001Z" }),
        2 => json!({ "expiration_date": "2026-03-29T00:29:59.999Z" }),
        3 => json!({ "validity_day_of_week": [0, 3] }),
        4 => {
            json!({ "validity_hours": { "daily": [{ "start_time": "01:00", "expiration_time": "03:00", "days_of_week": [0] }] } })
        }
        5 => {
            json!({ "start_date": "2026-01-31T10:00:00Z", "validity_timeframe": { "interval": "P1M", "duration": "P2D" } })
        }
        _ => json!({}),
    }
}

fn joined(parts: &[Value]) -> Value {
    let fields = parts.iter().filter_map(Value::as_object).flatten();
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

fn voucher(random: &mut Random, position: u64) -> Value {
    let own = json!({ "id": format!("v_{position}"), "code": format!("CODE{position}"), "metadata": { "rank": random.below(5) } });
    let category = without_nulls(json!({ "category_id": rarely(random, 2, |random| json!(random.pick(&CATEGORIES))) }));
    let used = random.below(3);
    let quantity = if random.once_in(4) { json!(used + random.below(2)) } else { Value::Null };
    let grant = match position {
        4 => {
            let loaded = random.below(3_000);
            let spent = random.below(loaded + 1);
            json!({ "type": "GIFT_VOUCHER", "redemption": { "redeemed_amount": spent, "quantity": quantity, "redeemed_quantity": used },
                    "gift": { "amount": loaded, "balance": loaded - spent, "effect": random.pick(&["APPLY_TO_ORDER", "APPLY_TO_ITEMS"]) } })
        }
        5 => json!({ "type": "LOYALTY_CARD", "campaign_id": "camp_loyalty", "holder_id": "cust_1",
            "loyalty_card": { "points": 100, "balance": random.below(101) } }),
        _ => {
            let campaign = if random.once_in(3) { json!("camp_coupons") } else { Value::Null };
            without_nulls(json!({ "type": "DISCOUNT_VOUCHER", "discount": discount(random), "campaign_id": campaign,
                "redemption": { "quantity": quantity, "redeemed_quantity": used } }))
        }
    };
    joined(&[own, category, flaw(random), grant])
}

fn tier(random: &mut Random, position: u64) -> Value {
    let own = json!({ "id": format!("promo_{position}"), "name": format!("Tier {position}"), "banner": "now", "campaign_id": "camp_promo", "hierarchy": position + 1,
        "action": { "discount": discount(random) }, "metadata": {}, "created_at": format!("2026-01-0{}T00:00:00Z", position + 1) });
    joined(&[own, flaw(random)])
}

fn goods(random: &mut Random) -> Value {
    match random.below(3) {
        0 => json!({ "object": "product", "id": random.pick(&PRODUCTS) }),
        1 => json!({ "object": "sku", "id": random.pick(&SKUS).0 }),
        _ => json!({ "object": "products_collection", "id": random.pick(&COLLECTIONS) }),
    }
}

fn entry(random: &mut Random) -> Value {
    const EFFECTS: [&str; 5] = [
        "APPLY_TO_EVERY",
        "APPLY_TO_CHEAPEST",
        "APPLY_FROM_CHEAPEST",
        "APPLY_TO_MOST_EXPENSIVE",
        "APPLY_FROM_MOST_EXPENSIVE",
    ];
    let few = |random: &mut Random| rarely(random, 4, |random| json!(1 + random.below(4)));
    let fields = without_nulls(json!({
        "effect": random.pick(&EFFECTS), "price": rarely(random, 4, |random| json!(random.below(1_000))), "price_formula": formula(random),
        "quantity_limit": few(random), "aggregated_quantity_limit": few(random), "amount_limit": limit(random),
        "aggregated_amount_limit": limit(random), "skip_initially": rarely(random, 3, |random| json!(random.below(3))),
        "repeat": few(random), "target": rarely(random, 2, |random| json!(random.pick(&["ITEM", "UNIT"]))),
    }));
    joined(&[goods(random), fields])
}

/// Generates one test of a rule: every family of names with values that sometimes match.
fn leaf(random: &mut Random) -> Value {
    const NUMBER: [&str; 5] = ["$more_than", "$less_than", "$more_than_or_equal", "$less_than_or_equal", "$is"];
    const VALUE: [&str; 6] = ["$is", "$is_not", "$in", "$not_in", "$contains", "$starts_with"];
    let number = |random: &mut Random, bound: u64| json!({ (*random.pick(&NUMBER)): [random.below(bound)] });
    let list = |random: &mut Random| json!({ (*random.pick(&["$is", "$is"])): [goods(random), goods(random)] });
    let nested = |random: &mut Random| match random.below(3) {
        0 => {
            json!({ "1": { "name": "order.items.aggregated_amount", "conditions": number(random, 4_000) }, "logic": "1" })
        }
        1 => json!({ "1": { "name": "order.items.aggregated_quantity", "conditions": number(random, 6) } }),
        _ => json!({}),
    };
    let message = without_nulls(json!({ "message": rarely(random, 3, |_| json!("Not today.")) }));
    let test = match random.below(14) {
        0..=2 => {
            json!({ "name": random.pick(&["order.amount", "order.initial_amount", "order.total_amount"]), "conditions": number(random, 6_000) })
        }
        3 => json!({ "name": "order.items.count", "conditions": number(random, 8) }),
        4 => {
            json!({ "name": random.pick(&["order.items.price_any", "order.items.price_each"]), "conditions": number(random, 2_000) })
        }
        5..=7 => {
            json!({ "name": random.pick(&["order.items.any", "order.items.every", "order.items.none", "order.items.cheapest", "order.items.most_expensive"]),
            "conditions": list(random), "rules": nested(random) })
        }
        8 => {
            json!({ "name": "customer.segment", "conditions": { (*random.pick(&["$is", "$is_not"])): [random.pick(&SEGMENTS)] } })
        }
        9 if random.once_in(3) => {
            json!({ "name": "customer.metadata", "property": "tags", "conditions": { (*random.pick(&["$count", "$count_more"])): [random.below(3)] } })
        }
        9 => {
            json!({ "name": "customer.metadata", "property": "tags", "conditions": { (*random.pick(&VALUE)): [random.pick(&["a", "b", "z"])] } })
        }
        10 => json!({ "name": "customer.metadata", "property": "age", "conditions": number(random, 60) }),
        11 => {
            json!({ "name": "order.metadata", "property": "channel", "conditions": { (*random.pick(&VALUE)): ["web"] } })
        }
        12 => {
            json!({ "name": "redemption.count.per_customer", "conditions": { "$less_than_or_equal": [random.below(3)] } })
        }
        _ => json!({ "name": "product.metadata", "property": "brand", "conditions": { "$is": ["acme"] } }),
    };
    let message = if message.as_object().is_some_and(Map::is_empty) { json!({}) } else { json!({ "error": message }) };
    joined(&[json!({ "property": null, "rules": {} }), test, message])
}

fn rule(random: &mut Random, position: u64) -> Value {
    let leaves = random.below(4);
    let mut rules = Map::new();
    for key in 1..=leaves {
        rules.insert(key.to_string(), leaf(random));
    }
    let logic = match leaves {
        0 => "",
        1 => "1",
        2 => *random.pick(&["1 and 2", "1 or 2", "1"]),
        _ => *random.pick(&["1 and 2 and 3", "(1 AND 2) OR 3", "1 or (2 and 3)", "1 or 2"]),
    };
    rules.insert("logic".into(), json!(logic));
    let some = |random: &mut Random, most: u64| (0..random.below(most)).map(|_| entry(random)).collect::<Vec<_>>();
    let bundle = rarely(random, 5, |random| {
        json!({ "1": { "name": "order.items.any", "conditions": { "$is": [{ "object": "product", "id": "prod_a", "type": "product_or_sku" }] },
                  "rules": { "1": { "name": "order.items.aggregated_quantity", "conditions": { "$is": [1 + random.below(2)] } }, "logic": "1" } },
                "logic": "1", "limit": 1 + random.below(3) })
    });
    let scope = json!({ "included_all": random.once_in(6), "included": some(random, 3), "excluded": some(random, 2) });
    without_nulls(
        json!({ "id": format!("val_{position}"), "name": format!("rule {position}"), "rules": rules, "bundle_rules": bundle, "applicable_to": scope }),
    )
}

fn stacking_rules(random: &mut Random) -> Value {
    let limit = |random: &mut Random| rarely(random, 3, |random| json!(1 + random.below(4)));
    let list = |random: &mut Random, category: &str| if random.once_in(4) { json!([category]) } else { json!([]) };
    without_nulls(json!({
        "applicable_redeemables_limit": limit(random), "applicable_redeemables_per_category_limit": limit(random),
        "applicable_exclusive_redeemables_limit": limit(random), "exclusive_categories": list(random, "cat_x"), "joint_categories": list(random, "cat_j"),
        "redeemables_application_mode": random.pick(&["ALL", "PARTIAL", "PARTIAL"]),
        "redeemables_sorting_rule": random.pick(&["REQUESTED_ORDER", "CATEGORY_HIERARCHY"]),
        "redeemables_products_application_mode": random.pick(&["STACK", "STACK", "ONCE"]),
        "redeemables_no_effect_rule": random.pick(&["REDEEM_ANYWAY", "SKIP"]),
        "no_effect_skip_categories": list(random, "cat_a"),
        "discount_calculation_mode": random.pick(&["DISCOUNTED_AMOUNT", "DISCOUNTED_AMOUNT", "INITIAL_AMOUNT"]),
        "initial_amount_mode_categories": list(random, "cat_b"),
    }))
}

fn order(random: &mut Random) -> Value {
    let line = |random: &mut Random| {
        let which = match random.below(3) {
            0 => json!({ "sku_id": random.pick(&SKUS).0 }),
            1 => json!({ "product_id": random.pick(&PRODUCTS) }),
            _ => json!({ "source_id": format!("{}_s", random.pick(&PRODUCTS)), "related_object": "product" }),
        };
        let quantity = if random.once_in(20) { 2_147_483_648 } else { 1 + random.below(5) };
        let sent = json!({ "quantity": quantity, "price": rarely(random, 2, price), "discount_amount": rarely(random, 8, |random| json!(random.below(200))),
            "metadata": rarely(random, 4, |random| json!({ "size": random.pick(&["s", "m"]) })) });
        joined(&[which, without_nulls(sent)])
    };
    let lines: Vec<Value> = (0..random.below(6)).map(|_| line(random)).collect();
    let amount = rarely(random, 4, |random| json!(random.below(9_000)));
    let metadata =
        rarely(random, 3, |random| json!({ "channel": random.pick(&["web", "shop"]), "bonus": random.below(9) }));
    without_nulls(
        json!({ "items": lines, "amount": amount, "discount_amount": rarely(random, 8, |random| json!(random.below(300))), "metadata": metadata }),
    )
}

fn customer(random: &mut Random) -> Value {
    match random.below(4) {
        0 => Value::Null,
        1 => json!({ "source_id": "ann" }),
        2 => json!({ "id": "cust_1", "metadata": { "age": random.below(80) } }),
        _ => json!({ "source_id": "bob", "metadata": { "vip": false, "tags": [] } }),
    }
}

fn request(random: &mut Random) -> Value {
    let mut redeemables = Vec::new();
    if random.once_in(12) {
        redeemables.push(json!({ "object": "promotion_stack", "id": "stack_1" }));
    } else {
        for position in 0..6_u64 {
            if random.once_in(2) {
                continue;
            }
            let id = format!("CODE{position}");
            redeemables.push(match position {
                4 => without_nulls(json!({ "object": "voucher", "id": id, "gift": rarely(random, 2, |random| json!({ "credits": random.below(900) })) })),
                5 => json!({ "object": "voucher", "id": id, "reward": without_nulls(json!({ "id": random.pick(&["rew_coin", "rew_mug", "rew_none"]),
                    "points": rarely(random, 2, |random| json!(1 + random.below(60))) })) }),
                _ => json!({ "object": "voucher", "id": id }),
            });
        }
        if random.once_in(2) || redeemables.is_empty() {
            redeemables.push(json!({ "object": "promotion_tier", "id": format!("promo_{}", random.below(3)) }));
        }
        if random.once_in(10) {
            redeemables.push(json!({ "object": "voucher", "id": "NOPE" }));
        }
        let turn = usize::try_from(random.below(redeemables.len() as u64)).unwrap();
        redeemables.rotate_left(turn);
    }
    let expand: Vec<&str> = ["redeemable", "category", "trace"].into_iter().filter(|_| random.once_in(3)).collect();
    let session = rarely(
        random,
        6,
        |random| json!({ "type": "LOCK", "ttl": random.below(9), "ttl_unit": random.pick(&["DAYS", "HOURS", "NANOSECONDS"]) }),
    );
    let order = if random.once_in(15) { Value::Null } else { order(random) };
    without_nulls(json!({ "redeemables": redeemables, "customer": customer(random), "order": order, "session": session,
        "options": { "expand": expand }, "metadata": rarely(random, 4, |_| json!({ "till": 4 })) }))
}

fn qualification(random: &mut Random) -> Value {
    const SCENARIOS: [&str; 8] = [
        "ALL",
        "CUSTOMER_WALLET",
        "AUDIENCE_ONLY",
        "PRODUCTS",
        "PRODUCTS_DISCOUNT",
        "PROMOTION_STACKS",
        "PRODUCTS_BY_CUSTOMER",
        "PRODUCTS_DISCOUNT_BY_CUSTOMER",
    ];
    without_nulls(json!({ "scenario": random.pick(&SCENARIOS), "customer": customer(random), "order": order(random),
        "options": { "limit": 1 + random.below(6), "sorting_rule": random.pick(&["DEFAULT", "BEST_DEAL", "LEAST_DEAL"]) } }))
}
