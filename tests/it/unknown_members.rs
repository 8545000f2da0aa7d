//! Tests that rules with undeclared members, and with lists in the wrong place, are refused with the path and the nearest name.

use scrip::bundle::PreparedRules;
use serde_json::{Value, json};

fn refusal(rules: &Value) -> String {
    match PreparedRules::new(rules.to_string().as_bytes()) {
        Ok(_) => panic!("is read: {rules}"),
        Err(problem) => format!("{}: {}", problem.path, problem.text),
    }
}

fn voucher(members: Value) -> Value {
    let mut voucher = json!({ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 } });
    members.as_object().unwrap().iter().for_each(|(name, value)| voucher[name] = value.clone());
    voucher
}

fn vouchers(members: Value) -> Value {
    json!({ "vouchers": [voucher(members)] })
}

#[test]
fn an_undeclared_member_is_refused_with_the_nearest_name() {
    let end = "2026-01-01T00:00:00Z";
    let cases = [
        (
            vouchers(json!({ "expirationDate": end })),
            "vouchers[0].expirationDate: is not a field of a voucher; did you mean `expiration_date`?",
        ),
        (
            vouchers(json!({ "Active": false })),
            "vouchers[0].Active: is not a field of a voucher; did you mean `active`?",
        ),
        (vouchers(json!({ "isActive": null })), "vouchers[0].isActive: is not a field of a voucher"),
        (
            json!({ "vouchers": [{ "code": "A", "discount": { "type": "PERCENT", "percentOff": 10 } }] }),
            "vouchers[0].discount.percentOff: is not a field of `discount`; did you mean `percent_off`?",
        ),
        (
            vouchers(json!({ "redemption": { "quantitiy": 1 } })),
            "vouchers[0].redemption.quantitiy: is not a field of `redemption`; did you mean `quantity`?",
        ),
        (
            json!({ "vouchers": { "object": "list", "data_ref": "vouchers", "vouchers": [voucher(json!({ "endDate": end }))] } }),
            "vouchers.vouchers[0].endDate: is not a field of a voucher",
        ),
        (json!({ "voucher": [] }), "voucher: is not a field of a set of rules; did you mean `vouchers`?"),
        (json!({ "Complete": true }), "Complete: is not a field of a set of rules; did you mean `complete`?"),
        (
            json!({ "promotion_tier": null }),
            "promotion_tier: is not a field of a set of rules; did you mean `promotion_tiers`?",
        ),
        (json!({ "nothing_like_it": [] }), "nothing_like_it: is not a field of a set of rules"),
        (
            json!({ "campaigns": [{ "id": "c", "name": "C", "campaignType": "PROMOTION" }] }),
            "campaigns[0].campaignType: is not a field of a campaign; did you mean `campaign_type`?",
        ),
        (
            json!({ "campaigns": [{ "name": "C", "promotion": { "tiers": [{ "id": "p", "hirarchy": 1,
                "action": { "discount": { "type": "AMOUNT", "amount_off": 1 } } }] } }] }),
            "campaigns[0].promotion.tiers[0].hirarchy: is not a field of `tiers`; did you mean `hierarchy`?",
        ),
        (
            json!({ "validation_rules": [{ "id": "r", "rules": { "1": { "name": "order.amount", "condition": { "$is": [1] } } } }] }),
            "validation_rules[0].rules.1.condition: is not a field of `1`; did you mean `conditions`?",
        ),
        (
            json!({ "validation_rules": [{ "id": "r", "rules": {}, "applicableTo": {} }] }),
            "validation_rules[0].applicableTo: is not a field of a validation rule; did you mean `applicable_to`?",
        ),
        (
            json!({ "stacking_rules": { "redeemables_limits": 1 } }),
            "stacking_rules.redeemables_limits: is not a field of `stacking_rules`; did you mean `redeemables_limit`?",
        ),
    ];
    for (rules, expected) in cases {
        assert_eq!(refusal(&rules), expected, "{rules}");
    }
}

#[test]
fn every_kind_has_a_table() {
    let lists = [
        "campaigns",
        "vouchers",
        "promotion_tiers",
        "promotion_stacks",
        "categories",
        "rewards",
        "reward_assignments",
        "customers",
        "orders",
        "products",
        "skus",
        "product_collections",
        "segments",
        "validation_rules",
        "validation_rules_assignments",
        "holds",
        "transfers",
    ];
    for list in lists {
        let refused = refusal(&json!({ list: [{ "neither_here_nor_there": 1 }] }));
        assert!(refused.starts_with(&format!("{list}[0].neither_here_nor_there: is not a field of ")), "{refused}");
    }
}

