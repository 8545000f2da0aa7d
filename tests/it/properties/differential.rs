//! Decides ten thousand generated cases and writes them for the package, whose wasm must give the same bytes. The cases have no expected
//! answers; the test only requires that most of them reach one.

use std::fmt::Write as _;

use scrip::bundle::PreparedRules;
use scrip::text::sha256_hex;
use scrip::wire::Problem;
use serde_json::{Value, json};

use crate::properties::fixtures::context;
use crate::properties::generator::{Case, case};

/// Number of cases that `npm test` compares.
const CASES: u64 = 10_000;

/// Returns the result of a case: the bytes of the answer, or the problem of the given rules.
fn decide(case: &Case) -> Result<Vec<u8>, String> {
    let prepared = PreparedRules::new(case.given.to_string().as_bytes()).map_err(|problem| in_page(&problem))?;
    let request = case.request.to_string();
    let answer = match case.verb {
        "qualify" => prepared.qualify(request.as_bytes(), &context()),
        _ => prepared.validate(request.as_bytes(), &context()),
    };
    Ok(answer.body)
}

/// Formats a problem of rules as the package does.
fn in_page(problem: &Problem) -> String {
    let dot = if problem.path.is_empty() || problem.path.starts_with('[') { "" } else { "." };
    format!("rules{dot}{}: {}", problem.path, problem.text)
}

/// Counts the kinds of answers that the cases must reach: a generator that produces only refusals compares nothing.
#[derive(Default, Debug)]
struct ResultCounts {
    unreadable: usize,
    refused: usize,
    applied: usize,
    skipped: usize,
    inapplicable: usize,
    qualified: usize,
}

impl ResultCounts {
    fn count(&mut self, verb: &str, answer: &Value) {
        let list = |name: &str| answer[name].as_array().map_or(0, Vec::len);
        let applied = |item: &&Value| item["status"] == "APPLICABLE";
        if answer["code"].is_u64() {
            self.refused += 1;
        } else if verb == "qualify" {
            self.qualified += answer["redeemables"]["data"].as_array().map_or(0, Vec::len);
        } else {
            self.applied += answer["redeemables"].as_array().into_iter().flatten().filter(applied).count();
            self.skipped += list("skipped_redeemables");
            self.inapplicable += list("inapplicable_redeemables");
        }
    }
}

#[test]
fn ten_thousand_cases_for_the_package() {
    let mut lines = String::new();
    let mut reached = ResultCounts::default();
    for number in 0..CASES {
        let case = case(number);
        let decided = decide(&case);
        let answer = match &decided {
            Ok(bytes) => {
                reached.count(case.verb, &serde_json::from_slice(bytes).unwrap());
                json!({ "sha256": sha256_hex(bytes) })
            }
            Err(problem) => {
                reached.unreadable += 1;
                json!({ "problem": problem })
            }
        };
        let line = json!({ "number": number, "verb": case.verb, "given": case.given, "request": case.request, "answer": answer });
        writeln!(lines, "{line}").unwrap();
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("differential.jsonl"), lines).unwrap();
    let enough = reached.unreadable == 0
        && reached.refused < 2_000
        && reached.applied > 5_000
        && reached.skipped > 1_000
        && reached.inapplicable > 2_000
        && reached.qualified > 1_000;
    assert!(enough, "the corpus reaches too little of the engine: {reached:?}");
    crate::support::test_report::record(&json!({ "kind": "generated cases", "subject": "native", "ran": CASES }));
}
