//! Runs every vector against the native engine. `UPDATE=1` writes the exact answers, `ONLY=20-percent` runs some.
//! It must not know how the engine decides: it compares bytes, and claims that were written by hand.
#![allow(clippy::panic, clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a trial may fail")]

mod support;

use std::collections::BTreeSet;

use scrip::Context;
use scrip::bundle::Prepared;
use scrip::refusal::Reason;
use scrip::text::unhex;
use scrip::time::Instant;
use serde_json::json;
use support::tally;
use support::vector::{self, Vector};

/// Whoever can answer a vector.
trait Subject {
    /// Its name in the tally.
    fn name(&self) -> &'static str;
    /// The bytes of its answer.
    fn answer(&mut self, vector: &Vector) -> Result<String, String>;
}

/// The engine in this process.
struct Native;

impl Subject for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn answer(&mut self, vector: &Vector) -> Result<String, String> {
        let now = Instant::parse(&vector.now).ok_or("`now` is no moment")?;
        let seed = unhex(&vector.seed).ok_or("`seed` is not hexadecimal")?;
        let context = Context { now, seed };
        let prepared = Prepared::new(vector.given.as_bytes()).map_err(|problem| format!("given: {problem:?}"))?;
        let request = vector.request.as_bytes();
        let answer = match vector.verb.as_str() {
            "validate" => prepared.validate(request, &context),
            "qualify" => prepared.qualify(request, &context),
            "redeem" => prepared.redeem(request, &context),
            "rollback" => {
                let RollBack { redemption, stack, body } = RollBack::read(&vector.request)?;
                prepared.rollback(&redemption, stack, body.to_string().as_bytes(), &context)
            }
            other => return Err(format!("`{other}` is no verb")),
        };
        String::from_utf8(answer.body).map_err(|error| error.to_string())
    }
}

/// The request of a rollback: the path says which redemption, and whether it is a stack; the rest is the body.
#[derive(serde::Deserialize)]
struct RollBack {
    redemption: String,
    #[serde(default)]
    stack: bool,
    #[serde(default)]
    body: serde_json::Value,
}

impl RollBack {
    fn read(request: &str) -> Result<RollBack, String> {
        let request: RollBack = serde_json::from_str(request).map_err(|error| error.to_string())?;
        let body = if request.body.is_null() { json!({}) } else { request.body };
        Ok(RollBack { body, ..request })
    }
}

/// What is wrong with one vector, if anything.
fn check(subject: &mut dyn Subject, vector: &Vector, update: bool) -> Result<(), String> {
    let answer = subject.answer(vector)?;
    let broken = vector.broken_claims(&answer);
    if update && broken.is_empty() {
        vector.write_answer(&answer)?;
    } else if !update {
        match &vector.answer {
            None => return Err("has no exact answer yet: run with UPDATE=1 and read what it wrote".to_owned()),
            Some(wanted) if *wanted != answer && broken.is_empty() => {
                return Err(format!("the answer is another one\n    wanted {wanted}\n    found  {answer}"));
            }
            Some(_) => {}
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("{}\n    {answer}", broken.join("\n    "))) }
}

#[test]
fn every_vector_holds() {
    let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut subject = Native;
    let mut ran = 0_u32;
    let mut failures = Vec::new();
    for vector in vector::all().iter().filter(|vector| vector.path.starts_with(&only)) {
        ran += 1;
        if let Err(fault) = check(&mut subject, vector, update) {
            failures.push(format!("{}: {fault}", vector.path));
        }
    }
    assert!(ran > 0, "no vector begins with `{only}`");
    assert!(failures.is_empty(), "{} of {ran} vectors fail\n  {}", failures.len(), failures.join("\n  "));
    tally::record(&json!({ "kind": "vectors", "subject": subject.name(), "ran": ran, "skipped": [] }));
}

/// Reasons that nothing of this crate's present verbs can give, each with the reason why not.
const OUT_OF_REACH: &[(Reason, &str)] = &[];

#[test]
fn every_refusal_of_the_catalogue_has_a_vector() {
    let claimed: BTreeSet<String> = vector::all()
        .into_iter()
        .flat_map(|vector| vector.claims)
        .filter(|(pointer, _)| pointer.ends_with("/key"))
        .filter_map(|(_, value)| value.as_str().map(str::to_owned))
        .collect();
    for reason in Reason::ALL.iter().copied() {
        let excused = OUT_OF_REACH.iter().any(|(out, why)| *out == reason && !why.is_empty());
        let shown = claimed.contains(reason.key());
        assert!(shown != excused, "`{}`: has a vector {shown}, is listed as out of reach {excused}", reason.key());
    }
}
