//! Facts that add up to more than can be held: they are refused, and no number that fits is taken instead. It must not know how the engine
//! adds.

use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use serde_json::{Value, json};

const INTEGER_MAX: u64 = 9_007_199_254_740_991;

fn context() -> Context {
    Context { now: Instant::parse("2026-03-01T12:00:00Z").unwrap(), seed: [1; 32], first_number: None }
}

/// A gift card of which sessions hold so much, so many times.
fn given(holds: usize, credits: u64) -> Value {
    let hold = |count: usize| {
        json!({ "key": format!("ssn_{count}"), "voucher": "G", "quantity": 0, "credits": credits,
            "expires_at": "2026-03-02T12:00:00Z" })
    };
    json!({
        "complete": true,
        "counted": true,
        "vouchers": [{ "id": "v_G", "code": "G", "type": "GIFT_VOUCHER",
            "gift": { "amount": 1_000, "effect": "APPLY_TO_ORDER" },
            "redemption": { "redeemed_quantity": 0, "redeemed_amount": 0 } }],
        "holds": (0..holds).map(hold).collect::<Vec<Value>>(),
    })
}

fn decide(given: &Value) -> Value {
    let prepared = PreparedRules::new(given.to_string().as_bytes()).unwrap();
    let request = json!({ "redeemables": [{ "object": "voucher", "id": "G" }], "order": { "amount": 500 } });
    let answer = prepared.validate(request.to_string().as_bytes(), &context());
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn holds_beyond_64_bits_leave_nothing_to_spend() {
    assert_eq!(decide(&given(1, 400))["valid"], json!(true), "{}", decide(&given(1, 400)));
    let beyond = decide(&given(2_050, INTEGER_MAX));
    assert_eq!(beyond["valid"], json!(false), "{beyond}");
    assert_eq!(beyond["redeemables"][0]["status"], json!("INAPPLICABLE"));
}

#[test]
fn transfers_beyond_64_bits_are_refused_when_they_are_read() {
    let mut given = given(0, 0);
    let transfer = |count: usize| {
        json!({ "id": format!("t_{count}"), "chain": "c_1", "debit": "voucher/v_G/credits", "credit": "spent",
            "amount": INTEGER_MAX, "at": "2026-01-01T00:00:00Z" })
    };
    given["transfers"] = (0..1_030).map(transfer).collect();
    let refused = PreparedRules::new(given.to_string().as_bytes()).map(drop);
    assert!(refused.is_err());
}
