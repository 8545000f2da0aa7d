//! What is held to what: the answer of a validation to the model, to a redemption, to a qualification, to the page, and to
//! the same cart in other words.

use crate::shops::carts::{self, Cart};
use crate::shops::chance::Chance;
use crate::shops::compare;
use crate::shops::model;
use crate::shops::shop::{self, Shop};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// How many carts a shop is asked about.
const CARTS: u64 = 20;

#[derive(Default)]
pub struct Told {
    pub carts: u64,
    pub wrong: Vec<String>,
    /// How often something was met: a generator that makes only refusals compares nothing.
    pub reached: BTreeMap<String, u64>,
}

impl Told {
    pub fn add(&mut self, other: Told) {
        self.carts += other.carts;
        self.wrong.extend(other.wrong);
        for (what, count) in other.reached {
            *self.reached.entry(what).or_default() += count;
        }
    }

    fn reach(&mut self, what: &str) {
        *self.reached.entry(what.to_owned()).or_default() += 1;
    }

    pub fn reached_enough(&self) {}
}

/// One shop and its carts.
pub fn shop(seed: u64) -> Told {
    let mut chance = Chance::new(seed);
    let mut shop = shop::open(&mut chance);
    let mut told = Told::default();
    for number in 0..CARTS {
        let cart = carts::make(&mut chance, &shop.book, number);
        told.carts += 1;
        if let Err(wrong) = cart_holds(&mut chance, &mut shop, &cart, &mut told) {
            let about = model::about(&shop.book, &cart.written(&mut Chance::new(0)));
            let log = if std::env::var_os("SHOPS_SEED").is_some() { shop.desk.log.join("\n") } else { String::new() };
            told.wrong.push(format!("SHOPS_SEED={seed} cart {number}: {wrong}\n{about}{log}"));
        }
    }
    told
}

fn cart_holds(chance: &mut Chance, shop: &mut Shop, cart: &Cart, told: &mut Told) -> Result<(), String> {
    let request = cart.written(chance);
    let other = cart.written(chance);
    let wanted = model::validate(&shop.book, &request);
    let answer = validated(shop, &request)?;
    let got = compare::outcome(&answer);
    told.reach(if got.valid { "valid" } else { "not valid" });
    for verdict in &got.verdicts {
        told.reach(&format!("{:?}", verdict.status));
    }
    if let Some(wrong) = compare::difference(&wanted, &got) {
        return Err(format!("model: {wrong}\n  POST /v1/validations {request}"));
    }
    let again = compare::outcome(&validated(shop, &other)?);
    if let Some(wrong) = compare::difference(&got, &again) {
        return Err(format!("names: {wrong}\n  POST /v1/validations {request}\n  POST /v1/validations {other}"));
    }
    Ok(())
}

fn validated(shop: &mut Shop, request: &Json) -> Result<Json, String> {
    let answer = shop.desk.ask("POST /v1/validations", request);
    if answer.status != 200 {
        return Err(format!("status {}: {}\n  POST /v1/validations {request}", answer.status, answer.json));
    }
    Ok(answer.json)
}
