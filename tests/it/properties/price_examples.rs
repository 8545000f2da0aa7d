//! Examples of prices of goods: what makes one depend on the cart, and bad requests.

use serde_json::{Value, json};

use crate::properties::fixtures::text;
use crate::properties::prices::{answer, prepare};

/// Returns a project with one promotion tier of this discount, rule and scope.
fn project(discount: &Value, tests: &Value, scope: &Value) -> Value {
    let goods = json!([{ "object": "product", "id": "prod_a", "effect": "APPLY_TO_EVERY" }]);
    let included = if scope == "prod_a" { goods } else { json!([]) };
    json!({
        "complete": true,
        "campaigns": [{ "id": "camp_a", "name": "a", "campaign_type": "PROMOTION" }],
        "products": [
            { "id": "prod_a", "name": "a", "price": 1_000, "metadata": { "brand": "nut" } },
            { "id": "prod_b", "name": "b", "price": 500 }, { "id": "prod_c", "name": "c" },
        ],
        "segments": [{ "id": "seg_1", "name": "s", "type": "static", "customers": ["cust_1"] }],
        "customers": [{ "id": "cust_1", "object": "customer" }],
        "promotion_tiers": [{ "id": "promo_1", "name": "t", "campaign_id": "camp_a", "action": { "discount": discount } }],
        "validation_rules": [{ "id": "val_1", "name": "r", "rules": tests,
                               "applicable_to": { "included_all": false, "included": included, "excluded": [] } }],
        "validation_rules_assignments": [{ "rule_id": "val_1", "related_object_id": "promo_1", "id": "asgm_1" }],
    })
}

/// Returns the discounted price of the two products, and whether each depends on the cart.
fn prices_of(given: &Value, customer: Value) -> Value {
    let prices = answer(&prepare(given), "prices", &json!({ "ids": ["prod_a", "prod_b"], "customer": customer }));
    let of = |at: usize| json!([prices["prices"][at]["discounted_price"], prices["prices"][at]["from"]]);
    json!([of(0), of(1)])
}

fn one(test: Value) -> Value {
    json!({ "1": test, "logic": "1" })
}

#[test]
fn a_price_says_from_where_the_cart_decides() {
    let none = || json!({ "logic": "" });
    let percent = || json!({ "type": "PERCENT", "percent_off": 10 });
    let of_customer = || one(json!({ "name": "customer.segment", "conditions": { "$is": ["seg_1"] } }));
    let goods = json!([{ "object": "product", "id": "prod_a" }]);
    let amount = json!({ "name": "order.amount", "conditions": { "$more_than": [700] } });
    let bought = json!({ "name": "order.items.any", "conditions": { "$is": goods } });
    let not_bought = json!({ "name": "order.items.none", "conditions": { "$is": goods } });
    let brand = json!({ "name": "product.metadata", "property": "brand", "conditions": { "$is": ["nut"] } });
    let plain_line =
        json!({ "name": "order.items.metadata_any", "property": "engraving", "conditions": { "$is_unknown": true } });
    let off = |effect: &str| json!({ "type": "AMOUNT", "amount_off": 100, "effect": effect });
    let unit = json!({ "type": "UNIT", "unit_off": 1, "unit_type": "prod_b", "effect": "ADD_NEW_ITEMS" });
    let limited = json!({ "type": "PERCENT", "percent_off": 10, "amount_limit": 400 });
    let anonymous = || Value::Null;
    let known = || json!({ "id": "cust_1" });
    let cases = [
        ("a share of any order", percent(), none(), "", anonymous(), json!([[900, false], [450, false]])),
        ("one product", percent(), none(), "prod_a", anonymous(), json!([[900, false], [500, false]])),
        (
            "an amount of the order reached",
            percent(),
            one(amount.clone()),
            "",
            anonymous(),
            json!([[900, true], [500, true]]),
        ),
        ("the same for one product", percent(), one(amount), "prod_a", anonymous(), json!([[900, true], [500, false]])),
        ("a product that must be there", percent(), one(bought), "", anonymous(), json!([[900, false], [500, true]])),
        (
            "a product that must not be there",
            percent(),
            one(not_bought),
            "",
            anonymous(),
            json!([[1_000, false], [450, true]]),
        ),
        ("data of the product", percent(), one(brand), "prod_a", anonymous(), json!([[900, false], [500, false]])),
        ("no customer named", percent(), of_customer(), "", anonymous(), json!([[1_000, true], [500, true]])),
        ("a customer in the segment", percent(), of_customer(), "", known(), json!([[900, false], [450, false]])),
        (
            "a customer not in it",
            percent(),
            of_customer(),
            "",
            json!({ "id": "cust_2" }),
            json!([[1_000, false], [500, false]]),
        ),
        ("an amount off the order", off("APPLY_TO_ORDER"), none(), "", anonymous(), json!([[900, true], [400, true]])),
        (
            "an amount off each line",
            off("APPLY_TO_ITEMS"),
            none(),
            "prod_a",
            anonymous(),
            json!([[900, true], [500, false]]),
        ),
        (
            "an amount off each unit",
            off("APPLY_TO_ITEMS_BY_QUANTITY"),
            none(),
            "prod_a",
            anonymous(),
            json!([[900, false], [500, false]]),
        ),
        ("no data of the line", percent(), one(plain_line), "prod_a", anonymous(), json!([[900, true], [500, false]])),
        ("a free unit of another", unit, none(), "", anonymous(), json!([[1_000, false], [500, true]])),
        ("a share with a limit", limited, none(), "", anonymous(), json!([[900, true], [450, true]])),
    ];
    for (name, discount, tests, scope, customer, expected) in cases {
        assert_eq!(prices_of(&project(&discount, &tests, &json!(scope)), customer), expected, "{name}");
    }
}

