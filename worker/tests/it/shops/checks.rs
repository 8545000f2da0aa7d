//! Compares the answer of a validation with the model, a redemption, a qualification, the client, and the same cart in another form.

use crate::shops::bundle_client::Page;
use crate::shops::carts::{self, Cart};
use crate::shops::compare;
use crate::shops::model::{self, Outcome, Status};
use crate::shops::random::Random;
use crate::shops::shop::{self, Shop};
use crate::shops::single_qualification;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Number of carts for each shop.
const CARTS: u64 = 20;

#[derive(Default)]
pub struct TrialReport {
    pub carts: u64,
    pub wrong: Vec<String>,
    /// How often each case occurred: a generator that produces only refusals compares nothing.
    pub reached: BTreeMap<String, u64>,
}

impl TrialReport {
    pub fn add(&mut self, other: TrialReport) {
        self.carts += other.carts;
        self.wrong.extend(other.wrong);
        for (what, count) in other.reached {
            *self.reached.entry(what).or_default() += count;
        }
    }

    pub fn reach(&mut self, what: &str) {
        *self.reached.entry(what.to_owned()).or_default() += 1;
    }

    /// A shard with too few occurrences of a case compared too little.
    pub fn reached_enough(&self) {
        let met =
            |what: &str| self.reached.iter().filter(|(name, _)| name.starts_with(what)).map(|(_, count)| *count).sum();
        for (what, of_a_hundred) in [
            ("valid", 50),
            ("not valid", 8),
            ("Applicable", 80),
            ("Inapplicable", 20),
            ("Skipped", 20),
            ("redeemed", 50),
            ("not redeemed", 8),
            ("qualifies", 60),
            ("does not qualify", 20),
            ("the same bytes", 240),
            ("page, anonymous, final", 60),
            ("page, tracked, final", 60),
            ("page, guest, final", 60),
            ("page, proven, final", 60),
            ("page, qualification, final", 35),
        ] {
            let met: u64 = met(what);
            assert!(met * 100 >= self.carts * of_a_hundred, "`{what}` was met {met} times in {} carts", self.carts);
        }
    }
}

/// Checks one shop and its carts.
pub fn shop(seed: u64) -> TrialReport {
    let mut random = Random::new(seed);
    // They differ in the data that clients get, and in how far a client's claim about its customer counts.
    let projects = ["dev", "shown", "open", "proven"];
    let project = projects[usize::try_from(seed / 4 % 4).unwrap()];
    let mut shop = shop::open(&mut random, project);
    let page = Page::open(&mut shop);
    let mut report = TrialReport::default();
    for number in 0..CARTS {
        let cart = carts::make(&mut random, &shop.book, number);
        report.carts += 1;
        if let Err(wrong) = cart_holds(&mut random, &mut shop, &page, &cart, &mut report) {
            let about = model::about(&shop.book, &cart.written(&mut Random::new(0)));
            let log = if std::env::var_os("SHOPS_SEED").is_some() { shop.desk.log.join("\n") } else { String::new() };
            report.wrong.push(format!("SHOPS_SEED={seed} cart {number}: {wrong}\n{about}{log}"));
        }
    }
    report
}

fn cart_holds(
    random: &mut Random,
    shop: &mut Shop,
    page: &Page,
    cart: &Cart,
    report: &mut TrialReport,
) -> Result<(), String> {
    let request = cart.written(random);
    let wanted = model::validate(&shop.book, &request);
    let got = validated(shop, &request)?;
    report.reach(if got.valid { "valid" } else { "not valid" });
    for verdict in &got.verdicts {
        report.reach(&format!("{:?}", verdict.status));
    }
    if let Some(wrong) = compare::difference(&wanted, &got) {
        return Err(format!("model: {wrong}\n  POST /v1/validations {request}"));
    }
    let other = cart.written(random);
    if let Some(wrong) = compare::difference(&got, &validated(shop, &other)?) {
        return Err(format!("names: {wrong}\n  POST /v1/validations {request}\n  POST /v1/validations {other}"));
    }
    if random.once_in(4) {
        single_qualification::qualifies(shop, &request, report)?;
    }
    page.holds(random, shop, &request, report)?;
    redeemed(shop, &request, &got, report)
}

/// Returns the answer of a validation in the terms of the model.
pub fn validated(shop: &mut Shop, request: &Json) -> Result<Outcome, String> {
    let answer = shop.desk.ask("POST /v1/validations", request);
    if answer.status != 200 {
        return Err(format!("status {}: {}\n  POST /v1/validations {request}", answer.status, answer.json));
    }
    Ok(compare::outcome(&answer.json))
}

/// Checks that a request is valid exactly when it can be redeemed, with the same order; then the redemption is rolled back.
fn redeemed(shop: &mut Shop, request: &Json, validated: &Outcome, report: &mut TrialReport) -> Result<(), String> {
    let fault = |text: String| Err(format!("redeeming: {text}\n  POST /v1/redemptions {request}"));
    let some = validated.verdicts.iter().any(|verdict| verdict.status == Status::Applicable);
    let answer = shop.desk.ask("POST /v1/redemptions", request);
    let done = answer.status == 200;
    // Where all redeemables are skipped, a validation is valid and there is nothing to redeem (D10).
    if done != (validated.valid && some) {
        return fault(format!("valid {}, and then status {}: {}", validated.valid, answer.status, answer.json));
    }
    report.reach(if done { "redeemed" } else { "not redeemed" });
    if !done {
        return Ok(());
    }
    let order = compare::amounts(&answer.json["order"]);
    if let Some(wrong) = compare::order_difference(validated.order.as_ref(), Some(&order)) {
        return fault(wrong);
    }
    // A redemption stores the customer as the request sends it, and a rollback keeps that.
    let book = &mut shop.book;
    let known = book.customers.iter_mut().find(|known| known["source_id"] == request["customer"]["source_id"]);
    if let (Some(known), Some(said)) = (known, request["customer"]["metadata"].as_object()) {
        known["metadata"].as_object_mut().unwrap().extend(said.clone());
    }
    let parent = answer.json["parent_redemption"]["id"].as_str();
    let (id, verb) = match parent {
        Some(id) => (id, "rollbacks"),
        None => (answer.json["redemptions"][0]["id"].as_str().unwrap(), "rollback"),
    };
    let back = shop.desk.ask(&format!("POST /v1/redemptions/{id}/{verb}"), &json!({}));
    if back.status != 200 {
        return fault(format!("the rollback answers {}: {}", back.status, back.json));
    }
    Ok(())
}
