//! Tests the package with the service's own answers as rules: when its engine gives a final yes, the service gives a yes with the same
//! amounts.
#![cfg(feature = "test-hooks")]

mod fixtures;

use fixtures::{NOW, Shop};
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use serde_json::{Map, Value as Json, json};

/// Rules in the form in which a caller could give them to the package.
struct Input {
    name: String,
    rules: Json,
}

/// The answers of the service, by the member of a set of rules that they are for.
struct Answers {
    /// Complete lists, with the request of each.
    lists: Vec<(&'static str, String, Json)>,
    /// Single documents.
    documents: Vec<(&'static str, String, Json)>,
}

fn answers(shop: &Shop) -> Answers {
    let mut all = Answers { lists: Vec::new(), documents: Vec::new() };
    let lists = [
        ("vouchers", "/v1/vouchers?limit=100"),
        ("vouchers", "/v1/vouchers?limit=3"),
        ("vouchers", "/v1/vouchers?limit=100&campaign=Closed"),
        ("campaigns", "/v1/campaigns?limit=100"),
        ("campaigns", "/v1/campaigns?limit=2"),
        ("campaigns", "/v1/campaigns?limit=100&expand=category"),
        ("campaigns", "/v1/loyalties?limit=100"),
        ("promotion_tiers", "/v1/promotions/tiers?limit=100"),
        ("promotion_tiers", "/v1/promotions/tiers?limit=100&is_available=true"),
        ("validation_rules", "/v1/validation-rules?limit=100"),
        ("validation_rules_assignments", "/v1/validation-rules-assignments?limit=100"),
    ];
    for (kind, path) in lists {
        all.lists.push((kind, path.to_owned(), shop.get(path)));
    }
    let documents = |path: &str| {
        let list = shop.get(path);
        list[list["data_ref"].as_str().unwrap()].as_array().unwrap().clone()
    };
    for voucher in documents("/v1/vouchers?limit=100") {
        let path = format!("/v1/vouchers/{}", voucher["code"].as_str().unwrap());
        all.documents.push(("vouchers", path.clone(), shop.get(&path)));
    }
    for campaign in documents("/v1/campaigns?limit=100") {
        let id = campaign["id"].as_str().unwrap();
        let path = format!("/v1/campaigns/{id}");
        all.documents.push(("campaigns", path.clone(), shop.get(&path)));
        if campaign["campaign_type"] == "PROMOTION" {
            let path = format!("/v1/promotions/{id}/tiers");
            all.lists.push(("promotion_tiers", path.clone(), shop.get(&path)));
        }
    }
    for tier in documents("/v1/promotions/tiers?limit=100") {
        let path = format!("/v1/promotions/tiers/{}", tier["id"].as_str().unwrap());
        all.documents.push(("promotion_tiers", path.clone(), shop.get(&path)));
    }
    for rule in documents("/v1/validation-rules?limit=100") {
        let path = format!("/v1/validation-rules/{}", rule["id"].as_str().unwrap());
        all.documents.push(("validation_rules", path.clone(), shop.get(&path)));
        let path = format!("{path}/assignments");
        all.lists.push(("validation_rules_assignments", path.clone(), shop.get(&path)));
    }
    all
}

/// Members that are given in addition to a list or a document, so that more of its references are known.
const BESIDE: &[&[&str]] = &[
    &["campaigns"],
    &["validation_rules"],
    &["campaigns", "validation_rules"],
    &["campaigns", "validation_rules", "categories", "product_collections"],
    &[
        "campaigns",
        "validation_rules",
        "categories",
        "product_collections",
        "segments",
        "customers",
        "products",
        "skus",
    ],
];

/// Returns every answer separately and with others, with and without `complete`.
fn inputs(shop: &Shop, answers: &Answers) -> Vec<Input> {
    let mut inputs = Vec::new();
    let mut add = |name: String, rules: Json| {
        for complete in [None, Some(true)] {
            let mut rules = rules.clone();
            if let Some(complete) = complete {
                rules["complete"] = complete.into();
            }
            inputs.push(Input { name: format!("{name}{}", if complete.is_some() { ", complete" } else { "" }), rules });
        }
    };
    let beside: Map<String, Json> = [
        ("campaigns", "/v1/campaigns?limit=100"),
        ("validation_rules", "/v1/validation-rules?limit=100"),
        ("categories", "/v1/categories"),
        ("product_collections", "/v1/product-collections"),
        ("segments", "/v1/segments"),
        ("customers", "/v1/customers"),
        ("products", "/v1/products"),
    ]
    .into_iter()
    .map(|(name, path)| (name.to_owned(), shop.get(path)))
    .chain([("skus".to_owned(), json!([]))])
    .collect();
    for (kind, path, list) in &answers.lists {
        let array = &list[list["data_ref"].as_str().unwrap()];
        add(format!("{kind}: {path}"), json!({ *kind: list }));
        add(format!("{kind}: the array of {path}"), json!({ *kind: array }));
        add(format!("{path} as it is"), list.clone());
        for others in BESIDE {
            let mut rules: Map<String, Json> =
                others.iter().map(|name| ((*name).to_owned(), beside[*name].clone())).collect();
            rules.insert((*kind).to_owned(), list.clone());
            add(format!("{kind}: {path} beside {}", others.join(", ")), Json::Object(rules));
        }
    }
    for (kind, path, document) in &answers.documents {
        add(format!("{kind}: [{path}]"), json!({ *kind: [document] }));
        let mut rules: Map<String, Json> = beside.clone();
        rules.insert((*kind).to_owned(), json!([document]));
        add(format!("{kind}: [{path}] beside everything"), Json::Object(rules));
    }
    let every = |kinds: &[&str]| {
        let lists = answers.lists.iter().filter(|(kind, path, _)| kinds.contains(kind) && path.ends_with("limit=100"));
        Json::Object(lists.map(|(kind, _, list)| ((*kind).to_owned(), list.clone())).collect())
    };
    add(
        "all".into(),
        every(&["vouchers", "campaigns", "promotion_tiers", "validation_rules", "validation_rules_assignments"]),
    );
    add("all but rules".into(), every(&["vouchers", "campaigns", "promotion_tiers", "validation_rules_assignments"]));
    add(
        "all but campaigns".into(),
        every(&["vouchers", "promotion_tiers", "validation_rules", "validation_rules_assignments"]),
    );
    add("vouchers and rules".into(), every(&["vouchers", "validation_rules"]));
    add("vouchers and assignments".into(), every(&["vouchers", "validation_rules_assignments"]));
    inputs
}

/// Returns the requests that are decided, for each code and tier.
fn requests(shop: &Shop) -> Vec<Json> {
    let orders = [
        json!({ "amount": 10_000 }),
        json!({ "amount": 500 }),
        json!({ "items": [{ "product_id": shop.product, "quantity": 2, "price": 3_000 }] }),
        json!({ "items": [{ "source_id": "mug", "related_object": "product", "quantity": 1, "price": 900 }] }),
    ];
    let customers = [Json::Null, json!({ "source_id": "anna" }), json!({ "source_id": "unknown" })];
    let mut requests = Vec::new();
    for (object, id) in &shop.redeemables {
        for (place, order) in orders.iter().enumerate() {
            for customer in &customers {
                let mut request = json!({ "redeemables": [{ "object": object, "id": id }], "order": order });
                if !customer.is_null() {
                    request["customer"] = customer.clone();
                }
                requests.push(request);
            }
            let others = &shop.redeemables[(place * 3 + 1) % shop.redeemables.len()];
            if others.1 != *id {
                let both = json!([{ "object": object, "id": id }, { "object": others.0, "id": others.1 }]);
                requests.push(json!({ "redeemables": both, "order": order }));
            }
        }
    }
    requests
}

/// Returns the compared part of a verdict: that it is a yes, and the amounts.
fn amounts(verdict: &Json) -> Json {
    let order = &verdict["order"];
    let redeemed = verdict["redeemables"].as_array().into_iter().flatten();
    let results: Vec<Json> =
        redeemed.map(|one| json!([one["id"], one["status"], one["order"]["total_amount"]])).collect();
    json!([verdict["valid"], order["amount"], order["total_discount_amount"], order["total_amount"], results])
}

#[test]
fn a_final_yes_equals_the_service() {
    let shop = Shop::new();
    let answers = answers(&shop);
    let inputs = inputs(&shop, &answers);
    assert!(inputs.len() >= 120, "{} inputs", inputs.len());
    let requests = requests(&shop);
    let services: Vec<Json> = requests.iter().map(|request| shop.post("/v1/validations", request)).collect();
    let context = Context { now: Instant::from_millis(NOW).unwrap(), seed: [7; 32], first_number: None };
    let (mut wrong, mut refused, mut finals) = (Vec::new(), 0, 0);
    for (turn, input) in inputs.iter().enumerate() {
        let prepared = match PreparedRules::new(input.rules.to_string().as_bytes()) {
            Ok(prepared) => prepared,
            // A list does not contain the rules that it belongs to.
            Err(problem) => {
                assert!(input.name.contains(" as it is"), "{}: {problem}", input.name);
                refused += 1;
                continue;
            }
        };
        // A third of them is sent with each, in turn.
        for (request, service) in requests.iter().zip(&services).skip(turn % 3).step_by(3) {
            let verdict: Json =
                serde_json::from_slice(&prepared.validate(request.to_string().as_bytes(), &context).body).unwrap();
            if verdict["valid"] != true || !verdict["missing"].is_null() {
                continue;
            }
            finals += 1;
            if amounts(&verdict) != amounts(service) {
                wrong.push(format!(
                    "{}\n    {request}\n    {}\n    {}",
                    input.name,
                    amounts(&verdict),
                    amounts(service)
                ));
            }
        }
    }
    println!(
        "{} inputs of which {refused} are refused, {} requests, {finals} times a final yes",
        inputs.len(),
        requests.len()
    );
    let first = wrong.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} times a wrong yes:\n{first}", wrong.len());
}

/// A redeemable that qualifies finally also qualifies on the service.
#[test]
fn a_final_qualification_equals_the_service() {
    let shop = Shop::new();
    let inputs = inputs(&shop, &answers(&shop));
    let requests = [
        json!({ "order": { "amount": 10_000 }, "options": { "limit": 50 } }),
        json!({ "order": { "amount": 10_000 }, "customer": { "source_id": "anna" }, "options": { "limit": 50 } }),
    ];
    let context = Context { now: Instant::from_millis(NOW).unwrap(), seed: [7; 32], first_number: None };
    let named = |answer: &Json| -> Vec<String> {
        answer["redeemables"]["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    for request in &requests {
        let service = named(&shop.post("/v1/qualifications", request));
        for input in &inputs {
            let Ok(prepared) = PreparedRules::new(input.rules.to_string().as_bytes()) else { continue };
            let answer: Json =
                serde_json::from_slice(&prepared.qualify(request.to_string().as_bytes(), &context).body).unwrap();
            if answer["missing"].is_null() {
                let wrong: Vec<String> = named(&answer).into_iter().filter(|id| !service.contains(id)).collect();
                assert!(wrong.is_empty(), "{}: {request}: {wrong:?}", input.name);
            }
        }
    }
}

/// Complete facts give final verdicts: each of these is a final yes with the service's amounts.
#[test]
fn complete_facts_give_final_verdicts() {
    let shop = Shop::new();
    let alone = |code: &str| json!({ "vouchers": [shop.get(&format!("/v1/vouchers/{code}"))] });
    let lists = |names: &[(&str, &str)]| {
        Json::Object(names.iter().map(|(name, path)| ((*name).to_owned(), shop.get(path))).collect())
    };
    let of = |object: &str, id: &str, order: Json| json!({ "redeemables": [{ "object": object, "id": id }], "order": order });
    let amount = || json!({ "amount": 10_000 });
    let tiers = shop.get("/v1/promotions/tiers?limit=100");
    let tier = tiers["tiers"].as_array().unwrap().iter().find(|tier| tier["name"] == "one").unwrap();
    let campaigns = ("campaigns", "/v1/campaigns?limit=100");
    let vouchers = ("vouchers", "/v1/vouchers?limit=100");
    let rules = ("validation_rules", "/v1/validation-rules?limit=100");
    // Days of the week follow the project's zone.
    let mut on_sundays = alone("SUNDAYS");
    on_sundays["time_zone"] = "UTC".into();
    let mut counted = alone("TWICE");
    counted["counted"] = true.into();
    // A code of a campaign is for one redemption.
    let mut of_campaign = lists(&[vouchers, campaigns]);
    of_campaign["counted"] = true.into();
    let items = json!({ "items": [{ "product_id": shop.product, "quantity": 2, "price": 3_000 }] });
    let mut goods = lists(&[vouchers, rules, ("products", "/v1/products")]);
    (goods["complete"], goods["skus"]) = (true.into(), json!([]));
    let controls = [
        (alone("PLAIN"), of("voucher", "PLAIN", amount())),
        (alone("PERCENT"), of("voucher", "PERCENT", amount())),
        (on_sundays, of("voucher", "SUNDAYS", amount())),
        (counted, of("voucher", "TWICE", amount())),
        (lists(&[vouchers, rules]), of("voucher", "RULE-1", amount())),
        (of_campaign, of("voucher", "C-OPEN", amount())),
        (lists(&[campaigns]), of("promotion_tier", tier["id"].as_str().unwrap(), amount())),
        (lists(&[vouchers, ("categories", "/v1/categories")]), of("voucher", "WITH-CATEGORY", amount())),
        (goods, of("voucher", "RULE-6", items)),
    ];
    let context = Context { now: Instant::from_millis(NOW).unwrap(), seed: [7; 32], first_number: None };
    for (rules, request) in controls {
        let prepared = PreparedRules::new(rules.to_string().as_bytes()).unwrap();
        let verdict: Json =
            serde_json::from_slice(&prepared.validate(request.to_string().as_bytes(), &context).body).unwrap();
        assert_eq!(verdict["missing"], Json::Null, "{request}: {verdict}");
        assert_eq!(verdict["valid"], true, "{request}: {verdict}");
        assert_eq!(amounts(&verdict), amounts(&shop.post("/v1/validations", &request)), "{request}");
    }
}
