//! Tests that `DECIDES` and `WRITES` of `src/bundle.rs` rise with the answers of the engine: clients compare both with the service's.
//!
//! `tests/vectors/engine_versions.txt` has the two versions, and for each vector the digests of its input, verdict and answer. A new vector, or
//! one with another input, demands no rise. `UPDATE=1` writes the file, but not while a version is too low.
//!
//! The verdict of an answer is the part that a shopper or a merchant acts on. It consists of `valid`, the status of each redeemable, the keys
//! of refusals, the missing facts, and all amounts, quantities and points. The rest (texts, generated ids, metadata, the trace, omitted
//! fields) are only bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::support::vector::{self, Vector};
use crate::vectors::answer;
use scrip::bundle::{DECIDES, WRITES};
use scrip::text::sha256_hex;
use serde_json::Value;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/engine_versions.txt");

/// Members that are part of a verdict with their value.
const MEMBERS: &[&str] = &[
    "valid", "status", "result", "key", "code", "has_more", "total", "quantity", "points", "credits", "balance",
    "price",
];
/// Members that are no part of a verdict with all that they contain.
const OUTSIDE: &[&str] = &["metadata", "trace", "stacking_rules", "validation_rules_assignments"];
/// Objects whose id names what was decided; other ids are generated.
const DECIDED: &[&str] = &["voucher", "promotion_tier", "promotion_stack", "campaign"];

/// The digests of one vector.
#[derive(Debug, Clone, PartialEq)]
struct Digests {
    input: String,
    verdict: String,
    answer: String,
}

/// The versions, and the digests by the path of the vector.
#[derive(Debug, Clone, PartialEq)]
struct Record {
    decides: u32,
    writes: u32,
    vectors: BTreeMap<String, Digests>,
}

fn short_digest(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(12).collect()
}

/// Adds the parts of a verdict, each with its place.
fn collect(value: &Value, position: &str, parts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let is_decided = value["object"].as_str().is_some_and(|object| DECIDED.contains(&object));
            for (name, member) in members.iter().filter(|(name, _)| !OUTSIDE.contains(&name.as_str())) {
                let position = format!("{position}/{name}");
                let is_amount = name == "amount" || name.ends_with("_amount");
                let is_part = is_amount || MEMBERS.contains(&name.as_str()) || (name == "id" && is_decided);
                match member {
                    Value::Object(_) | Value::Array(_) => collect(member, &position, parts),
                    scalar if is_part => parts.push(format!("{position} {scalar}")),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                match item {
                    Value::String(fact) if position == "/missing" => parts.push(format!("{position} {fact}")),
                    _ => collect(item, &format!("{position}/{at}"), parts),
                }
            }
        }
        _ => {}
    }
}

/// Returns the verdict of an answer as sorted lines.
fn verdict(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).expect("an answer is JSON");
    let mut parts = Vec::new();
    collect(&answer, "", &mut parts);
    parts.sort();
    parts.join("\n")
}

fn digests(vector: &Vector) -> Digests {
    let Vector { verb, now, seed, given, request, path, .. } = vector;
    let answer = answer(vector).unwrap_or_else(|fault| panic!("{path}: {fault}"));
    Digests {
        input: short_digest(&[verb, now, seed, given, request].map(String::as_str).join("\n")),
        verdict: short_digest(&verdict(&answer)),
        answer: short_digest(&answer),
    }
}

/// Reads the file: `decides 1`, `writes 1`, then a line for each vector.
fn read(text: &str) -> Record {
    let mut record = Record { decides: 0, writes: 0, vectors: BTreeMap::new() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(' ').collect();
        match parts.as_slice() {
            ["decides", number] => record.decides = number.parse().expect("`decides` is a number"),
            ["writes", number] => record.writes = number.parse().expect("`writes` is a number"),
            [path, input, verdict, answer] => {
                let [input, verdict, answer] = [input, verdict, answer].map(|digest| (*digest).to_owned());
                record.vectors.insert((*path).to_owned(), Digests { input, verdict, answer });
            }
            _ => panic!("{FILE}: `{line}` is no line of it"),
        }
    }
    record
}

fn written(record: &Record) -> String {
    let mut text = String::from(
        "# Versions of the engine, and digests of input, verdict and answer of each vector. Written by UPDATE=1.\n",
    );
    let _ = writeln!(text, "decides {}\nwrites {}", record.decides, record.writes);
    for (path, Digests { input, verdict, answer }) in &record.vectors {
        let _ = writeln!(text, "{path} {input} {verdict} {answer}");
    }
    text
}

