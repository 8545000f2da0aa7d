//! Measures how long it takes to find the qualifying promotions of a thousand: by hand, by a JSON tree that is interpreted rule by rule,
//! and by the engine.

use std::hint::black_box;
use std::time::Duration;

use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::decide::qualify::search;
use scrip::time::Instant;
use scrip::wire::qualification::read_qualification;
use serde_json::{Value, json};

use crate::{print_answer, report, time};

/// Runs one contender of this workload.
pub fn run(contender: &str, rules: &[u8], request: &[u8], total: Duration) {
    match contender {
        "find-floor" | "find-floor-text" => run_floor(contender == "find-floor", rules, request, total),
        "find-tree" => run_tree(rules, request, total),
        "find-engine" => run_engine(rules, request, total),
        "find-engine-text" => run_engine_text(rules, request, total),
        other => panic!("`{other}` is no contender"),
    }
}

fn context() -> Context {
    Context { now: Instant::parse("2026-03-01T12:00:00Z").expect("a moment"), seed: [1; 32], first_number: None }
}

/// Returns the qualifying ids in order; the request is read beforehand.
fn run_engine(rules: &[u8], request: &[u8], total: Duration) {
    let prepared = PreparedRules::new(rules).expect("the rules can be prepared");
    let context = context();
    let query = read_qualification(request).expect("the request can be read");
    let find = || search(prepared.facts(), black_box(&query), &context, None).expect("the request holds");
    show_ids(&find().ids().collect::<Vec<_>>());
    report(time(total, find));
}

/// Reads JSON and writes the first page as JSON, with the order after each of its results.
fn run_engine_text(rules: &[u8], request: &[u8], total: Duration) {
    let prepared = PreparedRules::new(rules).expect("the rules can be prepared");
    let context = context();
    print_answer(&prepared.qualify(request, &context).body);
    report(time(total, || prepared.qualify(black_box(request), &context)));
}

fn show_ids(ids: &[&str]) {
    print_answer(json!({ "ids": ids }).to_string().as_bytes());
}

/// The promotions of the workload as the API writes them, newest first.
fn promotions(rules: &[u8]) -> Vec<(String, Value)> {
    let rules: Value = serde_json::from_slice(rules).expect("the rules are JSON");
    let list = |name: &str| rules[name].as_array().expect("a list").clone();
    let validation_rules = list("validation_rules");
    let mut promotions = list("promotion_tiers");
    promotions.sort_by_key(|promotion| std::cmp::Reverse(promotion["created_at"].as_str().unwrap().to_owned()));
    let rule = |id: &str| validation_rules.iter().find(|rule| rule["name"] == id).expect("its rule").clone();
    promotions
        .iter()
        .map(|promotion| promotion["id"].as_str().unwrap().to_owned())
        .map(|id| (id.clone(), rule(&id)))
        .collect()
}

/// A promotion whose values are numbers where possible.
struct Offer {
    id: String,
    more_than: u64,
    segments: u64,
    product: usize,
}

/// Names with their numbers, in a table whose size is a power of two.
struct Names(Vec<Option<(String, usize)>>);

impl Names {
    fn new(names: &[String]) -> Names {
        let mut table = vec![None; (names.len() * 4).next_power_of_two()];
        for (number, name) in names.iter().enumerate() {
            let mut at = hash(name) & (table.len() - 1);
            while table[at].is_some() {
                at = (at + 1) & (table.len() - 1);
            }
            table[at] = Some((name.clone(), number));
        }
        Names(table)
    }

    fn number(&self, name: &str) -> Option<usize> {
        let mut at = hash(name) & (self.0.len() - 1);
        while let Some((known, number)) = &self.0[at] {
            if known == name {
                return Some(*number);
            }
            at = (at + 1) & (self.0.len() - 1);
        }
        None
    }
}

fn hash(name: &str) -> usize {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step) as usize
}

struct Floor {
    offers: Vec<Offer>,
    segments: Names,
    products: Names,
}

#[derive(serde::Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    customer: Customer<'a>,
    #[serde(borrow)]
    order: Order<'a>,
}

#[derive(serde::Deserialize)]
struct Customer<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(serde::Deserialize)]
struct Metadata<'a> {
    segment: &'a str,
}

#[derive(serde::Deserialize)]
struct Order<'a> {
    #[serde(borrow)]
    items: Vec<Item<'a>>,
}

#[derive(serde::Deserialize)]
struct Item<'a> {
    product_id: &'a str,
    price: u64,
    quantity: u64,
}

