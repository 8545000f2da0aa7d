//! Runs every vector against the native engine. `UPDATE=1` pins the exact answers, `ONLY=20-percent` runs one folder, and
//! `SCRIP_ANSWERS=FOLDER` writes every answer to that folder. Answers are compared as bytes, and with claims that were written by hand.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::test_report;
use crate::support::vector::{self, Vector};
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::refusal::Reason;
use scrip::text::decode_hex_array;
use scrip::time::Instant;
use serde_json::json;

/// The bytes of the engine's answer.
pub fn answer(vector: &Vector) -> Result<String, String> {
    let now = Instant::parse(&vector.now).ok_or("`now` is no moment")?;
    let seed = decode_hex_array(&vector.seed).ok_or("`seed` is not hexadecimal")?;
    let context = Context { now, seed, first_number: None };
    let prepared = PreparedRules::new(vector.given.as_bytes()).map_err(|problem| format!("given: {problem:?}"))?;
    let request = vector.request.as_bytes();
    let answer = match vector.verb.as_str() {
        "validate" => prepared.validate(request, &context),
        "qualify" => prepared.qualify(request, &context),
        "redeem" => prepared.redeem(request, &context),
        "rollback" => {
            let RollbackRequest { redemption, stack, body } = RollbackRequest::read(&vector.request)?;
            prepared.rollback(&redemption, stack, body.to_string().as_bytes(), &context)
        }
        other => return Err(format!("`{other}` is no verb")),
    };
    String::from_utf8(answer.body).map_err(|error| error.to_string())
}

/// The request of a rollback: the path names the redemption or the stack, and the rest is the body.
#[derive(serde::Deserialize)]
struct RollbackRequest {
    redemption: String,
    #[serde(default)]
    stack: bool,
    #[serde(default)]
    body: serde_json::Value,
}

impl RollbackRequest {
    fn read(request: &str) -> Result<RollbackRequest, String> {
        let request: RollbackRequest = serde_json::from_str(request).map_err(|error| error.to_string())?;
        let body = if request.body.is_null() { json!({}) } else { request.body };
        Ok(RollbackRequest { body, ..request })
    }
}

/// Returns the fault of one vector, if there is one.
fn check(vector: &Vector, update: bool, kept: Option<&Path>) -> Option<String> {
    let answer = match answer(vector) {
        Ok(answer) => answer,
        Err(fault) => return Some(format!("{}: {fault}", vector.path)),
    };
    if let Some(folder) = kept {
        vector.keep(folder, &answer);
    }
    if update { vector.pin(&answer).err() } else { vector.fault("native", &answer) }
}

#[test]
fn every_vector_gives_the_pinned_answer() {
    let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let kept = std::env::var_os("SCRIP_ANSWERS").map(PathBuf::from);
    let vectors = vector::chosen();
    let failures: Vec<String> = vectors.iter().filter_map(|vector| check(vector, update, kept.as_deref())).collect();
    let ran = vectors.len();
    assert!(failures.is_empty(), "{} of {ran} vectors fail\n  {}", failures.len(), failures.join("\n  "));
    test_report::record(&json!({ "kind": "vectors", "subject": "native", "ran": ran, "skipped": [] }));
}

/// Reasons that the present verbs of this crate cannot give, each with the explanation.
const OUT_OF_REACH: &[(Reason, &str)] = &[(
    Reason::FreeUnitsNotRechecked,
    "no vector returns part of an order: tests/stories/82-returns/recheck-declined-gift.json",
)];

#[test]
fn every_refusal_of_the_catalogue_has_a_vector() {
    let claimed: BTreeSet<String> = vector::beginning_with("")
        .into_iter()
        .flat_map(|vector| vector.claims)
        .filter(|(pointer, _)| pointer.ends_with("/key"))
        .filter_map(|(_, value)| value.as_str().map(str::to_owned))
        .collect();
    for reason in Reason::ALL.iter().copied() {
        let excused = OUT_OF_REACH.iter().any(|(out, why)| *out == reason && !why.is_empty());
        let has_vector = claimed.contains(reason.key());
        assert!(
            has_vector != excused,
            "`{}`: has a vector {has_vector}, is listed as out of reach {excused}",
            reason.key()
        );
    }
}