/// Returns why the versions are too low for the difference between two records.
fn faults(before: &Record, now: &Record) -> Vec<String> {
    let changed = |of: fn(&Digests) -> &String| -> Vec<&str> {
        let both = before.vectors.iter().filter_map(|(path, old)| Some((path, old, now.vectors.get(path)?)));
        let same_input = both.filter(|(_, old, new)| old.input == new.input);
        same_input.filter(|(_, old, new)| of(old) != of(new)).map(|(path, ..)| path.as_str()).collect()
    };
    let fault = |name: &str, reason: &str, versions: (u32, u32), changed: Vec<&str>| {
        let first = changed.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        match versions {
            (old, new) if new < old => {
                Some(format!("`{name}` of src/bundle.rs is {new}, and must not fall below {old}"))
            }
            (old, new) if new == old && !changed.is_empty() => Some(format!(
                "{} vectors have {reason} ({first}): raise `{name}` of src/bundle.rs to {}, then run with UPDATE=1",
                changed.len(),
                old + 1
            )),
            _ => None,
        }
    };
    let decides = fault("DECIDES", "another verdict", (before.decides, now.decides), changed(|of| &of.verdict));
    let writes = fault("WRITES", "another answer", (before.writes, now.writes), changed(|of| &of.answer));
    decides.into_iter().chain(writes).collect()
}

#[test]
fn versions_rise_with_the_answers() {
    let vectors = vector::beginning_with("").iter().map(|vector| (vector.path.clone(), digests(vector))).collect();
    let now = Record { decides: DECIDES, writes: WRITES, vectors };
    let text = std::fs::read_to_string(FILE).unwrap_or_default();
    let faults = faults(&read(&text), &now);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(FILE, written(&now)).expect("the file can be written");
        return;
    }
    assert!(text == written(&now), "{FILE} is stale: run the tests with UPDATE=1 and review the difference");
}

fn record(decides: u32, writes: u32, vectors: &[(&str, [&str; 3])]) -> Record {
    let vectors = vectors.iter().map(|(path, [input, verdict, answer])| {
        let [input, verdict, answer] = [input, verdict, answer].map(|digest| (*digest).to_owned());
        ((*path).to_owned(), Digests { input, verdict, answer })
    });
    Record { decides, writes, vectors: vectors.collect() }
}

#[test]
fn a_changed_answer_demands_the_rise_of_its_version() {
    let before = record(3, 5, &[("a.json", ["in", "yes", "bytes"])]);
    assert_eq!(read(&written(&before)), before);
    assert!(faults(&before, &before).is_empty());
    let other_bytes = faults(&before, &record(3, 5, &[("a.json", ["in", "yes", "others"])]));
    assert!(
        other_bytes.len() == 1 && other_bytes[0].contains("raise `WRITES` of src/bundle.rs to 6"),
        "{other_bytes:?}"
    );
    let other_verdict = faults(&before, &record(3, 6, &[("a.json", ["in", "no", "others"])]));
    assert!(
        other_verdict.len() == 1 && other_verdict[0].contains("raise `DECIDES` of src/bundle.rs to 4"),
        "{other_verdict:?}"
    );
    assert!(faults(&before, &record(4, 6, &[("a.json", ["in", "no", "others"])])).is_empty());
    let fallen = faults(&before, &record(3, 4, &[]));
    assert!(fallen.len() == 1 && fallen[0].contains("must not fall below 5"), "{fallen:?}");
}

#[test]
fn new_vectors_and_other_inputs_demand_no_rise() {
    let before = record(3, 5, &[("a.json", ["in", "yes", "bytes"]), ("gone.json", ["in", "yes", "bytes"])]);
    let now = record(3, 5, &[("a.json", ["other", "no", "others"]), ("b.json", ["in", "no", "others"])]);
    assert!(faults(&before, &now).is_empty());
}

#[test]
fn a_verdict_has_amounts_and_keys_and_no_texts() {
    let answer = r#"{"id":"valid_1","valid":false,"redeemables":[{"object":"voucher","id":"T","status":"INAPPLICABLE",
        "result":{"error":{"key":"k","message":"m"}}}],"order":{"amount":5,"metadata":{"amount":1}},
        "missing":["engine"],"omitted":["tracking_id"]}"#;
    let parts = "/missing engine\n/order/amount 5\n/redeemables/0/id \"T\"\n/redeemables/0/result/error/key \"k\"\n/redeemables/0/status \"INAPPLICABLE\"\n/valid false";
    assert_eq!(verdict(answer), parts);
}