#[test]
fn a_list_is_read_as_a_document_and_as_a_member() {
    let list = json!({ "object": "list", "data_ref": "vouchers", "vouchers": [voucher(json!({}))], "total": 1 });
    let expected = ": must NOT be a list: give the list whole as a member, such as `vouchers`";
    assert_eq!(refusal(&list), expected);
    let mut spread = list.clone();
    spread["complete"] = true.into();
    assert_eq!(refusal(&spread), expected);
    assert!(PreparedRules::new(json!({ "vouchers": list }).to_string().as_bytes()).is_ok());
    let empty = json!({ "vouchers": { "object": "list", "data_ref": "vouchers" } });
    assert_eq!(refusal(&empty), "vouchers: should have required property 'vouchers'");
}

#[test]
fn members_that_no_decision_reads_are_skipped() {
    let rules = json!({
        "assets": { "qr": null, "barcode": null }, "publish": { "object": "list", "count": 0, "url": "/" }, "additional_info": "note",
        "categories": [], "validation_rules_assignments": { "object": "list", "data_ref": "data", "data": [], "total": 0 },
        "object": "voucher", "loyalty_card": null, "code_config": { "length": 8 }, "metadata": { "anyThing": 1 },
    });
    assert!(PreparedRules::new(vouchers(rules).to_string().as_bytes()).is_ok());
}

#[test]
fn the_readable_part_of_a_bundle_is_read() {
    let mut bundle = vouchers(json!({ "of_a_later_version": true }));
    bundle["client"] = json!({ "customers": "named" });
    bundle["of_a_later_version"] = json!([]);
    assert!(PreparedRules::new(bundle.to_string().as_bytes()).is_ok());
}

#[test]
fn two_documents_of_one_name_are_refused_unless_they_are_equal() {
    let (one, other) = (voucher(json!({ "id": "v_1" })), voucher(json!({ "id": "v_1", "active": false })));
    let tier = |banner: &str| json!({ "id": "promo_1", "name": "T", "banner": banner, "action": { "discount": { "type": "AMOUNT", "amount_off": 100 } } });
    let campaign = |tier: Value| json!({ "id": "camp_1", "name": "C", "promotion": { "tiers": [tier] } });
    let rule = |value: u64| json!({ "id": "val_1", "name": "R", "rules": { "1": { "name": "order.amount", "conditions": { "$more_than": [value] } }, "logic": "1" } });
    let cases = [
        (json!({ "vouchers": [one, other] }), "vouchers[1].id: is given twice (actual value is `v_1`)"),
        (
            json!({ "vouchers": { "object": "list", "data_ref": "vouchers", "vouchers": [voucher(json!({ "id": "v_1" })), voucher(json!({ "id": "v_2" }))] } }),
            "vouchers.vouchers[1].code: is given twice (actual value is `TEN`)",
        ),
        (
            json!({ "case_sensitive_codes": false, "vouchers": [voucher(json!({ "id": "v_1" })), voucher(json!({ "id": "v_2", "code": "Ten" }))] }),
            "vouchers[1].code: is given twice (actual value is `Ten`)",
        ),
        (
            json!({ "promotion_tiers": [tier("one")], "campaigns": [campaign(tier("two"))] }),
            "campaigns[0].promotion.tiers[0].id: is given twice (actual value is `promo_1`)",
        ),
        (
            json!({ "validation_rules": [rule(1)], "vouchers": [voucher(json!({ "validation_rules": [rule(2)] }))] }),
            "vouchers[0].validation_rules[0].id: is given twice (actual value is `val_1`)",
        ),
    ];
    for (rules, expected) in cases {
        assert_eq!(refusal(&rules), expected, "{rules}");
    }
    let overlapping = [
        json!({ "vouchers": [one, one, one] }),
        json!({ "vouchers": [voucher(json!({ "id": "v_1" })), voucher(json!({ "id": "v_2", "code": "Ten" }))] }),
        json!({ "promotion_tiers": [tier("one")], "campaigns": [campaign(tier("one"))] }),
        json!({ "validation_rules": [rule(1)], "vouchers": [voucher(json!({ "validation_rules": [rule(1)] }))] }),
    ];
    for rules in overlapping {
        PreparedRules::new(rules.to_string().as_bytes()).unwrap_or_else(|problem| panic!("{problem}: {rules}"));
    }
}