/// A test with nested tests may bar one unit of a product and not two.
#[test]
fn a_test_of_absent_goods_with_nested_tests_makes_a_price_depend_on_the_cart() {
    let goods = json!([{ "object": "product", "id": "prod_a" }]);
    let units = |condition: Value| one(json!({ "name": "order.items.quantity", "conditions": condition }));
    let not_bought = |condition: Value| {
        one(json!({ "name": "order.items.none", "conditions": { "$is": goods }, "rules": units(condition) }))
    };
    let percent = json!({ "type": "PERCENT", "percent_off": 10 });
    let prices = |tests: Value| prices_of(&project(&percent, &tests, &json!("")), Value::Null);
    assert_eq!(prices(not_bought(json!({ "$less_than": [2] }))), json!([[1_000, true], [450, true]]));
    assert_eq!(prices(not_bought(json!({ "$more_than": [1] }))), json!([[900, true], [450, true]]));
    let of_customer = json!({ "name": "customer.segment", "conditions": { "$is": ["seg_1"] }, "rules": units(json!({ "$more_than": [1] })) });
    let prices = prices_of(&project(&percent, &one(of_customer), &json!("")), json!({ "id": "cust_1" }));
    assert_eq!(prices, json!([[1_000, true], [500, true]]));
}

/// Returns a project with a share off each of two products, in these categories, and these stacking rules.
fn of_two(categories: [Value; 2], rules: Value) -> Value {
    let mut given =
        project(&json!({ "type": "PERCENT", "percent_off": 10 }), &json!({ "logic": "" }), &json!("prod_a"));
    for (list, id, reference) in [
        ("promotion_tiers", "promo_2", "id"),
        ("validation_rules", "val_2", "id"),
        ("validation_rules_assignments", "asgm_2", "id"),
    ] {
        let mut other = given[list][0].clone();
        other[reference] = json!(id);
        given[list].as_array_mut().unwrap().push(other);
    }
    given["validation_rules"][1]["applicable_to"]["included"][0]["id"] = json!("prod_b");
    given["validation_rules_assignments"][1]["rule_id"] = json!("val_2");
    given["validation_rules_assignments"][1]["related_object_id"] = json!("promo_2");
    given["categories"] = ["cat_1", "cat_2"].map(|id| json!({ "id": id, "name": id, "hierarchy": 1 })).to_vec().into();
    for (at, category) in categories.into_iter().enumerate() {
        given["promotion_tiers"][at]["category_id"] = category;
    }
    given["stacking_rules"] = rules;
    given
}

/// What the promotions of both products may exclude in a cart of both is no price without reserve.
#[test]
fn a_price_says_from_where_the_stacking_rules_have_no_room_for_the_promotions_of_a_larger_cart() {
    let none = || Value::Null;
    let steady = json!([[900, false], [450, false]]);
    let dependent = json!([[900, true], [450, true]]);
    let cases = [
        ("room for both", [none(), none()], json!({}), &steady),
        ("room for one", [none(), none()], json!({ "applicable_redeemables_limit": 1 }), &dependent),
        ("a request of one", [none(), none()], json!({ "redeemables_limit": 1 }), &dependent),
        (
            "one of each category",
            [json!("cat_1"), json!("cat_2")],
            json!({ "applicable_redeemables_per_category_limit": 1 }),
            &steady,
        ),
        (
            "one of a category",
            [json!("cat_1"), json!("cat_1")],
            json!({ "applicable_redeemables_per_category_limit": 1 }),
            &dependent,
        ),
        ("an exclusive category", [json!("cat_1"), none()], json!({ "exclusive_categories": ["cat_1"] }), &dependent),
        (
            "exclusive and joint",
            [json!("cat_1"), json!("cat_2")],
            json!({ "exclusive_categories": ["cat_1"], "joint_categories": ["cat_2"] }),
            &steady,
        ),
        (
            "one exclusive",
            [json!("cat_1"), json!("cat_1")],
            json!({ "exclusive_categories": ["cat_1"], "applicable_exclusive_redeemables_limit": 1 }),
            &dependent,
        ),
        (
            "two exclusive",
            [json!("cat_1"), json!("cat_1")],
            json!({ "exclusive_categories": ["cat_1"], "applicable_exclusive_redeemables_limit": 2 }),
            &steady,
        ),
    ];
    for (name, categories, rules, expected) in cases {
        assert_eq!(&prices_of(&of_two(categories, rules), Value::Null), expected, "{name}");
    }
}

