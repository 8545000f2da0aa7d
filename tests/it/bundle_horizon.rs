//! Tests that a verdict outside of the horizon of a bundle, or by another engine, is provisional.

use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;

const RULES: &[u8] =
    br#"{ "vouchers": [{ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 } }], "counted": true,
    "stacking_rules": {}, "time_zone": "UTC" }"#;
const CART: &[u8] = br#"{ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "amount": 1000 } }"#;

fn at(day: &str) -> Instant {
    Instant::parse(day).expect("a day")
}

fn missing(rules: &PreparedRules, day: &str) -> serde_json::Value {
    let answer = rules.validate(CART, &Context { now: at(day), seed: [7; 32], first_number: None });
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(answer["valid"], true);
    answer["missing"].clone()
}

#[test]
fn a_verdict_outside_of_the_horizon_reports_it_missing() {
    let rules = PreparedRules::new(RULES).expect("rules").with_horizon(at("2026-03-01"), at("2026-03-02"));
    assert_eq!(missing(&rules, "2026-03-01"), serde_json::Value::Null);
    assert_eq!(missing(&rules, "2026-02-28"), serde_json::json!(["horizon"]));
    assert_eq!(missing(&rules, "2026-03-02"), serde_json::json!(["horizon"]));
}

#[test]
fn another_engine_version_is_reported_missing() {
    let rules = PreparedRules::new(RULES).expect("rules").with_missing("engine");
    assert_eq!(missing(&rules, "2026-03-01"), serde_json::json!(["engine"]));
}