impl Floor {
    fn new(rules: &[u8]) -> Floor {
        let promotions = promotions(rules);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let segments_of = |rule: &Value| -> Vec<String> {
            rule["rules"]["2"]["conditions"]["$in"].as_array().expect("segments").iter().map(text).collect()
        };
        let product_of = |rule: &Value| text(&rule["rules"]["3"]["conditions"]["$is"][0]["id"]);
        let distinct = |mut names: Vec<String>| {
            names.sort_unstable();
            names.dedup();
            names
        };
        let segments = Names::new(&distinct(promotions.iter().flat_map(|(_, rule)| segments_of(rule)).collect()));
        let products = Names::new(&distinct(promotions.iter().map(|(_, rule)| product_of(rule)).collect()));
        let offer = |(id, rule): &(String, Value)| Offer {
            id: id.clone(),
            more_than: rule["rules"]["1"]["conditions"]["$more_than"][0].as_u64().expect("an amount"),
            segments: segments_of(rule).iter().map(|name| 1 << segments.number(name).unwrap()).sum(),
            product: products.number(&product_of(rule)).unwrap(),
        };
        let offers = promotions.iter().map(offer).collect();
        Floor { offers, segments, products }
    }

    fn find(&self, request: &Request<'_>) -> Vec<&str> {
        let amount: u64 = request.order.items.iter().map(|item| item.price * item.quantity).sum();
        let segment = self.segments.number(request.customer.metadata.segment).map_or(0, |number| 1_u64 << number);
        let mut there = [0_u64; 16];
        for number in request.order.items.iter().filter_map(|item| self.products.number(item.product_id)) {
            there[number / 64] |= 1 << (number % 64);
        }
        let holds = |offer: &&Offer| {
            amount > offer.more_than
                && offer.segments & segment != 0
                && there[offer.product / 64] & (1 << (offer.product % 64)) != 0
        };
        self.offers.iter().filter(holds).map(|offer| offer.id.as_str()).collect()
    }
}

fn run_floor(compute: bool, rules: &[u8], request: &[u8], total: Duration) {
    let floor = Floor::new(rules);
    let read = || serde_json::from_slice::<Request<'_>>(black_box(request)).expect("the request is JSON");
    let text = || serde_json::to_vec(&json!({ "ids": floor.find(&read()) })).expect("the answer can be written");
    print_answer(&text());
    if compute {
        let request = read();
        report(time(total, || floor.find(black_box(&request))));
    } else {
        report(time(total, text));
    }
}

/// Evaluates one rule after the other, each a JSON tree, on facts that are JSON as well. Rule engines that store their rules as data work
/// like this.
fn run_tree(rules: &[u8], request: &[u8], total: Duration) {
    let promotions: Vec<(String, Value)> = promotions(rules).into_iter().map(|(id, rule)| (id, tree(&rule))).collect();
    let request: Value = serde_json::from_slice(request).expect("the request is JSON");
    let find = || {
        let facts = facts(black_box(&request));
        let holding = promotions.iter().filter(|(_, rule)| holds(rule, &facts));
        holding.map(|(id, _)| id.as_str()).collect::<Vec<_>>()
    };
    show_ids(&find());
    report(time(total, find));
}

/// The rule as a tree that names facts by path.
fn tree(rule: &Value) -> Value {
    let conditions = |key: &str| &rule["rules"][key]["conditions"];
    json!({ "all": [
        { "fact": "amount", "operator": "more_than", "value": conditions("1")["$more_than"][0] },
        { "fact": "segment", "operator": "in", "value": conditions("2")["$in"] },
        { "any": "items", "of": { "fact": "product_id", "operator": "equal", "value": conditions("3")["$is"][0]["id"] } },
    ] })
}

fn facts(request: &Value) -> Value {
    let items = request["order"]["items"].as_array().expect("items");
    let amount: u64 =
        items.iter().map(|item| item["price"].as_u64().unwrap() * item["quantity"].as_u64().unwrap()).sum();
    json!({ "amount": amount, "segment": request["customer"]["metadata"]["segment"], "items": items })
}

fn holds(rule: &Value, facts: &Value) -> bool {
    if let Some(parts) = rule.get("all").and_then(Value::as_array) {
        return parts.iter().all(|part| holds(part, facts));
    }
    if let Some(list) = rule.get("any").and_then(Value::as_str) {
        return facts[list].as_array().is_some_and(|items| items.iter().any(|item| holds(&rule["of"], item)));
    }
    let found = &facts[rule["fact"].as_str().unwrap_or_default()];
    let expected = &rule["value"];
    match rule["operator"].as_str().unwrap_or_default() {
        "more_than" => found.as_u64() > expected.as_u64(),
        "in" => expected.as_array().is_some_and(|values| values.contains(found)),
        "equal" => found == expected,
        other => panic!("`{other}` is no operator"),
    }
}