#[test]
fn bad_requests_name_the_field_and_the_bound() {
    let prepared =
        prepare(&project(&json!({ "type": "PERCENT", "percent_off": 10 }), &json!({ "logic": "" }), &json!("")));
    let details = |request: Value| text(&answer(&prepared, "prices", &request), "details");
    assert_eq!(details(json!({})), "Payload must have required property 'ids'");
    assert_eq!(details(json!({ "ids": 7 })), "Property .ids must be an array (actual value is `7`)");
    assert_eq!(details(json!({ "ids": ["prod_a", 5] })), "Property .ids[1] must be a string (actual value is `5`)");
    assert_eq!(details(json!({ "ids": [""] })), "Property .ids[0] must NOT be empty (actual value is `\"\"`)");
    let many = vec!["prod_a"; 10_001];
    assert_eq!(
        details(json!({ "ids": many })),
        "Property .ids must NOT have more than 10000 items (actual value is `10001`)"
    );
    assert_eq!(
        details(json!({ "ids": [], "order": {} })),
        "Property .order is not allowed: every product is priced alone"
    );
    let prices = answer(&prepared, "prices", &json!({ "ids": ["prod_c", "prod_x"] }));
    assert_eq!(prices["prices"][0]["error"]["details"], "it has no price in the catalogue");
    assert_eq!(prices["prices"][1]["error"]["key"], "not_found");
    assert_eq!(answer(&prepared, "prices", &json!({ "ids": [] }))["prices"], json!([]));
}

/// Each product has its own steps: the search for it in a large collection does not use up those of the others.
#[test]
fn the_last_of_many_products_has_the_price_of_the_first() {
    const MEMBERS: usize = 1_000;
    let mut given = project(&json!({ "type": "PERCENT", "percent_off": 10 }), &json!({ "logic": "" }), &json!(""));
    let members = (0..MEMBERS).map(|at| json!({ "id": format!("prod_{at}"), "object": "product" }));
    let members: Vec<Value> = members.chain([json!({ "id": "prod_a", "object": "product" })]).collect();
    given["product_collections"] = json!([{ "id": "pc_sale", "name": "sale", "type": "STATIC", "products": members }]);
    let sale = json!([{ "object": "products_collection", "id": "pc_sale", "effect": "APPLY_TO_EVERY" }]);
    given["validation_rules"][0]["applicable_to"]["included"] = sale;
    let prices = answer(&prepare(&given), "prices", &json!({ "ids": vec!["prod_a"; 10_000] }));
    for at in [0, 9_999] {
        assert_eq!(prices["prices"][at]["discounted_price"], 900, "{}", prices["prices"][at]);
    }
}

/// The steps of a call are bounded, so that no list blocks a page. What is left out is no price, and another request gives it.
#[test]
fn products_beyond_the_steps_of_a_call_have_no_price_yet() {
    const PRODUCTS: usize = 2_000;
    let mut given = project(&json!({ "type": "PERCENT", "percent_off": 10 }), &json!({ "logic": "" }), &json!(""));
    for at in 2..8 {
        let mut tier = given["promotion_tiers"][0].clone();
        (tier["id"], tier["action"]["discount"]["percent_off"]) = (json!(format!("promo_{at}")), json!(at));
        given["promotion_tiers"].as_array_mut().unwrap().push(tier);
    }
    given["stacking_rules"] = json!({ "applicable_redeemables_limit": 7 });
    let products = (0..PRODUCTS).map(|at| json!({ "id": format!("prod_{at}"), "name": "p", "price": 10_000 + at }));
    given["products"] = products.collect();
    let ids: Vec<String> = (0..PRODUCTS).map(|at| format!("prod_{at}")).collect();
    let prepared = prepare(&given);
    let prices = answer(&prepared, "prices", &json!({ "ids": ids }));
    let prices = prices["prices"].as_array().unwrap();
    assert_eq!(prices.len(), PRODUCTS);
    let decided = prices.iter().take_while(|price| price["missing"].is_null()).count();
    assert!(decided > 200 && decided < PRODUCTS, "{decided}");
    for (price, id) in prices[decided..].iter().zip(&ids[decided..]) {
        assert_eq!(price, &json!({ "id": id, "missing": ["steps"] }));
    }
    let rest = answer(&prepared, "prices", &json!({ "ids": [ids[decided]] }));
    assert!(rest["prices"][0]["missing"].is_null() && rest["prices"][0]["discounted_price"].is_u64(), "{rest}");
}
