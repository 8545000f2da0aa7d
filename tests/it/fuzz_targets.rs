//! Runs the fuzz targets of `fuzz/targets/` on texts that are nearly right. So every target is compiled with the engine, and easy faults
//! are found at once.

use proptest::prelude::{Strategy, any};
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngSeed, TestRunner};

#[path = "../../fuzz/targets/duration.rs"]
mod duration;
#[path = "../../fuzz/targets/formula.rs"]
mod formula;
#[path = "../../fuzz/targets/json.rs"]
mod json;
#[path = "../../fuzz/targets/logic.rs"]
mod logic;
#[path = "../../fuzz/targets/rules.rs"]
mod rules;

/// Readable texts, and fragments that are inserted anywhere.
type Material = (&'static [&'static str], &'static [&'static str]);

const DURATIONS: Material = (
    &["P1Y2M3DT4H5M6S", "PT0.5S", "P7D", "2026-03-29T02:30:00.000+01:00", "2024-02-29", "23:59", "00:00"],
    &["-", "P", "T", "Z", "99999999999", "0", ".", ":", "+23:59", " "],
);
const FORMULAS: Material = (
    &[
        "IF(ORDER_AMOUNT > 20;15;10)",
        "ROUND(ORDER_AMOUNT * 0.1;1) / ITEMS_QUANTITY",
        "MIN(CUSTOMER_METADATA(\"p\");1000) - (2 + 3)",
        "IF(AND(ORDER_METADATA(\"a\") = \"x\";NOW() > DATE(\"2026-01-01\"));1;2)",
    ],
    &["(", ")", ";", "\"", "0", "99999999999999999999", "/", "*", "NOW()", "IF(", "é", " "],
);
const DOCUMENTS: Material = (
    &[
        r#"{"a":[1,-0.5e3,true,null,"\u00e9"],"b":{"c":{}}}"#,
        r#"[[[[]]],1.7976931348623157e308,"\ud83d\ude00",{"a":1,"a":2}]"#,
    ],
    &["{", "}", "[", "]", ",", ":", "\"", "\\", "\\ud83d", "1e400", "-", "0", "\u{0}", " "],
);
const LOGICS: Material =
    (&["(1 and 2) or 3", "1 or (10 and (2 or 3))", "a and 1"], &["(", ")", "and", "or", "10", " "]);
const RULES: Material = (
    &[
        r#"{"rules":{"1":{"name":"order.amount","conditions":{"$more_than":[1000]}},"logic":"1"}}"#,
        r#"{"rules":{"1":{"name":"product.id","property":null,"conditions":{"$is":["A"]},"rules":{"1":{"name":"product.quantity","conditions":{"$is":[1]},"rules":{},"error":{}},"logic":"1"}},"2":{"name":"customer.segment","conditions":{"$is":["ab"]}},"logic":"1 and 2"}}"#,
        r#"{"junction":"and","metadata.p":{"conditions":{"$more_than":[1]}}}"#,
        r#"{"type":"AUTO_UPDATE","filter":{"junction":"or","price":{"conditions":{"$less_than":[1]}}}}"#,
    ],
    &[
        "{",
        "}",
        "[",
        "]",
        "\"",
        "1",
        "$is_not",
        "$has_value",
        "and",
        "or",
        "metadata.q",
        "null",
        "18446744073709551616",
    ],
);

/// Runs a target on these texts with a few fragments inserted or with the end cut off.
fn tries(name: &str, (texts, pieces): Material, run: fn(&str)) {
    let cut = proptest::collection::vec((any::<Index>(), select(pieces), any::<bool>()), 0..4);
    let text = (select(texts), cut).prop_map(|(text, cuts)| {
        let mut characters: Vec<char> = text.chars().collect();
        for (position, piece, is_in_place) in cuts {
            let at = position.index(characters.len() + 1);
            let end = if is_in_place { characters.len().min(at + piece.chars().count()) } else { at };
            characters.splice(at..end, piece.chars());
        }
        characters.into_iter().collect::<String>()
    });
    let rng_seed = RngSeed::Fixed(0x5c21);
    let config = Config { cases: 5_000, rng_seed, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&text, |text| {
        run(&text);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{name}: {failure}");
    }
}

#[test]
fn durations() {
    tries("durations", DURATIONS, duration::run);
}

#[test]
fn formulas() {
    tries("formulas", FORMULAS, formula::run);
}

#[test]
fn documents() {
    tries("documents", DOCUMENTS, |text| json::run(text.as_bytes()));
}

#[test]
fn logics() {
    tries("logics", LOGICS, logic::run);
}

#[test]
fn rules_and_filters() {
    tries("rules", RULES, rules::run);
}
